"""Isolation in Python removed: with every filter of the querysets gone, no page shows a row of another organisation."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.db import models
from django.http import HttpResponse
from django.test import Client

from tenancy.actor import unscoped
from tenancy.checks import tenant_models
from tests.isolation.addresses import addresses
from tests.isolation.fixtures import make_fixtures
from tests.isolation.requests import answer, client_of
from tests.isolation.rows.fixtures import Fixtures
from tests.tenants import Tenants

# Lists are asked for everything too: sorted, searched for a letter that every row has, filtered by nothing.
QUERIES = ("", "?o=-1", "?q=a", "?all=")
ADMIN_LIST = re.compile(r"/admin/\w+/\w+/$")


@pytest.fixture
def all_fixtures(tenants: Tenants) -> tuple[Fixtures, Fixtures]:
    return make_fixtures(tenants)


@pytest.fixture
def no_filters(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Managers of tenant models give all rows, and so do the querysets' own methods; answers what was replaced."""
    replaced = []
    for model in tenant_models():
        for manager in model._meta.managers:
            monkeypatch.setattr(manager, "get_queryset", _everything(model, type(manager.get_queryset())))
        queryset = type(model._default_manager.get_queryset())
        for name in vars(queryset):
            if name == "visible_to":
                monkeypatch.setattr(queryset, name, lambda self, *args, **kwargs: self.all())
                replaced.append(f"{model._meta.label}.{name}")
    return replaced


def _everything(model: type[models.Model], queryset: type[Any]) -> Callable[[], Any]:
    return lambda: queryset(model)


DESCRIPTION = ("/api-reference/", "/openapi.yaml")


def marks(fixtures: Fixtures) -> tuple[str, ...]:
    """Words that stand in the rows of that fixtures alone."""
    return fixtures.mark, fixtures.organisation.name, f"Parser review of {fixtures.organisation.name}"


def pages(client: Client, slug: str, ids: Fixtures) -> dict[str, str]:
    """What every GET route under that slug answers when asked for the rows of that fixtures: headers and body."""
    asked = [
        address.filled(slug=slug, fixtures=ids) + query
        for address in addresses()
        for query in (QUERIES if ADMIN_LIST.search(address.text) else ("",))
    ]
    return {path: _text(answer(client, "GET", path), path) for path in asked}


def _text(response: HttpResponse, path: str) -> str:
    """All that was answered, but for the address, which a refusal repeats (`instance`) and who asked knows."""
    return f"{response.headers}\n{response.content.decode()}".replace(path, "")


def with_words_of(fixtures: Fixtures, found: dict[str, str]) -> list[str]:
    """But for the API's description, whose examples come from answers that tests were given."""
    shown = {path: text for path, text in found.items() if not path.endswith(DESCRIPTION)}
    return [path for path, text in shown.items() if any(word in text for word in marks(fixtures))]


def test_without_pythons_filters_no_page_shows_a_row_of_another_organisation(
    tenants: Tenants, all_fixtures: tuple[Fixtures, Fixtures], no_filters: list[str]
) -> None:
    assert "accounts.Project.visible_to" in no_filters
    acme, birch = all_fixtures
    for person, own, other in (
        (tenants.alice, acme, birch),
        (tenants.bob, acme, birch),
        (tenants.charlie, birch, acme),
    ):
        client = client_of(person)
        found = pages(client, own.organisation.slug, own)
        assert with_words_of(own, found), "a test that sees nothing proves nothing"
        assert with_words_of(other, found) == []
        shown_by_id = with_words_of(other, pages(client, own.organisation.slug, other))
        # A link to join is itself the right to see who invites.
        assert [path for path in shown_by_id if not path.startswith("/join/")] == []


def test_without_policies_the_same_requests_show_them(
    tenants: Tenants, all_fixtures: tuple[Fixtures, Fixtures], no_filters: list[str]
) -> None:
    """That is, the test above would see it."""
    acme, birch = all_fixtures
    client = client_of(tenants.alice)
    with unscoped("read past the policies as well"):
        shown = with_words_of(birch, pages(client, "acme", acme))
        shown_by_id = with_words_of(birch, pages(client, "acme", birch))
    assert f"/o/acme/admin/accounts/project/{birch.rows['accounts.Project'].pk}/change/" in shown_by_id
    assert {"/o/acme/admin/accounts/project/", "/o/acme/admin/jobs/job/?q=a"} <= set(shown)
