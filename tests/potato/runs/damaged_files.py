"""Damaged files: what an upload may be after a broken transfer, another program's rewriting, or bad luck."""

import random
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

from potato.runs.changes.derive import derive
from potato.runs.converters.reading import read_file
from potato.runs.model import Converted, ReadingOptions, StatedTask, Unreadable
from potato.runs.run_files import InMemoryRunFile

_OTHER_VALUES: list[Any] = [
    None, True, -1, 3.5, "", "x", "\ud800\x00", [], [None], {}, {"type": 7}, [[]], {"role": []}, 10**30,
]  # fmt: skip


def damaged(data: bytes, seed: int, count: int) -> Iterator[bytes]:
    """So many damaged copies of a file: cut off, with other bytes, with lines in another order or gone."""
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
    """So many copies of a JSON value, each with a few members of another type."""
    chance = random.Random(seed)  # noqa: S311
    for _ in range(count):
        copy = deepcopy(value)
        for _ in range(chance.randrange(1, 4)):
            container = copy
            while True:
                keys = list(container) if isinstance(container, dict) else list(range(len(container)))
                if not keys:
                    break
                key = chance.choice(keys)
                child = container[key]
                if isinstance(child, dict | list) and child and chance.random() < 0.85:
                    container = child
                    continue
                container[key] = deepcopy(chance.choice(_OTHER_VALUES))
                break
        yield copy


def read_without_error(data: bytes, name: str, format: str) -> list[Converted]:
    """The runs that the converter gives of the file; the test fails if anything is raised that is not an answer."""
    options = ReadingOptions()
    answers = list(read_file(InMemoryRunFile(name, data, options.bounds), options, named=format, explicit=True))
    assert answers
    for answer in answers:
        if isinstance(answer, Converted):
            derive(answer.run)
            assert len(answer.run.events) == len(answer.run.event_steps)
            assert all(step is None or 0 <= step < len(answer.run.steps) for step in answer.run.event_steps)
        elif isinstance(answer, Unreadable):
            assert answer.sentence.endswith((".", "?")), answer.sentence
        else:
            assert isinstance(answer, StatedTask) or answer.format == format
    return [answer for answer in answers if isinstance(answer, Converted)]
