"""Asking one person more about traces on which people disagree, and taking that back."""

from collections.abc import Collection
from uuid import UUID

from django.db import transaction

from accounts.models import Project
from assignments.actions.quotas import want_one_less, want_one_more
from tenancy import audit
from tenancy.errors import Refused
from traces.models import Trace

TRACES_AT_ONCE = 1_000


class UnfitTraces(Refused):
    code = "unfit_traces"
    status = 400


def request_third_annotator(*, project: Project, traces: Collection[str]) -> int:
    """Want one annotator more of each of these traces; returns of how many that was possible: not of those that nobody
    can judge. Annotators get them from the queue like any others. Raises UnfitTraces."""
    with transaction.atomic():
        changed = want_one_more(project=project, traces=_of_project(project, traces))
        audit.record("traces.third-person-asked", project, traces=changed)
    return changed


def take_back(*, project: Project, traces: Collection[str]) -> int:
    """Want one annotator less again of each that was asked for; returns of how many: not where somebody has taken the
    trace meanwhile. Raises UnfitTraces."""
    with transaction.atomic():
        changed = want_one_less(project=project, traces=_of_project(project, traces))
        audit.record("traces.third-person-taken-back", project, traces=changed)
    return changed


def _of_project(project: Project, traces: Collection[str]) -> list[UUID]:
    """The ids in their order, each once."""
    try:
        trace_ids = {UUID(trace) for trace in traces}
    except ValueError:
        raise UnfitTraces("A trace is named by its id, a UUID, as the list of traces has it.") from None
    if not 0 < len(trace_ids) <= TRACES_AT_ONCE:
        raise UnfitTraces(f"Choose from 1 to {TRACES_AT_ONCE:,} traces.")
    own = Trace.objects.filter(organisation=project.organisation_id, project=project, pk__in=trace_ids)
    if own.count() != len(trace_ids):
        raise UnfitTraces("A chosen trace is not in this project. Reload the page.")
    return sorted(trace_ids)
