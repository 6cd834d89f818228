"""What comes in the place of the queue's next task: practice first, then one's own once more, then gold.

Each claim and each page of a task asks where the person is and which gold is there. By the ORM that took 10 of the 89
million instructions of an annotator's loop (`bench/bench_annotator_loop.py`), prepared it takes 1.
"""

from datetime import datetime, timedelta
from functools import cache
from uuid import UUID

from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Subquery
from django.utils import timezone

from accounts.models import Project, User
from assignments.mixing import Blocks, KeptOut, Turn
from assignments.models import Assignment, AssignmentState, Draft, Kind
from assignments.models.claims import GIVEN_BACK, HELD_OR_DECIDED
from gold.models import ExpectedAnnotation, Use
from gold.practice import next_practice
from gold.repeats import due_repeats
from gold.schedule import Schedule
from potato.configuration.project import Gold, Practice, Repeat
from tenancy.prepared import PreparedQuery, insert, prepared

# Whoever else takes the same at that moment is passed over.
_TRIED = 8
_COUNTED_FIRST = 32


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
    schedule, place = Schedule(project.pk, user, rules.rate), _place(project, user)
    is_due = schedule.has_gold(place) and is_wanted
    for expected in _in_turn(project, user, schedule, place):
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
        number += _gold_to_come(project, user.pk, schedule, left)
    return number


def _gold_to_come(project: Project, user: UUID, schedule: Schedule, left: int) -> int:
    """How much gold comes among so many other tasks. So much is looked for as comes at most, not all that is there."""
    place, back, most = _place(project, user), len(_given_back(project, user)), _COUNTED_FIRST
    while True:
        wanted = schedule.number_among(place, left, most)
        available = back + len(_some_unknown(most).rows(project.organisation_id, project.pk, user))
        if wanted < most or available < most:
            return min(wanted, available)
        most *= 4


def _place(project: Project, user: UUID) -> int:
    """How many tasks the person has got in their turn, but for those that they gave back."""
    return _number_of_tasks.first(project.organisation_id, project.pk, user) or 0


@prepared
def _number_of_tasks(organisation: UUID | None, project: UUID, user: UUID) -> "QuerySet[Assignment, int]":
    """One row, or none where it is 0."""
    own = Assignment.objects.filter(organisation=organisation, project=project, user=user)
    counted = own.filter(state__in=HELD_OR_DECIDED, kind__in=(Kind.NORMAL, Kind.GOLD)).order_by().values("user")
    return counted.annotate(number=Count("pk")).values_list("number", flat=True)


def _in_turn(project: Project, user: UUID, schedule: Schedule, place: int) -> list[UUID]:
    """Gold of whose trace, and of the trace that it was made of, the person knows nothing: what they gave back first,
    then some that follow a point which is drawn for each of their tasks. However much gold there is, as many are read.
    """
    own, start = (project.organisation_id, project.pk, user), schedule.start(place)
    found = _after.rows(*own, start)
    if len(found) < _TRIED:
        found += _before.rows(*own, start)
    given_back = sorted(_given_back(project, user), key=schedule.rank)
    return [*given_back, *sorted(found[:_TRIED], key=schedule.rank)][:_TRIED]


def _given_back(project: Project, user: UUID) -> list[UUID]:
    """Gold that the person had, and gave back."""
    traces = _traces_given_back.rows(project.organisation_id, project.pk, user, timezone.now())
    if not traces:
        return []
    own = Assignment.objects.filter(organisation=project.organisation_id, user=user)
    rows = _live(project.organisation_id, project.pk, user).filter(
        ~Exists(own.filter(trace=OuterRef("trace")).exclude(kind=Kind.GOLD)), trace__in=traces
    )
    return list(rows.values_list("pk", flat=True))


@prepared
def _traces_given_back(
    organisation: UUID | None, project: UUID, user: UUID, now: datetime
) -> "QuerySet[Assignment, UUID]":
    own = Assignment.objects.filter(organisation=organisation, project=project, user=user, kind=Kind.GOLD)
    rows = own.filter(Q(not_before__isnull=True) | Q(not_before__lte=now), state__in=GIVEN_BACK)
    return rows.values_list("trace", flat=True)


@prepared
def _after(organisation: UUID | None, project: UUID, user: UUID, start: UUID) -> "QuerySet[ExpectedAnnotation, UUID]":
    rows = _unknown(organisation, project, user).filter(draw__gte=start)
    return rows.order_by("draw").values_list("pk", flat=True)[:_TRIED]


@prepared
def _before(organisation: UUID | None, project: UUID, user: UUID, start: UUID) -> "QuerySet[ExpectedAnnotation, UUID]":
    rows = _unknown(organisation, project, user).filter(draw__lt=start)
    return rows.order_by("draw").values_list("pk", flat=True)[:_TRIED]


@cache
def _some_unknown(most: int) -> "PreparedQuery[[UUID | None, UUID, UUID], UUID]":
    """So many at most, which is a part of the statement."""

    @prepared
    def some_unknown(organisation: UUID | None, project: UUID, user: UUID) -> "QuerySet[ExpectedAnnotation, UUID]":
        return _unknown(organisation, project, user).order_by("draw").values_list("pk", flat=True)[:most]

    return some_unknown


def _unknown(organisation: UUID | None, project: UUID, user: UUID) -> "QuerySet[ExpectedAnnotation]":
    """Live gold of traces that the person was never given."""
    return _never_given(_live(organisation, project, user), user, "trace")


def _live(organisation: UUID | None, project: UUID, user: UUID) -> "QuerySet[ExpectedAnnotation]":
    """Live gold that the person did not make, nor was ever given the trace that it was made of."""
    rows = ExpectedAnnotation.objects.filter(organisation=organisation, project=project).live(Use.GOLD)
    by_others = Q(made_by__isnull=True) | ~Q(made_by=user)
    return _never_given(rows.filter(by_others), user, "source")


def _never_given(rows: "QuerySet[ExpectedAnnotation]", user: UUID, trace: str) -> "QuerySet[ExpectedAnnotation]":
    """Those of whose trace the person has no assignment, looked up one by one by the unique key until there are enough.

    As NOT EXISTS they would be joined: before PostgreSQL has counted the tables, each with all that the person did.
    """
    own = Assignment.objects.filter(organisation=OuterRef("organisation"), user=user, trace=OuterRef(trace))
    return rows.alias(**{f"own_of_{trace}": Subquery(own.values("pk")[:1])}).filter(**{f"own_of_{trace}__isnull": True})


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
