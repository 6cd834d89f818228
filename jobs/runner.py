"""Runs a job in parts: take it with a new fence, do parts until the task's time is up, ring for the next task.

Nothing here may be believed twice: a message can arrive late, twice or never, and a worker can die between any
two lines. What holds is the row: each part commits together with the cursor, and only under the newest fence.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import structlog
from billiard.exceptions import SoftTimeLimitExceeded
from django.conf import settings
from django.db import DatabaseError, connection, models
from django.db.models import F
from django.utils import timezone

from jobs import outbox
from jobs.actions import ring
from jobs.kinds import JobFailed, Part, kind_named
from jobs.models import Job, JobState
from tenancy.actor import Actor, acting

log = structlog.get_logger(__name__)

STUMBLES_ALLOWED = 3


class Fenced(Exception):  # noqa: N818  (another worker goes on; nothing is wrong)
    """Another worker has taken the job, or somebody ended it: what this one did in its part is rolled back."""


def run(*, job_id: UUID, actor: Actor, redelivered: bool) -> None:
    """Work on the job until it ends, the task's time budget is used up, or another worker has taken it.

    `redelivered` says that the broker took the message back from a worker that is gone, so that the rest of its
    lease need not be waited for.
    """
    job = _take(job_id, actor, redelivered=redelivered)
    if job is None:
        return
    with structlog.contextvars.bound_contextvars(job=str(job.pk), kind=job.kind, fence=job.fence):
        try:
            with _heartbeat(job, actor):
                _run_parts(job, actor)
        except Fenced:
            log.info("jobs.fenced")
        except JobFailed as failure:
            _end(job, actor, JobState.FAILED, error=str(failure))
        except (Exception, SoftTimeLimitExceeded) as error:
            # The one place where any error is caught: it belongs to a job kind, and the row must tell of it.
            log.exception("jobs.stumbled")
            _stumble(job, actor, error)


def _take(job_id: UUID, actor: Actor, *, redelivered: bool) -> Job | None:
    """Take the job if it waits, or if its worker is gone; None where there is nothing to take."""
    now = timezone.now()
    free = models.Q(state=JobState.QUEUED, run_at__lte=now)
    lost = models.Q(state=JobState.RUNNING) if redelivered else models.Q(state=JobState.RUNNING, lease_until__lt=now)
    with acting(actor):
        taken = Job.objects.filter(free | lost, pk=job_id).update(
            stumbles=models.Case(models.When(state=JobState.RUNNING, then=F("stumbles") + 1), default=F("stumbles")),
            state=JobState.RUNNING,
            attempts=F("attempts") + 1,
            fence=F("fence") + 1,
            heartbeat_at=now,
            lease_until=_lease_end(),
            started_at=models.functions.Coalesce("started_at", models.Value(now)),
        )
        if not taken:
            return None
        job = Job.objects.get(pk=job_id)
    if job.stumbles >= STUMBLES_ALLOWED:
        _end(job, actor, JobState.FAILED, error=f"Given up: {job.stumbles} workers were lost in the same part.")
        return None
    return job


def _run_parts(job: Job, actor: Actor) -> None:
    kind, fence = kind_named(job.kind), job.fence
    budget_ends = time.monotonic() + settings.JOBS_TASK_BUDGET_SECONDS
    while True:
        with acting(actor):
            job.refresh_from_db()
            if job.fence != fence or job.state != JobState.RUNNING:
                raise Fenced
            if job.cancel_requested_at is not None:
                _save(job, fence, state=JobState.CANCELLED, finished_at=timezone.now(), lease_until=None)
                return
            part = kind.run_part(job)
            _save(job, fence, **_after(part))
            if part.finished:
                outbox.publish("job.finished", job=str(job.pk), kind=job.kind, state=JobState.DONE)
                return
        if time.monotonic() >= budget_ends:
            with acting(actor):
                _save(job, fence, state=JobState.QUEUED, lease_until=None, rung_at=timezone.now())
            with acting(actor):
                ring(job)
            return


def _after(part: Part) -> dict[str, Any]:
    now = timezone.now()
    fields: dict[str, Any] = {
        "cursor": part.cursor,
        "progress": part.progress,
        "total": part.total,
        "stumbles": 0,
        "error": "",
        "heartbeat_at": now,
        "lease_until": _lease_end(),
    }
    if part.finished:
        fields |= {"state": JobState.DONE, "finished_at": now, "lease_until": None, "result": part.result}
    return fields


def _save(job: Job, fence: int, **fields: Any) -> None:
    """Change the row as the worker with this fence; raises Fenced, and so rolls back, for any other."""
    if not Job.objects.held(fence).filter(pk=job.pk).update(**fields):
        raise Fenced


def _end(job: Job, actor: Actor, state: JobState, *, error: str) -> None:
    with acting(actor):
        ended = (
            Job.objects.held(job.fence)
            .filter(pk=job.pk)
            .update(state=state, error=error, finished_at=timezone.now(), lease_until=None)
        )
        if ended:
            outbox.publish("job.finished", job=str(job.pk), kind=job.kind, state=state)


def _stumble(job: Job, actor: Actor, error: BaseException) -> None:
    """An unexpected error: try the part again after a pause, and give the job up at the third time."""
    said = f"{type(error).__name__}: {error}"
    stumbles = job.stumbles + 1
    if stumbles >= STUMBLES_ALLOWED:
        _end(
            job,
            actor,
            JobState.FAILED,
            error=f"Given up after {stumbles} errors in the same part. Last: {said}",
        )
        return
    with acting(actor):
        Job.objects.held(job.fence).filter(pk=job.pk).update(
            state=JobState.QUEUED,
            stumbles=stumbles,
            error=said,
            lease_until=None,
            run_at=timezone.now() + timedelta(seconds=5 * 2**stumbles),
        )


@contextmanager
def _heartbeat(job: Job, actor: Actor) -> Iterator[None]:
    """Renew the lease while a part runs, from a thread: the part's own transaction shows nothing until it commits."""
    over = threading.Event()

    def beat() -> None:
        while not over.wait(settings.JOBS_HEARTBEAT_SECONDS):
            try:
                with acting(actor):
                    Job.objects.held(job.fence).filter(pk=job.pk).update(
                        heartbeat_at=timezone.now(), lease_until=_lease_end()
                    )
            except DatabaseError as error:
                log.warning("jobs.heartbeat_missed", error=str(error))
        connection.close()

    thread = threading.Thread(target=beat, name="heartbeat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _lease_end() -> datetime:
    return timezone.now() + timedelta(seconds=settings.JOBS_LEASE_SECONDS)
