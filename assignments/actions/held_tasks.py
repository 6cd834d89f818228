"""What is done to held tasks, of one person or of several at once, with an undo: back to the queue, or to somebody
else."""

from collections.abc import Collection, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import timedelta
from textwrap import shorten
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from accounts.models import Membership, Project, User
from assignments.actions.leaving import release_one
from assignments.actions.locks import hold_place, lock_all, lock_assignment, lock_quota
from assignments.actions.outcomes import Outcome, keep_act
from assignments.actions.quotas import newest_rules
from assignments.actions.reassigning import reassign
from assignments.errors import MembershipEnded
from assignments.history import TASK_START, trace_title
from assignments.models import Assignment, AssignmentState, SteeringAct
from assignments.models.claims import CLAIMED_KINDS
from potato.wording import counted
from tenancy import audit
from tenancy.errors import Refused


def held_tasks(
    project: Project, *, traces: Collection[UUID] | None = None, people: Collection[UUID] | None = None
) -> "list[Assignment]":
    """What annotators were given in the project and hold, of these traces or these people alone where they are named.
    With what tests them: else those would tell these tasks by what stays with them."""
    held = Assignment.objects.for_project(project).open().filter(kind__in=CLAIMED_KINDS)
    held = held.select_related("project", "user", "trace")
    if traces is not None:
        held = held.filter(trace__in=traces)
    if people is not None:
        held = held.filter(user__in=people)
    return list(held.order_by("trace", "kind", "user"))


def give_back_tasks(*, project: Project, tasks: Sequence[Assignment]) -> Outcome:
    """Put these held tasks back into the queue, with their drafts kept. What is over meanwhile is left as it is. Raises
    Refused where none is held."""
    with transaction.atomic():
        lock_all(project, (task.user for task in tasks), (task.trace_id for task in tasks))
        given_back = [task for task in tasks if release_one(task, ends_token=False).was_open]
        if not given_back:
            raise Refused("None of these tasks is held any more. Reload the page.")
        done = f"{counted(len(given_back), 'task')} went back to the queue, with {_drafts(given_back)} kept"
        before = {str(task.pk): "" for task in given_back}
        outcome = _outcome(project, "tasks.given-back", done, before, len(tasks), "over meanwhile")
        people = {task.user_id for task in given_back}
        if len(people) == 1:
            person = Membership.objects.get(organisation=project.organisation_id, user__in=people)
            audit.record("assignments.given_back", person, project=project.slug, released=len(given_back))
        else:
            audit.record("tasks.given-back", project, tasks=len(given_back), people=len(people))
    return outcome


def reassign_tasks(*, project: Project, tasks: Sequence[Assignment], user: User, keep_draft: bool) -> Outcome:
    """Give these held tasks to one person, who holds them all then. Those that the person may not have, because they
    hold or have decided the trace, stay where they are. What tests whoever holds it is nobody else's, and goes back to
    the queue. Raises Refused where no task can be given to the person."""
    moved: dict[str, str] = {}
    released: dict[str, str] = {}
    refusals: list[str] = []
    event: AbstractContextManager[dict[str, Any]] = (
        audit.one_event("tasks.reassigned", project) if len(tasks) > 1 else nullcontext({})
    )
    with transaction.atomic(), event as detail:
        hold_place(project.organisation_id, project.pk, user)
        lock_all(project, [user, *(task.user for task in tasks)], (task.trace_id for task in tasks))
        for task in tasks:
            if not task.takes_slot:
                if task.user_id != user.pk and release_one(task, ends_token=True).was_open:
                    released[str(task.pk)] = ""
                continue
            try:
                with transaction.atomic():
                    moved[str(reassign(assignment=task, user=user, keep_draft=keep_draft).pk)] = str(task.pk)
            except Refused as refused:
                refusals.append(refused.sentence)
        if not moved and (refusals or not released):
            raise Refused(refusals[0] if refusals else "None of these tasks is held any more. Reload the page.")
        detail["tasks"] = len(moved)
        done = _with_whom(project, tasks, moved, user, keep_draft=keep_draft)
        if released:
            tests = "tests" if len(released) == 1 else "test"
            went = f"{counted(len(released), 'task')} that {tests} one person went back to the queue"
            done = f"{done}; {went}" if moved else went
        before = {**moved, **released}
        return _outcome(project, "tasks.reassigned", done, before, len(tasks), "theirs, or decided by them")


def undo_giving_back(act: SteeringAct) -> int:
    """Let the people hold their tasks again, whose places are still free; returns of how many that could be said."""
    return take_up_again(act.project, [UUID(key) for key in act.before])


def take_up_again(project: Project, keys: Collection[UUID]) -> int:
    """Let the people of these released tasks hold them again, with a lease that begins now, where the trace still has a
    free place and they still work here; returns how many tasks that are."""
    rows = Assignment.objects.for_project(project).filter(pk__in=keys).select_related("project", "user")
    tasks = list(rows.order_by("trace", "kind", "user"))
    staying = _staying(project, (task.user for task in tasks))
    lock_all(project, (task.user for task in tasks), (task.trace_id for task in tasks))
    rules = newest_rules(project)
    lease = timedelta(minutes=rules[0].lease_minutes if rules else 30)
    number = 0
    for task in tasks:
        if task.user_id not in staying:
            continue
        quota = lock_quota(task)
        row = lock_assignment(task)
        if row.state != AssignmentState.RELEASED or (row.takes_slot and not quota.has_free):
            continue
        now = timezone.now()
        row.state, row.since, row.lease_until = AssignmentState.CLAIMED, now, now + lease
        row.fencing_token += 1
        row.save(update_fields=["state", "since", "lease_until", "fencing_token"])
        if row.takes_slot:
            quota.move(active=1)
        number += 1
    return number


def undo_reassigning(act: SteeringAct) -> int:
    """Give each task back to whom it was taken from, who goes on with their own draft; what is over stays."""
    pairs = {key: before for key, before in act.before.items() if before}
    rows = Assignment.objects.for_project(act.project).select_related("project", "user", "trace")
    before = {str(row.pk): row for row in rows.filter(pk__in=pairs.values())}
    tasks = list(rows.filter(pk__in=pairs).open().order_by("trace", "kind", "user"))
    released = list(rows.filter(pk__in=[key for key, was in act.before.items() if not was]))
    touched = [*tasks, *before.values(), *released]
    _staying(act.project, (row.user for row in (*before.values(), *released)))
    lock_all(act.project, (row.user for row in touched), (row.trace_id for row in touched))
    number = 0
    with audit.one_event("steering.undone", act):
        for task in tasks:
            try:
                with transaction.atomic():
                    reassign(assignment=task, user=before[pairs[str(task.pk)]].user, keep_draft=False)
            except Refused:
                continue
            number += 1
    return number + take_up_again(act.project, [row.pk for row in released])


def _staying(project: Project, people: Iterable[User]) -> set[UUID]:
    """Those who may be given something here, and may until the end of the transaction. Before any other lock."""
    staying = set()
    for person in sorted({person.pk: person for person in people}.values(), key=lambda person: person.pk):
        try:
            with transaction.atomic():
                hold_place(project.organisation_id, project.pk, person)
        except MembershipEnded:
            continue
        staying.add(person.pk)
    return staying


def _with_whom(
    project: Project, tasks: Sequence[Assignment], moved: Collection[str], user: User, *, keep_draft: bool
) -> str:
    name = Membership.objects.get(organisation=project.organisation_id, user=user).annotator_name
    if len(tasks) > 1:
        return f"{counted(len(moved), 'task')} {'is' if len(moved) == 1 else 'are'} with {name} now"
    trace = tasks[0].trace
    draft = "with the draft" if keep_draft else "without the draft, which is kept for the case that it comes back"
    title = shorten(trace_title(trace.task[:TASK_START], trace.external_id), 80, placeholder=" …")
    return f"“{title}” is with {name} now, {draft}"


def _drafts(tasks: Sequence[Assignment]) -> str:
    return "its draft" if len(tasks) == 1 else "their drafts"


def _outcome(project: Project, verb: str, done: str, before: dict[str, str], asked: int, why_not: str) -> Outcome:
    left = asked - len(before)
    sentence = f"{done}, {left:,} not: {why_not}." if left else f"{done}."
    return Outcome(len(before), sentence, keep_act(project, verb, sentence, before))
