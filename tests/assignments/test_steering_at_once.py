"""What a manager does to many traces, tasks and people at once, as one act with an undo; and offers to named people."""

import pytest

from accounts.actions.members import put_on_project, take_off_project
from accounts.actions.organisations import change_member
from accounts.models import AuditEvent, Membership, ProjectMember
from accounts.models.members import members_with
from assignments.actions.claiming import Reason
from assignments.actions.held_tasks import give_back_tasks, held_tasks, reassign_tasks
from assignments.actions.releasing import set_redundancy
from assignments.actions.steering import pause_person, queue_position
from assignments.actions.steering_people import pause_people, resume_people, take_people_off
from assignments.actions.withholding import end_offers, offer_to, tag_traces, undo, untag_traces, want_more
from assignments.models import AssignmentState, Batch, Reservation, TraceQuota
from assignments.pool.filters import PoolFilters
from assignments.pool.listing import PoolList
from tenancy.roles import ProjectRole, Right, Role
from tenancy.sentences import as_text
from tests.assignments.conftest import Queue, submit
from tests.assignments.steered import pool as pool
from tests.assignments.steered import release


@pytest.mark.parametrize("how", ["taken off", "switched off", "viewer"])
def test_an_offer_ends_with_the_work_of_the_person(pool: Queue, how: str) -> None:
    traces, tenants = pool.add_traces(2), pool.tenants
    release(pool)
    bob = Membership.objects.get(user=tenants.bob)
    offer = offer_to(project=pool.project, traces=[traces[0].pk], people=[tenants.bob.pk, tenants.dora.pk], days=3)
    offer_to(project=pool.project, traces=[traces[1].pk], people=[tenants.bob.pk], days=3)
    if how == "taken off":
        take_off_project(project=pool.project, membership=bob)
    elif how == "viewer":
        put_on_project(project=pool.project, membership=bob, role=ProjectRole.VIEWER)
    else:
        change_member(membership=bob, role=Role.ANNOTATOR, annotator_name="bob", is_active=False, by_owner=True)
    assert [row.user for row in Reservation.objects.select_related("user")] == [tenants.dora]
    assert pool.claimed(tenants.alice).trace_id == traces[1].pk
    assert pool.claimed(tenants.dora).trace_id == traces[0].pk
    # What was before the offer is nobody's: and the person is not named again.
    assert offer.act is not None
    undo(act=offer.act)
    assert not Reservation.objects.exists()
    assert not TraceQuota.objects.filter(is_reserved=True).exists()


def test_an_offer_is_ended_before_the_date_and_that_is_undone_but_for_who_left(pool: Queue) -> None:
    traces, tenants = pool.add_traces(1), pool.tenants
    release(pool)
    keys = [traces[0].pk]
    offer_to(project=pool.project, traces=keys, people=[tenants.bob.pk], days=3)
    (row,) = PoolList(pool.project, PoolFilters(offered=("bob",))).rows(
        PoolList(pool.project, PoolFilters(offered=("bob",))).ordered("oldest")
    )
    assert (row.offered_to, row.free) == (["bob"], 1)
    ended = end_offers(project=pool.project, traces=keys)
    assert ended.sentence == "1 is for everybody again."
    assert ended.act is not None
    undo(act=ended.act)
    assert pool.nothing(tenants.alice).reason == Reason.FOR_OTHERS
    again = end_offers(project=pool.project, traces=keys)
    take_off_project(project=pool.project, membership=Membership.objects.get(user=tenants.bob))
    assert again.act is not None
    undo(act=again.act)
    assert pool.claimed(tenants.alice).trace_id == keys[0]


def test_more_annotators_of_chosen_traces_open_complete_ones_and_go_again(pool: Queue) -> None:
    traces, tenants = pool.add_traces(2), pool.tenants
    release(pool)
    for _ in traces:
        submit(pool.claimed(tenants.bob))
    assert pool.nothing(tenants.alice)
    more = want_more(project=pool.project, traces=[traces[0].pk], more=1)
    assert more.sentence == "1 wants 1 more annotator."
    assert pool.claimed(tenants.alice).trace_id == traces[0].pk
    assert pool.nothing(tenants.dora)
    assert want_more(project=pool.project, traces=[traces[1].pk], more=-1).done == 0
    other = want_more(project=pool.project, traces=[trace.pk for trace in traces], more=2)
    assert other.act is not None
    undo(act=other.act)
    rows = TraceQuota.objects.order_by("trace").values_list("target", "extra", "slots", "active", "done")
    assert list(rows) == [(2, 1, 2, 1, 1), (1, 0, 1, 0, 1)]
    # The place was taken meanwhile, and stays: nobody's work goes into nowhere.
    assert more.act is not None
    undo(act=more.act)
    assert TraceQuota.objects.get(trace=traces[0]).target == 2
    # A batch that wants more of all of its traces keeps what was asked for of one.
    set_redundancy(batch=Batch.objects.get(name="First"), redundancy=3)
    assert list(TraceQuota.objects.order_by("trace").values_list("target", flat=True)) == [4, 3]


def test_a_tag_that_was_given_is_taken_off_and_one_that_was_imported_stays(pool: Queue) -> None:
    own, other = pool.add_traces(2, each=lambda at: {"tags": ["pilot"]} if at == 0 else {})
    tag_traces(project=pool.project, traces=[other.pk], tag="pilot")
    outcome = untag_traces(project=pool.project, traces=[own.pk, other.pk], tag="pilot")
    assert outcome.sentence == "1 without “pilot” now, 1 not: not tagged so, or imported with it."
    assert TraceQuota.objects.get(trace=other).tags == []
    assert outcome.act is not None
    undo(act=outcome.act)
    assert TraceQuota.objects.get(trace=other).tags == ["pilot"]


def test_held_tasks_of_several_people_go_back_or_to_one_person_and_that_is_undone(pool: Queue) -> None:
    traces, tenants = pool.add_traces(3), pool.tenants
    release(pool)
    first, second = pool.claimed(tenants.bob), pool.claimed(tenants.alice)
    keys = [first.trace_id, second.trace_id]
    given = give_back_tasks(project=pool.project, tasks=held_tasks(pool.project, traces=keys))
    assert given.sentence == "2 tasks went back to the queue, with their drafts kept."
    # Somebody takes one of the two before it is undone.
    taken = pool.claimed(tenants.dora)
    assert taken.trace_id == first.trace_id
    assert given.act is not None
    assert undo(act=given.act) == "Undone: 1 task is as before."
    second.refresh_from_db()
    first.refresh_from_db()
    assert (first.state, second.state) == (AssignmentState.RELEASED, AssignmentState.CLAIMED)
    moved = reassign_tasks(
        project=pool.project, tasks=held_tasks(pool.project, traces=keys), user=tenants.bob, keep_draft=False
    )
    assert moved.sentence == "2 tasks are with bob now."
    assert {row.trace_id for row in held_tasks(pool.project, people=[tenants.bob.pk])} == set(keys)
    assert moved.act is not None
    undo(act=moved.act)
    assert {(row.user, row.trace_id) for row in held_tasks(pool.project)} == {
        (tenants.dora, first.trace_id), (tenants.alice, second.trace_id)
    }  # fmt: skip
    verbs = AuditEvent.objects.filter(verb__regex="^(tasks|assignment)").values_list("verb", flat=True)
    assert sorted(verbs) == ["tasks.given-back", "tasks.reassigned"]
    assert len(traces) == 3


def test_several_people_are_paused_and_taken_off_as_one_act_which_is_undone(pool: Queue) -> None:
    tenants = pool.tenants
    pool.add_traces(3)
    release(pool)
    bob, mallory = (Membership.objects.select_related("user").get(user=one) for one in (tenants.bob, tenants.mallory))
    put_on_project(project=pool.project, membership=bob, role=ProjectRole.MANAGER)
    pause_person(project=pool.project, user=tenants.bob, reason="A first break")
    paused = pause_people(project=pool.project, people=[bob, mallory], reason="Another")
    assert queue_position(pool.project, tenants.bob).pause_reason == "Another"
    assert paused.act is not None
    assert undo(act=paused.act) == "Undone: 2 people are as before."
    assert queue_position(pool.project, tenants.bob).pause_reason == "A first break"
    assert queue_position(pool.project, tenants.mallory).paused_at is None
    resume_people(project=pool.project, people=[bob])
    held = pool.claimed(tenants.bob)
    off = take_people_off(project=pool.project, people=[bob, mallory])
    assert off.sentence.startswith("bob no longer works on this project. 1 task went back to the queue.")
    assert "mallory is manager of all projects" in off.sentence
    assert not members_with(Right.ANNOTATE, pool.project).filter(pk=bob.pk).exists()
    assert off.act is not None
    undo(act=off.act)
    held.refresh_from_db()
    assert held.state == AssignmentState.CLAIMED
    assert ProjectMember.objects.get(membership=bob, left_at=None).role == ProjectRole.MANAGER
    events = AuditEvent.objects.filter(verb__startswith="pe").order_by("at")
    assert [event.verb for event in events] == ["person.paused", "people.paused", "person.resumed", "people.taken-off"]
    assert as_text(events[1]).endswith("paused 2 people in Pool: “Another”.")
