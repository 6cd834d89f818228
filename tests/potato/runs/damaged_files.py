"""Damaged files: what an upload may be after a broken transfer, another program's rewriting, or bad luck. They are the
same ones each time; nothing may be raised."""

import json
import random
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

from potato.runs.changes.derive import derive
from potato.runs.converters.reading import read_file
from potato.runs.model import Converted, ReadingOptions, StatedTask, Unreadable
from potato.runs.run_files import InMemoryRunFile

_WRONG: tuple[Any, ...] = (
    None, True, -1, 2**70, 0.5, 3.5, "", "x", "x\x00\ud800", [], {}, [None], [[]], [None, 7], {"type": 7}, {"type": []},
    {"role": []}, ["a", {}],
)  # fmt: skip


def damaged(data: bytes, seed: int, count: int) -> Iterator[bytes]:
    """So many damaged copies of a file: cut off, with other bytes, with parts that are gone or stand twice."""
    chance = random.Random(seed)  # noqa: S311  (not for secrets)
    for number in range(count):
        copy = bytearray(data)
        match number % 4:
            case 0:
                del copy[chance.randrange(len(copy)) :]
            case 1:
                for _ in range(chance.randrange(1, 20)):
                    copy[chance.randrange(len(copy))] = chance.randrange(256)
            case 2:
                begin = chance.randrange(len(copy))
                del copy[begin : begin + chance.randrange(1, 400)]
            case _:
                begin = chance.randrange(len(copy))
                copy[begin:begin] = copy[: chance.randrange(1, 400)]
        yield bytes(copy)


def retyped(value: Any, seed: int, count: int) -> Iterator[Any]:
    """So many copies of a JSON value, each with a few members gone or of another type, however deep."""
    chance = random.Random(seed)  # noqa: S311
    for _ in range(count):
        copy = deepcopy(value)
        for _ in range(chance.randrange(1, 5)):
            _spoil(copy, chance)
        yield copy


def _spoil(value: Any, chance: random.Random) -> None:
    """Put something wrong at one place of the value."""
    while isinstance(value, dict | list) and value:
        key = chance.choice(list(value)) if isinstance(value, dict) else chance.randrange(len(value))
        if not isinstance(value[key], dict | list) or not value[key] or chance.random() < 0.25:
            if isinstance(value, dict) and chance.random() < 0.3:
                del value[key]
            else:
                value[key] = deepcopy(chance.choice(_WRONG))
            return
        value = value[key]


def read_without_error(data: bytes, name: str, format: str) -> list[Converted]:
    """The runs that the converter gives of the file, which is read as the format whatever it looks like; the test fails
    if anything is raised that is not an answer."""
    options = ReadingOptions()
    answers = list(read_file(InMemoryRunFile(name, data, options.bounds), options, named=format, explicit=True))
    assert answers or not data.strip()
    for answer in answers:
        if isinstance(answer, Converted):
            derive(answer.run)
            assert len(answer.run.events) == len(answer.run.event_steps)
            assert all(step is None or 0 <= step < len(answer.run.steps) for step in answer.run.event_steps)
        elif isinstance(answer, Unreadable):
            assert answer.sentence.endswith((".", "?", "!")), answer.sentence
        else:
            assert isinstance(answer, StatedTask) or answer.format == format
    return [answer for answer in answers if isinstance(answer, Converted)]


def read_damaged(data: bytes, name: str, format: str, *, seed: int, number: int = 300) -> int:
    """How many runs came of so many damaged copies of a file of JSON, or of lines of it: two in three have damaged
    bytes, the others members that are gone or of wrong types."""
    copies = [*damaged(data, seed, number * 2 // 3)]
    text = data.decode()
    is_lines = "\n{" in text.strip() and not text.lstrip().startswith("[") and text.strip().endswith("}")
    try:
        value = [json.loads(line) for line in text.splitlines() if line.strip()] if is_lines else json.loads(text)
    except ValueError:
        is_lines, value = False, json.loads(text)
    for changed in retyped(value, seed, number - len(copies)):
        lines = [json.dumps(each) for each in changed] if is_lines else [json.dumps(changed, indent=1)]
        copies.append("\n".join(lines).encode())
    return sum(len(read_without_error(copy, name, format)) for copy in copies)
