"""The lists of annotations: what they can be narrowed to, and the rows as a page shows them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import (
    Case,
    Count,
    DurationField,
    Exists,
    ExpressionWrapper,
    F,
    OuterRef,
    Q,
    QuerySet,
    Value,
    When,
)
from django.db.models.functions import Left
from django.utils import timezone

from accounts.filters import ActiveFilter, FilterOption, Filters
from accounts.models import Membership, Project
from assignments.activity import at_work
from assignments.decisions import OUTCOMES, UNDECIDED, decided_as, newest_decider, newest_number, newest_outcome
from assignments.hidden_outcomes import hiding_projects
from assignments.history import TASK_START, trace_title
from assignments.models import Assignment, AssignmentState, Note, Outcome, Submission
from assignments.models.submissions import SubmissionQuerySet, is_replaced, is_set_aside, is_withdrawn
from assignments.submission_records import annotator_names, elapsed, initials
from assignments.summaries import ShownChoice, submission_briefs
from assignments.wording import duration
from tenancy.actor import active_organisation
from traces.listing import NOT_GIVEN, OPTIONS_SHOWN

ANNOTATIONS_ON_A_PAGE = 50

STATES = {
    "counted": "Counted",
    "surplus": "Surplus",
    "withdrawn": "Withdrawn",
    "replaced": "Replaced",
    "set_aside": "Set aside",
}
SINCE = {"day": ("Today", 1), "week": ("7 days", 7), "month": ("30 days", 30)}
_NOTED = Exists(Note.objects.filter(organisation=OuterRef("organisation"), submission=OuterRef("pk")))
NOTES = {"with": "With notes", "without": "Without notes"}
_NOT_SET_ASIDE = ~Q(is_withdrawn()) & ~Q(is_replaced()) & ~Q(is_set_aside())
_IN_STATE = {
    "counted": _NOT_SET_ASIDE & Q(is_surplus=False),
    "surplus": _NOT_SET_ASIDE & Q(is_surplus=True),
    "withdrawn": Q(is_withdrawn()),
    "replaced": Q(is_replaced()) & ~Q(is_withdrawn()),
    "set_aside": Q(is_set_aside()) & ~Q(is_withdrawn()) & ~Q(is_replaced()),
}
# At work, else from the claim to the submission; 0 where neither is known.
_TIME = Case(
    When(active_seconds__isnull=False, then=at_work()),
    When(
        assignment__claimed_at__lte=F("submitted_at"),
        then=ExpressionWrapper(F("submitted_at") - F("assignment__claimed_at"), output_field=DurationField()),
    ),
    default=Value(timedelta()),
    output_field=DurationField(),
)


@dataclass(frozen=True)
class Sort:
    """A way to sort the list, by a column's expression and then by id; None is by id alone, which is by time."""

    by: Any | None
    is_falling: bool


SORTS = {
    "newest": Sort(None, True),
    "oldest": Sort(None, False),
    "task": Sort(F("assignment__trace__external_id"), False),
    "task-back": Sort(F("assignment__trace__external_id"), True),
    "longest": Sort(_TIME, True),
    "shortest": Sort(_TIME, False),
}


@dataclass(frozen=True)
class AnnotationFilters(Filters):
    """What an address asks a list of annotations for: a project's, or one's own, which `project` narrows."""

    annotator: str = ""
    trace: str = ""
    state: str = ""
    agent: str = ""
    version: str = ""
    since: str = ""
    notes: str = ""
    decision: str = ""
    project: str = ""
    show: str = ""
    sort: str = "newest"

    allowed = {"state": STATES, "show": ("skips",), "since": SINCE, "notes": NOTES, "sort": SORTS, "decision": OUTCOMES}

    @property
    def narrows(self) -> bool:
        return bool(self.active())

    def active(self) -> list[ActiveFilter]:
        """Each filter that narrows what is shown, with the address without it."""
        shown = {"trace": ("Search", self.trace), "annotator": ("Annotator", self.annotator)}
        if not self.show:
            shown |= {
                "state": ("State", STATES.get(self.state, "")),
                "agent": ("Agent", "not known" if self.agent == NOT_GIVEN else self.agent),
                "version": ("Version", self.version),
                "since": ("Submitted", SINCE[self.since][0] if self.since else ""),
                "notes": ("Notes", NOTES.get(self.notes, "")),
                "decision": ("Decision", OUTCOMES.get(self.decision, "")),
                "project": ("Project", self.project),
            }
        return [
            ActiveFilter(label, value, self.query_string(**{name: ""}))
            for name, (label, value) in shown.items()
            if value
        ]

    def submissions(self, project: Project) -> SubmissionQuerySet:
        """Those of the project that every filter lets through, in no order; without those that only show how somebody
        works."""
        return self.chosen(Submission.objects.for_project(project).filter(is_check=False))

    def chosen(self, rows: SubmissionQuerySet) -> SubmissionQuerySet:
        """Those of the rows that every filter lets through, in no order."""
        if self.state:
            rows = rows.filter(_IN_STATE[self.state])
        if self.trace:
            rows = rows.filter(_named(self.trace, "assignment__trace__") | _with_id(self.trace))
        if self.annotator:
            rows = rows.filter(assignment__user__in=_people(self.annotator))
        if self.agent:
            rows = rows.filter(assignment__trace__agent_model="" if self.agent == NOT_GIVEN else self.agent)
        if self.version:
            number = int(self.version) if self.version.isascii() and self.version.isdecimal() else 0
            rows = rows.filter(assignment__version__number=min(number, 2**31 - 1))
        if self.since:
            rows = rows.filter(submitted_at__gte=timezone.now() - timedelta(days=SINCE[self.since][1]))
        if self.notes:
            rows = rows.filter(_NOTED if self.notes == "with" else ~_NOTED)
        if self.decision:
            rows = rows.filter(decided_as(self.decision))
        return rows

    def keyed(self, rows: "QuerySet[Any]") -> "QuerySet[Any]":
        """With what they are sorted by, as `sorted_by`."""
        by = SORTS[self.sort].by
        return rows if by is None else rows.annotate(sorted_by=by)

    def ordered(self, rows: "QuerySet[Any]", *, is_backwards: bool = False) -> "QuerySet[Any]":
        """In the order that is asked for."""
        sign = "-" if SORTS[self.sort].is_falling != is_backwards else ""
        if SORTS[self.sort].by is None:
            return rows.order_by(f"{sign}pk")
        return self.keyed(rows).order_by(f"{sign}sorted_by", f"{sign}pk")

    def beside(self, rows: "QuerySet[Any]", row: Any, *, is_before: bool) -> "QuerySet[Any]":
        """Those before or after a row of `keyed`, the nearest first."""
        sort = SORTS[self.sort]
        compare = "lt" if is_before != sort.is_falling else "gt"
        beyond = Q(**{f"pk__{compare}": row.pk})
        if sort.by is not None:
            beyond = Q(**{f"sorted_by__{compare}": row.sorted_by}) | Q(sorted_by=row.sorted_by) & beyond
        return self.ordered(self.keyed(rows).filter(beyond), is_backwards=is_before)

    def skips(self, project: Project) -> "QuerySet[Assignment]":
        """Those of the project that were skipped, newest first."""
        annotated = Assignment.objects.for_project(project).by_annotators()
        rows: QuerySet[Assignment] = annotated.filter(state=AssignmentState.SKIPPED)
        if self.trace:
            rows = rows.filter(_named(self.trace, "trace__"))
        if self.annotator:
            rows = rows.filter(user__in=_people(self.annotator))
        return rows.order_by("-since", "-pk")

    def annotators(self, project: Project) -> tuple[list[FilterOption], dict[UUID, str]]:
        """Everybody who has rows in what is shown, by name, and these names by the people's ids."""
        field = "user" if self.show else "assignment__user"
        others = replace(self, annotator="")
        rows: QuerySet[Any] = others.skips(project) if self.show else others.submissions(project)
        counted = rows.order_by().values(field).annotate(rows=Count("pk"))
        counts: dict[UUID, int] = {row[field]: row["rows"] for row in counted}
        names = annotator_names(counts)
        options = (FilterOption(name, name, counts[user]) for user, name in names.items())
        return sorted(options, key=lambda choice: choice.label.lower()), names

    def states(self, rows: SubmissionQuerySet) -> list[FilterOption]:
        """How many of the rows are in each state, whatever state is asked for."""
        chosen = replace(self, state="").chosen(rows).order_by()
        counts = chosen.aggregate(**{name: Count("pk", filter=condition) for name, condition in _IN_STATE.items()})
        return [FilterOption(name, label, counts[name]) for name, label in STATES.items()]

    def decisions(self, rows: SubmissionQuerySet) -> list[FilterOption]:
        """How many of the rows are decided each way, whatever decision is asked for."""
        chosen = replace(self, decision="").chosen(rows).order_by()
        counts = chosen.aggregate(**{name: Count("pk", filter=decided_as(name)) for name in OUTCOMES})
        return [FilterOption(name, label, counts[name]) for name, label in OUTCOMES.items()]

    def agents(self, rows: SubmissionQuerySet) -> list[FilterOption]:
        """The agents' models among the rows, the most frequent first."""
        counted = _counts(replace(self, agent="").chosen(rows), "assignment__trace__agent_model")
        return [FilterOption(value or NOT_GIVEN, value or "Not known", count) for value, count in counted]

    def versions(self, rows: SubmissionQuerySet) -> list[FilterOption]:
        """The versions of the configuration that the rows were made under, the newest first."""
        counted = _counts(replace(self, version="").chosen(rows), "assignment__version__number")
        return [
            FilterOption(str(number), f"Version {number}", count) for number, count in sorted(counted, reverse=True)
        ]


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
    avatar: str
    agent: str
    trace_id: UUID
    version: int
    submitted_at: datetime
    took: timedelta | None
    """From the claim to the submission."""
    active: timedelta | None
    """At work on it."""
    choice: ShownChoice | None
    words: str
    state: str
    is_noted: bool
    outcome: str
    """A key of OUTCOMES, or "" where nothing is decided."""
    decisions_seen: int
    """How many decisions there are."""
    decided_by: str

    @property
    def label(self) -> str:
        return STATES[self.state]

    @property
    def decision(self) -> str:
        return OUTCOMES[self.outcome] if self.outcome else ""

    @property
    def time(self) -> str:
        """At work on it, else from the claim to the submission, in words; "" where neither is known."""
        took = self.took if self.active is None else self.active
        return "" if took is None else duration(took)

    @property
    def time_says(self) -> str:
        """What the time is of, and the other one beside it."""
        if self.active is None:
            return "From the claim to the submission; the time at work is not known" if self.took else ""
        return f"At work; {duration(self.took)} from the claim to the submission" if self.took else "At work"


@dataclass(frozen=True)
class SkipRow:
    """A skipped trace in a list."""

    title: str
    trace: str
    trace_version: int
    annotator: str
    at: datetime
    reason: str


def as_listed(submissions: Any) -> "QuerySet[Any]":
    """With all that submission_rows() reads; long texts of the traces are not read."""  # Any: what is annotated
    joined = submissions.with_state().select_related(
        "project", "assignment", "assignment__trace", "assignment__version"
    )
    listed: QuerySet[Any] = joined.annotate(
        task_start=Left("assignment__trace__task", TASK_START),
        is_noted=_NOTED,
        outcome=newest_outcome(),
        decisions_seen=newest_number(),
        decided_by=newest_decider(),
    ).defer(
        "assignment__trace__task",
        "assignment__trace__report",
        "project__draft",
        "assignment__version__source",
        "assignment__version__configuration",
    )
    return listed


def submission_rows(submissions: Iterable[Any], names: Mapping[UUID, str] | None = None) -> list[SubmissionRow]:
    """The rows of one page of `as_listed`, with a query of what they were made under, and one of the annotators' names
    where the caller does not know them."""
    submissions = list(submissions)
    briefs = submission_briefs(submissions)
    if names is None:
        names = annotator_names(submission.assignment.user_id for submission in submissions)
    deciders = {submission.decided_by for submission in submissions if submission.decided_by} - names.keys()
    names = {**names, **annotator_names(deciders)} if deciders else names
    return [
        SubmissionRow(
            id=submission.pk,
            title=trace_title(submission.task_start, submission.assignment.trace.external_id),
            trace=submission.assignment.trace.external_id,
            trace_version=submission.assignment.trace.version,
            project=submission.project.name,
            slug=submission.project.slug,
            annotator=names.get(submission.assignment.user_id, ""),
            avatar=initials(names.get(submission.assignment.user_id, "")),
            agent=submission.assignment.trace.agent_model,
            trace_id=submission.assignment.trace_id,
            version=submission.assignment.version.number,
            submitted_at=submission.submitted_at,
            took=elapsed(submission),
            active=None if submission.active_seconds is None else timedelta(seconds=submission.active_seconds),
            choice=briefs[submission.pk].choice,
            words=", ".join(briefs[submission.pk].words),
            state=submission_state(submission),
            is_noted=submission.is_noted,
            outcome="" if submission.outcome in (None, UNDECIDED) else submission.outcome,
            decisions_seen=submission.decisions_seen,
            decided_by=names.get(submission.decided_by, ""),
        )
        for submission in submissions
    ]


def submission_state(submission: Any) -> str:
    """A key of STATES, of a submission that `with_state` was asked for."""
    if submission.is_withdrawn:
        return "withdrawn"
    if submission.is_replaced:
        return "replaced"
    if submission.is_set_aside:
        return "set_aside"
    return "surplus" if submission.is_surplus else "counted"


def skips_as_listed(skips: "QuerySet[Assignment]") -> "QuerySet[Any]":
    with_trace = skips.select_related("trace").defer("trace__task", "trace__report")
    return with_trace.annotate(task_start=Left("trace__task", TASK_START))


def skip_rows(skips: Iterable[Any], names: Mapping[UUID, str]) -> list[SkipRow]:
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


def _named(text: str, trace: str) -> Q:
    """Traces whose id or task has this text; the task of a record stands in it under `id`."""
    return Q(**{f"{trace}external_id__icontains": text}) | Q(**{f"{trace}task__icontains": text})


def _with_id(text: str) -> Q:
    """The submission of this id, as addresses and the API name it; none where the text is no id."""
    try:
        return Q(pk=UUID(text))
    except ValueError:
        return Q(pk__in=[])


def _counts(rows: "QuerySet[Any]", field: str) -> list[tuple[Any, int]]:
    """The most frequent values of a field."""
    counted = rows.order_by().values(field).annotate(rows=Count("pk")).order_by("-rows", field)[:OPTIONS_SHOWN]
    return [(row[field], row["rows"]) for row in counted]


def _people(annotator: str) -> "QuerySet[Membership, Any]":
    # The organisation is named, because a person may also read their own memberships of other ones.
    members = Membership.objects.filter(organisation=active_organisation(), annotator_name=annotator)
    return members.values("user")


def rows_without_outcomes(rows: list[SubmissionRow]) -> list[SubmissionRow]:
    """The rows of one's own list, without what their projects hide. One query where something was decided."""
    decided = [row.slug for row in rows if row.outcome]
    hiding = hiding_projects(decided) if decided else set()
    return [
        replace(row, outcome=row.outcome if row.outcome == Outcome.RETURNED else "", decided_by="")
        if row.slug in hiding
        else row
        for row in rows
    ]
