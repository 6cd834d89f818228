"""/readyz is green when what the site stands on takes writes, and asking often makes no work."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
import redis
from django.conf import settings as live
from django.db import connection, transaction
from django.test import Client
from pytest_django import Settings

from potato_site import health
from potato_site.health import _TRY_A_WRITE, Readiness
from tests.tenancy.databases import connected, web_role_address


@pytest.fixture
def as_web(transactional_db: None) -> Iterator[None]:
    with connected(**web_role_address(), OPTIONS={}):
        yield


def ready() -> Any:
    """Of a process that was never asked before."""
    return Client().get("/readyz", REMOTE_ADDR="127.0.0.1")


def test_a_site_that_takes_writes_is_ready(as_web: None) -> None:
    answer = ready()
    assert (answer.status_code, answer.json()) == (200, {"database": True, "broker": True, "uploads": True})


def test_a_database_that_may_only_be_read_is_not_ready(transactional_db: None) -> None:
    with connected(**web_role_address(), OPTIONS={"options": "-c default_transaction_read_only=on"}):
        answer = ready()
    assert (answer.status_code, answer.json()["database"]) == (503, False)


def test_what_is_tried_takes_room_on_the_disk_and_leaves_nothing(as_web: None) -> None:
    (sort,) = (statement for statement in _TRY_A_WRITE if "ORDER BY" in statement)
    with transaction.atomic(), connection.cursor() as cursor:
        for statement in _TRY_A_WRITE[: _TRY_A_WRITE.index(sort)]:
            cursor.execute(statement)
        cursor.execute(f"EXPLAIN (ANALYZE) {sort}")
        plan = "\n".join(line for (line,) in cursor.fetchall())
    assert "external merge  Disk:" in plan


def test_a_disk_without_room_for_it_is_not_ready(as_web: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "_TRY_A_WRITE", ("DO $$ BEGIN RAISE SQLSTATE '53100'; END $$",))
    answer = ready()
    assert (answer.status_code, answer.json()["database"]) == (503, False)
    assert issubclass(psycopg.errors.DiskFull, psycopg.OperationalError)


@pytest.mark.skipif(live.BROKER_URL.startswith("memory://"), reason="the tests run without a broker")
def test_a_broker_that_refuses_writes_is_not_ready(as_web: None) -> None:
    with redis.Redis.from_url(live.BROKER_URL.replace("redis+socket://", "unix://")) as broker:
        broker.config_set("min-replicas-to-write", 1)
        try:
            answer = ready()
        finally:
            broker.config_set("min-replicas-to-write", 0)
    assert (answer.status_code, answer.json()["broker"]) == (503, False)
    assert ready().status_code == 200


def test_a_full_disk_of_uploads_is_said_and_annotators_go_on(as_web: None, settings: Settings) -> None:
    settings.MEDIA_ROOT = Path("/proc/nothing")
    answer = ready()
    assert (answer.status_code, answer.json()["uploads"]) == (200, False)


def test_who_asks_often_gets_what_was_found_a_moment_ago(monkeypatch: pytest.MonkeyPatch) -> None:
    now: list[float] = [1000.0]
    looks: list[str] = []

    def looked() -> bool:
        looks.append("look")
        return True

    monkeypatch.setattr("potato_site.health.time.monotonic", lambda: now[0])
    for name in ("_database_takes_writes", "_broker_takes_writes", "_disk_takes_writes"):
        monkeypatch.setattr(health, name, looked)
    readiness = Readiness()
    for _ in range(100):
        assert readiness.now()["database"]
    assert len(looks) == 3
    now[0] += health.READY_SECONDS + 1
    readiness.now()
    assert len(looks) == 6


def test_a_database_that_does_not_answer_holds_one_thread_and_not_all(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, goes_on = threading.Event(), threading.Event()

    def slow() -> bool:
        asked.set()
        return goes_on.wait(30)

    monkeypatch.setattr(health, "_database_takes_writes", lambda: True)
    monkeypatch.setattr(health, "_broker_takes_writes", lambda: True)
    readiness = Readiness()
    readiness.now()
    readiness._until = 0.0
    monkeypatch.setattr(health, "_database_takes_writes", slow)
    first = threading.Thread(target=readiness.now)
    first.start()
    assert asked.wait(30)
    assert readiness.now() == {"database": True, "broker": True, "uploads": True}, "what was found before"
    goes_on.set()
    first.join()
