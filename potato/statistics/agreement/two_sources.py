"""Two sources beside people on what both of them answered: each one's figures, and how surely they differ.

A resampled trace takes along what both sources say of it, so that the interval of a difference is that of pairs: two
sources that err on the same traces are told apart by fewer traces than two that were asked about different ones.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

import numpy as np

from potato.schemes.comparisons import Comparison, FirstErrorComparison, PlaceComparison, ValueComparison, same_error
from potato.schemes.matching import match_comments
from potato.statistics.agreement.choices import Floats
from potato.statistics.agreement.estimates import Totals, estimate, ratio, share
from potato.statistics.agreement.figures import Basis, Estimate
from potato.statistics.agreement.source_places import merged_places
from potato.statistics.agreement.sources import (
    NEAR,
    Parts,
    PersonAnswer,
    SourceSettings,
    error_or_none,
    most_named_errors,
    sure_values,
)

Rows: TypeAlias = Mapping[Hashable, Sequence[float]]
"""What each trace adds to the sums of one source."""
_NOTHING_SHARED = "nothing that people are sure of was answered by both sources"


@dataclass(frozen=True)
class MeasureOfTwo:
    """One figure of both sources on the same units; `difference` is the first one's less the second one's."""

    scheme: str
    name: str
    title: str
    unit: str
    first: Estimate
    second: Estimate
    difference: Estimate

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def compare_two(
    scheme: str,
    comparisons: Iterable[Comparison],
    people: Sequence[PersonAnswer],
    first: Parts,
    second: Parts,
    settings: SourceSettings,
) -> list[MeasureOfTwo]:
    """Every figure in which the sources can be compared under one scheme, of the traces that both answered."""
    shared = first.keys() & second.keys()
    both = [{trace: part for trace, part in source.items() if trace in shared} for source in (first, second)]
    others = [answer for answer in people if answer.trace in shared]
    measures: list[MeasureOfTwo] = []
    for comparison in comparisons:
        pair = _Pair(scheme, settings)
        if isinstance(comparison, ValueComparison):
            measures += _of_values(pair, comparison, others, both)
        elif isinstance(comparison, FirstErrorComparison):
            measures += _of_values(pair, error_or_none(comparison), others, both)
            measures += _of_first_errors(pair, comparison, others, both)
        elif isinstance(comparison, PlaceComparison):
            measures += _of_places(pair, comparison, others, both)
    return measures


@dataclass(frozen=True)
class _Pair:
    scheme: str
    settings: SourceSettings

    def measure(
        self,
        names: tuple[str, str, str],
        figure: Totals,
        rows: Sequence[Rows],
        units: Callable[[Floats], Floats],
        why: str,
    ) -> MeasureOfTwo:
        """`names` are the measure's name, title and unit; `units` says how many of them each row counts."""
        traces = sorted(rows[0], key=repr)
        first, second = (np.array([own[trace] for trace in traces], dtype=np.float64) for own in rows)
        columns = first.shape[1] if first.ndim == 2 else 0

        def difference(totals: Floats) -> Floats:
            return figure(totals[:, :columns]) - figure(totals[:, columns:])

        def estimated(sums: Floats, chosen: Totals, many: Floats) -> Estimate:
            number = int(many.sum())
            basis = Basis(int((many > 0).sum()), number, number)
            samples, seed = self.settings.samples, self.settings.seed
            return estimate(sums, chosen, basis, why, samples=samples, seed=seed, without_pairs=_NOTHING_SHARED)

        if not columns:
            nothing = Estimate(None, None, None, 0, 0, 0, _NOTHING_SHARED)
            return MeasureOfTwo(self.scheme, *names, nothing, nothing, nothing)
        return MeasureOfTwo(
            self.scheme,
            *names,
            first=estimated(first, figure, units(first)),
            second=estimated(second, figure, units(second)),
            difference=estimated(np.hstack([first, second]), difference, np.minimum(units(first), units(second))),
        )


def _of_values(
    pair: _Pair, comparison: ValueComparison, people: Sequence[PersonAnswer], both: Sequence[Parts]
) -> Iterator[MeasureOfTwo]:
    choices, _, sure = sure_values(comparison, people, both[0], pair.settings)
    values_by_source = [
        {(trace, unit): value for trace, part in source.items() for unit, value in comparison.read(part)}
        for source in both
    ]
    units = [unit for unit in sure if unit in values_by_source[0] and unit in values_by_source[1]]
    others = {value for own in values_by_source for value in own.values()} - set(choices.values)
    scale = [*choices.values, *sorted(others, key=str)]
    at, size = {value: place for place, value in enumerate(scale)}, len(scale)
    rows: list[defaultdict[Hashable, Any]] = [defaultdict(lambda: np.zeros(size * size)) for _ in both]
    for own, answers in zip(rows, values_by_source, strict=True):
        for unit in units:
            own[unit[0]][at[sure[unit][0]] * size + at[answers[unit]]] += 1
    positive = np.array([value in comparison.positive for value in scale])

    def tables(totals: Floats) -> Floats:
        return totals.reshape(len(totals), size, size)

    def counted(totals: Floats, *sides: Any) -> Floats:
        counts: Floats = tables(totals)[(slice(None), *np.ix_(*sides))].sum(axis=(1, 2))
        return counts

    every = np.ones(size, dtype=bool)

    def kappa(totals: Floats) -> Floats:
        own, number = tables(totals), totals.sum(axis=1)
        agreed = ratio(np.trace(own, axis1=1, axis2=2), number)
        chance = ratio((own.sum(axis=1) * own.sum(axis=2)).sum(axis=1), number**2)
        return ratio(agreed - chance, 1 - chance)

    def same(totals: Floats) -> Floats:
        return ratio(np.trace(tables(totals), axis1=1, axis2=2), totals.sum(axis=1))

    def sensitivity(totals: Floats) -> Floats:
        return ratio(counted(totals, positive, positive), counted(totals, positive, every))

    def specificity(totals: Floats) -> Floats:
        return ratio(counted(totals, ~positive, ~positive), counted(totals, ~positive, every))

    def everything(totals: Floats) -> Floats:
        sums: Floats = totals.sum(axis=1)
        return sums

    title, called = comparison.title, comparison.unit
    if positive.any():
        yield pair.measure(
            ("sensitivity", f"{title}: sensitivity", called),
            sensitivity,
            rows,
            lambda totals: counted(totals, positive, every),
            "people accept nothing of what both answered",
        )
        yield pair.measure(
            ("specificity", f"{title}: specificity", called),
            specificity,
            rows,
            lambda totals: counted(totals, ~positive, every),
            "people reject nothing of what both answered",
        )
    why = "people and the sources use one value alone"
    yield pair.measure(("kappa", f"{title}: kappa against people", called), kappa, rows, everything, why)
    yield pair.measure(("same", f"{title}: same as people", called), same, rows, everything, why)


def _of_first_errors(
    pair: _Pair, comparison: FirstErrorComparison, people: Sequence[PersonAnswer], both: Sequence[Parts]
) -> Iterator[MeasureOfTwo]:
    named, _ = most_named_errors(comparison, people)
    for name, title, within in (("first_error", "same step", 0), ("near", f"at most {NEAR} step away", NEAR)):
        rows = [
            {
                trace: (float(same_error(people_at, comparison.read(source[trace]), within)), 1.0)
                for trace, people_at in named.items()
            }
            for source in both
        ]
        yield pair.measure((name, f"{comparison.title}: {title}", "traces"), share, rows, _chances, _NOTHING_SHARED)


def _of_places(
    pair: _Pair, comparison: PlaceComparison, people: Sequence[PersonAnswer], both: Sequence[Parts]
) -> Iterator[MeasureOfTwo]:
    by_trace: defaultdict[Hashable, dict[str, Any]] = defaultdict(dict)
    for answer in people:
        by_trace[answer.trace][answer.annotator] = list(comparison.read(answer.result))
    precision: list[dict[Hashable, tuple[float, float]]] = [{}, {}]
    recall: list[dict[Hashable, tuple[float, float]]] = [{}, {}]
    tolerance = pair.settings.tolerance
    for trace, comments_by_person in by_trace.items():
        merged = merged_places(comments_by_person, tolerance)
        places = [place for place, many, _ in merged if 2 * many >= len(comments_by_person)]
        for at, source in enumerate(both):
            own = list(comparison.read(source[trace]))
            hits = float(len(match_comments(own, places, tolerance)))
            precision[at][trace], recall[at][trace] = (hits, float(len(own))), (hits, float(len(places)))
    unmade = "one of the sources made no comment there"
    yield pair.measure(("precision", f"{comparison.title}: precision", "comments"), share, precision, _chances, unmade)
    none = "people agree on no place there"
    yield pair.measure(("recall", f"{comparison.title}: recall", "places"), share, recall, _chances, none)


def _chances(rows: Floats) -> Floats:
    chances: Floats = rows[:, 1]
    return chances
