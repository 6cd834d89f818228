"""A page that is left at once after a key sends what it has; the page after it goes on from that."""

import pytest
from playwright.sync_api import expect

from tests.stories import test_rating_steps as ratings
from tests.stories.conftest import Reader
from tests.tenants import Tenants

pytestmark = pytest.mark.browser


def test_what_a_page_sends_while_it_is_left_is_there_on_the_next_and_nobody_is_asked(
    tenants_of_browsers: Tenants, reader: Reader
) -> None:
    page, _ = ratings.at_steps(tenants_of_browsers, reader, ratings.per_step(), steps=6)
    for labelled in range(1, 5):
        ratings.press(page, "1")
        # The site may make the new page before the old one says its last words, or take both at once.
        page.reload()
        ratings.is_ready(page)
        expect(page.locator("[data-steps-progress]")).to_have_text(f"{labelled} of 6 labelled")
        expect(page.locator("[data-saved]")).to_contain_text("Saved")
        page.locator(f"#s{labelled}").click(position={"x": 60, "y": 12})
    expect(page.locator("dialog:modal")).to_have_count(0)
    assert reader.errors == []
