"""What becomes of a trace as it comes in: a standing rule releases it into a batch, or it waits in the pool."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Exists, F, OuterRef
from django.utils import timezone

from accounts.models import Project
from assignments.models import Batch, BatchPosition, BatchState, Order, StandingRule, TraceQuota, Withheld
from assignments.models.queue import UNFINISHED, first_rank, rank_step
from assignments.pool.selecting import Selection, taken_by_share
from assignments.pool.states import imports_wait
from traces.models import Trace

STANDARD_NAME = "All traces"


@dataclass(frozen=True)
class ReleaseTarget:
    """Where a trace is released to."""

    batch: Batch
    rank: int
    rank_step: int
    returned_at: datetime | None


def released_at_import(*, project: Project, traces: Sequence[UUID], order: str) -> dict[UUID, ReleaseTarget | None]:
    """For each of the new traces its place in a batch, or None for the pool. The caller opens quotas alone.

    Rules that are not ended are asked in their order; what none of them takes goes into the project's own batch, which
    is made when it is needed, unless the project lets imports wait.
    """
    places: dict[UUID, ReleaseTarget | None] = dict.fromkeys(traces)
    left = list(traces)
    rules = StandingRule.objects.filter(organisation=project.organisation_id, project=project, ended_at__isnull=True)
    for rule in rules.select_related("batch").order_by("number"):
        selection = Selection.from_data(rule.selection)
        fit = selection.filters.chosen_traces(Trace.objects.filter(pk__in=left))
        taken = taken_by_share(fit.values_list("pk", "external_id"), share=selection.share, seed=selection.seed)
        if taken:
            places.update(places_behind(rule.batch, [trace for trace in left if trace in taken]))
            StandingRule.objects.filter(pk=rule.pk).update(taken=F("taken") + len(taken))
            left = [trace for trace in left if trace not in taken]
    if left and not imports_wait(project):
        places.update(places_behind(_standard_batch(project, order), left))
    return places


def places_behind(batch: Batch, traces: Sequence[UUID]) -> dict[UUID, ReleaseTarget]:
    """Ranks behind all of the batch, in its order. Locks the batch.

    To those who have passed these ranks already they are given as slots that came free again.
    """
    locked = Batch.objects.select_for_update(no_key=True, of=("self",)).get(pk=batch.pk)
    first = first_rank(locked.order) + locked.last_rank + 1
    ranks = list(range(first, first + len(traces)))
    if locked.order == Order.RANDOM:
        random.Random(f"{locked.pk} {locked.last_rank}").shuffle(ranks)  # noqa: S311  (an order, no secret)
    step = rank_step(locked.order)
    Batch.objects.filter(pk=batch.pk).update(last_rank=locked.last_rank + len(traces))
    batch.last_rank = locked.last_rank + len(traces)
    is_walked = BatchPosition.objects.filter(organisation=batch.organisation_id, batch=batch).exists()
    now = timezone.now() if is_walked else None
    return {trace: ReleaseTarget(batch, rank, step, now) for trace, rank in zip(traces, ranks, strict=True)}


def supersede(*, project: Project, traces: Sequence[UUID]) -> int:
    """Close what is open of older versions of these traces; returns of how many. Annotations and held tasks stay."""
    newer = Trace.objects.filter(
        organisation=project.organisation_id,
        project=project,
        pk__in=traces,
        version__gt=1,
        external_id=OuterRef("external_id"),
        version=OuterRef("version") + 1,
    )
    older = Trace.objects.filter(organisation=project.organisation_id, project=project).filter(Exists(newer))
    if not Trace.objects.filter(pk__in=traces, version__gt=1).exists():
        return 0
    quotas = TraceQuota.objects.for_project(project).filter(trace__in=older.values("pk"), withheld="")
    return quotas.exclude(~UNFINISHED, batch__isnull=False).update(
        withheld=Withheld.SUPERSEDED, is_released=False, withheld_reason="A newer version was imported."
    )


def _standard_batch(project: Project, order: str) -> Batch:
    standard = Batch.objects.for_project(project).filter(is_standard=True).first()
    return standard or Batch.objects.create(
        project=project,
        number=next_number(project),
        name=STANDARD_NAME,
        state=BatchState.OPEN,
        order=order if order in Order.values else Order.IMPORTED,
        is_standard=True,
        selection={"take": "all"},
        released_at=timezone.now(),
    )


def next_number(project: Project) -> int:
    """The number of the project's next batch."""
    last = Batch.objects.for_project(project).order_by("-number").values_list("number", flat=True).first()
    return (last or 0) + 1
