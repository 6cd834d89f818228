"""Reports of agreement: computed in parts of one moment, the same again, the same offline, kept as history."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django.fixtures import Settings

from agreement import stored
from agreement.actions import TooSoon, UnfitSettings, change_rule
from agreement.computing import computed_again
from agreement.models import AgreementReport, Reason
from agreement.models.reports import figures_text
from agreement.reports import newest_report
from agreement.thresholds import BELOW_THRESHOLD
from assignments.models import TraceQuota
from jobs import outbox
from jobs.models import Job, JobState, OutboxEvent
from potato.commands.agreement import report_on
from potato.records.folders import Folder
from potato.statistics.agreement.report import Settings as ReportSettings
from tenancy.actor import acting
from tests.agreement.conftest import Comparing
from tests.pages import text_of
from webhooks.events import AgreementBelowThreshold, event_data


def compared(report: AgreementReport, name: str) -> dict[str, Any]:
    [found] = [one for one in report.figures["compared"] if one["name"] == name]
    return dict(found)


def without_origin(figures: dict[str, Any]) -> dict[str, Any]:
    """Figures without what an archive does not say: the file that a trace was imported from."""
    for one in figures["compared"]:
        one["groups"].pop("source_file", None)
        one["groups_left_out"].pop("source_file", None)
    return figures


def test_the_same_figures_come_from_the_archive(comparing: Comparing) -> None:
    comparing.judge_at_random(8)
    report = comparing.compute(samples=50, tolerance=2, seed=3)
    with Folder(comparing.archive()) as folder:
        offline = report_on(folder, ReportSettings(tolerance=2, samples=50, seed=3)).as_json()
    kept = json.loads(report.text)
    assert {one["name"] for one in kept["compared"]} == {
        "comments", "correctness", "quality", "decision", "first_error", "labels", "scores", "error_categories",
    }  # fmt: skip
    assert compared(report, "decision")["groups"].keys() == {"agent_model", "source_file", "week", "batch"}
    assert compared(report, "correctness")["groups"]["file"][0]["name"] == "src/parser.py"
    assert without_origin(kept) == without_origin(json.loads(figures_text(offline)))


def test_a_report_computed_again_on_its_snapshot_has_the_same_bytes(comparing: Comparing) -> None:
    comparing.judge_at_random(5)
    report = comparing.compute()
    assert (report.annotations, report.shared_traces) == (10, 5)
    comparing.judge_at_random(3, seed=2)
    with acting(comparing.actor):
        assert figures_text(computed_again(report)) == report.text
    newer = comparing.compute()
    assert newer.annotations == 16
    assert newer.sha256 != report.sha256
    with acting(comparing.actor):
        assert AgreementReport.objects.count() == 2
        assert newest_report(comparing.project) == newer


def test_figures_by_batch_stay_though_a_trace_is_put_elsewhere(comparing: Comparing) -> None:
    for name in ("t0", "t1"):
        comparing.trace(name)
    first = comparing.put_into_second_batch("t1")
    for person, decisions in ((comparing.tenants.bob, "aa"), (comparing.tenants.dora, "ar")):
        for letter in decisions:
            comparing.judge(person, "approve" if letter == "a" else "request_changes")
    report = comparing.compute()
    by_batch = compared(report, "decision")["groups"]["batch"]
    assert [(group["name"], group["pairs"]) for group in by_batch] == [("1", 1), ("2", 1)]
    with acting(comparing.actor):
        TraceQuota.objects.update(batch=first)
        assert figures_text(computed_again(report)) == report.text
    with Folder(comparing.archive()) as folder:
        offline = report_on(folder, ReportSettings(samples=50)).as_json()
    assert without_origin(json.loads(report.text)) == without_origin(json.loads(figures_text(offline)))
    client = Client()
    client.force_login(comparing.tenants.mallory)
    assert "2, Second, small" in text_of(client.get("/o/acme/p/parser/agreement/?by=batch"))


def test_in_many_parts_and_few_rows_at_once_it_is_of_one_moment(
    comparing: Comparing, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    comparing.judge_at_random(4)
    whole = comparing.compute()
    monkeypatch.setattr(stored, "ROWS_AT_ONCE", 3)
    monkeypatch.setattr(stored, "PLACES_AT_ONCE", 4)
    settings.JOBS_TASK_BUDGET_SECONDS = 0
    with acting(comparing.actor):
        AgreementReport.objects.update(requested_at=timezone.now() - timedelta(hours=1))
    report = comparing.ask()
    job = comparing.work(report)
    assert (job.progress, job.total) == (1, 9)
    comparing.judge_at_random(2, seed=2)
    parts = 1
    while (job := comparing.work(report)).is_open:
        assert not job.failures, job.error
        parts += 1
    assert parts == 8
    assert comparing.kept(report).text == whole.text


def test_without_two_annotators_of_a_trace_the_report_says_so(comparing: Comparing) -> None:
    comparing.trace("alone")
    comparing.judge(comparing.tenants.bob)
    report = comparing.compute()
    assert (report.annotations, report.shared_traces, report.figures["compared"]) == (1, 0, [])


def test_who_asks_while_one_is_computed_gets_that_one_and_soon_after_is_asked_to_wait(comparing: Comparing) -> None:
    first = comparing.ask()
    assert comparing.ask().pk == first.pk
    comparing.done(first)
    with pytest.raises(TooSoon):
        comparing.ask()


@pytest.mark.parametrize("unfit", [{"tolerance": -1}, {"samples": 20_000}, {"seed": -1}, {"lines": 3}])
def test_unfit_settings_are_refused_with_the_bounds(comparing: Comparing, unfit: dict[str, int]) -> None:
    with pytest.raises(UnfitSettings, match=next(iter(unfit))):
        comparing.ask(**unfit)


def test_a_failed_computation_keeps_the_report_before_and_says_why(
    comparing: Comparing, monkeypatch: pytest.MonkeyPatch
) -> None:
    comparing.judge_at_random(2)
    before = comparing.compute()

    def refuse(*_: Any) -> None:
        raise ValueError("At most 65,536 annotators can be compared at once.")

    monkeypatch.setattr("potato.statistics.agreement.report.compare_in", refuse)
    failed = comparing.compute()
    assert failed.job is not None
    assert failed.job.state == JobState.FAILED
    assert failed.job.error == (
        "These annotations cannot be compared: At most 65,536 annotators can be compared at once."
    )
    assert not failed.is_finished
    with acting(comparing.actor):
        assert newest_report(comparing.project) == before


def test_every_few_annotations_a_report_is_asked_for(comparing: Comparing, settings: Settings) -> None:
    settings.AGREEMENT_EVERY_SUBMISSIONS = 4
    comparing.judge_at_random(1)
    outbox.deliver(comparing.actor)
    with acting(comparing.actor):
        assert not AgreementReport.objects.exists()
    comparing.judge_at_random(1, seed=2)
    outbox.deliver(comparing.actor)
    with acting(comparing.actor):
        [asked] = AgreementReport.objects.all()
    assert asked.reason == Reason.ANNOTATIONS
    comparing.done(asked)
    comparing.judge_at_random(1, seed=3)
    outbox.deliver(comparing.actor)
    with acting(comparing.actor):
        assert AgreementReport.objects.count() == 1
        change_rule(project=comparing.project, every=0, threshold=None)
    comparing.judge_at_random(2, seed=4)
    outbox.deliver(comparing.actor)
    with acting(comparing.actor):
        assert AgreementReport.objects.count() == 1


def test_below_the_threshold_an_event_is_published_once(comparing: Comparing) -> None:
    with acting(comparing.actor):
        change_rule(project=comparing.project, every=0, threshold=0.6, watched="verdict/decision")  # type: ignore[arg-type]

    def agreeing(name: str, *, on: bool) -> None:
        for number in range(2):
            comparing.trace(f"{name}-{number}")
        for person in (comparing.tenants.bob, comparing.tenants.dora):
            for decision in ("approve", "request_changes"):
                other = "request_changes" if decision == "approve" else "approve"
                comparing.judge(person, decision if on or person == comparing.tenants.bob else other)

    def published() -> list[dict[str, Any]]:
        with acting(comparing.actor):
            return [one.payload for one in OutboxEvent.objects.filter(topic=BELOW_THRESHOLD)]

    agreeing("a", on=True)
    assert compared(comparing.compute(), "decision")["figures"]["alpha_nominal"]["value"] == 1.0
    assert published() == []
    agreeing("b", on=False)
    below = comparing.compute()
    [payload] = published()
    assert payload["report"] == str(below.pk)
    assert (payload["scheme"], payload["measure"], payload["threshold"]) == ("verdict", "alpha_nominal", 0.6)
    assert payload["value"] < 0.6
    with acting(comparing.actor):
        data = event_data(BELOW_THRESHOLD, payload, comparing.project)
    assert isinstance(data, AgreementBelowThreshold)
    assert (data.report, data.value) == (below.pk, payload["value"])
    assert data.link == "/o/acme/p/parser/agreement/"
    comparing.compute()
    assert len(published()) == 1


def test_a_job_that_is_cancelled_leaves_no_figures(comparing: Comparing, settings: Settings) -> None:
    from jobs.actions import cancel_job

    comparing.judge_at_random(1)
    settings.JOBS_TASK_BUDGET_SECONDS = 0
    report = comparing.ask()
    comparing.work(report)
    with acting(comparing.actor):
        assert report.job_id is not None
        cancel_job(job=Job.objects.get(pk=report.job_id))
    assert not comparing.kept(report).is_finished
