"""What can be done to jobs: request and cancel. Running them is jobs.runner."""

from typing import Any

import structlog
from django.db import transaction
from django.utils import timezone

from jobs import outbox
from jobs.bounds import demand_capacity, hold_requests
from jobs.kinds import kind_named, known_names
from jobs.models import Job, JobState
from jobs.notifier import notify_queue
from tenancy import audit
from tenancy.actor import current, on_commit
from tenancy.errors import Refused

log = structlog.get_logger(__name__)

_NOTED_AT_ONCE = 500


class JobIsOver(Refused):
    code = "job_is_over"


def request_job(*, kind: str, parameters: dict[str, Any], by_person: bool = False) -> Job:
    """Store a job of the active organisation and notify the workers after commit.

    `parameters` are JSON. A broker that cannot be reached is no error: the workers are notified again. With
    `by_person` it is something that the acting person asks for; raises TooManyJobs beyond what one may have.
    """
    queue, person = kind_named(kind).queue, current().user
    with transaction.atomic():
        if by_person and person is not None:
            hold_requests(person)
            demand_capacity()
        job = Job.objects.create(kind=kind, queue=queue, parameters=parameters, created_by_id=person)
        audit.record("job.requested", job, kind=kind)
        on_commit(lambda: notify_queue(queue))
    return job


def cancel_job(*, job: Job, reason: str = "") -> Job:
    """End a waiting job now, and a running one after its present part. Raises JobIsOver for a finished one.

    The reason, where there is one, stands in the organisation's trail.
    """
    with transaction.atomic():
        # Between two updates a running job may become a waiting one; under the lock it cannot.
        job = Job.objects.select_for_update(of=("self",)).get(pk=job.pk)
        if not job.is_open:
            raise JobIsOver(f"This job is {job.get_state_display().lower()} already; there is nothing to cancel.")
        if job.is_cancelling:
            return job
        job.cancel_requested_at = timezone.now()
        if job.state == JobState.QUEUED:
            job.state = JobState.CANCELLED
            job.finished_at = job.cancel_requested_at
            outbox.publish_finished(job)
        job.save(update_fields=["cancel_requested_at", "state", "finished_at"])
        audit.record("job.cancelled", job, kind=job.kind, **({"reason": reason} if reason else {}))
    return job


def note_unknown_kinds() -> int:
    """Say in the active organisation's waiting jobs of kinds that this process does not know for whom they wait.

    Returns how many there are. While versions change, only a newer worker may know a kind.
    """
    strange = Job.objects.filter(state=JobState.QUEUED).exclude(kind__in=known_names())
    jobs = list(strange.order_by("created_at")[:_NOTED_AT_ONCE])
    for job in jobs:
        log.warning("jobs.unknown_kind", job=str(job.pk), kind=job.kind)
        error = f"A worker knew no job of kind {job.kind!r}. The job waits for one that does: update the workers."
        strange.filter(pk=job.pk).update(error=error)
    return len(jobs)
