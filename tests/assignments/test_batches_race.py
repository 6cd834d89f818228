"""Sixty-four who claim at once from batches of every order, while these are paused, withdrawn and given back, and are
cut off at any moment: nothing twice, nothing lost, nothing of what is paused or withdrawn, and nobody is told that
nothing is left while a slot is free for them."""

import random
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from threading import Lock
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from django.db import DatabaseError, connection, connections

from accounts.models import Project, User
from assignments.actions.claiming import NothingToDo, Reason, claim_next
from assignments.actions.quotas import open_quotas
from assignments.actions.releasing import withdraw_batch
from assignments.actions.steering import pause_batch, resume_batch
from assignments.actions.submitting import store_submission
from assignments.actions.withholding import undo
from assignments.actions.working import release, skip
from assignments.errors import NotOpen, TakenOver
from assignments.models import (
    Assignment,
    Batch,
    BatchPerson,
    BatchState,
    Order,
    Priority,
    SteeringAct,
    Submission,
    TraceQuota,
)
from assignments.models.queue import RANKS_A_LEVEL
from tenancy.actor import Actor, acting, acting_in
from tenancy.errors import Refused
from tests.assignments.conftest import Queue, annotators
from tests.tenants import Tenants

THREADS, PEOPLE, CLAIMS, KILLS = 64, 96, 2_000, 60
TRACES, WANTED = 300, 3

# Written apart from the product's own statements, to be their second opinion: what a person may be given now, with the
# transactions that last changed it and its batch.
FREE_FOR = """
SELECT q.trace_id, q.xmin::text, b.xmin::text
  FROM assignments_tracequota q JOIN assignments_batch b ON b.id = q.batch_id
 WHERE q.project_id = %(project)s AND b.state = 'open' AND q.withheld = '' AND q.active + q.done < q.target
   AND (NOT b.is_restricted OR %(user)s IN (SELECT user_id FROM assignments_batchperson WHERE batch_id = b.id))
   AND q.trace_id NOT IN (SELECT trace_id FROM assignments_assignment
     WHERE user_id = %(user)s AND state IN ('claimed', 'submitted', 'skipped'))
"""
# What a person is given no task of, unless they hold it, with the transaction that last changed its batch.
CLOSED = """
SELECT q.trace_id, b.xmin::text FROM assignments_tracequota q JOIN assignments_batch b ON b.id = q.batch_id
 WHERE q.project_id = %(project)s AND b.state <> 'open'
   AND q.trace_id NOT IN (SELECT trace_id FROM assignments_assignment WHERE user_id = %(user)s AND state = 'claimed')
"""
BATCH_OF = """
SELECT b.xmin::text FROM assignments_tracequota q JOIN assignments_batch b ON b.id = q.batch_id
 WHERE q.trace_id = %(trace)s
"""
COUNTS_SQL = """
SELECT q.active, q.done, q.target,
  (SELECT count(*) FROM assignments_assignment a WHERE a.trace_id = q.trace_id AND a.state = 'claimed'),
  (SELECT count(*) FROM assignments_submission s JOIN assignments_assignment a ON a.id = s.assignment_id
    WHERE a.trace_id = q.trace_id AND NOT s.is_surplus),
  (SELECT count(DISTINCT a.user_id) FROM assignments_submission s
    JOIN assignments_assignment a ON a.id = s.assignment_id
    WHERE a.trace_id = q.trace_id AND NOT s.is_surplus)
  FROM assignments_tracequota q WHERE q.project_id = %(project)s
"""


class KilledError(Exception):
    """The process dies here, before its transaction is over."""


@dataclass
class Race:
    actor: Actor
    project: Project
    people: list[User]
    counts: Counter[str] = field(default_factory=Counter)
    acknowledged: list[UUID] = field(default_factory=list)
    wrong_answers: list[str] = field(default_factory=list)
    claims: defaultdict[tuple[UUID, int], set[int]] = field(default_factory=lambda: defaultdict(set))
    """The threads that each claim, by its assignment and token, was answered to: a person plays in several."""
    from_closed: set[tuple[UUID, int]] = field(default_factory=set)
    """Claims of traces whose batch had been closed before the person asked, and since."""
    finished: set[UUID] = field(default_factory=set)
    """Those who were told that nothing is left for them, since the last slot came free again."""
    freed: int = 0
    """How often slots came free again."""
    withdrawals: list[SteeringAct] = field(default_factory=list)
    lock: Lock = field(default_factory=Lock)

    def count(self, what: str) -> int:
        with self.lock:
            self.counts[what] += 1
            return self.counts[what]

    def free_again(self) -> None:
        with self.lock:
            self.freed += 1
            self.finished.clear()

    def finish(self, person: User, freed: int) -> None:
        """The person was told so, unless slots came free again since they asked."""
        with self.lock:
            if freed == self.freed:
                self.finished.add(person.pk)

    def answer(self, claim: tuple[UUID, int], thread: int, *, from_closed: bool) -> None:
        with self.lock:
            self.claims[claim].add(thread)
            if from_closed:
                self.from_closed.add(claim)

    def given_from_closed(self) -> list[tuple[UUID, int]]:
        """What was claimed of a closed batch. What two threads were answered is what the person held already: the one
        that claimed it may have seen the batch open, while the other asked after it was closed."""
        return [claim for claim in self.from_closed if len(self.claims[claim]) == 1]

    def free_for(self, person: User) -> set[tuple[UUID, str, str]]:
        with acting(self.actor), connection.cursor() as cursor:
            cursor.execute(FREE_FOR, {"project": self.project.pk, "user": person.pk})
            return set(cursor.fetchall())

    def closed_for(self, person: User) -> set[tuple[UUID, str]]:
        with acting(self.actor), connection.cursor() as cursor:
            cursor.execute(CLOSED, {"project": self.project.pk, "user": person.pk})
            return set(cursor.fetchall())

    def batch_of(self, given: Assignment) -> str:
        """The transaction that last changed the batch of what was given."""
        with acting(self.actor), connection.cursor() as cursor:
            cursor.execute(BATCH_OF, {"trace": given.trace_id})
            return str((cursor.fetchone() or ("",))[0])

    @contextmanager
    def transaction(self, rng: random.Random, what: str) -> Iterator[None]:
        """One request, which now and then is killed: before its end, or with its connection to the database."""
        dies = rng.random() < 0.05
        try:
            with acting(self.actor):
                yield
                if dies:
                    self.count("killed")
                    if rng.random() < 0.5:
                        connection.connection.close()
                    raise KilledError
        except (KilledError, DatabaseError, psycopg.Error):
            if not dies:
                raise
            connection.close()
            raise KilledError from None
        self.count(what)


def play(race: Race, seed: int, *, steers: bool) -> None:
    rng = random.Random(seed)  # noqa: S311
    try:
        while left := [person for person in race.people if person.pk not in race.finished]:
            if steers and rng.random() < 0.02:
                _steer(race, rng)
            person, freed = rng.choice(left), race.freed
            if _turn(race, person, rng, seed) is not None:
                race.finish(person, freed)
    finally:
        connections.close_all()


def _turn(race: Race, person: User, rng: random.Random, thread: int) -> Reason | None:
    is_watched = rng.random() < 0.3
    before = race.free_for(person) if is_watched else set()
    closed = race.closed_for(person) if is_watched else set()
    given: Assignment | NothingToDo | None = None
    try:
        with race.transaction(rng, "asked"):
            given = claim_next(project=race.project, user=person)
    except KilledError:
        return None
    if isinstance(given, NothingToDo):
        # What was free before and after, and nobody has touched between, was free when the answer was made.
        if given.reason != Reason.BUSY and (left := before & race.free_for(person)):
            race.wrong_answers.append(f"{given.reason} although {len(left)} are free")
        return None if given.reason == Reason.BUSY else given.reason
    assert given is not None
    race.count("claim")
    # Nothing of its batch has changed since the person, who did not hold the trace, asked.
    is_from_closed = is_watched and (given.trace_id, race.batch_of(given)) in closed
    race.answer((given.pk, given.fencing_token), thread, from_closed=is_from_closed)
    chance = rng.random()
    try:
        if chance < 0.06:
            with race.transaction(rng, "skip"):
                skip(assignment=given, fencing_token=given.fencing_token, reason="not my field")
            race.free_again()
        elif chance < 0.16:
            with race.transaction(rng, "release"):
                release(assignment=given, fencing_token=given.fencing_token)
            race.free_again()
        else:
            submission = None
            with race.transaction(rng, "submit"):
                submission = store_submission(
                    assignment=given, fencing_token=given.fencing_token, key=str(uuid4()), payload={}, result={}
                )
            assert submission is not None
            with race.lock:
                race.acknowledged.append(submission.pk)
    except KilledError:
        pass
    except (NotOpen, TakenOver) as refused:
        # A person in two threads: the other one was quicker.
        race.count(f"refused: {refused.code}")
    return None


def _steer(race: Race, rng: random.Random) -> None:
    """Pause a batch, let one go on, withdraw one, or take a withdrawal back."""
    with race.lock:
        withdrawal = race.withdrawals.pop() if race.withdrawals and rng.random() < 0.7 else None
    try:
        with race.transaction(rng, "steered"):
            if withdrawal is not None:
                undo(act=withdrawal)
            else:
                batch = rng.choice(list(Batch.objects.for_project(race.project).filter(number__gt=1)))
                action = rng.choice((pause_batch, resume_batch, resume_batch, withdraw_batch))
                act = action(batch=batch)
        if withdrawal is None and isinstance(act, SteeringAct):
            with race.lock:
                race.withdrawals.append(act)
    except KilledError:
        if withdrawal is not None:
            with race.lock:
                race.withdrawals.append(withdrawal)
    except Refused:
        # Somebody else was quicker, or it is too late for an undo.
        race.count("steering refused")
    race.free_again()


def _open_all(race: Race) -> None:
    """Everything that is withdrawn or paused is given out after all, as far as it can be."""
    with acting(race.actor):
        for act in race.withdrawals:
            with suppress(Refused):
                undo(act=act)
        for batch in Batch.objects.for_project(race.project).filter(state=BatchState.PAUSED):
            resume_batch(batch=batch)
    race.withdrawals.clear()
    race.free_again()


def _batches(tenants: Tenants, project: Project, people: list[User]) -> None:
    """One of each order, of each priority, for everybody and for some; one that is paused and one that waits."""
    facts: list[dict[str, Any]] = [
        {"order": Order.IMPORTED, "priority": Priority.NORMAL},
        {"order": Order.RANDOM, "priority": Priority.HIGH},
        {"order": Order.FEWEST, "priority": Priority.HIGH, "is_restricted": True},
        {"order": Order.RANDOM, "priority": Priority.LOW, "is_restricted": True},
        {"order": Order.FEWEST, "priority": Priority.URGENT},
        {"order": Order.IMPORTED, "priority": Priority.URGENT, "state": BatchState.PAUSED},
    ]
    quotas = list(TraceQuota.objects.for_project(project).order_by("trace"))
    size = len(quotas) // len(facts)
    for number, fact in enumerate(facts, 2):
        batch = Batch.objects.create(
            **{
                "project": project,
                "number": number,
                "name": str(number),
                "state": BatchState.OPEN,
                "last_rank": size,
                **fact,
            }
        )
        for person in people[number::3] if batch.is_restricted else ():
            BatchPerson.objects.create(batch=batch, user=person)
        for rank in range(1, size + 1):
            quota = quotas.pop()
            step = RANKS_A_LEVEL if batch.order == Order.FEWEST else 0
            TraceQuota.objects.filter(pk=quota.pk).update(batch=batch, rank=rank, rank_step=step)


@pytest.mark.timeout(900)
def test_sixty_four_threads_claim_from_batches_and_are_killed_at_random(committed_tenants: Tenants) -> None:
    with acting_in(committed_tenants.acme):
        people = annotators(PEOPLE)
    claims, killed, round_ = 0, 0, 0
    while claims < CLAIMS or killed < KILLS:
        with acting_in(committed_tenants.acme, committed_tenants.alice) as actor:
            queue = Queue(committed_tenants, Project.objects.create(slug=f"round-{round_}", name="Round"))
            queue.publish(target=WANTED)
            queue.add_traces(TRACES)
            while open_quotas(project=queue.project):
                pass
            _batches(committed_tenants, queue.project, people)
        race = Race(actor, queue.project, people[round_ % 3 :: 3])
        _play_all(race, round_, steers=True)
        assert race.wrong_answers == []
        assert race.given_from_closed() == []
        _open_all(race)
        _play_all(race, round_, steers=False)
        assert race.wrong_answers == []
        _look_at(race)
        claims += race.counts["claim"]
        killed += race.counts["killed"]
        round_ += 1
        print(f"round {round_}: {dict(race.counts)}")


def _play_all(race: Race, round_: int, *, steers: bool) -> None:
    with ThreadPoolExecutor(THREADS) as threads:
        seeds = range(round_ * THREADS, (round_ + 1) * THREADS)
        players = [threads.submit(play, race, seed, steers=steers) for seed in seeds]
        for player in players:
            player.result(timeout=600)


def _look_at(race: Race) -> None:
    with acting(race.actor), connection.cursor() as cursor:
        cursor.execute(COUNTS_SQL, {"project": race.project.pk})
        rows = cursor.fetchall()
        stored = set(Submission.objects.for_project(race.project).values_list("pk", flat=True))
    assert len(rows) == TRACES
    for active, done, target, claimed, submitted, people in rows:
        assert (active, done) == (claimed, submitted), "a slot is lost, or was given twice"
        assert active + done <= target
        assert people == submitted
    assert stored == set(race.acknowledged), "what was acknowledged is stored, and nothing else"
    for person in race.people:
        held = _held(race, person)
        assert held or not race.free_for(person), "everybody was told that nothing is left for them"


def _held(race: Race, person: User) -> bool:
    with acting(race.actor):
        return Assignment.objects.for_project(race.project).of(person).open().exists()
