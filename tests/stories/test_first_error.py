"""An annotator marks the first wrong step of an agent's run, by click and by key."""

import json
import re
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from accounts.actions.projects import publish_configuration
from assignments.models import Submission
from assignments.submission_records import submission_record
from tenancy.actor import acting_in
from tests.rewards.documented_results import FIRST_ERROR
from tests.stories.conftest import Reader
from tests.stories.reviewing import claimed, saved, task_path
from tests.stories.test_reading_a_trace import COUNT_NODES, bytes_sent
from tests.tenants import Tenants
from tests.traces.stored import code, outcome, step, stored

pytestmark = pytest.mark.browser


NODES = 15_000
SENT = 150_000
SCRIPTS = 25_000
LABELS = {"correct": "good (+1)", "first_error": "WRONG", "downstream": "after it", "all_correct": "flawless"}


def scheme(**settings: Any) -> dict[str, Any]:
    return {"name": "process_reward", "annotation_type": "process_reward", "mode": "first_error", **settings}


def at_trace(
    tenants: Tenants,
    reader: Reader,
    *others: dict[str, Any],
    steps: int = 8,
    tab: str = "",
    failed: int = -1,
    **settings: Any,
) -> Page:
    """A task with so many steps in Bob's browser, ready for work."""
    configuration = {"task_name": "Rewards", "annotation_schemes": [*others, scheme(**settings)]}
    with acting_in(tenants.acme, tenants.alice):
        publish_configuration(project=tenants.acme_project, source=json.dumps(configuration), confirmed=True)
    run = tuple(step(f"I do thing {at}.", is_error=at == failed) for at in range(steps))
    stored(tenants.acme, tenants.acme_project, outcome("a.py", code(3), code(4)), steps=run)
    assignment = claimed(tenants, tenants.bob)
    reader.sign_in("bob")
    reader.open(task_path(assignment, tab))
    is_ready(reader.page)
    return reader.page


def is_ready(page: Page) -> None:
    # An expectation that fails at first describes the whole page each time, which takes seconds for 500 steps.
    page.wait_for_selector("[data-steps-progress]:not(:empty)", timeout=20_000)
    page.wait_for_selector("[data-skip]:enabled")


def at_step(page: Page, index: int) -> Locator:
    return page.get_by_role("article", name=f"Step {index}", exact=True)


def marks(page: Page) -> list[str]:
    return page.locator(".step__mark").all_text_contents()


def submitted(tenants: Tenants, page: Page) -> dict[str, Any]:
    """Submit with the foot bar; what is stored of the process reward."""
    page.get_by_role("button", name="Submit").click()
    expect(page.get_by_role("dialog", name="Submitted")).to_be_visible()
    with acting_in(tenants.acme, tenants.alice):
        record = submission_record(Submission.objects.select_related("assignment__trace").get(), "reviewer_01")
    stored_part: dict[str, Any] = record["annotations"]["process_reward"]
    return stored_part


@pytest.mark.parametrize("way", ["keys", "clicks"])
def test_the_documented_output_comes_from_keys_and_from_clicks(
    tenants_of_browsers: Tenants, reader: Reader, way: str
) -> None:
    page = at_trace(tenants_of_browsers, reader)
    page.wait_for_url("**/steps/")
    expect(page.get_by_role("link", name="First error, or all steps correct")).to_be_visible()
    if way == "keys":
        for _ in range(4):
            page.keyboard.press("j")
        page.keyboard.press("2")
        page.keyboard.press("Enter")
    else:
        at_step(page, 4).get_by_role("button", name="First error is here: step 4").click()
        page.get_by_role("dialog", name="Are you sure?").get_by_role("button", name="Mark first error").click()
    expect(page.get_by_text("Ready to submit")).to_be_visible()
    assert marks(page) == ["+1"] * 4 + ["-1 (first error)"] + ["-1 (downstream)"] * 3
    result = submitted(tenants_of_browsers, page)
    assert {key: result[key] for key in FIRST_ERROR} == FIRST_ERROR
    assert set(result) == {*FIRST_ERROR, "label_origin"}
    assert reader.errors == []


def test_a_mark_is_asked_for_with_a_preview_each_time(tenants_of_browsers: Tenants, themed_reader: Reader) -> None:
    reader = themed_reader
    page = at_trace(tenants_of_browsers, reader, first_error={"labels": LABELS})
    dialog = page.get_by_role("dialog", name="Are you sure?")
    page.keyboard.press("j")
    page.keyboard.press("2")
    expect(dialog).to_contain_text("Mark step 1 as the first error?")
    expect(dialog.get_by_role("listitem")).to_have_text(
        [
            re.compile(r"Step 0 becomes correct\s*good \(\+1\)"),
            re.compile(r"Step 1 becomes the first error\s*WRONG"),
            re.compile(r"Steps 2–7 become downstream\s*after it"),  # noqa: RUF001 - a dash between numbers
        ]
    )
    assert page.locator(".step.is-pending").count() == 8
    reader.assert_clean("confirmation")
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    assert set(marks(page)) == {"Unmarked"}
    page.keyboard.press("2")
    page.keyboard.press("Enter")
    expect(at_step(page, 1).locator(".step__mark")).to_have_text("WRONG")
    # Moving it is asked for, too.
    at_step(page, 2).get_by_role("button", name="First error is here: step 2").click()
    expect(dialog).to_contain_text("Steps 0–1 become correct")  # noqa: RUF001 - a dash between numbers
    dialog.get_by_role("button", name="Cancel").click()
    expect(at_step(page, 1).locator(".step__mark")).to_have_text("WRONG")
    page.keyboard.press("Shift+A")
    expect(dialog).to_contain_text("Mark all steps as correct?")
    page.keyboard.press("Enter")
    expect(page.get_by_text("All steps are correct.")).to_be_visible()
    assert marks(page) == ["flawless"] * 8
    page.get_by_role("button", name="Undo").last.click()
    assert marks(page) == ["good (+1)", "WRONG", *["after it"] * 6]
    for width in (1440, 768, 320):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, width
        reader.assert_clean(str(width))


def test_the_colour_of_a_step_is_its_judgement_alone_also_where_its_tool_failed(
    tenants_of_browsers: Tenants, reader: Reader
) -> None:
    page = at_trace(tenants_of_browsers, reader, failed=1)
    colours = "all => all.map(number => getComputedStyle(number).borderColor)"
    numbers = [page.locator(f"{place} .snum") for place in (".srail__item", "article.step .step__head")]
    for number in numbers:
        assert len(set(number.evaluate_all(colours)[1:])) == 1
    for key in ("j", "j", "j", "2", "Enter"):
        page.keyboard.press(key)
    expect(page.get_by_text("Ready to submit")).to_be_visible()
    for number in numbers:
        correct, failed, *_ = number.evaluate_all(colours)
        assert failed == correct


def test_the_last_correct_step_proposes_that_all_are(tenants_of_browsers: Tenants, reader: Reader) -> None:
    page = at_trace(tenants_of_browsers, reader, steps=3)
    for reviewed in range(2):
        page.keyboard.press("1")
        expect(at_step(page, reviewed + 1)).to_have_class(re.compile("is-focus"))
        expect(page.get_by_text(f"Reviewed to step {reviewed}")).to_be_visible()
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Ready to submit")).to_be_visible()
    result = submitted(tenants_of_browsers, page)
    assert result["first_error_step"] is None
    assert result["labels"] == [1, 1, 1]


def test_without_confirmation_a_mark_is_set_at_once_and_undone(tenants_of_browsers: Tenants, reader: Reader) -> None:
    block = {"require_confirmation": False, "allow_no_error": False}
    page = at_trace(tenants_of_browsers, reader, steps=3, first_error=block)
    expect(page.get_by_role("button", name="All Steps Correct")).to_have_count(0)
    for _ in range(3):
        page.keyboard.press("1")
    expect(page.get_by_text("this project takes no trace without one")).to_be_visible()
    expect(page.get_by_role("link", name="First error", exact=True)).to_be_visible()
    page.keyboard.press("k")
    page.keyboard.press("2")
    expect(page.get_by_text("Step 1 is the first error.")).to_be_visible()
    assert marks(page) == ["+1", "-1 (first error)", "-1 (downstream)"]
    page.get_by_role("button", name="Undo").last.click()
    assert marks(page) == ["+1", "+1", "+1"]
    page.keyboard.press("u")
    assert set(marks(page)) == {"Unmarked"}


def test_what_a_project_adds_is_kept_and_stored(tenants_of_browsers: Tenants, reader: Reader) -> None:
    """Neutral steps, the better action, doubt; a configured key comes before the page's own; the draft stays."""
    keys = {"correct": "u", "incorrect": "x", "next_step": "n"}
    extras: dict[str, Any] = {
        "allow_neutral": True,
        "ask_correction": True,
        "allow_unsure": True,
        "keyboard_shortcuts": keys,
    }
    page = at_trace(tenants_of_browsers, reader, first_error={"require_confirmation": False}, **extras)
    page.keyboard.press("u")
    page.keyboard.press("n")
    page.keyboard.press("x")
    expect(page.get_by_text("Step 2 is the first error.")).to_be_visible()
    at_step(page, 1).get_by_role("link").click()
    at_step(page, 1).get_by_role("button", name="Neutral: step 1").click()
    at_step(page, 2).get_by_role("link").click()
    page.get_by_label("What should the agent have done here instead?").fill("Run u x n first.")
    page.get_by_label("Unsure").check()
    saved(page)
    page.reload()
    is_ready(page)
    expect(at_step(page, 2)).to_have_class(re.compile("is-focus"))
    expect(page.get_by_label("What should the agent have done here instead?")).to_have_value("Run u x n first.")
    expect(at_step(page, 1).get_by_role("button", name="Neutral")).to_have_attribute("aria-pressed", "true")
    result = submitted(tenants_of_browsers, page)
    assert (result["first_error_step"], result["neutral_steps"]) == (2, [1])
    assert (result["correction"], result["unsure"]) == ("Run u x n first.", True)
    assert reader.errors == []


def test_later_steps_are_hidden_until_this_one_is_judged(tenants_of_browsers: Tenants, reader: Reader) -> None:
    block = {"require_confirmation": False, "show_step_content": False}
    page = at_trace(tenants_of_browsers, reader, steps=4, reveal="progressive", first_error=block)
    articles, links = page.get_by_role("article"), page.get_by_role("navigation", name="Go to step").get_by_role("link")
    expect(articles).to_have_count(1)
    expect(links).to_have_count(1)
    expect(page.get_by_role("button", name="All Steps Correct")).to_be_disabled()
    # Titles alone, until somebody opens a step.
    expect(page.get_by_text("I do thing 0.")).to_be_hidden()
    at_step(page, 0).get_by_role("link").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text("I do thing 0.")).to_be_visible()
    page.keyboard.press("j")
    expect(articles).to_have_count(1)
    page.keyboard.press("1")
    expect(articles).to_have_count(2)
    page.keyboard.press("2")
    expect(articles).to_have_count(4)
    result = submitted(tenants_of_browsers, page)
    assert (result["labels"], result["reveal"]) == ([1, -1, -1, -1], "progressive")


def test_both_kinds_of_judgement_are_one_submission(tenants_of_browsers: Tenants, reader: Reader) -> None:
    verdict = {
        "name": "verdict",
        "annotation_type": "code_review_verdict",
        "verdict": {"require_summary": False, "summary_min_length": 0},
    }
    page = at_trace(tenants_of_browsers, reader, verdict, steps=2, tab="steps/")
    page.get_by_role("button", name="All Steps Correct").click()
    page.get_by_role("dialog", name="Are you sure?").get_by_role("button", name="All Steps Correct").click()
    page.get_by_role("link", name="Verdict", exact=True).click()
    page.wait_for_url("**/#verdict")
    page.get_by_role("radio", name="Approve").check()
    expect(page.get_by_text("Ready to submit")).to_be_visible()
    assert submitted(tenants_of_browsers, page)["labels"] == [1, 1]


def test_a_trace_without_judged_files_begins_at_its_steps(tenants_of_browsers: Tenants, reader: Reader) -> None:
    page = at_trace(tenants_of_browsers, reader)
    expect(page.get_by_role("navigation", name="Task").get_by_role("link")).to_contain_text(["Agent trace", "Files"])
    assert "review" not in (page.locator("#submitted").text_content() or "")
    page.get_by_role("link", name="Files changed").click()
    expect(page.get_by_role("article", name="a.py")).to_be_visible()
    page.get_by_role("link", name="First error, or all steps correct").click()
    page.wait_for_url("**/steps/#s0")
    is_ready(page)
    assert reader.errors == []


def test_500_steps_open_light_and_each_is_in_reach(tenants_of_browsers: Tenants, reader: Reader) -> None:
    page = at_trace(tenants_of_browsers, reader, steps=500, first_error={"require_confirmation": False})
    page.wait_for_load_state("networkidle")
    assert page.evaluate(COUNT_NODES) < NODES
    assert 30_000 < bytes_sent(page) < SENT
    assert 10_000 < bytes_sent(page, suffix=".js") < SCRIPTS
    page.set_viewport_size({"width": 700, "height": 900})
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    page.set_viewport_size({"width": 1440, "height": 1000})
    # The browser's own jump, the name that a screen reader calls, and the keys.
    page.evaluate("location.hash = '#s499'")
    mark = at_step(page, 499).get_by_role("button", name="First error is here: step 499")
    expect(mark).to_be_in_viewport()
    expect(at_step(page, 499)).to_have_class(re.compile("is-focus"))
    page.keyboard.press("k")
    page.keyboard.press("2")
    expect(at_step(page, 498).locator(".step__mark")).to_have_text("-1 (first error)")
    at_step(page, 250).get_by_role("link", name="Link to step 250").focus()
    at_step(page, 250).get_by_role("button", name="First error is here: step 250").press("Enter")
    expect(at_step(page, 250).locator(".step__mark")).to_have_text("-1 (first error)")
    assert page.evaluate(COUNT_NODES) < NODES
    saved(page)
    reader.open(page.url.removeprefix(reader.address).partition("#")[0])
    is_ready(page)
    expect(at_step(page, 250)).to_be_in_viewport()
    assert marks(page).count("-1 (downstream)") == 249
    assert reader.errors == []
