"""Which step wrote each line of a file, kept beside its text while the acts of a run are replayed.

A line keeps its writer as long as acts leave it as it is, also inside a text that an act replaced: what stands both in
the replaced text and in the new one was not written by that act, as in `git blame`. Outside the replaced text nothing
is compared at all, so that an equal line beside it does not take its place.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from potato.runs.changes.differences import Same, same_lines
from potato.runs.changes.texts import split_lines

Writers: TypeAlias = tuple[int | None, ...]
"""The steps that wrote a line, the last one first; None is something that the trace does not record."""

UNKNOWN: Writers = (None,)

TrackedLine: TypeAlias = int | Writers
"""A line of the file before the run, by its number from 1, or a line that was written since."""


@dataclass(slots=True)
class LineHistory:
    """The lines of a text in their order. `removed` has for each line of the file before the run that is gone the step
    that removed or replaced it, `overwritten` how many lines of one step another one took away again."""

    lines: list[TrackedLine] = field(default_factory=list)
    removed: dict[int, int | None] = field(default_factory=dict)
    overwritten: Counter[tuple[int, int | None]] = field(default_factory=Counter)

    @classmethod
    def before_run(cls, count: int, first: int = 1) -> "LineHistory":
        """So many lines of the file as the run found it, from the line `first` on."""
        return cls(list(range(first, first + count)))

    def splice(self, text: str, place: int, length: int, new: str, step: int | None) -> None:
        """So many characters of the text, from `place` (from 0) on, were replaced by others."""
        end = place + length
        begin = text.rfind("\n", 0, place) + 1
        is_between_lines = (end == 0 or text[end - 1] == "\n") and (new.endswith("\n") or (not new and begin == place))
        stop = end if is_between_lines else _line_stop(text, end)
        old_lines = split_lines(text[begin:stop])
        new_lines = split_lines(text[begin:place] + new + text[end:stop])
        self.replace(text.count("\n", 0, begin), old_lines, new_lines, step)

    def replace(self, first: int, old: Sequence[str], new: Sequence[str], step: int | None) -> None:
        """The lines from `first` (from 0) on, which read `old`, read `new` now."""
        same = same_lines(old, new).blocks
        tracked: list[TrackedLine] = []
        old_at = new_at = 0
        for block in [*same, Same(len(old), len(new), 0)]:
            gone = self.lines[first + old_at : first + block.old]
            tracked += self._written(gone, block.new - new_at, step)
            tracked += self.lines[first + block.old : first + block.old + block.length]
            old_at, new_at = block.old + block.length, block.new + block.length
        self.lines[first : first + len(old)] = tracked

    def _written(self, gone: list[TrackedLine], count: int, step: int | None) -> list[TrackedLine]:
        """New lines in the place of others: line by line where they are as many, else each after all of them."""
        for line in gone:
            if isinstance(line, int):
                self.removed[line] = step
            elif line[0] is not None:
                self.overwritten[line[0], step] += 1
        if len(gone) == count:
            # Lines that were written together have one object in common, of which the history is made once.
            made = {id(line): (step, *_earlier([line], step)) for line in {id(line): line for line in gone}.values()}
            return [made[id(line)] for line in gone]
        writers = (step, *_earlier(gone, step))
        return [writers] * count

    def joined(self, other: "LineHistory") -> "LineHistory":
        """This text followed by another part of the same file."""
        return LineHistory(self.lines + other.lines, self.removed | other.removed, self.overwritten + other.overwritten)

    def after_removal(self, earlier: "LineHistory") -> "LineHistory":
        """Of a file that was written anew where an earlier one had been removed: only the earlier one was there before
        the run."""
        lines: list[TrackedLine] = [UNKNOWN if isinstance(line, int) else line for line in self.lines]
        return LineHistory(lines, dict(earlier.removed), earlier.overwritten + self.overwritten)

    def aligned(self, old: tuple[str, str], new: tuple[str, str]) -> "LineHistory":
        """The history of a text that the trace states, where the replayed one may be another: of the file before the
        run (`old`) and after it (`new`), each as (replayed, stated). Lines that stand in both keep their writers, and
        of the others nobody knows them."""
        numbers = {before + 1: after + 1 for before, after in _same_places(*old)}
        lines: list[TrackedLine] = [UNKNOWN] * len(split_lines(new[1]))
        for before, after in _same_places(*new):
            line = self.lines[before]
            lines[after] = numbers.get(line, UNKNOWN) if isinstance(line, int) else line
        removed = {numbers[line]: step for line, step in self.removed.items() if line in numbers}
        return LineHistory(lines, removed, self.overwritten.copy())


def _line_stop(text: str, place: int) -> int:
    """Where the line that holds the place ends, its line end included."""
    end = text.find("\n", place)
    return len(text) if end < 0 else end + 1


def _earlier(lines: Iterable[TrackedLine], step: int | None) -> list[int]:
    """The steps that wrote these lines, the last one first; who wrote them now stands before them already."""
    written = {id(line): line for line in lines if not isinstance(line, int)}.values()
    return sorted(
        {writer for line in written for writer in line if writer is not None and writer != step}, reverse=True
    )


def _same_places(one: str, other: str) -> list[tuple[int, int]]:
    same = same_lines(split_lines(one), split_lines(other)).blocks
    return [(block.old + at, block.new + at) for block in same for at in range(block.length)]
