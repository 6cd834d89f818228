"""The figures of a project's page, read where they are kept: a fixed number of queries, whatever the project's size.

All of them are of annotations that count; surplus ones are told apart. The states of traces and of people's tasks are
as they are now, annotations as they are counted (dashboard.models), a moment later.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import Count, F, Max, Q, Sum
from django.db.models.functions import Least, TruncDate
from django.utils import timezone

from accounts.models import Project
from assignments.forecast import Day
from assignments.models import OPEN, Assignment, AssignmentState, TraceQuota
from assignments.models.queue import JUDGEABLE, UNFINISHED
from assignments.pool.stuck import stuck_quotas
from assignments.progress import Median
from assignments.submission_records import annotator_names
from dashboard.models import CountedAnnotation, ProjectTally
from potato.configuration import ProjectConfiguration
from potato.records.annotations import distributions
from potato.schemes.distributions import Distribution
from traces.listing import number_of_traces

DAYS = 30
WEEK = timedelta(days=7)
ANNOTATORS_SHOWN = 100


@dataclass(frozen=True)
class Status:
    """The traces of a project, each in one of the seven numbers, and the annotations that they need.

    `complete` have all annotations that are wanted; of the others `held` are with an annotator now, `started` have some
    annotations, `stuck` were skipped and have nobody left who could take them, `unjudged` are given to nobody because
    nothing of them can be judged, `waiting` wait in the pool or are held back, and `open` wait for anybody. `target`
    and `done` count annotations of what is released.
    """

    complete: int
    held: int
    started: int
    stuck: int
    unjudged: int
    waiting: int
    open: int
    target: int
    done: int

    @property
    def traces(self) -> int:
        return self.complete + self.held + self.started + self.stuck + self.unjudged + self.waiting + self.open


@dataclass(frozen=True)
class Annotator:
    """What one person did in a project, `this_week` in the last seven days. `median` is of the time at work, None
    where it is not known."""

    name: str
    submitted: int
    this_week: int
    surplus: int
    skipped: int
    open: int
    median: timedelta | None
    last_active: datetime


@dataclass(frozen=True)
class People:
    """The annotators with the most annotations, at most ANNOTATORS_SHOWN, and figures over all of them.

    `to_come` is how many annotations were submitted or withdrawn a moment ago, and are not counted so yet.
    """

    shown: list[Annotator]
    number: int
    annotations: int
    surplus: int
    skipped: int
    open: int
    to_come: int
    median: timedelta | None


def project_status(project: Project, per_trace: int) -> Status:
    """Traces that the queue has not taken in yet are open, and want `per_trace` annotations each."""
    quotas = TraceQuota.objects.for_project(project)
    figures = quotas.aggregate(
        queued=Count("pk"),
        complete=Count("pk", filter=Q(is_released=True, done__gte=F("target")) & JUDGEABLE),
        unjudged=Count("pk", filter=~JUDGEABLE),
        waiting=Count("pk", filter=Q(is_released=False) & JUDGEABLE),
        held=Count("pk", filter=UNFINISHED & Q(active__gt=0)),
        started=Count("pk", filter=UNFINISHED & Q(active=0, done__gt=0)),
        target_of_all=Sum("target", filter=Q(is_released=True), default=0),
        done_of_target=Sum(Least("done", "target"), filter=Q(is_released=True), default=0),
    )
    traces = number_of_traces(project)
    stuck = _stuck(project)
    started = figures["started"] - stuck["started"]
    over = figures["complete"] + figures["unjudged"] + figures["waiting"]
    unstuck = traces - over - figures["held"] - started - stuck["all"]
    return Status(
        complete=figures["complete"],
        held=figures["held"],
        started=started,
        stuck=stuck["all"],
        unjudged=figures["unjudged"],
        waiting=figures["waiting"],
        open=unstuck,
        target=figures["target_of_all"] + (traces - figures["queued"]) * per_trace,
        done=figures["done_of_target"],
    )


def last_days(project: Project, today: date | None = None) -> list[Day]:
    """Each of the last DAYS days, today being the last, in the site's time zone."""
    last = today or timezone.localdate()
    first = last - timedelta(days=DAYS - 1)
    since = timezone.make_aware(datetime.combine(first, datetime.min.time()))
    counted = CountedAnnotation.objects.for_project(project).counted().filter(submitted_at__gte=since)
    rows = counted.annotate(day=TruncDate("submitted_at")).values("day").annotate(number=Count("pk"))
    numbers = {row["day"]: row["number"] for row in rows}
    days = (first + timedelta(days=at) for at in range(DAYS))
    return [Day(day, numbers.get(day, 0)) for day in days]


def work_by_user(project: Project) -> dict[UUID, Annotator]:
    """What each person did who ever held a trace of the project; their names are not looked up."""
    acts, made = _acts(project), _made(project)
    return {user: _annotator("", row, made.get(user, {})) for user, row in acts.items()}


def median_active_time(project: Project) -> timedelta | None:
    """The median time at work of all annotations that count."""
    counted = CountedAnnotation.objects.for_project(project).counted()
    median: timedelta | None = counted.aggregate(median=Median(F("took")))["median"]
    return median


def _acts(project: Project) -> dict[UUID, Any]:
    held = Assignment.objects.for_project(project).by_annotators().order_by().values("user")
    return {
        row["user"]: row
        for row in held.annotate(
            open=Count("pk", filter=Q(state=OPEN)),
            submitted=Count("pk", filter=Q(state=AssignmentState.SUBMITTED)),
            skipped=Count("pk", filter=Q(state=AssignmentState.SKIPPED)),
            last=Max("since"),
        )
    }


def _made(project: Project) -> dict[UUID, Any]:
    counted = CountedAnnotation.objects.for_project(project)
    return {
        row["user"]: row
        for row in counted.values("user").annotate(
            submitted=Count("pk", filter=Q(is_surplus=False)),
            this_week=Count("pk", filter=Q(is_surplus=False, submitted_at__gt=timezone.now() - WEEK)),
            surplus=Count("pk", filter=Q(is_surplus=True)),
            median=Median(F("took"), filter=Q(is_surplus=False)),
        )
    }


def people_at_work(project: Project) -> People:
    """Everybody who ever held a trace of the project."""
    acts, made = _acts(project), _made(project)
    most = sorted(acts, key=lambda user: (-made.get(user, {}).get("submitted", 0), -acts[user]["last"].timestamp()))
    annotations, surplus = (sum(row[name] for row in made.values()) for name in ("submitted", "surplus"))
    names = annotator_names(most[:ANNOTATORS_SHOWN])
    return People(
        shown=[_annotator(names.get(user, ""), acts[user], made.get(user, {})) for user in most[:ANNOTATORS_SHOWN]],
        number=len(most),
        annotations=annotations,
        surplus=surplus,
        skipped=sum(row["skipped"] for row in acts.values()),
        open=sum(row["open"] for row in acts.values()),
        to_come=abs(sum(row["submitted"] for row in acts.values()) - annotations - surplus),
        median=median_active_time(project),
    )


def count_annotations(project: Project) -> int:
    """How many annotations of the project are counted, surplus ones among them."""
    return CountedAnnotation.objects.for_project(project).count()


def traces_by_agent(project: Project) -> dict[str, int]:
    """How many traces of each agent model have annotations."""
    judged = TraceQuota.objects.for_project(project).filter(done__gt=0, trace__organisation=project.organisation_id)
    counts = judged.order_by().values("trace__agent_model").annotate(number=Count("pk"))
    return dict(counts.values_list("trace__agent_model", "number"))


def chosen_distributions(project: Project, configuration: ProjectConfiguration) -> list[tuple[str, Distribution]]:
    """What was chosen in the annotations that count, by question, each with the name of its scheme."""
    tallies = ProjectTally.objects.filter(organisation=project.organisation_id, project=project)
    counts = tallies.values_list("counts", flat=True).first() or {}
    return [(scheme.name, distribution) for scheme, distribution in distributions(counts, configuration)]


def _annotator(name: str, acts: Mapping[str, Any], made: Mapping[str, Any]) -> Annotator:
    return Annotator(
        name=name,
        submitted=made.get("submitted", 0),
        this_week=made.get("this_week", 0),
        surplus=made.get("surplus", 0),
        skipped=acts["skipped"],
        open=acts["open"],
        median=made.get("median"),
        last_active=acts["last"],
    )


def _stuck(project: Project) -> dict[str, int]:
    figures: dict[str, int] = stuck_quotas(project).aggregate(
        all=Count("pk"), started=Count("pk", filter=Q(done__gt=0))
    )
    return figures
