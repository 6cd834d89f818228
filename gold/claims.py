"""What comes in the place of the queue's next task: practice first, then one's own once more, then gold.

Each claim and each page of a task asks where the person is and which gold is there. By the ORM that took 10 of the 89
million instructions of an annotator's loop (`bench/bench_annotator_loop.py`), prepared it takes 1.
"""

from datetime import timedelta
from typing import NamedTuple
from uuid import UUID

from django.db.models import Count, QuerySet
from django.utils import timezone

from accounts.models import Project, User
from assignments.mixing import Blocks, KeptOut, Turn
from assignments.models import Assignment, AssignmentState, Draft, Kind
from assignments.models.claims import HELD_OR_DECIDED
from gold.models import ExpectedAnnotation, Use
from gold.practice import next_practice
from gold.repeats import due_repeats
from gold.schedule import Schedule
from potato.configuration.project import Gold, Practice, Repeat
from tenancy.prepared import insert, prepared

# Whoever else takes the same at that moment is passed over.
_TRIED = 8


def give(turn: Turn) -> Assignment | KeptOut | None:
    """Claim what comes in the place of the slots that the turn has found; None where they are to be taken."""
    project, user = turn.queue_position.project, turn.queue_position.user_id
    if (block := turn.blocks.get("practice")) is not None:
        practice = next_practice(project, user, Practice.model_validate(block))
        if isinstance(practice, KeptOut):
            return practice
        if practice is not None:
            return _claim(turn, practice.trace_id, Kind.PRACTICE)
    repeated = None
    if (block := turn.blocks.get("repeat")) is not None:
        repeated = next(due_repeats(project, user, Repeat.model_validate(block)), None)
    known = None
    if (block := turn.blocks.get("gold")) is not None:
        known = _due_gold(turn, Gold.model_validate(block), is_wanted=repeated is None)
    trace = repeated or known
    if trace is None:
        return None
    # Nothing changes by it: slots that are taken are written, too, and that takes its time.
    turn.quota.move()
    return _claim(turn, trace, Kind.REPEAT if repeated else Kind.GOLD)


def _due_gold(turn: Turn, rules: Gold, *, is_wanted: bool) -> UUID | None:
    """The trace of gold that comes now, locked; None where none does, or it is not wanted.

    It is looked for in every turn: where that were left out the answer would come sooner, and tell which tasks have a
    known answer.
    """
    project, user = turn.queue_position.project, turn.queue_position.user_id
    schedule = Schedule(project.pk, user, rules.rate)
    is_due = schedule.has_gold(_place(project, user)) and is_wanted
    for expected in _in_turn(project, user, schedule)[:_TRIED]:
        rows = ExpectedAnnotation.objects.filter(pk=expected, retired_at__isnull=True)
        if is_due:
            # Whoever retires it waits for this claim, or is seen by it.
            rows = rows.select_for_update(no_key=True, skip_locked=True, of=("self",))
        row = rows.first()
        if row is not None:
            return row.trace_id if is_due else None
    return None


def to_come(project: Project, user: User, blocks: Blocks, left: int) -> int:
    """How many tasks of gold, and of one's own once more, come while the person takes so many of the queue."""
    number = 0
    if (block := blocks.get("repeat")) is not None:
        number += sum(1 for _ in due_repeats(project, user.pk, Repeat.model_validate(block)))
    if (block := blocks.get("gold")) is not None:
        schedule = Schedule(project.pk, user.pk, Gold.model_validate(block).rate)
        available = len(_available(project, user.pk))
        if available:
            number += schedule.number_among(_place(project, user.pk), left, available)
    return number


def _place(project: Project, user: UUID) -> int:
    """How many tasks the person has got in their turn, but for those that they gave back."""
    return _number_of_tasks.first(project.organisation_id, project.pk, user) or 0


@prepared
def _number_of_tasks(organisation: UUID | None, project: UUID, user: UUID) -> "QuerySet[Assignment, int]":
    """One row, or none where it is 0."""
    own = Assignment.objects.filter(organisation=organisation, project=project, user=user)
    counted = own.filter(state__in=HELD_OR_DECIDED, kind__in=(Kind.NORMAL, Kind.GOLD)).order_by().values("user")
    return counted.annotate(number=Count("pk")).values_list("number", flat=True)


class _Available(NamedTuple):
    """Gold that a person may be given; `is_back` where they had it and gave it back."""

    expected: UUID
    is_back: bool


def _available(project: Project, user: UUID) -> list[_Available]:
    """Gold of whose trace, and of the trace that it was made of, the person knows nothing.

    Two statements along indexes: as NOT EXISTS in one they would be joined row by row before PostgreSQL has counted the
    tables.
    """
    live = [row for row in _live.rows(project.organisation_id, project.pk) if row[3] != user]
    if not live:
        return []
    traces = {trace for _, *both, _ in live for trace in both if trace is not None}
    own = Assignment.objects.filter(organisation=project.organisation_id, user=user, trace__in=traces)
    now = timezone.now()
    known, back = set[UUID](), set[UUID]()
    for trace, kind, state, not_before in own.values_list("trace", "kind", "state", "not_before"):
        given_back = kind == Kind.GOLD and state not in HELD_OR_DECIDED and (not_before is None or not_before <= now)
        (back if given_back else known).add(trace)
    return [
        _Available(pk, trace in back)
        for pk, trace, source, _ in live
        if trace not in known and source not in known and source not in back
    ]


@prepared
def _live(
    organisation: UUID | None, project: UUID
) -> "QuerySet[ExpectedAnnotation, tuple[UUID, UUID, UUID | None, UUID | None]]":
    rows = ExpectedAnnotation.objects.filter(organisation=organisation, project=project).live(Use.GOLD)
    return rows.values_list("pk", "trace", "source", "made_by")


def _in_turn(project: Project, user: UUID, schedule: Schedule) -> list[UUID]:
    """What the person gave back first, then the rest in an order of their own."""
    rows = _available(project, user)
    return [row.expected for row in sorted(rows, key=lambda row: (not row.is_back, schedule.rank(row.expected)))]


def _claim(turn: Turn, trace: UUID, kind: Kind) -> Assignment:
    """The person's assignment of that kind, open from now on; one that ended is the same, with its draft."""
    position, now = turn.queue_position, timezone.now()
    until = now + timedelta(minutes=turn.rules.lease_minutes)
    row = Assignment(
        project=position.project,
        trace_id=trace,
        user=position.user,
        version_id=turn.version,
        kind=kind,
        since=now,
        claimed_at=now,
        lease_until=until,
        batch_id=turn.quota.batch_id,
    )
    if insert(row, ignore_conflicts=True):
        return row
    own = Assignment.objects.filter(
        organisation=position.organisation_id, trace=trace, user=position.user_id, kind=kind
    )
    again = own.select_for_update(no_key=True, of=("self",)).get()
    if not Draft.objects.filter(organisation=again.organisation_id, assignment=again).exists():
        again.version_id = turn.version
    again.state, again.since, again.claimed_at, again.lease_until = AssignmentState.CLAIMED, now, now, until
    again.not_before, again.skip_reason, again.batch_id = None, "", turn.quota.batch_id
    again.fencing_token += 1
    again.save()
    return again
