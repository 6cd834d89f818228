"""Reads traces that a test writes: files of bytes in, runs and errors out, in the way that the import does."""

import json
from collections.abc import Iterable
from typing import Any

from potato.runs.converters.reading import Chosen, read_file
from potato.runs.model import AgentRun, Bounds, Converted, ReadingOptions, StatedTask, Unreadable
from potato.runs.run_files import InMemoryRunFile


def jsonl(*records: Any) -> bytes:
    """The records as lines of JSON."""
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def read(
    data: bytes,
    name: str = "trace.jsonl",
    *,
    options: ReadingOptions | None = None,
    named: str = "auto",
    explicit: bool = False,
) -> list[Chosen | Converted | StatedTask | Unreadable]:
    """Everything that reading the file answers."""
    options = options or ReadingOptions()
    return list(read_file(InMemoryRunFile(name, data, options.bounds), options, named=named, explicit=explicit))


def runs(answers: Iterable[Chosen | Converted | StatedTask | Unreadable]) -> list[AgentRun]:
    """The runs among the answers."""
    return [answer.run for answer in answers if isinstance(answer, Converted)]


def errors(answers: Iterable[Chosen | Converted | StatedTask | Unreadable]) -> list[tuple[int, str]]:
    """Place and code of each error among the answers."""
    return [(answer.place, answer.code) for answer in answers if isinstance(answer, Unreadable)]


def the_one(data: bytes, name: str = "trace.jsonl", **options: Any) -> Converted:
    """The file's one run, with its report; the test fails on anything else in it."""
    _, converted = read(data, name, **options)
    assert isinstance(converted, Converted), converted
    return converted


def the_refusal(data: bytes, name: str = "trace.jsonl", **options: Any) -> Unreadable:
    """The one error that a refused file is."""
    (refusal,) = read(data, name, **options)
    assert isinstance(refusal, Unreadable), refusal
    return refusal


SMALL_BOUNDS = ReadingOptions(bounds=Bounds(line_bytes=2000, document_bytes=4000, run_bytes=6000, events=20, steps=5))
