"""Who asks without a pause is told to make one; who does not is never in the way of the others."""

import json
import logging
from types import SimpleNamespace
from typing import Any

import pytest
from django.test import Client

from accounts.actions.tokens import make_token
from accounts.api import authentication
from accounts.api import views as api
from accounts.models import Membership
from accounts.throttling import Throttle
from potato_site import views
from potato_site.health import LARGEST_REPORT
from tenancy.actor import acting_in
from tests.tenants import Tenants

PROJECTS = "/api/v1/projects/"
REPORT = {"csp-report": {"document-uri": "https://x/", "violated-directive": "img-src", "original-policy": "p" * 2000}}


def test_a_caller_has_half_a_minutes_requests_at_once_and_more_with_time(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr("accounts.throttling.time.monotonic", lambda: now)
    throttle = Throttle(60)
    assert [throttle.wait("a") for _ in range(31)] == [0] * 30 + [2]
    assert throttle.wait("b") == 0
    now += 1
    assert throttle.wait("a") == 0
    assert throttle.is_empty("a") == 2
    now += 3600
    assert [throttle.wait("a") for _ in range(31)][-2:] == [0, 2]
    assert throttle.is_empty("c") == 0


def test_no_bound_is_none() -> None:
    throttle = Throttle(0)
    assert {throttle.wait("a") for _ in range(1000)} == {0}


def test_callers_without_number_take_no_memory_without_bound() -> None:
    throttle = Throttle(60)
    for number in range(30_000):
        throttle.wait(str(number))
    assert len(throttle._left) == 20_000
    assert throttle.is_empty("29999") == throttle.is_empty("10001") == 0
    assert "29999" in throttle._left, "who asked last is remembered"
    assert "0" not in throttle._left


@pytest.fixture
def bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small ones, in a time that stands still: no bucket fills again while a test runs, however slowly it does."""
    monkeypatch.setattr("accounts.throttling.time", SimpleNamespace(monotonic=lambda: 1000.0))
    monkeypatch.setattr(api, "CALLERS", Throttle(20))
    monkeypatch.setattr(api, "ORGANISATIONS", Throttle(50))
    monkeypatch.setattr(authentication, "WRONG_TOKENS", Throttle(20))


def token_of(tenants: Tenants, person: str) -> dict[str, Any]:
    with acting_in(tenants.acme, tenants.alice):
        membership = Membership.objects.get(user=getattr(tenants, person))
        _, text = make_token(membership=membership, name="program", by_owner=True)
    return {"HTTP_AUTHORIZATION": f"Bearer {text}"}


def statuses(client: Client, times: int, path: str = PROJECTS, **headers: Any) -> list[int]:
    return [client.get(path, **headers).status_code for _ in range(times)]


def test_a_token_without_a_pause_is_told_to_wait_and_others_go_on(
    tenants: Tenants, client: Client, bounds: None
) -> None:
    busy, other = token_of(tenants, "bob"), token_of(tenants, "bob")
    assert statuses(client, 12, **busy) == [200] * 10 + [429] * 2
    answer = client.get(PROJECTS, **busy)
    assert (answer["Retry-After"], answer.json()["code"]) == ("4", "throttled")
    assert "Wait 4 s" in answer.json()["detail"]
    assert statuses(client, 3, **other) == [200] * 3


def test_an_organisation_has_a_bound_of_its_own(tenants: Tenants, client: Client, bounds: None) -> None:
    for _ in range(3):
        statuses(client, 10, **token_of(tenants, "alice"))
    answer = client.get(PROJECTS, **token_of(tenants, "bob"))
    assert answer.status_code == 429
    assert "This organisation" in answer.json()["detail"]
    client.force_login(tenants.charlie)
    assert statuses(client, 3, "/o/birch/api/v1/projects/") == [200] * 3


def test_a_person_of_a_session_has_the_same_bound(tenants: Tenants, client: Client, bounds: None) -> None:
    client.force_login(tenants.bob)
    assert statuses(client, 11, "/o/acme/api/v1/projects/") == [200] * 10 + [429]


def test_tokens_that_are_none_are_not_tried_without_an_end(tenants: Tenants, client: Client, bounds: None) -> None:
    junk = {"HTTP_AUTHORIZATION": "Bearer pt_what"}
    assert statuses(client, 12, **junk) == [401] * 10 + [429] * 2
    assert statuses(client, 2, REMOTE_ADDR="203.0.113.9", **token_of(tenants, "bob")) == [200] * 2


def test_the_bounds_as_shipped_leave_an_annotators_page_alone() -> None:
    """A page saves each 800 ms at most; a person with four tabs and a quick hand asks ten times a second."""
    assert api.CALLERS.a_minute >= 10 * 60
    assert api.ORGANISATIONS.a_minute >= 10 * api.CALLERS.a_minute or api.ORGANISATIONS.a_minute == 0


# --- Reports of the browser -----------------------------------------------------------------------------------------


def report(client: Client, body: Any = REPORT, **headers: Any) -> Any:
    return client.post("/csp-report/", json.dumps(body), content_type="application/csp-report", **headers)


def test_a_flood_of_reports_is_turned_away_before_the_log(client: Client, db: None) -> None:
    flood = [report(client, REMOTE_ADDR="203.0.113.77") for _ in range(40)]
    assert [answer.status_code for answer in flood[:15]] == [204] * 15
    assert {answer.status_code for answer in flood[16:]} == {429}
    assert flood[-1]["Retry-After"] == "2"
    assert report(client, REMOTE_ADDR="203.0.113.78").status_code == 204


def test_a_report_that_is_too_long_is_not_read(client: Client, db: None) -> None:
    long = {"csp-report": {"blocked-uri": "x" * LARGEST_REPORT}}
    assert report(client, long, REMOTE_ADDR="203.0.113.79").status_code == 413


def test_of_many_reports_a_sample_is_logged_and_of_each_what_matters(
    client: Client, db: None, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(views, "_reports", views._Sample(6))
    caplog.set_level(logging.WARNING)
    hostile = {**REPORT["csp-report"], "blocked-uri": "x" * 5000, "more": "y" * 5000}
    for number in range(9):
        assert report(client, {"csp-report": hostile}, REMOTE_ADDR=f"198.51.100.{number}").status_code == 204
    lines = [record for record in caplog.records if "csp.report" in str(record.msg)]
    assert len(lines) == 3
    assert all(len(str(line.msg)) < 1500 for line in lines)
    assert "img-src" in str(lines[0].msg)
    assert "original-policy" not in str(lines[0].msg)


def test_a_report_of_any_shape_is_taken(client: Client, db: None) -> None:
    for number, body in enumerate([[], 1, "x", {"csp-report": 3}, {"csp-report": [1]}, {"body": {}}]):
        assert report(client, body, REMOTE_ADDR=f"192.0.2.{number}").status_code == 204
