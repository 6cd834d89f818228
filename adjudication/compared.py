"""The annotations of a trace that an adjudicator lays side by side, and what of them is left to settle."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from assignments.models import Kind, Submission
from potato.configuration import ProjectConfiguration, UnreadablePinError
from potato.records.annotations import unjudged_reason
from potato.statistics.agreement.settling import Item, items
from traces.models import Trace

MOST_COMPARED = 9
"""More annotations of one trace are not laid side by side: each has a key."""


@dataclass(frozen=True)
class ComparedAnnotations:
    """Annotations in the order in which they came, under the newest configuration that one of them was made under."""

    trace: Trace
    submissions: tuple[Any, ...]
    configuration: ProjectConfiguration
    version: UUID
    items: tuple[Item, ...]

    @property
    def ids(self) -> list[str]:
        return [str(row.pk) for row in self.submissions]

    @property
    def keys(self) -> list[tuple[str, str]]:
        return [(item.scheme, item.key) for item in self.items]


def unjudged_by_all(compared: ComparedAnnotations) -> str | None:
    """The first reason where all annotations say that the trace cannot be judged: there is no question to settle."""
    reasons = [unjudged_reason(row.result, compared.configuration) for row in compared.submissions]
    return None if not reasons or None in reasons else reasons[0]


def counted_of(trace: Trace, only: Collection[UUID] | None = None) -> list[Any]:
    """The annotators' annotations of the trace that count and can be read, each with its configuration as `pinned`;
    with `only` those of them."""
    rows = Submission.objects.counted().filter(
        organisation=trace.organisation_id, assignment__trace=trace, assignment__kind=Kind.NORMAL
    )
    if only is not None:
        rows = rows.filter(pk__in=only)
    return readable_ones(rows.select_related("assignment__version").order_by("pk"))


def compare_annotations(trace: Trace, only: Collection[UUID] | None = None) -> ComparedAnnotations | None:
    """None where nobody has annotated the trace, as far as that can be read."""
    rows = counted_of(trace, only)[:MOST_COMPARED]
    return compare_rows(trace, rows) if rows else None


def compare_rows(trace: Trace, rows: Sequence[Any]) -> ComparedAnnotations:
    newest = max(rows, key=lambda row: row.assignment.version.number)
    results: list[Mapping[str, Any]] = [row.result for row in rows]
    return ComparedAnnotations(
        trace,
        tuple(rows),
        newest.pinned,
        newest.assignment.version_id,
        tuple(items(results, newest.pinned)),
    )


def readable_ones(rows: Any) -> list[Any]:
    """Those whose configuration this installation can read."""
    readable = []
    for row in rows:
        try:
            row.pinned = row.assignment.configuration()
        except UnreadablePinError:
            continue
        readable.append(row)
    return readable
