"""Whether a person has read a project's guidelines as they stand. Everybody is told again when they have changed."""

from enum import StrEnum

from django.db import transaction

from assignments.actions.locks import lock_desk
from assignments.models import Assignment, Desk
from traces.records import sha256_of


class Reading(StrEnum):
    """What a person knows of guidelines."""

    KNOWN = "known"
    NEW = "new"
    CHANGED = "changed"


def reading_of(assignment: Assignment, guidelines: str | None) -> Reading:
    """What the assignment's person knows of these guidelines of its project."""
    if guidelines is None:
        return Reading.KNOWN
    desks = Desk.objects.filter(
        organisation=assignment.organisation_id, project=assignment.project_id, user=assignment.user_id
    )
    read = desks.values_list("guidelines_sha256", flat=True).first()
    if not read:
        return Reading.NEW
    return Reading.KNOWN if read == sha256_of(guidelines) else Reading.CHANGED


def acknowledge(*, assignment: Assignment, guidelines: str) -> None:
    """Note that the assignment's person has read these guidelines of its project."""
    with transaction.atomic():
        desk = lock_desk(assignment.project, assignment.user)
        desk.guidelines_sha256 = sha256_of(guidelines)
        desk.save(update_fields=["guidelines_sha256"])
