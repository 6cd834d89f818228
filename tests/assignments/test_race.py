"""Twelve annotators on eight threads, with leases that end under them: no slot is given out twice, no work is lost."""

import random
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event, Lock
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import connection, connections
from django.utils import timezone

from accounts.models import Project, User
from assignments.actions.claiming import NothingToDo, Reason, claim_next
from assignments.actions.expiring import expire_leases
from assignments.actions.submitting import store_submission, withdraw
from assignments.actions.working import release, save_draft, skip
from assignments.errors import DraftConflict, LeaseEnded, NotOpen, TakenOver
from assignments.models import OPEN, Assignment, AssignmentState, Submission
from tenancy.actor import Actor, acting, acting_in
from tests.assignments.conftest import Queue, annotators
from tests.tenants import Tenants

THREADS, ANNOTATORS, TRACES, WANTED = 8, 12, 100, 3
ACTIONS, OF_EACH = 2_000, 100
MUST_HAPPEN = ("claim", "skip", "expire", "late submit", "repeated submit")
FINAL = (Reason.ALL_DONE, Reason.YOURS_ARE_DONE)

# Written apart from the product's own querysets, to be their second opinion. One statement sees one moment.
COUNTS_SQL = """
WITH counted AS (
  SELECT a.trace_id, count(*) AS submissions, count(DISTINCT a.user_id) AS people
  FROM assignments_submission s JOIN assignments_assignment a ON a.id = s.assignment_id
  WHERE s.project_id = %(project)s AND (%(trace)s::uuid IS NULL OR a.trace_id = %(trace)s) AND NOT s.is_surplus
  AND NOT EXISTS (SELECT FROM assignments_withdrawal w WHERE w.submission_id = s.id)
  GROUP BY a.trace_id
), taken AS (
  SELECT trace_id, count(*) FILTER (WHERE state = 'claimed') AS claimed,
    count(*) FILTER (WHERE state = 'skipped') AS skipped
  FROM assignments_assignment
  WHERE project_id = %(project)s AND (%(trace)s::uuid IS NULL OR trace_id = %(trace)s) GROUP BY trace_id
)
SELECT active, done, coalesce(claimed, 0), coalesce(submissions, 0), coalesce(people, 0), coalesce(skipped, 0)
FROM assignments_tracequota LEFT JOIN counted USING (trace_id) LEFT JOIN taken USING (trace_id)
WHERE project_id = %(project)s AND (%(trace)s::uuid IS NULL OR trace_id = %(trace)s)
"""


@dataclass
class Race:
    """One project that is played until it is done, and what was seen."""

    actor: Actor
    project: Project
    people: list[User]
    counts: Counter[str]
    acknowledged: list[tuple[UUID, dict[str, Any]]] = field(default_factory=list)
    lock: Lock = field(default_factory=Lock)
    over: Event = field(default_factory=Event)

    def count(self, action: str) -> None:
        with self.lock:
            self.counts[action] += 1

    def truth(self, trace: UUID | None = None) -> list[tuple[int, ...]]:
        with acting(self.actor), connection.cursor() as cursor:
            cursor.execute(COUNTS_SQL, {"project": self.project.pk, "trace": trace})
            rows: list[tuple[int, ...]] = cursor.fetchall()
        for active, done, claimed, counted, by_people, _ in rows:
            assert (active, done) == (claimed, counted)
            assert active + done <= WANTED
            assert by_people == counted
        return rows

    @contextmanager
    def acts(self, assignment: Assignment, action: str) -> Iterator[None]:
        """One action in a transaction of its own; a refusal that the race explains is no error."""
        try:
            with acting(self.actor):
                yield
        except (NotOpen, TakenOver, LeaseEnded, DraftConflict) as refusal:
            self.count(f"refused: {refusal.code}")
        else:
            self.count(action)
        self.truth(assignment.trace_id)

    def send(self, assignment: Assignment, action: str, key: str, result: dict[str, Any]) -> Submission | None:
        submission = None
        with self.acts(assignment, action):
            submission = store_submission(
                assignment=assignment, fencing_token=assignment.fencing_token, key=key, payload=result, result=result
            )
        if submission is not None:
            # The block has ended without an error: the transaction is committed, and the annotator was told.
            with self.lock:
                self.acknowledged.append((submission.pk, result))
                self.counts["surplus"] += submission.is_surplus
        return submission


def play(race: Race, seed: int) -> None:
    """Go round the annotators until nobody finds anything to do."""
    rng = random.Random(seed)  # noqa: S311
    try:
        while True:
            reasons = [_turn(race, person, rng) for person in rng.sample(race.people, ANNOTATORS)]
            if all(reason in FINAL for reason in reasons):
                return
    finally:
        connections.close_all()


def _turn(race: Race, person: User, rng: random.Random) -> Reason | None:
    with acting(race.actor):
        given = claim_next(project=race.project, user=person)
    if isinstance(given, NothingToDo):
        return given.reason
    race.count("claim")
    race.truth(given.trace_id)
    key, result = str(uuid4()), {"verdict": {"by": person.username, "n": rng.random()}}
    chance = rng.random()
    if chance < 0.12:
        with race.acts(given, "skip"):
            skip(assignment=given, fencing_token=given.fencing_token, reason="not mine")
    elif chance < 0.17:
        with race.acts(given, "release"):
            release(assignment=given, fencing_token=given.fencing_token)
    elif chance < 0.42:
        with race.acts(given, "draft"):
            save_draft(assignment=given, fencing_token=given.fencing_token, revision=0, content=result)
        _wait_for_the_sweep(race, given)
        if chance < 0.36:
            race.send(given, "late submit", key, result)
    else:
        submission = race.send(given, "submit", key, result)
        if submission is not None and chance < 0.62:
            again = race.send(given, "repeated submit", key, result)
            assert again is not None
            assert again.pk == submission.pk
        elif submission is not None and chance < 0.68:
            with race.acts(given, "withdraw"):
                withdraw(submission=submission)
    return None


def _wait_for_the_sweep(race: Race, assignment: Assignment) -> None:
    """The lease is over now; go on when it was swept, or when somebody else has gone on with it."""
    with acting(race.actor):
        Assignment.objects.filter(pk=assignment.pk, state=OPEN, fencing_token=assignment.fencing_token).update(
            lease_until=timezone.now()
        )
    for _ in range(40):
        with acting(race.actor):
            if Assignment.objects.get(pk=assignment.pk).state != AssignmentState.CLAIMED:
                return
        time.sleep(0.01)


def sweep(race: Race) -> None:
    try:
        while not race.over.is_set():
            expired = expire_leases(race.actor)
            with race.lock:
                race.counts["expire"] += expired
            if expired:
                race.truth()
            time.sleep(0.01)
    finally:
        connections.close_all()


def _play_once(tenants: Tenants, people: list[User], counts: Counter[str], number: int) -> Race:
    with acting_in(tenants.acme, tenants.alice) as actor:
        queue = Queue(tenants, Project.objects.create(slug=f"round-{number}", name=f"Round {number}"))
        queue.publish(target=WANTED)
        queue.add_traces(TRACES)
    race = Race(actor, queue.project, people, counts)
    with ThreadPoolExecutor(THREADS + 1) as threads:
        sweeper = threads.submit(sweep, race)
        players = [threads.submit(play, race, number * THREADS + seed) for seed in range(THREADS)]
        try:
            for player in players:
                player.result(timeout=150)
        finally:
            race.over.set()
        sweeper.result(timeout=30)
    return race


@pytest.mark.timeout(200)
def test_eight_threads_race_for_the_places_until_all_is_done(committed_tenants: Tenants) -> None:
    with acting_in(committed_tenants.acme):
        people = annotators(ANNOTATORS)
    counts: Counter[str] = Counter()
    number = 0
    while sum(counts[a] for a in _actions(counts)) < ACTIONS or min(counts[a] for a in MUST_HAPPEN) < OF_EACH:
        race = _play_once(committed_tenants, people, counts, number)
        number += 1
        for active, done, _, _, _, skipped in race.truth():
            assert active == 0
            assert done == WANTED or (done < WANTED and ANNOTATORS - skipped < WANTED), (done, skipped)
        with acting(race.actor):
            stored = {row.pk: row.result for row in Submission.objects.for_project(race.project)}
            assert all(stored[pk] == result for pk, result in race.acknowledged)
            assert set(stored) == {pk for pk, _ in race.acknowledged}
            assert Submission.objects.for_project(race.project).counted().count() == sum(
                done for _, done, *_ in race.truth()
            )
    print(f"{number} rounds: {dict(counts)}")


def _actions(counts: Counter[str]) -> list[str]:
    return [name for name in counts if not name.startswith("refused") and name != "surplus"]
