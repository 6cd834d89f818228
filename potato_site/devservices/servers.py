"""A private PostgreSQL cluster and a private Valkey or Redis: start, stop. Reached through Unix sockets alone."""

import shlex
import shutil
import signal
import time
from dataclasses import dataclass
from pathlib import Path

from potato_site.devservices.binaries import Binaries
from potato_site.devservices.errors import ServiceError
from potato_site.devservices.locations import Locations
from potato_site.devservices.processes import end, listener, run, wait_until, works_in

PORT = 5432
START_SECONDS = 60
SUPERUSER = "postgres"
# Data of tests may be lost in a power cut; those of a developer may not.
NOT_DURABLE = (
    "fsync=off",
    "synchronous_commit=off",
    "full_page_writes=off",
    "wal_level=minimal",
    "max_wal_senders=0",
)


@dataclass(frozen=True)
class Server:
    """The server of one product and major version in one location."""

    binaries: Binaries
    locations: Locations

    @property
    def data(self) -> Path:
        return self.locations.home / self.binaries.name

    @property
    def sockets(self) -> Path:
        """The folder of its socket; what libpq calls the host."""
        return self.locations.sockets / self.binaries.name

    @property
    def socket(self) -> Path:
        return _socket(self.sockets)

    @property
    def log(self) -> Path:
        return self.data / "server.log"

    def is_running(self) -> bool:
        return listener(self.socket) is not None

    def start(self) -> bool:
        """Have the server running and accepting connections; answers whether it had to be started."""
        if self.is_running():
            return False
        self.locations.make_private(self.sockets)
        return self._start()

    def _start(self) -> bool:
        raise NotImplementedError


class Cluster(Server):
    """PostgreSQL."""

    def _start(self) -> bool:
        if not self.data.exists():
            self._initialise()
        if self._await_other_start():
            return False
        for attempt in range(5):
            complaint = self._launch()
            if complaint is None:
                return True
            if "shared memory" not in complaint:
                break
            # The server was killed a moment ago and its children have not noticed yet.
            time.sleep(0.3 * (attempt + 1))
        raise ServiceError(
            f"{self.binaries} does not start.\n{complaint}\nIts log is {self.log}; its data are in {self.data}."
        )

    def _initialise(self) -> None:
        """Make the data folder under another name first, so that half a cluster is never used."""
        part = self.data.with_suffix(".part")
        shutil.rmtree(part, ignore_errors=True)
        self.locations.make_private(part)
        # With C alone upper() and lower(), and so every search, know ASCII only; a macOS may have no C.UTF-8.
        for locale in ("C.UTF-8", "C"):
            done = run(
                [
                    self.binaries.folder / "initdb",
                    "--pgdata", part,
                    "--username", SUPERUSER,
                    "--auth", "trust",  # see Locations.make_private
                    "--encoding", "UTF8",
                    "--locale", locale,
                    *(["--no-sync"] if self.locations.purpose == "test" else []),
                ],
                user=self.locations.user,
                folder=part,
            )  # fmt: skip
            if done.returncode == 0:
                part.rename(self.data)
                return
        raise ServiceError(f"{self.binaries} can't make a cluster in {self.data}.\n{done.stderr or done.stdout}")

    def _await_other_start(self) -> bool:
        """Wait for a server whose starter died before it listened; else remove stale lock files.

        Answers whether that server runs now.
        """
        pid_file = self.data / "postmaster.pid"
        try:
            pid = int(pid_file.read_text().split("\n", 1)[0])
        except (FileNotFoundError, ValueError):
            pid = None
        if pid and not wait_until(lambda: self.is_running() or not works_in(pid, self.data), START_SECONDS):
            raise ServiceError(f"{self.binaries}, process {pid}, does not come up. Its log is {self.log}.")
        if self.is_running():
            return True
        # Their number may meanwhile be another process's: PostgreSQL would then refuse to start.
        for stale in (pid_file, self.socket.with_name(f"{self.socket.name}.lock")):
            stale.unlink(missing_ok=True)
        return False

    def _launch(self) -> str | None:
        """Start the server in the background; answers its complaint, None when it accepts connections."""
        settings = ["listen_addresses=", f"port={PORT}", "unix_socket_permissions=0700"]
        settings += [f"unix_socket_directories={self.sockets}"]
        if self.locations.purpose == "test":
            settings += NOT_DURABLE
        options = " ".join(f"-c {shlex.quote(setting)}" for setting in settings)
        logged = self.log.stat().st_size if self.log.exists() else 0
        done = run(
            [
                self.binaries.folder / "pg_ctl", "start", "--wait", "--timeout", str(START_SECONDS),
                "--silent", "--pgdata", self.data, "--log", self.log, "--options", options,
            ],
            user=self.locations.user,
            folder=self.data,
        )  # fmt: skip
        if done.returncode == 0:
            return None
        if not self.log.exists():
            return done.stderr.strip()
        return self.log.read_bytes()[logged:].decode(errors="replace").strip()[-2000:]


class Broker(Server):
    """Valkey or Redis."""

    def _start(self) -> bool:
        self.locations.make_private(self.data)
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
        if done.returncode or not wait_until(self.is_running, START_SECONDS):
            complaint = (done.stderr or done.stdout).strip()
            raise ServiceError(f"{self.binaries} does not start. {complaint}\nIts log is {self.log}.")
        return True


def stop(sockets: Path) -> None:
    """Stop the server with a socket in this folder, if one runs there, of whichever product and version."""
    pid = listener(_socket(sockets))
    if pid:
        # To PostgreSQL these are a fast shutdown and an immediate one; to Valkey an orderly one and a dead process.
        end(pid, [(signal.SIGINT, 30), (signal.SIGQUIT, 10), (signal.SIGKILL, 5)])


def _socket(sockets: Path) -> Path:
    return sockets / (f".s.PGSQL.{PORT}" if sockets.name.startswith("postgresql-") else "server.sock")
