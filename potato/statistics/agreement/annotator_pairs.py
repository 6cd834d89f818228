"""Pairs of annotators who judged the same unit. A unit of three annotators has three pairs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from heapq import nsmallest

import numpy as np
from numpy.typing import NDArray

from potato.statistics.agreement.choices import Choices, Codes, numbered
from potato.statistics.agreement.coefficients import basis
from potato.statistics.agreement.estimates import estimate, share
from potato.statistics.agreement.figures import Estimate

EXAMPLES_KEPT = 50
"""Traces that are named for each two values, the first by their ids."""
NO_ERROR = "none"
"""The value of a trace without a first error, beside the numbers of steps."""


@dataclass(frozen=True)
class AnnotatorPairs:
    """For each pair the unit, the two annotators with the earlier named first, and the codes of what they chose."""

    choices: Choices
    units: Codes
    first: Codes
    second: Codes
    first_code: Codes
    second_code: Codes

    @classmethod
    def among(cls, choices: Choices) -> AnnotatorPairs:
        """Every pair in these choices, with annotators in the order of their names."""
        rank = np.argsort(np.argsort(np.array([str(name) for name in choices.names], dtype=object)))
        ranked = rank[choices.annotators] if len(choices.names) else choices.annotators
        order = np.lexsort((ranked, choices.units))
        units, annotators, codes = choices.units[order], choices.annotators[order], choices.codes[order]
        positions: list[tuple[Codes, Codes]] = []
        for apart in range(1, len(units)):
            at = np.flatnonzero(units[apart:] == units[:-apart])
            if not len(at):
                break
            positions.append((at, at + apart))
        first = np.concatenate([at for at, _ in positions]) if positions else np.zeros(0, dtype=np.int64)
        other = np.concatenate([at for _, at in positions]) if positions else np.zeros(0, dtype=np.int64)
        return cls(choices, units[first], annotators[first], annotators[other], codes[first], codes[other])

    def by_annotators(self) -> list[tuple[str, str, NDArray[np.bool_]]]:
        """The names of each two annotators who judged a unit both, with their pairs."""
        size = max(len(self.choices.names), 1)
        keys = self.first * size + self.second
        names = self.choices.names
        named = [(str(names[key // size]), str(names[key % size]), keys == key) for key in np.unique(keys)]
        return sorted(named, key=lambda pair: pair[:2])

    def of_annotator(self, number: int) -> NDArray[np.bool_]:
        own: NDArray[np.bool_] = (self.first == number) | (self.second == number)
        return own

    def as_choices(self, kept: NDArray[np.bool_]) -> Choices:
        """These pairs as choices: each is a unit of its own, judged by `one` and `other`; traces stay traces."""
        number = int(kept.sum())
        trace_of_unit, traces = numbered(self.choices.trace_of_unit[self.units[kept]], self.choices.traces)
        return Choices(
            values=self.choices.values,
            names=("one", "other"),
            units=np.repeat(np.arange(number), 2),
            annotators=np.tile(np.array([0, 1]), number),
            codes=np.column_stack([self.first_code[kept], self.second_code[kept]]).reshape(-1),
            trace_of_unit=trace_of_unit,
            traces=traces,
        )


def near(choices: Choices, within: int, *, samples: int, seed: int) -> Estimate:
    """The share, 0 to 1, of pairs whose first errors are at most `within` steps apart, averaged over the units.

    "No error" agrees with "no error" alone.
    """
    pairs = AnnotatorPairs.among(choices)
    apart, alone = _steps_apart(pairs)
    judged = np.bincount(choices.units, minlength=len(choices.trace_of_unit))[pairs.units]
    weights = 2.0 / (judged * (judged - 1))
    traces = choices.trace_of_unit[pairs.units]
    agreed = np.bincount(traces, weights=weights * (~alone & (apart <= within)), minlength=choices.traces)
    counted = np.bincount(traces, weights=weights, minlength=choices.traces)
    sums = np.column_stack([agreed, counted]).astype(np.float64)
    return estimate(sums, share, basis(choices), "", samples=samples, seed=seed)


def distances(choices: Choices) -> dict[int | None, int]:
    """How many pairs are how many steps apart; None counts those of which one alone found no error."""
    apart, alone = _steps_apart(AnnotatorPairs.among(choices))
    counted: Counter[int | None] = Counter(int(steps) for steps in apart[~alone])
    if alone.any():
        counted[None] = int(alone.sum())
    return dict(sorted(counted.items(), key=lambda item: (item[0] is None, item[0] or 0)))


def examples(choices: Choices, traces: Sequence[Hashable]) -> dict[tuple[int, int], list[Hashable]]:
    """For each two values, by their codes with the lower first, the first few traces with a pair that chose them."""
    pairs = AnnotatorPairs.among(choices)
    low = np.minimum(pairs.first_code, pairs.second_code)
    high = np.maximum(pairs.first_code, pairs.second_code)
    size = max(len(choices.values), 1)
    return {
        (cell // size, cell % size): named
        for cell, named in _first_traces(low * size + high, choices.trace_of_unit[pairs.units], traces).items()
    }


def examples_apart(choices: Choices, traces: Sequence[Hashable]) -> dict[int | None, list[Hashable]]:
    """The first few traces of which two first errors are so many steps apart; None: one alone found none."""
    pairs = AnnotatorPairs.among(choices)
    apart, alone = _steps_apart(pairs)
    named = _first_traces(np.where(alone, -1, apart), choices.trace_of_unit[pairs.units], traces)
    return {None if steps < 0 else steps: names for steps, names in named.items()}


def _first_traces(kinds: Codes, of_pair: Codes, traces: Sequence[Hashable]) -> dict[int, list[Hashable]]:
    """For each kind the first of its traces by their ids. A kind is -1 or more."""
    size = max(len(traces), 1)
    # A kind and a trace in one integer are sorted ten times as fast as rows of two.
    both = np.unique((kinds + 1) * size + of_pair)
    of_kind, starts = np.unique(both // size, return_index=True)
    return {
        int(kind) - 1: nsmallest(EXAMPLES_KEPT, (traces[trace] for trace in own % size), key=repr)
        for kind, own in zip(of_kind, np.split(both, starts[1:]), strict=False)
    }


def without_error(choices: Choices) -> int:
    """In how many pairs neither found an error."""
    pairs, steps = AnnotatorPairs.among(choices), _steps(choices.values)
    return int(((steps[pairs.first_code] < 0) & (steps[pairs.second_code] < 0)).sum()) if len(steps) else 0


def _steps_apart(pairs: AnnotatorPairs) -> tuple[Codes, NDArray[np.bool_]]:
    steps = _steps(pairs.choices.values)
    if not len(steps):
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.bool_)
    first, other = steps[pairs.first_code], steps[pairs.second_code]
    return np.abs(first - other), (first < 0) != (other < 0)


def _steps(values: Sequence[object]) -> Codes:
    """The step that each value stands for, -1 for none."""
    return np.array([value if isinstance(value, int) else -1 for value in values], dtype=np.int64)
