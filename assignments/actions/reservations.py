"""Traces that are offered to named people first: the offer ends at its date, and the trace is for everybody again."""

from uuid import UUID

from django.db import transaction
from django.utils import timezone

from accounts.models import Project, User
from assignments.models import Reservation, TraceQuota
from tenancy.actor import Actor, acting, active_organisation


def end_reservations(*, project: UUID | None = None) -> int:
    """Give to everybody what was reserved until now, in a project or the whole organisation; returns how many traces.

    What somebody else is moving has its turn later.
    """
    now = timezone.now()
    reservations = Reservation.objects.filter(organisation=active_organisation())
    if project is not None:
        reservations = reservations.filter(project=project)
    over = reservations.filter(until__lte=now)
    if not over.exists():
        return 0
    with transaction.atomic():
        quotas = TraceQuota.objects.filter(organisation=active_organisation(), trace__in=over.values("trace"))
        quotas = quotas.order_by("trace").select_for_update(skip_locked=True, no_key=True, of=("self",))
        locked = list(quotas.values_list("pk", "trace"))
        traces = [trace for _, trace in locked]
        reservations.filter(trace__in=traces, until__lte=now).delete()
        kept = set(reservations.filter(trace__in=traces).values_list("trace", flat=True))
        free = [pk for pk, trace in locked if trace not in kept]
        TraceQuota.objects.filter(pk__in=free).update(is_reserved=False, returned_at=now)
    return len(free)


def end_offers_of(user: User, project: Project | None = None) -> int:
    """End what is offered to the person, in a project or the whole active organisation, because they may take it no
    more; returns how many traces are everybody's with that. What somebody else is moving has its turn later."""
    now = timezone.now()
    offered = Reservation.objects.filter(organisation=active_organisation(), user=user, until__gt=now)
    if project is not None:
        offered = offered.filter(project=project)
    if not offered.update(until=now):
        return 0
    return end_reservations(project=None if project is None else project.pk)


def sweep_reservations(actor: Actor) -> None:
    """What the sweep does in an organisation."""
    with acting(actor):
        end_reservations()
