"""One figure with its interval: an estimate from sums over traces, and the same from resampled traces.

A measure is two functions: what each trace adds (its sums), and the figure that the totals give. Traces are the
unit of resampling since what is judged within one trace depends on each other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from potato.statistics.agreement.judged import Floats

Totals: TypeAlias = Callable[[Floats], Floats]
"""The figure of each row of totals (... x columns), nan where it is not defined."""

SAMPLES = 1000
FEW_PAIRS = 10
"""Below this many pairs a figure is shown with the words "too few"; our choice, not a published bound."""
FEW_TRACES = 30
"""Below this many traces an interval by resampling is too narrow to be trusted; a common rule of thumb."""

_LEVEL = 0.95
_DEFINED_SHARE = 0.95
_DIGITS = 6
_DIGITS_OF_SUMS = 9
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


def estimate(sums: Floats, figure: Totals, basis: Basis, why_undefined: str, *, samples: int, seed: int) -> Estimate:
    """The figure of the summed `sums` (traces x columns), with its interval from `samples` resamplings of the rows.

    The same sums and seed give the same estimate. `samples` 0 gives no interval.
    """
    if not basis.pairs:
        return Estimate(None, None, None, basis.traces, basis.units, 0, "no unit was judged by two annotators")
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
    # What the order of adding leaves in the last digits would make two kinds out of one.
    rounded = np.round(sums, _DIGITS_OF_SUMS) + 0.0
    rows, times = np.unique(rounded[rounded.any(axis=1)], axis=0, return_counts=True)
    drawn = int(times.sum())
    random = np.random.Generator(np.random.PCG64(seed))
    at_once = max(1, _CELLS_AT_ONCE // max(len(rows), 1))
    share = times / drawn
    few_kinds = len(rows) * 8 <= drawn
    totals = []
    for start in range(0, samples, at_once):
        chunk = min(at_once, samples - start)
        if few_kinds:
            weights = random.multinomial(drawn, share, size=chunk).astype(np.float64)
        else:
            weights = np.stack([_weights(random, times, drawn) for _ in range(chunk)])
        totals.append(weights @ rows)
    return totals


def _weights(random: np.random.Generator, times: np.ndarray, drawn: int) -> Floats:
    """How often each row was drawn in one sample."""
    kinds = np.repeat(np.arange(len(times)), times) if len(times) != drawn else None
    chosen = random.integers(0, drawn, size=drawn)
    return np.bincount(chosen if kinds is None else kinds[chosen], minlength=len(times)).astype(np.float64)
