"""What programs leave behind, keys that are switched off, and steps that cannot be seen: nobody labels by accident."""

import json
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from assignments.actions.working import save_draft
from assignments.models import Assignment, Submission
from tenancy.actor import acting_in
from tests.stories import test_first_error as errors
from tests.stories import test_rating_steps as ratings
from tests.stories.conftest import Reader
from tests.stories.reviewing import saved
from tests.tenants import Tenants

pytestmark = pytest.mark.browser


def prefilled(tenants: Tenants, page: Page, part: dict[str, Any]) -> None:
    """A program saves a result as the draft of the task that is open, and the annotator loads the page anew."""
    save_as_draft(tenants, part)
    page.reload()


def save_as_draft(tenants: Tenants, part: dict[str, Any]) -> None:
    with acting_in(tenants.acme, tenants.bob):
        (assignment,) = Assignment.objects.of(tenants.bob).open()
        draft = assignment.draft()
        content = {"answers": {"process_reward": part}}
        revision = draft.revision if draft else 0
        save_draft(assignment=assignment, fencing_token=assignment.fencing_token, revision=revision, content=content)


def test_a_result_that_is_a_draft_is_changed_and_submitted(tenants_of_browsers: Tenants, reader: Reader) -> None:
    page = errors.at_trace(tenants_of_browsers, reader)
    whole = {"mode": "first_error", "first_error_step": None, "total_steps": 8, "labels": [1] * 8}
    prefilled(tenants_of_browsers, page, {**whole, "label_origin": ["given"] * 8})
    errors.is_ready(page)
    assert errors.marks(page) == ["+1 (all correct)"] * 8
    expect(page.locator("[data-bar-steps-mark]")).to_have_text("All steps correct")
    page.keyboard.press("j")
    page.keyboard.press("2")
    page.keyboard.press("Enter")
    part = errors.submitted(tenants_of_browsers, page)
    assert (part["first_error_step"], part["labels"]) == (1, [1, -1, -1, -1, -1, -1, -1, -1])


def test_ratings_that_are_a_draft_are_changed_and_submitted(tenants_of_browsers: Tenants, reader: Reader) -> None:
    page, _ = ratings.at_steps(tenants_of_browsers, reader, ratings.per_step(**ratings.EVERYTHING))
    prefilled(tenants_of_browsers, page, ratings.RECORD)
    ratings.is_ready(page)
    page.keyboard.press("4")
    saved(page)
    page.get_by_role("button", name="Submit").click()
    expect(page.get_by_role("dialog", name="Submitted")).to_be_visible()
    with acting_in(tenants_of_browsers.acme, tenants_of_browsers.alice):
        part = Submission.objects.get().result["process_reward"]
    assert (part["labels"][0], part["cumulative_score"]) == (-0.5, 1.75)


def test_a_category_that_a_program_left_where_none_goes_is_dropped_and_told(
    tenants_of_browsers: Tenants, reader: Reader
) -> None:
    """The server would refuse it, and the page has no control to take it back with."""
    page, _ = ratings.at_steps(tenants_of_browsers, reader, ratings.per_step(**ratings.EVERYTHING), steps=2)
    details = {"0": {"label": "correct", "error_category": "Other"}, "1": {"label": "incorrect"}}
    prefilled(tenants_of_browsers, page, {"step_details": details})
    ratings.is_ready(page)
    expect(page.locator("#toasts")).to_contain_text("The error category of step 0 went: Correct takes none.")
    part = ratings.submitted(tenants_of_browsers, page)
    assert part["step_details"]["0"] == {"label": "correct"}
    assert reader.errors == []


def test_such_a_category_goes_once_a_tab_may_write(tenants_of_browsers: Tenants, reader: Reader) -> None:
    page, _ = ratings.at_steps(tenants_of_browsers, reader, ratings.per_step(**ratings.EVERYTHING), steps=2)
    details = {index: {"label": "correct", "error_category": "Other"} for index in ("0", "1")}
    save_as_draft(tenants_of_browsers, {"step_details": details})
    second = page.context.new_page()
    second.goto(page.url)
    banner = second.locator("[data-banner]").first
    expect(banner).to_contain_text("open in another tab")
    expect(second.locator("#toasts")).to_be_empty()
    banner.get_by_role("button", name="Take over here").click()
    expect(second.locator("#toasts")).to_contain_text("The error categories of 2 steps went: their labels take none.")
    part = ratings.submitted(tenants_of_browsers, second)
    assert part["step_details"] == {step: {"label": "correct"} for step in details}


def test_no_key_judges_where_the_project_has_switched_them_off(tenants_of_browsers: Tenants, reader: Reader) -> None:
    page = errors.at_trace(tenants_of_browsers, reader, keyboard_shortcuts={"enabled": False})
    for pressed in ("1", "2", "A", "u", "n"):
        page.keyboard.press(pressed)
    assert set(errors.marks(page)) == {"Unmarked"}
    expect(page.get_by_text("Are you sure?")).to_have_count(0)
    page.get_by_role("button", name="Shortcuts").click()
    keys = page.get_by_role("dialog", name="Keyboard shortcuts")
    assert not {"All Steps Correct", "Clear the mark"} & set(keys.locator("li span").all_text_contents())


def test_a_step_that_is_hidden_still_is_neither_found_nor_labelled(
    tenants_of_browsers: Tenants, reader: Reader
) -> None:
    page = errors.at_trace(tenants_of_browsers, reader, tab="steps/", reveal="progressive")
    page.goto(f"{page.url.partition('?')[0]}?q=thing+5")
    errors.is_ready(page)
    expect(errors.at_step(page, 0)).to_be_visible()
    expect(page.get_by_text("with “thing 5”")).to_have_count(0)
    page.keyboard.press("1")
    expect(errors.at_step(page, 1)).to_be_visible()
    expect(errors.at_step(page, 5)).to_be_hidden()


def test_a_neutral_step_is_marked_by_key_just_after_it(tenants_of_browsers: Tenants, reader: Reader) -> None:
    page = errors.at_trace(tenants_of_browsers, reader, allow_neutral=True, first_error={"require_confirmation": False})
    for pressed in ("1", "n", "1", "1", "n", "2"):
        page.keyboard.press(pressed)
    part = errors.submitted(tenants_of_browsers, page)
    assert (part["first_error_step"], part["neutral_steps"]) == (3, [0, 2])


def test_a_note_goes_to_the_step_just_labelled_until_the_annotator_goes_elsewhere(
    tenants_of_browsers: Tenants, reader: Reader
) -> None:
    page, _ = ratings.at_steps(tenants_of_browsers, reader, ratings.per_step(per_step={"allow_notes": True}))
    page.keyboard.press("1")
    page.keyboard.press("n")
    page.keyboard.type("of step 0")
    page.keyboard.press("Escape")
    page.keyboard.press("1")
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("n")
    page.keyboard.type("of step 4")
    page.keyboard.press("Escape")
    saved(page)
    with acting_in(tenants_of_browsers.acme, tenants_of_browsers.bob):
        (assignment,) = Assignment.objects.of(tenants_of_browsers.bob).open()
        draft = assignment.draft()
    assert draft is not None
    details = draft.content["answers"]["process_reward"]["step_details"]
    assert {index: said.get("notes") for index, said in details.items()} == {
        "0": "of step 0",
        "1": None,
        "4": "of step 4",
    }, json.dumps(details)
