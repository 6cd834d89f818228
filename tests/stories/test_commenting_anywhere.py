"""Comments wherever lines are shown, in Chromium: by a click on the code, and on lines whose place nobody knows."""

from dataclasses import replace

import pytest
from playwright.sync_api import Page, expect

from potato.runs.model import Excerpt, FileEdit, FileOutcome, FileRead
from tests.stories.commenting import PATH, TaskPage, open_task_page, places
from tests.stories.commenting import task_page as task_page  # a fixture
from tests.stories.conftest import Reader
from tests.stories.reviewing import task_path
from tests.tenants import Tenants
from tests.traces.stored import outcome, stored

pytestmark = pytest.mark.browser


def test_a_click_on_the_code_of_a_line_opens_the_form_and_a_second_one_takes_it_back(task_page: TaskPage) -> None:
    code = task_page.file().locator('tr[data-new="16"] > .code')
    code.click()
    form = task_page.form("New comment, src/parser.py, new line 16")
    expect(form).to_be_visible()
    code.click()
    expect(task_page.form()).to_have_count(0)
    code.click()
    task_page.write("By its code.")
    task_page.file().locator('tr[data-old="15"].is-del > .code').click()
    expect(task_page.form("New comment, src/parser.py, old line 15")).to_be_visible()
    task_page.write("The old one.")
    assert places(task_page.kept(lambda kept: len(kept) == 2)) == [("new", 16, 16), ("old", 15, 15)]
    # What somebody has begun to write stays.
    task_page.file().locator('tr[data-new="18"] > .code').click()
    task_page.form().get_by_label("Comment", exact=True).fill("Begun")
    task_page.file().locator('tr[data-new="18"] > .code').click()
    expect(task_page.form().get_by_label("Comment", exact=True)).to_have_value("Begun")


# Buttons and fields of the work that can be seen and used, but for those that lead somewhere or show something.
READS = (
    "[data-side], [data-toggle], [data-all], [data-copy], [data-part], [data-filter], [data-wrap], [data-whitespace]"
)
OFFERED = f"""() => [...document.querySelectorAll(".work :is(button, input, textarea), .bar button")]
  .filter((one) => one.checkVisibility() && !one.matches("{READS}, [popovertarget], .todo__go"))
  .filter((one) => !one.disabled && !one.readOnly && one.ariaDisabled !== "true" && !one.closest("fieldset:disabled"))
  .map((one) => one.textContent.trim())"""
PLUS = '(button) => getComputedStyle(button.parentElement, "::after").content'


def test_a_page_that_only_reads_links_to_its_lines_and_offers_no_comment(task_page: TaskPage) -> None:
    def names(page: Page) -> set[str]:
        labels: list[str] = page.locator("button[data-side]").evaluate_all("(all) => all.map((one) => one.ariaLabel)")
        return {label.partition(" ")[0] for label in labels}

    line = 'tr[data-new="16"]'
    task_page.file().locator(f"{line} > .code").click()
    task_page.write("Before.")
    task_page.kept(len)
    assert names(task_page.page) == {"Comment"}
    second = task_page.page.context.new_page()
    reader = replace(task_page.reader, page=second)
    there = replace(task_page, reader=reader)
    reader.open(task_path(task_page.assignment))
    expect(second.locator("[data-banner]").first).to_contain_text("open in another tab")
    # Read only from the start, and with what is loaded later.
    assert names(second) == {"Link"}
    there.file().locator("tr.expand button").first.click()
    expect(there.file().get_by_role("button", name="Link to new line 22", exact=True)).to_be_attached()
    assert names(second) == {"Link"}
    button = there.file().get_by_role("button", name="Link to new line 16", exact=True)
    button.hover()
    assert button.evaluate(PLUS) == "none"
    button.click()
    assert second.url.endswith("-new-16")
    second.keyboard.press("c")
    there.file().locator(f"{line} > .code").click()
    second.wait_for_timeout(200)
    expect(there.form()).to_have_count(0)
    assert second.evaluate(OFFERED) == ["Take over here"]
    # One stop for Tab in each file stays one.
    stops = there.file().locator('button[data-side][tabindex="0"]')
    expect(stops).to_have_count(1)
    reader.assert_clean("only reading")
    second.get_by_role("button", name="Take over here").click()
    expect(there.file().get_by_role("button", name="Comment on new line 16", exact=True)).to_be_attached()
    assert names(second) == {"Comment"}
    there.file().locator(f"{line} > .ln button").last.hover()
    assert there.file().locator(f"{line} > .ln button").last.evaluate(PLUS) == '"+"'
    expect(stops).to_have_count(1)
    there.file().locator('tr[data-new="18"] > .code').click()
    expect(there.form("New comment, src/parser.py, new line 18")).to_be_visible()
    # And the page that was left.
    expect(task_page.page.locator("[data-banner]").first).to_contain_text("open in another tab")
    assert names(task_page.page) == {"Link"}


def test_in_two_columns_a_click_on_the_code_means_its_side(tenants_of_browsers: Tenants, reader: Reader) -> None:
    task_page = open_task_page(reader, tenants_of_browsers)
    task_page.open("?view=split")
    row = task_page.file().locator('tr[data-old="17"][data-new="18"]')
    row.locator(".code").nth(0).click()
    expect(task_page.form("New comment, src/parser.py, old line 17")).to_be_visible()
    task_page.page.keyboard.press("Escape")
    row.locator(".code").nth(1).click()
    expect(task_page.form("New comment, src/parser.py, new line 18")).to_be_visible()


def test_text_is_selected_as_ever_and_no_form_opens(task_page: TaskPage) -> None:
    page = task_page.page
    code = task_page.file().locator('tr[data-new="16"] > .code')
    code.scroll_into_view_if_needed()
    box = code.bounding_box()
    assert box
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + 2, y)
    page.mouse.down()
    page.mouse.move(box["x"] + 40, y, steps=4)
    page.mouse.up()
    assert page.evaluate("getSelection().toString()").strip().startswith("new")
    # The click that ends the selection ends it, and does no more.
    page.mouse.click(box["x"] + 200, y)
    page.wait_for_timeout(200)
    assert page.evaluate("getSelection().toString()") == ""
    expect(task_page.form()).to_have_count(0)
    # Two clicks select a word; the form that the first one opened goes.
    page.mouse.dblclick(box["x"] + 10, y)
    expect(task_page.form()).to_have_count(0)
    page.wait_for_timeout(200)
    expect(task_page.form()).to_have_count(0)
    assert page.evaluate("getSelection().toString()").strip() == "new"
    # With Ctrl or Shift a click is the browser's.
    page.mouse.click(box["x"] + 200, y)
    page.wait_for_timeout(200)
    # Looked at after each: a second click would take back what the first has opened.
    for key in ("Control", "Shift", "Alt"):
        task_page.file().locator('tr[data-new="18"] > .code').click(modifiers=[key])
        page.wait_for_timeout(200)
        expect(task_page.form()).to_have_count(0)


def test_two_clicks_at_the_foot_of_the_window_select_a_word_and_one_shows_the_form(task_page: TaskPage) -> None:
    page = task_page.page
    code = task_page.file().locator('tr[data-new="16"] > .code')
    # Whoever points at the change may write: the form is loaded before the first click.
    with page.expect_response(lambda response: "comment-writing" in response.url):
        code.hover()
    page.wait_for_load_state("networkidle")
    page.evaluate("row => scrollBy(0, row.getBoundingClientRect().bottom - innerHeight + 60)", code.element_handle())
    box = code.bounding_box()
    assert box
    page.mouse.dblclick(box["x"] + 10, box["y"] + box["height"] / 2)
    expect(task_page.form()).to_have_count(0)
    assert page.evaluate("getSelection().toString()").strip() == "new"
    page.evaluate("getSelection().empty()")
    page.wait_for_timeout(600)
    page.mouse.click(box["x"] + 200, box["y"] + box["height"] / 2)
    expect(task_page.form().get_by_role("button", name="Save comment")).to_be_in_viewport()


def test_a_button_inside_a_line_does_what_it_says_and_opens_no_form(
    tenants_of_browsers: Tenants, reader: Reader
) -> None:
    task_page = open_task_page(reader, tenants_of_browsers, outcome("long.txt", None, "x" * 5000))
    task_page.open()
    with task_page.page.expect_response(lambda response: "line-0-1" in response.url):
        task_page.page.get_by_role("button", name="more characters of this line").click()
    task_page.page.wait_for_timeout(200)
    expect(task_page.form()).to_have_count(0)


def test_a_tap_on_the_code_opens_the_form(tenants_of_browsers: Tenants, phone: Reader) -> None:
    task_page = open_task_page(phone, tenants_of_browsers)
    task_page.open()
    task_page.file().locator('tr[data-new="16"] > .code').tap()
    expect(task_page.form("New comment, src/parser.py, new line 16")).to_be_visible()


def test_lines_whose_place_nobody_knows_are_commented_as_lines_of_the_excerpt(
    tenants_of_browsers: Tenants, reader: Reader
) -> None:
    edits = (
        FileEdit("src/cart.py", "a\nb\n", "a\nc\nd\n"),
        FileEdit("src/cart.py", "e\n", "f\n"),
        FileOutcome("src/moved.py", "renamed", old_path="src/before.py"),
    )
    task_page = open_task_page(reader, tenants_of_browsers, *edits)
    task_page.open()
    file = task_page.file("src/cart.py")
    expect(file).to_contain_text("numbers are those of the excerpt")
    expect(task_page.file("src/moved.py")).to_contain_text(
        "No line can be commented on: the trace has none of its text."
    )
    first = file.get_by_role("button", name="Comment on new line 2 of the excerpt")
    assert str(first.evaluate('(button) => getComputedStyle(button, "::before").content')).startswith('"#'), "no number"
    first.click()
    expect(task_page.form("New comment, src/cart.py, new excerpt line 2")).to_be_visible()
    task_page.write("Two for one?")
    expect(task_page.comment("excerpt line 2 of cart.py")).to_contain_text("excerpt line 2")
    assert task_page.focused() == "Comment on new line 2 of the excerpt"
    file.locator('tr[data-old="4"] > .code').click()
    task_page.write("Why not?")
    kept = task_page.kept(lambda found: len(found) == 2)
    assert places(kept) == [("new", 2, 2), ("old", 4, 4)]
    assert [one["numbering"] for one in kept] == ["excerpt", "excerpt"]
    # A gap between two parts is not to be commented.
    file.get_by_role("button", name="Comment on new line 3 of the excerpt").click()
    file.get_by_role("button", name="Comment on new line 5 of the excerpt").click(modifiers=["Shift"])
    expect(task_page.form()).to_contain_text("Some of these lines are not in the trace")
    task_page.form().get_by_role("button", name="Discard").click()
    assert task_page.refused() == []
    task_page.reader.assert_clean("excerpt")
    task_page.page.reload()
    expect(task_page.comment("excerpt line 2 of cart.py")).to_be_visible()


def test_a_page_that_only_reads_links_to_lines_whose_place_nobody_knows(
    tenants_of_browsers: Tenants, reader: Reader
) -> None:
    tenants, page = tenants_of_browsers, reader.page
    edits = (FileEdit("src/cart.py", "a\nb\n", "a\nc\nd\n"), FileEdit("src/cart.py", "e\n", "f\n"))
    trace = stored(tenants.acme, tenants.acme_project, *edits)
    reader.sign_in("alice")
    reader.open(f"/o/acme/p/parser/traces/{trace.pk}/")
    line = page.get_by_role("button", name="Link to new line 2 of the excerpt", exact=True)
    assert str(line.evaluate('(button) => getComputedStyle(button, "::before").content')).startswith('"#'), "no number"
    line.click()
    address = page.url
    assert address.endswith("-new-2")
    reader.open("/")
    page.goto(address)
    expect(page.locator("tr.is-at")).to_contain_text("c")
    expect(line).to_be_focused()
    reader.assert_clean("an excerpt that is read")


def test_lines_that_the_agent_read_are_commented_with_the_numbers_of_the_file(
    tenants_of_browsers: Tenants, reader: Reader
) -> None:
    lines = tuple(f"line {number}" for number in range(100, 141))
    task_page = open_task_page(
        reader,
        tenants_of_browsers,
        FileRead(PATH, excerpts=(Excerpt(100, lines),)),
        FileEdit(PATH, "line 120\n", "first\nsecond\n"),
    )
    task_page.open()
    task_page.line(121).click()
    task_page.write("Two for one?")
    task_page.file().get_by_role("button", name="Show 15 hidden lines").first.click()
    task_page.line(101).click()
    task_page.write("This one, too.")
    kept = task_page.kept(lambda found: len(found) == 2)
    assert places(kept) == [("new", 121, 121), ("new", 101, 101)]
    assert not any("numbering" in one for one in kept)
    assert task_page.refused() == []
