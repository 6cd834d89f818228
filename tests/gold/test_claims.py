"""Gold is mixed in among the tasks at the configured rate, takes no slot, and never comes twice to one person."""

from datetime import timedelta
from uuid import UUID, uuid4

import pytest
from django.utils import timezone

from accounts.models import User
from assignments.actions.claiming import Reason, claim_next
from assignments.actions.submitting import withdraw
from assignments.actions.withholding import give_out_again
from assignments.actions.working import put_off, release, skip
from assignments.mixing import blocks_in
from assignments.models import Assignment, Kind, Submission, TraceQuota
from assignments.progress import project_progress, task_number
from gold.actions import BadRecords, IsExpectedAlready, NotScorable, expect, expect_records, expect_submitted, retire
from gold.models import Use
from gold.schedule import Schedule
from potato.configuration import check_configuration
from tests.assignments.conftest import submit
from tests.gold.conftest import APPROVE, REFUSE, GoldQueue


@pytest.fixture
def bob(gold_queue: GoldQueue) -> User:
    return gold_queue.tenants.bob


def kinds(tasks: list[tuple[Assignment, Submission]]) -> list[str]:
    return [assignment.kind for assignment, _ in tasks]


def test_the_share_that_is_configured_is_gold_and_no_trace_comes_twice(gold_queue: GoldQueue, bob: User) -> None:
    gold_queue.publish_with("gold: {rate: 0.25}")
    gold_queue.add_traces(300)
    gold = {row.trace_id for row in gold_queue.add_gold(200)}
    tasks = gold_queue.tasks(bob, 200)
    given = [assignment.trace_id for assignment, _ in tasks if assignment.kind == Kind.GOLD]
    schedule = Schedule(gold_queue.project.pk, bob.pk, 0.25)
    assert kinds(tasks) == [Kind.GOLD if schedule.has_gold(place) else Kind.NORMAL for place in range(200)]
    assert set(given) <= gold
    assert len(set(given)) == len(given)
    assert {assignment.trace_id for assignment, _ in tasks if assignment.kind == Kind.NORMAL}.isdisjoint(gold)


def test_over_many_people_the_rate_is_what_was_asked_for() -> None:
    places = [Schedule(uuid4(), uuid4(), 0.1).has_gold(place) for _ in range(200) for place in range(100)]
    assert 0.09 < sum(places) / len(places) < 0.11


def test_the_number_to_come_is_what_a_walk_from_place_to_place_counts() -> None:
    schedule = Schedule(UUID(int=1), UUID(int=2), 0.2)
    for place in (0, 31, 32, 77):
        for left in (0, 1, 40, 333):
            for available in (0, 3, 1_000):
                walked, at, others = 0, place, left
                while others:
                    if schedule.has_gold(at) and walked < available:
                        walked += 1
                    else:
                        others -= 1
                    at += 1
                assert schedule.number_among(place, left, available) == walked


def test_gold_takes_no_slot_and_counts_in_nothing_of_the_project(gold_queue: GoldQueue, bob: User) -> None:
    gold_queue.publish_with("gold: {rate: 0.5}")
    gold_queue.add_traces(20)
    gold_queue.add_gold(20)
    tasks = gold_queue.tasks(bob, 20)
    gold = [(assignment, submission) for assignment, submission in tasks if assignment.kind == Kind.GOLD]
    assert len(gold) > 3
    assert {gold_queue.quota(assignment) for assignment, _ in gold} == {(0, 0)}
    counted = set(Submission.objects.counted())
    assert counted == {submission for assignment, submission in tasks if assignment.kind == Kind.NORMAL}
    assert set(Submission.objects.with_surplus()) == counted
    assert {submission.is_check for _, submission in gold} == {True}


def test_gold_comes_only_in_the_place_of_a_task_that_the_queue_has(gold_queue: GoldQueue, bob: User) -> None:
    gold_queue.publish_with("gold: {rate: 0.5}")
    gold_queue.add_traces(4)
    gold_queue.add_gold(50)
    while not (isinstance(answer := gold_queue_next(gold_queue, bob), Reason)):
        submit(answer, **APPROVE)
    assert answer in (Reason.ALL_DONE, Reason.YOURS_ARE_DONE)
    assert Assignment.objects.filter(kind=Kind.NORMAL).count() == 4


def gold_queue_next(gold_queue: GoldQueue, user: User) -> Assignment | Reason:
    given = claim_next(project=gold_queue.project, user=user)
    return given if isinstance(given, Assignment) else given.reason


def test_the_number_of_tasks_and_how_far_the_project_is_tell_no_gold(gold_queue: GoldQueue, bob: User) -> None:
    """Alone in the project, so that nothing else moves the figures: each task moves them as every other does."""
    gold_queue.publish_with("gold: {rate: 0.4}")
    gold_queue.add_traces(30)
    gold_queue.add_gold(9)
    version = gold_queue.project.newest_version()
    assert version is not None
    checked = check_configuration(version.source)
    assert checked.configuration is not None
    blocks = blocks_in(checked.configuration)
    seen = []
    for _ in range(39):
        assignment = gold_queue.claimed(bob)
        number = task_number(gold_queue.project, bob, assignment.trace_id, batch=assignment.batch_id, blocks=blocks)
        held = project_progress([gold_queue.project], bob)[gold_queue.project.pk]
        submit(assignment, **APPROVE)
        after = project_progress([gold_queue.project], bob)[gold_queue.project.pk]
        seen.append(
            (number.number, number.total, held.done, held.target, held.left_for_me, after.done, after.mine_done)
        )
    total, target = seen[0][1], seen[0][3]
    assert total == target <= 39
    assert Assignment.objects.filter(kind=Kind.GOLD).count() > 5
    assert seen[:total] == [(at + 1, total, at, target, total - at - 1, at + 1, at + 1) for at in range(total)]


def test_what_was_given_back_comes_again_with_its_draft_and_what_was_skipped_never(
    gold_queue: GoldQueue, bob: User
) -> None:
    gold_queue.publish_with("gold: {rate: 0.5}")
    gold_queue.add_traces(60)
    gold_queue.add_gold(30)
    assignment = next_gold(gold_queue, bob)
    release(assignment=assignment, fencing_token=assignment.fencing_token)
    again = gold_queue.claimed(bob)
    assert (again.pk, again.state) == (assignment.pk, "claimed")
    skip(assignment=again, fencing_token=again.fencing_token, reason="Not readable")
    later = {next_gold(gold_queue, bob, answer=True).trace_id for _ in range(5)}
    assert assignment.trace_id not in later
    assert len(later) == 5


def next_gold(gold_queue: GoldQueue, user: User, *, answer: bool = False) -> Assignment:
    """The next task of gold, those before it submitted."""
    while (assignment := gold_queue.claimed(user)).kind != Kind.GOLD:
        submit(assignment, **APPROVE)
    if answer:
        submit(assignment, **APPROVE)
    return assignment


def test_whose_time_ends_gets_the_same_gold_again(gold_queue: GoldQueue, bob: User) -> None:
    gold_queue.publish_with("gold: {rate: 0.5}")
    gold_queue.add_traces(30)
    gold_queue.add_gold(10)
    assignment = next_gold(gold_queue, bob)
    gold_queue.expire(assignment)
    assert gold_queue.claimed(bob).pk == assignment.pk
    submission = submit(Assignment.objects.get(pk=assignment.pk), **REFUSE)
    withdraw(submission=submission)
    assert Assignment.objects.get(pk=assignment.pk).is_open


def test_a_retired_trace_is_given_to_nobody_any_more(gold_queue: GoldQueue, bob: User) -> None:
    gold_queue.publish_with("gold: {rate: 0.5}")
    gold_queue.add_traces(40)
    for expected in gold_queue.add_gold(10):
        retire(expected=expected)
        retire(expected=expected)
    assert set(kinds(gold_queue.tasks(bob, 30))) == {Kind.NORMAL}


def test_nobody_is_given_gold_that_they_made_or_have_annotated(gold_queue: GoldQueue, bob: User) -> None:
    gold_queue.add_traces(12)
    expert = gold_queue.tenants.alice
    done = gold_queue.tasks(expert, 6, lambda assignment: REFUSE)
    gold_queue.publish_with("gold: {rate: 0.5}")
    gold = {expect_submitted(submission=submission).trace_id for _, submission in done[:4]}
    tasks = gold_queue.tasks(expert, 6)
    assert set(kinds(tasks)) == {Kind.NORMAL}
    gold_queue.add_traces(40, "more")
    given = {assignment.trace_id for assignment, _ in gold_queue.tasks(bob, 30) if assignment.kind == Kind.GOLD}
    assert given == gold
    # What the expert had annotated counts as before.
    assert Submission.objects.counted().filter(assignment__trace__in=gold).count() == 4


def test_a_trace_with_a_known_answer_stays_out_of_the_queue_whatever_is_done_to_it(
    gold_queue: GoldQueue, bob: User
) -> None:
    gold_queue.add_traces(1)
    (expected,) = gold_queue.add_gold(1)
    outcome = give_out_again(project=gold_queue.project, traces=[expected.trace_id])
    assert outcome.done == 0
    assert not TraceQuota.objects.get(trace=expected.trace_id).is_released
    gold_queue.tasks(bob, 1)
    assert gold_queue.nothing(bob).reason in (Reason.ALL_DONE, Reason.YOURS_ARE_DONE)
    retire(expected=expected)
    assert give_out_again(project=gold_queue.project, traces=[expected.trace_id]).done == 1


@pytest.mark.parametrize("use", [Use.GOLD, Use.PRACTICE])
def test_who_has_done_it_is_not_given_it_again_once_it_is_among_the_others(
    gold_queue: GoldQueue, bob: User, use: Use
) -> None:
    """Of practice they have read what is right; of gold it would tell what it was."""
    gold_queue.publish_with("gold: {rate: 0.5}" if use == Use.GOLD else "practice: {traces: 1, pass: 0.5}")
    gold_queue.add_traces(40)
    (expected,) = gold_queue.add_gold(1, use=use)
    before = gold_queue.tasks(bob, 20, lambda task: REFUSE)
    assert expected.trace_id in {task.trace_id for task, _ in before}
    retire(expected=expected)
    assert give_out_again(project=gold_queue.project, traces=[expected.trace_id]).done == 1
    left = 40 - sum(task.kind == Kind.NORMAL for task, _ in before)
    after = gold_queue.tasks(bob, left)
    assert expected.trace_id not in {task.trace_id for task, _ in after}
    assert gold_queue.nothing(bob).reason == Reason.YOURS_ARE_DONE
    assert gold_queue.claimed(gold_queue.tenants.mallory).trace_id == expected.trace_id


def test_what_nobody_can_be_scored_by_is_refused_with_a_sentence(gold_queue: GoldQueue) -> None:
    (trace,) = gold_queue.add_traces(1)
    for annotations, words in (
        ({}, "says nothing to score by"),
        ({"verdict": {"decision": 7}}, "cannot be read"),
        ({"other": {}}, "other is no scheme of the project. Its schemes: verdict"),
    ):
        with pytest.raises(NotScorable, match=words):
            expect(trace=trace, annotations=annotations)
    expect(trace=trace, annotations=REFUSE)
    with pytest.raises(IsExpectedAlready):
        expect(trace=trace, annotations=APPROVE)


def test_records_are_taken_all_or_none(gold_queue: GoldQueue) -> None:
    gold_queue.add_traces(3)
    records = [{"id": f"trace-{number:05}", "annotations": REFUSE, "why": "Off by one"} for number in range(3)]
    with pytest.raises(BadRecords, match="Record 4: the project has no trace “other”"):
        expect_records(project=gold_queue.project, records=[*records, {"id": "other", "annotations": REFUSE}, 7])
    assert TraceQuota.objects.filter(withheld="known_answer").count() == 0
    made = expect_records(project=gold_queue.project, records=records)
    assert [(row.origin, row.why) for row in made] == [("imported", "Off by one")] * 3


def test_a_person_who_put_gold_off_gets_it_back_then_and_not_before(
    gold_queue: GoldQueue, bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    gold_queue.publish_with("gold: {rate: 0.5}")
    gold_queue.add_traces(60)
    gold_queue.add_gold(2)
    assignment = next_gold(gold_queue, bob)
    put_off(assignment=assignment, fencing_token=assignment.fencing_token, until=timezone.now() + timedelta(hours=2))
    others = gold_queue.tasks(bob, 12)
    assert assignment.pk not in {row.pk for row, _ in others}
    at = timezone.now() + timedelta(hours=3)
    monkeypatch.setattr("django.utils.timezone.now", lambda: at)
    assert next_gold(gold_queue, bob).pk == assignment.pk
