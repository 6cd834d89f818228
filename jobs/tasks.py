"""The entry points of Celery. They carry ids; the rows say what is to be done."""

from collections.abc import Callable
from typing import Any

from celery import shared_task
from django.conf import settings
from django.db import connection
from django.utils import timezone

from jobs import fair_share, notifier, outbox, runner, sweeps
from jobs.actions import note_unknown_kinds
from jobs.schedules import firing, kinds
from jobs.schedules.finders import organisations_with_due
from tenancy.actor import acting, acting_in

# A process that is notified goes on until nothing waits, so more messages than processes are of no use.
NOTIFIED_AT_ONCE = 8

# A task that opens its own transactions. The stubs know only Celery's own options.
_task_in_parts: Callable[[Callable[..., None]], Any] = shared_task(bind=True, one_transaction=False)  # type: ignore[call-overload]


@_task_in_parts
def run_waiting(self: Any, queue: str) -> None:
    """There is work in the queue: give turns to the jobs whose turn it is."""
    redelivered = bool((self.request.delivery_info or {}).get("redelivered"))
    runner.work(queue=queue, message=self.request.id or "", redelivered=redelivered)


@shared_task
def notify_of_waiting() -> None:
    """Notify of work that is due, or lost with its worker: the message was lost, or nobody had a free place then."""
    for queue, jobs in fair_share.queues_with_work().items():
        notifier.notify_queue(queue, min(jobs, NOTIFIED_AT_ONCE), expires=settings.JOBS_RECOVERY_SECONDS)


@_task_in_parts
def deliver_events(self: Any) -> None:
    outbox.deliver(self.actor)


@shared_task
def sweep() -> None:
    """Send one sweep to each organisation with work, so that the trouble of one is not another's."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT jobs_organisations_with_work()")
        organisations = [organisation for (organisation,) in cursor.fetchall()]
    for organisation in organisations:
        with acting_in(organisation):
            notifier.notify(sweep_organisation.name, (), expires=settings.JOBS_SWEEP_SECONDS)
    for registered in sweeps.registered():
        for organisation in registered.organisations():
            with acting_in(organisation):
                notifier.notify(run_sweep.name, (registered.name,), expires=settings.JOBS_SWEEP_SECONDS)


@_task_in_parts
def sweep_organisation(self: Any) -> None:
    """Deliver events of which no message came, and look after jobs that no worker here can run."""
    with acting(self.actor):
        note_unknown_kinds()
    outbox.deliver(self.actor)
    outbox.purge(self.actor)


@_task_in_parts
def run_sweep(self: Any, name: str) -> None:
    """Do what an app above has registered, for one organisation."""
    sweeps.named(name).run(self.actor)


@shared_task
def fire_schedules() -> None:
    """A minute has passed: send a task to each organisation with schedules that are due, for each of their kinds."""
    for kind in kinds.registered():
        for organisation in organisations_with_due(kind.model, timezone.now()):
            with acting_in(organisation):
                notifier.notify(fire_organisation_schedules.name, (kind.name,), expires=settings.SCHEDULES_SECONDS)


@_task_in_parts
def fire_organisation_schedules(self: Any, kind: str) -> None:
    """Fire the schedules of that kind that are due in one organisation."""
    firing.fire_due(kinds.kind_named(kind), self.actor)
