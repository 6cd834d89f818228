"""The routes of gold: what managers of a project read and do. Nothing here is for annotators."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from django.http import Http404
from django.shortcuts import get_object_or_404
from django.urls import path
from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.bodies import Body, read
from accounts.api.views import ApiView
from accounts.models import Membership
from assignments.api.pages import cursor_page
from assignments.api.parameters import CURSOR
from assignments.submission_records import annotator_names
from gold.actions import MOST_RECORDS, expect_records, live_expected, retire
from gold.figures import shown_standings, with_oneself
from gold.models import ExpectedAnnotation, GoldScore, Use
from gold.planting import LARGEST_SEED, MOST_AT_ONCE, request_planting
from gold.practice import admit
from gold.standing import let_go_on
from potato.api.base import Shape
from potato.api.shapes import Record
from tenancy.roles import Right

_UseName = Literal["gold", "practice"]


class Expected(Shape):
    """An expected annotation; `problem` says why nobody can be scored by it any more, "" where somebody can."""

    id: UUID
    trace: UUID
    external_id: str
    use: _UseName
    origin: Literal["expert", "imported", "planted"]
    annotations: Any
    why: str
    problem: str
    made_at: datetime
    retired_at: datetime | None


class ExpectedAnnotations(Shape):
    next: str | None
    previous: str | None
    results: list[Expected]


class NewExpected(Body):
    """Records with the `id` of a trace, its expected `annotations`, and `why`, if there is something to say."""

    records: Annotated[list[Record], Field(min_length=1, max_length=MOST_RECORDS)]
    use: _UseName = "gold"


class Made(Shape):
    results: list[Expected]


class ScoreShape(Shape):
    submission: UUID
    expected: UUID
    annotator: str
    score: float
    scored_at: datetime
    parts: Any


class Scores(Shape):
    next: str | None
    previous: str | None
    results: list[ScoreShape]


class StandingShape(Shape):
    annotator: str
    state: Literal["too_few", "fine", "warned", "paused"]
    since: datetime
    scores: int
    mean: float | None
    low: float | None
    high: float | None
    sentence: str


class OneselfShape(Shape):
    what: str
    measure: str
    value: float | None
    traces: int


class Standings(Shape):
    """Where people stand, and how far they agree with themselves on traces that came again."""

    results: list[StandingShape]
    with_oneself: list[OneselfShape]


class Act(Body):
    act: Literal["go_on", "admit"]


class Done(Shape):
    annotator: str
    act: str


class NewPlanting(Body):
    """A fault of that kind, "" for one that the seed draws, in each of these `traces`; without traces in so many, drawn
    by the seed among all that have a change and all their annotations."""

    traces: Annotated[list[UUID], Field(max_length=MOST_AT_ONCE)] = []
    number: Annotated[int, Field(ge=1, le=MOST_AT_ONCE)] = 10
    seed: Annotated[int, Field(ge=0, le=LARGEST_SEED)] = 0
    kind: Literal["", "off_by_one", "swapped_arguments", "dropped_check", "wrong_operator", "removed_await"] = ""
    use: _UseName = "gold"


class PlantingJob(Shape):
    """The job that plants; what came of it stands among the jobs, and the answers among the expected annotations."""

    job: UUID
    traces: int


class GoldView(ApiView):
    right = Right.MANAGE_PROJECTS


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
        return Response(PlantingJob(job=job.pk, traces=len(job.parameters["traces"])), status=202)


class RetireView(GoldView):
    @extend_schema(request=None, responses=Expected)
    def post(self, request: Request, project: str, expected_id: UUID) -> Response:
        """Give the trace to nobody any more to score them by it. Its scores stay."""
        expected = live_expected(self.project(), expected_id)
        if expected is None:
            raise Http404
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
    path("projects/<slug:project>/gold/<uuid:expected_id>/retire/", RetireView.as_view(), name="api-gold-retire"),
]
