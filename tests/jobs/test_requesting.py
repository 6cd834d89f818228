"""Asking for a job, taking the wish back, and a broker that cannot be reached."""

import socket
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from django.db import ProgrammingError, transaction
from django.utils import timezone
from structlog.testing import capture_logs

from accounts.models import AuditEvent
from jobs import notifier
from jobs.actions import JobIsOver, cancel_job, request_job
from jobs.kinds import UnknownKindError, register
from jobs.models import Job, JobState, OutboxEvent
from tenancy.actor import Actor, acting, acting_in
from tests.jobs.conftest import Notifications, Start, Worker
from tests.jobs.numbered import NAME, Numbered, written
from tests.jobs.test_running import request
from tests.tenants import Tenants


def test_a_request_is_written_down_and_rung_after_commit(
    in_acme: Actor, committed_tenants: Tenants, numbered: Numbered, notifications: Notifications
) -> None:
    with acting(in_acme):
        job = request_job(kind=NAME, parameters={"file": "traces.jsonl"})
        assert notifications.notified() == []
        event = AuditEvent.objects.get(verb="job.requested")
    assert (event.person, event.target_id, event.detail) == (committed_tenants.alice, job.pk, {"kind": NAME})
    assert notifications.notified() == ["imports"]
    assert notifications.queues() == {"imports"}
    assert job.queue == "imports"


def test_a_request_that_is_rolled_back_was_never_made(
    in_acme: Actor, numbered: Numbered, notifications: Notifications
) -> None:
    with acting(in_acme):
        request_job(kind=NAME, parameters={})
        transaction.set_rollback(True)
    with acting(in_acme):
        assert not Job.objects.exists()
    assert notifications.notified() == []


def test_a_job_of_no_kind_is_refused(tenants: Tenants, numbered: Numbered) -> None:
    with (
        acting_in(tenants.acme),
        pytest.raises(UnknownKindError, match=r"no job kind 'bake'\. Known: .*tests\.numbered"),
    ):
        request_job(kind="bake", parameters={})


def test_a_kind_of_no_queue_is_refused() -> None:
    kind = Numbered()
    kind.queue = "bakery"
    with pytest.raises(ValueError, match="'bakery' is not a queue; use one of interactive, imports"):
        register(kind)


def test_a_job_belongs_to_its_organisation(tenants: Tenants, numbered: Numbered) -> None:
    with acting_in(tenants.acme):
        job = request_job(kind=NAME, parameters={})
    with acting_in(tenants.birch):
        assert not Job.objects.exists()
        with pytest.raises(Job.DoesNotExist):
            cancel_job(job=job)


def test_without_an_organisation_nothing_can_be_requested(tenants: Tenants, numbered: Numbered) -> None:
    with pytest.raises(ProgrammingError, match="no organisation is active"), transaction.atomic():
        request_job(kind=NAME, parameters={})


@pytest.mark.timeout(30)
def test_requests_try_a_broker_that_is_gone_once_and_then_leave_it_alone(
    in_acme: Actor, numbered: Numbered, dead_broker: None
) -> None:
    assert refusals_of_requests(in_acme, blocks=[1, 1]) == 1
    with acting(in_acme):
        assert Job.objects.filter(state=JobState.QUEUED).count() == 2


@pytest.fixture
def frozen_broker(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, notifications: Notifications
) -> Iterator[socket.socket]:
    """It accepts connections and never answers, like a stopped process or a network that swallows packets."""
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "b"))
        server.listen(64)
        monkeypatch.setenv("CELERY_BROKER_WRITE_URL", f"redis+socket://{tmp_path}/b")
        yield server


@pytest.mark.timeout(30)
def test_requests_try_a_broker_that_is_frozen_once_and_end_although_it_never_answers(
    in_acme: Actor, numbered: Numbered, frozen_broker: socket.socket
) -> None:
    assert refusals_of_requests(in_acme, blocks=[5, 1]) == 1
    # One attempt, and the one retry that it has.
    assert 1 <= connections_to(frozen_broker) <= 2
    with acting(in_acme):
        assert Job.objects.filter(state=JobState.QUEUED).count() == 6


def connections_to(server: socket.socket) -> int:
    """How many wait to be accepted."""
    server.setblocking(False)
    waiting = 0
    while True:
        try:
            server.accept()[0].close()
        except BlockingIOError:
            return waiting
        waiting += 1


@pytest.fixture(autouse=True)
def long_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    """Longer than any story takes here."""
    monkeypatch.setattr(notifier, "_PAUSE_SECONDS", 300.0)


def refusals_of_requests(actor: Actor, *, blocks: list[int]) -> int:
    """How often the broker was found to be out of reach, by so many requests in one transaction after the other."""
    with capture_logs() as logs:
        for requests in blocks:
            with acting(actor):
                for _ in range(requests):
                    request_job(kind=NAME, parameters={})
    return len([entry for entry in logs if entry["event"] == "jobs.broker_unreachable"])


def test_a_waiting_job_is_cancelled_at_once(worker: Worker, in_acme: Actor, numbered: Numbered) -> None:
    job = request(in_acme)
    with acting(in_acme):
        cancelled = cancel_job(job=job)
    assert (cancelled.state, cancelled.finished_at) == (JobState.CANCELLED, cancelled.cancel_requested_at)
    assert worker.hear(job).attempts == 0
    with acting(in_acme):
        assert AuditEvent.objects.get(verb="job.cancelled").target_id == job.pk
        assert OutboxEvent.objects.get(topic="job.finished").payload["state"] == "cancelled"


def test_a_running_job_stops_after_its_present_part(worker: Worker, in_acme: Actor, start: Start) -> None:
    def cancel(job: Job, number: int) -> None:
        if number == 10:
            assert cancel_job(job=job).is_cancelling

    start(Numbered(during=cancel))
    job = worker.hear(request(in_acme))
    assert (job.state, job.progress, job.lease_until) == (JobState.CANCELLED, 10, None)
    assert job.finished_at
    with acting(in_acme):
        assert written() == list(range(1, 11))
        assert [event.payload["state"] for event in OutboxEvent.objects.all()] == ["cancelled"]


def test_a_running_job_that_is_cancelled_twice_is_written_down_once(
    worker: Worker, in_acme: Actor, numbered: Numbered
) -> None:
    job = request(in_acme)
    worker.change(job, state=JobState.RUNNING, fencing_token=1, lease_until=timezone.now() + timedelta(seconds=60))
    with acting(in_acme):
        first = cancel_job(job=job)
        second = cancel_job(job=job)
        assert first.is_cancelling
        assert second.cancel_requested_at == first.cancel_requested_at
        assert AuditEvent.objects.filter(verb="job.cancelled").count() == 1


def test_a_job_that_waits_between_two_tasks_is_cancelled_at_once(
    worker: Worker, in_acme: Actor, numbered: Numbered
) -> None:
    job = request(in_acme)
    worker.change(job, fencing_token=4, attempts=4, cursor=9, progress=9)
    with acting(in_acme):
        assert cancel_job(job=job).state == JobState.CANCELLED
    assert worker.hear(job).progress == 9


@pytest.mark.parametrize("state", [JobState.DONE, JobState.FAILED, JobState.CANCELLED])
def test_a_finished_job_cannot_be_cancelled(tenants: Tenants, numbered: Numbered, state: JobState) -> None:
    with acting_in(tenants.acme):
        job = Job.objects.create(kind=NAME, state=state, finished_at=timezone.now())
        with pytest.raises(JobIsOver, match=f"This job is {state} already; there is nothing to cancel"):
            cancel_job(job=job)
        assert not AuditEvent.objects.filter(verb="job.cancelled").exists()
