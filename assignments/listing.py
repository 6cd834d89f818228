"""The lists of annotations: what they can be narrowed to, and the rows as a page shows them."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.db.models.functions import Left

from accounts.models import Membership, Project
from assignments.history import TASK_START, trace_title
from assignments.models import Assignment, AssignmentState, Submission, Withdrawal
from assignments.models.submissions import SubmissionQuerySet
from assignments.submission_records import annotator_names
from assignments.summaries import submission_summaries
from tenancy.actor import active_organisation
from traces.filters import Filters
from traces.listing import FilterOption

ANNOTATIONS_ON_A_PAGE = 50

STATES = {"counted": "Counted", "surplus": "Surplus", "withdrawn": "Withdrawn"}
_WITHDRAWN = Exists(Withdrawal.objects.filter(organisation=OuterRef("organisation"), submission=OuterRef("pk")))
_IN_STATE = {
    "counted": Q(~_WITHDRAWN, is_surplus=False),
    "surplus": Q(~_WITHDRAWN, is_surplus=True),
    "withdrawn": Q(_WITHDRAWN),
}


@dataclass(frozen=True)
class AnnotationFilters(Filters):
    """What an address asks a project's list of annotations for."""

    annotator: str = ""
    trace: str = ""
    state: str = ""
    show: str = ""

    allowed = {"state": STATES, "show": ("skips",)}

    @property
    def narrows(self) -> bool:
        return bool(self.annotator or self.trace or (self.state and not self.show))

    def submissions(self, project: Project) -> SubmissionQuerySet:
        """Those of the project that every filter lets through, newest first."""
        rows = Submission.objects.for_project(project)
        if self.state:
            rows = rows.filter(_IN_STATE[self.state])
        if self.trace:
            rows = rows.filter(assignment__trace__external_id__icontains=self.trace)
        if self.annotator:
            rows = rows.filter(assignment__user__in=_people(self.annotator))
        return rows.order_by("-pk")

    def skips(self, project: Project) -> "QuerySet[Assignment]":
        """Those of the project that were skipped, newest first."""
        rows: QuerySet[Assignment] = Assignment.objects.for_project(project).filter(state=AssignmentState.SKIPPED)
        if self.trace:
            rows = rows.filter(trace__external_id__icontains=self.trace)
        if self.annotator:
            rows = rows.filter(user__in=_people(self.annotator))
        return rows.order_by("-since", "-pk")

    def annotators(self, project: Project) -> list[FilterOption]:
        """Everybody who has rows in what is shown, by name."""
        field = "user" if self.show else "assignment__user"
        others = replace(self, annotator="")
        rows: QuerySet[Any] = others.skips(project) if self.show else others.submissions(project)
        counted = rows.order_by().values(field).annotate(rows=Count("pk"))
        counts: dict[UUID, int] = {row[field]: row["rows"] for row in counted}
        names = annotator_names(counts)
        return sorted(
            (FilterOption(name, name, counts[user]) for user, name in names.items()),
            key=lambda choice: choice.label.lower(),
        )

    def states(self, project: Project) -> list[FilterOption]:
        rows = replace(self, state="").submissions(project).order_by()
        counts = rows.aggregate(**{name: Count("pk", filter=condition) for name, condition in _IN_STATE.items()})
        return [FilterOption(name, label, counts[name]) for name, label in STATES.items()]


@dataclass(frozen=True)
class SubmissionRow:
    """A submission in a list. `state` is a key of STATES."""

    id: UUID
    title: str
    trace: str
    trace_version: int
    project: str
    slug: str
    annotator: str
    submitted_at: datetime
    words: str
    state: str

    @property
    def label(self) -> str:
        return STATES[self.state]


@dataclass(frozen=True)
class SkipRow:
    """A skipped trace in a list."""

    title: str
    trace: str
    trace_version: int
    annotator: str
    at: datetime
    reason: str


def as_listed(submissions: SubmissionQuerySet) -> "QuerySet[Any]":
    """With all that rows_of() reads; long texts of the traces are not read."""  # Any: what is annotated
    joined = submissions.with_withdrawal().select_related("project", "assignment", "assignment__trace")
    return joined.annotate(task_start=Left("assignment__trace__task", TASK_START)).defer(
        "assignment__trace__task", "assignment__trace__report", "project__draft"
    )


def submission_rows(submissions: Iterable[Any]) -> list[SubmissionRow]:
    """The rows of one page of `as_listed`, with two queries more: who they are, and what they were made under."""
    submissions = list(submissions)
    words = submission_summaries(submissions)
    names = annotator_names(submission.assignment.user_id for submission in submissions)
    return [
        SubmissionRow(
            id=submission.pk,
            title=trace_title(submission.task_start, submission.assignment.trace.external_id),
            trace=submission.assignment.trace.external_id,
            trace_version=submission.assignment.trace.version,
            project=submission.project.name,
            slug=submission.project.slug,
            annotator=names.get(submission.assignment.user_id, ""),
            submitted_at=submission.submitted_at,
            words=", ".join(words[submission.pk]),
            state=submission_state(submission),
        )
        for submission in submissions
    ]


def submission_state(submission: Any) -> str:
    """A key of STATES, of a submission that `with_withdrawal` was asked for."""
    if submission.is_withdrawn:
        return "withdrawn"
    return "surplus" if submission.is_surplus else "counted"


def skips_as_listed(skips: "QuerySet[Assignment]") -> "QuerySet[Any]":
    with_trace = skips.select_related("trace").defer("trace__task", "trace__report")
    return with_trace.annotate(task_start=Left("trace__task", TASK_START))


def skip_rows(skips: Iterable[Any]) -> list[SkipRow]:
    skips = list(skips)
    names = annotator_names(skip.user_id for skip in skips)
    return [
        SkipRow(
            title=trace_title(skip.task_start, skip.trace.external_id),
            trace=skip.trace.external_id,
            trace_version=skip.trace.version,
            annotator=names.get(skip.user_id, ""),
            at=skip.since,
            reason=skip.skip_reason,
        )
        for skip in skips
    ]


def _people(annotator: str) -> "QuerySet[Membership, Any]":
    # The organisation is named, because a person may also read their own memberships of other ones.
    members = Membership.objects.filter(organisation=active_organisation(), annotator_name=annotator)
    return members.values("user")
