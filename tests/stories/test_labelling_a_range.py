"""A range of steps gets one label, and the category of an error is asked for once, for all of the range."""

import pytest
from playwright.sync_api import expect

from tests.stories import test_rating_steps as ratings
from tests.stories.conftest import Reader
from tests.tenants import Tenants

pytestmark = pytest.mark.browser

CATEGORISED = {"per_step": {"error_categories": {"enabled": True}, "allow_notes": True}}
WRONG = {"label": "incorrect", "error_category": "Logic error"}


def test_a_range_of_wrong_steps_is_asked_once_for_the_category_of_all(
    tenants_of_browsers: Tenants, reader: Reader
) -> None:
    page, _ = ratings.at_steps(tenants_of_browsers, reader, ratings.per_step(**CATEGORISED), steps=6)
    ratings.press(page, "1", "Shift+ArrowDown", "Shift+ArrowDown", "2")
    select = page.get_by_role("combobox", name="Error category of steps 1 to 3")
    expect(select).to_be_focused()
    expect(page.locator("#s3 .srate__category")).to_contain_text("for 3 steps")
    reader.assert_clean("asked for the category of a range")
    ratings.press(page, "L")
    for index in (1, 2, 3):
        expect(page.locator(f"#s{index} select")).to_have_value("Logic error")
    ratings.press(page, "Enter")
    expect(page.locator("#s4.is-focus")).to_be_visible()
    expect(page.locator(".srate__category", has_text="for 3 steps")).to_have_count(0)
    # From now on each step has a category of its own again.
    page.get_by_role("combobox", name="Error category of step 3").select_option("Other")
    expect(page.locator("#s2 select")).to_have_value("Logic error")
    page.locator("#s4").get_by_role("radio", name="Correct", exact=True).click()
    page.locator("#s5").get_by_role("radio", name="Correct", exact=True).click()
    part = ratings.submitted(tenants_of_browsers, page)
    assert [part["step_details"][str(index)] for index in (1, 2, 3)] == [
        WRONG,
        WRONG,
        {"label": "incorrect", "error_category": "Other"},
    ]


def test_a_range_upwards_asks_where_it_ends_and_keeps_what_was_said_before(
    tenants_of_browsers: Tenants, reader: Reader
) -> None:
    page, _ = ratings.at_steps(tenants_of_browsers, reader, ratings.per_step(**CATEGORISED), steps=5)
    ratings.press(page, "1", "1", "2", "W", "Escape", "Shift+Home", "2")
    expect(page.get_by_role("combobox", name="Error category of steps 0, 1 and 3")).to_be_focused()
    ratings.press(page, "L", "Escape")
    categories = [page.locator(f"#s{index} select").input_value() for index in range(4)]
    assert categories == ["Logic error", "Logic error", "Wrong tool selected", "Logic error"]
    # Who has none to give goes on, and what was asked for the range is over.
    page.get_by_role("button", name="Undo").last.click()
    expect(page.locator("#s1 select")).to_have_count(0)
    expect(page.locator("#s2 select")).to_have_value("Wrong tool selected")
    assert reader.errors == []


def test_a_range_labelled_by_a_click_is_asked_as_well(tenants_of_browsers: Tenants, reader: Reader) -> None:
    page, _ = ratings.at_steps(tenants_of_browsers, reader, ratings.per_step(**CATEGORISED), steps=4)
    ratings.press(page, "Shift+ArrowDown")
    page.locator("#s1").get_by_role("radio", name="Incorrect", exact=True).click()
    expect(page.get_by_role("combobox", name="Error category of steps 0 and 1")).to_be_focused()
    ratings.press(page, "L", "Escape")
    expect(page.locator("#s0 select")).to_have_value("Logic error")
    expect(page.locator("#s1 select")).to_have_value("Logic error")
    assert reader.errors == []


def test_a_range_of_right_steps_is_asked_for_nothing(tenants_of_browsers: Tenants, reader: Reader) -> None:
    page, _ = ratings.at_steps(tenants_of_browsers, reader, ratings.per_step(**CATEGORISED), steps=4)
    ratings.press(page, "Shift+ArrowDown", "1")
    expect(page.locator("#s2.is-focus")).to_be_visible()
    expect(page.locator(".srate__category")).to_have_count(0)
