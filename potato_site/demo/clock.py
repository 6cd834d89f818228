"""The clock while the demo's past is made.

The actions write down when something happened as `timezone.now()` says, and columns without such a value have it as
their default. What is submitted is never changed again, by any role of the site, so the times cannot be moved
afterwards: the clock is set back while the actions run. Every row then has the time, the lease and the order that it
would have had then, and every constraint and trigger has seen it so.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, tzinfo
from unittest.mock import patch

from django.utils import timezone


class PastClock:
    """What time it is, for as long as the block lasts. For a command with one thread; never for a serving process."""

    def __init__(self, moment: datetime) -> None:
        self.moment = moment

    @contextmanager
    def running(self) -> Iterator["PastClock"]:
        clock = self

        class Past(datetime):
            @classmethod
            def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]  # no subclass of it is needed
                return clock.moment.astimezone(tz)

        # Not `timezone.now` itself: the defaults of columns have kept that function.
        with patch.object(timezone, "datetime", Past):
            yield clock
