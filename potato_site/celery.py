"""The Celery application. Every task is a TenantTask, which carries its organisation from the call."""

import os
from typing import Any

from celery import Celery
from celery.signals import beat_init, celeryd_after_setup, worker_init, worker_ready

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "potato_site.settings")

app = Celery("potato", task_cls="tenancy.tasks:TenantTask")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@worker_init.connect
@beat_init.connect
def refuse_to_start_unisolated(**kwargs: Any) -> None:
    """Celery logs an exception of a signal's receiver and goes on; it lets SystemExit alone pass."""
    from tenancy.checks import refuse_to_start_unchecked

    try:
        refuse_to_start_unchecked()
    except Exception as error:
        raise SystemExit(f"potato: not started: {error}") from error


@celeryd_after_setup.connect
def say_which_worker_this_is(sender: str, instance: Any, **kwargs: Any) -> None:
    """Before the processes are forked, which choose jobs by it."""
    from jobs.fair_share import Worker, become

    become(Worker(sender, instance.concurrency, frozenset(app.amqp.queues.consume_from)))


@worker_ready.connect
def enqueue_waiting_jobs(**kwargs: Any) -> None:
    """A worker that starts looks for work whose message was lost, instead of waiting for the schedule."""
    from jobs.tasks import notify_of_waiting, sweep

    notify_of_waiting.delay()
    sweep.delay()
