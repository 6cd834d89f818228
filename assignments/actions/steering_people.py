"""What is done to one person of a project or to several at once: one transaction, one audit event and one undo.

Where it cannot be done to somebody, they stay as they were and the answer says why; where it can be done to nobody,
that is refused.
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction

from accounts.actions.members import put_on_project, take_off_project
from accounts.models import Membership, Project, ProjectMember
from accounts.models.members import members_with
from assignments.actions.held_tasks import take_up_again
from assignments.actions.leaving import end_work, held_by
from assignments.actions.locks import lock_all, lock_queue_position
from assignments.actions.outcomes import Outcome, keep_act
from assignments.actions.steering import limit_person, pause_person, resume_person
from assignments.models import Assignment, SteeringAct
from jobs.row_text import storable
from potato.wording import counted, listed
from tenancy import audit
from tenancy.errors import Refused
from tenancy.roles import ProjectRole, Right

_NAMED = 5


def pause_people(*, project: Project, people: Sequence[Membership], reason: str = "") -> Outcome:
    """Give none of them anything new in the project; they read the reason where they would be given a task."""

    def pause(one: Membership) -> None:
        pause_person(project=project, user=one.user, reason=reason)

    reason = storable(reason.strip(), 500)
    done = "given no new tasks here; what they hold may be finished" + (f". They read: “{reason}”" if reason else "")
    return _steered(project, people, "people.paused", done, pause, reason=reason)


def resume_people(*, project: Project, people: Sequence[Membership]) -> Outcome:
    def resume(one: Membership) -> None:
        resume_person(project=project, user=one.user)

    return _steered(project, people, "people.resumed", "given tasks again", resume)


def limit_people(
    *, project: Project, people: Sequence[Membership], limit: int | None = None, share: float | None = None
) -> Outcome:
    """How many annotations each of them may make here at most, and which part of all; None for what the configuration
    says."""

    def limit_one(one: Membership) -> None:
        limit_person(project=project, user=one.user, limit=limit, share=share)

    parts = [counted(limit, "annotation")] if limit else []
    parts += [f"{100 * share:g}% of all annotations"] if share else []
    each = " each" if len(people) > 1 else ""
    done = f"limited to {' and '.join(parts)}{each} here" if parts else "limited here as the project limits everybody"
    per_cent = None if share is None else f"{share * 100:g}"
    return _steered(project, people, "people.limited", done, limit_one, limit=limit, per_cent=per_cent)


def take_people_off(*, project: Project, people: Sequence[Membership]) -> Outcome:
    """End their work on the project; what they hold goes back to the queue, and annotations stay. Undone, they are what
    they were, and hold their tasks again whose places are still free."""
    before: dict[str, Any] = {}
    released = 0

    def take_off(one: Membership) -> None:
        nonlocal released
        row = ProjectMember.objects.for_project(project).filter(membership=one, left_at=None).first()
        held = [str(pk) for pk in held_by(one.user, project).values_list("pk", flat=True)]
        released += take_off_project(project=project, membership=one)
        before[str(one.pk)] = {**_placed(row), "held": held}

    with transaction.atomic():
        _lock_memberships(one.pk for one in people)
        tasks = list(Assignment.objects.for_project(project).open().filter(user__in=[one.user_id for one in people]))
        lock_all(project, (one.user for one in people), (task.trace_id for task in tasks))
        changed, refusals = _each(project, people, "people.taken-off", take_off, lambda: {"released": released})
        works = "no longer works" if len(changed) == 1 else "no longer work"
        back = f" {counted(released, 'task')} went back to the queue." if released else ""
        sentence = f"{_names(changed)} {works} on this project.{back} Annotations stay, and count."
        return _kept(project, "people.taken-off", sentence, refusals, before, len(changed))


def give_role(
    *, project: Project, people: Sequence[Membership], role: ProjectRole, may_export: bool = False
) -> Outcome:
    """Make them this in the project, who may have been taken off it. What a new role may not hold goes back to the
    queue. Undone, they are what they were, and hold their tasks again whose places are still free."""
    before: dict[str, Any] = {}

    def give(one: Membership) -> None:
        row = ProjectMember.objects.for_project(project).filter(membership=one).first()
        held = [str(pk) for pk in held_by(one.user, project).values_list("pk", flat=True)]
        was = _placed(row if row is None or row.left_at is None else None)
        put_on_project(project=project, membership=one, role=role, may_export=may_export)
        before[str(one.pk)] = {**was, "held": held, "was_off": row is not None and row.left_at is not None}

    with transaction.atomic():
        _lock_memberships(one.pk for one in people)
        changed, refusals = _each(project, people, "people.role", give, lambda: {"role": role.label.lower()})
        exports = ", and may export it" if may_export and role == ProjectRole.VIEWER else ""
        is_or_are = "is" if len(changed) == 1 else "are"
        noun = role.label.lower() if len(changed) == 1 else f"{role.label.lower()}s"
        sentence = f"{_names(changed)} {is_or_are} {noun} of this project now{exports}."
        return _kept(project, "people.role", sentence, refusals, before, len(changed))


def _placed(row: ProjectMember | None) -> dict[str, Any]:
    return {"role": row.role if row else "", "may_export": row.may_export if row else False}


def undo_steering_people(act: SteeringAct) -> int:
    """Put the pauses and limits of these people back as they were; returns of how many."""
    rows = Membership.objects.filter(pk__in=act.before).select_related("user").order_by("user")
    number = 0
    for row in rows:
        position = lock_queue_position(act.project, row.user)
        for name, value in act.before[str(row.pk)].items():
            setattr(position, name, datetime.fromisoformat(value) if name == "paused_at" and value else value)
        position.save(update_fields=list(_KEPT))
        number += 1
    return number


def undo_placing(act: SteeringAct) -> int:
    """Make these people again what they were here, or nothing, with the held tasks whose places are still free; returns
    how many."""
    number = 0
    held: list[UUID] = []
    _lock_memberships(UUID(key) for key in act.before)
    with audit.one_event("steering.undone", act):
        for row in Membership.objects.active().filter(pk__in=act.before).select_related("user").order_by("user"):
            was = act.before[str(row.pk)]
            if was["role"]:
                place = ProjectRole(was["role"])
                put_on_project(project=act.project, membership=row, role=place, may_export=was["may_export"])
            elif was.get("was_off"):
                take_off_project(project=act.project, membership=row)
            else:
                # Who worked here because the project is open to all annotators: without a row of their own they do.
                ProjectMember.objects.for_project(act.project).filter(membership=row).delete()
                if not members_with(Right.ANNOTATE, act.project).filter(pk=row.pk).exists():
                    end_work(row.user, act.project)
            held += [UUID(key) for key in was["held"]]
            number += 1
    take_up_again(act.project, held)
    return number


def _lock_memberships(keys: Iterable[UUID]) -> None:
    """In one order, before any queue position: as everything that ends a person's work does."""
    rows = Membership.objects.filter(pk__in=list(keys)).order_by("user")
    list(rows.select_for_update(no_key=True, of=("self",)).values_list("pk"))


_KEPT = ("paused_at", "paused_by_id", "pause_reason", "annotation_limit", "annotation_share")


def _steered(
    project: Project,
    people: Sequence[Membership],
    verb: str,
    done: str,
    change: Callable[[Membership], None],
    **facts: Any,
) -> Outcome:
    before: dict[str, Any] = {}

    def steer(one: Membership) -> None:
        position = lock_queue_position(project, one.user)
        before[str(one.pk)] = {name: _plain(getattr(position, name)) for name in _KEPT}
        change(one)

    with transaction.atomic():
        changed, refusals = _each(project, people, verb, steer, lambda: facts)
        sentence = f"{_names(changed)} {'is' if len(changed) == 1 else 'are'} {done}."
        return _kept(project, verb, sentence, refusals, before, len(changed))


def _each(
    project: Project,
    people: Sequence[Membership],
    verb: str,
    change: Callable[[Membership], None],
    facts: Callable[[], dict[str, Any]],
) -> tuple[list[Membership], list[str]]:
    """Do it to each, and write one event of all; of one person alone their own. Raises Refused where it can be done to
    nobody."""
    event: AbstractContextManager[dict[str, Any]] = (
        audit.one_event(verb, project) if len(people) > 1 else nullcontext({})
    )
    changed: list[Membership] = []
    refusals: list[str] = []
    with event as detail:
        # In the order in which every action locks people.
        for one in sorted(people, key=lambda one: one.user_id):
            try:
                with transaction.atomic():
                    change(one)
            except Refused as refused:
                refusals.append(refused.sentence)
                continue
            changed.append(one)
        if not changed:
            raise Refused(" ".join(dict.fromkeys(refusals)))
        detail |= {"people": len(changed), **{name: value for name, value in facts().items() if value}}
    return changed, list(dict.fromkeys(refusals))


def _kept(
    project: Project, verb: str, sentence: str, refusals: Sequence[str], before: dict[str, Any], number: int
) -> Outcome:
    return Outcome(number, " ".join([sentence, *refusals]), keep_act(project, verb, sentence, before))


def _names(people: Sequence[Membership]) -> str:
    names = sorted(one.annotator_name for one in people)[:_NAMED]
    more = len(people) - len(names)
    return listed([*names, f"{more} more"] if more else names, "and")


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else str(value) if isinstance(value, UUID) else value
