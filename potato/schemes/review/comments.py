"""Comments on lines, and general ones on a file or on the change as a whole: what is still missing of them, and the
list that a submission keeps.

A comment that is being written has the keys of a submitted one, each of which may be null or left out. Texts are kept
as they were entered.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from typing import Any, Literal, NotRequired, TypedDict, cast

from potato.runs.changes.places import SIDES, Evidence, JudgedFile, Side
from potato.schemes.answers import Answers, Gap, TaskLocation, missing, refused, shown
from potato.schemes.review.configuration import InlineCommentsBlock
from potato.wording import listed, timestamp

KEYS = (
    "file", "line_start", "line_end", "category", "severity", "comment", "suggestion", "unsure", "side",
    "numbering", "subject_type", "comment_id", "created_at",
)  # fmt: skip
EXCERPT = "excerpt"
FILE, CHANGE = "file", "change"
SUBJECTS = (FILE, CHANGE)
GENERAL_TITLE = "General comment"
_LINES_ALONE = ("line_start", "line_end", "side", "numbering", "suggestion")
_SIDES: dict[str | None, Side] = {None: "new", **{side: side for side in SIDES}}
_COMMENT_ID = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)
_NO_LIST = (refused((), "not_a_list", "Comments must be a list."),)
_CREATED_AT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z", re.ASCII)


class InlineComment(TypedDict):
    """A comment as it leaves, keys in this order. Line numbers are the file's on `side`, both included; `file` is the
    new path, or the old one of a deleted file. Where the trace does not say where in the file its lines stand,
    `numbering` is "excerpt": then the numbers count the lines of that side as they are shown, from 1, over all parts of
    the file, a gap between two parts as one line.

    A general comment has `subject_type` in the place of lines and side: "file", or "change" for the whole change, which
    names no file either."""

    file: NotRequired[str]
    line_start: NotRequired[int]
    line_end: NotRequired[int]
    category: NotRequired[str]
    severity: NotRequired[str]
    comment: str
    suggestion: NotRequired[str]
    unsure: NotRequired[bool]
    side: NotRequired[Side]
    numbering: NotRequired[Literal["excerpt"]]
    subject_type: NotRequired[Literal["file", "change"]]
    comment_id: str
    created_at: str


def is_general(comment: Mapping[str, Any]) -> bool:
    """Whether a comment is about its file or the change as a whole, and not about lines."""
    return comment.get("subject_type") in SUBJECTS


def on_lines(result: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The comments that are about lines, in their order."""
    return [comment for comment in result if not is_general(comment)]


@dataclass(frozen=True, slots=True)
class _Comment:
    """A comment as it was given. None is what it does not say; an empty choice says nothing, an empty suggestion
    says that the lines go."""

    file: str | None
    line_start: int | None
    line_end: int | None
    category: str | None
    severity: str | None
    comment: str
    suggestion: str | None
    is_unsure: bool
    side: str | None
    numbering: str | None
    subject: str | None
    comment_id: str | None
    created_at: str | None

    @property
    def last_line(self) -> int | None:
        """A comment without its last line stands on its first one."""
        return self.line_start if self.line_end is None else self.line_end

    @property
    def place(self) -> TaskLocation:
        side = None if self.subject in SUBJECTS else self.side or "new"
        return TaskLocation(self.file, side, self.line_start, self.comment_id)

    @property
    def where(self) -> str:
        """The start of each sentence about this comment; short also where a number is absurd."""
        if self.subject == CHANGE:
            return "The comment on the change"
        if self.subject == FILE and self.file is not None:
            return f"The comment on {shown(self.file)}"
        if self.file is None or self.line_start is None or not 0 < self.line_start < 10**9:
            return "A comment"
        last = self.last_line or self.line_start
        lines = f"lines {self.line_start} to {last}" if self.line_start < last < 10**9 else f"line {self.line_start}"
        return f"{shown(self.file)}, {lines}{' of the excerpt' if self.numbering == EXCERPT else ''}"


def malformed(answers: object) -> tuple[Gap, ...]:
    """Keys that a comment does not have, and values of the wrong type."""
    if not isinstance(answers, list | None):
        return _NO_LIST
    return tuple(gap.below(index) for index, (_, wrong) in enumerate(_read(answers)) for gap in wrong)


def find_gaps(answers: object, block: InlineCommentsBlock, evidence: Evidence) -> tuple[Gap, ...]:
    """Everything that keeps the comments from being submitted, comment by comment, then their number."""
    if not isinstance(answers, list | None):
        return _NO_LIST
    gaps: list[Gap] = []
    taken: set[str] = set()
    for index, (comment, wrong) in enumerate(_read(answers)):
        comment_gaps = wrong or [*_identity_gaps(comment, taken), *_gaps(comment, block, evidence)]
        gaps += (gap.below(index) for gap in comment_gaps)
    least = block.min_comments
    if (more := least - len(answers or ())) > 0:
        noun = "comment" if more == 1 else "comments"
        gaps.append(missing((), "too_few_comments", f"Add {more} more {noun}, at least {least} in all."))
    return tuple(gaps)


def build_result(answers: object, submitted_at: datetime) -> list[InlineComment]:
    """The comments in the order of their creation, of answers that nothing is missing of.

    One that came without an id or a time, from a program, gets the first free number and the time of the submission.
    """
    comments = [comment for comment, _ in _read(answers)]
    taken = {comment.comment_id for comment in comments}
    free = (name for number in count(1) if (name := f"comment-{number}") not in taken)
    now = timestamp(submitted_at)
    finished = [_finished(comment, comment.comment_id or next(free), comment.created_at or now) for comment in comments]
    return sorted(finished, key=lambda comment: _moment(comment["created_at"]) or submitted_at)


def _read(answers: object) -> Iterator[tuple[_Comment, list[Gap]]]:
    """Each comment with what could not be read of it."""
    for entry in answers if isinstance(answers, list) else ():
        fields = Answers(entry, "a comment", KEYS)
        comment = _Comment(
            file=fields.text("file"),
            line_start=fields.number("line_start"),
            line_end=fields.number("line_end"),
            category=fields.text("category") or None,
            severity=fields.text("severity") or None,
            comment=fields.text("comment") or "",
            suggestion=fields.text("suggestion"),
            is_unsure=bool(fields.switch("unsure")),
            side=fields.text("side"),
            numbering=fields.text("numbering"),
            subject=fields.text("subject_type") or None,
            comment_id=fields.text("comment_id"),
            created_at=fields.text("created_at"),
        )
        yield comment, fields.gaps


def _identity_gaps(comment: _Comment, taken: set[str]) -> Iterator[Gap]:
    place = comment.place
    if comment.comment_id is not None:
        if not _COMMENT_ID.fullmatch(comment.comment_id):
            sentence = f"{comment.where}: comment_id must be 1 to 64 letters, digits, hyphens or underscores."
            yield refused(("comment_id",), "wrong_id", sentence, place)
        elif comment.comment_id in taken:
            sentence = f"{comment.where}: comment_id {comment.comment_id} is already another comment's."
            yield refused(("comment_id",), "repeated_id", sentence, place)
        taken.add(comment.comment_id)
    if comment.created_at is not None and _moment(comment.created_at) is None:
        sentence = f"{comment.where}: created_at must be a time in UTC such as 2025-01-15T14:30:00Z."
        yield refused(("created_at",), "wrong_time", sentence, place)


def _gaps(comment: _Comment, block: InlineCommentsBlock, evidence: Evidence) -> Iterator[Gap]:
    where, place = comment.where, comment.place
    if comment.subject is None:
        yield from _place_gaps(comment, block, evidence)
    else:
        yield from _subject_gaps(comment, block, evidence)
    categories = [category.value for category in block.categories]
    yield from _choice_gaps(comment, "category", comment.category, categories, block.require_category)
    levels = [level.value for level in block.severity.offered]
    if levels:
        yield from _choice_gaps(comment, "severity", comment.severity, levels, block.require_severity)
    elif comment.severity is not None:
        yield refused(("severity",), "severity_off", f"{where}: comments carry no severity in this project.", place)
    if not comment.comment.strip():
        yield missing(("comment",), "no_text", f"{where}: write the comment or delete it.", place)
    if comment.suggestion is not None and not block.allow_suggestions:
        sentence = f"{where}: comments carry no suggestion in this project."
        yield refused(("suggestion",), "suggestions_off", sentence, place)
    if comment.is_unsure and not block.allow_unsure:
        sentence = f"{where}: comments are not marked as unsure in this project."
        yield refused(("unsure",), "unsure_off", sentence, place)


def _choice_gaps(
    comment: _Comment, key: str, value: str | None, offered: list[str], is_required: bool
) -> Iterator[Gap]:
    if value is None and is_required:
        yield missing((key,), f"no_{key}", f"{comment.where}: choose a {key}.", comment.place)
    elif value is not None and value not in offered:
        sentence = f"{comment.where}: {shown(value)} is not a {key}. Choose {listed(offered, 'or')}."
        yield refused((key,), f"unknown_{key}", sentence, comment.place)


def _subject_gaps(comment: _Comment, block: InlineCommentsBlock, evidence: Evidence) -> Iterator[Gap]:
    """A general comment is about a file of the trace or the whole change, and says nothing of lines."""
    where, place = comment.where, comment.place
    if comment.subject not in SUBJECTS:
        sentence = f"{where}: subject_type must be {listed(SUBJECTS, 'or')}. Leave it out of a comment on lines."
        yield refused(("subject_type",), "unknown_subject", sentence, place)
        return
    if not block.allow_general:
        sentence = f"{where}: comments are on lines in this project, not on a whole file or change."
        yield refused(("subject_type",), "general_off", sentence, place)
    for key in _LINES_ALONE:
        if getattr(comment, key) is not None:
            sentence = f"{where}: {key} belongs to comments on lines. Leave it out, or leave out subject_type."
            yield refused((key,), "not_on_lines", sentence, place)
    if comment.subject == CHANGE and comment.file is not None:
        sentence = f'{where}: it names no file. Leave out file, or write "subject_type": "{FILE}".'
        yield refused(("file",), "file_of_change", sentence, place)
    elif comment.subject == FILE and comment.file is None:
        yield refused(("file",), "no_file", "A comment needs the file that it is about.", place)
    elif comment.subject == FILE and comment.file not in evidence.files:
        yield refused(("file",), "unknown_file", f"{shown(comment.file or '')} is not a file of this trace.", place)


def _place_gaps(comment: _Comment, block: InlineCommentsBlock, evidence: Evidence) -> Iterator[Gap]:
    """A comment stands on lines that people can see, on one side of one file."""
    where, place = comment.where, comment.place
    side = _SIDES.get(comment.side)
    if side is None:
        yield refused(("side",), "unknown_side", f"{where}: side must be {listed(SIDES, 'or')}.", place)
    file = evidence.files.get(comment.file) if comment.file is not None else None
    if comment.file is None:
        yield refused(("file",), "no_file", "A comment needs the file that it is about.", place)
    elif file is None:
        yield refused(("file",), "unknown_file", f"{shown(comment.file)} is not a file of this trace.", place)
    start, end = comment.line_start, comment.last_line
    if start is None or end is None:
        yield refused(("line_start",), "no_line", f"{where} needs the line that it is about.", place)
    elif end < start:
        yield refused(("line_end",), "range_reversed", f"{where}: line_end must not be below line_start.", place)
    elif end > start and not block.allow_multi_line:
        sentence = f"{where}: a comment is about one line in this project."
        yield refused(("line_end",), "multi_line", sentence, place)
    elif file is not None and (comment.numbering or "file") != file.numbering:
        yield refused(("numbering",), "wrong_numbering", _wrong_numbering(where, file), place)
    elif file is not None and side is not None and not file.has_range(side, start, end):
        yield refused(("line_start",), "unknown_line", _unknown_line(where, file, side), place)


def _wrong_numbering(where: str, file: JudgedFile) -> str:
    if file.numbering == EXCERPT:
        return (
            f"{where}: the trace does not say where in the file its lines stand. Count the lines of the excerpt that "
            f'is shown, and say so: "numbering": "{EXCERPT}".'
        )
    return f"{where}: line numbers of this file are those of the file. Leave numbering out."


def _unknown_line(where: str, file: JudgedFile, side: Side) -> str:
    if not file.lines(side):
        return f"{where}: the {side} side of this file has no lines that can be commented."
    return f"{where}: the {side} side of this file does not show all of these lines. Comment on lines that are shown."


def _finished(comment: _Comment, comment_id: str, created_at: str) -> InlineComment:
    values = {
        "file": comment.file,
        "line_start": comment.line_start,
        "line_end": comment.last_line,
        "category": comment.category,
        "severity": comment.severity,
        "comment": comment.comment,
        "suggestion": comment.suggestion,
        "unsure": comment.is_unsure or None,
        "side": None if comment.subject else _SIDES[comment.side],
        "numbering": EXCERPT if comment.numbering == EXCERPT else None,
        "subject_type": comment.subject,
        "comment_id": comment_id,
        "created_at": created_at,
    }
    return cast(InlineComment, {key: value for key, value in values.items() if value is not None})


def _moment(text: str) -> datetime | None:
    if not _CREATED_AT.fullmatch(text):
        return None
    try:
        return datetime.fromisoformat(text.removesuffix("Z")).replace(tzinfo=UTC)
    except ValueError:
        return None
