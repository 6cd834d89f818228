"""A reviewer returns an annotation with a note at a line, by keys; its annotator answers and submits again."""

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from assignments.actions.answering import answer_note
from assignments.actions.deciding import accept, return_to_annotator
from assignments.models import Assignment, Decision, Submission
from assignments.review_notes import ReviewNote
from tenancy.actor import acting_in
from tests.stories.conftest import Reader
from tests.stories.pictures import shoot
from tests.stories.reviewing import saved
from tests.stories.test_reading_annotations import LIST, at, drawn, followed, review, reviewing
from tests.tenants import Tenants

pytestmark = pytest.mark.browser


def test_what_a_reviewer_returns_comes_back_and_is_accepted(
    tenants_of_browsers: Tenants, themed_reader: Reader, tmp_path: Any
) -> None:
    tenants = tenants_of_browsers
    submission = review(reviewing(tenants, tmp_path, people=1), tenants.bob)
    page = at(themed_reader, "mallory", f"{LIST}{submission.pk}/")
    drawn(page)
    page.locator("article.file").first.locator('button[data-side="new"][data-l="15"]').click()
    page.keyboard.type("Which caller breaks?")
    expect(page.get_by_role("button", name="Return with 1 note")).to_be_visible()
    page.locator("h1").click()
    page.keyboard.press("r")
    dialog = page.get_by_role("dialog", name="Return it to bob")
    expect(dialog).to_contain_text("src/parser.py, line 15: Which caller breaks?")
    with page.expect_navigation(wait_until="load"):
        dialog.get_by_role("button", name="Return it").click()
    expect(page.get_by_role("status").first).to_contain_text("was returned.")
    themed_reader.assert_clean("a returned annotation")
    with acting_in(tenants.acme):
        assert Decision.objects.get().notes == [
            {"text": "Which caller breaks?", "path": "src/parser.py", "side": "new", "line": 15}
        ]
        assignment = Assignment.objects.get()

    page = at(themed_reader, "bob", f"/o/acme/p/parser/tasks/{assignment.pk}/")
    expect(page.get_by_text("mallory asks you to look at this one again, with 1 note.")).to_be_visible()
    note = page.locator("tr.inline", has_text="Note for you")
    expect(note).to_contain_text("Which caller breaks?")
    assert note.evaluate("(row) => row.closest('tr').previousElementSibling.dataset.new ?? ''") in ("15", "")
    assert note.evaluate("(row) => row.cells[0].colSpan === row.previousElementSibling.cells.length")
    expect(page.locator(".comment", has_text="This will throw IndexError")).to_be_visible()
    left = page.locator("[data-left]")
    expect(left).to_have_text("1 thing left")
    page.get_by_role("button", name="Submit").click(force=True)
    expect(page.locator(":focus")).to_contain_text("Which caller breaks?")
    themed_reader.assert_clean("a returned task")
    shoot(themed_reader, "returned-task")
    page.get_by_role("button", name="Show what I changed").click()
    changed = page.get_by_role("region", name="What you changed")
    expect(changed).to_contain_text("Nothing is changed so far.")
    page.locator("h1").click()
    page.keyboard.press("g")
    page.keyboard.press("c")
    expect(page.get_by_role("form", name="New comment, whole change")).to_be_visible()
    page.keyboard.press("1")
    page.keyboard.type("All callers are in this change.")
    page.keyboard.press("Control+Enter")
    expect(changed.get_by_role("listitem")).to_have_text(re.compile("Added.*Comment on the whole change.*All callers"))
    page.locator("#verdict input").nth(0).check()
    expect(changed.get_by_role("listitem").nth(1)).to_contain_text("Verdict")
    expect(changed.locator("del")).to_have_text("Request Changes")
    expect(changed.locator("ins").nth(1)).to_have_text("Approve")
    expect(page.locator("#verdict [data-change-mark]")).to_have_text("Was Request Changes")
    expect(page.locator("#change-comments [data-change-mark]")).to_have_text("New since the return")
    themed_reader.assert_clean("what was changed of a returned task")
    shoot(themed_reader, "returned-task-changed")
    page.locator("#verdict input").nth(1).check()
    expect(page.locator("#verdict [data-change-mark]")).to_have_count(0)
    saved(page)
    page.get_by_label("Why you keep it").fill("None: all of them pass a list.")
    with page.expect_navigation(wait_until="load"):
        page.get_by_role("button", name="I keep it").click()
    expect(page.get_by_text("You keep it: None: all of them pass a list.")).to_be_visible()
    expect(left).to_have_text("Ready to submit")
    page.get_by_role("button", name="Submit").click()
    expect(page.get_by_role("heading", name="Submitted")).to_be_visible()
    with acting_in(tenants.acme):
        again = Submission.objects.get(number=2)

    page = at(themed_reader, "mallory", f"{LIST}review/")
    expect(page.get_by_role("row", name="Submitted again")).to_be_visible()
    themed_reader.assert_clean("the queue of reviewers")
    shoot(themed_reader, "review-queue")
    followed(page, "s")
    assert str(again.pk) in page.url
    drawn(page)
    expect(page.get_by_text("None: all of them pass a list.")).to_be_visible()
    page.get_by_role("button", name="Show what was changed").click()
    changed = page.get_by_role("region", name="What was changed since the return")
    expect(changed.get_by_role("listitem")).to_have_text(re.compile("Added.*Comment on the whole change.*All callers"))
    expect(page.locator("#change-comments [data-change-mark]")).to_have_text("New since the return")
    themed_reader.assert_clean("an annotation in the queue")
    shoot(themed_reader, "review-queue-open")
    followed(page, "a")
    expect(page.get_by_text("Nothing more is to be reviewed")).to_be_visible()
    with acting_in(tenants.acme):
        assert [row.outcome for row in Decision.objects.order_by("pk")] == ["returned", "accepted"]


def test_what_a_reviewer_typed_survives_a_refusal_and_goes_with_the_decision(
    tenants_of_browsers: Tenants, reader: Reader, tmp_path: Any
) -> None:
    tenants = tenants_of_browsers
    submission = review(reviewing(tenants, tmp_path, people=1), tenants.bob)
    page = at(reader, "mallory", f"{LIST}{submission.pk}/")
    drawn(page)
    page.locator("article.file").first.locator('button[data-side="new"][data-l="15"]').click()
    page.keyboard.type("Which caller breaks?")
    page.get_by_role("button", name="Return with 1 note").click()
    dialog = page.get_by_role("dialog", name="Return it to bob")
    dialog.get_by_label("Note on the whole").fill("Look at the callers.")
    with acting_in(tenants.acme, tenants.alice):
        accept(submission=submission, user=tenants.alice)
    with page.expect_navigation(wait_until="load"):
        dialog.get_by_role("button", name="Return it").click()
    expect(page.get_by_text("Somebody else decided of this annotation in the meantime.")).to_be_visible()
    drawn(page)
    expect(page.get_by_role("textbox", name="src/parser.py, line 15")).to_have_value("Which caller breaks?")
    page.get_by_role("button", name="Return with 1 note").click()
    expect(dialog.get_by_label("Note on the whole")).to_have_value("Look at the callers.")
    with page.expect_navigation(wait_until="load"):
        dialog.get_by_role("button", name="Return it").click()
    with acting_in(tenants.acme):
        notes = Decision.objects.get(outcome="returned").notes
    assert {note["text"] for note in notes} == {"Look at the callers.", "Which caller breaks?"}
    page.reload()
    assert page.evaluate("Object.keys(sessionStorage).filter((name) => name.startsWith('review-notes:'))") == []


def test_notes_stand_in_the_rail_and_brackets_walk_them_to_their_lines(
    tenants_of_browsers: Tenants, themed_reader: Reader, tmp_path: Any
) -> None:
    tenants = tenants_of_browsers
    submission = review(reviewing(tenants, tmp_path, people=1), tenants.bob)
    notes = [
        ReviewNote("Does the verdict still hold?"),
        ReviewNote("Which caller breaks?", path="src/parser.py", side="new", line=15),
        ReviewNote("And this one?", path="src/parser.py", side="new", line=42),
    ]
    with acting_in(tenants.acme, tenants.alice):
        return_to_annotator(submission=submission, user=tenants.alice, notes=notes)
        assignment = Assignment.objects.get()
        answer_note(assignment=assignment, user=tenants.bob, note=2, is_kept=False)
    page = at(themed_reader, "bob", f"/o/acme/p/parser/tasks/{assignment.pk}/")
    expect(page.locator("tr.inline", has_text="Note for you")).to_have_count(2)
    rail = page.get_by_role("navigation", name="Notes for you")
    expect(rail.get_by_role("link")).to_have_text(
        [
            re.compile("Does the verdict still hold"),
            re.compile("Which caller breaks.*15"),
            re.compile("Done.*And this.*42"),
        ]
    )
    expect(page.locator(".rail")).to_contain_text("1 of 3 done")
    focused = page.locator(":focus")
    page.keyboard.press("]")
    expect(focused).to_contain_text("Does the verdict still hold?")
    # Nothing is typed into the note's field: the next key walks on.
    page.keyboard.press("]")
    expect(focused).to_contain_text("Which caller breaks?")
    expect(focused.locator("xpath=ancestor::tr[1]/preceding-sibling::tr[1]")).to_have_attribute("data-new", "15")
    expect(rail.locator("[aria-current]")).to_contain_text("Which caller breaks?")
    themed_reader.assert_clean("notes in the rail")
    shoot(themed_reader, "returned-rail")
    page.keyboard.press("]")
    expect(focused).to_contain_text("And this one?")
    page.keyboard.press("]")
    expect(focused).to_contain_text("Does the verdict still hold?")
    page.keyboard.press("[")
    expect(focused).to_contain_text("And this one?")
    rail.get_by_role("link").nth(1).click()
    expect(focused).to_contain_text("Which caller breaks?")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(focused).to_have_attribute("id", "answer-1")
    assert [field.input_value() for field in page.get_by_label("Why you keep it").all()] == ["", ""]
