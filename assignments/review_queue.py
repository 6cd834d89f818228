"""The queue of reviewers: which annotations somebody is to look at, why, and who has which one now.

The newest configuration says what is reviewed: a share of all, those with little agreement, the first ones of each
person. What was returned and came back is always in it. Nobody is given their own work, and no two reviewers the same.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.contrib.postgres.expressions import ArraySubquery
from django.db import transaction
from django.db.models import (
    BigIntegerField,
    BooleanField,
    Case,
    Exists,
    ExpressionWrapper,
    F,
    FloatField,
    Func,
    IntegerField,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Value,
    When,
    Window,
)
from django.db.models.functions import RowNumber
from django.utils import timezone

from accounts.models import ConfigurationVersion, Project, User
from assignments.decisions import UNDECIDED, decided_as
from assignments.models import Assignment, Decision, Outcome, ReviewHold, Submission
from assignments.models.claims import ALIKE
from assignments.pool.filters import trace_agreement, traces_of_low_agreement
from potato.configuration.project import Review
from tenancy.actor import active_organisation
from traces.models import Trace

HELD_FOR = timedelta(minutes=30)
_DRAWN_OF = 2**32
_LOOKED_AT = 20
"""So many are tried for one that nobody else takes at that moment."""


class Drawn(Func):
    """A number below 2**32 that the last digits of a row's id give: they are random."""

    template = "('x' || right(%(expressions)s::text, 8))::bit(32)::bigint"
    output_field = BigIntegerField()


@dataclass(frozen=True)
class Why:
    """A reason for which an annotation is in the queue: an icon, a few words, and more of them."""

    icon: str
    words: str
    more: str = ""


def review_rules(project: Project) -> Review:
    """What the newest version says of reviewing; nothing is reviewed while none is published."""
    versions = ConfigurationVersion.objects.filter(project=project).order_by("-number")
    rules = versions.values_list("configuration__review", flat=True).first()
    return Review.model_validate(rules or {})


def to_review(project: Project, user: User, rules: Review | None = None) -> "QuerySet[Any]":
    """What the person may review, in the order of the queue, each with why it is there. `rules` are those of
    `review_rules`, where the caller has them.

    What a reason holds of is told as a set, which PostgreSQL finds once: asked of each annotation of a project, the
    queue would cost a query a row. How many came before from a person is counted of the rows that are read alone.
    """
    rules = review_rules(project) if rules is None else rules
    # Those with a known answer are reviewed among the others, and by the same rules: annotators see what was decided
    # of each. What is undecided stands and is the newest, so that neither is asked again.
    rows = Submission.objects.for_project(project).filter(decided_as(UNDECIDED), is_surplus=False)
    rows = rows.filter(assignment__kind__in=ALIKE).exclude(assignment__user=user)
    here = ReviewHold.objects.filter(organisation=OuterRef("organisation"), submission=OuterRef("pk"))
    rows = rows.exclude(Exists(here.filter(until__gt=timezone.now()).exclude(user=user)))
    own = ReviewHold.objects.filter(organisation=project.organisation_id, user=user, put_off_at__isnull=False)
    is_put_off = Q(pk__in=own.values("submission"))
    returned = Decision.objects.for_project(project).filter(outcome=Outcome.RETURNED, takes_back=False)
    is_again = wanted = Q(assignment__in=returned.values("submission__assignment"))
    if not (rules.share or rules.low_agreement_below or rules.new_people):
        # Then the queue is short: its annotations are found by their key, before anything else is asked of them.
        wanted = Q(_AnyOf(F("assignment"), ArraySubquery(returned.values("submission__assignment"))))
    ranks = [When(is_put_off, then=3), When(is_again, then=0)]
    if rules.share:
        rows = rows.alias(drawn=ExpressionWrapper(Drawn(F("pk")), output_field=BigIntegerField()))
        wanted |= Q(drawn__lt=round(rules.share * _DRAWN_OF))
    if rules.low_agreement_below is not None:
        low = Q(assignment__trace__in=traces_of_low_agreement(project, rules.low_agreement_below))
        ranks.append(When(low, then=1))
        wanted |= low
    if rules.new_people:
        firsts = Submission.objects.for_project(project).filter(number=1)
        place = Window(RowNumber(), partition_by=F("assignment__user"), order_by=F("pk").asc())
        wanted |= Q(
            assignment__in=firsts.annotate(place=place).filter(place__lte=rules.new_people).values("assignment")
        )
    put_off_at = Case(When(is_put_off, then=Subquery(here.filter(user=user).values("put_off_at")[:1])))
    return (
        rows.filter(wanted)
        .annotate(
            is_again=ExpressionWrapper(is_again, output_field=BooleanField()),
            agreement=_agreement(),
            earlier=_earlier_of_person(rules.new_people or 0),
        )
        .order_by(
            Case(*ranks, default=2, output_field=IntegerField()),
            put_off_at.asc(nulls_first=True),
            "pk",
        )
    )


def first_of(queue: "QuerySet[Any]", most: int) -> "QuerySet[Any]":
    """The first rows of a queue. They are found by their ids: the whole queue need not be sorted with all that a page
    reads of a row."""
    return queue.filter(pk__in=list(queue.values_list("pk", flat=True)[:most]))


def reasons(row: Any, rules: Review) -> list[Why]:
    """Why a row of `to_review` is in the queue."""
    why = []
    if row.is_again:
        why.append(Why("undo-2", "Submitted again", "A reviewer returned it before."))
    low = rules.low_agreement_below
    if low is not None and row.agreement is not None and row.agreement < low:
        why.append(Why("git-compare", f"Agreement {row.agreement:.2f} with the others", f"Below {low:.2f}."))
    if rules.new_people and row.earlier < rules.new_people:
        words = f"Number {row.earlier + 1} of this person"
        why.append(Why("user-plus", words, f"The first {rules.new_people} are reviewed."))
    if not why:
        why.append(Why("shuffle", "Drawn at random", f"{rules.share:.0%} of all annotations are reviewed."))
    return why


def held_by_reviewer(project: Project, user: User) -> UUID | None:
    """What the person looks at now."""
    own = ReviewHold.objects.filter(user=user, until__gt=timezone.now(), submission__project=project)
    return own.order_by("-until").values_list("submission", flat=True).first()


def take_next(*, project: Project, user: User) -> UUID | None:
    """Hold the next annotation of the queue for the reviewer, and let go of any other; None where there is none.

    What the reviewer holds already comes first, as long as it is in the queue, and is held anew.
    """
    held = held_by_reviewer(project, user)
    queue = to_review(project, user)
    if held is not None and queue.filter(pk=held).exists() and hold_on(submission=held, user=user):
        return held
    with transaction.atomic():
        places: list[tuple[UUID, UUID]] = list(queue.values_list("pk", "assignment")[:_LOOKED_AT])
        for submission, assignment in places:
            row = Assignment.objects.filter(pk=assignment)
            # Another reviewer who takes it now has locked it.
            if not row.select_for_update(no_key=True, skip_locked=True, of=("self",)).exists():
                continue
            if not queue.filter(pk=submission).exists():
                continue
            let_go(project=project, user=user)
            ReviewHold.objects.update_or_create(
                submission_id=submission,
                user=user,
                defaults={"until": timezone.now() + HELD_FOR, "put_off_at": None},
            )
            return submission
    return None


def hold_on(*, submission: UUID, user: User) -> bool:
    """Hold for as long again what the reviewer was given; False where they were not, or another looks at it since."""
    now = timezone.now()
    holds = ReviewHold.objects.filter(organisation=active_organisation(), submission=submission)
    others = Exists(
        ReviewHold.objects.filter(
            organisation=OuterRef("organisation"), submission=OuterRef("submission"), until__gt=now
        ).exclude(user=user)
    )
    own = holds.filter(~others, user=user, until__isnull=False)
    return bool(own.update(until=now + HELD_FOR))


def put_off(*, submission: Submission, user: User) -> None:
    """The reviewer wants it after all others."""
    ReviewHold.objects.update_or_create(
        submission=submission, user=user, defaults={"until": None, "put_off_at": timezone.now()}
    )


def let_go(*, project: Project, user: User) -> None:
    """Nothing is held for the reviewer any more; what was put off stays so."""
    own = ReviewHold.objects.filter(user=user, submission__project=project, until__isnull=False)
    own.filter(put_off_at__isnull=True).delete()


def _agreement() -> Any:
    """How far the annotators of the trace agree, NULL where the site does not compute it."""
    traces = Trace.objects.filter(organisation=OuterRef("organisation"), pk=OuterRef("assignment__trace"))
    return Subquery(traces.annotate(agreed=trace_agreement()).values("agreed")[:1], output_field=FloatField())


class _AnyOf(Func):
    """The condition that a value is among those of an array, which is made once, before the rows are looked for."""

    template = "(%(expressions)s))"
    arg_joiner = " = ANY("
    output_field = BooleanField()


class _Number(Subquery):
    """How many rows a query has."""

    template = "(SELECT count(*) FROM (%(subquery)s) AS counted)"
    output_field = IntegerField()


def _earlier_of_person(most: int) -> Any:
    """How many traces of the project the person had submitted before, counted up to `most`."""
    if not most:
        return Value(0)
    rows = Submission.objects.filter(
        organisation=OuterRef("organisation"),
        project=OuterRef("project"),
        assignment__user=OuterRef("assignment__user"),
        number=1,
        pk__lt=OuterRef("pk"),
    )
    return _Number(rows.order_by().values("pk")[:most])
