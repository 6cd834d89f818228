"""Many rows in few statements, none of which carries more of large columns than a bound."""

import os

from django.db import connection
from django.test.utils import CaptureQueriesContext

from tenancy.actor import acting_in
from tenancy.bulk_insert import BYTES_A_STATEMENT, ROWS_A_STATEMENT, insert_many
from tenancy.models import new_id
from tests.tenants import Tenants
from traces.models import Body


def stored_in(sizes: list[int]) -> int:
    """How many statements stored bodies of these sizes, all of which are there then."""
    contents = {f"{number:064x}": os.urandom(min(size, 100)).ljust(size, b"x") for number, size in enumerate(sizes)}
    rows = ({"id": str(new_id()), "sha256": key, "packed": packed} for key, packed in contents.items())
    with CaptureQueriesContext(connection) as asked:
        insert_many(Body, rows)
    assert {body.sha256: bytes(body.packed) for body in Body.objects.all()} == contents
    return len(asked)


def test_rows_of_large_columns_go_in_several_statements_and_one_that_is_larger_alone(tenants: Tenants) -> None:
    third = BYTES_A_STATEMENT // 3
    with acting_in(tenants.acme):
        assert stored_in([third, third, third, third, BYTES_A_STATEMENT + 1, 1]) == 4


def test_small_rows_go_together(tenants: Tenants) -> None:
    with acting_in(tenants.acme):
        assert stored_in([1] * (ROWS_A_STATEMENT + 1)) == 2


def test_no_row_is_no_statement(tenants: Tenants) -> None:
    with acting_in(tenants.acme):
        assert stored_in([]) == 0
