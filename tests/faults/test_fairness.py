"""Acceptance test 25, fairness: however much one organisation has asked for, another's job has the next turn."""

from collections.abc import Iterator
from datetime import datetime
from itertools import accumulate

import pytest

from accounts.models import Organisation
from jobs import kinds, notifier
from jobs.models import Job, JobState
from tenancy.actor import acting_in
from tests.faults.conftest import Machine, eventually
from tests.jobs.numbered import NAME, Numbered
from tests.tenants import Tenants

MANY = 10_000
PAUSE = {"parts": 1, "pause": 0.05}


@pytest.fixture
def numbered(machine: Machine) -> Iterator[None]:
    notifier.resume()
    kinds.register(Numbered())
    yield
    kinds.unregister(NAME)


def ask(organisation: Organisation, times: int, queue: str) -> None:
    with acting_in(organisation):
        Job.objects.bulk_create([Job(kind=NAME, queue=queue, parameters=PAUSE) for _ in range(times)], batch_size=2_000)


def done(organisation: Organisation) -> list[Job]:
    with acting_in(organisation):
        return list(Job.objects.filter(state=JobState.DONE).order_by("turn_at"))


def most_at_once(jobs: list[Job]) -> int:
    """How many of the turns went on at the same moment, at most; each job had one."""
    moments: list[tuple[datetime, int]] = []
    for job in jobs:
        assert job.turn_at
        assert job.finished_at
        moments += [(job.turn_at, 1), (job.finished_at, -1)]
    return max(accumulate(step for _, step in sorted(moments)))


@pytest.mark.parametrize("processes", [2, 4])
def test_25_fairness_ten_thousand_jobs_of_one_do_not_keep_another_waiting(
    machine: Machine, committed_tenants: Tenants, numbered: None, processes: int
) -> None:
    acme, birch = committed_tenants.acme, committed_tenants.birch
    ask(acme, MANY, "statistics")
    ask(acme, 5, "exports")
    machine.worker(processes=processes)
    machine.beat()
    eventually(lambda: len(done(acme)) >= 20, "Acme's jobs run")
    ask(birch, 1, "exports")
    notifier.notify_queue("exports")
    eventually(lambda: done(birch), "Birch's export is done")
    (export,) = done(birch)
    eventually(lambda: len(done(acme)) >= 60, "Acme's jobs go on")
    jobs = done(acme)
    assert export.turn_at
    asked, began = export.created_at, export.turn_at
    between = [job for job in jobs if job.turn_at and asked < job.turn_at < began]
    print(f"Birch's export began {(began - asked).total_seconds():.2f} s after it was asked for")
    if processes == 2:
        # One process runs heavy jobs. A turn or two of Acme's may have begun before Birch's job was committed.
        assert len(between) <= 2
    assert most_at_once(jobs) == min(2, processes - 1)
    assert len(jobs) < MANY / 2, "Acme's are not over for a long time"
