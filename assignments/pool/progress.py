"""How far each batch is, at which pace, and why people skipped what they were given."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import Count, F, Q, Sum
from django.db.models.functions import Least, TruncDate
from django.utils import timezone

from accounts.models import Project
from assignments.activity import work_time
from assignments.forecast import LOOKED_BACK, Day, Forecast, forecast
from assignments.models import Assignment, AssignmentState, Batch, BatchPerson, BatchState, Kind, Submission, TraceQuota
from assignments.models.queue import JUDGEABLE
from assignments.pool.selecting import Selection
from assignments.progress import Median
from assignments.skip_presets import SKIP_PRESETS


@dataclass(frozen=True)
class BatchRow:
    """A batch in the list. `traces` are judged or to be judged. `forecast` is None where nobody asked for it, and where
    the batch waits for nothing."""

    batch: Batch
    selection: str
    traces: int
    complete: int
    target: int
    done: int
    held: int
    people: int
    forecast: Forecast | None

    @property
    def is_complete(self) -> bool:
        return bool(self.traces) and self.complete == self.traces

    @property
    def state_label(self) -> str:
        is_over = self.is_complete and self.batch.state == BatchState.OPEN
        return "Complete" if is_over else str(self.batch.get_state_display())

    @property
    def tone(self) -> str:
        if self.batch.state == BatchState.PAUSED:
            return "warn"
        if self.batch.state != BatchState.OPEN:
            return "neutral"
        return "correct" if self.is_complete else "a"

    @property
    def is_late(self) -> bool:
        if self.batch.deadline is None or self.is_complete or self.batch.state == BatchState.WITHDRAWN:
            return False
        if timezone.localdate() > self.batch.deadline:
            return True
        return self.forecast is not None and self.forecast.may_end_after(self.batch.deadline)


@dataclass(frozen=True)
class BatchProgress:
    """How many of a batch's traces are complete, of those that are judged or to be judged."""

    batch: Batch
    traces: int
    complete: int


@dataclass(frozen=True)
class Skips:
    total: int
    reasons: list[tuple[str, int]]


def batch_rows(project: Project, days: Sequence[Day] | None = None) -> list[BatchRow]:
    """All batches in the order in which they are given out, withdrawn ones last; a fixed number of queries.

    With `days`, those of `daily_annotations`, each says when it will be done.
    """
    quotas = TraceQuota.objects.for_project(project).filter(batch__isnull=False, withheld="").order_by()
    figures = quotas.values("batch").annotate(
        traces=Count("pk", filter=JUDGEABLE),
        complete=Count("pk", filter=JUDGEABLE & Q(done__gte=F("target"))),
        target_of_all=Sum("target"),
        done_of_target=Sum(Least("done", "target")),
        held=Sum("active"),
    )
    counts: dict[UUID, dict[str, Any]] = {row["batch"]: dict(row) for row in figures}
    people = BatchPerson.objects.filter(organisation=project.organisation_id, batch__project=project).order_by()
    named = {row["batch"]: row["number"] for row in people.values("batch").annotate(number=Count("pk"))}
    rows, before = [], 0
    batches = list(Batch.objects.for_project(project).in_turn())
    for batch in sorted(batches, key=lambda batch: batch.state == BatchState.WITHDRAWN):
        figure = counts.get(batch.pk, {})
        left = figure.get("target_of_all", 0) - figure.get("done_of_target", 0)
        is_waited_for = batch.state == BatchState.OPEN and left > 0
        before += left if is_waited_for else 0
        rows.append(
            BatchRow(
                batch=batch,
                selection=Selection.from_data(batch.selection).description,
                traces=figure.get("traces", 0),
                complete=figure.get("complete", 0),
                target=figure.get("target_of_all", 0),
                done=figure.get("done_of_target", 0),
                held=figure.get("held", 0),
                people=named.get(batch.pk, 0) if batch.is_restricted else 0,
                forecast=forecast(days, before) if is_waited_for and days is not None else None,
            )
        )
    return rows


def batches_at_a_glance(project: Project, most: int) -> list[BatchProgress]:
    """The first batches that are given out, or are paused, in their turn."""
    going = Batch.objects.for_project(project).filter(state__in=(BatchState.OPEN, BatchState.PAUSED))
    batches = list(going.in_turn()[:most])
    rows = TraceQuota.objects.for_project(project).filter(JUDGEABLE, batch__in=batches, withheld="").order_by()
    counted = rows.values_list("batch").annotate(
        traces=Count("pk"), complete=Count("pk", filter=Q(done__gte=F("target")))
    )
    figures = {batch: (traces, complete) for batch, traces, complete in counted}
    return [BatchProgress(batch, *figures.get(batch.pk, (0, 0))) for batch in batches]


def daily_annotations(project: Project) -> list[Day]:
    """Each of the last days that a forecast looks at, today being the last, in the site's time zone."""
    first = timezone.localdate() - timedelta(days=LOOKED_BACK)
    since = timezone.make_aware(datetime.combine(first, datetime.min.time()))
    rows = Submission.objects.for_project(project).counted().filter(submitted_at__gte=since).order_by()
    days = rows.annotate(day=TruncDate("submitted_at")).values("day").annotate(number=Count("pk"))
    numbers = {row["day"]: row["number"] for row in days}
    dates = (first + timedelta(days=at) for at in range(LOOKED_BACK + 1))
    return [Day(day, numbers.get(day, 0)) for day in dates]


def median_time(project: Project) -> timedelta | None:
    """Of the time at work, None where nobody knows."""
    own = Submission.objects.for_project(project).counted().filter(assignment__claimed_at__isnull=False)
    took: timedelta | None = own.aggregate(median=Median(work_time()))["median"]
    return took


def skips(project: Project) -> Skips:
    """Why tasks were skipped: the presets by their number, own words together."""
    rows = Assignment.objects.for_project(project).filter(state=AssignmentState.SKIPPED, kind=Kind.NORMAL)
    counted = rows.order_by().values("skip_reason").annotate(number=Count("pk"))
    reasons: Counter[str] = Counter()
    for row in counted:
        is_preset = row["skip_reason"] in SKIP_PRESETS
        reasons[row["skip_reason"] if is_preset else "Other, in words"] += row["number"]
    return Skips(sum(reasons.values()), reasons.most_common())


def released_batches(project: Project) -> list[dict[str, Any]]:
    """How the project's traces were chosen, as a manifest says it: the same selection draws the same traces again."""
    batches = Batch.objects.for_project(project).filter(released_at__isnull=False).order_by("number")
    return [
        {
            "number": batch.number,
            "name": batch.name,
            "state": batch.state,
            "redundancy": batch.redundancy,
            "selection": batch.selection,
        }
        for batch in batches
    ]
