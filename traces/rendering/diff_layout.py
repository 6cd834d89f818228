"""Which lines of a changed file stand in a diff: shown, hidden behind "expand", or not in the trace. Makes no HTML."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from potato.runs.changes.model import BadgeCode, FileChange, Hunk, Line, split_line_end
from potato.runs.changes.texts import split_lines
from traces.rendering.whitespace import Numbered, without_whitespace_changes


@dataclass(frozen=True, slots=True)
class DiffRow:
    """A known line of the file. `position` counts the known lines of the change from 0; `hunk` is -1 outside hunks."""

    position: int
    line: Line
    hunk: int


@dataclass(frozen=True, slots=True)
class Shown:
    """Rows that follow one another in the file."""

    rows: tuple[DiffRow, ...]


@dataclass(frozen=True, slots=True)
class Hidden:
    """Known rows that the reader can ask for, and the section that the lines after them belong to."""

    rows: tuple[DiffRow, ...]
    section: str


@dataclass(frozen=True, slots=True)
class Missing:
    """Lines before a hunk or excerpt that the trace does not have; how many is not known."""

    hunk: Hunk


Section: TypeAlias = Shown | Hidden | Missing


@dataclass(frozen=True, slots=True)
class Layout:
    """All known rows by position, in runs without a gap. `is_whole`: they are the whole file, in one run."""

    runs: tuple[tuple[DiffRow, ...], ...]
    is_whole: bool

    @property
    def changes_something(self) -> bool:
        return any(row.line.kind != "context" for run in self.runs for row in run)

    @property
    def rows(self) -> tuple[DiffRow, ...]:
        return self.runs[0] if len(self.runs) == 1 else tuple(row for run in self.runs for row in run)


def lay_out(change: FileChange, *, hides_whitespace: bool = False) -> Layout:
    """The rows of the hunks, and of the file around them where its text is known and agrees with the hunks, or as far
    as the agent read it. Of hunks whose place is not known each line has its number in what is shown.

    With `hides_whitespace` lines that differ in white space alone are unchanged ones.
    """
    if (whole := _whole(change)) is not None:
        if hides_whitespace:
            whole = without_whitespace_changes(whole)
        rows = tuple(DiffRow(position, line, hunk) for position, (line, hunk) in enumerate(whole))
        return Layout(runs=(rows,) if rows else (), is_whole=True)
    runs: list[tuple[DiffRow, ...]] = []
    position = 0
    for lines in _stretches(change):
        if hides_whitespace:
            lines = without_whitespace_changes(lines)
        run = tuple(DiffRow(position + offset, line, number) for offset, (line, number) in enumerate(lines))
        position += len(run)
        if run:
            runs.append(run)
    return Layout(runs=tuple(runs), is_whole=False)


def _stretches(change: FileChange) -> Iterator[list[Numbered]]:
    """Known lines that follow one another: those of the excerpts, or of each hunk, with the number of their hunk."""
    if not change.excerpts:
        for number, hunk in enumerate(change.shown_hunks):
            yield [(line, number) for line in hunk.lines]
        return
    hunk_of = {(line.old_no, line.new_no): number for number, hunk in enumerate(change.hunks) for line in hunk.lines}
    for excerpt in change.excerpts:
        yield [(line, hunk_of.get((line.old_no, line.new_no), -1)) for line in excerpt.lines]


def split_sections(change: FileChange, layout: Layout, context: int) -> list[Section]:
    """What a reader sees, in order, with `context` unchanged lines around each change."""
    sections: list[Section] = []
    for number, run in enumerate(layout.runs):
        if not layout.is_whole:
            hunk = change.excerpts[number] if change.excerpts else change.hunks[run[0].hunk]
            if sections or max(hunk.old_start, hunk.new_start) > 1:
                sections.append(Missing(hunk))
        sections += _shown_and_hidden(change, run, context)
    return sections


def _shown_and_hidden(change: FileChange, run: tuple[DiffRow, ...], context: int) -> list[Section]:
    changed = [at for at, row in enumerate(run) if row.line.kind != "context"]
    near = bytearray(len(run))
    for at in changed:
        for neighbour in range(max(0, at - context), min(len(run), at + context + 1)):
            near[neighbour] = 1
    if not changed and run[0].hunk >= 0 and not _changes(change.hunks[run[0].hunk]):
        # A hunk that changes nothing was written to be seen.
        near = bytearray(b"\1" * len(run))
    sections: list[Section] = []
    start = 0
    for at in range(1, len(run) + 1):
        if at == len(run) or near[at] != near[start]:
            rows = run[start:at]
            if near[start]:
                sections.append(Shown(rows))
            else:
                sections.append(Hidden(rows, _section_after(change, run, at)))
            start = at
    return sections


def _changes(hunk: Hunk) -> bool:
    return any(line.kind != "context" for line in hunk.lines)


def _section_after(change: FileChange, run: tuple[DiffRow, ...], at: int) -> str:
    return change.hunks[run[at].hunk].section if at < len(run) and run[at].hunk >= 0 else ""


def _whole(change: FileChange) -> list[tuple[Line, int]] | None:
    """Every line of the file with its hunk's number; None where the file is not known or not as the hunks say."""
    in_parts = any(badge.code is BadgeCode.CHANGED_IN_PARTS for badge in change.badges)
    if in_parts or change.is_binary or not change.has_line_numbers:
        return None
    if change.new_text is not None:
        known, is_new = split_lines(change.new_text), True
    elif change.old_text is not None:
        known, is_new = split_lines(change.old_text), False
    else:
        return None
    lines: list[tuple[Line, int]] = []
    old_no = new_no = 1
    for number, hunk in enumerate(change.hunks):
        # A side without lines names the line before it.
        old_first = hunk.old_start + (hunk.old_count == 0)
        new_first = hunk.new_start + (hunk.new_count == 0)
        gap = new_first - new_no
        if gap < 0 or gap != old_first - old_no:
            return None
        if not _fill(lines, known, old_no, new_no, gap, is_new):
            return None
        old_no, new_no = old_first, new_first
        for line in hunk.lines:
            in_old, in_new = line.kind != "add", line.kind != "del"
            at = new_no if is_new else old_no
            if (in_new if is_new else in_old) and not (at <= len(known) and known[at - 1] == line.whole):
                return None
            if (in_old and line.old_no != old_no) or (in_new and line.new_no != new_no):
                return None
            lines.append((line, number))
            old_no += in_old
            new_no += in_new
    rest = len(known) + 1 - (new_no if is_new else old_no)
    return lines if _fill(lines, known, old_no, new_no, rest, is_new) else None


def _fill(lines: list[tuple[Line, int]], known: list[str], old_no: int, new_no: int, count: int, is_new: bool) -> bool:
    """Add `count` unchanged lines from these numbers on. False where the known text has no such lines."""
    first = (new_no if is_new else old_no) - 1
    if count < 0 or first + count > len(known):
        return False
    for offset, whole in enumerate(known[first : first + count]):
        text, ends = split_line_end(whole)
        lines.append((Line("context", old_no + offset, new_no + offset, text, ends), -1))
    return True
