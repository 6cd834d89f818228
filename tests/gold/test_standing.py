"""Scores of gold are taken in behind the request; who guesses is paused, who works with care is not."""

from collections.abc import Callable
from random import Random
from typing import Any

from accounts.models import AuditEvent, User
from assignments.actions.claiming import Reason, claim_next
from assignments.actions.deciding import void
from assignments.actions.steering import queue_position, resume_person
from assignments.actions.submitting import withdraw
from assignments.models import Assignment, Kind, Submission
from gold.actions import change_expectation, retire
from gold.figures import shown_gold
from gold.models import ExpectedAnnotation, GoldScore, GoldStanding, Use, person_standing
from gold.standing import PAUSE_REASON, expectation_changed, let_go_on, submission_changed
from gold.standing import take_in as score
from jobs.models import OutboxEvent
from tenancy.actor import Actor, acting
from tests.assignments.conftest import annotators, submit
from tests.gold.conftest import APPROVE, REFUSE, GoldQueue

RULES = "gold: {rate: 0.5, warn_below: 0.65, pause_below: 0.65, after: 5}"


def take_in(gold_queue: GoldQueue) -> None:
    """What the worker does: deliver what has happened."""
    for event in OutboxEvent.objects.filter(topic="submission.made").order_by("created_at", "pk"):
        submission_changed(event)


def work(gold_queue: GoldQueue, user: User, number: int, answer: Callable[[Assignment], Any]) -> list[Assignment]:
    """Task after task until the person is given none, the scores taken in after each."""
    done: list[Assignment] = []
    for _ in range(number):
        given = claim_next(project=gold_queue.project, user=user)
        if not isinstance(given, Assignment):
            assert given.reason == Reason.YOU_ARE_PAUSED, given
            return done
        submission = submit(given, **answer(given))
        submission_changed(OutboxEvent.objects.get(topic="submission.made", payload__submission=str(submission.pk)))
        done.append(given)
    return done


def known(assignment: Assignment) -> Any:
    row = ExpectedAnnotation.objects.filter(trace=assignment.trace_id).first()
    return row.annotations if row else APPROVE


def test_a_spammer_is_paused_by_the_score_and_a_careful_person_is_not(gold_queue: GoldQueue) -> None:
    gold_queue.publish_with(RULES, target=3)
    gold_queue.add_traces(150)
    gold_queue.add_gold(30)
    gold_queue.add_gold(30, "good", annotations={"verdict": {"decision": "comment_only", "summary": ""}})
    careful, spammer = annotators(2)
    drawn = Random(7)  # noqa: S311  (the same people in each run)
    # The careful one misses one fault in ten.
    done = work(gold_queue, careful, 80, lambda task: known(task) if drawn.random() < 0.9 else APPROVE)
    assert len(done) == 80
    standing = person_standing(gold_queue.project, careful)
    assert standing is not None
    assert standing.state == "fine"
    assert standing.number == 20
    done = work(gold_queue, spammer, 80, lambda task: APPROVE)
    golds = [task for task in done if task.kind == Kind.GOLD]
    assert 5 <= len(golds) <= 8
    position = queue_position(gold_queue.project, spammer)
    assert position.paused_at is not None
    assert position.pause_reason == PAUSE_REASON
    assert "gold" not in position.pause_reason.lower()
    standing = person_standing(gold_queue.project, spammer)
    assert standing is not None
    assert standing.state == "paused"
    event = AuditEvent.objects.get(verb="gold.paused")
    assert event.detail["why"] == standing.sentence
    assert event.detail["why"].startswith("Paused: the mean of 5 gold tasks is 0.00")
    assert AuditEvent.objects.get(verb="person.paused").target_id == spammer.pk


def test_a_manager_lets_the_paused_person_go_on_and_only_new_scores_count(gold_queue: GoldQueue) -> None:
    gold_queue.publish_with(RULES, target=3)
    gold_queue.add_traces(150)
    gold_queue.add_gold(60)
    (person,) = annotators(1)
    work(gold_queue, person, 80, lambda task: APPROVE)
    assert queue_position(gold_queue.project, person).paused_at is not None
    let_go_on(project=gold_queue.project, user=person)
    assert queue_position(gold_queue.project, person).paused_at is None
    done = work(gold_queue, person, 20, known)
    standing = person_standing(gold_queue.project, person)
    assert standing is not None
    assert (len(done), standing.state, standing.mean) == (20, "fine", 1.0)
    assert standing.number == sum(task.kind == Kind.GOLD for task in done)


def test_a_person_whom_somebody_let_go_on_elsewhere_is_not_paused_by_the_old_scores(gold_queue: GoldQueue) -> None:
    gold_queue.publish_with(RULES, target=3)
    gold_queue.add_traces(150)
    gold_queue.add_gold(60)
    (person,) = annotators(1)
    work(gold_queue, person, 80, lambda task: APPROVE)
    resume_person(project=gold_queue.project, user=person)
    assert len(work(gold_queue, person, 20, known)) == 20


def test_who_is_paused_stays_so_whatever_comes_of_what_they_hold(gold_queue: GoldQueue) -> None:
    """Else the manager would read that all is fine, and not why the person is given nothing."""
    gold_queue.publish_with(RULES.replace("after: 5", "after: 2"), target=3, max_open=16)
    gold_queue.add_traces(150)
    gold_queue.add_gold(60)
    (person,) = annotators(1)
    held = [gold_queue.claimed(person, another=True) for _ in range(16)]
    golds = [task for task in held if task.kind == Kind.GOLD]
    assert len(golds) > 3
    for task in golds[:2]:
        score(submit(task, **APPROVE))
    paused = person_standing(gold_queue.project, person)
    assert paused is not None
    assert paused.state == "paused"
    for task in golds[2:]:
        score(submit(task, **REFUSE))
    now = person_standing(gold_queue.project, person)
    assert now is not None
    assert (now.state, now.since, now.number) == ("paused", paused.since, len(golds))
    assert now.sentence.startswith("Paused by earlier scores.")
    let_go_on(project=gold_queue.project, user=person)
    assert queue_position(gold_queue.project, person).paused_at is None


def test_an_expectation_that_was_wrong_is_changed_and_everybody_is_scored_anew(gold_queue: GoldQueue) -> None:
    gold_queue.publish_with("gold: {rate: 0.5, warn_below: 0.65, after: 1}", target=3)
    gold_queue.add_traces(30)
    (expected,) = gold_queue.add_gold(1)
    person, other = annotators(2)
    for one, answer in ((person, APPROVE), (other, REFUSE)):
        for task, submission in gold_queue.tasks(one, 10, lambda task, answer=answer: answer):
            if task.kind == Kind.GOLD:
                score(submission)
    states = {one: person_standing(gold_queue.project, one) for one in (person, other)}
    assert [row and row.state for row in states.values()] == ["warned", "fine"]
    change_expectation(expected=expected, annotations=APPROVE, why="It is right as it is.")
    event = OutboxEvent.objects.get(topic="gold.changed")
    for _ in range(2):
        expectation_changed(event)
    states = {one: person_standing(gold_queue.project, one) for one in (person, other)}
    assert [row and (row.state, row.mean, row.number) for row in states.values()] == [
        ("fine", 1.0, 1),
        ("warned", 0.0, 1),
    ]
    # The earlier scores stay beside the new ones, and only these count.
    assert sorted(GoldScore.objects.values_list("number", flat=True)) == [1, 1, 2, 2]
    (shown,) = shown_gold(gold_queue.project, Use.GOLD)
    assert (shown.scored, shown.mean) == (2, 0.5)


def test_what_was_taken_back_or_voided_does_not_count_and_nothing_is_scored_twice(
    gold_queue: GoldQueue,
) -> None:
    gold_queue.publish_with("gold: {rate: 0.5}", target=3)
    gold_queue.add_traces(30)
    gold_queue.add_gold(10)
    bob = gold_queue.tenants.bob
    while (task := gold_queue.claimed(bob)).kind != Kind.GOLD:
        submit(task, **APPROVE)
    first = submit(task, **APPROVE)
    take_in(gold_queue)
    take_in(gold_queue)
    assert GoldScore.objects.count() == 1
    again = withdraw(submission=first)
    second = submit(again, **REFUSE)
    take_in(gold_queue)
    standing = GoldStanding.objects.get()
    assert (GoldScore.objects.count(), standing.number, standing.mean) == (2, 1, 1.0)
    void(submission=second, user=gold_queue.tenants.mallory, reason="Made by a script")
    submission_changed(OutboxEvent.objects.get(topic="decision.made"))
    standing.refresh_from_db()
    assert (standing.number, standing.state) == (0, "too_few")


def test_what_was_given_before_it_was_retired_is_scored(gold_queue: GoldQueue) -> None:
    gold_queue.publish_with("gold: {rate: 0.5}", target=3)
    gold_queue.add_traces(30)
    gold_queue.add_gold(10)
    bob = gold_queue.tenants.bob
    while (task := gold_queue.claimed(bob)).kind != Kind.GOLD:
        submit(task, **APPROVE)
    retire(expected=ExpectedAnnotation.objects.get(trace=task.trace_id))
    submit(task, **REFUSE)
    take_in(gold_queue)
    assert GoldScore.objects.get().score == 1.0


def test_the_worker_delivers_it_without_a_person(gold_queue: GoldQueue) -> None:
    """Delivered as a worker does it, in the organisation's name."""
    gold_queue.publish_with(RULES, target=3)
    gold_queue.add_traces(60)
    gold_queue.add_gold(20)
    bob = gold_queue.tenants.bob
    submitted = 0
    # Chance mixes them in: until there are as many as the rules want to see.
    while Submission.objects.filter(assignment__kind=Kind.GOLD).count() < 6:
        submit(gold_queue.claimed(bob), **APPROVE)
        submitted += 1
    assert GoldScore.objects.count() == 0
    assert OutboxEvent.objects.filter(topic="submission.made").count() == submitted
    with acting(Actor(gold_queue.tenants.acme.pk, (gold_queue.tenants.acme.pk,))):
        take_in(gold_queue)
    assert AuditEvent.objects.get(verb="gold.paused").person is None
