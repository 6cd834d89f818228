"""A task acts in the organisation from which it was sent, in a real prefork worker and in the calling process alike."""

import os
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.db import ProgrammingError, transaction
from pytest_django.plugin import DjangoDbBlocker

from accounts.models import Project
from potato_site.celery import app
from tenancy.actor import NOBODY, acting_in, current
from tests.tenancy import worker_app
from tests.tenancy.programs import PATIENCE_SECONDS, address_of, end_of, start
from tests.tenancy.test_acting import ACME, fails_closed, projects
from tests.tenancy.worker_app import (
    QUEUE,
    look_and_call,
    look_at_the_third_try,
    notes,
    store_and_fail,
    store_in_two_blocks,
)
from tests.tenants import Tenants

# celery-types know Celery's own task class alone, and only tuples of arguments.
look: Any = worker_app.look

needs_commits = pytest.mark.django_db(transaction=True)


@pytest.fixture(scope="module")
def worker(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """A worker with two processes and, as in production, a pool that must not cross the fork."""
    with django_db_blocker.unblock():
        environment = {
            "POTATO_MODE": "test",
            "DATABASE_URL": address_of(),
            "DATABASE_POOL_SIZE": "2",
            "BROKER_URL": os.environ["BROKER_URL"],
            "TESTS_TASK_QUEUE": QUEUE,
        }
    process = start(
        [
            sys.executable, "-m", "celery", "-A", "tests.tenancy.worker_app", "worker",
            "--pool", "prefork", "--concurrency", "2", "--queues", QUEUE,
            "--without-gossip", "--without-mingle", "--without-heartbeat", "--loglevel", "ERROR",
        ],
        environment,
    )  # fmt: skip
    try:
        yield
    finally:
        process.terminate()
        ending = end_of(process)
        print(ending.output)  # pytest shows it for a story that fails
    assert ending.code == 0


def noted(mark: str, how_many: int = 1) -> list[dict[str, Any]]:
    """The notes of that mark, as soon as there are so many."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while len(found := notes(mark)) < how_many:
        assert time.monotonic() < deadline, f"{len(found)} of {how_many} notes of {mark!r}"
        time.sleep(0.02)
    return found


def seen_by(tenants: Tenants) -> dict[str, str | list[str]]:
    """What a task of alice's in Acme sees."""
    key = str(tenants.acme.pk)
    return {"organisations": [key], "actor": key, "user": str(tenants.alice.pk)}


def part(note: dict[str, Any]) -> dict[str, Any]:
    return {key: note.get(key) for key in ("organisations", "actor", "user")}


@needs_commits
def test_a_task_and_those_it_calls_act_where_it_was_sent(committed_tenants: Tenants, worker: None) -> None:
    with acting_in(committed_tenants.acme, committed_tenants.alice):
        look_and_call.delay("parent")
        look.delay_on_commit("on commit")
    for mark in (
        "parent",
        "parent, called",
        "parent, called on commit",
        "parent, applied on commit",
        "parent, by signature",
        "on commit",
    ):
        assert [part(note) for note in noted(mark)] == [seen_by(committed_tenants)], mark


@needs_commits
def test_a_retried_task_still_acts_there(committed_tenants: Tenants, worker: None) -> None:
    with acting_in(committed_tenants.acme, committed_tenants.alice):
        look_at_the_third_try.delay("flaky")
    (note,) = noted("flaky")
    assert note["tries"] == 2
    assert part(note) == seen_by(committed_tenants)


@needs_commits
def test_a_task_can_be_told_where_to_act(committed_tenants: Tenants, worker: None) -> None:
    told = {"tenancy": [str(committed_tenants.birch.pk), None]}
    look.apply_async(["told"], headers=told)
    with acting_in(committed_tenants.acme, committed_tenants.alice):
        look.apply_async(["told otherwise"], headers=told)
    for mark in ("told", "told otherwise"):
        (note,) = noted(mark)
        assert part(note) == {
            "organisations": [str(committed_tenants.birch.pk)],
            "actor": str(committed_tenants.birch.pk),
            "user": "None",
        }


@needs_commits
def test_a_task_sent_from_nowhere_fails_closed_also_after_others(committed_tenants: Tenants, worker: None) -> None:
    with acting_in(committed_tenants.acme, committed_tenants.alice):
        for _ in range(4):
            look.delay("before")
    noted("before", 4)
    for _ in range(4):
        look.delay("from nowhere")
        app.send_task("tests.tenancy.worker_app.look", ["by name"], queue=QUEUE)
    assert [note.get("no_organisation") for note in noted("from nowhere", 4)] == [True] * 4
    assert [note.get("no_organisation") for note in noted("by name", 4)] == [True] * 4


@needs_commits
def test_a_task_that_fails_stores_nothing(committed_tenants: Tenants, worker: None) -> None:
    with acting_in(committed_tenants.acme):
        store_and_fail.delay("half")
        store_in_two_blocks.delay("two blocks")
        # The queue is in order, and there are two processes: both are done when these are.
        for _ in range(2):
            look_at_the_third_try.delay("afterwards")
    (note,) = noted("two blocks")
    assert note["outside"] == {"no_organisation": True}
    noted("afterwards", 2)
    with acting_in(committed_tenants.acme):
        assert sorted(Project.objects.values_list("slug", flat=True)) == ["first", "parser"]


@needs_commits
def test_two_organisations_in_turn_do_not_mix_in_the_workers_pool(committed_tenants: Tenants, worker: None) -> None:
    organisations = [committed_tenants.acme, committed_tenants.birch]
    for number in range(100):
        organisation = organisations[number % 2]
        with acting_in(organisation):
            look.delay(organisation.slug)
    found = {organisation.slug: noted(organisation.slug, 50) for organisation in organisations}
    for organisation in organisations:
        assert {tuple(note["organisations"]) for note in found[organisation.slug]} == {(str(organisation.pk),)}
    every = found["acme"] + found["birch"]
    assert len({note["process"] for note in every}) == 2
    # No connection was opened before the fork and shared after it.
    assert len({(note["process"], note["server"]) for note in every}) == len({note["server"] for note in every})


# --- In the calling process ---------------------------------------------------------------------------------------


@pytest.fixture
def eager() -> Iterator[None]:
    before = {name: getattr(app.conf, name) for name in ("task_always_eager", "task_eager_propagates")}
    app.conf.update(task_always_eager=True, task_eager_propagates=False)
    yield
    app.conf.update(before)


@pytest.mark.parametrize("send", [look.delay, lambda mark: look.apply(args=[mark])], ids=["delay", "apply"])
def test_an_eager_task_acts_where_it_is_called(tenants: Tenants, eager: None, send: Callable[[str], Any]) -> None:
    with acting_in(tenants.acme, tenants.alice):
        send("eager")
        assert projects() == ACME
    assert [part(note) for note in notes("eager")] == [seen_by(tenants)]


def test_an_eager_task_and_those_it_calls_act_where_it_was_sent(
    tenants: Tenants, eager: None, django_capture_on_commit_callbacks: Any
) -> None:
    with django_capture_on_commit_callbacks(execute=True), acting_in(tenants.acme, tenants.alice):
        look_and_call.delay("parent")
        look_at_the_third_try.delay("flaky")
        assert projects() == ACME
    for mark in ("parent", "parent, called", "parent, called on commit", "parent, applied on commit", "flaky"):
        assert part(notes(mark)[-1]) == seen_by(tenants), mark
    assert current() is NOBODY
    assert fails_closed()


def test_an_eager_task_that_fails_gives_the_organisation_back(tenants: Tenants, eager: None) -> None:
    with acting_in(tenants.acme, tenants.alice):
        store_and_fail.delay("half")
        assert projects() == ACME
        app.conf.task_eager_propagates = True
        with pytest.raises(ZeroDivisionError):
            store_and_fail.delay("half")
        assert projects() == ACME
    assert fails_closed()


def test_an_eager_task_sent_from_nowhere_fails_closed(tenants: Tenants, eager: None) -> None:
    look.delay("from nowhere")
    assert [note["no_organisation"] for note in notes("from nowhere")] == [True]
    app.conf.task_eager_propagates = True
    with pytest.raises(ProgrammingError), transaction.atomic():
        look_at_projects_without_a_net.delay()


@app.task
def look_at_projects_without_a_net() -> int:
    return Project.objects.count()
