"""The workers are notified again of what nobody heard, and of nothing else."""

from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.db import connection
from django.utils import timezone

from jobs import tasks
from jobs.models import Job, JobState, OutboxEvent
from tenancy.actor import Actor, acting, acting_in
from tests.jobs.conftest import Notifications
from tests.jobs.numbered import NAME, Numbered
from tests.tenants import Tenants

LONG = settings.JOBS_SWEEP_SECONDS * 10
SILENCE = settings.JOBS_HEARTBEAT_SECONDS * 2


def ago(seconds: float) -> timedelta:
    """A time, to be counted when the story begins."""
    return timedelta(seconds=seconds)


def counted(fields: dict[str, Any]) -> dict[str, Any]:
    now = timezone.now()
    return {name: now - value if isinstance(value, timedelta) else value for name, value in fields.items()}


RUNNING = {"state": JobState.RUNNING, "fencing_token": 1}
LIVES = {**RUNNING, "lease_until": ago(-60), "heartbeat_at": ago(1)}
STALLED: dict[str, dict[str, Any]] = {
    "its message was lost": {"waiting_since": ago(LONG)},
    "its pause is over": {"waiting_since": ago(LONG), "run_at": ago(1)},
    "its lease has ended": {**LIVES, "lease_until": ago(1)},
    "its worker gave no sign of life for a while": {**LIVES, "heartbeat_at": ago(SILENCE + 1)},
}
HEARD: dict[str, dict[str, Any]] = {
    "its pause lasts": {"waiting_since": ago(LONG), "run_at": ago(-60)},
    "its worker lives": LIVES,
    "it is done": {"state": JobState.DONE, "finished_at": ago(1)},
    "it failed": {"state": JobState.FAILED, "finished_at": ago(1)},
    "it is cancelled": {"state": JobState.CANCELLED, "finished_at": ago(1)},
}


@pytest.mark.parametrize("fields", STALLED.values(), ids=STALLED)
def test_the_workers_are_notified_of_a_job_because(
    in_acme: Actor, numbered: Numbered, notifications: Notifications, fields: dict[str, Any]
) -> None:
    with acting(in_acme):
        Job.objects.create(kind=NAME, queue="imports", **counted(fields))
    tasks.notify_of_waiting()
    assert notifications.notified() == ["imports"]
    assert notifications.queues() == {"imports"}


@pytest.mark.parametrize("fields", HEARD.values(), ids=HEARD)
def test_nobody_is_notified_of_a_job_because(
    in_acme: Actor, numbered: Numbered, notifications: Notifications, fields: dict[str, Any]
) -> None:
    with acting(in_acme):
        Job.objects.create(kind=NAME, queue="imports", **counted(fields))
    tasks.notify_of_waiting()
    assert notifications.notified() == []


def test_of_very_many_jobs_as_many_processes_are_notified_as_a_worker_may_have(
    in_acme: Actor, committed_tenants: Tenants, numbered: Numbered, notifications: Notifications
) -> None:
    with acting(in_acme):
        Job.objects.bulk_create(Job(kind=NAME, queue="exports") for _ in range(500))
    with acting_in(committed_tenants.birch):
        Job.objects.create(kind=NAME, queue="imports")
    tasks.notify_of_waiting()
    assert sorted(notifications.notified()) == [*["exports"] * tasks.NOTIFIED_AT_ONCE, "imports"]


def test_the_sweep_goes_to_the_organisations_that_have_work(
    committed_tenants: Tenants, notifications: Notifications
) -> None:
    acme, birch = committed_tenants.acme, committed_tenants.birch
    tasks.sweep()
    assert notifications.organisations("jobs.tasks.sweep_organisation") == []
    with acting_in(acme):
        Job.objects.create(kind=NAME, state=JobState.DONE, finished_at=timezone.now())
    with acting_in(birch):
        Job.objects.create(kind=NAME)
    tasks.sweep()
    assert notifications.organisations("jobs.tasks.sweep_organisation") == [birch.pk]


@pytest.mark.parametrize(
    ("fields", "is_work"),
    [
        ({}, True),
        ({"attempts": 9, "error": "ValueError: no"}, True),
        ({"attempts": OutboxEvent.ATTEMPTS_ALLOWED, "error": "ValueError: no"}, False),
        ({"delivered_at": ago(60)}, False),
        ({"delivered_at": ago(8 * 24 * 3600)}, True),
    ],
    ids=["new", "failed nine times", "given up", "delivered", "delivered last week"],
)
def test_an_event_is_work_or_not(tenants: Tenants, fields: dict[str, Any], is_work: bool) -> None:
    with acting_in(tenants.acme):
        OutboxEvent.objects.create(topic="tests.happened", **counted(fields))
    with connection.cursor() as cursor:
        cursor.execute("SELECT jobs_organisations_with_work()")
        assert cursor.fetchall() == ([(tenants.acme.pk,)] if is_work else [])


def test_an_organisations_sweep_notes_tells_and_purges(
    in_acme: Actor, numbered: Numbered, notifications: Notifications
) -> None:
    with acting(in_acme):
        job = Job.objects.create(kind="tests.tomorrow")
        OutboxEvent.objects.create(topic="tests.happened")
        OutboxEvent.objects.create(topic="tests.old", delivered_at=timezone.now() - ago(8 * 24 * 3600))
        headers = {"tenancy": [str(in_acme.organisation), None]}
    tasks.sweep_organisation.apply(headers=headers)
    with acting(in_acme):
        job.refresh_from_db()
        assert "tests.tomorrow" in job.error, "it says for whom it waits"
        assert [(event.topic, event.delivered_at is not None) for event in OutboxEvent.objects.all()] == [
            ("tests.happened", True)
        ]
