"""Who annotated a trace, on the page of that trace."""

from dataclasses import dataclass
from typing import Any, cast

from django.http import HttpRequest
from django.urls import reverse

from accounts.models import User
from assignments.readable import annotations_of_trace
from assignments.submission_records import annotator_names, initials
from assignments.summaries import Brief, submission_briefs
from tenancy.permissions import allowed
from tenancy.roles import Right
from traces.models import Trace
from traces.trace_parts import TracePart


@dataclass(frozen=True)
class Annotated:
    """One person's annotation of the trace."""

    name: str
    letters: str
    brief: Brief
    is_surplus: bool
    url: str


def _annotated(request: HttpRequest, trace: Trace) -> dict[str, Any] | None:
    """For who may see everybody's annotations; None for everybody else, and of a trace that nobody annotated."""
    if not allowed(request, Right.SEE_ANNOTATIONS):
        return None
    rows = annotations_of_trace(request.membership, cast(User, request.user), trace.pk)  # type: ignore[attr-defined]
    if not rows:
        return None
    names = annotator_names(row.assignment.user_id for row in rows)
    briefs = submission_briefs(rows)
    slug = trace.project.slug
    people = [
        Annotated(
            names.get(row.assignment.user_id, ""),
            initials(names.get(row.assignment.user_id, "")),
            briefs[row.pk],
            row.is_surplus,
            reverse("read-annotation", args=[slug, row.pk]),
        )
        for row in rows
    ]
    return {"people": people, "compare_url": reverse("compare", args=[slug, trace.pk]) if len(rows) > 1 else None}


PART = TracePart("assignments.annotated", "assignments/reading/partials/annotated.html", _annotated)
