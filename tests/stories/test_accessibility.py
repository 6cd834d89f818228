"""What is judged once for each way to be drawn is found wherever it is drawn in another way."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page

from tests.stories.accessibility import Accessibility

pytestmark = pytest.mark.browser

PAGE = """<!doctype html><html lang="en"><title>A page</title>
<style>body {{background: white; color: black}} .note {{color: #333}} .card {{background: {card}}}
button {{width: {width}; height: 20px; padding: 0; border: 0; margin: 0}}</style>
<main><h1>Parser</h1><p class="note">A note</p><div class="card"><p class="note">{text}</p></div>
<button aria-label="Before"></button><button aria-label="After"></button>{more}</main>"""


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    with chromium.new_context() as context:
        yield context.new_page()


def broken(accessibility: Accessibility, page: Page, **changes: str) -> list[str]:
    page.set_content(PAGE.format(**{"card": "white", "width": "60px", "text": "In a card", "more": "", **changes}))
    return [rule["id"] for rule in accessibility.violations(page)]


def test_a_page_of_known_ways_is_judged_by_what_is_new_on_it(page: Page) -> None:
    accessibility = Accessibility()
    assert broken(accessibility, page) == []
    for _ in range(2):
        # The same class, on another ground, in another colour, smaller, and behind something that makes it pale.
        assert broken(accessibility, page, card="#444") == ["color-contrast"]
        assert broken(accessibility, page, text='<span style="color: #ccc">Pale</span>') == ["color-contrast"]
        assert broken(accessibility, page, width="12px") == ["target-size"]
        # As small as before, and closer to one another.
        assert broken(accessibility, page, width="30px", more="<style>button {display: block}</style>") == [
            "target-size"
        ]
        assert broken(accessibility, page, more='<div style="opacity: 0.3"><p class="note">Faint</p></div>') == [
            "color-contrast"
        ]
        assert broken(accessibility, page, more="<input>") == ["label"]
    assert broken(accessibility, page) == []


def test_what_is_known_of_one_theme_is_not_known_of_the_other(page: Page) -> None:
    accessibility = Accessibility()
    assert broken(accessibility, page) == []
    page.add_style_tag(content="@media (prefers-color-scheme: dark) {.card {background: #444}}")
    assert accessibility.violations(page) == []
    page.emulate_media(color_scheme="dark")
    assert [rule["id"] for rule in accessibility.violations(page, colours_alone=True)] == ["color-contrast"]
