"""A private Valkey (or Redis): start it, stop it. Reached through a Unix socket only."""

import signal
from dataclasses import dataclass
from pathlib import Path

from potato_site.devservices.binaries import Binaries
from potato_site.devservices.errors import ServiceError
from potato_site.devservices.locations import Locations
from potato_site.devservices.processes import end, listener, run, wait_until

START_SECONDS = 30
SOCKET_NAME = "server.sock"


@dataclass(frozen=True)
class Broker:
    """The server of one product and major version in one location."""

    binaries: Binaries
    locations: Locations

    @property
    def data(self) -> Path:
        return self.locations.home / self.binaries.name

    @property
    def socket(self) -> Path:
        return self.locations.sockets / self.binaries.name / SOCKET_NAME

    @property
    def log(self) -> Path:
        return self.data / "server.log"

    def is_running(self) -> bool:
        return listener(self.socket) is not None

    def start(self) -> bool:
        """Have the server running and accepting connections; answers whether it had to be started."""
        if self.is_running():
            return False
        self.locations.make_private(self.data)
        self.locations.make_private(self.socket.parent)
        done = run(
            [
                self.binaries.folder / f"{self.binaries.product}-server",
                "--port", "0",
                "--unixsocket", self.socket,
                "--unixsocketperm", "700",
                "--daemonize", "yes",
                "--dir", self.data,
                "--logfile", self.log,
                "--save", "",
                # Messages outlive the server, except in tests.
                "--appendonly", "yes" if self.locations.purpose == "development" else "no",
                # A broker that is full must say so instead of dropping messages.
                "--maxmemory-policy", "noeviction",
            ],
            user=self.locations.user,
            folder=self.data,
        )  # fmt: skip
        if done.returncode != 0 or not wait_until(self.is_running, START_SECONDS):
            raise ServiceError(
                f"{self.binaries} does not start. {(done.stderr or done.stdout).strip()}\nIts log is {self.log}."
            )
        return True


def stop(sockets: Path) -> bool:
    """Stop the server with a socket in this folder; answers whether one was running."""
    pid = listener(sockets / SOCKET_NAME)
    if pid is None:
        return False
    end(pid, [(signal.SIGTERM, 20), (signal.SIGKILL, 5)])
    return True
