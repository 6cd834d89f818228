"""A page that is left at once after a key sends what it has; the page after it goes on from that."""

import pytest
from playwright.sync_api import expect

from tests.stories import test_rating_steps as ratings
from tests.stories.conftest import Reader
from tests.tenants import Tenants

pytestmark = pytest.mark.browser


def test_what_a_page_sends_while_it_is_left_is_no_other_version_to_the_next(
    tenants_of_browsers: Tenants, reader: Reader
) -> None:
    page, _ = ratings.at_steps(tenants_of_browsers, reader, ratings.per_step(), steps=6)
    answers: list[int] = []
    page.on("response", lambda answer: answers.append(answer.status) if answer.request.method == "PUT" else None)
    for labelled in range(1, 5):
        ratings.press(page, "1")
        # The site makes the new page before the old one says its last words.
        page.reload()
        ratings.is_ready(page)
        expect(page.locator("[data-steps-progress]")).to_have_text(f"{labelled} of 6 labelled")
        expect(page.locator("[data-saved]")).to_contain_text("Saved")
        page.locator(f"#s{labelled}").click(position={"x": 60, "y": 12})
    expect(page.locator("dialog:modal")).to_have_count(0)
    assert set(answers) == {200}, answers
    assert reader.errors == []
