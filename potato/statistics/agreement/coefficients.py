"""Agreement of any number of annotators on labels and numbers, corrected for chance or not.

Sources of the formulas: Krippendorff, Computing Krippendorff's Alpha-Reliability (2011); Fleiss, Psychological
Bulletin 76 (1971) 378, generalised to gaps as in Gwet, Handbook of Inter-Rater Reliability (2014), chapter 2; Gwet,
British Journal of Mathematical and Statistical Psychology 61 (2008) 29; Cohen, Educational and Psychological
Measurement 20 (1960) 37, weighted: Psychological Bulletin 70 (1968) 213; Shrout and Fleiss, Psychological Bulletin 86
(1979) 420.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Literal, TypeAlias

import numpy as np

from potato.statistics.agreement.choices import Choices, Floats
from potato.statistics.agreement.estimates import Totals, estimate, ratio, share
from potato.statistics.agreement.figures import NO_PAIRS, SAMPLES, Basis, Estimate

Level: TypeAlias = Literal["nominal", "ordinal", "interval"]
Weights: TypeAlias = Literal["none", "linear", "quadratic"]

_ONE_VALUE = "every choice compared is the same value, so nothing could be due to chance"


def krippendorff_alpha(choices: Choices, level: Level, *, samples: int = SAMPLES, seed: int = 0) -> Estimate:
    """Krippendorff's alpha: 1 for full agreement, 0 for what chance alone gives, below for less than that.

    `level` says when two values differ and how much: `nominal` at all, `ordinal` by the ranks between them in the
    order of `choices.values`, `interval` by the square of their difference. Gaps are allowed: each unit counts with
    the annotators that it has. Not defined where every choice is the same value. Raises ValueError for `interval`
    where a value is no number.
    """
    if level == "interval":
        sums, figure = _alpha_of_numbers(choices)
    elif level == "ordinal":
        sums, figure = _alpha_of_ranks(choices)
    else:
        sums, figure = _alpha_of_names(choices)
    return estimate(sums, figure, basis(choices), _ONE_VALUE, samples=samples, seed=seed)


def percent_agreement(choices: Choices, *, samples: int = SAMPLES, seed: int = 0) -> Estimate:
    """The share, 0 to 1, of the pairs of annotators within a unit that chose the same, averaged over the units."""
    agreed, counted = _agreed_pairs(choices)
    sums = choices.by_trace(np.stack([agreed, counted], axis=1))
    return estimate(sums, share, basis(choices), "", samples=samples, seed=seed)


def fleiss_kappa(choices: Choices, *, samples: int = SAMPLES, seed: int = 0) -> Estimate:
    """Fleiss' kappa; with gaps in its generalised form, where a value's share is averaged over the units."""

    def figure(totals: Floats) -> Floats:
        agreed, shares = _agreed_and_shares(totals)
        expected = (shares**2).sum(axis=1)
        return _corrected(agreed, expected)

    return estimate(_sums_of_shares(choices), figure, basis(choices), _ONE_VALUE, samples=samples, seed=seed)


def gwet_ac1(choices: Choices, *, samples: int = SAMPLES, seed: int = 0) -> Estimate:
    """Gwet's AC1, which stays near the percentage where one value is far more frequent than the others.

    Chance is spread over all `choices.values`, so that the scale belongs into `Choices.gather`. Not defined for a
    scale of one value.
    """

    def figure(totals: Floats) -> Floats:
        agreed, shares = _agreed_and_shares(totals)
        if shares.shape[1] < 2:
            return np.full(len(totals), np.nan)
        expected = (shares * (1 - shares)).sum(axis=1) / (shares.shape[1] - 1)
        return _corrected(agreed, expected)

    why = "the scale has one value, so that nothing can be disagreed on"
    return estimate(_sums_of_shares(choices), figure, basis(choices), why, samples=samples, seed=seed)


def cohen_kappa(
    choices: Choices,
    first: Hashable,
    second: Hashable,
    weights: Weights | Floats = "none",
    *,
    samples: int = SAMPLES,
    seed: int = 0,
) -> Estimate:
    """Cohen's kappa of two annotators over the units that both judged.

    `weights` says how much two values disagree: `none` fully, `linear` and `quadratic` by their places on the scale,
    or a table of disagreement (values x values) of one's own.
    """
    both = choices.of_annotators(first, second)
    size = len(choices.values)
    table = _tables(both, first, second)
    disagreement = _disagreement(size, weights) if isinstance(weights, str) else np.asarray(weights, dtype=np.float64)

    def figure(totals: Floats) -> Floats:
        tables = totals.reshape(len(totals), size, size)
        number = tables.sum(axis=(1, 2))
        observed = ratio((tables * disagreement).sum(axis=(1, 2)), number)
        chance = np.einsum("si,sj->sij", tables.sum(axis=2), tables.sum(axis=1))
        expected = ratio((chance * disagreement).sum(axis=(1, 2)), number**2)
        return 1 - ratio(observed, expected)

    return estimate(table, figure, basis(both), _ONE_VALUE, samples=samples, seed=seed)


def intraclass_correlation(choices: Choices, *, samples: int = SAMPLES, seed: int = 0) -> Estimate:
    """ICC(2,1): absolute agreement of single annotators, who are a sample of all annotators.

    Needs a table without gaps, so only units that every annotator judged count. Raises ValueError where a value is
    no number.
    """
    numbers = choices.numbers()
    raters = len(choices.names)
    choices_of_unit = np.bincount(choices.units, minlength=len(choices.trace_of_unit))
    whole = choices_of_unit == raters
    kept = whole[choices.units]
    table = np.zeros((len(whole), raters))
    table[choices.units[kept], choices.annotators[kept]] = numbers[kept] - (numbers[kept].mean() if kept.any() else 0)
    of_rows = np.column_stack([whole, (table**2).sum(axis=1), table.sum(axis=1) ** 2, table])

    def figure(totals: Floats) -> Floats:
        rows, squares, squared_rows, columns = totals[:, 0], totals[:, 1], totals[:, 2], totals[:, 3:]
        correction = ratio(columns.sum(axis=1) ** 2, rows * raters)
        between_rows = squared_rows / raters - correction
        between_columns = ratio((columns**2).sum(axis=1), rows) - correction
        rest = squares - correction - between_rows - between_columns
        mean_rows = ratio(between_rows, rows - 1)
        mean_columns = between_columns / (raters - 1)
        mean_rest = ratio(rest, (rows - 1) * (raters - 1))
        spread = mean_rows + (raters - 1) * mean_rest + ratio(raters * (mean_columns - mean_rest), rows)
        return ratio(mean_rows - mean_rest, spread)

    pairs = int(whole.sum()) * raters * (raters - 1) // 2
    complete = Basis(len(np.unique(choices.trace_of_unit[whole])), int(whole.sum()), pairs)
    why = "fewer than two units were judged by every annotator, or all numbers are equal"
    if raters < 2:
        complete = Basis(0, 0, 0)
    nothing = f"no unit was judged by all {raters} annotators, which it needs" if raters > 2 else NO_PAIRS
    return estimate(choices.by_trace(of_rows), figure, complete, why, samples=samples, seed=seed, without_pairs=nothing)


def confusion(choices: Choices) -> Floats:
    """How often two annotators of a unit chose each pair of values: values x values, symmetric, a pair once.

    A pair of different values counts a half on each side of the diagonal.
    """
    counts = choices.counts()
    pairs = counts.T @ counts - np.diag(counts.sum(axis=0))
    return np.asarray(pairs / 2)


def basis(choices: Choices) -> Basis:
    """How much there is to compare in these choices."""
    judged = np.bincount(choices.units, minlength=len(choices.trace_of_unit))
    shared = judged > 1
    pairs = int((judged[shared] * (judged[shared] - 1) // 2).sum())
    traces = np.count_nonzero(np.bincount(choices.trace_of_unit[shared], minlength=choices.traces))
    return Basis(int(traces), int(shared.sum()), pairs)


def _alpha_of_names(choices: Choices) -> tuple[Floats, Totals]:
    counts, judged = _shared_counts(choices)
    differing = (judged[:, np.newaxis] - counts) * counts
    sums = choices.by_trace(np.column_stack([differing.sum(axis=1) / np.maximum(judged - 1, 1), counts]))

    def figure(totals: Floats) -> Floats:
        number = totals[:, 1:].sum(axis=1)
        expected = number**2 - (totals[:, 1:] ** 2).sum(axis=1)
        return 1 - ratio(totals[:, 0] * (number - 1), expected)

    return sums, figure


def _alpha_of_ranks(choices: Choices) -> tuple[Floats, Totals]:
    counts, judged = _shared_counts(choices)
    size = len(choices.values)
    per_pair = counts / np.maximum(judged - 1, 1)[:, np.newaxis]
    coincidences = np.empty((choices.traces, size * size))
    for value in range(size):
        within = counts.copy()
        within[:, value] -= 1
        columns = per_pair[:, [value]] * within
        coincidences[:, value * size : (value + 1) * size] = choices.by_trace(columns)

    def figure(totals: Floats) -> Floats:
        tables = totals.reshape(len(totals), size, size)
        of_value = tables.sum(axis=2)
        below = np.cumsum(of_value, axis=1) - of_value / 2
        apart = (below[:, :, np.newaxis] - below[:, np.newaxis, :]) ** 2
        observed = (tables * apart).sum(axis=(1, 2))
        expected = (np.einsum("si,sj->sij", of_value, of_value) * apart).sum(axis=(1, 2))
        return 1 - ratio(observed * (of_value.sum(axis=1) - 1), expected)

    return coincidences, figure


def _alpha_of_numbers(choices: Choices) -> tuple[Floats, Totals]:
    numbers = choices.numbers()
    units = len(choices.trace_of_unit)
    judged = np.bincount(choices.units, minlength=units).astype(np.float64)
    shared = judged > 1
    kept = shared[choices.units]
    # Sums of squares of numbers far from zero lose their digits.
    numbers = numbers - (numbers[kept].mean() if kept.any() else 0)
    total = np.bincount(choices.units, weights=numbers * kept, minlength=units)
    squares = np.bincount(choices.units, weights=numbers**2 * kept, minlength=units)
    observed = (judged * squares - total**2) / np.maximum(judged - 1, 1)
    sums = choices.by_trace(np.column_stack([observed, judged * shared, total, squares]))

    def figure(totals: Floats) -> Floats:
        number = totals[:, 1]
        expected = number * totals[:, 3] - totals[:, 2] ** 2
        # What is left of equal numbers after rounding is no spread.
        expected = np.where(expected <= 1e-12 * number * totals[:, 3], 0, expected)
        return 1 - ratio(totals[:, 0] * (number - 1), expected)

    return sums, figure


def _shared_counts(choices: Choices) -> tuple[Floats, Floats]:
    """Counts of units that two annotators or more judged, zeros for the others, and how many judged each."""
    counts = choices.counts()
    counts[counts.sum(axis=1) < 2] = 0
    return counts, counts.sum(axis=1)


def _agreed_pairs(choices: Choices) -> tuple[Floats, Floats]:
    """For each unit the share of its pairs that agree, and 1 where it has any pair."""
    counts, judged = _shared_counts(choices)
    agreed = (counts * (counts - 1)).sum(axis=1) / np.maximum(judged * (judged - 1), 1)
    return agreed, (judged > 1).astype(np.float64)


def _sums_of_shares(choices: Choices) -> Floats:
    """What Fleiss' and Gwet's coefficients need of each trace: agreed, units with pairs, units, shares of values."""
    counts = choices.counts()
    judged = counts.sum(axis=1)
    shares = counts / np.maximum(judged, 1)[:, np.newaxis]
    agreed, counted = _agreed_pairs(choices)
    return choices.by_trace(np.column_stack([agreed, counted, judged > 0, shares]))


def _agreed_and_shares(totals: Floats) -> tuple[Floats, Floats]:
    shares = totals[:, 3:] / np.maximum(totals[:, [2]], 1)
    return ratio(totals[:, 0], totals[:, 1]), shares


def _tables(choices: Choices, first: Hashable, second: Hashable) -> Floats:
    """For each trace how often the first annotator chose i where the second chose j, as one row of values x values."""
    size, units = len(choices.values), len(choices.trace_of_unit)
    chosen = np.full((2, units), -1)
    for side, name in enumerate((first, second)):
        if name in choices.names:
            own = choices.annotators == choices.names.index(name)
            chosen[side, choices.units[own]] = choices.codes[own]
    both = (chosen >= 0).all(axis=0)
    cells = choices.trace_of_unit[both] * size * size + chosen[0, both] * size + chosen[1, both]
    return (
        np.bincount(cells, minlength=choices.traces * size * size)
        .reshape(choices.traces, size * size)
        .astype(np.float64)
    )


def _disagreement(size: int, weights: Weights) -> Floats:
    places = np.arange(size)
    apart: Floats = np.abs(places[:, np.newaxis] - places[np.newaxis, :]).astype(np.float64)
    if weights == "none":
        apart = np.minimum(apart, 1)
    return apart**2 if weights == "quadratic" else apart


def _corrected(agreed: Floats, expected: Floats) -> Floats:
    return ratio(agreed - expected, 1 - expected)
