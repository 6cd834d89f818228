"""What a judgement can point at: the files of a trace, and the lines of each side that people can see.

Made from the changes as they were stored. Says nothing about who judges or how.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from potato.runs.changes.model import Hunk, Numbering, Operation
from potato.runs.changes.model import Side as Side
from potato.runs.changes.texts import lines_without_ends
from potato.runs.contents import TraceContents

SIDES: tuple[Side, ...] = ("new", "old")


class Change(Protocol):
    """What is asked of a FileChange here; a store may unpack what follows the operation when it is asked for."""

    @property
    def path(self) -> str: ...
    @property
    def old_path(self) -> str: ...
    @property
    def operation(self) -> Operation: ...
    @property
    def numbering(self) -> Numbering: ...
    @property
    def hunks(self) -> Sequence[Hunk]: ...
    @property
    def shown_hunks(self) -> Sequence[Hunk]: ...
    def lines(self, side: Side) -> dict[int, str]: ...
    @property
    def old_text(self) -> str | None: ...
    @property
    def new_text(self) -> str | None: ...


@dataclass(frozen=True)
class JudgedFile:
    """One path of a trace with everything that became of it. `path` is its key in every result."""

    path: str
    old_path: str
    operation: Operation
    changes: tuple[Change, ...]
    _lines: dict[Side, dict[int, str]] = field(default_factory=dict, init=False, repr=False, compare=False)
    """What `lines` has joined already."""

    @property
    def numbering(self) -> Numbering:
        """What the numbers of `lines` count."""
        return "file" if any(change.numbering == "file" for change in self.changes) else "excerpt"

    def lines(self, side: Side) -> Mapping[int, str]:
        """The texts of the lines that can be commented, without line ends, by their number on that side.

        These are the lines that the agent read or changed, and all lines where the whole text is known. Where nobody
        knows the place of the lines in the file (`numbering`), the numbers are those of the excerpt that is shown.
        """
        if side not in self._lines:
            numbering, lines = self.numbering, dict[int, str]()
            for change in self.changes:
                # Lines of the file and lines of an excerpt never stand under one count.
                if change.numbering == numbering:
                    whole = change.new_text if side == "new" else change.old_text
                    # The whole text has the lines of the change as well.
                    lines = {**change.lines(side), **lines} if whole is None else {**lines, **_numbered(whole)}
            self._lines[side] = lines
        return self._lines[side]

    def has_range(self, side: Side, start: int, end: int) -> bool:
        """Whether every line from start to end, both included, can be commented."""
        lines = self.lines(side)
        return start <= end and end - start < len(lines) and all(number in lines for number in range(start, end + 1))

    def text(self, side: Side, start: int, end: int) -> str | None:
        """The lines from start to end, both included, joined by line feeds; None where one of them is not known."""
        if not self.has_range(side, start, end):
            return None
        lines = self.lines(side)
        return "\n".join(lines[number] for number in range(start, end + 1))


@dataclass(frozen=True, slots=True)
class Evidence:
    """The files of a trace in their order, each path once, and the number of its steps."""

    files: Mapping[str, JudgedFile]
    steps: int = 0

    @property
    def contents(self) -> TraceContents:
        return TraceContents(self.steps, Counter(file.operation for file in self.files.values()))

    @property
    def has_lines(self) -> bool:
        """Whether a line of any file can be commented."""
        return any(file.lines(side) for file in self.files.values() for side in SIDES)

    @classmethod
    def of(cls, changes: Iterable[Change], steps: int = 0) -> "Evidence":
        """The changes by path. What a patch says of one path in several parts, as where a file gives way to a link,
        is one modified file."""
        by_path: dict[str, list[Change]] = {}
        for change in changes:
            by_path.setdefault(change.path, []).append(change)
        return cls({path: _file(path, parts) for path, parts in by_path.items()}, steps)


def _file(path: str, parts: list[Change]) -> JudgedFile:
    operations = {part.operation for part in parts}
    operation = parts[0].operation if len(operations) == 1 else "modified"
    return JudgedFile(path, parts[0].old_path, operation, tuple(parts))


def _numbered(text: str) -> dict[int, str]:
    return dict(enumerate(lines_without_ends(text), 1))
