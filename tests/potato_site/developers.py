"""Processes that use the embedded servers of a place of their own, as a developer's commands do."""

import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import psycopg

CHECKOUT = Path(__file__).resolve().parents[2]
TIMEOUT = 60

PROGRAM = """
import pathlib, sys
from potato_site import devservices
from potato_site.devservices.locations import find_locations
place, purpose, choice = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
environ = {"POTATO_SERVERS": choice}
devservices.ensure(purpose, locations=find_locations(purpose, checkout=place, shared=place), environ=environ)
print(environ["DATABASE_URL"], environ["DATABASE_OWNER_URL"], environ["BROKER_URL"], flush=True)
sys.stdin.read()
"""


@dataclass
class Developer:
    """A process that holds the servers until it leaves or is killed."""

    place: Path
    source: str
    purpose: str = "test"
    user: str | None = None
    process: subprocess.Popen[str] = field(init=False)

    def __post_init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(self.place), self.purpose, self.source],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd="/",
            user=self.user,
            extra_groups=[] if self.user else None,
            env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
        )

    def addresses(self) -> tuple[str, str, str]:
        """Wait until the servers answer: the application's, the owner's and the broker's address."""
        if not hasattr(self, "_addresses"):
            assert self.process.stdout
            line = self.process.stdout.readline().split()
            assert len(line) == 3, self.process.communicate(timeout=TIMEOUT)[1]
            self._addresses = (line[0], line[1], line[2])
        return self._addresses

    def server(self) -> int:
        """When the database server it uses was started, in microseconds: it tells one server from the next."""
        with psycopg.connect(self.addresses()[0]) as connection:
            row = connection.execute("SELECT (extract(epoch FROM pg_postmaster_start_time()) * 1e6)::bigint").fetchone()
        assert row
        return int(row[0])

    def leave(self) -> str:
        """End as a program does; answers what it reported."""
        return self.process.communicate(timeout=TIMEOUT)[1]

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate(timeout=TIMEOUT)


class Develop(Protocol):
    """Begins a process in a place, by default the test's own; all are ended with the test."""

    def __call__(self, place: Path | None = None, *, purpose: str = "test") -> Developer: ...
