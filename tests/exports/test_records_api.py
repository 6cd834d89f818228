"""Records over the API are the lines of the file that an export has, whatever page they stand on."""

from typing import Any

import pytest
from django.test import Client

from accounts.models import User
from assignments.actions.correcting import begin_correction, store_correction
from assignments.models import Submission
from tenancy.actor import acting_in
from tests.exports.conftest import ANSWERS, Reviews
from tests.exports.test_via import program

PATH = "/o/acme/api/v1/projects/parser/records/"


def caller(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def pages(client: Client, **asked: Any) -> list[bytes]:
    """The bodies of all pages, each reached by the header of the one before."""
    bodies, query = [], "&".join(f"{name}={value}" for name, value in asked.items())
    path: str | None = f"{PATH}?{query}"
    while path is not None:
        answer = client.get(path)
        assert (answer.status_code, answer.headers["Content-Type"]) == (200, "application/x-ndjson")
        bodies.append(answer.content)
        link = answer.headers.get("Link")
        path = None if link is None else f"{PATH}?{link.removeprefix('<').partition('>')[0].partition('?')[2]}"
    return bodies


def correct(reviews: Reviews, submission: Submission) -> None:
    mallory = reviews.tenants.mallory
    with acting_in(reviews.tenants.acme, mallory):
        work = begin_correction(submission=submission, user=mallory)
        store_correction(
            assignment=work, fencing_token=work.fencing_token, key="k", payload={}, result=submission.result
        )


@pytest.fixture
def judged(reviews: Reviews) -> Reviews:
    """Of two versions of a run and one with a strange name: by people and by a program, one of it corrected."""
    tenants = reviews.tenants
    reviews.publish(wanted=3)
    for name, model in (("a", "model-a"), ("a", "model-b"), ('Größe "x"', "model-a")):
        reviews.trace(name, model)
    rows = [reviews.submit(user) for user in (tenants.bob, tenants.dora, tenants.bob)]
    machine = program(reviews, "mallory")
    assert machine.submit(machine.claim(), ANSWERS).status_code == 201
    correct(reviews, rows[1])
    return reviews


def test_pages_of_any_length_are_the_lines_of_the_exported_file(
    judged: Reviews, monkeypatch: pytest.MonkeyPatch
) -> None:
    exported = judged.export("code_review", suffix=".jsonl")
    client = caller(judged.tenants.mallory)
    assert exported.count(b"\n") == 4
    for part in (b'"via":"token"', b'"corrected_by":"mallory"', b'"trace_version":2'):
        assert part in exported
    assert pages(client) == [exported]
    for rows in (1, 3):
        monkeypatch.setattr("exports.records_api.ROWS_AT_ONCE", rows)
        found = pages(client)
        assert b"".join(found) == exported
        assert [page.count(b"\n") for page in found] == ([1] * 4 if rows == 1 else [3, 1])
    monkeypatch.setattr("exports.records_api.PACKED_BYTES_AT_ONCE", 1)
    assert [page.count(b"\n") for page in pages(client)] == [1] * 4


def test_who_may_see_their_own_alone_gets_these_and_an_empty_project_has_no_line(judged: Reviews) -> None:
    own = b"".join(pages(caller(judged.tenants.bob)))
    assert own.count(b'"annotator":"bob"') == own.count(b"\n") == 2
    assert pages(caller(judged.tenants.mallory), mine=1)[0].count(b"\n") == 1
    assert caller(judged.tenants.alice).get(f"{PATH}?cursor=x").status_code == 400
    assert pages(caller(judged.tenants.alice), cursor="ffffffff-ffff-7fff-bfff-ffffffffffff") == [b""]
