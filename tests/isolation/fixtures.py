"""Rows of every tenant table, told apart by a word that stands in their text. A new tenant model brings its factory."""

from tenancy.actor import acting_in
from tests.isolation.rows import (
    accounts,
    adjudication,
    agreement,
    assignments,
    dashboard,
    exports,
    gold,
    jobs,
    leaving,
    rewards,
    traces,
    webhooks,
)
from tests.isolation.rows.fixtures import Factories, Fixtures
from tests.tenants import Tenants

_IN_ORDER_OF_KEYS = (
    accounts,
    jobs,
    traces,
    assignments,
    dashboard,
    rewards,
    agreement,
    gold,
    adjudication,
    exports,
    webhooks,
    leaving,
)
FACTORIES: Factories = {label: make for app in _IN_ORDER_OF_KEYS for label, make in app.FACTORIES.items()}


def make_fixtures(tenants: Tenants) -> tuple[Fixtures, Fixtures]:
    """Acme's and Birch's rows, one of every tenant model each."""
    all_fixtures = (
        Fixtures(tenants.acme, "quartz-acme", tenants.alice),
        Fixtures(tenants.birch, "walnut-birch", tenants.charlie),
    )
    for fixtures in all_fixtures:
        with acting_in(fixtures.organisation, fixtures.person):
            for label, make in FACTORIES.items():
                fixtures.rows[label] = make(fixtures)
    return all_fixtures
