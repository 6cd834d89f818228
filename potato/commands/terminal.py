"""What the command writes: tables and sentences for people, JSON for programs, colours on terminals alone."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from typing import IO, Any, Literal

from pydantic import BaseModel

Colour = Literal["red", "green", "yellow", "dim"]
_CODES: dict[Colour, str] = {"red": "31", "green": "32", "yellow": "33", "dim": "2"}

DONE, FAILED, MISUSED, UNANSWERED, INTERRUPTED = 0, 1, 2, 3, 130
"""Exit codes: done; refused or failed; flags that cannot be understood; the site gave no answer; Ctrl-C."""


class Failure(Exception):  # noqa: N818  (an answer to the person who asked)
    """A command cannot do what it was asked; the text says why, and what to do."""


def coloured(text: str, colour: Colour, stream: IO[str] | None = None) -> str:
    """The text in a colour where the stream is a terminal, and NO_COLOR does not forbid it."""
    is_wanted = (stream or sys.stdout).isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return f"\x1b[{_CODES[colour]}m{text}\x1b[0m" if is_wanted else text


def say(sentence: str, *, colour: Colour | None = None) -> None:
    """To people, beside what the command puts out."""
    print(coloured(sentence, colour, sys.stderr) if colour else sentence, file=sys.stderr, flush=True)


def put_json(value: Any) -> None:
    """One JSON value on a line of its own; models as the API has them."""
    print(json.dumps(_plain(value)), flush=True)


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    return value


def put_table(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Columns side by side; numbers to the right. Nothing where there is no row."""
    if not rows:
        return
    texts = [[_shown(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(heads, *texts, strict=True)]
    print(coloured(_line(heads, widths, ()), "dim"))
    for row, cells in zip(rows, texts, strict=True):
        numbers = [index for index, cell in enumerate(row) if isinstance(cell, int | float)]
        print(_line(cells, widths, numbers))


def _line(cells: Sequence[str], widths: Sequence[int], numbers: Sequence[int]) -> str:
    padded = [
        cell.rjust(width) if index in numbers else cell.ljust(width)
        for index, (cell, width) in enumerate(zip(cells, widths, strict=True))
    ]
    return "  ".join(padded).rstrip()


def _shown(cell: object) -> str:
    if cell is None:
        return "-"
    if isinstance(cell, float):
        return f"{cell:.2f}"
    return f"{cell:,}" if isinstance(cell, int) else str(cell)
