"""The statistics of process rewards: the same as the analysis script's, whenever and in however many parts."""

from datetime import timedelta
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.test import Client
from django.utils import timezone
from pytest_django.fixtures import Settings

from assignments.actions.submitting import withdraw
from assignments.models import Assignment, Submission
from jobs.sweeps import named
from potato.analysis import load_annotations, plot_error_distribution, plot_reward_curves, process_reward_stats
from rewards import statistics
from rewards.models import RewardStatistics
from rewards.querysets import with_old_statistics
from rewards.statistics import TooSoon, request_old_statistics
from tenancy.actor import acting, acting_in
from tests.dashboard.reviews import chance
from tests.pages import text_of
from tests.rewards.judging import Judging
from tests.tenants import Tenants
from traces.models.bodies import pack


@pytest.fixture
def judging(committed_tenants: Tenants, tmp_path: Path) -> Judging:
    made = Judging(committed_tenants, committed_tenants.acme_project, tmp_path)
    made.publish()
    return made


def rated_at_random(judging: Judging, traces: int) -> None:
    """Two people rate every trace, but one of them leaves some out."""
    random = chance(traces)
    for number in range(traces):
        judging.trace(f"t{number}", random.randint(1, 12), random.choice(["model-a", "model-b", ""]))
    for person, share in ((judging.tenants.bob, 1.0), (judging.tenants.dora, 0.6)):
        for _ in range(int(traces * share)):
            judging.rate_at_random(person, random)


def as_the_script_says(stats: Any) -> dict[str, Any]:
    """The statistics of the script as JSON has them."""
    plain = {name: None if isinstance(value, float) and isnan(value) else value for name, value in stats.items()}
    return {**plain, "error_by_position": {str(at): number for at, number in stats["error_by_position"].items()}}


def test_the_dashboard_has_the_figures_of_the_analysis_script(judging: Judging) -> None:
    rated_at_random(judging, 12)
    figures = judging.compute()
    annotations = load_annotations(judging.archive())
    expected = as_the_script_says(process_reward_stats(annotations))
    assert figures["statistics"].keys() == expected.keys()
    for name, value in figures["statistics"].items():
        assert value == pytest.approx(expected[name]), name
    assert (figures["annotations"], figures["shared_traces"]) == (19, 7)

    chart = plot_error_distribution(annotations, judging.folder / "errors.png", normalize_by_trace_length=True)
    assert figures["error_by_tenth"] == [bar.get_height() for bar in chart.axes[0].patches]  # type: ignore[attr-defined]
    chart = plot_reward_curves(annotations, judging.folder / "curves.png", group_by="agent_model")
    legend = chart.axes[0].get_legend()
    assert legend is not None
    names = [text.get_text() for text in legend.get_texts()]
    curves = figures["reward_curves"]
    assert [f"{curve['agent_model']} (n = {curve['annotations']})" for curve in curves] == names
    assert len(names) == 3
    for curve, line in zip(curves, chart.axes[0].lines, strict=False):
        assert curve["means"] == pytest.approx(list(np.asarray(line.get_ydata())))


def test_in_many_parts_the_figures_are_the_same_and_of_one_moment(
    judging: Judging, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    rated_at_random(judging, 9)
    whole = judging.compute()
    with acting(judging.actor):
        RewardStatistics.objects.update(requested_at=None, figures={})
    settings.JOBS_TASK_BUDGET_SECONDS = 0
    monkeypatch.setattr(statistics, "SECONDS_A_PART", 0)
    monkeypatch.setattr(statistics, "TRACES_AT_ONCE", 2)
    asked = judging.ask()
    job = judging.work(asked)
    assert (job.progress, job.total) == (2, 9)
    judging.rate_at_random(judging.tenants.dora, chance(1))
    tasks = 1
    while (job := judging.work(asked)).is_open:
        assert not job.failures, job.error
        tasks += 1
    assert tasks == 5
    figures = judging.kept().figures
    for name, value in figures["statistics"].items():
        assert value == pytest.approx(whole["statistics"][name]), name
    assert figures["reward_curves"] == whole["reward_curves"]


def test_what_was_taken_back_or_is_surplus_or_unreadable_is_not_in_them(judging: Judging) -> None:
    tenants = judging.tenants
    for name in ("a", "b", "c", "d"):
        judging.trace(name, 2)
    judging.rate(tenants.bob, "correct", "correct")
    taken_back = judging.rate(tenants.bob, "incorrect", "correct")
    surplus = judging.rate(tenants.bob, "incorrect", "correct")
    strange = judging.claim(tenants.bob)
    with acting_in(tenants.acme, tenants.bob):
        withdraw(submission=taken_back)
        Submission.objects.create(
            project=judging.project,
            assignment=strange,
            number=1,
            packed=pack({"process_reward": {"mode": "per_step", "labels": ["good", True]}}),
            key="strange",
            request_sha256="0" * 64,
        )
        Submission.objects.create(
            project=judging.project,
            assignment=surplus.assignment,
            number=2,
            packed=surplus.packed,
            key="surplus",
            request_sha256="0" * 64,
            is_surplus=True,
        )
        Assignment.objects.filter(pk=strange.pk).update(state="submitted", lease_until=None)
    figures = judging.compute()
    assert (figures["annotations"], figures["statistics"]["total_traces"]) == (1, 1)
    assert figures["statistics"]["all_correct_pct"] == 100
    assert figures["statistics"]["error_by_position"] == {}


def test_means_of_nothing_are_null(judging: Judging) -> None:
    judging.trace("a", 2)
    figures = judging.compute()
    assert figures["annotations"] == 0
    stats = figures["statistics"]
    assert {name for name, value in stats.items() if value is None} == {
        "all_correct_pct",
        "avg_first_error_step",
        "avg_correct_prefix_length",
        "first_error_exact_agreement",
        "first_error_near_agreement",
    }
    assert stats["multi_annotator"] is False


def test_asking_twice_asks_once_and_not_again_within_a_minute(judging: Judging) -> None:
    first = judging.ask()
    assert judging.ask().job_id == first.job_id
    judging.work(first)
    with pytest.raises(TooSoon, match="Ask again in a minute"):
        judging.ask()
    with acting(judging.actor):
        RewardStatistics.objects.update(requested_at=timezone.now() - timedelta(minutes=2))
    assert judging.ask().job_id != first.job_id


def test_they_are_computed_every_hour_while_annotations_come_in(judging: Judging) -> None:
    sweep = named("rewards.statistics")
    acme = judging.tenants.acme

    def is_due() -> bool:
        with acting(judging.actor):
            due = list(with_old_statistics())
        assert (acme.pk in sweep.organisations()) == bool(due)
        return due == [judging.project]

    judging.trace("a", 2)
    judging.trace("b", 2)
    assert not is_due()
    judging.rate(judging.tenants.bob, "correct", "correct")
    judging.tell()
    assert is_due()
    sweep.run(judging.actor)
    assert not is_due()
    judging.work(judging.kept())
    an_hour_ago = timezone.now() - timedelta(minutes=61)
    with acting(judging.actor):
        RewardStatistics.objects.update(requested_at=an_hour_ago)
    assert not is_due()
    judging.rate(judging.tenants.bob, "incorrect", "correct")
    judging.tell()
    assert is_due()
    assert request_old_statistics(judging.actor) == 1


def test_another_organisation_is_due_for_nothing_and_sees_none(judging: Judging) -> None:
    judging.trace("a", 1)
    judging.rate(judging.tenants.bob, "correct")
    judging.tell()
    assert named("rewards.statistics").organisations() == [judging.tenants.acme.pk]
    judging.compute()
    with acting_in(judging.tenants.birch):
        assert list(with_old_statistics()) == []
        assert not RewardStatistics.objects.exists()


def test_annotations_that_an_archive_restores_are_new_whatever_their_time(judging: Judging, client: Client) -> None:
    """They bear the time at which they were made elsewhere, which may be long before the figures."""
    for name in "abc":
        judging.trace(name, 2)
    first = judging.rate(judging.tenants.bob, "correct", "correct")
    judging.tell()
    judging.compute()
    assignment = judging.claim(judging.tenants.bob)
    with acting(judging.actor):
        RewardStatistics.objects.update(requested_at=timezone.now() - timedelta(minutes=61))
        assert list(with_old_statistics()) == []
        Submission.objects.create(
            project=judging.project,
            assignment=assignment,
            number=1,
            packed=first.packed,
            submitted_at=timezone.now() - timedelta(days=365),
            key="restored",
            request_sha256="0" * 64,
        )
        assert list(with_old_statistics()) == [judging.project]
    assert named("rewards.statistics").organisations() == [judging.tenants.acme.pk]
    client.force_login(judging.tenants.mallory)
    assert "1 newer to come" in text_of(client.get("/o/acme/p/parser/"))
