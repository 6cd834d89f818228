"""Decisions of reviewers as pages, the API and lists show them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone

from accounts.models import User
from assignments.actions.answering import answers_by_decision
from assignments.models import Decision, Outcome
from assignments.models.reviewing import NoteAnswer
from assignments.models.submissions import UNDO_DECISION, is_replaced, is_withdrawn
from assignments.review_notes import ReviewNote, stored_notes
from assignments.submission_records import annotator_names

UNDECIDED = "undecided"
OUTCOMES = {
    UNDECIDED: "Not decided",
    "accepted": "Accepted",
    "returned": "Returned",
    "corrected": "Corrected",
    "voided": "Void",
}
"""What a list is narrowed to."""
ICONS = {"accepted": "check", "returned": "undo-2", "corrected": "pencil", "voided": "ban", "undecided": "undo-2"}


def newest_outcome() -> Subquery:
    """An expression of submissions: what was decided of each last, NULL where nobody decided."""
    return Subquery(_newest().values("outcome")[:1])


def newest_number() -> Coalesce:
    """How many decisions there are of each, those that took one back among them."""
    return Coalesce(Subquery(_newest().values("number")[:1]), 0)


def newest_decider() -> Subquery:
    return Subquery(_newest().values("decided_by")[:1])


def _newest() -> Any:
    rows = Decision.objects.filter(organisation=OuterRef("organisation"), submission=OuterRef("pk"))
    return rows.order_by("-number")


def decided_as(outcome: str) -> Q:
    """The condition of submissions that are decided so; UNDECIDED are the newest ones of which nothing is."""
    own = Decision.objects.in_force().filter(organisation=OuterRef("organisation"), submission=OuterRef("pk"))
    if outcome != UNDECIDED:
        return Q(Exists(own.filter(outcome=outcome)))
    # Row by row: a list of all that are the newest would be of the whole organisation.
    return ~Q(Exists(own)) & ~Q(is_withdrawn()) & ~Q(is_replaced()) & ~Q(Exists(_made_by_reviewer()))


def _made_by_reviewer() -> Any:
    return Decision.objects.filter(organisation=OuterRef("organisation"), correction=OuterRef("pk"))


@dataclass(frozen=True)
class ShownNote:
    """A note with what its annotator answered, None where nothing yet."""

    number: int
    note: ReviewNote
    answer: NoteAnswer | None


@dataclass(frozen=True)
class ShownDecision:
    """A decision in words: by whom, what, with its notes. `undo_until` is None where the reader cannot take it back."""

    id: UUID
    submission: UUID
    number: int
    outcome: str
    takes_back: bool
    by: str
    at: datetime
    until: datetime | None
    correction: UUID | None
    notes: tuple[ShownNote, ...]
    undo_until: datetime | None

    @property
    def label(self) -> str:
        return OUTCOMES[self.outcome]

    @property
    def icon(self) -> str:
        return "undo-2" if self.takes_back else ICONS[self.outcome]

    @property
    def words(self) -> str:
        """What was done, after the reviewer's name."""
        if self.takes_back:
            return "took that back"
        many = len(self.notes)
        notes = f" with {many} note{'' if many == 1 else 's'}" if many and self.outcome != Outcome.VOIDED else ""
        verb = {"accepted": "accepted it", "returned": "returned it", "corrected": "corrected it"}
        return f"{verb.get(self.outcome, 'voided it')}{notes}"


def shown_decisions(submissions: Iterable[UUID], reader: User | None = None) -> list[ShownDecision]:
    """All decisions of these submissions, the oldest first."""
    rows = list(Decision.objects.filter(submission__in=list(submissions)).order_by("pk"))
    shown = decisions_in_words(rows)
    if reader is None:
        return shown
    last = {row.submission_id: row.pk for row in rows}
    return [
        replace(told, undo_until=row.decided_at + UNDO_DECISION)
        if row.decided_by_id == reader.pk and last[row.submission_id] == row.pk and _may_undo(row)
        else told
        for row, told in zip(rows, shown, strict=True)
    ]


def decisions_in_words(rows: Sequence[Decision]) -> list[ShownDecision]:
    """These decisions in their order, as nobody who could take one back reads them."""
    names = annotator_names(row.decided_by_id for row in rows if row.decided_by_id)
    answers = answers_by_decision(rows)
    return [_shown(row, names, answers.get(row.pk, {})) for row in rows]


def _may_undo(row: Decision) -> bool:
    return not row.takes_back and timezone.now() < row.decided_at + UNDO_DECISION


def _shown(row: Decision, names: Mapping[UUID, str], answers: Mapping[int, NoteAnswer]) -> ShownDecision:
    return ShownDecision(
        id=row.pk,
        submission=row.submission_id,
        number=row.number,
        outcome=row.outcome,
        takes_back=row.takes_back,
        by=names.get(row.decided_by_id, "") if row.decided_by_id else "",
        at=row.decided_at,
        until=row.until,
        correction=row.correction_id,
        notes=tuple(ShownNote(at, note, answers.get(at)) for at, note in enumerate(stored_notes(row.notes))),
        undo_until=None,
    )


def current(decisions: Iterable[ShownDecision], submission: UUID) -> ShownDecision | None:
    """What is in force of the submission."""
    own = [decision for decision in decisions if decision.submission == submission]
    return own[-1] if own and own[-1].outcome != UNDECIDED else None


def without_outcomes(decisions: Iterable[ShownDecision]) -> list[ShownDecision]:
    """What the annotator of these is told where outcomes are hidden: what was returned, and not by whom."""
    returned = (row for row in decisions if row.outcome == Outcome.RETURNED and not row.takes_back)
    return [replace(row, by="A reviewer", undo_until=None) for row in returned]
