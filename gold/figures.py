"""What the pages and the API say of gold: the traces, how often each is found, and where people stand."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Avg, Count, OuterRef, Subquery

from accounts.models import ConfigurationVersion, Project
from assignments.history import TASK_START, trace_title
from assignments.models import Kind, Submission
from assignments.submission_records import annotator_names
from gold.actions import NotScorable, newest_configuration
from gold.expectations import NamedLine, expected_words, named_elsewhere
from gold.models import ExpectedAnnotation, GoldScore, GoldStanding, PracticeAttempt, State, Use
from potato.configuration import UnreadablePinError
from potato.configuration.project import Repeat
from potato.schemes.registry import scheme_types
from potato.statistics.gold_standing import LAST

_REPEATS_COMPARED = 500
_LEAST_SHOWN = 5


@dataclass(frozen=True)
class ShownGold:
    """One expected annotation: to how many people it was given, and their mean score, None before the first."""

    expected: ExpectedAnnotation
    scored: int
    mean: float | None
    expects: str = ""
    """What is expected, in a few words."""
    named: NamedLine | None = None
    """Another line that many name."""

    @property
    def title(self) -> str:
        trace = self.expected.trace
        return trace_title(trace.task[:TASK_START], trace.external_id)

    @property
    def per_cent(self) -> int | None:
        return None if self.mean is None else round(self.mean * 100)

    @property
    def doubt(self) -> str:
        """What looks wrong with the expected annotation itself."""
        if self.expected.problem:
            return self.expected.problem
        if self.named is not None:
            return self.named.sentence
        if self.mean is None or self.scored < _LEAST_SHOWN:
            return ""
        if self.mean < 0.2:
            return "Nearly nobody meets it: is it right?"
        return "Everybody meets it: it tells nobody apart." if self.mean == 1 else ""


@dataclass(frozen=True)
class ShownStanding:
    """Where a person stands, with how far they agree with themselves, None where too little came again."""

    user: UUID
    name: str
    standing: GoldStanding
    of: int

    @property
    def label(self) -> str:
        return State(self.standing.state).label


def shown_gold(project: Project, use: Use, *, retired: bool = False) -> list[ShownGold]:
    """The expected annotations, those with the lowest mean first, then those that nobody was scored by."""
    rows = ExpectedAnnotation.objects.for_project(project).filter(use=use, retired_at__isnull=not retired)
    every: Any = GoldScore.objects.newest() if use == Use.GOLD else PracticeAttempt.objects  # Any: one of two models
    scores = every.filter(organisation=OuterRef("organisation"), expected=OuterRef("pk")).order_by()
    by_expected = scores.values("expected")
    annotated = rows.select_related("trace", "made_by").annotate(
        scored=Subquery(by_expected.annotate(n=Count("pk")).values("n")),
        mean=Subquery(by_expected.annotate(n=Avg("score")).values("n")),
    )
    listed: list[Any] = list(annotated.order_by("pk"))  # Any: what is annotated
    try:
        configuration = newest_configuration(project) if listed else None
    except NotScorable:
        configuration = None
    named = named_elsewhere(project, [row.pk for row in listed]) if use == Use.GOLD else {}
    shown = [
        ShownGold(row, row.scored or 0, row.mean, expected_words(row, configuration), named.get(row.pk))
        for row in listed
    ]
    return sorted(shown, key=lambda one: (one.mean is None, one.mean or 0))


def shown_standings(project: Project) -> list[ShownStanding]:
    """Everybody who has a score, those that need somebody first."""
    rows = list(GoldStanding.objects.filter(organisation=project.organisation_id, project=project))
    names = annotator_names(row.user_id for row in rows)
    worst = [State.PAUSED, State.WARNED, State.FINE, State.TOO_FEW]
    shown = [ShownStanding(row.user_id, names.get(row.user_id, "Somebody"), row, LAST) for row in rows]
    return sorted(shown, key=lambda one: (worst.index(State(one.standing.state)), one.standing.mean or 0, one.name))


@dataclass(frozen=True)
class WithOneself:
    """How far people agree with themselves on one thing that they judged twice."""

    title: str
    measure: str
    value: float | None
    traces: int


def repeat_rules(project: Project) -> Repeat:
    versions = ConfigurationVersion.objects.filter(project=project).order_by("-number")
    return Repeat.model_validate(versions.values_list("configuration__repeat", flat=True).first() or {})


def with_oneself(project: Project, user: UUID | None = None) -> list[WithOneself]:
    """Intra-annotator agreement over the newest traces that came again, of everybody or of one person."""
    repeats = Submission.objects.not_set_aside().filter(
        organisation=project.organisation_id, project=project, assignment__kind=Kind.REPEAT
    )
    if user is not None:
        repeats = repeats.filter(assignment__user=user)
    again = list(repeats.select_related("assignment").order_by("-pk")[:_REPEATS_COMPARED])
    if not again:
        return []
    firsts = Submission.objects.counted().filter(
        organisation=project.organisation_id,
        project=project,
        assignment__kind=Kind.NORMAL,
        assignment__trace__in=[row.assignment.trace_id for row in again],
        assignment__user__in={row.assignment.user_id for row in again},
    )
    first = {(row.assignment.trace_id, row.assignment.user_id): row for row in firsts.select_related("assignment")}
    pairs = [(first[key], row) for row in again if (key := (row.assignment.trace_id, row.assignment.user_id)) in first]
    try:
        configuration = again[0].assignment.configuration()
    except UnreadablePinError:
        return []
    # Numpy comes with it: not in every process that knows the name of this module.
    from potato.statistics.agreement.compared import Settings
    from potato.statistics.agreement.with_oneself import Repeated, compare_with_oneself

    shown = []
    for scheme in configuration.annotation_schemes:
        kind = scheme_types()[scheme.annotation_type]
        repeated = [
            Repeated(str(row.assignment.trace_id), str(row.assignment.user_id), one, two)
            for before, row in pairs
            if (one := before.result.get(scheme.name)) is not None and (two := row.result.get(scheme.name)) is not None
        ]
        for comparison in kind.comparisons(scheme):
            compared = compare_with_oneself(scheme.name, comparison, repeated, Settings(samples=0))
            main = compared.figures.get(compared.main)
            shown.append(WithOneself(comparison.title, compared.main, main.value if main else None, len(repeated)))
    return shown


def part_means(scores: Iterable[GoldScore]) -> Mapping[str, float]:
    """The mean points by what was asked, over these scores."""
    points: dict[str, list[float]] = {}
    for score in scores:
        for part in score.parts:
            if part["outcome"] != "extra":
                points.setdefault(part["title"], []).append(part["points"])
    return {title: sum(values) / len(values) for title, values in points.items()}
