"""What the API's lists cost the server among 100,000 rows of each kind: the first page and the last one.

Every GET route of docs/openapi.yaml that has pages is asked. Times are of this process's processor and of the database
together, the least of some turns.
"""

import os
import re
import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.db import DatabaseError, connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.actions.tokens import make_token
from accounts.models import Membership
from tenancy.actor import acting_in
from tests.exports.seeding import count_rows, seed
from tests.isolation.addresses import Address
from tests.isolation.fixtures import Fixtures, make_fixtures
from tests.tenants import Tenants

ROWS = int(os.environ.get("BENCH_LIST_ROWS", "100000"))
TURNS = 5
BEHIND_ALL = "ffffffff-ffff-7fff-bfff-ffffffffffff"
ALLOWED_QUERIES, ALLOWED_MS = 10, 100.0
ROOT = Path(__file__).parent.parent

# Tables whose one row of the fixtures is there so often, with what must differ between rows.
COPIED = {
    "jobs_job": {},
    "accounts_auditevent": {},
    "exports_export": {},
    "traces_importedfile": {},
    "webhooks_delivery": {"message": "uuid"},
    "agreement_agreementreport": {},
    "agreement_sourcereport": {},
    "assignments_note": {},
    "assignments_decision": {},
    "assignments_question": {},
    "adjudication_adjudication": {},
    "traces_importproblem": {"number": "n"},
    "jobs_schedulerun": {"fire_time": "time"},
    "accounts_apitoken": {"prefix": "prefix"},
    "agreement_source": {"version": "text"},
    "accounts_invitation": {"email": "text", "annotator_name": "text", "secret_sha256": "sha"},
}
VARIED = {
    "uuid": "gen_random_uuid()",
    "n": "n",
    "text": "{column} || n",
    "time": "{column} + n * interval '1 second'",
    "prefix": "lpad(to_hex(n), 12, '0')",
    "sha": "encode(sha256(n::text::bytea), 'hex')",
}


def copy_rows(table: str, differing: dict[str, str], fixtures: Fixtures) -> str:
    """Copies of the organisation's row; what could not be copied is said."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped"
            " AND attgenerated = ''",
            [table],
        )
        columns = [name for (name,) in cursor.fetchall()]
    values = {name: f'"{name}"' for name in columns}
    values["id"] = "('0190' || lpad(to_hex(n), 8, '0') || '70008000000000000000')::varchar(32)::uuid"
    for column, how in differing.items():
        values[column] = VARIED[how].format(column=f'"{column}"')
    listed = ", ".join(f'"{name}"' for name in columns)
    statement = (
        f"INSERT INTO {table} ({listed}) SELECT {', '.join(values[name] for name in columns)} FROM {table},"  # noqa: S608
        f" generate_series(1, {ROWS}) n WHERE organisation_id = '{fixtures.organisation.pk}'"
        f" AND id = (SELECT id FROM {table} WHERE organisation_id = '{fixtures.organisation.pk}' ORDER BY id LIMIT 1)"
    )
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement)
    except DatabaseError as error:
        return str(error).splitlines()[0]
    return ""


def lists() -> list[str]:
    described = yaml.safe_load((ROOT / "docs/openapi.yaml").read_text(encoding="utf-8"))
    schemas = described["components"]["schemas"]
    found = []
    for path, methods in described["paths"].items():
        answer = methods.get("get", {}).get("responses", {}).get("200", {}).get("content", {})
        schema = answer.get("application/json", {}).get("schema", {})
        shape = schemas.get(schema.get("$ref", "").rpartition("/")[2], {})
        if "results" in shape.get("properties", {}) or "application/x-ndjson" in answer:
            found.append(path)
    return found


@pytest.mark.timeout(7200)
def bench_lists(committed_tenants: Tenants, capsys: pytest.CaptureFixture[str]) -> None:
    tenants = committed_tenants
    acme, _ = make_fixtures(tenants)
    with acting_in(tenants.acme, tenants.alice):
        member = Membership.objects.get(user=tenants.alice)
        token = str(make_token(membership=member, name="bench", by_owner=True)[1])
    seed(tenants.acme, acme.rows["accounts.Project"], ROWS)
    said = {}
    for table, how in COPIED.items():
        with acting_in(tenants.acme, tenants.alice):
            if wrong := copy_rows(table, how, acme):
                said[table] = wrong
    count_rows()
    client = Client(headers={"Authorization": f"Bearer {token}"})
    over = []
    with capsys.disabled():
        print(f"\n{ROWS:,} rows of each kind; not filled: {said}")
        print(f"{'nothing but who asks: /whoami/':52} {asked(client, '/api/v1/whoami/')[0]}")
        for path in lists():
            route = Address("/api/v1" + re.sub(r"{(\w+)}", r"<\1>", path))
            address = route.filled(slug="acme", fixtures=acme)
            wanted = {"/search/": "?q=parser"}.get(path, "")
            told = measured(client, address + wanted)
            print(f"{path:52} {told}")
            if "OVER" in told:
                over.append(path)
        print(f"over the bounds: {over}")


def measured(client: Client, address: str) -> str:
    """The first page and the last one, where there are several."""
    first, answer = asked(client, address)
    last = ""
    results = answer.json().get("results", []) if answer["Content-Type"].startswith("application/json") else []
    if answer.status_code == 200 and results and "cursor=" in (answer.json().get("next") or ""):
        last, _ = asked(client, f"{address}{'&' if '?' in address else '?'}cursor=-{BEHIND_ALL}")
    return f"{answer.status_code} rows {len(results):4}  first {first}  last {last}"


def asked(client: Client, address: str) -> tuple[str, Any]:
    least = ours_least = 1e9
    for _ in range(TURNS):
        with CaptureQueriesContext(connection) as queries:
            began = time.process_time()
            answer: Any = client.get(address)
            ours = (time.process_time() - began) * 1000
        database = sum(float(query["time"]) for query in queries) * 1000
        least, ours_least = min(least, ours + database), min(ours_least, ours)
    number = len(queries)
    over = " OVER" if number > ALLOWED_QUERIES or least > ALLOWED_MS else ""
    return f"{number:3} queries {least:6.1f} ms, {ours_least:6.1f} of them Python{over}", answer
