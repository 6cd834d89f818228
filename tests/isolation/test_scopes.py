"""Every route of the API, asked with tokens of one scope each: what a token was not made for, it does not open."""

from typing import Any

import pytest
from django.test import Client
from django.urls import resolve

from accounts.actions.tokens import make_token
from accounts.api.views import ApiView
from accounts.models import Membership
from tenancy.actor import acting_in
from tenancy.roles import RIGHTS, SCOPE_RIGHTS, Right, Role, TokenScope, scopes_for
from tests.isolation.fixtures import make_fixtures
from tests.isolation.permission_table import ROWS
from tests.isolation.requests import answer
from tests.isolation.rows.fixtures import Fixtures
from tests.isolation.scope_table import SCOPES
from tests.tenants import Tenants

ROUTES = [row.address for row in ROWS if row.address.text.startswith("/api/v1/")]
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")


@pytest.fixture
def acme(tenants: Tenants) -> Fixtures:
    return make_fixtures(tenants)[0]


@pytest.fixture
def clients(tenants: Tenants) -> dict[str, Client]:
    """One of each scope, all as the owner."""
    with acting_in(tenants.acme, tenants.alice):
        owner = Membership.objects.get(user=tenants.alice)
        texts = {
            str(scope): make_token(membership=owner, name=str(scope), by_owner=True, scopes=[scope])[1]
            for scope in TokenScope
        }
    return {
        scope: Client(raise_request_exception=False, headers={"Authorization": f"Bearer {text}"})
        for scope, text in texts.items()
    }


def methods(where: str) -> list[str]:
    view: type[ApiView] = resolve(where).func.cls  # type: ignore[attr-defined]  # of a class-based view
    return [method for method in METHODS if method.lower() in view.http_method_names and hasattr(view, method.lower())]


def test_each_route_is_opened_by_the_scopes_of_the_table_and_by_no_other(
    acme: Fixtures, clients: dict[str, Client]
) -> None:
    opened: dict[tuple[str, str], frozenset[str]] = {}
    for address in ROUTES:
        where = address.filled(slug="acme", fixtures=acme)
        for method in methods(where):
            answers: dict[str, Any] = {scope: answer(client, method, where) for scope, client in clients.items()}
            refused = {scope for scope, one in answers.items() if is_refused(one)}
            opened[method, address.text] = frozenset(clients) - refused
    changed = {pair: scopes for pair, scopes in opened.items() if SCOPES.get(pair) != scopes}
    gone = sorted(SCOPES.keys() - opened.keys())
    lines = "\n".join(f"{method:<7}{text:<76} {' '.join(sorted(scopes))}" for (method, text), scopes in changed.items())
    assert not changed, "these lines of tests/isolation/scope_table.py are missing or not of today:\n" + lines
    assert not gone, f"these have no route: {gone}"


def is_refused(one: Any) -> bool:
    return one.status_code == 403 and b'"code":"scope_needed"' in one.content


def test_every_right_is_of_a_scope_and_reading_alone_changes_nothing() -> None:
    assert frozenset().union(*SCOPE_RIGHTS.values()) | {
        Right.SEE_ORGANISATION,
        Right.SEE_TRACES,
        Right.SEE_ANNOTATIONS,
    } == set(Right)
    assert all(scopes_for(right, is_change=False) for right in Right)
    assert not any(TokenScope.READ in scopes_for(right, is_change=True) for right in Right)
    assert TokenScope.READ not in scopes_for(Right.SEE_AUDIT, is_change=False)
    assert all(
        TokenScope.ADMIN in scopes_for(right, is_change=True) for right in RIGHTS[Role.OWNER] - RIGHTS[Role.MANAGER]
    )


def test_no_route_is_closed_to_every_token() -> None:
    assert not [pair for pair, scopes in SCOPES.items() if not scopes]
