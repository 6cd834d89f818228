"""What annotators chose, as arrays: one value for each unit and annotator."""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Codes: TypeAlias = NDArray[np.int64]

_ANNOTATOR_BITS = 16
_UNIT_BITS = 32


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
        for (trace, annotator), own in groupby(judged, key=attrgetter("trace", "annotator")):
            gatherer.add(trace, annotator, ((choice.unit, choice.value) for choice in own))
        return gatherer.choices(scale)

    def of_units(self, kept: NDArray[np.bool_]) -> Choices:
        """The choices about these units alone, with the units and their traces numbered anew."""
        chosen = kept[self.units]
        trace_of_unit, traces = numbered(self.trace_of_unit[kept], self.traces)
        return Choices(
            values=self.values,
            names=self.names,
            units=(np.cumsum(kept) - 1)[self.units[chosen]],
            annotators=self.annotators[chosen],
            codes=self.codes[chosen],
            trace_of_unit=trace_of_unit,
            traces=traces,
        )

    def of_annotators(self, *names: Hashable) -> Choices:
        """The choices of these annotators alone, about the same units and values."""
        positions = [at for at, name in enumerate(self.names) if name in names]
        kept = np.isin(self.annotators, positions)
        return Choices(
            values=self.values,
            names=self.names,
            units=self.units[kept],
            annotators=self.annotators[kept],
            codes=self.codes[kept],
            trace_of_unit=self.trace_of_unit,
            traces=self.traces,
        )

    def judged_alike(self) -> tuple[Choices, Codes]:
        """One unit of each kind, and for every unit the number of its kind: units are of one kind where the same
        annotators chose the same values.
        """
        choices_of_unit = np.bincount(self.units, minlength=len(self.trace_of_unit))
        kind_of_unit = np.zeros(len(choices_of_unit), dtype=np.int64)
        first_choice = np.cumsum(choices_of_unit) - choices_of_unit
        chosen = self.annotators * len(self.values) + self.codes + 1
        for at in range(choices_of_unit.max(initial=0)):
            reaching = choices_of_unit > at
            keys = kind_of_unit * (len(self.names) * len(self.values) + 1)
            keys[reaching] += chosen[first_choice[reaching] + at]
            kind_of_unit = np.unique(keys, return_inverse=True)[1].reshape(-1)
        first_units = np.sort(np.unique(kind_of_unit, return_index=True)[1])
        number = np.zeros(len(first_units), dtype=np.int64)
        number[kind_of_unit[first_units]] = np.arange(len(first_units))
        kept = np.zeros(len(kind_of_unit), dtype=np.bool_)
        kept[first_units] = True
        return self.of_units(kept), number[kind_of_unit]

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
    """Choices as they come, one after another, in little memory. `traces` have their numbers in the order of coming.

    A choice is three integers in arrays until `choices` sorts them: 1,000,000 take 24 MB and about a second, where
    dictionaries of them took 90 MB more and three seconds. Raises ValueError for more annotators than 65,536.
    """

    def __init__(self) -> None:
        self.traces: dict[Hashable, int] = {}
        self._names: dict[Hashable, int] = {}
        self._values: dict[Hashable, int] = {}
        self._unit_names: dict[Hashable, int] = {}
        # For each choice trace and unit in one integer, the value, and the number of the answer that it is of.
        self._places = array("q")
        self._codes = array("q")
        self._of_answer = array("q")
        # For each answer its annotator, and whether a later one of the same annotator for the trace replaced it.
        self._annotators = array("q")
        self._replaced = bytearray()
        self._newest: dict[int, int] = {}

    def answer(self, trace: Hashable, annotator: Hashable, chosen: Iterable[tuple[Hashable, Hashable]]) -> None:
        """Everything that an annotator chose for a trace, by unit, in the place of what they chose for it before."""
        key = self._key(trace, annotator)
        earlier = self._newest.get(key)
        if earlier is not None:
            self._replaced[earlier] = True
        self._take(key, self._new_answer(key), chosen)

    def add(self, trace: Hashable, annotator: Hashable, chosen: Iterable[tuple[Hashable, Hashable]]) -> None:
        """Choices beside what the annotator chose for the trace before; of several for a unit the last one counts."""
        key = self._key(trace, annotator)
        answer = self._newest.get(key)
        self._take(key, self._new_answer(key) if answer is None else answer, chosen)

    def choices(self, scale: Sequence[Hashable] = ()) -> Choices:
        """All of them as arrays, with the values in the order of the scale."""
        values = _in_order(set(self._values), scale)
        code = {value: at for at, value in enumerate(values)}
        code_of_value = np.array([code[value] for value in self._values], dtype=np.int64)
        places, unit_of_choice = np.unique(_integers(self._places), return_inverse=True)
        of_answer = _integers(self._of_answer)
        annotators = _integers(self._annotators)[of_answer]
        keys = unit_of_choice.reshape(-1) << _ANNOTATOR_BITS | annotators
        counting = np.flatnonzero(~np.frombuffer(self._replaced, dtype=np.bool_)[of_answer])
        order = counting[np.argsort(keys[counting], kind="stable")]
        last = np.append(keys[order][1:] != keys[order][:-1], True) if len(order) else np.zeros(0, dtype=np.bool_)
        order = order[last]
        return Choices(
            values=values,
            names=tuple(self._names),
            units=keys[order] >> _ANNOTATOR_BITS,
            annotators=annotators[order],
            codes=code_of_value[_integers(self._codes)[order]],
            trace_of_unit=places >> _UNIT_BITS,
            traces=len(self.traces),
        )

    def units(self) -> list[Hashable]:
        """What the units of `choices` are called, in their order."""
        names = [*self._unit_names]
        return [names[place & ((1 << _UNIT_BITS) - 1)] for place in np.unique(_integers(self._places)).tolist()]

    def _take(self, key: int, answer: int, chosen: Iterable[tuple[Hashable, Hashable]]) -> None:
        of_trace = key >> _ANNOTATOR_BITS << _UNIT_BITS
        unit_names, values = self._unit_names, self._values
        before = len(self._codes)
        for unit, value in chosen:
            self._places.append(of_trace | unit_names.setdefault(unit, len(unit_names)))
            self._codes.append(values.setdefault(value, len(values)))
        self._of_answer.extend([answer] * (len(self._codes) - before))

    def _new_answer(self, key: int) -> int:
        answer = self._newest[key] = len(self._replaced)
        self._replaced.append(False)
        self._annotators.append(key & ((1 << _ANNOTATOR_BITS) - 1))
        return answer

    def _key(self, trace: Hashable, annotator: Hashable) -> int:
        """A trace and an annotator in one integer."""
        number = self._names.setdefault(annotator, len(self._names))
        if number >> _ANNOTATOR_BITS:
            raise ValueError(f"At most {1 << _ANNOTATOR_BITS} annotators can be compared at once.")
        return self.traces.setdefault(trace, len(self.traces)) << _ANNOTATOR_BITS | number


def numbered(present: Codes, size: int) -> tuple[Codes, int]:
    """These numbers, of 0 to `size`, counted anew without those that are absent, and how many there are."""
    there = np.zeros(size, dtype=np.bool_)
    there[present] = True
    return (np.cumsum(there) - 1)[present], int(there.sum())


def _integers(values: array[int]) -> Codes:
    return np.frombuffer(values, dtype=np.int64)


def _in_order(values: set[Hashable], scale: Sequence[Hashable]) -> tuple[Any, ...]:
    rest = values.difference(scale)
    numbers = sorted(value for value in rest if _is_number(value))  # type: ignore[type-var]  # numbers alone
    others = sorted((value for value in rest if not _is_number(value)), key=str)
    return (*dict.fromkeys(scale), *numbers, *others)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
