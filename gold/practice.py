"""What newcomers practise before their first task, and what came of it."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from accounts.models import ConfigurationVersion, Project, User
from assignments.actions.locks import hold_place, lock_assignment, lock_queue_position
from assignments.mixing import KeptOut
from assignments.models import Assignment, AssignmentState, Kind, Submission
from gold.models import Admission, ExpectedAnnotation, PracticeAttempt, Use
from gold.scoring import gold_rules, score_of_result
from potato.configuration.project import Practice
from tenancy import audit
from tenancy.actor import current
from tenancy.errors import Refused
from tenancy.prepared import prepared
from traces.models.bodies import pack


@dataclass(frozen=True)
class PracticeState:
    """How far a newcomer is: `passed` of the `wanted` traces; `next` is the one to practise now, None where none is.
    `is_kept_out` says that the attempts at one are used up, and `attempts` how many were made at each."""

    wanted: int
    passed: int
    next: ExpectedAnnotation | None
    is_kept_out: bool
    attempts: Mapping[UUID, int]


def practice_rules(project: Project) -> Practice | None:
    """What the newest version says of practice; None where nobody practises."""
    versions = ConfigurationVersion.objects.filter(project=project).order_by("-number")
    block = versions.values_list("configuration__practice", flat=True).first()
    return Practice.model_validate(block) if block else None


def practice_state(project: Project, user: UUID, rules: Practice) -> PracticeState:
    """Everybody practises the same traces in the same order, the oldest first."""
    live = ExpectedAnnotation.objects.for_project(project).live(Use.PRACTICE).order_by("made_at", "pk")
    traces = list(live[: rules.traces])
    rows = PracticeAttempt.objects.filter(organisation=project.organisation_id, project=project, user=user)
    made, passed = Counter[UUID](), set[UUID]()
    for expected, is_passed in rows.values_list("expected", "passed"):
        made[expected] += 1
        if is_passed:
            passed.add(expected)
    left = [row for row in traces if row.pk not in passed]
    used_up = [row for row in left if made[row.pk] >= rules.attempts]
    return PracticeState(
        len(traces), len(traces) - len(left), left[0] if left and not used_up else None, bool(used_up), made
    )


def next_practice(project: Project, user: UUID, rules: Practice) -> ExpectedAnnotation | KeptOut | None:
    """What a newcomer practises next; None for whoever has passed, was let in, or has worked here before."""
    if has_worked(project, user):
        return None
    state = practice_state(project, user, rules)
    if state.passed == state.wanted or is_admitted(project, user):
        return None
    return state.next if state.next is not None else KeptOut()


def has_worked(project: Project, user: UUID) -> bool:
    """Whether the person was given a task of the queue here: then they practise no more."""
    return _normal.first(project.organisation_id, project.pk, user) is not None


# Every claim asks it: most are of people who have worked here before.
@prepared
def _normal(organisation: UUID | None, project: UUID, user: UUID) -> "QuerySet[Assignment, UUID]":
    """An assignment of the person's from the queue."""
    own = Assignment.objects.filter(organisation=organisation, project=project, user=user, kind=Kind.NORMAL)
    return own.values_list("pk", flat=True)[:1]


def is_admitted(project: Project, user: UUID) -> bool:
    return Admission.objects.filter(organisation=project.organisation_id, project=project, user=user).exists()


def admit(*, project: Project, user: User) -> None:
    """Let a newcomer begin without the practice, or though it was not passed."""
    with transaction.atomic():
        rows = Admission.objects.bulk_create(
            [Admission(project=project, user=user, admitted_by_id=current().user)], ignore_conflicts=True
        )
        if Admission.objects.filter(pk=rows[0].pk).exists():
            audit.record("practice.admitted", user, project=project.slug)


def practice_submitted(submission: Submission, result: Mapping[str, Any]) -> None:
    """Score an attempt, in the transaction in which it was submitted: its feedback comes at once."""
    assignment = submission.assignment
    if not assignment.is_practice:
        return
    project = assignment.project
    rows = ExpectedAnnotation.objects.for_project(project).filter(trace=assignment.trace_id, use=Use.PRACTICE)
    expected = rows.order_by("-made_at").first()
    if expected is None:
        return
    rules = practice_rules(project) or Practice()
    scored = score_of_result(expected, assignment, dict(result), gold_rules(project))
    earlier = PracticeAttempt.objects.filter(organisation=project.organisation_id, expected=expected)
    PracticeAttempt.objects.create(
        project=project,
        user_id=assignment.user_id,
        expected=expected,
        submission=submission,
        number=earlier.filter(user=assignment.user_id).count() + 1,
        score=None if scored is None else scored.score,
        passed=scored is None or scored.score >= rules.pass_from,
        packed=pack([] if scored is None else scored.parts),
    )


def practice_again(*, assignment: Assignment) -> Assignment:
    """Open the practice once more, with its answers. Raises Refused where it was passed, the attempts are used up, or
    the project asks for practice no more."""
    rules = practice_rules(assignment.project)
    with transaction.atomic():
        hold_place(assignment.organisation_id, assignment.project_id, assignment.user)
        lock_queue_position(assignment.project, assignment.user)
        row = lock_assignment(assignment)
        if row.is_open:
            return row
        attempts = PracticeAttempt.objects.filter(submission__assignment=row)
        if rules is None or attempts.filter(passed=True).exists() or attempts.count() >= rules.attempts:
            raise Refused("This practice is over. Go on with the next task.")
        now = timezone.now()
        row.state, row.since, row.claimed_at = AssignmentState.CLAIMED, now, now
        row.lease_until = row.lease_end(now)
        row.fencing_token += 1
        row.save(update_fields=["state", "since", "claimed_at", "lease_until", "fencing_token"])
    return row
