"""An annotator reads of their own work in the browser, in both themes."""

import pytest
from playwright.sync_api import expect

from assignments.actions.deciding import accept, return_to_annotator
from assignments.actions.submitting import store_submission
from assignments.review_notes import ReviewNote
from tenancy.actor import acting_in
from tests.assignments.reviews import documented, reviewed
from tests.stories.conftest import Reader
from tests.stories.pictures import shoot
from tests.stories.reviewing import claimed
from tests.tenants import Tenants

pytestmark = pytest.mark.browser


def test_notes_that_wait_come_first_and_lead_to_their_task(tenants_of_browsers: Tenants, themed_reader: Reader) -> None:
    tenants, page = tenants_of_browsers, themed_reader.page
    submissions = []
    for number in range(2):
        reviewed(tenants.acme, tenants.acme_project, external_id=f"trace_{number}")
        held = claimed(tenants, tenants.bob)
        with acting_in(tenants.acme, tenants.bob):
            submissions.append(
                store_submission(assignment=held, fencing_token=1, key="k", payload=documented(), result=documented())
            )
    with acting_in(tenants.acme, tenants.mallory):
        note = ReviewNote("Say which callers break.", path="src/parser.py", line=42)
        return_to_annotator(submission=submissions[0], user=tenants.mallory, notes=[note])
        accept(submission=submissions[1], user=tenants.mallory, notes=[ReviewNote("Well seen.")])
    themed_reader.sign_in("bob")
    themed_reader.open("/o/acme/annotations/")
    page.get_by_role("navigation", name="My annotations").get_by_role("link", name="Feedback").click()
    expect(page.get_by_text("1 of the 2 that were reviewed accepted")).to_be_visible()
    themed_reader.assert_clean()
    shoot(themed_reader, "feedback")
    page.get_by_role("link", name="Open it").click()
    expect(page.get_by_text("asks you to look at this one again")).to_be_visible()
