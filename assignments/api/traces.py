"""The traces of a project for programs: the list with its filters, one with its steps, files and content, and a run
that comes in as it ends."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.core.files.base import ContentFile
from django.db.models import QuerySet
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import path
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from isal import igzip
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.bodies import InvalidRequest
from accounts.api.exact_json import dumps
from accounts.api.pages import cursor_page
from accounts.api.parameters import CURSOR
from accounts.api.views import ApiView
from assignments.api.imports import shown_imports
from assignments.pool.filters import AGREEMENT, CHECKS, JUDGED, LISTS, MARKS, SIZES, USAGE, PoolFilters
from assignments.pool.listing import PoolList, Row
from assignments.pool.states import STATES
from jobs.row_text import storable
from potato.api.checks import ListedReport, ListedReports, ReportFacts, TestRunFacts, TraceChecks
from potato.api.imports import Import
from potato.api.traces import ListedFile, ListedFiles, ListedStep, ListedSteps, ListedTrace, ListedTraces, WholeTrace
from tenancy.roles import Right
from traces.actions import request_import
from traces.evidence.checks import stored_reports
from traces.importing.screenshots import with_pictures_inside
from traces.models import Body, CheckReport, Trace, TraceFile, TraceStep

LARGEST_RUN = 16 * 2**20
"""Unpacked; as it comes a request of the API has at most potato_site.receiving.API_BYTES."""
_TEXTS = ("q", "task", "versions")
_CHOICES: dict[str, Sequence[str]] = {
    "state": list(STATES),
    "size": list(SIZES),
    "usage": list(USAGE),
    "judged": list(JUDGED),
    "marks": list(MARKS),
    "checks": list(CHECKS),
    "agreement": list(AGREEMENT),
}
_WHAT = {
    "q": "A part of the id, the task or the repository.",
    "task": "The id of a task.",
    "versions": "`all`: older versions as well.",
    "model": "The agent's model; `-` for traces of which it is not known, as with `repo`.",
    "agent": "The name of the agent program; `-` for traces of which it is not known.",
    "usage": "What the run took, as far as its trace says.",
    "checks": "What reports of tests and checkers say of the run, and the last tests that the agent ran itself.",
    "batch": "The number of a batch; `-` for none.",
    "imported": "A day, as in 2026-12-04.",
    "file": "The id of an import.",
    "held": "The annotator name of somebody who holds it.",
    "offered": "The annotator name of somebody to whom it is offered before all others.",
}
FILTERS = [
    OpenApiParameter(name, str, description=_WHAT.get(name, ""), enum=["all"] if name == "versions" else None)
    for name in _TEXTS
] + [OpenApiParameter(name, str, many=True, description=_WHAT.get(name, ""), enum=_CHOICES.get(name)) for name in LISTS]


class TracesView(ApiView):
    right = Right.SEE_TRACES
    right_to_change = Right.IMPORT_TRACES
    largest_body = LARGEST_RUN

    @extend_schema(parameters=[CURSOR, *FILTERS], responses=ListedTraces)
    def get(self, request: Request, project: str) -> Response:
        """The project's traces, the oldest first, with the filters of the page: any value of one, and all of them. Of
        each id the newest version, unless `versions=all`."""
        pool = PoolList(self.project(), _filters(request))
        following, previous, page = cursor_page(pool.ordered("oldest"), request)
        results = [_listed(row) for row in pool.rows(page, for_people=False)]
        return Response(ListedTraces(next=following, previous=previous, results=results))

    @extend_schema(request=OpenApiTypes.OBJECT, responses={202: Import})
    def post(self, request: Request, project: str) -> Response:
        """Bring one run in as it ends, in Potato's own format (docs/trace-format.md). It is read in the background:
        Location is the import. The same run again is known, and another one under its id is a new version."""
        run = request.data
        if not isinstance(run, dict) or not run:
            raise InvalidRequest([([], "model_type", "The body must be one run: a JSON object with an id and steps.")])
        name = storable(str(run.get("id") or "run").replace("/", "-"), 100)
        content = ContentFile(dumps(run), name=f"{name}.json")
        file = request_import(project=self.project(), content=content, format="native")
        where = {"Location": self.location("api-import", file.pk)}
        return Response(shown_imports([file])[0], status=202, headers=where)


class TraceView(ApiView):
    right = Right.SEE_TRACES

    def trace(self) -> Trace:
        """The one that the address names, in its project."""
        rows = Trace.objects.filter(project=self.project())
        return get_object_or_404(rows, pk=self.kwargs["trace_id"])

    def of_trace(self, rows: "QuerySet[Any]") -> "QuerySet[Any]":
        trace = self.trace()
        return rows.filter(organisation=trace.organisation_id, trace=trace)

    def content(self, sha256: str) -> HttpResponse:
        """A stored document, byte by byte."""
        rows = Body.objects.filter(organisation=self.membership.organisation_id, sha256=sha256)
        packed = rows.values_list("packed", flat=True).first()
        if packed is None:
            raise Http404
        return HttpResponse(igzip.decompress(packed), content_type="application/json")


class OneTraceView(TraceView):
    @extend_schema(responses=WholeTrace)
    def get(self, request: Request, project: str, trace_id: UUID) -> Response:
        """One trace: where it stands, and what is known of the run."""
        trace = self.trace()
        pool = PoolList(self.project(), PoolFilters(versions="all"), only=trace.pk)
        (row,) = pool.rows(pool.ordered("oldest").filter(pk=trace.pk))
        versions = Trace.objects.filter(project=trace.project_id, external_id=trace.external_id)
        return Response(
            WholeTrace(
                **vars(_listed(row)),
                task=trace.task,
                task_id=trace.task_id,
                instance_id=trace.instance_id,
                converter=trace.converter,
                base_commit=trace.base_commit,
                started_at=trace.started_at,
                imported_at=trace.imported_at,
                content_sha256=trace.content_sha256,
                versions=list(versions.order_by("version").values_list("version", flat=True)),
                report=trace.report,
                tests_outcome=trace.tests_outcome,
            )
        )


class StepsView(TraceView):
    @extend_schema(parameters=[CURSOR], responses=ListedSteps)
    def get(self, request: Request, project: str, trace_id: UUID) -> Response:
        """The steps of the run in their order."""
        following, previous, page = cursor_page(self.of_trace(TraceStep.objects.all()), request)
        results = [_taken(ListedStep, row) for row in page]
        return Response(ListedSteps(next=following, previous=previous, results=results))


class ChecksView(TraceView):
    @extend_schema(responses=TraceChecks)
    def get(self, request: Request, project: str, trace_id: UUID) -> Response:
        """What tests and checkers said of the run: the reports that were imported, and the tests that the agent ran."""
        trace = self.trace()
        return Response(
            TraceChecks(
                test_runs=[TestRunFacts(**run) for run in trace.test_runs],
                reports=[_report_facts(row) for row in stored_reports(trace)],
            )
        )


class ReportsView(ApiView):
    right = Right.SEE_TRACES

    @extend_schema(parameters=[CURSOR], responses=ListedReports)
    def get(self, request: Request, project: str) -> Response:
        """The reports of tests and checkers that were imported, the oldest first, each with the run that it is of."""
        chosen = self.project()
        rows = CheckReport.objects.filter(organisation=chosen.organisation_id, project=chosen).defer("content")
        following, previous, page = cursor_page(rows, request)
        return Response(ListedReports(next=following, previous=previous, results=[_listed_report(row) for row in page]))


class StepView(TraceView):
    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, project: str, trace_id: UUID, index: int) -> HttpResponse:
        """What a step says: its message, its calls and their results, exactly."""
        return self.content(get_object_or_404(self.of_trace(TraceStep.objects.all()), index=index).sha256)


class FilesView(TraceView):
    @extend_schema(parameters=[CURSOR], responses=ListedFiles)
    def get(self, request: Request, project: str, trace_id: UUID) -> Response:
        """The files that the agent touched."""
        following, previous, page = cursor_page(self.of_trace(TraceFile.objects.all()), request)
        results = [_taken(ListedFile, row) for row in page]
        return Response(ListedFiles(next=following, previous=previous, results=results))


class FileView(TraceView):
    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, project: str, trace_id: UUID, index: int) -> HttpResponse:
        """The change of a file: its hunks with their lines."""
        return self.content(get_object_or_404(self.of_trace(TraceFile.objects.all()), index=index).sha256)


class ContentView(TraceView):
    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, project: str, trace_id: UUID) -> HttpResponse:
        """The whole run as it was imported, in Potato's own format, with its pictures inside."""
        answer = self.content(self.trace().content_sha256)
        answer.content = with_pictures_inside(answer.content)
        return answer


def _filters(request: Request) -> PoolFilters:
    """What the address asks for. Raises InvalidRequest for what no trace can be asked for."""
    asked = {name: values for name, values in request.query_params.lists() if name != "cursor"}
    if unknown := sorted(asked.keys() - {*LISTS, *_TEXTS}):
        known = ", ".join((*_TEXTS, *LISTS))
        raise InvalidRequest(
            [([name], "unknown", f"Traces have no filter {name!r}. The filters are {known}.") for name in unknown]
        )
    filters = PoolFilters.asked(asked)
    wrong = [
        ([name], "value_error", f"{name} cannot be {value!r}.{_allowed(name)}")
        for name in LISTS
        for value in asked.get(name, ())
        if value.strip() not in getattr(filters, name)
    ]
    if wrong:
        raise InvalidRequest(wrong)
    return filters


def _allowed(name: str) -> str:
    return f" It is one of {', '.join(_CHOICES[name])}." if name in _CHOICES else ""


def _listed(row: Row) -> ListedTrace:
    same = {
        name: getattr(row, name)
        for name in (
            "id", "external_id", "version", "title", "repo", "agent_model", "agent", "cost_usd", "input_tokens",
            "output_tokens", "seconds", "state", "withheld", "why", "free", "agreement", "tags", "priority", "steps",
            "files", "added", "removed", "batch", "target", "done", "extra", "held_by", "offered_to", "offered_until",
        )
    }  # fmt: skip
    return ListedTrace(**same, annotators=[face.name for face in row.faces], failed_steps=row.failed)


def _report_facts(row: CheckReport) -> ReportFacts:
    numbers = {name: getattr(row, name) for name in ("passed", "failed", "errors", "skipped")}
    said = {"tests": row.content.get("tests", []), "findings": row.content.get("findings", [])}
    return ReportFacts(kind=row.kind, name=row.name, outcome=row.outcome, file=row.member, **numbers, **said)


def _listed_report(row: CheckReport) -> ListedReport:
    same = {
        name: getattr(row, name)
        for name in ("kind", "name", "outcome", "passed", "failed", "errors", "skipped", "findings", "added_at")
    }
    return ListedReport(id=row.pk, run=row.external_id, names=row.names["ids"], file=row.member, **same)


def _taken(shape: type[Any], row: Any) -> Any:
    return shape(**{name: getattr(row, name) for name in shape.model_fields})


_TRACE = "projects/<slug:project>/traces/<uuid:trace_id>/"

urlpatterns = [
    path("projects/<slug:project>/traces/", TracesView.as_view(), name="api-traces"),
    path(_TRACE, OneTraceView.as_view(), name="api-trace"),
    path(f"{_TRACE}steps/", StepsView.as_view(), name="api-trace-steps"),
    path("projects/<slug:project>/reports/", ReportsView.as_view(), name="api-reports"),
    path(f"{_TRACE}checks/", ChecksView.as_view(), name="api-trace-checks"),
    path(f"{_TRACE}steps/<int:index>/", StepView.as_view(), name="api-trace-step"),
    path(f"{_TRACE}files/", FilesView.as_view(), name="api-trace-files"),
    path(f"{_TRACE}files/<int:index>/", FileView.as_view(), name="api-trace-file"),
    path(f"{_TRACE}content/", ContentView.as_view(), name="api-trace-content"),
]
