"""The examples of the API's description are played in their order against the site, and answer what they say.

After a change that is meant, POTATO_WRITE_EXAMPLES=1 has this test write docs/api-examples.json anew.
"""

import json
import os
import re
from dataclasses import replace
from typing import Any

import pytest
import yaml
from django.test import Client
from drf_spectacular.validation import validate_schema
from pytest_django import Settings

from accounts.actions.tokens import make_token
from accounts.models import Membership
from jobs import outbox
from potato_site.api_examples import PLACE, Example, examples, with_examples
from potato_site.api_kinds import kinds_of
from potato_site.api_schema import api_schema
from tenancy.actor import Actor, acting_in
from tests.assignments.described import deviations
from tests.tenants import Tenants
from tests.traces.test_imports import work
from traces.models import ImportedFile

pytestmark = pytest.mark.django_db(transaction=True)

_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_TIME = re.compile(r"20[2-7]\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)")
_TOKEN = re.compile(r"pt_[0-9a-f_]+")
_PLACE = re.compile(r"\{([a-z0-9-]+)\.([a-z0-9._]+)\}")
_SECRET = re.compile(r"whsec_[A-Za-z0-9+/=]+|(?<=/join/)[^/]+")


class Lasting:
    """Values that are new each time, as values that stay: ids by the order in which they come, one time, one token."""

    def __init__(self) -> None:
        self._ids: dict[str, str] = {}

    def of(self, value: Any, key: str = "") -> Any:
        if isinstance(value, dict):
            return {name: self.of(inner, name) for name, inner in value.items()}
        if isinstance(value, list):
            return [self.of(inner) for inner in value]
        if isinstance(value, str):
            return "..." if key == "upload" else self._text(value)
        return 60 if key == "active_seconds" and value is not None else value

    def _text(self, text: str) -> str:
        text = _TOKEN.sub("pt_...", text.replace("http://testserver", "https://potato.example.org"))
        text = _SECRET.sub("...", text)
        text = _TIME.sub("2026-12-01T09:00:00.000Z", text)
        return _ID.sub(lambda found: self._ids.setdefault(found[0], _id(len(self._ids) + 1)), text)


def _id(number: int) -> str:
    return f"01a20000-0000-7000-8000-{number:012x}"


def filled(value: Any, answers: dict[str, Any]) -> Any:
    """With what earlier answers said in its places."""
    if isinstance(value, dict):
        return {name: filled(inner, answers) for name, inner in value.items()}
    if isinstance(value, list):
        return [filled(inner, answers) for inner in value]
    if not isinstance(value, str):
        return value

    def earlier(found: "re.Match[str]") -> Any:
        answer = answers[found[1]]
        for key in found[2].split("."):
            answer = answer[int(key) if isinstance(answer, list) else key]
        return answer

    if whole := _PLACE.fullmatch(value):
        return earlier(whole)
    return _PLACE.sub(lambda found: str(earlier(found)), value)


def played(tenants: Tenants) -> list[tuple[Example, list[str]]]:
    """Each example as it is now, with the status and the answer that it gets, and where that is not as described."""
    with acting_in(tenants.acme, tenants.alice):
        owner = Membership.objects.get(user=tenants.alice)
        _, text = make_token(membership=owner, name="a first token", by_owner=True)
    answers: dict[str, Any] = {}
    lasting, got = Lasting(), []
    for one in examples():
        path = f"/api/v1{filled(one.path, answers)}"
        sent = filled(one.body, answers)
        body = b"" if one.body is None else json.dumps(sent).encode()
        token = answers[one.by]["text"] if one.by else text
        answer = Client(headers={"Authorization": f"Bearer {token}"}).generic(
            one.method.upper(), path, body, "application/json", headers={"Idempotency-Key": one.name}
        )
        answers[one.name] = answer.json()
        if answer.status_code == 202 and one.route.endswith("/traces/"):
            with acting_in(tenants.acme):
                file = ImportedFile.objects.get(pk=answers[one.name]["id"])
            work(tenants, file)
        if one.route.endswith("/submit/"):
            outbox.deliver(Actor(tenants.acme.pk, (tenants.acme.pk,)))
        now = replace(
            one,
            status=answer.status_code,
            answer=lasting.of(answers[one.name]),
            sent=None if sent == one.body else lasting.of(sent),
        )
        got.append((now, deviations(one.method, path, answer)))
    return got


def row(one: Example) -> dict[str, Any]:
    """Without what most examples do not have."""
    return {name: value for name, value in vars(one).items() if value or name not in ("by", "sent")}


def test_every_example_is_answered_as_it_says(committed_tenants: Tenants, settings: Settings, tmp_path: Any) -> None:
    settings.MEDIA_ROOT = tmp_path / "media"
    got = played(committed_tenants)
    if os.environ.get("POTATO_WRITE_EXAMPLES"):
        rows = [row(now) for now, _ in got]
        PLACE.write_text(json.dumps(rows, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        return
    assert len(got) > 80
    for one, (now, wrong) in zip(examples(), got, strict=True):
        assert row(now) == row(one), one.name
        assert wrong == [], one.name


def test_an_example_stands_at_its_operation_and_one_without_a_route_is_found() -> None:
    body: dict[str, Any] = {"content": {"application/json": {}}}
    schema: dict[str, Any] = {"paths": {}}
    for one in examples():
        operation = schema["paths"].setdefault(one.route, {}).setdefault(one.method, {"responses": {}})
        operation["responses"][str(one.status)] = yaml.safe_load(json.dumps(body))
        operation["requestBody"] = yaml.safe_load(json.dumps(body))
    with_examples(schema)
    shown = schema["paths"]["/whoami/"]["get"]["responses"]["200"]["content"]["application/json"]["examples"]
    assert shown["whoami"]["value"]["name"] == "alice"
    validate_schema(with_examples(api_schema()))
    with pytest.raises(KeyError):
        with_examples({"paths": {}})


def test_the_description_is_a_page_of_the_site_and_a_file(committed_tenants: Tenants, client: Client) -> None:
    client.force_login(committed_tenants.bob)
    page = client.get("/o/acme/api-reference/")
    text = page.content.decode()
    assert page.status_code == 200
    assert "/projects/{project}/next/" in text
    assert "POST" in text
    assert 'src="http' not in text
    answer = client.get("/o/acme/api-reference/openapi.yaml")
    assert yaml.safe_load(answer.getvalue())["openapi"] == "3.1.0"


def test_every_body_of_json_has_an_example() -> None:
    lacking = [
        f"{method.upper()} {route}"
        for route, operations in with_examples(api_schema())["paths"].items()
        for method, operation in operations.items()
        if (body := operation.get("requestBody", {}).get("content", {}).get("application/json")) is not None
        if "examples" not in body
    ]
    assert lacking == []


def test_no_example_shows_a_place_that_another_answer_fills() -> None:
    shown = json.dumps([one.body if one.sent is None else one.sent for one in examples()])
    assert _PLACE.findall(shown) == []


def test_the_page_says_what_bodies_and_answers_are_made_of(committed_tenants: Tenants, client: Client) -> None:
    client.force_login(committed_tenants.bob)
    text = client.get("/o/acme/api-reference/").content.decode()
    settle = text.partition('id="post-adjudication-assignment_id-submit"')[2].partition("</details>")[0]
    assert 'list of <a href="#model-NewSettlement">NewSettlement</a>' in settle
    assert 'Answers 201: <a href="#model-AdjudicationMade">AdjudicationMade</a>' in settle
    model = text.partition('id="model-NewSettlement"')[2].partition("</details>")[0]
    assert re.search(r'how <span class="soft">needed, text\s*</span>', model)
    assert "One of consensus, kept, merged, rewritten, dropped." in model
    assert set(re.findall(r'href="#(model-\w+)"', text)) <= set(re.findall(r'id="(model-\w+)"', text))


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"type": "string", "format": "uuid"}, "id"),
        ({"type": "array", "items": {"$ref": "#/components/schemas/Trace"}}, "list of Trace"),
        ({"type": "array", "items": {}}, "list of anything"),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "whole number or null"),
        ({"anyOf": [{"type": ["string", "null"]}, {"type": "null"}]}, "text or null"),
        ({"type": "object", "additionalProperties": {"type": "number"}}, "object of number"),
        ({"type": "object"}, "object"),
        ({"const": "done"}, '"done"'),
        ({}, ""),
    ],
)
def test_what_a_value_may_be_is_said_in_words(schema: dict[str, Any], words: str) -> None:
    assert " ".join(kind.words for kind in kinds_of(schema)) == words
