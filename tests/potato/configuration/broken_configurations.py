"""Configurations with faults, each with exactly what a person is told.

They stand in text files: `=== the fault`, the configuration, then a line `>>> line:column sentence` for each error.
"""

from pathlib import Path
from typing import NamedTuple


class Broken(NamedTuple):
    fault: str
    text: str
    told: list[tuple[int, int, str]]


def broken(name: str) -> list[Broken]:
    """Every case of `broken_<name>.txt` in this folder."""
    content = Path(__file__).with_name(f"broken_{name}.txt").read_text()
    return [_case(part) for part in content.removeprefix("=== ").split("\n=== ")]


def _case(part: str) -> Broken:
    fault, _, rest = part.partition("\n")
    lines = rest.splitlines(keepends=True)
    text = "".join(line for line in lines if not line.startswith(">>> ") and line != "\n")
    return Broken(fault, text, [_told(line) for line in lines if line.startswith(">>> ")])


def _told(line: str) -> tuple[int, int, str]:
    place, _, sentence = line.removeprefix(">>> ").rstrip("\n").partition(" ")
    row, _, column = place.partition(":")
    return int(row), int(column), sentence
