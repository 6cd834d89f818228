"""Whose turn it is: the next job for a process of a worker, chosen over all organisations.

The rule: the organisation that runs the fewest heavy jobs, and among those the one whose last turn is longest ago; in
an organisation the job that has waited longest. A turn lasts until the end of a part at which another organisation
waits; before the other jobs of its own organisation a job keeps its place for SECONDS_A_TURN. So everybody who has work
is reached in a round, nobody starves, and what is short is done in one go.
"""

import time
from dataclasses import dataclass
from datetime import timedelta
from random import uniform
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import connection

from jobs.kinds import HEAVY_QUEUES, SECONDS_A_PART, known_names
from jobs.models import DEFAULT_QUEUE, Queue
from tenancy.actor import Actor

# Of one organisation's work, and for one worker, one process chooses at a time. Another looks again, so often, after
# about so many seconds.
LOOKS = 10
PAUSE_SECONDS = 0.02

SECONDS_A_TURN = SECONDS_A_PART


class Busy(Exception):  # noqa: N818  (somebody is quicker; nothing is wrong)
    """Others were choosing all the time: there may be work."""


@dataclass(frozen=True)
class Worker:
    """The worker that this process belongs to: its name, how many processes it has, and which queues it serves."""

    name: str = ""
    processes: int = 1
    queues: frozenset[Queue] = frozenset()

    def pool(self, queue: Queue) -> list[Queue]:
        """The queues out of which a turn is chosen when there is work in this one."""
        if queue not in HEAVY_QUEUES:
            return [queue]
        return [name for name in HEAVY_QUEUES if name == queue or name in self.queues]

    @property
    def most_heavy(self) -> int:
        """How many processes heavy jobs may hold: all but one where small work is done here as well."""
        return max(1, self.processes - 1) if DEFAULT_QUEUE in self.queues else self.processes

    @property
    def most_of_one_organisation(self) -> int:
        """One less, so that there is a process for an organisation that comes later."""
        return max(1, self.most_heavy - 1)

    def seconds_a_task(self, queue: Queue) -> float:
        """How long a task goes on. The only process of a worker is given to small work after each heavy part."""
        is_alone = self.processes == 1 and DEFAULT_QUEUE in self.queues and queue in HEAVY_QUEUES
        return 0.0 if is_alone else settings.JOBS_TASK_BUDGET_SECONDS


@dataclass(frozen=True)
class Turn:
    """The job that was chosen, locked until the transaction ends, and as whom it is run."""

    job: UUID
    actor: Actor


_worker = Worker()


def become(worker: Worker) -> None:
    """Say which worker this process, and those that it forks, belong to."""
    global _worker
    _worker = worker


def this_worker() -> Worker:
    return _worker


def choose(queue: Queue, *, lost_message: str = "") -> Turn | None:
    """Choose the next job of the pool of this queue; None where there is none for this worker. Raises Busy.

    Call it in a transaction, outside every organisation. A job whose worker is gone comes first: its lease has ended,
    or it gave no sign of life for two heartbeats and no transaction of its own goes on. `lost_message` is the id of a
    message that the broker took back, as it does from a process that is gone: then its job is not waited for.
    """
    for look in range(LOOKS):
        if look:
            time.sleep(PAUSE_SECONDS * uniform(0.5, 1.5))  # noqa: S311  (so that they do not meet again)
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT * FROM jobs_take_turn(%(queues)s, %(kinds)s, %(heavy)s, %(most)s, %(worker)s, %(most_here)s,"
                " %(all_here)s, %(silence)s, %(message)s)",
                {
                    **_rule(queue),
                    "worker": _worker.name,
                    "most_here": _worker.most_of_one_organisation,
                    "all_here": _worker.most_heavy,
                    "message": lost_message,
                },
            )
            row = cursor.fetchone()
        if row is None:
            return None
        job, organisation, person = row
        if job is not None:
            return Turn(job, Actor(organisation, (organisation,), person))
    raise Busy


def is_awaited(queue: Queue, organisation: UUID | None, *, by_its_own: bool) -> bool:
    """Whether a job of another organisation waits that a process could run in the place of this one's, or, with
    `by_its_own`, any other job."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT jobs_turn_is_awaited(%(queues)s, %(kinds)s, %(heavy)s, %(most)s, %(silence)s, %(organisation)s,"
            " %(by_its_own)s)",
            {**_rule(queue), "organisation": organisation, "by_its_own": by_its_own},
        )
        (awaited,) = cursor.fetchone()
    return bool(awaited)


def queues_with_work() -> dict[Queue, int]:
    """How many jobs are due or lost in each queue, over all organisations."""
    parameters: list[Any] = [_silence()]
    with connection.cursor() as cursor:
        cursor.execute("SELECT * FROM jobs_queues_with_work(%s)", parameters)
        return dict(cursor.fetchall())


def _rule(queue: Queue) -> dict[str, Any]:
    return {
        "queues": _worker.pool(queue),
        "kinds": known_names(),
        "heavy": list(HEAVY_QUEUES) if queue in HEAVY_QUEUES else [],
        "most": settings.JOBS_RUNNING_PER_ORGANISATION,
        "silence": _silence(),
    }


def _silence() -> timedelta:
    return timedelta(seconds=2 * settings.JOBS_HEARTBEAT_SECONDS)
