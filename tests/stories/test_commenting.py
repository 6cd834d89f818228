"""Comments on lines, in Chromium on the real site: written with a mouse alone or with keys alone, kept, found again."""

import json
import re
from typing import Any

import pytest
from playwright.sync_api import Dialog, Locator, expect

from tests.stories.commenting import PATH, Desk, desk_of, parser
from tests.stories.conftest import Reader
from tests.traces.hostile import HOSTILE
from tests.traces.stored import code, outcome
from tests.worlds import World

pytestmark = pytest.mark.browser


@pytest.fixture
def desk(world_of_browsers: World, reader: Reader) -> Desk:
    desk = desk_of(reader, world_of_browsers)
    desk.open()
    return desk


def drag(desk: Desk, start: Locator, *over: Locator) -> None:
    start.hover()
    desk.page.mouse.down()
    for place in over:
        place.hover()
    desk.page.mouse.up()


def places(comments: list[dict[str, Any]]) -> list[tuple[str, int, int]]:
    return [(one["side"], one["line_start"], one["line_end"]) for one in comments]


def selected(desk: Desk) -> list[str]:
    """The code of the lines that are marked, each side's own in two columns."""
    return [text.strip() for text in desk.page.locator("tr.is-sel > .code, td.code.is-sel").all_inner_texts()]


# --- Choosing lines ---


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


# --- What a comment says ---


def test_what_is_missing_is_said_at_its_field(world_of_browsers: World, reader: Reader) -> None:
    desk = desk_of(reader, world_of_browsers, inline_comments={"require_severity": True})
    desk.open()
    desk.line(16).click()
    form = desk.form()
    form.get_by_role("button", name="Save comment").click()
    category = form.get_by_role("radiogroup", name="Category required")
    expect(category).to_have_attribute("aria-invalid", "true")
    expect(category).to_have_accessible_description("Choose a category.")
    expect(form.get_by_role("radiogroup", name="Severity required")).to_have_accessible_description(
        "Choose a severity."
    )
    expect(form.get_by_label("Comment", exact=True)).to_have_accessible_description("Write the comment.")
    expect(form.get_by_role("radio", name="Bug")).to_be_focused()
    reader.assert_clean("errors")
    form.get_by_role("radio", name="Praise").click()
    expect(form.get_by_text("Choose a category.")).to_be_hidden()
    form.get_by_role("radio", name="Nit").click()
    form.get_by_label("Comment", exact=True).fill("  \n ")
    form.get_by_role("button", name="Save comment").click()
    expect(form.get_by_text("Write the comment.")).to_be_visible()
    form.get_by_label("Comment", exact=True).fill("Good")
    form.get_by_role("button", name="Save comment").click()
    kept = desk.kept(bool)
    assert (kept[0]["category"], kept[0]["severity"], kept[0]["comment"]) == ("praise", "nit", "Good")


def test_a_category_that_is_optional_can_be_left_out_and_taken_back(world_of_browsers: World, reader: Reader) -> None:
    desk = desk_of(reader, world_of_browsers, inline_comments={"require_category": False})
    desk.open()
    desk.line(16).click()
    expect(desk.form().get_by_role("radiogroup", name="Category optional")).to_be_visible()
    bug = desk.form().get_by_role("radio", name="Bug")
    bug.click()
    expect(bug).to_be_checked()
    bug.click()
    expect(bug).not_to_be_checked()
    desk.write("No category", category=None)
    expect(desk.comment("line 16").locator("[data-category]")).to_be_hidden()
    assert "category" not in desk.kept(bool)[0]


def test_severities_are_those_of_the_configuration_or_none(world_of_browsers: World, reader: Reader) -> None:
    levels = [{"value": "blocker", "display": "Stop"}, {"value": "small", "display": "Go <b>on</b>"}]
    desk = desk_of(reader, world_of_browsers, inline_comments={"severity": {"enabled": True, "levels": levels}})
    desk.open()
    desk.line(16).click()
    severity = desk.form().get_by_role("radiogroup", name="Severity optional")
    expect(severity.get_by_role("radio")).to_have_count(2)
    severity.get_by_role("radio", name="Go <b>on</b>").click()
    desk.write("Small")
    expect(desk.comment("line 16").locator("[data-severity]")).to_have_text("Go <b>on</b>")
    expect(desk.comment("line 16").locator("[data-severity] use")).to_have_attribute("href", re.compile("#i-sev-nit$"))
    assert desk.kept(bool)[0]["severity"] == "small"


def test_without_severities_a_comment_is_asked_for_none(world_of_browsers: World, reader: Reader) -> None:
    desk = desk_of(reader, world_of_browsers, inline_comments={"severity": {"enabled": False}})
    desk.open()
    desk.line(16).click()
    expect(desk.form()).to_be_visible()
    expect(desk.form().get_by_role("radiogroup", name=re.compile("Severity"))).to_have_count(0)
    desk.write("Without")
    assert "severity" not in desk.kept(bool)[0]


def test_a_comment_is_marked_as_unsure_where_the_project_asks(world_of_browsers: World, reader: Reader) -> None:
    desk = desk_of(reader, world_of_browsers, inline_comments={"allow_unsure": True})
    desk.open()
    desk.line(16).click()
    desk.form().get_by_role("checkbox", name="I am not sure about this").check()
    reader.assert_clean()
    desk.write("Perhaps")
    expect(desk.comment("line 16")).to_contain_text("Unsure")
    assert desk.kept(bool)[0]["unsure"] is True
    desk.comment("line 16").get_by_role("button", name="Edit").click()
    expect(desk.form().get_by_role("checkbox")).to_be_checked()
    desk.form().get_by_role("checkbox").uncheck()
    desk.form().get_by_role("button", name="Save comment").click()
    expect(desk.comment("line 16").get_by_text("Unsure")).to_be_hidden()
    assert desk.kept(lambda comments: "unsure" not in comments[0])
    desk.line(17).click()
    desk.write("Sure")
    assert desk.refused() == []


def test_without_the_setting_nobody_is_asked_how_sure_they_are(desk: Desk) -> None:
    desk.line(16).click()
    expect(desk.form()).to_be_visible()
    expect(desk.form().get_by_role("checkbox")).to_have_count(0)


def test_categories_have_the_colours_and_icons_of_the_configuration(world_of_browsers: World, reader: Reader) -> None:
    categories = [
        {"value": "added", "display": "Typo & co", "color": "#ff0000", "icon": "spell-check"},
        {"value": "idea", "color": "#0a0", "icon": "help-circle"},
        {"value": "bug", "color": "#0000ff", "icon": None},
    ]
    desk = desk_of(reader, world_of_browsers, inline_comments={"categories": categories})
    desk.open()
    desk.line(16).click()
    chips = desk.form().locator(".chip")
    assert chips.all_inner_texts() == ["Typo & co", "Idea", "Bug"]
    assert [chip.locator("svg").count() for chip in chips.all()] == [1, 1, 0]
    colour = "at => getComputedStyle(at).getPropertyValue('--c').trim()"
    assert [chip.evaluate(colour) for chip in chips.all()] == ["#ff0000", "#0a0", "#0000ff"]
    desk.page.keyboard.press("1")
    desk.page.keyboard.type("Wrong word")
    desk.page.keyboard.press("Control+Enter")
    badge = desk.comment("line 16").locator("[data-category]")
    expect(badge).to_have_text("Typo & co")
    assert badge.evaluate(colour) == "#ff0000"
    assert badge.locator("svg > *").count() > 0
    # A category of the same name as a kind of file leaves the tree's colours as they are.
    assert desk.page.locator("[data-file] >> nth=2").evaluate(colour) == "#22c55e"
    assert desk.kept(bool)[0]["category"] == "added"
    desk.reader.assert_clean()


def test_one_line_is_the_most_where_the_project_says_so(world_of_browsers: World, reader: Reader) -> None:
    desk = desk_of(reader, world_of_browsers, inline_comments={"allow_multi_line": False, "allow_suggestions": False})
    desk.open()
    drag(desk, desk.line(15), desk.line(17))
    expect(desk.form()).to_have_count(0)
    desk.line(15).click()
    desk.page.keyboard.press("Shift+ArrowDown")
    form = desk.form("New comment, src/parser.py, new line 15")
    expect(form).to_be_visible()
    expect(form.get_by_text("extend range")).to_have_count(0)
    expect(form.get_by_role("button", name="Suggest a change")).to_have_count(0)
    desk.write("One")
    desk.line(17).click(modifiers=["Shift"])
    expect(desk.form("New comment, src/parser.py, new line 17")).to_be_visible()
    desk.write("Another")
    assert places(desk.kept(lambda kept: len(kept) == 2)) == [("new", 15, 15), ("new", 17, 17)]


def test_a_project_can_ask_for_some_comments(world_of_browsers: World, reader: Reader) -> None:
    desk = desk_of(reader, world_of_browsers, inline_comments={"min_comments": 2})
    desk.open()
    missing = desk.page.locator("[data-missing]")
    expect(missing).to_contain_text("2 more comments")
    missing.get_by_text("2 more comments").click()
    expect(desk.line(1, "old", "src/compat.py")).to_be_focused()
    desk.line(15).click()
    desk.write("One")
    expect(missing).to_contain_text("1 more comment")
    desk.line(15).click()
    desk.write("Two on the same line")
    expect(missing).not_to_contain_text("more comment")


def test_comments_that_programs_kept_are_shown_and_what_they_lack_is_listed(
    world_of_browsers: World, reader: Reader
) -> None:
    desk = desk_of(reader, world_of_browsers, inline_comments={"allow_multi_line": False})
    desk.save(
        {"file": PATH, "line_start": 15, "comment": "No category, no id, no side", "category": None},
        {"file": PATH, "line_start": 16, "line_end": 17, "category": "bug", "comment": "Two lines", "comment_id": "b"},
        {"file": PATH, "line_start": 18, "category": "taste", "comment": "What is taste?", "comment_id": "c"},
        {"file": PATH, "line_start": 999, "category": "bug", "comment": "Nowhere", "comment_id": "d"},
    )
    desk.open()
    expect(desk.page.locator(".comment")).to_have_count(3)
    expect(desk.comment("line 18 of").locator("[data-category]")).to_have_text("taste")
    missing = desk.page.locator("[data-missing]")
    expect(missing).to_contain_text("Comment on line 15 of parser.py: Choose a category.")
    expect(missing).to_contain_text("Comment on line 18 of parser.py: Choose a category.")
    missing.get_by_text("Comment on line 15").click()
    desk.write("No category, no id, no side")
    missing.get_by_text("Comment on lines 16").click()
    form = desk.form("Edit comment, src/parser.py, new lines 16 to 17")
    form.get_by_role("button", name="Save comment").click()
    expect(form.get_by_text("A comment is about one line in this project.")).to_be_visible()
    form.get_by_role("button", name="Discard", exact=True).click()
    desk.comment("lines 16 to 17").get_by_role("button", name="Delete").click()
    desk.comment("line 18").get_by_role("button", name="Edit").click()
    desk.write("What is taste?", "Style")
    # A comment on a line that there is not can be found, and taken away.
    desk.page.get_by_role("button", name="My comments").click()
    desk.page.get_by_role("link", name=re.compile("Nowhere")).click()
    desk.comment("line 999").get_by_role("button", name="Delete").click()
    kept = desk.kept(lambda kept: len(kept) == 2)
    assert [(one["comment_id"], one["category"]) for one in kept] == [("comment-1", "bug"), ("c", "style")]
    assert desk.refused() == []


# --- Suggestions ---


def test_a_suggestion_starts_from_the_exact_lines(world_of_browsers: World, reader: Reader) -> None:
    odd = '\tif a < b:  \u202e& "c"\u200b'
    desk = desk_of(reader, world_of_browsers, outcome("odd.py", "one\ntwo\n", f"one\n{odd}\nthree"))
    desk.open()
    drag(desk, desk.line(2, path="odd.py"), desk.line(3, path="odd.py"))
    form = desk.form()
    form.get_by_role("button", name="Suggest a change").click()
    editor = form.get_by_label("Suggested replacement code")
    expect(editor).to_be_focused()
    expect(editor).to_have_value(f"{odd}\nthree")
    expect(form.get_by_text("No change yet")).to_be_visible()
    expect(form.get_by_text("Suggested replacement for lines 2")).to_be_visible()
    reader.assert_clean("editor")
    editor.fill(f"{odd}\nfour")
    form.get_by_role("button", name="Preview").click()
    rows = form.locator("[data-diff] tr")
    expect(rows).to_have_count(3)
    expect(rows.nth(0)).to_contain_text("U+202E")
    expect(rows.nth(1)).to_contain_text("removed three")
    expect(rows.nth(2)).to_contain_text("added four")
    reader.assert_clean("preview")
    form.get_by_role("button", name="Reset").click()
    expect(rows).to_have_count(2)
    form.get_by_role("button", name="Preview").click()
    editor.fill(f"{odd}\nfour")
    desk.write("Count on")
    card = desk.comment("lines 2 to 3 of odd.py")
    expect(card.locator(".sugg tr")).to_have_count(3)
    assert desk.kept(bool)[0]["suggestion"] == f"{odd}\nfour"
    desk.open()
    expect(card.locator(".sugg tr")).to_have_count(3)
    reader.assert_clean("comment")
    # The range grows: an editor that nobody touched follows, one with changes stays as it is.
    desk.line(2, path="odd.py").click()
    form.get_by_role("button", name="Suggest a change").click()
    expect(editor).to_have_value(odd)
    form.get_by_role("button", name="Move the end of the range one line up").click()
    expect(editor).to_have_value(f"one\n{odd}")
    editor.fill("mine")
    form.get_by_role("button", name="Move the end of the range one line down").click()
    expect(form.get_by_text("Suggested replacement for line 2")).to_be_visible()
    expect(editor).to_have_value("mine")


def test_an_empty_suggestion_deletes_and_an_unchanged_one_is_none(desk: Desk) -> None:
    form = desk.form()
    desk.line(16).click()
    form.get_by_role("button", name="Suggest a change").click()
    expect(form.get_by_text("No change yet")).to_be_visible()
    desk.write("Nothing suggested")
    desk.line(17).click()
    form.get_by_role("button", name="Suggest a change").click()
    form.get_by_label("Suggested replacement code").fill("")
    expect(form.get_by_text("Empty: the lines go.")).to_be_visible()
    desk.write("Delete it")
    card = desk.comment("line 17")
    expect(card.get_by_text("Suggested: delete the lines")).to_be_visible()
    expect(card.locator(".sugg tr")).to_have_count(1)
    desk.line(18).click()
    form.get_by_role("button", name="Suggest a change").click()
    form.get_by_label("Suggested replacement code").fill("x")
    form.get_by_role("button", name="Remove the suggestion").click()
    desk.write("Taken back")
    assert [one.get("suggestion") for one in desk.kept(lambda kept: len(kept) == 3)] == [None, "", None]


# --- Later ---


def test_a_comment_can_be_edited_and_deleted_and_the_deletion_undone(desk: Desk) -> None:
    for number in (15, 16):
        desk.line(number).click()
        desk.write(f"About {number}")
    before = desk.kept(lambda kept: len(kept) == 2)
    card = desk.comment("line 15 of parser.py")
    card.get_by_role("button", name="Edit the comment on line 15 of parser.py").click()
    form = desk.form("Edit comment, src/parser.py, new line 15")
    expect(form.get_by_role("radio", name="Bug")).to_be_checked()
    expect(form.get_by_label("Comment", exact=True)).to_be_focused()
    form.get_by_label("Comment", exact=True).fill("About 15, again")
    desk.page.keyboard.press("Escape")
    expect(card).to_contain_text("Changes, not saved")
    expect(desk.page.locator("[data-missing]")).to_contain_text("1 unsaved comment")
    card.get_by_role("button", name="Go on writing").click()
    form.get_by_role("radio", name="Style").click()
    form.get_by_role("button", name="Save comment").click()
    kept = desk.kept(lambda kept: kept[0]["comment"] == "About 15, again")
    assert kept == [{**before[0], "comment": "About 15, again", "category": "style"}, before[1]]
    card.get_by_role("button", name="Edit").click()
    form.get_by_role("button", name="Discard").click()
    expect(card).to_contain_text("Style")
    card.get_by_role("button", name="Delete the comment on line 15 of parser.py").click()
    expect(card).to_have_count(0)
    assert desk.focused() == "Comment on new line 15"
    assert desk.kept(lambda kept: len(kept) == 1) == [before[1]]
    desk.page.get_by_role("button", name="Undo").last.click()
    expect(card).to_be_visible()
    assert desk.kept(lambda kept: len(kept) == 2) == kept
    desk.reader.assert_clean()


def test_an_unsaved_form_is_kept_listed_and_there_again(desk: Desk) -> None:
    page = desk.page
    drag(desk, desk.line(16), desk.line(17))
    form = desk.form()
    expect(page.locator("[data-missing]")).not_to_contain_text("unsaved")
    form.get_by_role("radio", name="Logic").click()
    form.get_by_role("radio", name="Minor").click()
    form.get_by_label("Comment", exact=True).fill("Half a thou")
    form.get_by_role("button", name="Suggest a change").click()
    form.get_by_label("Suggested replacement code").fill("half")
    expect(form.get_by_text("Draft kept on this task")).to_be_visible()
    expect(page.locator("[data-missing]")).to_contain_text("1 unsaved comment")
    desk.kept_forms(lambda forms: forms and forms[0].get("suggestion") == "half")
    desk.line(40).click()
    expect(desk.form()).to_have_count(2)
    desk.form("new line 40").get_by_role("button", name="Close the form").click()
    page.reload()
    form = desk.form("New comment, src/parser.py, new lines 16 to 17")
    expect(form.get_by_role("radio", name="Logic")).to_be_checked()
    expect(form.get_by_role("radio", name="Minor")).to_be_checked()
    expect(form.get_by_label("Comment", exact=True)).to_have_value("Half a thou")
    expect(form.get_by_label("Suggested replacement code")).to_have_value("half")
    expect(desk.page.locator("[data-count=inline_comments]")).to_have_text("0 saved, 1 draft")
    expect(page.locator("[data-file].tree__file").nth(1)).to_contain_text("1 draft")
    expect(desk.file().locator(".file__head")).to_contain_text("1 draft")
    page.locator("[data-missing]").get_by_text("1 unsaved comment").click()
    expect(form.get_by_label("Comment", exact=True)).to_be_focused()
    # Esc keeps what is written beside the line, discarding takes it away; both can be undone.
    page.keyboard.press("Escape")
    assert desk.focused() == "Comment on new line 17"
    draft = page.get_by_role("article", name="Draft of a comment on lines 16 to 17 of parser.py")
    expect(draft).to_contain_text("Half a thou")
    desk.reader.assert_clean("draft")
    page.get_by_role("button", name="Undo").click()
    expect(form.get_by_label("Comment", exact=True)).to_be_focused()
    page.keyboard.press("Escape")
    desk.kept_forms(lambda forms: forms[0].get("closed"))
    page.reload()
    draft.get_by_role("button", name="Go on writing").click()
    form.get_by_role("button", name="Discard", exact=True).click()
    expect(form).to_have_count(0)
    expect(page.locator("[data-missing]")).not_to_contain_text("unsaved")
    page.get_by_role("button", name="Undo").click()
    expect(form.get_by_label("Comment", exact=True)).to_have_value("Half a thou")
    form.get_by_role("button", name="Save comment").click()
    kept = desk.kept(bool)
    assert (kept[0]["suggestion"], kept[0]["comment"]) == ("half", "Half a thou")
    assert desk.kept_forms(lambda forms: not forms) == []


def test_comments_are_found_in_files_and_lines_that_load_later(world_of_browsers: World, reader: Reader) -> None:
    late = [f"late {number}\n" for number in range(1, 61)]
    desk = desk_of(
        reader,
        world_of_browsers,
        parser(),
        outcome("src/qq_long.py", None, code(1_600)),
        outcome("zz/late.py", "".join(late), "".join([*late[:29], "changed\n", *late[30:]])),
    )
    page = desk.page
    desk.open()
    late_file = desk.file("zz/late.py")
    expect(late_file.locator("lazy-fragment[data-loaded]")).to_have_count(0)
    late_file.scroll_into_view_if_needed()
    desk.line(30, path="zz/late.py").click()
    desk.write("In a file that came later")
    late_file.get_by_role("button", name="Show").first.click()
    desk.line(5, path="zz/late.py").click()
    desk.write("On a line that was hidden")
    desk.line(20).click()
    desk.write("At once")
    desk.kept(lambda kept: len(kept) == 3)
    desk.open()
    expect(page.locator(".comment")).to_have_count(1)
    expect(page.locator("[data-file].tree__file").last).to_contain_text("2 comments")
    page.get_by_role("button", name="My comments").click()
    mine = page.get_by_role("dialog", name="My comments")
    assert [text.split("\n")[0] for text in mine.get_by_role("link").all_inner_texts()] == [
        "At once",
        "On a line that was hidden",
        "In a file that came later",
    ]
    mine.get_by_role("link").nth(1).click()
    expect(mine).to_be_hidden()
    expect(desk.comment("line 5 of late.py")).to_be_focused(timeout=15_000)
    expect(desk.comment("line 5 of late.py")).to_be_in_viewport()
    page.keyboard.press("]")
    expect(desk.comment("line 30 of late.py")).to_be_focused(timeout=15_000)
    page.keyboard.press("]")
    expect(page.locator("[data-announce]")).to_have_text("No comment below")
    page.keyboard.press("[")
    page.keyboard.press("[")
    expect(desk.comment("line 20 of parser.py")).to_be_focused(timeout=15_000)
    expect(desk.comment("line 20 of parser.py")).to_be_in_viewport()
    page.keyboard.press("]")
    expect(desk.comment("line 5 of late.py")).to_be_focused(timeout=15_000)
    # From the top of the page the first one is next, also while its file is not loaded.
    desk.comment("line 20 of parser.py").get_by_role("button", name="Delete").click()
    desk.kept(lambda kept: len(kept) == 2)
    desk.open()
    page.keyboard.press("]")
    expect(desk.comment("line 5 of late.py")).to_be_focused(timeout=15_000)


def test_changes_are_walked_as_if_no_comment_stood_between(desk: Desk) -> None:
    page = desk.page
    desk.line(16).click()
    desk.form().get_by_role("button", name="Suggest a change").click()
    desk.form().get_by_label("Suggested replacement code").fill("other")
    desk.write("Between added lines")
    expect(desk.comment("line 16").locator(".sugg tr")).to_have_count(2)
    page.evaluate("scrollTo(0, 0)")
    page.locator("h1").click()
    seen = []
    for _ in range(4):
        page.keyboard.press("j")
        page.wait_for_timeout(100)
        seen.append(desk.focused())
    assert seen == [
        "Comment on old line 1",
        "Comment on old line 15",
        "Comment on old line 40",
        "Comment on new line 1",
    ]


def test_a_page_that_cannot_write_shows_comments_and_changes_none(desk: Desk) -> None:
    desk.line(16).click()
    desk.write("Here")
    desk.line(17).click()
    desk.form().get_by_label("Comment", exact=True).fill("Not yet")
    desk.kept_forms(bool)
    other = desk.page.context.new_page()
    other.goto(desk.page.url)
    expect(other.locator("[data-take-over]").first).to_be_visible()
    expect(other.locator(".comment")).to_contain_text("Here")
    for name in ("Edit the comment", "Delete the comment"):
        expect(other.get_by_role("button", name=name)).to_be_disabled()
    form = other.get_by_role("form", name="New comment, src/parser.py, new line 17")
    expect(form.get_by_label("Comment", exact=True)).to_have_value("Not yet")
    expect(form.get_by_label("Comment", exact=True)).to_be_disabled()
    expect(form.get_by_role("button", name="Save comment")).to_be_disabled()
    other.get_by_role("button", name="Comment on new line 20").click()
    expect(other.get_by_role("form")).to_have_count(1)
    other.locator("[data-take-over]").first.click()
    expect(form.get_by_label("Comment", exact=True)).to_be_enabled()
    expect(desk.form().get_by_label("Comment", exact=True)).to_be_disabled()


# --- Harm, and everybody ---

FILL = """([name, json]) => {
  const area = document.querySelector(`.cform [name=${name}]`);
  area.value = JSON.parse(json);
  area.dispatchEvent(new Event("input", { bubbles: true }));
}"""


def test_hostile_texts_run_nothing_and_come_back_exactly(world_of_browsers: World, reader: Reader) -> None:
    lines = "".join(f"line {number}\n" for number in range(1, len(HOSTILE) + 1))
    desk = desk_of(reader, world_of_browsers, outcome("hostile.py", None, lines))
    dialogs: list[str] = []

    def note(dialog: Dialog) -> None:
        dialogs.append(dialog.message)
        dialog.dismiss()

    desk.page.on("dialog", note)
    desk.open()
    for number, text in enumerate(HOSTILE, 1):
        desk.line(number, path="hostile.py").click()
        desk.form().get_by_role("radio", name="Bug").click()
        desk.form().get_by_role("button", name="Suggest a change").click()
        expect(desk.form().get_by_label("Suggested replacement code")).to_have_value(f"line {number}")
        desk.page.evaluate(FILL, ["comment", json.dumps(text)])
        desk.page.evaluate(FILL, ["suggestion", json.dumps(text)])
        desk.form().get_by_role("button", name="Save comment").click()
    kept = desk.kept(lambda kept: len(kept) == len(HOSTILE))
    assert [one["comment"] for one in kept] == HOSTILE
    assert [one["suggestion"] for one in kept] == HOSTILE
    assert desk.refused() == []
    desk.open()
    expect(desk.page.locator(".comment .sugg tbody")).to_have_count(len(HOSTILE))
    names = "all => [...new Set(all.map(at => at.localName))].sort().join(' ')"
    assert desk.page.locator(".comment__body *, .sugg table *").evaluate_all(names) == (
        "caption code col colgroup p span tbody td tr"
    )
    assert dialogs == []
    reader.assert_clean()
    desk.comment("line 3 of").get_by_role("button", name="Edit").click()
    expect(desk.form().get_by_label("Comment", exact=True)).to_have_value(HOSTILE[2])


def test_the_page_serves_both_themes_and_a_zoom_of_200_percent(world_of_browsers: World, themed_reader: Reader) -> None:
    desk = desk_of(themed_reader, world_of_browsers)
    page = desk.page
    page.set_viewport_size({"width": 720, "height": 500})
    desk.open()
    desk.line(16).click()
    desk.form().get_by_role("radio", name="Major").click()
    desk.write("Zoomed " + "without_a_place_to_break" * 20)
    drag(desk, desk.line(17), desk.line(18))
    form = desk.form()
    form.get_by_role("button", name="Suggest a change").click()
    form.get_by_label("Suggested replacement code").fill("x" * 300)
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    for button in form.get_by_role("button").all():
        box = button.bounding_box()
        assert box
        assert min(box["width"], box["height"]) >= 24, button
    themed_reader.assert_clean("narrow")
    page.get_by_role("button", name="My comments").click()
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    themed_reader.assert_clean("narrow list")
    page.keyboard.press("Escape")
    page.set_viewport_size({"width": 1920, "height": 1000})
    expect(page.get_by_role("complementary", name="Your review")).to_contain_text("Zoomed")
    expect(page.get_by_role("button", name="My comments")).to_be_hidden()
    themed_reader.assert_clean("wide")
