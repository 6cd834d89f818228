"""The parts of a result that are settled one by one where annotators differ, and what may be chosen for each.

Scheme types declare them; what a difference weighs, and who is right, is decided elsewhere.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

from potato.schemes.comparisons import PlacedComment
from potato.schemes.opinions import Choice, Opinion


@dataclass(frozen=True, slots=True)
class Offer:
    """A value that may be chosen for a field, as JSON, and its words."""

    value: str | int | float | bool | None
    choice: Choice


@dataclass(frozen=True, slots=True)
class Field:
    """One key of a part's value that may be written anew: one of the `offers`, or a text where there are none."""

    name: str
    title: str
    offers: tuple[Offer, ...] = ()
    is_required: bool = False


@dataclass(frozen=True, slots=True)
class Part:
    """What one result says of one question: a verdict, the rating of a file, the label of a step, a comment.

    `key` is the same in all results for the same question; parts with a `place` are told apart by their lines instead.
    `value` is what `SchemeType.join` takes. `answer` is what two parts have in common where they say the same, and
    `decides` what training data make of it: None where they make nothing of it. `opinions` are how pages show it, and
    `steps` the steps that are its evidence. A part that `is_optional` may be left out of the result. `compared` is the
    name of the ValueComparison that has this question as a unit, and its value there.
    """

    key: str
    title: str
    value: Mapping[str, Any]
    answer: Hashable
    opinions: tuple[Opinion, ...]
    fields: tuple[Field, ...] = ()
    decides: Hashable = None
    place: PlacedComment | None = None
    file: str | None = None
    steps: tuple[int, ...] = ()
    is_optional: bool = False
    compared: tuple[str, Hashable] | None = None

    @property
    def number(self) -> float | None:
        """What is said as a number alone, as a rating is."""
        first = self.opinions[0] if self.opinions else None
        return first.number if first is not None and not first.choices else None
