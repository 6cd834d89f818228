"""What becomes of drafts and submissions: nothing that was acknowledged is lost, and nothing counts twice."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError, ProgrammingError, connection, transaction
from django.utils import timezone

from accounts.models import AuditEvent
from assignments.actions.claiming import Reason
from assignments.actions.submitting import store_submission, withdraw
from assignments.actions.working import heartbeat, release, save_draft, skip
from assignments.errors import DraftConflict, NotOpen, ReasonNeeded, TooLateToWithdraw
from assignments.models import Submission, TraceQuota
from tenancy.errors import KeyReused
from tests.assignments.conftest import Queue, submit

HOSTILE = {"summary": "NUL \x00, half a pair \ud800, emoji \U0001f600", "n": [1, 2.5, None, True]}


def test_a_draft_comes_back_exactly_as_it_was_saved(queue: Queue) -> None:
    held = queue.claimed(queue.tenants.bob)
    assert save_draft(assignment=held, fencing_token=held.fencing_token, revision=0, content={}).revision == 1
    saved = save_draft(assignment=held, fencing_token=held.fencing_token, revision=1, content=HOSTILE)
    assert saved.revision == 2
    stored = held.draft()
    assert stored is not None
    assert stored.content == HOSTILE


@pytest.mark.parametrize("revision", [0, 1, 3])
def test_a_draft_that_was_saved_elsewhere_is_shown_and_not_overwritten(queue: Queue, revision: int) -> None:
    held = queue.claimed(queue.tenants.bob)
    for number in range(2):
        save_draft(assignment=held, fencing_token=held.fencing_token, revision=number, content={"save": number})
    with pytest.raises(DraftConflict) as conflict:
        save_draft(assignment=held, fencing_token=held.fencing_token, revision=revision, content={"save": "other"})
    assert (conflict.value.revision, conflict.value.content) == (2, {"save": 1})
    assert conflict.value.status == 409


def test_a_draft_is_kept_after_the_lease_ended(queue: Queue) -> None:
    held = queue.claimed(queue.tenants.bob)
    queue.expire(held)
    save_draft(assignment=held, fencing_token=held.fencing_token, revision=0, content={"late": True})
    held.refresh_from_db()
    assert held.state == "expired"


def test_a_submission_is_stored_exactly_frees_the_lease_and_counts(queue: Queue) -> None:
    held = queue.claimed(queue.tenants.bob)
    submission = submit(held, **HOSTILE)
    stored = Submission.objects.get(pk=submission.pk)
    assert stored.result == HOSTILE
    assert (stored.number, stored.is_surplus) == (1, False)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_current_xact_id()::text")
        assert stored.transaction == int(cursor.fetchone()[0])
    assert queue.quota(held) == (0, 1)
    held.refresh_from_db()
    assert (held.state, held.lease_until) == ("submitted", None)
    assert list(Submission.objects.counted()) == [stored]


def test_the_same_request_again_is_answered_by_the_same_submission(queue: Queue) -> None:
    held = queue.claimed(queue.tenants.bob)
    payload: dict[str, Any] = {"verdict": "approve"}
    first, second = (
        store_submission(
            assignment=held, fencing_token=held.fencing_token, key="key", payload=payload, result={"verdict": 1}
        )
        for _ in range(2)
    )
    assert first.pk == second.pk
    assert queue.quota(held) == (0, 1)
    with pytest.raises(KeyReused) as reused:
        store_submission(
            assignment=held, fencing_token=held.fencing_token, key="key", payload={"verdict": "no"}, result={}
        )
    assert reused.value.status == 422
    with pytest.raises(NotOpen):
        store_submission(
            assignment=held, fencing_token=held.fencing_token, key="another key", payload=payload, result={}
        )
    assert Submission.objects.count() == 1


def test_a_late_submission_counts_while_a_place_is_free(queue: Queue) -> None:
    held = queue.claimed(queue.tenants.bob)
    queue.expire(held)
    assert not submit(held).is_surplus
    assert queue.quota(held) == (0, 1)


def test_a_submission_after_the_lease_and_before_the_sweep_counts(queue: Queue) -> None:
    held = queue.claimed(queue.tenants.bob)
    queue.end_lease(held)
    assert not submit(held).is_surplus
    assert queue.quota(held) == (0, 1)


@pytest.mark.parametrize("done", [False, True])
def test_a_late_submission_without_a_free_place_is_surplus(queue: Queue, done: bool) -> None:
    held = queue.claimed(queue.tenants.bob)
    queue.expire(held)
    other = queue.claimed(queue.tenants.alice)
    assert other.trace_id == held.trace_id
    counted = [submit(other)] if done else []
    surplus = submit(held)
    assert surplus.is_surplus
    assert queue.quota(held) == (not done, done)
    assert list(Submission.objects.counted()) == counted
    assert set(Submission.objects.with_surplus()) == {*counted, surplus}


def test_undoing_opens_the_same_assignment_with_its_draft_and_its_place(queue: Queue) -> None:
    held = queue.claimed(queue.tenants.bob)
    save_draft(assignment=held, fencing_token=held.fencing_token, revision=0, content={"kept": 1})
    submission = submit(held)
    again = withdraw(submission=submission)
    assert (again.pk, again.state, again.fencing_token) == (held.pk, "claimed", held.fencing_token)
    draft = again.draft()
    assert draft is not None
    assert draft.content == {"kept": 1}
    assert queue.quota(held) == (1, 0)
    assert not Submission.objects.counted().exists()
    assert queue.claimed(queue.tenants.bob).pk == held.pk
    assert queue.claimed(queue.tenants.alice).trace_id != held.trace_id
    heartbeat(assignment=again, fencing_token=again.fencing_token)
    second = submit(again)
    assert second.number == 2
    assert list(Submission.objects.counted()) == list(Submission.objects.with_surplus()) == [second]


def test_undoing_twice_is_undoing_once(queue: Queue) -> None:
    submission = submit(queue.claimed(queue.tenants.bob))
    for _ in range(2):
        withdraw(submission=submission)
    assert submission.withdrawals.count() == 1
    assert queue.quota(submission.assignment) == (1, 0)


def test_a_submission_cannot_be_undone_later(queue: Queue, monkeypatch: pytest.MonkeyPatch) -> None:
    submission = submit(queue.claimed(queue.tenants.bob))
    later = timezone.now() + timedelta(seconds=33)
    monkeypatch.setattr("django.utils.timezone.now", lambda: later)
    with pytest.raises(TooLateToWithdraw):
        withdraw(submission=submission)
    assert list(Submission.objects.counted()) == [submission]


def test_undoing_a_surplus_submission_takes_no_place(queue: Queue) -> None:
    held = queue.claimed(queue.tenants.bob)
    queue.expire(held)
    other = queue.claimed(queue.tenants.alice)
    withdraw(submission=submit(held))
    held.refresh_from_db()
    assert held.state == "expired"
    assert queue.quota(held) == (1, 0)
    release(assignment=other, fencing_token=other.fencing_token)
    assert not submit(held).is_surplus


def test_a_trace_is_skipped_with_a_reason(queue: Queue) -> None:
    held = queue.claimed(queue.tenants.bob)
    with pytest.raises(ReasonNeeded):
        skip(assignment=held, fencing_token=held.fencing_token, reason=" \n")
    skipped = skip(assignment=held, fencing_token=held.fencing_token, reason="Not \x00 my language")
    assert skipped.skip_reason == "Not \ufffd my language"
    assert queue.quota(held) == (0, 0)
    with pytest.raises(NotOpen):
        submit(held)


def test_what_was_decided_is_in_the_audit_trail_and_the_rest_is_not(queue: Queue) -> None:
    before = AuditEvent.objects.count()
    held = queue.claimed(queue.tenants.bob)
    heartbeat(assignment=held, fencing_token=held.fencing_token)
    save_draft(assignment=held, fencing_token=held.fencing_token, revision=0, content={})
    queue.expire(held)
    release(assignment=queue.claimed(queue.tenants.alice), fencing_token=1)
    assert AuditEvent.objects.count() == before
    made = submit(held)
    withdraw(submission=made)
    held.refresh_from_db()
    skip(assignment=held, fencing_token=held.fencing_token, reason="too long")
    events = AuditEvent.objects.order_by("pk").values_list("verb", "target_id", "detail")
    trace = {"trace": str(held.trace_id)}
    assert list(events[before:]) == [
        ("submission.made", made.pk, {**trace, "surplus": False}),
        ("submission.withdrawn", made.pk, trace),
        ("assignment.skipped", held.pk, {**trace, "reason": "too long"}),
    ]


def test_the_database_refuses_more_than_there_are_places(queue: Queue) -> None:
    held = queue.claimed(queue.tenants.bob)
    for counters in ({"done": 1}, {"active": 2}, {"target": 2}):
        with pytest.raises(IntegrityError), transaction.atomic():
            TraceQuota.objects.filter(trace=held.trace_id).update(**counters)


def test_a_submission_is_never_changed_or_removed(queue: Queue) -> None:
    submission = submit(queue.claimed(queue.tenants.bob))
    for change in (lambda: Submission.objects.update(is_surplus=True), submission.delete):
        with pytest.raises(ProgrammingError, match="permission denied"), transaction.atomic():
            change()


def test_a_trace_that_everybody_skips_stays_undone_and_each_is_told(queue: Queue) -> None:
    for person in (queue.tenants.bob, queue.tenants.alice):
        for _ in range(3):
            held = queue.claimed(person)
            skip(assignment=held, fencing_token=held.fencing_token, reason="unreadable")
        assert queue.nothing(person).reason == Reason.YOURS_ARE_DONE
    assert {queue.quota(row.trace_id) for row in TraceQuota.objects.all()} == {(0, 0)}
