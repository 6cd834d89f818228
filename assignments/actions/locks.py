"""The rows that an action locks, always in this order: membership, queue position, quota of the trace, assignment.

The locks are FOR NO KEY UPDATE: a draft or a submission that is inserted takes a share of its assignment's key, which
FOR UPDATE would hold up, and no action changes a key. OF self leaves alone what a condition joins.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from uuid import UUID

from django.db import OperationalError, connection, transaction
from django.db.models import QuerySet
from psycopg.errors import LockNotAvailable

from accounts.models import Project, User
from assignments.errors import MembershipEnded
from assignments.models import Assignment, Batch, QueuePosition, TraceQuota
from tenancy.prepared import insert, prepared
from tenancy.roles import OPEN_RIGHTS, Right, project_roles_with, roles_with
from tenancy.statements import executed


@contextmanager
def one_transaction() -> Iterator[None]:
    """A transaction of its own where none is open, else the caller's, as a request's, without a savepoint in it.

    For an action that refuses before it has written anything which the refusal would have to undo.
    """
    if connection.in_atomic_block:
        yield
    else:
        with transaction.atomic():
            yield


class TurnTooLongError(Exception):
    """A lock was not free within the time. What the block has done, and locked, is undone."""


@contextmanager
def waiting_at_most(seconds: float) -> Iterator[None]:
    """A block that waits so long for each lock; raises TurnTooLongError. After it locks are waited for as before."""
    try:
        with transaction.atomic():
            (before,) = executed("SELECT current_setting('lock_timeout')").fetchone()
            executed("SELECT set_config('lock_timeout', %s, true)", [f"{round(seconds * 1000)}ms"])
            yield
            # "Local" is until the end of the whole transaction; only a savepoint that is rolled back undoes it.
            executed("SELECT set_config('lock_timeout', %s, true)", [before])
    except OperationalError as error:
        if not isinstance(error.__cause__, LockNotAvailable):
            raise
        raise TurnTooLongError from error


def hold_place(organisation: UUID | None, project: UUID, user: User) -> None:
    """Keep the person a member, and in the project, until this transaction is over: whoever ends that then sees what
    the person was given here, and gives it back. Raises MembershipEnded where it has ended, also while this waited.

    For every action that gives a person something to hold, before any other lock.
    """
    (answer,) = executed(_HOLD, [organisation, user.pk, project, *_ROLES]).fetchone()
    if answer == "ended":
        raise MembershipEnded(
            "Your membership of this organisation has ended, so you are given nothing to work on. Ask an admin of it."
        )
    if answer != "held":
        raise MembershipEnded(
            "You no longer work on this project, so you are given nothing of it. Ask one of its managers."
        )


_HOLD = "SELECT hold_place(%s, %s, %s, %s, %s, %s)"
_ROLES = (
    [role.value for role in roles_with(Right.ANNOTATE)],
    [role.value for role in project_roles_with(Right.ANNOTATE)],
    [role.value for role, rights in OPEN_RIGHTS.items() if Right.ANNOTATE in rights],
)


def lock_queue_position(project: Project, user: User) -> QueuePosition:
    """Wait until no other act of this person in the project is under way; makes the row where it is missing."""
    queue_position = _queue_position.first(project.organisation_id, project.pk, user.pk)
    if queue_position is None:
        # Another tab may be quicker: then this waits until that one has committed, and locks its row.
        insert(QueuePosition(project=project, user=user), ignore_conflicts=True)
        queue_position = _queue_position.get(project.organisation_id, project.pk, user.pk)
    queue_position.project = project
    return queue_position


def lock_all(project: Project, people: Iterable[User], traces: Iterable[UUID]) -> None:
    """Everything that an act on tasks of several people touches, each kind in one order, so that two such acts do not
    wait for each other in a circle. The caller holds the memberships, where it needs any."""
    for person in sorted({person.pk: person for person in people}.values(), key=lambda person: person.pk):
        lock_queue_position(project, person)
    quotas = TraceQuota.objects.for_project(project).filter(trace__in=set(traces)).order_by("trace")
    list(quotas.select_for_update(no_key=True, of=("self",)).values_list("pk"))


def lock_batches(project: Project, batches: Iterable[UUID]) -> None:
    """The batches whose traces one act changes, and the slots of these, each kind in one order. Not for what takes the
    lock of the pool, which comes before that of a batch."""
    keys = list(batches)
    rows = Batch.objects.for_project(project).filter(pk__in=keys).order_by("pk")
    list(rows.select_for_update(no_key=True, of=("self",)).values_list("pk"))
    quotas = TraceQuota.objects.for_project(project).filter(batch__in=keys).order_by("trace")
    list(quotas.select_for_update(no_key=True, of=("self",)).values_list("pk"))


def lock_quota(assignment: Assignment) -> TraceQuota:
    """The slots of the assignment's trace. Nobody holds them while waiting for another row of these."""
    return _quota.get(assignment.organisation_id, assignment.trace_id)


def lock_assignment(assignment: Assignment) -> Assignment:
    """The row as it is now, with its project and person."""
    row = _assignment.get(assignment.pk)
    row.project, row.user = assignment.project, assignment.user
    return row


@prepared
def _queue_position(organisation: UUID | None, project: UUID, user: UUID) -> "QuerySet[QueuePosition]":
    queue_positions = QueuePosition.objects.filter(organisation=organisation, project=project, user=user)
    return queue_positions.select_for_update(no_key=True, of=("self",))


@prepared
def _quota(organisation: UUID | None, trace: UUID) -> "QuerySet[TraceQuota]":
    quota = TraceQuota.objects.filter(organisation=organisation, trace=trace)
    return quota.select_for_update(no_key=True, of=("self",))


@prepared
def _assignment(assignment: UUID) -> "QuerySet[Assignment]":
    return Assignment.objects.filter(pk=assignment).select_for_update(no_key=True, of=("self",))
