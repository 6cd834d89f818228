"""All figures of agreement that a scheme declares: over all annotators, by pair, and each against the rest."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import combinations
from typing import Any, NamedTuple, TypeAlias

from potato.schemes.comparisons import (
    Comparison,
    FirstErrorComparison,
    Measure,
    PlaceComparison,
    ValueComparison,
)
from potato.statistics.agreement import coefficients
from potato.statistics.agreement.comments import TOLERANCE, comment_agreement, matched_values
from potato.statistics.agreement.estimates import SAMPLES, Estimate
from potato.statistics.agreement.first_errors import first_error_agreement, first_error_distances
from potato.statistics.agreement.judged import Choices, Judged

NEAR = 1
"""Steps between two first errors that are told as near each other, as in the documented statistics."""

TITLES: Mapping[str, str] = {
    "alpha_nominal": "Krippendorff's alpha, nominal",
    "alpha_ordinal": "Krippendorff's alpha, ordinal",
    "alpha_interval": "Krippendorff's alpha, interval",
    "fleiss_kappa": "Fleiss' kappa",
    "gwet_ac1": "Gwet's AC1",
    "icc": "Intraclass correlation (2,1)",
    "percent": "Same choice",
    "f1": "Same place (F1)",
    "category_alpha_nominal": "Category where places match, alpha",
    "severity_alpha_ordinal": "Severity where places match, ordinal alpha",
    "same": "Same step",
    "near": f"At most {NEAR} step apart",
}


class Answered(NamedTuple):
    """What one annotator's record has for one scheme; of two for the same trace the later one counts."""

    trace: Hashable
    annotator: str
    result: Any


@dataclass(frozen=True)
class Settings:
    """How figures are computed: `tolerance` in lines between comments, how often traces are resampled, the seed."""

    tolerance: int = TOLERANCE
    samples: int = SAMPLES
    seed: int = 0


@dataclass(frozen=True)
class Compared:
    """One thing that annotators can agree on.

    `figures` are by measure, the names of TITLES. `pairs` has for two annotators how often they agree: the share of
    same choices, of same first errors, or F1 of places; `rest` the same of each annotator with everybody else, what
    the others say among themselves left out. `by_position` has the share for each position, `distances` how many pairs
    of first errors are how many steps apart (None: one alone found none), `confusion` how often each two of `values`
    were chosen for one unit.
    """

    scheme: str
    name: str
    title: str
    figures: Mapping[str, Estimate]
    pairs: Mapping[tuple[str, str], Estimate] = field(default_factory=dict)
    rest: Mapping[str, Estimate] = field(default_factory=dict)
    by_position: Mapping[int, Estimate] = field(default_factory=dict)
    distances: Mapping[int | None, int] = field(default_factory=dict)
    values: tuple[Any, ...] = ()
    confusion: tuple[tuple[float, ...], ...] = ()

    def as_json(self) -> dict[str, Any]:
        """The same as plain JSON."""
        return {
            "scheme": self.scheme,
            "name": self.name,
            "title": self.title,
            "figures": {measure: asdict(one) for measure, one in self.figures.items()},
            "pairs": [{"annotators": list(pair), **asdict(one)} for pair, one in self.pairs.items()],
            "rest": {name: asdict(one) for name, one in self.rest.items()},
            "by_position": {str(position): asdict(one) for position, one in self.by_position.items()},
            "distances": [{"steps": steps, "pairs": pairs} for steps, pairs in self.distances.items()],
            "values": list(self.values),
            "confusion": [list(row) for row in self.confusion],
        }


def compare(scheme: str, comparison: Comparison, answers: Iterable[Answered], settings: Settings) -> Compared:
    """Everything that can be said of how far annotators agree on this. The order of the answers makes no difference
    but for which of an annotator's answers to a trace is the later one."""
    traces: defaultdict[Hashable, dict[str, Any]] = defaultdict(dict)
    for one in answers:
        traces[one.trace][one.annotator] = one.result
    by_trace = {
        trace: {name: traces[trace][name] for name in sorted(traces[trace])} for trace in sorted(traces, key=repr)
    }
    if isinstance(comparison, ValueComparison):
        return _compare_values(scheme, comparison, by_trace, settings)
    if isinstance(comparison, PlaceComparison):
        return _compare_places(scheme, comparison, by_trace, settings)
    return _compare_first_errors(scheme, comparison, by_trace, settings)


_Results: TypeAlias = Mapping[Any, Mapping[str, Any]]
"""For each trace what each annotator said, as the comparison reads it."""


def _compare_values(scheme: str, comparison: ValueComparison, results: _Results, settings: Settings) -> Compared:
    read = {
        trace: {name: list(comparison.read(result)) for name, result in named.items()}
        for trace, named in results.items()
    }
    choices = _choices(read, comparison.scale)

    def share(results: _Results) -> Estimate:
        return _measure("percent", _choices(results, comparison.scale), settings)

    return Compared(
        scheme,
        comparison.name,
        comparison.title,
        {measure: _measure(measure, choices, settings) for measure in comparison.measures},
        *_by_people(read, share),
        by_position=_by_position(read, comparison, settings) if comparison.by_position else {},
        values=choices.values,
        confusion=_confusion(choices),
    )


def _compare_places(scheme: str, comparison: PlaceComparison, results: _Results, settings: Settings) -> Compared:
    read = {
        trace: {name: list(comparison.read(result)) for name, result in named.items()}
        for trace, named in results.items()
    }

    def f1(results: _Results) -> Estimate:
        return comment_agreement(results, settings.tolerance, samples=settings.samples, seed=settings.seed)

    figures = {"f1": f1(read)}
    chosen = {
        attribute: Choices.gather(matched_values(read, attribute, settings.tolerance), scale)
        for attribute, scale in comparison.scales.items()
    }
    for attribute, choices in chosen.items():
        level: Measure = "alpha_ordinal" if attribute == "severity" else "alpha_nominal"
        figures[f"{attribute}_{level}"] = _measure(level, choices, settings)
    categories = chosen.get("category", Choices.gather([]))
    return Compared(
        scheme,
        comparison.name,
        comparison.title,
        figures,
        *_by_people(read, f1),
        values=categories.values,
        confusion=_confusion(categories),
    )


def _compare_first_errors(
    scheme: str, comparison: FirstErrorComparison, results: _Results, settings: Settings
) -> Compared:
    read = {
        trace: {name: comparison.read(result) for name, result in named.items()} for trace, named in results.items()
    }

    def share(results: _Results, within: int = 0) -> Estimate:
        errors = {trace: list(named.values()) for trace, named in results.items()}
        return first_error_agreement(errors, within, samples=settings.samples, seed=settings.seed)

    return Compared(
        scheme,
        comparison.name,
        comparison.title,
        {"same": share(read), "near": share(read, NEAR)},
        *_by_people(read, share),
        distances=first_error_distances({trace: list(named.values()) for trace, named in read.items()}),
    )


def _by_people(
    results: _Results, share: Callable[[_Results], Estimate]
) -> tuple[dict[tuple[str, str], Estimate], dict[str, Estimate]]:
    """The share of each two annotators who met, and of each with everybody else."""
    met: defaultdict[tuple[str, str], list[Hashable]] = defaultdict(list)
    for trace, named in results.items():
        for pair in combinations(named, 2):
            met[pair].append(trace)
    pairs = {
        pair: share({trace: {name: results[trace][name] for name in pair} for trace in traces})
        for pair, traces in sorted(met.items())
    }
    rest = {}
    for name in sorted({name for named in results.values() for name in named}):
        # A trace of three is two meetings, in which the two others have nothing to say to each other.
        meetings = {
            (trace, pair): {one: results[trace][one] for one in pair}
            for pair, traces in met.items()
            if name in pair
            for trace in traces
        }
        rest[name] = share(meetings)
    return pairs, rest


def _by_position(results: _Results, comparison: ValueComparison, settings: Settings) -> dict[int, Estimate]:
    judged: defaultdict[int, list[Judged]] = defaultdict(list)
    for one in _judged(results):
        judged[int(str(one.unit))].append(one)
    return {
        position: _measure("percent", Choices.gather(there, comparison.scale), settings)
        for position, there in sorted(judged.items())
    }


def _choices(results: _Results, scale: Sequence[Hashable]) -> Choices:
    return Choices.gather(_judged(results), scale)


def _judged(results: _Results) -> Iterable[Judged]:
    for trace, named in results.items():
        for name, values in named.items():
            for unit, value in values:
                yield Judged(trace, unit, name, value)


def _confusion(choices: Choices) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(float(cell) for cell in row) for row in coefficients.confusion(choices))


def _measure(measure: Measure, choices: Choices, settings: Settings) -> Estimate:
    samples, seed = settings.samples, settings.seed
    if measure == "alpha_nominal":
        return coefficients.krippendorff_alpha(choices, "nominal", samples=samples, seed=seed)
    if measure == "alpha_ordinal":
        return coefficients.krippendorff_alpha(choices, "ordinal", samples=samples, seed=seed)
    if measure == "alpha_interval":
        return coefficients.krippendorff_alpha(choices, "interval", samples=samples, seed=seed)
    if measure == "fleiss_kappa":
        return coefficients.fleiss_kappa(choices, samples=samples, seed=seed)
    if measure == "gwet_ac1":
        return coefficients.gwet_ac1(choices, samples=samples, seed=seed)
    if measure == "icc":
        return coefficients.intraclass_correlation(choices, samples=samples, seed=seed)
    return coefficients.percent_agreement(choices, samples=samples, seed=seed)
