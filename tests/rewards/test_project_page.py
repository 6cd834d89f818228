"""The statistics of process rewards as a manager reads them, and as programs fetch them."""

import re
from datetime import timedelta
from pathlib import Path

import pytest
from django.test import Client
from django.utils import timezone

from jobs.models import Job
from rewards.models import RewardStatistics
from tenancy.actor import acting
from tests.dashboard.test_project_page import PAGE, plain
from tests.hostile import HOSTILE
from tests.pages import assert_harmless, queries_of, text_of
from tests.rewards.judging import Judging
from tests.tenants import Tenants

STATISTICS = f"{PAGE}statistics/"
API = "/o/acme/api/v1/projects/parser/statistics/"


@pytest.fixture
def judging(committed_tenants: Tenants, tmp_path: Path) -> Judging:
    made = Judging(committed_tenants, committed_tenants.acme_project, tmp_path)
    made.publish()
    return made


@pytest.fixture
def mallory(judging: Judging, client: Client) -> Client:
    """The project's manager."""
    client.force_login(judging.tenants.mallory)
    return client


def two_traces(judging: Judging) -> None:
    """Bob and dora differ by one step on one trace, and find no error in the other."""
    judging.trace("a", 4)
    judging.trace("b", 2, "model-b")
    for person, *labels in (
        (judging.tenants.bob, "correct", "incorrect", "correct", "correct"),
        (judging.tenants.bob, "correct", "correct"),
        (judging.tenants.dora, "correct", "correct", "incorrect", "correct"),
        (judging.tenants.dora, "correct", "correct"),
    ):
        judging.rate(person, *labels)
    judging.tell()


def test_a_manager_asks_for_the_statistics_and_reads_them(judging: Judging, mallory: Client) -> None:
    two_traces(judging)
    page = plain(text_of(mallory.get(PAGE)))
    assert "Not computed yet" in page
    answer = mallory.post(STATISTICS)
    assert (answer.status_code, answer["Location"]) == (302, f"{PAGE}#rewards")
    page = plain(text_of(mallory.get(PAGE)))
    assert "Being computed." in page
    assert "Compute now" not in page
    judging.work(judging.kept())
    page = plain(text_of(mallory.get(PAGE)))
    assert "4 annotations, computed" in page
    assert "Traces annotated 2 " in page
    assert "Without an error 1 50.0%" in page
    assert "Mean first error step 1.5" in page
    assert "Correct steps before it 1.8 mean" in page
    assert "First error, same step 0.50 within 1 step 1.00" in page
    assert "2 traces with several annotators" in page
    assert "Top errors Logic error 2" in page
    mallory.post(STATISTICS)
    assert "Ask again in a minute" in text_of(mallory.get(PAGE))


def test_newer_annotations_are_announced(judging: Judging, mallory: Client) -> None:
    two_traces(judging)
    judging.compute()
    assert "newer to come" not in plain(text_of(mallory.get(PAGE)))
    judging.trace("c", 1)
    judging.rate(judging.tenants.bob, "correct")
    judging.tell()
    assert ", 1 newer to come" in plain(text_of(mallory.get(PAGE)))


def test_the_drawings_can_be_read_as_text(judging: Judging, mallory: Client) -> None:
    two_traces(judging)
    judging.compute()
    page = text_of(mallory.get(PAGE))
    labels = re.findall(r'<svg class="chart"[^>]*role="img" aria-label="([^"]*)"', page)
    assert labels[-2:] == [
        "First errors by step: 2 in all, most, 1, at step 1. The figures stand below the chart.",
        "Mean reward up to each step: model-a ends at 2.00; model-b ends at 2.00. The figures stand below the chart.",
    ]
    read = plain(page)
    assert "Step First errors 0 0 1 1 2 1 " in read
    assert "Agent model Annotations Step 0 Step 1 Step 2 Step 3 Last model-a 2 1.00 1.00 1.00 2.00 2.00" in read
    by_share = plain(text_of(mallory.get(f"{PAGE}?errors=share")))
    assert "Share of trace First errors 0 to 10% 0 " in by_share
    assert "30 to 40% 1" in by_share


def test_one_annotator_and_no_error_have_words(judging: Judging, mallory: Client) -> None:
    judging.trace("a", 2)
    judging.rate(judging.tenants.bob, "correct", "correct")
    judging.compute()
    page = plain(text_of(mallory.get(PAGE)))
    assert "Without an error 1 100.0%" in page
    assert "No error found" in page
    assert "No trace has two annotators yet" in page
    assert "nan" not in page.split()
    assert "Top errors" not in page


def test_statistics_of_nothing_say_so(judging: Judging, mallory: Client) -> None:
    judging.compute()
    assert "No process rewards yet" in plain(text_of(mallory.get(PAGE)))


def test_a_computation_that_failed_says_why(judging: Judging, mallory: Client) -> None:
    judging.ask()
    with acting(judging.actor):
        Job.objects.update(state="failed", finished_at=timezone.now(), error="The disk was full.")
    page = plain(text_of(mallory.get(PAGE)))
    assert "The last computation ended without figures: The disk was full." in page
    assert "Compute now" in page


def test_more_annotations_cost_no_more_queries(judging: Judging, mallory: Client) -> None:
    two_traces(judging)
    judging.compute()
    few = queries_of(mallory, PAGE)
    for number in range(4):
        judging.trace(f"more-{number}", 3, f"model-{number}")
        judging.rate(judging.tenants.bob, "correct", "incorrect", "correct")
    judging.tell()
    with acting(judging.actor):
        RewardStatistics.objects.update(requested_at=timezone.now() - timedelta(hours=1))
    judging.compute()
    assert queries_of(mallory, PAGE) == few


def test_hostile_names_of_models_and_categories_stay_words(judging: Judging, mallory: Client) -> None:
    words = HOSTILE[0][:150]
    judging.publish(per_step={"error_categories": {"enabled": True, "categories": ["Logic error", words]}})
    judging.trace("a", 2, words)
    details = {
        "0": {"label": "incorrect", "error_category": words},
        "1": {"label": "correct"},
    }
    judging.submit(judging.claim(judging.tenants.bob), details)
    judging.compute()
    page = text_of(mallory.get(PAGE))
    assert_harmless(page, words)


def test_programs_fetch_the_statistics_and_ask_for_new_ones(judging: Judging, mallory: Client) -> None:
    two_traces(judging)
    empty = mallory.get(API).json()
    assert (empty["state"], empty["computed_at"], empty["process_rewards"]) == (None, None, None)
    asked = mallory.post(API, content_type="application/json")
    assert (asked.status_code, asked["Location"]) == (202, f"http://testserver{API}")
    assert asked.json()["state"] == "queued"
    judging.work(judging.kept())
    answer = mallory.get(API).json()
    assert (answer["project"], answer["state"]) == ("parser", "done")
    figures = answer["process_rewards"]
    assert figures["statistics"] == {
        "total_traces": 2,
        "all_correct_count": 1,
        "all_correct_pct": 50.0,
        "avg_first_error_step": 1.5,
        "avg_correct_prefix_length": 1.75,
        "error_by_position": {"1": 1, "2": 1},
        "error_categories": {"Logic error": 2},
        "multi_annotator": True,
        "first_error_exact_agreement": 0.5,
        "first_error_near_agreement": 1.0,
    }
    assert [(curve["agent_model"], curve["means"]) for curve in figures["reward_curves"]] == [
        ("model-a", [1.0, 1.0, 1.0, 2.0]),
        ("model-b", [1.0, 2.0]),
    ]
    refused = mallory.post(API, content_type="application/json")
    assert (refused.status_code, refused.json()["code"]) == (429, "too_soon")


def test_means_of_nothing_are_null_for_programs(judging: Judging, mallory: Client) -> None:
    judging.compute()
    stats = mallory.get(API).json()["process_rewards"]["statistics"]
    assert stats["avg_first_error_step"] is None
    assert stats["first_error_near_agreement"] is None
