"""The difference of two texts as numbered rows. For configurations; an agent's changes have `traces`."""

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

Kind = Literal["context", "add", "del", "gap"]

_CONTEXT = 3


@dataclass(frozen=True)
class Row:
    """A line of a unified difference. A gap stands for the lines left out, and has no numbers."""

    kind: Kind
    old_no: int | None
    new_no: int | None
    text: str


def unified_rows(old: str, new: str) -> list[Row]:
    """The changed lines of both texts with three lines around them; empty where the texts are equal."""
    return list(_rows(old.splitlines(), new.splitlines()))


def _rows(old: list[str], new: list[str]) -> Iterator[Row]:
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    for group in matcher.get_grouped_opcodes(_CONTEXT):
        if group[0][1] > 0:
            yield Row("gap", None, None, "")
        for kind, old_from, old_to, new_from, new_to in group:
            if kind == "equal":
                for offset, text in enumerate(old[old_from:old_to]):
                    yield Row("context", old_from + offset + 1, new_from + offset + 1, text)
                continue
            for number in range(old_from, old_to):
                yield Row("del", number + 1, None, old[number])
            for number in range(new_from, new_to):
                yield Row("add", None, number + 1, new[number])
