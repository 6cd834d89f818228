"""What can be done to jobs: request and cancel. Running them is jobs.runner."""

from datetime import timedelta
from typing import Any

import structlog
from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.utils import timezone
from kombu.exceptions import OperationalError

from jobs.kinds import kind_named
from jobs.models import Job, JobState
from tenancy import audit
from tenancy.actor import current, on_commit
from tenancy.errors import Refused

log = structlog.get_logger(__name__)


class JobIsOver(Refused):
    code = "job_is_over"


def request_job(*, kind: str, parameters: dict[str, Any]) -> Job:
    """Store a job of the active organisation and ring for a worker after commit."""
    kind_named(kind)
    with transaction.atomic():
        job = Job.objects.create(kind=kind, parameters=parameters, created_by_id=current().user)
        audit.record("job.requested", job, kind=kind)
        on_commit(lambda: ring(job))
    return job


def cancel_job(*, job: Job) -> Job:
    """End a waiting job now, and a running one after its present part. Raises JobIsOver for a finished one."""
    now = timezone.now()
    with transaction.atomic():
        ended = Job.objects.filter(pk=job.pk, state=JobState.QUEUED).update(
            state=JobState.CANCELLED,
            cancel_requested_at=now,
            finished_at=now,
            lease_until=None,
            fence=F("fence") + 1,
        )
        asked = ended or Job.objects.filter(pk=job.pk, state=JobState.RUNNING).update(cancel_requested_at=now)
        job.refresh_from_db()
        if not asked:
            raise JobIsOver(f"This job is {job.get_state_display().lower()} already; there is nothing to cancel.")
        audit.record("job.cancelled", job, kind=job.kind)
    return job


def ring(job: Job) -> None:
    """Tell the workers that this job waits. A broker that cannot be reached is no error: the sweep rings again."""
    from jobs.tasks import run_job  # The task runs jobs, and running jobs rings again.

    try:
        run_job.apply_async([str(job.pk)], queue=kind_named(job.kind).queue)
    except OperationalError as error:
        log.warning("jobs.bell_unreachable", job=str(job.pk), error=str(error))


def ring_unheard_jobs() -> int:
    """Ring for the active organisation's jobs that are due and unheard; returns how many."""
    now = timezone.now()
    unheard = Job.objects.unheard(now, now - timedelta(seconds=settings.JOBS_SWEEP_SECONDS))
    jobs = list(unheard.order_by("run_at")[:500])
    Job.objects.filter(pk__in=[job.pk for job in jobs]).update(rung_at=now)
    for job in jobs:
        on_commit(lambda job=job: ring(job))  # type: ignore[misc]  # binds this turn's job
    return len(jobs)
