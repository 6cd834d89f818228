"""What comes in the place of the queue's next task: practice first, then one's own once more, then gold.

Each claim and each page of a task asks where the person is and which gold is there. By the ORM that took 10 of the 89
million instructions of an annotator's loop (`bench/bench_annotator_loop.py`), prepared it takes 1.
"""

from collections.abc import Collection, Iterator, Sequence
from datetime import timedelta
from itertools import islice
from typing import Any
from uuid import UUID

from django.db.models import Count, QuerySet
from django.utils import timezone

from accounts.models import Project, User
from assignments.mixing import Blocks, KeptOut, Turn
from assignments.models import Assignment, AssignmentState, Draft, Kind
from assignments.models.claims import HELD_OR_DECIDED
from gold.models import ExpectedAnnotation
from gold.practice import next_practice
from gold.repeats import due_repeats
from gold.schedule import Schedule
from potato.configuration.project import Gold, Practice, Repeat
from tenancy.prepared import insert, prepared
from tenancy.statements import executed

# Whoever else takes the same at that moment is passed over.
_TRIED = 8
# So much gold is read at a time.
_AT_ONCE = 64


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
    for expected in islice(_in_turn(project, user, schedule), _TRIED):
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
        number += _number_to_come(project, user.pk, schedule, left)
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


# Without a look at the person's own: before PostgreSQL has counted the tables it would look there for every row.
_CHUNK = """
SELECT e.id, e.trace_id, e.source_id, e.drawn FROM gold_expectedannotation e
 WHERE e.organisation_id = %(organisation)s AND e.project_id = %(project)s AND e.use = 'gold' AND e.retired_at IS NULL
   AND e.made_by_id IS DISTINCT FROM %(user)s AND e.drawn > %(above)s AND e.drawn <= %(to)s
 ORDER BY e.drawn LIMIT %(most)s
"""
_GIVEN_BACK = """
SELECT e.id, e.trace_id, e.source_id, e.drawn FROM assignments_assignment a
  JOIN gold_expectedannotation e ON e.organisation_id = a.organisation_id AND e.trace_id = a.trace_id
 WHERE a.organisation_id = %(organisation)s AND a.project_id = %(project)s AND a.user_id = %(user)s AND a.kind = 'gold'
   AND a.state IN ('expired', 'released') AND (a.not_before IS NULL OR a.not_before <= %(now)s)
   AND e.use = 'gold' AND e.retired_at IS NULL AND e.made_by_id IS DISTINCT FROM %(user)s
 ORDER BY e.drawn
"""


def _in_turn(project: Project, user: UUID, schedule: Schedule) -> Iterator[UUID]:
    """What the person may be given: what they gave back first, then gold of whose trace, and of the trace that it was
    made of, they know nothing, round from a value of their own on.

    However much gold there is, some of it is read at a time, and what the person has had is all that is passed over.
    """
    facts = {"organisation": project.organisation_id, "project": project.pk, "user": user, "now": timezone.now()}
    back = executed(_GIVEN_BACK, facts).fetchall()
    if back:
        given = {trace for _, trace, _, _ in back}
        yield from _unknown(project, user, back, but_for=given)
    for above, to in ((schedule.start, 1.0), (-1.0, schedule.start)):
        rows = None
        while rows is None or len(rows) == _AT_ONCE:
            rows = executed(_CHUNK, {**facts, "above": above, "to": to, "most": _AT_ONCE}).fetchall()
            if rows:
                yield from _unknown(project, user, rows)
                above = rows[-1][-1]


def _unknown(
    project: Project, user: UUID, rows: Sequence[tuple[Any, ...]], but_for: Collection[UUID] = ()
) -> Iterator[UUID]:
    """Those of whose traces the person has no assignment, but for the gold of these traces."""
    traces = {trace for _, *both, _ in rows for trace in both if trace is not None}
    own = Assignment.objects.filter(organisation=project.organisation_id, user=user, trace__in=traces)
    known = {trace for trace, kind in own.values_list("trace", "kind") if kind != Kind.GOLD or trace not in but_for}
    for expected, trace, source, _ in rows:
        if trace not in known and source not in known and source not in but_for:
            yield expected


def _number_to_come(project: Project, user: UUID, schedule: Schedule, left: int) -> int:
    """How much gold comes while so many other tasks are taken: no more is looked for than comes."""
    place, available = _place(project, user), 0
    gold = _in_turn(project, user, schedule)
    while True:
        more = sum(1 for _ in islice(gold, _AT_ONCE))
        available += more
        number = schedule.number_among(place, left, available) if available else 0
        if more < _AT_ONCE or number < available:
            return number


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
