"""Exports for programs: ask for one (202, then look at its Location), list them, take the file away."""

from typing import Any
from uuid import UUID

from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.urls import path, reverse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.bodies import read
from accounts.api.views import ApiView
from accounts.models.projects import visible_project
from assignments.api.pages import cursor_page
from exports import records_api, schedules_api
from exports.actions import note_download, request_export
from exports.estimating import estimate_export
from exports.models import Export as ExportRow
from exports.views import stream_file
from potato.api.exports import Export, ExportEstimate, ExportRequest, Exports
from tenancy.roles import Right

CURSOR = OpenApiParameter("cursor", str, description="The cursor in `next` or `previous` of another page.")
# Of the media type of its format, and extensions bring formats.
FILE = {(200, "*/*"): OpenApiTypes.BINARY}


class ExporterView(ApiView):
    right = Right.EXPORT

    def shown(self, export: ExportRow) -> Export:
        job = export.job
        return Export(
            id=export.pk,
            project=export.project.slug,
            format=export.format,
            options=export.options,
            state=export.state.lower(),
            progress=job.progress if job else 0,
            total=job.total if job else None,
            rows=export.rows,
            bytes=export.bytes,
            sha256=export.sha256,
            error=job.error if job else "",
            requested_at=export.requested_at,
            expires_at=export.expires_at,
            file=self.address("api-export-file", export) if export.is_ready else None,
            manifest=export.manifest,
        )

    def address(self, name: str, export: ExportRow) -> str:
        return self.request.build_absolute_uri(reverse(name, args=[export.pk], urlconf=self.urlconf()))

    def urlconf(self) -> Any:
        """The routes of the address at which the caller came in."""
        return getattr(self.request._request, "urlconf", None)

    def export(self) -> ExportRow:
        rows = ExportRow.objects.select_related("project", "job")
        return get_object_or_404(self.reachable(rows), pk=self.kwargs["export_id"])


class ProjectExportsView(ExporterView):
    @extend_schema(parameters=[CURSOR], responses=Exports)
    def get(self, request: Request, project: str) -> Response:
        """The project's exports, the oldest first."""
        rows = ExportRow.objects.for_project(self.project()).select_related("project", "job")
        following, previous, exports = cursor_page(rows, request)
        return Response(Exports(next=following, previous=previous, results=[self.shown(row) for row in exports]))

    @extend_schema(request=ExportRequest, responses={202: Export})
    def post(self, request: Request, project: str) -> Response:
        """Ask for an export. It is made in the background; its address says how far it is. 429, with Retry-After, while
        as many jobs wait or run as a person or the organisation may have."""
        row = self.project()
        body = read(ExportRequest, request)
        made = request_export(project=row, format=body.format, options=body.options)
        return Response(self.shown(made), status=202, headers={"Location": self.address("api-export", made)})


class ExportEstimateView(ExporterView):
    @extend_schema(request=ExportRequest, responses=ExportEstimate)
    def post(self, request: Request, project: str) -> Response:
        """About how large an export would be, before it is asked for; nothing is made."""
        chosen = visible_project(self.membership, project)
        body = read(ExportRequest, request)
        estimate = estimate_export(project=chosen, format=body.format, options=body.options)
        return Response(ExportEstimate.model_validate(estimate.as_json()))


class ExportView(ExporterView):
    @extend_schema(responses=Export)
    def get(self, request: Request, export_id: UUID) -> Response:
        """One export."""
        return Response(self.shown(self.export()))


class ExportFileView(ExporterView):
    @extend_schema(responses=FILE)
    def get(self, request: Request, export_id: UUID) -> HttpResponseBase:
        """The file, while it is kept; 404 before and after."""
        export = get_object_or_404(self.reachable(ExportRow.objects.ready().select_related("project")), pk=export_id)
        note_download(export=export)
        return stream_file(export)

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        """A file is no JSON, and is sent as it is."""
        if isinstance(response, Response):
            return super().finalize_response(request, response, *args, **kwargs)
        return response


urlpatterns = [
    path("projects/<slug:project>/exports/", ProjectExportsView.as_view(), name="api-exports"),
    path("projects/<slug:project>/exports/estimate/", ExportEstimateView.as_view(), name="api-export-estimate"),
    path("exports/<uuid:export_id>/", ExportView.as_view(), name="api-export"),
    path("exports/<uuid:export_id>/file/", ExportFileView.as_view(), name="api-export-file"),
    *records_api.urlpatterns,
    *schedules_api.urlpatterns,
]
