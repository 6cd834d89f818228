"""Releasing traces of the pool as a batch, and taking a batch back. Each is one action, audited."""

import random
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import F, PositiveIntegerField, Q
from django.db.models.functions import Greatest
from django.utils import timezone

from accounts.models import Project, User
from accounts.models.members import members_with
from assignments.actions.outcomes import keep_act
from assignments.actions.quotas import newest_rules, open_quotas
from assignments.actions.releasing_imports import next_number
from assignments.errors import NothingChosen, PoolChanged, UnknownPeople
from assignments.models import (
    Batch,
    BatchPerson,
    BatchState,
    Order,
    Priority,
    StandingRule,
    SteeringAct,
    TraceQuota,
)
from assignments.models.queue import RANKS_A_LEVEL, rank_step
from assignments.pool.selecting import Selection, take_sample, traces_digest
from jobs import outbox
from potato.wording import counted
from tenancy import audit
from tenancy.actor import active_organisation, current
from tenancy.errors import Refused
from tenancy.roles import Right
from tenancy.statements import executed

QUEUE_CHANGED = "queue.changed"
"""What is given out next is another: a batch was released, or steered."""


@dataclass(frozen=True)
class BatchFacts:
    """How a batch is worked on. `people` are those who may take its tasks, empty for everybody of the project."""

    name: str
    redundancy: int | None = None
    priority: int = Priority.NORMAL
    order: str = Order.IMPORTED
    deadline: date | None = None
    people: tuple[UUID, ...] = ()


def release_batch(
    *,
    project: Project,
    selection: Selection,
    facts: BatchFacts,
    seen: int | None = None,
    digest: str = "",
    is_draft: bool = False,
    is_rule: bool = False,
) -> Batch:
    """Release what the selection draws of the pool as a new batch; as a draft it gives nothing out yet.

    `seen` is how many traces the preview showed, and `digest` which ones (Sample.digest): where it would be another
    number now, or others, PoolChanged is raised and nothing is released. `is_rule` does the same with every later
    import, for all or for a share. Raises NothingChosen where it would be empty, and UnknownPeople for somebody who
    does not annotate in the project.
    """
    if is_rule and (selection.take == "number" or selection.ids):
        raise Refused(
            "A standing rule takes all, or a share, of what each import brings. Choose one of these, or leave later "
            "imports alone."
        )
    with transaction.atomic():
        while open_quotas(project=project):
            pass
        _lock_pool(project)
        chosen = take_sample(project, selection).taken
        if seen is not None and seen != len(chosen):
            raise _pool_changed(seen, f"there are {len(chosen):,}")
        if digest and digest != traces_digest(chosen):
            raise _pool_changed(len(chosen), "it would be others")
        if not chosen and not is_rule:
            raise NothingChosen("No trace of the pool fits, so there is nothing to release. Loosen the filters.")
        batch = Batch.objects.create(
            project=project,
            number=next_number(project),
            name=facts.name.strip() or "Batch",
            state=BatchState.DRAFT if is_draft else BatchState.OPEN,
            priority=facts.priority,
            order=facts.order,
            redundancy=facts.redundancy,
            deadline=facts.deadline,
            is_restricted=bool(facts.people),
            selection=selection.data(),
            created_by_id=current().user,
            released_by_id=None if is_draft else current().user,
            released_at=None if is_draft else timezone.now(),
        )
        _require_annotators(project, facts.people)
        _name_people(batch, facts.people)
        put_into(batch, chosen)
        if is_rule:
            add_rule(batch, selection)
        audit.record(
            "batch.drafted" if is_draft else "batch.released",
            batch,
            traces=len(chosen),
            selection=selection.data(),
            project=project.slug,
        )
        outbox.publish(QUEUE_CHANGED, project=str(project.pk))
    return batch


def release_draft(*, batch: Batch) -> Batch:
    """Let a draft give its traces out."""
    with transaction.atomic():
        row = Batch.objects.select_for_update(no_key=True, of=("self",)).get(pk=batch.pk)
        if row.state != BatchState.DRAFT:
            raise Refused(f"“{row.name}” is no draft, so it cannot be released.")
        row.state, row.released_by_id, row.released_at = BatchState.OPEN, current().user, timezone.now()
        row.save(update_fields=["state", "released_by", "released_at"])
        audit.record("batch.released", row)
        outbox.publish(QUEUE_CHANGED, project=str(row.project_id))
    return row


def put_into(batch: Batch, traces: Sequence[UUID]) -> None:
    """Give traces of the pool their ranks in the batch, and its number of annotations. The caller holds the pool."""
    ranks = list(range(batch.last_rank + 1, batch.last_rank + 1 + len(traces)))
    if batch.order == Order.RANDOM:
        random.Random(f"{batch.pk} {batch.last_rank}").shuffle(ranks)  # noqa: S311  (an order, no secret)
    step = rank_step(batch.order)
    rules = newest_rules(batch.project)
    usual = rules[0].annotations_per_trace if rules else 1
    facts = {
        "organisation": active_organisation(),
        "batch": batch.pk,
        "traces": list(traces),
        "ranks": ranks,
        "step": step,
        "level": RANKS_A_LEVEL if batch.order == Order.PRIORITY else 0,
        "urgent": Priority.URGENT,
        "target": batch.redundancy or usual,
    }
    executed(_PUT_INTO, facts)
    Batch.objects.filter(pk=batch.pk).update(last_rank=batch.last_rank + len(traces))
    batch.last_rank += len(traces)


# Ranks of batches that are walked already are those of slots that came free: whoever has passed them is given them too.
_PUT_INTO = """
UPDATE assignments_tracequota q
   SET batch_id = %(batch)s, is_released = q.withheld = '', rank_step = %(step)s, returned_at = now(),
       rank = placed.rank + %(step)s * (q.active + q.done) + %(level)s * (%(urgent)s - q.priority),
       target = CASE WHEN q.target = 0 THEN 0 ELSE %(target)s + q.extra END,
       slots = CASE WHEN q.target = 0 THEN q.slots ELSE greatest(%(target)s + q.extra, q.active + q.done) END
  FROM unnest(%(traces)s::uuid[], %(ranks)s::bigint[]) AS placed(trace_id, rank)
 WHERE q.organisation_id = %(organisation)s AND q.trace_id = placed.trace_id
"""


def withdraw_batch(*, batch: Batch) -> SteeringAct:
    """Take a batch back: traces that nobody holds or has annotated wait in the pool again, annotations stay.

    Held tasks may be finished. It can be undone while the traces wait there still.
    """
    with transaction.atomic():
        _lock_pool(batch.project)
        row = Batch.objects.select_for_update(no_key=True, of=("self",)).get(pk=batch.pk)
        if row.state == BatchState.WITHDRAWN:
            raise Refused(f"“{row.name}” is withdrawn already.")
        quotas = TraceQuota.objects.for_project(row.project).filter(batch=row, active=0, done=0, withheld="")
        untouched = list(
            quotas.order_by("trace").select_for_update(no_key=True, of=("self",)).values_list("pk", "trace")
        )
        TraceQuota.objects.filter(pk__in=[pk for pk, _ in untouched]).update(batch=None, is_released=False)
        # Later imports go into another one: what is withdrawn gives nothing out.
        before, was_standard = row.state, row.is_standard
        row.state, row.is_standard = BatchState.WITHDRAWN, False
        row.save(update_fields=["state", "is_standard"])
        rules = StandingRule.objects.filter(organisation=row.organisation_id, batch=row, ended_at__isnull=True)
        ended = [str(rule) for rule in rules.values_list("pk", flat=True)]
        rules.update(ended_at=timezone.now())
        wait = "waits" if len(untouched) == 1 else "wait"
        traces = [str(trace) for _, trace in untouched]
        was = {"batch": str(row.pk), "state": before, "standard": was_standard, "traces": traces, "rules": ended}
        sentence = f"“{row.name}” was withdrawn: {counted(len(untouched), 'trace')} {wait} in the pool again."
        act = keep_act(row.project, "batch.withdrawn", sentence, was)
        audit.record("batch.withdrawn", row, traces=len(untouched))
    return act


def undo_withdrawal(act: SteeringAct) -> int:
    """Put the traces back that still wait; returns how many. The caller has locked the act."""
    before: dict[str, Any] = act.before
    # The pool before the batch, as in every action: somebody may be withdrawing it at the same moment.
    _lock_pool(act.project)
    batch = Batch.objects.select_for_update(no_key=True, of=("self",)).get(pk=before["batch"])
    waiting = TraceQuota.objects.for_project(batch.project).in_pool().filter(trace__in=before["traces"])
    there = {str(trace) for trace in waiting.values_list("trace", flat=True)}
    put_into(batch, [UUID(trace) for trace in before["traces"] if trace in there])
    batch.state = before["state"]
    # Where an import came meanwhile, its batch is the project's own.
    standard = Batch.objects.for_project(batch.project).filter(is_standard=True)
    batch.is_standard = before.get("standard", False) and not standard.exists()
    batch.save(update_fields=["state", "is_standard"])
    rules = StandingRule.objects.filter(organisation=batch.organisation_id, pk__in=before.get("rules", []))
    rules.update(ended_at=None)
    return len(there)


def add_rule(batch: Batch, selection: Selection) -> StandingRule:
    """Do the same with every later import: all that fit, or the share of the selection."""
    rules = StandingRule.objects.filter(organisation=batch.organisation_id, project=batch.project)
    last = rules.order_by("-number").values_list("number", flat=True).first() or 0
    return StandingRule.objects.create(
        project=batch.project, batch=batch, number=last + 1, selection=selection.data(), made_by_id=current().user
    )


def end_rule(*, rule: StandingRule) -> None:
    """Take nothing more of later imports by this rule. What it has released stays released."""
    with transaction.atomic():
        StandingRule.objects.filter(pk=rule.pk, ended_at__isnull=True).update(ended_at=timezone.now())
        audit.record("rule.ended", rule, batch=rule.batch.name, taken=rule.taken)


def set_people(*, batch: Batch, people: Collection[UUID]) -> Batch:
    """Name who may take tasks of the batch; nobody named is everybody of the project. Held tasks stay as they are.

    Raises UnknownPeople for somebody who does not annotate in the project, and was not named before either.
    """
    with transaction.atomic():
        row = Batch.objects.select_for_update(no_key=True, of=("self",)).get(pk=batch.pk)
        row.is_restricted = bool(people)
        row.save(update_fields=["is_restricted"])
        named = BatchPerson.objects.filter(organisation=row.organisation_id, batch=row)
        _require_annotators(row.project, set(people) - set(named.values_list("user", flat=True)))
        named.delete()
        _name_people(row, people)
        audit.record("batch.people", row, people=len(people))
        outbox.publish(QUEUE_CHANGED, project=str(row.project_id))
    return row


def batches_to_name(project: Project) -> list[tuple[int, str]]:
    """The batches of the project in which people can be named, by number, with their names: all but withdrawn ones."""
    batches = Batch.objects.for_project(project).exclude(state=BatchState.WITHDRAWN).order_by("number")
    return list(batches.values_list("number", "name"))


def name_in_batch(project: Project, number: int, user: User) -> None:
    """Name the person, who may annotate in the project, in its batch of that number, which is for those who are named
    alone from now on. Nothing where it is withdrawn."""
    with transaction.atomic():
        batches = Batch.objects.for_project(project).filter(number=number).exclude(state=BatchState.WITHDRAWN)
        row = batches.select_for_update(no_key=True, of=("self",)).first()
        if row is None:
            return
        row.is_restricted = True
        row.save(update_fields=["is_restricted"])
        BatchPerson.objects.bulk_create([BatchPerson(batch=row, user=user)], ignore_conflicts=True)
        number_of_people = BatchPerson.objects.filter(organisation=row.organisation_id, batch=row).count()
        audit.record("batch.people", row, people=number_of_people)
        outbox.publish(QUEUE_CHANGED, project=str(row.project_id))


def is_named_in_batch(project: Project, number: int, user: User) -> bool:
    """Whether the person is named in the project's batch of that number, or the batch is withdrawn."""
    batch = Batch.objects.for_project(project).filter(number=number).exclude(state=BatchState.WITHDRAWN).first()
    return (
        batch is None or BatchPerson.objects.filter(organisation=batch.organisation_id, batch=batch, user=user).exists()
    )


def set_redundancy(*, batch: Batch, redundancy: int | None) -> int:
    """Want so many annotations of each trace of the batch, None for as many as the configuration says; returns of how
    many that is more or fewer than before.

    Fewer take nobody's slot away. Traces that were complete are open again where more are wanted.
    """
    if redundancy is not None and not 1 <= redundancy <= 100:
        raise Refused("A trace can have 1 to 100 annotations.")
    with transaction.atomic():
        row = Batch.objects.select_for_update(no_key=True, of=("self",)).get(pk=batch.pk)
        before, row.redundancy = row.redundancy, redundancy
        row.save(update_fields=["redundancy"])
        rules = newest_rules(row.project)
        wanted = F("extra") + (redundancy or (rules[0].annotations_per_trace if rules else 1))
        quotas = TraceQuota.objects.for_project(row.project).judgeable().filter(~Q(target=wanted), batch=row)
        locked = list(
            quotas.order_by("trace").select_for_update(no_key=True, of=("self",)).values_list("pk", flat=True)
        )
        TraceQuota.objects.filter(pk__in=locked).update(
            target=wanted,
            slots=Greatest(wanted, F("active") + F("done"), output_field=PositiveIntegerField()),
            returned_at=timezone.now(),
        )
        audit.record("batch.redundancy", row, before=before, now=redundancy, traces=len(locked))
        outbox.publish(QUEUE_CHANGED, project=str(row.project_id))
    return len(locked)


def _pool_changed(seen: int, now: str) -> PoolChanged:
    return PoolChanged(
        f"The pool changed since the preview: it showed {counted(seen, 'trace')}, now {now}. Look at the preview again."
    )


def _require_annotators(project: Project, people: Collection[UUID]) -> None:
    if not people:
        return
    known = set(members_with(Right.ANNOTATE, project).filter(user__in=people).values_list("user", flat=True))
    if known != set(people):
        raise UnknownPeople("Somebody of those you named does not annotate in this project. Choose again.")


def _name_people(batch: Batch, people: Collection[UUID]) -> None:
    BatchPerson.objects.bulk_create(BatchPerson(batch=batch, user=User(pk=person)) for person in sorted(set(people)))


def _lock_pool(project: Project) -> None:
    """One release, withdrawal or import at a time: what waits in the pool does not change meanwhile."""
    executed("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"slots of {project.pk}"])
