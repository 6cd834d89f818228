"""What tests and checkers said, beside the change: a panel, and findings at their lines that a reader may hide."""

import json

import pytest
from playwright.sync_api import expect

from accounts.actions.projects import publish_configuration
from tenancy.actor import acting_in
from tests.potato.checks.test_reports import JUNIT
from tests.stories.conftest import Reader
from tests.stories.pictures import shoot
from tests.stories.reviewing import claimed, task_path
from tests.tenants import Tenants
from tests.traces.stored import code, outcome, step, stored
from tests.traces.test_checks import lint, report_of

pytestmark = pytest.mark.browser


def test_findings_stand_at_their_lines_and_tests_in_a_panel_that_leads_to_steps(
    tenants_of_browsers: Tenants, themed_reader: Reader
) -> None:
    tenants, reader, page = tenants_of_browsers, themed_reader, themed_reader.page
    with acting_in(tenants.acme, tenants.alice):
        schemes = [{"name": "comments", "annotation_type": "code_review_comments"}]
        source = json.dumps({"task_name": "Parser", "annotation_schemes": schemes})
        publish_configuration(project=tenants.acme_project, source=source, confirmed=True)
    trace = stored(
        tenants.acme,
        tenants.acme_project,
        outcome("src/parser.py", code(30), code(30).replace("# old 4\n", "# new 4\n")),
        steps=tuple(step(f"Act {at}.", result="2 failed, 3 passed in 1.0s" if at == 3 else "ok") for at in range(5)),
        external_id="run-7",
    )
    report_of(tenants, JUNIT, "junit.xml")
    report_of(tenants, lint("/ci/build/src/parser.py", 4, "total is never \u202eused"), "run-7.sarif")
    assignment = claimed(tenants, tenants.bob)
    assert assignment.trace_id == trace.pk
    reader.sign_in("bob")
    reader.open(task_path(assignment))
    finding = page.locator("tr.finding")
    expect(finding).to_have_count(1)
    expect(finding).to_contain_text("Error")
    expect(finding).to_contain_text("total is never U+202Eused")
    assert finding.locator("xpath=preceding-sibling::tr[1]").get_attribute("data-new") == "4"
    panel = page.locator("#checks")
    expect(panel.locator("summary").first).to_contain_text("pytest")
    reader.assert_clean()
    panel.locator("summary").first.click()
    expect(panel.get_by_text("test_sum", exact=True)).to_be_visible()
    shoot(reader, "checks")
    reader.assert_clean()
    # A comment on the line stands between it and the finding, and keys go over the finding.
    page.locator('button[data-side="new"][data-l="4"]').click()
    form = page.locator("form.cform")
    expect(form).to_be_visible()
    order = page.locator('tr[data-new="4"] ~ tr').evaluate_all("rows => rows.slice(0, 2).map(row => row.className)")
    assert [name.split()[0] for name in order] == ["inline", "finding"]
    page.keyboard.press("Escape")
    panel.get_by_label("Show findings at their lines").uncheck()
    expect(finding).to_be_hidden()
    page.reload()
    expect(page.locator("tr.finding")).to_be_hidden()
    panel.locator("summary").first.click()
    panel.get_by_label("Show findings at their lines").check()
    expect(page.locator("tr.finding")).to_be_visible()
    panel.get_by_role("link", name="Step 3").click()
    expect(page).to_have_url(page.url)
    expect(page.locator("#s3")).to_be_visible()
    reader.assert_clean()
