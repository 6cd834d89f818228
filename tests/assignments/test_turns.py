"""Many who ask at the same moment: nobody is told that nothing is left while there is something."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Barrier, Event
from typing import Any, TypeVar

import pytest
from django.db import connection, connections
from django.utils import timezone

from accounts.models import Project, User
from assignments.actions import claiming, quotas
from assignments.actions.claiming import NothingToDo, Reason, claim_next
from assignments.actions.quotas import open_quotas
from assignments.actions.restoring import restore
from assignments.actions.withholding import offer_to
from assignments.actions.working import skip
from assignments.models import Assignment, Kind, Reservation, TraceQuota
from tenancy.actor import acting_in
from tests.assignments.conftest import Queue, annotators, submit
from tests.tenants import Tenants

CROWD = 32

Answer = TypeVar("Answer")


@pytest.fixture
def project(committed_tenants: Tenants) -> Project:
    """Acme's, published: each trace is for one annotator. It has no traces yet."""
    with acting_in(committed_tenants.acme, committed_tenants.alice):
        Queue(committed_tenants, committed_tenants.acme_project).publish()
    return committed_tenants.acme_project


def crowd(tenants: Tenants, project: Project, *, target: int, traces: int, opened: bool) -> list[User]:
    with acting_in(tenants.acme, tenants.alice):
        queue = Queue(tenants, project)
        queue.publish(target=target)
        queue.add_traces(traces)
        while opened and open_quotas(project=project):
            pass
        return annotators(CROWD)


def at_once(people: list[User], act: Callable[[User], list[Answer]]) -> list[Answer]:
    """What each of them is answered, all beginning at the same moment."""
    together = Barrier(len(people))

    def begin(person: User) -> list[Answer]:
        try:
            together.wait(30)
            return act(person)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(len(people)) as threads:
        return [answer for found in threads.map(begin, people) for answer in found]


def claims(tenants: Tenants, project: Project, *, each: int) -> Callable[[User], list[Assignment | NothingToDo]]:
    """So many tasks of one person from claim to submission, each act in a transaction that goes on for a moment, as a
    request's does.
    """

    def work(person: User) -> list[Assignment | NothingToDo]:
        answers = []
        for number in range(each):
            with acting_in(tenants.acme, person), connection.cursor() as cursor:
                given = claim_next(project=project, user=person)
                cursor.execute("SELECT pg_sleep(0.02)")
            answers.append(given)
            if isinstance(given, Assignment) and number + 1 < each:
                with acting_in(tenants.acme, person):
                    submit(given)
        return answers

    return work


class Holder:
    """Somebody who does something in a transaction in another thread, and ends it when told."""

    def __init__(self, threads: ThreadPoolExecutor, tenants: Tenants, act: Callable[[], object]) -> None:
        self._did, self._end = Event(), Event()
        self.ended = threads.submit(self._run, tenants, act)
        while not self._did.wait(0.01) and not self.ended.done():
            pass

    def end(self) -> None:
        self._end.set()
        self.ended.result(30)

    def _run(self, tenants: Tenants, act: Callable[[], object]) -> None:
        try:
            with acting_in(tenants.acme, tenants.alice):
                act()
                self._did.set()
                self._end.wait(30)
        finally:
            connections.close_all()


def claim_elsewhere(
    threads: ThreadPoolExecutor, tenants: Tenants, project: Project, person: User
) -> "Future[Assignment | NothingToDo]":
    def claim() -> Assignment | NothingToDo:
        try:
            with acting_in(tenants.acme, person):
                return claim_next(project=project, user=person)
        finally:
            connections.close_all()

    return threads.submit(claim)


def wait_until_somebody_waits_for_a_lock_or(future: "Future[Any]") -> None:
    while not future.done():
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM pg_locks WHERE NOT granted")
            if cursor.fetchone() != (0,):
                return


@pytest.mark.parametrize(
    ("target", "traces", "each"),
    [
        pytest.param(CROWD, 1, 1, id="all on one trace"),
        pytest.param(1, CROWD, 1, id="a trace for each"),
        pytest.param(4, 8, 1, id="a few on each trace"),
        pytest.param(1, CROWD * 6, 6, id="one task after the other"),
    ],
)
@pytest.mark.parametrize("opened", [True, False], ids=["in the queue", "not in the queue yet"])
def test_a_crowd_that_asks_at_once_for_as_many_places_as_are_there_is_served_to_the_last(
    committed_tenants: Tenants,
    project: Project,
    target: int,
    traces: int,
    each: int,
    opened: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(quotas, "OPENED_AT_ONCE", 20)
    # However slow the machine is: here the wait may be long, and its end is another story.
    monkeypatch.setattr(claiming, "PATIENCE_SECONDS", 60)
    people = crowd(committed_tenants, project, target=target, traces=traces, opened=opened)
    answers = at_once(people, claims(committed_tenants, project, each=each))
    assert [answer.reason for answer in answers if isinstance(answer, NothingToDo)] == []
    with acting_in(committed_tenants.acme):
        assert not TraceQuota.objects.for_project(project).free().exists()
        assert Assignment.objects.count() == CROWD * each


def test_whoever_asks_while_somebody_opens_the_queue_waits_for_it(committed_tenants: Tenants, project: Project) -> None:
    with acting_in(committed_tenants.acme, committed_tenants.alice):
        Queue(committed_tenants, project).add_traces(3)
    with ThreadPoolExecutor(2) as threads:
        opener = Holder(threads, committed_tenants, lambda: open_quotas(project=project))
        asked = claim_elsewhere(threads, committed_tenants, project, committed_tenants.bob)
        wait_until_somebody_waits_for_a_lock_or(asked)
        opener.end()
        assert isinstance(asked.result(30), Assignment), asked.result()


@pytest.mark.parametrize("ends", ["with the slot taken", "with the slot left"])
def test_whoever_asks_while_the_last_place_is_moved_waits_for_what_becomes_of_it(
    committed_tenants: Tenants, project: Project, ends: str
) -> None:
    with acting_in(committed_tenants.acme, committed_tenants.alice):
        Queue(committed_tenants, project).add_traces(1)
        open_quotas(project=project)

    def move() -> None:
        if ends == "with the slot taken":
            assert isinstance(claim_next(project=project, user=committed_tenants.alice), Assignment)
        else:
            TraceQuota.objects.select_for_update(no_key=True).get()

    with ThreadPoolExecutor(2) as threads:
        mover = Holder(threads, committed_tenants, move)
        asked = claim_elsewhere(threads, committed_tenants, project, committed_tenants.bob)
        wait_until_somebody_waits_for_a_lock_or(asked)
        mover.end()
        answer = asked.result(30)
    if ends == "with the slot taken":
        assert isinstance(answer, NothingToDo)
        assert answer.reason == Reason.WITH_OTHERS
        assert answer.again_at is not None
        assert answer.again_at > timezone.now()
    else:
        assert isinstance(answer, Assignment)


@pytest.mark.parametrize("held", ["the queue is being opened", "the last slot is being moved"])
def test_where_the_turn_does_not_come_the_answer_is_to_ask_again_and_not_that_nothing_is_left(
    committed_tenants: Tenants, project: Project, held: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claiming, "PATIENCE_SECONDS", 0.2)
    monkeypatch.setattr(claiming, "TURN_SECONDS", 0.05)
    with acting_in(committed_tenants.acme, committed_tenants.alice):
        Queue(committed_tenants, project).add_traces(1)
        if held == "the last slot is being moved":
            open_quotas(project=project)

    def hold() -> None:
        if held == "the last slot is being moved":
            TraceQuota.objects.select_for_update(no_key=True).get()
        else:
            open_quotas(project=project)

    with ThreadPoolExecutor(2) as threads:
        holder = Holder(threads, committed_tenants, hold)
        answer = claim_elsewhere(threads, committed_tenants, project, committed_tenants.bob).result(30)
        holder.end()
        assert answer == NothingToDo(Reason.BUSY)
        assert isinstance(
            claim_elsewhere(threads, committed_tenants, project, committed_tenants.bob).result(30), Assignment
        )


def test_a_claim_that_has_ended_offers_waits_for_no_other_slot_while_it_holds_those(
    committed_tenants: Tenants, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A manager who steers many traces waits for the slots that the claim holds: in a circle both would be cut off."""
    bob = committed_tenants.bob
    with acting_in(committed_tenants.acme, committed_tenants.alice):
        queue = Queue(committed_tenants, project)
        (skipped,) = queue.add_traces(1)
        given = claim_next(project=project, user=bob)
        assert isinstance(given, Assignment)
        skip(assignment=given, fencing_token=given.fencing_token, reason="Not my field")
        (other,) = queue.add_traces(1, prefix="other")
        open_quotas(project=project)
        offer_to(project=project, traces=[skipped.pk], people=[committed_tenants.alice.pk], days=1)
        Reservation.objects.update(until=timezone.now())

    def hold() -> None:
        TraceQuota.objects.select_for_update(no_key=True).get(trace=other)

    def waiting(walker: object) -> None:
        pytest.fail("it waits for a slot that somebody else holds")

    with ThreadPoolExecutor(2) as threads:
        holder = Holder(threads, committed_tenants, hold)
        monkeypatch.setattr(claiming, "_take_awaited", waiting)
        answer = claim_elsewhere(threads, committed_tenants, project, bob).result(30)
        holder.end()
        assert answer == NothingToDo(Reason.BUSY)
        again = claim_elsewhere(threads, committed_tenants, project, bob).result(30)
        assert isinstance(again, Assignment)
        assert again.trace_id == other.pk
    with acting_in(committed_tenants.acme):
        assert not Reservation.objects.exists(), "the offer has ended for good"


def test_a_claim_whose_turn_never_comes_ends(
    project: Project, committed_tenants: Tenants, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Others are always quicker: what is free is gone whenever the claim gets to it."""
    with acting_in(committed_tenants.acme, committed_tenants.alice):
        Queue(committed_tenants, project).add_traces(1)
        open_quotas(project=project)
        tries = []

        def never(position: object) -> None:
            tries.append(position)
            assert len(tries) < 1_000, "the claim goes on for ever"

        for name in ("take_next", "locked_anywhere", "_take_awaited"):
            monkeypatch.setattr(claiming, name, never)
        monkeypatch.setattr(claiming, "PATIENCE_SECONDS", 0.2)
        assert claim_next(project=project, user=committed_tenants.bob) == NothingToDo(Reason.BUSY)
    assert len(tries) > 2, "it tried more than once"


def test_waiting_for_a_turn_leaves_the_connection_as_patient_as_it_was(
    committed_tenants: Tenants, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    with acting_in(committed_tenants.acme, committed_tenants.bob), connection.cursor() as cursor:
        cursor.execute("SET LOCAL lock_timeout = '7s'")
        assert isinstance(claim_next(project=project, user=committed_tenants.bob), NothingToDo)
        cursor.execute("SHOW lock_timeout")
        assert cursor.fetchone() == ("7s",)


def test_an_archive_is_put_back_while_somebody_opens_the_queue(committed_tenants: Tenants, project: Project) -> None:
    with acting_in(committed_tenants.acme, committed_tenants.alice):
        (trace,) = Queue(committed_tenants, project).add_traces(1)
        version = project.versions.get()

    def put_back() -> bool:
        try:
            with acting_in(committed_tenants.acme, committed_tenants.alice):
                person, at = committed_tenants.bob, timezone.now()
                return restore(
                    project=project, trace=trace, user=person, version=version, kind=Kind.NORMAL, at=at, result={}
                )
        finally:
            connections.close_all()

    with ThreadPoolExecutor(2) as threads:
        opener = Holder(threads, committed_tenants, lambda: open_quotas(project=project))
        stored = threads.submit(put_back)
        wait_until_somebody_waits_for_a_lock_or(stored)
        opener.end()
        assert stored.result(30)
    with acting_in(committed_tenants.acme):
        assert TraceQuota.objects.get().done == 1
