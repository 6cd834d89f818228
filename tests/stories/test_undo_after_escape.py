"""Whoever closes the message of a submission with Escape can still take the submission back."""

import pytest
from playwright.sync_api import expect

from assignments.actions.working import save_draft
from assignments.models import Assignment
from tenancy.actor import acting_in
from tests.assignments.reviews import documented, reviewed
from tests.stories.conftest import Reader
from tests.stories.reviewing import at_task, claimed
from tests.tenants import Tenants

pytestmark = pytest.mark.browser


def test_a_submission_is_taken_back_after_escape(tenants_of_browsers: Tenants, reader: Reader) -> None:
    tenants = tenants_of_browsers
    reviewed(tenants.acme, tenants.acme_project)
    assignment = claimed(tenants, tenants.bob)
    with acting_in(tenants.acme, tenants.bob):
        save_draft(
            assignment=assignment, fencing_token=assignment.fencing_token, revision=0, content={"answers": documented()}
        )
    page = at_task(reader, assignment)
    page.get_by_role("button", name="Submit review").click()
    expect(page.locator("#submitted")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#submitted")).to_be_hidden()
    page.locator("#toasts").get_by_role("button", name="Undo").click()
    expect(page.locator("#toasts")).to_contain_text("Your submission is taken back.")
    expect(page.locator("#submitted")).to_be_hidden()
    with acting_in(tenants.acme, tenants.bob):
        assert Assignment.objects.get(pk=assignment.pk).is_open
    assert reader.errors == []
