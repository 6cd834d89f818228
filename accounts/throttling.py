"""How much one caller may ask of a process: buckets of requests that fill again with time, in its memory.

No server is asked, so a look costs two microseconds, and it works while servers are away. Each web process counts for
itself. The requests of people stay far below; what reaches the bound is a loop without a pause.
"""

import threading
import time
from collections import OrderedDict
from dataclasses import dataclass, field

_MOST_CALLERS = 20_000


@dataclass
class Throttle:
    """`a_minute` requests a minute of each caller, in any distribution: half of them at once. 0 switches it off."""

    a_minute: int
    _left: "OrderedDict[str, tuple[float, float]]" = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def wait(self, caller: str, *, costs: float = 1.0) -> int:
        """0 when the caller may go on, and the request is counted; else the seconds after which one may."""
        if not self.a_minute:
            return 0
        now, most = time.monotonic(), max(self.a_minute / 2, 2.0)
        with self._lock:
            left, at = self._left.pop(caller, (most, now))
            left = min(most, left + (now - at) * self.a_minute / 60)
            enough = left >= max(costs, 1.0)
            self._left[caller] = (left - costs if enough else left, now)
            if len(self._left) > _MOST_CALLERS:
                self._left.popitem(last=False)
        return 0 if enough else int((max(costs, 1.0) - left) * 60 / self.a_minute) + 1

    def is_empty(self, caller: str) -> int:
        """As `wait`, but nothing is counted."""
        return self.wait(caller, costs=0)
