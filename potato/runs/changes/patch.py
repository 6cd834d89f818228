"""A whole patch as it came, split into files and read. Raises nothing for any bytes, and loses nothing silently:
what cannot be shown is a problem with its line and a sentence, what is shown with reserve has a badge.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from unidiff.errors import UnidiffParseError
from unidiff.patch import PatchSet

from potato.runs.changes.headers import Names, parse_names
from potato.runs.changes.model import (
    SUBMODULE_MODE,
    Badge,
    BadgeCode,
    ChangeSet,
    FileChange,
    Hunk,
    Line,
    LineKind,
    Operation,
    PatchProblem,
    counts,
    split_line_end,
)
from potato.runs.changes.splitter import MAX_HEADER_BYTES, RawHunk, Section, split
from potato.runs.changes.texts import apply_hunks, diff_texts

MAX_PATCH_BYTES = 20_000_000
MAX_FILES = 3_000
MAX_HUNKS = 100_000
MAX_LINES = 600_000

_COMPOSED = 20
"""Of a file in more parts than these no whole text is worked out."""

_KINDS: dict[str, LineKind] = {" ": "context", "+": "add", "-": "del"}


def read_patch(data: bytes) -> ChangeSet:
    """The files of a patch in the order in which it has them; a file that stands in it twice is one file."""
    if not data.strip():
        return ChangeSet((), (PatchProblem(1, "empty", "The patch is empty: it changes no file."),))
    if problem := _over_bounds(data):
        return ChangeSet((), (problem,))
    sections, problems = split(data)
    if problem := _too_many(sections):
        return ChangeSet((), (*problems, problem))
    parts: dict[str, list[FileChange]] = {}
    for section in sections:
        change = _read_section(section)
        if isinstance(change, PatchProblem):
            problems.append(change)
        else:
            parts.setdefault(change.path, []).append(change)
    if not parts and not problems:
        sentence = (
            "No file was found in the patch. A unified diff has lines `--- old name`, `+++ new name` and `@@` "
            "for each file, or `diff --git`; give one."
        )
        problems.append(PatchProblem(1, "no_files", sentence))
    return ChangeSet(
        tuple(_joined(changes) for changes in parts.values()), tuple(sorted(problems, key=lambda problem: problem.line))
    )


def _over_bounds(data: bytes) -> PatchProblem | None:
    if len(data) > MAX_PATCH_BYTES:
        sentence = (
            f"The patch has {len(data):,} bytes; at most {MAX_PATCH_BYTES:,} are read. Leave generated files out."
        )
        return PatchProblem(1, "too_large", sentence)
    if (lines := data.count(b"\n")) > MAX_LINES:
        sentence = f"The patch has {lines:,} lines; at most {MAX_LINES:,} are read. Leave generated files out."
        return PatchProblem(1, "too_many_lines", sentence)
    return None


def _too_many(sections: list[Section]) -> PatchProblem | None:
    if len(sections) > MAX_FILES:
        sentence = f"The patch has {len(sections):,} files; at most {MAX_FILES:,} are read. Split it."
        return PatchProblem(sections[MAX_FILES].line, "too_many_files", sentence)
    hunks = 0
    for section in sections:
        hunks += len(section.hunks)
        if hunks > MAX_HUNKS:
            sentence = f"The patch has more than {MAX_HUNKS:,} hunks. Split it."
            return PatchProblem(section.line, "too_many_hunks", sentence)
    return None


def _read_section(section: Section) -> FileChange | PatchProblem:
    if section.is_combined:
        sentence = (
            f"Line {section.line}: a combined diff of a merge has no old and new side. "
            "Make the patch against one parent, as `git diff PARENT COMMIT` does."
        )
        return PatchProblem(section.line, "combined_diff", sentence)
    if section.long_header:
        sentence = (
            f"Line {section.long_header}: a header line is over {MAX_HEADER_BYTES:,} bytes, so its file is left out."
        )
        return PatchProblem(section.line, "header_too_long", sentence)
    names = parse_names(section.header)
    if not names.path:
        sentence = (
            f"Line {section.line}: the file has no name. Add lines `--- old name` and `+++ new name` above its `@@`."
        )
        return PatchProblem(section.line, "no_file_name", sentence)
    try:
        hunks = tuple(_read_hunks(section.hunks))
    except UnidiffParseError as error:
        return PatchProblem(
            section.line, "unreadable", f"Line {section.line}: the file's hunks cannot be read ({error})."
        )
    return _file(section, names, hunks)


def _file(section: Section, names: Names, hunks: tuple[Hunk, ...]) -> FileChange:
    badges = []
    if section.faults:
        first = section.faults[0]
        more = f" There are {len(section.faults)} such places." if len(section.faults) > 1 else ""
        sentence = f"Line {first.line} of the patch: {first.what}{more}"
        badges.append(Badge(BadgeCode.CORRUPT_PATCH, sentence))
    if any(_has_raw_bytes(text) for text in _texts(names, hunks)):
        sentence = "Some bytes are not UTF-8; each stands as a mark of its own, and exports keep it as it came."
        badges.append(Badge(BadgeCode.NOT_UTF8, sentence))
    has_numbers = all(hunk.numbers for hunk in section.hunks)
    added, removed = counts(hunks)
    old_text, new_text = _whole_texts(section, names, hunks)
    return FileChange(
        path=names.path,
        old_path=names.old_path,
        operation=names.operation,
        source="patch",
        hunks=hunks if has_numbers else tuple(without_numbers(hunk) for hunk in hunks),
        old_mode=names.old_mode,
        new_mode=names.new_mode,
        is_binary=section.is_binary,
        old_text=old_text,
        new_text=new_text,
        badges=tuple(badges),
        added=added,
        removed=removed,
        has_line_numbers=has_numbers,
    )


def _read_hunks(raw: list[RawHunk]) -> Iterator[Hunk]:
    """The one place that knows unidiff: it gets hunks alone, with counts that fit their lines."""
    if not raw:
        return
    for source, parsed in zip(raw, PatchSet(_canonical(raw))[0], strict=True):
        lines: list[Line] = []
        for line in parsed:
            if line.line_type == "\\":
                last = lines[-1]
                text = last.text + ("\r" if last.ends == "crlf" else "")
                lines[-1] = Line(last.kind, last.old_no, last.new_no, text, "none")
                continue
            text, ends = split_line_end(line.value)
            lines.append(Line(_KINDS[line.line_type], line.source_line_no, line.target_line_no, text, ends))
        yield Hunk(
            parsed.source_start,
            parsed.source_length,
            parsed.target_start,
            parsed.target_length,
            source.section.decode("utf-8", "surrogateescape"),
            tuple(lines),
        )


def _canonical(raw: list[RawHunk]) -> Iterator[str]:
    yield "--- a/file\n"
    yield "+++ b/file\n"
    for hunk in raw:
        old_start, new_start = hunk.numbers or (1, 1)
        yield f"@@ -{old_start},{hunk.old_count} +{new_start},{hunk.new_count} @@\n"
        for line in b"\n".join(hunk.body).decode("utf-8", "surrogateescape").split("\n"):
            yield line + "\n"


def without_numbers(hunk: Hunk) -> Hunk:
    """The hunk with its lines alone, for a place in the file that is not known."""
    return replace(_of_uncounted_lines(hunk), old_start=0, new_start=0)


def _of_uncounted_lines(hunk: Hunk) -> Hunk:
    """The hunk at its place, whose lines have no numbers."""
    return replace(hunk, lines=tuple(replace(line, old_no=None, new_no=None) for line in hunk.lines))


def _numbers_repeat(hunks: tuple[Hunk, ...]) -> bool:
    """Whether two lines of one side have the same number."""
    lines = [line for hunk in hunks for line in hunk.lines]
    sides = ([line.old_no for line in lines], [line.new_no for line in lines])
    known = [[number for number in side if number is not None] for side in sides]
    return any(len(set(side)) < len(side) for side in known)


def _texts(names: Names, hunks: tuple[Hunk, ...]) -> Iterator[str]:
    yield names.path
    yield names.old_path
    for hunk in hunks:
        yield hunk.section
        for line in hunk.lines:
            yield line.text


def _has_raw_bytes(text: str) -> bool:
    return not text.isascii() and any("\udc80" <= character <= "\udcff" for character in text)


def _whole_texts(section: Section, names: Names, hunks: tuple[Hunk, ...]) -> tuple[str | None, str | None]:
    """Both whole texts where the patch has them: of an added file the new one, of a deleted file the old one."""
    if section.faults or section.is_binary or SUBMODULE_MODE in (names.old_mode, names.new_mode) or len(hunks) > 1:
        return None, None
    lines = hunks[0].lines if hunks else ()
    if names.operation == "added" and all(line.kind == "add" for line in lines):
        return "", "".join(line.whole for line in lines)
    if names.operation == "deleted" and all(line.kind == "del" for line in lines):
        return "".join(line.whole for line in lines), ""
    return None, None


def _joined(parts: list[FileChange]) -> FileChange:
    """One change out of the parts of a patch that change one file, each made after the one before."""
    first, last = parts[0], parts[-1]
    if len(parts) == 1:
        return first
    operation = first.operation
    new_text = first.new_text
    for before, after in pairwise(parts):
        operation = _operation_of_both(operation, after.operation)
        new_text = _text_after_both(before, new_text, after) if len(parts) <= _COMPOSED else None
    firsts: dict[BadgeCode, Badge] = {}
    for badge in (badge for part in parts for badge in part.badges):
        firsts.setdefault(badge.code, badge)
    badges = tuple(firsts.values())
    has_numbers = all(part.has_line_numbers for part in parts)
    if first.old_text is not None and new_text is not None:
        hunks, has_numbers = diff_texts(first.old_text, new_text), True
    else:
        hunks = tuple(hunk for part in parts for hunk in part.hunks)
        if not has_numbers:
            hunks = tuple(without_numbers(hunk) for hunk in hunks)
        if sum(bool(part.hunks) for part in parts) > 1:
            own = ", each with its own line numbers" if has_numbers else ""
            if has_numbers and _numbers_repeat(hunks):
                # Two lines of one number: a comment could not say which of them it is about.
                hunks, has_numbers = tuple(_of_uncounted_lines(hunk) for hunk in hunks), False
                own = ". Their line numbers repeat"
            sentence = f"The patch changes this file {len(parts)} times. The parts stand in its order{own}."
            badges = (*badges, Badge(BadgeCode.CHANGED_IN_PARTS, sentence))
    added, removed = counts(hunks)
    return replace(
        last,
        old_path=first.old_path,
        operation=operation,
        old_mode=first.old_mode,
        new_mode=None if operation == "deleted" else last.new_mode or first.new_mode,
        is_binary=any(part.is_binary for part in parts),
        old_text=first.old_text,
        new_text=new_text,
        hunks=hunks,
        badges=badges,
        added=added,
        removed=removed,
        has_line_numbers=has_numbers,
    )


def _operation_of_both(first: Operation, second: Operation) -> Operation:
    if second == "deleted":
        return "deleted"
    if first == "deleted":
        return "modified"
    return second if first == "modified" else first


def _text_after_both(first: FileChange, text: str | None, second: FileChange) -> str | None:
    """The text after the second part, where it follows from the text before it; None where the parts disagree."""
    if second.operation == "added":
        return second.new_text if first.operation == "deleted" else None
    if text is None or not second.has_line_numbers or second.is_binary:
        return None
    return apply_hunks(text, second.hunks)
