"""One figure with its interval and what it rests on, as reports keep it.

Apart from what computes it, so that who only reads figures does not load numpy: 15 MiB in each process of the site.
"""

from __future__ import annotations

from dataclasses import dataclass

from potato.statistics.agreement.bounds import FEW_PAIRS, FEW_TRACES

SAMPLES = 1000
NO_PAIRS = "no unit was judged by two annotators"


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
