"""A crowd of which the truth is known: five kinds of annotators, spammers among them, judge runs and their steps."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from potato.runs.model import AgentRun
from tests.potato.formats.files import folder
from tests.potato.formats.rewarded import per_step, record, run

STEPS = 4
Judge = Callable[[random.Random, bool], bool]


def _right_by(share: float) -> Judge:
    return lambda chance, true: true if chance.random() < share else not true


KINDS: dict[str, tuple[int, Judge]] = {
    "expert": (3, _right_by(0.95)),
    "careful": (4, _right_by(0.8)),
    "guessing": (3, _right_by(0.5)),
    "always_right": (3, lambda chance, true: True),
    "contrary": (2, _right_by(0.15)),
}
"""How many there are of each kind, and how one answers whether a step is right."""

PEOPLE = {f"{kind}_{number}": judge for kind, (many, judge) in KINDS.items() for number in range(many)}


@dataclass(frozen=True)
class Crowd:
    """Runs of which each step is known to be right or wrong, two runs a task, and what five people say of each."""

    runs: list[AgentRun]
    truth: dict[str, list[bool]]
    records: list[dict[str, Any]]

    def written(self, path: Path) -> Path:
        return folder(path, self.records, *self.runs)

    def succeeds(self, trace: str) -> bool:
        return all(self.truth[trace])


def crowd(traces: int = 160, *, people_each: int = 5, seed: int = 7, without: str = "") -> Crowd:
    """`people_each` annotators judge each trace: its steps, and by a verdict whether all of them are right;
    those of one kind may stay away."""
    chance = random.Random(seed)  # noqa: S311  (a crowd, and no secret)
    runs, truth = [], {}
    for number in range(traces):
        name = f"trace-{number:03}"
        instance = f"acme__parser-{number // 2}"
        runs.append(run(name, task=f"Task {number // 2}", model=f"model-{number % 2}", instance=instance, steps=STEPS))
        wrong = chance.random() < 0.5
        truth[name] = [not (wrong and chance.random() < 0.5) for _ in range(STEPS)]
    people = [name for name in sorted(PEOPLE) if not without or not name.startswith(without)]
    return Crowd(runs, truth, list(_records(chance, truth, people, people_each)))


def _records(
    chance: random.Random, truth: dict[str, list[bool]], people: list[str], people_each: int
) -> Iterator[dict[str, Any]]:
    for trace, steps in truth.items():
        for person in chance.sample(people, people_each):
            said = [1.0 if PEOPLE[person](chance, step) else -1.0 for step in steps]
            decision = "approve" if PEOPLE[person](chance, all(steps)) else "request_changes"
            yield record(trace, person, per_step(*said), verdict=decision)
