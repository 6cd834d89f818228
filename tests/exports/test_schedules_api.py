"""Schedules for programs, for the operator's shell and in the admin."""

from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from pytest_django.fixtures import Settings

from accounts.actions.members import put_on_project
from accounts.models import Membership, Project
from exports.models import ExportSchedule
from exports.scheduling import Definition, make_schedule
from jobs.models import Job, ScheduleRun
from tenancy.actor import acting
from tenancy.roles import ProjectRole, Role
from tests.exports.conftest import Reviews

LIST = "/o/acme/api/v1/projects/parser/export-schedules/"
WEEKLY = {"name": "Weekly", "format": "code_review", "cron": "0 6 * * 1", "time_zone": "Europe/Berlin"}


@pytest.fixture(autouse=True)
def in_a_folder(settings: Settings, tmp_path: Path) -> None:
    settings.EXPORT_DESTINATIONS = {}


@pytest.fixture
def mallory(reviews: Reviews, client: Client) -> Client:
    client.force_login(reviews.tenants.mallory)
    return client


def send(client: Client, method: str, path: str, body: Any = None) -> Any:
    request = getattr(client, method)
    return request(path, body, content_type="application/json") if body is not None else request(path)


def test_a_program_makes_changes_runs_pauses_and_removes_a_schedule(reviews: Reviews, mallory: Client) -> None:
    people = [{"annotator": "dora", "when": "always"}]
    made = send(mallory, "post", LIST, {**WEEKLY, "people": people})
    assert made.status_code == 201
    shown = made.json()
    assert shown["sentence"] == "Every Monday at 06:00 Europe/Berlin, everything as code_review, kept here."
    assert (len(shown["next_runs"]), shown["people"]) == (4, people)
    here = f"/o/acme/api/v1/export-schedules/{shown['id']}/"
    assert [one["id"] for one in mallory.get(LIST).json()["results"]] == [shown["id"]]

    changed = send(mallory, "put", here, {"name": "Often", "format": "code_review", "interval_minutes": 360})
    assert changed.json()["sentence"] == "Every 6 hours, everything as code_review, kept here."
    assert mallory.put(f"{here}paused/").json()["next_at"] is None
    assert mallory.delete(f"{here}paused/").json()["is_paused"] is False
    began = mallory.post(f"{here}runs/")
    assert (began.status_code, began.json()["state"], began.json()["is_by_hand"]) == (202, "started", True)
    again = mallory.post(f"{here}runs/")
    assert (again.status_code, again.json()["code"]) == (409, "run_is_open")
    assert [run["id"] for run in mallory.get(f"{here}runs/").json()["results"]] == [began.json()["id"]]
    assert mallory.delete(here).status_code == 204
    assert mallory.get(here).status_code == 404
    with acting(reviews.actor):
        assert Job.objects.filter(kind="export_annotations").count() == 1


def test_whom_schedules_mail_is_asked_for_once_a_page(reviews: Reviews, mallory: Client) -> None:
    def asked() -> int:
        with CaptureQueriesContext(connection) as queries:
            listed = mallory.get(LIST).json()["results"]
        assert [one["people"] for one in listed] == [people] * len(listed)
        return len(queries)

    people = [{"annotator": name, "when": "always"} for name in ("alice", "dora")]
    send(mallory, "post", LIST, {**WEEKLY, "people": people})
    few = asked()
    for name in ("Second", "Third"):
        send(mallory, "post", LIST, {**WEEKLY, "name": name, "people": people[::-1]})
    assert asked() == few


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"cron": "61 * * * *"}, "The minute in"),
        ({"time_zone": "Mars/Olympus"}, "time zone"),
        ({"destination": "bucket", "bucket": "labels"}, "the site's operators have named none"),
        ({"people": [{"annotator": "nobody"}]}, "annotator name nobody"),
        ({"people": [{"annotator": "bob"}]}, "may export"),
        ({"format": "prm"}, "prm"),
        ({"interval_minutes": 1}, "either a cron expression"),
        ({"surprise": 1}, "surprise"),
    ],
)
def test_a_schedule_that_cannot_be_is_refused(
    reviews: Reviews, mallory: Client, changes: dict[str, Any], words: str
) -> None:
    refused = send(mallory, "post", LIST, {**WEEKLY, **changes})
    assert refused.status_code == 400
    assert words in refused.json()["detail"]
    with acting(reviews.actor):
        assert not ExportSchedule.objects.exists()


def made(reviews: Reviews, name: str = "Weekly") -> ExportSchedule:
    with acting(reviews.actor):
        return make_schedule(project=reviews.project, definition=Definition(**{**WEEKLY, "name": name}))  # type: ignore[arg-type]


def shell(*arguments: str) -> str:
    written = StringIO()
    call_command("schedules", *arguments, stdout=written)
    return written.getvalue()


def test_the_operator_lists_schedules_and_runs_one(reviews: Reviews) -> None:
    made(reviews)
    listed = shell("list", "--organisation", "acme")
    assert "acme/parser" in listed
    assert "every Monday at 06:00 Europe/Berlin, next run in" in listed
    assert "1 in all." in listed
    assert "0 in all." in shell("list", "--organisation", "birch")
    assert "Weekly runs now, as job" in shell("run", "Weekly")
    with pytest.raises(CommandError, match="running already"):
        shell("run", "Weekly")
    with pytest.raises(CommandError, match="no schedule 'Daily'"):
        shell("run", "Daily")
    made(reviews)
    with pytest.raises(CommandError, match="2 schedules are called"):
        shell("run", "Weekly")
    with acting(reviews.actor):
        assert ScheduleRun.objects.count() == 1


def test_an_admin_sees_runs_pauses_and_resumes_schedules(reviews: Reviews, client: Client) -> None:
    schedule = made(reviews)
    client.force_login(reviews.tenants.dora)
    address = "/o/acme/admin/exports/exportschedule/"

    def act(action: str) -> str:
        chosen = {"action": action, "_selected_action": [str(schedule.pk)]}
        answer = client.post(address, chosen, follow=True)
        with acting(reviews.actor):
            schedule.refresh_from_db()
        return answer.content.decode()

    assert "Every Monday at 06:00 Europe/Berlin" in client.get(address).content.decode()
    assert "1 run began." in act("run_chosen")
    assert "running already" in act("run_chosen")
    act("pause_chosen")
    assert schedule.is_paused
    act("resume_chosen")
    assert not schedule.is_paused
    assert "Change it, and see all its runs" in client.get(f"{address}{schedule.pk}/change/").content.decode()
    assert schedule.next_at is not None
    assert schedule.next_at - schedule.created_at <= timedelta(days=7)


def test_the_page_of_a_schedule_whose_people_have_left_can_be_saved(reviews: Reviews, mallory: Client) -> None:
    with acting(reviews.actor):
        people = {reviews.tenants.dora.pk: "always", reviews.tenants.alice.pk: "failed"}
        made_by_dora = make_schedule(project=reviews.project, definition=Definition(**WEEKLY, people=people))  # type: ignore[arg-type]
        ExportSchedule.objects.filter(pk=made_by_dora.pk).update(created_by=reviews.tenants.dora)
        Membership.objects.filter(user=reviews.tenants.dora).update(is_active=False)
    page = mallory.get(f"/o/acme/p/parser/exports/schedules/{made_by_dora.pk}/").content.decode()
    assert "Every Monday at 06:00 Europe/Berlin, everything as code_review, kept here." in page
    assert "made by dora, who has left," in page
    assert "dora gets no mail any more" in page
    assert f"tell.{reviews.tenants.dora.pk}" not in page


def test_a_program_finds_the_schedules_of_the_projects_that_it_may_see_alone(reviews: Reviews, mallory: Client) -> None:
    here = f"/o/acme/api/v1/export-schedules/{made(reviews).pk}/"
    assert mallory.get(here).status_code == 200
    with acting(reviews.actor):
        # From now on a manager of this project alone.
        Membership.objects.filter(annotator_name="mallory").update(role=Role.MEMBER)
        membership = Membership.objects.get(annotator_name="mallory")
        put_on_project(project=reviews.project, membership=membership, role=ProjectRole.MANAGER)
    assert mallory.get(here).status_code == 200
    with acting(reviews.actor):
        ExportSchedule.objects.update(project=Project.objects.create(slug="hidden", name="Hidden"))
    for method in ("get", "delete"):
        assert getattr(mallory, method)(here).status_code == 404
    assert mallory.post(f"{here}runs/").status_code == 404
