"""A task that a reviewer returned, or that corrects somebody's annotation: what its page says of that."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from assignments.actions.answering import answers_by_decision, returned_decision
from assignments.actions.correcting import corrected_by
from assignments.hidden_outcomes import outcomes_are_hidden
from assignments.models import Assignment
from assignments.models.reviewing import NoteAnswer
from assignments.review_notes import ReviewNote, stored_notes
from assignments.submission_records import annotator_names
from traces.evidence.judged_files import exact_paths
from traces.models import TraceFile


@dataclass(frozen=True)
class NoteToAnswer:
    """A note of the reviewer: its place in the decision from 0, where it leads to on the page, and the answer to it."""

    number: int
    note: ReviewNote
    tab: str
    """The tab that has its place, "" for the whole annotation."""
    file: int | None
    anchor: str
    answer: NoteAnswer | None

    @property
    def short_place(self) -> str:
        """Where it is, in the little room of the rail."""
        if self.note.step is not None:
            return f"step {self.note.step}"
        if self.note.path is None:
            return ""
        return str(self.note.line) if self.note.line else "file"


@dataclass(frozen=True)
class Returned:
    """What the annotator reads of a returned task."""

    by: str
    until: datetime | None
    notes: tuple[NoteToAnswer, ...]
    answers: Mapping[str, Any]
    """What was returned, by the names of the schemes."""

    @property
    def left(self) -> int:
        return sum(1 for row in self.notes if row.answer is None)

    @property
    def done(self) -> int:
        return len(self.notes) - self.left


@dataclass(frozen=True)
class Corrected:
    """Whose annotation is corrected."""

    submission: UUID
    annotator: str


def returned_to(assignment: Assignment, files: Sequence[TraceFile]) -> Returned | None:
    """None where the task was not returned. Without a query where it never was."""
    decision = returned_decision(assignment)
    if decision is None:
        return None
    is_named = decision.decided_by_id and not outcomes_are_hidden(assignment.project)
    names = annotator_names([decision.decided_by_id] if is_named and decision.decided_by_id else [])
    answers = answers_by_decision([decision]).get(decision.pk, {})
    indexes = {path: file.index for file, path in zip(files, exact_paths(files), strict=True)}
    rows = []
    for number, note in enumerate(stored_notes(decision.notes)):
        index = None if note.path is None else indexes.get(note.path)
        if note.step is not None:
            tab, anchor = "steps", f"s{note.step}"
        elif index is not None:
            tab, anchor = "files", f"f{index}" + (f"-{note.side}-{note.line}" if note.line else "")
        else:
            tab, anchor = "", ""
        rows.append(NoteToAnswer(number, note, tab, index, anchor, answers.get(number)))
    by = names.get(decision.decided_by_id, "") if decision.decided_by_id else ""
    return Returned(by, decision.until, tuple(rows), decision.submission.result)


def corrected_annotation(assignment: Assignment) -> Corrected | None:
    """None for every other kind of task."""
    if not assignment.is_correction:
        return None
    submission = corrected_by(assignment)
    names = annotator_names([submission.assignment.user_id])
    return Corrected(submission.pk, names.get(submission.assignment.user_id, ""))
