"""The database ends what takes too long or holds a transaction open for the web role. Background work takes longer."""

import time
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest
from django.db import connection, transaction
from django.test import Client

from accounts import views
from tenancy import limits
from tenancy.actor import acting_in, unscoped
from tests.tenancy.databases import connected, web_role_address
from tests.tenants import Tenants


@pytest.fixture
def as_web(committed_tenants: Tenants) -> Iterator[Tenants]:
    """New connections log in as the web role, as in production."""
    with connected(**web_role_address(), OPTIONS={}):
        yield committed_tenants


def in_force() -> dict[str, str]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT name, setting || unit FROM pg_settings WHERE name = ANY(%s)", [list(limits.WEB)])
        return {name: f"{int(setting.removesuffix('ms')) // 1000}s" for name, setting in cursor.fetchall()}


def test_the_web_role_logs_in_with_its_limits(as_web: Tenants) -> None:
    assert in_force() == limits.WEB


def test_background_work_has_its_own_in_each_transaction_and_leaves_none_behind(as_web: Tenants) -> None:
    with acting_in(as_web.acme):
        assert in_force() == limits.BACKGROUND
    assert in_force() == limits.WEB


def test_the_platforms_work_takes_as_long(as_web: Tenants) -> None:
    with unscoped("a story of limits"):
        assert in_force() == limits.BACKGROUND


def test_a_web_server_keeps_those_of_its_role(as_web: Tenants, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "_serves_requests", False)
    limits.serve_requests()
    with acting_in(as_web.acme):
        assert in_force() == limits.WEB


def _set(name: str, value: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"SET LOCAL {name} = '{value}'")


def sleeps_too_long() -> None:
    _set("statement_timeout", "20ms")
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_sleep(30)")


def holds_its_transaction() -> None:
    _set("idle_in_transaction_session_timeout", "20ms")
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
        for _ in range(200):
            time.sleep(0.02)
            cursor.execute("SELECT 1")


def waits_for_a_lock() -> None:
    _set("lock_timeout", "20ms")
    with psycopg.connect(**_address()) as other:
        other.execute("SELECT pg_advisory_lock(11)")
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_lock(11)")


def _address() -> dict[str, Any]:
    found = web_role_address()
    names = {"host": "HOST", "port": "PORT", "dbname": "NAME", "user": "USER", "password": "PASSWORD"}
    return {name: found[key] for name, key in names.items() if found[key]}


@pytest.mark.parametrize("trouble", [sleeps_too_long, holds_its_transaction, waits_for_a_lock])
@pytest.mark.parametrize("address", ["/", "/api/v1/projects/"])
def test_what_the_database_ended_is_a_503_that_says_when_to_try_again(
    as_web: Tenants, client: Client, monkeypatch: pytest.MonkeyPatch, trouble: Callable[[], None], address: str
) -> None:
    client.force_login(as_web.alice)
    client.raise_request_exception = False

    def failing(*args: object, **kwargs: object) -> None:
        with transaction.atomic():
            trouble()

    monkeypatch.setattr(views, "acting_as", failing)
    monkeypatch.setattr("accounts.api.views.ApiView.check_permissions", failing)
    answer = client.get(address)
    assert answer.status_code == 503
    assert answer["Retry-After"] == "10"
    connection.close()
    assert client.get("/accounts/login/").status_code == 302, "the next request has a connection that works"
