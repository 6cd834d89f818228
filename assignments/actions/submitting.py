"""Submitting an annotation, and taking it back within seconds. Nothing that was acknowledged is ever thrown away."""

from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from assignments.actions.answering import demand_answers
from assignments.actions.correcting import store_correction
from assignments.actions.locks import hold_place, lock_assignment, lock_queue_position, lock_quota, one_transaction
from assignments.actions.suggestion_outcomes import suggestions_part
from assignments.actions.working import refusal, stored_under
from assignments.activity import active_seconds
from assignments.errors import NotesLeft, NotOpen, TooLateToWithdraw, WasReviewed, WasWithdrawn
from assignments.mixing import check_submitted
from assignments.models import Assignment, AssignmentState, Kind, Submission, Withdrawal
from assignments.models.batches import number_of_batch
from assignments.models.claims import OVER
from assignments.models.submissions import UNDO, UNDO_WITH_GRACE
from jobs import outbox
from potato.configuration import UnreadablePinError
from potato.records.annotations import results, without_suggestions
from potato.runs.exact_json import json_sha256
from potato.schemes.answers import Incomplete
from tenancy import audit
from tenancy.actor import current
from tenancy.prepared import insert, prepared, prepared_update
from traces.evidence.judged_files import read_evidence
from traces.models.bodies import pack


def submit(
    *, assignment: Assignment, fencing_token: int, key: str, annotations: Any, via_token: bool = False
) -> Submission:
    """Submit an annotator's answers: checked under the pinned configuration against the trace, and made a result.
    `via_token` says that a program does so for the person.

    Raises Incomplete with every gap, UnreadablePinError, NotOpen for what an adjudicator settles on a page of its own,
    and what store_submission() raises. A repetition is answered as it was, also where a later release of the software
    would not take it.
    """
    if assignment.kind == Kind.ADJUDICATION:
        raise NotOpen("This trace is adjudicated, question by question: settle it on the page Adjudicate.")
    now = timezone.now()
    try:
        configuration = assignment.configuration()
        own = without_suggestions(annotations, configuration)
        result = results(own, configuration, read_evidence(assignment.trace), now)
        result |= suggestions_part(assignment, annotations, result)
    except (Incomplete, UnreadablePinError):
        # The answer to the first request may have been lost: what is stored is acknowledged, whatever is valid today.
        if not assignment.submissions.filter(organisation=assignment.organisation_id, key=key).exists():
            raise
        result = {}
    if assignment.is_correction:
        return store_correction(
            assignment=assignment,
            fencing_token=fencing_token,
            key=key,
            payload=annotations,
            result=result,
            via_token=via_token,
        )
    try:
        demand_answers(assignment)
    except NotesLeft:
        # What came before the reviewer returned it, again: its answer was lost.
        if not assignment.submissions.filter(organisation=assignment.organisation_id, key=key).exists():
            raise
    return store_submission(
        assignment=assignment,
        fencing_token=fencing_token,
        key=key,
        payload=annotations,
        result=result,
        at=now,
        via_token=via_token,
    )


def store_submission(
    *,
    assignment: Assignment,
    fencing_token: int,
    key: str,
    payload: Any,
    result: dict[str, Any],
    at: datetime | None = None,
    via_token: bool = False,
) -> Submission:
    """Store the annotation, once: the same `key` with the same `payload` answers with the submission that is there.

    `payload` is the request as it came, and `result` what the scheme types have made of it, keyed by scheme name:
    checking is the caller's, before. After the lease ended the annotation counts if a slot is still free, and is
    stored as surplus otherwise. Raises KeyReused for another `payload` under a known key, TakenOver where another page
    goes on, NotOpen for an assignment that was submitted under another key, or skipped, and WasWithdrawn where the
    submission was taken back: answering with it would look as if it still counted.
    """
    digest = json_sha256(payload)
    with one_transaction():
        lock_queue_position(assignment.project, assignment.user)
        quota = lock_quota(assignment)
        row = lock_assignment(assignment)
        # Under the lock, because a request and its repetition may come at the same moment.
        earlier = _submitted.rows(row.organisation_id, row.pk)
        if (known := stored_under(key, digest, earlier)) is not None:
            if known.withdrawals.exists():
                raise WasWithdrawn("This submission was taken back. Submit again under a new Idempotency-Key.")
            return known
        if row.state in OVER or row.fencing_token != fencing_token:
            raise refusal(row, fencing_token)
        is_surplus = row.takes_slot and not row.is_open and not quota.has_free
        if row.takes_slot and not is_surplus:
            quota.move(active=-1 if row.is_open else 0, done=1)
        elif row.is_check:
            # Nothing changes by it: it takes the time that the others take.
            quota.move()
        now = at or timezone.now()
        submission = Submission(
            project=row.project,
            assignment=row,
            number=len(earlier) + 1,
            packed=pack(result),
            submitted_at=now,
            key=key,
            request_sha256=digest,
            is_surplus=is_surplus,
            is_check=row.is_check,
            active_seconds=active_seconds(row, now),
            via_token=via_token,
            batch_number=number_of_batch(quota.batch_id),
        )
        insert(submission)
        row.state, row.since, row.lease_until = AssignmentState.SUBMITTED, now, None
        row.first_submission = row.first_submission or submission.pk
        _ended.run(row.pk, now, row.first_submission)
        if row.is_check:
            check_submitted(submission, result)
        audit.record("submission.made", submission, trace=str(row.trace_id), surplus=is_surplus)
        # The subscriber says that the trace is complete: an event more here would take its time, and tell by it which
        # tasks take no slot.
        completes = row.takes_slot and not is_surplus and quota.done == quota.target
        outbox.publish(
            "submission.made", submission=str(submission.pk), project=str(row.project_id), completes=completes
        )
    return submission


@prepared
def _submitted(organisation: UUID | None, assignment: UUID) -> "QuerySet[Submission]":
    return Submission.objects.filter(organisation=organisation, assignment=assignment).defer("packed")


@prepared_update
def _ended(assignment: UUID, now: datetime, first: UUID) -> "tuple[QuerySet[Assignment], dict[str, Any]]":
    rows = Assignment.objects.filter(pk=assignment)
    return rows, {"state": AssignmentState.SUBMITTED, "since": now, "lease_until": None, "first_submission": first}


def withdraw(*, submission: Submission) -> Assignment:
    """Take a submission back within UNDO: the same assignment is open again, with its draft and its slot.

    A surplus submission had no slot; its assignment is again one whose lease ended. Withdrawing twice is
    withdrawing once. Raises TooLateToWithdraw, WasReviewed where a reviewer decided of it, NotOpen where the
    assignment has gone on since, and MembershipEnded where the person has left: nobody could work on it.
    """
    with transaction.atomic():
        assignment = submission.assignment
        hold_place(assignment.organisation_id, assignment.project_id, assignment.user)
        lock_queue_position(assignment.project, assignment.user)
        quota = lock_quota(assignment)
        row = lock_assignment(assignment)
        if submission.withdrawals.exists():
            return row
        if submission.decisions.exists() or submission.corrects.exists():
            raise WasReviewed("A reviewer looked at it in the meantime, so it can no longer be taken back. Ask them.")
        now = timezone.now()
        if now - submission.submitted_at > UNDO_WITH_GRACE:
            raise TooLateToWithdraw(
                f"A submission can be taken back for {UNDO.seconds} seconds; this one is older. Ask the project's "
                "manager if it has to be changed."
            )
        if row.state != AssignmentState.SUBMITTED:
            raise NotOpen("This assignment is no longer the one that was submitted. Reload the page.")
        Withdrawal.objects.create(submission=submission, withdrawn_by_id=current().user)
        if submission.is_surplus:
            row.state = AssignmentState.EXPIRED
        else:
            row.state = AssignmentState.CLAIMED
            row.lease_until = row.lease_end(now)
            if row.takes_slot:
                quota.move(active=1, done=-1)
        row.since = now
        row.save(update_fields=["state", "since", "lease_until"])
        audit.record("submission.withdrawn", submission, trace=str(row.trace_id))
        outbox.publish("submission.withdrawn", submission=str(submission.pk), project=str(row.project_id))
    return row
