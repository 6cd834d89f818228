"""Putting an annotation back that left in an archive: as submitted as it was, by the same person, at the same time."""

from datetime import datetime
from typing import Any

from django.db import transaction

from accounts.models import ConfigurationVersion, Project, User
from assignments.actions.locks import lock_queue_position
from assignments.actions.quotas import open_quotas
from assignments.models import Assignment, AssignmentState, Kind, Submission, TraceQuota
from assignments.models.batches import number_of_batch
from jobs import outbox
from potato.runs.exact_json import json_sha256
from tenancy.errors import Refused
from traces.models import Trace
from traces.models.bodies import pack

KEY = "archive"


class AnnotatedOtherwise(Refused):
    code = "annotated_otherwise"


def restore(
    *,
    project: Project,
    trace: Trace,
    user: User,
    version: ConfigurationVersion,
    kind: Kind,
    at: datetime,
    result: dict[str, Any],
    active_seconds: int | None = None,
    via_token: bool = False,
) -> bool:
    """Store a submission with its assignment; False where exactly it is there already.

    A slot is made for it where none is left. Raises AnnotatedOtherwise where the person has, or holds, another
    annotation of the trace.
    """
    digest = json_sha256(result)
    with transaction.atomic():
        lock_queue_position(project, user)
        own = Assignment.objects.for_project(project).of(user).filter(trace=trace, kind=kind).first()
        if own is not None:
            known = Submission.objects.for_project(project).counted().filter(assignment=own).first()
            if known is not None and json_sha256(known.result) == digest:
                return False
            raise AnnotatedOtherwise(
                f"{trace} has another annotation by this person already. Load the archive into a new project."
            )
        assignment = Assignment.objects.create(
            project=project,
            trace=trace,
            user=user,
            version=version,
            kind=kind,
            state=AssignmentState.SUBMITTED,
            since=at,
        )
        quota = _lock_quota(project, trace)
        is_complete = assignment.takes_slot and _take_slot(quota)
        submission = Submission.objects.create(
            project=project,
            assignment=assignment,
            number=1,
            packed=pack(result),
            submitted_at=at,
            key=KEY,
            request_sha256=digest,
            active_seconds=active_seconds,
            via_token=via_token,
            batch_number=number_of_batch(quota.batch_id),
        )
        assignment.first_submission = submission.pk
        assignment.save(update_fields=["first_submission"])
        outbox.publish("submission.made", submission=str(submission.pk), project=str(project.pk), completes=is_complete)
    return True


def _lock_quota(project: Project, trace: Trace) -> TraceQuota:
    quota = TraceQuota.objects.for_project(project).filter(trace=trace)
    # Each call opens some, the oldest first, and this trace may be among the last.
    while not quota.exists() and open_quotas(project=project):
        pass
    return quota.select_for_update(no_key=True, of=("self",)).get()


def _take_slot(quota: TraceQuota) -> bool:
    """Count one more as done; whether it is the last that was wanted."""
    quota.slots = max(quota.slots, quota.active + quota.done + 1)
    quota.save(update_fields=["slots"])
    quota.move(done=1)
    return quota.done == quota.target
