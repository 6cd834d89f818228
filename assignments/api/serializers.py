"""Rows as the shapes that the routes answer with, and the task page as well. Each asks a constant number of queries."""

from collections.abc import Sequence
from datetime import date, timedelta
from math import ceil
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.utils import timezone

from assignments.actions.claiming import NothingToDo
from assignments.deadlines import task_deadline
from assignments.drafts import answerable_content
from assignments.models import Assignment, Draft, Submission
from assignments.submission_records import annotator_names, submission_record
from assignments.wording import why_nothing
from potato.api import shapes
from potato.configuration import SchemeConfiguration
from potato.schemes.registry import SchemeType, scheme_types
from tenancy.prepared import prepared
from traces.evidence.judged_files import exact_paths
from traces.models import TraceFile

# What a summary reads, so that long texts which it does not tell stay in the database.
_IN_SUMMARIES = (
    "state",
    "fencing_token",
    "lease_until",
    "project__slug",
    "trace__external_id",
    "trace__version",
    "trace__task",
    "version__number",
)


def assignment_summaries(assignments: "QuerySet[Assignment]") -> list[shapes.Assignment]:
    """The assignments, those that were claimed first before the others."""
    rows = assignments.order_by("since", "pk").select_related("project", "trace", "version").only(*_IN_SUMMARIES)
    return [shapes.Assignment(**_summary(row)) for row in rows]


def assignment_summary(assignment: UUID) -> shapes.Assignment:
    return shapes.Assignment(**_summary(_for_summary.get(assignment)))


def assignment_in_detail(assignment: UUID) -> shapes.AssignmentInDetail:
    """Everything that somebody needs who begins to work on it. Raises UnreadablePinError."""
    row = _with_all.get(assignment)
    draft = row.draft()
    return serialize_assignment(
        row,
        files=list(TraceFile.objects.filter(trace=row.trace_id).order_by("index")),
        draft=draft,
        content=answerable_content(draft, row) if draft else None,
        deadline=task_deadline(row),
        schemes=[
            scheme_shape(scheme, scheme_types()[scheme.annotation_type])
            for scheme in row.configuration().annotation_schemes
        ],
    )


def serialize_assignment(
    assignment: Assignment,
    *,
    files: Sequence[TraceFile],
    draft: Draft | None,
    content: Any,
    schemes: list[shapes.Scheme],
    deadline: date | None,
) -> shapes.AssignmentInDetail:
    """The assignment with these files and schemes, in their order, and with `content` as what its draft says.

    It comes with its project, trace and version. Raises UnreadablePinError.
    """
    return shapes.AssignmentInDetail(
        **_summary(assignment),
        lease_minutes=_lease_minutes(assignment),
        deadline=deadline,
        draft=_draft_shape(draft, content),
        files=[
            shapes.File(index=file.index, path=path, operation=file.operation, added=file.added, removed=file.removed)
            for file, path in zip(files, exact_paths(files), strict=True)
        ],
        schemes=schemes,
    )


def scheme_shape(scheme: SchemeConfiguration, kind: type[SchemeType]) -> shapes.Scheme:
    return shapes.Scheme(
        name=scheme.name,
        annotation_type=scheme.annotation_type,
        target=kind.target,
        description=scheme.description,
        block=dict(kind.settings(scheme)),
    )


def assignment_draft(assignment: Assignment) -> shapes.Draft:
    draft = assignment.draft()
    return _draft_shape(draft, answerable_content(draft, assignment) if draft else None)


def nothing_to_do(nothing: NothingToDo) -> shapes.Nothing:
    return shapes.Nothing(reason=nothing.reason, sentence=why_nothing(nothing).sentence, again_at=nothing.again_at)


def annotations(submissions: list[Submission]) -> list[shapes.Submission]:
    """Submissions that were read with their assignments and traces, as records."""
    names = annotator_names(submission.assignment.user_id for submission in submissions)
    return [
        shapes.Submission(
            submission=submission.pk,
            record=submission_record(submission, names[submission.assignment.user_id]),
            surplus=submission.is_surplus,
        )
        for submission in submissions
    ]


@prepared
def _for_summary(assignment: UUID) -> "QuerySet[Assignment]":
    rows = Assignment.objects.filter(pk=assignment).select_related("project", "trace", "version")
    return rows.only(*_IN_SUMMARIES)


@prepared
def _with_all(assignment: UUID) -> "QuerySet[Assignment]":
    rows = Assignment.objects.filter(pk=assignment).select_related("project", "trace", "version")
    return rows.defer("project__draft", "trace__report", "trace__tags", "version__source", "version__configuration")


def _summary(assignment: Assignment) -> dict[str, Any]:
    trace = assignment.trace
    return {
        "id": assignment.pk,
        "project": assignment.project.slug,
        "trace": shapes.Trace(id=trace.pk, external_id=trace.external_id, version=trace.version, task=trace.task),
        "state": assignment.state,
        "lease_token": assignment.fencing_token,
        "lease_until": assignment.lease_until,
        "configuration_version": assignment.version.number,
    }


def _draft_shape(draft: Draft | None, content: Any) -> shapes.Draft:
    if draft is None:
        return shapes.Draft(revision=0, content=None, saved_at=None)
    return shapes.Draft(revision=draft.revision, content=content, saved_at=draft.saved_at)


def _lease_minutes(assignment: Assignment) -> int:
    """How long a lease is at most: of what was returned, as long as its reviewer gave."""
    minutes = assignment.configuration().assignment.lease_minutes
    if assignment.returned_until is None:
        return minutes
    return max(minutes, ceil((assignment.returned_until - timezone.now()) / timedelta(minutes=1)))
