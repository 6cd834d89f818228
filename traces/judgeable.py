"""Which stored traces nothing can be judged of under a configuration, and why. Reads columns alone, no bodies."""

from collections import defaultdict
from collections.abc import Collection, Iterator
from uuid import UUID

from django.db.models import Count

from accounts.configuration import ProjectConfiguration
from accounts.configuration.annotations import why_nothing_is_judged
from accounts.configuration.contents import TraceContents
from traces.models import Trace, TraceFile

TRACES_AT_ONCE = 1_000


def without_anything_to_judge(configuration: ProjectConfiguration, traces: Collection[UUID]) -> dict[UUID, str]:
    """Those of the traces that no scheme can judge, each with the reason. Two queries."""
    contents = contents_of(traces)
    reasons = ((trace, why_nothing_is_judged(configuration, contents[trace])) for trace in traces if trace in contents)
    return {trace: reason for trace, reason in reasons if reason is not None}


def contents_of(traces: Collection[UUID]) -> dict[UUID, TraceContents]:
    """What there is in each of the traces. Two queries."""
    files: defaultdict[UUID, dict[str, int]] = defaultdict(dict)
    counted = TraceFile.objects.filter(trace__in=traces).order_by().values_list("trace", "operation")
    for trace, operation, number in counted.annotate(number=Count("pk")):
        files[trace][operation] = number
    steps = Trace.objects.filter(pk__in=traces).values_list("pk", "steps_count")
    return {trace: TraceContents(count, files[trace]) for trace, count in steps}


def unjudged_of_file(configuration: ProjectConfiguration, file: UUID) -> Iterator[tuple[str, str]]:
    """The traces of an imported file that no scheme can judge: id and reason, in their order."""
    after: UUID | None = None
    while True:
        rows = Trace.objects.filter(file=file).order_by("pk")
        names = {row.pk: str(row) for row in (rows.filter(pk__gt=after) if after else rows)[:TRACES_AT_ONCE]}
        if not names:
            return
        for trace, reason in without_anything_to_judge(configuration, list(names)).items():
            yield names[trace], reason
        after = max(names)
