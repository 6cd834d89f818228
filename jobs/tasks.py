"""The doors through which Celery comes in. They carry ids; the rows say what is to be done."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from celery import shared_task
from django.conf import settings
from django.db import connection

from jobs import bell, outbox, runner, sweeps
from jobs.actions import ring_unheard_jobs
from tenancy.actor import acting, acting_in

# A task that opens its own transactions. The stubs know only Celery's own options.
_task_in_parts: Callable[[Callable[..., None]], Any] = shared_task(bind=True, one_transaction=False)  # type: ignore[call-overload]


@_task_in_parts
def run_job(self: Any, job_id: str) -> None:
    redelivered = bool((self.request.delivery_info or {}).get("redelivered"))
    runner.run(job_id=UUID(job_id), actor=self.actor, redelivered=redelivered)


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
            bell.ring(sweep_organisation, (), expires=settings.JOBS_SWEEP_SECONDS)
    for registered in sweeps.registered():
        for organisation in registered.organisations():
            with acting_in(organisation):
                bell.ring(run_sweep, (registered.name,), expires=settings.JOBS_SWEEP_SECONDS)


@_task_in_parts
def sweep_organisation(self: Any) -> None:
    """Ring again for jobs and events whose bell was lost."""
    with acting(self.actor):
        ring_unheard_jobs()
    outbox.deliver(self.actor)
    outbox.purge(self.actor)


@_task_in_parts
def run_sweep(self: Any, name: str) -> None:
    """Do what a room above has registered, for one organisation."""
    sweeps.named(name).run(self.actor)
