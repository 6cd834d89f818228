"""What people hold goes back to the queue: because they leave the organisation or a project, or a manager takes it."""

from dataclasses import dataclass
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from accounts.models import Project, User
from assignments.actions.locks import lock_assignment, lock_queue_position, lock_quota
from assignments.actions.reservations import end_offers_of
from assignments.models import Assignment, AssignmentState


def held_by(user: User, project: Project | None = None) -> "QuerySet[Assignment]":
    """The open assignments of the person in the project, without one in all of the active organisation."""
    held = Assignment.objects.of(user).open()
    return held if project is None else held.for_project(project)


def release_held(*, user: User, project: Project | None = None, only: UUID | None = None) -> int:
    """Release all that the person holds in the project, without one in all of the active organisation, or `only` that
    assignment; returns how many. The drafts are kept.

    Who comes back does not find it open: it may be claimed again, as after any release.
    """
    released = 0
    with transaction.atomic():
        # Always in one order, as the rows of one assignment are.
        held = held_by(user, project).select_related("project", "user").order_by("project", "trace", "kind")
        if only is not None:
            held = held.filter(pk=only)
        for assignment in held:
            lock_queue_position(assignment.project, user)
            released += release_one(assignment, ends_token=False).was_open
    return released


def end_work(user: User, project: Project | None = None) -> int:
    """Take back from somebody who works no more in the project, or in the whole active organisation, what they hold and
    what is offered to them; returns how many held tasks that were."""
    released = release_held(user=user, project=project)
    end_offers_of(user, project)
    return released


@dataclass(frozen=True)
class Released:
    """The assignment as it is now; what was not open before was left as it was."""

    assignment: Assignment
    was_open: bool


def release_one(assignment: Assignment, *, ends_token: bool) -> Released:
    """Put the held task back into the queue, with its draft kept. With `ends_token` a page that shows it can write
    nothing any more, neither a draft nor a late submission.

    The caller has a transaction, and in it the person's queue position or all the quotas that it needs.
    """
    quota = lock_quota(assignment)
    row = lock_assignment(assignment)
    if not row.is_open:
        return Released(row, was_open=False)
    if row.takes_slot:
        quota.move(active=-1)
    row.state, row.since, row.lease_until = AssignmentState.RELEASED, timezone.now(), None
    row.fencing_token += ends_token
    row.save(update_fields=["state", "since", "lease_until", "fencing_token"])
    return Released(row, was_open=True)
