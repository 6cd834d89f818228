"""What a model suggests, in Chromium: shown where it is about, taken up by click and by key, never chosen before."""

import json
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from accounts.actions.projects import publish_configuration
from assignments.models import Assignment, Submission
from assignments.suggestions.taking import take_suggestions
from tenancy.actor import acting_in
from tests.stories.commenting import FILES, PATH
from tests.stories.conftest import Reader
from tests.stories.reviewing import claimed, is_ready, saved, task_path, until
from tests.tenants import Tenants
from tests.traces.stored import step, stored

pytestmark = pytest.mark.browser

REVIEW: tuple[dict[str, Any], ...] = (
    {"name": "inline_comments", "annotation_type": "code_review_comments"},
    {"name": "file_ratings", "annotation_type": "code_review_file_ratings"},
    {"name": "verdict", "annotation_type": "code_review_verdict", "verdict": {"require_summary": False}},
)
REWARDS: tuple[dict[str, Any], ...] = (
    {"name": "process_reward", "annotation_type": "process_reward", "mode": "per_step"},
)
SAID: dict[str, Any] = {
    "inline_comments": [
        {"file": PATH, "line_start": 15, "line_end": 16, "category": "bug", "comment": "Breaks at <b>the end</b>."},
        {"file": PATH, "line_start": 17, "category": "style", "comment": "Too long."},
    ],
    "file_ratings": {PATH: {"correctness": 2}},
    "verdict": {"decision": "request_changes"},
}
LABELS = {"process_reward": {"step_details": {"0": {"label": "correct"}, "2": {"label": "incorrect"}}}}


def at_task(
    tenants: Tenants, reader: Reader, schemes: tuple[dict[str, Any], ...], said: dict[str, Any], tab: str = ""
) -> tuple[Page, Assignment]:
    shown = {"shown": True, "hidden_share": 0}
    source = {"task_name": "Review", "annotation_schemes": schemes, "suggestions": shown}
    with acting_in(tenants.acme, tenants.alice):
        publish_configuration(project=tenants.acme_project, source=json.dumps(source))
    run = tuple(step(f"I do thing {at}.") for at in range(4))
    stored(tenants.acme, tenants.acme_project, *FILES, external_id="run", steps=run)
    record = {"id": "run", "model": "reviewer-9b", "model_version": "1", "annotations": said}
    with acting_in(tenants.acme, tenants.alice):
        assert take_suggestions(project=tenants.acme_project, records=[record]).problems == []
    assignment = claimed(tenants, tenants.bob)
    reader.sign_in("bob")
    reader.open(task_path(assignment, tab))
    return reader.page, assignment


def answers(tenants: Tenants, assignment: Assignment) -> Any:
    with acting_in(tenants.acme, tenants.bob):
        draft = Assignment.objects.get(pk=assignment.pk).draft()
        return draft.content["answers"] if draft else {}


def test_suggestions_of_a_review_by_click_and_by_key(tenants_of_browsers: Tenants, themed_reader: Reader) -> None:
    page, assignment = at_task(tenants_of_browsers, themed_reader, REVIEW, SAID)
    is_ready(page)
    cards = page.locator(".suggested")
    expect(cards).to_have_count(4)
    expect(cards.first).to_contain_text("Breaks at <b>the end</b>.")
    # Nothing is the annotator's own yet.
    expect(page.locator(":is(.rating, .verdict) input:checked")).to_have_count(0)
    assert answers(tenants_of_browsers, assignment) == {}
    themed_reader.assert_clean("suggestions")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_contain_text("Suggestions of a model")
    page.keyboard.press("Escape")
    # By key: to the first one, accept it; it is a comment of one's own then, and survives the page.
    page.keyboard.press("g")
    page.keyboard.press("s")
    expect(cards.first).to_be_focused()
    page.keyboard.press("y")
    expect(page.get_by_role("article", name="Comment on lines 15 to 16")).to_be_visible()
    expect(cards.first.locator("[data-state]")).to_have_text("Accepted")
    page.keyboard.press("g")
    page.keyboard.press("s")
    page.keyboard.press("e")
    form = page.get_by_role("form")
    form.get_by_label("Comment", exact=True).fill("Too long to read.")
    form.get_by_role("button", name="Save comment").click()
    page.locator(".rate__suggested").get_by_role("button", name="Reject").click()
    page.locator("#verdict .suggested").get_by_role("button", name="Accept").click()
    expect(page.get_by_role("radio", name="Request Changes")).to_be_checked()
    saved(page)
    page.reload()
    is_ready(page)
    expect(page.locator(".suggested.is-done")).to_have_count(4)
    themed_reader.assert_clean("decided suggestions")
    # What was rejected can be taken up again, and a comment that was deleted was not accepted.
    page.get_by_role("article", name="Comment on lines 15 to 16").get_by_role("button", name="Delete").click()
    expect(cards.first.get_by_role("button", name="Accept")).to_be_visible()
    kept = answers(tenants_of_browsers, assignment)
    assert kept["verdict"] == {"decision": "request_changes"}
    with acting_in(tenants_of_browsers.acme):
        assert not Submission.objects.exists()


def test_suggested_labels_of_steps(tenants_of_browsers: Tenants, reader: Reader) -> None:
    page, _ = at_task(tenants_of_browsers, reader, REWARDS, LABELS, "steps/")
    until(page, "document.querySelector('#s0 .srate input')?.disabled === false")
    expect(page.locator("#s0 .suggested")).to_contain_text("Correct")
    expect(page.locator(".suggested")).to_have_count(2)
    reader.assert_clean("suggested labels")
    page.locator("#s0 .suggested").get_by_role("button", name="Accept").click()
    expect(page.locator("#s0").get_by_role("radio", name="Correct", exact=True)).to_be_checked()
    page.locator("#s2 .suggested").get_by_role("button", name="Edit").click()
    expect(page.locator("#s2").get_by_role("radio", name="Incorrect", exact=True)).to_be_checked()
    page.locator("#s2").get_by_role("radio", name="Partially Correct", exact=True).check(force=True)
    for index in (1, 3):
        page.locator(f"#s{index}").get_by_role("radio", name="Correct", exact=True).check(force=True)
    saved(page)
    page.locator("[data-submit]").click()
    until(page, "document.querySelector('#submitted').open")
    with acting_in(tenants_of_browsers.acme):
        result = Submission.objects.get().result
    assert result["suggestions"]["items"] == [
        {"id": "process_reward/0", "action": "accepted"},
        {"id": "process_reward/2", "action": "edited", "changed": ["label"]},
    ]
