"""Process rewards that were given in another tool, as answers to `process_reward`. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from potato.schemes.rewards.configuration import ProcessRewardScheme
from potato.schemes.statements import REPLACED, Statement, Unplaced, offered_value, whole_number
from potato.wording import listed, shortened

_WORDS = {"correct": 1.0, "incorrect": -1.0, "wrong": -1.0, "first_error": -1.0, "downstream": -1.0}
_DERIVED = {"per_step": ("cumulative_score", "first_error"), "first_error": ("cumulative_score",)}
_NO_ERROR = frozenset({"none", "no_error", "all_correct", "no error", "all correct"})


def rewards_from(statements: Sequence[Statement], scheme: ProcessRewardScheme) -> tuple[dict[str, Any], list[Unplaced]]:
    """Labels of steps, or the first error, by the scheme's mode. A number is the label with that score, else the only
    one with that sign; in first-error mode the first step of a score of 0 or less is the first error."""
    whole = [each for each in statements if isinstance(each.value, Mapping) and not each.part and each.step is None]
    rest = [each for each in statements if each not in whole]
    if whole and not rest:
        return dict(whole[-1].value), [Unplaced(each.place, REPLACED) for each in whole[:-1]]
    derived = [each for each in rest if each.part in _DERIVED[scheme.mode]]
    rest = [each for each in rest if each not in derived]
    unplaced = [Unplaced(each.place, "It follows from what is said of the steps.") for each in derived]
    unplaced += [Unplaced(each.place, "It is told step by step besides, which is taken instead.") for each in whole]
    answers, more = _first_error(rest) if scheme.mode == "first_error" else _labels(rest, scheme)
    return answers, [*unplaced, *more]


def _labels(statements: Sequence[Statement], scheme: ProcessRewardScheme) -> tuple[dict[str, Any], list[Unplaced]]:
    block = scheme.per_step
    details: dict[str, dict[str, Any]] = {}
    places: dict[tuple[str, str], str] = {}
    unplaced: list[Unplaced] = []
    for statement in statements:
        if statement.step is None:
            unplaced.append(Unplaced(statement.place, "A label needs the step that it is about, from 0."))
            continue
        step, part = str(statement.step), statement.part or "label"
        value: Any = statement.value
        if part == "label":
            value = offered_value(value, block.labels) or _label_by_score(value, scheme)
            if value is None:
                offered = listed([label.value for label in block.labels], "or")
                reason = f"“{shortened(str(statement.value))}” is no label of this project. Say which one: {offered}."
                unplaced.append(Unplaced(statement.place, reason))
                continue
        elif part not in ("notes", "error_category", "correction"):
            unplaced.append(Unplaced(statement.place, f"Steps have no “{shortened(part)}” here."))
            continue
        if known := places.get((step, part)):
            unplaced.append(Unplaced(known, REPLACED))
        places[step, part] = statement.place
        detail = details.setdefault(step, {})
        detail[part] = value
        if statement.text and block.allow_notes:
            detail["notes"] = statement.text
        elif statement.text:
            unplaced.append(Unplaced(statement.place, "Steps carry no notes in this project: its text is left out."))
    return ({"step_details": details} if details else {}), unplaced


def _label_by_score(said: object, scheme: ProcessRewardScheme) -> str | None:
    try:
        number = float(said) if isinstance(said, int | float | str) else None
    except ValueError:
        return None
    if number is None:
        return None
    labels = scheme.per_step.labels
    same = [label.value for label in labels if float(label.score) == number]
    if not same and number:
        same = [label.value for label in labels if float(label.score) * number > 0]
    return same[0] if len(same) == 1 else None


def _first_error(statements: Sequence[Statement]) -> tuple[dict[str, Any], list[Unplaced]]:
    answers: dict[str, Any] = {}
    place = ""
    unplaced: list[Unplaced] = []
    scores: dict[int, float] = {}
    for statement in statements:
        said = statement.value
        if statement.step is not None:
            number = _score(said)
            if number is None:
                unplaced.append(
                    Unplaced(statement.place, f"“{shortened(str(said))}” says not whether the step is wrong.")
                )
            else:
                scores[statement.step] = number
            continue
        step = whole_number(said)
        if isinstance(said, str) and said.strip().casefold() in _NO_ERROR:
            new: dict[str, Any] = {"all_correct": True}
        elif step is not None:
            new = {"first_error_step": step}
        else:
            unplaced.append(Unplaced(statement.place, f"“{shortened(str(said))}” is no step; steps count from 0."))
            continue
        if place:
            unplaced.append(Unplaced(place, REPLACED))
        answers, place = new, statement.place
    if scores and not answers:
        wrong = [step for step, number in scores.items() if number <= 0]
        answers = {"first_error_step": min(wrong)} if wrong else {"all_correct": True}
    return answers, unplaced


def _score(said: object) -> float | None:
    if isinstance(said, str) and said.strip().casefold() in _WORDS:
        return _WORDS[said.strip().casefold()]
    try:
        return float(said) if isinstance(said, int | float | str) else None
    except ValueError:
        return None
