"""One password is hashed at a time in a process, and a hash costs what is recommended, not more.

A hash takes a tenth of a second of a processor and 46 MiB on purpose. Twenty at once would take the site.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.contrib.auth.hashers import Argon2PasswordHasher

from tenancy.errors import Refused

WAITING = 2
"""Threads of a process that may wait for their turn; the others stay free for the rest of the site."""
WAIT_SECONDS = 5.0


class Busy(Refused):
    code = "busy"
    status = 503
    retry_after = 3


class Turn:
    """One holder at a time, who may take it again, and few who wait. Raises Busy for the rest."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._places = threading.BoundedSemaphore(WAITING + 1)
        self._mine = threading.local()

    @contextmanager
    def taken(self) -> Iterator[None]:
        if getattr(self._mine, "has_it", False):
            yield
            return
        if not self._places.acquire(blocking=False):
            raise _busy()
        try:
            if not self._lock.acquire(timeout=WAIT_SECONDS):
                raise _busy()
            self._mine.has_it = True
            try:
                yield
            finally:
                self._mine.has_it = False
                self._lock.release()
        finally:
            self._places.release()


def _busy() -> Busy:
    return Busy("Many people are signing in at this moment. Try again in a few seconds.")


turn = Turn()


class PasswordHasher(Argon2PasswordHasher):
    """Argon2id with 46 MiB, one pass and one lane: the first of OWASP's recommendations, which are of equal strength.
    Django's takes 100 MiB, and almost four times as long.
    """

    time_cost = 1
    memory_cost = 47_104
    parallelism = 1

    def encode(self, password: str, salt: str) -> str:
        with turn.taken():
            return super().encode(password, salt)

    def verify(self, password: str, encoded: str) -> bool:
        with turn.taken():
            return bool(super().verify(password, encoded))

    def harden_runtime(self, password: str, encoded: Any) -> None:
        """Nothing: the cost stands in the hash."""
