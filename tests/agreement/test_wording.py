"""What figures say in words, by rules alone."""

from dataclasses import asdict
from datetime import timedelta
from typing import Any

import pytest

from agreement.speed_and_agreement import is_fast, is_low
from agreement.wording import agreement_word, shown, summarise_report, too_few, why_undefined
from potato.statistics.agreement.figures import Estimate


def estimate(
    value: float | None, low: float | None = None, high: float | None = None, traces: int = 100, pairs: int = 100
) -> Estimate:
    return Estimate(value, low, high, traces, traces, pairs)


def compared(title: str, main: str, value: Estimate, **more: Any) -> dict[str, Any]:
    figures = {main: asdict(value), **{name: asdict(one) for name, one in more.pop("figures", {}).items()}}
    return {"title": title, "main": main, "unit": "traces", "figures": figures, "by_category": {}, **more}


def test_the_headline_joins_what_has_the_same_word_and_begins_with_the_best() -> None:
    figures = {
        "shared_traces": 100,
        "compared": [
            compared("Correctness", "alpha_ordinal", estimate(0.63)),
            compared("Verdict", "alpha_nominal", estimate(0.51)),
            compared("Code Quality", "alpha_ordinal", estimate(0.44)),
            compared("Risk", "alpha_nominal", estimate(0.7)),
            compared("Comments", "f1", estimate(0.44)),
        ],
    }
    assert summarise_report(figures).headline == (
        "People agree well on risk, moderately on correctness and verdict and weakly on code quality; on comments in "
        "less than half of the cases."
    )


def test_with_few_traces_the_headline_says_when_it_will_mean_something() -> None:
    early = summarise_report(
        {"shared_traces": 6, "compared": [compared("Verdict", "alpha_nominal", estimate(0.9, traces=6))]}
    )
    assert early.headline == "Too early to say: 6 traces have two annotations."
    assert "From about 30 traces on" in early.sentences


@pytest.mark.parametrize(
    ("value", "word"),
    [(-0.1, "none"), (0.2, "poor"), (0.4, "weak"), (0.5, "moderate"), (0.67, "good"), (0.8, "very good")],
)  # fmt: skip
def test_a_coefficient_has_its_word(value: float, word: str) -> None:
    assert agreement_word("alpha_nominal", estimate(value)) == word


def test_with_few_traces_the_word_is_that_of_the_lower_end() -> None:
    assert agreement_word("alpha_nominal", estimate(0.7, 0.3, 0.9, traces=29)) == "poor"
    assert agreement_word("f1", estimate(0.7, 0.3, 0.9, traces=29)) == "less than half"
    assert agreement_word("f1", estimate(0.7, 0.3, 0.9)) == "mostly"


def test_a_value_next_to_zero_has_no_sign() -> None:
    assert [shown(value, "alpha_nominal") for value in (-0.001, 0.0, -0.07)] == ["0.00", "0.00", "-0.07"]
    assert shown(0.714, "percent") == "71%"


def test_a_share_is_no_coefficient() -> None:
    assert [agreement_word("same", estimate(value)) for value in (0.2, 0.4, 0.6, 0.8)] == [
        "rarely", "less than half", "mostly", "nearly always",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("own", "seconds", "is_flagged"),
    [
        (estimate(0.2, 0.1, 0.4, pairs=54), 190, True),
        (estimate(0.2, 0.1, 0.4, pairs=29), 190, False),
        (estimate(0.2, 0.1, 0.55, pairs=54), 190, False),
        (estimate(0.2, 0.1, 0.4, pairs=54), 240, False),
        (estimate(0.2, 0.1, 0.4, pairs=54), None, False),
        (estimate(0.2, pairs=54), 190, False),
    ],
)
def test_fast_and_low_takes_pairs_an_interval_below_and_a_third_of_the_time(
    own: Estimate, seconds: float | None, is_flagged: bool
) -> None:
    took = None if seconds is None else timedelta(seconds=seconds)
    assert (is_low(own.pairs, own.high, 0.51) and is_fast(took, timedelta(seconds=700))) is is_flagged


def test_what_has_no_value_says_what_would_define_it() -> None:
    same = Estimate(None, None, None, 19, 19, 19, "every choice compared is the same value, so nothing could be due")
    assert why_undefined(same).startswith("Not defined: all 19 pairs chose the same value.")
    assert why_undefined(estimate(None, pairs=0)).startswith("No pair yet")
    gaps = Estimate(None, None, None, 0, 0, 0, "no unit was judged by all 6 annotators, which it needs")
    assert why_undefined(gaps) == "Not defined: no unit was judged by all 6 annotators, which it needs."
    assert too_few(estimate(0.5, pairs=9)) == (
        "Too few to say: 9 pairs. From 10 on a value is shown, marked small until 30 traces."
    )
    assert too_few(estimate(0.5, pairs=10)) == ""


def test_the_tip_names_a_category_that_is_surely_matched_less() -> None:
    def tip(high: float, pairs: int) -> str:
        categories = {
            "bug": asdict(estimate(0.6, 0.5, 0.7, pairs=400)),
            "question": asdict(estimate(0.2, 0.1, high, pairs=pairs)),
        }
        one = compared("Comments", "f1", estimate(0.5, 0.45, 0.55), by_category=categories)
        return summarise_report({"shared_traces": 100, "compared": [one]}).tip

    assert tip(0.3, 100) == (
        "Comments of the category question are matched least (20%), and they are 20% of all: say in the guidelines "
        "when to write one."
    )
    assert tip(0.5, 100) == ""
    assert tip(0.3, 20) == ""
