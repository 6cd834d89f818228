"""Somebody reads the code around a patch and comments on a line outside of it, in Chromium, down to the export."""

import json
from pathlib import Path

import pytest
from django.core.management import call_command
from playwright.sync_api import expect

from accounts.actions.projects import publish_configuration
from assignments.actions.submitting import submit
from assignments.models import Assignment
from tenancy.actor import acting_in
from tests.assignments.reviews import review_yaml
from tests.stories.commenting import PATH, TaskPage
from tests.stories.conftest import Reader
from tests.stories.reviewing import claimed, is_ready, task_path
from tests.tenants import Tenants
from tests.traces.attached import COMMIT, REPOSITORY, attached
from tests.traces.stored import stored
from tests.traces.test_repositories import BASE, CHANGED, patch_of

pytestmark = pytest.mark.browser


@pytest.fixture
def around(tenants_of_browsers: Tenants, reader: Reader) -> TaskPage:
    """Bob's task: a patch of one line in the middle of 200, whose repository is attached."""
    tenants = tenants_of_browsers
    attached(tenants.acme, tenants.acme_project, {PATH: BASE, "README.md": "# Parser\n"})
    with acting_in(tenants.acme):
        publish_configuration(project=tenants.acme_project, source=review_yaml())
    trace = stored(
        tenants.acme,
        tenants.acme_project,
        patch=patch_of(PATH, BASE, CHANGED),
        repo=REPOSITORY,
        base_commit=COMMIT,
    )
    assignment = claimed(tenants, tenants.bob)
    reader.sign_in("bob")
    page = TaskPage(reader, tenants, tenants.bob, assignment, trace)
    page.open()
    return page


def test_a_line_outside_the_patch_is_read_and_commented_and_exported(around: TaskPage, tmp_path: Path) -> None:
    page, file = around.page, around.file()
    expect(file.locator("tr[data-new]")).to_have_count(12)
    expect(file.locator('tr[data-new="80"]')).to_have_count(0)
    file.get_by_role("button", name="Show 20 hidden lines before the shown ones").click()
    expect(file.locator('tr[data-new="75"]')).to_be_visible()
    expect(file.locator("tr[data-new]")).to_have_count(32)
    around.line(80).click()
    expect(around.form("New comment, src/parser.py, new line 80")).to_be_visible()
    around.write("This line is wrong, too.")
    file.get_by_role("button", name="Show 20 hidden lines after the shown ones").click()
    # Behind the patch the two sides have other numbers.
    row = file.locator('tr[data-old="120"][data-new="121"]')
    expect(row).to_be_visible()
    row.locator(".code").click()
    expect(around.form("New comment, src/parser.py, new line 121")).to_be_visible()
    around.write("And this one.")
    kept = around.kept(lambda comments: len(comments) == 2)
    assert {(one["side"], one["line_start"]) for one in kept} == {("new", 80), ("new", 121)}
    assert around.refused() == []
    # The whole of what is left comes at once; the comment stands where it was made after a reload.
    file.get_by_role("button", name="Show 74 hidden lines").click()
    expect(file.locator('tr[data-new="1"]')).to_be_visible()
    around.reader.assert_clean("code around the diff")
    around.open()
    # Its lines are hidden again, and come when somebody goes to it.
    expect(file.locator("tr[data-new]")).to_have_count(12)
    page.keyboard.press("]")
    expect(around.comment("line 80 of parser.py")).to_be_visible()
    # Read only: the files as they were.
    page.get_by_role("link", name="Files at c0ffee0").click()
    page.get_by_placeholder("Search names and lines").fill("line 150")
    page.keyboard.press("Enter")
    page.get_by_role("link", name="src/parser.py:150").click()
    expect(page.locator("#L150")).to_contain_text("line 150")
    around.reader.assert_clean("the files that a run began from")

    with acting_in(around.tenants.acme, around.person):
        assignment = Assignment.objects.get(pk=around.assignment.pk)
        answers = {
            "inline_comments": kept,
            "file_ratings": {PATH: {"correctness": 3, "quality": 3}},
            "verdict": {"decision": "request_changes", "summary": "Two lines are wrong."},
        }
        submit(assignment=assignment, fencing_token=assignment.fencing_token, key="once", annotations=answers)
    call_command("export", "--project", "acme/parser", "-f", "code_review_comments", "-o", str(tmp_path / "rows"))
    rows = [json.loads(line) for line in (tmp_path / "rows").read_bytes().splitlines()]
    assert {(row["line_start"], row["commented_text"], row["diff_hunk"]) for row in rows} == {
        (80, "line 80", None),
        (121, "line 120", None),
    }


def test_both_columns_show_the_lines_around(around: TaskPage) -> None:
    around.reader.open(task_path(around.assignment) + "?view=split")
    is_ready(around.page)
    around.file().get_by_role("button", name="Show 20 hidden lines after the shown ones").click()
    row = around.file().locator('tr[data-old="120"][data-new="121"]')
    row.locator(".code").nth(0).click()
    expect(around.form("New comment, src/parser.py, old line 120")).to_be_visible()
