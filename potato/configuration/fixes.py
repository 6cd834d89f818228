"""What one click can put right in a configuration: only where it is sure, which is tried before it is offered."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite
from typing import Any

from potato.configuration.check import CheckedConfiguration, Where, check_configuration
from potato.configuration.editing import NotEditableError, rendered, with_key, with_value, without
from potato.configuration.json_schema import json_schema
from potato.schemes.registry import default_entries
from potato.validation.expectations import Expectations
from potato.validation.problems import Path, Problem
from potato.validation.yaml_source import read_yaml
from potato.wording import nearest

FIXES_TRIED = 8
"""Each is tried on the whole text; whoever has more problems fixes the first ones first."""
_WORDS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty"
)
_NUMBERS = {word: number for number, word in enumerate(_WORDS.split())} | {
    "thirty": 30,
    "forty": 40,
    "fifty": 50,
    "sixty": 60,
    "hundred": 100,
}
_SWITCHES = {"yes": True, "on": True, "y": True, "no": False, "off": False, "n": False, "true": True, "false": False}
_LEADING_TABS = re.compile(r"^[ ]*\t[ \t]*", re.MULTILINE)


@dataclass(frozen=True)
class Fix:
    """`label` says what it does, in few words; the text from `start` to `end` becomes `text`."""

    label: str
    start: int
    end: int
    text: str


def find_fixes(source: str, checked: CheckedConfiguration, *, where: Where = "browser") -> dict[Problem, Fix]:
    """The fix of each problem that has one. A fix takes its problem away and makes none."""
    offered: dict[Problem, Fix] = {}
    for problem in checked.problems[:FIXES_TRIED]:
        for label, text in _tries(source, problem):
            if text != source and _helps(problem, checked, check_configuration(text, where=where)):
                offered[problem] = _fix(label, source, text)
                break
    return offered


def _tries(source: str, problem: Problem) -> Iterator[tuple[str, str]]:
    read = read_yaml(source)
    if not read.is_readable:
        if _LEADING_TABS.search(source):
            yield "Indent with spaces", _LEADING_TABS.sub(lambda tabs: tabs[0].replace("\t", "  "), source)
        return
    expected = Expectations(json_schema(), read.value)
    try:
        match problem.code:
            case "unknown_key":
                yield from _other_key(source, read.value, expected, problem.path)
            case "no_effect":
                yield f"Remove {problem.path[-1]}", without(source, problem.path)
            case "wrong_value" if problem.path:
                for value in _values(_at(read.value, problem.path), expected, problem.path):
                    yield f"Make it {rendered(value)}", with_value(source, problem.path, value)
            case "missing_key":
                yield from _missing(source, read.value, problem)
    except (NotEditableError, LookupError, TypeError):
        return


def _other_key(source: str, value: Any, expected: Expectations, path: Path) -> Iterator[tuple[str, str]]:
    above, key = path[:-1], str(path[-1])
    unused = [name for name in expected.keys(above) if name not in _at(value, above)]
    meant = nearest(key, unused)
    if meant is not None:
        yield f"Make it {meant}", with_key(source, path, meant)


def _values(value: Any, expected: Expectations, path: Path) -> Iterator[Any]:
    if isinstance(value, float) and not isfinite(value):
        return  # Nobody knows which number .nan or .inf was to be.
    types, word = expected.types(path), str(value).strip().lower()
    if "boolean" in types and word in _SWITCHES:
        yield _SWITCHES[word]
    if types & {"integer", "number"}:
        yield from _numbers(value, word)
        yield from _bound(value, expected.bounds(path))
    choices = expected.choices(path)
    if isinstance(value, str) and choices and (meant := nearest(value, choices)):
        yield meant
    if "string" in types and not choices and isinstance(value, int | float) and not isinstance(value, bool):
        yield str(value)


def _numbers(value: Any, word: str) -> Iterator[int | float]:
    if word in _NUMBERS:
        yield _NUMBERS[word]
    if re.fullmatch(r"[0-9]{1,9}", word):
        yield int(word)
    elif isinstance(value, float):
        yield round(value)


def _bound(value: Any, bounds: tuple[int | float, ...]) -> Iterator[int | float]:
    """The bound that a number went over."""
    if isinstance(value, int | float) and not isinstance(value, bool) and bounds:
        yield max(bounds) if value > max(bounds) else min(bounds)


def _missing(source: str, value: Any, problem: Problem) -> Iterator[tuple[str, str]]:
    key = problem.message.split(" ", 1)[0]
    if key == "task_name" and not problem.path:
        yield "Add task_name", with_value(source, ("task_name",), "Untitled")
    kind = _at(value, problem.path)
    names = {entry["annotation_type"]: entry["name"] for entry in default_entries()}
    if key == "name" and isinstance(kind, dict) and kind.get("annotation_type") in names:
        name = names[kind["annotation_type"]]
        yield f"Add name: {name}", with_value(source, (*problem.path, "name"), name)


def _at(value: Any, path: Path) -> Any:
    for step in path:
        value = value[step]
    return value


def _helps(problem: Problem, before: CheckedConfiguration, after: CheckedConfiguration) -> bool:
    """Whether it is gone, and nothing came in its place; of a text that could not be read, whether it can be now."""
    if problem.code == "yaml_syntax":
        return all(other.code != problem.code for other in after.problems)
    known = {(other.path, other.code, other.severity) for other in before.problems}
    left = [(other.path, other.code, other.severity) for other in after.problems]
    return len(left) < len(before.problems) and set(left) <= known - {(problem.path, problem.code, problem.severity)}


def _fix(label: str, before: str, after: str) -> Fix:
    start = next(
        (at for at, (old, new) in enumerate(zip(before, after, strict=False)) if old != new),
        min(len(before), len(after)),
    )
    shorter = min(len(before), len(after)) - start
    tail = next((at for at in range(shorter) if before[-1 - at] != after[-1 - at]), shorter)
    return Fix(label, start, len(before) - tail, after[start : len(after) - tail])
