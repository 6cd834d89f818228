"""What is done to many traces at once, with an undo: withholding, tagging, another priority, more annotators, offering
to named people.

Open places close; what is held may be finished, and what was annotated is kept.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import F, PositiveIntegerField, Q
from django.db.models.functions import Greatest
from django.utils import timezone

from accounts.models import Project
from accounts.models.members import members_with
from assignments.actions.changing_rules import undo_rule
from assignments.actions.editing_batches import BATCH_EDITED, BATCHES_CHANGED, undo_edit
from assignments.actions.held_tasks import undo_giving_back, undo_reassigning
from assignments.actions.locks import lock_batches
from assignments.actions.outcomes import Outcome, keep_act
from assignments.actions.quotas import open_quotas
from assignments.actions.releasing import QUEUE_CHANGED, undo_withdrawal
from assignments.actions.steering_people import undo_placing, undo_steering_people
from assignments.errors import ReasonNeeded, UnknownPeople
from assignments.models import Batch, BatchState, Order, Priority, Reservation, SteeringAct, TraceQuota, Withheld
from assignments.models.queue import RANKS_A_LEVEL
from jobs import outbox
from jobs.row_text import storable
from potato.wording import counted
from tenancy import audit
from tenancy.actor import active_organisation
from tenancy.errors import Refused
from tenancy.roles import Right
from tenancy.statements import executed
from traces.clearing import held_secrets

UNDO = timedelta(seconds=30)
_MOST_EXTRA = 20
_OFFERS = ("traces.offered", "traces.offer-ended")
_GRACE = timedelta(seconds=5)

_DONE = {
    Withheld.HELD_BACK: ("traces.held-back", "held back"),
    Withheld.EXCLUDED: ("traces.excluded", "excluded"),
    Withheld.RETIRED: ("traces.retired", "retired"),
}


def withhold(*, project: Project, traces: Collection[UUID], why: Withheld, reason: str = "") -> Outcome:
    """Give these traces to nobody from now on. Raises ReasonNeeded for excluding without a reason."""
    reason = storable(reason.strip(), 500)
    if why == Withheld.EXCLUDED and not reason:
        raise ReasonNeeded("Say in a few words why these traces are excluded; exports and colleagues read it.")
    verb, word = _DONE[why]
    with transaction.atomic():
        rows = _locked(project, traces)
        changed = [row for row in rows if row.withheld not in (why, Withheld.KNOWN_ANSWER)]
        annotated, held = (sum(1 for row in changed if getattr(row, name)) for name in ("done", "active"))
        before = _before(changed)
        for row in changed:
            row.withheld, row.withheld_reason, row.is_released = why, reason, False
        TraceQuota.objects.bulk_update(changed, ["withheld", "withheld_reason", "is_released"], batch_size=1_000)
        parts = [f"{len(changed):,} {word}"]
        if annotated:
            parts.append(f"{annotated:,} of them have annotations, which are kept")
        if held:
            parts.append(f"{held:,} {'is' if held == 1 else 'are'} being worked on and may be finished")
        sentence = _sentence("; ".join(parts), len(rows) - len(changed), f"{word} already")
        return _finish(project, verb, before, sentence, changed, reason=reason)


def give_out_again(*, project: Project, traces: Collection[UUID]) -> Outcome:
    """Take these traces back from being withheld: into their batch, or into the pool."""
    with transaction.atomic():
        rows = _locked(project, traces)
        # Given out as it is, somebody who has met it as gold could meet it once more.
        secret = held_secrets(row.trace_id for row in rows)
        changed = [
            row for row in rows if row.withheld not in ("", Withheld.KNOWN_ANSWER) and row.trace_id not in secret
        ]
        before = _before(changed)
        batches = Batch.objects.for_project(project).filter(state=BatchState.WITHDRAWN)
        withdrawn = set(batches.values_list("pk", flat=True))
        for row in changed:
            if row.batch_id in withdrawn and not row.active and not row.done:
                row.batch_id = None
            row.withheld = row.withheld_reason = ""
            row.is_released, row.returned_at = row.batch_id is not None, timezone.now()
        fields = ["batch", "withheld", "withheld_reason", "is_released", "returned_at"]
        TraceQuota.objects.bulk_update(changed, fields, batch_size=1_000)
        why_not = "not held back, or not cleared on the page Secrets" if secret else "not held back"
        sentence = _sentence(f"{len(changed):,} given out again", len(rows) - len(changed), why_not)
        return _finish(project, "traces.given-out-again", before, sentence, changed)


def tag_traces(*, project: Project, traces: Collection[UUID], tag: str) -> Outcome:
    """Add a tag, beside those that came with the traces."""
    tag = storable(tag.strip(), 100)
    if not tag:
        raise Refused("Write the tag that the traces get.")
    with transaction.atomic():
        rows = _locked(project, traces)
        changed = [row for row in rows if tag not in row.tags]
        before = _before(changed)
        for row in changed:
            row.tags = [*row.tags, tag]
        TraceQuota.objects.bulk_update(changed, ["tags"], batch_size=1_000)
        sentence = _sentence(f"{len(changed):,} tagged “{tag}”", len(rows) - len(changed), "tagged already")
        return _finish(project, "traces.tagged", before, sentence, changed, tag=tag)


def untag_traces(*, project: Project, traces: Collection[UUID], tag: str) -> Outcome:
    """Take off a tag that was given here. What a trace brought with it stays: it is part of the run."""
    tag = storable(tag.strip(), 100)
    if not tag:
        raise Refused("Write the tag that is taken off the traces.")
    with transaction.atomic():
        rows = _locked(project, traces)
        changed = [row for row in rows if tag in row.tags]
        before = _before(changed)
        for row in changed:
            row.tags = [one for one in row.tags if one != tag]
        TraceQuota.objects.bulk_update(changed, ["tags"], batch_size=1_000)
        sentence = _sentence(
            f"{len(changed):,} without “{tag}” now", len(rows) - len(changed), "not tagged so, or imported with it"
        )
        return _finish(project, "traces.untagged", before, sentence, changed, tag=tag)


def want_more(*, project: Project, traces: Collection[UUID], more: int) -> Outcome:
    """Want so many annotators more of each of these traces than now, whatever batch and configuration say; a negative
    number takes back what was asked for beyond them. Nobody is given a trace of which nothing can be judged."""
    if not -_MOST_EXTRA <= more <= _MOST_EXTRA or not more:
        raise Refused(f"Write how many annotators more: 1 to {_MOST_EXTRA}, or -1 to -{_MOST_EXTRA} for fewer.")
    with transaction.atomic():
        rows = _locked(project, traces)
        changed = [
            row
            for row in rows
            if row.target and row.withheld != Withheld.KNOWN_ANSWER and (more > 0 or row.extra >= -more)
        ]
        before = {str(row.pk): {"extra": row.extra} for row in changed}
        _want_extra(changed, {row.pk: more for row in changed})
        noun = "annotator" if abs(more) == 1 else "annotators"
        each = f"{abs(more)} {'more' if more > 0 else 'fewer'} {noun}"
        done = f"{len(changed):,} wants {each}" if len(changed) == 1 else f"{len(changed):,} want {each} each"
        why_not = "nothing of them can be judged" if more > 0 else "no more of them were asked for"
        sentence = _sentence(done, len(rows) - len(changed), why_not)
        return _finish(project, "traces.more-annotators", before, sentence, changed, more=more)


def _want_extra(rows: Collection[TraceQuota], more: Mapping[UUID, int]) -> None:
    """Want so many more of each of the rows, which are locked. Who has passed a trace is given it again."""
    now = timezone.now()
    for number in set(more.values()):
        TraceQuota.objects.filter(pk__in=[row.pk for row in rows if more[row.pk] == number]).update(
            extra=F("extra") + number,
            target=F("target") + number,
            slots=Greatest(F("target") + number, F("active") + F("done"), output_field=PositiveIntegerField()),
            returned_at=now,
        )


def prioritise(*, project: Project, traces: Collection[UUID], priority: int) -> Outcome:
    """Give the traces another priority: in batches that go by it they are given out before, or after, the others.

    In a batch of another order, and in the pool, it stands with the trace until it matters; the sentence says of how
    many that is so.
    """
    if priority not in Priority.values:
        raise Refused("A priority is low, normal, high or urgent.")
    with transaction.atomic():
        rows = _locked(project, traces)
        changed = [row for row in rows if row.priority != priority]
        before = _before(changed)
        for row in changed:
            row.priority = priority
        _rank_by_priority(project, changed)
        label = Priority(priority).label.lower()
        ranked = Batch.objects.for_project(project).filter(order=Order.PRIORITY).values_list("pk", flat=True)
        elsewhere = sum(row.batch_id not in set(ranked) for row in changed)
        done = f"{len(changed):,} {'is' if len(changed) == 1 else 'are'} {label} now"
        if elsewhere:
            done += f"; {elsewhere:,} of them in no batch that goes by it, so there it changes nothing"
        sentence = _sentence(done, len(rows) - len(changed), f"{label} already")
        return _finish(project, "traces.prioritised", before, sentence, changed, priority=label)


def _rank_by_priority(project: Project, rows: Collection[TraceQuota]) -> None:
    """Write the rows' priorities, and where that puts them in their batches. Who has passed that rank is given them as
    slots that came free again."""
    TraceQuota.objects.bulk_update(rows, ["priority"], batch_size=1_000)
    facts = {
        "organisation": active_organisation(),
        "project": project.pk,
        "quotas": [row.pk for row in rows],
        "level": RANKS_A_LEVEL,
        "urgent": Priority.URGENT,
        "order": Order.PRIORITY,
    }
    executed(_RANK_BY_PRIORITY, facts)


_RANK_BY_PRIORITY = """
UPDATE assignments_tracequota q
   SET rank = q.rank %% %(level)s + %(level)s * (%(urgent)s - q.priority), returned_at = now()
  FROM assignments_batch b
 WHERE b.organisation_id = q.organisation_id AND b.id = q.batch_id AND b."order" = %(order)s
   AND q.organisation_id = %(organisation)s AND q.project_id = %(project)s AND q.id = ANY (%(quotas)s)
"""


def offer_to(*, project: Project, traces: Collection[UUID], people: Collection[UUID], days: int) -> Outcome:
    """Offer released traces to these people before all others; for so many days nobody else is given them."""
    if not 1 <= days <= 90:
        raise Refused("Traces can be offered to named people for 1 to 90 days.")
    known = set(members_with(Right.ANNOTATE, project).filter(user__in=people).values_list("user", flat=True))
    if not known or known != set(people):
        raise UnknownPeople("Name one or more people who annotate in this project.")
    until = timezone.now() + timedelta(days=days)
    with transaction.atomic():
        rows = _locked(project, traces)
        changed = [row for row in rows if row.is_released and row.active + row.done < row.target]
        before = _before(changed)
        keys = [row.trace_id for row in changed]
        earlier = Reservation.objects.filter(organisation=active_organisation(), trace__in=keys)
        before = _with_reservations(before, changed, earlier)
        earlier.delete()
        Reservation.objects.bulk_create(
            Reservation(project=project, trace_id=trace, user_id=person, until=until)
            for trace in keys
            for person in known
        )
        for row in changed:
            row.is_reserved = True
        TraceQuota.objects.bulk_update(changed, ["is_reserved"], batch_size=1_000)
        who = counted(len(known), "person", "people") if len(known) > 1 else "one person"
        done = f"{len(changed):,} offered to {who} first, until {timezone.localtime(until):%-d %B}"
        sentence = _sentence(done, len(rows) - len(changed), "not open")
        return _finish(project, "traces.offered", before, sentence, changed, people=len(known))


def end_offers(*, project: Project, traces: Collection[UUID]) -> Outcome:
    """Give these traces to everybody again, before the date of their offers."""
    with transaction.atomic():
        rows = _locked(project, traces)
        changed = [row for row in rows if row.is_reserved]
        before = _before(changed)
        earlier = Reservation.objects.filter(
            organisation=active_organisation(), trace__in=[row.trace_id for row in changed]
        )
        before = _with_reservations(before, changed, earlier)
        earlier.delete()
        for row in changed:
            row.is_reserved, row.returned_at = False, timezone.now()
        TraceQuota.objects.bulk_update(changed, ["is_reserved", "returned_at"], batch_size=1_000)
        done = f"{len(changed):,} {'is' if len(changed) == 1 else 'are'} for everybody again"
        sentence = _sentence(done, len(rows) - len(changed), "offered to nobody")
        return _finish(project, "traces.offer-ended", before, sentence, changed)


def undo(*, act: SteeringAct) -> str:
    """Take a bulk action back within UNDO; answers a sentence. What was changed since stays as it is."""
    with transaction.atomic():
        row = SteeringAct.objects.select_for_update(no_key=True, of=("self",)).get(pk=act.pk)
        if row.undone_at is not None:
            return "That was undone already."
        if timezone.now() - row.done_at > UNDO + _GRACE:
            raise Refused(f"An action can be undone for {UNDO.seconds} seconds; this one is older.")
        row.undone_at = timezone.now()
        row.save(update_fields=["undone_at"])
        number = _UNDO.get(row.verb, _put_back)(row)
        audit.record("steering.undone", row, action=row.verb, traces=number)
        outbox.publish(QUEUE_CHANGED, project=str(row.project_id))
    if row.verb == BATCH_EDITED:
        return "Undone: the batch is as it was before."
    if row.verb == BATCHES_CHANGED:
        return f"Undone: {counted(number, 'batch', 'batches')} {'is' if number == 1 else 'are'} as before."
    noun, plural = _NOUNS.get(row.verb.partition(".")[0], ("trace", "traces"))
    return f"Undone: {counted(number, noun, plural)} {'is' if number == 1 else 'are'} as before."


def _put_back(act: SteeringAct) -> int:
    before: dict[str, dict[str, Any]] = act.before
    quotas = TraceQuota.objects.filter(pk__in=before).order_by("trace")
    quotas = quotas.exclude(withheld=Withheld.KNOWN_ANSWER)
    rows = list(quotas.select_for_update(no_key=True, of=("self",)))
    now = timezone.now()
    # Who may take nothing here any more is offered nothing again.
    here = {str(user) for user in members_with(Right.ANNOTATE, act.project).values_list("user", flat=True)}
    reservations = {
        row.trace_id: [pair for pair in before[str(row.pk)].pop("reservations", ()) if pair[0] in here] for row in rows
    }
    for row in rows:
        for name, value in before[str(row.pk)].items():
            setattr(row, name, value)
        row.is_released = row.batch_id is not None and not row.withheld
        if act.verb in _OFFERS:
            row.is_reserved = bool(reservations[row.trace_id])
        row.returned_at = now
    fields = ["withheld", "withheld_reason", "is_released", "is_reserved", "tags", "returned_at"]
    TraceQuota.objects.bulk_update(rows, fields, batch_size=1_000)
    if act.verb == "traces.prioritised":
        _rank_by_priority(act.project, rows)
    if act.verb in _OFFERS:
        Reservation.objects.filter(organisation=active_organisation(), trace__in=reservations).delete()
        Reservation.objects.bulk_create(
            Reservation(project=act.project, trace_id=trace, user_id=person, until=datetime.fromisoformat(until))
            for trace, people in reservations.items()
            for person, until in people
        )
    return len(rows)


def _with_reservations(
    before: dict[str, dict[str, Any]], rows: Collection[TraceQuota], reservations: Iterable[Reservation]
) -> dict[str, dict[str, Any]]:
    """What was before, with whom each trace was offered to, and until when."""
    people: dict[UUID, list[tuple[str, str]]] = defaultdict(list)
    for reservation in reservations:
        people[reservation.trace_id].append((str(reservation.user_id), reservation.until.isoformat()))
    return {str(row.pk): {**before[str(row.pk)], "reservations": people[row.trace_id]} for row in rows}


def _locked(project: Project, traces: Collection[UUID]) -> list[TraceQuota]:
    while open_quotas(project=project):
        pass
    quotas = TraceQuota.objects.for_project(project).filter(Q(trace__in=traces)).order_by("trace")
    return list(quotas.select_for_update(no_key=True, of=("self",)))


def _before(rows: Iterable[TraceQuota]) -> dict[str, dict[str, Any]]:
    """What an undo puts back of these."""
    kept = ("withheld", "withheld_reason", "is_reserved", "tags", "priority")
    return {str(row.pk): {name: getattr(row, name) for name in kept} for row in rows}


def _finish(
    project: Project,
    verb: str,
    before: dict[str, dict[str, Any]],
    sentence: str,
    changed: list[TraceQuota],
    **detail: Any,
) -> Outcome:
    act = keep_act(project, verb, sentence, before)
    audit.record(verb, project, traces=len(changed), **detail)
    outbox.publish(QUEUE_CHANGED, project=str(project.pk))
    return Outcome(len(changed), sentence, act if changed else None)


def _sentence(done: str, not_done: int, why_not: str) -> str:
    return f"{done}, {not_done:,} not: {why_not}." if not_done else f"{done}."


def _undo_more(act: SteeringAct) -> int:
    """Want as many as before, where nothing else has changed that since and nobody has taken the place."""
    before: dict[str, dict[str, int]] = act.before
    quotas = TraceQuota.objects.filter(pk__in=before).order_by("trace")
    rows = list(quotas.select_for_update(no_key=True, of=("self",)))
    changes = {row.pk: before[str(row.pk)]["extra"] - row.extra for row in rows}
    changed = [
        row for row in rows if row.active + row.done <= max(0, row.target + changes[row.pk]) or changes[row.pk] > 0
    ]
    _want_extra(changed, changes)
    return len(changed)


def _undo_each(act: SteeringAct) -> int:
    """Take back what was done to each of several batches, as one event; returns to how many."""
    rows = SteeringAct.objects.filter(pk__in=act.before, undone_at__isnull=True)
    acts = list(rows.select_for_update(no_key=True, of=("self",)).order_by("-done_at", "-pk"))
    lock_batches(act.project, (UUID(each.before["batch"]) for each in acts if each.verb == BATCH_EDITED))
    number = 0
    for each in acts:
        _UNDO[each.verb](each)
        each.undone_at = timezone.now()
        each.save(update_fields=["undone_at"])
        number += 1
    return number


_UNDO: dict[str, Callable[[SteeringAct], int]] = {
    "batch.withdrawn": undo_withdrawal,
    BATCH_EDITED: undo_edit,
    BATCHES_CHANGED: _undo_each,
    "traces.more-annotators": _undo_more,
    "tasks.given-back": undo_giving_back,
    "tasks.reassigned": undo_reassigning,
    "people.paused": undo_steering_people,
    "people.resumed": undo_steering_people,
    "people.limited": undo_steering_people,
    "people.taken-off": undo_placing,
    "people.role": undo_placing,
    "rule.changed": undo_rule,
}
_NOUNS = {"rule": ("rule", "rules"), "tasks": ("task", "tasks"), "people": ("person", "people")}
