"""Where the annotators of a trace disagree one more is asked at a time, and the manager hears when nobody is left."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

import pytest

from accounts.actions.members import put_on_project
from accounts.actions.organisations import add_service_account
from accounts.actions.projects import publish_configuration
from accounts.models import Membership, User
from accounts.models.members import members_with
from assignments.actions.steering import limit_person, pause_person
from assignments.models import Assignment, AssignmentState, TraceQuota
from gold.attention import traces_without_anybody
from gold.disagreement import ask_one_more, submission_made
from gold.models import AddedAnnotator
from jobs.models import OutboxEvent
from tenancy.roles import ProjectRole, Right
from tests.assignments.conftest import annotators, submit
from tests.gold.conftest import APPROVE, REFUSE, YAML, GoldQueue

pytestmark = pytest.mark.usefixtures("addresses")


RULES = "  add_on_disagreement: {below: 0.5, up_to: 4}"


def start(gold_queue: GoldQueue, traces: int = 1) -> None:
    source = YAML.format(blocks=RULES, target=2, max_open=1)
    publish_configuration(project=gold_queue.project, source=source)
    gold_queue.add_traces(traces)


def judge(gold_queue: GoldQueue, person: User, result: Mapping[str, Any]) -> UUID:
    assignment = gold_queue.claimed(person)
    submission = submit(assignment, **result)
    submission_made(OutboxEvent.objects.get(topic="submission.made", payload__submission=str(submission.pk)))
    return assignment.trace_id


def target(trace: UUID) -> int:
    return TraceQuota.objects.get(trace=trace).target


def test_each_disagreement_asks_for_one_more_up_to_the_cap(gold_queue: GoldQueue) -> None:
    start(gold_queue)
    people = annotators(5)
    trace = judge(gold_queue, people[0], APPROVE)
    assert target(trace) == 2
    judge(gold_queue, people[1], REFUSE)
    assert target(trace) == 3
    # The same event again, or another look, before the third one has submitted.
    assert ask_one_more(project=gold_queue.project, trace=trace) is False
    held = gold_queue.claimed(people[2])
    assert ask_one_more(project=gold_queue.project, trace=trace) is False
    submission = submit(held, verdict={"decision": "comment_only", "summary": ""})
    event = OutboxEvent.objects.get(topic="submission.made", payload__submission=str(submission.pk))
    submission_made(event)
    submission_made(event)
    assert target(trace) == 4
    judge(gold_queue, people[3], APPROVE)
    assert target(trace) == 4
    assert [row.annotators for row in AddedAnnotator.objects.order_by("pk")] == [2, 3]


def test_who_agrees_is_left_alone(gold_queue: GoldQueue) -> None:
    start(gold_queue)
    people = annotators(2)
    judge(gold_queue, people[0], APPROVE)
    assert target(judge(gold_queue, people[1], APPROVE)) == 2
    assert not AddedAnnotator.objects.exists()


def test_the_manager_hears_when_everybody_has_had_the_trace(gold_queue: GoldQueue) -> None:
    start(gold_queue)
    tenants = gold_queue.tenants
    people = [tenants.bob, tenants.alice]
    judge(gold_queue, people[0], APPROVE)
    trace = judge(gold_queue, people[1], REFUSE)
    others = set(members_with(Right.ANNOTATE, gold_queue.project).values_list("user", flat=True))
    left = others - {person.pk for person in people}
    assert bool(list(traces_without_anybody(gold_queue.project))) != bool(left)
    for user in User.objects.filter(pk__in=left):
        pause_person(project=gold_queue.project, user=user)
    (matter,) = traces_without_anybody(gold_queue.project)
    assert matter.sentence == "One more annotator is wanted of 1 trace, and everybody has had it."
    assert target(trace) == 3
    # A program that has an account is nobody whom one could wait for.
    robot = add_service_account(name="judge_a")
    put_on_project(project=gold_queue.project, membership=robot, role=ProjectRole.ANNOTATOR)
    assert len(list(traces_without_anybody(gold_queue.project))) == 1
    # Nor is who has made as many annotations as they may.
    (somebody,) = annotators(1)
    assert list(traces_without_anybody(gold_queue.project)) == []
    limit_person(project=gold_queue.project, user=somebody, limit=1)
    (other,) = gold_queue.add_traces(1, "other")
    version = gold_queue.project.versions.latest("number")
    Assignment.objects.create(
        project=gold_queue.project, trace=other, user=somebody, version=version, state=AssignmentState.SUBMITTED
    )
    assert len(list(traces_without_anybody(gold_queue.project))) == 1
    limit_person(project=gold_queue.project, user=somebody)
    assert list(traces_without_anybody(gold_queue.project)) == []
    pause_person(project=gold_queue.project, user=somebody)
    assert len(list(traces_without_anybody(gold_queue.project))) == 1
    # Somebody comes: the matter is gone.
    newcomer = User.objects.create_user("newcomer", email="newcomer@example.org")
    Membership.objects.create(user=newcomer, annotator_name="newcomer")
    assert list(traces_without_anybody(gold_queue.project)) == []
