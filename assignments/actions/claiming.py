"""Giving traces out: the next one of a project, or one whose lease ended back to the person who had it."""

import time
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, Min, OuterRef, QuerySet, Subquery
from django.utils import timezone

from accounts.models import Project, User
from assignments.actions.locks import (
    TurnTooLongError,
    hold_membership,
    lock_assignment,
    lock_queue_position,
    lock_quota,
    one_transaction,
    waiting_at_most,
)
from assignments.actions.quotas import lacks_quotas, newest_rules, open_quotas
from assignments.errors import LeaseEnded, NotOpen, TooManyOpen
from assignments.models import Assignment, AssignmentState, Draft, Kind, QueuePosition, TraceQuota
from assignments.models.queue import TraceQuotaQuerySet
from potato.configuration.project import Assignment as AssignmentRules
from tenancy.prepared import insert, prepared

# A claim passes over slots that somebody is moving. Where it finds no other it waits for them, so long for one and so
# long at all: a claim or a submission holds one for some hundredths of a second.
TURN_SECONDS = 0.5
PATIENCE_SECONDS = 3.0


class Reason(StrEnum):
    """Why there is nothing to do in a project. BUSY does not say that: others were always quicker, so ask again."""

    NOT_PUBLISHED = "not_published"
    NO_TRACES = "no_traces"
    ALL_DONE = "all_done"
    WITH_OTHERS = "with_others"
    YOURS_ARE_DONE = "yours_are_done"
    BUSY = "busy"


@dataclass(frozen=True)
class NothingToDo:
    """The answer to a claim that finds nothing. `again_at` is when the next lease of another person may end."""

    reason: Reason
    again_at: datetime | None = None


def claim_next(*, project: Project, user: User, another: bool = False) -> Assignment | NothingToDo:
    """Give the person a trace of the project: an open one first, else the next one that has a free slot.

    Nobody is given a trace again that they submitted or skipped; one whose lease ended, or that was released, may
    come back with its draft. With `another` a further one is claimed beside those that are open; raises TooManyOpen
    beyond the configured number, and MembershipEnded where the person has just left.
    """
    with one_transaction():
        newest = newest_rules(project)
        if newest is None:
            return NothingToDo(Reason.NOT_PUBLISHED)
        rules, version = newest
        # Before all else: whoever ends the membership then waits, sees this claim, and gives it back.
        hold_membership(project.organisation_id, user)
        # From here on the person's other tabs wait: each alone would stay within max_open, together they would not.
        queue_position = lock_queue_position(project, user)
        held = _held.rows(project.organisation_id, project.pk, user.pk)
        if held and not another:
            return _prolonged(held[0], rules)
        if len(held) >= rules.max_open:
            raise _too_many(rules)
        quota = _take_next(queue_position) or _in_turn(queue_position)
        if isinstance(quota, NothingToDo):
            return quota
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
        return claim if insert(claim, unless_there=True) else _claim_again(claim)


def resume(*, assignment: Assignment) -> Assignment:
    """Go on with an assignment here: the page that had it until now can write nothing any more.

    One whose lease ended, or that was released, is claimed again where a slot is still free; raises LeaseEnded
    where none is, NotOpen for one that is over, TooManyOpen beyond the configured number, and MembershipEnded where the
    person has just left.
    """
    with transaction.atomic():
        hold_membership(assignment.organisation_id, assignment.user)
        lock_queue_position(assignment.project, assignment.user)
        # In the order of all actions: two that took these two the other way round could wait for each other.
        quota = lock_quota(assignment)
        row = lock_assignment(assignment)
        rules = row.rules()
        if row.state in (AssignmentState.SUBMITTED, AssignmentState.SKIPPED):
            raise NotOpen(f"This trace was {row.get_state_display().lower()} already. Go on with the next one.")
        if not row.is_open:
            own = Assignment.objects.for_project(row.project).of(row.user).open()
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
            row.claimed_at = row.since
        row.fencing_token += 1
        return _prolonged(row, rules)


def _take_next(queue_position: QueuePosition) -> TraceQuota | None:
    """Lock the next free slots behind where the person is in the queue, else the first ones of all, and go there."""
    own = queue_position.organisation_id, queue_position.project_id, queue_position.user_id
    quota = _free_behind.first(*own, queue_position.position)
    if quota is None and queue_position.position.int:
        quota = _free_behind.first(*own, UUID(int=0))
    if quota is not None:
        queue_position.go_to(quota.trace_id)
    return quota


def _in_turn(queue_position: QueuePosition) -> TraceQuota | NothingToDo:
    """Where nothing was found that nobody is moving: the slots that are opened now, or that come free, or why none.

    It is answered from what is committed, so that nothing is left only where that is so.
    """
    until = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < until:
        if lacks_quotas(project=queue_position.project):
            try:
                with waiting_at_most(TURN_SECONDS):
                    open_quotas(project=queue_position.project)
            except TurnTooLongError:
                continue
        answer = _take_next(queue_position) or _take_awaited(queue_position) or _why(queue_position)
        if answer is not None:
            return answer
    return NothingToDo(Reason.BUSY)


def _take_awaited(queue_position: QueuePosition) -> TraceQuota | None:
    """Lock the first slots that are free as far as is committed, when whoever holds them lets go; None if not free.

    One row at a time, so that those who wait never wait for each other.
    """
    first = _first_free.first(queue_position.organisation_id, queue_position.project_id, queue_position.user_id)
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
    queue_position.go_to(quota.trace_id)
    return quota


@prepared
def _first_free(organisation: UUID | None, project: UUID, user: UUID) -> "QuerySet[TraceQuota, UUID]":
    free = TraceQuota.objects.free().filter(organisation=organisation, project=project).order_by("trace")
    return _without_own(free, user).values_list("pk", flat=True)[:1]


# After the wait PostgreSQL asks the condition again of the row as it is then: no row, where its last slot has gone.
@prepared
def _still_free(quota: UUID) -> "QuerySet[TraceQuota]":
    return TraceQuota.objects.free().filter(pk=quota).select_for_update(no_key=True, of=("self",))


@prepared
def _held(organisation: UUID | None, project: UUID, user: UUID) -> "QuerySet[Assignment]":
    """What the person has open, the oldest claim first, locked."""
    own = Assignment.objects.open().filter(organisation=organisation, project=project, user=user, kind=Kind.NORMAL)
    return own.select_for_update(no_key=True, of=("self",)).order_by("since", "pk")


@prepared
def _free_behind(organisation: UUID | None, project: UUID, user: UUID, position: UUID) -> "QuerySet[TraceQuota]":
    """The next free slots behind a trace that nobody else is moving, locked."""
    free = TraceQuota.objects.free().filter(organisation=organisation, project=project, trace__gt=position)
    # SKIP LOCKED, because all who claim want the first free row: each takes the next one, and nobody waits in a line.
    free = free.select_for_update(skip_locked=True, no_key=True, of=("self",)).order_by("trace")
    return _without_own(free, user)[:1]


def _without_own(quota: TraceQuotaQuerySet, user: UUID) -> TraceQuotaQuerySet:
    """Without the traces that the person holds, submitted or skipped.

    A subquery for each row, which uses the unique key: as NOT EXISTS it would be joined, and without statistics row
    by row, although only the first slots are wanted.
    """
    own = Assignment.objects.held_or_decided().filter(
        organisation=OuterRef("organisation"), trace=OuterRef("trace"), user=user, kind=Kind.NORMAL
    )
    return quota.alias(own=Subquery(own.values("pk")[:1])).filter(own__isnull=True)


def _claim_again(claim: Assignment) -> Assignment:
    """The person's earlier claim on the trace, which ended, as the new one says; its draft is kept."""
    again = _earlier.get(claim.organisation_id, claim.trace_id, claim.user_id)
    again.state, again.since, again.claimed_at = AssignmentState.CLAIMED, claim.since, claim.claimed_at
    again.lease_until = claim.lease_until
    again.fencing_token += 1
    if not Draft.objects.filter(assignment=again).exists():
        # A draft stays with the configuration that it was begun under.
        again.version_id = claim.version_id
    again.save(update_fields=["state", "since", "claimed_at", "lease_until", "fencing_token", "version"])
    return again


@prepared
def _earlier(organisation: UUID | None, trace: UUID, user: UUID) -> "QuerySet[Assignment]":
    """The person's claim on the trace, which ended, locked."""
    own = Assignment.objects.filter(organisation=organisation, trace=trace, user=user, kind=Kind.NORMAL)
    return own.select_for_update(no_key=True, of=("self",))


def _prolonged(assignment: Assignment, rules: AssignmentRules) -> Assignment:
    assignment.lease_until = timezone.now() + timedelta(minutes=rules.lease_minutes)
    assignment.save(update_fields=["state", "since", "claimed_at", "lease_until", "fencing_token"])
    return assignment


def _why(queue_position: QueuePosition) -> NothingToDo | None:
    """Why nothing was found once all traces are in the queue; None where something was only being moved."""
    all_quotas = TraceQuota.objects.for_project(queue_position.project).judgeable()
    if not all_quotas.exists():
        return NothingToDo(Reason.NO_TRACES)
    unfinished = all_quotas.unfinished()
    if not unfinished.exists():
        return NothingToDo(Reason.ALL_DONE)
    left = _without_own(unfinished, queue_position.user_id)
    if not left.exists():
        return NothingToDo(Reason.YOURS_ARE_DONE)
    if left.free().exists():
        return None
    here = left.filter(organisation=OuterRef("organisation"), trace=OuterRef("trace"))
    held = Assignment.objects.for_project(queue_position.project).open().filter(Exists(here), kind=Kind.NORMAL)
    return NothingToDo(Reason.WITH_OTHERS, again_at=held.aggregate(at=Min("lease_until"))["at"])


def _too_many(rules: AssignmentRules) -> TooManyOpen:
    return TooManyOpen(
        f"You have as many open traces as this project allows ({rules.max_open}). Submit, skip or release one first."
    )
