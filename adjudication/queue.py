"""The queue of adjudicators: the traces to settle, those whose differences hurt most first, each with why."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

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
_AT_ONCE = 200
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


def in_turn(project: Project, user: User, most: int, reason: str = "", text: str = "") -> list[UUID]:
    """The first so many of them, by their ids: what the person holds, then those that hurt most, and last what they put
    off, the earliest first.

    What can be asked of the row alone is asked in the order of an index, some rows at a time, and the rest of these
    alone until there are enough: asked of all rows of a large project it takes a second.
    """
    own = Assignment.objects.for_project(project).of(user).filter(kind=Kind.ADJUDICATION)
    held = list(own.open().values_list("trace", flat=True))
    put_off = list(own.filter(state=AssignmentState.RELEASED).order_by("since", "pk").values_list("trace", flat=True))
    queue = to_settle(project, user, reason, text).order_by()
    found = _in_order(queue, held) if held else []
    if len(found) < most:
        for some in _by_weight(_wanted(project).exclude(trace__in=[*held, *put_off]), max(most, _AT_ONCE)):
            waits = set(queue.filter(pk__in=some).values_list("pk", flat=True))
            found += (pk for pk in some if pk in waits)
            if len(found) >= most:
                break
        else:
            found += _in_order(queue, put_off) if put_off else []
    return found[:most]


def _in_order(queue: "QuerySet[Any]", traces: Sequence[UUID]) -> list[UUID]:
    """Those of the queue that are of these traces, in their order."""
    known = dict(queue.filter(trace__in=traces).values_list("trace", "pk"))
    return [known[trace] for trace in traces if trace in known]


def _by_weight(rows: "QuerySet[Any]", at_once: int) -> Iterator[list[UUID]]:
    """The ids of the rows, the heaviest first, so many at a time."""
    after, order = Q(), ("-weight", "trace")
    while some := list(rows.filter(after).order_by(*order).values_list("pk", "weight", "trace")[:at_once]):
        yield [pk for pk, _, _ in some]
        if len(some) < at_once:
            return
        _, weight, trace = some[-1]
        after = Q(weight__lt=weight) | Q(weight=weight, trace__gt=trace)


def queue_rows(user: User, ids: Sequence[UUID]) -> list[Any]:
    """These rows of Disagreement in this order, with their traces; each says whether the person holds it (`is_held`),
    and its `agreement`, None where none was computed."""
    agreed = TraceAgreement.objects.filter(organisation=OuterRef("organisation"), trace=OuterRef("trace"))
    mine = _assignments(Kind.ADJUDICATION).filter(state=AssignmentState.CLAIMED, user=user)
    rows = Disagreement.objects.filter(pk__in=ids).annotate(
        agreement=Subquery(agreed.values("value")[:1], output_field=FloatField()), is_held=Exists(mine)
    )
    known: dict[UUID, Any] = {row.pk: row for row in rows.select_related("trace").defer("trace__report")}
    return [known[pk] for pk in ids if pk in known]


def waiting(project: Project) -> "QuerySet[Any]":
    """What is to be settled in the project, whoever may: as the configuration says, and always what is contradicted."""
    complete = TraceQuota.objects.filter(
        organisation=OuterRef("organisation"), trace=OuterRef("trace"), done__gte=F("target"), done__gt=0
    )
    settled = Adjudication.objects.in_force().filter(organisation=OuterRef("organisation"), trace=OuterRef("trace"))
    rows: QuerySet[Any] = _wanted(project).alias(complete=_first(complete), settled=_first(settled))
    return rows.filter(complete__isnull=False, settled__isnull=True)


def _wanted(project: Project) -> "QuerySet[Any]":
    """What the configuration has settled, complete or not, settled or not."""
    rules = adjudication_rules(project)
    wanted = Q(has_conflict=True)
    if rules.when == "always":
        wanted |= Q(annotations__gte=2)
    elif rules.when == "disagreement":
        differs = Q(differing__gt=0)
        if rules.below is not None:
            low = TraceAgreement.objects.filter(organisation=OuterRef("organisation"), trace=OuterRef("trace"))
            differs &= Q(Exists(low.filter(value__lt=rules.below)))
        wanted |= differs
    return Disagreement.objects.for_project(project).filter(wanted)


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
        for row in queue_rows(user, in_turn(project, user, _LOOKED_AT)):
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
