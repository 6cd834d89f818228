"""A source's comments beside those of people: which of its places people see too, and which of theirs it finds."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from potato.schemes.comparisons import PlacedComment
from potato.schemes.matching import match_comments
from potato.statistics.agreement.figures import Basis, Estimate

NO_CATEGORY = "no category"


@dataclass(frozen=True)
class PlacesCompared:
    """A source's comments beside people's.

    `precision` is the share of its comments where people commented too, `recall` the share of people's places where it
    commented. A place counts when at least half of the people who judged the trace commented there; `left_out` are the
    places of fewer. `traces` are those that people and source both judged, `comments` and `places` what they say there.
    """

    name: str
    title: str
    traces: int
    comments: int
    places: int
    left_out: int
    precision: Estimate
    recall: Estimate
    precision_by_category: Mapping[str, Estimate] = field(default_factory=dict)
    recall_by_category: Mapping[str, Estimate] = field(default_factory=dict)


@dataclass
class CommonPlace:
    """A place of a trace where at least one person commented: the comment that came first there, and of each person who
    commented there which of their comments it is."""

    comment: PlacedComment
    by_person: dict[str, int]


def common_places(people: Mapping[str, Sequence[PlacedComment]], tolerance: int) -> list[CommonPlace]:
    """The places of all people of one trace. People are gone through by name, each matched one to one with the places
    so far."""
    places: list[CommonPlace] = []
    for name in sorted(people):
        comments = people[name]
        met = {
            match.first: match.second
            for match in match_comments(comments, [place.comment for place in places], tolerance)
        }
        for at, comment in enumerate(comments):
            if at in met:
                places[met[at]].by_person[name] = at
            else:
                places.append(CommonPlace(comment, {name: at}))
    return places


def merged_places(
    people: Mapping[str, Sequence[PlacedComment]], tolerance: int
) -> list[tuple[PlacedComment, int, str]]:
    """The places of all people of one trace: a comment for each, how many people commented there, and the category that
    most of them chose."""
    return [
        (place.comment, len(place.by_person), _most_chosen(people, place)) for place in common_places(people, tolerance)
    ]


def _most_chosen(people: Mapping[str, Sequence[PlacedComment]], place: CommonPlace) -> str:
    chosen = Counter(people[name][at].category or NO_CATEGORY for name, at in place.by_person.items())
    (category, _), *_ = sorted(chosen.items(), key=lambda item: (-item[1], item[0]))
    return category


def compare_places(
    name: str,
    title: str,
    people: Mapping[Hashable, Mapping[str, Sequence[PlacedComment]]],
    source: Mapping[Hashable, Sequence[PlacedComment]],
    tolerance: int,
    samples: int,
    seed: int,
) -> PlacesCompared:
    """The comments of the traces that people and source both judged."""
    precision, recall = _Rows(samples, seed), _Rows(samples, seed)
    comments = counted = left_out = 0
    traces = sorted((trace for trace in people if trace in source), key=repr)
    for trace in traces:
        own = source[trace]
        merged = merged_places(people[trace], tolerance)
        kept = [(place, category) for place, many, category in merged if 2 * many >= len(people[trace])]
        comments, counted, left_out = comments + len(own), counted + len(kept), left_out + len(merged) - len(kept)
        matches = match_comments(own, [place for place, _ in kept], tolerance)
        met, matched = {match.first for match in matches}, {match.second for match in matches}
        for at, comment in enumerate(own):
            precision.add(trace, comment.category or NO_CATEGORY, at in met)
        for at, (_, category) in enumerate(kept):
            recall.add(trace, category, at in matched)
    return PlacesCompared(
        name=name,
        title=title,
        traces=len(traces),
        comments=comments,
        places=counted,
        left_out=left_out,
        precision=precision.share("the source made no comment there"),
        recall=recall.share("people agree on no place there"),
        precision_by_category=precision.by_category(),
        recall_by_category=recall.by_category(),
    )


class _Rows:
    """Hits and chances by trace and category."""

    def __init__(self, samples: int, seed: int) -> None:
        self._rows: defaultdict[str, defaultdict[Any, list[int]]] = defaultdict(lambda: defaultdict(lambda: [0, 0]))
        self._samples, self._seed = samples, seed

    def add(self, trace: Hashable, category: str, is_hit: bool) -> None:
        row = self._rows[category][trace]
        row[0] += is_hit
        row[1] += 1

    def share(self, why: str, category: str | None = None) -> Estimate:
        # Here, because whoever only puts places together needs none of it.
        import numpy as np

        from potato.statistics.agreement.estimates import estimate, share

        chosen = self._rows.values() if category is None else [self._rows[category]]
        whole: defaultdict[Any, list[int]] = defaultdict(lambda: [0, 0])
        for rows in chosen:
            for trace, (hits, chances) in rows.items():
                whole[trace][0] += hits
                whole[trace][1] += chances
        sums = np.array([whole[trace] for trace in sorted(whole, key=repr)], dtype=np.float64).reshape(-1, 2)
        number = int(sums[:, 1].sum())
        if not number:
            return Estimate(None, None, None, 0, 0, 0, why)
        return estimate(sums, share, Basis(len(whole), number, number), why, samples=self._samples, seed=self._seed)

    def by_category(self) -> dict[str, Estimate]:
        ordered = sorted(self._rows, key=lambda name: (-sum(row[1] for row in self._rows[name].values()), name))
        return {category: self.share("", category) for category in ordered}
