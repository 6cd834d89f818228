"""Sixty-four who claim at once from batches of every order, while these are paused, withdrawn and given back, and are
cut off at any moment: nothing twice, nothing lost, nothing of what is paused or withdrawn, and nobody is told that
nothing is left while a slot is free for them."""

import random
from contextlib import suppress
from dataclasses import dataclass, field

import pytest

from accounts.models import Project
from assignments.actions.quotas import open_quotas
from assignments.actions.releasing import withdraw_batch
from assignments.actions.steering import pause_batch, resume_batch
from assignments.actions.withholding import undo
from assignments.models import Batch, BatchState, SteeringAct
from tenancy.actor import acting, acting_in
from tenancy.errors import Refused
from tests.assignments.conftest import Queue, annotators
from tests.assignments.racing import KilledError, Race, look_at, make_batches, play_all
from tests.tenants import Tenants

PEOPLE, CLAIMS, KILLS = 96, 2_000, 60
TRACES, WANTED = 300, 3


@dataclass
class RaceOfBatches(Race):
    withdrawals: list[SteeringAct] = field(default_factory=list)


def _steer(race: Race, rng: random.Random) -> None:
    """Pause a batch, let one go on, withdraw one, or take a withdrawal back."""
    assert isinstance(race, RaceOfBatches)
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


def _open_all(race: RaceOfBatches) -> None:
    """Everything that is withdrawn or paused is given out after all, as far as it can be."""
    with acting(race.actor):
        for act in race.withdrawals:
            with suppress(Refused):
                undo(act=act)
        for batch in Batch.objects.for_project(race.project).filter(state=BatchState.PAUSED):
            resume_batch(batch=batch)
    race.withdrawals.clear()
    race.free_again()


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
            make_batches(committed_tenants, queue.project, people)
        race = RaceOfBatches(actor, queue.project, people[round_ % 3 :: 3])
        play_all(race, round_, _steer)
        _open_all(race)
        play_all(race, round_)
        look_at(race, TRACES)
        claims += race.counts["claim"]
        killed += race.counts["killed"]
        round_ += 1
        print(f"round {round_}: {dict(race.counts)}")
