"""The Celery application. Every task is a TenantTask, which carries its organisation from the call."""

import os
from typing import Any

from celery import Celery
from celery.signals import beat_init, worker_init, worker_ready

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "potato_site.settings")

app = Celery("potato", task_cls="tenancy.tasks:TenantTask")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@worker_init.connect
@beat_init.connect
def refuse_to_start_past_the_wall(**kwargs: Any) -> None:
    """Celery logs an exception of a signal's receiver and goes on; it lets SystemExit alone pass."""
    from tenancy.checks import refuse_to_start_unchecked

    try:
        refuse_to_start_unchecked()
    except Exception as error:
        raise SystemExit(f"potato: not started: {error}") from error


@worker_ready.connect
def ring_what_waited(**kwargs: Any) -> None:
    """A worker that starts looks for jobs whose doorbell was lost, instead of waiting for the schedule."""
    from jobs.tasks import sweep

    sweep.delay()
