"""The order of what happened in several transcripts of one run."""

from bisect import bisect_right
from typing import TypeAlias

Moment: TypeAlias = tuple[int, str, int]


class Moments:
    """Moments of the main transcript in the order of its lines, and moments of others among them by their time."""

    def __init__(self) -> None:
        self._latest: list[str] = []
        self._others = 0

    def next(self, at: str) -> Moment:
        """The main transcript's next moment. `at` may be "", or earlier than the one before."""
        self._latest.append(max(at, self._latest[-1] if self._latest else ""))
        return len(self._latest), "", 0

    def among(self, at: str, before: Moment | None) -> Moment:
        """A moment of another transcript at this time, behind those that were asked for with the same time. Without a
        time it is the last one before `before`, or before the end."""
        self._others += 1
        if at:
            return bisect_right(self._latest, at), at, self._others
        place = len(self._latest) if before is None else before[0] - 1
        return place, "\x7f", self._others
