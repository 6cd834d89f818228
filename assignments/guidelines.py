"""Whether a person has read a project's guidelines as they stand. Everybody is told again when they have changed."""

from enum import StrEnum
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet

from assignments.actions.locks import lock_desk
from assignments.models import Assignment, Desk
from potato.runs.exact_json import sha256_of
from tenancy.prepared import prepared


class Reading(StrEnum):
    """What a person knows of guidelines."""

    KNOWN = "known"
    NEW = "new"
    CHANGED = "changed"


def reading_of(assignment: Assignment, guidelines: str | None) -> Reading:
    """What the assignment's person knows of these guidelines of its project."""
    if guidelines is None:
        return Reading.KNOWN
    read = _read.first(assignment.organisation_id, assignment.project_id, assignment.user_id)
    if not read:
        return Reading.NEW
    return Reading.KNOWN if read == sha256_of(guidelines) else Reading.CHANGED


@prepared
def _read(organisation: UUID | None, project: UUID, user: UUID) -> "QuerySet[Desk, str]":
    desks = Desk.objects.filter(organisation=organisation, project=project, user=user)
    return desks.values_list("guidelines_sha256", flat=True)


def acknowledge(*, assignment: Assignment, guidelines: str) -> None:
    """Note that the assignment's person has read these guidelines of its project."""
    with transaction.atomic():
        desk = lock_desk(assignment.project, assignment.user)
        desk.guidelines_sha256 = sha256_of(guidelines)
        desk.save(update_fields=["guidelines_sha256"])
