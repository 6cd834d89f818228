"""A race: threads that claim, submit, skip and give back at once, while others steer and any of them is cut off at any
moment; and what must hold of every answer and at the end.

A test makes a Race of a project and its people, plays it with its own `Steering`, and looks at it."""

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock
from typing import Any
from uuid import UUID, uuid4

import psycopg
from django.db import DatabaseError, connection, connections
from psycopg.errors import LockNotAvailable

from accounts.models import Project, User
from assignments.actions.claiming import NothingToDo, Reason, claim_next
from assignments.actions.submitting import store_submission
from assignments.actions.working import release, skip
from assignments.errors import MembershipEnded, NotOpen, TakenOver
from assignments.models import Assignment, Batch, BatchPerson, BatchState, Order, Priority, Submission, TraceQuota
from assignments.models.queue import RANKS_A_LEVEL
from tenancy.actor import Actor, acting
from tests.tenants import Tenants

THREADS = 64

# Written apart from the product's own statements, to be their second opinion: what a person may be given now, with the
# transactions that last changed it and its batch.
FREE_FOR = """
SELECT q.trace_id, q.xmin::text, b.xmin::text
  FROM assignments_tracequota q JOIN assignments_batch b ON b.id = q.batch_id
 WHERE q.project_id = %(project)s AND b.state = 'open' AND q.withheld = '' AND q.active + q.done < q.target
   AND CASE WHEN q.is_reserved
       THEN q.trace_id IN (SELECT trace_id FROM assignments_reservation WHERE user_id = %(user)s)
       ELSE NOT b.is_restricted OR %(user)s IN (SELECT user_id FROM assignments_batchperson WHERE batch_id = b.id) END
   AND q.trace_id NOT IN (SELECT trace_id FROM assignments_assignment
     WHERE user_id = %(user)s AND state IN ('claimed', 'submitted', 'skipped'))
   AND NOT EXISTS (SELECT FROM assignments_queueposition p
     WHERE p.project_id = %(project)s AND p.user_id = %(user)s AND (p.paused_at IS NOT NULL OR p.annotation_limit <= (
       SELECT count(*) FROM assignments_assignment a
        WHERE a.project_id = %(project)s AND a.user_id = %(user)s AND a.state IN ('claimed', 'submitted'))))
"""
# What a person is given no task of, unless they hold it, with the transaction that last changed its batch.
CLOSED = """
SELECT q.trace_id, b.xmin::text FROM assignments_tracequota q JOIN assignments_batch b ON b.id = q.batch_id
 WHERE q.project_id = %(project)s
   AND (b.state <> 'open' OR q.withheld <> ''
     OR q.is_reserved AND q.trace_id NOT IN (SELECT trace_id FROM assignments_reservation WHERE user_id = %(user)s)
     OR EXISTS (SELECT FROM assignments_queueposition p
          WHERE p.project_id = %(project)s AND p.user_id = %(user)s AND p.paused_at IS NOT NULL))
   AND q.trace_id NOT IN (SELECT trace_id FROM assignments_assignment WHERE user_id = %(user)s AND state = 'claimed')
"""
BATCH_OF = """
SELECT b.xmin::text FROM assignments_tracequota q JOIN assignments_batch b ON b.id = q.batch_id
 WHERE q.trace_id = %(trace)s
"""
COUNTS_SQL = """
SELECT q.active, q.done, q.slots,
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
    """Claims of what the person should have been given no task of, since before they asked."""
    finished: set[UUID] = field(default_factory=set)
    """Those who were told that nothing is left for them, since the last slot came free again."""
    freed: int = 0
    """How often slots came free again."""
    lock: Lock = field(default_factory=Lock)
    under_way: Counter[UUID] = field(default_factory=Counter)
    touched: Counter[UUID] = field(default_factory=Counter)
    """How many acts of managers go on with each person and trace, and how many are over."""

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

    @contextmanager
    def touching(self, keys: Collection[UUID]) -> Iterator[None]:
        """While a manager does something to these people and traces."""
        with self.lock:
            self.under_way.update(keys)
        try:
            yield
        finally:
            with self.lock:
                self.under_way.subtract(keys)
                self.touched.update(keys)

    def state_of(self, key: UUID) -> int | None:
        """The same twice, where no manager did anything to the person or trace meanwhile; None while one does."""
        with self.lock:
            return None if self.under_way[key] else self.touched[key]

    def answer(self, claim: tuple[UUID, int], thread: int, *, from_closed: bool) -> None:
        with self.lock:
            self.claims[claim].add(thread)
            if from_closed:
                self.from_closed.add(claim)

    def given_from_closed(self) -> list[tuple[UUID, int]]:
        """What was claimed although it was closed. What two threads were answered is what the person held already: the
        one that claimed it may have seen it open, while the other asked after it was closed."""
        return [claim for claim in self.from_closed if len(self.claims[claim]) == 1]

    def free_for(self, person: User) -> set[tuple[UUID, str, str]]:
        with acting(self.actor), connection.cursor() as cursor:
            cursor.execute(FREE_FOR, {"project": self.project.pk, "user": person.pk})
            return set(cursor.fetchall())

    def closed_for(self, person: User) -> dict[UUID, tuple[str, int | None]]:
        """The traces that are closed for the person, with what tells whether anybody changed that since."""
        with acting(self.actor), connection.cursor() as cursor:
            cursor.execute(CLOSED, {"project": self.project.pk, "user": person.pk})
            rows = cursor.fetchall()
        return {trace: (changed, self.state_of(trace)) for trace, changed in rows}

    def batch_of(self, given: Assignment) -> str:
        """The transaction that last changed the batch of what was given."""
        with acting(self.actor), connection.cursor() as cursor:
            cursor.execute(BATCH_OF, {"trace": given.trace_id})
            return str((cursor.fetchone() or ("",))[0])

    @contextmanager
    def transaction(self, rng: random.Random, what: str) -> Iterator[None]:
        """One request, which now and then is killed: before its end, or with its connection to the database. One that
        waits for a lock for longer than the site lets it, as behind many others on a busy machine, has done nothing,
        too."""
        dies = rng.random() < 0.05
        try:
            with acting(self.actor):
                yield
                if dies:
                    self.count("killed")
                    if rng.random() < 0.5:
                        connection.connection.close()
                    raise KilledError
        except (KilledError, DatabaseError, psycopg.Error) as error:
            if not dies and not isinstance(error.__cause__, LockNotAvailable):
                raise
            if not dies:
                self.count("waited too long")
            connection.close()
            raise KilledError from None
        self.count(what)


Steering = Callable[[Race, random.Random], None]
"""What a manager does once, to whatever chance says."""


def play_all(
    race: Race, round_: int, steer: Steering | None = None, often: float = 0.02, most: int = 1_000_000
) -> None:
    """Until everybody was told that nothing is left for them. Before the part `often` of all turns somebody steers,
    `most` times at most."""
    with ThreadPoolExecutor(THREADS) as threads:
        seeds = range(round_ * THREADS, (round_ + 1) * THREADS)
        players = [threads.submit(_play, race, seed, steer, often, most) for seed in seeds]
        for player in players:
            player.result(timeout=600)


def _play(race: Race, seed: int, steer: Steering | None, often: float, most: int) -> None:
    rng = random.Random(seed)  # noqa: S311
    try:
        while left := [person for person in race.people if person.pk not in race.finished]:
            if steer is not None and rng.random() < often and race.count("turns of managers") <= most:
                steer(race, rng)
            person, freed = rng.choice(left), race.freed
            if _turn(race, person, rng, seed) is not None:
                race.finish(person, freed)
    finally:
        connections.close_all()


def _turn(race: Race, person: User, rng: random.Random, thread: int) -> Reason | None:
    is_watched = rng.random() < 0.3
    steered = race.state_of(person.pk)
    before = race.free_for(person) if is_watched else set()
    closed = race.closed_for(person) if is_watched else {}
    given: Assignment | NothingToDo | None = None
    try:
        with race.transaction(rng, "asked"):
            given = claim_next(project=race.project, user=person)
    except KilledError:
        return None
    except MembershipEnded:
        race.count("taken off")
        return Reason.NOT_ADMITTED
    if isinstance(given, NothingToDo):
        # What was free before and after, and nobody has touched between, was free when the answer was made.
        left = before & race.free_for(person) if given.reason != Reason.BUSY else set()
        if left and steered is not None and steered == race.state_of(person.pk):
            race.wrong_answers.append(f"{given.reason} although {len(left)} are free")
        return None if given.reason == Reason.BUSY else given.reason
    assert given is not None
    race.count("claim")
    was = closed.get(given.trace_id)
    is_from_closed = (
        was is not None
        and None not in (steered, was[1])
        # Nobody has changed its batch, the trace or the person since the person, who did not hold it, asked.
        and was == (race.batch_of(given), race.state_of(given.trace_id))
        and steered == race.state_of(person.pk)
    )
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
        # A person in two threads: the other one was quicker; or a manager took the task.
        race.count(f"refused: {refused.code}")
    return None


def make_batches(tenants: Tenants, project: Project, people: list[User]) -> None:
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


def look_at(race: Race, traces: int) -> None:
    """Nothing given twice, nothing lost, and nobody who was told that nothing is left although a slot is free."""
    assert race.wrong_answers == []
    assert race.given_from_closed() == []
    with acting(race.actor), connection.cursor() as cursor:
        cursor.execute(COUNTS_SQL, {"project": race.project.pk})
        rows = cursor.fetchall()
        stored = set(Submission.objects.for_project(race.project).values_list("pk", flat=True))
    assert len(rows) == traces
    for active, done, slots, claimed, submitted, people in rows:
        assert (active, done) == (claimed, submitted), "a slot is lost, or was given twice"
        assert active + done <= slots
        assert people == submitted
    assert stored == set(race.acknowledged), "what was acknowledged is stored, and nothing else"
    for person in race.people:
        held = _held(race, person)
        assert held or not race.free_for(person), "everybody was told that nothing is left for them"


def _held(race: Race, person: User) -> bool:
    with acting(race.actor):
        return Assignment.objects.for_project(race.project).of(person).open().exists()
