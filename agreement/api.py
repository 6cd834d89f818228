"""Agreement for programs: a project's reports, a way to ask for new ones, and the rule by which they come."""

from decimal import Decimal
from typing import Annotated, Any, cast
from uuid import UUID

from django.shortcuts import get_object_or_404
from django.urls import path, reverse
from drf_spectacular.utils import OpenApiParameter, extend_schema
from pydantic import BaseModel, Field
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.bodies import Body, read
from accounts.api.parameters import one_of
from accounts.api.views import ApiView
from accounts.models import Project
from agreement.actions import change_rule, recompute_interval, request_report
from agreement.models import AgreementReport as ReportRow
from agreement.models.rules import project_rule
from agreement.schedules_api import urlpatterns as schedule_urls
from agreement.sources import api as sources_api
from agreement.third_person import request_third_annotator, take_back
from assignments.api.pages import cursor_page
from potato.api.agreement import (
    AgreementFilters,
    AgreementReport,
    AgreementReports,
    AgreementReportWithFigures,
    AgreementRequest,
    AgreementSettings,
    AgreementSummary,
)
from tenancy.roles import Right

CURSOR = OpenApiParameter("cursor", str, description="The cursor in `next` or `previous` of another page.")
FILTERED = OpenApiParameter(
    "filtered", str, enum=["yes"], description='"yes": the reports of a part of the annotations instead.'
)


class AgreementRuleBody(Body):
    """When a project is computed anew: after `every` new annotations (0: never, null: as the site says), whatever its
    schedules do. Below `threshold` the event agreement.below_threshold is published, for the main measure of what
    `watched` names as scheme/name; "" is the first."""

    every: Annotated[int, Field(ge=0, le=1_000_000)] | None = None
    threshold: Annotated[float, Field(ge=0, le=1)] | None = None
    watched: Annotated[str, Field(max_length=200)] = ""


class AgreementRule(BaseModel):
    """The rule that holds; `effective_every` is after how many annotations, whoever says it."""

    every: int | None
    effective_every: int
    threshold: float | None
    watched: str


class AgreementView(ApiView):
    right = Right.SEE_ANNOTATIONS
    right_to_change = Right.MANAGE_PROJECTS

    def address(self, report: ReportRow) -> str:
        urlconf = cast(Any, getattr(self.request._request, "urlconf", None))
        return self.request.build_absolute_uri(reverse("api-agreement-report", args=[report.pk], urlconf=urlconf))


class ProjectAgreementView(AgreementView):
    @extend_schema(parameters=[CURSOR, FILTERED], responses=AgreementReports)
    def get(self, request: Request, project: str) -> Response:
        """The project's reports of agreement, the oldest first: those of all annotations, or with `filtered=yes` those
        of a part of them."""
        of_project = ReportRow.objects.for_project(self.project())
        is_filtered = one_of(request, "filtered", ("yes",)) == "yes"
        chosen = of_project.exclude(filters={}) if is_filtered else of_project.whole()
        rows = chosen.select_related("project", "job").defer("figures")
        following, previous, page = cursor_page(rows, request)
        results = [AgreementReport(**_shown(row)) for row in page]
        return Response(AgreementReports(next=following, previous=previous, results=results))

    @extend_schema(request=AgreementRequest, responses={202: AgreementReport})
    def post(self, request: Request, project: str) -> Response:
        """Have agreement computed in the background; where it is on its way already, that report is the answer. With
        `filters` it is a report of these annotations alone, which changes nothing of the project's own figures. 429,
        with Retry-After, within seconds of the last time, and while as many jobs wait or run as one may have."""
        project_row = self.project()
        body = read(AgreementRequest, request) if request.data else AgreementRequest()
        report = request_report(
            project=project_row, settings=body.model_dump(exclude={"filters"}), filters=body.filters.chosen()
        )
        return Response(AgreementReport(**_shown(report)), status=202, headers={"Location": self.address(report)})


class ThirdPersonRequest(Body):
    """The ids of 1 to 1,000 traces; `take_back` takes back what was asked for before."""

    traces: list[str]
    take_back: bool = False


class ThirdPersonAsked(BaseModel):
    """Of how many of the traces that was possible."""

    traces: int


class ThirdPersonView(AgreementView):
    right = Right.MANAGE_PROJECTS

    @extend_schema(request=ThirdPersonRequest, responses=ThirdPersonAsked)
    def post(self, request: Request, project: str) -> Response:
        """Want one annotator more of each of these traces, or take that back where nobody has taken the trace yet."""
        project_row = self.project()
        body = read(ThirdPersonRequest, request)
        act = take_back if body.take_back else request_third_annotator
        return Response(ThirdPersonAsked(traces=act(project=project_row, traces=body.traces)))


class AgreementReportView(AgreementView):
    @extend_schema(responses=AgreementReportWithFigures)
    def get(self, request: Request, report_id: UUID) -> Response:
        """One report with its figures."""
        row = get_object_or_404(self.reachable(ReportRow.objects.select_related("project", "job")), pk=report_id)
        figures = row.figures if row.is_finished else None
        return Response(AgreementReportWithFigures(**_shown(row), figures=figures, software=row.software))


class AgreementRuleView(AgreementView):
    @extend_schema(responses=AgreementRule)
    def get(self, request: Request, project: str) -> Response:
        """When the project's agreement is computed by itself, and below what somebody is to hear of it."""
        return Response(_rule(self.project()))

    @extend_schema(request=AgreementRuleBody, responses=AgreementRule)
    def put(self, request: Request, project: str) -> Response:
        """Change it; what is left out is as by default."""
        project_row = self.project()
        body = read(AgreementRuleBody, request)
        threshold = None if body.threshold is None else Decimal(str(body.threshold))
        change_rule(project=project_row, every=body.every, threshold=threshold, watched=body.watched)
        return Response(_rule(project_row))


def _shown(row: ReportRow) -> dict[str, Any]:
    job = row.job
    return {
        "id": row.pk,
        "project": row.project.slug,
        "state": row.state,
        "reason": row.reason,
        "error": job.error if job else "",
        "progress": job.progress if job else 0,
        "total": job.total if job else None,
        "settings": AgreementSettings(**row.settings),
        "filters": AgreementFilters(**row.filters),
        "configuration_version": row.version_number,
        "annotations": row.annotations,
        "shared_traces": row.shared_traces,
        "sha256": row.sha256,
        "requested_at": row.requested_at,
        "computed_at": row.computed_at,
        "summary": [AgreementSummary(**entry) for entry in row.summary],
    }


def _rule(project: Project) -> AgreementRule:
    rule = project_rule(project)
    return AgreementRule(
        every=rule.every,
        effective_every=recompute_interval(rule),
        threshold=None if rule.threshold is None else float(rule.threshold),
        watched=rule.watched,
    )


urlpatterns = [
    path("projects/<slug:project>/agreement/", ProjectAgreementView.as_view(), name="api-agreement"),
    path("projects/<slug:project>/agreement/rule/", AgreementRuleView.as_view(), name="api-agreement-rule"),
    path(
        "projects/<slug:project>/agreement/third-person/", ThirdPersonView.as_view(), name="api-agreement-third-person"
    ),
    path("agreement/<uuid:report_id>/", AgreementReportView.as_view(), name="api-agreement-report"),
    *sources_api.urlpatterns,
    *schedule_urls,
]
