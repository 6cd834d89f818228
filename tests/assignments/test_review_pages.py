"""What reviewers and annotators do on pages: decide, return, answer, correct, and go through the queue."""

import html
import re
from typing import Any

import pytest
from django.test import Client

from accounts.actions.projects import publish_configuration
from accounts.models import Membership
from agreement.by_trace import update_traces
from assignments.actions.deciding import return_to_annotator
from assignments.models import Assignment, Decision, NoteAnswer, ReviewHold, Submission
from assignments.review_notes import ReviewNote
from assignments.review_queue import in_turn, put_off, take_next, to_review
from tenancy.roles import Role
from tests.assignments.conftest import YAML, Queue, submit
from tests.hostile import HOSTILE
from tests.pages import assert_harmless

LIST = "/o/acme/p/parser/annotations/"
TASKS = "/o/acme/p/parser/tasks/"


def text_of(answer: Any) -> str:
    """The words of a page, without its markup."""
    assert answer.status_code == 200, answer.status_code
    words = re.sub(r"<(script|template|svg)\b.*?</\1>|<[^>]+>", " ", answer.content.decode(), flags=re.S)
    return " ".join(html.unescape(words).split())


def signed_in(queue: Queue, name: str) -> Client:
    client = Client()
    client.force_login(getattr(queue.tenants, name))
    return client


@pytest.fixture
def submission(queue: Queue) -> Submission:
    return submit(queue.claimed(queue.tenants.bob))


@pytest.fixture
def manager(queue: Queue) -> Client:
    return signed_in(queue, "mallory")


def decide(client: Client, submission: Submission, do: str, **form: Any) -> Any:
    return client.post(f"{LIST}{submission.pk}/decide/", {"do": do, **form}, follow=True)


def publish_review(queue: Queue, review: str) -> None:
    publish_configuration(project=queue.project, source=YAML.format(target=2, max_open=1) + f"review: {review}\n")


def test_a_reviewer_accepts_on_the_page_and_takes_it_back(
    queue: Queue, submission: Submission, manager: Client
) -> None:
    page = manager.get(f"{LIST}{submission.pk}/record/").content.decode()
    assert 'name="do" value="accept"' in page
    answer = decide(manager, submission, "accept", seen="0")
    assert "was accepted." in text_of(answer)
    assert "Accepted by mallory" in text_of(answer)
    assert 'name="do" value="accept"' not in answer.content.decode()
    decision = Decision.objects.get()
    undone = manager.post(f"{LIST}undo/", {"decision": str(decision.pk)}, follow=True)
    assert "The decision was taken back." in text_of(undone)
    assert "took that back" in text_of(manager.get(f"{LIST}{submission.pk}/record/"))


def test_neither_its_annotator_nor_a_viewer_decides(queue: Queue, submission: Submission) -> None:
    bob = signed_in(queue, "bob")
    assert 'name="do"' not in bob.get(f"{LIST}{submission.pk}/record/").content.decode()
    assert decide(bob, submission, "accept").status_code == 403
    Membership.objects.filter(user=queue.tenants.dora).update(role=Role.VIEWER)
    dora = signed_in(queue, "dora")
    assert 'name="do"' not in dora.get(f"{LIST}{submission.pk}/record/").content.decode()
    assert decide(dora, submission, "accept").status_code == 403
    own = submit(queue.claimed(queue.tenants.mallory))
    answer = decide(signed_in(queue, "mallory"), own, "accept")
    assert "your own annotation" in text_of(answer)
    assert not Decision.objects.exists()


def test_a_returned_task_shows_its_notes_and_takes_one_answer_to_each(
    queue: Queue, submission: Submission, manager: Client
) -> None:
    answer = decide(manager, submission, "return", note=["Run the tests.", ""], place=["", ""], days="2")
    assert "was returned." in text_of(answer)
    bob = signed_in(queue, "bob")
    task = f"{TASKS}{submission.assignment_id}/"
    page = bob.get(f"{task}files/")
    assert "mallory asks you to look at this one again, with 1 note." in text_of(page)
    assert "Run the tests." in text_of(page)
    assert "Say why you keep it" in text_of(
        bob.post(f"{task}answer/", {"note": "0", "is_kept": "1", "text": ""}, follow=True)
    )
    assert not NoteAnswer.objects.exists()
    bob.post(f"{task}answer/", {"note": "0", "is_kept": "1", "text": "The tests are of another function."})
    assert "You keep it: The tests are of another function." in text_of(bob.get(f"{task}files/"))
    newest = submit(Assignment.objects.get(pk=submission.assignment_id))
    words = text_of(manager.get(f"{LIST}{newest.pk}/record/"))
    assert "keeps it: The tests are of another function." in words
    assert "submitted it again" in words


def test_a_correction_is_written_on_the_task_page(queue: Queue, submission: Submission, manager: Client) -> None:
    answer = decide(manager, submission, "correct")
    assert "You correct the annotation of bob." in text_of(answer)
    assert Assignment.objects.get(kind="correction").user == queue.tenants.mallory


def test_the_list_has_a_tab_for_each_decision_and_decides_of_what_is_ticked(queue: Queue, manager: Client) -> None:
    rows = [submit(queue.claimed(queue.tenants.bob)) for _ in range(3)]
    chosen = {"of": [str(row.pk) for row in rows[:2]], "do": "void", "reason": "Made by a script", "list": ""}
    answer = manager.post(f"{LIST}decide/", chosen, follow=True)
    assert "2 annotations were voided." in text_of(answer)
    words = text_of(answer)
    for tab in ("Every decision 3", "Not decided 1", "Void 2", "Accepted 0", "Skipped 0"):
        assert tab in words, words
    voided = text_of(manager.get(f"{LIST}?decision=voided"))
    assert voided.count("by mallory") == 2
    again = manager.post(f"{LIST}decide/", chosen, follow=True)
    assert "This annotation is void." in text_of(again)
    ids = ",".join(str(decision.pk) for decision in Decision.objects.all())
    assert "2 decisions were taken back." in text_of(manager.post(f"{LIST}undo/", {"decision": ids}, follow=True))
    assert Submission.objects.counted().count() == 3


def test_without_a_word_nothing_is_to_be_reviewed_but_what_comes_back(
    queue: Queue, submission: Submission, manager: Client
) -> None:
    assert "The configuration asks for no review" in text_of(manager.get(f"{LIST}review/"))
    return_to_annotator(submission=submission, user=queue.tenants.mallory, notes=[ReviewNote("Again.")])
    again = submit(Assignment.objects.get(pk=submission.assignment_id))
    assert list(to_review(queue.project, queue.tenants.mallory)) == [again]
    assert "Submitted again" in text_of(manager.get(f"{LIST}review/"))


@pytest.mark.parametrize(("share", "least", "most"), [("0", 0, 0), ("1", 12, 12), ("0.5", 1, 11)])
def test_a_share_of_all_is_drawn(queue: Queue, share: str, least: int, most: int) -> None:
    publish_review(queue, f"{{share: {share}}}")
    queue.add_traces(9, "more")
    for _ in range(12):
        submit(queue.claimed(queue.tenants.bob))
    drawn = set(to_review(queue.project, queue.tenants.mallory))
    assert least <= len(drawn) <= most
    assert set(to_review(queue.project, queue.tenants.alice)) == drawn


def test_the_first_annotations_of_each_person_are_reviewed_and_never_ones_own(queue: Queue) -> None:
    publish_review(queue, "{new_people: 2}")
    bobs = [submit(queue.claimed(queue.tenants.bob)) for _ in range(3)]
    alices = [submit(queue.claimed(queue.tenants.alice)) for _ in range(3)]
    assert set(to_review(queue.project, queue.tenants.mallory)) == {*bobs[:2], *alices[:2]}
    assert set(to_review(queue.project, queue.tenants.alice)) == set(bobs[:2])


def test_annotations_that_agree_little_come_first(queue: Queue) -> None:
    publish_review(queue, "{share: 1, low_agreement_below: 0.6}")
    first = submit(queue.claimed(queue.tenants.bob))
    split = submit(queue.claimed(queue.tenants.bob), verdict={"decision": "approve"})
    submit(queue.claimed(queue.tenants.alice))
    other = submit(queue.claimed(queue.tenants.alice), verdict={"decision": "request_changes"})
    assert other.assignment.trace_id == split.assignment.trace_id
    update_traces(project=queue.project, traces=[first.assignment.trace_id, split.assignment.trace_id])
    order = in_turn(queue.project, queue.tenants.mallory, 10)
    assert set(order[:2]) == {split.pk, other.pk}
    assert len(order) == 4
    page = text_of(signed_in(queue, "mallory").get(f"{LIST}review/"))
    assert "Agreement 0.00 with the others" in page


def test_what_came_back_is_first_and_what_was_put_off_is_last(queue: Queue) -> None:
    publish_review(queue, "{share: 1}")
    mallory = queue.tenants.mallory
    first, second, third = (submit(queue.claimed(queue.tenants.bob)) for _ in range(3))
    return_to_annotator(submission=third, user=mallory, notes=[ReviewNote("Again.")])
    again = submit(Assignment.objects.get(pk=third.assignment_id))
    put_off(submission=first, user=mallory)
    order = [again.pk, second.pk, first.pk]
    assert in_turn(queue.project, mallory, 10) == order
    assert in_turn(queue.project, mallory, 2) == order[:2]
    put_off(submission=again, user=mallory)
    assert in_turn(queue.project, mallory, 10) == [second.pk, first.pk, again.pk]
    assert in_turn(queue.project, queue.tenants.alice, 10) == [again.pk, first.pk, second.pk]


def test_a_reviewer_goes_through_the_queue_and_no_other_is_given_the_same(queue: Queue, manager: Client) -> None:
    publish_review(queue, "{share: 1}")
    rows = [submit(queue.claimed(queue.tenants.bob)) for _ in range(3)]
    answer = manager.post(f"{LIST}review/next/", follow=True)
    first, second, third = rows
    assert answer.redirect_chain[-1][0] == f"{LIST}{first.pk}/?review=1"
    assert "Drawn at random" in text_of(answer)
    assert take_next(project=queue.project, user=queue.tenants.alice) == second.pk
    assert take_next(project=queue.project, user=queue.tenants.mallory) == first.pk
    answer = decide(manager, first, "later", review="1")
    assert answer.redirect_chain[-1][0] == f"{LIST}{third.pk}/?review=1"
    answer = decide(manager, third, "accept", review="1", seen="0")
    assert answer.redirect_chain[-1][0] == f"{LIST}{first.pk}/?review=1"
    answer = decide(manager, first, "void", review="1", seen="0", reason="no")
    assert "Nothing more is to be reviewed" in text_of(answer)
    assert [hold.user for hold in ReviewHold.objects.all()] == [queue.tenants.alice]


def test_the_queue_hides_what_others_said_until_it_is_asked_for(queue: Queue, manager: Client) -> None:
    publish_review(queue, "{share: 1}")
    first = submit(queue.claimed(queue.tenants.bob))
    submit(queue.claimed(queue.tenants.alice))
    hidden = text_of(manager.get(f"{LIST}{first.pk}/record/?review=1"))
    assert "Show what the others said" in hidden
    assert "Agreement" not in hidden
    assert "Compare all" not in hidden
    shown = text_of(manager.get(f"{LIST}{first.pk}/record/?review=1&others=1"))
    assert "Compare all 2" in shown
    assert "Agreement" in shown


def test_hostile_notes_harm_no_page(queue: Queue, submission: Submission, manager: Client) -> None:
    notes = [ReviewNote(words) for words in HOSTILE if words.strip()][:50]
    return_to_annotator(submission=submission, user=queue.tenants.mallory, notes=notes)
    assert_harmless(manager.get(f"{LIST}{submission.pk}/record/").content.decode(), "read")
    page = signed_in(queue, "bob").get(f"{TASKS}{submission.assignment_id}/files/").content.decode()
    section = page[page.index('<section class="card" id="notes"') :]
    assert_harmless(section[: section.index("</section>")], "task")
