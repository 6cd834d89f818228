"""Rows as the shapes that the routes answer with. Each asks a constant number of queries."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from assignments.actions.claiming import NothingToDo
from assignments.api import shapes
from assignments.drafts import content_of
from assignments.models import Assignment, Submission
from assignments.records import annotator_names, record_of
from assignments.wording import why_nothing
from potato.schemes.registry import scheme_types
from tenancy.prepared import prepared
from traces.evidence.judged_files import exact_paths
from traces.models import TraceFile

_FACTS = (
    "pk",
    "project__slug",
    "trace",
    "trace__external_id",
    "trace__version",
    "trace__task",
    "state",
    "fencing_token",
    "lease_until",
    "version__number",
)


def summaries_of(assignments: Iterable[UUID]) -> list[shapes.Assignment]:
    """The assignments of these ids, those that were claimed first before the others."""
    return [shapes.Assignment(**facts) for facts in _facts(assignments)]


def summary_of(assignment: UUID) -> shapes.Assignment:
    return shapes.Assignment(**_shown(_facts_of_one.get(assignment)))


def detail_of(assignment: Assignment) -> shapes.AssignmentInDetail:
    """Everything that somebody needs who begins to work on it. Raises UnreadablePinError."""
    configuration = assignment.configuration()
    files = list(TraceFile.objects.filter(trace=assignment.trace_id).order_by("index"))
    (facts,) = _facts([assignment.pk])
    return shapes.AssignmentInDetail(
        **facts,
        lease_minutes=configuration.assignment.lease_minutes,
        draft=draft_of(assignment),
        files=[
            shapes.File(index=row.index, path=path, operation=row.operation, added=row.added, removed=row.removed)
            for row, path in zip(files, exact_paths(files), strict=True)
        ],
        schemes=[
            shapes.Scheme(
                name=scheme.name,
                annotation_type=scheme.annotation_type,
                target=kind.target,
                description=scheme.description,
                block=dict(kind.settings(scheme)),
            )
            for scheme in configuration.annotation_schemes
            for kind in (scheme_types()[scheme.annotation_type],)
        ],
    )


def draft_of(assignment: Assignment) -> shapes.Draft:
    draft = assignment.draft()
    if draft is None:
        return shapes.Draft(revision=0, content=None, saved_at=None)
    return shapes.Draft(revision=draft.revision, content=content_of(draft, assignment), saved_at=draft.saved_at)


def nothing_of(nothing: NothingToDo) -> shapes.Nothing:
    return shapes.Nothing(reason=nothing.reason, sentence=why_nothing(nothing).sentence, again_at=nothing.again_at)


def annotations_of(submissions: list[Submission]) -> list[shapes.Submission]:
    """Submissions that were read with their assignments and traces, as records."""
    names = annotator_names(submission.assignment.user_id for submission in submissions)
    return [
        shapes.Submission(
            submission=submission.pk,
            record=record_of(submission, names[submission.assignment.user_id]),
            surplus=submission.is_surplus,
        )
        for submission in submissions
    ]


def _facts(assignments: Iterable[UUID]) -> list[dict[str, Any]]:
    rows = Assignment.objects.filter(pk__in=list(assignments)).order_by("since", "pk").values(*_FACTS)
    return [_shown(row) for row in rows]


@prepared
def _facts_of_one(assignment: UUID) -> "QuerySet[Assignment, Any]":
    rows: QuerySet[Assignment, Any] = Assignment.objects.filter(pk=assignment).values(*_FACTS)
    return rows


def _shown(row: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": row["pk"],
        "project": row["project__slug"],
        "trace": shapes.Trace(
            id=row["trace"],
            external_id=row["trace__external_id"],
            version=row["trace__version"],
            task=row["trace__task"],
        ),
        "state": row["state"],
        "lease_token": row["fencing_token"],
        "lease_until": row["lease_until"],
        "configuration_version": row["version__number"],
    }
