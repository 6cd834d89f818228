"""What a manager does to the queue, and what people see of it: releasing, pausing, excluding, reassigning."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import date, timedelta
from typing import Any

import pytest
from django.utils import timezone

from accounts.actions.projects import publish_configuration
from accounts.models import AuditEvent, Membership, Project
from assignments.actions.claiming import Reason, resume
from assignments.actions.editing_batches import decisions, edit_batch
from assignments.actions.leaving import release_held
from assignments.actions.quotas import open_quotas
from assignments.actions.reassigning import reassign
from assignments.actions.releasing import (
    BatchFacts,
    release_batch,
    release_draft,
    set_people,
    set_redundancy,
    withdraw_batch,
)
from assignments.actions.reservations import end_reservations
from assignments.actions.steering import (
    follow_order,
    let_imports_wait,
    limit_person,
    pause_batch,
    pause_person,
    pause_project,
    resume_batch,
    resume_person,
    resume_project,
    set_deadline,
    set_order,
    set_priority,
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
from assignments.errors import LeaseEnded, NothingChosen, Paused, PoolChanged, ReasonNeeded, UnknownPeople
from assignments.models import (
    Assignment,
    Batch,
    BatchState,
    Order,
    Priority,
    Reservation,
    StandingRule,
    TraceQuota,
    Withheld,
)
from assignments.pool.filters import PoolFilters
from assignments.pool.selecting import Selection, take_sample
from assignments.wording import why_nothing
from potato.statistics.samples import allocated, sample
from tenancy.errors import Refused
from tests.assignments.conftest import YAML, Queue, annotators, submit
from traces.models import Trace


@pytest.fixture
def pool(queue: Queue) -> Queue:
    """A project whose imports wait in the pool."""
    other = Queue(queue.tenants, Project.objects.create(slug="pool", name="Pool"))
    let_imports_wait(project=other.project, wait=True)
    other.publish()
    return other


def release(queue: Queue, selection: Selection | None = None, **facts: Any) -> Batch:
    return release_batch(
        project=queue.project, selection=selection or Selection(), facts=BatchFacts(**{"name": "First", **facts})
    )


def names(batch: Batch) -> list[str]:
    rows = TraceQuota.objects.filter(batch=batch).order_by("trace")
    return list(rows.values_list("trace__external_id", flat=True))


def test_imported_traces_wait_in_the_pool_until_they_are_released(pool: Queue) -> None:
    pool.add_traces(3)
    assert pool.nothing(pool.tenants.bob).reason == Reason.NOT_RELEASED
    batch = release(pool)
    assert len(names(batch)) == 3
    assert pool.claimed(pool.tenants.bob).trace.external_id == "trace-00000"


def test_a_new_project_releases_everything_at_import(queue: Queue) -> None:
    queue.claimed(queue.tenants.bob)
    batch = Batch.objects.for_project(queue.project).get()
    assert (batch.is_standard, batch.name, batch.state) == (True, "All traces", BatchState.OPEN)
    queue.add_traces(2, prefix="later")
    while open_quotas(project=queue.project):
        pass
    assert len(names(batch)) == 5


def test_the_projects_own_batch_takes_later_imports_again_when_its_withdrawal_is_undone(queue: Queue) -> None:
    queue.claimed(queue.tenants.bob)
    batch = Batch.objects.for_project(queue.project).get()
    undo(act=withdraw_batch(batch=batch))
    queue.add_traces(2, prefix="later")
    while open_quotas(project=queue.project):
        pass
    assert Batch.objects.for_project(queue.project).get().is_standard
    assert len(names(batch)) == 5


def test_a_batch_that_an_import_made_meanwhile_stays_the_projects_own(queue: Queue) -> None:
    queue.claimed(queue.tenants.bob)
    batch = Batch.objects.for_project(queue.project).get()
    act = withdraw_batch(batch=batch)
    queue.add_traces(2, prefix="later")
    while open_quotas(project=queue.project):
        pass
    undo(act=act)
    batches = Batch.objects.for_project(queue.project).order_by("number")
    assert [(row.number, row.is_standard, row.state) for row in batches] == [
        (1, False, BatchState.OPEN),
        (2, True, BatchState.OPEN),
    ]


def test_the_same_seed_draws_the_same_traces_and_another_one_others(pool: Queue) -> None:
    pool.add_traces(40)
    open_quotas(project=pool.project)
    first = take_sample(pool.project, Selection(take="number", number=10, seed=7))
    assert len(first.taken) == first.count == 10
    assert take_sample(pool.project, Selection(take="number", number=10, seed=7)).taken == first.taken
    assert take_sample(pool.project, Selection(take="number", number=10, seed=8)).taken != first.taken


def _stratum(stratum: str, trace: Trace) -> str:
    """Of one trace, as docs/batches.md says it."""
    if stratum == "model":
        return trace.agent_model or "-"
    if stratum == "tag":
        return min(trace.tags) if trace.tags else "-"
    sizes = ((10, "up to 10 steps"), (50, "11 to 50 steps"), (99, "over 50 steps"))
    return next(name for most, name in sizes if trace.steps_count <= most) if stratum else ""


@pytest.mark.parametrize("stratum", ["", "model", "size", "tag"])
def test_the_database_draws_what_the_library_would(pool: Queue, stratum: str) -> None:
    tags = [["z", "Zed"], ["a b"], []]
    traces = pool.add_traces(
        60, agents=("a", "", "Ünï", "b", "b"), each=lambda at: {"tags": tags[at % 3], "steps_count": at + 1}
    )
    open_quotas(project=pool.project)
    in_order = sorted(traces, key=lambda trace: trace.pk)
    rows = [(trace.pk, f"{trace.external_id} {trace.version}", _stratum(stratum, trace)) for trace in in_order]
    result = take_sample(pool.project, Selection(take="share", share=30, stratum=stratum, seed=11))
    assert list(result.taken) == sample(rows, 18, 11)
    assert {row.name: row.taken for row in result.strata} == allocated(Counter(row[2] for row in rows), 18)
    off = str(result.taken[0])
    fewer = take_sample(
        pool.project, Selection(take="share", share=30, stratum=stratum, seed=11, without=(off, "no id"))
    )
    assert (fewer.taken, fewer.count, fewer.matching) == (result.taken[1:], 17, 60)


def test_a_release_is_refused_where_the_pool_changed_since_the_preview(pool: Queue) -> None:
    pool.add_traces(4)
    with pytest.raises(PoolChanged, match=r"showed 3 traces, now there are 4\."):
        release_batch(project=pool.project, selection=Selection(), facts=BatchFacts("First"), seen=3)
    assert not Batch.objects.for_project(pool.project).exists()
    with pytest.raises(NothingChosen):
        release_batch(
            project=pool.project, selection=Selection(PoolFilters(model=("none such",))), facts=BatchFacts("First")
        )


def test_a_draft_gives_nothing_out_until_it_is_released(pool: Queue) -> None:
    pool.add_traces(2)
    batch = release_batch(project=pool.project, selection=Selection(), facts=BatchFacts("First"), is_draft=True)
    assert pool.nothing(pool.tenants.bob).reason == Reason.NOT_RELEASED
    release_draft(batch=batch)
    pool.claimed(pool.tenants.bob)


def test_only_named_people_are_given_a_restricted_batch(pool: Queue) -> None:
    pool.add_traces(2)
    batch = release(pool, people=(pool.tenants.bob.pk,))
    assert pool.nothing(pool.tenants.alice).reason == Reason.FOR_OTHERS
    pool.claimed(pool.tenants.bob)
    set_people(batch=batch, people=[])
    pool.claimed(pool.tenants.alice)


def test_urgent_batches_come_first_then_the_one_that_is_due_first(pool: Queue) -> None:
    batches = []
    for name in ("old", "due", "urgent"):
        pool.add_traces(1, prefix=name)
        batches.append(release(pool, name=name))
    set_deadline(batch=batches[1], deadline=date(2099, 1, 1))
    set_priority(batch=batches[2], priority=Priority.URGENT)
    given = []
    for _ in batches:
        claim = pool.claimed(pool.tenants.bob)
        given.append(claim.trace.external_id[:-6])
        submit(claim)
    assert given == ["urgent", "due", "old"]


def test_fewest_first_gives_every_trace_once_before_any_twice(pool: Queue) -> None:
    pool.publish(target=3)
    pool.add_traces(4)
    batch = release(pool, order=Order.FEWEST)
    people = annotators(4)
    seen = []
    for number in range(8):
        claim = pool.claimed(people[number % 4])
        seen.append(claim.trace_id)
        submit(claim)
    assert len(set(seen[:4])) == 4
    assert set(Counter(seen).values()) == {2}
    set_order(batch=batch, order=Order.IMPORTED)
    assert pool.claimed(pool.tenants.bob).trace.external_id == "trace-00000"


def test_a_random_order_is_another_for_each_person(pool: Queue) -> None:
    pool.publish(target=20)
    pool.add_traces(12)
    release(pool, order=Order.RANDOM)
    first = {pool.claimed(person).trace_id for person in annotators(8)}
    assert len(first) > 2
    seen = set()
    for _ in range(12):
        claim = pool.claimed(pool.tenants.bob)
        seen.add(claim.trace_id)
        submit(claim)
    assert len(seen) == 12, "everybody comes round to all of them"


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


def test_withdrawing_puts_untouched_traces_back_and_can_be_undone(pool: Queue) -> None:
    pool.add_traces(3)
    batch = release(pool)
    held = pool.claimed(pool.tenants.bob)
    act = withdraw_batch(batch=batch)
    assert act.sentence == "“First” was withdrawn: 2 traces wait in the pool again."
    assert TraceQuota.objects.for_project(pool.project).in_pool().count() == 2
    submit(held)
    assert pool.nothing(pool.tenants.bob).reason == Reason.NOT_RELEASED
    assert undo(act=act) == "Undone: 2 traces are as before."
    pool.claimed(pool.tenants.bob)


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


def test_more_annotations_of_a_batch_open_what_was_complete(pool: Queue) -> None:
    pool.add_traces(2)
    batch = release(pool)
    for _ in range(2):
        submit(pool.claimed(pool.tenants.bob))
    assert pool.nothing(pool.tenants.alice).reason == Reason.ALL_DONE
    assert set_redundancy(batch=batch, redundancy=2) == 2
    pool.claimed(pool.tenants.alice)
    pool.publish(target=1, max_open=2)
    assert set(TraceQuota.objects.filter(batch=batch).values_list("target", flat=True)) == {2}, (
        "a batch keeps its number"
    )


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


def test_a_standing_rule_takes_its_share_of_later_imports_whatever_comes_beside_it(pool: Queue) -> None:
    pool.add_traces(1)
    batch = release_batch(
        project=pool.project,
        selection=Selection(take="share", share=50.0, seed=3),
        facts=BatchFacts("Half"),
        is_rule=True,
    )
    pool.add_traces(100, prefix="later")
    while open_quotas(project=pool.project):
        pass
    taken = [name for name in names(batch) if name.startswith("later")]
    assert 30 < len(taken) < 70
    assert StandingRule.objects.get().taken == len(taken)


def test_a_tag_stands_beside_those_of_the_trace_and_can_be_filtered_by(pool: Queue) -> None:
    traces = pool.add_traces(3)
    assert tag_traces(project=pool.project, traces=[traces[1].pk], tag="odd").sentence == "1 tagged “odd”."
    fit = PoolFilters(tag=("odd",)).chosen_traces(Trace.objects.filter(project=pool.project))
    assert [trace.pk for trace in fit] == [traces[1].pk]


def given_in_turn(queue: Queue, count: int) -> list[str]:
    """What bob is given, one after another."""
    given = []
    for _ in range(count):
        claim = queue.claimed(queue.tenants.bob)
        given.append(claim.trace.external_id)
        submit(claim)
    return given


def test_in_a_batch_that_goes_by_it_urgent_traces_come_first(pool: Queue) -> None:
    traces = pool.add_traces(6)
    release(pool, order=Order.PRIORITY)
    prioritise(project=pool.project, traces=[traces[4].pk], priority=Priority.URGENT)
    prioritise(project=pool.project, traces=[traces[2].pk], priority=Priority.HIGH)
    prioritise(project=pool.project, traces=[traces[0].pk], priority=Priority.LOW)
    assert given_in_turn(pool, 6) == [f"trace-0000{number}" for number in (4, 2, 1, 3, 5, 0)]
    assert pool.nothing(pool.tenants.bob).reason == Reason.ALL_DONE


def test_a_priority_that_a_trace_had_in_the_pool_counts_when_it_is_released(pool: Queue) -> None:
    traces = pool.add_traces(3)
    outcome = prioritise(project=pool.project, traces=[traces[2].pk], priority=Priority.URGENT)
    assert outcome.sentence == "1 is urgent now; 1 of them in no batch that goes by it, so there it changes nothing."
    release(pool, order=Order.PRIORITY)
    assert given_in_turn(pool, 3) == ["trace-00002", "trace-00000", "trace-00001"]


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


def test_a_batch_is_ranked_by_the_priorities_of_its_traces_when_its_order_becomes_that(pool: Queue) -> None:
    traces = pool.add_traces(3)
    batch = release(pool)
    prioritise(project=pool.project, traces=[traces[2].pk], priority=Priority.HIGH)
    set_order(batch=batch, order=Order.PRIORITY)
    assert given_in_turn(pool, 1) == ["trace-00002"]
    set_order(batch=batch, order=Order.IMPORTED)
    assert given_in_turn(pool, 2) == ["trace-00000", "trace-00001"]


def test_the_order_that_the_configuration_asks_for_is_that_of_the_projects_own_batch(queue: Queue) -> None:
    queue.claimed(queue.tenants.bob)
    batch = Batch.objects.for_project(queue.project).get()
    assert batch.order == Order.IMPORTED
    publish_order(queue, "priority")
    batch.refresh_from_db()
    assert batch.order == Order.PRIORITY
    set_order(batch=batch, order=Order.RANDOM)
    publish_order(queue, "priority", max_open=2)
    batch.refresh_from_db()
    assert batch.order == Order.RANDOM, "a manager's choice stays where the configuration asks for nothing new"


def publish_order(queue: Queue, order: str, *, max_open: int = 1) -> None:
    source = YAML.format(target=1, max_open=max_open) + f"  order: {order}\n"
    publish_configuration(project=queue.project, source=source)
    follow_order(project=queue.project)


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


def test_what_a_batch_decides_is_changed_at_once_and_undone(pool: Queue) -> None:
    pool.add_traces(3)
    batch = release(pool)
    before = decisions(batch)
    wanted = replace(
        before,
        name="Second",
        priority=Priority.URGENT,
        order=Order.RANDOM,
        redundancy=2,
        deadline=date(2099, 1, 1),
        people=(pool.tenants.bob.pk,),
    )
    act = edit_batch(batch=batch, wanted=wanted)
    assert act is not None
    batch.refresh_from_db()
    assert decisions(batch) == wanted
    assert set(TraceQuota.objects.filter(batch=batch).values_list("target", flat=True)) == {2}
    assert pool.nothing(pool.tenants.alice).reason == Reason.FOR_OTHERS
    assert edit_batch(batch=batch, wanted=wanted) is None
    assert undo(act=act) == "Undone: the batch is as it was before."
    batch.refresh_from_db()
    assert decisions(batch) == before
    assert set(TraceQuota.objects.filter(batch=batch).values_list("target", flat=True)) == {1}
    with pytest.raises(UnknownPeople, match="does not annotate in this project"):
        edit_batch(batch=batch, wanted=replace(before, name="Third", people=(pool.tenants.charlie.pk,)))
    batch.refresh_from_db()
    assert batch.name == "First", "where one thing cannot be, none is changed"


def test_a_withdrawn_batch_is_not_changed(pool: Queue) -> None:
    pool.add_traces(1)
    batch = release(pool)
    withdraw_batch(batch=batch)
    with pytest.raises(Refused, match="is withdrawn"):
        edit_batch(batch=batch, wanted=replace(decisions(batch), name="Other"))


def test_traces_are_offered_to_those_who_annotate_here_alone(pool: Queue) -> None:
    (trace,) = pool.add_traces(1)
    release(pool)
    stranger = annotators(1)[0]
    Membership.objects.filter(user=stranger).update(role="member")
    with pytest.raises(UnknownPeople, match="annotate in this project"):
        offer_to(project=pool.project, traces=[trace.pk], people=[stranger.pk], days=3)


def test_what_is_imported_after_a_withdrawal_is_released_into_another_batch(pool: Queue) -> None:
    let_imports_wait(project=pool.project, wait=False)
    pool.add_traces(2, prefix="first")
    open_quotas(project=pool.project)
    (batch,) = Batch.objects.for_project(pool.project)
    act = withdraw_batch(batch=batch)
    assert pool.nothing(pool.tenants.bob).reason == Reason.NOT_RELEASED
    (later,) = pool.add_traces(1, prefix="later")
    open_quotas(project=pool.project)
    assert pool.claimed(pool.tenants.bob).trace_id == later.pk
    assert undo(act=act) == "Undone: 2 traces are as before."
    assert Batch.objects.for_project(pool.project).filter(state=BatchState.OPEN).count() == 2


def test_a_withdrawal_that_is_undone_has_its_rules_again(pool: Queue) -> None:
    pool.add_traces(4)
    facts = BatchFacts("Half")
    batch = release_batch(
        project=pool.project, selection=Selection(take="share", share=50.0, seed=3), facts=facts, is_rule=True
    )
    act = withdraw_batch(batch=batch)
    assert StandingRule.objects.get().ended_at is not None
    undo(act=act)
    assert StandingRule.objects.get().ended_at is None


def test_a_rule_takes_all_or_a_share_and_no_number(pool: Queue) -> None:
    pool.add_traces(4)
    with pytest.raises(Refused, match="takes all, or a share"):
        release_batch(
            project=pool.project,
            selection=Selection(take="number", number=2),
            facts=BatchFacts("Two"),
            is_rule=True,
        )
    assert not Batch.objects.for_project(pool.project).exists()


def test_what_is_given_back_after_a_withdrawal_waits_in_the_pool(pool: Queue) -> None:
    pool.add_traces(2)
    batch = release(pool)
    held = pool.claimed(pool.tenants.bob)
    other = TraceQuota.objects.exclude(trace=held.trace_id).get()
    withhold(project=pool.project, traces=[other.trace_id], why=Withheld.HELD_BACK)
    withdraw_batch(batch=batch)
    assert not TraceQuota.objects.for_project(pool.project).in_pool().exists()
    release_task(assignment=held, fencing_token=held.fencing_token)
    give_out_again(project=pool.project, traces=[other.trace_id])
    assert TraceQuota.objects.for_project(pool.project).in_pool().count() == 2
    release_batch(project=pool.project, selection=Selection(), facts=BatchFacts("Again"))
    pool.claimed(pool.tenants.bob)
