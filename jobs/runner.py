"""Runs jobs in turns: choose whose turn it is, take the job with a new fencing token, do parts until others wait.

Nothing here may be believed twice: a message can arrive late, twice or never, and a worker can die between any
two lines. What holds is the row: each part commits together with the cursor, and only under the newest fencing token.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import structlog
from django.conf import settings
from django.db import DatabaseError, connection, transaction
from django.db.models import Q
from django.utils import timezone

from jobs import fair_share, outbox
from jobs.kinds import JobFailed, Part, kind_named
from jobs.models import Job, JobState, Queue
from jobs.notifier import notify_queue
from jobs.row_text import describe_error, storable
from tenancy.actor import Actor, acting, acting_in
from tenancy.errors import Frozen, frozen_by

log = structlog.get_logger(__name__)

FAILURES_ALLOWED = 3


class Fenced(Exception):  # noqa: N818  (another worker goes on; nothing is wrong)
    """Another worker has taken the job, or somebody ended it: what this one did in its part is rolled back."""


def work(*, queue: Queue, message: str = "", redelivered: bool = False) -> None:
    """Give turns to the jobs that this worker may run beside those of this queue, until none waits or time is up.

    `message` is the id of the message that called for it, and `redelivered` says that the broker took it back, as it
    does from a process that is gone: then the job which that one ran is taken over without waiting for its lease,
    unless its part is seen to go on.
    """
    ends = time.monotonic() + fair_share.this_worker().seconds_a_task(queue)
    lost = message if redelivered else ""
    try:
        while (taken := _take_next(queue, message, lost)) is not None:
            job, actor = taken
            if not job.is_open:
                continue
            _run_turn(job, actor, ends)
            if time.monotonic() >= ends:
                notify_queue(queue)
                return
    except fair_share.Busy:
        # Not at once: all who were refused would meet again.
        notify_queue(queue, countdown=1)


def run_here(organisation: UUID, job: Job, do_part: Callable[[], Part]) -> dict[str, Any]:
    """Do a job that has no row in this process, each part in a transaction of its own; returns its result.

    Call it outside every block. What was done before an error stays, as it does in a worker.
    """
    while True:
        with acting_in(organisation):
            part = do_part()
        job.cursor = part.cursor
        if part.finished:
            return part.result


def run(*, job_id: UUID, actor: Actor) -> None:
    """Work on this one job as if nobody else had any, until it ends or a task's time is up. For measurements and tests.

    Nothing happens where it does not wait and its worker is not gone.
    """
    with acting(actor):
        now = timezone.now()
        is_due = Q(state=JobState.QUEUED, run_at__lte=now) | Q(state=JobState.RUNNING, lease_until__lt=now)
        job = Job.objects.filter(is_due, pk=job_id).select_for_update(skip_locked=True, of=("self",)).first()
        if job is None:
            return
        _take(job, "")
    _run_turn(job, actor, time.monotonic() + settings.JOBS_TASK_BUDGET_SECONDS, gives_way=False)


def _take_next(queue: Queue, message: str, lost: str) -> tuple[Job, Actor] | None:
    """The job whose turn it is, taken; None where there is none. One that has failed too often is over."""
    # Chosen and taken in one transaction: the row stays locked until it says RUNNING, so no two choose it.
    with transaction.atomic():
        turn = fair_share.choose(queue, lost_message=lost)
        if turn is None:
            return None
        with acting(turn.actor):
            job = Job.objects.get(pk=turn.job)
            _take(job, message)
            if job.failures >= FAILURES_ALLOWED:
                _give_up(job, job.failures, job.error)
    return job, turn.actor


def _take(job: Job, message: str) -> None:
    """Take the job, which the caller has locked; one that runs already has lost its worker."""
    now = timezone.now()
    job.failures += job.state == JobState.RUNNING
    job.state = JobState.RUNNING
    job.attempts += 1
    job.fencing_token += 1
    job.started_at = job.started_at or now
    job.heartbeat_at = job.turn_at = now
    job.lease_until = _lease_end()
    job.worker, job.message = fair_share.this_worker().name[:200], message[:64]
    job.save(
        update_fields=[
            "failures", "state", "attempts", "fencing_token", "started_at", "heartbeat_at", "turn_at", "lease_until",
            "worker", "message",
        ]
    )  # fmt: skip


def _run_turn(job: Job, actor: Actor, ends: float, *, gives_way: bool = True) -> None:
    """Do parts of the job until its turn is over, and write down what came of it."""
    about = {"job": str(job.pk), "kind": job.kind, "fencing_token": job.fencing_token}
    with structlog.contextvars.bound_contextvars(**about), _unless_fenced():
        try:
            with _heartbeat(job, actor):
                _run_parts(job, actor, ends, gives_way)
        except Fenced:
            # No failure of the job: it goes on with another worker, whose row this one must leave alone.
            raise
        except JobFailed as failure:
            with acting(actor):
                _finish(job, JobState.FAILED, error=storable(str(failure)))
        except Exception as error:
            if frozen_by(error):
                with acting(actor):
                    _finish(job, JobState.FAILED, error=Frozen.SENTENCE)
                return
            # The one place where any error is caught: it belongs to a job kind, and the row must tell of it.
            log.exception("jobs.part_failed")
            _record_failure(job, actor, describe_error(error))


@contextmanager
def _unless_fenced() -> Iterator[None]:
    """A block that ends early where another worker has the job by now."""
    try:
        yield
    except Fenced:
        log.info("jobs.fenced")


def _hold_alive(job: Job) -> None:
    """Hold the job's advisory lock until the transaction ends, unless another transaction holds it.

    By it jobs_take_turn() sees that the part goes on, so that a message which comes back early (a lost connection to
    the broker, a visibility timeout) is not taken for the news of a worker's death. PostgreSQL itself ends the
    transaction, and frees its rows, when it waits for its worker longer than a task may last, and when the worker is
    gone while a query runs.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_try_advisory_xact_lock(hashtextextended(%s, 0)),"
            " set_config('idle_in_transaction_session_timeout', %s, true),"
            " set_config('client_connection_check_interval', '5s', true)",
            [str(job.pk), f"{settings.CELERY_TASK_TIME_LIMIT}s"],
        )


def _run_parts(job: Job, actor: Actor, ends: float, gives_way: bool) -> None:
    kind, began = kind_named(job.kind), time.monotonic()
    while True:
        with acting(actor):
            _hold_alive(job)
            current = _current(job)
            if current.is_cancelling:
                _finish(current, JobState.CANCELLED)
                return
            part = kind.run_part(current)
            if part.finished:
                _finish(current, JobState.DONE, **_after(part), result=part.result)
                return
            now = time.monotonic()
            seconds = job.turn_seconds + now - began
            if now >= ends or (gives_way and _is_awaited(job, seconds)):
                _save(current, **_after(part), **_back(seconds))
                return
            _save(current, **_after(part), lease_until=_lease_end())


def _is_awaited(job: Job, seconds: float) -> bool:
    by_its_own = seconds >= fair_share.SECONDS_A_TURN
    return fair_share.is_awaited(job.queue, job.organisation_id, by_its_own=by_its_own)


def _back(seconds: float) -> dict[str, Any]:
    """Into the queue; behind the other jobs of its organisation where it has had its time before them."""
    back: dict[str, Any] = {"state": JobState.QUEUED, "lease_until": None, "turn_seconds": seconds}
    return (
        {**back, "waiting_since": timezone.now(), "turn_seconds": 0} if seconds >= fair_share.SECONDS_A_TURN else back
    )


def _after(part: Part) -> dict[str, Any]:
    return {
        "cursor": part.cursor,
        "progress": part.progress,
        "total": part.total,
        "failures": 0,
        "error": "",
        "heartbeat_at": timezone.now(),
    }


def _current(job: Job) -> Job:
    """The row as it is now; raises Fenced where it is no longer this worker's."""
    current = Job.objects.running_under(job.fencing_token).filter(pk=job.pk).first()
    if current is None:
        raise Fenced
    return current


def _save(job: Job, **fields: Any) -> None:
    """Change the row as the worker with this fencing token; raises Fenced, and so rolls back, for any other."""
    if not Job.objects.running_under(job.fencing_token).filter(pk=job.pk).update(**fields):
        raise Fenced


def _finish(job: Job, state: JobState, **fields: Any) -> None:
    _save(job, state=state, finished_at=timezone.now(), lease_until=None, **fields)
    job.state = state
    outbox.publish_finished(job)


def _record_failure(job: Job, actor: Actor, error: str) -> None:
    """An unexpected error: try the part again after a pause, and give the job up at the third time."""
    with acting(actor):
        failures = _current(job).failures + 1
        if failures >= FAILURES_ALLOWED:
            _give_up(job, failures, error)
            return
        pause = timedelta(seconds=5 * 2**failures)
        _save(
            job,
            state=JobState.QUEUED,
            failures=failures,
            error=error,
            lease_until=None,
            waiting_since=timezone.now(),
            run_at=timezone.now() + pause,
        )


def _give_up(job: Job, failures: int, error: str) -> None:
    """`error` is the last one; empty where only workers were lost."""
    sentence = f"Given up: {failures} times a worker was lost, or stopped with an error, in the same part."
    _finish(job, JobState.FAILED, failures=failures, error=f"{sentence} Last error: {error}" if error else sentence)


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
                    # The lease outlives four heartbeats, so one that is missed ends no work.
                    log.warning("jobs.heartbeat_missed", error=str(error))
        except Fenced:
            # The part finds out by itself when it saves.
            log.info("jobs.heartbeat_fenced")
        finally:
            # Django opens a connection for each thread, and closes it with a request or a task, which this is not.
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
