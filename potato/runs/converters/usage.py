"""What steps took, in the words of the formats: tokens by several names, durations between two times."""

import math
from datetime import datetime

from potato.runs.model import JSON, NO_USAGE, Usage

LARGEST_AMOUNT = 1e15
_INPUT = ("input_tokens", "prompt_tokens", "input", "promptTokenCount", "prompt")
_OUTPUT = ("output_tokens", "completion_tokens", "output", "candidatesTokenCount", "completion")
_CACHED = (
    "cache_read_input_tokens", "cached_tokens", "cached_input_tokens", "cached", "cachedContentTokenCount",
    "input_tokens_cache_read", "cache_read_tokens", "input_cached_tokens", "input_cache_read",
)  # fmt: skip
_BESIDE_CACHE = ("cache_creation_input_tokens", "input_tokens_cache_write")
_DETAILS = ("prompt_tokens_details", "input_tokens_details", "promptTokensDetails")
_TOTAL = ("total_tokens", "total", "totalTokenCount")
_THOUGHTS = ("thoughts", "thoughtsTokenCount")


def read_usage(record: JSON, *, excludes_cache: bool = False) -> Usage:
    """The tokens that a record of usage counts, by whatever names it has for them; nothing of a record of another
    form. `excludes_cache`: its input is only what was read beside a cache, as in Anthropic's records; where the record
    has a total, that shows it."""
    if not isinstance(record, dict):
        return NO_USAGE
    read, written = _first(record, _INPUT), _first(record, _OUTPUT)
    cached = _first(record, _CACHED)
    if cached is None:
        details: dict[str, JSON] = next((record[key] for key in _DETAILS if isinstance(record.get(key), dict)), {})
        cached = _first(details, _CACHED)
    if written is not None:
        written += _first(record, _THOUGHTS) or 0
    beside = (cached or 0) + sum(whole_number(record.get(key)) or 0 for key in _BESIDE_CACHE)
    total = _first(record, _TOTAL)
    if total is not None and read is not None:
        excludes_cache = excludes_cache or (beside > 0 and total == read + (written or 0) + beside)
    if excludes_cache and read is not None:
        read += beside
    return Usage(read, written, cached)


def whole_number(value: JSON) -> int | None:
    """A number of tokens; None for anything else, negative numbers included."""
    amount = positive_number(value)
    return int(amount) if amount is not None and amount == int(amount) else None


def positive_number(value: JSON) -> float | None:
    """An amount from 0 on; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= LARGEST_AMOUNT:
        return None
    return value


def duration(seconds: JSON) -> Usage:
    """So many seconds, rounded to milliseconds."""
    amount = positive_number(seconds)
    return NO_USAGE if amount is None else Usage(seconds=round(float(amount), 3))


def duration_between(begin: str, end: str) -> Usage:
    """The time from one ISO 8601 moment to another; nothing where one of them is none, or the second comes first."""
    try:
        passed = (datetime.fromisoformat(end) - datetime.fromisoformat(begin)).total_seconds()
    except (ValueError, TypeError, OverflowError):
        return NO_USAGE
    return duration(passed if math.isfinite(passed) else None)


def _first(record: dict[str, JSON], keys: tuple[str, ...]) -> int | None:
    return next((number for key in keys if (number := whole_number(record.get(key))) is not None), None)
