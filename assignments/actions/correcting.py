"""A reviewer's own revision of an annotation: written on the task page, it takes the place of what it corrects."""

from hashlib import sha256
from typing import Any

from django.db import transaction
from django.utils import timezone

from accounts.actions.projects import demand_unarchived
from accounts.models import User
from assignments.actions.deciding import (
    decide,
    lock_for_decision,
    refuse_adjudicated,
    refuse_undecidable,
    take_back_return,
)
from assignments.actions.locks import hold_place, lock_assignment, lock_queue_position
from assignments.actions.working import refusal, stored_under
from assignments.errors import NotDecidable, OwnWork
from assignments.models import Assignment, AssignmentState, Correction, Draft, Kind, Outcome, Submission
from potato.runs.exact_json import json_sha256
from tenancy.prepared import insert
from traces.models.bodies import pack


def begin_correction(*, submission: Submission, user: User) -> Assignment:
    """Open the annotation for the reviewer with its answers, under its configuration; the annotator keeps theirs.

    Nothing is decided before the correction is submitted. Raises OwnWork, NotDecidable, also where the reviewer still
    corrects another annotation of the trace or an adjudicator settled it, and MembershipEnded where the reviewer
    annotates nothing in the project.
    """
    annotated = submission.assignment
    if annotated.user_id == user.pk:
        raise OwnWork("This is your own annotation. Somebody else decides of it.")
    refuse_adjudicated(annotated)
    demand_unarchived(annotated.project)
    with transaction.atomic():
        hold_place(annotated.organisation_id, annotated.project_id, user)
        lock_queue_position(annotated.project, user)
        last = submission.decisions.order_by("-number").first()
        refuse_undecidable(submission, last.outcome if last else Outcome.UNDECIDED, annotated)
        now = timezone.now()
        own = Assignment.objects.filter(
            organisation=annotated.organisation_id, trace=annotated.trace_id, user=user, kind=Kind.CORRECTION
        )
        row = own.select_for_update(no_key=True, of=("self",)).first()
        corrects = None if row is None else corrected_by(row)
        if row is not None and row.is_open:
            if corrects != submission:
                raise NotDecidable("You still correct another annotation of this trace. Submit that or give it up.")
            return row
        if row is None:
            row = Assignment(
                project=annotated.project,
                trace_id=annotated.trace_id,
                user=user,
                kind=Kind.CORRECTION,
                fencing_token=0,
            )
        row.version_id = annotated.version_id
        row.state, row.since, row.claimed_at = AssignmentState.CLAIMED, now, now
        row.lease_until, row.skip_reason, row.not_before = row.lease_end(now), "", None
        row.fencing_token += 1
        row.save()
        if corrects != submission:
            Correction.objects.filter(organisation=row.organisation_id, assignment=row).delete()
            Correction.objects.create(assignment=row, submission=submission)
            Draft.objects.filter(organisation=row.organisation_id, assignment=row).delete()
            Draft.objects.create(assignment=row, packed=pack({"answers": submission.result}))
    return row


def corrected_by(assignment: Assignment) -> Submission:
    """What an assignment of kind correction is written over."""
    rows = Correction.objects.filter(organisation=assignment.organisation_id, assignment=assignment)
    return rows.select_related("submission__assignment__project", "submission__assignment__user").get().submission


def store_correction(
    *,
    assignment: Assignment,
    fencing_token: int,
    key: str,
    payload: Any,
    result: dict[str, Any],
    via_token: bool = False,
) -> Submission:
    """Put the result in the place of what the assignment corrects; both are kept. The same `key` with the same
    `payload` answers with the submission that is there.

    Raises KeyReused, TakenOver or NotOpen where the page goes on no more, and NotDecidable where the annotation was
    replaced, voided or taken back meanwhile.
    """
    corrected = corrected_by(assignment)
    digest, stored_key = json_sha256(payload), _stored_key(assignment, key)
    with transaction.atomic():
        locked = lock_for_decision(corrected)
        row = lock_assignment(assignment)
        earlier = list(Submission.objects.filter(assignment=locked.assignment).defer("packed"))
        if (known := stored_under(stored_key, digest, earlier)) is not None:
            return known
        if not row.is_open or row.fencing_token != fencing_token:
            raise refusal(row, fencing_token)
        refuse_undecidable(corrected, locked.outcome, locked.assignment)
        if locked.outcome == Outcome.RETURNED:
            take_back_return(locked)
        now = timezone.now()
        submission = Submission(
            project=locked.assignment.project,
            assignment=locked.assignment,
            number=len(earlier) + 1,
            packed=pack(result),
            submitted_at=now,
            key=stored_key,
            request_sha256=digest,
            is_surplus=corrected.is_surplus,
            is_check=corrected.is_check,
            active_seconds=corrected.active_seconds,
            via_token=via_token,
            batch_number=corrected.batch_number,
        )
        insert(submission)
        decide(locked, row.user, Outcome.CORRECTED, [], correction=submission)
        # Over, and none that holds anything: what it made is in the annotator's assignment.
        row.state, row.since, row.lease_until = AssignmentState.RELEASED, now, None
        row.save(update_fields=["state", "since", "lease_until"])
    return submission


def _stored_key(assignment: Assignment, key: str) -> str:
    """The reviewer's key among those of the annotator. A column has no room for a long one beside the id."""
    kept = f"correction:{assignment.pk}:{key}"
    if len(kept) <= (Submission.key.field.max_length or 0):
        return kept
    return f"correction:{assignment.pk}:{sha256(key.encode('utf-8', 'surrogatepass')).hexdigest()[:43]}"
