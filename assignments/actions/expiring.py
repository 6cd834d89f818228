"""Leases that ended: their slots go back to the queue. The drafts stay, and a late submission is still taken."""

from django.db import transaction
from django.utils import timezone

from assignments.models import Assignment, AssignmentState, Kind, TraceQuota
from tenancy.actor import Actor, acting

BATCH = 200


def expire_leases(actor: Actor) -> int:
    """Expire what has ended in the actor's organisation, in batches, each one transaction; returns how many.

    Waits for nobody: what is locked is being worked on, and has its turn with a later tick.
    """
    expired = 0
    while True:
        with acting(actor):
            seen, done = _expire_batch()
        expired += done
        if seen < BATCH or not done:
            return expired


def _expire_batch() -> tuple[int, int]:
    now = timezone.now()
    with transaction.atomic():
        ended = Assignment.objects.open().filter(lease_until__lt=now)
        ended_leases = list(ended.order_by("lease_until").values_list("pk", "trace", "kind")[:BATCH])
        # Quotas before assignments, as in every action; which traces there are is read without a lock for that.
        quota = {
            row.trace_id: row
            for row in TraceQuota.objects.filter(trace__in={trace for _, trace, _ in ended_leases}).select_for_update(
                skip_locked=True, no_key=True, of=("self",)
            )
        }
        # Asked again under the lock: a heartbeat may have come in between.
        rows = ended.filter(pk__in=[pk for pk, trace, kind in ended_leases if trace in quota or kind != Kind.NORMAL])
        expired = list(rows.select_for_update(skip_locked=True, no_key=True, of=("self",)))
        for assignment in expired:
            assignment.state, assignment.since, assignment.lease_until = AssignmentState.EXPIRED, now, None
            if assignment.takes_slot:
                quota[assignment.trace_id].move(active=-1)
        Assignment.objects.bulk_update(expired, ["state", "since", "lease_until"])
    return len(ended_leases), len(expired)
