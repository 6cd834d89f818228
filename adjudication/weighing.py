"""What annotators' answers to a question say together, each weighed by how reliable its annotator has shown to be.

How reliable each is was computed with the project's newest report of agreement, by Dawid and Skene.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from accounts.models import Project
from adjudication.compared import ComparedAnnotations
from agreement.reports import newest_report
from assignments.submission_records import annotator_names
from potato.statistics.agreement.settling import Item
from potato.wording import UNKNOWN


@dataclass(frozen=True)
class Weighed:
    """The most probable answer to a question: the place of the first annotation that gives it, and how probable it is.
    `doubts` say why that is not to be trusted, none where it may be."""

    at: int
    share: float
    doubts: tuple[str, ...]
    computed_at: datetime | None

    @property
    def per_cent(self) -> int:
        """Below 100 unless it is certain."""
        return min(99, round(self.share * 100)) if self.share < 1 else 100


def weighed_answers(project: Project, compared: ComparedAnnotations) -> dict[tuple[str, str], Weighed]:
    """By scheme and key, of the questions on which annotators differ; none of those of which the newest report knows
    no reliability, as of ratings and comments, and where two answers are equally probable."""
    if not any(_values(item) for item in compared.items if item.differs):
        return {}
    report = newest_report(project)
    if report is None:
        return {}
    known = {
        (part["scheme"], part["name"]): part for part in report.figures.get("compared", ()) if part.get("reliability")
    }
    names = annotator_names(row.assignment.user_id for row in compared.submissions)
    people = [names.get(row.assignment.user_id, UNKNOWN) for row in compared.submissions]
    weighed = {}
    for item in compared.items:
        if item.differs and (values := _values(item)):
            (name,) = {name for name, _ in values.values()}
            part = known.get((item.scheme, name))
            said = {at: value for at, (_, value) in values.items()}
            if part and (best := _most_probable(part, said, people)) is not None:
                at, share = best
                doubts = tuple(part["reliability"]["doubts"])
                weighed[item.scheme, item.key] = Weighed(at, share, doubts, report.computed_at)
    return weighed


def _values(item: Item) -> dict[int, tuple[str, Any]]:
    """What each annotation answers, as reports of agreement compare it, by its place; empty for what is not compared
    as values."""
    return {at: part.compared for at, part in enumerate(item.parts) if part is not None and part.compared is not None}


def _most_probable(part: Mapping[str, Any], said: Mapping[int, Any], people: list[str]) -> tuple[int, float] | None:
    values, reliability = list(part["values"]), part["reliability"]
    if any(value not in values for value in said.values()):
        # Chosen for the first time since the report.
        return None
    likelihoods = [
        math.log(max(prior, 1e-9))
        + sum(
            math.log(max(_confusions(reliability, people[at], len(values))[true][values.index(value)], 1e-9))
            for at, value in said.items()
        )
        for true, prior in enumerate(reliability["priors"])
    ]
    highest = max(likelihoods)
    shares = [math.exp(likelihood - highest) for likelihood in likelihoods]
    first, *others = sorted(shares, reverse=True)
    best = values[shares.index(first)]
    places = [at for at, value in said.items() if value == best]
    is_alone = not others or first - others[0] > 1e-9
    # What nobody says is no start, however probable it would be.
    return (places[0], first / sum(shares)) if places and is_alone else None


def _confusions(reliability: Mapping[str, Any], name: str, size: int) -> list[list[float]]:
    """The annotator's table; of who is new what is believed of everybody before."""
    known: list[list[float]] | None = reliability["annotators"].get(name)
    return known or [[(float(at == true) + 1 / size) / 2 for at in range(size)] for true in range(size)]
