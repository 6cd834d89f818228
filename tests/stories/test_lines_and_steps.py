"""From a line of the final change to the step that wrote it, and back, by pointer and by keys."""

import json
import re

import pytest
from playwright.sync_api import expect

from accounts.actions.projects import publish_configuration
from potato.runs.model import FileEdit, FileTouched
from tenancy.actor import acting_in
from tests.stories.conftest import Reader
from tests.stories.pictures import shoot
from tests.stories.reviewing import claimed, task_path
from tests.tenants import Tenants
from tests.traces.stored import code, read, step, stored

pytestmark = pytest.mark.browser


def test_a_line_leads_to_its_step_and_the_step_back_to_its_lines(
    tenants_of_browsers: Tenants, themed_reader: Reader
) -> None:
    reader, page = themed_reader, themed_reader.page
    before = code(40)
    lines = before.splitlines(keepends=True)
    trace = stored(
        tenants_of_browsers.acme,
        tenants_of_browsers.acme_project,
        read("src/parser.py", before),
        FileEdit("src/parser.py", lines[9], "first = 1\nsecond = 2\n"),
        FileEdit("src/parser.py", "second = 2\n", "second = 3\n"),
        FileEdit("src/parser.py", lines[30], "third = 1\n"),
        steps=tuple(step(f"Act {number}.") for number in range(30)),
        event_steps=(None, 4, 12, 25),
    )
    reader.sign_in("alice")
    reader.open(f"/o/acme/p/parser/traces/{trace.pk}/")
    marks = page.locator(".linestep")
    expect(marks).to_have_count(3)
    assert [mark.get_attribute("data-step") for mark in marks.all()] == ["4", "12", "25"]
    expect(marks.nth(1)).to_have_attribute(
        "title", "Step 12 wrote this line: Run a command make test. Before that, step 4."
    )
    reader.assert_clean()
    code_cell = page.locator('#f0 tr[data-new="31"].is-add, #f0 tr[data-new="32"].is-add').locator(".code")
    code_cell.hover()
    expect(code_cell).to_have_attribute("title", "Step 25 wrote this line: Run a command make test.")
    # By keys: to the first change, which is the removed line, then to the line that was written twice, and to its step.
    here = page.locator("tr.is-at")
    page.keyboard.press("j")
    expect(here).to_have_class(re.compile("is-del"))
    page.keyboard.press("ArrowDown")
    expect(here).to_contain_text("first = 1")
    page.keyboard.press("ArrowDown")
    expect(here).to_contain_text("second = 3")
    page.keyboard.press("t")
    expect(page).to_have_url(re.compile(rf"/traces/{trace.pk}/steps/\?step=12#s12$"))
    wrote = page.locator("#s12 .step__lines")
    expect(wrote).to_have_text("src/parser.py: wrote 1 line of the final change (11)")
    expect(page.locator("#s4 .step__lines")).to_contain_text("1 line of it was overwritten later by step 12")
    reader.assert_clean()
    wrote.get_by_role("link", name="11").click()
    expect(page).to_have_url(re.compile(rf"/traces/{trace.pk}/\?file=0#f0-new-11$"))
    expect(page.locator("tr.is-at")).to_contain_text("second = 3")


def test_a_line_that_a_command_changed_says_that_its_step_is_not_known(
    tenants_of_browsers: Tenants, themed_reader: Reader
) -> None:
    reader, page = themed_reader, themed_reader.page
    before = code(40)
    lines = before.splitlines(keepends=True)
    formatted = before.replace(lines[30], "formatted = 1\n")
    trace = stored(
        tenants_of_browsers.acme,
        tenants_of_browsers.acme_project,
        read("src/parser.py", before),
        FileEdit("src/parser.py", lines[9], "first = 1\n"),
        FileTouched("src/parser.py", "The command `make format`"),
        read("src/parser.py", formatted.replace(lines[9], "first = 1\n")),
        read("src/other.py", before),
        FileTouched("src/other.py", "The command `make format`"),
        read("src/other.py", formatted),
        steps=tuple(step(f"Act {number}.") for number in range(4)),
        event_steps=(None, 1, 2, 3, None, 2, 3),
    )
    reader.sign_in("alice")
    reader.open(f"/o/acme/p/parser/traces/{trace.pk}/")
    marks = page.locator("article", has_text="parser.py").locator(".linestep")
    expect(marks).to_have_count(2)
    assert [mark.get_attribute("data-step") for mark in marks.all()] == ["1", "?"]
    expect(marks.last).to_have_attribute("title", "Which step removed this line is not known.")
    reader.assert_clean()
    shoot(reader, "line-of-an-unknown-step")
    other = page.locator("article", has_text="other.py")
    expect(other.locator(".linestep")).to_have_count(0)
    code_cell = other.locator("tr.is-add .code")
    code_cell.hover()
    expect(code_cell).to_have_attribute("title", "Which step wrote this line is not known.")


def test_a_comment_leads_to_marking_its_step_and_a_wrong_step_to_commenting_its_lines(
    tenants_of_browsers: Tenants, themed_reader: Reader
) -> None:
    tenants, reader, page = tenants_of_browsers, themed_reader, themed_reader.page
    schemes = [
        {"name": "comments", "annotation_type": "code_review_comments"},
        {"name": "rewards", "annotation_type": "process_reward", "mode": "per_step"},
    ]
    with acting_in(tenants.acme, tenants.alice):
        configuration = {"task_name": "Both", "annotation_schemes": schemes}
        publish_configuration(project=tenants.acme_project, source=json.dumps(configuration), confirmed=True)
    before = code(40)
    lines = before.splitlines(keepends=True)
    stored(
        tenants.acme,
        tenants.acme_project,
        read("src/parser.py", before),
        FileEdit("src/parser.py", lines[9], "first = 1\nsecond = 2\n"),
        FileEdit("src/parser.py", lines[30], "third = 1\n"),
        steps=tuple(step(f"Act {number}.") for number in range(6)),
        event_steps=(None, 1, 4),
    )
    assignment = claimed(tenants, tenants.bob)
    reader.sign_in("bob")
    reader.open(task_path(assignment))
    page.wait_for_selector("[data-skip]:enabled")
    page.get_by_role("button", name="Comment on new line 11").click()
    form = page.get_by_role("form", name="New comment")
    form.get_by_label("Comment", exact=True).fill("Why twice?")
    mark = form.get_by_role("link", name="Mark step 1")
    expect(mark).to_have_attribute("title", "Step 1 wrote this line: Run a command make test.")
    reader.assert_clean()
    mark.press("Enter")
    expect(page).to_have_url(re.compile(r"\?step=1#s1$"))
    expect(page.locator(".step.is-focus")).to_have_id("s1")
    offer = page.locator("#s1").get_by_role("link", name="Comment its lines")
    expect(page.locator("#s1 .step__comment")).to_have_count(1)
    expect(page.locator("#s1 .step__comment")).to_be_hidden()
    page.locator("#s1").get_by_role("radio", name="Incorrect", exact=True).check()
    expect(offer).to_be_visible()
    expect(page.locator("#s4 .step__comment")).to_be_hidden()
    reader.assert_clean()
    page.locator("#s1 .snum").focus()
    page.keyboard.press("l")
    expect(page).to_have_url(re.compile(r"\?file=0#f0-new-\d+$"))
    # Lines 10 and 11, beside the draft that was left on line 11 alone.
    expect(page.locator(".cform")).to_have_count(2)
    expect(page.get_by_role("form", name="New comment, src/parser.py, new lines 10 to 11")).to_be_visible()
    assert page.locator(".cform").last.get_by_label("Comment", exact=True).input_value() in ("", "Why twice?")
