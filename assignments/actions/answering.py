"""What an annotator says to the notes of a reviewer who returned an annotation: once to each, then it stands."""

from collections.abc import Iterable
from uuid import UUID

from django.db import transaction

from accounts.models import User
from assignments.errors import BadAnswer, NotesLeft, NotOpen
from assignments.models import Assignment, Decision, NoteAnswer, Outcome
from assignments.models.reviewing import LONGEST_ANSWER
from jobs.row_text import storable
from tenancy import audit


def returned_decision(assignment: Assignment) -> Decision | None:
    """The decision that has returned what the assignment submitted last, while it waits for its annotator."""
    if assignment.returned_until is None or not assignment.is_open:
        return None
    newest = assignment.submissions.filter(organisation=assignment.organisation_id).not_withdrawn().order_by("-number")
    submission = newest.values_list("pk", flat=True).first()
    decisions = Decision.objects.filter(organisation=assignment.organisation_id, submission=submission)
    last = decisions.order_by("-number").first()
    return last if last is not None and last.outcome == Outcome.RETURNED else None


def answer_note(*, assignment: Assignment, user: User, note: int, is_kept: bool, text: str = "") -> NoteAnswer:
    """Say that something was changed after the note at that place, from 0, or that it is kept, and why.

    Raises NotOpen where the assignment was not returned or is over, BadAnswer where there is no such note, it was
    answered, or no reason is said.
    """
    decision = returned_decision(assignment)
    if decision is None:
        raise NotOpen("There is no note to answer: this task was not returned, or is over.")
    if not 0 <= note < len(decision.notes):
        raise BadAnswer(f"The reviewer wrote {len(decision.notes)} notes, counted from 0. There is no note {note}.")
    words = text.strip()
    if is_kept and not words:
        raise BadAnswer("Say why you keep it: the reviewer reads it before the next decision.")
    if len(words) > LONGEST_ANSWER:
        raise BadAnswer(f"The answer has {len(words):,} characters, and at most {LONGEST_ANSWER:,} are kept.")
    with transaction.atomic():
        rows = NoteAnswer.objects.bulk_create(
            [NoteAnswer(decision=decision, note=note, is_kept=is_kept, text=storable(words, LONGEST_ANSWER))],
            ignore_conflicts=True,
        )
        stored = NoteAnswer.objects.get(organisation=decision.organisation_id, decision=decision, note=note)
        if stored.pk != rows[0].pk:
            raise BadAnswer("You answered this note already. Each is answered once.")
        audit.record(
            "note.answered", decision.submission, project=decision.project.slug, trace=str(assignment.trace_id)
        )
    return stored


def unanswered_notes(decision: Decision) -> list[int]:
    rows = NoteAnswer.objects.filter(organisation=decision.organisation_id, decision=decision)
    answered = set(rows.values_list("note", flat=True))
    return [note for note in range(len(decision.notes)) if note not in answered]


def demand_answers(assignment: Assignment) -> None:
    """Raise NotesLeft where the annotator of a returned annotation has not answered all notes."""
    decision = returned_decision(assignment)
    if decision is not None and (left := unanswered_notes(decision)):
        many = "1 note is" if len(left) == 1 else f"{len(left)} notes are"
        raise NotesLeft(decision.pk, left, f"{many} left: say what you did with each, then submit again.")


def answers_by_decision(decisions: Iterable[Decision]) -> dict[UUID, dict[int, NoteAnswer]]:
    """What was said to the notes of these decisions, by the notes' places."""
    by_decision: dict[UUID, dict[int, NoteAnswer]] = {}
    rows = NoteAnswer.objects.filter(decision__in=[decision.pk for decision in decisions])
    for row in rows:
        by_decision.setdefault(row.decision_id, {})[row.note] = row
    return by_decision
