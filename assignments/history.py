"""What one person did: the days of this week, and what happened last."""

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from heapq import nlargest
from statistics import median
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef
from django.db.models.functions import Left
from django.utils import timezone

from accounts.models import User
from assignments.activity import work_time
from assignments.hidden_outcomes import visible_decisions
from assignments.models import Assignment, AssignmentState, Decision, Draft, Outcome, QuestionAnswer, Submission
from assignments.models.claims import CLAIMED_KINDS
from assignments.summaries import submission_summaries
from potato.wording import shortened
from tenancy.actor import active_organisation
from traces.listing import first_line

EVENTS = 8
TASK_START = 400
"""A task's first line is looked for in so many characters."""

_ENDS = {
    AssignmentState.SKIPPED: ("skip-forward", "You skipped", "Your reason: "),
    AssignmentState.EXPIRED: ("timer", "Your time ended for", "It went back to the queue"),
    AssignmentState.RELEASED: ("rotate-ccw", "You released", "It went back to the queue"),
}
_DECIDED = {
    Outcome.ACCEPTED: ("check", "A reviewer accepted", ""),
    Outcome.RETURNED: ("undo-2", "A reviewer returned", "It waits for you among your tasks"),
    Outcome.CORRECTED: ("pencil", "A reviewer corrected", "The correction counts in its place, yours is kept"),
    Outcome.VOIDED: ("ban", "A reviewer voided", "It does not count any more"),
    Outcome.UNDECIDED: ("undo-2", "A reviewer took back a decision of", ""),
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
    """Something that a person did, or that happened to their work: `words`, the title of the trace, then `after`.

    It leads to a `submission`, or to an `assignment` that can be gone on with.
    """

    at: datetime
    icon: str
    words: str
    title: str
    project: str
    slug: str
    after: str = ""
    submission: UUID | None = None
    assignment: UUID | None = None


def this_week(user: User, projects: Collection[UUID]) -> Week:
    """The person's own week in these projects, in the site's time zone."""
    today = timezone.localdate()
    monday = today - timedelta(days=today.weekday())
    begin = timezone.make_aware(datetime.combine(monday, datetime.min.time()))
    own = Submission.objects.counted_for_person().of(user).in_projects(projects).filter(submitted_at__gte=begin)
    rows = list(own.annotate(took=work_time()).values_list("submitted_at", "took"))
    counts = Counter(timezone.localdate(submitted_at) for submitted_at, _ in rows)
    took = [time.total_seconds() for _, time in rows if time is not None]
    days = (monday + timedelta(days=at) for at in range(7))
    return Week(
        tuple(Day(day, counts[day], day <= today) for day in days), timedelta(seconds=median(took)) if took else None
    )


def recent_events(user: User, projects: Collection[UUID]) -> list[Event]:
    """The last EVENTS of the person's work in these projects, newest first, with a fixed number of queries."""
    events = [
        *_submissions(user, projects),
        *_withdrawals(user, projects),
        *_decisions(user, projects),
        *_answers(user, projects),
        *_ends(user, projects),
    ]
    return nlargest(EVENTS, events, key=lambda event: event.at)


def trace_title(task_start: str, external_id: str) -> str:
    """What a page calls a trace: the first line of its task, or its id where no task is given."""
    return first_line(task_start) or external_id


def _submissions(user: User, projects: Collection[UUID]) -> Iterator[Event]:
    made_by_reviewer = Decision.objects.filter(organisation=OuterRef("organisation"), correction=OuterRef("pk"))
    own = Submission.objects.of(user).in_projects(projects).exclude(Exists(made_by_reviewer))
    own = own.select_related("assignment__trace", "project")
    with_task = own.annotate(task_start=Left("assignment__trace__task", TASK_START))
    lean = with_task.defer("project__draft", "assignment__trace__task", "assignment__trace__report")
    last: list[Any] = list(lean.order_by("-pk")[:EVENTS])  # Any: what is annotated
    words = submission_summaries(last)
    for submission in last:
        sentences = [", ".join(words[submission.pk])]
        if submission.is_surplus:
            sentences.append("It came late and is surplus: others had its place, so it does not count")
        yield Event(
            at=submission.submitted_at,
            icon="check-check",
            words="You submitted",
            title=trace_title(submission.task_start, submission.assignment.trace.external_id),
            project=submission.project.name,
            slug=submission.project.slug,
            after=". ".join(filter(None, sentences)),
            submission=submission.pk,
        )


def _withdrawals(user: User, projects: Collection[UUID]) -> Iterator[Event]:
    own = Submission.objects.of(user).in_projects(projects).filter(withdrawals__isnull=False)
    rows = own.order_by("-withdrawals__withdrawn_at").values_list(
        "pk",
        "withdrawals__withdrawn_at",
        Left("assignment__trace__task", TASK_START),
        "assignment__trace__external_id",
        "project__name",
        "project__slug",
    )
    for pk, withdrawn_at, task, external_id, project, slug in rows[:EVENTS]:
        yield Event(
            withdrawn_at, "undo-2", "You took back", trace_title(task, external_id), project, slug, submission=pk
        )


def _decisions(user: User, projects: Collection[UUID]) -> Iterator[Event]:
    """What reviewers decided of the person's work, also what they took back."""
    own = Submission.objects.of(user).in_projects(projects)
    made = Decision.objects.filter(organisation=active_organisation(), project__in=projects, submission__in=own)
    rows = (
        visible_decisions(made)
        .order_by("-decided_at")
        .values_list(
            "submission",
            "decided_at",
            "outcome",
            "takes_back",
            "notes",
            Left("submission__assignment__trace__task", TASK_START),
            "submission__assignment__trace__external_id",
            "project__name",
            "project__slug",
        )
    )
    for pk, at, outcome, takes_back, notes, task, external_id, project, slug in rows[:EVENTS]:
        icon, words, after = _DECIDED[Outcome.UNDECIDED if takes_back else Outcome(outcome)]
        many = len(notes)
        sentences = [after, f"{many} note{'' if many == 1 else 's'} for you" if many else ""]
        yield Event(
            at=at,
            icon=icon,
            words=words,
            title=trace_title(task, external_id),
            project=project,
            slug=slug,
            after=". ".join(filter(None, sentences)),
            submission=pk,
        )


def _answers(user: User, projects: Collection[UUID]) -> Iterator[Event]:
    """What managers answered to the person's questions; the task is gone on with where it is held."""
    rows = QuestionAnswer.objects.filter(
        organisation=active_organisation(), question__project__in=projects, question__assignment__user=user
    )
    listed = rows.order_by("-answered_at").values_list(
        "answered_at",
        "text",
        Left("question__assignment__trace__task", TASK_START),
        "question__assignment__trace__external_id",
        "question__project__name",
        "question__project__slug",
        "question__assignment",
        "question__assignment__state",
    )
    for at, text, task, external_id, project, slug, assignment, state in listed[:EVENTS]:
        yield Event(
            at=at,
            icon="message-square",
            words="Your question was answered:",
            title=trace_title(task, external_id),
            project=project,
            slug=slug,
            after=shortened(text),
            assignment=assignment if state == AssignmentState.CLAIMED else None,
        )


def _ends(user: User, projects: Collection[UUID]) -> Iterator[Event]:
    """What ended without a submission: each assignment says only what became of it last."""
    own = (
        Assignment.objects.of(user)
        .filter(organisation=active_organisation(), project__in=projects, state__in=_ENDS.keys())
        .filter(kind__in=CLAIMED_KINDS)
    )
    rows = own.order_by("-since").values_list(
        "pk",
        "since",
        "state",
        Left("trace__task", TASK_START),
        "trace__external_id",
        "project__name",
        "project__slug",
        "skip_reason",
        Exists(_DRAFT),
    )
    for pk, since, state, task, external_id, project, slug, reason, has_draft in rows[:EVENTS]:
        icon, words, after = _ENDS[AssignmentState(state)]
        is_over = state == AssignmentState.SKIPPED
        kept = "" if is_over or not has_draft else ". Your draft is kept"
        yield Event(
            at=since,
            icon=icon,
            words=words,
            title=trace_title(task, external_id),
            project=project,
            slug=slug,
            after=f"{after}{reason}{kept}",
            assignment=None if is_over else pk,
        )
