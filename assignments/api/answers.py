"""Rows as the shapes that the routes answer with. Each asks a constant number of queries."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from accounts.configuration.registry import scheme_types
from assignments.actions.claiming import NothingToDo
from assignments.api import shapes
from assignments.models import Assignment, Submission
from assignments.records import annotator_names, record_of
from assignments.wording import why_nothing

_UNSAID = ("project__draft", "version__source", "version__configuration", "trace__report", "trace__tags")


def summaries_of(assignments: Iterable[UUID]) -> list[shapes.Assignment]:
    """The assignments of these ids, those that were claimed first before the others."""
    return [shapes.Assignment(**_facts(row)) for row in _rows(assignments)]


def summary_of(assignment: UUID) -> shapes.Assignment:
    (summary,) = summaries_of([assignment])
    return summary


def detail_of(assignment: UUID) -> shapes.AssignmentInDetail:
    """Everything that somebody needs who begins to work on it. Raises UnreadablePinError."""
    (row,) = _rows([assignment])
    configuration = row.configuration()
    files = row.trace.files.order_by("index").values("index", "path", "operation", "added", "removed")
    return shapes.AssignmentInDetail(
        **_facts(row),
        lease_minutes=configuration.assignment.lease_minutes,
        draft=draft_of(row),
        files=[shapes.File(**file) for file in files],
        schemes=[
            shapes.Scheme(
                name=scheme.name,
                annotation_type=scheme.annotation_type,
                target=kind.target,
                description=scheme.description,
                block=getattr(scheme, kind.block).model_dump(mode="json"),
            )
            for scheme in configuration.annotation_schemes
            for kind in (scheme_types()[scheme.annotation_type],)
        ],
    )


def draft_of(assignment: Assignment) -> shapes.Draft:
    draft = assignment.draft()
    if draft is None:
        return shapes.Draft(revision=0, content=None, saved_at=None)
    return shapes.Draft(revision=draft.revision, content=draft.content, saved_at=draft.saved_at)


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


def _rows(assignments: Iterable[UUID]) -> list[Assignment]:
    rows = Assignment.objects.filter(pk__in=list(assignments)).select_related("project", "trace", "version")
    return list(rows.defer(*_UNSAID).order_by("since", "pk"))


def _facts(row: Assignment) -> dict[str, Any]:
    return {
        "id": row.pk,
        "project": row.project.slug,
        "trace": shapes.Trace(
            id=row.trace_id, external_id=row.trace.external_id, version=row.trace.version, task=row.trace.task
        ),
        "state": row.state,
        "fence": row.fence,
        "lease_until": row.lease_until,
        "configuration_version": row.version.number,
    }
