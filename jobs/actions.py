"""What can be done to jobs: request, cancel, and ring again. Running them is jobs.runner."""

from collections import defaultdict
from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from jobs import bell, outbox
from jobs.kinds import DEFAULT_QUEUE, is_known, kind_named
from jobs.models import Job, JobState
from tenancy import audit
from tenancy.actor import current, on_commit
from tenancy.errors import Refused

_RUNG_AT_ONCE = 500


class JobIsOver(Refused):
    code = "job_is_over"


def request_job(*, kind: str, parameters: dict[str, Any]) -> Job:
    """Store a job of the active organisation and ring for a worker after commit.

    `parameters` are JSON. A broker that cannot be reached is no error: the sweep rings again.
    """
    kind_named(kind)
    with transaction.atomic():
        job = Job.objects.create(kind=kind, parameters=parameters, created_by_id=current().user)
        audit.record("job.requested", job, kind=kind)
        on_commit(lambda: ring([job]))
    return job


def cancel_job(*, job: Job) -> Job:
    """End a waiting job now, and a running one after its present part. Raises JobIsOver for a finished one."""
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
        audit.record("job.cancelled", job, kind=job.kind)
    return job


def ring(jobs: Iterable[Job]) -> None:
    """Tell the workers that these jobs of the active organisation wait."""
    from jobs.tasks import run_job  # The task runs jobs, and running jobs rings again.

    calls: defaultdict[str, list[tuple[str, ...]]] = defaultdict(list)
    for job in jobs:
        # A kind that only newer workers know is rung for where every worker hears it.
        queue = kind_named(job.kind).queue if is_known(job.kind) else DEFAULT_QUEUE
        calls[queue].append((str(job.pk),))
    for queue, arguments in calls.items():
        bell.ring(run_job, *arguments, queue=queue)


def ring_unheard_jobs() -> int:
    """Ring for the active organisation's jobs that are due and unheard; returns how many.

    Those rung for longest ago come first, so that more jobs than one sweep rings for all have their turn.
    """
    now = timezone.now()
    unheard = Job.objects.unheard(now, now - timedelta(seconds=settings.JOBS_SWEEP_SECONDS / 2))
    with transaction.atomic():
        jobs = list(unheard.select_for_update(skip_locked=True, of=("self",)).order_by("rung_at")[:_RUNG_AT_ONCE])
        Job.objects.filter(pk__in=[job.pk for job in jobs]).update(rung_at=now)
        on_commit(lambda: ring(jobs))
    return len(jobs)
