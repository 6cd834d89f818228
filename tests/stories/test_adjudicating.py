"""Two annotators disagree, somebody settles it by keys alone, and exports carry what was settled."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from playwright.sync_api import Page, expect

from assignments.actions.answering import answer_note
from assignments.actions.deciding import return_to_annotator
from assignments.models import TraceQuota
from assignments.review_notes import ReviewNote
from dashboard.actions import take_everything_in
from dashboard.models import CountedAnnotation
from jobs import outbox
from tenancy.actor import Actor, acting, acting_in
from tests.adjudication.conftest import Disagreeing
from tests.stories.conftest import Reader
from tests.stories.pictures import shoot
from tests.tenants import Tenants
from traces.models import Trace

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

QUEUE = "/o/acme/p/parser/adjudicate/"


def disagreed(tenants: Tenants, folder: Path) -> Disagreeing:
    """Two runs of one task: of one the verdicts differ, and much besides; of the other the last step."""
    made = Disagreeing(tenants, tenants.acme_project, folder)
    made.publish_adjudication()
    for name in ("run-a", "run-b"):
        made.trace(name, task="Fix the parser", task_id="fix")
    for person, decision, lines, rating, labels in (
        (tenants.bob, "approve", (15, 40), 4, "ccp"),
        (tenants.dora, "request_changes", (16,), 2, "cci"),
    ):
        made.judge(person, decision, lines=lines, rating=rating, labels=labels)
        made.judge(person, "approve", labels="ccc" if decision == "approve" else "cci")
    outbox.deliver(Actor(tenants.acme.pk, (tenants.acme.pk,)))
    return made


def letter(page: Page, words: str | re.Pattern[str]) -> str:
    """The key of who says so in the question that is here."""
    said = page.locator(".question.is-here [data-answer]", has_text=words)
    return str("ABC".index(said.first.get_attribute("data-answer") or "") + 1)


def settle_by_keys(page: Page, step: str | re.Pattern[str]) -> None:
    """Every question that is open: the verdict as who asks for changes, comments merged or, of one alone, dropped, the
    rest of A."""
    left = page.locator("[data-bar-left]")
    while left.inner_text() != "All is settled":
        before, title = left.inner_text(), page.locator(".question.is-here").get_attribute("aria-label") or ""
        if title == "Verdict":
            page.keyboard.press(letter(page, "Request Changes"))
        elif re.search(r"lines? 1[56]", title):
            page.keyboard.press("m")
            page.keyboard.press("Control+Enter")
        elif "line" in title:
            page.keyboard.press("0")
        elif title.startswith("Step"):
            page.keyboard.press(letter(page, step))
        else:
            page.keyboard.press("1")
        expect(left).not_to_have_text(before)


def test_a_disagreement_is_settled_by_keys_alone_and_every_export_carries_it(
    tenants_of_browsers: Tenants, themed_reader: Reader, tmp_path: Path
) -> None:
    reader, page = themed_reader, themed_reader.page
    disagreeing = disagreed(tenants_of_browsers, tmp_path)
    reader.sign_in("alice")
    reader.open(QUEUE)
    rows = page.get_by_role("region", name="Table of what is to be settled").locator("tbody tr")
    expect(rows).to_have_count(2)
    expect(rows.first).to_contain_text("run-a")
    expect(rows.first).to_contain_text("2 differences decide what training data are made of")
    reader.assert_clean("the queue")
    shoot(reader, "adjudicate-queue")

    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.locator(".question.is-here")).to_be_visible()
    expect(page.get_by_text("Annotator A").first).to_be_visible()
    expect(page.get_by_text("bob")).to_have_count(0)
    expect(page.get_by_role("button", name="Save as final")).to_be_disabled()
    reader.assert_clean("the page on which a trace is settled")
    page.keyboard.press("e")
    shoot(reader, "adjudicate-review")
    page.keyboard.press("Escape")
    settle_by_keys(page, "Incorrect")
    reader.assert_clean("all is settled")
    shoot(reader, "adjudicate-settled")

    # What was settled is kept: the page is left and opened again.
    expect(page.locator("[data-saved]")).to_have_text("Saved")
    page.reload()
    expect(page.locator("[data-bar-left]")).to_have_text("All is settled")
    page.keyboard.press("f")
    expect(page.get_by_text("was settled")).to_be_visible()
    expect(rows).to_have_count(1)

    page.keyboard.press("s")
    expect(page.locator(".question.is-here")).to_be_visible()
    settle_by_keys(page, re.compile(r"\bCorrect\b"))
    page.keyboard.press("f")
    expect(page.get_by_text("A trace waits here once it has all its annotations")).to_be_visible()
    sides = page.get_by_label("Adjudication sided with")
    expect(sides).to_contain_text("dora")
    reader.assert_clean("nothing is left")
    shoot(reader, "adjudicate-measure")

    (review,) = [row for row in exported(disagreeing, "code_review", ".jsonl") if row["id"] == "run-a"]
    assert review["annotations"]["verdict"]["decision"] == "request_changes"
    assert [row["line_start"] for row in review["annotations"]["inline_comments"]] == [15]
    rewards = {row["trace_id"]: row["rewards"] for row in exported(disagreeing, "prm", ".jsonl")}
    assert rewards == {"run-a": [1.0, 1.0, -1.0], "run-b": [1.0, 1.0, 1.0]}
    (pair,) = exported(disagreeing, "dpo", ".jsonl")
    assert (pair["chosen_trace_id"], pair["rejected_trace_id"]) == ("run-b", "run-a")
    report = json.loads(written(disagreeing, "swebench", ".json").read_text())
    assert {row["instance_id"]: row["resolved"] for row in report["instances"]} == {"run-a": False, "run-b": True}


def test_two_who_disagree_get_a_third_one_work_comes_back_corrected_and_the_rest_is_settled(
    tenants_of_browsers: Tenants, themed_reader: Reader, tmp_path: Path
) -> None:
    tenants, reader, page = tenants_of_browsers, themed_reader, themed_reader.page
    made = Disagreeing(tenants, tenants.acme_project, tmp_path)
    made.publish_adjudication(add={"below": 0.9, "up_to": 3})
    trace = made.trace("run-a", task="Fix the parser", task_id="fix")
    made.judge(tenants.bob, "approve", lines=(15, 40), rating=4, labels="ccp")
    doras = made.judge(tenants.dora, "request_changes", lines=(16,), rating=2, labels="cci")
    made.deliver()
    assert wanted_and_counted(made, trace) == (3, 2)
    reader.sign_in("alice")
    reader.open(QUEUE)
    expect(page.get_by_text("A trace waits here once it has all its annotations")).to_be_visible()

    made.judge(tenants.mallory, "comment_only", rating=3, labels="ccp")
    made.deliver()
    assert wanted_and_counted(made, trace) == (3, 3)
    with acting_in(tenants.acme, tenants.alice):
        return_to_annotator(submission=doras, user=tenants.alice, notes=[ReviewNote("Which caller breaks?")])
    made.deliver()
    assert wanted_and_counted(made, trace) == (3, 2), "what was returned counts for nothing until it comes back"
    reader.open(QUEUE)
    expect(page.get_by_text("A trace waits here once it has all its annotations")).to_be_visible()
    with acting_in(tenants.acme, tenants.dora):
        doras.assignment.refresh_from_db()
        answer_note(assignment=doras.assignment, user=tenants.dora, note=0, is_kept=False)
    made.judge(tenants.dora, "request_changes", lines=(16, 50), rating=1, labels="cii", task=doras.assignment)
    made.deliver()
    assert wanted_and_counted(made, trace) == (3, 3)

    reader.open(QUEUE)
    expect(page.get_by_role("region", name="Table of what is to be settled").locator("tbody tr")).to_have_count(1)
    page.keyboard.press("s")
    expect(page.locator(".question.is-here")).to_be_visible()
    expect(page.get_by_text("Annotator C").first).to_be_visible()
    settle_by_keys(page, "Incorrect")
    page.keyboard.press("f")
    expect(page.get_by_text("was settled")).to_be_visible()
    (review,) = exported(made, "code_review", ".jsonl")
    assert review["annotations"]["verdict"]["decision"] == "request_changes"
    (rewards,) = exported(made, "prm", ".jsonl")
    assert rewards["rewards"][0] == 1.0
    assert rewards["rewards"][1:] == [-1.0, -1.0], "as dora says since it came back"


def wanted_and_counted(made: Disagreeing, trace: Trace) -> tuple[int, int]:
    """How many annotations are wanted of the trace, and how many count in figures."""
    with acting(made.actor):
        take_everything_in(made.actor)
        counted = CountedAnnotation.objects.for_project(made.project).counted().count()
        return TraceQuota.objects.get(trace=trace).target, counted


def exported(disagreeing: Disagreeing, format: str, suffix: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in written(disagreeing, format, suffix).read_text().splitlines()]


def written(disagreeing: Disagreeing, format: str, suffix: str) -> Path:
    path = disagreeing.folder / f"{format}{suffix}"
    call_command("export", "--project", "acme/parser", "-f", format, "-o", str(path), "--resolve", "adjudicated")
    return path
