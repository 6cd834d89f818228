"""What the lists of the API ask of the database: few queries, and not more of them for more rows."""

import pytest
from django.test import Client

from accounts.actions.tokens import make_token
from accounts.models import Membership
from tenancy.actor import acting_in
from tests.exports.seeding import seed
from tests.isolation.fixtures import make_fixtures
from tests.isolation.rows.fixtures import Fixtures
from tests.list_routes import MOST_QUERIES, list_address, list_routes, queries_of_list
from tests.many_rows import COPIED, copy_rows
from tests.tenants import Tenants

MORE = 20


@pytest.fixture
def acme(tenants: Tenants) -> Fixtures:
    return make_fixtures(tenants)[0]


@pytest.fixture
def program(tenants: Tenants) -> Client:
    """With a token of the owner, who may read all lists."""
    with acting_in(tenants.acme, tenants.alice):
        member = Membership.objects.get(user=tenants.alice)
        _, token = make_token(membership=member, name="lists", by_owner=True)
    return Client(headers={"Authorization": f"Bearer {token}"})


def costs(program: Client, acme: Fixtures) -> dict[str, list[str]]:
    told = {}
    for path in list_routes():
        asked, answer = queries_of_list(program, list_address(path, acme))
        assert answer.status_code == 200, (path, answer.status_code)
        told[path] = asked
    return told


def test_no_list_takes_more_queries_than_allowed_nor_more_for_more_rows(
    tenants: Tenants, acme: Fixtures, program: Client
) -> None:
    costs(program, acme)  # What a process asks once.
    few = costs(program, acme)
    seed(tenants.acme, acme.rows["accounts.Project"], MORE)
    with acting_in(tenants.acme, tenants.alice):
        refused = {table: problem for table in COPIED if (problem := copy_rows(table, MORE, acme))}
    assert not refused
    many = costs(program, acme)
    assert {path: len(asked) for path, asked in many.items() if len(asked) > MOST_QUERIES} == {}
    more = {path: asked for path, asked in many.items() if len(asked) > len(few[path]) + 2}
    assert more == {}
