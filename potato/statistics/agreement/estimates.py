"""One figure with its interval: an estimate from sums over traces, and the same from resampled traces.

A measure is two functions: what each trace adds (its sums), and the figure that the totals give. Traces are the
unit of resampling since what is judged within one trace depends on each other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from potato.statistics.agreement.judged import Floats

Totals: TypeAlias = Callable[[Floats], Floats]
"""The figure of each row of totals (... x columns), nan where it is not defined."""

SAMPLES = 1000
FEW_PAIRS = 10
"""Below this many pairs a figure is shown with the words "too few"; our choice, not a published bound."""
FEW_TRACES = 30
"""Below this many traces an interval by resampling is too narrow to be trusted; a common rule of thumb."""

NO_PAIRS = "no unit was judged by two annotators"
_LEVEL = 0.95
_DEFINED_SHARE = 0.95
_DIGITS = 6
_DIGITS_OF_SUMS = 9
_FACTORS_SEED = 2011
_NOTHING = 1e-15
_CELLS_AT_ONCE = 4_000_000


def ratio(over: Floats, under: Floats) -> Floats:
    """The quotients, nan where there is nothing to divide by."""
    result: Floats = np.full(np.broadcast(over, under).shape, np.nan)
    return np.divide(over, under, out=result, where=np.abs(under) > _NOTHING)


def share(totals: Floats) -> Floats:
    """The figure of sums that are a numerator and a denominator."""
    return ratio(totals[:, 0], totals[:, 1])


@dataclass(frozen=True)
class Estimate:
    """A figure and what it rests on.

    `value` is None where it is not defined, and `undefined` then says why. `low` and `high` bound the 95 % percentile
    interval; None where too many resamples have no figure. `traces` counts the traces and `units` the units that two
    annotators or more judged, `pairs` the pairs of choices compared. Figures are rounded to six digits, so that the
    order in which a machine adds does not show.
    """

    value: float | None
    low: float | None
    high: float | None
    traces: int
    units: int
    pairs: int
    undefined: str | None = None

    @property
    def has_few_pairs(self) -> bool:
        return self.pairs < FEW_PAIRS

    @property
    def has_few_traces(self) -> bool:
        return self.traces < FEW_TRACES


@dataclass(frozen=True)
class Basis:
    """How much there is to compare: traces and units with two choices or more, and pairs of choices."""

    traces: int
    units: int
    pairs: int


def estimate(
    sums: Floats,
    figure: Totals,
    basis: Basis,
    why_undefined: str,
    *,
    samples: int,
    seed: int,
    without_pairs: str = NO_PAIRS,
) -> Estimate:
    """The figure of the summed `sums` (traces x columns), with its interval from `samples` resamplings of the rows.

    `why_undefined` is said where the figure is none, `without_pairs` where there is nothing to compare.

    The same sums and seed give the same estimate. `samples` 0 gives no interval.
    """
    if not basis.pairs:
        return Estimate(None, None, None, basis.traces, basis.units, 0, without_pairs)
    value = float(figure(sums.sum(axis=0)[np.newaxis])[0])
    if not np.isfinite(value):
        return Estimate(None, None, None, basis.traces, basis.units, basis.pairs, why_undefined)
    low, high = _interval(sums, figure, samples, seed) if samples else (None, None)
    return Estimate(round(value, _DIGITS), low, high, basis.traces, basis.units, basis.pairs)


def _interval(sums: Floats, figure: Totals, samples: int, seed: int) -> tuple[float | None, float | None]:
    figures = np.concatenate([figure(totals) for totals in _resampled(sums, samples, seed)])
    defined = figures[np.isfinite(figures)]
    if len(defined) < _DEFINED_SHARE * samples:
        return None, None
    low, high = np.quantile(defined, [(1 - _LEVEL) / 2, (1 + _LEVEL) / 2])
    return round(float(low), _DIGITS), round(float(high), _DIGITS)


def _resampled(sums: Floats, samples: int, seed: int) -> list[Floats]:
    """The totals of as many samples, drawn with replacement from the rows that add anything.

    Equal rows are drawn together by a multinomial, which is the same distribution: a million traces of a few kinds
    cost what the kinds cost.
    """
    rows, times = _kinds(sums[sums.any(axis=1)])
    drawn = int(times.sum())
    random = np.random.Generator(np.random.PCG64(seed))
    at_once = max(1, _CELLS_AT_ONCE // max(len(rows), 1))
    share = times / drawn
    few_kinds = len(rows) * 8 <= drawn
    kinds = np.repeat(np.arange(len(times)), times) if len(times) != drawn and not few_kinds else None
    totals = []
    for start in range(0, samples, at_once):
        chunk = min(at_once, samples - start)
        if few_kinds:
            weights = random.multinomial(drawn, share, size=chunk).astype(np.float64)
        else:
            weights = np.stack([_weights(random, kinds, len(times), drawn) for _ in range(chunk)])
        totals.append(weights @ rows)
    return totals


def _kinds(sums: Floats) -> tuple[Floats, NDArray[np.int64]]:
    """The different rows, whatever order they came in, and how often each is there.

    They are found by a number made of each row's bits, since sorting rows takes far longer than sorting numbers: among
    a million different rows the chance that any two have the same number is one in ten million.
    """
    # What the order of adding leaves in the last digits would make two kinds out of one; a zero has one sign.
    rounded = np.ascontiguousarray(np.round(sums, _DIGITS_OF_SUMS) + 0.0)
    factors = np.random.Generator(np.random.PCG64(_FACTORS_SEED)).integers(
        0, 2**64, size=(2, rounded.shape[1]), dtype=np.uint64
    )
    bits = rounded.view(np.uint64)
    # The high bits of a float say most, and a product keeps low ones: both halves are counted in.
    mixed = ((bits >> np.uint64(32)) * (factors[0] | np.uint64(1))) ^ (bits * (factors[1] | np.uint64(1)))
    numbers = (mixed * factors[0]).sum(axis=1, dtype=np.uint64)
    _, first, times = np.unique(numbers, return_index=True, return_counts=True)
    return rounded[first], times


def _weights(random: np.random.Generator, kinds: NDArray[np.int64] | None, size: int, drawn: int) -> Floats:
    """How often each row was drawn in one sample."""
    chosen = random.integers(0, drawn, size=drawn)
    return np.bincount(chosen if kinds is None else kinds[chosen], minlength=size).astype(np.float64)
