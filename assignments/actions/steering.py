"""Pausing and going on, priority, order, deadline and limits: each changes one row, however many traces there are."""

from datetime import date

from django.db import transaction
from django.utils import timezone

from accounts.models import ConfigurationVersion, Project, User
from assignments.actions.locks import lock_batches, lock_queue_position
from assignments.actions.quotas import forget_positions
from assignments.actions.releasing import QUEUE_CHANGED
from assignments.models import Batch, BatchState, Order, Priority, QueuePosition, Steering, TraceQuota
from assignments.models.queue import RANKS_A_LEVEL, rank_step
from jobs import outbox
from jobs.row_text import storable
from potato.configuration.project import Assignment as AssignmentRules
from tenancy import audit
from tenancy.actor import active_organisation, current
from tenancy.errors import Refused
from tenancy.statements import executed


def pause_project(*, project: Project, reason: str = "") -> Steering:
    """Give nothing out in the project until it goes on. Held tasks may be finished. Everybody reads the reason wherever
    they would be given a task; of a project that is paused already it is the reason from now on."""
    reason = storable(reason.strip(), 500)
    with transaction.atomic():
        steering = _steering(project)
        if steering.paused_at is None or reason not in ("", steering.pause_reason):
            steering.paused_at, steering.paused_by_id = steering.paused_at or timezone.now(), current().user
            steering.pause_reason = reason
            steering.save(update_fields=["paused_at", "paused_by", "pause_reason"])
            audit.record("project.paused", project, reason=reason)
    return steering


def resume_project(*, project: Project) -> Steering:
    with transaction.atomic():
        steering = _steering(project)
        if steering.paused_at is not None:
            steering.paused_at, steering.paused_by, steering.pause_reason = None, None, ""
            steering.save(update_fields=["paused_at", "paused_by", "pause_reason"])
            audit.record("project.resumed", project)
            outbox.publish(QUEUE_CHANGED, project=str(project.pk))
    return steering


def let_imports_wait(*, project: Project, wait: bool) -> Steering:
    """Whether later imports wait in the pool, or what no standing rule takes is released at once."""
    with transaction.atomic():
        steering = _steering(project)
        steering.imports_wait = wait
        steering.save(update_fields=["imports_wait"])
        audit.record("project.imports-wait" if wait else "project.imports-released", project)
    return steering


def pause_batch(*, batch: Batch) -> Batch:
    """Give nothing of the batch out until it goes on. Held tasks may be finished."""
    return _change_state(batch, (BatchState.OPEN, BatchState.PAUSED), BatchState.PAUSED, "batch.paused")


def resume_batch(*, batch: Batch) -> Batch:
    return _change_state(batch, (BatchState.OPEN, BatchState.PAUSED), BatchState.OPEN, "batch.resumed")


def pause_person(*, project: Project, user: User, reason: str = "") -> QueuePosition:
    """Give the person nothing new in the project until they go on. What they hold may be finished. The person reads the
    reason wherever they would be given a task; of somebody who is paused already it is the reason from now on."""
    reason = storable(reason.strip(), 500)
    with transaction.atomic():
        position = lock_queue_position(project, user)
        if position.paused_at is None or reason not in ("", position.pause_reason):
            position.paused_at, position.paused_by_id = position.paused_at or timezone.now(), current().user
            position.pause_reason = reason
            position.save(update_fields=["paused_at", "paused_by", "pause_reason"])
            audit.record("person.paused", user, project=project.slug, reason=reason)
    return position


def resume_person(*, project: Project, user: User) -> QueuePosition:
    with transaction.atomic():
        position = lock_queue_position(project, user)
        if position.paused_at is not None:
            position.paused_at, position.paused_by, position.pause_reason = None, None, ""
            position.save(update_fields=["paused_at", "paused_by", "pause_reason"])
            audit.record("person.resumed", user, project=project.slug)
    return position


def queue_position(project: Project, user: User) -> QueuePosition:
    """How the person is steered in the project: with an unsaved row's values where nobody did yet."""
    rows = QueuePosition.objects.filter(organisation=project.organisation_id, project=project, user=user)
    return rows.first() or QueuePosition(project=project, user=user)


def limit_person(
    *, project: Project, user: User, limit: int | None = None, share: float | None = None
) -> QueuePosition:
    """How many annotations the person may make in the project at most, and which part of all that are wanted (0.25 is a
    quarter); each None for what the configuration says."""
    if limit is not None and not 1 <= limit <= 1_000_000:
        raise Refused("A limit is a whole number from 1 to 1,000,000. Leave it empty for none.")
    if share is not None and not 0 < share <= 1:
        raise Refused("A share is more than 0 and at most 100 per cent. Leave it empty for none.")
    with transaction.atomic():
        position = lock_queue_position(project, user)
        before = {"limit": position.annotation_limit, "share": position.annotation_share}
        now = {"limit": limit, "share": share}
        if now != before:
            position.annotation_limit, position.annotation_share = limit, share
            position.save(update_fields=["annotation_limit", "annotation_share"])
            facts = {"limit": limit, "per_cent": None if share is None else f"{share * 100:g}"}
            audit.record("person.limited", user, project=project.slug, before=before, now=now, **facts)
    return position


def set_priority(*, batch: Batch, priority: int) -> Batch:
    if priority not in Priority.values:
        raise Refused("A priority is low, normal, high or urgent.")
    return _change(batch, "priority", priority)


def set_deadline(*, batch: Batch, deadline: date | None) -> Batch:
    """Inside one priority the batch that is due first is given out first."""
    return _change(batch, "deadline", deadline)


def rename_batch(*, batch: Batch, name: str) -> Batch:
    if not name.strip():
        raise Refused("A batch needs a name.")
    return _change(batch, "name", name.strip()[:200])


def set_order(*, batch: Batch, order: str) -> Batch:
    """Rank the batch's traces anew; everybody begins at its begin again. Changes a row for each trace."""
    if order not in Order.values:
        raise Refused("An order is as imported, random, by the priority of each trace, or fewest annotations first.")
    with transaction.atomic():
        lock_batches(batch.project, [batch.pk])
        row = _change(batch, "order", order)
        facts = {
            "organisation": active_organisation(),
            "batch": row.pk,
            "step": rank_step(order),
            "level": RANKS_A_LEVEL if order == Order.PRIORITY else 0,
            "urgent": Priority.URGENT,
            "by_chance": str(row.pk) if order == Order.RANDOM else "",
        }
        executed(_RANK_ANEW, facts)
        count = TraceQuota.objects.for_project(row.project).filter(batch=row).count()
        Batch.objects.filter(pk=row.pk).update(last_rank=count)
        forget_positions(project=row.project, batch=row)
    return row


_RANK_ANEW = """
UPDATE assignments_tracequota q
   SET rank = placed.rank + %(step)s * (q.active + q.done) + %(level)s * (%(urgent)s - q.priority),
       rank_step = %(step)s
  FROM (SELECT t.id, row_number() OVER (
            ORDER BY CASE WHEN %(by_chance)s = '' THEN '' ELSE md5(%(by_chance)s || t.trace_id::text) END, t.trace_id
          ) AS rank
          FROM assignments_tracequota t WHERE t.organisation_id = %(organisation)s AND t.batch_id = %(batch)s) placed
 WHERE q.id = placed.id
"""


def follow_order(*, project: Project) -> None:
    """Give the project's own batch the order that the newest version asks for, where the version before asked for
    another; else it keeps what a manager chose."""
    versions = ConfigurationVersion.objects.filter(project=project).order_by("-number")
    rules = versions.values_list("configuration__assignment", flat=True)[:2]
    orders = [AssignmentRules.model_validate(rule or {}).order for rule in rules]
    batch = Batch.objects.for_project(project).filter(is_standard=True).first()
    if batch is not None and len(orders) == 2 and orders[0] not in (orders[1], batch.order):
        set_order(batch=batch, order=orders[0])


def _change_state(batch: Batch, allowed: tuple[BatchState, ...], state: BatchState, verb: str) -> Batch:
    with transaction.atomic():
        row = Batch.objects.select_for_update(no_key=True, of=("self",)).get(pk=batch.pk)
        if row.state not in allowed:
            raise Refused(f"“{row.name}” is {row.get_state_display().lower()}, so it can be neither paused nor go on.")
        if row.state != state:
            row.state = state
            row.save(update_fields=["state"])
            audit.record(verb, row)
            outbox.publish(QUEUE_CHANGED, project=str(row.project_id))
    return row


def _change(batch: Batch, name: str, value: object) -> Batch:
    with transaction.atomic():
        row = Batch.objects.select_for_update(no_key=True, of=("self",)).get(pk=batch.pk)
        before = getattr(row, name)
        if before != value:
            setattr(row, name, value)
            row.save(update_fields=[name])
            audit.record(f"batch.{name}", row, before=_plain(before), now=_plain(value))
            outbox.publish(QUEUE_CHANGED, project=str(row.project_id))
    return row


def _plain(value: object) -> object:
    return value.isoformat() if isinstance(value, date) else value


def _steering(project: Project) -> Steering:
    """The project's row, locked; made where it is missing."""
    Steering.objects.bulk_create([Steering(project=project)], ignore_conflicts=True)
    rows = Steering.objects.filter(organisation=project.organisation_id, project=project)
    return rows.select_for_update(no_key=True, of=("self",)).get()


def project_pause(project: Project) -> Steering | None:
    """Since when, by whom and why the project is paused; None while it is not."""
    rows = Steering.objects.filter(organisation=project.organisation_id, project=project, paused_at__isnull=False)
    return rows.select_related("paused_by").first()
