"""A change with the whole file around it, where somebody knows the file's text before the run."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from potato.runs.changes.model import BadgeCode, FileChange, Line
from potato.runs.changes.texts import apply_hunks, split_lines


@dataclass(frozen=True, slots=True)
class Unfit:
    """Why the text is not shown around the change: a sentence."""

    sentence: str


def wants_base(change: FileChange) -> bool:
    """Whether the file's text before the run would show more of it than the trace does."""
    return (
        change.old_text is None
        and change.new_text is None
        and change.operation != "added"
        and change.has_line_numbers
        and not change.is_binary
        and not change.is_symlink
        and not change.is_submodule
        and bool(change.hunks or change.excerpts)
        and not any(badge.code is BadgeCode.CHANGED_IN_PARTS for badge in change.badges)
    )


def with_base(change: FileChange, base: str) -> FileChange | Unfit:
    """The change with its whole old and new text, made of the file at the base commit.

    Every line that the trace shows of the old file must stand in `base` at its place, to its end: else nothing of
    `base` is taken, and the answer says which line differs. `wants_base` must hold.
    """
    lines = split_lines(base)
    for line in _old_lines(change):
        number = line.old_no or 0
        if not 0 < number <= len(lines) or lines[number - 1] != line.whole:
            differs = f"line {number:,} is another" if number <= len(lines) else f"it has {len(lines):,} lines"
            return Unfit(
                f"The file of the attached repository does not go with this change: there {differs}. So only the lines "
                "of the trace are shown."
            )
    text = apply_hunks(base, change.hunks)
    if text is None:
        return Unfit(
            "The change cannot be applied to the file of the attached repository. So only the lines of the trace are "
            "shown."
        )
    return replace(change, old_text=base, new_text="" if change.operation == "deleted" else text, excerpts=())


def _old_lines(change: FileChange) -> Iterator[Line]:
    for hunk in (*change.excerpts, *change.hunks):
        for line in hunk.lines:
            if line.kind != "add":
                yield line
