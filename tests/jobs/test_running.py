"""What becomes of a job, from the request to its end."""

import time
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone
from pytest_django import Settings

from accounts.models import AuditEvent
from jobs import tasks
from jobs.actions import note_unknown_kinds, request_job
from jobs.kinds import Part
from jobs.models import Job, JobState, OutboxEvent
from tenancy.actor import Actor, acting, acting_in
from tests.jobs.conftest import Notifications, Start, Worker
from tests.jobs.numbered import NAME, PARTS, UNREADABLE, Numbered, fail_in, written
from tests.tenants import Tenants


def request(actor: Actor, kind: str = NAME, **parameters: Any) -> Job:
    with acting(actor):
        return request_job(kind=kind, parameters=parameters)


def make_due(worker: Worker, job: Job) -> None:
    """Let the pause after an error pass."""
    worker.change(job, run_at=timezone.now() - timedelta(seconds=1))


def test_a_job_is_done_in_parts_and_says_how_far_it_is(worker: Worker, in_acme: Actor, start: Start) -> None:
    seen: list[tuple[int, int | None]] = []
    start(Numbered(during=lambda job, number: seen.append((job.progress, job.total))))
    job = worker.hear(request(in_acme))

    assert (job.state, job.progress, job.total, job.result) == (JobState.DONE, PARTS, PARTS, {"last": PARTS})
    assert (job.attempts, job.fencing_token, job.failures, job.error) == (1, 1, 0, "")
    assert job.started_at
    assert job.finished_at
    assert job.started_at <= job.finished_at
    assert job.lease_until is None
    assert seen == [(0, None), *((number, PARTS) for number in range(1, PARTS))]
    with acting(in_acme):
        assert written() == list(range(1, PARTS + 1))


def test_a_finished_job_is_told_to_the_rooms_above(worker: Worker, in_acme: Actor, numbered: Numbered) -> None:
    job = worker.hear(request(in_acme))
    with acting(in_acme):
        event = OutboxEvent.objects.get(topic="job.finished")
    assert event.payload == {"job": str(job.pk), "kind": NAME, "state": "done"}


def test_a_second_notification_of_a_finished_job_does_nothing(
    worker: Worker, in_acme: Actor, numbered: Numbered
) -> None:
    job = worker.hear(request(in_acme))
    again = worker.hear(job, redelivered=True)
    assert (again.attempts, again.finished_at) == (job.attempts, job.finished_at)
    with acting(in_acme):
        assert len(written()) == PARTS


def test_when_the_tasks_time_is_up_the_job_waits_for_the_next_task_and_is_rung_for(
    worker: Worker, in_acme: Actor, numbered: Numbered, settings: Settings, notifications: Notifications
) -> None:
    settings.JOBS_TASK_BUDGET_SECONDS = 0
    job = request(in_acme)
    for part in range(1, PARTS):
        row = worker.hear(job)
        assert (row.state, row.cursor, row.fencing_token, row.lease_until) == (JobState.QUEUED, part, part, None)
        assert notifications.notified() == ["imports"] * (part + 1)
    assert worker.hear(job).state == JobState.DONE
    with acting(in_acme):
        assert written() == list(range(1, PARTS + 1))


def test_a_part_that_fails_leaves_nothing_and_is_tried_again_after_a_pause(
    worker: Worker, in_acme: Actor, start: Start
) -> None:
    start(Numbered(during=fail_in(10, OSError("the disk is full"), times=2)))
    job = worker.hear(request(in_acme))
    assert (job.state, job.cursor, job.failures, job.error) == (JobState.QUEUED, 9, 1, "OSError: the disk is full")
    with acting(in_acme):
        assert written() == list(range(1, 10))

    assert worker.hear(job).attempts == 1, "a notification within the pause is not heard"
    make_due(worker, job)
    assert worker.hear(job).failures == 2
    make_due(worker, job)
    job = worker.hear(job)
    assert (job.state, job.error, job.failures, job.fencing_token) == (JobState.DONE, "", 0, 3)
    with acting(in_acme):
        assert written() == list(range(1, PARTS + 1))


def test_a_part_that_fails_three_times_ends_the_job(worker: Worker, in_acme: Actor, start: Start) -> None:
    start(Numbered(during=fail_in(10, OSError("the disk is full"))))
    job = request(in_acme)
    for _ in range(3):
        make_due(worker, job)
        job = worker.hear(job)
    assert job.state == JobState.FAILED
    assert job.error == (
        "Given up: 3 times a worker was lost, or stopped with an error, in the same part. "
        "Last error: OSError: the disk is full"
    )
    assert job.progress == 9
    with acting(in_acme):
        assert OutboxEvent.objects.get(topic="job.finished").payload["state"] == "failed"


def test_errors_in_different_parts_do_not_add_up(worker: Worker, in_acme: Actor, start: Start) -> None:
    failures = [fail_in(part, OSError("busy"), times=1) for part in (3, 6, 9, 12)]
    start(Numbered(during=lambda job, number: [fail(job, number) for fail in failures]))
    job = request(in_acme)
    for _ in range(5):
        make_due(worker, job)
        job = worker.hear(job)
    assert job.state == JobState.DONE


def test_a_job_that_cannot_be_done_says_why_and_is_not_tried_again(
    worker: Worker, in_acme: Actor, start: Start
) -> None:
    start(Numbered(during=fail_in(7, UNREADABLE)))
    job = worker.hear(request(in_acme))
    assert (job.state, job.attempts, job.error) == (JobState.FAILED, 1, str(UNREADABLE))
    with acting(in_acme):
        assert written() == list(range(1, 7)), "the part that failed is rolled back, those before it stand"


@pytest.mark.parametrize("words", ["a NUL \0 in it", "half a pair \ud83e", "long " * 10_000, ""])
def test_an_error_of_any_words_is_kept(worker: Worker, in_acme: Actor, start: Start, words: str) -> None:
    start(Numbered(during=fail_in(1, ValueError(words))))
    job = worker.hear(request(in_acme))
    assert job.state == JobState.QUEUED
    assert job.error.startswith(f"ValueError: {words[:5]}" if words else "ValueError")
    assert len(job.error) <= 2000


def test_a_result_that_the_database_cannot_hold_is_an_error_of_that_part(
    worker: Worker, in_acme: Actor, start: Start
) -> None:
    class Garbled(Numbered):
        def run_part(self, job: Job) -> Part:
            return Part(cursor="\0", progress=1)

    start(Garbled())
    job = worker.hear(request(in_acme))
    assert (job.state, job.cursor, job.failures) == (JobState.QUEUED, None, 1)
    assert "DataError" in job.error


def test_a_job_of_a_kind_that_only_newer_workers_know_waits_for_them(
    worker: Worker, in_acme: Actor, start: Start
) -> None:
    with acting(in_acme):
        job = Job.objects.create(kind="tests.tomorrow", parameters={})
    job = worker.hear(job)
    assert (job.state, job.attempts) == (JobState.QUEUED, 0)
    with acting(in_acme):
        assert note_unknown_kinds() == 1
    job = worker.row(job)
    assert job.error == (
        "A worker knew no job of kind 'tests.tomorrow'. The job waits for one that does: update the workers."
    )

    tomorrow = Numbered()
    tomorrow.name = "tests.tomorrow"
    start(tomorrow)
    job = worker.hear(job)
    assert (job.state, job.error) == (JobState.DONE, "")


def test_a_job_runs_in_its_own_organisation_whoever_sent_the_message(
    committed_tenants: Tenants, worker: Worker, in_acme: Actor, numbered: Numbered
) -> None:
    job = request(in_acme)
    with acting_in(committed_tenants.birch, committed_tenants.charlie):
        tasks.run_waiting.apply((job.queue,))
    assert worker.row(job).state == JobState.DONE
    with acting_in(committed_tenants.birch):
        assert written() == []


def test_a_part_acts_as_the_person_who_asked_in_the_organisation_of_the_job(
    worker: Worker, in_acme: Actor, start: Start, committed_tenants: Tenants
) -> None:
    start(Numbered())
    job = request(in_acme)
    worker.hear(job)
    with acting(in_acme):
        assert job.created_by == committed_tenants.alice
        assert set(AuditEvent.objects.filter(verb="number.written").values_list("person_name", flat=True)) == {"Alice"}


def test_a_part_that_waits_beyond_the_tasks_limit_loses_its_transaction(
    worker: Worker, in_acme: Actor, start: Start, settings: Settings
) -> None:
    """The worker's own limits end a part that is alive; this one ends what a frozen machine has locked."""
    settings.CELERY_TASK_TIME_LIMIT = 1
    late = iter([2.0])
    start(Numbered(during=lambda job, number: time.sleep(next(late, 0)) if number == 5 else None))
    job = worker.hear(request(in_acme))
    assert (job.state, job.cursor, job.failures) == (JobState.QUEUED, 4, 1)
    connection.close()
    make_due(worker, job)
    assert worker.hear(job).state == JobState.DONE
    with acting(in_acme):
        assert written() == list(range(1, PARTS + 1))
