"""Automated sources for programs: send answers, see how each source stands beside people, and send differences on."""

from typing import Any
from uuid import UUID

from django.shortcuts import get_object_or_404
from django.urls import path
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.bodies import read
from accounts.api.views import ApiView
from accounts.models.projects import visible_project
from agreement.models import Source as SourceRow
from agreement.models import SourceAnswer, SourceReport
from agreement.sources.actions import NoSuchTraces, named, send_to_people, take_answers
from agreement.sources.comparing import request_comparison
from agreement.sources.importing import ImportAnswers
from agreement.sources.other_tools import checked_tool, request_documents
from assignments.api.pages import cursor_page
from jobs.models import Job
from potato.api.sources import (
    AnnotationImport,
    AnswersRequest,
    AnswersTaken,
    ComparisonRequest,
    NewAnnotationImport,
    NotPlaced,
    Report,
    Reports,
    SendRequest,
    Sent,
    Source,
    SourceRecord,
    SourceRecords,
    Sources,
    UnreadAnswer,
)
from potato.wording import timestamp
from tenancy.roles import Right

CURSOR = OpenApiParameter("cursor", str, description="The cursor in `next` or `previous` of another page.")


class ProjectSourcesView(ApiView):
    right = Right.SEE_ANNOTATIONS

    @extend_schema(parameters=[CURSOR], responses=Sources)
    def get(self, request: Request, project: str) -> Response:
        """The project's sources, the oldest first."""
        chosen = visible_project(self.membership, project)
        following, previous, rows = cursor_page(SourceRow.objects.for_project(chosen).with_answers(), request)
        shown = [_shown(row, chosen.slug) for row in rows]
        return Response(Sources(next=following, previous=previous, results=shown))


class ProjectAnswersView(ApiView):
    right = Right.MANAGE_SOURCES
    largest_body = 8 * 2**20

    @extend_schema(request=AnswersRequest, responses=AnswersTaken)
    def post(self, request: Request, project: str) -> Response:
        """Take a source's answers, at most 1,000 in a request. The same answers again are `known`; a record that cannot
        be taken is named in `refused`, and keeps no other one out. The sources are compared with people in the
        background then."""
        chosen = visible_project(self.membership, project)
        body = read(AnswersRequest, request)
        default = named(**body.source.model_dump()) if body.source else None
        taken = take_answers(project=chosen, records=body.answers, default=default)
        refused = [
            UnreadAnswer(place=place, field=field, sentence=sentence) for place, field, sentence in taken.problems
        ]
        sources = [UUID(name) for name in sorted(taken.sources)]
        return Response(AnswersTaken(taken=taken.taken, known=taken.known, refused=refused, sources=sources))


class AnnotationImportsView(ApiView):
    right = Right.MANAGE_SOURCES
    largest_body = 64 * 2**20

    @extend_schema(request=NewAnnotationImport, responses={202: AnnotationImport})
    def post(self, request: Request, project: str) -> Response:
        """Import annotations that were made in another tool, in the background; Location is the import. Each author is
        a source, which fills no slot and is no annotator; a part that has no place is named in `problems`. The same
        again is `known`."""
        chosen = visible_project(self.membership, project)
        body = read(NewAnnotationImport, request)
        job = request_documents(
            project=chosen,
            name=body.name,
            files=[(file.name, file.content) for file in body.files],
            tool=checked_tool(body.tool, **body.model_dump(include={"trace", "id_key", "names", "values", "version"})),
        )
        where = f"{request._request.path}{job.pk}/"
        return Response(_import_shown(job, chosen.slug), status=202, headers={"Location": where})


class AnnotationImportView(ApiView):
    right = Right.MANAGE_SOURCES

    @extend_schema(responses=AnnotationImport)
    def get(self, request: Request, project: str, job_id: UUID) -> Response:
        """An import of annotations of another tool."""
        chosen = visible_project(self.membership, project)
        jobs = Job.objects.filter(organisation=chosen.organisation_id, kind=ImportAnswers.name)
        job = get_object_or_404(jobs.filter(parameters__project=str(chosen.pk)), pk=job_id)
        return Response(_import_shown(job, chosen.slug))


class SourceApiView(ApiView):
    right = Right.SEE_ANNOTATIONS
    right_to_change = Right.MANAGE_SOURCES

    def source(self) -> SourceRow:
        rows = SourceRow.objects.select_related("project").with_answers()
        return get_object_or_404(self.reachable(rows), pk=self.kwargs["source_id"])


class SourceView(SourceApiView):
    @extend_schema(responses=Source)
    def get(self, request: Request, source_id: UUID) -> Response:
        """One source."""
        source = self.source()
        return Response(_shown(source, source.project.slug))


class SourceAnswersView(SourceApiView):
    @extend_schema(parameters=[CURSOR], responses=SourceRecords)
    def get(self, request: Request, source_id: UUID) -> Response:
        """What the source answered, in the order in which it came in."""
        source = self.source()
        rows = SourceAnswer.objects.of(source).select_related("trace")
        following, previous, answers = cursor_page(rows, request)
        results = [SourceRecord.model_validate(source_record(source, answer)) for answer in answers]
        return Response(SourceRecords(next=following, previous=previous, results=results))


class SourceReportsView(SourceApiView):
    @extend_schema(parameters=[CURSOR], responses=Reports)
    def get(self, request: Request, source_id: UUID) -> Response:
        """How the source stood beside people each time that it was compared, the oldest first."""
        rows = SourceReport.objects.of(self.source()).order_by().select_related("job")
        following, previous, reports = cursor_page(rows, request)
        return Response(Reports(next=following, previous=previous, results=[_report(row) for row in reports]))

    @extend_schema(request=ComparisonRequest, responses={202: Report})
    def post(self, request: Request, source_id: UUID) -> Response:
        """Compare the source with people now, in the background. One that waits already is answered."""
        body = read(ComparisonRequest, request)
        report = request_comparison(source=self.source(), by_person=True, **body.model_dump())
        where = self.location("api-source-report", report.source_id, report.pk)
        return Response(_report(report), status=202, headers={"Location": where})


class SourceReportView(SourceApiView):
    @extend_schema(responses=Report)
    def get(self, request: Request, source_id: UUID, source_report_id: UUID) -> Response:
        """One comparison, with its figures once they are computed."""
        rows = SourceReport.objects.of(self.source()).order_by().select_related("job")
        return Response(_report(get_object_or_404(rows, pk=source_report_id)))


class SendToPeopleView(SourceApiView):
    # It gives people work, which no token does that brings in answers alone.
    right = right_to_change = Right.MANAGE_PROJECTS

    @extend_schema(request=SendRequest, responses=Sent)
    def post(self, request: Request, source_id: UUID) -> Response:
        """Want one annotator more of each of these traces, at most 1,000, which the source has answered. They go into
        the queue; who gets one never sees what the source said. `traces` says of how many that was possible."""
        source = self.source()
        body = read(SendRequest, request)
        return Response(Sent(traces=send_to_people(source=source, traces=ids(body.traces))))


def _import_shown(job: Job, project: str) -> AnnotationImport:
    result = job.result or {}
    problems = [
        NotPlaced(place=place if isinstance(place, str) else f"line {place}", sentence=sentence)
        for place, _, sentence in result.get("problems", [])
    ]
    counts = {name: result.get(name, 0) for name in ("taken", "known", "refused", "left_out")}
    return AnnotationImport(
        id=job.pk,
        project=project,
        name=job.parameters["name"],
        state=job.state,
        error=job.error,
        problems=problems,
        sources=[UUID(source) for source in result.get("sources", [])],
        **counts,
    )


def ids(names: list[str]) -> list[UUID]:
    """The ids of traces. Raises NoSuchTraces for what is none."""
    try:
        return [UUID(name) for name in names]
    except ValueError:
        raise NoSuchTraces("A trace is named by its id, as the report has it.") from None


def source_record(source: SourceRow, answer: SourceAnswer) -> dict[str, Any]:
    """The answer as a record, marked with its source."""
    return {
        "id": answer.trace.external_id,
        "trace_version": answer.trace.version,
        "timestamp": timestamp(answer.answered_at) if answer.answered_at else None,
        "source": {"name": source.name, "model": source.model, "version": source.version, "kind": source.kind},
        "origin": answer.origin or None,
        "annotations": answer.result,
    }


def _shown(row: Any, project: str) -> Source:
    return Source(
        id=row.pk,
        project=project,
        name=row.name,
        model=row.model,
        version=row.version,
        kind=row.kind,
        answers=row.answered,
        added_at=row.added_at,
    )


def _report(row: SourceReport) -> Report:
    return Report(
        id=row.pk,
        source=row.source_id,
        state=row.state,
        error=row.job.error if row.job else "",
        options=row.options,
        answers=row.answers,
        annotations=row.annotations,
        requested_at=row.requested_at,
        computed_at=row.computed_at,
        figures=row.figures,
    )


urlpatterns = [
    path("projects/<slug:project>/sources/", ProjectSourcesView.as_view(), name="api-sources"),
    path("projects/<slug:project>/sources/answers/", ProjectAnswersView.as_view(), name="api-sources-answers"),
    path("projects/<slug:project>/sources/imports/", AnnotationImportsView.as_view(), name="api-annotation-imports"),
    path(
        "projects/<slug:project>/sources/imports/<uuid:job_id>/",
        AnnotationImportView.as_view(),
        name="api-annotation-import",
    ),
    path("sources/<uuid:source_id>/", SourceView.as_view(), name="api-source"),
    path("sources/<uuid:source_id>/answers/", SourceAnswersView.as_view(), name="api-source-answers"),
    path("sources/<uuid:source_id>/reports/", SourceReportsView.as_view(), name="api-source-reports"),
    path(
        "sources/<uuid:source_id>/reports/<uuid:source_report_id>/",
        SourceReportView.as_view(),
        name="api-source-report",
    ),
    path("sources/<uuid:source_id>/send/", SendToPeopleView.as_view(), name="api-source-send"),
]
