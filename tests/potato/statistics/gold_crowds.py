"""A crowd of thirty whose truth is known: experts, spammers, and drifters who turn from the one into the other.

Their annotations of gold traces are made and scored as real ones are, so that the scores have the shape of real scores.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

from potato.configuration.project import ProjectConfiguration
from potato.schemes.gold import score_annotation

SCHEMES = ProjectConfiguration(task_name="Review").annotation_schemes
LINES = 120
CATEGORIES = ("bug", "logic", "security", "performance", "style", "suggestion", "question")
TURN = 20
"""After so many gold tasks a drifter turns."""
WITHIN = 20
"""Within so many gold tasks, or so many after their turn, who does not work must be found."""

Annotation = dict[str, Any]
Worker = Callable[[Random, Annotation], Annotation]


@dataclass(frozen=True)
class Person:
    kind: str
    scores: tuple[float, ...]

    @property
    def starts(self) -> int:
        """How many scores come before those by which the person must be found."""
        return TURN if self.kind.startswith("turns") else 0


def crowd(seed: int) -> list[Person]:
    """Ten experts, ten spammers, and ten drifters."""
    chance = Random(seed)  # noqa: S311  (a crowd, and no secret)
    kinds = [*SPAMMERS] * 4
    people = [Person("expert", _scores(chance, expert(chance.uniform(0.7, 0.92)), WITHIN)) for _ in range(10)]
    people += [Person(kind, _scores(chance, SPAMMERS[kind], WITHIN)) for kind in kinds[:10]]
    for kind in kinds[1:11]:
        before = _scores(chance, expert(chance.uniform(0.7, 0.92)), TURN)
        people.append(Person(f"turns_{kind}", before + _scores(chance, SPAMMERS[kind], WITHIN)))
    return people


def _scores(chance: Random, worker: Worker, number: int) -> tuple[float, ...]:
    scores = []
    for _ in range(number):
        expected = gold(chance)
        scores.append(score_annotation(expected, worker(chance, expected), SCHEMES).score)
    return tuple(scores)


def gold(chance: Random) -> Annotation:
    """A change without fault in one case of four, else with one fault, seldom two."""
    faults = chance.choices([0, 1, 2], [0.25, 0.6, 0.15])[0]
    lines = chance.sample(range(5, LINES), faults)
    return _annotation(
        [_comment(line, chance.choice(["bug", "logic"])) for line in lines],
        2 if faults else 5,
        4,
        "request_changes" if faults else "approve",
    )


def expert(skill: float) -> Worker:
    """Finds this share of the faults, mostly names their category, remarks on a line or two of good code at times."""

    def annotate(chance: Random, expected: Annotation) -> Annotation:
        comments = []
        for fault in expected["inline_comments"]:
            if chance.random() < skill:
                category = fault["category"] if chance.random() < 0.75 else chance.choice(CATEGORIES)
                comments.append(_comment(fault["line_start"] + chance.choice([0, 0, 0, 0, 1, -1, 2, 5]), category))
        sees = bool(comments) or chance.random() < 0.08
        for _ in range(chance.choices([0, 1, 2], [0.65, 0.25, 0.1])[0]):
            comments.append(_comment(chance.randrange(1, LINES), chance.choice(["style", "suggestion", "question"])))
        correctness, quality = (min(5, max(1, round(chance.gauss(centre, 0.8)))) for centre in (2 if sees else 5, 4))
        return _annotation(comments, correctness, quality, "request_changes" if sees else "approve")

    return annotate


def _approves_everything(chance: Random, expected: Annotation) -> Annotation:
    return _annotation([], 5, 5, "approve")


def _answers_at_random(chance: Random, expected: Annotation) -> Annotation:
    comments = [
        _comment(chance.randrange(1, LINES), chance.choice(CATEGORIES)) for _ in range(chance.choice([0, 1, 2]))
    ]
    verdict = chance.choice(["approve", "request_changes", "comment_only"])
    return _annotation(comments, chance.randint(1, 5), chance.randint(1, 5), verdict)


def _asks_for_changes(chance: Random, expected: Annotation) -> Annotation:
    """The hardest to find: the verdict and the ratings in the middle are right in three cases of four."""
    return _annotation([_comment(chance.randrange(1, LINES), "bug")], 3, 3, "request_changes")


SPAMMERS: dict[str, Worker] = {
    "approves_everything": _approves_everything,
    "answers_at_random": _answers_at_random,
    "asks_for_changes": _asks_for_changes,
}


def _annotation(comments: list[Any], correctness: int, quality: int, verdict: str) -> Annotation:
    return {
        "inline_comments": comments,
        "file_ratings": {"a.py": {"correctness": correctness, "quality": quality}},
        "verdict": {"decision": verdict},
    }


def _comment(line: int, category: str) -> dict[str, Any]:
    line = max(1, line)
    return {
        "file": "a.py",
        "line_start": line,
        "line_end": line,
        "side": "new",
        "category": category,
        "comment": "Look at this line.",
    }
