"""What a large project's overview asks again and again is kept for a minute; a small one is read anew."""

from collections.abc import Iterator

import pytest
from django.core.cache import cache
from django.core.cache.backends.redis import RedisCache
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from dashboard import figure_cache
from tests.assignments.conftest import Queue, submit
from tests.dashboard.reviews import deliver, publish_review
from tests.dashboard.test_project_page import PAGE


@pytest.fixture(autouse=True)
def emptied_cache() -> Iterator[None]:
    cache.clear()
    yield
    cache.clear()


def medians_asked(client: Client) -> int:
    with CaptureQueriesContext(connection) as queries:
        assert client.get(f"{PAGE}live/").status_code == 200
    return sum("PERCENTILE_CONT" in query["sql"] for query in queries)


def test_polling_a_large_project_goes_through_its_annotations_once_a_minute(
    queue: Queue, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish_review(queue)
    submit(queue.claimed(queue.tenants.bob))
    deliver(queue)
    client.force_login(queue.tenants.mallory)
    assert [medians_asked(client) for _ in range(2)] == [2, 2]

    monkeypatch.setattr(figure_cache, "KEPT_FROM", 1)
    assert [medians_asked(client) for _ in range(3)] == [2, 0, 0]
    cache.clear()
    assert medians_asked(client) == 2, "and again when the minute is over"


def test_an_overview_needs_no_cache(queue: Queue, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    publish_review(queue)
    client.force_login(queue.tenants.mallory)
    monkeypatch.setattr(figure_cache, "KEPT_FROM", 0)
    monkeypatch.setattr(figure_cache, "cache", RedisCache("unix:///nowhere", {}))
    assert medians_asked(client) == 2
