"""Test 18 of the reliability notes, for the database: its disk is full, then PostgreSQL ends, and nothing is lost."""

import json
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import psycopg
import pytest

from accounts.actions.tokens import make_token
from accounts.models import Membership
from potato_site.devservices.addresses import database_url
from potato_site.devservices.binaries import find_postgres
from potato_site.devservices.errors import ServiceError
from potato_site.devservices.locations import Locations, find_locations
from potato_site.devservices.servers import PORT, SUPERUSER, Cluster, stop
from potato_site.devservices.services import OURS
from tenancy import provision
from tenancy.actor import acting_in
from tests.assignments.reviews import reviewed
from tests.faults.conftest import Machine, eventually
from tests.faults.test_web_killed import Web
from tests.faults.test_web_killed import web as web  # a fixture
from tests.small_disks import mounted
from tests.tenancy.databases import connected
from tests.tenants import Tenants, build_tenants

ROOT = Path(__file__).parents[2]


@dataclass
class SmallDatabase:
    """A PostgreSQL of the story's own, that keeps what it commits, with the site's tables on a disk of 192 MB."""

    disk: Path
    cluster: Cluster

    @property
    def host(self) -> str:
        return str(self.cluster.sockets)

    def address(self, role: str) -> str:
        return database_url(role, provision.DATABASE, None, {"host": self.host, "port": str(PORT)})

    def administrator(self) -> "psycopg.Connection[Any]":
        return psycopg.connect(host=self.host, port=PORT, user=SUPERUSER, dbname="postgres", autocommit=True)

    def fill(self) -> None:
        with suppress(OSError), (self.disk / "filling").open("wb", buffering=0) as file:
            while True:
                file.write(bytes(4096))

    def make_room(self) -> None:
        (self.disk / "filling").unlink()

    def runs_out_of_log(self) -> None:
        """Go on to the next file of the write-ahead log until none can be made, which PostgreSQL does not survive."""
        with suppress(psycopg.OperationalError), self.administrator() as connection:
            for _ in range(50):
                connection.execute("SELECT pg_logical_emit_message(true, 'tests', 'more'), pg_switch_wal()")
            pytest.fail("the write-ahead log still finds room")

    def comes_back(self) -> bool:
        try:
            self.cluster.start()
            self.administrator().close()
        except (ServiceError, psycopg.OperationalError):
            return False
        return True


@pytest.fixture
def database(machine: Machine) -> Iterator[SmallDatabase]:
    """The programs that the machine starts use it."""
    # PostgreSQL's own user must come through to it, which it does not to pytest's folders.
    above = Path(tempfile.mkdtemp(prefix="potato-disk-", dir="/var/tmp"))
    above.chmod(0o755)
    found = find_locations("test")
    try:
        with mounted(above / "disk", "192m") as disk:
            locations = Locations("development", disk / "servers", disk / "sockets", found.user)
            locations.make()
            database = SmallDatabase(disk, Cluster(find_postgres("auto", found), locations))
            database.cluster.start()
            try:
                administrator = f"host='{database.host}' port={PORT} user={SUPERUSER} dbname=postgres"
                provision.provision(administrator, development=True)
                machine.settings["DATABASE_URL"] = database.address(provision.APP_ROLE)
                migrate(machine, DATABASE_OWNER_URL=database.address(provision.OWNER_ROLE))
                yield database
            finally:
                machine.stop()
                stop(database.cluster.sockets)
    finally:
        shutil.rmtree(above, ignore_errors=True)


def migrate(machine: Machine, **settings: str) -> None:
    # Addresses of servers that this process started are replaced by a child's own; these are given.
    inherited = {name: value for name, value in os.environ.items() if name != OURS}
    command = [sys.executable, "manage.py", "migrate", "--verbosity", "0"]
    subprocess.run(command, cwd=ROOT, env={**inherited, **machine.settings, **settings}, check=True)


@dataclass
class Reviewer:
    """Bob's program, with the one task that it claims. `acknowledged` is the last content that the site took."""

    site: str
    token: str
    assignment: dict[str, Any] = field(default_factory=dict)
    revision: int = 0
    acknowledged: str = ""

    def ask(self, method: str, path: str, body: Any = None) -> tuple[int, dict[str, str], Any]:
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        request = Request(f"{self.site}/api/v1/{path}", data, headers, method=method)  # noqa: S310  (our own site)
        try:
            with urlopen(request, timeout=60) as answer:  # noqa: S310
                return answer.status, dict(answer.headers), json.load(answer)
        except HTTPError as answer:
            return answer.code, dict(answer.headers), json.loads(answer.read() or b"null")

    def claim(self) -> None:
        self.assignment = self.ask("POST", "projects/parser/next/", {})[2]["assignment"]

    @property
    def draft(self) -> str:
        return f"assignments/{self.assignment['id']}/draft/"

    def save(self) -> tuple[int, dict[str, str], Any]:
        """A summary that no compression makes smaller."""
        summary = secrets.token_hex(50_000)
        content = {"answers": {"verdict": {"decision": "approve", "summary": summary}}}
        body = {"lease_token": self.assignment["lease_token"], "revision": self.revision, "content": content}
        answer = self.ask("PUT", self.draft, body)
        if answer[0] == 200:
            self.revision, self.acknowledged = answer[2]["revision"], summary
        return answer

    def finds_what_was_acknowledged(self) -> bool:
        status, _, found = self.ask("GET", self.draft)
        return status == 200 and found["content"]["answers"]["verdict"]["summary"] == self.acknowledged


@pytest.fixture
def reviewer(database: SmallDatabase, web: Web) -> Reviewer:
    with connected(HOST=database.host, PORT=str(PORT), NAME=provision.DATABASE, USER=provision.APP_ROLE, OPTIONS={}):
        tenants: Tenants = build_tenants()
        reviewed(tenants.acme, tenants.acme_project)
        with acting_in(tenants.acme, tenants.alice):
            membership = Membership.objects.get(user=tenants.bob)
            _, token = make_token(membership=membership, name="a program", by_owner=True)
    reviewer = Reviewer(web.address, str(token))
    reviewer.claim()
    return reviewer


def ready(web: Web) -> bool:
    try:
        with urlopen(f"{web.address}/readyz", timeout=60) as answer:  # noqa: S310
            return bool(answer.status == 200)
    except HTTPError as answer:
        if answer.code != 503:
            raise
        return False


def test_18_a_full_disk_of_the_database_loses_nothing_and_the_site_goes_on_once_there_is_room(
    database: SmallDatabase, web: Web, reviewer: Reviewer
) -> None:
    assert [reviewer.save()[0] for _ in range(5)] == [200] * 5
    assert ready(web)
    database.fill()
    # The files of the database have a little room in them.
    refused = next(answer for answer in (reviewer.save() for _ in range(200)) if answer[0] != 200)
    status, headers, body = refused
    assert (status, headers["Retry-After"]) == (503, "10"), body
    assert reviewer.revision >= 5
    assert reviewer.finds_what_was_acknowledged(), "what is there can be read"
    eventually(lambda: not ready(web), "the site says that it takes no writes")
    database.runs_out_of_log()
    eventually(lambda: reviewer.ask("GET", reviewer.draft)[0] == 503, "PostgreSQL is gone, and the site says so")
    database.make_room()
    eventually(database.comes_back, "PostgreSQL starts once there is room")
    eventually(reviewer.finds_what_was_acknowledged, "the site goes on by itself, and nothing is lost")
    eventually(lambda: ready(web), "the site takes writes again")
    assert reviewer.save()[0] == 200
    assert reviewer.finds_what_was_acknowledged()
