"""How far the annotators of each trace agree: brought up to date with each annotation, and wholly by each report."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.utils import timezone

from accounts.models import Project
from agreement.models import TraceAgreement
from assignments.models import Kind, Submission
from jobs.models import OutboxEvent
from potato.configuration import ProjectConfiguration, UnreadablePinError, pinned
from potato.statistics.agreement.one_trace import sameness_of_pairs

TRACES_AT_ONCE = 200
TRACES_A_PART = 2_000
_FIRST = UUID(int=0)
_LOOKED_AT = 12
"""Of more annotations of one trace the first ones are compared; all pairs of a hundred would be 4,950."""


def agreement_of_trace() -> Subquery:
    """An expression of traces: how far the annotators of each agree, NULL where fewer than two have judged it."""
    rows = TraceAgreement.objects.filter(organisation=OuterRef("organisation"), trace=OuterRef("pk"))
    return Subquery(rows.values("value")[:1])


def traces_below(project: Project, limit: float) -> "QuerySet[TraceAgreement, UUID]":
    """The ids of a project's traces whose annotators agree less than that."""
    return TraceAgreement.objects.for_project(project).filter(value__lt=limit).values_list("trace", flat=True)


def submission_changed(event: OutboxEvent) -> None:
    """Somebody submitted an annotation, or took one back."""
    submission = Submission.objects.select_related("project", "assignment").get(pk=event.payload["submission"])
    update_traces(project=submission.project, traces=[submission.assignment.trace_id])


def update_behind(project: Project, after: UUID = _FIRST) -> UUID | None:
    """Bring TRACES_A_PART of a project's traces behind that one up to date, in the order of their ids; returns the last
    of them, None where it was the end."""
    done = 0
    for traces in _shared(project, after):
        update_traces(project=project, traces=traces)
        done += len(traces)
        if done >= TRACES_A_PART:
            return traces[-1]
    return None


def update_traces(*, project: Project, traces: Collection[UUID]) -> int:
    """Compare the annotations of these traces that count, under the newest configuration; returns of how many there was
    something to compare. Under a configuration that this installation cannot read nothing changes."""
    version = project.newest_version()
    if version is None:
        return 0
    try:
        configuration = pinned(version.configuration)
    except UnreadablePinError:
        return 0
    values = {
        trace: (value, len(annotations))
        for trace, annotations in _annotations(project, traces).items()
        if (value := agreement_within(annotations, configuration)) is not None
    }
    rows = TraceAgreement.objects.for_project(project).filter(trace__in=traces)
    with transaction.atomic():
        rows.exclude(trace__in=values).delete()
        TraceAgreement.objects.bulk_create(
            [
                TraceAgreement(
                    project=project, trace_id=trace, value=value, annotations=number, computed_at=timezone.now()
                )
                # In one order, so that two that write some of the same do not wait for each other in a circle.
                for trace, (value, number) in sorted(values.items())
            ],
            update_conflicts=True,
            unique_fields=["organisation", "trace"],
            update_fields=["value", "annotations", "computed_at"],
        )
    return len(values)


def agreement_within(annotations: Sequence[Mapping[str, Any]], configuration: ProjectConfiguration) -> float | None:
    """The mean over the pairs of annotations of one trace of how far the two say the same; None where no two judged
    anything in common."""
    pairs = sameness_of_pairs(annotations[:_LOOKED_AT], configuration)
    shares = [share for share in pairs.values() if share is not None]
    return min(1.0, max(0.0, fmean(shares))) if shares else None


def _annotations(project: Project, traces: Collection[UUID]) -> Mapping[UUID, list[Mapping[str, Any]]]:
    """What counts of each trace that two people or more have judged, the first one first."""
    rows = Submission.objects.for_project(project).counted()
    rows = rows.filter(assignment__trace__in=traces, assignment__kind=Kind.NORMAL).select_related("assignment")
    annotations: dict[UUID, list[Mapping[str, Any]]] = defaultdict(list)
    for submission in rows.order_by("pk"):
        annotations[submission.assignment.trace_id].append(submission.result)
    return {trace: results for trace, results in annotations.items() if len(results) > 1}


def _shared(project: Project, after: UUID) -> Iterator[list[UUID]]:
    """Traces behind that one with two annotations or more, and those that have a row, some at a time."""
    rows = Submission.objects.for_project(project).filter(assignment__organisation=project.organisation_id).order_by()
    shared = rows.values("assignment__trace").annotate(number=Count("pk")).filter(number__gt=1)
    known = TraceAgreement.objects.for_project(project)
    while True:
        some = shared.filter(assignment__trace__gt=after).order_by("assignment__trace")
        traces = set(some.values_list("assignment__trace", flat=True)[:TRACES_AT_ONCE])
        traces |= set(known.filter(trace__gt=after).order_by("trace").values_list("trace", flat=True)[:TRACES_AT_ONCE])
        chosen = sorted(traces)[:TRACES_AT_ONCE]
        if not chosen:
            return
        yield chosen
        after = chosen[-1]
