"""`Idempotency-Key`: whatever is lost on the way, what a program asks for is done once."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.test import Client
from django.utils import timezone

from accounts.actions.tokens import make_token
from accounts.models import ApiToken, IdempotencyKey, Membership
from jobs import sweeps
from tenancy.actor import Actor, acting_in
from tests.tenants import Tenants

ACCOUNTS = "/api/v1/service-accounts/"


def asked_as(text: object, path: str, body: Any, key: str | None = "key-1") -> Any:
    more = {} if key is None else {"Idempotency-Key": key}
    client = Client(headers={"Authorization": f"Bearer {text}"})
    return client.post(path, body, content_type="application/json", headers=more)


@pytest.fixture
def token(tenants: Tenants) -> str:
    return token_of(tenants)


def token_of(tenants: Tenants) -> str:
    with acting_in(tenants.acme, tenants.alice):
        member = Membership.objects.get(user=tenants.dora)
        return str(make_token(membership=member, name="a program", by_owner=True)[1])


def robots(tenants: Tenants) -> list[str]:
    with acting_in(tenants.acme):
        return [row.annotator_name for row in Membership.objects.filter(role="service").order_by("pk")]


def test_the_same_request_again_is_answered_the_same_and_does_nothing(tenants: Tenants, token: str) -> None:
    first = asked_as(token, ACCOUNTS, {"name": "robot"})
    again = asked_as(token, ACCOUNTS, {"name": "robot"})
    assert (first.status_code, again.status_code) == (201, 201)
    assert first.content == again.content
    assert first.get("Location") == again.get("Location")
    assert ("Idempotency-Replayed" in first, again["Idempotency-Replayed"]) == (False, "true")
    assert robots(tenants) == ["robot"]
    assert asked_as(token, ACCOUNTS, {"name": "robot"}, key="key-2").status_code == 400, "the name is taken"
    assert asked_as(token, ACCOUNTS, {"name": "robot"}, key=None).status_code == 400


def test_a_key_is_of_one_request_and_one_caller(tenants: Tenants, token: str) -> None:
    assert asked_as(token, ACCOUNTS, {"name": "robot"}).status_code == 201
    another = asked_as(token, ACCOUNTS, {"name": "other"})
    assert (another.status_code, another.json()["code"]) == (422, "idempotency_key_reused")
    elsewhere = asked_as(token, "/api/v1/projects/", {"name": "robot"})
    assert (elsewhere.status_code, elsewhere.json()["code"]) == (422, "idempotency_key_reused")
    assert asked_as(token_of(tenants), ACCOUNTS, {"name": "other"}).status_code == 201
    wrong = asked_as(token, ACCOUNTS, {"name": "third"}, key="with a space")
    assert (wrong.status_code, wrong.json()["code"]) == (400, "idempotency_key_needed")
    assert robots(tenants) == ["robot", "other"]


def test_a_refusal_leaves_its_key_free(tenants: Tenants, token: str) -> None:
    assert asked_as(token, ACCOUNTS, {"name": "no good name!"}).status_code == 400
    assert asked_as(token, ACCOUNTS, {"name": "robot"}).status_code == 201


def test_a_secret_is_not_kept_for_a_second_answer(tenants: Tenants, token: str) -> None:
    new = {"name": "nightly", "acts_as": "dora", "scopes": ["read"]}
    first = asked_as(token, "/api/v1/tokens/", new)
    assert first.status_code == 201
    secret = first.json()["text"]
    again = asked_as(token, "/api/v1/tokens/", new)
    assert (again.status_code, again.json()["code"]) == (409, "answer_not_kept")
    assert again.json()["location"] == first["Location"]
    assert secret not in again.content.decode()
    with acting_in(tenants.acme):
        assert ApiToken.objects.filter(name="nightly").count() == 1
        assert [bytes(row.packed) for row in IdempotencyKey.objects.all()] == [b""]


def test_a_key_has_its_day(tenants: Tenants, token: str) -> None:
    assert asked_as(token, ACCOUNTS, {"name": "robot"}).status_code == 201
    sweep = sweeps.named("accounts.keys")
    assert sweep.organisations() == []
    with time_machine.travel(timezone.now() + timedelta(hours=25), tick=False):
        assert asked_as(token, ACCOUNTS, {"name": "other"}).status_code == 201, "the old key is over"
    with acting_in(tenants.acme):
        IdempotencyKey.objects.update(expires_at=timezone.now() - timedelta(days=1))
    assert sweep.organisations() == [tenants.acme.pk]
    sweep.run(Actor(tenants.acme.pk, (tenants.acme.pk,), None))
    assert sweep.organisations() == []


@pytest.mark.django_db(transaction=True)
def test_many_of_the_same_request_at_once_are_one(committed_tenants: Tenants) -> None:
    text = token_of(committed_tenants)

    def ask(number: int) -> tuple[int, bytes]:
        try:
            answer = asked_as(text, ACCOUNTS, {"name": "robot"})
            return answer.status_code, answer.content
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as threads:
        answers = set(threads.map(ask, range(8)))
    assert len(answers) == 1
    assert answers.pop()[0] == 201
    assert robots(committed_tenants) == ["robot"]
