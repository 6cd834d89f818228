"""Which routes of the API answer lists, and what an answer costs in queries: for a test and for a measurement."""

import re
from pathlib import Path
from typing import Any

import yaml
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from tests.isolation.addresses import Address
from tests.isolation.rows.fixtures import Fixtures

MOST_QUERIES = 10
"""What any list may ask of the database, whoever asks for it being among that."""

_OF_TRANSACTIONS = re.compile("BEGIN|COMMIT|ROLLBACK|SAVEPOINT|RELEASE")
_OPENAPI = Path(__file__).parent.parent / "docs/openapi.yaml"
# Their rows are not `results`: reasons, what is in the way.
_OTHERS = ("/projects/{project}/skips/", "/imports/{file_id}/undo/")


def list_routes() -> list[str]:
    """The paths of docs/openapi.yaml that answer lists, in its order."""
    described = yaml.safe_load(_OPENAPI.read_text(encoding="utf-8"))
    schemas = described["components"]["schemas"]
    found = []
    for path, methods in described["paths"].items():
        answer = methods.get("get", {}).get("responses", {}).get("200", {}).get("content", {})
        schema = answer.get("application/json", {}).get("schema", {})
        shape = schemas.get(schema.get("$ref", "").rpartition("/")[2], {})
        if "results" in shape.get("properties", {}) or "application/x-ndjson" in answer or path in _OTHERS:
            found.append(path)
    return found


def list_address(path: str, fixtures: Fixtures) -> str:
    """The address of a path of docs/openapi.yaml in the organisation Acme, with the ids of those fixtures."""
    route = Address("/api/v1" + re.sub(r"{(\w+)}", r"<\1>", path))
    return route.filled(slug="acme", fixtures=fixtures)


def whole_answer(client: Client, address: str) -> Any:
    """The answer, of which a stream has been read to its end."""
    answer: Any = client.get(address)
    if answer.streaming:
        answer.getvalue()
    return answer


def queries_of_list(client: Client, address: str) -> tuple[list[str], Any]:
    """The statements that an answer asked of the database but those that begin and end transactions; and the answer."""
    with CaptureQueriesContext(connection) as queries:
        answer = whole_answer(client, address)
    return [query["sql"] for query in queries if not _OF_TRANSACTIONS.match(query["sql"])], answer
