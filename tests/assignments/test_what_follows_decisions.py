"""What else changes when a reviewer decides: events, reports, the notes of a task that is held again, and rights."""

import time
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.actions.projects import ProjectArchived, publish_configuration
from accounts.models import Project, User
from agreement.since_report import has_changed_after
from assignments.actions.answering import answer_note, returned_decision
from assignments.actions.claiming import resume
from assignments.actions.correcting import begin_correction, store_correction
from assignments.actions.deciding import accept, lock_for_decisions, return_to_annotator, undo_decision, void
from assignments.actions.reassigning import reassign
from assignments.actions.submitting import submit as submit_answers
from assignments.actions.submitting import withdraw
from assignments.actions.working import release, skip
from assignments.errors import DecidedMeanwhile, NotesLeft, OwnWork, WasReviewed
from assignments.history import recent_events
from assignments.listing import AnnotationFilters
from assignments.models import Assignment, ReviewHold, Submission
from assignments.review_notes import ReviewNote
from assignments.review_queue import in_turn, queue_rows, review_rules, take_next
from assignments.subscribers import submission_made
from dashboard.figures import people_at_work, work_by_user
from jobs.models import OutboxEvent
from tenancy.errors import Refused
from tests.assignments.conftest import YAML, Queue, submit
from tests.assignments.reviews import api_of

ANSWERS = {"verdict": {"decision": "approve", "summary": "It does what the task asks for."}}
NOTE = ReviewNote("Run the tests before the verdict.")


@pytest.fixture
def mallory(queue: Queue) -> User:
    return queue.tenants.mallory


@pytest.fixture
def submission(queue: Queue) -> Submission:
    return submit(queue.claimed(queue.tenants.bob))


def corrected(submission: Submission, user: User) -> Submission:
    work = begin_correction(submission=submission, user=user)
    result = {"verdict": {"decision": "request_changes"}}
    return store_correction(assignment=work, fencing_token=work.fencing_token, key="k", payload=result, result=result)


def complete_events() -> int:
    for event in OutboxEvent.objects.filter(topic="submission.made"):
        # Delivered once more each time, it says so once.
        submission_made(event)
    return OutboxEvent.objects.filter(topic="trace.complete").count()


def test_a_correction_is_neither_taken_back_by_the_annotator_nor_decided_of_by_its_author(
    submission: Submission, mallory: User
) -> None:
    correction = corrected(submission, mallory)
    with pytest.raises(WasReviewed):
        withdraw(submission=correction)
    with pytest.raises(OwnWork, match="correction"):
        accept(submission=correction, user=mallory)


def test_a_correction_that_is_being_written_is_not_given_to_somebody_else(
    queue: Queue, submission: Submission, mallory: User
) -> None:
    work = begin_correction(submission=submission, user=mallory)
    with pytest.raises(Refused, match="stays with its reviewer"):
        reassign(assignment=work, user=queue.tenants.alice, keep_draft=True)
    assert queue.quota(submission.assignment) == (0, 1)


def test_a_trace_is_complete_again_when_what_was_returned_is_accepted(submission: Submission, mallory: User) -> None:
    before = complete_events()
    assert before == 1
    return_to_annotator(submission=submission, user=mallory, notes=[NOTE])
    accept(submission=submission, user=mallory)
    assert complete_events() == 2
    undo_decision(decision=void(submission=submission, user=mallory, reason="spam"), user=mallory)
    assert complete_events() == 3


def test_a_report_is_old_once_a_returned_annotation_counts_again(
    queue: Queue, submission: Submission, mallory: User
) -> None:
    accept(submission=submission, user=mallory)
    return_to_annotator(submission=submission, user=mallory, notes=[NOTE])
    time.sleep(0.01)
    computed = timezone.now()
    time.sleep(0.01)
    assert not has_changed_after(queue.project, computed)
    accept(submission=submission, user=mallory)
    assert has_changed_after(queue.project, computed)


def test_in_an_archived_project_nothing_is_returned_or_corrected(submission: Submission, mallory: User) -> None:
    Project.objects.update(archived_at=timezone.now())
    with pytest.raises(ProjectArchived):
        return_to_annotator(submission=submission, user=mallory, notes=[NOTE])
    with pytest.raises(ProjectArchived):
        begin_correction(submission=submission, user=mallory)
    accept(submission=submission, user=mallory)


def test_the_notes_stand_where_the_annotator_let_the_task_go_and_holds_it_again(
    queue: Queue, submission: Submission, mallory: User
) -> None:
    return_to_annotator(submission=submission, user=mallory, notes=[NOTE])
    held = Assignment.objects.get(pk=submission.assignment_id)
    release(assignment=held, fencing_token=held.fencing_token)
    held.refresh_from_db()
    again = resume(assignment=held)
    assert returned_decision(again) is not None
    with pytest.raises(NotesLeft):
        submit_answers(assignment=again, fencing_token=again.fencing_token, key="new", annotations=ANSWERS)
    answer_note(assignment=again, user=queue.tenants.bob, note=0, is_kept=False)
    assert (
        submit_answers(assignment=again, fencing_token=again.fencing_token, key="new", annotations=ANSWERS).number == 2
    )


def test_a_first_submission_that_is_repeated_is_answered_although_it_was_returned_since(
    queue: Queue, mallory: User
) -> None:
    held = queue.claimed(queue.tenants.bob)
    request: dict[str, Any] = {
        "assignment": held,
        "fencing_token": held.fencing_token,
        "key": "lost",
        "annotations": ANSWERS,
    }
    first = submit_answers(**request)
    return_to_annotator(submission=first, user=mallory, notes=[NOTE])
    held.refresh_from_db()
    assert submit_answers(**request) == first


def test_of_several_the_one_that_another_reviewer_decided_is_left_as_it_is(
    submission: Submission, mallory: User, queue: Queue
) -> None:
    accept(submission=submission, user=queue.tenants.alice)
    with pytest.raises(DecidedMeanwhile):
        void(submission=submission, user=mallory, reason="stale list", seen=0)


def test_decisions_of_many_lock_people_before_traces_and_traces_in_one_order(queue: Queue) -> None:
    of_bob = [submit(queue.claimed(queue.tenants.bob)) for _ in range(2)]
    of_alice = [submit(queue.claimed(queue.tenants.alice)) for _ in range(1)]
    with CaptureQueriesContext(connection) as queries:
        lock_for_decisions([*of_alice, *reversed(of_bob)], gives_back=True)
    tables = [
        next(name for name in ("hold_place", "queueposition", "tracequota") if name in query["sql"])
        for query in queries
        if "FOR NO KEY UPDATE" in query["sql"] or "hold_place" in query["sql"]
    ]
    assert tables == ["hold_place"] * 2 + ["queueposition"] * 2 + ["tracequota"] * 3


def test_the_first_annotations_of_each_person_are_in_the_queue_and_later_ones_are_not(
    queue: Queue, mallory: User
) -> None:
    source = YAML.format(target=1, max_open=1) + "review: {new_people: 2}\n"
    publish_configuration(project=queue.project, source=source)
    of_bob = [submit(queue.claimed(queue.tenants.bob)) for _ in range(3)]
    waiting = in_turn(queue.project, mallory, 10)
    assert waiting == [row.pk for row in of_bob[:2]]
    rows = queue_rows(Submission.objects.all(), waiting, review_rules(queue.project))
    assert [row.earlier for row in rows] == [0, 1]


def test_long_keys_with_one_beginning_are_two_corrections(queue: Queue, submission: Submission, mallory: User) -> None:
    first = correction_under(submission, mallory, "k" * 99 + "1")
    second = correction_under(first_of(submission), mallory, "k" * 99 + "2")
    assert first.pk != second.pk
    assert second.result["verdict"]["summary"] == "k" * 99 + "2"


def correction_under(submission: Submission, user: User, key: str) -> Submission:
    work = begin_correction(submission=submission, user=user)
    result = {"verdict": {"decision": "request_changes", "summary": key}}
    return store_correction(assignment=work, fencing_token=work.fencing_token, key=key, payload="same", result=result)


def first_of(submission: Submission) -> Submission:
    """The annotator's own again: the correction is taken back."""
    decision = submission.decisions.get()
    assert decision.decided_by is not None
    undo_decision(decision=decision, user=decision.decided_by)
    return submission


def test_reviewers_are_not_among_the_annotators(queue: Queue, submission: Submission, mallory: User) -> None:
    corrected(submission, mallory)
    other = submit(queue.claimed(queue.tenants.bob))
    work = begin_correction(submission=other, user=mallory)
    skip(assignment=work, fencing_token=work.fencing_token, reason="No time")
    assert set(work_by_user(queue.project)) == {queue.tenants.bob.pk}
    assert [annotator.name for annotator in people_at_work(queue.project).shown] == ["bob"]
    assert not AnnotationFilters(show="skips").skips(queue.project).exists()


def test_recent_events_tell_decisions_and_no_work_of_others(
    queue: Queue, submission: Submission, mallory: User
) -> None:
    corrected(submission, mallory)
    projects = [queue.project.pk]
    assert [event.words for event in recent_events(queue.tenants.bob, projects)] == [
        "A reviewer corrected",
        "You submitted",
    ]
    assert recent_events(mallory, projects) == []
    other = submit(queue.claimed(queue.tenants.bob))
    return_to_annotator(submission=other, user=mallory, notes=[NOTE])
    newest = recent_events(queue.tenants.bob, projects)[0]
    assert (newest.words, newest.after) == ("A reviewer returned", "It waits for you among your tasks. 1 note for you")


def test_the_hold_of_a_review_goes_on_while_its_page_is_open(
    queue: Queue, submission: Submission, mallory: User
) -> None:
    source = YAML.format(target=2, max_open=1) + "review: {share: 1}\n"
    publish_configuration(project=queue.project, source=source)
    assert take_next(project=queue.project, user=mallory) == submission.pk
    ReviewHold.objects.update(until=timezone.now() + timedelta(minutes=1))
    reviewer = api_of(mallory)
    answer = reviewer.post(f"submissions/{submission.pk}/hold/").json()
    assert answer == {"submission": str(submission.pk), "minutes": 30}
    until = ReviewHold.objects.get().until
    assert until is not None
    assert until > timezone.now() + timedelta(minutes=29)
    ReviewHold.objects.update(until=timezone.now() - timedelta(minutes=1))
    assert take_next(project=queue.project, user=queue.tenants.alice) == submission.pk
    assert reviewer.post(f"submissions/{submission.pk}/hold/").json()["submission"] is None
    assert api_of(queue.tenants.bob).post(f"submissions/{submission.pk}/hold/").status_code == 403


def test_the_page_of_a_review_asks_for_the_queue_once(queue: Queue, submission: Submission, mallory: User) -> None:
    source = YAML.format(target=2, max_open=1) + "review: {share: 1}\n"
    publish_configuration(project=queue.project, source=source)
    submit(queue.claimed(queue.tenants.bob))
    client = Client()
    client.force_login(mallory)
    with CaptureQueriesContext(connection) as queries:
        page = client.get(f"/o/acme/p/parser/annotations/{submission.pk}/record/?review=1").content.decode()
    assert "2 in the queue" in page
    assert "Drawn at random" in page
    assert sum("bit(32)" in query["sql"] for query in queries) == 1
