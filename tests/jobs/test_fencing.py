"""One job is run by one worker, and a worker that was thought dead writes nothing any more."""

import threading
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone
from pytest_django import Settings

from jobs.models import Job, JobState
from tenancy.actor import Actor, acting
from tests.jobs.conftest import Start, Worker
from tests.jobs.numbered import NAME, PARTS, Numbered, written
from tests.jobs.test_running import request

PATIENCE = 20


class Held(Numbered):
    """Its tenth part waits, the first time, until the story lets it go on."""

    def __init__(self) -> None:
        super().__init__(self._wait_once)
        self.reached, self.go_on = threading.Event(), threading.Event()

    def _wait_once(self, job: Job, number: int) -> None:
        if number == 10 and not self.reached.is_set():
            self.reached.set()
            assert self.go_on.wait(PATIENCE)


def hear_elsewhere(worker: Worker, job: Job, *, redelivered: bool = False) -> threading.Thread:
    """Another worker, with a database connection of its own."""

    def hear() -> None:
        try:
            worker.hear(job, redelivered=redelivered)
        finally:
            connection.close()

    thread = threading.Thread(target=hear)
    thread.start()
    return thread


def held_elsewhere(worker: Worker, in_acme: Actor, start: Start) -> tuple[Held, Job, threading.Thread]:
    """A job in the middle of a part, in the hands of another worker."""
    kind = Held()
    start(kind)
    job = request(in_acme)
    thread = hear_elsewhere(worker, job)
    assert kind.reached.wait(PATIENCE)
    return kind, job, thread


def test_a_job_whose_worker_lives_is_not_taken(worker: Worker, in_acme: Actor, start: Start) -> None:
    kind, job, first = held_elsewhere(worker, in_acme, start)
    assert worker.hear(job).fencing_token == 1
    assert worker.hear(job, redelivered=True).fencing_token == 1, "a message that came back is not believed either"
    kind.go_on.set()
    first.join(PATIENCE)
    job = worker.row(job)
    assert (job.state, job.attempts, job.failures) == (JobState.DONE, 1, 0)
    with acting(in_acme):
        assert written() == list(range(1, PARTS + 1))


def test_a_worker_that_was_thought_dead_writes_nothing_any_more(worker: Worker, in_acme: Actor, start: Start) -> None:
    kind, job, zombie = held_elsewhere(worker, in_acme, start)
    worker.change(job, lease_until=timezone.now() - timedelta(seconds=1))
    second = worker.hear(job)
    assert (second.state, second.fencing_token, second.attempts) == (JobState.DONE, 2, 2)

    kind.go_on.set()
    zombie.join(PATIENCE)
    job = worker.row(job)
    assert (job.state, job.fencing_token, job.error, job.finished_at) == (JobState.DONE, 2, "", second.finished_at)
    with acting(in_acme):
        assert written() == list(range(1, PARTS + 1))


def test_the_lease_is_renewed_while_a_part_runs(
    worker: Worker, in_acme: Actor, start: Start, settings: Settings
) -> None:
    settings.JOBS_HEARTBEAT_SECONDS = 0.05
    kind, job, first = held_elsewhere(worker, in_acme, start)
    before = worker.row(job).lease_until
    deadline = timezone.now() + timedelta(seconds=PATIENCE)
    while worker.row(job).lease_until == before:
        assert timezone.now() < deadline, "no heartbeat came"
    kind.go_on.set()
    first.join(PATIENCE)
    assert worker.row(job).state == JobState.DONE


def test_a_zombies_heart_does_not_beat_for_its_successor(
    worker: Worker, in_acme: Actor, start: Start, settings: Settings
) -> None:
    settings.JOBS_HEARTBEAT_SECONDS = 0.05
    kind, job, zombie = held_elsewhere(worker, in_acme, start)
    taken = timezone.now() + timedelta(seconds=5)
    worker.change(job, fencing_token=2, lease_until=taken)
    kind.go_on.set()
    zombie.join(PATIENCE)
    job = worker.row(job)
    assert (job.state, job.cursor, job.lease_until) == (JobState.RUNNING, 9, taken)


def test_a_message_that_the_broker_took_back_from_a_dead_worker_is_heard_at_once(
    worker: Worker, in_acme: Actor, numbered: Numbered
) -> None:
    job = request(in_acme)
    lost = {
        "state": JobState.RUNNING,
        "fencing_token": 1,
        "attempts": 1,
        "cursor": 9,
        "progress": 9,
        "message": worker.message,
    }
    worker.change(job, **lost, lease_until=timezone.now() + timedelta(seconds=60))
    assert worker.hear(job).fencing_token == 1, "an ordinary message waits for the lease"
    job = worker.hear(job, redelivered=True)
    assert (job.state, job.fencing_token, job.attempts) == (JobState.DONE, 2, 2)
    with acting(in_acme):
        assert written() == list(range(10, PARTS + 1))


def test_a_part_that_takes_its_worker_down_three_times_ends_the_job(
    worker: Worker, in_acme: Actor, numbered: Numbered
) -> None:
    job = request(in_acme)
    worker.change(
        job, state=JobState.RUNNING, fencing_token=3, failures=2, lease_until=timezone.now() - timedelta(seconds=1)
    )
    job = worker.hear(job)
    assert (job.state, job.failures) == (JobState.FAILED, 3)
    assert job.error == "Given up: 3 times a worker was lost, or stopped with an error, in the same part."
    with acting(in_acme):
        assert written() == []


def test_a_row_that_somebody_has_locked_is_left_to_the_next_sweep(
    worker: Worker, in_acme: Actor, numbered: Numbered
) -> None:
    """A worker that froze between its last update and the commit must not freeze the others."""
    job = request(in_acme)
    with acting(in_acme):
        Job.objects.select_for_update().get(pk=job.pk)
        other = hear_elsewhere(worker, job)
        other.join(PATIENCE)
        assert not other.is_alive()
    assert worker.row(job).attempts == 0


@pytest.mark.parametrize("together", [2, 4])
def test_workers_that_get_the_same_notification_share_nothing(
    worker: Worker, in_acme: Actor, numbered: Numbered, together: int
) -> None:
    with acting(in_acme):
        job = Job.objects.create(kind=NAME, queue="imports", parameters={})
    workers = [hear_elsewhere(worker, job) for _ in range(together)]
    for other in workers:
        other.join(PATIENCE)
    row = worker.row(job)
    assert (row.state, row.attempts) == (JobState.DONE, 1)
    with acting(in_acme):
        assert written() == list(range(1, PARTS + 1))
