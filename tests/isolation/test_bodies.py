"""Ids in bodies: one of another organisation is answered exactly like one that nobody has, wherever a body has ids.

`{own}` stands for the id in a body. It is asked with a row of the caller's organisation, with one of the other and with
one that there is not; the last two must not be told apart.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import yaml
from django.db import transaction
from django.test import Client

from tests.isolation.addresses import Address
from tests.isolation.fixtures import make_fixtures
from tests.isolation.requests import client_of
from tests.isolation.rows.fixtures import Fixtures
from tests.tenants import Tenants

API = "/o/<organisation>/api/v1"
VERDICT = '"annotations": {"verdict": {"decision": "approve", "summary": "Good."}}'
TIMES = '"name": "weekly", "cron": "0 4 * * 1"'


@dataclass(frozen=True)
class Taken:
    """A route whose body has an id: `key` is where, `kind` of what it is."""

    key: str
    kind: str
    method: str
    address: str
    body: str


TABLE = [
    Taken(
        "sources",
        "source",
        "PUT",
        "/agreement-schedules/<schedule_id>/",
        "{" + TIMES + ', "compares": "chosen", "sources": ["{id}"]}',
    ),
    Taken(
        "people.annotator",
        "annotator",
        "PUT",
        "/agreement-schedules/<schedule_id>/",
        "{" + TIMES + ', "people": [{"annotator": "{id}"}]}',
    ),
    Taken(
        "people.annotator",
        "annotator",
        "PUT",
        "/export-schedules/<schedule_id>/",
        "{" + TIMES + ', "format": "archive", "people": [{"annotator": "{id}"}]}',
    ),
    Taken("trace", "trace", "POST", "/projects/<project>/adjudication/", '{"trace": "{id}"}'),
    Taken("filters.batches", "batch", "POST", "/projects/<project>/agreement/", '{"filters": {"batches": ["{id}"]}}'),
    Taken(
        "filters.annotators",
        "annotator",
        "POST",
        "/projects/<project>/agreement/",
        '{"filters": {"annotators": ["{id}"]}}',
    ),
    Taken(
        "sources",
        "source",
        "POST",
        "/projects/<project>/agreement-schedules/",
        "{" + TIMES + ', "compares": "chosen", "sources": ["{id}"]}',
    ),
    Taken(
        "people.annotator",
        "annotator",
        "POST",
        "/projects/<project>/agreement-schedules/",
        "{" + TIMES + ', "people": [{"annotator": "{id}"}]}',
    ),
    Taken("traces", "trace", "POST", "/projects/<project>/agreement/third-person/", '{"traces": ["{id}"]}'),
    Taken("to", "annotator", "POST", "/projects/<project>/assignments/<assignment_id>/reassign/", '{"to": "{id}"}'),
    Taken("people", "annotator", "POST", "/projects/<project>/batches/", '{"name": "B", "people": ["{id}"]}'),
    Taken("people", "annotator", "POST", "/projects/<project>/batches/<number>/", '{"people": ["{id}"]}'),
    Taken("people", "annotator", "POST", "/projects/<project>/batches/preview/", '{"name": "B", "people": ["{id}"]}'),
    Taken(
        "people.annotator",
        "annotator",
        "POST",
        "/projects/<project>/export-schedules/",
        "{" + TIMES + ', "format": "archive", "people": [{"annotator": "{id}"}]}',
    ),
    Taken(
        "records.id", "external", "POST", "/projects/<project>/gold/", '{"records": [{"id": "{id}", ' + VERDICT + "}]}"
    ),
    Taken("traces", "trace", "POST", "/projects/<project>/gold/plant/", '{"traces": ["{id}"]}'),
    Taken("traces", "trace", "POST", "/projects/<project>/secrets/", '{"act": "keep", "traces": ["{id}"]}'),
    Taken(
        "trace",
        "external",
        "POST",
        "/projects/<project>/sources/answers/",
        '{"answers": [{"id": "{id}", ' + VERDICT + '}], "source": {"name": "judge", "version": "1"}}',
    ),
    Taken(
        "people",
        "annotator",
        "POST",
        "/projects/<project>/steering/people/",
        '{"act": "pause", "people": ["{id}"], "reason": "A break"}',
    ),
    Taken(
        "traces", "external", "POST", "/projects/<project>/steering/tasks/", '{"act": "give_back", "traces": ["{id}"]}'
    ),
    Taken(
        "people", "annotator", "POST", "/projects/<project>/steering/tasks/", '{"act": "give_back", "people": ["{id}"]}'
    ),
    Taken(
        "to",
        "annotator",
        "POST",
        "/projects/<project>/steering/tasks/",
        '{"act": "reassign", "traces": [], "to": "{id}"}',
    ),
    Taken(
        "suggestions.id",
        "external",
        "POST",
        "/projects/<project>/suggestions/",
        '{"suggestions": [{"id": "{id}", "model": "m", "model_version": "1", ' + VERDICT + "}]}",
    ),
    Taken(
        "traces",
        "external",
        "POST",
        "/projects/<project>/traces/steer/",
        '{"act": "tag", "traces": ["{id}"], "tag": "seen"}',
    ),
    Taken(
        "people",
        "annotator",
        "POST",
        "/projects/<project>/traces/steer/",
        '{"act": "offer", "traces": [], "people": ["{id}"]}',
    ),
    Taken("beside", "source", "POST", "/sources/<source_id>/reports/", '{"beside": "{id}"}'),
    Taken("traces", "trace", "POST", "/sources/<source_id>/send/", '{"traces": ["{id}"]}'),
    Taken("acts_as", "annotator", "POST", "/tokens/", '{"name": "t", "acts_as": "{id}", "scopes": ["read"]}'),
    Taken(
        "projects",
        "project",
        "POST",
        "/tokens/",
        '{"name": "t", "acts_as": "alice", "scopes": ["read"], "projects": ["{id}"]}',
    ),
    Taken(
        "project",
        "project",
        "POST",
        "/webhooks/",
        '{"url": "https://example.org/hook", "events": ["export.finished"], "project": "{id}"}',
    ),
]

NAMES = re.compile(
    r"^(.*\.)?(traces?|sources?|beside|annotators?|people|to|acts_as|projects?|note|taken_from|batches)$"
)
"""Keys of bodies by which rows are named."""
ALIKE = {
    ("/projects/<project>/batches/preview/", "people"): "of a preview it does not matter for whom",
    ("/projects/<project>/gold/plant/", "traces"): "nothing can be planted in the trace of these rows",
    ("/projects/<project>/secrets/", "traces"): "the trace of these rows is not held back, so that none is",
}
"""Where one's own row is answered as an unknown one."""
UNREAD = ('"extra_forbidden"', '"missing"', '"is_instance_of"', '"int_type"', '"string_type"', '"list_type"')
"""What is said of a body whose form is wrong."""
NO_ROWS = {
    ("/projects/{project}/sources/answers/", "source"): "what a source is called; a new one is made",
    ("/configuration/check/", "source"): "a text",
    ("/projects/", "source"): "a text",
    ("/projects/{project}/configuration/", "source"): "a text",
    ("/projects/{project}/configuration/check/", "source"): "a text",
    ("/projects/{project}/versions/", "source"): "a text",
    ("/adjudication/{assignment_id}/", "settled.taken_from"): "letters of the annotations at hand",
    ("/adjudication/{assignment_id}/submit/", "settled.taken_from"): "letters of the annotations at hand",
    ("/adjudication/{assignment_id}/", "settled.note"): "a text",
    ("/adjudication/{assignment_id}/submit/", "settled.note"): "a text",
    ("/projects/{project}/versions/", "note"): "a text",
    ("/assignments/{assignment_id}/answers/", "note"): "a number within the decision",
    ("/projects/{project}/gold/", "records.annotator"): "said beside a record, and not looked up",
    ("/projects/{project}/sources/imports/", "trace"): "looked up in the job, as `id` of answers is",
    ("/agreement-schedules/{schedule_id}/", "people"): "has annotators, which the table asks",
    ("/export-schedules/{schedule_id}/", "people"): "has annotators, which the table asks",
    ("/projects/{project}/agreement-schedules/", "people"): "has annotators, which the table asks",
    ("/projects/{project}/export-schedules/", "people"): "has annotators, which the table asks",
}
"""Keys with such a name that name no row of their own."""


def named(kind: str, fixtures: Fixtures) -> str:
    match kind:
        case "annotator":
            return str(fixtures.rows["accounts.Membership"].annotator_name)
        case "project":
            return str(fixtures.rows["accounts.Project"].slug)
        case "batch":
            return str(fixtures.rows["assignments.Batch"].name)
        case "external":
            return str(fixtures.rows["traces.Trace"].external_id)
    model = {"trace": "traces.Trace", "source": "agreement.Source",
             "submission": "assignments.Submission"}[kind]  # fmt: skip
    return str(fixtures.rows[model].pk)


def nobodys(kind: str) -> str:
    return {
        "annotator": "nobody-at-all",
        "project": "nowhere-at-all",
        "external": "no-trace-at-all",
        "batch": "no-batch-at-all",
    }.get(kind, str(uuid4()))


def told(client: Client, one: Taken, acme: Fixtures, id_: str) -> tuple[int, str]:
    """The status and what was said, without the id; what it changed is taken back."""
    path = Address(API + one.address).filled(slug="acme", fixtures=acme)
    with transaction.atomic():
        answer: Any = client.generic(one.method, path, one.body.replace("{id}", id_), content_type="application/json")
        transaction.set_rollback(True)
    return answer.status_code, answer.content.decode().replace(json.dumps(id_)[1:-1], "…")


def test_an_id_of_another_organisation_is_as_one_of_nobody(tenants: Tenants) -> None:
    acme, birch = make_fixtures(tenants)
    client = client_of(tenants.alice)
    wrong = []
    for one in TABLE:
        own = told(client, one, acme, named(one.kind, acme))
        foreign = told(client, one, acme, named(one.kind, birch))
        unknown = told(client, one, acme, nobodys(one.kind))
        if own[0] >= 500 or any(code in own[1] for code in UNREAD):
            wrong.append(f"{one.method} {one.address} {one.key}: the body does not come as far as its id: {own}")
        if without_ids(own) == without_ids(unknown) and (one.address, one.key) not in ALIKE:
            wrong.append(f"{one.method} {one.address} {one.key}: one's own is answered like an unknown one: {own}")
        if without_ids(foreign) != without_ids(unknown):
            wrong.append(f"{one.method} {one.address} {one.key}: {foreign} is told from {unknown}")
    assert wrong == [], "\n".join(wrong)


def without_ids(answer: tuple[int, str]) -> tuple[int, str]:
    """Answers that make something have a new id and a time each."""
    text = re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}", "id", answer[1])
    return answer[0], re.sub(r"\d{4}-\d\d-\d\dT[0-9:.]+Z?", "time", text)


def keys_of(
    schema: dict[str, Any], schemas: dict[str, Any], before: str = "", seen: tuple[str, ...] = ()
) -> Iterator[str]:
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        if name not in seen:
            yield from keys_of(schemas[name], schemas, before, (*seen, name))
        return
    for part in [*schema.get("anyOf", []), *schema.get("oneOf", []), *schema.get("allOf", [])]:
        yield from keys_of(part, schemas, before, seen)
    if schema.get("type") == "array":
        yield from keys_of(schema["items"], schemas, before, seen)
    for key, inner in schema.get("properties", {}).items():
        yield f"{before}{key}"
        yield from keys_of(inner, schemas, f"{before}{key}.", seen)


def test_every_key_that_names_a_row_is_in_the_table() -> None:
    described = yaml.safe_load((Path(__file__).parents[2] / "docs/openapi.yaml").read_text(encoding="utf-8"))
    there = {(re.sub(r"<(\w+)>", r"{\1}", one.address), one.key) for one in TABLE}
    missing = set()
    for path, methods in described["paths"].items():
        for operation in methods.values():
            content = operation.get("requestBody", {}).get("content", {}) if isinstance(operation, dict) else {}
            for body in content.values():
                keys = keys_of(body["schema"], described["components"]["schemas"])
                missing |= {(path, key) for key in keys if NAMES.match(key)}
    assert sorted(missing - there - NO_ROWS.keys()) == []
