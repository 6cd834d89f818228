"""A person's own assignment, as an address names it: pages and API find it here. Other people's do not exist here."""

from uuid import UUID

from django.db.models import QuerySet
from django.http import Http404

from accounts.models import User
from assignments.models import Assignment
from tenancy.prepared import prepared

_LONG = ("project__draft", "trace__report", "trace__tags")


def own_assignment(user: User, assignment: UUID, *, project: str | None = None) -> Assignment:
    """The assignment, whatever became of it, with its project and trace, to act on it. Raises Http404, also where it is
    not in the project of that slug."""
    return _checked(_own.first(user.pk, assignment), user, project)


def own_task(user: User, assignment: UUID, *, project: str) -> Assignment:
    """The same with what its page shows: the version that it pins, and what the agent was asked."""
    return _checked(_own_task.first(user.pk, assignment), user, project)


def _checked(assignment: Assignment | None, user: User, project: str | None) -> Assignment:
    if assignment is None or project not in (None, assignment.project.slug):
        raise Http404
    assignment.user = user
    return assignment


# Two statements, because programs and pages save drafts all the time, and a task's text may be long.
@prepared
def _own(user: UUID, assignment: UUID) -> "QuerySet[Assignment]":
    own = Assignment.objects.of(user).filter(pk=assignment)
    return own.select_related("project", "trace").defer(*_LONG, "trace__task")


@prepared
def _own_task(user: UUID, assignment: UUID) -> "QuerySet[Assignment]":
    own = Assignment.objects.of(user).filter(pk=assignment)
    return own.select_related("project", "trace", "version").defer(*_LONG, "version__source", "version__configuration")
