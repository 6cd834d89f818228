"""An annotator opens a task: what stands on it at every width, what it costs, and which of its choices stay."""

import re
from typing import Any

import pytest
from playwright.sync_api import Browser, expect
from pytest_django.live_server_helper import LiveServer

from accounts.actions.projects import publish_configuration
from tenancy.actor import acting_in
from tests.stories.conftest import Reader
from tests.stories.reviewing import at_task, claimed, is_ready, task_path
from tests.stories.test_reading_a_trace import COUNT_NODES, NODES, SENT, bytes_sent, changed
from tests.tenants import Tenants
from tests.traces.stored import code, outcome, read, step, stored
from traces.models import Trace

pytestmark = pytest.mark.browser

COUNT_LISTENERS = """
window.__listeners = {};
const add = EventTarget.prototype.addEventListener;
EventTarget.prototype.addEventListener = function (type, ...rest) {
  const name = `${type} on ${this === window ? "window" : this.constructor.name}`;
  window.__listeners[name] = (window.__listeners[name] ?? 0) + 1;
  return add.call(this, type, ...rest);
};
"""
SCRIPTS = 28_000
CONFIGURATION = 'task_name: "Coding Agent Code Review"\nguidelines: "Look at **edge cases** first."\n'


def prepared(tenants: Tenants, source: str = CONFIGURATION, *files: Any) -> Trace:
    with acting_in(tenants.acme, tenants.alice):
        publish_configuration(project=tenants.acme_project, source=source, confirmed=True)
    some = (
        outcome("src/parser.py", *changed(60, 20, 30)),
        outcome("src/new.py", None, code(30)),
        outcome("tests/gone.py", code(8), None),
        read("README.md", "read me\n"),
    )
    return stored(tenants.acme, tenants.acme_project, *(files or some), steps=(step("I look."), step("I fix.")))


def test_a_page_has_one_listener_for_each_type_of_event(tenants_of_browsers: Tenants, reader: Reader) -> None:
    prepared(tenants_of_browsers)
    reader.page.add_init_script(COUNT_LISTENERS)
    at_task(reader, claimed(tenants_of_browsers, tenants_of_browsers.bob))
    listeners: dict[str, int] = reader.page.evaluate("window.__listeners")
    assert "click on window" in listeners
    assert {name: count for name, count in listeners.items() if count > 1 or not name.endswith("on window")} == {}


def test_every_tab_is_clean_in_both_themes_and_at_every_width(
    tenants_of_browsers: Tenants, themed_reader: Reader
) -> None:
    prepared(tenants_of_browsers)
    reader, page = themed_reader, themed_reader.page
    assignment = claimed(tenants_of_browsers, tenants_of_browsers.bob)
    at_task(reader, assignment)
    page.get_by_label("Viewed").first.check()
    expect(page.locator("[data-saved]")).to_contain_text("Saved")
    # 400 % on a window of 1280.
    page.set_viewport_size({"width": 320, "height": 900})
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    for width in (1920, 1440, 1280, 768, 320):
        page.set_viewport_size({"width": width, "height": 900})
        for tab in ("", "steps/", "guidelines/"):
            reader.open(task_path(assignment, tab))
            expect(page.locator(".bar [data-left]")).not_to_be_empty()
            assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, (width, tab)
            if width in (1920, 768):
                reader.assert_clean(f"{width} {tab}")
    page.set_viewport_size({"width": 1920, "height": 900})
    reader.open(task_path(assignment))
    expect(page.get_by_role("complementary", name="Your review")).to_be_visible()
    expect(page.get_by_text("Task 1 of 1")).to_be_visible()
    expect(page.get_by_role("link", name=re.compile("parser.py not viewed"))).to_be_visible()


@pytest.mark.parametrize(("position", "is_left"), [("left", True), ("right", False)])
def test_the_file_tree_stands_where_it_is_configured(
    tenants_of_browsers: Tenants, reader: Reader, position: str, is_left: bool
) -> None:
    tree = f"agentic: {{coding_trace_display: {{file_tree: {{position: {position}}}}}}}\n"
    prepared(tenants_of_browsers, CONFIGURATION + tree)
    page = at_task(reader, claimed(tenants_of_browsers, tenants_of_browsers.bob))
    for width in (1920, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        left, right = page.locator(".rail").bounding_box(), page.locator("main").bounding_box()
        assert left is not None
        assert right is not None
        assert (left["x"] < right["x"]) is is_left
        assert left["y"] == right["y"]


def test_the_layout_and_hidden_white_space_stay_as_the_reader_chose_them(
    tenants_of_browsers: Tenants, reader: Reader
) -> None:
    prepared(tenants_of_browsers, CONFIGURATION, outcome("a.py", "a\n b\nc\n", "a\nb\nd\n"))
    assignment = claimed(tenants_of_browsers, tenants_of_browsers.bob)
    page = at_task(reader, assignment)
    expect(page.locator("tr:is(.is-add, .is-del)")).to_have_count(4)
    page.get_by_label("Hide whitespace").check()
    expect(page.locator("tr:is(.is-add, .is-del)")).to_have_count(2)
    page.keyboard.press("s")
    expect(page.locator(".diff--split")).to_have_count(1)
    reader.open(task_path(assignment))
    is_ready(page)
    expect(page.locator(".diff--split")).to_have_count(1)
    expect(page.get_by_label("Hide whitespace")).to_be_checked()
    page.get_by_role("button", name="Comment on new line 2").click()
    expect(page.locator("form.cform")).to_be_visible()
    page.set_viewport_size({"width": 1000, "height": 900})
    reader.open(task_path(assignment))
    page.wait_for_url(re.compile("view=unified"))
    assert reader.errors == []


def test_guidelines_are_read_once(tenants_of_browsers: Tenants, reader: Reader) -> None:
    prepared(tenants_of_browsers)
    page = at_task(reader, claimed(tenants_of_browsers, tenants_of_browsers.bob))
    page.get_by_role("link", name="Read the guidelines").click()
    expect(page.get_by_role("article", name="Guidelines")).to_contain_text("edge cases")
    page.get_by_role("button", name="I have read them").click()
    is_ready(page)
    expect(page.get_by_text("This project has guidelines")).to_have_count(0)
    assert reader.errors == []


@pytest.mark.parametrize("files", [12, 200])
def test_little_is_sent_before_scrolling(tenants_of_browsers: Tenants, reader: Reader, files: int) -> None:
    """A typical change of 12 files, and one of 50,000 lines."""
    names = [f"src/m{at % 9}/part_{at:03}.py" for at in range(files)]
    prepared(tenants_of_browsers, CONFIGURATION, *(outcome(name, code(130), code(130, "new")) for name in names))
    assignment = claimed(tenants_of_browsers, tenants_of_browsers.bob)
    page = reader.page
    reader.sign_in("bob")
    reader.open(task_path(assignment))
    is_ready(page)
    page.wait_for_load_state("networkidle")
    assert 30_000 < bytes_sent(page) < SENT
    assert 10_000 < bytes_sent(page, suffix=".js") < SCRIPTS
    assert page.evaluate(COUNT_NODES) < NODES


def test_without_javascript_a_task_can_be_read(
    tenants_of_browsers: Tenants, chromium: Browser, live_server: LiveServer
) -> None:
    prepared(tenants_of_browsers)
    assignment = claimed(tenants_of_browsers, tenants_of_browsers.bob)
    with chromium.new_context(java_script_enabled=False) as context:
        reader = Reader(context.new_page(), live_server.url, [], [])
        reader.sign_in_by_form("bob")
        reader.open(task_path(assignment))
        expect(reader.page.get_by_text("Annotating needs JavaScript")).to_be_visible()
        expect(reader.page.get_by_text("# changed 20")).to_be_visible()
        expect(reader.page.get_by_role("button", name="Submit review")).to_be_hidden()
        reader.page.get_by_role("link", name=re.compile("Agent trace")).click()
        expect(reader.page.get_by_text("I fix.")).to_be_visible()


def test_the_tree_says_what_was_viewed_where_its_names_are_no_links(
    tenants_of_browsers: Tenants, reader: Reader
) -> None:
    display = "agentic: { enabled: true, coding_trace_display: { file_tree: { click_to_navigate: false } } }\n"
    prepared(tenants_of_browsers, CONFIGURATION + display)
    at_task(reader, claimed(tenants_of_browsers, tenants_of_browsers.bob))
    marks = reader.page.locator("span.tree__file .tree__seen:not(.is-off)")
    expect(marks).to_have_count(0)
    reader.page.get_by_role("article", name="src/parser.py").get_by_label("Viewed").check()
    expect(marks).to_have_text(["viewed"])
