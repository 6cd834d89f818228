"""Batches: what a release takes, in which order it is given out, and how it is withdrawn and changed."""

from collections import Counter
from dataclasses import replace
from datetime import date

import pytest

from accounts.actions.projects import publish_configuration
from assignments.actions.claiming import Reason
from assignments.actions.editing_batches import decisions, edit_batch
from assignments.actions.quotas import open_quotas
from assignments.actions.releasing import (
    BatchFacts,
    release_batch,
    release_draft,
    set_people,
    set_redundancy,
    withdraw_batch,
)
from assignments.actions.steering import (
    follow_order,
    let_imports_wait,
    set_deadline,
    set_order,
    set_priority,
)
from assignments.actions.withholding import (
    give_out_again,
    prioritise,
    undo,
    withhold,
)
from assignments.actions.working import release as release_task
from assignments.errors import NothingChosen, PoolChanged, UnknownPeople
from assignments.models import (
    Batch,
    BatchState,
    Order,
    Priority,
    StandingRule,
    TraceQuota,
    Withheld,
)
from assignments.pool.filters import PoolFilters
from assignments.pool.selecting import Selection, take_sample
from potato.statistics.samples import allocated, sample
from tenancy.errors import Refused
from tests.assignments.conftest import YAML, Queue, annotators, submit
from tests.assignments.steered import given_in_turn, names, release
from tests.assignments.steered import pool as pool
from traces.models import Trace


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
