"""What a report of agreement says of people and of what they confuse, for the overview of a project. Reads no rows.

The bounds are ours: below PAIRS pairs nobody is called anything, and fast is under a third of the project's median.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

PAIRS = 30
FAST = 1 / 3
SHOWN = 4
FEW_TRACES = 30
LINE = 0.67
"""Krippendorff's line, below which he advises to draw no conclusion; potato.statistics.agreement.words says more."""


@dataclass(frozen=True)
class Measure:
    """The main measure of something that is compared; places are per cent from 0 to 1, as the plot has them."""

    title: str
    value: float
    low: float | None
    high: float | None
    traces: int

    @property
    def is_small(self) -> bool:
        return self.traces < FEW_TRACES

    @property
    def is_low(self) -> bool:
        return self.value < LINE and not self.is_small

    @property
    def x(self) -> str:
        return _place(self.value)

    @property
    def x_low(self) -> str:
        return _place(self.value if self.low is None else self.low)

    @property
    def x_high(self) -> str:
        return _place(self.value if self.high is None else self.high)


@dataclass(frozen=True)
class PersonAgreement:
    """How far one person agrees with all others, on what is judged of a whole trace where there is such a thing.
    `project` is the value of all together."""

    value: float
    high: float | None
    pairs: int
    project: float

    @property
    def is_few(self) -> bool:
        return self.pairs < PAIRS

    @property
    def is_low(self) -> bool:
        return not self.is_few and self.high is not None and self.high < self.project


@dataclass(frozen=True)
class Confusion:
    """In `pairs` pairs of annotations of the same thing one says `one` and the other `other`."""

    title: str
    one: str
    other: str
    pairs: int


def measures_in(figures: Mapping[str, Any]) -> list[Measure]:
    """The main measure of the first SHOWN things that are compared and have one."""
    found = []
    for compared in figures.get("compared", ()):
        main = _main(compared)
        if main is not None:
            found.append(Measure(compared["title"], main["value"], main["low"], main["high"], main["traces"]))
    return found[:SHOWN]


def people_in(figures: Mapping[str, Any]) -> dict[str, PersonAgreement]:
    """By annotator name."""
    compared = _of_whole_traces(figures)
    main = _main(compared) if compared else None
    if compared is None or main is None:
        return {}
    return {
        name: PersonAgreement(one["value"], one["high"], one["pairs"], main["value"])
        for name, one in compared.get("rest_main", {}).items()
        if one["value"] is not None
    }


def is_fast(median: timedelta | None, of_all: timedelta | None) -> bool:
    return median is not None and of_all is not None and median < of_all * FAST


def largest_confusion(figures: Mapping[str, Any]) -> Confusion | None:
    """The two different answers that meet most often on one trace."""
    compared = _of_whole_traces(figures)
    pairs = sorted(_confusions(compared) if compared else (), key=lambda one: -one.pairs)
    return next(iter(pairs), None)


def _confusions(compared: Mapping[str, Any]) -> Iterator[Confusion]:
    """The table has each pair half in one cell and half in the other."""
    values, table = compared.get("values", ()), compared.get("confusion", ())
    for at, row in enumerate(table):
        for other in range(at + 1, len(row)):
            pairs = round(row[other] + table[other][at])
            if pairs:
                yield Confusion(compared["title"], str(values[at]), str(values[other]), pairs)


def _of_whole_traces(figures: Mapping[str, Any]) -> Mapping[str, Any] | None:
    with_value = [compared for compared in figures.get("compared", ()) if _main(compared) is not None]
    whole = [compared for compared in with_value if compared.get("unit") == "traces"]
    return next(iter([*whole, *with_value]), None)


def _main(compared: Mapping[str, Any]) -> Mapping[str, Any] | None:
    main: Mapping[str, Any] | None = compared.get("figures", {}).get(compared.get("main"))
    return main if main is not None and main["value"] is not None else None


def _place(value: float) -> str:
    return f"{100 * min(max(value, 0.0), 1.0):.1f}%"
