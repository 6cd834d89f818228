"""Code reviews that were made in another tool, as answers to the three scheme types. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from potato.schemes.review import comments
from potato.schemes.review.configuration import FileRatingsBlock, VerdictBlock
from potato.schemes.statements import REPLACED, Statement, Unplaced, offered_value, whole_number
from potato.wording import listed, shortened


def comments_from(statements: Sequence[Statement]) -> tuple[list[dict[str, Any]], list[Unplaced]]:
    """The comments, each said as an object with the keys of a comment, or all of them as a list."""
    made: list[dict[str, Any]] = []
    unplaced: list[Unplaced] = []
    for statement in statements:
        entries = statement.value if isinstance(statement.value, list) else [statement.value]
        for entry in entries:
            if not isinstance(entry, Mapping):
                reason = f"{_shown(entry)} is no comment on lines: it names no file and line."
                unplaced.append(Unplaced(statement.place, reason))
                continue
            comment = {key: entry[key] for key in comments.KEYS if entry.get(key) is not None}
            if statement.text and not comment.get("comment"):
                comment["comment"] = statement.text
            made.append(comment)
    return made, unplaced


def verdict_from(statements: Sequence[Statement], block: VerdictBlock) -> tuple[dict[str, Any], list[Unplaced]]:
    """The last decision, and what was written beside it or under `summary`."""
    verdict: dict[str, Any] = {}
    place = ""
    unplaced: list[Unplaced] = []
    for statement in statements:
        if statement.part == "summary":
            verdict["summary"] = str(statement.value)
            continue
        said = statement.value
        text = statement.text
        if isinstance(said, Mapping):
            text = text or str(said.get("summary") or "")
            said = said.get("decision")
        decision = offered_value(said, block.options)
        if statement.part not in ("", "decision") or decision is None:
            options = listed([option.value for option in block.options], "or")
            reason = f"{_shown(said)} is not a verdict of this project. Say which one is meant: {options}."
            unplaced.append(Unplaced(statement.place, reason))
            continue
        if place:
            unplaced.append(Unplaced(place, REPLACED))
        verdict["decision"], place = decision, statement.place
        if text:
            verdict["summary"] = text
    if "decision" not in verdict:
        unplaced += [Unplaced(statement.place, "A summary needs a verdict.") for statement in statements if verdict]
        return {}, unplaced
    return verdict, unplaced


def ratings_from(statements: Sequence[Statement], block: FileRatingsBlock) -> tuple[dict[str, Any], list[Unplaced]]:
    """The numbers by file and dimension; one of several for the same is the last."""
    names = [dimension.name for dimension in block.dimensions]
    ratings: dict[str, dict[str, Any]] = {}
    places: dict[tuple[str, str], str] = {}
    unplaced: list[Unplaced] = []

    def rate(file: str, dimension: str, said: object, place: str) -> None:
        number = whole_number(said)
        if dimension not in names or number is None:
            reason = f"{_shown(said)} for {dimension or 'no dimension'} is no rating. Rated are {listed(names, 'and')}."
            unplaced.append(Unplaced(place, reason))
            return
        if known := places.get((file, dimension)):
            unplaced.append(Unplaced(known, REPLACED))
        places[file, dimension] = place
        ratings.setdefault(file, {})[dimension] = number

    for statement in statements:
        if isinstance(statement.value, Mapping):
            for file, numbers in statement.value.items():
                if not isinstance(numbers, Mapping):
                    unplaced.append(Unplaced(statement.place, f"The ratings of {_shown(file)} are no object."))
                    continue
                for dimension, said in numbers.items():
                    rate(file, dimension, said, statement.place)
        elif statement.file is None:
            unplaced.append(Unplaced(statement.place, "A rating needs the file that it is about."))
        else:
            rate(statement.file, statement.part, statement.value, statement.place)
    return ratings, unplaced


def _shown(said: object) -> str:
    return f"“{shortened(str(said))}”"
