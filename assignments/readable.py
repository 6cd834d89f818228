"""Which submissions a person may read, one by its address and all of a trace."""

import hashlib
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.http import Http404
from django.shortcuts import get_object_or_404

from accounts.models import Project, User
from accounts.models.projects import visible_project
from assignments.models import Kind, Submission
from assignments.others import others_are_readable, own_annotation
from potato.configuration import ProjectConfiguration, UnreadablePinError
from tenancy.actor import ActiveMembership
from tenancy.roles import Right
from traces.models import Trace

_LONG = (
    "project__draft",
    "assignment__trace__report",
    "assignment__version__source",
    "assignment__version__configuration",
)


def readable(membership: ActiveMembership, user: User) -> "QuerySet[Any]":
    """The submissions that a page may show this person, with what it says of each."""  # Any: what is annotated
    visible = Submission.objects.visible_to(membership, user).with_state()
    return visible.select_related("project", "assignment__trace", "assignment__version").defer(*_LONG)


def readable_submission(membership: ActiveMembership, user: User, submission: UUID, *, project: str) -> Any:
    """One of them, in the project of that slug. Raises Http404, so that nobody learns of what they may not read."""
    chosen = visible_project(membership, project)
    return get_object_or_404(readable(membership, user), pk=submission, project=chosen)


def annotations_of_trace(membership: ActiveMembership, user: User, trace: UUID) -> list[Any]:
    """Of each person's annotation of the trace the newest that was not taken back, surplus ones too, the first to come
    first."""
    sees_all = membership.may(Right.SEE_ANNOTATIONS)
    submissions = Submission.objects.with_surplus() if sees_all else Submission.objects.submitted_by_person()
    visible = submissions.visible_to(membership, user).filter(assignment__trace=trace)
    rows = visible.select_related("project", "assignment__version").defer("project__draft", *_LONG[2:])
    return list(rows.order_by("pk"))


def annotations_to_compare(membership: ActiveMembership, user: User, trace: Trace) -> list[Any]:
    """What this person may lay side by side: of an annotator, where the project lets them read others', their own
    first, and then those that count, in an order that tells nothing. Raises Http404 for who may read no others'."""
    if membership.may_in(Right.SEE_ANNOTATIONS, trace.project):
        return annotations_of_trace(membership, user, trace.pk)
    own = own_annotation(user, trace)
    if own is None or not others_are_readable(own):
        raise Http404("Others' annotations of this trace cannot be read.")
    rows = Submission.objects.counted().filter(
        organisation=trace.organisation_id, assignment__trace=trace, assignment__kind=Kind.NORMAL
    )
    rows = rows.exclude(assignment__user=user).select_related("project", "assignment__version")
    return [own, *sorted(rows.defer("project__draft", *_LONG[2:]), key=lambda row: shuffled(user, trace, row.pk))]


def shuffled(user: User, trace: Trace, submission: UUID) -> str:
    """A key that sorts annotations of a trace in an order that is the same for this reader, and tells nothing."""
    return hashlib.sha256(f"{user.pk}/{trace.pk}/{submission}".encode()).hexdigest()


def loaded_configuration(submission: Submission) -> ProjectConfiguration:
    """The one that the annotation was made under, for addresses that only a page hands out which could read it. Raises
    Http404."""
    try:
        return submission.assignment.configuration()
    except UnreadablePinError as error:
        raise Http404(error.sentence) from None


def trace_in(project: Project, trace: UUID) -> Trace:
    """The trace of that project. Raises Http404."""
    return get_object_or_404(Trace.objects.select_related("project").filter(project=project), pk=trace)
