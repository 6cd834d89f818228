"""Who is not let in, what is not read, and that each is told so in JSON."""

import json
from typing import Any

import pytest
from django.test import Client

from accounts.models import Membership
from tenancy.actor import acting_in
from tests.assignments.reviews import Api, api_of, documented, reviewed
from tests.tenants import Tenants

PROJECTS = "/o/acme/api/v1/projects/"


def held_by_bob(tenants: Tenants) -> tuple[Api, dict[str, Any]]:
    reviewed(tenants.acme, tenants.acme_project)
    api = api_of(tenants.bob)
    return api, api.claim()


# --- Who comes in ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("slug", ["acme", "nowhere"])
def test_nobody_signed_in_is_told_so_and_not_led_to_a_page(tenants: Tenants, slug: str) -> None:
    for method, path in (("get", "projects/"), ("post", "projects/parser/next/"), ("put", "projects/"), ("get", "x/")):
        answer = getattr(Client(), method)(f"/o/{slug}/api/v1/{path}")
        assert answer.headers["Content-Type"] == "application/json"
        if path == "x/":
            assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
            continue
        assert (answer.status_code, answer.json()["code"]) == (401, "not_authenticated")
        assert answer.headers["WWW-Authenticate"] == "Cookie"
        assert answer.headers["Cache-Control"] == "no-store"


def test_a_session_that_ended_is_told_so_and_goes_on_after_signing_in_again(tenants: Tenants) -> None:
    api, held = held_by_bob(tenants)
    api.client.logout()
    answer = api.save(held, {"answers": {}})
    assert (answer.status_code, answer.json()["code"]) == (401, "not_authenticated")
    api.client.force_login(tenants.bob)
    assert api.save(held, {"answers": {}}).status_code == 200


def test_strangers_are_told_nothing(tenants: Tenants) -> None:
    _, held = held_by_bob(tenants)
    for person in (tenants.charlie, tenants.mallory):
        stranger = Api(api_of(person).client, "/o/acme/api/v1/" if person is tenants.charlie else "/o/birch/api/v1/")
        for path in (f"assignments/{held['id']}/", f"assignments/{held['id']}/draft/"):
            answer = stranger.get(path)
            assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
        assert stranger.submit(held, documented()).status_code == 404
    assert api_of(tenants.charlie).get("projects/").status_code == 404


def test_other_peoples_assignments_do_not_exist(tenants: Tenants) -> None:
    """Not for the owner of the organisation either; and their submissions cannot be taken back by anybody else."""
    bob, held = held_by_bob(tenants)
    owner = api_of(tenants.alice)
    where = f"assignments/{held['id']}"
    fencing_token = {"lease_token": held["lease_token"]}
    submission = bob.submit(held, documented()).json()["submission"]
    lines = {"file": "src/parser.py", "side": "new", "start": "15", "end": "15"}
    for answer in (
        owner.get(f"{where}/"),
        owner.get(f"{where}/draft/"),
        owner.get(f"{where}/lines/", **lines),
        owner.post(f"{where}/heartbeat/", fencing_token),
        owner.post(f"{where}/resume/"),
        owner.save(held, {"answers": {}}),
        owner.submit(held, documented()),
        owner.post(f"{where}/skip/", {**fencing_token, "reason": "x"}),
        owner.post(f"{where}/release/", fencing_token),
        owner.post(f"submissions/{submission}/withdraw/"),
    ):
        assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
    assert owner.get("assignments/").json()["results"] == []


def test_rows_of_another_organisation_are_not_found_under_ones_own(tenants: Tenants) -> None:
    _, held = held_by_bob(tenants)
    with acting_in(tenants.birch):
        Membership.objects.create(user=tenants.bob, annotator_name="bob")
    there = Api(api_of(tenants.bob).client, "/o/birch/api/v1/")
    assert there.get(f"assignments/{held['id']}/").status_code == 404
    assert there.submit(held, documented()).status_code == 404
    assert there.get("assignments/").json()["results"] == []
    assert there.get("projects/").json()["results"] == []


def test_what_changes_something_needs_a_csrf_token(tenants: Tenants) -> None:
    reviewed(tenants.acme, tenants.acme_project)
    api = api_of(tenants.bob, csrf=True)
    assert api.get("projects/").status_code == 200
    refused = api.post("projects/parser/next/")
    assert (refused.status_code, refused.json()["code"]) == (403, "csrf_failed")
    page = api.client.get("/o/acme/")
    token = page.wsgi_request.META["CSRF_COOKIE"]
    api.client.cookies["csrf"] = token
    assert api.post("projects/parser/next/", **{"X-CSRFToken": token}).status_code == 200
    # Strangers learn nothing from it.
    assert api_of(tenants.charlie, csrf=True).post("projects/parser/next/").status_code == 404


# --- What is read ----------------------------------------------------------------------------------------------------


def sent(api: Api, path: str, body: bytes, content_type: str = "application/json", method: str = "POST") -> Any:
    answer = api.client.generic(method, api.base + path, body, content_type, headers={"Idempotency-Key": "key"})
    assert answer.headers["Content-Type"] == "application/json"
    return answer


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b"", 400, "invalid_request"),
        (b"{", 400, "not_json"),
        (b'{"lease_token": 1', 400, "not_json"),
        (b'{"lease_token": NaN}', 400, "not_json"),
        (b'{"lease_token": %s}' % (b"9" * 5000), 400, "not_json"),
        (b'{"lease_token": -Infinity}', 400, "not_json"),
        (b'{"lease_token": 1e999}', 400, "not_json"),
        (b'{"lease_token": ' + b"9" * 5000 + b"}", 400, "not_json"),
        (b'{"lease_token": "\xff"}', 400, "not_json"),
        (b'{"lease_token": "\xed\xa0\x80"}', 400, "not_json"),
        ('{"lease_token": 1}'.encode("utf-16"), 400, "not_json"),
        (b"[" * 10_000, 400, "too_deep"),
        (b"[" * 65 + b"]" * 65, 400, "too_deep"),
        (b"[" * 8000 + b"]" * 8000, 400, "too_deep"),
        (b"null", 400, "invalid_request"),
        (b"[]", 400, "invalid_request"),
        (b'{"lease_token": 1.0}', 400, "invalid_request"),
        (b'{"lease_token": true}', 400, "invalid_request"),
        (b'{"lease_token": "1"}', 400, "invalid_request"),
        (b'{"lease_token": -1}', 400, "invalid_request"),
        (b'{"lease_token": 9223372036854775808}', 400, "invalid_request"),
        (b'{"lease_token": 1, "other": 1}', 400, "invalid_request"),
        (b'{"lease_token": 1, "\\ud800": 1}', 400, "invalid_request"),
        (b"{}", 400, "invalid_request"),
        (b'{"lease_token": 9223372036854775807}', 409, "taken_over"),
        (b'{"lease_token": 1}' + b" " * 16_384, 413, "too_large"),
    ],
)
def test_a_body_that_cannot_be_read_is_refused_with_a_reason(
    tenants: Tenants, body: bytes, status: int, code: str
) -> None:
    api, held = held_by_bob(tenants)
    answer = sent(api, f"assignments/{held['id']}/heartbeat/", body)
    assert (answer.status_code, answer.json()["code"]) == (status, code), answer.content
    assert answer.json()["detail"]


def test_bodies_are_bounded_by_what_they_are_for(tenants: Tenants) -> None:
    api, held = held_by_bob(tenants)
    where = f"assignments/{held['id']}"
    largest = json.dumps({"lease_token": 1, "annotations": {"verdict": {"summary": ""}}}).encode()
    largest += b" " * (2_000_000 - len(largest))
    for body, status in ((largest, 422), (largest + b" ", 413)):
        assert sent(api, f"{where}/submit/", body).status_code == status
    assert sent(api, f"{where}/draft/", largest + b" ", method="PUT").status_code == 413
    assert sent(api, f"{where}/skip/", b" " * 16_385).status_code == 413


def test_a_body_in_pieces_of_unknown_length_is_not_taken_for_an_empty_one(tenants: Tenants) -> None:
    api, held = held_by_bob(tenants)
    for path in (f"assignments/{held['id']}/heartbeat/", "projects/parser/next/"):
        answer = api.client.generic("POST", api.base + path, headers={"Transfer-Encoding": "chunked"})
        assert (answer.status_code, answer.json()["code"]) == (411, "length_needed")


@pytest.mark.parametrize("content_type", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""])
def test_only_json_is_read(tenants: Tenants, content_type: str) -> None:
    api, held = held_by_bob(tenants)
    answer = sent(api, f"assignments/{held['id']}/heartbeat/", b'{"lease_token": 1}', content_type)
    assert (answer.status_code, answer.json()["code"]) in ((415, "unsupported_media_type"), (400, "invalid_request"))


def test_whatever_form_of_answer_is_asked_for_it_is_json(tenants: Tenants) -> None:
    api, _ = held_by_bob(tenants)
    for wanted in ("text/html", "application/xml", "*/*;q=0", ""):
        answer = api.client.get(f"{PROJECTS}?format=api", headers={"Accept": wanted})
        assert (answer.status_code, answer.headers["Content-Type"]) == (200, "application/json")


def test_other_methods_are_refused_in_json(tenants: Tenants) -> None:
    api, held = held_by_bob(tenants)
    for method in ("PATCH", "DELETE", "OPTIONS", "TRACE", "NONSENSE"):
        answer = sent(api, f"assignments/{held['id']}/draft/", b"", method=method)
        assert (answer.status_code, answer.json()["code"]) == (405, "method_not_allowed")
    head = api.client.head(PROJECTS)
    assert (head.status_code, head.content) == (200, b"")


def test_addresses_that_no_route_has_are_refused_in_json(tenants: Tenants) -> None:
    api, held = held_by_bob(tenants)
    for path in ("nowhere/", f"assignments/{held['id']}/nowhere/", "assignments/1/", "projects/x%00/next/"):
        answer = api.client.post(api.base + path)
        assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


def test_an_error_of_the_site_is_told_in_json_and_keeps_nothing(
    tenants: Tenants, monkeypatch: pytest.MonkeyPatch
) -> None:
    api, held = held_by_bob(tenants)
    api.client.raise_request_exception = False
    monkeypatch.setattr("potato.api.shapes.Saved.__init__", None)
    answer = api.save(held, {"answers": {}})
    assert (answer.status_code, answer.json()["code"]) == (500, "server_error")
    monkeypatch.undo()
    assert api.get(f"assignments/{held['id']}/draft/").json()["revision"] == 0
