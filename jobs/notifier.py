"""Messages that notify the workers of rows to look at. Nobody waits for a broker that does not answer.

A notification may be lost, late or doubled. The rows are the truth, and the sweep notifies again. Tasks are sent by
name: this module is imported by what the tasks run, so it knows none of them.
"""

import time
from typing import Any

import structlog
from celery import current_app
from kombu.exceptions import OperationalError

from jobs.models import Queue
from tenancy.tasks import with_sender

log = structlog.get_logger(__name__)

RUN_WAITING = "jobs.tasks.run_waiting"
DELIVER_EVENTS = "jobs.tasks.deliver_events"

# A frozen broker accepts connections and never answers: with the workers' timeouts a request would hang for 30 s.
_TIMEOUTS = {
    "socket_timeout": 0.35,
    "socket_connect_timeout": 0.35,
    "max_retries": 1,
    "interval_start": 0,
    "interval_step": 0,
    "interval_max": 0,
}
# After a failure this process notifies nobody for a while, so that a request with many notifications waits once.
_PAUSE_SECONDS = 5.0

_paused_until = 0.0


def notify_queue(queue: Queue, times: int = 1, **options: Any) -> bool:
    """Notify so many processes of the workers that there is work in the queue; `options` as of notify()."""
    return notify(RUN_WAITING, *[(queue,)] * times, queue=queue, **options)


def notify(task: str, *calls: tuple[str, ...], **options: Any) -> bool:
    """Send the task of that name once for each tuple of arguments, as the current actor; answers whether the broker
    took them.

    Takes under a second, whatever state the broker is in. `options` are those of Celery's send_task().
    """
    global _paused_until
    if time.monotonic() < _paused_until:
        return False
    try:
        # A connection of its own: those of the pool have the workers' timeouts, which suit a worker that waits.
        with current_app.connection_for_write(transport_options=_TIMEOUTS) as connection:
            for arguments in calls:
                # No retries: the sweep is one, and the caller is often a request. Sent by name, no task adds the header
                # by which a worker knows for whom it works.
                # Without `declare` Celery asks the broker for the queue's length first, on a second connection, which
                # is a third of the work; a list of Redis is there when something is pushed to it.
                current_app.send_task(
                    task,
                    arguments,
                    connection=connection,
                    declare=[],
                    retry=False,
                    ignore_result=True,
                    **with_sender(options),
                )
    except OperationalError as error:
        _paused_until = time.monotonic() + _PAUSE_SECONDS
        log.warning("jobs.broker_unreachable", task=task, error=str(error))
        return False
    return True


def resume() -> None:
    """Forget that the broker was unreachable."""
    global _paused_until
    _paused_until = 0.0
