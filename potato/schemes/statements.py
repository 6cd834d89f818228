"""One thing that somebody said in another tool, as scheme types read it. Knows no tool."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar


@dataclass(frozen=True, slots=True)
class Statement:
    """`value` is what was said, of the question `part` of a scheme, "" for its main one: an option, a number, or a
    whole answer as records have it. `step` and `file` say what of the trace it is about, `text` is what was written
    beside it. `place` is where it stands, in words for people."""

    place: str
    value: Any
    part: str = ""
    step: int | None = None
    file: str | None = None
    text: str = ""


@dataclass(frozen=True, slots=True)
class Unplaced:
    """Something that has no place in an annotation: where it stands, and why, with what to do."""

    place: str
    reason: str


class Named(Protocol):
    """What is offered: a value, and the words that people read for it."""

    @property
    def value(self) -> str: ...

    @property
    def display(self) -> str: ...


Offered = TypeVar("Offered", bound=Named)


def offered_value(said: object, offered: Iterable[Offered]) -> str | None:
    """The value that is meant, by its own name or by its words, in any case of letters; None where none is."""
    if not isinstance(said, str):
        return None
    options = list(offered)
    for wanted in (said, said.strip().casefold()):
        for option in options:
            if wanted in (option.value, option.value.casefold(), option.display.casefold()):
                return option.value
    return None


def whole_number(said: object) -> int | None:
    """4, 4.0 and "4" as a whole number; None for what is none."""
    if isinstance(said, bool):
        return None
    if isinstance(said, str):
        try:
            said = float(said)
        except ValueError:
            return None
    if isinstance(said, int):
        return said
    return int(said) if isinstance(said, float) and said.is_integer() else None


def whole_answers(statements: Iterable[Statement]) -> tuple[Any, list[Unplaced]]:
    """The answers of a type that only reads them as a whole: the last of those that are objects or lists."""
    answers: Any = None
    place = ""
    unplaced: list[Unplaced] = []
    for statement in statements:
        if not isinstance(statement.value, Mapping | list) or statement.part:
            unplaced.append(Unplaced(statement.place, "Only a whole answer, as records have it, can be read here."))
            continue
        if place:
            unplaced.append(Unplaced(place, REPLACED))
        answers, place = statement.value, statement.place
    return answers, unplaced


REPLACED = "The same person said something else of it later, which is taken instead."
