"""What every request and refusal of the API has in common: problem details, and bodies that come packed."""

import gzip
import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from accounts.actions.tokens import make_token
from accounts.models import Membership, Project
from tenancy.actor import acting_in
from tenancy.roles import TokenScope
from tests.tenants import Tenants
from traces.importing.received import CollectingHandler

API = "/api/v1/"
CHECK = f"{API}configuration/check/"
CONFIGURATION = {"source": "task_name: Review\n"}


def program(tenants: Tenants, *scopes: TokenScope) -> Client:
    with acting_in(tenants.acme, tenants.alice):
        member = Membership.objects.get(user=tenants.mallory)
        _, text = make_token(membership=member, name="p", by_owner=True, scopes=scopes or tuple(TokenScope))
    return Client(headers={"Authorization": f"Bearer {text}"})


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("get", "projects/nowhere/", 404, "not_found"),
        ("get", "no/such/route/", 404, "not_found"),
        ("delete", "whoami/", 405, "method_not_allowed"),
        ("post", "projects/", 415, "unsupported_media_type"),
        ("get", "people/", 403, "permission_denied"),
    ],
)
def test_a_refusal_is_a_problem_with_what_it_has_always_said(
    tenants: Tenants, method: str, path: str, status: int, code: str
) -> None:
    ours = program(tenants)
    plain = getattr(ours, method)(f"{API}{path}")
    assert (plain.status_code, plain.headers["Content-Type"]) == (status, "application/json")
    named = getattr(ours, method)(f"{API}{path}", headers={"Accept": "application/problem+json, application/json"})
    assert named.headers["Content-Type"] == "application/problem+json"
    answer = named.json()
    assert answer == plain.json()
    assert (answer["code"], answer["type"], answer["status"]) == (code, f"urn:potato:problem:{code}", status)
    assert answer["instance"] == f"{API}{path}"
    assert answer["title"]
    assert answer["detail"]


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("projects/parser/decisions/", "outcome"),
        ("projects/parser/adjudication/", "reason"),
        ("projects/parser/agreement/", "filtered"),
        ("projects/parser/secrets/", "state"),
        ("people/", "show"),
        ("audit/", "days"),
    ],
)
@pytest.mark.parametrize("value", ["", "no"])
def test_a_parameter_that_can_be_none_of_what_it_says_is_refused_and_not_taken_for_all(
    tenants: Tenants, path: str, name: str, value: str
) -> None:
    with acting_in(tenants.acme, tenants.alice):
        owner = Membership.objects.get(user=tenants.alice)
        _, text = make_token(membership=owner, name="p", by_owner=True)
    ours = Client(headers={"Authorization": f"Bearer {text}"})
    assert ours.get(f"{API}{path}").status_code == 200
    refused = ours.get(f"{API}{path}", {name: value})
    assert (refused.status_code, refused.json()["code"]) == (400, "invalid_request")
    assert refused.json()["errors"][0]["path"] == [name]


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("get", "people/?q=%00", None),
        ("get", "people/a%00b/", None),
        ("patch", "projects/parser/", {"name": "a\0b"}),
        ("post", "projects/parser/sources/imports/", {"files": [{"name": "a", "content": {}}], "names": {"a\0b": "c"}}),
    ],
)
def test_a_nul_where_none_can_be_kept_is_the_requests_fault_and_keeps_nothing(
    tenants: Tenants, client: Client, method: str, path: str, body: dict[str, Any] | None
) -> None:
    client.force_login(tenants.alice)
    answer = getattr(client, method)(f"/o/acme{API}{path}", body, content_type="application/json")
    assert (answer.status_code, answer.json()["code"]) == (400, "nul_in_text")
    with acting_in(tenants.acme):
        assert set(Project.objects.values_list("name", flat=True)) == {tenants.acme_project.name}


def test_an_answer_that_is_no_refusal_stays_json_for_who_accepts_problems(tenants: Tenants) -> None:
    answer = program(tenants).get(f"{API}whoami/", headers={"Accept": "application/problem+json"})
    assert (answer.status_code, answer.headers["Content-Type"]) == (200, "application/json")


def packed(client: Client, body: bytes, encoding: str = "gzip", **more: Any) -> Any:
    return client.generic("POST", CHECK, body, "application/json", headers={"Content-Encoding": encoding}, **more)


def test_a_body_may_come_packed_and_is_read_as_if_it_had_not(tenants: Tenants) -> None:
    ours = program(tenants)
    plain = ours.post(CHECK, CONFIGURATION, content_type="application/json")
    sent = json.dumps(CONFIGURATION).encode()
    for encoding, body in (("gzip", gzip.compress(sent)), ("GZIP", gzip.compress(sent, 0)), ("identity", sent)):
        answer = packed(ours, body, encoding)
        assert (answer.status_code, answer.content) == (200, plain.content)


def test_a_bomb_is_unpacked_no_further_than_a_body_may_be_long(tenants: Tenants) -> None:
    text = b'{"source": "' + b" " * 200_000_000 + b'"}'
    bomb = gzip.compress(text, 9)
    assert len(bomb) < 300_000
    answer = packed(program(tenants), bomb)
    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")
    # Just as long as it may be, and a byte longer.
    fits = json.dumps({"source": "#" * 900_000})
    for more, status in ((1_000_000 - len(fits), 200), (1_000_001 - len(fits), 413)):
        assert packed(program(tenants), gzip.compress((fits + " " * more).encode())).status_code == status


def test_what_is_no_whole_gzip_is_refused_in_words(tenants: Tenants) -> None:
    ours, whole = program(tenants), gzip.compress(json.dumps(CONFIGURATION).encode())
    for body in (b"{}", whole[:-9], whole + b"x", whole + whole):
        answer = packed(ours, body)
        assert (answer.status_code, answer.json()["code"]) == (400, "not_gzip"), body
    for encoding in ("br", "gzip, gzip"):
        answer = packed(ours, whole, encoding)
        assert (answer.status_code, answer.json()["code"]) == (415, "unsupported_encoding")
    form = ours.post(f"{API}projects/parser/uploads/", {"a": "b"}, headers={"Content-Encoding": "gzip"})
    assert form.status_code == 415


def test_files_of_a_token_without_the_scope_are_not_received(tenants: Tenants, monkeypatch: pytest.MonkeyPatch) -> None:
    received: list[str] = []
    handler = CollectingHandler

    def noted(request: Any) -> Any:
        received.append(request.path)
        return handler(request)

    monkeypatch.setattr("potato_site.receiving.CollectingHandler", noted)
    form = {"file": SimpleUploadedFile("a.jsonl", b"{}"), "format": "auto"}
    answer = program(tenants, TokenScope.READ).post(f"{API}projects/parser/imports/", form)
    assert (answer.status_code, answer.json()["code"], received) == (403, "scope_needed", [])
