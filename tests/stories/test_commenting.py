"""What a comment says, in Chromium: what the project asks for, suggestions, and texts that would do harm."""

import json
import re

import pytest
from playwright.sync_api import Dialog, expect

from tests.hostile import HOSTILE
from tests.stories.commenting import PATH, TaskPage, drag, open_task_page, places
from tests.stories.commenting import task_page as task_page  # a fixture
from tests.stories.conftest import Reader
from tests.tenants import Tenants
from tests.traces.stored import outcome

pytestmark = pytest.mark.browser


# --- What a comment says ---


def test_what_is_missing_is_said_at_its_field(tenants_of_browsers: Tenants, reader: Reader) -> None:
    task_page = open_task_page(reader, tenants_of_browsers, inline_comments={"require_severity": True})
    task_page.open()
    task_page.line(16).click()
    form = task_page.form()
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
    kept = task_page.kept(bool)
    assert (kept[0]["category"], kept[0]["severity"], kept[0]["comment"]) == ("praise", "nit", "Good")


def test_a_category_that_is_optional_can_be_left_out_and_taken_back(
    tenants_of_browsers: Tenants, reader: Reader
) -> None:
    task_page = open_task_page(reader, tenants_of_browsers, inline_comments={"require_category": False})
    task_page.open()
    task_page.line(16).click()
    expect(task_page.form().get_by_role("radiogroup", name="Category optional")).to_be_visible()
    bug = task_page.form().get_by_role("radio", name="Bug")
    bug.click()
    expect(bug).to_be_checked()
    bug.click()
    expect(bug).not_to_be_checked()
    task_page.write("No category", category=None)
    expect(task_page.comment("line 16").locator("[data-category]")).to_be_hidden()
    assert "category" not in task_page.kept(bool)[0]


def test_severities_are_those_of_the_configuration_or_none(tenants_of_browsers: Tenants, reader: Reader) -> None:
    levels = [{"value": "blocker", "display": "Stop"}, {"value": "small", "display": "Go <b>on</b>"}]
    task_page = open_task_page(
        reader, tenants_of_browsers, inline_comments={"severity": {"enabled": True, "levels": levels}}
    )
    task_page.open()
    task_page.line(16).click()
    severity = task_page.form().get_by_role("radiogroup", name="Severity optional")
    expect(severity.get_by_role("radio")).to_have_count(2)
    severity.get_by_role("radio", name="Go <b>on</b>").click()
    task_page.write("Small")
    expect(task_page.comment("line 16").locator("[data-severity]")).to_have_text("Go <b>on</b>")
    expect(task_page.comment("line 16").locator("[data-severity] use")).to_have_attribute(
        "href", re.compile("#i-sev-nit$")
    )
    assert task_page.kept(bool)[0]["severity"] == "small"


def test_without_severities_a_comment_is_asked_for_none(tenants_of_browsers: Tenants, reader: Reader) -> None:
    task_page = open_task_page(reader, tenants_of_browsers, inline_comments={"severity": {"enabled": False}})
    task_page.open()
    task_page.line(16).click()
    expect(task_page.form()).to_be_visible()
    expect(task_page.form().get_by_role("radiogroup", name=re.compile("Severity"))).to_have_count(0)
    task_page.write("Without")
    assert "severity" not in task_page.kept(bool)[0]


def test_a_comment_is_marked_as_unsure_where_the_project_asks(tenants_of_browsers: Tenants, reader: Reader) -> None:
    task_page = open_task_page(reader, tenants_of_browsers, inline_comments={"allow_unsure": True})
    task_page.open()
    task_page.line(16).click()
    task_page.form().get_by_role("checkbox", name="I am not sure about this").check()
    reader.assert_clean()
    task_page.write("Perhaps")
    expect(task_page.comment("line 16")).to_contain_text("Unsure")
    assert task_page.kept(bool)[0]["unsure"] is True
    task_page.comment("line 16").get_by_role("button", name="Edit").click()
    expect(task_page.form().get_by_role("checkbox")).to_be_checked()
    task_page.form().get_by_role("checkbox").uncheck()
    task_page.form().get_by_role("button", name="Save comment").click()
    expect(task_page.comment("line 16").get_by_text("Unsure")).to_be_hidden()
    assert task_page.kept(lambda comments: "unsure" not in comments[0])
    task_page.line(17).click()
    task_page.write("Sure")
    assert task_page.refused() == []


def test_comments_on_a_file_and_on_the_change_are_written_and_read_by_keys(task_page: TaskPage) -> None:
    page = task_page.page
    task_page.line(16).focus()
    page.keyboard.press("Shift+C")
    expect(task_page.form(f"New comment, {PATH}, whole file")).to_be_visible()
    expect(task_page.form().get_by_role("button", name="Suggest a change")).to_have_count(0)
    page.keyboard.press("1")
    page.keyboard.type("Too long for one file")
    task_page.reader.assert_clean()
    page.keyboard.press("Control+Enter")
    expect(task_page.comment("parser.py as a whole")).to_contain_text("Too long for one file")
    expect(task_page.file().get_by_role("button", name=f"Comment on {PATH} as a whole")).to_be_focused()
    page.keyboard.press("g")
    page.keyboard.press("c")
    page.keyboard.press("2")
    page.keyboard.type("Two things at once")
    page.keyboard.press("Control+Enter")
    expect(task_page.comment("the whole change")).to_contain_text("Two things at once")
    general = page.get_by_role("button", name="Comment", exact=True)
    expect(general).to_be_focused()
    on_file, on_change = task_page.kept(lambda comments: len(comments) == 2)
    assert (on_file["subject_type"], on_file["file"], on_change["subject_type"]) == ("file", PATH, "change")
    assert not {"line_start", "line_end", "side"} & {*on_file, *on_change}
    assert "file" not in on_change
    assert task_page.refused() == []
    task_page.open()
    task_page.comment("the whole change").get_by_role("button", name="Edit").click()
    task_page.form("Edit comment, whole change").get_by_label("Comment", exact=True).fill("Three things")
    page.keyboard.press("Control+Enter")
    assert task_page.kept(lambda comments: comments[1]["comment"] == "Three things")
    task_page.reader.assert_clean()


def test_without_the_setting_nobody_is_asked_how_sure_they_are(task_page: TaskPage) -> None:
    task_page.line(16).click()
    expect(task_page.form()).to_be_visible()
    expect(task_page.form().get_by_role("checkbox")).to_have_count(0)


def test_categories_have_the_colours_and_icons_of_the_configuration(
    tenants_of_browsers: Tenants, reader: Reader
) -> None:
    categories = [
        {"value": "added", "display": "Typo & co", "color": "#ff0000", "icon": "spell-check"},
        {"value": "idea", "color": "#0a0", "icon": "help-circle"},
        {"value": "bug", "color": "#0000ff", "icon": None},
    ]
    task_page = open_task_page(reader, tenants_of_browsers, inline_comments={"categories": categories})
    task_page.open()
    task_page.line(16).click()
    expect(task_page.form()).to_be_visible()
    chips = task_page.form().locator(".chip")
    expect(chips).to_have_count(3)
    assert chips.all_inner_texts() == ["Typo & co", "Idea", "Bug"]
    assert [chip.locator("svg").count() for chip in chips.all()] == [1, 1, 0]
    colour = "at => getComputedStyle(at).getPropertyValue('--c').trim()"
    assert [chip.evaluate(colour) for chip in chips.all()] == ["#ff0000", "#0a0", "#0000ff"]
    task_page.page.keyboard.press("1")
    task_page.page.keyboard.type("Wrong word")
    task_page.page.keyboard.press("Control+Enter")
    badge = task_page.comment("line 16").locator("[data-category]")
    expect(badge).to_have_text("Typo & co")
    assert badge.evaluate(colour) == "#ff0000"
    assert badge.locator("svg > *").count() > 0
    # A category of the same name as a kind of file leaves the tree's colours as they are.
    assert task_page.page.locator("[data-file] >> nth=2").evaluate(colour) == "#22c55e"
    assert task_page.kept(bool)[0]["category"] == "added"
    task_page.reader.assert_clean()


def test_one_line_is_the_most_where_the_project_says_so(tenants_of_browsers: Tenants, reader: Reader) -> None:
    task_page = open_task_page(
        reader, tenants_of_browsers, inline_comments={"allow_multi_line": False, "allow_suggestions": False}
    )
    task_page.open()
    drag(task_page, task_page.line(15), task_page.line(17))
    expect(task_page.form()).to_have_count(0)
    task_page.line(15).click()
    task_page.page.keyboard.press("Shift+ArrowDown")
    form = task_page.form("New comment, src/parser.py, new line 15")
    expect(form).to_be_visible()
    expect(form.get_by_text("extend range")).to_have_count(0)
    expect(form.get_by_role("button", name="Suggest a change")).to_have_count(0)
    task_page.write("One")
    task_page.line(17).click(modifiers=["Shift"])
    expect(task_page.form("New comment, src/parser.py, new line 17")).to_be_visible()
    task_page.write("Another")
    assert places(task_page.kept(lambda kept: len(kept) == 2)) == [("new", 15, 15), ("new", 17, 17)]


def test_a_project_can_ask_for_some_comments(tenants_of_browsers: Tenants, reader: Reader) -> None:
    task_page = open_task_page(reader, tenants_of_browsers, inline_comments={"min_comments": 2})
    task_page.open()
    missing = task_page.page.locator("[data-missing]")
    expect(missing).to_contain_text("2 more comments")
    missing.get_by_text("2 more comments").click()
    expect(task_page.line(1, "old", "src/compat.py")).to_be_focused()
    task_page.line(15).click()
    task_page.write("One")
    expect(missing).to_contain_text("1 more comment")
    task_page.line(15).click()
    task_page.write("Two on the same line")
    expect(missing).not_to_contain_text("more comment")


def test_comments_that_programs_kept_are_shown_and_what_they_lack_is_listed(
    tenants_of_browsers: Tenants, reader: Reader
) -> None:
    task_page = open_task_page(reader, tenants_of_browsers, inline_comments={"allow_multi_line": False})
    task_page.save(
        {"file": PATH, "line_start": 15, "comment": "No category, no id, no side", "category": None},
        {"file": PATH, "line_start": 16, "line_end": 17, "category": "bug", "comment": "Two lines", "comment_id": "b"},
        {"file": PATH, "line_start": 18, "category": "taste", "comment": "What is taste?", "comment_id": "c"},
        {"file": PATH, "line_start": 999, "category": "bug", "comment": "Nowhere", "comment_id": "d"},
    )
    task_page.open()
    expect(task_page.page.locator(".comment")).to_have_count(3)
    expect(task_page.comment("line 18 of").locator("[data-category]")).to_have_text("taste")
    missing = task_page.page.locator("[data-missing]")
    expect(missing).to_contain_text("Comment on line 15 of parser.py: Choose a category.")
    expect(missing).to_contain_text("Comment on line 18 of parser.py: Choose a category.")
    missing.get_by_text("Comment on line 15").click()
    task_page.write("No category, no id, no side")
    missing.get_by_text("Comment on lines 16").click()
    form = task_page.form("Edit comment, src/parser.py, new lines 16 to 17")
    form.get_by_role("button", name="Save comment").click()
    expect(form.get_by_text("A comment is about one line in this project.")).to_be_visible()
    form.get_by_role("button", name="Discard", exact=True).click()
    task_page.comment("lines 16 to 17").get_by_role("button", name="Delete").click()
    task_page.comment("line 18").get_by_role("button", name="Edit").click()
    task_page.write("What is taste?", "Style")
    # A comment on a line that there is not can be found, and taken away.
    task_page.page.get_by_role("button", name="My comments").click()
    task_page.page.get_by_role("link", name=re.compile("Nowhere")).click()
    task_page.comment("line 999").get_by_role("button", name="Delete").click()
    kept = task_page.kept(lambda kept: len(kept) == 2)
    assert [(one["comment_id"], one["category"]) for one in kept] == [("comment-1", "bug"), ("c", "style")]
    assert task_page.refused() == []


# --- Suggestions ---


def test_a_suggestion_starts_from_the_exact_lines(tenants_of_browsers: Tenants, reader: Reader) -> None:
    odd = '\tif a < b:  \u202e& "c"\u200b'
    task_page = open_task_page(reader, tenants_of_browsers, outcome("odd.py", "one\ntwo\n", f"one\n{odd}\nthree"))
    task_page.open()
    drag(task_page, task_page.line(2, path="odd.py"), task_page.line(3, path="odd.py"))
    form = task_page.form()
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
    task_page.write("Count on")
    card = task_page.comment("lines 2 to 3 of odd.py")
    expect(card.locator(".sugg tr")).to_have_count(3)
    assert task_page.kept(bool)[0]["suggestion"] == f"{odd}\nfour"
    task_page.open()
    expect(card.locator(".sugg tr")).to_have_count(3)
    reader.assert_clean("comment")
    # The range grows: an editor that nobody touched follows, one with changes stays as it is.
    task_page.line(2, path="odd.py").click()
    form.get_by_role("button", name="Suggest a change").click()
    expect(editor).to_have_value(odd)
    form.get_by_role("button", name="Move the end of the range one line up").click()
    expect(editor).to_have_value(f"one\n{odd}")
    editor.fill("mine")
    form.get_by_role("button", name="Move the end of the range one line down").click()
    expect(form.get_by_text("Suggested replacement for line 2")).to_be_visible()
    expect(editor).to_have_value("mine")


def test_an_empty_suggestion_deletes_and_an_unchanged_one_is_none(task_page: TaskPage) -> None:
    form = task_page.form()
    task_page.line(16).click()
    form.get_by_role("button", name="Suggest a change").click()
    expect(form.get_by_text("No change yet")).to_be_visible()
    task_page.write("Nothing suggested")
    task_page.line(17).click()
    form.get_by_role("button", name="Suggest a change").click()
    form.get_by_label("Suggested replacement code").fill("")
    expect(form.get_by_text("Empty: the lines go.")).to_be_visible()
    task_page.write("Delete it")
    card = task_page.comment("line 17")
    expect(card.get_by_text("Suggested: delete the lines")).to_be_visible()
    expect(card.locator(".sugg tr")).to_have_count(1)
    task_page.line(18).click()
    form.get_by_role("button", name="Suggest a change").click()
    form.get_by_label("Suggested replacement code").fill("x")
    form.get_by_role("button", name="Remove the suggestion").click()
    task_page.write("Taken back")
    assert [one.get("suggestion") for one in task_page.kept(lambda kept: len(kept) == 3)] == [None, "", None]


# --- Harm, and everybody ---

FILL = """([name, json]) => {
  const area = document.querySelector(`.cform [name=${name}]`);
  area.value = JSON.parse(json);
  area.dispatchEvent(new Event("input", { bubbles: true }));
}"""


def test_hostile_texts_run_nothing_and_come_back_exactly(tenants_of_browsers: Tenants, reader: Reader) -> None:
    lines = "".join(f"line {number}\n" for number in range(1, len(HOSTILE) + 1))
    task_page = open_task_page(reader, tenants_of_browsers, outcome("hostile.py", None, lines))
    dialogs: list[str] = []

    def note(dialog: Dialog) -> None:
        dialogs.append(dialog.message)
        dialog.dismiss()

    task_page.page.on("dialog", note)
    task_page.open()
    # Found by what the page calls them inside: a role is looked for in all that the page has by then, 44 times over.
    file, form = task_page.file("hostile.py"), task_page.page.locator(".cform")
    for number, text in enumerate(HOSTILE, 1):
        file.locator(f'[aria-label="Comment on new line {number}"]').click()
        form.get_by_role("radio", name="Bug").click()
        form.get_by_role("button", name="Suggest a change").click()
        expect(form.get_by_label("Suggested replacement code")).to_have_value(f"line {number}")
        task_page.page.evaluate(FILL, ["comment", json.dumps(text)])
        task_page.page.evaluate(FILL, ["suggestion", json.dumps(text)])
        form.get_by_role("button", name="Save comment").click()
    kept = task_page.kept(lambda kept: len(kept) == len(HOSTILE))
    assert [one["comment"] for one in kept] == HOSTILE
    assert [one["suggestion"] for one in kept] == HOSTILE
    assert task_page.refused() == []
    task_page.open()
    expect(task_page.page.locator(".comment .sugg tbody")).to_have_count(len(HOSTILE))
    names = "all => [...new Set(all.map(at => at.localName))].sort().join(' ')"
    assert task_page.page.locator(".comment__body *, .sugg table *").evaluate_all(names) == (
        "caption code col colgroup p span tbody td tr"
    )
    assert dialogs == []
    reader.assert_clean()
    task_page.comment("line 3 of").get_by_role("button", name="Edit").click()
    expect(task_page.form().get_by_label("Comment", exact=True)).to_have_value(HOSTILE[2])


def test_the_page_serves_both_themes_and_a_zoom_of_200_percent(
    tenants_of_browsers: Tenants, themed_reader: Reader
) -> None:
    task_page = open_task_page(themed_reader, tenants_of_browsers)
    page = task_page.page
    page.set_viewport_size({"width": 720, "height": 500})
    task_page.open()
    task_page.line(16).click()
    task_page.form().get_by_role("radio", name="Major").click()
    task_page.write("Zoomed " + "without_a_place_to_break" * 20)
    drag(task_page, task_page.line(17), task_page.line(18))
    form = task_page.form()
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
