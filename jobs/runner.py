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
from django.conf import settings
from django.db import DatabaseError, connection
from django.utils import timezone

from jobs import outbox
from jobs.actions import ring
from jobs.kinds import JobFailed, Part, is_known, kind_named
from jobs.models import Job, JobState
from jobs.wording import storable, told
from tenancy.actor import Actor, acting, on_commit

log = structlog.get_logger(__name__)

STUMBLES_ALLOWED = 3


class Fenced(Exception):  # noqa: N818  (another worker goes on; nothing is wrong)
    """Another worker has taken the job, or somebody ended it: what this one did in its part is rolled back."""


def run(*, job_id: UUID, actor: Actor, redelivered: bool) -> None:
    """Work on the job until it ends, the task's time budget is used up, or another worker has taken it.

    `redelivered` says that the broker took the message back, as it does from a worker that is gone; then the rest
    of its lease is not waited for, unless the worker is seen to live.
    """
    job = _take(job_id, actor, redelivered=redelivered)
    if job is None:
        return
    with structlog.contextvars.bound_contextvars(job=str(job.pk), kind=job.kind, fence=job.fence):
        try:
            _work(job, actor)
        except Fenced:
            log.info("jobs.fenced")


def _take(job_id: UUID, actor: Actor, *, redelivered: bool) -> Job | None:
    """Take the job if it waits, or if its worker is gone; None where there is nothing to take."""
    with acting(actor):
        # Somebody who holds the row's lock is about to change it, and the sweep rings again.
        job = Job.objects.select_for_update(skip_locked=True, of=("self",)).filter(pk=job_id).first()
        if job is None or not _is_free(job, redelivered=redelivered):
            return None
        if not is_known(job.kind):
            _leave_to_others(job)
            return None
        now = timezone.now()
        job.stumbles += job.state == JobState.RUNNING
        job.state = JobState.RUNNING
        job.attempts += 1
        job.fence += 1
        job.started_at = job.started_at or now
        job.heartbeat_at = now
        job.lease_until = _lease_end()
        job.save(update_fields=["stumbles", "state", "attempts", "fence", "started_at", "heartbeat_at", "lease_until"])
        if job.stumbles >= STUMBLES_ALLOWED:
            _give_up(job, job.stumbles, job.error)
            return None
    return job


def _is_free(job: Job, *, redelivered: bool) -> bool:
    now = timezone.now()
    if job.state == JobState.QUEUED:
        return job.run_at <= now
    if job.state != JobState.RUNNING:
        return False
    return job.lease_until is None or job.lease_until < now or (redelivered and _show_life(job))


def _show_life(job: Job) -> bool:
    """Hold the job's advisory lock until the transaction ends; False where another transaction holds it.

    A part holds it, so that a message which comes back early (a lost connection to the broker, a visibility
    timeout) is not taken for the news of a worker's death. PostgreSQL itself ends the transaction, and frees its rows,
    when it waits for its worker longer than a task may last, and when the worker is gone while a query runs.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_try_advisory_xact_lock(hashtextextended(%s, 0)),"
            " set_config('idle_in_transaction_session_timeout', %s, true),"
            " set_config('client_connection_check_interval', '5s', true)",
            [str(job.pk), f"{settings.CELERY_TASK_TIME_LIMIT}s"],
        )
        held, _, _ = cursor.fetchone()
    return bool(held)


def _leave_to_others(job: Job) -> None:
    """While versions change, only a newer worker may know the kind; the sweep rings until one hears it."""
    log.warning("jobs.unknown_kind", job=str(job.pk), kind=job.kind)
    job.error = f"A worker knew no job of kind {job.kind!r}. The job waits for one that does: update the workers."
    job.save(update_fields=["error"])


def _work(job: Job, actor: Actor) -> None:
    try:
        with _heartbeat(job, actor):
            _run_parts(job, actor)
    except Fenced:
        raise
    except JobFailed as failure:
        with acting(actor):
            _finish(job, JobState.FAILED, error=storable(str(failure)))
    except Exception as error:
        # The one place where any error is caught: it belongs to a job kind, and the row must tell of it.
        log.exception("jobs.stumbled")
        _stumble(job, actor, told(error))


def _run_parts(job: Job, actor: Actor) -> None:
    kind = kind_named(job.kind)
    budget_ends = time.monotonic() + settings.JOBS_TASK_BUDGET_SECONDS
    while True:
        with acting(actor):
            _show_life(job)
            current = _held(job)
            if current.is_cancelling:
                _finish(current, JobState.CANCELLED)
                return
            part = kind.run_part(current)
            if part.finished:
                _finish(current, JobState.DONE, **_after(part), result=part.result)
                return
            _save(current, **_after(part), lease_until=_lease_end())
        if time.monotonic() >= budget_ends:
            with acting(actor):
                _save(job, state=JobState.QUEUED, lease_until=None, rung_at=timezone.now())
                on_commit(lambda: ring([job]))
            return


def _after(part: Part) -> dict[str, Any]:
    return {
        "cursor": part.cursor,
        "progress": part.progress,
        "total": part.total,
        "stumbles": 0,
        "error": "",
        "heartbeat_at": timezone.now(),
    }


def _held(job: Job) -> Job:
    """The row as it is now; raises Fenced where it is no longer this worker's."""
    current = Job.objects.held(job.fence).filter(pk=job.pk).first()
    if current is None:
        raise Fenced
    return current


def _save(job: Job, **fields: Any) -> None:
    """Change the row as the worker with this fence; raises Fenced, and so rolls back, for any other."""
    if not Job.objects.held(job.fence).filter(pk=job.pk).update(**fields):
        raise Fenced


def _finish(job: Job, state: JobState, **fields: Any) -> None:
    _save(job, state=state, finished_at=timezone.now(), lease_until=None, **fields)
    job.state = state
    outbox.publish_finished(job)


def _stumble(job: Job, actor: Actor, said: str) -> None:
    """An unexpected error: try the part again after a pause, and give the job up at the third time."""
    with acting(actor):
        stumbles = _held(job).stumbles + 1
        if stumbles >= STUMBLES_ALLOWED:
            _give_up(job, stumbles, said)
            return
        pause = timedelta(seconds=5 * 2**stumbles)
        _save(
            job,
            state=JobState.QUEUED,
            stumbles=stumbles,
            error=said,
            lease_until=None,
            run_at=timezone.now() + pause,
        )


def _give_up(job: Job, stumbles: int, said: str) -> None:
    """`said` is the last error; empty where only workers were lost."""
    sentence = f"Given up: {stumbles} times a worker was lost, or stopped with an error, in the same part."
    _finish(job, JobState.FAILED, stumbles=stumbles, error=f"{sentence} Last error: {said}" if said else sentence)


@contextmanager
def _heartbeat(job: Job, actor: Actor) -> Iterator[None]:
    """Renew the lease while a part runs, from a thread: the part's own transaction shows nothing until it commits."""
    over = threading.Event()

    def beat() -> None:
        try:
            while not over.wait(settings.JOBS_HEARTBEAT_SECONDS):
                try:
                    with acting(actor):
                        _save(job, heartbeat_at=timezone.now(), lease_until=_lease_end())
                except DatabaseError as error:
                    log.warning("jobs.heartbeat_missed", error=str(error))
        except Fenced:
            log.info("jobs.heartbeat_fenced")
        finally:
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
