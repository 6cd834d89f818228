"""Traces that nobody is left to judge."""

from django.db.models import Exists, OuterRef, Q

from accounts.models import Project
from accounts.models.members import members_with
from assignments.models import Assignment, AssignmentState, BatchPerson, Kind, TraceQuota
from assignments.models.claims import HELD_OR_DECIDED, JUDGES_ONCE
from assignments.models.queue import TraceQuotaQuerySet
from tenancy.roles import Right, Role


def stuck_quotas(project: Project) -> TraceQuotaQuerySet:
    """Unfinished traces that are with nobody, were skipped, and were had by everybody who may be given them: all who
    may annotate in the project, or those of them who are named, where the batch is for named people.

    Whose annotation is void had the trace as well: it does not come back to them.
    """
    everybody = members_with(Right.ANNOTATE, project).exclude(role=Role.SERVICE)
    here = Assignment.objects.for_project(project).filter(kind=Kind.NORMAL)
    skipped = here.filter(state=AssignmentState.SKIPPED).values("trace")
    had = Assignment.objects.for_project(project).filter(kind__in=JUDGES_ONCE, state__in=HELD_OR_DECIDED)
    has_had = Exists(had.filter(trace=OuterRef(OuterRef("trace")), user=OuterRef("user")))
    of_named = BatchPerson.objects.filter(
        organisation=project.organisation_id, batch=OuterRef("batch"), user__in=everybody.values("user")
    )
    nobody_left = Q(batch__is_restricted=False) & ~Exists(everybody.filter(~has_had))
    nobody_named_left = Q(batch__is_restricted=True) & ~Exists(of_named.filter(~has_had))
    waiting = TraceQuota.objects.for_project(project).unfinished().filter(active=0, trace__in=skipped)
    return waiting.filter(nobody_left | nobody_named_left)
