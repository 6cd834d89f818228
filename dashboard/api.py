"""The overview of a project for programs: its figures, and what needs attention."""

from datetime import date, datetime

from django.urls import path
from drf_spectacular.utils import extend_schema
from pydantic import BaseModel
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.views import ApiView
from accounts.attention import AttentionItem
from accounts.models.projects import visible_project
from assignments.forecast import Forecast
from dashboard.figures import Annotator
from dashboard.overview import Overview, read_overview
from tenancy.roles import Right
from tenancy.urls import naming_organisation_pages


class TracesByStatus(BaseModel):
    """The project's traces, each in one of the numbers."""

    complete: int
    started: int
    held: int
    stuck: int
    unjudged: int
    waiting: int
    open: int


class AnnotationFigures(BaseModel):
    """Annotations that count and that are wanted; `median_seconds` at work, null where not known."""

    done: int
    wanted: int
    surplus: int
    skipped: int
    median_seconds: float | None


class ExpectedEnd(BaseModel):
    """When all is done at this pace; `early` to `late` holds in 8 of 10 cases. Null: more than a year away."""

    left: int
    a_day: float
    early: date | None
    likely: date | None
    late: date | None


class AnnotatorFigures(BaseModel):
    annotator: str
    submitted: int
    seven_days: int
    held: int
    skipped: int
    surplus: int
    median_seconds: float | None
    last_active: datetime


class ApprovedShare(BaseModel):
    """The share of an agent model's verdicts that approve, with its 95 % interval, which counts each trace once."""

    agent_model: str
    share: float
    low: float
    high: float
    traces: int


class AttentionMatter(BaseModel):
    """Something that needs somebody. `harm` is failed, late, quality or choice; `key` stays as long as the cause."""

    key: str
    harm: str
    sentence: str
    reason: str


class ProjectOverview(BaseModel):
    """`forecast` is null until five days had annotations; `approved` is empty where nobody gives verdicts."""

    project: str
    traces: TracesByStatus
    annotations: AnnotationFigures
    forecast: ExpectedEnd | None
    annotators: list[AnnotatorFigures]
    approved: list[ApprovedShare]
    attention: list[AttentionMatter]
    attention_left: int


class ProjectOverviewView(ApiView):
    right = Right.SEE_ANNOTATIONS

    @extend_schema(responses=ProjectOverview)
    def get(self, request: Request, project: str) -> Response:
        """The figures of the project's page, and what of it needs the caller, the most harmful first; `attention_left`
        counts what somebody has left for a while."""
        chosen = visible_project(self.membership, project)
        with naming_organisation_pages():
            overview = read_overview(request._request, chosen)
        return Response(_shown(overview))


def _shown(overview: Overview) -> ProjectOverview:
    status, people = overview.status, overview.people
    return ProjectOverview(
        project=overview.project.slug,
        traces=TracesByStatus(**{name: getattr(status, name) for name in TracesByStatus.model_fields}),
        annotations=AnnotationFigures(
            done=status.done,
            wanted=status.target,
            surplus=people.surplus,
            skipped=people.skipped,
            median_seconds=people.median.total_seconds() if people.median else None,
        ),
        forecast=_expected(overview.forecast) if overview.forecast else None,
        annotators=[_annotator(one) for one in people.shown],
        approved=[
            ApprovedShare(agent_model=one.label, share=one.value, low=one.low, high=one.high, traces=one.number)
            for one in (overview.approval.shares if overview.approval else ())
        ],
        attention=[_matter(one) for one in overview.attention.shown],
        attention_left=overview.attention.dismissed,
    )


def _expected(forecast: Forecast) -> ExpectedEnd:
    return ExpectedEnd(
        left=forecast.left,
        a_day=round(forecast.a_day, 2),
        early=forecast.early,
        likely=forecast.likely,
        late=forecast.late,
    )


def _annotator(one: Annotator) -> AnnotatorFigures:
    return AnnotatorFigures(
        annotator=one.name,
        submitted=one.submitted,
        seven_days=one.this_week,
        held=one.open,
        skipped=one.skipped,
        surplus=one.surplus,
        median_seconds=one.median.total_seconds() if one.median else None,
        last_active=one.last_active,
    )


def _matter(one: AttentionItem) -> AttentionMatter:
    return AttentionMatter(key=one.key, harm=one.harm.name.lower(), sentence=one.sentence, reason=one.reason)


urlpatterns = [
    path("projects/<slug:project>/overview/", ProjectOverviewView.as_view(), name="api-overview"),
]
