"""An annotator says why a step, a file or a whole trace cannot be judged, by key and by click, and goes on."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from assignments.models import Submission
from tenancy.actor import acting_in
from tests.assignments.reviews import reviewed
from tests.stories.conftest import Reader
from tests.stories.pictures import shoot
from tests.stories.reviewing import at_task, claimed, saved
from tests.stories.test_first_error import at_trace
from tests.stories.test_rating_steps import at_steps, per_step, press, radio
from tests.tenants import Tenants

pytestmark = pytest.mark.browser

REASON = "The output is cut off."


def give_reason(page: Page, name: str, reason: str = REASON) -> None:
    dialog = page.get_by_role("dialog", name=name)
    dialog.get_by_role("button", name="Keep").click()
    expect(dialog.get_by_role("alert")).to_contain_text("Say in a few words why.")
    dialog.get_by_label("Why can it not be judged?").fill(reason)
    dialog.get_by_role("button", name="Keep").click()
    expect(dialog).to_be_hidden()


def submitted(tenants: Tenants, page: Page) -> dict[str, Any]:
    page.get_by_role("button", name="Submit").click()
    expect(page.get_by_role("dialog", name="Submitted")).to_be_visible()
    with acting_in(tenants.acme, tenants.alice):
        result: dict[str, Any] = Submission.objects.get().result
    return result


def test_a_step_is_left_out_by_key_and_the_others_are_labelled(
    tenants_of_browsers: Tenants, themed_reader: Reader
) -> None:
    tenants, page = tenants_of_browsers, themed_reader.page
    at_steps(tenants, themed_reader, per_step(), steps=3)
    press(page, "x")
    give_reason(page, "Cannot judge step 0")
    expect(page.locator("#s0 .step__mark")).to_have_text("Cannot judge")
    radio(page, 1, "Correct").click()
    expect(page.locator("[data-left]")).to_have_text("1 thing left")
    page.locator("#s2 a.snum").click()
    page.locator("#s2 [data-unjudged]").click()
    give_reason(page, "Cannot judge step 2")
    page.locator("#s2 [data-unjudged]").click()
    page.get_by_role("dialog", name="Cannot judge step 2").get_by_role("button", name="It can be judged").click()
    expect(page.locator("[data-left]")).to_have_text("1 thing left")
    radio(page, 2, "Incorrect").click()
    shoot(themed_reader, "cannot-judge-steps")
    themed_reader.assert_clean()
    part = submitted(tenants, page)["process_reward"]
    assert part["cannot_judge"] == {"0": REASON}
    assert part["labels"] == [None, 1.0, -1.0]


def test_beside_a_first_error_a_step_is_left_out_by_click(tenants_of_browsers: Tenants, reader: Reader) -> None:
    page = at_trace(tenants_of_browsers, reader, steps=3, first_error={"require_confirmation": False})
    page.locator("#s0 [data-unjudged]").click()
    give_reason(page, "Cannot judge step 0")
    page.locator("#s2").get_by_role("button", name="First error is here: step 2").click()
    part = submitted(tenants_of_browsers, page)["process_reward"]
    assert (part["first_error_step"], part["cannot_judge"]) == (2, {"0": REASON})


def test_a_file_and_then_the_whole_trace_cannot_be_judged(tenants_of_browsers: Tenants, themed_reader: Reader) -> None:
    tenants = tenants_of_browsers
    reviewed(tenants.acme, tenants.acme_project)
    page = at_task(themed_reader, claimed(tenants, tenants.bob))
    page.locator("#rate-0 [data-unjudged]").click()
    give_reason(page, "Cannot judge parser.py")
    expect(page.locator("#rate-0 .rate__why")).to_have_text(f"Cannot judge: {REASON}")
    expect(page.locator("[data-missing]")).not_to_contain_text("Ratings of parser.py")
    shoot(themed_reader, "cannot-judge-files")
    themed_reader.assert_clean()
    page.locator("body").press("Shift+X")
    give_reason(page, "Cannot judge this trace", "It is in a language that I cannot read.")
    expect(page.locator("[data-left]")).to_have_text("Ready to submit")
    saved(page)
    assert submitted(tenants, page) == {"cannot_judge": "It is in a language that I cannot read."}
