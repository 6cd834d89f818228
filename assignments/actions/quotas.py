"""How many annotators each trace is given to: slots are opened for new traces, and follow the configuration."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import F, OuterRef, PositiveIntegerField, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce, Greatest
from django.utils import timezone

from accounts.models import ConfigurationVersion, Project
from assignments.actions.releasing_imports import released_at_import, supersede
from assignments.mixing import KEYS, Blocks, asked_for
from assignments.models import Batch, BatchPosition, TraceQuota, Withheld
from assignments.models.claims import pinned_configuration
from assignments.models.queue import SECRETS_FOUND, TraceQuotaQuerySet
from potato.configuration import UnreadablePinError
from potato.configuration.project import Assignment as AssignmentRules
from tenancy.prepared import prepared
from tenancy.statements import executed
from traces.clearing import held_secrets
from traces.evidence.nothing_to_judge import without_anything_to_judge
from traces.models import Trace

OPENED_AT_ONCE = 1_000


@dataclass(frozen=True)
class NewestRules:
    """How the newest published version gives traces out, that version's id, and what it mixes in."""

    rules: AssignmentRules
    version: UUID
    blocks: Blocks


def newest_rules(project: Project) -> tuple[AssignmentRules, UUID] | None:
    """How the newest published version gives traces out, and that version's id; None while nothing is published."""
    newest = newest_with_mixing(project)
    return (newest.rules, newest.version) if newest else None


def newest_with_mixing(project: Project) -> NewestRules | None:
    """The same with what it mixes in among the traces of the queue."""
    newest = _newest.first(project.pk)
    if newest is None:
        return None
    rules, version, *blocks = newest
    return NewestRules(
        AssignmentRules.model_validate(rules or {}), version, asked_for(dict(zip(KEYS, blocks, strict=True)))
    )


@prepared
def _newest(project: UUID) -> "QuerySet[ConfigurationVersion, Any]":
    versions = ConfigurationVersion.objects.filter(project=project).order_by("-number")
    return versions.values_list("configuration__assignment", "pk", *(f"configuration__{key}" for key in KEYS))[:1]


def open_quotas(*, project: Project) -> int:
    """Take traces into the queue that are not in it, the oldest first; returns how many, at most OPENED_AT_ONCE.

    The project's rules say which of them are released at once; the others wait in the pool. A newer version of a trace
    closes what is open of the older ones. None are taken in while the project is unpublished. Where somebody else does
    it, this waits until their transaction has ended: 0 says that nothing is left, for anybody.
    """
    rules = newest_rules(project)
    if rules is None:
        return 0
    with transaction.atomic():
        if not _newer(project).exists() and not lacks_quotas(project=project):
            return 0
        _wait_until_alone(project)
        traces = list(_newer(project)[:OPENED_AT_ONCE]) or _left_behind(project)
        idle = unjudged(rules[1], traces)
        secret = held_secrets(traces)
        quotas = []
        for trace, place in released_at_import(project=project, traces=traces, order=rules[0].order).items():
            wanted = (place and place.batch.redundancy) or rules[0].annotations_per_trace
            target = 0 if trace in idle else wanted
            quotas.append(TraceQuota(project=project, trace_id=trace, target=target, slots=target))
            if place is not None:
                quotas[-1].batch, quotas[-1].is_released = place.batch, True
                quotas[-1].rank, quotas[-1].rank_step = place.rank, place.rank_step
                quotas[-1].returned_at = place.returned_at
            if trace in secret:
                quotas[-1].withheld, quotas[-1].withheld_reason = Withheld.HELD_BACK, SECRETS_FOUND
                quotas[-1].is_released = False
        TraceQuota.objects.bulk_create(quotas)
        supersede(project=project, traces=traces)
    return len(quotas)


def lacks_quotas(*, project: Project) -> bool:
    """Whether a trace is not in the queue, or was only put there by a transaction that still goes on."""
    return _traces(project).count() != _known(project).count()


def _newer(project: Project) -> "QuerySet[Trace, UUID]":
    """The traces behind the newest one in the queue, the oldest first.

    Ids sort by time: a large import goes into the queue without a look at all of the project for each thousand.
    """
    newest = _known(project).order_by("-trace").values_list("trace", flat=True).first()
    traces = _traces(project) if newest is None else _traces(project).filter(pk__gt=newest)
    return traces.order_by("pk").values_list("pk", flat=True)


def _left_behind(project: Project) -> list[UUID]:
    """Traces older than the newest one in the queue that are not there: their import ended later than another's."""
    # EXCEPT is quick also before PostgreSQL has counted new tables, where it would join them row by row.
    missing = _traces(project).values_list("pk").difference(_known(project).values_list("trace"))
    return [trace for (trace,) in missing.order_by("pk")[:OPENED_AT_ONCE]]


def _traces(project: Project) -> "QuerySet[Trace]":
    return Trace.objects.filter(organisation=project.organisation_id, project=project)


def _known(project: Project) -> "QuerySet[TraceQuota]":
    return TraceQuota.objects.for_project(project)


def follow_configuration(*, project: Project) -> int:
    """Want as many annotators of each trace as the newest version says, and none of one that it can judge nothing of;
    returns how many traces that changed.

    Fewer take nobody's slot away: what is held stays held, and nothing is given out beyond the new number. A batch with
    a number of its own keeps it.
    """
    rules = newest_rules(project)
    if rules is None:
        return 0
    target, version = rules[0].annotations_per_trace, rules[1]
    with transaction.atomic():
        changed = _set_target(TraceQuota.objects.for_project(project).judgeable(), target)
        if _had_other_schemes(project):
            changed += _follow_what_can_be_judged(project, version, target)
        if changed:
            forget_positions(project=project)
    return changed


def _had_other_schemes(project: Project) -> bool:
    """Whether a version had other schemes than another one: what can be judged may differ then."""
    versions = ConfigurationVersion.objects.filter(project=project).order_by()
    return versions.values("configuration__annotation_schemes").distinct().count() > 1


def _follow_what_can_be_judged(project: Project, version: UUID, target: int) -> int:
    quota, changed, after = TraceQuota.objects.for_project(project), 0, UUID(int=0)
    while True:
        rows = quota.filter(trace__gt=after).order_by("trace").values_list("trace", flat=True)
        batch = list(rows[:OPENED_AT_ONCE])
        if not batch:
            return changed
        idle = unjudged(version, batch)
        changed += _set_target(quota.filter(trace__in=[trace for trace in batch if trace not in idle]), target)
        changed += _set_target(quota.filter(trace__in=list(idle)), 0)
        after = batch[-1]


def want_one_more(*, project: Project, traces: Sequence[UUID]) -> int:
    """Want one annotator more of each of these traces than now; returns of how many that could be said.

    It stays so when a later configuration wants more or fewer of all. Nobody is given a trace that nobody can judge.
    """
    with transaction.atomic():
        # Each call opens some, the oldest first, and these may be among the last.
        while open_quotas(project=project):
            pass
        rows = TraceQuota.objects.for_project(project).judgeable().filter(trace__in=traces).order_by("trace")
        locked = list(rows.select_for_update(no_key=True).values_list("pk", flat=True))
        TraceQuota.objects.filter(pk__in=locked).update(
            extra=F("extra") + 1,
            target=F("target") + 1,
            slots=Greatest(F("target") + 1, F("active") + F("done"), output_field=PositiveIntegerField()),
            returned_at=timezone.now(),
        )
    return len(locked)


def forget_positions(*, project: Project, batch: Batch | None = None) -> None:
    """Let everybody go through the batches from their begin again: slots came free behind where they are."""
    batches = Batch.objects.for_project(project) if batch is None else [batch]
    BatchPosition.objects.filter(organisation=project.organisation_id, batch__in=batches).delete()


def want_one_less(*, project: Project, traces: Sequence[UUID]) -> int:
    """Take back, once for each of these traces, that one annotator more is wanted; returns of how many that could be
    said. Where somebody has taken the place already it stays."""
    with transaction.atomic():
        rows = TraceQuota.objects.for_project(project).free().filter(trace__in=traces, extra__gt=0).order_by("trace")
        locked = list(rows.select_for_update(no_key=True).values_list("pk", flat=True))
        TraceQuota.objects.filter(pk__in=locked).update(
            extra=F("extra") - 1,
            target=F("target") - 1,
            slots=Greatest(F("target") - 1, F("active") + F("done"), output_field=PositiveIntegerField()),
        )
    return len(locked)


def _set_target(quota: TraceQuotaQuerySet, target: int) -> int:
    """The target of all, or of a batch that has its own, and what was asked for beyond it of one trace; 0 is 0."""
    own = Batch.objects.filter(organisation=OuterRef("organisation"), pk=OuterRef("batch")).values("redundancy")[:1]
    wanted = Coalesce(Subquery(own), target) + F("extra") if target else Value(0)
    others = quota.exclude(target=wanted).order_by("trace")
    # In one order, so that two configurations that are published at once do not wait for each other in a circle.
    locked = list(others.select_for_update(no_key=True).values_list("pk", flat=True))
    TraceQuota.objects.filter(pk__in=locked).update(
        target=wanted, slots=Greatest(wanted, F("active") + F("done"), output_field=PositiveIntegerField())
    )
    return len(locked)


def unjudged(version: UUID, traces: Sequence[UUID]) -> dict[UUID, str]:
    """Those of the traces that nobody can judge under that version, each with the reason; nobody is given them.

    Under a configuration that does not load in this installation that is not known, and there are none.
    """
    try:
        return without_anything_to_judge(pinned_configuration(version), traces)
    except UnreadablePinError:
        return {}


def _wait_until_alone(project: Project) -> None:
    """Nobody else opens slots of the project then, until the end of the transaction.

    An advisory lock, because the rows in question are not there yet, so that none of them can be locked.
    """
    executed("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"slots of {project.pk}"])
