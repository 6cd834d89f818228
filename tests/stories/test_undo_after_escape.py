"""Whoever closes the message of a submission with Escape can still take the submission back."""

import pytest
from playwright.sync_api import expect

from assignments.actions.working import save_draft
from assignments.models import Assignment
from tenancy.actor import acting_in
from tests.assignments.reviews import documented, reviewed
from tests.stories.conftest import Reader
from tests.stories.reviewing import at_task, claimed
from tests.worlds import World

pytestmark = pytest.mark.browser


def test_a_submission_is_taken_back_after_escape(world_of_browsers: World, reader: Reader) -> None:
    world = world_of_browsers
    reviewed(world.acme, world.acme_project)
    assignment = claimed(world, world.bob)
    with acting_in(world.acme, world.bob):
        save_draft(assignment=assignment, fence=assignment.fence, revision=0, content={"answers": documented()})
    page = at_task(reader, assignment)
    page.get_by_role("button", name="Submit review").click()
    expect(page.locator("#submitted")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#submitted")).to_be_hidden()
    page.locator("#toasts").get_by_role("button", name="Undo").click()
    expect(page.locator("#toasts")).to_contain_text("Your submission is taken back.")
    expect(page.locator("#submitted")).to_be_hidden()
    with acting_in(world.acme, world.bob):
        assert Assignment.objects.get(pk=assignment.pk).is_open
    assert reader.errors == []
