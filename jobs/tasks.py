"""The doors through which Celery comes in. They carry ids; the rows say what is to be done."""

from typing import Any
from uuid import UUID

from celery import shared_task
from django.db import connection

from jobs import outbox, runner
from jobs.actions import ring_unheard_jobs
from tenancy.actor import acting_in


@shared_task(bind=True, one_transaction=False)
def run_job(self: Any, job_id: str) -> None:
    redelivered = bool((self.request.delivery_info or {}).get("redelivered"))
    runner.run(job_id=UUID(job_id), actor=self.actor, redelivered=redelivered)


@shared_task
def deliver_events() -> None:
    outbox.deliver()


@shared_task
def sweep() -> None:
    """Ring again, organisation by organisation, for jobs and events whose bell was lost."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT jobs_organisations_with_work()")
        organisations = [organisation for (organisation,) in cursor.fetchall()]
    for organisation in organisations:
        with acting_in(organisation):
            ring_unheard_jobs()
            outbox.deliver()
