"""Giving traces out: the next one of a project, or one whose lease ended back to the person who had it."""

import time
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, F, Min, OuterRef, Q, QuerySet, Subquery, Sum
from django.utils import timezone

from accounts.actions.projects import ProjectArchived
from accounts.models import Project, User
from assignments.actions.locks import (
    TurnTooLongError,
    hold_place,
    lock_assignment,
    lock_queue_position,
    lock_quota,
    one_transaction,
    waiting_at_most,
)
from assignments.actions.quotas import lacks_quotas, newest_with_mixing, open_quotas
from assignments.actions.reservations import end_reservations
from assignments.errors import LeaseEnded, NotOpen, Paused, TooManyOpen
from assignments.mixing import KeptOut, Turn, given_instead
from assignments.models import (
    Assignment,
    AssignmentState,
    Batch,
    BatchPerson,
    BatchState,
    Draft,
    Kind,
    QueuePosition,
    Reservation,
    Steering,
    TraceQuota,
)
from assignments.models.claims import ALIKE, KEEPS_AWAY, OVER
from assignments.models.queue import TraceQuotaQuerySet
from assignments.next_slot import Walker, first_anywhere, locked_anywhere, take_next
from potato.configuration.project import Assignment as AssignmentRules
from tenancy.prepared import insert, prepared

# A claim passes over slots that somebody is moving. Where it finds no other it waits for them, so long for one and so
# long at all: a claim or a submission holds one for some hundredths of a second.
TURN_SECONDS = 0.5
PATIENCE_SECONDS = 3.0

# How many annotations each project has released, as this process counted them last.
_released_annotations: dict[UUID, int] = {}
_PROJECTS_KEPT = 10_000

# What a claim changes in an assignment that was there.
_CLAIMED = ["state", "since", "claimed_at", "lease_until", "fencing_token", "not_before"]


class Reason(StrEnum):
    """Why there is nothing to do in a project. BUSY does not say that: others were always quicker, so ask again."""

    NOT_PUBLISHED = "not_published"
    NO_TRACES = "no_traces"
    ALL_DONE = "all_done"
    WITH_OTHERS = "with_others"
    YOURS_ARE_DONE = "yours_are_done"
    NOT_RELEASED = "not_released"
    FOR_OTHERS = "for_others"
    PAUSED = "paused"
    YOU_ARE_PAUSED = "you_are_paused"
    LIMIT_REACHED = "limit_reached"
    PUT_OFF = "put_off"
    NOT_ADMITTED = "not_admitted"
    BUSY = "busy"


@dataclass(frozen=True)
class NothingToDo:
    """The answer to a claim that finds nothing. `again_at` is when the next lease of another person may end, or when a
    task comes back that the person put off; `note` is what the manager who paused the person, or the project, wrote."""

    reason: Reason
    again_at: datetime | None = None
    note: str = ""


def claim_next(*, project: Project, user: User, another: bool = False) -> Assignment | NothingToDo:
    """Give the person a trace of the project: an open one first, else the next one that has a free slot.

    Nobody is given a trace again that they submitted or skipped; one whose lease ended, or that was released, may
    come back with its draft. What the configuration mixes in comes in the place of such a trace, and only where there
    is one. With `another` a further one is claimed beside those that are open; raises TooManyOpen
    beyond the configured number, MembershipEnded where the person has just left, and ProjectArchived.
    """
    if project.archived_at is not None:
        raise ProjectArchived(project)
    with one_transaction():
        newest = newest_with_mixing(project)
        if newest is None:
            return NothingToDo(Reason.NOT_PUBLISHED)
        rules, version = newest.rules, newest.version
        # Before all else: whoever ends the membership then waits, sees this claim, and gives it back.
        hold_place(project.organisation_id, project.pk, user)
        # From here on the person's other tabs wait: each alone would stay within max_open, together they would not.
        queue_position = lock_queue_position(project, user)
        # Known here: what is mixed in would ask for it, and take that much longer than another task.
        queue_position.user = user
        held = _held.rows(project.organisation_id, project.pk, user.pk)
        if held and not another:
            return _prolonged(held[0], rules)
        if len(held) >= rules.max_open:
            raise _too_many(rules)
        if queue_position.paused_at is not None:
            return NothingToDo(Reason.YOU_ARE_PAUSED, note=queue_position.pause_reason)
        if has_reached_limit(queue_position, rules):
            return NothingToDo(Reason.LIMIT_REACHED)
        quota = take_next(_walker(queue_position)) or _in_turn(queue_position)
        if isinstance(quota, NothingToDo):
            return quota
        instead = given_instead(Turn(queue_position, quota, rules, version, newest.blocks))
        if instead is not None:
            return NothingToDo(Reason.NOT_ADMITTED) if isinstance(instead, KeptOut) else instead
        quota.move(active=1)
        now = timezone.now()
        claim = Assignment(
            project_id=quota.project_id,
            trace_id=quota.trace_id,
            user=user,
            version_id=version,
            since=now,
            claimed_at=now,
            lease_until=now + timedelta(minutes=rules.lease_minutes),
        )
        # Most traces are new to the person: only where the unique key says otherwise is the earlier claim looked for.
        return claim if insert(claim, ignore_conflicts=True) else _claim_again(claim)


def resume(*, assignment: Assignment) -> Assignment:
    """Go on with an assignment here: the page that had it until now can write nothing any more.

    One whose lease ended, or that was released, is claimed again where a slot is still free; raises LeaseEnded
    where none is, NotOpen for one that is over, TooManyOpen beyond the configured number, and MembershipEnded where the
    person has just left.
    """
    with transaction.atomic():
        hold_place(assignment.organisation_id, assignment.project_id, assignment.user)
        queue_position = lock_queue_position(assignment.project, assignment.user)
        # In the order of all actions: two that took these two the other way round could wait for each other.
        quota = lock_quota(assignment)
        row = lock_assignment(assignment)
        rules = row.rules()
        if row.state in OVER:
            raise NotOpen(f"This trace was {row.get_state_display().lower()} already. Go on with the next one.")
        if not row.is_open:
            refuse_paused(queue_position, quota)
            own = Assignment.objects.for_project(row.project).of(row.user).open().filled_in_turn()
            if own.count() >= rules.max_open:
                raise _too_many(rules)
            if row.takes_slot:
                if not quota.has_free:
                    raise LeaseEnded(
                        "Your time for this trace ended, and others have taken its places. Your draft is kept: you "
                        "can still submit it as an extra annotation."
                    )
                quota.move(active=1)
            row.state, row.since = AssignmentState.CLAIMED, timezone.now()
            # What a reviewer returned stays so, with its notes, though its time ended.
            row.claimed_at, row.not_before = row.since, None
        row.fencing_token += 1
        return _prolonged(row, rules)


def _in_turn(queue_position: QueuePosition) -> TraceQuota | NothingToDo:
    """Where nothing was found that nobody is moving: the slots that are opened now, or that come free, or why none.

    It is answered from what is committed, so that nothing is left only where that is so.
    """
    until = time.monotonic() + PATIENCE_SECONDS
    walker = _walker(queue_position)
    holds_quotas = False
    while time.monotonic() < until and not holds_quotas:
        # What comes free so is locked until the claim is over, and who holds slots waits for no others: in a circle
        # with a manager who steers many traces nobody would go on.
        holds_quotas = end_reservations(project=queue_position.project_id) > 0
        if lacks_quotas(project=queue_position.project):
            try:
                with waiting_at_most(TURN_SECONDS):
                    open_quotas(project=queue_position.project)
            except TurnTooLongError:
                continue
        found = take_next(walker) or locked_anywhere(walker) or (None if holds_quotas else _take_awaited(walker))
        answer = found or _why(queue_position)
        if answer is not None:
            return answer
    return NothingToDo(Reason.BUSY)


def _take_awaited(walker: Walker) -> TraceQuota | None:
    """Lock the first slots that are free as far as is committed, when whoever holds them lets go; None if not free.

    One row at a time, so that those who wait never wait for each other.
    """
    first = first_anywhere(walker)
    if first is None:
        return None
    try:
        with waiting_at_most(TURN_SECONDS):
            quota = _still_free.first(first)
            if quota is None:
                # Undone, the lock on what somebody else took does not keep them from going on.
                raise TurnTooLongError
    except TurnTooLongError:
        return None
    return quota


def _walker(queue_position: QueuePosition) -> Walker:
    return Walker(queue_position.organisation_id, queue_position.project_id, queue_position.user_id)


def has_reached_limit(queue_position: QueuePosition, rules: AssignmentRules) -> bool:
    """Whether the person has made, or holds, as many annotations here as one person may make."""
    limit = queue_position.annotation_limit or rules.limit_per_annotator
    share = queue_position.annotation_share or rules.share_per_annotator
    if limit is None and share is None:
        return False
    project = queue_position.project
    own = Assignment.objects.for_project(project).of(queue_position.user_id).filter(kind__in=ALIKE)
    taken = own.filter(state__in=(AssignmentState.CLAIMED, AssignmentState.SUBMITTED)).count()
    if limit is not None and taken >= limit:
        return True
    if share is None:
        return False
    # All of a large project are not counted for each claim, only where the last count says that it is enough.
    if taken < _allowed_share(share, _released_annotations.get(project.pk, 0)):
        return False
    if len(_released_annotations) >= _PROJECTS_KEPT:
        _released_annotations.clear()
    wanted = TraceQuota.objects.for_project(project).released().aggregate(all=Sum("target"))["all"] or 0
    _released_annotations[project.pk] = wanted
    return taken >= _allowed_share(share, wanted)


def _allowed_share(share: float, wanted: int) -> int:
    return max(1, int(share * wanted))


# After the wait PostgreSQL asks the condition again of the row as it is then: no row, where its last slot has gone.
@prepared
def _still_free(quota: UUID) -> "QuerySet[TraceQuota]":
    free = TraceQuota.objects.released().filter(pk=quota, active__lt=F("target") - F("done"))
    return free.select_for_update(no_key=True, of=("self",))


@prepared
def _held(organisation: UUID | None, project: UUID, user: UUID) -> "QuerySet[Assignment]":
    """What the person has open, the oldest claim first, locked."""
    own = Assignment.objects.open().filled_in_turn().filter(organisation=organisation, project=project, user=user)
    return own.select_for_update(no_key=True, of=("self",)).order_by("since", "pk")


def _without_own(quota: TraceQuotaQuerySet, user: UUID) -> TraceQuotaQuerySet:
    """Without the traces that the person holds, submitted or skipped, or of which they have read what others said.

    A subquery for each row, which uses the unique key: as NOT EXISTS it would be joined, and without statistics row
    by row, although only the first slots are wanted.
    """
    own = Assignment.objects.filter(
        KEEPS_AWAY,
        organisation=OuterRef("organisation"),
        trace=OuterRef("trace"),
        user=user,
    )
    return quota.alias(own=Subquery(own.values("pk")[:1])).filter(own__isnull=True)


def _claim_again(claim: Assignment) -> Assignment:
    """The person's earlier claim on the trace, which ended, as the new one says; its draft is kept."""
    again = _earlier.get(claim.organisation_id, claim.trace_id, claim.user_id)
    again.state, again.since, again.claimed_at = AssignmentState.CLAIMED, claim.since, claim.claimed_at
    again.lease_until, again.not_before = claim.lease_until, None
    again.fencing_token += 1
    if not Draft.objects.filter(assignment=again).exists():
        # A draft stays with the configuration that it was begun under.
        again.version_id = claim.version_id
    columns = [
        "state",
        "since",
        "claimed_at",
        "lease_until",
        "fencing_token",
        "version",
        "not_before",
    ]
    again.save(update_fields=columns)
    return again


@prepared
def _earlier(organisation: UUID | None, trace: UUID, user: UUID) -> "QuerySet[Assignment]":
    """The person's claim on the trace, which ended, locked."""
    own = Assignment.objects.filter(organisation=organisation, trace=trace, user=user, kind=Kind.NORMAL)
    return own.select_for_update(no_key=True, of=("self",))


def _prolonged(assignment: Assignment, rules: AssignmentRules) -> Assignment:
    assignment.lease_until = assignment.lease_end(timezone.now(), rules)
    assignment.save(update_fields=_CLAIMED)
    return assignment


def _why(queue_position: QueuePosition) -> NothingToDo | None:
    """Why nothing was found once all traces are in the queue; None where something was only being moved."""
    project, user = queue_position.project, queue_position.user_id
    all_quotas = TraceQuota.objects.for_project(project).judgeable()
    if not all_quotas.exists():
        return NothingToDo(Reason.NO_TRACES)
    unfinished = all_quotas.unfinished()
    if not unfinished.exists():
        waits = all_quotas.in_pool().exists() or not all_quotas.released().exists()
        return NothingToDo(Reason.NOT_RELEASED if waits else Reason.ALL_DONE)
    left = _without_own(unfinished, user)
    if not left.exists():
        return NothingToDo(Reason.YOURS_ARE_DONE)
    pauses = Steering.objects.filter(organisation=project.organisation_id, project=project, paused_at__isnull=False)
    if (reason := pauses.values_list("pause_reason", flat=True).first()) is not None:
        return NothingToDo(Reason.PAUSED, note=reason)
    for_me = left.filter(given_to(project, user))
    if not for_me.exists():
        paused = left.filter(batch__in=_batches_for(project, user).filter(state=BatchState.PAUSED))
        if paused.exists():
            return NothingToDo(Reason.PAUSED)
        # What is drafted or withdrawn is given to nobody.
        others = left.filter(batch__state__in=(BatchState.OPEN, BatchState.PAUSED))
        return NothingToDo(Reason.FOR_OTHERS if others.exists() else Reason.NOT_RELEASED)
    here = for_me.filter(organisation=OuterRef("organisation"), trace=OuterRef("trace"))
    own = Assignment.objects.for_project(project).of(user).filter(Exists(here), not_before__gt=timezone.now())
    put_off = own.aggregate(at=Min("not_before"))["at"]
    ready = for_me.exclude(trace__in=own.values("trace"))
    if ready.filter(active__lt=F("target") - F("done")).exists():
        return None
    held = Assignment.objects.for_project(project).open().filter(Exists(here), kind=Kind.NORMAL)
    again_at = held.aggregate(at=Min("lease_until"))["at"]
    if put_off is not None and not ready.exists():
        return NothingToDo(Reason.PUT_OFF, again_at=put_off)
    return NothingToDo(Reason.WITH_OTHERS, again_at=again_at)


def given_to(project: Project, user: UUID) -> Q:
    """The condition of quotas that a person may be given now: in an open batch for them, or offered to them by name."""
    own = _batches_for(project, user).filter(state=BatchState.OPEN)
    anybodys = Batch.objects.for_project(project).filter(state=BatchState.OPEN)
    named = Reservation.objects.filter(organisation=project.organisation_id, project=project, user=user)
    return Q(batch__in=own, is_reserved=False) | Q(batch__in=anybodys, trace__in=named.values("trace"))


def _batches_for(project: Project, user: UUID) -> "QuerySet[Batch]":
    people = BatchPerson.objects.filter(organisation=OuterRef("organisation"), batch=OuterRef("pk"), user=user)
    return Batch.objects.for_project(project).filter(Q(is_restricted=False) | Exists(people))


def refuse_paused(queue_position: QueuePosition, quota: TraceQuota) -> None:
    """Raise Paused where nothing new is given out: to the person, of the batch, or in the whole project."""
    project = queue_position.project
    steering = Steering.objects.filter(organisation=project.organisation_id, project=project, paused_at__isnull=False)
    batches = Batch.objects.for_project(project).filter(pk__in=[quota.batch_id], state=BatchState.PAUSED)
    reason = steering.values_list("pause_reason", flat=True).first()
    if queue_position.paused_at is not None or batches.exists() or reason is not None:
        raise Paused(
            "Work here is paused by the project's manager, so a task that went back to the queue is not taken again. "
            "Your draft is kept." + note_of_manager(queue_position.pause_reason or reason or "")
        )


def note_of_manager(reason: str) -> str:
    """What a manager wrote who paused the person or the project, as a sentence behind others."""
    return f" The manager wrote: “{reason}”" if reason else ""


def _too_many(rules: AssignmentRules) -> TooManyOpen:
    return TooManyOpen(
        f"You have as many open traces as this project allows ({rules.max_open}). Submit, skip or release one first."
    )
