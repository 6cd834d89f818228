"""What a reviewer decides of an annotation: accept it, return it, correct it, void it, and take that back.

Nobody decides of their own annotation, and only the newest submission of an assignment is decided of.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from accounts.actions.projects import demand_unarchived
from accounts.models import User
from assignments.actions.locks import hold_place, lock_assignment, lock_queue_position, lock_quota
from assignments.errors import DecidedMeanwhile, MembershipEnded, NotDecidable, OwnWork, ReasonNeeded, TooLateToUndo
from assignments.events import DECISION_MADE, TRACE_COMPLETE
from assignments.models import (
    Assignment,
    AssignmentState,
    Decision,
    Draft,
    Kind,
    Outcome,
    ReviewHold,
    Submission,
    TraceQuota,
    Withdrawal,
)
from assignments.models.submissions import OUT_OF_COUNTS, UNDO_DECISION
from assignments.others import others_are_readable
from assignments.review_notes import ReviewNote, checked_notes
from jobs import outbox
from tenancy import audit
from traces.models.bodies import pack

WAITS = timedelta(days=3)
"""How long a returned annotation waits for its annotator, where nobody says otherwise."""
WAITS_MOST = timedelta(days=30)
_VERBS: dict[str, str] = {
    Outcome.ACCEPTED: "annotation.accepted",
    Outcome.RETURNED: "annotation.returned",
    Outcome.CORRECTED: "annotation.corrected",
    Outcome.VOIDED: "annotation.voided",
}
"""What the audit trail calls them."""


@dataclass(frozen=True)
class Locked:
    """A submission with its rows locked, and what is in force of it now."""

    submission: Submission
    assignment: Assignment
    quota: TraceQuota
    last: Decision | None

    @property
    def outcome(self) -> str:
        return self.last.outcome if self.last else Outcome.UNDECIDED

    @property
    def number(self) -> int:
        return self.last.number if self.last else 0

    @property
    def takes_slot(self) -> bool:
        return self.assignment.takes_slot and not self.submission.is_surplus


def accept(
    *, submission: Submission, user: User, notes: Sequence[ReviewNote] = (), seen: int | None = None
) -> Decision:
    """Let the annotation count as it is. One that was returned is taken back from its annotator.

    `seen` is how many decisions the reviewer knew of: raises DecidedMeanwhile where there are others. Raises OwnWork,
    NotDecidable for what was withdrawn, replaced or voided, and BadReviewNote.
    """
    with transaction.atomic():
        locked = _lock(submission, user, seen)
        kept = checked_notes(notes, submission)
        if locked.outcome == Outcome.RETURNED:
            take_back_return(locked)
            _say_complete(locked)
        return decide(locked, user, Outcome.ACCEPTED, kept)


def return_to_annotator(
    *,
    submission: Submission,
    user: User,
    notes: Sequence[ReviewNote],
    until: datetime | None = None,
    seen: int | None = None,
) -> Decision:
    """Give the annotation back to its annotator with the notes: the task is open again with its answers, under its
    configuration, and its slot stays theirs until then. It does not count before it is submitted again.

    Raises ReasonNeeded without a note, MembershipEnded where the annotator is no longer there, NotDecidable for a
    surplus annotation, which has no slot, for what an adjudicator settled, where its annotator may read what others
    say of the trace, and for a time that has passed or is too far away, ProjectArchived where nobody could work on it,
    and what accept() raises.
    """
    with transaction.atomic():
        assignment = submission.assignment
        refuse_adjudicated(assignment)
        demand_unarchived(assignment.project)
        try:
            hold_place(assignment.organisation_id, assignment.project_id, assignment.user)
        except MembershipEnded:
            raise NotDecidable(
                "Its annotator no longer works on this project. Correct the annotation yourself, or void it."
            ) from None
        locked = _lock(submission, user, seen)
        if submission.is_surplus:
            raise NotDecidable("This annotation has no slot that it could come back to. Accept, correct or void it.")
        if locked.outcome == Outcome.RETURNED:
            raise NotDecidable("This annotation was returned already, and waits for its annotator.")
        if others_are_readable(submission):
            raise NotDecidable(
                "Its annotator may have read what others say of this trace. Correct it yourself, or void it."
            )
        kept = checked_notes(notes, submission)
        if not kept:
            raise ReasonNeeded("Write a note: the annotator has to know what to look at again.")
        now = timezone.now()
        ends = until or now + WAITS
        if not now < ends <= now + WAITS_MOST:
            raise NotDecidable(f"An annotation waits for its annotator at most {WAITS_MOST.days} days.")
        row = locked.assignment
        row.state, row.since, row.lease_until, row.returned_until = AssignmentState.CLAIMED, now, ends, ends
        # A page that still shows it as submitted can write nothing.
        row.fencing_token += 1
        row.save(update_fields=["state", "since", "lease_until", "returned_until", "fencing_token"])
        if locked.takes_slot:
            locked.quota.move(active=1, done=-1)
        _open_draft(row, submission)
        return decide(locked, user, Outcome.RETURNED, kept, until=ends)


def void(*, submission: Submission, user: User, reason: str, seen: int | None = None) -> Decision:
    """Let the annotation count no more, and open its slot for somebody else. Nobody is given the trace twice.

    Raises ReasonNeeded without a reason, and what accept() raises.
    """
    with transaction.atomic():
        locked = _lock(submission, user, seen)
        kept = checked_notes([ReviewNote(reason)] if reason.strip() else [], submission)
        if not kept:
            raise ReasonNeeded("Say why it is void: the annotator and the next reviewer read it.")
        if locked.outcome == Outcome.RETURNED:
            take_back_return(locked)
        _set_state(locked.assignment, AssignmentState.VOIDED)
        if locked.takes_slot:
            locked.quota.move(done=-1)
        return decide(locked, user, Outcome.VOIDED, kept)


def undo_decision(*, decision: Decision, user: User) -> Decision:
    """Take one's own decision back within UNDO_DECISION: what was decided before it is in force again.

    A slot is made for a voided annotation where its own has gone to somebody else. Raises TooLateToUndo, also where
    the annotator has submitted again or, of an adjudication, where the trace was settled anew, and DecidedMeanwhile
    where something else was decided since.
    """
    if decision.takes_back or decision.decided_by_id != user.pk:
        raise TooLateToUndo("Only who decided it can take a decision back. Decide anew instead.")
    if timezone.now() - decision.decided_at > UNDO_DECISION:
        minutes = UNDO_DECISION.seconds // 60
        raise TooLateToUndo(f"A decision can be taken back for {minutes} minutes. Decide anew instead.")
    with transaction.atomic():
        submission = decision.submission
        locked = lock_for_decision(submission)
        if locked.last is None or locked.last.pk != decision.pk:
            raise DecidedMeanwhile("Something else was decided of this annotation since. Reload the page.")
        if decision.correction is not None:
            correction = decision.correction
            if not _is_newest(correction) or correction.decisions.exists():
                raise DecidedMeanwhile("The correction was decided of since. Reload the page.")
            Withdrawal.objects.create(submission=correction, withdrawn_by=user)
        elif not _is_newest(submission):
            raise TooLateToUndo("The annotator has submitted it again since. Decide of that one.")
        if decision.outcome == Outcome.RETURNED:
            if not locked.assignment.is_open:
                raise TooLateToUndo("Its annotator has given the task up, or its time is over.")
            take_back_return(locked)
        if decision.outcome == Outcome.VOIDED:
            _refuse_second_in_force(submission)
            # An adjudicator may hold the trace again by now, and goes on.
            if not locked.assignment.is_open:
                _set_state(locked.assignment, AssignmentState.SUBMITTED)
            if locked.takes_slot:
                _count_again(locked.quota)
        if decision.outcome in OUT_OF_COUNTS:
            _say_complete(locked)
        before = decision_before(decision)
        # A return that was taken back does not come back: its annotator found the task closed.
        stands = before is not None and before.outcome != Outcome.RETURNED
        outcome = before.outcome if before is not None and stands else Outcome.UNDECIDED
        return decide(locked, user, outcome, [], takes_back=True)


def refuse_adjudicated(assignment: Assignment) -> None:
    """Raise NotDecidable for what an adjudicator settled, question by question: it is no task that could be open."""
    if assignment.kind == Kind.ADJUDICATION:
        raise NotDecidable("An adjudicator settled this. Settle the trace anew instead: the newest stands. Or void it.")


def _refuse_second_in_force(submission: Submission) -> None:
    """Of each trace one adjudication is in force: raise TooLateToUndo where another one is by now. The lock on the
    trace's slots keeps further ones out."""
    if submission.assignment.kind != Kind.ADJUDICATION:
        return
    others = Submission.objects.counted().filter(
        organisation=submission.organisation_id,
        assignment__trace=submission.assignment.trace_id,
        assignment__kind=Kind.ADJUDICATION,
    )
    if others.exists():
        raise TooLateToUndo("The trace was settled anew since, and that stands. Take that one back instead.")


def decision_before(decision: Decision) -> Decision | None:
    """What was in force before the decision."""
    rows = Decision.objects.filter(
        organisation=decision.organisation_id, submission=decision.submission_id, number__lt=decision.number
    )
    return rows.order_by("-number").first()


def _lock(submission: Submission, user: User, seen: int | None) -> Locked:
    """Raises what keeps the user from deciding of it."""
    if submission.assignment.user_id == user.pk:
        raise OwnWork("This is your own annotation. Somebody else decides of it.")
    if submission.corrects.filter(decided_by=user).exists():
        raise OwnWork("This is your own correction. Somebody else decides of it.")
    locked = lock_for_decision(submission)
    if seen is not None and seen != locked.number:
        raise DecidedMeanwhile("Somebody else decided of this annotation in the meantime. Reload the page.")
    refuse_undecidable(submission, locked.outcome, locked.assignment)
    return locked


def lock_for_decision(submission: Submission) -> Locked:
    """Lock what a decision of the submission changes, in the order of all actions."""
    assignment = submission.assignment
    lock_queue_position(assignment.project, assignment.user)
    quota = lock_quota(assignment)
    row = lock_assignment(assignment)
    decisions = Decision.objects.filter(organisation=submission.organisation_id, submission=submission)
    return Locked(submission, row, quota, decisions.order_by("-number").first())


def lock_for_decisions(submissions: Sequence[Submission], *, gives_back: bool) -> None:
    """Lock what decisions of all of these change, in the order of all actions, for the rest of the transaction: one
    after the other, the rows of the first would be held while those of the second are waited for. With `gives_back`
    their annotators may be given them back.
    """
    assignments = sorted((submission.assignment for submission in submissions), key=lambda row: row.trace_id)
    people = sorted({row.user_id: row for row in assignments}.values(), key=lambda row: row.user_id)
    for row in people if gives_back else ():
        with suppress(MembershipEnded):
            hold_place(row.organisation_id, row.project_id, row.user)
    for row in people:
        lock_queue_position(row.project, row.user)
    for row in assignments:
        lock_quota(row)


def refuse_undecidable(submission: Submission, outcome: str, assignment: Assignment) -> None:
    """Raise NotDecidable where nothing can be decided of the submission any more."""
    if submission.withdrawals.exists():
        raise NotDecidable("Its annotator took this annotation back, so there is nothing to decide of.")
    if not _is_newest(submission):
        raise NotDecidable("This annotation was replaced by a newer one. Decide of that one.")
    if outcome == Outcome.VOIDED:
        raise NotDecidable("This annotation is void. What was voided stays so once the time for undoing is over.")
    waits = outcome == Outcome.RETURNED and assignment.is_open
    if not waits and assignment.state != AssignmentState.SUBMITTED:
        state = assignment.get_state_display().lower()
        raise NotDecidable(f"Its annotator has {state} the trace since, so there is nothing to decide of.")


def _is_newest(submission: Submission) -> bool:
    own = Submission.objects.filter(organisation=submission.organisation_id, assignment=submission.assignment_id)
    return own.not_withdrawn().order_by("-number").values_list("pk", flat=True).first() == submission.pk


def take_back_return(locked: Locked) -> None:
    """Submitted again as it was, whatever its annotator has begun: the draft is kept."""
    row = locked.assignment
    row.state, row.since, row.lease_until, row.returned_until = AssignmentState.SUBMITTED, timezone.now(), None, None
    row.fencing_token += 1
    row.save(update_fields=["state", "since", "lease_until", "returned_until", "fencing_token"])
    if locked.takes_slot:
        locked.quota.move(active=-1, done=1)


def _set_state(assignment: Assignment, state: AssignmentState) -> None:
    assignment.state, assignment.since = state, timezone.now()
    assignment.save(update_fields=["state", "since"])


def _count_again(quota: TraceQuota) -> None:
    quota.slots = max(quota.slots, quota.active + quota.done + 1)
    quota.save(update_fields=["slots"])
    quota.move(done=1)


def _say_complete(locked: Locked) -> None:
    """One annotation counts again: it may be the last that its trace needs."""
    quota = locked.quota
    if locked.takes_slot and quota.done == quota.target:
        outbox.publish(TRACE_COMPLETE, trace=str(quota.trace_id), project=str(quota.project_id))


def _open_draft(assignment: Assignment, submission: Submission) -> None:
    """The answers as they were submitted, beside what the page keeps of the draft."""
    draft = Draft.objects.filter(organisation=assignment.organisation_id, assignment=assignment).first()
    if draft is None:
        Draft.objects.create(assignment=assignment, packed=pack({"answers": submission.result}))
        return
    content = draft.content if isinstance(draft.content, dict) else {}
    Draft.objects.filter(pk=draft.pk).update(
        packed=pack({**content, "answers": submission.result}), revision=draft.revision + 1, saved_at=timezone.now()
    )


def decide(
    locked: Locked,
    user: User,
    outcome: str,
    notes: list[dict[str, Any]],
    *,
    until: datetime | None = None,
    correction: Submission | None = None,
    takes_back: bool = False,
) -> Decision:
    """Write the decision down, with its audit event, and say that what counts may have changed."""
    submission = locked.submission
    decision = Decision.objects.create(
        project_id=submission.project_id,
        submission=submission,
        number=locked.number + 1,
        outcome=outcome,
        takes_back=takes_back,
        notes=notes,
        until=until,
        correction=correction,
        decided_by=user,
    )
    ReviewHold.objects.filter(organisation=submission.organisation_id, submission=submission).delete()
    verb = "annotation.undecided" if takes_back else _VERBS[outcome]
    audit.record(
        verb,
        submission,
        project=submission.project.slug,
        trace=str(submission.assignment.trace_id),
        notes=len(notes),
    )
    outbox.publish(
        DECISION_MADE, submission=str(submission.pk), project=str(submission.project_id), decision=str(decision.pk)
    )
    return decision
