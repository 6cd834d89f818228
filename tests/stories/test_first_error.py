"""An annotator marks the first wrong step of an agent's run, by click and by key."""

import json
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from accounts.actions.projects import publish_configuration
from tenancy.actor import acting_in
from tests.stories.conftest import Reader
from tests.stories.reviewing import claimed, task_path
from tests.traces.stored import code, outcome, step, stored
from tests.worlds import World

pytestmark = pytest.mark.browser


def scheme(**settings: Any) -> dict[str, Any]:
    return {"name": "process_reward", "annotation_type": "process_reward", "mode": "first_error", **settings}


def at_trace(world: World, reader: Reader, *others: dict[str, Any], steps: int = 8, **settings: Any) -> Page:
    """A task with so many steps in Bob's browser, ready for work."""
    configuration = {"task_name": "Rewards", "annotation_schemes": [*others, scheme(**settings)]}
    with acting_in(world.acme, world.alice):
        publish_configuration(project=world.acme_project, source=json.dumps(configuration), confirmed=True)
    run = tuple(step(f"I do thing {at}.") for at in range(steps))
    stored(world.acme, world.acme_project, outcome("a.py", code(3), code(4)), steps=run)
    assignment = claimed(world, world.bob)
    reader.sign_in("bob")
    reader.open(task_path(assignment))
    is_ready(reader.page)
    return reader.page


def is_ready(page: Page) -> None:
    expect(page.locator("[data-steps-progress]")).not_to_be_empty()
    expect(page.locator("[data-skip]")).to_be_enabled()


def test_a_task_with_steps_alone_begins_at_the_trace(world_of_browsers: World, reader: Reader) -> None:
    page = at_trace(world_of_browsers, reader)
    page.wait_for_url("**/steps/")
    page.get_by_role("link", name="Files changed").click()
    expect(page.get_by_role("article", name="a.py")).to_be_visible()
    page.get_by_role("link", name="First error, or all steps correct").click()
    page.wait_for_url("**/steps/#s0")
    assert reader.errors == []


def test_the_first_error_is_marked_with_three_keys(world_of_browsers: World, reader: Reader) -> None:
    page = at_trace(world_of_browsers, reader)
    for _ in range(4):
        page.keyboard.press("j")
    page.keyboard.press("2")
    page.screenshot(path="/tmp/w/page-confirm.png")
    page.keyboard.press("Enter")
    expect(page.locator("#s4 .step__mark")).to_have_text("-1 (first error)")
    page.screenshot(path="/tmp/w/page-marked.png")
    assert reader.errors == []
