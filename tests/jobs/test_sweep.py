"""The sweep rings again for what nobody heard, and for nothing else."""

from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.db import connection
from django.utils import timezone

from jobs import tasks
from jobs.actions import ring_unheard_jobs
from jobs.models import Job, JobState, OutboxEvent
from tenancy.actor import Actor, acting, acting_in
from tests.jobs.conftest import Bells
from tests.jobs.numbered import NAME, Numbered
from tests.worlds import World

LONG = settings.JOBS_SWEEP_SECONDS * 10


def ago(seconds: float) -> timedelta:
    """A time, to be counted when the story begins."""
    return timedelta(seconds=seconds)


def counted(fields: dict[str, Any]) -> dict[str, Any]:
    now = timezone.now()
    return {name: now - value if isinstance(value, timedelta) else value for name, value in fields.items()}


RUNNING = {"state": JobState.RUNNING, "fence": 1}
UNHEARD: dict[str, dict[str, Any]] = {
    "its bell was lost": {"rung_at": ago(LONG)},
    "its pause is over": {"rung_at": ago(LONG), "run_at": ago(1)},
    "its worker is gone": {**RUNNING, "lease_until": ago(1)},
    "its worker is gone, and so is the bell for the next one": {
        **RUNNING,
        "lease_until": ago(LONG),
        "rung_at": ago(LONG),
    },
}
HEARD: dict[str, dict[str, Any]] = {
    "it was just rung for": {},
    "its pause lasts": {"rung_at": ago(LONG), "run_at": ago(-60)},
    "its worker lives": {**RUNNING, "lease_until": ago(-60), "rung_at": ago(LONG)},
    "it is done": {"state": JobState.DONE, "finished_at": ago(1), "rung_at": ago(LONG)},
    "it failed": {"state": JobState.FAILED, "finished_at": ago(1), "rung_at": ago(LONG)},
    "it is cancelled": {"state": JobState.CANCELLED, "finished_at": ago(1), "rung_at": ago(LONG)},
}


@pytest.mark.parametrize("fields", UNHEARD.values(), ids=UNHEARD)
def test_a_job_is_rung_for_because(in_acme: Actor, numbered: Numbered, bells: Bells, fields: dict[str, Any]) -> None:
    with acting(in_acme):
        job = Job.objects.create(kind=NAME, **counted(fields))
        assert ring_unheard_jobs() == 1
        assert bells.rung() == [], "a worker that is quick must find the row committed"
    assert bells.rung() == [str(job.pk)]


@pytest.mark.parametrize("fields", HEARD.values(), ids=HEARD)
def test_a_job_is_left_alone_because(in_acme: Actor, numbered: Numbered, bells: Bells, fields: dict[str, Any]) -> None:
    with acting(in_acme):
        Job.objects.create(kind=NAME, **counted(fields))
        assert ring_unheard_jobs() == 0
    assert bells.rung() == []


def test_a_waiting_job_is_rung_for_once_in_a_while(in_acme: Actor, numbered: Numbered, bells: Bells) -> None:
    with acting(in_acme):
        Job.objects.create(kind=NAME, rung_at=timezone.now() - ago(LONG))
        assert [ring_unheard_jobs(), ring_unheard_jobs()] == [1, 0]


def test_of_very_many_jobs_those_rung_for_longest_ago_come_first(
    in_acme: Actor, numbered: Numbered, bells: Bells
) -> None:
    with acting(in_acme):
        Job.objects.bulk_create(Job(kind=NAME, rung_at=timezone.now() - ago(LONG)) for _ in range(500))
        last = Job.objects.create(kind=NAME, rung_at=timezone.now() - ago(LONG + 1))
        assert ring_unheard_jobs() == 500
    assert str(last.pk) in bells.rung()
    with acting(in_acme):
        assert ring_unheard_jobs() == 1
    assert len(set(bells.rung())) == 501


def test_one_job_of_an_unknown_kind_silences_no_other(in_acme: Actor, numbered: Numbered, bells: Bells) -> None:
    with acting(in_acme):
        strange = Job.objects.create(kind="tests.tomorrow", rung_at=timezone.now() - ago(LONG + 1))
        known = Job.objects.create(kind=NAME, rung_at=timezone.now() - ago(LONG))
        ring_unheard_jobs()
    assert set(bells.rung()) == {str(strange.pk), str(known.pk)}
    assert bells.queues() == {"interactive", "imports"}


def test_the_sweep_goes_to_the_organisations_that_have_work(committed_world: World, bells: Bells) -> None:
    acme, birch = committed_world.acme, committed_world.birch
    tasks.sweep()
    assert bells.organisations("jobs.tasks.sweep_organisation") == []
    with acting_in(acme):
        Job.objects.create(kind=NAME, state=JobState.DONE, finished_at=timezone.now())
    with acting_in(birch):
        Job.objects.create(kind=NAME)
    tasks.sweep()
    assert bells.organisations("jobs.tasks.sweep_organisation") == [birch.pk]


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
def test_an_event_is_work_or_not(world: World, fields: dict[str, Any], is_work: bool) -> None:
    with acting_in(world.acme):
        OutboxEvent.objects.create(topic="tests.happened", **counted(fields))
    with connection.cursor() as cursor:
        cursor.execute("SELECT jobs_organisations_with_work()")
        assert cursor.fetchall() == ([(world.acme.pk,)] if is_work else [])


def test_an_organisations_sweep_rings_tells_and_purges(in_acme: Actor, numbered: Numbered, bells: Bells) -> None:
    with acting(in_acme):
        job = Job.objects.create(kind=NAME, rung_at=timezone.now() - ago(LONG))
        OutboxEvent.objects.create(topic="tests.happened")
        OutboxEvent.objects.create(topic="tests.old", delivered_at=timezone.now() - ago(8 * 24 * 3600))
        headers = {"tenancy": [str(in_acme.organisation), None]}
    tasks.sweep_organisation.apply(headers=headers)
    assert bells.rung() == [str(job.pk)]
    with acting(in_acme):
        assert [(event.topic, event.delivered_at is not None) for event in OutboxEvent.objects.all()] == [
            ("tests.happened", True)
        ]
