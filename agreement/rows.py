"""An estimate as a row of a page: its value, its interval drawn and in figures, and what it rests on."""

from dataclasses import dataclass

from agreement.intervals import Interval, interval
from agreement.wording import LOW_WORDS, SHARE_MEASURES, agreement_word, shown, too_few, why_undefined
from potato.statistics.agreement.bounds import ALPHA_LIMIT
from potato.statistics.agreement.figures import Estimate
from potato.wording import counted


@dataclass(frozen=True)
class Row:
    """A figure of the page. `why` says why there is none."""

    key: str
    title: str
    meaning: str
    value: str
    why: str
    is_sub: bool
    interval: Interval | None
    interval_words: str
    basis: str
    url: str = ""
    badge: str = ""
    is_flagged: bool = False
    share: str = ""
    took: str = ""


def row(
    key: str,
    title: str,
    meaning: str,
    measure: str,
    estimate: Estimate,
    unit: str,
    *,
    is_sub: bool = False,
    is_part: bool = False,
    reference: float | None = ALPHA_LIMIT,
    badge: str = "",
    url: str = "",
    is_flagged: bool = False,
    share: str = "",
    took: str = "",
) -> Row:
    """An estimate as a row. A part of all, `is_part`, is shown against `reference` and by fewer words."""
    few = too_few(estimate) if is_part and estimate.pairs else ""
    why = few or (why_undefined(estimate) if estimate.value is None else "")
    value = "" if why or estimate.value is None else shown(estimate.value, measure)
    words = ""
    if value and estimate.low is not None and estimate.high is not None:
        words = f"{shown(estimate.low, measure)} to {shown(estimate.high, measure)}"
    line = None if measure in SHARE_MEASURES and not is_part else reference
    tone = ""
    if estimate.has_few_traces:
        tone = "small"
    elif is_flagged or (
        not is_part
        and measure not in SHARE_MEASURES
        and agreement_word(measure, estimate) in (*LOW_WORDS, "rarely", "less than half")
    ):
        tone = "bad"
    return Row(
        key=key,
        title=title,
        meaning=meaning,
        value=value,
        why=why,
        is_sub=is_sub,
        interval=_drawn(estimate, line, tone, words, value),
        interval_words=words,
        basis=_basis(estimate, unit),
        badge=badge,
        url=url,
        is_flagged=is_flagged,
        share=share,
        took=took,
    )


def _drawn(estimate: Estimate, reference: float | None, tone: str, words: str, value: str) -> Interval | None:
    if not value or estimate.value is None:
        return None
    label = f"{value}, 95% interval from {words}" if words else f"{value}, without an interval"
    return interval(estimate.value, estimate.low, estimate.high, label=label, tone=tone, reference=reference)


def _basis(estimate: Estimate, unit: str) -> str:
    pairs = counted(estimate.pairs, "pair")
    if unit in ("traces", "comments", "") or estimate.units == estimate.traces:
        return f"{counted(estimate.traces, 'trace')}, {pairs}"
    return f"{estimate.units:,} {unit.split(' ')[0]}, {pairs}"
