"""Where the figures of a page are drawn: numbers become places in SVG, and the words that say the same. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Protocol

from potato.statistics.charts import Bar, Line, pixels, scale_of

WIDTH, LEFT, TOP, BOTTOM = 640, 34, 14, 158
"""Pixels of the chart of days: from LEFT to WIDTH, and from the highest line at TOP down to zero at BOTTOM."""
MEAN_DAYS = 7
LABELLED = 5
"""Every so many days one has its date written below, the last day always."""


class OneDay(Protocol):
    @property
    def date(self) -> date: ...

    @property
    def annotations(self) -> int: ...


@dataclass(frozen=True)
class DayChart:
    """Bars, the lines behind them, and the points of the mean of MEAN_DAYS days; `label` says it in words."""

    bars: tuple[Bar, ...]
    lines: tuple[Line, ...]
    mean: str
    label: str


def day_chart(days: Sequence[OneDay]) -> DayChart:
    """Days are in order, without gaps."""
    numbers = [day.annotations for day in days]
    step, top = scale_of(max(numbers, default=0))
    slot = (WIDTH - LEFT) / max(len(days), 1)
    width = slot * 0.7

    def y_of(number: float) -> float:
        return BOTTOM - (BOTTOM - TOP) * number / top

    bars, points = [], []
    for at, day in enumerate(days):
        x = LEFT + at * slot + (slot - width) / 2
        is_labelled = (len(days) - 1 - at) % LABELLED == 0
        recent = numbers[max(0, at - MEAN_DAYS + 1) : at + 1]
        bars.append(
            Bar(
                x=pixels(x),
                y=pixels(y_of(day.annotations)),
                width=pixels(width),
                height=pixels(BOTTOM - y_of(day.annotations)),
                middle=pixels(x + width / 2),
                label=f"{day.date.day} {day.date:%b}" if is_labelled else "",
            )
        )
        points.append(f"{pixels(x + width / 2)},{pixels(y_of(sum(recent) / len(recent)))}")
    lines = tuple(
        Line(pixels(y_of(number)), pixels(y_of(number) + 4), f"{number:,}") for number in range(0, top + 1, step)
    )
    return DayChart(tuple(bars), lines, " ".join(points), _in_words(days))


@dataclass(frozen=True)
class Piece:
    """One part of a whole as a bar shows it; `x` and `width` are percentages."""

    label: str
    number: int
    share: str
    x: str
    width: str


def pieces(parts: Sequence[tuple[str, int]]) -> list[Piece]:
    """The parts side by side, together the whole; all of no width where there is nothing."""
    whole = sum(number for _, number in parts)
    placed, x = [], 0.0
    for label, number in parts:
        width = 100 * number / whole if whole else 0
        placed.append(Piece(label, number, share(number, whole), f"{x:.3f}%", f"{width:.3f}%"))
        x += width
    return placed


def share(number: int, whole: int) -> str:
    """In whole percent; what is not nothing is never called 0 %, and what is not all never 100 %."""
    if not whole:
        return ""
    percent = 100 * number / whole
    if 0 < percent < 1:
        return "<1%"
    if 99 < percent < 100:
        return ">99%"
    return f"{percent:.0f}%"


def _in_words(days: Sequence[OneDay]) -> str:
    if not days:
        return "No days"
    total, most = sum(day.annotations for day in days), max(days, key=lambda day: day.annotations)
    span = f"{days[0].date.day} {days[0].date:%B} to {days[-1].date.day} {days[-1].date:%B %Y}"
    if not total:
        return f"Annotations a day, {span}: none"
    return (
        f"Annotations a day, {span}: {total:,} in all, at most {most.annotations:,} on {most.date.day} "
        f"{most.date:%B}, {days[-1].annotations:,} on the last day. The figures stand below the chart."
    )
