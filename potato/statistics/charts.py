"""What every drawn figure has in common: its round axes, and how a place in it is written. Pure, and of any drawing.

The site draws SVG by hand and the library draws with matplotlib; both stand on these.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count


@dataclass(frozen=True)
class Bar:
    """A bar of an SVG chart in pixels. `middle` is where its label is centred; `label` is "" where none is written."""

    x: str
    y: str
    width: str
    height: str
    middle: str
    label: str


@dataclass(frozen=True)
class Line:
    """A line behind an SVG chart with the number it stands for."""

    y: str
    text_y: str
    label: str


def scale_of(highest: int) -> tuple[int, int]:
    """The distance of lines and the highest one, so that two to five round numbers reach up to `highest`."""
    step = next(step for step in round_numbers() if step * 4 >= highest)
    return step, max(-(-highest // step), 1) * step


def round_numbers() -> Iterator[int]:
    """1, 2, 5, 10, 20, 50, ..."""
    return (digit * 10**power for power in count() for digit in (1, 2, 5))


def pixels(number: float) -> str:
    """A place as SVG has it."""
    return f"{number:.1f}"
