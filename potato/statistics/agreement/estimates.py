"""One figure with its interval: an estimate from sums over traces, and the same from resampled traces.

A measure is two functions: what each trace adds (its sums), and the figure that the totals give. Traces are the
unit of resampling since what is judged within one trace depends on each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import exp, factorial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from potato.statistics.agreement.choices import Floats
from potato.statistics.agreement.figures import NO_PAIRS, Basis, Estimate

Totals: TypeAlias = Callable[[Floats], Floats]
"""The figure of each row of totals (... x columns), nan where it is not defined."""

_LEVEL = 0.95
_DEFINED_SHARE = 0.95
_DIGITS = 6
_DIGITS_OF_SUMS = 9
_FACTORS_SEED = 2011
_NOTHING = 1e-15
_CELLS_AT_ONCE = 250_000
_MANY_ROWS = 1000
_POISSON_BOUNDS = tuple(round(2**16 * sum(exp(-1) / factorial(k) for k in range(times + 1))) for times in range(8))
"""How many of the 65,536 numbers of 16 bits stand for 0, for at most 1, 2 ... of a Poisson variable of mean 1."""


def ratio(over: Floats, under: Floats) -> Floats:
    """The quotients, nan where there is nothing to divide by."""
    result: Floats = np.full(np.broadcast(over, under).shape, np.nan)
    return np.divide(over, under, out=result, where=np.abs(under) > _NOTHING)


def share(totals: Floats) -> Floats:
    """The figure of sums that are a numerator and a denominator."""
    return ratio(totals[:, 0], totals[:, 1])


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
    return Estimate(_rounded(value), low, high, basis.traces, basis.units, basis.pairs)


def _interval(sums: Floats, figure: Totals, samples: int, seed: int) -> tuple[float | None, float | None]:
    figures = np.concatenate([figure(totals) for totals in _resampled(sums, samples, seed)])
    defined = figures[np.isfinite(figures)]
    if len(defined) < _DEFINED_SHARE * samples:
        return None, None
    low, high = np.quantile(defined, [(1 - _LEVEL) / 2, (1 + _LEVEL) / 2])
    return _rounded(float(low)), _rounded(float(high))


def _rounded(figure: float) -> float:
    """Without a sign at zero, which databases do not keep."""
    return round(figure, _DIGITS) + 0.0


def _resampled(sums: Floats, samples: int, seed: int) -> list[Floats]:
    """The totals of as many samples, drawn with replacement from the rows that add anything.

    Three ways, each the cheapest of its size. Equal rows are drawn together by a multinomial, which is the same
    distribution: a million traces of a few kinds cost what the kinds cost. Few rows are drawn one by one. Of more than
    a thousand rows each is drawn as often as a Poisson variable of mean 1 says (Hanley and MacGibbon, Computer Methods
    and Programs in Biomedicine 83 (2006) 57): the number of rows drawn then varies by three per cent or less, which no
    figure shows, since each is a ratio of totals, and it takes a third of the time.
    """
    rows, times = _kinds(sums[sums.any(axis=1)])
    drawn = int(times.sum())
    random = np.random.Generator(np.random.PCG64(seed))
    if len(rows) * 8 <= drawn:
        share = times / drawn
        return [
            _totals(random.multinomial(drawn, share, size=some).astype(np.float64), rows)
            for some in _chunks(samples, len(rows))
        ]
    rows = np.repeat(rows, times, axis=0)
    draw = _poisson if drawn > _MANY_ROWS else _drawn
    return [_totals(draw(random, some, drawn), rows) for some in _chunks(samples, drawn)]


def _totals(weights: Floats, rows: Floats) -> Floats:
    """The weighted sums of the rows for each sample.

    Not by `@`: for a matrix of a few columns its threads cost two to ten times what they multiply in.
    """
    totals: Floats = np.einsum("sr,cr->sc", weights, np.ascontiguousarray(rows.T))
    return totals


def _chunks(samples: int, rows: int) -> Iterator[int]:
    """The samples in parts whose weights fit into little memory."""
    at_once = max(1, _CELLS_AT_ONCE // max(rows, 1))
    for start in range(0, samples, at_once):
        yield min(at_once, samples - start)


def _drawn(random: np.random.Generator, samples: int, rows: int) -> Floats:
    """For each sample how often each row was drawn, in as many draws as there are rows."""
    drawn = (random.integers(0, rows, size=rows) for _ in range(samples))
    return np.stack([np.bincount(chosen, minlength=rows) for chosen in drawn]).astype(np.float64)


def _poisson(random: np.random.Generator, samples: int, rows: int) -> Floats:
    """For each sample and row an independent Poisson variable of mean 1, out of 16 random bits."""
    size = samples * rows
    numbers = random.bit_generator.random_raw(-(-size // 4)).view(np.uint16)[:size]
    times = np.zeros(size, dtype=np.uint8)
    for bound in _POISSON_BOUNDS:
        times += numbers >= bound
    return times.reshape(samples, rows).astype(np.float64)


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
