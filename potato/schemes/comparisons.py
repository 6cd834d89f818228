"""What of annotators' results is compared, and by which measures: scheme types declare it, reports compute it.

Knows no measure's formula and loads no numpy, so that every process of the site can read the declarations.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

Measure: TypeAlias = Literal[
    "alpha_nominal", "alpha_ordinal", "alpha_interval", "fleiss_kappa", "gwet_ac1", "icc", "percent"
]


@dataclass(frozen=True, slots=True)
class PlacedComment:
    """A comment as its place: lines `first` to `last` (both included) on one side of a file."""

    file: str
    side: str
    first: int
    last: int
    category: str | None = None
    severity: str | None = None


@dataclass(frozen=True)
class ValueComparison:
    """One value for each unit of a result: a verdict, the rating of a file, the label of a step.

    `read` gives the units of a result with their values; a unit that was not judged is left out. `unit` is what the
    units are, in the plural. `scale` are the values on offer, in the order of their size where they have one.
    `by_position` says that units are positions from 0, and `by_file` that they are paths of files, so that agreement
    can be given for each. The first of `measures` is the main one, by which people, models and weeks are compared.
    `positive` are the values that accept what was judged: an automated source is compared by how often it accepts, too.
    """

    name: str
    title: str
    unit: str
    read: Callable[[Any], Iterable[tuple[Hashable, Hashable]]]
    measures: tuple[Measure, ...]
    scale: tuple[Hashable, ...] = ()
    by_position: bool = False
    by_file: bool = False
    positive: tuple[Hashable, ...] = ()


@dataclass(frozen=True)
class PlaceComparison:
    """Any number of places in a result: comments on lines. `scales` has the values on offer of what each place may
    say besides, `category` and `severity`; those of the severity in order."""

    name: str
    title: str
    read: Callable[[Any], Iterable[PlacedComment]]
    scales: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class FirstErrorComparison:
    """The first wrong step of a result, None where no step is wrong."""

    name: str
    title: str
    read: Callable[[Any], int | None]


def same_error(first: int | None, second: int | None, within: int = 0) -> bool:
    """Whether two annotators mean the same first error, give or take so many steps; None agrees with None alone."""
    if first is None or second is None:
        return first is second
    return abs(first - second) <= within


Comparison: TypeAlias = ValueComparison | PlaceComparison | FirstErrorComparison
