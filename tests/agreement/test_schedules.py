"""Agreement on schedule: every project's night, reports of people, sources beside them, and who may steer it."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.core import mail
from django.test import Client
from pytest_django.fixtures import Settings

from accounts.models import AuditEvent
from agreement.actions import UnfitSettings
from agreement.models import AgreementReport, AgreementSchedule, Compares, Reason, Source, SourceReport
from agreement.scheduling import Definition, change_schedule, make_schedule, schedule_nightly, schedule_sentence
from agreement.sources.actions import take_answers
from jobs import outbox
from jobs.models import Job, JobState, OutboxEvent, RunState, ScheduleRun
from jobs.runner import run
from jobs.schedules.actions import pause_schedule, remove_schedule, run_now
from jobs.schedules.definitions import BadSchedule, ChangedMeanwhile, ScheduleIsGone
from jobs.schedules.firing import fire_due
from jobs.schedules.kinds import kind_named
from tenancy.actor import acting
from tests.agreement.conftest import Comparing

PAGE = "/o/acme/p/parser/agreement/schedules/"
API = "/o/acme/api/v1"
JUDGE = {"name": "judge-a", "model": "large-1", "version": "3", "kind": "llm_judge"}


@pytest.fixture
def manager(comparing: Comparing, client: Client) -> Client:
    client.force_login(comparing.tenants.mallory)
    return client


def schedule(comparing: Comparing, **changes: Any) -> AgreementSchedule:
    """A schedule that is the project's only one."""
    outbox.deliver(comparing.actor)
    wanted = {"name": "Weekly", "cron": "0 6 * * 1", "settings": {"samples": 20}, **changes}
    with acting(comparing.actor):
        AgreementSchedule.objects.filter(name="Every night").update(removed_at=datetime.now(UTC))
        return make_schedule(project=comparing.project, definition=Definition(**wanted))


def judge(comparing: Comparing, *names: str, decision: str = "approve") -> None:
    """The source answers these traces."""
    records = [{"id": name, "annotations": {"verdict": {"decision": decision, "summary": ""}}} for name in names]
    with acting(comparing.actor):
        take_answers(project=comparing.project, records=[{**record, "source": JUDGE} for record in records])


def work(comparing: Comparing) -> None:
    """Workers do all jobs, and events arrive, until nothing is left."""
    while True:
        outbox.deliver(comparing.actor)
        with acting(comparing.actor):
            jobs = list(Job.objects.open().values_list("pk", flat=True))
        if not jobs:
            return
        for job in jobs:
            run(job_id=job, actor=comparing.actor)


def time_of(comparing: Comparing, row: AgreementSchedule) -> datetime:
    """A moment after its next time."""
    with acting(comparing.actor):
        row.refresh_from_db()
    assert row.next_at is not None
    return row.next_at + timedelta(seconds=9)


def fire(comparing: Comparing, row: AgreementSchedule) -> ScheduleRun:
    """Its time has come: two beats look, workers work. Answers the run, which is over."""
    now = time_of(comparing, row)
    assert [fire_due(kind_named("agreement"), comparing.actor, now) for _ in range(2)] == [1, 0]
    work(comparing)
    with acting(comparing.actor):
        made = ScheduleRun.objects.of(row).first()
        assert made is not None
        # Its time is to come by the clock of the pages.
        made.fire_time = datetime.now(UTC)
        made.save(update_fields=["fire_time"])
    return made


def test_a_run_computes_a_report_where_annotations_came_in_and_says_where_none_did(comparing: Comparing) -> None:
    comparing.judge_at_random(3)
    weekly = schedule(comparing)
    first = fire(comparing, weekly)
    assert (first.state, first.error) == (RunState.DONE, "")
    assert (first.result["annotations"], first.result["shared_traces"]) == (6, 3)
    with acting(comparing.actor):
        report = AgreementReport.objects.get()
    assert (report.reason, report.schedule_id, report.settings["samples"]) == (Reason.SCHEDULE, weekly.pk, 20)
    second = fire(comparing, weekly)
    assert (second.state, second.error) == (RunState.NOTHING, "Nothing came in since the last report.")
    comparing.judge_at_random(1, seed=2)
    assert fire(comparing, weekly).result["annotations"] == 8
    comparing.publish(target=3)
    assert fire(comparing, weekly).state == RunState.DONE, "another configuration compares other things"
    with acting(comparing.actor):
        assert AgreementReport.objects.count() == 3
        assert not OutboxEvent.objects.filter(topic="schedule.failed").exists()


def test_sources_are_compared_after_people_each_where_something_is_new(comparing: Comparing) -> None:
    comparing.judge_at_random(3)
    judge(comparing, "t1-0", "t1-1")
    work(comparing)
    nightly = schedule(comparing, name="Night", compares=Compares.ALL)
    assert schedule_sentence(nightly) == "Every Monday at 06:00 UTC, agreement of people, and every source beside them."
    done = fire(comparing, nightly)
    assert (done.state, done.result["compared"]) == (RunState.DONE, 0), "it was compared when its answers came in"
    comparing.judge_at_random(1, seed=2)
    done = fire(comparing, nightly)
    assert (done.result["annotations"], done.result["compared"]) == (8, 1)
    judge(comparing, "t1-2")
    work(comparing)
    assert fire(comparing, nightly).state == RunState.NOTHING
    with acting(comparing.actor):
        assert SourceReport.objects.computed().count() == 3


def test_a_source_that_cannot_be_compared_fails_the_run_after_the_others(
    comparing: Comparing, monkeypatch: pytest.MonkeyPatch
) -> None:
    comparing.judge_at_random(2)
    judge(comparing, "t1-0")
    other = {**JUDGE, "name": "judge-b"}
    with acting(comparing.actor):
        records = [{"id": "t1-0", "annotations": {"verdict": {"decision": "approve", "summary": ""}}, "source": other}]
        take_answers(project=comparing.project, records=records)
    work(comparing)
    nightly = schedule(comparing, compares=Compares.ALL)
    comparing.judge_at_random(1, seed=2)
    from agreement.sources import comparing as comparisons

    compute = comparisons.compute

    def refuse_one(report: SourceReport) -> None:
        if report.source.name == "judge-a":
            raise ValueError("no such measure")
        compute(report)

    monkeypatch.setattr(comparisons, "compute", refuse_one)
    failed = _until_over(comparing, nightly)
    assert failed.state == RunState.FAILED
    assert failed.error.startswith("judge-a 3:")
    assert failed.result["compared"] == 1


def _until_over(comparing: Comparing, row: AgreementSchedule) -> ScheduleRun:
    """As fire(), with the pauses before a failed part is tried again taken out."""
    fire_due(kind_named("agreement"), comparing.actor, time_of(comparing, row))
    for _ in range(40):
        with acting(comparing.actor):
            Job.objects.open().update(run_at=datetime.now(UTC) - timedelta(minutes=1))
            jobs = list(Job.objects.open().values_list("pk", flat=True))
            newest = ScheduleRun.objects.of(row).get()
        if not newest.is_open:
            return newest
        for job in jobs:
            run(job_id=job, actor=comparing.actor)
        outbox.deliver(comparing.actor)
    raise AssertionError("the run did not end")


def test_a_run_waits_for_a_comparison_that_somebody_else_asked_for(comparing: Comparing) -> None:
    """Two schedules at once share the comparison that waits; both end."""
    comparing.judge_at_random(2)
    judge(comparing, "t1-0")
    first = schedule(comparing, name="One", compares=Compares.ALL)
    second = schedule(comparing, name="Two", compares=Compares.ALL)
    assert fire_due(kind_named("agreement"), comparing.actor, time_of(comparing, first)) == 2
    work(comparing)
    with acting(comparing.actor):
        runs = {run.name: run for run in ScheduleRun.objects.all()}
        assert {run.state for run in runs.values()} == {RunState.DONE}
        assert AgreementReport.objects.count() == 2
    assert {first.name, second.name} == set(runs)


def test_a_job_that_is_over_before_its_run_waits_for_it_ends_the_run(
    comparing: Comparing, monkeypatch: pytest.MonkeyPatch
) -> None:
    comparing.judge_at_random(1)
    report = comparing.compute()
    comparing.judge_at_random(1, seed=2)
    weekly = schedule(comparing)
    monkeypatch.setattr("agreement.scheduling.request_report", lambda **_: report)
    with acting(comparing.actor):
        over = run_now(schedule=weekly)
    assert over.state == RunState.DONE


def test_each_project_gets_the_nightly_schedule_with_its_first_configuration(comparing: Comparing) -> None:
    with acting(comparing.actor):
        make_schedule(project=comparing.project, definition=Definition("Weekly", cron="0 6 * * 1"))
        published = OutboxEvent.objects.get(topic="configuration.published")
    outbox.deliver(comparing.actor)
    with acting(comparing.actor):
        schedule_nightly(published)
        night = AgreementSchedule.objects.get(name="Every night")
        assert (night.name, night.cron, night.compares) == ("Every night", "0 2 * * *", "all")
        remove_schedule(schedule=night)
    comparing.publish(target=3)
    outbox.deliver(comparing.actor)
    with acting(comparing.actor):
        assert AgreementSchedule.objects.not_deleted().get().name == "Weekly", "whoever deleted it wants none"


def test_a_report_that_failed_is_tried_again_the_next_night(
    comparing: Comparing, monkeypatch: pytest.MonkeyPatch
) -> None:
    comparing.judge_at_random(2)
    weekly = schedule(comparing)

    def refuse(*_: object) -> None:
        raise ValueError("too many annotators")

    with monkeypatch.context() as patched:
        patched.setattr("potato.statistics.agreement.report.compare_in", refuse)
        failed = fire(comparing, weekly)
    assert failed.state == RunState.FAILED
    assert "too many annotators" in failed.error
    assert fire(comparing, weekly).state == RunState.DONE


def test_a_failed_schedule_stands_on_the_overview_until_a_run_of_it_is_done(
    comparing: Comparing, manager: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    comparing.judge_at_random(2)
    weekly = schedule(comparing)
    with monkeypatch.context() as patched:
        patched.setattr("agreement.computing.ComputeAgreement.run_part", _refuse)
        failed = fire(comparing, weekly)
    assert failed.state == RunState.FAILED
    text = manager.get("/o/acme/p/parser/").content.decode()
    assert "The schedule “Weekly” failed" in text
    assert "Agreement could not be computed." not in text, "the schedule says it"
    assert "The disk is full." in text
    key = f"schedule-failed:{failed.pk}"
    again = manager.post("/o/acme/p/parser/attention/", {"do": f"{key} again"}, follow=True)
    assert "Weekly runs now." in again.content.decode()
    work(comparing)
    assert "The schedule “Weekly” failed" not in manager.get("/o/acme/p/parser/").content.decode()
    with monkeypatch.context() as patched:
        patched.setattr("agreement.computing.ComputeAgreement.run_part", _refuse)
        comparing.judge_at_random(1, seed=2)
        fire(comparing, weekly)
    assert "The schedule “Weekly” failed" in manager.get("/o/acme/p/parser/").content.decode()
    with acting(comparing.actor):
        pause_schedule(schedule=weekly)
    assert "The schedule “Weekly” failed" not in manager.get("/o/acme/p/parser/").content.decode()


def _refuse(*_: object) -> None:
    from jobs.kinds import JobFailed

    raise JobFailed("The disk is full.")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"compares": "some"}, "one of none, all, chosen"),
        ({"compares": "chosen"}, "Choose at least one source"),
        ({"compares": "chosen", "sources": ["019386fb-3e90-7f6b-8d57-0a1c4e92b7d3"]}, "has no such source"),
        ({"compares": "all", "sources": ["019386fb-3e90-7f6b-8d57-0a1c4e92b7d3"]}, "Leave them out"),
        ({"name": "bell \x07"}, "name"),
        ({"cron": "61 * * * *"}, "minute"),
        ({"time_zone": "Mars/Olympus"}, "time zone"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_is_stored(
    comparing: Comparing, changes: dict[str, Any], words: str
) -> None:
    from tenancy.errors import Refused

    with pytest.raises(Refused, match=words):
        schedule(comparing, **changes)
    with pytest.raises(UnfitSettings, match="samples"):
        schedule(comparing, settings={"samples": -1})
    with acting(comparing.actor):
        assert not AgreementSchedule.objects.exclude(name="Every night").exists()


def test_only_members_who_see_annotations_are_mailed(comparing: Comparing, settings: Settings) -> None:
    settings.EMAIL_HOST = "mail.example.org"
    with pytest.raises(BadSchedule, match="see everybody's annotations"):
        schedule(comparing, people={comparing.tenants.bob.pk: "always"})
    comparing.judge_at_random(1)
    fire(comparing, schedule(comparing, people={comparing.tenants.mallory.pk: "always"}))
    (message,) = mail.outbox
    assert (message.to, message.subject) == (["mallory@example.org"], "Weekly is done")


def test_of_two_who_change_it_at_once_the_second_is_asked_to_look_again(comparing: Comparing) -> None:
    weekly = schedule(comparing)
    seen = weekly.decision_tag
    with acting(comparing.actor):
        change_schedule(schedule=weekly, definition=Definition("Hourly", cron="0 * * * *"), seen=seen)
        with pytest.raises(ChangedMeanwhile, match="Somebody else changed this schedule"):
            change_schedule(schedule=weekly, definition=Definition("Daily", cron="0 1 * * *"), seen=seen)
        assert AgreementSchedule.objects.not_deleted().get().name == "Hourly"


def test_whoever_is_late_hears_that_it_was_deleted(comparing: Comparing) -> None:
    weekly = schedule(comparing)
    with acting(comparing.actor):
        remove_schedule(schedule=weekly)
        with pytest.raises(ScheduleIsGone, match="Weekly was deleted meanwhile"):
            run_now(schedule=weekly)
        with pytest.raises(ScheduleIsGone, match="Weekly was deleted meanwhile"):
            change_schedule(schedule=weekly, definition=Definition("Daily", cron="0 1 * * *"))


FORM = {
    "name": "Mondays", "shape": "weekly", "days": ["1"], "at": "06:00", "time_zone": "Europe/Berlin",
    "compares": "none", "samples": "20",
}  # fmt: skip


def test_a_manager_makes_changes_runs_pauses_and_deletes_one(comparing: Comparing, manager: Client) -> None:
    comparing.judge_at_random(2)
    outbox.deliver(comparing.actor)
    with acting(comparing.actor):
        AgreementSchedule.objects.update(removed_at=datetime.now(UTC))
    assert "Nothing is computed by itself" in manager.get("/o/acme/p/parser/agreement/history/").content.decode()
    assert "agreement of people, and every source beside them" in manager.get(f"{PAGE}new/").content.decode()
    preview = manager.get(f"{PAGE}preview/", {**FORM, "samples": "many"}).content.decode()
    assert "The samples must be a whole number" in preview
    made = manager.post(f"{PAGE}new/", FORM, follow=True).content.decode()
    assert "Every Monday at 06:00 Europe/Berlin, agreement of people." in made
    with acting(comparing.actor):
        row = AgreementSchedule.objects.not_deleted().get()
    here = f"{PAGE}{row.pk}/"
    assert manager.post(here, {**FORM, "seen": row.decision_tag, "at": "07:30"}).status_code == 302
    stale = manager.post(here, {**FORM, "seen": row.decision_tag})
    assert stale.status_code == 409
    assert "Somebody else changed this schedule" in stale.content.decode()
    first = manager.get(f"{here}live/")
    same = manager.get(f"{here}live/", HTTP_IF_NONE_MATCH=first["ETag"])
    assert (same.status_code, same.content) == (304, b"")
    assert manager.post(f"{here}run/").status_code == 302
    assert "data-open" in manager.get(f"{here}live/", HTTP_IF_NONE_MATCH=first["ETag"]).content.decode()
    work(comparing)
    done = manager.get(f"{here}live/").content.decode()
    assert "4 annotations, 2 traces of several people" in done
    with acting(comparing.actor):
        report = AgreementReport.objects.get()
    assert f"?report={report.pk}" in done
    listed = manager.get("/o/acme/p/parser/agreement/history/").content.decode()
    assert "Schedule: Mondays" in listed
    manager.post(f"{here}pause/", {"from": "list"})
    with acting(comparing.actor):
        assert AgreementSchedule.objects.get(pk=row.pk).is_paused
    manager.post(f"{here}resume/")
    assert manager.post(f"{here}remove/", follow=True).status_code == 200
    assert manager.get(here).status_code == 404
    with acting(comparing.actor):
        verbs = AuditEvent.objects.filter(verb__startswith="schedule").order_by("pk").values_list("verb", flat=True)
        # The first is the night's.
        assert [verb.removeprefix("schedule.") for verb in verbs[1:]] == [
            "made", "changed", "run", "fired", "paused", "resumed", "removed",
        ]  # fmt: skip


def test_a_program_makes_changes_runs_pauses_and_removes_one(comparing: Comparing, manager: Client) -> None:
    comparing.judge_at_random(1)
    judge(comparing, "t1-0")
    work(comparing)
    with acting(comparing.actor):
        source = str(Source.objects.get().pk)
        AgreementSchedule.objects.all().update(removed_at=datetime.now(UTC))
    address = f"{API}/projects/parser/agreement-schedules/"

    def send(method: str, path: str, body: Any) -> Any:
        return getattr(manager, method)(path, body, content_type="application/json")

    body = {
        "name": "Weekly", "cron": "0 6 * * 1", "time_zone": "Europe/Berlin", "compares": "chosen",
        "sources": [source], "people": [{"annotator": "dora", "when": "always"}],
    }  # fmt: skip
    made = send("post", address, body)
    assert made.status_code == 201, made.content
    shown = made.json()
    assert shown["sentence"] == "Every Monday at 06:00 Europe/Berlin, agreement of people, and 1 source beside them."
    assert (shown["sources"], shown["people"], shown["settings"]["samples"]) == ([source], body["people"], 1000)
    assert [row["id"] for row in manager.get(address).json()["results"]] == [shown["id"]]
    here = f"{API}/agreement-schedules/{shown['id']}/"
    changed = send("put", here, {"name": "Often", "interval_minutes": 360, "settings": {"samples": 20}})
    assert changed.json()["sentence"] == "Every 6 hours, agreement of people."
    for refused in ({**body, "sources": ["one"]}, {**body, "sources": []}, {**body, "surprise": 1}):
        assert send("put", here, refused).status_code == 400
    assert manager.put(f"{here}paused/").json()["next_at"] is None
    assert manager.delete(f"{here}paused/").json()["is_paused"] is False
    began = manager.post(f"{here}runs/")
    assert (began.status_code, began.json()["state"]) == (202, "started")
    assert manager.post(f"{here}runs/").json()["code"] == "run_is_open"
    work(comparing)
    (only,) = manager.get(f"{here}runs/").json()["results"]
    assert (only["state"], only["compared"]) == ("done", 0)
    assert manager.get(only["report"]).json()["annotations"] == 2
    assert manager.delete(here).status_code == 204
    assert manager.get(here).status_code == 404


def test_an_admin_lists_runs_and_pauses_them(comparing: Comparing, client: Client) -> None:
    row = schedule(comparing)
    client.force_login(comparing.tenants.dora)
    address = "/o/acme/admin/agreement/agreementschedule/"
    assert "Every Monday at 06:00 UTC, agreement of people." in client.get(address).content.decode()
    chosen = {"action": "pause_chosen", "_selected_action": [str(row.pk)]}
    client.post(address, chosen)
    shown = client.get(f"{address}{row.pk}/change/").content.decode()
    assert "agreement of people. Paused." in shown
    assert "Change it, and see all its runs" in shown


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    with time_machine.travel(datetime(2027, 3, 27, 12, tzinfo=UTC), tick=False) as traveller:
        yield traveller


def test_of_the_night_in_which_the_clocks_change_the_page_says_it(
    comparing: Comparing, clock: time_machine.Traveller
) -> None:
    row = schedule(comparing, cron="30 2 * * *", time_zone="Europe/Berlin")
    client = Client()
    client.force_login(comparing.tenants.mallory)
    text = client.get(f"{PAGE}{row.pk}/").content.decode()
    assert "Sun 28 Mar 2027, 03:00" in text
    assert "first in summer time" in text


def test_a_cancelled_report_is_a_failed_run(comparing: Comparing) -> None:
    comparing.judge_at_random(1)
    weekly = schedule(comparing)
    with acting(comparing.actor):
        began = run_now(schedule=weekly)
        assert began.job is not None
        Job.objects.filter(pk=began.job.pk).update(state=JobState.CANCELLED, finished_at=datetime.now(UTC))
        outbox.publish_finished(Job.objects.get(pk=began.job.pk))
    work(comparing)
    with acting(comparing.actor):
        over = ScheduleRun.objects.get()
        assert (over.state, over.error) == (RunState.FAILED, "Its job was cancelled.")
