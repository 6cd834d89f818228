"""The routes of gold: what managers of a project read and do. Nothing here is for annotators."""

from uuid import UUID

from django.http import Http404
from django.shortcuts import get_object_or_404
from django.urls import path
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.bodies import read
from accounts.api.views import ApiView
from accounts.models import Membership
from assignments.api.pages import cursor_page
from assignments.api.parameters import CURSOR
from assignments.submission_records import annotator_names
from gold.actions import change_expectation, expect_records, live_expected, retire
from gold.figures import shown_standings, with_oneself
from gold.models import ExpectedAnnotation, GoldScore, Use
from gold.planting import request_planting
from gold.practice import admit
from gold.standing import let_go_on
from potato.api.gold import (
    Act,
    ChangedExpected,
    Done,
    Expected,
    ExpectedAnnotations,
    Made,
    NewExpected,
    NewPlanting,
    OneselfShape,
    PlantingJob,
    Scores,
    ScoreShape,
    Standings,
    StandingShape,
)
from tenancy.roles import Right


class GoldView(ApiView):
    right = Right.MANAGE_PROJECTS

    def expected(self) -> ExpectedAnnotation:
        """The one of the project that the address names."""
        row = live_expected(self.project(), self.kwargs["expected_id"])
        if row is None:
            raise Http404
        return row


class ExpectedView(GoldView):
    largest_body = 2_000_000

    @extend_schema(parameters=[CURSOR], responses=ExpectedAnnotations)
    def get(self, request: Request, project: str) -> Response:
        """The project's expected annotations, the oldest first, with those that are retired."""
        rows = ExpectedAnnotation.objects.for_project(self.project()).select_related("trace")
        following, previous, page = cursor_page(rows, request)
        return Response(
            ExpectedAnnotations(next=following, previous=previous, results=[_expected(row) for row in page])
        )

    @extend_schema(request=NewExpected, responses={201: Made})
    def post(self, request: Request, project: str) -> Response:
        """Make records the expected annotations of their traces, all or none."""
        body = read(NewExpected, request)
        made = expect_records(project=self.project(), records=body.records, use=Use(body.use))
        return Response(Made(results=[_expected(row) for row in made]), status=201)


class PlantView(GoldView):
    @extend_schema(request=NewPlanting, responses={202: PlantingJob})
    def post(self, request: Request, project: str) -> Response:
        """Have faults planted in copies of traces that are known to be good. 422 where a trace cannot be planted in,
        429 while as many jobs wait or run as one may have."""
        body = read(NewPlanting, request)
        job = request_planting(
            project=self.project(),
            traces=body.traces,
            number=body.number,
            seed=body.seed,
            kind=body.kind,
            use=Use(body.use),
        )
        made = PlantingJob(job=job.pk, traces=len(job.parameters["traces"]))
        where = self.location("api-gold", self.project().slug)
        return Response(made, status=202, headers={"Location": where})


class OneExpectedView(GoldView):
    largest_body = 2_000_000

    @extend_schema(request=ChangedExpected, responses=Expected)
    def put(self, request: Request, project: str, expected_id: UUID) -> Response:
        """Expect something else of the trace. Who was scored by it is scored anew; what was practised stays as it was.
        422 where nobody could answer what is expected."""
        body = read(ChangedExpected, request)
        row = change_expectation(expected=self.expected(), annotations=body.annotations, why=body.why)
        return Response(_expected(row))


class RetireView(GoldView):
    @extend_schema(request=None, responses=Expected)
    def post(self, request: Request, project: str, expected_id: UUID) -> Response:
        """Give the trace to nobody any more to score them by it. Its scores stay."""
        expected = self.expected()
        retire(expected=expected)
        expected.refresh_from_db(fields=["retired_at"])
        return Response(_expected(expected))


class ScoresView(GoldView):
    @extend_schema(parameters=[CURSOR], responses=Scores)
    def get(self, request: Request, project: str) -> Response:
        """Every score of gold with its parts, the oldest first."""
        chosen = self.project()
        rows = GoldScore.objects.filter(organisation=chosen.organisation_id, project=chosen)
        following, previous, page = cursor_page(rows, request)
        names = annotator_names(row.user_id for row in page)
        results = [
            ScoreShape(
                submission=row.submission_id,
                expected=row.expected_id,
                annotator=names.get(row.user_id, ""),
                score=row.score,
                scored_at=row.scored_at,
                parts=row.parts,
            )
            for row in page
        ]
        return Response(Scores(next=following, previous=previous, results=results))


class StandingsView(GoldView):
    @extend_schema(responses=Standings)
    def get(self, request: Request, project: str) -> Response:
        """Where everybody stands by their scores of gold, and how far people agree with themselves."""
        chosen = self.project()
        standings = [
            StandingShape(
                annotator=one.name,
                scores=one.standing.number,
                **{name: getattr(one.standing, name) for name in ("state", "since", "mean", "low", "high", "sentence")},
            )
            for one in shown_standings(chosen)
        ]
        oneself = [
            OneselfShape(what=row.title, measure=row.measure, value=row.value, traces=row.traces)
            for row in with_oneself(chosen)
        ]
        return Response(Standings(results=standings, with_oneself=oneself))


class GoldPersonView(GoldView):
    @extend_schema(request=Act, responses=Done)
    def post(self, request: Request, project: str, name: str) -> Response:
        """`go_on`: let somebody go on whom their scores have paused, by new scores alone. `admit`: let a newcomer begin
        without the practice."""
        chosen, body = self.project(), read(Act, request)
        members = Membership.objects.select_related("user").filter(organisation=chosen.organisation_id)
        user = get_object_or_404(members, annotator_name=name).user
        if body.act == "go_on":
            let_go_on(project=chosen, user=user)
        else:
            admit(project=chosen, user=user)
        return Response(Done(annotator=name, act=body.act))


def _expected(row: ExpectedAnnotation) -> Expected:
    return Expected(
        id=row.pk,
        trace=row.trace_id,
        external_id=row.trace.external_id,
        annotations=row.annotations,
        **{name: getattr(row, name) for name in ("use", "origin", "why", "problem", "made_at", "retired_at")},
    )


urlpatterns = [
    path("projects/<slug:project>/gold/", ExpectedView.as_view(), name="api-gold"),
    path("projects/<slug:project>/gold/plant/", PlantView.as_view(), name="api-gold-plant"),
    path("projects/<slug:project>/gold/scores/", ScoresView.as_view(), name="api-gold-scores"),
    path("projects/<slug:project>/gold/people/", StandingsView.as_view(), name="api-gold-people"),
    path("projects/<slug:project>/gold/people/<str:name>/", GoldPersonView.as_view(), name="api-gold-person"),
    path("projects/<slug:project>/gold/<uuid:expected_id>/", OneExpectedView.as_view(), name="api-gold-expected"),
    path("projects/<slug:project>/gold/<uuid:expected_id>/retire/", RetireView.as_view(), name="api-gold-retire"),
]
