"""Where a trace stands in the queue, on the page of that trace, and what managers do about it there."""

from dataclasses import dataclass
from typing import Any

from django.contrib.messages import get_messages
from django.http import HttpRequest

from assignments.models import Priority
from assignments.pool.filters import PoolFilters
from assignments.pool.listing import PoolList, Row
from assignments.pool.people import people_to_choose
from tenancy.permissions import allowed
from tenancy.roles import Right
from traces.models import Trace
from traces.trace_parts import TracePart


@dataclass(frozen=True)
class Place:
    """The trace as a row of the list, who may be named, and what was just done."""

    row: Row
    own_tags: list[str]
    """Those that were given here, and can be taken off."""
    may_steer: bool
    people: list[tuple[str, str]]
    priorities: list[tuple[str, str]]
    said: Any
    """Messages of what was done from this page."""


def _place(request: HttpRequest, trace: Trace) -> Place | None:
    """For who may see the project's traces."""
    if not allowed(request, Right.SEE_TRACES, trace.project):
        return None
    pool = PoolList(trace.project, PoolFilters(versions="all"), only=trace.pk)
    rows = pool.rows(pool.ordered("oldest").filter(pk=trace.pk))
    if not rows:
        return None
    may_steer = allowed(request, Right.MANAGE_PROJECTS, trace.project)
    return Place(
        row=rows[0],
        own_tags=[tag for tag in rows[0].tags if tag not in trace.tags],
        may_steer=may_steer,
        people=people_to_choose(trace.project) if may_steer else [],
        priorities=[(str(value), label) for value, label in reversed(Priority.choices)],
        said=get_messages(request),
    )


PART = TracePart("assignments.place", "assignments/reading/partials/place.html", _place)
