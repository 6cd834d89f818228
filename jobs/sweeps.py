"""Work that time alone brings: apps above register what is to be looked for, and the tick of the beat does it."""

from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID

from django.db import connection

from tenancy.actor import Actor


@dataclass(frozen=True)
class Sweep:
    """`finder` is an SQL function that answers the ids of the organisations with such work, and nothing else.

    `run` does the work of one organisation. It is called outside every transaction and must be safe to run twice.
    """

    name: str
    finder: str
    run: Callable[[Actor], object]

    def organisations(self) -> list[UUID]:
        """Where there is work now."""
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT {connection.ops.quote_name(self.finder)}()")
            return [organisation for (organisation,) in cursor.fetchall()]


_sweeps: dict[str, Sweep] = {}


def register(sweep: Sweep) -> None:
    """Called in AppConfig.ready()."""
    _sweeps[sweep.name] = sweep


def unregister(name: str) -> None:
    del _sweeps[name]


def registered() -> list[Sweep]:
    return list(_sweeps.values())


def named(name: str) -> Sweep:
    return _sweeps[name]
