"""Single keys on a task: those of the project, in whatever script somebody types, and none where it says so."""

import json
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from accounts.actions.projects import publish_configuration
from tenancy.actor import acting_in
from tests.assignments.reviews import reviewed
from tests.stories import test_first_error as errors
from tests.stories import test_rating_steps as ratings
from tests.stories import test_web_agents as web
from tests.stories.conftest import Reader
from tests.stories.reviewing import at_task, claimed, task_path
from tests.tenants import Tenants

pytestmark = pytest.mark.browser

TYPED = """([key, code, more]) => document.activeElement.dispatchEvent(
  new KeyboardEvent("keydown", {key, code, bubbles: true, cancelable: true, composed: true, ...more}))"""


def typed(page: Page, key: str, code: str, **more: bool) -> None:
    """A key as a browser says it under another layout, which Playwright has no keyboards of."""
    page.evaluate(TYPED, [key, code, more])


def focused(page: Page) -> str:
    return str(page.locator(".step.is-focus").get_attribute("id"))


def test_no_key_moves_or_opens_where_the_project_has_switched_them_off(
    tenants_of_browsers: Tenants, reader: Reader
) -> None:
    settings = {"keyboard_shortcuts": {"enabled": False}, "per_step": {"allow_notes": True}}
    page, _ = ratings.at_steps(tenants_of_browsers, reader, ratings.per_step(**settings), steps=4)
    for pressed in ("j", "j", "]", "o", "Shift+ArrowDown", "Enter", "n", "/"):
        page.keyboard.press(pressed)
    assert focused(page) == "s0"
    expect(page.locator("#s0.is-closed")).to_have_count(0)
    expect(page.locator("[data-range]")).to_be_hidden()
    expect(page.locator("[data-filter]")).not_to_be_focused()
    expect(page.locator(".bar kbd:visible").filter(has_text="j")).to_have_count(0)
    page.keyboard.press("?")
    keys = page.get_by_role("dialog", name="Keyboard shortcuts")
    expect(keys).to_contain_text("This project works without single keys")
    assert not {"Next, previous step", "Open or close all"} & set(keys.locator("li span").all_text_contents())
    reader.assert_clean("no keys")


def test_configured_moves_take_the_place_of_j_and_k(tenants_of_browsers: Tenants, reader: Reader) -> None:
    shortcuts = {"next_step": "l", "prev_step": "h"}
    page, _ = ratings.at_steps(tenants_of_browsers, reader, ratings.per_step(keyboard_shortcuts=shortcuts), steps=4)
    page.keyboard.press("j")
    assert focused(page) == "s0"
    page.keyboard.press("l")
    page.keyboard.press("l")
    page.keyboard.press("k")
    assert focused(page) == "s2"
    page.keyboard.press("h")
    assert focused(page) == "s1"


def test_the_larger_screenshot_goes_on_by_the_same_keys(
    tenants_of_browsers: Tenants, reader: Reader, tmp_path: Path
) -> None:
    tenants, page = tenants_of_browsers, reader.page
    settings = {"mode": "per_step", "keyboard_shortcuts": {"next_step": "l", "prev_step": "h"}}
    rewards = {"name": "rewards", "annotation_type": "process_reward", **settings}
    source = {"task_name": "Pages", "agentic": {"display_type": "web_agent"}, "annotation_schemes": [rewards]}
    with acting_in(tenants.acme, tenants.alice):
        publish_configuration(project=tenants.acme_project, source=json.dumps(source))
    web.browsed(tenants, tmp_path)
    reader.sign_in("bob")
    reader.open(task_path(claimed(tenants, tenants.bob), "steps/"))
    ratings.is_ready(page)
    page.locator("article a[data-shot]").first.click()
    dialog = page.get_by_role("dialog", name="Screenshot of step")
    before = dialog.locator("[data-zoom-title]").text_content()
    page.keyboard.press("j")
    expect(dialog.locator("[data-zoom-title]")).to_have_text(str(before))
    expect(dialog.locator(":focus")).to_have_count(1)
    typed(page, "\N{HANGUL LETTER I}", "KeyL")
    expect(dialog.locator("[data-zoom-title]")).not_to_have_text(str(before))


def test_letters_act_in_korean_and_cyrillic_and_under_caps_lock(tenants_of_browsers: Tenants, reader: Reader) -> None:
    page, _ = ratings.at_steps(tenants_of_browsers, reader, ratings.per_step(per_step={"allow_notes": True}), steps=8)
    typed(page, "\N{HANGUL LETTER EO}", "KeyJ")
    assert focused(page) == "s1"
    typed(page, "\N{CYRILLIC SMALL LETTER O}", "KeyJ")
    assert focused(page) == "s2"
    typed(page, "Process", "KeyJ")
    assert focused(page) == "s3"
    typed(page, "J", "KeyJ")  # Caps Lock
    assert focused(page) == "s4"
    typed(page, "\N{CYRILLIC CAPITAL LETTER EL}", "KeyK")
    assert focused(page) == "s3"
    page.keyboard.press("1")
    typed(page, "\N{CYRILLIC CAPITAL LETTER O}", "KeyJ", shiftKey=True)
    assert focused(page) == "s5", "Shift J goes to the next unlabelled step"
    typed(page, "é", "Digit2")
    assert ratings.marks(page)[5] == "Incorrect"
    assert reader.errors == []


def test_what_a_layout_says_in_latin_letters_is_taken_as_it_is(tenants_of_browsers: Tenants, reader: Reader) -> None:
    page, _ = ratings.at_steps(tenants_of_browsers, reader, ratings.per_step(), steps=3)
    typed(page, "h", "KeyJ")  # Dvorak
    assert focused(page) == "s0"
    typed(page, "j", "KeyC")
    assert focused(page) == "s1"


def test_a_label_without_a_key_has_the_next_free_digit_and_the_help_says_so(
    tenants_of_browsers: Tenants, reader: Reader
) -> None:
    labels = [{"value": "fine", "score": 1}, {"value": "correct"}, {"value": "odd", "score": 0}]
    page, _ = ratings.at_steps(tenants_of_browsers, reader, ratings.per_step(per_step={"labels": labels}), steps=3)
    expect(page.locator("#s0 .chip kbd")).to_have_text(["2", "1", "3"])
    for pressed in ("2", "1", "3"):
        page.keyboard.press(pressed)
    assert ratings.marks(page) == ["Fine", "Correct", "Odd"]
    page.keyboard.press("?")
    section = page.get_by_role("dialog", name="Keyboard shortcuts").locator(
        "section", has=page.get_by_role("heading", name="Label")
    )
    expect(section.locator("li").nth(0)).to_have_text("Fine (the next free digit)2")
    expect(section.locator("li").nth(1)).to_have_text("Correct1")
    reader.assert_clean("derived keys")


def test_verdicts_and_ratings_hear_the_same_keys(tenants_of_browsers: Tenants, reader: Reader) -> None:
    tenants = tenants_of_browsers
    reviewed(tenants.acme, tenants.acme_project)
    page = at_task(reader, claimed(tenants, tenants.bob))
    page.keyboard.press("g")
    page.keyboard.press("v")
    typed(page, "\N{HANGUL LETTER THIEUTH}", "KeyX")
    expect(page.get_by_role("radio", name="Request Changes")).to_be_checked()
    typed(page, "A", "KeyA")
    expect(page.get_by_role("radio", name="Approve")).to_be_checked()
    typed(page, "g", "KeyG")
    typed(page, "\N{CYRILLIC SMALL LETTER EM}", "KeyV")
    expect(page.get_by_role("radio", name="Approve")).to_be_focused()
    page.keyboard.press("r")
    typed(page, "é", "Digit2")
    expect(page.locator(".rating.is-rated :checked")).to_have_value("2")
    page.evaluate("localStorage.setItem('potato.keys', 'off')")
    page.keyboard.press("4")
    expect(page.locator(".rating.is-rated")).to_have_count(1)
    page.get_by_role("radio", name="Approve").focus()
    page.keyboard.press("m")
    expect(page.get_by_role("radio", name="Approve")).to_be_checked()


def test_first_error_keys_in_another_script(tenants_of_browsers: Tenants, reader: Reader) -> None:
    page = errors.at_trace(tenants_of_browsers, reader, allow_neutral=True)
    page.keyboard.press("1")
    typed(page, "\N{CYRILLIC SMALL LETTER TE}", "KeyN")
    expect(page.locator(".srail__item").first).to_contain_text("neutral")
