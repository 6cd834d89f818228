"""The lines that a comment is about, in Chromium: chosen with a mouse alone or with keys alone, on either side."""

import re

import pytest
from playwright.sync_api import expect

from tests.stories.commenting import PATH, Desk, desk_of, drag, places
from tests.stories.commenting import desk as desk  # a fixture
from tests.stories.conftest import Reader
from tests.worlds import World

pytestmark = pytest.mark.browser


def selected(desk: Desk) -> list[str]:
    """The code of the lines that are marked, each side's own in two columns."""
    return [text.strip() for text in desk.page.locator("tr.is-sel > .code, td.code.is-sel").all_inner_texts()]


def test_a_comment_is_written_with_the_mouse_alone(desk: Desk) -> None:
    desk.line(16).click()
    form = desk.form("New comment, src/parser.py, new line 16")
    expect(form).to_be_visible()
    expect(form.get_by_role("radio", name="Bug")).to_be_focused()
    expect(form.get_by_role("radio", checked=True)).to_have_count(0)
    assert selected(desk) == ["new 16"]
    desk.reader.assert_clean("form")
    desk.write("The `limit` is tested once.\n\nToo late.")
    card = desk.comment("line 16 of parser.py")
    expect(card).to_contain_text("Bug")
    expect(card.locator("code")).to_have_text("limit")
    expect(card.locator(".comment__body p")).to_have_count(2)
    assert desk.focused() == "Comment on new line 16"
    assert selected(desk) == []
    kept = desk.kept(bool)
    assert [(one["file"], one["category"]) for one in kept] == [(PATH, "bug")]
    assert places(kept) == [("new", 16, 16)]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", kept[0]["created_at"])
    assert re.fullmatch(r"[A-Za-z0-9_-]{20,64}", kept[0]["comment_id"])
    assert not {"severity", "suggestion"} & set(kept[0])
    desk.reader.assert_clean("comment")


def test_the_sign_beside_a_line_opens_the_form_too(desk: Desk) -> None:
    desk.line(18).hover()
    box = desk.line(18).bounding_box()
    assert box
    desk.page.mouse.click(box["x"] + box["width"] + 10, box["y"] + box["height"] / 2)
    expect(desk.form("New comment, src/parser.py, new line 18")).to_be_visible()


def test_lines_are_chosen_by_dragging_and_by_shift_with_a_click(desk: Desk) -> None:
    drag(desk, desk.line(17), desk.line(18), desk.line(15))
    expect(desk.form("New comment, src/parser.py, new lines 15 to 17")).to_be_visible()
    assert selected(desk) == ["new 15", "new 16", "new 17"]
    desk.write("Three lines.")
    # A removed line, over the added ones to an unchanged one: all of the old side.
    drag(desk, desk.line(16, "old"), desk.line(17), desk.line(18))
    expect(desk.form("New comment, src/parser.py, old lines 16 to 17")).to_be_visible()
    assert selected(desk) == ["line 16", "line 17"]
    desk.write("Old ones.")
    # A click opens the form; Shift with a click moves its end, also upwards.
    desk.line(39).click()
    desk.line(41).click(modifiers=["Shift"])
    form = desk.form("New comment, src/parser.py, new lines 39 to 41")
    expect(form).to_be_visible()
    expect(desk.form()).to_have_count(1)
    desk.line(37).click(modifiers=["Shift"])
    expect(desk.form("New comment, src/parser.py, new lines 37 to 39")).to_be_visible()
    desk.write("And these.")
    assert places(desk.kept(lambda kept: len(kept) == 3)) == [("new", 15, 17), ("old", 16, 17), ("new", 37, 39)]
    # Hidden lines between can be commented, too.
    drag(desk, desk.line(20), desk.line(36))
    desk.write("Over hidden lines")
    assert places(desk.kept(lambda kept: len(kept) == 4))[-1] == ("new", 20, 36)
    assert desk.refused() == []
    assert desk.page.evaluate("getSelection().toString()") == ""
    # A drag to another file keeps to its own.
    drag(desk, desk.line(44), desk.line(45), desk.line(2, path="tests/test_edges.py"))
    expect(desk.form("New comment, src/parser.py, new lines 44 to 45")).to_be_visible()


def test_a_comment_is_written_with_the_keys_alone(desk: Desk) -> None:
    page, press = desk.page, desk.page.keyboard.press
    desk.file().get_by_label("Copy path").focus()
    while "Comment on" not in desk.focused():
        press("Tab")
    for _ in range(5):
        press("ArrowDown")
    assert desk.focused() == "Comment on old line 15"
    press("Shift+ArrowDown")
    assert desk.focused() == "Comment on old line 16"
    assert selected(desk) == ["line 15", "line 16"]
    expect(page.locator("[data-announce]")).to_have_text("old lines 15 to 16 selected")
    press("Shift+ArrowDown")
    assert selected(desk) == ["line 15", "line 16", "line 17"]
    press("Shift+ArrowUp")
    press("Enter")
    form = desk.form("New comment, src/parser.py, old lines 15 to 16")
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
    expect(desk.comment("old lines 15 to 16 of parser.py")).to_contain_text("Written 1 2 3 with keys")
    assert desk.focused() == "Comment on old line 16"
    # c opens on the focused line, Space as well; Shift with an arrow moves the end of an open form's range.
    for _ in range(4):
        press("ArrowDown")
    press("c")
    press("Shift+ArrowDown")
    expect(desk.form("New comment, src/parser.py, new lines 18 to 19")).to_be_visible()
    expect(desk.form().get_by_role("radio", name="Bug")).to_be_focused()
    press("Shift+ArrowUp")
    press("Shift+ArrowUp")
    expect(desk.form("New comment, src/parser.py, new lines 17 to 18")).to_be_visible()
    press("Escape")
    expect(desk.form()).to_have_count(0)
    assert desk.focused() == "Comment on new line 18"
    press("Space")
    expect(desk.form("New comment, src/parser.py, new line 18")).to_be_visible()
    press("Space")
    press("Enter")
    page.keyboard.type("Second")
    press("Control+Enter")
    kept = desk.kept(lambda kept: len(kept) == 2)
    assert places(kept) == [("old", 15, 16), ("new", 18, 18)]
    assert kept[0]["category"] == "security"
    assert kept[0]["severity"] == "critical"
    press("Shift+ArrowDown")
    press("Escape")
    assert selected(desk) == []
    desk.reader.assert_clean()


def test_added_removed_and_unchanged_lines_have_their_side(desk: Desk) -> None:
    for number, side, path in (
        (15, "new", PATH),
        (15, "old", PATH),
        (20, "new", PATH),
        (3, "old", "src/compat.py"),
        (4, "new", "tests/test_edges.py"),
    ):
        desk.line(number, side, path).click()
        desk.write(f"{side} {number}")
    kept = desk.kept(lambda kept: len(kept) == 5)
    assert [(one["file"], *place) for one, place in zip(kept, places(kept), strict=True)] == [
        (PATH, "new", 15, 15),
        (PATH, "old", 15, 15),
        (PATH, "new", 20, 20),
        ("src/compat.py", "old", 3, 3),
        ("tests/test_edges.py", "new", 4, 4),
    ]
    assert desk.refused() == []


def test_both_sides_of_every_line_can_be_commented_in_two_columns(desk: Desk) -> None:
    desk.line(12).click()
    desk.write("From one column")
    desk.kept(bool)
    desk.open("?view=split")
    expect(desk.comment("line 12 of parser.py")).to_be_visible()
    # Dragged over the other column, the range stays on the side where it began.
    drag(desk, desk.line(13, "old"), desk.line(14, "new"))
    expect(desk.form("New comment, src/parser.py, old lines 13 to 14")).to_be_visible()
    assert selected(desk) == ["line 13", "line 14"]
    assert desk.page.locator("td.is-sel").count() == 6
    desk.write("Unchanged, old side")
    desk.line(16, "old").click()
    desk.page.keyboard.press("Shift+ArrowUp")
    expect(desk.form("New comment, src/parser.py, old lines 15 to 16")).to_be_visible()
    desk.write("Removed")
    desk.line(16, "new").click()
    desk.write("Added, in the same row")
    expect(desk.file().locator("tr.inline")).to_have_count(3)
    desk.reader.assert_clean("split")
    assert places(desk.kept(lambda kept: len(kept) == 4)) == [
        ("new", 12, 12),
        ("old", 13, 14),
        ("old", 15, 16),
        ("new", 16, 16),
    ]
    assert desk.refused() == []
    desk.open("?view=unified")
    expect(desk.page.locator(".comment")).to_have_count(4)


def test_lines_that_the_trace_lacks_cannot_be_in_a_range(world_of_browsers: World, reader: Reader) -> None:
    hunk = "@@ -{0},3 +{0},3 @@\n context\n-old {0}\n+new {0}\n context\n"
    patch = f"diff --git a/x.py b/x.py\n--- a/x.py\n+++ b/x.py\n{hunk.format(1)}{hunk.format(40)}"
    desk = desk_of(reader, world_of_browsers, patch=patch.encode())
    desk.open()
    drag(desk, desk.line(2, path="x.py"), desk.line(41, path="x.py"))
    form = desk.form("New comment, x.py, new lines 2 to 41")
    wrong = form.get_by_text("Some of these lines are not in the trace.")
    expect(wrong).to_be_visible()
    desk.write("Too wide")
    expect(wrong).to_be_visible()
    desk.line(3, path="x.py").click(modifiers=["Shift"])
    expect(wrong).to_be_hidden()
    form = desk.form("New comment, x.py, new lines 2 to 3")
    form.get_by_role("button", name="Save comment").click()
    assert places(desk.kept(bool)) == [("new", 2, 3)]
