"""A changed file, its hunks and lines, and how far they can be trusted. Pure data.

Texts may hold NUL and lone surrogates (from JSON) and bytes that are not UTF-8 as surrogate escapes (from patches).
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Literal, TypeAlias

LineKind: TypeAlias = Literal["context", "add", "del"]
LineEnd: TypeAlias = Literal["lf", "crlf", "none"]
Operation: TypeAlias = Literal["added", "modified", "deleted", "renamed", "copied", "unchanged"]
Side: TypeAlias = Literal["new", "old"]
Origin: TypeAlias = Literal["patch", "content", "edits", "blocks", "read"]
Numbering: TypeAlias = Literal["file", "excerpt"]
"""What the numbers by which people point at lines count: lines of the file, or of the excerpt that is shown."""

SYMLINK_MODE = "120000"
SUBMODULE_MODE = "160000"

_ENDS: dict[LineEnd, str] = {"lf": "\n", "crlf": "\r\n", "none": ""}


class BadgeCode(StrEnum):
    """Every reason for which a file's change is to be read with care."""

    CORRUPT_PATCH = "corrupt_patch"
    """The patch contradicts itself: counts, numbers or lines of a hunk are not as its header says."""
    NOT_UTF8 = "not_utf8"
    """Lines hold bytes that are not UTF-8; they stand as surrogate escapes."""
    CHANGED_IN_PARTS = "changed_in_parts"
    """The patch changes the file more than once; line numbers are those of each part, and may repeat."""
    NOT_IN_PATCH = "not_in_patch"
    """The agent edited the file, but the patch that the run states as its outcome does not change it."""
    EDIT_NOT_FOUND = "edit_not_found"
    """The text that an edit replaces, or the line after which it inserts, is not in the file as replayed."""
    EDIT_AMBIGUOUS = "edit_ambiguous"
    """The text that an edit replaces once stands in the file several times; the first one was taken."""
    LINE_ENDS_ADAPTED = "line_ends_adapted"
    """An edit's LF line ends were made CR LF to fit the file."""
    CHANGED_BETWEEN = "changed_between"
    """The file was not as the recorded edits had left it: something that the trace does not record changed it."""
    CHANGE_NOT_RECORDED = "change_not_recorded"
    """Something changed the file, or may have, and the trace does not record how."""
    BASE_UNKNOWN = "base_unknown"
    """The trace does not have the file's text before the run."""
    COARSE_DIFFERENCE = "coarse_difference"
    """The texts differ too much to be compared line by line; a part is shown as wholly replaced."""


@dataclass(frozen=True, slots=True)
class Badge:
    """A reason from the fixed list, with a sentence that says what happened here and what is shown."""

    code: BadgeCode
    sentence: str


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a hunk. Numbers count from 1; None on the side where the line does not stand, or unknown.

    `text` is without the line end that `ends` names: "none" for a last line without one. A CR elsewhere stays in it.
    """

    kind: LineKind
    old_no: int | None
    new_no: int | None
    text: str
    ends: LineEnd = "lf"

    @property
    def whole(self) -> str:
        """The text with its line end."""
        return self.text + _ENDS[self.ends]


@dataclass(frozen=True, slots=True)
class Hunk:
    """A run of lines. Starts and counts are as a hunk header has them; both starts are 0 where unknown."""

    old_start: int
    old_count: int
    new_start: int
    new_count: int
    section: str
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class LineLink:
    """The steps that wrote the changed lines `first` to `last` of a side, the last one first, or that removed them.

    A line on the old side has one step: the one that took it away. Numbers count as `FileChange.numbering` says.
    """

    side: Side
    first: int
    last: int
    steps: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Overwritten:
    """So many lines that a step had written were removed or replaced by another one, None where nobody knows which."""

    step: int
    by: int | None
    lines: int


@dataclass(frozen=True, slots=True)
class FileChange:
    """What became of one file.

    `path` is the new path (the old one of a deleted file) and is for display alone: it may hold anything, `..`
    included. `old_path` differs from it for renamed and copied files only, and is "" for added ones. Modes are as git
    writes them ("100755"), None where unknown. `old_text` and `new_text` are the whole file, "" on the side where there
    is none, None where unknown. `excerpts` are stretches of a file whose whole text is not known: lines that the agent
    read, with what changed in them; every hunk lies in one. Without line numbers (`has_line_numbers`) every number of
    every line is None: nobody knows the place of the hunks, or several parts of a patch number other lines alike.
    `added` and `removed` count the lines of the hunks; a binary file has none. `steps` are the indexes of the steps
    that touched the file, each once, in order. `links` say which of them wrote each changed line, as far as that is
    known, and `overwritten` what of their lines is not in the change any more.
    """

    path: str
    old_path: str
    operation: Operation
    source: Origin
    hunks: tuple[Hunk, ...] = ()
    old_mode: str | None = None
    new_mode: str | None = None
    is_binary: bool = False
    old_text: str | None = None
    new_text: str | None = None
    badges: tuple[Badge, ...] = ()
    added: int = 0
    removed: int = 0
    has_line_numbers: bool = True
    steps: tuple[int, ...] = ()
    excerpts: tuple[Hunk, ...] = ()
    links: tuple[LineLink, ...] = ()
    overwritten: tuple[Overwritten, ...] = ()

    @property
    def numbering(self) -> Numbering:
        return "file" if self.has_line_numbers else "excerpt"

    @property
    def shown_hunks(self) -> tuple[Hunk, ...]:
        """The hunks with the numbers by which people point at their lines, as `numbering` says."""
        return self.hunks if self.has_line_numbers else counted_hunks(self.hunks)

    def lines(self, side: Side) -> dict[int, str]:
        """The lines of the hunks and excerpts on that side, without line ends, by the number that comments name."""
        numbered = (
            (line.new_no if side == "new" else line.old_no, line.text)
            for hunk in (*self.excerpts, *self.shown_hunks)
            for line in hunk.lines
        )
        return {number: text for number, text in numbered if number is not None}

    @property
    def is_symlink(self) -> bool:
        return SYMLINK_MODE in (self.new_mode, self.old_mode)

    @property
    def is_submodule(self) -> bool:
        return SUBMODULE_MODE in (self.new_mode, self.old_mode)


@dataclass(frozen=True, slots=True)
class PatchProblem:
    """A part of a patch, or all of it, that gave no file: where (line from 1), a code and a sentence."""

    line: int
    code: Literal[
        "empty", "no_files", "too_large", "too_many_files", "too_many_hunks", "too_many_lines",
        "header_too_long", "combined_diff", "no_file_name", "unreadable",
    ]  # fmt: skip
    sentence: str


@dataclass(frozen=True, slots=True)
class ChangeSet:
    """The files that could be read, and what could not."""

    files: tuple[FileChange, ...]
    problems: tuple[PatchProblem, ...] = ()


def counted_hunks(hunks: Iterable[Hunk]) -> tuple[Hunk, ...]:
    """Hunks of which nobody knows where they stand, their lines numbered as they are shown.

    Each side counts its own lines from 1, over all hunks in their order. What may stand between two hunks counts as one
    line, so that no range of lines goes over a gap. The starts stay 0: they name places in the file.
    """
    counted: list[Hunk] = []
    old_no = new_no = 0
    for hunk in hunks:
        lines = []
        for line in hunk.lines:
            in_old, in_new = line.kind != "add", line.kind != "del"
            old_no += in_old
            new_no += in_new
            lines.append(replace(line, old_no=old_no if in_old else None, new_no=new_no if in_new else None))
        old_no, new_no = old_no + 1, new_no + 1
        counted.append(replace(hunk, lines=tuple(lines)))
    return tuple(counted)


def split_line_end(whole: str) -> tuple[str, LineEnd]:
    """A line's text and the name of its end."""
    if whole.endswith("\r\n"):
        return whole[:-2], "crlf"
    if whole.endswith("\n"):
        return whole[:-1], "lf"
    return whole, "none"


def counts(hunks: Iterable[Hunk]) -> tuple[int, int]:
    """How many lines the hunks add and remove."""
    added = removed = 0
    for hunk in hunks:
        for line in hunk.lines:
            added += line.kind == "add"
            removed += line.kind == "del"
    return added, removed


def to_bytes(text: str) -> bytes:
    """UTF-8, with surrogate escapes as the bytes that they stand for and other lone surrogates as three bytes each."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return b"".join(
            character.encode("utf-8", "surrogateescape" if "\udc80" <= character <= "\udcff" else "surrogatepass")
            for character in text
        )
