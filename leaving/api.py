"""What programs may have removed: a trace for good. Persons and organisations are erased by people, on pages."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from django.shortcuts import get_object_or_404
from django.urls import path
from drf_spectacular.utils import extend_schema
from pydantic import BaseModel, Field
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.views import ApiView
from accounts.models import Project
from accounts.models.projects import visible_project
from leaving.models import TraceRemoval
from leaving.removing_traces import request_removal
from tenancy.roles import Right
from traces.models import Trace


class Removal(BaseModel):
    """A removal of traces; `finished_at` is null until nothing of them is left. `result` then has `rows` and `files`,
    how often exported files with them were downloaded (`downloads`), and `schedules` that sent such files elsewhere."""

    id: UUID
    traces: Annotated[list[UUID], Field(max_length=100_000)]
    requested_at: datetime
    finished_at: datetime | None
    result: dict[str, Any]


class TraceRemovalsView(ApiView):
    right = Right.MANAGE_PROJECTS

    @extend_schema(request=None, responses={202: Removal})
    def post(self, request: Request, project: str, trace_id: UUID) -> Response:
        """Remove a trace for good, with every version of it and every trace of the token's projects with the very same
        content, their annotations, and the files that may have them. It cannot be undone."""
        chosen = visible_project(self.membership, project)
        trace = get_object_or_404(Trace.objects.select_related("project").filter(project=chosen), pk=trace_id)
        projects = list(Project.everything.with_right(self.membership, Right.MANAGE_PROJECTS))
        made = request_removal(trace=trace, projects=projects)
        where = self.location("api-trace-removal", chosen.slug, made.pk)
        return Response(_removal(made), status=202, headers={"Location": where})


class TraceRemovalView(ApiView):
    right = Right.MANAGE_PROJECTS

    @extend_schema(responses=Removal)
    def get(self, request: Request, project: str, removal_id: UUID) -> Response:
        """How far a removal is."""
        chosen = visible_project(self.membership, project)
        return Response(_removal(get_object_or_404(TraceRemoval.objects.filter(project=chosen), pk=removal_id)))


def _removal(row: TraceRemoval) -> dict[str, Any]:
    return {
        "id": row.pk,
        "traces": row.traces,
        "requested_at": row.requested_at,
        "finished_at": row.finished_at,
        "result": row.result,
    }


urlpatterns = [
    path(
        "projects/<slug:project>/traces/<uuid:trace_id>/removal/", TraceRemovalsView.as_view(), name="api-trace-remove"
    ),
    path("projects/<slug:project>/removals/<uuid:removal_id>/", TraceRemovalView.as_view(), name="api-trace-removal"),
]
