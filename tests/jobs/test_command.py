"""`manage.py jobs`: the operator sees and ends what runs and waits, over all organisations, and says why."""

import io
from datetime import timedelta
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils import timezone

from accounts.models import AuditEvent, Organisation, User
from jobs.models import Job, JobState, OutboxEvent
from tenancy.actor import acting_in
from tests.jobs.numbered import NAME, Numbered
from tests.tenants import Tenants

WHY = "the queue is full of one customer's exports"


def make(organisation: Organisation, person: User, **fields: Any) -> Job:
    with acting_in(organisation, person):
        return Job.objects.create(kind=NAME, created_by=person, **fields)


def running() -> dict[str, Any]:
    return {"state": JobState.RUNNING, "fencing_token": 1, "lease_until": timezone.now() + timedelta(seconds=60)}


@pytest.fixture
def jobs(tenants: Tenants, numbered: Numbered) -> dict[str, Job]:
    return {
        "alice's": make(tenants.acme, tenants.alice),
        "dora's": make(tenants.acme, tenants.dora, progress=7, total=20, **running()),
        "charlie's": make(tenants.birch, tenants.charlie, queue="exports"),
        "over": make(tenants.acme, tenants.alice, state=JobState.DONE, finished_at=timezone.now()),
    }


def jobs_command(*arguments: str) -> str:
    said = io.StringIO()
    call_command("jobs", *arguments, stdout=said)
    return said.getvalue()


def states(tenants: Tenants, jobs: dict[str, Job]) -> dict[str, str]:
    found = {}
    for organisation in (tenants.acme, tenants.birch):
        with acting_in(organisation):
            for name, job in jobs.items():
                if row := Job.objects.filter(pk=job.pk).first():
                    found[name] = "ending" if row.is_cancelling else row.state
    return found


def test_the_list_shows_what_waits_and_runs_in_every_organisation(jobs: dict[str, Job]) -> None:
    shown = jobs_command("list")
    for name in ("alice's", "dora's", "charlie's"):
        assert str(jobs[name].pk) in shown
    assert str(jobs["over"].pk) not in shown
    assert "7 of 20" in shown
    assert "3 in all." in shown
    assert "1 of 3 shown." in jobs_command("list", "--limit", "1")


@pytest.mark.parametrize(
    ("filters", "names"),
    [
        (["--organisation", "acme"], {"alice's", "dora's"}),
        (["--person", "charlie"], {"charlie's"}),
        (["--person", "ALICE@example.org"], {"alice's"}),
        (["--state", "running"], {"dora's"}),
        (["--state", "done"], {"over"}),
        (["--kind", "import_traces"], set()),
        (["--kind", NAME, "--organisation", "birch"], {"charlie's"}),
    ],
)
def test_the_list_is_of_what_was_named(jobs: dict[str, Job], filters: list[str], names: set[str]) -> None:
    shown = jobs_command("list", *filters)
    assert {name for name, job in jobs.items() if str(job.pk) in shown} == names


def test_jobs_are_cancelled_with_a_reason_that_stands_in_both_trails(tenants: Tenants, jobs: dict[str, Job]) -> None:
    assert jobs_command("cancel", "--organisation", "acme", "--reason", WHY) == (
        "1 cancelled, 1 ends after the present part.\n"
    )
    assert states(tenants, jobs) == {
        "alice's": "cancelled", "dora's": "ending", "charlie's": "queued", "over": "done",
    }  # fmt: skip
    with acting_in(tenants.acme):
        events = AuditEvent.objects.filter(verb="job.cancelled")
        assert {event.detail["reason"] for event in events} == {WHY}
        assert {event.target_id for event in events} == {jobs["alice's"].pk, jobs["dora's"].pk}
        assert OutboxEvent.objects.filter(topic="job.finished").count() == 1


def test_jobs_are_cancelled_by_their_ids_and_a_dry_run_cancels_none(tenants: Tenants, jobs: dict[str, Job]) -> None:
    ids = [str(jobs["charlie's"].pk), str(jobs["over"].pk)]
    assert jobs_command("cancel", *ids, "--reason", WHY, "--dry-run") == "1 would be cancelled.\n"
    assert states(tenants, jobs)["charlie's"] == "queued"
    jobs_command("cancel", *ids, "--reason", WHY)
    assert states(tenants, jobs) == {
        "alice's": "queued", "dora's": "running", "charlie's": "cancelled", "over": "done",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["cancel", "--reason", WHY], "This would cancel every job of the site"),
        (["cancel", "--organisation", "acme"], "--reason"),
        (["cancel", "--organisation", "acme", "--reason", " "], "--reason is empty"),
        (["cancel", "--organisation", "acmee", "--reason", WHY], "There is no organisation 'acmee'"),
        (["cancel", "--person", "nobody", "--reason", WHY], "Nobody has the user name or the address 'nobody'"),
        (["cancel", "--state", "done", "--reason", WHY], "Jobs that are done are over"),
        (["list", "--state", "waiting"], "invalid choice"),
        (["list", "--limit", "-1"], "'-1' is no number from 1 on"),
    ],
)
def test_what_cannot_be_meant_is_refused(
    tenants: Tenants, jobs: dict[str, Job], arguments: list[str], said: str
) -> None:
    before = states(tenants, jobs)
    with pytest.raises(CommandError, match=said):
        jobs_command(*arguments)
    assert states(tenants, jobs) == before


def test_the_commands_rights_end_with_it(tenants: Tenants, jobs: dict[str, Job]) -> None:
    jobs_command("list")
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_user")
        assert cursor.fetchone() == ("potato_app",)
