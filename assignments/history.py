"""What one person did: the days of this week, and what happened last."""

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from heapq import nlargest
from statistics import median
from uuid import UUID

from django.db.models import Exists, F, OuterRef
from django.db.models.functions import Left
from django.utils import timezone

from accounts.models import User
from assignments.models import Assignment, AssignmentState, Draft, Submission
from assignments.summaries import summaries_of
from tenancy.actor import active_organisation
from traces.listing import first_line

EVENTS = 8
TASK_START = 400
"""A task's first line is looked for in so many characters."""

_ENDS = {
    AssignmentState.SKIPPED: ("skip-forward", "You skipped", "Your reason:"),
    AssignmentState.EXPIRED: ("timer", "Your time ended for", "It went back to the queue."),
    AssignmentState.RELEASED: ("rotate-ccw", "You released", "It went back to the queue."),
}
_DRAFT = Draft.objects.filter(organisation=OuterRef("organisation"), assignment=OuterRef("pk"))


@dataclass(frozen=True)
class Day:
    """One day of a week, with the submissions that count."""

    date: date
    submissions: int
    has_come: bool


@dataclass(frozen=True)
class Week:
    """Monday to Sunday: submissions that count, by day, and the median time that they took, if it is known."""

    days: tuple[Day, ...]
    median: timedelta | None

    @property
    def submissions(self) -> int:
        return sum(day.submissions for day in self.days)


@dataclass(frozen=True)
class Event:
    """Something that a person did, or that happened to their work: `words`, the task, then `after`."""

    at: datetime
    icon: str
    words: str
    task: str
    project: str
    after: str = ""
    submission: UUID | None = None


def this_week(user: User, projects: Collection[UUID]) -> Week:
    """The person's own week in these projects, in the site's time zone."""
    today = timezone.localdate()
    monday = today - timedelta(days=today.weekday())
    begin = timezone.make_aware(datetime.combine(monday, datetime.min.time()))
    own = Submission.objects.counted().of(user).in_projects(projects).filter(submitted_at__gte=begin)
    rows = list(own.values_list("submitted_at", "assignment__claimed_at"))
    counts = Counter(timezone.localdate(submitted_at) for submitted_at, _ in rows)
    took = [submitted_at - claimed_at for submitted_at, claimed_at in rows if claimed_at]
    days = (monday + timedelta(days=at) for at in range(7))
    return Week(tuple(Day(day, counts[day], day <= today) for day in days), median(took) if took else None)


def recent_events(user: User, projects: Collection[UUID]) -> list[Event]:
    """The last EVENTS of the person's work in these projects, newest first, with a fixed number of queries."""
    events = [*_submissions(user, projects), *_withdrawals(user, projects), *_ends(user, projects)]
    return nlargest(EVENTS, events, key=lambda event: event.at)


def _submissions(user: User, projects: Collection[UUID]) -> Iterator[Event]:
    own = Submission.objects.of(user).in_projects(projects).select_related("assignment", "project")
    last = list(own.annotate(task_start=Left("assignment__trace__task", TASK_START)).order_by("-pk")[:EVENTS])
    words = summaries_of(last)
    for submission in last:
        said = ", ".join(words[submission.pk])
        extra = "as an extra annotation, which does not count" if submission.is_surplus else ""
        yield Event(
            at=submission.submitted_at,
            icon="check-check",
            words="You submitted",
            task=first_line(submission.task_start),
            project=submission.project.name,
            after=", ".join(filter(None, (extra, said))),
            submission=submission.pk,
        )


def _withdrawals(user: User, projects: Collection[UUID]) -> Iterator[Event]:
    own = Submission.objects.of(user).in_projects(projects)
    rows = (
        own.filter(withdrawals__isnull=False)
        .order_by("-pk")
        .annotate(withdrawn_at=F("withdrawals__withdrawn_at"), task_start=Left("assignment__trace__task", TASK_START))
    )
    for pk, withdrawn_at, task, project in rows.values_list("pk", "withdrawn_at", "task_start", "project__name")[
        :EVENTS
    ]:
        yield Event(withdrawn_at, "undo-2", "You took back", first_line(task), project, submission=pk)


def _ends(user: User, projects: Collection[UUID]) -> Iterator[Event]:
    """What ended without a submission: each assignment says only what became of it last."""
    own = Assignment.objects.of(user).filter(
        organisation=active_organisation(), project__in=projects, state__in=_ENDS.keys()
    )
    with_task = own.annotate(task_start=Left("trace__task", TASK_START), has_draft=Exists(_DRAFT))
    rows = with_task.order_by("-since").values_list(
        "since", "state", "task_start", "project__name", "skip_reason", "has_draft"
    )
    for since, state, task, project, reason, has_draft in rows[:EVENTS]:
        icon, words, after = _ENDS[AssignmentState(state)]
        kept = "Your draft is kept." if has_draft and state != AssignmentState.SKIPPED else ""
        yield Event(since, icon, words, first_line(task), project, " ".join(filter(None, (after, reason, kept))))
