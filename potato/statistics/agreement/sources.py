"""A source (an LLM judge, a process reward model, an automated reviewer) beside what people say together.

People's answers become a consensus first; what is not sure is left out, and counted. The source is then compared with
it as a test is with a reference: sensitivity, specificity, and the rate that it would find without its own errors
(Rogan and Gladen, American Journal of Epidemiology 107 (1978) 71). Intervals resample traces, those without a consensus
included, so that they carry what is not known of the errors into the corrected rate.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from potato.schemes.comparisons import Comparison, FirstErrorComparison, PlaceComparison, ValueComparison, same_error
from potato.schemes.matching import TOLERANCE
from potato.statistics.agreement.bounds import FEW_PAIRS
from potato.statistics.agreement.choices import Choices, Floats, Judged
from potato.statistics.agreement.coefficients import cohen_kappa, krippendorff_alpha
from potato.statistics.agreement.consensus import Consensus, Method, fitted
from potato.statistics.agreement.estimates import estimate, ratio, share
from potato.statistics.agreement.figures import SAMPLES, Basis, Estimate
from potato.statistics.agreement.source_places import PlacesCompared, compare_places

SURE = 0.8
"""A consensus counts where its value is at least so probable; our choice, which a report may change."""
NEAR = 1
_PEOPLE, _SOURCE = "people", "source"
NO_ERROR, ERROR = "no error", "error"

Parts: TypeAlias = Mapping[Any, Any]
"""The part of one scheme by its trace."""


@dataclass(frozen=True)
class SourceSettings:
    """How a source is compared: `method` makes people's consensus, `sure` is the probability from which it counts."""

    method: Method = "dawid_skene"
    sure: float = SURE
    tolerance: int = TOLERANCE
    samples: int = SAMPLES
    seed: int = 0


class PersonAnswer(NamedTuple):
    """What one person said of one trace under one scheme."""

    trace: Hashable
    annotator: str
    result: Any


class Difference(NamedTuple):
    """A trace on which the source and people's sure consensus differ. `probable` is the consensus' probability."""

    trace: Hashable
    people: Any
    source: Any
    probable: float
    is_too_kind: bool | None


@dataclass(frozen=True)
class Rates:
    """How often the source says what counts as success, as it is and with its errors taken into account.

    `sensitivity` is the share of what people accept that the source accepts, `specificity` the share of what people
    reject that it rejects. `said` is of everything that it answered. `corrected` has no value where sensitivity plus
    specificity minus 1 may be 0 or less: such a source says nothing that could be corrected.
    """

    sensitivity: Estimate
    specificity: Estimate
    said: Estimate
    people: Estimate
    corrected: Estimate


@dataclass(frozen=True)
class ValuesCompared:
    """A source's values beside people's consensus. `confusion` counts units: rows are people's value, columns the
    source's, both in the order of `values`. `left_out` are units of which the consensus was not sure, `alone` those
    that the source judged and no person."""

    name: str
    title: str
    unit: str
    values: tuple[Any, ...]
    positive: tuple[Any, ...]
    answered: int
    comparable: int
    left_out: int
    alone: int
    kappa: Estimate
    people_alpha: Estimate
    same: Estimate
    rates: Rates | None
    confusion: tuple[tuple[int, ...], ...]
    doubts: tuple[str, ...]
    by_model: Mapping[str, tuple[Estimate, Rates | None]] = field(default_factory=dict)
    differences: tuple[Difference, ...] = ()


@dataclass(frozen=True)
class FirstErrorsCompared:
    """Where a source sees the first error beside where most people see it. `distances` counts traces by how many steps
    later (above 0) or earlier the source sees it; "missed" are errors that it alone does not see, "invented" those that
    it alone sees. A trace whose people name several steps equally often is left out."""

    outcome: ValuesCompared
    same: Estimate
    near: Estimate
    distances: Mapping[str, int]
    left_out: int


def sure_values(
    comparison: ValueComparison, people: Iterable[PersonAnswer], source: Parts, settings: SourceSettings
) -> tuple[Choices, Consensus, dict[tuple[Hashable, Hashable], tuple[Any, float]]]:
    """What people choose on the traces that the source answered, their consensus, and of the units of which it is sure
    enough its value and how probable that is."""
    judged = [
        Judged(person.trace, unit, person.annotator, value)
        for person in people
        if person.trace in source
        for unit, value in comparison.read(person.result)
    ]
    # The same order whatever the database answers first: what is drawn from equal rows is drawn alike.
    judged.sort(key=lambda judgement: (repr(judgement.trace), repr(judgement.unit), str(judgement.annotator)))
    choices = Choices.gather(judged, comparison.scale)
    consensus = fitted(settings.method, choices)
    sure: dict[tuple[Hashable, Hashable], tuple[Any, float]] = {}
    units = dict.fromkeys((judgement.trace, judgement.unit) for judgement in judged)
    for unit, label, shares in zip(units, consensus.labels, consensus.posteriors, strict=True):
        if label >= 0 and shares[label] >= settings.sure:
            sure[unit] = (consensus.values[label], round(float(shares[label]), 6))
    return choices, consensus, sure


def compare_values(
    comparison: ValueComparison,
    people: Sequence[PersonAnswer],
    source: Parts,
    models: Mapping[Any, str],
    settings: SourceSettings,
) -> ValuesCompared:
    """The source's values beside the consensus of people on the same units."""
    answers = {(trace, unit): value for trace, part in source.items() for unit, value in comparison.read(part)}
    choices, consensus, sure = sure_values(comparison, people, source, settings)
    both = [unit for unit in sure if unit in answers]
    scale = tuple(dict.fromkeys([*choices.values, *sorted(set(answers.values()) - set(choices.values), key=str)]))
    positive = tuple(value for value in scale if value in comparison.positive)

    def kappa(units: Sequence[tuple[Hashable, Hashable]]) -> Estimate:
        return _kappa_against_people(units, sure, answers, scale, settings)

    def rates(answered: Iterable[tuple[Hashable, Hashable]]) -> Rates | None:
        return _rates(answered, sure, answers, positive, settings) if positive else None

    by_model: dict[str, tuple[Estimate, Rates | None]] = {}
    for model in sorted({models.get(trace, "") for trace, _ in both}):
        own = [unit for unit in answers if models.get(unit[0], "") == model]
        by_model[model] = kappa([unit for unit in both if models.get(unit[0], "") == model]), rates(own)
    at = {value: place for place, value in enumerate(scale)}
    counts = np.zeros((len(scale), len(scale)), dtype=np.int64)
    for unit in both:
        counts[at[sure[unit][0]], at[answers[unit]]] += 1
    judged = {
        (person.trace, unit)
        for person in people
        if person.trace in source
        for unit, _ in comparison.read(person.result)
    }
    judged_by_both = len(judged & answers.keys())
    return ValuesCompared(
        name=comparison.name,
        title=comparison.title,
        unit=comparison.unit,
        values=scale,
        positive=positive,
        answered=len(answers),
        comparable=len(both),
        left_out=judged_by_both - len(both),
        alone=len(answers) - judged_by_both,
        kappa=kappa(both),
        people_alpha=krippendorff_alpha(choices, "nominal", samples=settings.samples, seed=settings.seed),
        same=_shares([(trace, sure[trace, unit][0] == answers[trace, unit]) for trace, unit in both], settings),
        rates=rates(answers),
        confusion=tuple(tuple(int(number) for number in row) for row in counts),
        doubts=consensus.doubts,
        by_model=by_model,
        differences=_differences(both, sure, answers, positive),
    )


def error_or_none(comparison: FirstErrorComparison) -> ValueComparison:
    """Whether there is an error at all, as a value of each trace."""
    return ValueComparison(
        name=comparison.name,
        title=comparison.title,
        unit="traces",
        read=lambda result: [("", NO_ERROR if comparison.read(result) is None else ERROR)],
        measures=(),
        scale=(NO_ERROR, ERROR),
        positive=(NO_ERROR,),
    )


def most_named_errors(
    comparison: FirstErrorComparison, people: Iterable[PersonAnswer]
) -> tuple[dict[Hashable, int | None], int]:
    """For each trace the first error that most people name, None for no error; and how many traces are left out,
    because several are named equally often."""
    votes: defaultdict[Hashable, Counter[int | None]] = defaultdict(Counter)
    for person in people:
        votes[person.trace][comparison.read(person.result)] += 1
    named: dict[Hashable, int | None] = {}
    for trace in sorted(votes, key=repr):
        (people_at, most), *others = votes[trace].most_common()
        if not (others and others[0][1] == most):
            named[trace] = people_at
    return named, len(votes) - len(named)


def compare_first_errors(
    comparison: FirstErrorComparison,
    people: Sequence[PersonAnswer],
    source: Parts,
    models: Mapping[Any, str],
    settings: SourceSettings,
) -> FirstErrorsCompared:
    """Whether the source sees an error where people do, and how far from there."""
    named, left_out = most_named_errors(comparison, [person for person in people if person.trace in source])
    distances: Counter[str] = Counter()
    pairs: list[tuple[Hashable, int | None, int | None]] = []
    for trace, people_at in named.items():
        at = comparison.read(source[trace])
        pairs.append((trace, people_at, at))
        distances[_distance(people_at, at)] += 1
    return FirstErrorsCompared(
        outcome=compare_values(error_or_none(comparison), people, source, models, settings),
        same=_shares([(trace, same_error(first, other)) for trace, first, other in pairs], settings),
        near=_shares([(trace, same_error(first, other, NEAR)) for trace, first, other in pairs], settings),
        distances=dict(sorted(distances.items(), key=_by_number)),
        left_out=left_out,
    )


@dataclass(frozen=True)
class SchemeCompared:
    """What is said of a source under one scheme; of the three kinds of comparison those that the scheme has."""

    scheme: str
    values: tuple[ValuesCompared, ...] = ()
    first_errors: FirstErrorsCompared | None = None
    places: PlacesCompared | None = None


def compare_source(
    scheme: str,
    comparisons: Iterable[Comparison],
    people: Sequence[PersonAnswer],
    source: Parts,
    models: Mapping[Any, str],
    settings: SourceSettings,
) -> SchemeCompared:
    """Everything that can be said of how the source's answers stand beside people's. The order makes no difference."""
    values, first_errors, places = [], None, None
    for comparison in comparisons:
        if isinstance(comparison, ValueComparison):
            values.append(compare_values(comparison, people, source, models, settings))
        elif isinstance(comparison, FirstErrorComparison):
            first_errors = compare_first_errors(comparison, people, source, models, settings)
        elif isinstance(comparison, PlaceComparison):
            own = {trace: list(comparison.read(part)) for trace, part in source.items()}
            others: defaultdict[Hashable, dict[str, Any]] = defaultdict(dict)
            for person in people:
                if person.trace in own:
                    others[person.trace][person.annotator] = list(comparison.read(person.result))
            places = compare_places(
                comparison.name, comparison.title, others, own, settings.tolerance, settings.samples, settings.seed
            )
    return SchemeCompared(scheme, tuple(values), first_errors, places)


def as_json(compared: SchemeCompared) -> dict[str, Any]:
    """The same as plain JSON."""
    return asdict(compared)


def _kappa_against_people(
    units: Sequence[tuple[Hashable, Hashable]],
    sure: Mapping[Any, tuple[Any, float]],
    answers: Mapping[Any, Any],
    scale: Sequence[Hashable],
    settings: SourceSettings,
) -> Estimate:
    both = Choices.gather(
        (
            judgement
            for trace, unit in units
            for judgement in (
                Judged(trace, unit, _PEOPLE, sure[trace, unit][0]),
                Judged(trace, unit, _SOURCE, answers[trace, unit]),
            )
        ),
        scale,
    )
    return cohen_kappa(both, _PEOPLE, _SOURCE, samples=settings.samples, seed=settings.seed)


def _shares(pairs: Sequence[tuple[Hashable, bool]], settings: SourceSettings) -> Estimate:
    rows: defaultdict[Hashable, list[int]] = defaultdict(lambda: [0, 0])
    for trace, is_so in pairs:
        rows[trace][0] += is_so
        rows[trace][1] += 1
    basis = Basis(len(rows), len(pairs), len(pairs))
    sums = np.array(list(rows.values()), dtype=np.float64).reshape(-1, 2)
    return estimate(sums, share, basis, "", samples=settings.samples, seed=settings.seed)


_ACCEPTED, _BOTH_ACCEPT, _REJECTED, _BOTH_REJECT, _SOURCE_ACCEPTS, _SOURCE_ANSWERED = range(6)


def _rates(
    answered: Iterable[tuple[Hashable, Hashable]],
    sure: Mapping[Any, tuple[Any, float]],
    answers: Mapping[Any, Any],
    positive: Sequence[Any],
    settings: SourceSettings,
) -> Rates:
    """One row a trace, so that a resampled trace takes everything along that is said of it."""
    rows: defaultdict[Hashable, list[int]] = defaultdict(lambda: [0] * 6)
    for trace, unit in answered:
        row, yes = rows[trace], answers[trace, unit] in positive
        row[_SOURCE_ANSWERED] += 1
        row[_SOURCE_ACCEPTS] += yes
        if (trace, unit) in sure:
            is_accepted = sure[trace, unit][0] in positive
            row[_ACCEPTED if is_accepted else _REJECTED] += 1
            if yes == is_accepted:
                row[_BOTH_ACCEPT if is_accepted else _BOTH_REJECT] += 1
    sums = np.array([rows[trace] for trace in sorted(rows, key=repr)], dtype=np.float64).reshape(-1, 6)
    known = sums[:, _ACCEPTED] + sums[:, _REJECTED]

    def made(figure: Any, units: Floats, why: str) -> Estimate:
        number = int(units.sum())
        basis = Basis(int((units > 0).sum()), number, number)
        return estimate(sums, figure, basis, why, samples=settings.samples, seed=settings.seed)

    def sensitivity(totals: Floats) -> Floats:
        return ratio(totals[:, _BOTH_ACCEPT], totals[:, _ACCEPTED])

    def specificity(totals: Floats) -> Floats:
        return ratio(totals[:, _BOTH_REJECT], totals[:, _REJECTED])

    def youden(totals: Floats) -> Floats:
        return sensitivity(totals) + specificity(totals) - 1

    def corrected(totals: Floats) -> Floats:
        rate = ratio(totals[:, _SOURCE_ACCEPTS], totals[:, _SOURCE_ANSWERED])
        return np.clip(ratio(rate + specificity(totals) - 1, youden(totals)), 0, 1)

    def accepted(totals: Floats) -> Floats:
        return ratio(totals[:, _ACCEPTED], totals[:, _ACCEPTED] + totals[:, _REJECTED])

    informed = made(youden, known, "people accept all, or reject all, of what can be compared")
    if informed.value is not None and informed.low is not None and informed.low > 0:
        rate = made(corrected, sums[:, _SOURCE_ANSWERED], "people accept all, or reject all, of what can be compared")
    else:
        why = informed.undefined or (
            "sensitivity plus specificity may be 1 or less, as of somebody who guesses: the source cannot be corrected"
        )
        rate = Estimate(None, None, None, len(rows), int(sums[:, _SOURCE_ANSWERED].sum()), int(known.sum()), why)
    return Rates(
        sensitivity=made(sensitivity, sums[:, _ACCEPTED], "people accept nothing of what can be compared"),
        specificity=made(specificity, sums[:, _REJECTED], "people reject nothing of what can be compared"),
        said=made(
            lambda totals: ratio(totals[:, _SOURCE_ACCEPTS], totals[:, _SOURCE_ANSWERED]), sums[:, _SOURCE_ANSWERED], ""
        ),
        people=made(accepted, known, "nothing can be compared"),
        corrected=rate,
    )


def _differences(
    both: Iterable[tuple[Hashable, Hashable]],
    sure: Mapping[Any, tuple[Any, float]],
    answers: Mapping[Any, Any],
    positive: Sequence[Any],
) -> tuple[Difference, ...]:
    """One for each trace, of its first unit that differs; the surest consensus first."""
    differences: dict[Hashable, Difference] = {}
    for trace, unit in both:
        value, probable = sure[trace, unit]
        if answers[trace, unit] == value or trace in differences:
            continue
        is_accepted, yes = value in positive, answers[trace, unit] in positive
        kind = None if is_accepted == yes else yes
        differences[trace] = Difference(trace, value, answers[trace, unit], probable, kind)
    return tuple(sorted(differences.values(), key=lambda difference: (-difference.probable, repr(difference.trace))))


def _distance(people: int | None, source: int | None) -> str:
    if people is None and source is None:
        return "both none"
    if people is None:
        return "invented"
    if source is None:
        return "missed"
    return str(source - people)


def _by_number(item: tuple[str, int]) -> tuple[bool, int, str]:
    is_word = not item[0].lstrip("-").isdigit()
    return is_word, 0 if is_word else int(item[0]), item[0]


def headline(name: str, rates: Rates | None, *, accepts: str, noun: str) -> str:
    """In a sentence whether the source is too kind, too strict or neither; made of the figures by one rule."""
    if rates is None or rates.sensitivity.value is None or rates.specificity.value is None:
        return f"{name} cannot be compared yet: {_why_not(rates)}."
    known = rates.sensitivity.units + rates.specificity.units
    if known < FEW_PAIRS:
        return f"{name} can be compared on {known} {noun} alone, too few to say how far it is to be trusted."
    kind, strict = 1 - rates.specificity.value, 1 - rates.sensitivity.value
    if max(kind, strict) < _CLOSE:
        return f"{name} is close to people: it differs on fewer than 1 of 10 {noun}, either way."
    if kind > strict:
        return f"{name} is too kind: it lets pass {_odds(kind)} {noun} that people reject."
    return f"{name} is too strict: it rejects {_odds(strict)} {noun} that people {accepts}."


def headline_of_places(name: str, places: PlacesCompared) -> str:
    """The same of a source that comments alone."""
    precision, recall = places.precision, places.recall
    if precision.value is None or recall.value is None:
        return f"{name} cannot be compared yet: {precision.undefined or recall.undefined}."
    return (
        f"{name} comments where people do in {precision.value:.0%} of its comments, and finds {recall.value:.0%} "
        "of the places where people commented."
    )


_CLOSE = 0.1


def _why_not(rates: Rates | None) -> str:
    if rates is None:
        return "no value of this scheme counts as success"
    return rates.sensitivity.undefined or rates.specificity.undefined or "nothing can be compared"


def _odds(share: float) -> str:
    return f"1 of {round(1 / share)}" if share < 0.45 else f"{share:.0%} of"
