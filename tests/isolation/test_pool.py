"""Few connections, many threads, two organisations in turn: no setting of one reaches the other.

Once through psycopg's pool in the process, once through PgBouncer in transaction mode, where each transaction may
meet another server connection. Both connect as the web role itself, as in production, without `assume_role`: a role
assumed for a session would stay on the server's connection.
"""

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from django.db import ProgrammingError, connection, transaction

from accounts.models import Organisation, Project
from tenancy import limits
from tenancy.actor import acting_in
from tests.missing import missing
from tests.tenancy.databases import connected, web_role_address
from tests.tenants import Tenants

CONNECTIONS = 4
THREADS = 8
TURNS = 250
"""Blocks of each thread."""

Block = Callable[[Organisation], Any]


@dataclass
class Sightings:
    """What the threads saw; lists, because appending needs no lock."""

    foreign: list[tuple[str, UUID]] = field(default_factory=list)
    answered: list[str] = field(default_factory=list)
    """Queries outside every block that were answered instead of refused."""
    servers: list[tuple[int, str]] = field(default_factory=list)
    """Process of the server's connection, and organisation, one a block."""
    errors: list[BaseException] = field(default_factory=list)


def alternate(tenants: Tenants, block: Block, turns: int = TURNS, *, close: bool = True) -> Sightings:
    """Let every thread act in the two organisations in turn, and ask outside them after every turn.

    `close` gives the connection back after each, as a request does; PgBouncer takes it back by itself.
    """
    sightings = Sightings()

    def turn(number: int) -> None:
        organisation = (tenants.acme, tenants.birch)[number % 2]
        with block(organisation), connection.cursor() as cursor:
            # A name that only a stray setting could bring along: iterator() also asks for no cursor of the server's.
            for project in Project.objects.iterator():
                if project.organisation_id != organisation.pk:
                    sightings.foreign.append((organisation.slug, project.pk))
            cursor.execute("SELECT pg_backend_pid()")
            sightings.servers.append((cursor.fetchone()[0], organisation.slug))
        if close:
            connection.close()
        try:
            Project.objects.count()
            sightings.answered.append(organisation.slug)
        except ProgrammingError as error:
            if "no organisation is active" not in str(error):
                raise
        if close:
            connection.close()

    def work(thread: int) -> None:
        try:
            for number in range(turns):
                turn(thread + number)
        except BaseException as error:
            sightings.errors.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if sightings.errors:
        raise sightings.errors[0]
    return sightings


def assert_nothing_mixed(seen: Sightings) -> None:
    assert seen.foreign == []
    assert seen.answered == []
    assert len(seen.servers) == THREADS * TURNS
    shared = {server for server, slug in seen.servers if (server, "acme") in seen.servers} & {
        server for server, slug in seen.servers if (server, "birch") in seen.servers
    }
    assert shared, "no connection served both organisations, so that nothing was tried"
    assert len({server for server, _ in seen.servers}) <= CONNECTIONS


@contextmanager
def carelessly(organisation: Organisation) -> Iterator[None]:
    """What acting_in() must never do: set the organisation for the session."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            "SELECT set_config('app.organisation', %(id)s, false), set_config('app.organisations', %(all)s, false)",
            {"id": str(organisation.pk), "all": f"{{{organisation.pk}}}"},
        )
        yield


@contextmanager
def pool() -> Iterator[None]:
    size = {"min_size": CONNECTIONS, "max_size": CONNECTIONS, "timeout": 60}
    with connected(**web_role_address(), OPTIONS={"pool": size}):
        yield


def test_a_pool_in_the_process_never_mixes_two_organisations(committed_tenants: Tenants) -> None:
    with pool():
        assert_nothing_mixed(alternate(committed_tenants, acting_in))


def test_a_setting_of_the_session_would_be_seen(committed_tenants: Tenants) -> None:
    with pool():
        assert alternate(committed_tenants, carelessly, turns=4).answered


# --- PgBouncer ----------------------------------------------------------------------------------------------------


def _unprivileged() -> dict[str, Any]:
    """PgBouncer refuses to run as root."""
    if os.geteuid() != 0:
        return {}
    nobody = pwd.getpwnam("nobody")
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@pytest.fixture
def pgbouncer(committed_tenants: Tenants) -> Iterator[int]:
    """The port of a PgBouncer of this test's own, in transaction mode."""
    program = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")
    if program is None:
        missing("no pgbouncer on PATH: apt-get install pgbouncer")
    folder = Path(tempfile.mkdtemp(prefix="pgbouncer-", dir="/tmp"))
    port, server = _free_port(), web_role_address()
    target = {
        "host": server["HOST"],
        "port": server["PORT"],
        "dbname": server["NAME"],
        "user": server["USER"],
        "password": server["PASSWORD"],
    }
    database = " ".join(f"{key}='{value}'" for key, value in target.items() if value)
    (folder / "pgbouncer.ini").write_text(
        f"""[databases]
reviews = {database}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = {CONNECTIONS}
max_client_conn = 100
logfile = {folder / "log"}
"""
    )
    identity = _unprivileged()
    if identity:
        for path in (folder, folder / "pgbouncer.ini"):
            os.chown(path, identity["user"], identity["group"])
    process = subprocess.Popen(
        [program, "-q", folder / "pgbouncer.ini"],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        **identity,
    )
    try:
        _wait_for(port, process)
        yield port
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stderr:
            process.stderr.close()
        shutil.rmtree(folder)


def _wait_for(port: int, process: "subprocess.Popen[bytes]") -> None:
    for _ in range(200):
        if process.poll() is not None:
            raise RuntimeError(f"pgbouncer ended: {process.stderr.read().decode() if process.stderr else ''}")
        with socket.socket() as client:
            if client.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise RuntimeError(f"pgbouncer does not listen on port {port} after 10 seconds")


@contextmanager
def through(port: int) -> Iterator[None]:
    with connected(
        USER="anybody", PASSWORD="", HOST="127.0.0.1", PORT=str(port), NAME="reviews", OPTIONS={}, CONN_MAX_AGE=0
    ):
        yield


def test_pgbouncer_never_mixes_two_organisations(committed_tenants: Tenants, pgbouncer: int) -> None:
    with through(pgbouncer):
        assert_nothing_mixed(alternate(committed_tenants, acting_in, close=False))


def test_pgbouncer_would_hand_a_setting_of_the_session_on(committed_tenants: Tenants, pgbouncer: int) -> None:
    with through(pgbouncer):
        seen = alternate(committed_tenants, carelessly, turns=4, close=False)
    assert seen.answered


def test_the_limits_of_the_web_role_hold_behind_pgbouncer(committed_tenants: Tenants, pgbouncer: int) -> None:
    with through(pgbouncer), connection.cursor() as cursor:
        cursor.execute("SHOW statement_timeout")
        assert cursor.fetchone() == (limits.WEB["statement_timeout"],)
        cursor.execute("SHOW idle_in_transaction_session_timeout")
        assert cursor.fetchone() == ("1min",)
