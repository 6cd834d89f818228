"""A private PostgreSQL cluster: make it once, start it, stop it. Reached through a Unix socket only."""

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
NO_TCP = ("listen_addresses=", f"port={PORT}", "unix_socket_permissions=0700")
# Data of tests may be lost in a power cut; those of a developer may not.
FAST_AND_FORGETFUL = (
    "fsync=off",
    "synchronous_commit=off",
    "full_page_writes=off",
    "wal_level=minimal",
    "max_wal_senders=0",
)


@dataclass(frozen=True)
class Cluster:
    """The cluster of one major version in one location."""

    binaries: Binaries
    locations: Locations

    @property
    def data(self) -> Path:
        return self.locations.home / self.binaries.name

    @property
    def sockets(self) -> Path:
        """What libpq calls the host."""
        return self.locations.sockets / self.binaries.name

    @property
    def log(self) -> Path:
        return self.data / "server.log"

    def is_running(self) -> bool:
        return listener(_socket(self.sockets)) is not None

    def start(self) -> bool:
        """Have the cluster running and accepting connections; answers whether it had to be started."""
        if self.is_running():
            return False
        self.locations.make_private(self.sockets)
        if not self.data.exists():
            self._initialise()
        if self._await_other_start():
            return False
        for attempt in range(5):
            answer = self._launch()
            if answer is None:
                return True
            if "shared memory" not in answer:
                break
            # The server was killed a moment ago and its children have not noticed yet.
            time.sleep(0.3 * (attempt + 1))
        raise ServiceError(
            f"{self.binaries} does not start.\n{answer}\nIts log is {self.log}; its data are in {self.data}."
        )

    def _initialise(self) -> None:
        """Make the data folder under another name first, so that half a cluster is never used."""
        part = self.data.with_suffix(".part")
        shutil.rmtree(part, ignore_errors=True)
        self.locations.make_private(part)
        answer = ""
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
            answer = done.stderr.strip() or done.stdout.strip()
        raise ServiceError(f"{self.binaries} can't make a cluster in {self.data}.\n{answer}")

    def _await_other_start(self) -> bool:
        """Wait for a server that is still recovering from its starter's death; remove stale lock files.

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
        for stale in (pid_file, _socket(self.sockets).with_name(f"{_socket(self.sockets).name}.lock")):
            stale.unlink(missing_ok=True)
        return False

    def _launch(self) -> str | None:
        """Start the server in the background; answers its complaint, None when it accepts connections."""
        settings = [*NO_TCP, f"unix_socket_directories={self.sockets}"]
        if self.locations.purpose == "test":
            settings += FAST_AND_FORGETFUL
        options = " ".join(f"-c {shlex.quote(setting)}" for setting in settings)
        written = self.log.stat().st_size if self.log.exists() else 0
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
        if self.log.exists():
            with self.log.open() as log:
                log.seek(written)
                return log.read().strip()[-2000:]
        return done.stderr.strip()


def stop(data: Path, sockets: Path) -> bool:
    """Stop the cluster of a data folder, of whichever version it is; answers whether one was running."""
    pid = listener(_socket(sockets))
    if pid is None:
        return False
    # Fast, immediate, killed. The data survive each of them.
    end(pid, [(signal.SIGINT, 30), (signal.SIGQUIT, 10), (signal.SIGKILL, 5)])
    (data / "postmaster.pid").unlink(missing_ok=True)
    return True


def _socket(folder: Path) -> Path:
    return folder / f".s.PGSQL.{PORT}"
