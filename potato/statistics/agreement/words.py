"""A chance-corrected coefficient in one word.

The steps at ALPHA_LIMIT and at 0.8, which is Krippendorff's for reliable data, are his; those below are our choice.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from potato.schemes.unjudged import FILE, STEP, WHOLE
from potato.statistics.agreement.bounds import ALPHA_LIMIT
from potato.statistics.agreement.figures import Estimate
from potato.wording import counted, listed

CHANCE_CORRECTED = (
    "alpha_nominal", "alpha_ordinal", "alpha_interval", "fleiss_kappa", "gwet_ac1", "icc",
    "category_alpha_nominal", "severity_alpha_ordinal", "found_alpha_nominal",
)  # fmt: skip

_UP_TO = ((0.2, "none"), (0.4, "poor"), (0.5, "weak"), (ALPHA_LIMIT, "moderate"), (0.8, "good"))


def in_words(estimate: Estimate) -> str:
    """none, poor, weak, moderate, good or very good; "not defined" without a value.

    Where few traces were judged twice the word is that of the interval's lower end: chance must not sound like
    agreement.
    """
    if estimate.value is None:
        return "not defined"
    value = estimate.value
    if estimate.has_few_traces and estimate.low is not None:
        value = estimate.low
    return next((word for bound, word in _UP_TO if value < bound), "very good")


def unjudged_in_words(comparison: Mapping[str, Any]) -> str:
    """Such as "Annotators could not judge 2 whole traces and 1 file, and said why.", of a comparison as JSON; "" where
    they could judge all."""
    many = comparison.get("cannot_judge", {})
    nouns = ((WHOLE, "whole trace"), (STEP, "step"), (FILE, "file"))
    named = [counted(many[unit], noun) for unit, noun in nouns if many.get(unit)]
    return f"Annotators could not judge {listed(named, 'and')}, and said why." if named else ""
