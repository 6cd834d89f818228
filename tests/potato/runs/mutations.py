"""Breaks files in the ways in which files break, the same ones each time, and reads them: nothing may be raised."""

import copy
import json
import random
from collections.abc import Iterator
from typing import Any

from potato.runs.changes.derive import derive
from potato.runs.converters.reading import read_file
from potato.runs.model import Converted, ReadingOptions, Unreadable
from potato.runs.run_files import InMemoryRunFile

WRONG: tuple[Any, ...] = (
    None,
    True,
    -1,
    2**70,
    0.5,
    "",
    "x\x00\ud800",
    [],
    {},
    [[]],
    [None, 7],
    {"type": []},
    ["a", {}],
)


def broken(data: bytes, seed: int, number: int = 300) -> Iterator[bytes]:
    """The file cut off, with bytes changed, and, where it is JSON or lines of it, with members of wrong types."""
    source = random.Random(seed)  # noqa: S311  (the same ones each time)
    for turn in range(number):
        match turn % 3:
            case 0:
                yield data[: source.randrange(len(data))]
            case 1:
                changed = bytearray(data)
                for _ in range(source.randrange(1, 12)):
                    changed[source.randrange(len(changed))] = source.randrange(256)
                yield bytes(changed)
            case _:
                yield _with_wrong_members(data, source)


def _with_wrong_members(data: bytes, source: random.Random) -> bytes:
    text = data.decode()
    is_lines = "\n{" in text.strip() and not text.lstrip().startswith("[") and text.strip().endswith("}")
    try:
        values = [json.loads(line) for line in text.splitlines() if line.strip()] if is_lines else [json.loads(text)]
    except ValueError:
        is_lines, values = False, [json.loads(text)]
    for _ in range(source.randrange(1, 5)):
        _spoil(source.choice(values), source)
    if is_lines:
        return b"".join(json.dumps(value).encode() + b"\n" for value in values)
    return json.dumps(values[0], indent=1).encode()


def _spoil(value: Any, source: random.Random) -> None:
    """Put something wrong at one place of the value, however deep."""
    while isinstance(value, dict | list) and value:
        key = source.choice(list(value)) if isinstance(value, dict) else source.randrange(len(value))
        if not isinstance(value[key], dict | list) or not value[key] or source.random() < 0.25:
            if isinstance(value, dict) and source.random() < 0.3:
                del value[key]
            else:
                value[key] = copy.deepcopy(source.choice(WRONG))
            return
        value = value[key]


def read_broken(data: bytes, name: str, format: str, *, seed: int, number: int = 300) -> int:
    """How many of the broken files were read as runs. Every one is read as the format, whatever it looks like."""
    runs = 0
    for content in broken(data, seed, number):
        for entry in read_file(InMemoryRunFile(name, content), ReadingOptions(), named=format, explicit=True):
            if isinstance(entry, Converted):
                derive(entry.run)
                assert len(entry.run.events) == len(entry.run.event_steps)
                runs += 1
            elif isinstance(entry, Unreadable):
                assert entry.sentence.endswith((".", "?", "!")), entry.sentence
    return runs
