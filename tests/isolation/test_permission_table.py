"""Every route, asked by everybody: the answers are those of the table, and the table has a line for every route."""

import sys
import uuid
from collections.abc import Sequence
from types import ModuleType

import pytest
from django.http import HttpRequest, HttpResponse
from django.test import Client
from django.urls import path
from pytest_django.fixtures import Settings

from accounts.models import Membership
from potato_site import organisation_urls
from tenancy.actor import acting_in
from tenancy.permissions import every_route_declares_a_permission, public
from tenancy.roles import Role
from tests.isolation.addresses import ORGANISATION, Address, addresses
from tests.isolation.fixtures import make_fixtures
from tests.isolation.permission_table import ROWS, Row, read_table
from tests.isolation.requests import answer, client_of
from tests.isolation.rows.fixtures import Fixtures
from tests.tenants import Tenants

METHODS = ("GET", "POST")


@pytest.fixture
def all_fixtures(tenants: Tenants) -> tuple[Fixtures, Fixtures]:
    return make_fixtures(tenants)


@pytest.fixture
def clients(tenants: Tenants) -> list[Client]:
    """In the order of permission_table.PEOPLE."""
    return [
        client_of(who) for who in (None, tenants.charlie, tenants.bob, tenants.mallory, tenants.dora, tenants.alice)
    ]


def answers(row: Row, clients: list[Client], all_fixtures: tuple[Fixtures, Fixtures]) -> list[Row]:
    """What the site says today, one row for each method of that row."""
    acme, birch = all_fixtures
    return [
        Row(
            method if row.method != "any" else "any",
            row.address,
            tuple(
                answer(client, method, row.address.filled(slug="acme", fixtures=acme)).status_code for client in clients
            ),
            answer(clients[-1], method, row.address.filled(slug="acme", fixtures=birch)).status_code
            if row.address.names_a_row
            else None,
        )
        for method in row.methods
    ]


def missing_and_surplus(rows: Sequence[Row], found: Sequence[Address]) -> tuple[list[tuple[str, str]], list[str]]:
    """Pairs of address and method without a row, and addresses in rows that no route has (or that stand twice)."""
    told = [(row.address.text, method) for row in rows for method in row.methods]
    wanted = [(address.text, method) for address in found for method in METHODS]
    twice = {f"{method} {text}" for text, method in told if told.count((text, method)) > 1}
    return (
        [pair for pair in wanted if pair not in told],
        sorted({f"{method} {text}" for text, method in told if (text, method) not in wanted} | twice),
    )


def test_the_table_has_a_line_for_every_route_and_no_other(
    clients: list[Client], all_fixtures: tuple[Fixtures, Fixtures]
) -> None:
    missing, surplus = missing_and_surplus(ROWS, addresses())
    lines = [
        line
        for text, method in missing
        for line in answers(Row(method, Address(text), (), None), clients, all_fixtures)
    ]
    assert not missing, "these lines are missing in tests/isolation/permissions:\n" + "\n".join(map(str, lines))
    assert not surplus, f"these are in tests/isolation/permissions and have no route, or stand there twice: {surplus}"


def test_every_route_answers_everybody_as_the_table_says(
    clients: list[Client], all_fixtures: tuple[Fixtures, Fixtures]
) -> None:
    wrong = [
        f"expected {row}\nanswered {found}"
        for row in ROWS
        for found in answers(row, clients, all_fixtures)
        if str(found) != str(row)
    ]
    assert not wrong, "\n".join(["", *wrong])


def test_outside_its_own_organisation_every_route_is_a_404(
    tenants: Tenants, all_fixtures: tuple[Fixtures, Fixtures]
) -> None:
    """All routes under a slug, asked by the owner of the other organisation, and under a slug of nobody."""
    client = client_of(tenants.alice)
    for row in ROWS:
        if not row.address.is_global:
            for slug in ("birch", "nobody"):
                for method in row.methods:
                    found = answer(client, method, row.address.filled(slug=slug, fixtures=all_fixtures[1]))
                    assert found.status_code == 404, f"{method} {row.address.text} under {slug}"


def test_who_owns_both_organisations_still_finds_no_row_of_one_in_the_other(
    tenants: Tenants, clients: list[Client], all_fixtures: tuple[Fixtures, Fixtures]
) -> None:
    with acting_in(tenants.birch):
        Membership.objects.create(user=tenants.alice, role=Role.OWNER, annotator_name="alice")
    for row in ROWS:
        if row.foreign is not None:
            for found in answers(row, clients[-1:], all_fixtures):
                assert (found.method, found.foreign) == (row.method, row.foreign), row.address.text


def test_no_row_of_another_organisation_is_ever_answered_with_success() -> None:
    # 302 is the admin's way to its first page, or to the filtered audit trail; it says nothing about the row. 401 is
    # every session's answer where tokens are asked for.
    assert {row.foreign for row in ROWS} <= {None, 302, 401, 403, 404, 405}


def test_strangers_get_404_and_nobody_gets_an_error() -> None:
    assert all(row.statuses[1] == 404 for row in ROWS if not row.address.is_global)
    # Programs are told that nobody is signed in; people are led to the login.
    assert all(
        row.statuses[0] == (401 if "/api/" in row.address.text else 302) for row in ROWS if not row.address.is_global
    )
    assert all(status < 500 for row in ROWS for status in row.statuses)


def test_the_heads_of_pages_are_answered_like_the_pages(
    clients: list[Client], all_fixtures: tuple[Fixtures, Fixtures]
) -> None:
    for row in ROWS:
        if "GET" in row.methods and not row.address.is_global:
            where = row.address.filled(slug="acme", fixtures=all_fixtures[0])
            stranger, owner = clients[1], clients[-1]
            assert answer(stranger, "HEAD", where).status_code == 404, where
            assert answer(stranger, "OPTIONS", where).status_code == 404, where
            assert answer(owner, "OPTIONS", where).status_code < 500, where


# --- The table's own tests: a route without a line, a line without a route, a route without permission -------------


@public
def page(request: HttpRequest) -> HttpResponse:
    return HttpResponse("a page that says who may see it")


def undeclared(request: HttpRequest) -> HttpResponse:
    return HttpResponse("a page that does not")


def urlconf_with(monkeypatch: pytest.MonkeyPatch, *more: object) -> str:
    """A copy of the organisation's routes, with more of them. Its name is new: Django keeps resolvers by name."""
    module = ModuleType(f"tests.isolation.routes_{uuid.uuid4().hex}")
    vars(module)["urlpatterns"] = [*organisation_urls.urlpatterns, *more]
    monkeypatch.setitem(sys.modules, module.__name__, module)
    return module.__name__


def test_a_route_without_a_line_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    found = addresses(organisation_urlconf=urlconf_with(monkeypatch, path("new/<uuid:project_id>/", page)))
    assert missing_and_surplus(ROWS, found) == (
        [(f"{ORGANISATION}new/<project_id>/", "GET"), (f"{ORGANISATION}new/<project_id>/", "POST")],
        [],
    )


def test_a_line_without_a_route_is_found() -> None:
    line = read_table(f"\n\nGET {ORGANISATION}gone/ 302 404 200 200 200 200 -")
    assert missing_and_surplus([*ROWS, *line], addresses()) == ([], [f"GET {ORGANISATION}gone/"])
    assert missing_and_surplus([*ROWS, ROWS[0]], addresses())[1] == ["GET /", "POST /"]


def test_a_route_whose_place_nobody_can_fill_says_what_to_do(all_fixtures: tuple[Fixtures, Fixtures]) -> None:
    with pytest.raises(LookupError, match="what <sample_id> is filled with"):
        Address(f"{ORGANISATION}samples/<sample_id>/").filled(slug="acme", fixtures=all_fixtures[0])


def test_a_route_that_declares_no_permission_is_a_failed_check(
    monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    assert every_route_declares_a_permission(None) == []
    settings.ORGANISATION_URLCONF = urlconf_with(monkeypatch, path("open/", undeclared), path("page/", page))
    (problem,) = every_route_declares_a_permission(None)
    assert problem.id == "tenancy.E005"
    assert "'open/'" in problem.msg
