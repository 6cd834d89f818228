"""Which steps wrote each line of a file's final change: the lines of its hunks joined with the histories of the replay.

Nothing is guessed. A line has a link where the replay followed it to a step; where a command or a person changed the
file, and where a stated patch and the replayed text part, it has none.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from potato.runs.changes.line_history import UNKNOWN, LineHistory, TrackedLine
from potato.runs.changes.model import (
    BadgeCode,
    FileChange,
    Hunk,
    Line,
    LineLink,
    Overwritten,
    Side,
    counted_hunks,
    split_line_end,
)
from potato.runs.changes.replay import ReplayedFile, equal_places
from potato.runs.changes.texts import split_lines


def with_links(change: FileChange, file: ReplayedFile) -> FileChange:
    """The change of a replayed file, whose hunks have the file's line numbers."""
    return replace(change, links=_links(change.hunks, _written_in(file)), overwritten=_overwritten([file]))


def with_links_of_blocks(change: FileChange, steps: Sequence[int | None]) -> FileChange:
    """A change of blocks without a place, each of which one of the steps made; lines count as they are shown."""
    written = _Written()
    for hunk, step in zip(counted_hunks(change.hunks), steps, strict=True):
        for line in hunk.lines:
            if line.new_no is not None and line.kind == "add":
                written.new[line.new_no] = (step,)
            elif line.old_no is not None and line.kind == "del":
                written.removed[line.old_no] = step
    return replace(change, links=_links(counted_hunks(change.hunks), written))


def with_links_of_patch(change: FileChange, acts: Sequence[ReplayedFile]) -> FileChange:
    """A change that a patch states, unless its line numbers repeat. Its hunks have the lines of the replayed file where
    they read the same: at the same numbers, or at the only other place where they stand."""
    if not change.has_line_numbers or any(badge.code == BadgeCode.CHANGED_IN_PARTS for badge in change.badges):
        return change
    links: list[LineLink] = []
    for file in acts:
        written, texts = _written_in(file), _texts_in(file)
        for hunk in change.hunks:
            links += _links([hunk], _as_numbered_in(hunk, written, texts))
    return replace(change, links=_joined(links), overwritten=_overwritten(acts))


@dataclass(slots=True)
class _Written:
    """What is known of the lines of a file after the run, and which of those before it are gone, by their numbers."""

    new: dict[int, TrackedLine] = field(default_factory=dict)
    removed: dict[int, int | None] = field(default_factory=dict)

    def add(self, history: LineHistory, first: int) -> None:
        """Lines of the file after the run, from the line `first` on."""
        self.new.update(enumerate(history.lines, first))
        self.removed.update(history.removed)


@dataclass(slots=True)
class _Texts:
    """The lines of a file before and after the run, by their numbers; all of them where `is_whole`."""

    old: dict[int, str] = field(default_factory=dict)
    new: dict[int, str] = field(default_factory=dict)
    is_whole: bool = True


def _written_in(file: ReplayedFile) -> _Written:
    written = _Written()
    if file.history is not None:
        written.add(file.history, 1)
    elif file.partial.is_certain:
        for region, first in file.partial.placed():
            written.add(region.history, first)
    return written


def _texts_in(file: ReplayedFile) -> _Texts:
    if file.history is not None:
        return _Texts(_numbered(file.original or ""), _numbered(file.text))
    texts = _Texts(is_whole=False)
    for region, first in file.partial.placed():
        texts.new.update(enumerate(region.new, first))
        texts.old.update(enumerate(region.old, region.first))
    return texts


def _as_numbered_in(hunk: Hunk, written: _Written, texts: _Texts) -> _Written:
    """The lines by the numbers that they have in the hunk; none on a side that reads otherwise."""
    new = _shift(hunk, "new", texts.new, is_whole=texts.is_whole)
    old = _shift(hunk, "old", texts.old, is_whole=texts.is_whole)
    return _Written(
        {} if new is None else {number - new: _shifted(line, old) for number, line in written.new.items()},
        {} if old is None else {number - old: step for number, step in written.removed.items()},
    )


def _shifted(line: TrackedLine, old: int | None) -> TrackedLine:
    if not isinstance(line, int):
        return line
    return UNKNOWN if old is None else line - old


def _shift(hunk: Hunk, side: Side, texts: Mapping[int, str], *, is_whole: bool) -> int | None:
    """How many lines further down the hunk's lines stand in these texts; None where they do not, or more than once."""
    kinds = ("add" if side == "new" else "del", *(("context",) if is_whole else ()))
    lines = [(number, line.text) for line in hunk.lines if line.kind in kinds and (number := _number(line, side))]
    if all(texts.get(number) == text for number, text in lines):
        return 0
    if not is_whole or not lines:
        return None
    places = equal_places(list(texts.values()), tuple(text for _, text in lines))
    return places[0] + 1 - lines[0][0] if len(places) == 1 else None


def _links(hunks: Sequence[Hunk], written: _Written) -> tuple[LineLink, ...]:
    same = _SameLines.of(hunks, written)
    return _joined([link for hunk in hunks for side in ("new", "old") for link in _side_links(hunk, side, same)])


def _side_links(hunk: Hunk, side: Side, same: "_SameLines") -> Iterator[LineLink]:
    changed = "add" if side == "new" else "del"
    for line in hunk.lines:
        number = _number(line, side)
        if line.kind == changed and number is not None:
            steps = same.added_by(number) if side == "new" else same.removed_by(number)
            if steps:
                yield LineLink(side, number, number, steps)


@dataclass(frozen=True, slots=True)
class _SameLines:
    """Of equal lines, one of which a step wrote or removed, a difference may show another one as changed.

    Such a line was there before the run and still is. The difference has its old line beside another new one, which
    reads the same: whatever became of that one became, for the reader, of this one. Each line stands for one other
    alone, so that no step has more lines than it wrote.
    """

    written: _Written
    new_beside: Mapping[int, int]
    """Of the unchanged lines of the hunks: the number on the new side by that on the old one."""
    old_beside: Mapping[int, int]
    place_now: Mapping[int, int]
    """Where lines stand that were there before the run."""

    @classmethod
    def of(cls, hunks: Iterable[Hunk], written: _Written) -> "_SameLines":
        lines = (line for hunk in hunks for line in hunk.lines if line.kind == "context")
        beside = {line.old_no: line.new_no for line in lines if line.old_no is not None and line.new_no is not None}
        place_now = {line: number for number, line in written.new.items() if isinstance(line, int)}
        return cls(written, beside, {new: old for old, new in beside.items()}, place_now)

    def added_by(self, number: int) -> tuple[int, ...]:
        """The steps of a new line that the difference shows as added, the last one first; () where nobody knows."""
        line = self.written.new.get(number)
        while isinstance(line, int):
            beside = self.new_beside.get(line)
            line = None if beside is None else self.written.new.get(beside)
        return () if line is None or line[0] is None else tuple(step for step in line if step is not None)

    def removed_by(self, number: int) -> tuple[int, ...]:
        """The step of an old line that the difference shows as removed."""
        place: int | None = number
        while place is not None and place not in self.written.removed:
            now = self.place_now.get(place)
            place = None if now is None else self.old_beside.get(now)
        step = None if place is None else self.written.removed[place]
        return () if step is None else (step,)


def _number(line: Line, side: Side) -> int | None:
    return line.new_no if side == "new" else line.old_no


def _numbered(text: str) -> dict[int, str]:
    lines = (split_line_end(line)[0] for line in split_lines(text))
    return dict(enumerate(lines, 1))


def _joined(links: Iterable[LineLink]) -> tuple[LineLink, ...]:
    """Links of lines that follow one another as one, in the order of their lines; of a line with several the first."""
    joined: list[LineLink] = []
    for link in sorted(links, key=lambda link: (link.side, link.first)):
        last = joined[-1] if joined else None
        if last is not None and last.side == link.side and link.first <= last.last + 1:
            if link.first <= last.last:
                continue
            if last.steps == link.steps:
                joined[-1] = replace(last, last=link.last)
                continue
        joined.append(link)
    return tuple(joined)


def _overwritten(files: Iterable[ReplayedFile]) -> tuple[Overwritten, ...]:
    total: Counter[tuple[int, int | None]] = Counter()
    for file in files:
        histories = [file.history] if file.history else [region.history for region in file.partial.regions]
        for history in histories:
            total.update(history.overwritten)
    return tuple(
        Overwritten(step, by, count)
        for (step, by), count in sorted(total.items(), key=lambda item: (item[0][0], item[0][1] or -1))
        if step != by
    )
