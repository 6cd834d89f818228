"""What managers read of an expected annotation itself: what it expects, and whether people's answers speak against."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from accounts.models import Project
from gold.models import ExpectedAnnotation, GoldScore
from gold.planting import KIND_TITLES
from gold.scoring import gold_rules
from potato.configuration import ProjectConfiguration
from potato.configuration.project import Gold
from potato.records.annotations import summaries
from potato.wording import lines_in_words

MOST_READ = 5_000
"""So many of the newest scores are looked through for lines that several people named."""
_LEAST = 3


@dataclass(frozen=True)
class NamedLine:
    """Lines of which nothing is expected, and how many people commented there."""

    file: str
    line: int
    people: int

    @property
    def sentence(self) -> str:
        name = self.file.rpartition("/")[2] or self.file
        words = lines_in_words(self.line, self.line)
        return f"{self.people} people commented on {name} {words}, where nothing is expected: look at the expectation."


def expected_words(expected: ExpectedAnnotation, configuration: ProjectConfiguration | None) -> str:
    """ "Off by one: 1 comment, Request Changes", or as far as the configuration reads it."""
    words = ", ".join(summaries(expected.annotations, configuration)) if configuration else ""
    fault = KIND_TITLES.get(expected.fault, expected.fault) if expected.fault else ""  # type: ignore[call-overload]
    return ": ".join(filter(None, (fault, words)))


def named_elsewhere(project: Project, expected: Collection[UUID]) -> Mapping[UUID, NamedLine]:
    """Of these expected annotations those beside which at least half of the people who were scored, and three at
    least, commented on the same other line."""
    if not expected:
        return {}
    every = GoldScore.objects.newest()
    rows = every.filter(organisation=project.organisation_id, project=project, expected__in=expected)
    parts: defaultdict[UUID, dict[UUID, list[dict[str, Any]]]] = defaultdict(dict)
    for row in rows.order_by("-scored_at", "-number")[:MOST_READ]:
        # Of several scores of a person the newest counts.
        parts[row.expected_id].setdefault(row.user_id, row.parts)
    tolerance = (gold_rules(project) or Gold()).line_tolerance
    named = {}
    for pk, by_person in parts.items():
        most = _most_named(by_person.values(), tolerance)
        if most is not None and most.people >= max(_LEAST, len(by_person) / 2):
            named[pk] = most
    return named


def _most_named(people: Iterable[list[dict[str, Any]]], tolerance: int) -> NamedLine | None:
    """The line near which most people commented without being expected to, the first of several."""
    lines: dict[tuple[str, str], list[set[int]]] = defaultdict(list)
    for parts in people:
        own: defaultdict[tuple[str, str], set[int]] = defaultdict(set)
        for part in parts:
            given = part.get("given")
            if part["outcome"] == "extra" and isinstance(given, dict):
                own[given["file"], given["side"]].add(given["first"])
        for place, firsts in own.items():
            lines[place].append(firsts)
    named = []
    for (file, _), by_person in lines.items():
        for line in sorted(set().union(*by_person)):
            nearest = [min(abs(line - other) for other in firsts) for firsts in by_person]
            near = [distance for distance in nearest if distance <= tolerance]
            # Of several lines that as many are near the one in their middle.
            named.append((len(near), -sum(near), NamedLine(file, line, len(near))))
    return max(named, key=lambda one: one[:2])[2] if named else None
