"""Sixty-four who claim at once, while managers steer many traces, tasks and people in bulk and take that back, and any
of them is cut off at any moment: nothing twice, nothing lost, nothing of what is withheld, offered to others or paused,
and nobody is told that nothing is left while a slot is free for them."""

import os
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import pytest

from accounts.actions.members import put_on_project
from accounts.models import Membership, Project
from assignments.actions.changing_batches import pause_batches, request_one_more_annotation, resume_batches
from assignments.actions.held_tasks import give_back_tasks, held_tasks, reassign_tasks
from assignments.actions.outcomes import Outcome
from assignments.actions.quotas import open_quotas
from assignments.actions.steering_people import limit_people, pause_people, resume_people, take_people_off
from assignments.actions.withholding import (
    end_offers,
    give_out_again,
    offer_to,
    prioritise,
    tag_traces,
    undo,
    untag_traces,
    want_more,
    withhold,
)
from assignments.models import Batch, Priority, SteeringAct, TraceQuota, Withheld
from tenancy.actor import acting, acting_in
from tenancy.errors import Refused
from tenancy.roles import ProjectRole
from tests.assignments.conftest import Queue, annotators
from tests.assignments.racing import KilledError, Race, look_at, make_batches, play_all
from tests.tenants import Tenants

# RACE_CLAIMS=2000 plays longer than a run of all tests has time for.
CLAIMS = int(os.environ.get("RACE_CLAIMS", "500"))
KILLS, ACTS = CLAIMS // 30, CLAIMS // 15
PEOPLE, TRACES, WANTED = 96, 180, 3
AT_ONCE = 12
OFTEN, MOST = 0.08, 60


@dataclass(frozen=True)
class Done:
    """A bulk act that can be taken back, with the people and traces that it touches."""

    act: UUID
    keys: tuple[UUID, ...]


@dataclass
class RaceOfBulkActs(Race):
    traces: list[UUID] = field(default_factory=list)
    members: list[Membership] = field(default_factory=list)
    to_undo: list[Done] = field(default_factory=list)
    acts: set[UUID] = field(default_factory=set)
    """Every act that was acknowledged."""


@dataclass(frozen=True)
class Choice:
    """What chance names: some traces, some people, and one who is given something."""

    race: RaceOfBulkActs
    traces: list[UUID]
    people: list[Membership]
    one: Membership
    rng: random.Random

    def held(self) -> list[Any]:
        return held_tasks(self.race.project, people=[person.user_id for person in self.people])

    def batches(self) -> list[Batch]:
        batches = list(Batch.objects.for_project(self.race.project).filter(number__gt=1).order_by("number"))
        return batches[self.rng.randrange(2) :: 2]


Act = Callable[[Project, Choice], Outcome]

_ACTS: dict[str, Act] = {
    "held back": lambda project, by: withhold(project=project, traces=by.traces, why=Withheld.HELD_BACK),
    "excluded": lambda project, by: withhold(project=project, traces=by.traces, why=Withheld.EXCLUDED, reason="no"),
    "given out again": lambda project, by: give_out_again(project=project, traces=by.race.traces),
    "tagged": lambda project, by: tag_traces(project=project, traces=by.traces, tag="hard"),
    "untagged": lambda project, by: untag_traces(project=project, traces=by.traces, tag="hard"),
    "priority": lambda project, by: prioritise(
        project=project, traces=by.traces, priority=by.rng.choice(Priority.values)
    ),
    "more": lambda project, by: want_more(project=project, traces=by.traces, more=1),
    "fewer": lambda project, by: want_more(project=project, traces=by.traces, more=-1),
    "offered": lambda project, by: offer_to(
        project=project, traces=by.traces, people=[person.user_id for person in by.people], days=1
    ),
    "offers ended": lambda project, by: end_offers(project=project, traces=by.race.traces),
    "given back": lambda project, by: give_back_tasks(project=project, tasks=by.held()),
    "reassigned": lambda project, by: reassign_tasks(
        project=project, tasks=by.held(), user=by.one.user, keep_draft=by.rng.random() < 0.5
    ),
    "people paused": lambda project, by: pause_people(project=project, people=by.people, reason="wait"),
    "people resumed": lambda project, by: resume_people(project=project, people=by.race.members),
    "people limited": lambda project, by: limit_people(project=project, people=by.people, limit=by.rng.randint(5, 20)),
    "limits ended": lambda project, by: limit_people(project=project, people=by.race.members),
    "people taken off": lambda project, by: take_people_off(project=project, people=by.people[:2]),
    "batches paused": lambda project, by: pause_batches(batches=by.batches()),
    "batches resumed": lambda project, by: resume_batches(batches=by.batches()),
    "one more of batches": lambda project, by: request_one_more_annotation(project=project, batches=by.batches()[:1]),
}
# Half of these touch what no choice names: whoever holds a task, or all people and traces.
_OF_ALL = ("given out again", "offers ended", "given back", "reassigned", "people resumed", "limits ended")


def _steer(race: Race, rng: random.Random) -> None:
    """Do something in bulk, or take back what was done."""
    assert isinstance(race, RaceOfBulkActs)
    with race.lock:
        done = race.to_undo.pop() if race.to_undo and rng.random() < 0.4 else None
    if done is not None:
        _undo(race, rng, done)
    else:
        _act(race, rng, rng.choice(list(_ACTS)))
    race.free_again()


def _act(race: RaceOfBulkActs, rng: random.Random, name: str) -> None:
    people = rng.sample(race.members, 4)
    choice = Choice(race, rng.sample(race.traces, AT_ONCE), people, rng.choice(race.members), rng)
    every = name in _OF_ALL
    keys = (
        *(race.traces if every else choice.traces),
        *(one.user_id for one in (race.members if every else [*people, choice.one])),
    )
    outcome = None
    try:
        with race.touching(keys), race.transaction(rng, "steered"):
            outcome = _ACTS[name](race.project, choice)
    except KilledError:
        return
    except Refused:
        # None of them could be steered so any more.
        race.count("steering refused")
        return
    race.count(f"act: {name}")
    assert outcome is not None
    if outcome.act is not None:
        with race.lock:
            race.acts.add(outcome.act.pk)
            race.to_undo.append(Done(outcome.act.pk, keys))


def _undo(race: RaceOfBulkActs, rng: random.Random, done: Done) -> None:
    try:
        with race.touching(done.keys), race.transaction(rng, "undone"):
            undo(act=SteeringAct.objects.get(pk=done.act))
    except KilledError:
        with race.lock:
            race.to_undo.append(done)
    except Refused:
        # Too late.
        race.count("undo refused")


def _open_all(race: RaceOfBulkActs) -> None:
    """Everything is given out after all, to everybody."""
    with acting(race.actor):
        give_out_again(project=race.project, traces=race.traces)
        end_offers(project=race.project, traces=race.traces)
        for member in race.members:
            put_on_project(project=race.project, membership=member, role=ProjectRole.ANNOTATOR)
        resume_people(project=race.project, people=race.members)
        limit_people(project=race.project, people=race.members)
        resume_batches(batches=list(Batch.objects.for_project(race.project).filter(number__gt=1)))
    race.free_again()


@pytest.mark.timeout(900)
def test_sixty_four_threads_claim_while_managers_steer_in_bulk_and_are_killed_at_random(
    committed_tenants: Tenants,
) -> None:
    with acting_in(committed_tenants.acme):
        people = annotators(PEOPLE)
    claims = killed = acts = round_ = 0
    while claims < CLAIMS or killed < KILLS or acts < ACTS:
        with acting_in(committed_tenants.acme, committed_tenants.alice) as actor:
            queue = Queue(committed_tenants, Project.objects.create(slug=f"round-{round_}", name="Round"))
            queue.publish(target=WANTED)
            traces = [trace.pk for trace in queue.add_traces(TRACES)]
            while open_quotas(project=queue.project):
                pass
            make_batches(committed_tenants, queue.project, people)
            playing = people[round_ % 3 :: 3]
            members = list(Membership.objects.filter(user__in=playing).select_related("user"))
        race = RaceOfBulkActs(actor, queue.project, playing, traces=traces, members=members)
        play_all(race, round_, _steer, OFTEN, MOST)
        _open_all(race)
        play_all(race, round_)
        look_at(race, TRACES)
        _look_at_acts(race)
        claims += race.counts["claim"]
        killed += race.counts["killed"]
        acts += race.counts["steered"]
        round_ += 1
        print(f"round {round_}: {dict(race.counts)}")


def _look_at_acts(race: RaceOfBulkActs) -> None:
    """What was acknowledged of managers is kept, and their last word holds."""
    with acting(race.actor):
        kept = set(SteeringAct.objects.filter(project=race.project).values_list("pk", flat=True))
        quotas = TraceQuota.objects.for_project(race.project)
        assert race.acts <= kept
        assert not quotas.exclude(withheld="").exists()
        assert not quotas.filter(is_reserved=True).exists()
        # Everything that is wanted has been annotated, but for what its batch kept for people who have all had it.
        assert not quotas.filter(batch__is_restricted=False, active=0, done__lt=WANTED).exists()
