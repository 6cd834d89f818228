"""The rows that an action locks, always in this order: the person's desk, the places of the trace, the assignment."""

from accounts.models import Project, User
from assignments.models import Assignment, Desk, TracePlaces


def lock_desk(project: Project, user: User) -> Desk:
    """Wait until no other act of this person in the project is under way; the desk is made when it is missing."""
    desks = Desk.objects.filter(organisation=project.organisation_id, project=project, user=user)
    locked = desks.select_for_update(no_key=True, of=("self",))
    found = locked.first()
    if found is None:
        Desk.objects.bulk_create([Desk(project=project, user=user)], ignore_conflicts=True)
        found = locked.get()
    found.project = project
    return found


def lock_places(assignment: Assignment) -> TracePlaces:
    """The places of the assignment's trace. Nobody holds them while waiting for another row of these."""
    return TracePlaces.objects.select_for_update(no_key=True, of=("self",)).get(
        organisation=assignment.organisation_id, trace=assignment.trace_id
    )


def lock_assignment(assignment: Assignment) -> Assignment:
    """The row as it is now, with its project and person."""
    rows = Assignment.objects.select_related("project", "user")
    return rows.select_for_update(no_key=True, of=("self",)).get(pk=assignment.pk)
