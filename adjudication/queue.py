"""The queue of adjudicators: the traces to settle, those whose differences hurt most first, each with why."""

from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import Exists, F, FloatField, OuterRef, Q, QuerySet, Subquery

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
MOST_COUNTED = 1_000
"""Where more wait, no page and no answer says how many more."""


@dataclass(frozen=True)
class Why:
    """A reason for which a trace is in the queue: an icon, and a few words."""

    icon: str
    words: str


def to_settle(project: Project, user: User, reason: str = "", text: str = "") -> "QuerySet[Any]":
    """The rows of Disagreement that the person may settle, in no order.

    A trace waits once it has all annotations that it is to get, as long as nobody has settled it. Nobody is given a
    trace that they annotated, or that another adjudicator holds.
    """
    mine = _assignments(Kind.NORMAL).filter(user=user, state__in=(AssignmentState.SUBMITTED, AssignmentState.CLAIMED))
    others = _assignments(Kind.ADJUDICATION).filter(state=AssignmentState.CLAIMED).exclude(user=user)
    rows: QuerySet[Any] = waiting(project).alias(mine=_first(mine), others=_first(others))
    rows = rows.filter(mine__isnull=True, others__isnull=True)
    if reason == "deciding":
        rows = rows.filter(deciding__gt=0)
    elif reason == "conflict":
        rows = rows.filter(has_conflict=True)
    elif reason == "details":
        rows = rows.filter(deciding=0, differing__gt=0)
    if text:
        rows = rows.filter(Q(trace__external_id__icontains=text) | Q(trace__task__icontains=text))
    return rows


def number_to_settle(queue: "QuerySet[Any]") -> int:
    """How many rows of to_settle() there are, counted to MOST_COUNTED: all of a large project would take seconds."""
    return len(queue.order_by().values_list("pk", flat=True)[:MOST_COUNTED])


def first_to_settle(project: Project, user: User, number: int, reason: str = "", text: str = "") -> list[Any]:
    """The first of them with their traces: what the person holds, then those that hurt most, and last what they put
    off, the earliest first. Each says so as `is_held`, and has its `agreement`, None where none was computed.

    Three statements, each along one index: the order of all at once would be that of no index, and have every row of
    the project looked at.
    """
    agreed = TraceAgreement.objects.filter(organisation=OuterRef("organisation"), trace=OuterRef("trace"))
    rows = to_settle(project, user, reason, text).annotate(
        agreement=Subquery(agreed.values("value")[:1], output_field=FloatField())
    )
    rows = rows.select_related("trace").defer("trace__report")
    own = (
        Assignment.objects.for_project(project)
        .of(user)
        .filter(kind=Kind.ADJUDICATION, state__in=(AssignmentState.CLAIMED, AssignmentState.RELEASED))
    )
    since = {trace: (state, at) for trace, state, at in own.values_list("trace", "state", "since")}
    held = [trace for trace, (state, _) in since.items() if state == AssignmentState.CLAIMED]
    put_off = [trace for trace in since if trace not in set(held)]
    found = list(rows.filter(trace__in=held).order_by("-weight", "trace")[:number]) if held else []
    for row in found:
        row.is_held = True
    if len(found) < number:
        others = rows.exclude(trace__in=list(since)) if since else rows
        found += others.order_by("-weight", "trace")[: number - len(found)]
    if len(found) < number and put_off:
        later = sorted(rows.filter(trace__in=put_off), key=lambda row: (since[row.trace_id][1], row.trace_id))
        found += later[: number - len(found)]
    return found


def waiting(project: Project) -> "QuerySet[Any]":
    """What is to be settled in the project, whoever may: as the configuration says, and always what is contradicted."""
    rules = adjudication_rules(project)
    rows: QuerySet[Any] = Disagreement.objects.for_project(project)
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
    asked: QuerySet[Any] = rows.filter(wanted).alias(complete=_first(complete), settled=_first(settled))
    return asked.filter(complete__isnull=False, settled__isnull=True)


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
        for row in first_to_settle(project, user, _LOOKED_AT):
            try:
                with transaction.atomic():
                    return take(project=project, trace=row.trace, user=user)
            except (SettledElsewhere, NothingToSettle, OwnWork):
                # Taken, voided or annotated since the queue was read.
                continue
    return None


def _first(rows: "QuerySet[Any]") -> Subquery:
    """Asked of each row by itself, along a unique key: as EXISTS it would be joined, and all rows of the project looked
    at before the first is known."""
    return Subquery(rows.order_by().values("pk")[:1])


def _assignments(kind: Kind) -> "QuerySet[Assignment]":
    return Assignment.objects.filter(organisation=OuterRef("organisation"), trace=OuterRef("trace"), kind=kind)
