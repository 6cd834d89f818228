"""Messages that notify the workers of rows to look at. Nobody waits for a broker that does not answer.

A notification may be lost, late or doubled. The rows are the truth, and the sweep notifies again.
"""

import time
from typing import Any

import structlog
from kombu.exceptions import OperationalError

log = structlog.get_logger(__name__)

# A frozen broker accepts connections and never answers: with the workers' timeouts a request would hang for 30 s.
_PATIENCE = {
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


def notify(task: Any, *calls: tuple[str, ...], **options: Any) -> bool:
    """Send the task once for each tuple of arguments, as the current actor; answers whether the broker took them.

    Takes under a second, whatever state the broker is in. `task` is a Celery task, which no stubs describe well;
    `options` are those of its apply_async().
    """
    global _paused_until
    if time.monotonic() < _paused_until:
        return False
    try:
        with task.app.connection_for_write(transport_options=_PATIENCE) as connection:
            for arguments in calls:
                task.apply_async(arguments, connection=connection, retry=False, **options)
    except OperationalError as error:
        _paused_until = time.monotonic() + _PAUSE_SECONDS
        log.warning("jobs.broker_unreachable", task=task.name, error=str(error))
        return False
    return True


def resume() -> None:
    """Forget that the broker was unreachable."""
    global _paused_until
    _paused_until = 0.0
