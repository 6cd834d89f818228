"""Practice and gold in Chromium: a newcomer reads what was expected at its line, a manager how everybody does."""

import json
from typing import Any

import pytest
from playwright.sync_api import expect

from accounts.actions.projects import publish_configuration
from assignments.models import Kind
from gold.actions import expect as expect_answer
from gold.models import Use
from gold.planting import plant
from gold.standing import take_in
from tenancy.actor import acting_in
from tests.assignments.conftest import submit
from tests.assignments.reviews import FILES, review_yaml
from tests.gold.conftest import GoldQueue
from tests.gold.test_planting import NEW, OLD
from tests.stories.conftest import Reader
from tests.stories.pictures import shoot
from tests.stories.test_reading_annotations import at
from tests.tenants import Tenants
from tests.traces.stored import outcome, stored
from traces.models import ImportedFile

pytestmark = pytest.mark.browser
WANTED: dict[str, Any] = {
    "inline_comments": [
        {
            "file": "src/parser.py",
            "line_start": 15,
            "line_end": 15,
            "side": "new",
            "category": "bug",
            "comment": "One too few.",
        },
        {
            "file": "src/parser.py",
            "line_start": 42,
            "line_end": 42,
            "side": "new",
            "category": "bug",
            "comment": "Never read.",
        },
    ],
    "file_ratings": {"src/parser.py": {"correctness": 2, "quality": 4}, "tests/test_parser.py": {"correctness": 4}},
    "verdict": {"decision": "request_changes", "summary": "Two faults."},
}
GIVEN: dict[str, Any] = {
    "inline_comments": [
        {
            "file": "src/parser.py",
            "line_start": 43,
            "line_end": 43,
            "side": "new",
            "category": "bug",
            "comment": "Is it used?",
        },
    ],
    "file_ratings": {
        "src/parser.py": {"correctness": 5, "quality": 4},
        "tests/test_parser.py": {"correctness": 4, "quality": 4},
    },
    "verdict": {"decision": "approve", "summary": "Looks good to me."},
}


def test_what_was_expected_stands_at_its_line_and_keys_go_on(
    tenants_of_browsers: Tenants, themed_reader: Reader
) -> None:
    tenants = tenants_of_browsers
    source = json.loads(review_yaml()) | {"practice": {"traces": 1, "pass": 0.7, "attempts": 2}}
    trace = stored(tenants.acme, tenants.acme_project, *FILES, external_id="first")
    with acting_in(tenants.acme, tenants.alice):
        publish_configuration(project=tenants.acme_project, source=json.dumps(source))
        queue = GoldQueue(tenants, tenants.acme_project)
        expect_answer(trace=trace, annotations=WANTED, use=Use.PRACTICE, why="Bounds are where agents slip most.")
        queue.add_traces(1)
        task = queue.claimed(tenants.bob)
        submit(task, **GIVEN)
    page = at(themed_reader, "bob", f"/o/acme/p/parser/tasks/{task.pk}/practice/")
    expected = page.get_by_role("region", name="Expected at line 15")
    expect(expected).to_contain_text("One too few.")
    expect(expected).to_contain_text("Not in your answer")
    expect(page.locator("table.diff").first).to_contain_text("line 15")
    own = page.get_by_role("region", name="Your comment at line 43")
    expect(own).to_contain_text("Found, 1 line away.")
    expect(page.get_by_role("img", name="You 5, expected 2")).to_be_visible()
    expect(page.get_by_text("Bounds are where agents slip most.")).to_be_visible()
    expect(page.get_by_role("region", name="Verdict")).to_contain_text("Request Changes")
    themed_reader.assert_clean("feedback on practice")
    shoot(themed_reader, "practice-feedback")
    with page.expect_navigation(wait_until="load"):
        page.keyboard.press("r")
    assert page.url.endswith(f"/tasks/{task.pk}/")
    with acting_in(tenants.acme, tenants.alice):
        task.refresh_from_db()
        submit(task, **WANTED)
    themed_reader.open(f"/o/acme/p/parser/tasks/{task.pk}/practice/")
    expect(page.get_by_role("heading", name="Well done")).to_be_visible()
    themed_reader.assert_clean("practice that was passed")
    shoot(themed_reader, "practice-passed")
    with page.expect_navigation(wait_until="load"):
        page.keyboard.press("n")
    assert f"/tasks/{task.pk}/" not in page.url


def test_a_manager_sees_scores_as_a_line_and_as_a_table(tenants_of_browsers: Tenants, themed_reader: Reader) -> None:
    tenants = tenants_of_browsers
    with acting_in(tenants.acme, tenants.alice):
        queue = GoldQueue(tenants, tenants.acme_project)
        queue.publish_with("gold: {rate: 0.5, warn_below: 0.65, pause_below: 0.4, after: 3}", target=3)
        queue.add_traces(30)
        queue.add_gold(12)
        answers = iter([{"verdict": {"decision": choice}} for choice in ("request_changes", "approve", "approve") * 20])
        done = queue.tasks(tenants.bob, 16, lambda task: next(answers))
        scored = [submission for task, submission in done if task.kind == Kind.GOLD]
        for submission in scored:
            take_in(submission)
        name = tenants.bob.memberships.get(organisation=tenants.acme).annotator_name
    page = at(themed_reader, "mallory", "/o/acme/p/parser/gold/")
    expect(page.get_by_role("region", name="Gold traces").get_by_role("row")).to_have_count(13)
    themed_reader.assert_clean("the gold of a project")
    shoot(themed_reader, "gold")
    page.get_by_role("row", name=name).get_by_role("link").click()
    expect(page.get_by_role("img", name=f"The mean over {len(scored)} gold tasks")).to_be_visible()
    summary = page.get_by_text("The same as a table")
    summary.focus()
    page.keyboard.press("Enter")
    table = page.get_by_role("region", name=f"Gold scores of {name}")
    expect(table.get_by_role("row")).to_have_count(len(scored) + 1)
    means = table.locator("tbody td:last-child").all_inner_texts()
    met = [submission.result["verdict"]["decision"] == "request_changes" for submission in scored]
    assert float(means[-1]) == pytest.approx(sum(met) / len(met), abs=0.0051)
    themed_reader.assert_clean("the gold of a person")
    shoot(themed_reader, "gold-person")


def test_a_manager_reads_what_was_planted_and_expects_something_else(
    tenants_of_browsers: Tenants, themed_reader: Reader
) -> None:
    tenants = tenants_of_browsers
    change = outcome("src/pages.py", OLD, NEW)
    source = stored(tenants.acme, tenants.acme_project, change, external_id="trace_100")
    with acting_in(tenants.acme, tenants.alice):
        publish_configuration(project=tenants.acme_project, source=review_yaml())
        file = ImportedFile.objects.get(pk=source.file_id)
        expected = plant(trace=source, file=file, seed=3, kind="off_by_one", use=Use.GOLD)
    page = at(themed_reader, "mallory", "/o/acme/p/parser/gold/")
    page.get_by_role("link", name="Off by one").click()
    planted = page.get_by_role("article", name="Planted in src/pages.py")
    expect(planted.locator("table.diff tr")).not_to_have_count(0)
    expect(page.get_by_role("region", name="Expected at line")).to_contain_text(expected.why)
    themed_reader.assert_clean("what is expected of a trace")
    shoot(themed_reader, "gold-expected")
    page.locator("summary", has_text="Expect something else").focus()
    page.keyboard.press("Enter")
    field = page.get_by_label("Annotations")
    text = field.input_value()
    field.fill(text.replace("request_changes", "no_such_option"))
    page.get_by_role("button", name="Expect this").click()
    expect(page.locator(".banner").first).to_contain_text("Nobody could answer what is expected")
    assert "no_such_option" in field.input_value()
    themed_reader.assert_clean("an expectation that was refused")
    field.fill(text.replace("request_changes", "comment_only"))
    page.get_by_role("button", name="Expect this").click()
    expect(page.get_by_text("This is expected from now on.")).to_be_visible()
    expect(page.get_by_role("region", name="What is expected")).to_contain_text("Comment Only")
