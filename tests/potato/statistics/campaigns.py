"""The same crowd of thirty pays for the same number of annotations twice: plainly, and with what Potato offers."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable
from dataclasses import dataclass
from random import Random

from potato.formats.consensus import Crowd, most_probable
from potato.formats.options import Weighting
from potato.schemes.gold import score_annotation
from potato.statistics.gold_standing import LINE, Thresholds, standing
from tests.potato.statistics.gold_crowds import SCHEMES, SPAMMERS, Annotation, Worker, expert, gold

TRACES, EACH = 400, 5
"""Plainly each trace is given to so many."""
GOLD, REPEATS = 0.1, 0.03
"""Shares of a person's tasks whose answer is known, and of those that come to them once more."""
FIRST, MOST = 3, 8
"""Of each trace so many annotations are wanted first, and at most where they are not unanimous."""
TURNS_AFTER = 25
"""A drifter turns after so many tasks."""
VALUES = ("approve", "request_changes", "comment_only")


@dataclass
class Annotator:
    name: str
    kind: str
    before: Worker
    after: Worker
    tasks: int = 0

    def annotate(self, chance: Random, truth: Annotation) -> Annotation:
        self.tasks += 1
        return (self.before if self.tasks <= TURNS_AFTER else self.after)(chance, truth)


@dataclass(frozen=True)
class Campaign:
    """What was paid for, of how many traces the label is wrong, and who was paused, by their kind. A trace without a
    label, a tie, is half a wrong one: as wrong as a coin that is thrown for it."""

    paid: int
    error: float
    paused: Counter[str]


def crowd(chance: Random) -> list[Annotator]:
    """Ten experts, ten spammers of three kinds, and ten who turn from the one into the other."""
    kinds = [*SPAMMERS] * 4
    people = []
    for number in range(30):
        works = expert(chance.uniform(0.7, 0.92))
        spams = SPAMMERS[kinds[number % 10]]
        kind = ("expert", "spammer", "drifter")[number // 10]
        before = spams if kind == "spammer" else works
        people.append(Annotator(f"p{number}", kind, before, works if kind == "expert" else spams))
    return people


def plainly(seed: int, weighting: Weighting | None = None) -> Campaign:
    """Each trace is given to EACH people, and the majority is the label, or the consensus of that weighting."""
    chance = Random(seed)  # noqa: S311  (a crowd, and no secret)
    truths, people = [gold(chance) for _ in range(TRACES)], crowd(chance)
    given: list[dict[str, Hashable]] = []
    for truth in truths:
        # As a queue does: whoever has done the fewest comes next.
        chosen = sorted(people, key=lambda person: (person.tasks, chance.random()))[:EACH]
        given.append({person.name: _verdict(person.annotate(chance, truth)) for person in chosen})
    return Campaign(TRACES * EACH, _error(given, truths, weighting), Counter())


def with_potato(seed: int) -> Campaign:
    """Gold in secret, a pause by its scores, repeats, one annotator more where they disagree as long as the money
    lasts, and the consensus by Dawid and Skene. Gold and repeats are paid like all others."""
    chance = Random(seed)  # noqa: S311  (a crowd, and no secret)
    truths, people = [gold(chance) for _ in range(TRACES)], crowd(chance)
    budget, paid = TRACES * EACH, 0
    scores: defaultdict[str, list[float]] = defaultdict(list)
    given: list[dict[str, Hashable]] = [{} for _ in truths]
    paused: Counter[str] = Counter()
    thresholds = Thresholds(LINE, LINE)
    while paid < budget and people:
        person = min(people, key=lambda person: (person.tasks, chance.random()))
        paid += 1
        drawn = chance.random()
        if drawn < GOLD:
            truth = gold(chance)
            scores[person.name].append(score_annotation(truth, person.annotate(chance, truth), SCHEMES).score)
            if standing(scores[person.name], thresholds).state == "paused":
                people.remove(person)
                paused[person.kind] += 1
            continue
        if drawn < GOLD + REPEATS:
            person.annotate(chance, chance.choice(truths))
            continue
        at = _next(given, person.name, chance)
        if at is None:
            people.remove(person)
            continue
        given[at][person.name] = _verdict(person.annotate(chance, truths[at]))
    return Campaign(paid, _error(given, truths, "dawid_skene"), paused)


def _next(given: list[dict[str, Hashable]], name: str, chance: Random) -> int | None:
    """The trace with the fewest annotations; once all have FIRST of them, the one on which they are divided most."""
    free = [at for at, row in enumerate(given) if name not in row and len(row) < MOST]
    if not free:
        return None
    unfinished = [at for at in free if len(given[at]) < FIRST]
    if unfinished:
        return min(unfinished, key=lambda at: (len(given[at]), at))
    return min(free, key=lambda at: (_unanimity(given[at]), len(given[at]), chance.random()))


def _unanimity(row: dict[str, Hashable]) -> float:
    return max(Counter(row.values()).values()) / len(row)


def _error(given: list[dict[str, Hashable]], truths: list[Annotation], weighting: Weighting | None) -> float:
    """The share of wrong labels."""
    wrong = 0.0
    for truth, row in zip(truths, _votes(given) if weighting is None else _posteriors(given, weighting), strict=True):
        label = most_probable(row)
        wrong += 0.5 if label is None else float(label != _verdict(truth))
    return wrong / len(truths)


def _votes(given: list[dict[str, Hashable]]) -> list[dict[Hashable, float]]:
    return [dict(Counter(row.values())) for row in given]


def _posteriors(given: list[dict[str, Hashable]], weighting: Weighting) -> list[dict[Hashable, float]]:
    crowd = Crowd(VALUES)
    for row in given:
        crowd.next_trace()
        crowd.add(row.items())
    consensus, _ = crowd.consensus(weighting)
    return [dict(zip(consensus.values, map(float, row), strict=True)) for row in consensus.posteriors]


def _verdict(annotation: Annotation) -> str:
    return str(annotation["verdict"]["decision"])
