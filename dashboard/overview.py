"""What the overview of a project says: figures and words, made of what the other modules of this app read."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from django.http import HttpRequest
from django.utils import timezone

from accounts.attention import AttentionItem, list_matters
from accounts.models import ConfigurationVersion, Project
from agreement.reports import newest_report
from agreement.speed_and_agreement import is_fast
from assignments.actions.steering import project_pause
from assignments.attention import unjudged_because
from assignments.forecast import DAYS_WITH_WORK, Day, Forecast, forecast
from assignments.models import Steering
from assignments.pool.progress import BatchProgress, batches_at_a_glance
from assignments.wording import duration
from dashboard.agreement_attention import RULE, attention_items_in
from dashboard.charts import DayPlot, day_plot, pieces
from dashboard.dismissing import dismissed_keys
from dashboard.figure_cache import work_in
from dashboard.figures import Annotator, People, Status, project_status, traces_by_agent
from dashboard.models import ProjectTally
from dashboard.quality import Measure, PersonAgreement, measures_in, people_in
from dashboard.recent_activity import Activity, recent_activity_in
from dashboard.shares import Difference, Share, widest_difference, wilson_share
from potato.configuration import ProjectConfiguration, UnreadablePinError, pinned
from potato.schemes.registry import scheme_types
from potato.wording import counted, moment

ATTENTION_SHOWN = 7
AGENTS_SHOWN = 6
BATCHES_SHOWN = 4
_STATUS = {
    "complete": ("Complete", "f3", "sw3"),
    "started": ("Started", "f1", "sw1"),
    "held": ("With an annotator now", "f1s", "sw1s"),
    "stuck": ("Skipped, nobody is left", "f2", "sw2"),
    "unjudged": ("Nothing to judge", "f4", "sw4"),
    "waiting": ("In the pool or held back", "f5", "sw5"),
    "open": ("Open", "hb0", "sw0"),
}


@dataclass(frozen=True)
class Attention:
    """The first ATTENTION_SHOWN matters, and how many there are that nobody has dismissed."""

    shown: list[AttentionItem]
    number: int
    dismissed: int


@dataclass(frozen=True)
class Person:
    """An annotator with the median in words, and what the newest report of agreement says of them, if anything."""

    annotator: Annotator
    took: str
    agreement: PersonAgreement | None
    is_flagged: bool

    @property
    def last_active(self) -> str:
        return moment(timezone.localtime(self.annotator.last_active), timezone.localtime())


@dataclass(frozen=True)
class Approval:
    """How often the work of each agent model was approved under a scheme, and between which two most lies."""

    scheme: str
    shares: list[Share]
    widest: Difference | None


@dataclass(frozen=True)
class Overview:
    """All figures of a project's overview, as page and API show them."""

    project: Project
    version: ConfigurationVersion | None
    configuration: ProjectConfiguration | None
    status: Status
    people: People
    days: list[Day]
    forecast: Forecast | None
    attention: Attention
    measures: list[Measure]
    shared_traces: int
    agreements: Mapping[str, PersonAgreement]
    approval: Approval | None
    lately: list[Activity]
    pause: Steering | None
    batches: list[BatchProgress]


def read_overview(request: HttpRequest, project: Project) -> Overview:
    """Read it all for the person who asks."""
    version = project.newest_version()
    configuration = _configuration(version)
    status = project_status(project, configuration.assignment.annotations_per_trace if configuration else 1)
    work, report = work_in(project), newest_report(project)
    people, days = work.people, work.days
    figures = report.figures if report else {}
    known = {RULE: attention_items_in(report, project, lambda: people)}
    return Overview(
        project=project,
        version=version,
        configuration=configuration,
        status=status,
        people=people,
        days=days,
        forecast=forecast(days, status.target - status.done),
        attention=_find_attention(request, project, known),
        measures=measures_in(figures),
        shared_traces=report.shared_traces if report else 0,
        agreements=people_in(figures),
        approval=_approval(project, configuration) if configuration else None,
        lately=recent_activity_in(project),
        pause=project_pause(project),
        batches=batches_at_a_glance(project, BATCHES_SHOWN),
    )


def _find_attention(request: HttpRequest, project: Project, known: Mapping[str, Iterable[AttentionItem]]) -> Attention:
    """What needs the person who asks, without what was dismissed; `known` as list_matters takes it."""
    dismissed = dismissed_keys(project)
    matters = list_matters(request, project, known)
    left = [matter for matter in matters if matter.key not in dismissed]
    return Attention(left[:ATTENTION_SHOWN], len(left), len(matters) - len(left))


def live_context(overview: Overview) -> dict[str, Any]:
    """What changes on the page while it is open, for dashboard/partials/live.html. Only times of day and dates: the
    answer is compared with the last one, and must not change by itself."""
    status, people = overview.status, overview.people
    return {
        "project": overview.project,
        "status": status,
        "status_rows": _status_rows(status),
        "unjudged_because": unjudged_because(overview.project) if status.unjudged else [],
        "people": people,
        "persons": [_person(one, people, overview.agreements) for one in people.shown],
        "median": duration(people.median) if people.median else "",
        "days": overview.days,
        "this_week": sum(day.annotations for day in overview.days[-7:]),
        "plot": _plot(overview.days, overview.forecast),
        "forecast": overview.forecast,
        "done_at": _done_at(overview),
        "attention": overview.attention,
        "dismissing": timezone.localtime(),
        "measures": overview.measures,
        "shared_traces": overview.shared_traces,
        "lately": overview.lately,
        "batches": overview.batches,
    }


def title_facts(overview: Overview) -> str:
    """The line under the title."""
    status = overview.status
    if not status.traces:
        return "No traces are imported yet"
    return f"{counted(status.traces, 'trace')}, {counted(status.target, 'annotation')} wanted in all"


def _configuration(version: ConfigurationVersion | None) -> ProjectConfiguration | None:
    try:
        return pinned(version.configuration) if version else None
    except UnreadablePinError:
        return None


def _person(annotator: Annotator, people: People, agreements: Mapping[str, PersonAgreement]) -> Person:
    agreement = agreements.get(annotator.name)
    return Person(
        annotator=annotator,
        took=duration(annotator.median) if annotator.median else "",
        agreement=agreement,
        is_flagged=agreement is not None and agreement.is_low and is_fast(annotator.median, people.median),
    )


def _plot(days: list[Day], expected: Forecast | None) -> DayPlot:
    begun = next((at for at, day in enumerate(days) if day.annotations), 0)
    # A project that is a few days old is drawn as wide as two weeks, not as a few bars at the edge of a month.
    shown = days[min(begun, max(len(days) - 14, 0)) :]
    if expected is None:
        return day_plot(shown)
    words = f"About {expected.a_day:.0f} a day are expected; {_range_in_words(expected)}."
    return day_plot(shown, expected.days, words)


def _done_at(overview: Overview) -> dict[str, str]:
    """When all is done at this pace: a date with its range, or words alone."""
    status, expected = overview.status, overview.forecast
    if status.traces and status.done >= status.target:
        return {"words": "All done", "more": ""}
    if expected is None:
        worked = sum(day.annotations > 0 for day in overview.days)
        if not worked:
            return {"words": "Not known yet", "more": f"after {DAYS_WITH_WORK} days with annotations"}
        left = DAYS_WITH_WORK - worked
        more = f"after {left} more {'day' if left == 1 else 'days'} with annotations" if left > 0 else ""
        return {"words": "Too early to say" if left > 0 else "Nothing came in lately", "more": more}
    if expected.likely is None:
        return {"words": "In over a year", "more": _range_in_words(expected)}
    return {"value": _day(expected.likely), "more": _range_in_words(expected)}


def _range_in_words(expected: Forecast) -> str:
    if expected.early is None:
        return "not within a year"
    if expected.late is None:
        return f"{_day(expected.early)} at the earliest"
    if expected.early == expected.late:
        return f"{_day(expected.early)} in 8 of 10 cases"
    return f"{_day(expected.early)} to {_day(expected.late)} in 8 of 10 cases"


def _day(day: date) -> str:
    return f"{day.day} {day:%b}" + ("" if day.year == timezone.localdate().year else f" {day.year}")


def _status_rows(status: Status) -> list[dict[str, Any]]:
    names = [name for name in _STATUS if name not in ("unjudged", "waiting") or getattr(status, name)]
    parts = [(name, getattr(status, name)) for name in names]
    return [
        {
            "piece": piece,
            "label": _STATUS[piece.label][0],
            "fill": _STATUS[piece.label][1],
            "swatch": _STATUS[piece.label][2],
        }
        for piece in pieces(parts)
    ]


def _approval(project: Project, configuration: ProjectConfiguration) -> Approval | None:
    """The share of annotations that accept the whole run, by agent model, under the first scheme that asks for it; None
    where none does, or of one model alone.

    Annotations of one trace are not independent of each other, so that an interval counts each trace once.
    """
    types = scheme_types()
    asking = ((scheme, types[scheme.annotation_type].accepts) for scheme in configuration.annotation_schemes)
    scheme, accepts = next(((scheme, accepts) for scheme, accepts in asking if accepts), (None, None))
    if scheme is None or accepts is None:
        return None
    question, value = accepts
    tallies = ProjectTally.objects.filter(organisation=project.organisation_id, project=project)
    by_agent = tallies.values_list("by_agent", flat=True).first() or {}
    traces = traces_by_agent(project) if len(by_agent) > 1 else {}
    shares = []
    for agent, counts in by_agent.items():
        decisions = counts.get(f"{scheme.annotation_type}/{scheme.name}", {}).get(question, {})
        total = sum(decisions.values())
        if agent and total and traces.get(agent):
            shares.append(wilson_share(agent, decisions.get(value, 0) / total, traces[agent]))
    if len(shares) < 2:
        return None
    shares.sort(key=lambda share: (-share.value, share.label))
    return Approval(scheme.name, shares[:AGENTS_SHOWN], widest_difference(shares[:AGENTS_SHOWN]))
