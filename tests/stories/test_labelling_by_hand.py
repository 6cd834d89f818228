"""What the two modes of judging steps have in common: presses of a real mouse, several pages, keys that are off."""

import re
from typing import Any

import pytest
from playwright.sync_api import Page

from tests.stories import test_first_error as first_error
from tests.stories import test_rating_steps as per_step
from tests.stories.conftest import Reader
from tests.stories.reviewing import until
from tests.tenants import Tenants

pytestmark = pytest.mark.browser

SHOW = """
([step, control]) => {
  const { top, bottom } = document.querySelector(`#s${step} ${control}`).getBoundingClientRect();
  if (top < 60 || bottom > innerHeight - 130) scrollBy(0, top - innerHeight / 2);
}
"""
MIDDLE = """
([step, control]) => {
  const box = document.querySelector(`#s${step} ${control}`).getBoundingClientRect();
  return [box.x + box.width / 2, box.y + box.height / 2];
}
"""
IS_UNDER = "([x, y, step, control]) => Boolean(document.elementFromPoint(x, y)?.closest(`#s${step} ${control}`))"
HALF_HIDDEN = "(step) => scrollBy(0, document.querySelector(`#s${step} .step__head`).getBoundingClientRect().top - 36)"


def press_slowly(page: Page, step: int, control: str) -> None:
    """Press the mouse on a control and let go after a while, as people do: it must stay under the pointer."""
    page.mouse.wheel(0, 1)
    page.evaluate(SHOW, [step, control])
    page.wait_for_timeout(150)
    place: Any = page.evaluate(MIDDLE, [step, control])
    page.mouse.move(*place)
    page.mouse.down()
    page.wait_for_timeout(150)
    assert page.evaluate(IS_UNDER, [*place, step, control]), f"{control} of step {step} moved away"
    page.mouse.up()


def mark_of(page: Page, step: int) -> str | None:
    return page.locator(f"#s{step} .step__mark").text_content()


@pytest.mark.parametrize("width", [1440, 900])
def test_a_press_on_a_step_without_the_focus_marks_it(tenants_of_browsers: Tenants, reader: Reader, width: int) -> None:
    page = first_error.at_trace(
        tenants_of_browsers, reader, steps=12, first_error={"require_confirmation": False}, allow_neutral=True
    )
    page.set_viewport_size({"width": width, "height": 900})
    page.mouse.move(width - 40, 500)
    press_slowly(page, 2, "[data-error]")
    until(page, "document.querySelector('#s2 .step__mark').textContent === '-1 (first error)'")
    press_slowly(page, 1, "[data-error]")
    until(page, "document.querySelector('#s1 .step__mark').textContent === '-1 (first error)'")
    # Where the page has been scrolled until the top bar hides a part of the header.
    page.evaluate(HALF_HIDDEN, 6)
    press_slowly(page, 6, "[data-error]")
    until(page, "document.querySelector('#s6 .step__mark').textContent === '-1 (first error)'")
    assert reader.errors == []


@pytest.mark.parametrize("width", [1440, 768])
def test_a_press_on_a_label_of_another_step_labels_it(tenants_of_browsers: Tenants, reader: Reader, width: int) -> None:
    page, _ = per_step.at_steps(tenants_of_browsers, reader, per_step.per_step(**per_step.EVERYTHING), steps=12)
    page.set_viewport_size({"width": width, "height": 900})
    page.mouse.move(width - 40, 500)
    for step in (2, 1):
        press_slowly(page, step, ".chip:nth-child(3)")
        until(page, f"document.querySelector('#s{step} .step__mark').textContent === 'Incorrect'")
    page.evaluate(HALF_HIDDEN, 6)
    press_slowly(page, 7, ".chip:nth-child(1)")
    until(page, "document.querySelector('#s7 .step__mark').textContent === 'Correct'")
    assert reader.errors == []


def test_a_range_without_a_keyboard(tenants_of_browsers: Tenants, reader: Reader) -> None:
    page, _ = per_step.at_steps(tenants_of_browsers, reader, per_step.per_step(), steps=6)
    page.set_viewport_size({"width": 768, "height": 1000})
    page.locator("#s1 .step__title").click()
    page.get_by_role("button", name="Select from here").click()
    page.mouse.move(500, 500)
    page.mouse.wheel(0, 1)
    page.locator("#s4 .step__title").click()
    page.get_by_role("button", name="Select to here").click()
    assert page.locator(".is-ranged").count() == 4
    per_step.radio(page, 3, "Unnecessary").click()
    until(page, "document.querySelector('[data-range]').hidden")
    assert per_step.marks(page) == ["Unlabelled", *["Unnecessary"] * 4, "Unlabelled"]
    reader.assert_clean()


def test_a_trace_of_several_pages_is_labelled_as_one(tenants_of_browsers: Tenants, reader: Reader) -> None:
    page, _ = per_step.at_steps(tenants_of_browsers, reader, per_step.per_step(), steps=502)
    steps = page.url.partition("?")[0].partition("#")[0]
    page.goto(f"{steps}#s498")
    until(page, "document.querySelector('#s498.is-focus .srate input')?.disabled === false")
    # From the last step of a page the way leads to the next page, and back.
    per_step.press(page, "1", "2")
    page.wait_for_url(re.compile(r"step=500#s500$"))
    until(page, "document.querySelector('#s500.is-focus .srate input')?.disabled === false")
    assert page.locator("[data-steps-progress]").text_content() == "2 of 502 labelled"
    per_step.press(page, "3", "k", "k")
    page.wait_for_url(re.compile(r"step=499#s499$"))
    until(page, "document.querySelector('#s499.is-focus .srate input')?.disabled === false")
    assert [mark_of(page, step) for step in (497, 498, 499)] == ["Unlabelled", "Correct", "Incorrect"]
    assert page.locator("[data-steps-progress]").text_content() == "3 of 502 labelled"
    # What is missing leads to the page where it is.
    page.goto(f"{steps}?step=501#s501")
    until(page, "document.querySelector('#s501.is-focus .srate input')?.disabled === false")
    page.locator("[data-missing] a").first.click()
    page.wait_for_url(re.compile(r"step=0#s0$"))
    until(page, "document.querySelector('#s0.is-focus .srate input')?.disabled === false")
    assert reader.errors == []


def test_who_switched_single_keys_off_judges_with_clicks(tenants_of_browsers: Tenants, reader: Reader) -> None:
    page = first_error.at_trace(tenants_of_browsers, reader, steps=3, first_error={"require_confirmation": False})
    page.keyboard.press("?")
    page.get_by_role("checkbox", name="Single keys act on this page").uncheck()
    page.keyboard.press("Escape")
    per_step.press(page, "j", "2", "1", "Shift+A", "u")
    assert set(first_error.marks(page)) == {"Unmarked"}
    page.reload()
    first_error.is_ready(page)
    per_step.press(page, "2")
    assert set(first_error.marks(page)) == {"Unmarked"}
    first_error.at_step(page, 1).get_by_role("button", name="First error is here: step 1").click()
    until(page, "document.querySelector('#s1 .step__mark').textContent === '-1 (first error)'")
    # They come back with the same switch, which is in reach by click as well.
    page.get_by_role("button", name="Shortcuts").click()
    page.get_by_role("checkbox", name="Single keys act on this page").check()
    page.keyboard.press("Escape")
    per_step.press(page, "u")
    assert set(first_error.marks(page)) == {"Unmarked"}
    assert reader.errors == []
