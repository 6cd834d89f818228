"""Which submissions an export's filters let pass."""

from datetime import UTC, datetime, timedelta
from functools import reduce
from operator import or_
from typing import Any

from django.db.models import Q

from accounts.models import Membership
from potato.records.filters import Filters


def filtered(rows: Any, filters: Filters) -> Any:
    """The submissions that the filters let pass. Under which schemes they have answers is seen when they are read;
    here those leave whose configuration has none of them."""
    if filters.annotators:
        members = Membership.objects.filter(annotator_name__in=filters.annotators)
        rows = rows.filter(assignment__user__in=members.values("user"))
    if filters.made_from:
        rows = rows.filter(submitted_at__gte=_midnight(filters.made_from))
    if filters.made_until:
        rows = rows.filter(submitted_at__lt=_midnight(filters.made_until) + timedelta(days=1))
    if filters.agent_models:
        rows = rows.filter(assignment__trace__agent_model__in=filters.agent_models)
    if filters.tags:
        tagged = (Q(assignment__trace__tags__contains=[tag]) for tag in filters.tags)
        rows = rows.filter(reduce(or_, tagged))
    if filters.schemes:
        of_scheme = (
            Q(assignment__version__configuration__annotation_schemes__contains=[{"name": name}])
            for name in filters.schemes
        )
        rows = rows.filter(reduce(or_, of_scheme))
    return rows


def _midnight(day: str) -> datetime:
    return datetime.fromisoformat(day).replace(tzinfo=UTC)
