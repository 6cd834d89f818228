"""Changing what a batch decides, all at once and as one act that can be undone."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from uuid import UUID

from django.db import transaction

from assignments.actions.outcomes import keep_act
from assignments.actions.releasing import set_people, set_redundancy
from assignments.actions.steering import rename_batch, set_deadline, set_order, set_priority
from assignments.models import Batch, BatchPerson, BatchState, Order, SteeringAct
from tenancy.errors import Refused

BATCH_EDITED = "batch.edited"
BATCHES_CHANGED = "batches.changed"
"""The verb of an act that stands for those of several batches."""


@dataclass(frozen=True)
class BatchDecisions:
    """What a batch decides of its traces. `people` are those who may take them, empty for everybody of the project."""

    name: str
    priority: int
    order: str
    redundancy: int | None
    deadline: date | None
    people: tuple[UUID, ...]


def decisions(batch: Batch) -> BatchDecisions:
    """What the batch decides now."""
    people = BatchPerson.objects.filter(organisation=batch.organisation_id, batch=batch) if batch.is_restricted else ()
    return BatchDecisions(
        name=batch.name,
        priority=batch.priority,
        order=batch.order,
        redundancy=batch.redundancy,
        deadline=batch.deadline,
        people=tuple(sorted(person.user_id for person in people)),
    )


def edit_batch(*, batch: Batch, wanted: BatchDecisions) -> SteeringAct | None:
    """Decide that of the batch from now on; None where it is so already. Each change is audited by itself.

    Raises Refused for a withdrawn batch, and where one of them cannot be; then none is made.
    """
    with transaction.atomic():
        row = Batch.objects.select_for_update(no_key=True, of=("self",)).select_related("project").get(pk=batch.pk)
        if row.state == BatchState.WITHDRAWN:
            raise Refused(f"“{row.name}” is withdrawn, so nothing of it can be changed.")
        before = decisions(row)
        changes = _change(row, before, wanted)
        if not changes:
            return None
        was = {
            "batch": str(row.pk),
            **vars(before),
            "deadline": before.deadline.isoformat() if before.deadline else None,
            "people": [str(person) for person in before.people],
        }
        return keep_act(row.project, BATCH_EDITED, f"“{before.name}”: {', '.join(changes)}.", was)


def undo_edit(act: SteeringAct) -> int:
    """Decide again what was decided before. The caller has locked the act."""
    was = act.before
    batch = (
        Batch.objects.select_for_update(no_key=True, of=("self",)).select_related("project").get(pk=was.pop("batch"))
    )
    deadline = date.fromisoformat(was["deadline"]) if was["deadline"] else None
    people = tuple(UUID(person) for person in was["people"])
    _change(batch, decisions(batch), BatchDecisions(**{**was, "deadline": deadline, "people": people}))
    return 1


def _change(batch: Batch, before: BatchDecisions, wanted: BatchDecisions) -> Sequence[str]:
    """Make what differs so; returns each change in words."""
    changes = []
    if wanted.name.strip() != before.name:
        name = rename_batch(batch=batch, name=wanted.name).name
        changes.append(f"it is called “{name}” now")
    if wanted.priority != before.priority:
        row = set_priority(batch=batch, priority=wanted.priority)
        changes.append(f"its priority is {row.get_priority_display().lower()}")
    if wanted.order != before.order:
        set_order(batch=batch, order=wanted.order)
        label = Order(wanted.order).label
        changes.append(f"it is given out {label[0].lower()}{label[1:]}")
    if wanted.redundancy != before.redundancy:
        number = set_redundancy(batch=batch, redundancy=wanted.redundancy)
        each = wanted.redundancy or "as many as the project says"
        changes.append(f"annotations a trace: {each} ({number:,} traces changed)")
    if wanted.deadline != before.deadline:
        set_deadline(batch=batch, deadline=wanted.deadline)
        changes.append(f"it is due on {wanted.deadline:%-d %B %Y}" if wanted.deadline else "it has no deadline")
    if set(wanted.people) != set(before.people):
        set_people(batch=batch, people=wanted.people)
        number = len(set(wanted.people))
        people = "1 person" if number == 1 else f"{number} people"
        changes.append(f"it is for {people}" if number else "it is for everybody of the project")
    return changes
