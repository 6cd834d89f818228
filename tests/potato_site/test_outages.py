"""While a server that the site needs is away, it says so and when to try again."""

import pytest
import redis
from django.db import OperationalError
from django.test import Client

from accounts import views
from potato_site.views import server_error
from tests.tenants import Tenants


@pytest.mark.parametrize("error", [OperationalError("connection refused"), redis.ConnectionError("connection refused")])
def test_an_outage_is_a_503_that_says_when_to_try_again(
    tenants: Tenants, client: Client, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    client.force_login(tenants.dora)
    client.raise_request_exception = False

    def away(*args: object, **kwargs: object) -> None:
        raise error

    monkeypatch.setattr(views, "acting_as", away)
    answer = client.get("/")
    assert answer.status_code == 503
    assert answer["Retry-After"] == "10"
    assert "Back in a moment" in answer.content.decode()


def test_any_other_error_stays_a_500(tenants: Tenants, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    client.force_login(tenants.dora)
    client.raise_request_exception = False
    monkeypatch.setattr(views, "acting_as", lambda user: 1 / 0)
    assert client.get("/").status_code == 500
    assert server_error(client.get("/").wsgi_request).status_code == 500
