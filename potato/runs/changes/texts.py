"""Hunks from two whole texts at any number of context lines, and a text from hunks. Lines end at LF alone."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from potato.runs.changes.differences import STEPS, Same, same_lines
from potato.runs.changes.model import Hunk, Line, split_line_end

CONTEXT = 3
_SECTION = 80


@dataclass(frozen=True, slots=True)
class Comparison:
    """Hunks, whether a part was too different to be compared line by line, and how many elementary steps it took."""

    hunks: tuple[Hunk, ...]
    is_coarse: bool = False
    steps: int = 0


def split_lines(text: str) -> list[str]:
    """The lines with their ends. LF alone ends a line: form feeds, CR and U+2028 are characters like any other."""
    lines = text.split("\n")
    last = lines.pop()
    whole = [line + "\n" for line in lines]
    return [*whole, last] if last else whole


def lines_without_ends(text: str) -> list[str]:
    """The lines as split_lines and split_line_end cut them, without their ends: in one go, as files are long."""
    *whole, last = text.split("\n")
    if "\r" in text:
        whole = [line.removesuffix("\r") for line in whole]
    return [*whole, last] if last else whole


def diff_texts(old: str, new: str, context: int = CONTEXT) -> tuple[Hunk, ...]:
    """The differences of two texts with `context` lines around them. Applying them to `old` gives `new` exactly."""
    return compare(old, new, context).hunks


def compare(old: str, new: str, context: int = CONTEXT, steps: int = STEPS) -> Comparison:
    """As diff_texts, and says whether the bound on work made the answer coarser than line by line."""
    if old == new:
        return Comparison(())
    old_lines, new_lines = split_lines(old), split_lines(new)
    same = same_lines(old_lines, new_lines, steps)
    changes = _changes(same.blocks, len(old_lines), len(new_lines))
    hunks = tuple(_hunks(_settled(changes, old_lines, new_lines), old_lines, new_lines, max(context, 0)))
    return Comparison(hunks, same.is_cut_short, same.steps)


def apply_hunks(old: str, hunks: Iterable[Hunk]) -> str | None:
    """The new text, or None where a hunk does not fit the old text exactly at the place that it names."""
    lines = split_lines(old)
    result: list[str] = []
    place = 0
    for hunk in hunks:
        start = hunk.old_start - 1 if hunk.old_count else hunk.old_start
        expected = [line.whole for line in hunk.lines if line.kind != "add"]
        if start < place or lines[start : start + len(expected)] != expected or start > len(lines):
            return None
        result += lines[place:start]
        result += [line.whole for line in hunk.lines if line.kind != "del"]
        place = start + len(expected)
    result += lines[place:]
    if any(not line.endswith("\n") for line in result[:-1]):
        return None
    return "".join(result)


@dataclass(slots=True)
class _Change:
    """Lines [old_from, old_to) become lines [new_from, new_to)."""

    old_from: int
    old_to: int
    new_from: int
    new_to: int


def _changes(same: Sequence[Same], old_count: int, new_count: int) -> list[_Change]:
    changes = []
    old_at = new_at = 0
    for block in [*same, Same(old_count, new_count, 0)]:
        if old_at < block.old or new_at < block.new:
            changes.append(_Change(old_at, block.old, new_at, block.new))
        old_at, new_at = block.old + block.length, block.new + block.length
    return changes


def _settled(changes: list[_Change], old: list[str], new: list[str]) -> list[_Change]:
    """Pure insertions and deletions moved down as far as they go, so that a block ends with its own last line."""
    for number, change in enumerate(changes):
        old_end = changes[number + 1].old_from if number + 1 < len(changes) else len(old)
        if change.old_from != change.old_to and change.new_from != change.new_to:
            continue
        lines, begin, end = (
            (new, change.new_from, change.new_to)
            if change.old_from == change.old_to
            else (old, change.old_from, change.old_to)
        )
        most = old_end - change.old_to - 1
        moved = 0
        while moved < most and lines[begin + moved] == lines[end + moved]:
            moved += 1
        change.old_from += moved
        change.old_to += moved
        change.new_from += moved
        change.new_to += moved
    return changes


def _hunks(changes: list[_Change], old: list[str], new: list[str], context: int) -> Iterator[Hunk]:
    group: list[_Change] = []
    heading = _Heading(old)
    for change in changes:
        if group and change.old_from - group[-1].old_to > 2 * context:
            yield _hunk(group, old, new, context, heading)
            group = []
        group.append(change)
    if group:
        yield _hunk(group, old, new, context, heading)


def _hunk(group: list[_Change], old: list[str], new: list[str], context: int, heading: "_Heading") -> Hunk:
    before = min(context, group[0].old_from, group[0].new_from)
    old_from, new_from = group[0].old_from - before, group[0].new_from - before
    old_to = min(group[-1].old_to + context, len(old))
    lines: list[Line] = []
    old_at, new_at = old_from, new_from

    def unchanged(end: int) -> None:
        nonlocal old_at, new_at
        while old_at < end:
            lines.append(Line("context", old_at + 1, new_at + 1, *split_line_end(old[old_at])))
            old_at, new_at = old_at + 1, new_at + 1

    for change in group:
        unchanged(change.old_from)
        lines += [Line("del", at + 1, None, *split_line_end(old[at])) for at in range(change.old_from, change.old_to)]
        lines += [Line("add", None, at + 1, *split_line_end(new[at])) for at in range(change.new_from, change.new_to)]
        old_at, new_at = change.old_to, change.new_to
    unchanged(old_to)
    old_count, new_count = old_at - old_from, new_at - new_from
    return Hunk(
        old_start=old_from + 1 if old_count else old_from,
        old_count=old_count,
        new_start=new_from + 1 if new_count else new_from,
        new_count=new_count,
        section=heading.before(old_from),
        lines=tuple(lines),
    )


class _Heading:
    """The last line above a hunk that begins with a letter, `_` or `$`: most often the function around it."""

    def __init__(self, lines: list[str]) -> None:
        self.lines, self.at, self.last = lines, 0, ""

    def before(self, place: int) -> str:
        for line in self.lines[self.at : place]:
            if line[0].isalpha() or line[0] in "_$":
                self.last = line[:_SECTION].strip()
        self.at = max(self.at, place)
        return self.last
