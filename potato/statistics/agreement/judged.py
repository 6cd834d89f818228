"""What annotators chose, as arrays: one value for each unit and annotator."""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Codes: TypeAlias = NDArray[np.int64]

_ANNOTATOR_BITS = 16


class Judged(NamedTuple):
    """One choice: which `unit` of which `trace` (a step, a file's dimension, the trace itself), who, and what.

    `trace`, `unit` and `annotator` are anything hashable; `value` is a number or a text.
    """

    trace: Hashable
    unit: Hashable
    annotator: Hashable
    value: Hashable


@dataclass(frozen=True)
class Choices:
    """Choices as codes, sorted by unit and annotator; at most one of an annotator for a unit.

    `traces`, `units`, `annotators` and `codes` are as long as there are choices. `codes` index `values`, which
    stand in the order of their scale, and `annotators` index `names`. `trace_of_unit` has the trace of each unit.
    """

    values: tuple[Any, ...]
    names: tuple[Any, ...]
    units: Codes
    annotators: Codes
    codes: Codes
    trace_of_unit: Codes
    traces: int

    @classmethod
    def gather(cls, judged: Iterable[Judged], scale: Sequence[Hashable] = ()) -> Choices:
        """The choices as arrays; of one annotator's several choices for a unit the last one counts.

        `scale` gives the values their order; values that it does not name follow, numbers by size, then texts.
        A unit belongs to its trace: the same `unit` under two traces is two units. Raises ValueError for more
        annotators than 65,536.
        """
        gatherer = Gatherer()
        for one in judged:
            gatherer.add(one)
        return gatherer.choices(scale)

    def of_units(self, kept: NDArray[np.bool_]) -> Choices:
        """The choices about these units alone, with the units and their traces numbered anew."""
        chosen = kept[self.units]
        traces, trace_of_unit = np.unique(self.trace_of_unit[kept], return_inverse=True)
        return Choices(
            values=self.values,
            names=self.names,
            units=(np.cumsum(kept) - 1)[self.units[chosen]],
            annotators=self.annotators[chosen],
            codes=self.codes[chosen],
            trace_of_unit=trace_of_unit.reshape(-1),
            traces=len(traces),
        )

    def of_annotators(self, *names: Hashable) -> Choices:
        """The choices of these annotators alone, about the same units and values."""
        wanted = [at for at, name in enumerate(self.names) if name in names]
        kept = np.isin(self.annotators, wanted)
        return Choices(
            values=self.values,
            names=self.names,
            units=self.units[kept],
            annotators=self.annotators[kept],
            codes=self.codes[kept],
            trace_of_unit=self.trace_of_unit,
            traces=self.traces,
        )

    def counts(self) -> Floats:
        """How often each value was chosen for each unit: units x values."""
        cells = self.units * len(self.values) + self.codes
        shape = len(self.trace_of_unit), len(self.values)
        return np.bincount(cells, minlength=shape[0] * shape[1]).reshape(shape).astype(np.float64)

    def by_trace(self, of_units: Floats) -> Floats:
        """The sums over the units of each trace: traces x columns, from units x columns."""
        sums = np.empty((self.traces, of_units.shape[1]))
        for column in range(of_units.shape[1]):
            sums[:, column] = np.bincount(self.trace_of_unit, weights=of_units[:, column], minlength=self.traces)
        return sums

    def numbers(self) -> Floats:
        """The value of each choice as a number. Raises ValueError where a value is none."""
        if unfit := [value for value in self.values if not _is_number(value)]:
            raise ValueError(f"This measure needs numbers; {unfit[0]!r} is none.")
        return np.array(self.values, dtype=np.float64)[self.codes] if self.values else np.zeros(0)


class Gatherer:
    """Choices as they come, one after another, in little memory. `units` are the units in the order of their numbers.

    Raises ValueError for more annotators than 65,536.
    """

    def __init__(self) -> None:
        self.traces: dict[Hashable, int] = {}
        self.units: list[Hashable] = []
        self._numbers: dict[tuple[int, Hashable], int] = {}
        self._names: dict[Hashable, int] = {}
        self._values: dict[Hashable, int] = {}
        self._trace_of_unit = array("q")
        # Unit and annotator in one integer, and values as small ones: a million choices take a third of the memory.
        self._chosen: dict[int, int] = {}
        self._answered: set[int] = set()

    def answer(self, trace: Hashable, annotator: Hashable, chosen: Iterable[tuple[Hashable, Hashable]]) -> None:
        """Everything that an annotator chose for a trace, by unit, in the place of what they chose for it before."""
        answer = self.traces.setdefault(trace, len(self.traces)) << _ANNOTATOR_BITS | self._name(annotator)
        if answer in self._answered:
            self._forget(answer)
        self._answered.add(answer)
        for unit, value in chosen:
            self.add(Judged(trace, unit, annotator, value))

    def add(self, one: Judged) -> None:
        """One choice; of one annotator's several choices for a unit the last one counts."""
        trace = self.traces.setdefault(one.trace, len(self.traces))
        unit = self._numbers.setdefault((trace, one.unit), len(self.units))
        if unit == len(self.units):
            self.units.append(one.unit)
            self._trace_of_unit.append(trace)
        self._chosen[unit << _ANNOTATOR_BITS | self._name(one.annotator)] = self._values.setdefault(
            one.value, len(self._values)
        )

    def choices(self, scale: Sequence[Hashable] = ()) -> Choices:
        """All of them as arrays, with the values in the order of the scale."""
        values = _in_order(set(self._values), scale)
        code = {value: at for at, value in enumerate(values)}
        keys = np.fromiter(self._chosen, dtype=np.int64, count=len(self._chosen))
        codes = np.fromiter(self._chosen.values(), dtype=np.int64, count=len(self._chosen))
        order = np.argsort(keys)
        keys = keys[order]
        codes = np.array([code[value] for value in self._values], dtype=np.int64)[codes[order]]
        return Choices(
            values=values,
            names=tuple(self._names),
            units=keys >> _ANNOTATOR_BITS,
            annotators=keys & ((1 << _ANNOTATOR_BITS) - 1),
            codes=codes,
            trace_of_unit=np.array(self._trace_of_unit, dtype=np.int64),
            traces=len(self.traces),
        )

    def _name(self, annotator: Hashable) -> int:
        number = self._names.setdefault(annotator, len(self._names))
        if number >> _ANNOTATOR_BITS:
            raise ValueError(f"At most {1 << _ANNOTATOR_BITS} annotators can be compared at once.")
        return number

    def _forget(self, answer: int) -> None:
        """Drop what the annotator chose for the trace. It is rare, so nothing is kept that would make it fast."""
        trace, annotator = answer >> _ANNOTATOR_BITS, answer & ((1 << _ANNOTATOR_BITS) - 1)
        for unit, of_trace in enumerate(self._trace_of_unit):
            if of_trace == trace:
                self._chosen.pop(unit << _ANNOTATOR_BITS | annotator, None)


def _in_order(values: set[Hashable], scale: Sequence[Hashable]) -> tuple[Any, ...]:
    rest = values.difference(scale)
    numbers = sorted(value for value in rest if _is_number(value))  # type: ignore[type-var]  # numbers alone
    others = sorted((value for value in rest if not _is_number(value)), key=str)
    return (*dict.fromkeys(scale), *numbers, *others)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
