"""An annotator rates every step of an agent's run, by click and by key, one step or a range of them at a time."""

import json
import re
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from accounts.actions.projects import publish_configuration
from assignments.models import Assignment, Submission
from tenancy.actor import acting_in
from tests.rewards import documented_configurations as documented
from tests.rewards.documented_results import PER_STEP
from tests.stories.conftest import Reader
from tests.stories.reviewing import claimed, saved, task_path, until
from tests.tenants import Tenants
from tests.traces.stored import code, outcome, step, stored

pytestmark = pytest.mark.browser

DETAILS = PER_STEP["step_details"]
RECORD = {**PER_STEP, "label_origin": ["given"] * 6}
KEYS_OF_ALL = {"keyboard_shortcuts": {"recovery": "5"}}
EVERYTHING = {
    "per_step": {"error_categories": {"enabled": True}, "allow_notes": True, "show_running_score": True},
    "ask_correction": True,
    "allow_unsure": True,
    **KEYS_OF_ALL,
}


def at_steps(tenants: Tenants, reader: Reader, configuration: str, steps: int = 6) -> tuple[Page, Assignment]:
    """A task with so many steps in Bob's browser, ready for work."""
    with acting_in(tenants.acme, tenants.alice):
        publish_configuration(project=tenants.acme_project, source=configuration)
    run = tuple(step(f"I do thing {at}.") for at in range(steps))
    stored(tenants.acme, tenants.acme_project, outcome("a.py", code(3), code(4)), steps=run)
    assignment = claimed(tenants, tenants.bob)
    reader.sign_in("bob")
    reader.open(task_path(assignment, "steps/"))
    is_ready(reader.page)
    return reader.page, assignment


def per_step(**settings: Any) -> str:
    scheme = {"name": "process_reward", "annotation_type": "process_reward", "mode": "per_step", **settings}
    return json.dumps({"task_name": "Rewards", "annotation_schemes": [scheme]})


def is_ready(page: Page) -> None:
    until(page, "document.querySelector('[data-steps-progress]').textContent.includes('labelled')")
    until(page, "document.querySelector('#s0 .srate input')?.disabled === false")


def radio(page: Page, index: int, name: str) -> Locator:
    return page.locator(f"#s{index}").get_by_role("radio", name=name, exact=True)


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def submitted(tenants: Tenants, page: Page) -> Any:
    page.locator("[data-submit]").click()
    until(page, "document.querySelector('#submitted').open")
    with acting_in(tenants.acme):
        return Submission.objects.get().result["process_reward"]


def marks(page: Page) -> list[str]:
    return page.locator(".step__mark").all_text_contents()


def test_the_documented_record_by_clicks(tenants_of_browsers: Tenants, themed_reader: Reader) -> None:
    page, _ = at_steps(tenants_of_browsers, themed_reader, documented.ALL["per_step"])
    expect(page.locator("[data-score]")).to_contain_text("none yet")
    expect(page.locator("[data-missing]")).to_contain_text("Step 0")
    themed_reader.assert_clean("nothing rated")
    for index, name in enumerate(["Correct", "Correct", "Incorrect", "Recovery from Error", "Correct", "Correct"]):
        radio(page, index, name).click()
    expect(page.locator("#s2 select")).to_be_visible()
    expect(page.locator("#s0 select")).to_have_count(0)
    page.locator("#s2").get_by_label("Error category").select_option("Wrong tool selected")
    page.locator("#s2").get_by_label("Note").fill(DETAILS["2"]["notes"])
    page.locator("#s3").click(position={"x": 300, "y": 12})
    page.locator("#s3").get_by_role("button", name="Note").click()
    page.locator("#s3").get_by_label("Note").fill(DETAILS["3"]["notes"])
    expect(page.locator(".score__v")).to_have_text("+3.25")
    expect(page.locator(".spark")).to_have_attribute("aria-label", "Running score by step: 1, 2, 1, 1.25, 2.25, 3.25")
    expect(page.locator("[data-steps-progress]")).to_have_text("6 of 6 labelled")
    themed_reader.assert_clean("everything rated")
    assert submitted(tenants_of_browsers, page) == RECORD
    assert themed_reader.errors == []


def test_the_documented_record_by_keys_alone(tenants_of_browsers: Tenants, reader: Reader) -> None:
    configuration = documented.ALL["per_step"] + '\n    keyboard_shortcuts: {recovery: "5"}\n'
    page, _ = at_steps(tenants_of_browsers, reader, configuration)
    press(page, "1", "1", "2")
    expect(page.locator("#s2 select")).to_be_focused()
    press(page, "W", "Enter")
    expect(page.locator("#s3.is-focus")).to_be_visible()
    # The note of the step that was just labelled, although the focus went on.
    press(page, "k", "n")
    expect(page.locator("#s2 textarea")).to_be_focused()
    page.keyboard.type(DETAILS["2"]["notes"])
    press(page, "Escape", "j", "5", "n")
    expect(page.locator("#s3 textarea")).to_be_focused()
    page.keyboard.type(DETAILS["3"]["notes"])
    press(page, "Control+Enter", "1", "1")
    expect(page.locator("[data-left]")).to_have_text(re.compile("Ready|Nothing"))
    press(page, "Control+Shift+Enter")
    expect(page.locator("#submitted")).to_be_visible()
    with acting_in(tenants_of_browsers.acme):
        assert Submission.objects.get().result["process_reward"] == RECORD
    assert reader.errors == []


def test_eight_steps_with_eight_keys(tenants_of_browsers: Tenants, reader: Reader) -> None:
    page, _ = at_steps(tenants_of_browsers, reader, per_step(), steps=8)
    press(page, "1", "1", "4", "1", "2", "1", "1", "3")
    expect(page.locator("[data-steps-progress]")).to_have_text("8 of 8 labelled")
    assert [mark[0] for mark in marks(page)] == ["C", "C", "U", "C", "I", "C", "C", "P"]
    # Without the switch no score is shown, neither of a step nor of all.
    expect(page.locator("[data-score]")).to_be_hidden()
    expect(page.locator("#s0 .stepscore")).to_have_count(0)
    assert submitted(tenants_of_browsers, page)["cumulative_score"] == 4.0


def test_a_draft_comes_back(tenants_of_browsers: Tenants, reader: Reader) -> None:
    page, _ = at_steps(tenants_of_browsers, reader, per_step(**EVERYTHING))
    press(page, "1", "2", "Enter", "n")
    page.keyboard.type("Why this?")
    press(page, "Escape")
    page.locator("#s1").get_by_label("What the agent should have done here").fill("Read the file.")
    page.locator("#s1").get_by_role("checkbox", name="Unsure").check()
    saved(page)
    page.reload()
    is_ready(page)
    assert marks(page)[:3] == ["Correct", "Incorrect", "Unlabelled"]
    expect(page.locator("#s1").get_by_label("Note")).to_have_value("Why this?")
    expect(page.locator("#s1").get_by_label("What the agent should")).to_have_value("Read the file.")
    expect(page.locator("#s1").get_by_role("checkbox", name="Unsure")).to_be_checked()
    expect(page.locator(".srail__item").nth(1)).to_contain_text("Incorrect, \N{MINUS SIGN}1.0, unsure")
    assert reader.errors == []


def test_clearing_and_relabelling_can_be_undone(tenants_of_browsers: Tenants, reader: Reader) -> None:
    page, _ = at_steps(tenants_of_browsers, reader, per_step(**EVERYTHING))
    press(page, "2", "L", "Escape", "k")
    expect(page.locator("#s0 select")).to_have_value("Logic error")
    press(page, "1")
    expect(page.locator("#s0 select")).to_have_count(0)
    expect(page.locator("#toasts")).to_contain_text("Step 0: Correct instead of Incorrect.")
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("#s0 select")).to_have_value("Logic error")
    press(page, "k", "u")
    assert marks(page)[0] == "Unlabelled"
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("#s0 select")).to_have_value("Logic error")
    assert reader.errors == []


def test_a_relabelled_step_loses_a_category_that_its_label_does_not_take_and_says_so(
    tenants_of_browsers: Tenants, reader: Reader
) -> None:
    page, _ = at_steps(tenants_of_browsers, reader, per_step(**EVERYTHING), steps=3)
    press(page, "2", "L", "Escape", "2", "L", "Escape", "1", "k", "k", "k")
    expect(page.locator("#s0 select")).to_have_value("Logic error")
    press(page, "3", "k")
    expect(page.locator("#s0 select")).to_have_value("Logic error")
    press(page, "1")
    expect(page.locator("#toasts")).to_contain_text("Its error category went: Correct takes none.")
    expect(page.locator("#s0 select")).to_have_count(0)
    part = submitted(tenants_of_browsers, page)
    assert part["step_details"]["0"] == {"label": "correct"}
    assert part["step_details"]["1"] == {"label": "incorrect", "error_category": "Logic error"}
    assert reader.errors == []


def test_categories_that_a_range_loses_are_counted(tenants_of_browsers: Tenants, reader: Reader) -> None:
    page, _ = at_steps(tenants_of_browsers, reader, per_step(**EVERYTHING), steps=3)
    press(page, "2", "L", "Escape", "2", "L", "Escape", "k", "k", "Shift+ArrowDown", "1")
    expect(page.locator("#toasts")).to_contain_text("2 error categories went: Correct takes none.")
    page.get_by_role("button", name="Undo").last.click()
    expect(page.locator("#s1 select")).to_have_value("Logic error")


def test_a_step_that_is_worth_nothing_counts_as_wrong(tenants_of_browsers: Tenants, reader: Reader) -> None:
    labels = [{"value": "fine", "score": 0.1}, {"value": "useless", "score": 0}, {"value": "bad", "score": -1}]
    keys = {"fine": "1", "useless": "2", "bad": "3"}
    settings = {"per_step": {"labels": labels}, "keyboard_shortcuts": keys, "ask_correction": True}
    page, _ = at_steps(tenants_of_browsers, reader, per_step(**settings), steps=3)
    press(page, "1", "2", "3")
    page.locator("#s1").get_by_label("What the agent should have done here").fill("Stop.")
    expect(page.locator("#s2").get_by_label("What the agent should have done here")).to_have_count(0)
    part = submitted(tenants_of_browsers, page)
    assert (part["labels"], part["step_details"]["1"]["correction"]) == ([0.1, 0.0, -1.0], "Stop.")


def test_a_correction_stands_at_the_first_wrong_step(tenants_of_browsers: Tenants, reader: Reader) -> None:
    page, _ = at_steps(tenants_of_browsers, reader, per_step(ask_correction=True), steps=3)
    press(page, "1", "1", "2")
    page.locator("#s2").get_by_label("What the agent should have done here").fill("Stop.")
    page.locator("#s1").get_by_role("radio", name="Incorrect", exact=True).click()
    expect(page.locator("#s2 [data-misplaced]")).to_contain_text("Step 1 is the first wrong step now.")
    expect(page.locator("[data-missing]")).to_contain_text("Correction of step 2")
    page.locator("#s2").get_by_label("What the agent should have done here").fill("")
    page.locator("#s1").get_by_label("What the agent should have done here").fill("Stop.")
    part = submitted(tenants_of_browsers, page)
    assert part["step_details"]["1"] == {"label": "incorrect", "correction": "Stop."}


def test_steps_may_stay_unrated_where_the_project_allows_it(tenants_of_browsers: Tenants, reader: Reader) -> None:
    page, _ = at_steps(tenants_of_browsers, reader, per_step(per_step={"require_all_steps": False}), steps=4)
    expect(page.locator("[data-missing]")).to_contain_text("Rate at least one step")
    press(page, "j", "4")
    part = submitted(tenants_of_browsers, page)
    assert part["labels"] == [None, -0.5, None, None]
    assert part["step_details"] == {"1": {"label": "unnecessary"}}


def test_labels_of_ones_own_with_keys_that_win_over_ours(tenants_of_browsers: Tenants, reader: Reader) -> None:
    labels = [{"value": "fine", "score": 0.1, "color": "#0aa"}, {"value": "bad", "score": -0.3}]
    keys = {"fine": "n", "bad": "u", "next_step": "l", "prev_step": "h"}
    page, _ = at_steps(
        tenants_of_browsers,
        reader,
        per_step(per_step={"labels": labels, "allow_notes": True, "show_running_score": True}, keyboard_shortcuts=keys),
        steps=4,
    )
    expect(page.locator("#s0 .chip kbd")).to_have_text(["n", "u"])
    press(page, "n", "n", "n", "h", "u")
    assert marks(page) == ["Fine", "Fine", "Bad", "Unlabelled"]
    expect(page.locator(".score__v")).to_have_text("\N{MINUS SIGN}0.1")
    reader.assert_clean()


def test_without_shortcuts_labels_are_clicked(tenants_of_browsers: Tenants, reader: Reader) -> None:
    page, _ = at_steps(tenants_of_browsers, reader, per_step(keyboard_shortcuts={"enabled": False}), steps=2)
    press(page, "1", "1")
    assert marks(page) == ["Unlabelled", "Unlabelled"]
    expect(page.locator("#s0 .chip kbd:visible")).to_have_count(0)
    radio(page, 0, "Correct").click()
    assert marks(page) == ["Correct", "Unlabelled"]


def test_later_steps_come_as_the_earlier_ones_are_rated(tenants_of_browsers: Tenants, reader: Reader) -> None:
    page, _ = at_steps(tenants_of_browsers, reader, per_step(reveal="progressive"), steps=3)
    expect(page.locator("article.step:visible")).to_have_count(1)
    press(page, "1")
    expect(page.locator("article.step:visible")).to_have_count(2)
    press(page, "2", "1")
    expect(page.locator("article.step:visible")).to_have_count(3)
    part = submitted(tenants_of_browsers, page)
    assert (part["reveal"], part["labels"]) == ("progressive", [1.0, -1.0, 1.0])


def test_a_range_is_labelled_with_one_key_and_undone(tenants_of_browsers: Tenants, reader: Reader) -> None:
    page, _ = at_steps(tenants_of_browsers, reader, per_step(**EVERYTHING), steps=8)
    press(page, "2", "Shift+ArrowDown", "Shift+ArrowDown", "Shift+ArrowUp")
    expect(page.locator("[data-range-words]")).to_contain_text("Steps 1 to 2")
    reader.assert_clean("a range")
    expect(page.get_by_role("region", name="Submit")).to_contain_text("the next label goes to all 2")
    press(page, "Escape")
    expect(page.locator("[data-range]")).to_be_hidden()
    page.locator("#s1 a.snum").focus()
    page.locator("#s5 .step__title").click(modifiers=["Shift"])
    expect(page.locator(".is-ranged")).to_have_count(5)
    press(page, "1")
    assert marks(page) == ["Incorrect", *["Correct"] * 5, "Unlabelled", "Unlabelled"]
    expect(page.locator("#s6.is-focus")).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    assert marks(page) == ["Incorrect", *["Unlabelled"] * 7]
    press(page, "Shift+J")
    expect(page.locator("#s7.is-focus")).to_be_visible()
    assert reader.errors == []


def test_five_hundred_steps_are_labelled_by_range(tenants_of_browsers: Tenants, reader: Reader) -> None:
    page, _ = at_steps(tenants_of_browsers, reader, per_step(**EVERYTHING), steps=500)
    press(page, "1", "1", "2", "Shift+End")
    press(page, "4")
    until(page, "document.querySelector('[data-steps-progress]').textContent === '500 of 500 labelled'")
    assert page.locator(".score__v").text_content() == "\N{MINUS SIGN}247.5"
    part = submitted(tenants_of_browsers, page)
    assert part["labels"] == [1.0, 1.0, -1.0, *[-0.5] * 497]
    assert reader.errors == []


def test_two_versions_of_many_ratings_are_told_by_the_steps_that_differ(
    tenants_of_browsers: Tenants, reader: Reader, chromium: Browser
) -> None:
    page, _ = at_steps(tenants_of_browsers, reader, per_step(), steps=30)
    for _ in range(25):
        page.keyboard.press("1")
    saved(page)
    with chromium.new_context() as machine:
        machine.add_cookies(page.context.cookies())  # type: ignore[arg-type]  # what it gave, it takes
        other = machine.new_page()
        other.goto(page.url)
        until(other, "document.querySelector('.is-focus .srate input')?.disabled === false")
        page.context.set_offline(True)
        page.keyboard.press("2")
        other.locator(".srail__item").nth(3).click()
        other.keyboard.press("4")
        saved(other)
        page.context.set_offline(False)
        page.get_by_role("button", name="Take over here").click()
    dialog = page.get_by_role("dialog", name="Two versions of this work")
    mine, theirs = dialog.locator("[data-mine] section").first, dialog.locator("[data-theirs] section").first
    expect(mine.get_by_role("listitem")).to_have_text(
        [
            "step details, 3: label: correct (only here)",
            "step details, 25: label: incorrect (only here)",
            "24 more, the same in both",
        ]
    )
    expect(theirs.get_by_role("listitem")).to_have_text(
        ["step details, 3: label: unnecessary (only here)", "24 more, the same in both"]
    )
    reader.assert_clean("two versions")
