"""What programs may keep in a draft, and what files and dimensions may be called, is no trouble for the task page."""

import json
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from accounts.actions.projects import publish_configuration
from assignments.actions.working import save_draft
from tenancy.actor import acting_in
from tests.assignments.reviews import FILES, review_yaml, reviewed
from tests.stories.conftest import Reader
from tests.stories.reviewing import at_task, claimed
from tests.tenants import Tenants
from tests.traces.stored import outcome, stored

pytestmark = pytest.mark.browser

# What every object of a browser's language has anyway.
INHERITED = ["constructor", "__proto__", "toString", "length"]


def begun(tenants: Tenants, reader: Reader, content: Any) -> Page:
    """The page of a task whose draft a program has saved."""
    reviewed(tenants.acme, tenants.acme_project, *FILES)
    assignment = claimed(tenants, tenants.bob)
    with acting_in(tenants.acme, tenants.bob):
        save_draft(assignment=assignment, fencing_token=assignment.fencing_token, revision=0, content=content)
    return at_task(reader, assignment)


@pytest.mark.parametrize(
    "page",
    [None, "text", [1], {"viewed": {"a": 1}, "forms": "text"}, {"viewed": [None], "forms": [None, {}]}],
    ids=json.dumps,
)
def test_the_page_state_of_a_program_does_not_stop_the_page(
    tenants_of_browsers: Tenants, reader: Reader, page: Any
) -> None:
    answers = {"verdict": {"decision": "approve", "summary": "Kept by a program, word for word."}}
    shown = begun(tenants_of_browsers, reader, {"answers": answers, "page": page})
    expect(shown.locator("#summary")).to_have_value("Kept by a program, word for word.")
    expect(shown.locator("[data-left]")).to_have_text("2 things left")
    assert reader.errors == []


def test_a_draft_of_answers_alone_is_shown(tenants_of_browsers: Tenants, reader: Reader) -> None:
    comment = {"file": "src/parser.py", "line_start": 15, "category": "bug", "comment": "Kept by a program."}
    shown = begun(tenants_of_browsers, reader, {"answers": {"inline_comments": [comment]}})
    expect(shown.get_by_role("article", name="Comment on line 15 of parser.py")).to_contain_text("Kept by a program.")
    assert reader.errors == []


def test_names_that_every_object_has_are_rated_like_others(tenants_of_browsers: Tenants, reader: Reader) -> None:
    tenants = tenants_of_browsers
    ratings = {"dimensions": [{"name": name} for name in INHERITED]}
    source = json.loads(review_yaml())
    source["annotation_schemes"] = [{**source["annotation_schemes"][1], "file_ratings": ratings}]
    with acting_in(tenants.acme):
        publish_configuration(project=tenants.acme_project, source=json.dumps(source))
    stored(tenants.acme, tenants.acme_project, *(outcome(name, "old\n", "new\n") for name in INHERITED))
    assignment = claimed(tenants, tenants.bob)
    reader.sign_in("bob")
    reader.open(f"/o/acme/p/parser/tasks/{assignment.pk}/")
    page = reader.page
    expect(page.locator("[data-left]")).to_have_text("4 things left")
    for name in INHERITED:
        section = page.get_by_role("region", name=f"Rate {name}", exact=True)
        # A section is given its scales when it comes near.
        section.scroll_into_view_if_needed()
        expect(section.get_by_role("group")).to_have_count(len(INHERITED))
        for scale in section.get_by_role("group").all():
            scale.get_by_role("radio", name="4").check(force=True)
    expect(page.locator("[data-left]")).to_have_text("Ready to submit")
    page.get_by_role("button", name="Submit").click()
    expect(page.locator("#submitted")).to_be_visible()
    with acting_in(tenants.acme, tenants.bob):
        result = assignment.submissions.get().result
    assert result == {"file_ratings": {path: dict.fromkeys(INHERITED, 4) for path in sorted(INHERITED)}}
    assert reader.errors == []
