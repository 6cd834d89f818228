"""What the routes of an annotator's loop ask of the database: a number that grows with nothing."""

from typing import Any

import pytest

from accounts.actions.tokens import make_token
from accounts.models import Membership
from tenancy.actor import acting_in
from tests.assignments.reviews import FILES, Api, api_of, documented, reviewed
from tests.review.evidence import numbered
from tests.tenants import Tenants
from tests.traces.stored import outcome

# In each number are 3 of the test's own transaction, and 3 for the session, the person and the membership.
NEXT, DRAFT, SUBMIT, RECORDS = 18, 12, 21, 9


def test_an_annotators_loop_asks_as_much_for_many_files_and_records_as_for_few(
    tenants: Tenants, django_assert_max_num_queries: Any
) -> None:
    runs = [[outcome(f"src/more{at}.py", "", numbered(5)) for at in range(files)] for files in (0, 0, 40, 5)]
    for number, more in enumerate(runs):
        reviewed(tenants.acme, tenants.acme_project, *FILES, *more, external_id=f"trace-{number}")
    api = api_of(tenants.bob)
    # The first claim makes the person's queue position and the traces' quotas; the configuration is read once.
    first = api.claim()
    api.save(first, {"answers": {}})
    api.submit(first, documented())
    for more in runs[1:]:
        answers = documented()
        answers["file_ratings"] |= {file.path: {"correctness": 3, "quality": 3} for file in more}
        answers["inline_comments"] += [
            {"file": file.path, "line_start": 1, "category": "bug", "comment": "x"} for file in more
        ]
        with django_assert_max_num_queries(NEXT):
            held = api.claim()
        for revision in range(2):
            with django_assert_max_num_queries(DRAFT):
                assert api.save(held, {"answers": answers}, revision).status_code == 200
        with django_assert_max_num_queries(SUBMIT):
            assert api.submit(held, answers).status_code == 201
        with django_assert_max_num_queries(RECORDS):
            api.get("projects/parser/annotations/")


@pytest.mark.parametrize("traces", [1, 5])
def test_lists_ask_as_much_for_many_as_for_one(
    tenants: Tenants, traces: int, django_assert_max_num_queries: Any
) -> None:
    for number in range(traces):
        reviewed(tenants.acme, tenants.acme_project, external_id=f"t{number}", assignment={"max_open": 5})
    api = api_of(tenants.bob)
    for _ in range(traces):
        api.post("projects/parser/next/", {"another": True})
    with django_assert_max_num_queries(8):
        assert len(api.get("assignments/").json()["results"]) == traces
    with django_assert_max_num_queries(15):
        api.get("projects/")


def test_a_token_costs_no_more_queries_than_a_session(tenants: Tenants, django_assert_max_num_queries: Any) -> None:
    reviewed(tenants.acme, tenants.acme_project)
    with acting_in(tenants.acme, tenants.alice):
        membership = Membership.objects.get(organisation=tenants.acme, user=tenants.bob)
        _, text = make_token(membership=membership, name="a program", by_owner=True)
    api = Api(api_of(None).client, "/api/v1/", {"Authorization": f"Bearer {text}"})
    api.get("assignments/")
    for caller in (api, api_of(tenants.bob)):
        with django_assert_max_num_queries(8):
            caller.get("assignments/")
