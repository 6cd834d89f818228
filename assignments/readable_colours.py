"""Colours that a configuration names, as people can read and tell them on light and on dark pages. Pure.

A configured colour keeps its hue. It moves in lightness only as far as its contrast asks for, and on where another
colour beside it would become the same: red, crimson and orange stay three.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

VERSION = 2
"""Of the tones that a colour gets, counted up when they change."""
TEXT_CONTRAST = 4.8
"""Of words on every surface of a page and on their own tint: WCAG asks for 4.5."""
MARK_CONTRAST = 3.1
"""Of dots, bars and edges: WCAG asks for 3."""
APART = 0.085
"""The least distance of two different colours in OKLab."""
_STEP = 0.01
_DARKEST, _LIGHTEST = 0.26, 0.95


class _Lab(NamedTuple):
    lightness: float
    a: float
    b: float


class _Rgb(NamedTuple):
    """Linear light, 0 to 1."""

    red: float
    green: float
    blue: float


@dataclass(frozen=True)
class _Theme:
    """`grounds` are what colours stand on, `tint` what `share` of a colour is mixed into below its own words."""

    grounds: tuple[str, ...]
    tint: str
    share: float
    direction: int
    """Where contrast grows: -1 is darker, 1 lighter."""


# As static/css/tokens.css and .tint in base.css have them.
LIGHT = _Theme(("#ffffff", "#f0f2f5"), "#ffffff", 0.09, -1)
DARK = _Theme(("#15181d", "#22272f"), "#15181d", 0.15, 1)


@dataclass(frozen=True)
class Tones:
    """One configured colour as #rrggbb, for words and for marks, on light and on dark pages."""

    light_text: str
    dark_text: str
    light_mark: str
    dark_mark: str


@lru_cache(maxsize=256)
def distinct_tones(colours: tuple[str, ...]) -> tuple[Tones, ...]:
    """The tones of colours that stand beside each other, each #rgb or #rrggbb. The same colour twice stays the same."""
    different = list(dict.fromkeys(_long(colour) for colour in colours))
    made = {
        name: _spread(different, theme, contrast)
        for name, theme, contrast in (
            ("light_text", LIGHT, TEXT_CONTRAST),
            ("dark_text", DARK, TEXT_CONTRAST),
            ("light_mark", LIGHT, MARK_CONTRAST),
            ("dark_mark", DARK, MARK_CONTRAST),
        )
    }
    return tuple(Tones(**{name: tones[_long(colour)] for name, tones in made.items()}) for colour in colours)


def contrast(one: str, other: str) -> float:
    """WCAG's contrast ratio of two colours, from 1 to 21."""
    lighter, darker = sorted((_luminance(_linear(one)), _luminance(_linear(other))), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def distance(one: str, other: str) -> float:
    """How far apart two colours look: the Euclidean distance in OKLab, where white and black are 1 apart."""
    return math.dist(_lab(_linear(one)), _lab(_linear(other)))


def _spread(colours: list[str], theme: _Theme, least: float) -> dict[str, str]:
    """The one that has furthest to go anyway goes last: it moves away from those that are placed."""
    placed: dict[str, str] = {}
    others: list[_Lab] = []
    for colour in sorted(colours, key=lambda one: -theme.direction * _lab(_linear(one)).lightness, reverse=True):
        grounds = (*theme.grounds, _mixed(colour, theme.tint, theme.share))

        def reads(tone: str, grounds: tuple[str, ...] = grounds) -> bool:
            return all(contrast(tone, ground) >= least for ground in grounds)

        def is_apart(tone: str) -> bool:
            lab = _lab(_linear(tone))
            return all(math.dist(lab, other) >= APART for other in others)

        legible = _moved(colour, theme.direction, reads)
        apart = _moved(legible, theme.direction, is_apart)
        placed[colour] = apart if is_apart(apart) else legible
        others.append(_lab(_linear(placed[colour])))
    return placed


def _moved(colour: str, direction: int, fits: Callable[[str], bool]) -> str:
    """The colour, moved in lightness until it fits, or as far as it goes."""
    lightness, a, b = _lab(_linear(colour))
    tone = colour
    while not fits(tone) and (lightness > _DARKEST if direction < 0 else lightness < _LIGHTEST):
        lightness += direction * _STEP
        tone = _within(_Lab(lightness, a, b))
    return tone


def _within(lab: _Lab) -> str:
    """The colour on a screen, with less chroma where screens have none so strong."""
    for share in range(100, -1, -4):
        rgb = _rgb(_Lab(lab.lightness, lab.a * share / 100, lab.b * share / 100))
        if all(-0.0005 <= channel <= 1.0005 for channel in rgb):
            return _hex(rgb)
    return _hex(rgb)


def _mixed(colour: str, ground: str, share: float) -> str:
    """As color-mix(in oklab, ...) does it."""
    one, other = _lab(_linear(colour)), _lab(_linear(ground))
    return _hex(_rgb(_Lab(*(a * share + b * (1 - share) for a, b in zip(one, other, strict=True)))))


def _long(colour: str) -> str:
    digits = colour.lower().removeprefix("#")
    return "#" + ("".join(digit * 2 for digit in digits) if len(digits) == 3 else digits)


def _linear(colour: str) -> _Rgb:
    channels = (int(_long(colour)[at : at + 2], 16) / 255 for at in (1, 3, 5))
    return _Rgb(*(part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in channels))


def _hex(rgb: _Rgb) -> str:
    clipped = (min(max(channel, 0.0), 1.0) for channel in rgb)
    parts = (12.92 * part if part <= 0.0031308 else 1.055 * part ** (1 / 2.4) - 0.055 for part in clipped)
    return "#" + "".join(f"{round(part * 255):02x}" for part in parts)


def _luminance(rgb: _Rgb) -> float:
    return 0.2126 * rgb.red + 0.7152 * rgb.green + 0.0722 * rgb.blue


def _lab(rgb: _Rgb) -> _Lab:
    """OKLab of Björn Ottosson."""
    long = math.cbrt(0.4122214708 * rgb.red + 0.5363325363 * rgb.green + 0.0514459929 * rgb.blue)
    middle = math.cbrt(0.2119034982 * rgb.red + 0.6806995451 * rgb.green + 0.1073969566 * rgb.blue)
    short = math.cbrt(0.0883024619 * rgb.red + 0.2817188376 * rgb.green + 0.6299787005 * rgb.blue)
    return _Lab(
        0.2104542553 * long + 0.7936177850 * middle - 0.0040720468 * short,
        1.9779984951 * long - 2.4285922050 * middle + 0.4505937099 * short,
        0.0259040371 * long + 0.7827717662 * middle - 0.8086757660 * short,
    )


def _rgb(lab: _Lab) -> _Rgb:
    long = (lab.lightness + 0.3963377774 * lab.a + 0.2158037573 * lab.b) ** 3
    middle = (lab.lightness - 0.1055613458 * lab.a - 0.0638541728 * lab.b) ** 3
    short = (lab.lightness - 0.0894841775 * lab.a - 1.2914855480 * lab.b) ** 3
    return _Rgb(
        4.0767416621 * long - 3.3077115913 * middle + 0.2309699292 * short,
        -1.2684380046 * long + 2.6097574011 * middle - 0.3413193965 * short,
        -0.0041960863 * long - 0.7034186147 * middle + 1.7076147010 * short,
    )
