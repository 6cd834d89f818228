"""Pieces of English that messages, records and reports share."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

UNKNOWN = "unknown"
"""What is said for an annotator, a time or a fact that nobody names."""

_LONGEST_QUOTATION = 60


def listed(names: Iterable[str], joiner: str) -> str:
    """`a, b or c` for the joiner `or`."""
    *first, last = names
    return f"{', '.join(first)} {joiner} {last}" if first else last


def shortened(text: str) -> str:
    """The text on one line, cut where it would drown the message."""
    line = " ".join(text.split()) if text.strip() else text
    return line if len(line) <= _LONGEST_QUOTATION else f"{line[:_LONGEST_QUOTATION]}..."


def quoted(text: str) -> str:
    """A value as the first word of a sentence."""
    return shortened(text) if text.strip() else "An empty text"


def nearest(name: str, names: Sequence[str]) -> str | None:
    """The name that was most likely meant, or None where nothing comes close."""
    matches = difflib.get_close_matches(name.lower(), names, n=1, cutoff=0.7)
    return matches[0] if matches else None


def did_you_mean(name: str, names: Sequence[str]) -> str:
    """` Did you mean x?` with its leading space, or nothing."""
    match = nearest(name, names)
    return f" Did you mean {match}?" if match else ""


def counted(number: int, noun: str, several: str = "") -> str:
    """`1 trace`, `1,200 traces`; `several` where the plural has no plain s."""
    return f"{number:,} {noun if number == 1 else several or f'{noun}s'}"


def title_case(value: str) -> str:
    """`request_changes` as people read it: `Request Changes`. Capitals inside a word stay."""
    words = value.replace("_", " ").replace("-", " ").split()
    return " ".join(word[:1].upper() + word[1:] for word in words) or value


def timestamp(at: datetime) -> str:
    """UTC in whole seconds: 2025-01-15T14:30:00Z. Refuses a time without a zone."""
    if at.tzinfo is None:
        raise ValueError("A timestamp needs a time with its zone.")
    return at.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="seconds") + "Z"


def moment(at: datetime, now: datetime) -> str:
    """When something was, or will be, both times in the reader's zone: `today at 06:00`, `yesterday at 06:00`,
    `on Friday at 16:40` within a week, `on 9 November` within a year, else `on 9 November 2026`."""
    days = (at.date() - now.date()).days
    near = {0: "today", -1: "yesterday", 1: "tomorrow"}
    if days in near:
        return f"{near[days]} at {at:%H:%M}"
    if abs(days) < 7:
        return f"on {at:%A} at {at:%H:%M}"
    return f"on {at.day} {at:%B}" + ("" if at.year == now.year else f" {at.year}")


def lines_in_words(first: int, last: int) -> str:
    """As in "line 3" or "lines 3\u20135", both ends included."""
    return f"line {first}" if first == last else f"lines {first}\u2013{last}"
