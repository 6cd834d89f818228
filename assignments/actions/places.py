"""How many annotators each trace is given to: places are opened for new traces, and follow what is wanted."""

from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import F, PositiveIntegerField, QuerySet
from django.db.models.functions import Greatest

from accounts.configuration.project import Assignment as AssignmentRules
from accounts.models import ConfigurationVersion, Project
from assignments.models import TracePlaces
from tenancy.prepared import prepared
from tenancy.statements import executed
from traces.models import Trace

OPENED_AT_ONCE = 1_000


def rules_of(project: Project) -> tuple[AssignmentRules, UUID] | None:
    """How the newest published version gives traces out, and that version's id; None while nothing is published."""
    newest = _newest.first(project.pk)
    return (AssignmentRules.model_validate(newest[0] or {}), newest[1]) if newest else None


@prepared
def _newest(project: UUID) -> "QuerySet[ConfigurationVersion, tuple[Any, UUID]]":
    versions = ConfigurationVersion.objects.filter(project=project).order_by("-number")
    return versions.values_list("configuration__assignment", "pk")[:1]


def open_places(*, project: Project) -> int:
    """Put traces that are not in the queue into it, the oldest first; returns how many, at most OPENED_AT_ONCE.

    None are opened while the project is unpublished. Where somebody else opens them, this waits until their
    transaction has ended: 0 says that nothing is left to be opened, by anybody.
    """
    rules = rules_of(project)
    if rules is None:
        return 0
    wanted = rules[0].annotations_per_trace
    with transaction.atomic():
        if not lacks_places(project=project):
            return 0
        _wait_until_alone(project)
        # EXCEPT is quick also before PostgreSQL has counted new tables, where it would join them row by row.
        missing = _traces(project).values_list("pk").difference(_known(project).values_list("trace"))
        opened = TracePlaces.objects.bulk_create(
            TracePlaces(project=project, trace_id=trace, wanted=wanted, places=wanted)
            for (trace,) in missing.order_by("pk")[:OPENED_AT_ONCE]
        )
    return len(opened)


def lacks_places(*, project: Project) -> bool:
    """Whether a trace is not in the queue, or was only put there by a transaction that still goes on."""
    return _traces(project).count() != _known(project).count()


def _traces(project: Project) -> "QuerySet[Trace]":
    return Trace.objects.filter(organisation=project.organisation_id, project=project)


def _known(project: Project) -> "QuerySet[TracePlaces]":
    return TracePlaces.objects.for_project(project)


def want_as_configured(*, project: Project) -> int:
    """Want as many annotators of each trace as the newest version says; returns how many traces that changed.

    Fewer take nobody's place away: what is held stays held, and nothing is given out beyond the new number.
    """
    rules = rules_of(project)
    if rules is None:
        return 0
    wanted = rules[0].annotations_per_trace
    with transaction.atomic():
        others = TracePlaces.objects.for_project(project).exclude(wanted=wanted)
        locked = list(others.order_by("trace").select_for_update(no_key=True).values_list("pk", flat=True))
        TracePlaces.objects.filter(pk__in=locked).update(
            wanted=wanted, places=Greatest(wanted, F("live") + F("done"), output_field=PositiveIntegerField())
        )
    return len(locked)


def _wait_until_alone(project: Project) -> None:
    """Nobody else opens places of the project then, until the end of the transaction."""
    executed("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"places of {project.pk}"])
