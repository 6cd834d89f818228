"""What the formats for comments share: a comment as it stands in a record, and where in the changes it stands.

Records may come from anywhere: what a comment does not say, or says in another type, is None.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

from potato.formats.training import readable
from potato.records.sources import Project, Record, TraceFacts, scheme_annotation
from potato.runs.changes.model import Hunk
from potato.runs.changes.places import SIDES, JudgedFile, Side
from potato.schemes.review.comments import CHANGE, is_general
from potato.schemes.review.configuration import InlineCommentsScheme

TYPE = "code_review_comments"
EXCERPT = "excerpt"


@dataclass(frozen=True)
class ReviewComment:
    """One comment, with what its trace says of its file."""

    fields: dict[str, Any]
    file: JudgedFile | None

    def text(self, key: str) -> str:
        """The text under that key, "" where there is none."""
        value = self.fields.get(key)
        return value if isinstance(value, str) else ""

    @property
    def path(self) -> str:
        return self.text("file")

    @property
    def side(self) -> Side:
        return next((side for side in SIDES if side == self.fields.get("side")), "new")

    @property
    def suggestion(self) -> str | None:
        """The lines that are to replace the commented ones; "" says that these go, None that nothing is suggested."""
        value = self.fields.get("suggestion")
        return value if isinstance(value, str) else None

    @property
    def lines(self) -> tuple[int, int] | None:
        """The first and the last line in the file; None where the comment names none, or the trace does not say where
        in the file its lines stand."""
        start = _line(self.fields.get("line_start"))
        end = _line(self.fields.get("line_end", start))
        if start is None or end is None or start > end or self.is_excerpt:
            return None
        return start, end

    @property
    def is_general(self) -> bool:
        """Whether it is about its file or the change as a whole."""
        return is_general(self.fields)

    @property
    def is_of_change(self) -> bool:
        """Whether it is about the change as a whole."""
        return self.fields.get("subject_type") == CHANGE

    @property
    def is_excerpt(self) -> bool:
        return self.fields.get("numbering") == EXCERPT or (self.file is not None and self.file.numbering == EXCERPT)

    @property
    def where(self) -> str:
        """The file with the lines, for people: "a.py, lines 3 to 5 of the old side"; "" of the whole change."""
        if self.is_of_change:
            return ""
        start, end = self.fields.get("line_start"), self.fields.get("line_end", self.fields.get("line_start"))
        lines = "" if start is None else f", line {start}" if start == end else f", lines {start} to {end}"
        counted = " of the excerpt" if self.is_excerpt else ""
        return f"{readable(self.path)}{lines}{counted}{' of the old side' if self.side == 'old' else ''}"

    @cached_property
    def hunk(self) -> Hunk | None:
        """The one hunk that holds every commented line; None where no single hunk does."""
        if self.file is None or self.lines is None:
            return None
        start, end = self.lines
        for change in self.file.changes:
            for hunk in change.hunks:
                numbers = {line.new_no if self.side == "new" else line.old_no for line in hunk.lines}
                if end - start < len(numbers) and all(number in numbers for number in range(start, end + 1)):
                    return hunk
        return None


def comment_entries(record: Record, project: Project) -> list[dict[str, Any]]:
    """The comments as they stand in the record. Raises RecordsError where its part is no list."""
    part: list[Any] = scheme_annotation(record, project.scheme(record, TYPE), list, "a list of comments") or []
    return [comment for comment in part if isinstance(comment, dict)]


def commented_paths(record: Record, project: Project) -> set[str]:
    return {path for comment in comment_entries(record, project) if isinstance(path := comment.get("file"), str)}


def comments_in(record: Record, project: Project, facts: TraceFacts) -> Iterator[ReviewComment]:
    """The comments of the record, with their files."""
    for entry in comment_entries(record, project):
        path = entry.get("file")
        yield ReviewComment(entry, facts.file(path) if isinstance(path, str) else None)


def category_names(project: Project) -> dict[str, str]:
    """What each category of any configuration is called, the newest configuration's first."""
    schemes = (cast(InlineCommentsScheme, scheme) for scheme in project.schemes(TYPE))
    named: dict[str, str] = {}
    for scheme in schemes:
        for category in scheme.inline_comments.categories:
            named.setdefault(category.value, category.display)
    return named


def _line(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 1 else None
