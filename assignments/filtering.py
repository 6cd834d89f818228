"""Which submissions the filters of an export or a report let pass."""

from datetime import UTC, datetime, timedelta
from functools import reduce
from operator import or_
from typing import Any

from django.db.models import Q

from accounts.models import Membership, Project
from assignments.models import Batch
from potato.records.filters import Filters
from potato.records.sources import RecordsError


def filtered(rows: Any, project: Project, filters: Filters) -> Any:
    """The submissions that the filters let pass. Under which schemes they have answers is seen when they are read;
    here those leave whose configuration has none of them."""
    if filters.annotators:
        members = Membership.objects.filter(annotator_name__in=filters.annotators)
        rows = rows.filter(assignment__user__in=members.values("user"))
    if filters.made_from:
        rows = rows.filter(submitted_at__gte=midnight(filters.made_from))
    if filters.made_until:
        rows = rows.filter(submitted_at__lt=midnight(filters.made_until) + timedelta(days=1))
    if filters.batches:
        rows = rows.filter(batch_number__in=chosen_batches(project, filters))
    return versions_filtered(traces_filtered(rows, filters, "assignment__trace__"), filters, "assignment__version__")


def traces_filtered(rows: Any, filters: Filters, trace: str = "") -> Any:
    """The traces whose runs the filters let pass, or what has such a trace by that path. Batches are not asked for: in
    which one a trace is, each annotation says of its own time."""
    if filters.agent_models:
        rows = rows.filter(**{f"{trace}agent_model__in": filters.agent_models})
    if filters.tags:
        tagged = (Q(**{f"{trace}tags__contains": [tag]}) for tag in filters.tags)
        rows = rows.filter(reduce(or_, tagged))
    return rows


def versions_filtered(rows: Any, filters: Filters, version: str = "") -> Any:
    """The versions of a configuration with one of the filters' schemes, or what has a version by that path."""
    if filters.schemes:
        named = (
            Q(**{f"{version}configuration__annotation_schemes__contains": [{"name": name}]}) for name in filters.schemes
        )
        rows = rows.filter(reduce(or_, named))
    return rows


def chosen_batches(project: Project, filters: Filters) -> list[int]:
    """The numbers of the project's batches that the filters name. Who has no batch of a name has it of that number, or
    it is refused: raises RecordsError."""
    if not filters.batches:
        return []
    batches = Batch.objects.for_project(project)
    by_name: dict[str, list[int]] = {}
    for number, name in batches.filter(name__in=filters.batches).values_list("number", "name"):
        by_name.setdefault(name, []).append(number)
    by_number = {str(number): [number] for number in batches.values_list("number", flat=True)}
    chosen: list[int] = []
    for batch in filters.batches:
        if not (numbers := by_name.get(batch) or by_number.get(batch)):
            raise RecordsError(
                f"batches: {project.name} has no batch {batch!r}. Write a batch's name or number, as on the page "
                "Batches."
            )
        chosen += numbers
    return chosen


def midnight(day: str) -> datetime:
    """When that day begins, in UTC."""
    return datetime.fromisoformat(day).replace(tzinfo=UTC)
