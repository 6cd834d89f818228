"""What the API's lists cost the server among 100,000 rows of each kind: the first page and the last one.

Every GET route of docs/openapi.yaml that answers a list is asked; the queue of reviewers under each rule that a
configuration may have, and beside the lists the answers of which lists are a part. Times are of the processor, of this
process and of the database's together, the mean of some turns, in the best of some rounds: what else the machine does
is hardly in them.
"""

import gc
import os
import time
from typing import Any

import pytest
from django.db import connection
from django.test import Client

from accounts.actions.projects import publish_configuration
from accounts.actions.tokens import make_token
from accounts.models import Membership
from bench.served import Process
from tenancy.actor import acting_in
from tests.exports.seeding import count_rows, seed
from tests.isolation.fixtures import make_fixtures
from tests.isolation.rows.accounts import CONFIGURATION
from tests.list_routes import MOST_QUERIES, list_address, list_routes, queries_of_list, whole_answer
from tests.many_rows import COPIED, copy_rows
from tests.tenants import Tenants

ROWS = int(os.environ.get("BENCH_LIST_ROWS", "100000"))
TURNS, ROUNDS = 5, 3
BEHIND_ALL = "ffffffff-ffff-7fff-bfff-ffffffffffff"
ALLOWED_MS = 100.0
REVIEW = "/projects/{project}/review/"
RULES = ("share: 0.1", "share: 1", "low_agreement_below: 0.5", "new_people: 20")
BESIDE = {"/search/": "?q=parser", "/projects/{project}/people/": "", "/projects/{project}/feedback/": ""}
"""No lists, so that the bounds are not theirs."""


@pytest.mark.timeout(7200)
def bench_lists(committed_tenants: Tenants, capsys: pytest.CaptureFixture[str]) -> None:
    tenants = committed_tenants
    acme, _ = make_fixtures(tenants)
    project = acme.rows["accounts.Project"]
    with acting_in(tenants.acme, tenants.alice):
        member = Membership.objects.get(user=tenants.alice)
        token = str(make_token(membership=member, name="bench", by_owner=True)[1])
    seed(tenants.acme, project, ROWS)
    said = {}
    for table in COPIED:
        with acting_in(tenants.acme, tenants.alice):
            if wrong := copy_rows(table, ROWS, acme):
                said[table] = wrong
        count_rows()
    client = Client(headers={"Authorization": f"Bearer {token}"})
    # As potato_site.wsgi does: what a test's process has beside the site would be gone through again and again.
    gc.collect()
    gc.freeze()
    over = []
    with capsys.disabled():
        print(f"\n{ROWS:,} rows of each kind; not filled: {said}")
        print(f"{'nothing but who asks: /whoami/':52} {asked(client, '/api/v1/whoami/')[0]}")
        for path in list_routes():
            told = measured(client, list_address(path, acme))
            print(f"{path:52} {told}")
            if "OVER" in told:
                over.append(path)
        print(f"over the bounds: {over}")
        for path, query in BESIDE.items():
            print(f"{path:52} {asked(client, list_address(path, acme) + query)[0]}")
        for rule in RULES:
            with acting_in(tenants.acme, tenants.alice):
                publish_configuration(
                    project=project, source=f"{CONFIGURATION.format(mark=acme.mark)}review: {{{rule}}}\n"
                )
            print(f"{REVIEW + ' ' + rule:52} {measured(client, list_address(REVIEW, acme))}")


def measured(client: Client, address: str) -> str:
    """The first page and the last one, where there are several."""
    first, answer = asked(client, address)
    last = ""
    results = answer.json().get("results", []) if answer["Content-Type"].startswith("application/json") else []
    if answer.status_code == 200 and results and "cursor=" in (answer.json().get("next") or ""):
        last, _ = asked(client, f"{address}{'&' if '?' in address else '?'}cursor=-{BEHIND_ALL}")
    return f"{answer.status_code} rows {len(results):4}  first {first}  last {last}"


def asked(client: Client, address: str) -> tuple[str, Any]:
    # The first time also asks what a process asks once; and statements that are counted are written down, which costs.
    queries_of_list(client, address)
    queries, answer = queries_of_list(client, address)
    both, ours = min(_one_round(client, address) for _ in range(ROUNDS))
    over = " OVER" if len(queries) > MOST_QUERIES or both > ALLOWED_MS else ""
    return f"{len(queries):3} queries {both:6.1f} ms, {ours:6.1f} of them Python{over}", answer


def _one_round(client: Client, address: str) -> tuple[float, float]:
    """Milliseconds of both processes, and of this one, for an answer."""
    began, in_database = time.process_time(), _database_seconds()
    for _ in range(TURNS):
        whole_answer(client, address)
    ours = (time.process_time() - began) * 1000 / TURNS
    return ours + (_database_seconds() - in_database) * 1000 / TURNS, ours


def _database_seconds() -> float:
    """What the connection's process has used of the processor."""
    connection.ensure_connection()
    process = Process.read(connection.connection.info.backend_pid)
    return process.seconds if process is not None else 0.0
