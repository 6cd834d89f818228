"""The site as production serves it, on the tests' database: gunicorn with the processes and threads of `make run`,
the web role behind row-level security, and what web and database processes use of the processors.
"""

import os
import re
import secrets
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
from django.conf import settings
from django.db import connection
from django.test import override_settings
from psycopg.conninfo import make_conninfo

from bench.releases import FOLDER
from potato_site.supervisor import HOST

ROOT = Path(__file__).resolve().parent.parent
READY_SECONDS = 120.0
PROCESSES, THREADS = 2, 4
WORKER = os.environ.get("BENCH_WORKER", "potato_site.serving.Worker")
PROFILED = os.environ.get("BENCH_PROFILE") == "1"
"""Whether the web processes say where their time goes, which makes them slower; bench.profiled writes it down."""


@dataclass(frozen=True)
class Used:
    """Seconds of processor time, user and system."""

    web: float
    database: float

    def __sub__(self, before: "Used") -> "Used":
        return Used(self.web - before.web, self.database - before.database)


@dataclass(frozen=True)
class Process:
    """A process of this machine, which must be a Linux; `seconds` is its own time of the processors."""

    pid: int
    parent: int
    seconds: float

    @classmethod
    def read(cls, pid: int) -> "Process | None":
        try:
            # The name in brackets may hold blanks.
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return None  # It has ended.
        return cls(pid, int(fields[1]), (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"))


@dataclass(frozen=True)
class ServedSite:
    """`address` has no slash at the end."""

    address: str
    process: subprocess.Popen[bytes]
    database: "DatabaseProcesses"

    def used(self) -> Used:
        """What the site's processes have used since they began. Other programs of the machine are not in it."""
        processes = [Process.read(int(folder.name)) for folder in Path("/proc").iterdir() if folder.name.isdecimal()]
        master = self.process.pid
        web = sum(one.seconds for one in processes if one is not None and master in (one.pid, one.parent))
        return Used(web, self.database.used())


class DatabaseProcesses(threading.Thread):
    """Watches the backends of the web role in one database, also those that end."""

    def __init__(self, url: str) -> None:
        super().__init__(daemon=True)
        self._connection = psycopg.connect(url, autocommit=True)
        self._lock = threading.Lock()
        self._seconds: dict[int, float] = {}
        self._ended = threading.Event()
        self.start()

    def used(self) -> float:
        with self._lock:
            rows = self._connection.execute(
                "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND usename = current_user "
                "AND pid <> pg_backend_pid()"
            ).fetchall()
            for (pid,) in rows:
                if process := Process.read(pid):
                    self._seconds[pid] = process.seconds
            return sum(self._seconds.values())

    def run(self) -> None:
        while not self._ended.wait(0.25):
            self.used()

    def end(self) -> None:
        self._ended.set()
        self.join()
        self._connection.close()


@contextmanager
def served() -> Iterator[ServedSite]:
    """A running site in production's mode, without TLS. Sessions that are made inside the block are its own."""
    key = secrets.token_urlsafe(64)
    url = make_conninfo(os.environ["DATABASE_URL"], dbname=connection.settings_dict["NAME"])
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port = probe.getsockname()[1]
    FOLDER.mkdir(parents=True, exist_ok=True)
    unwanted = ("DATABASE_OWNER_URL", "POTATO_DEVSERVICES", "DEBUG")
    environ = {name: value for name, value in os.environ.items() if name not in unwanted} | {
        "POTATO_MODE": "production",
        "DATABASE_URL": url,
        "SECRET_KEY": key,
        "ALLOWED_HOSTS": HOST,
        "SECURE_SSL_REDIRECT": "false",
        "STATIC_ROOT": str(FOLDER / "static"),
        "MEDIA_ROOT": str(settings.MEDIA_ROOT),
    }
    collect = [sys.executable, "manage.py", "collectstatic", "--no-input", "--verbosity", "0"]
    subprocess.run(collect, cwd=ROOT, env=environ, check=True)
    module = "bench.profiled" if PROFILED else "potato_site.wsgi"
    command = [sys.executable, "-m", "gunicorn", module, "--bind", f"{HOST}:{port}", "--no-control-socket"]
    command += ["--workers", str(PROCESSES)]
    # A profile interrupts the main thread, which must be the one that answers.
    command += ["--worker-class", "sync"] if PROFILED else ["--worker-class", WORKER, "--threads", str(THREADS)]
    for old in FOLDER.glob("profile-*.json"):
        old.unlink()
    log = FOLDER / "web.log"
    with log.open("wb") as output, override_settings(SECRET_KEY=key):
        process = subprocess.Popen(command, cwd=ROOT, env=environ, stdout=output, stderr=output)
        try:
            _wait(f"http://{HOST}:{port}/readyz", process, log)
            database = DatabaseProcesses(url)
            try:
                yield ServedSite(f"http://{HOST}:{port}", process, database)
            finally:
                database.end()
        finally:
            process.send_signal(signal.SIGTERM)
            # gunicorn gives requests that run 30 seconds.
            process.wait(60)


def _wait(url: str, process: "subprocess.Popen[bytes]", log: Path) -> None:
    until = time.monotonic() + READY_SECONDS
    while time.monotonic() < until:
        if process.poll() is not None:
            break
        try:
            with urllib.request.urlopen(url, timeout=5):  # noqa: S310  (our own address)
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    tail = re.sub(r"\n+", "\n", log.read_text(errors="replace"))[-2000:]
    raise RuntimeError(f"The site did not start; {log} says: {tail}")
