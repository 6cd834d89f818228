"""Where a person's gold scores are drawn: the mean after each, the lines that warn and pause, each outcome. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal, TypeAlias

from gold.known_answers import MET
from potato.statistics.charts import Line, pixels
from potato.statistics.gold_standing import Standing, Thresholds, standings

MOST = 60
"""So many of the newest scores are drawn."""
IN_PART = 0.5
"""From so much on a score is drawn as in part."""
_LEFT, _RIGHT, _TOP, _BOTTOM = 34.0, 556.0, 10.0, 140.0
_MARKS = 160.0
_DATES = 186.0
_LINES = (1.0, 0.8, 0.6, 0.4, 0.2, 0.0)

Outcome: TypeAlias = Literal["met", "in_part", "not_met"]


@dataclass(frozen=True)
class ScoreMark:
    """One task: where its outcome is drawn, and the row of the table beneath the chart."""

    x: str
    left: str
    right: str
    outcome: Outcome
    number: int
    day: date
    score: float
    mean: float


@dataclass(frozen=True)
class Threshold:
    """A line with its name; `kind` is "warn" or "pause"."""

    kind: str
    y: str
    text_y: str
    label: str


@dataclass(frozen=True)
class ScoreChart:
    """A chart in a box of 640 by 196. `label` says it in words, and `dates` are the first and the last day."""

    points: str
    band: str
    marks: tuple[ScoreMark, ...]
    lines: tuple[Line, ...]
    thresholds: tuple[Threshold, ...]
    dates: tuple[tuple[str, str, date], ...]
    end: tuple[str, str]
    label: str


def score_chart(scores: Sequence[tuple[date, float]], thresholds: Thresholds) -> ScoreChart | None:
    """Of scores from 0 to 1, the oldest first; None for fewer than two, which make no line."""
    if len(scores) < 2:
        return None
    stood: list[Standing] = list(standings([score for _, score in scores], thresholds))
    first = max(0, len(scores) - MOST)
    shown = list(zip(range(first, len(scores)), scores[first:], stood[first:], strict=True))
    gap = (_RIGHT - _LEFT) / (len(shown) - 1)

    def x(at: int) -> float:
        return _LEFT + (at - first) * gap

    marks = tuple(
        ScoreMark(
            pixels(x(at)),
            pixels(x(at) - 3),
            pixels(x(at) + 3),
            _outcome(score),
            at + 1,
            day,
            score,
            stand.mean or 0.0,
        )
        for at, (day, score), stand in shown
    )
    upper = [f"{pixels(x(at))},{pixels(_y(stand.high or 0))}" for at, _, stand in shown]
    lower = [f"{pixels(x(at))},{pixels(_y(stand.low or 0))}" for at, _, stand in reversed(shown)]
    last = stood[-1]
    return ScoreChart(
        " ".join(f"{mark.x},{pixels(_y(mark.mean))}" for mark in marks),
        " ".join([*upper, *lower]),
        marks,
        tuple(Line(pixels(_y(line)), pixels(_y(line) + 4), f"{line:.1f}") for line in _LINES),
        tuple(_thresholds(thresholds)),
        ((pixels(_LEFT), "start", marks[0].day), (pixels(_RIGHT), "end", marks[-1].day)),
        (marks[-1].x, pixels(_y(marks[-1].mean))),
        f"The mean over {len(marks)} gold tasks, from {marks[0].mean:.2f} to {marks[-1].mean:.2f}. {last.sentence}",
    )


def bar(value: float) -> str:
    """A share from 0 to 1 as the width of a bar."""
    return f"{max(0.0, min(1.0, value)) * 100:.1f}%"


def _outcome(score: float) -> Outcome:
    return "met" if score >= MET else "in_part" if score >= IN_PART else "not_met"


def _y(value: float) -> float:
    return _BOTTOM - (_BOTTOM - _TOP) * value


def _thresholds(thresholds: Thresholds) -> Iterator[Threshold]:
    """The two names stand apart where the lines are one."""
    warn, pause = thresholds.warn_below, thresholds.pause_below
    is_near = warn is not None and pause is not None and abs(warn - pause) < 0.1
    if warn is not None:
        yield Threshold("warn", pixels(_y(warn)), pixels(_y(warn) - (3 if is_near else -4)), f"warns {warn:.2f}")
    if pause is not None:
        yield Threshold("pause", pixels(_y(pause)), pixels(_y(pause) + (11 if is_near else 4)), f"pauses {pause:.2f}")
