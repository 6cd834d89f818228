"""What a manager does to traces and people of the queue: pausing, excluding, offering, reassigning, limits."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import AuditEvent, Membership
from assignments.actions.claiming import Reason, resume
from assignments.actions.leaving import release_held
from assignments.actions.quotas import open_quotas
from assignments.actions.reassigning import reassign
from assignments.actions.reservations import end_reservations
from assignments.actions.steering import (
    limit_person,
    pause_batch,
    pause_person,
    pause_project,
    resume_batch,
    resume_person,
    resume_project,
)
from assignments.actions.withholding import (
    give_out_again,
    offer_to,
    prioritise,
    tag_traces,
    undo,
    withhold,
)
from assignments.actions.working import put_off, save_draft
from assignments.actions.working import release as release_task
from assignments.errors import LeaseEnded, Paused, ReasonNeeded, UnknownPeople
from assignments.models import (
    Assignment,
    Order,
    Priority,
    Reservation,
    TraceQuota,
    Withheld,
)
from assignments.pool.filters import PoolFilters
from assignments.wording import why_nothing
from tenancy.errors import Refused
from tests.assignments.conftest import Queue, annotators, submit
from tests.assignments.steered import given_in_turn, release
from tests.assignments.steered import pool as pool
from traces.models import Trace


@pytest.mark.parametrize("what", ["project", "batch", "person"])
def test_what_is_paused_gives_nothing_new_out_and_held_tasks_are_finished(pool: Queue, what: str) -> None:
    pool.add_traces(3)
    batch = release(pool)
    bob = pool.tenants.bob
    held = pool.claimed(bob)
    pause: dict[str, Callable[[], Any]] = {
        "project": lambda: pause_project(project=pool.project),
        "batch": lambda: pause_batch(batch=batch),
        "person": lambda: pause_person(project=pool.project, user=bob),
    }
    go_on: dict[str, Callable[[], Any]] = {
        "project": lambda: resume_project(project=pool.project),
        "batch": lambda: resume_batch(batch=batch),
        "person": lambda: resume_person(project=pool.project, user=bob),
    }
    pause[what]()
    assert pool.claimed(bob).pk == held.pk, "what is held is gone on with"
    submit(held)
    reason = pool.nothing(bob).reason
    assert reason == (Reason.YOU_ARE_PAUSED if what == "person" else Reason.PAUSED)
    go_on[what]()
    pool.claimed(bob)


def test_an_ended_task_is_not_taken_again_while_work_is_paused(pool: Queue) -> None:
    pool.add_traces(1)
    batch = release(pool)
    held = pool.claimed(pool.tenants.bob)
    pool.expire(held)
    pause_batch(batch=batch)
    with pytest.raises(Paused):
        resume(assignment=held)


def test_excluding_needs_a_reason_closes_open_places_and_keeps_what_is_judged(pool: Queue) -> None:
    pool.publish(target=2)
    traces = pool.add_traces(3)
    release(pool)
    submit(pool.claimed(pool.tenants.bob))
    keys = [trace.pk for trace in traces]
    with pytest.raises(ReasonNeeded):
        withhold(project=pool.project, traces=keys, why=Withheld.EXCLUDED)
    outcome = withhold(project=pool.project, traces=keys, why=Withheld.EXCLUDED, reason="Leaked the answer")
    assert outcome.sentence == "3 excluded; 1 of them have annotations, which are kept."
    again = withhold(project=pool.project, traces=keys, why=Withheld.EXCLUDED, reason="Leaked the answer")
    assert again.sentence == "0 excluded, 3 not: excluded already."
    assert pool.nothing(pool.tenants.alice).reason == Reason.NOT_RELEASED
    assert outcome.act is not None
    assert undo(act=outcome.act) == "Undone: 3 traces are as before."
    pool.claimed(pool.tenants.alice)
    assert AuditEvent.objects.filter(verb="traces.excluded", detail__reason="Leaked the answer").exists()


def test_a_held_back_trace_comes_to_those_who_have_passed_it_when_it_is_given_out_again(pool: Queue) -> None:
    pool.publish(target=5)
    traces = pool.add_traces(3)
    release(pool)
    withhold(project=pool.project, traces=[traces[0].pk], why=Withheld.HELD_BACK)
    submit(pool.claimed(pool.tenants.bob))
    give_out_again(project=pool.project, traces=[traces[0].pk])
    assert pool.claimed(pool.tenants.bob).trace_id == traces[0].pk


def test_a_newer_version_closes_the_open_places_of_the_older_one(pool: Queue) -> None:
    (old,) = pool.add_traces(1)
    batch = release(pool)
    (new,) = pool.add_traces(1, prefix="other")
    newer = Trace(
        project=pool.project,
        file=new.file,
        external_id=old.external_id,
        version=2,
        content_sha256="1" * 64,
        task_id="task",
        converter="native",
        steps_count=1,
        tool_calls=0,
        files_count=0,
        added=0,
        removed=0,
    )
    newer.save(force_insert=True)
    while open_quotas(project=pool.project):
        pass
    row = TraceQuota.objects.get(trace=old)
    assert (row.withheld, row.is_released, row.batch_id) == (Withheld.SUPERSEDED, False, batch.pk)
    assert pool.nothing(pool.tenants.bob).reason == Reason.NOT_RELEASED


def test_a_held_task_is_given_back_or_given_to_somebody_else_with_its_draft(pool: Queue) -> None:
    pool.add_traces(2)
    release(pool)
    bob, alice = pool.tenants.bob, pool.tenants.alice
    held = pool.claimed(bob)
    save_draft(assignment=held, fencing_token=held.fencing_token, revision=0, content={"page": "half"})
    theirs = reassign(assignment=held, user=alice, keep_draft=True)
    draft = theirs.draft()
    assert draft is not None
    assert draft.content == {"page": "half"}
    assert pool.quota(held) == (1, 0)
    assert pool.claimed(alice).pk == theirs.pk
    with pytest.raises(LeaseEnded):
        resume(assignment=Assignment.objects.select_related("project", "user").get(pk=held.pk))
    release_held(user=alice, project=pool.project, only=theirs.pk)
    assert pool.quota(held) == (0, 0)


def test_traces_offered_by_name_come_first_and_to_nobody_else_until_the_date(pool: Queue) -> None:
    traces = pool.add_traces(3)
    release(pool)
    last = traces[-1].pk
    outcome = offer_to(project=pool.project, traces=[last], people=[pool.tenants.bob.pk], days=3)
    assert outcome.sentence.startswith("1 offered to one person first, until ")
    for _ in range(2):
        submit(pool.claimed(pool.tenants.alice))
    assert pool.nothing(pool.tenants.alice).reason == Reason.FOR_OTHERS
    Reservation.objects.update(until=timezone.now() - timedelta(seconds=1))
    assert end_reservations(project=pool.project.pk) == 1
    assert pool.claimed(pool.tenants.alice).trace_id == last


def test_the_person_who_is_named_is_given_the_offered_trace_before_others(pool: Queue) -> None:
    traces = pool.add_traces(3)
    release(pool)
    offer_to(project=pool.project, traces=[traces[-1].pk], people=[pool.tenants.bob.pk], days=3)
    assert pool.claimed(pool.tenants.bob).trace_id == traces[-1].pk


def test_an_offer_that_is_undone_leaves_the_one_before_it_as_it_was(pool: Queue) -> None:
    traces = pool.add_traces(2)
    release(pool)
    offer_to(project=pool.project, traces=[traces[0].pk], people=[pool.tenants.bob.pk], days=3)
    before = set(Reservation.objects.values_list("trace", "user", "until"))
    keys = [trace.pk for trace in traces]
    outcome = offer_to(project=pool.project, traces=keys, people=[pool.tenants.alice.pk], days=9)
    assert Reservation.objects.count() == 2
    assert outcome.act is not None
    undo(act=outcome.act)
    assert set(Reservation.objects.values_list("trace", "user", "until")) == before
    assert pool.claimed(pool.tenants.alice).trace_id == traces[1].pk
    assert pool.claimed(pool.tenants.bob).trace_id == traces[0].pk


def test_a_task_that_was_put_off_comes_back_at_its_time(pool: Queue) -> None:
    pool.add_traces(2)
    release(pool)
    bob = pool.tenants.bob
    first = pool.claimed(bob)
    put_off(assignment=first, fencing_token=first.fencing_token, until=timezone.now() + timedelta(hours=2))
    submit(pool.claimed(bob))
    answer = pool.nothing(bob)
    assert answer.reason == Reason.PUT_OFF
    assert answer.again_at is not None
    # Within the transaction of a test it is always the time at which that began.
    Assignment.objects.filter(pk=first.pk).update(not_before=timezone.now() - timedelta(hours=1))
    assert pool.claimed(bob).pk == first.pk


def test_nobody_makes_more_annotations_than_their_limit(pool: Queue) -> None:
    pool.add_traces(3)
    release(pool)
    limit_person(project=pool.project, user=pool.tenants.bob, limit=1)
    submit(pool.claimed(pool.tenants.bob))
    assert pool.nothing(pool.tenants.bob).reason == Reason.LIMIT_REACHED
    limit_person(project=pool.project, user=pool.tenants.bob, limit=None)
    pool.claimed(pool.tenants.bob)


def test_a_tag_stands_beside_those_of_the_trace_and_can_be_filtered_by(pool: Queue) -> None:
    traces = pool.add_traces(3)
    assert tag_traces(project=pool.project, traces=[traces[1].pk], tag="odd").sentence == "1 tagged “odd”."
    fit = PoolFilters(tag=("odd",)).chosen_traces(Trace.objects.filter(project=pool.project))
    assert [trace.pk for trace in fit] == [traces[1].pk]


def test_a_trace_becomes_urgent_for_those_who_have_passed_it_too_and_that_is_undone(pool: Queue) -> None:
    traces = pool.add_traces(5)
    batch = release(pool, order=Order.PRIORITY)
    assert given_in_turn(pool, 2) == ["trace-00000", "trace-00001"]
    outcome = prioritise(project=pool.project, traces=[traces[4].pk], priority=Priority.URGENT)
    assert given_in_turn(pool, 1) == ["trace-00004"]
    assert outcome.act is not None
    undo(act=outcome.act)
    ranked = TraceQuota.objects.filter(batch=batch).order_by("rank")
    assert list(ranked.values_list("trace", flat=True)) == [trace.pk for trace in traces]
    assert AuditEvent.objects.filter(verb="traces.prioritised").exists()


def test_a_paused_person_reads_the_reason(pool: Queue) -> None:
    pool.add_traces(2)
    release(pool)
    bob = pool.tenants.bob
    held = pool.claimed(bob)
    release_task(assignment=held, fencing_token=held.fencing_token)
    pause_person(project=pool.project, user=bob, reason="Please read the guidelines again first.")
    nothing = pool.nothing(bob)
    assert nothing.reason == Reason.YOU_ARE_PAUSED
    assert "wrote: “Please read the guidelines again first.”" in why_nothing(nothing).sentence
    with pytest.raises(Paused, match="read the guidelines again"):
        resume(assignment=held)
    resume_person(project=pool.project, user=bob)
    pause_person(project=pool.project, user=bob)
    assert "wrote" not in why_nothing(pool.nothing(bob)).sentence


def test_a_person_makes_no_more_than_their_own_share(pool: Queue) -> None:
    pool.add_traces(8)
    release(pool)
    bob, alice = pool.tenants.bob, pool.tenants.alice
    limit_person(project=pool.project, user=bob, share=0.25)
    given_in_turn(pool, 2)
    assert pool.nothing(bob).reason == Reason.LIMIT_REACHED
    pool.claimed(alice)
    limit_person(project=pool.project, user=bob)
    pool.claimed(bob)
    for share in (0, 1.5):
        with pytest.raises(Refused, match="at most 100 per cent"):
            limit_person(project=pool.project, user=bob, share=share)


def test_traces_are_offered_to_those_who_annotate_here_alone(pool: Queue) -> None:
    (trace,) = pool.add_traces(1)
    release(pool)
    stranger = annotators(1)[0]
    Membership.objects.filter(user=stranger).update(role="member")
    with pytest.raises(UnknownPeople, match="annotate in this project"):
        offer_to(project=pool.project, traces=[trace.pk], people=[stranger.pk], days=3)
