"""The queue of reviewers: which annotations somebody is to look at, why, and who has which one now.

The newest configuration says what is reviewed: a share of all, those with little agreement, the first ones of each
person. What was returned and came back is always in it. Nobody is given their own work, and no two reviewers the same.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.contrib.postgres.expressions import ArraySubquery
from django.db import transaction
from django.db.models import (
    BigIntegerField,
    BooleanField,
    Exists,
    F,
    FloatField,
    Func,
    IntegerField,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    UUIDField,
    Value,
)
from django.db.models.lookups import LessThan
from django.utils import timezone

from accounts.models import ConfigurationVersion, Membership, Project, User
from assignments.decisions import UNDECIDED, decided_as
from assignments.models import Assignment, Decision, Outcome, ReviewHold, Submission
from assignments.models.claims import ALIKE
from assignments.pool.filters import trace_agreement, traces_of_low_agreement
from potato.configuration.project import Review
from tenancy.actor import active_organisation
from traces.models import Trace

HELD_FOR = timedelta(minutes=30)
MOST_COUNTED = 1_000
"""Where more wait, no page and no answer says how many more."""
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
    """What the person may review, in no order. `rules` are those of `review_rules`, where the caller has them."""
    rules = review_rules(project) if rules is None else rules
    return _undecided(project, user).filter(Q(_came_back()) | _asked_for(project, rules))


def in_turn(project: Project, user: User, most: int, rules: Review | None = None) -> list[UUID]:
    """The first so many of them, by their ids: what came back, what has little agreement, all others, and last what
    the person put off, the earliest first; within each the oldest first.

    Each reason is asked for by itself, in the order of an index or by key, and for so many alone: asked for together,
    all that waits in a large project would be sorted.
    """
    rules = review_rules(project) if rules is None else rules
    holds = ReviewHold.objects.filter(organisation=project.organisation_id, user=user, put_off_at__isnull=False)
    holds = holds.filter(submission__project=project).order_by("put_off_at", "submission")
    put_off: list[UUID] = list(holds.values_list("submission", flat=True))
    queue = _undecided(project, user).exclude(pk__in=put_off).order_by("pk")
    by_turn = [(0, _key_among(_returned(project))), (1, _low(project, rules)), (2, _drawn(rules))]
    if rules.new_people:
        by_turn.append((2, _key_among(_of_new_people(project, rules.new_people))))
    first, *others = (
        queue.filter(reason).annotate(turn=Value(turn)).values_list("turn", "pk")[:most]
        for turn, reason in by_turn
        if reason
    )
    # One query; what is there for two reasons comes in the turn of the first.
    rows = sorted(first.union(*others, all=True), key=lambda row: (row[0], row[1].int))
    found = list(dict.fromkeys(pk for _, pk in rows))
    if put_off and len(found) < most:
        waits = set(to_review(project, user, rules).filter(pk__in=put_off).values_list("pk", flat=True))
        found += [pk for pk in put_off if pk in waits]
    return found[:most]


def queue_rows(rows: "QuerySet[Any]", ids: Sequence[UUID], rules: Review) -> list[Any]:
    """Those of the submissions that have these ids, in their order, each with what `reasons` reads."""
    annotated = rows.filter(pk__in=ids).annotate(
        is_again=_came_back(), agreement=_agreement(), earlier=_earlier_of_person(rules.new_people or 0)
    )
    known: dict[UUID, Any] = {row.pk: row for row in annotated}
    return [known[pk] for pk in ids if pk in known]


def _undecided(project: Project, user: User) -> "QuerySet[Any]":
    """What nobody has decided of, the person may, and no other reviewer looks at."""
    # Those with a known answer are reviewed among the others, and by the same rules: annotators see what was decided
    # of each. What is undecided stands and is the newest, so that neither is asked again.
    rows = Submission.objects.for_project(project).filter(decided_as(UNDECIDED), is_surplus=False)
    rows = rows.filter(assignment__kind__in=ALIKE).exclude(assignment__user=user)
    here = ReviewHold.objects.filter(organisation=OuterRef("organisation"), submission=OuterRef("pk"))
    return rows.exclude(Exists(here.filter(until__gt=timezone.now()).exclude(user=user)))


def _came_back() -> Exists:
    """Of a submission: whether its assignment was returned before. Then it is always looked at again."""
    returned = Decision.objects.filter(
        organisation=OuterRef("organisation"),
        submission__assignment=OuterRef("assignment"),
        outcome=Outcome.RETURNED,
        takes_back=False,
    )
    return Exists(returned)


def _returned(project: Project) -> "QuerySet[Any]":
    """The assignments that were returned before."""
    returned = Decision.objects.for_project(project).filter(outcome=Outcome.RETURNED, takes_back=False)
    return returned.values("submission__assignment")


def _of_new_people(project: Project, most: int) -> "QuerySet[Any]":
    """The assignments of the first so many annotations of each person, who is asked for one after the other: along an
    index, among 100,000 annotations, 2 ms instead of 200 for all of these put into order."""
    submitted = Assignment.objects.for_project(project).filter(first_submission__isnull=False)
    firsts = submitted.filter(user=OuterRef("user")).order_by("first_submission").values("pk")[:most]
    people = Membership.objects.filter(organisation=project.organisation_id)
    return people.values(assignment=Func(ArraySubquery(firsts), function="unnest", output_field=UUIDField()))


def _key_among(assignments: "QuerySet[Any]") -> Q:
    """Of submissions: that their assignment is one of these, which are found before any submission is looked at."""
    return Q(_AnyOf(F("assignment"), ArraySubquery(assignments)))


def _drawn(rules: Review) -> Q:
    return Q(LessThan(Drawn(F("pk")), round(rules.share * _DRAWN_OF))) if rules.share else Q()


def _low(project: Project, rules: Review) -> Q:
    if rules.low_agreement_below is None:
        return Q()
    return Q(assignment__trace__in=traces_of_low_agreement(project, rules.low_agreement_below))


def _asked_for(project: Project, rules: Review) -> Q:
    """What the configuration has reviewed; empty where it asks for no review."""
    wanted = _low(project, rules) | _drawn(rules)
    if rules.new_people:
        wanted |= Q(assignment__in=_of_new_people(project, rules.new_people))
    return wanted


def reasons(row: Any, rules: Review) -> list[Why]:
    """Why a row of `queue_rows` is in the queue."""
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
    rules = review_rules(project)
    queue = to_review(project, user, rules)
    if held is not None and queue.filter(pk=held).exists() and hold_on(submission=held, user=user):
        return held
    with transaction.atomic():
        for submission in in_turn(project, user, _LOOKED_AT, rules):
            row = Assignment.objects.filter(pk__in=Submission.objects.filter(pk=submission).values("assignment"))
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
    rows = Assignment.objects.filter(
        organisation=OuterRef("organisation"),
        project=OuterRef("project"),
        user=OuterRef("assignment__user"),
        first_submission__lt=OuterRef("assignment__first_submission"),
    )
    return _Number(rows.order_by().values("pk")[:most])
