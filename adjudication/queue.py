"""The queue of adjudicators: the traces to settle, those whose differences hurt most first, each with why."""

from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import Case, Exists, F, FloatField, IntegerField, OuterRef, Q, QuerySet, Subquery, When

from accounts.models import Project, User
from adjudication.actions import take
from adjudication.errors import NothingToSettle, SettledElsewhere
from adjudication.models import Adjudication, Disagreement
from adjudication.rules import adjudication_rules
from agreement.models import TraceAgreement
from assignments.errors import OwnWork
from assignments.models import Assignment, AssignmentState, Kind, TraceQuota

REASONS = {"deciding": "Decides training data", "conflict": "Contradicted", "details": "Details alone"}
"""What the queue is narrowed to."""
_LOOKED_AT = 20


@dataclass(frozen=True)
class Why:
    """A reason for which a trace is in the queue: an icon, and a few words."""

    icon: str
    words: str


def to_settle(project: Project, user: User, reason: str = "", text: str = "") -> "QuerySet[Any]":
    """The rows of Disagreement that the person may settle, those that hurt most first, and what they put off last.

    A trace waits once it has all annotations that it is to get, as long as nobody has settled it. Nobody is given a
    trace that they annotated, or that another adjudicator holds.
    """
    rows = waiting(project).exclude(
        Exists(_assignments(Kind.NORMAL).filter(user=user, state=AssignmentState.SUBMITTED))
    )
    others = _assignments(Kind.ADJUDICATION).filter(state=AssignmentState.CLAIMED).exclude(user=user)
    rows = rows.exclude(Exists(others))
    if reason == "deciding":
        rows = rows.filter(deciding__gt=0)
    elif reason == "conflict":
        rows = rows.filter(has_conflict=True)
    elif reason == "details":
        rows = rows.filter(deciding=0, differing__gt=0)
    if text:
        rows = rows.filter(Q(trace__external_id__icontains=text) | Q(trace__task__icontains=text))
    own = _assignments(Kind.ADJUDICATION).filter(user=user)
    put_off = own.filter(state=AssignmentState.RELEASED).values("since")[:1]
    agreed = TraceAgreement.objects.filter(organisation=OuterRef("organisation"), trace=OuterRef("trace"))
    rows = rows.annotate(
        put_off_at=Subquery(put_off),
        is_held=Exists(own.filter(state=AssignmentState.CLAIMED)),
        agreement=Subquery(agreed.values("value")[:1], output_field=FloatField()),
    )
    rank = Case(
        When(is_held=True, then=0), When(put_off_at__isnull=False, then=2), default=1, output_field=IntegerField()
    )
    ordered: QuerySet[Any] = rows.order_by(rank, F("put_off_at").asc(nulls_first=True), "-weight", "trace")
    return ordered


def waiting(project: Project) -> "QuerySet[Any]":
    """What is to be settled in the project, whoever may: as the configuration says, and always what is contradicted."""
    rules = adjudication_rules(project)
    rows = Disagreement.objects.for_project(project)
    wanted = Q(has_conflict=True)
    if rules.when == "always":
        wanted |= Q(annotations__gte=2)
    elif rules.when == "disagreement":
        differs = Q(differing__gt=0)
        if rules.below is not None:
            low = TraceAgreement.objects.filter(organisation=OuterRef("organisation"), trace=OuterRef("trace"))
            differs &= Q(Exists(low.filter(value__lt=rules.below)))
        wanted |= differs
    complete = TraceQuota.objects.filter(
        organisation=OuterRef("organisation"), trace=OuterRef("trace"), done__gte=F("target"), done__gt=0
    )
    settled = Adjudication.objects.in_force().filter(organisation=OuterRef("organisation"), trace=OuterRef("trace"))
    return rows.filter(wanted).filter(Exists(complete)).exclude(Exists(settled))


def reasons(row: Any) -> list[Why]:
    """Why a row is in the queue."""
    why = [Why("circle-alert", conflict["words"]) for conflict in row.conflicts]
    if row.deciding:
        what = "1 difference decides" if row.deciding == 1 else f"{row.deciding} differences decide"
        why.append(Why("scale", f"{what} what training data are made of"))
    if not why and not row.differing:
        why.append(Why("check", "All say the same; the project has every trace settled"))
    return why


def take_next(*, project: Project, user: User) -> Assignment | None:
    """Hold the first trace of the queue for the adjudicator, or what they hold already; None where there is none."""
    with transaction.atomic():
        rows = to_settle(project, user).select_related("trace")[:_LOOKED_AT]
        for row in rows:
            try:
                with transaction.atomic():
                    return take(project=project, trace=row.trace, user=user)
            except (SettledElsewhere, NothingToSettle, OwnWork):
                # Taken, voided or annotated since the queue was read.
                continue
    return None


def _assignments(kind: Kind) -> "QuerySet[Assignment]":
    return Assignment.objects.filter(organisation=OuterRef("organisation"), trace=OuterRef("trace"), kind=kind)
