"""What a new configuration would take from existing annotations. Compares pairs of settings; asks nobody."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from potato.validation.problems import Path


@dataclass(frozen=True, slots=True)
class BreakingChange:
    """One thing of the old configuration that annotations may refer to and the new one no longer has.

    `path` leads to it in the old configuration, with names instead of list positions.
    """

    path: Path
    code: str
    message: str

    def below(self, *path: str | int) -> BreakingChange:
        return replace(self, path=(*path, *self.path))


def removed(noun: str, path: Path, old: Iterable[str], new: Iterable[str], scheme: str) -> Iterator[BreakingChange]:
    """The names that are in `old` and no longer in `new`, in the order of `old`."""
    remaining = set(new)
    for name in old:
        if name not in remaining:
            yield BreakingChange(
                (*path, name),
                f"{noun.replace(' ', '_')}_removed",
                f"The {noun} {name} of {scheme} is removed.",
            )
