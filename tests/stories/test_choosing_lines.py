"""The lines that a comment is about, in Chromium: chosen with a mouse alone or with keys alone, on either side."""

import re

import pytest
from playwright.sync_api import expect

from tests.stories.commenting import PATH, TaskPage, drag, open_task_page, places
from tests.stories.commenting import task_page as task_page  # a fixture
from tests.stories.conftest import Reader
from tests.tenants import Tenants

pytestmark = pytest.mark.browser


def selected(task_page: TaskPage) -> list[str]:
    """The code of the lines that are marked, each side's own in two columns."""
    return [text.strip() for text in task_page.page.locator("tr.is-sel > .code, td.code.is-sel").all_inner_texts()]


def test_a_comment_is_written_with_the_mouse_alone(task_page: TaskPage) -> None:
    task_page.line(16).click()
    form = task_page.form("New comment, src/parser.py, new line 16")
    expect(form).to_be_visible()
    expect(form.get_by_role("radio", name="Bug")).to_be_focused()
    expect(form.get_by_role("radio", checked=True)).to_have_count(0)
    assert selected(task_page) == ["new 16"]
    task_page.reader.assert_clean("form")
    task_page.write("The `limit` is tested once.\n\nToo late.")
    card = task_page.comment("line 16 of parser.py")
    expect(card).to_contain_text("Bug")
    expect(card.locator("code")).to_have_text("limit")
    expect(card.locator(".comment__body p")).to_have_count(2)
    assert task_page.focused() == "Comment on new line 16"
    assert selected(task_page) == []
    kept = task_page.kept(bool)
    assert [(one["file"], one["category"]) for one in kept] == [(PATH, "bug")]
    assert places(kept) == [("new", 16, 16)]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", kept[0]["created_at"])
    assert re.fullmatch(r"[A-Za-z0-9_-]{20,64}", kept[0]["comment_id"])
    assert not {"severity", "suggestion"} & set(kept[0])
    task_page.reader.assert_clean("comment")


def test_the_sign_beside_a_line_opens_the_form_too(task_page: TaskPage) -> None:
    task_page.line(18).hover()
    box = task_page.line(18).bounding_box()
    assert box
    task_page.page.mouse.click(box["x"] + box["width"] + 10, box["y"] + box["height"] / 2)
    expect(task_page.form("New comment, src/parser.py, new line 18")).to_be_visible()


def test_lines_are_chosen_by_dragging_and_by_shift_with_a_click(task_page: TaskPage) -> None:
    drag(task_page, task_page.line(17), task_page.line(18), task_page.line(15))
    expect(task_page.form("New comment, src/parser.py, new lines 15 to 17")).to_be_visible()
    assert selected(task_page) == ["new 15", "new 16", "new 17"]
    task_page.write("Three lines.")
    # A removed line, over the added ones to an unchanged one: all of the old side.
    drag(task_page, task_page.line(16, "old"), task_page.line(17), task_page.line(18))
    expect(task_page.form("New comment, src/parser.py, old lines 16 to 17")).to_be_visible()
    assert selected(task_page) == ["line 16", "line 17"]
    task_page.write("Old ones.")
    # A click opens the form; Shift with a click moves its end, also upwards.
    task_page.line(39).click()
    task_page.line(41).click(modifiers=["Shift"])
    form = task_page.form("New comment, src/parser.py, new lines 39 to 41")
    expect(form).to_be_visible()
    expect(task_page.form()).to_have_count(1)
    task_page.line(37).click(modifiers=["Shift"])
    expect(task_page.form("New comment, src/parser.py, new lines 37 to 39")).to_be_visible()
    task_page.write("And these.")
    assert places(task_page.kept(lambda kept: len(kept) == 3)) == [("new", 15, 17), ("old", 16, 17), ("new", 37, 39)]
    # Hidden lines between can be commented, too.
    drag(task_page, task_page.line(20), task_page.line(36))
    task_page.write("Over hidden lines")
    assert places(task_page.kept(lambda kept: len(kept) == 4))[-1] == ("new", 20, 36)
    assert task_page.refused() == []
    assert task_page.page.evaluate("getSelection().toString()") == ""
    # A drag to another file keeps to its own.
    drag(task_page, task_page.line(44), task_page.line(45), task_page.line(2, path="tests/test_edges.py"))
    expect(task_page.form("New comment, src/parser.py, new lines 44 to 45")).to_be_visible()


def test_a_comment_is_written_with_the_keys_alone(task_page: TaskPage) -> None:
    page, press = task_page.page, task_page.page.keyboard.press
    task_page.file().get_by_label("Copy path").focus()
    while not re.match("Comment on (old|new) line", task_page.focused()):
        press("Tab")
    for _ in range(5):
        press("ArrowDown")
    assert task_page.focused() == "Comment on old line 15"
    press("Shift+ArrowDown")
    assert task_page.focused() == "Comment on old line 16"
    assert selected(task_page) == ["line 15", "line 16"]
    expect(page.locator("[data-announce]")).to_have_text("old lines 15 to 16 selected")
    press("Shift+ArrowDown")
    assert selected(task_page) == ["line 15", "line 16", "line 17"]
    press("Shift+ArrowUp")
    press("Enter")
    form = task_page.form("New comment, src/parser.py, old lines 15 to 16")
    expect(form).to_be_visible()
    expect(form.get_by_role("radio", name="Bug")).to_be_focused()
    press("3")
    expect(form.get_by_role("radio", name="Security")).to_be_checked()
    expect(form.get_by_label("Comment", exact=True)).to_be_focused()
    page.keyboard.type("Written 1 2 3 with keys")
    expect(form.get_by_role("radio", name="Security")).to_be_checked()
    press("Shift+Tab")
    press("ArrowRight")
    press("Control+Enter")
    expect(task_page.comment("old lines 15 to 16 of parser.py")).to_contain_text("Written 1 2 3 with keys")
    assert task_page.focused() == "Comment on old line 16"
    # c opens on the focused line, Space as well; Shift with an arrow moves the end of an open form's range.
    for _ in range(4):
        press("ArrowDown")
    press("c")
    press("Shift+ArrowDown")
    expect(task_page.form("New comment, src/parser.py, new lines 18 to 19")).to_be_visible()
    expect(task_page.form().get_by_role("radio", name="Bug")).to_be_focused()
    press("Shift+ArrowUp")
    press("Shift+ArrowUp")
    expect(task_page.form("New comment, src/parser.py, new lines 17 to 18")).to_be_visible()
    press("Escape")
    expect(task_page.form()).to_have_count(0)
    assert task_page.focused() == "Comment on new line 18"
    press("Space")
    expect(task_page.form("New comment, src/parser.py, new line 18")).to_be_visible()
    press("Space")
    press("Enter")
    page.keyboard.type("Second")
    press("Control+Enter")
    kept = task_page.kept(lambda kept: len(kept) == 2)
    assert places(kept) == [("old", 15, 16), ("new", 18, 18)]
    assert kept[0]["category"] == "security"
    assert kept[0]["severity"] == "critical"
    press("Shift+ArrowDown")
    press("Escape")
    assert selected(task_page) == []
    task_page.reader.assert_clean()


def test_added_removed_and_unchanged_lines_have_their_side(task_page: TaskPage) -> None:
    for number, side, path in (
        (15, "new", PATH),
        (15, "old", PATH),
        (20, "new", PATH),
        (3, "old", "src/compat.py"),
        (4, "new", "tests/test_edges.py"),
    ):
        task_page.line(number, side, path).click()
        task_page.write(f"{side} {number}")
    kept = task_page.kept(lambda kept: len(kept) == 5)
    assert [(one["file"], *place) for one, place in zip(kept, places(kept), strict=True)] == [
        (PATH, "new", 15, 15),
        (PATH, "old", 15, 15),
        (PATH, "new", 20, 20),
        ("src/compat.py", "old", 3, 3),
        ("tests/test_edges.py", "new", 4, 4),
    ]
    assert task_page.refused() == []


def test_both_sides_of_every_line_can_be_commented_in_two_columns(task_page: TaskPage) -> None:
    task_page.line(12).click()
    task_page.write("From one column")
    task_page.kept(bool)
    task_page.open("?view=split")
    expect(task_page.comment("line 12 of parser.py")).to_be_visible()
    # Dragged over the other column, the range stays on the side where it began.
    drag(task_page, task_page.line(13, "old"), task_page.line(14, "new"))
    expect(task_page.form("New comment, src/parser.py, old lines 13 to 14")).to_be_visible()
    assert selected(task_page) == ["line 13", "line 14"]
    assert task_page.page.locator("td.is-sel").count() == 6
    task_page.write("Unchanged, old side")
    task_page.line(16, "old").click()
    task_page.page.keyboard.press("Shift+ArrowUp")
    expect(task_page.form("New comment, src/parser.py, old lines 15 to 16")).to_be_visible()
    task_page.write("Removed")
    task_page.line(16, "new").click()
    task_page.write("Added, in the same row")
    expect(task_page.file().locator("tr.inline")).to_have_count(3)
    task_page.reader.assert_clean("split")
    assert places(task_page.kept(lambda kept: len(kept) == 4)) == [
        ("new", 12, 12),
        ("old", 13, 14),
        ("old", 15, 16),
        ("new", 16, 16),
    ]
    assert task_page.refused() == []
    task_page.open("?view=unified")
    expect(task_page.page.locator(".comment")).to_have_count(4)


def test_lines_that_the_trace_lacks_cannot_be_in_a_range(tenants_of_browsers: Tenants, reader: Reader) -> None:
    hunk = "@@ -{0},3 +{0},3 @@\n context\n-old {0}\n+new {0}\n context\n"
    patch = f"diff --git a/x.py b/x.py\n--- a/x.py\n+++ b/x.py\n{hunk.format(1)}{hunk.format(40)}"
    task_page = open_task_page(reader, tenants_of_browsers, patch=patch.encode())
    task_page.open()
    drag(task_page, task_page.line(2, path="x.py"), task_page.line(41, path="x.py"))
    form = task_page.form("New comment, x.py, new lines 2 to 41")
    wrong = form.get_by_text("Some of these lines are not in the trace.")
    expect(wrong).to_be_visible()
    task_page.write("Too wide")
    expect(wrong).to_be_visible()
    task_page.line(3, path="x.py").click(modifiers=["Shift"])
    expect(wrong).to_be_hidden()
    form = task_page.form("New comment, x.py, new lines 2 to 3")
    form.get_by_role("button", name="Save comment").click()
    assert places(task_page.kept(bool)) == [("new", 2, 3)]
