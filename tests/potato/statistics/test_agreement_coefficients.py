"""Coefficients of agreement: the printed values, what must hold for any data, and a second way to compute them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from potato.statistics.agreement.choices import Choices, Gatherer, Judged
from potato.statistics.agreement.coefficients import (
    Level,
    cohen_kappa,
    confusion,
    fleiss_kappa,
    gwet_ac1,
    intraclass_correlation,
    krippendorff_alpha,
    percent_agreement,
)
from potato.statistics.agreement.estimates import estimate, share
from potato.statistics.agreement.figures import Basis
from tests.potato.statistics.published_agreement import (
    COHEN_1960,
    COHEN_1968,
    COHEN_1968_DISAGREEMENT,
    FLEISS,
    KRIPPENDORFF_A,
    KRIPPENDORFF_B,
    KRIPPENDORFF_C,
    PARADOX,
    SHROUT_FLEISS,
    from_coders,
    from_counts,
    from_table,
)

judged_lists = st.lists(
    st.builds(Judged, st.integers(0, 6), st.integers(0, 2), st.sampled_from("abcd"), st.integers(0, 3)), max_size=60
)


@pytest.mark.parametrize(("level", "printed"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_alpha_is_as_krippendorff_printed_it(level: Level, printed: float) -> None:
    estimate = krippendorff_alpha(from_coders(KRIPPENDORFF_C), level)
    assert estimate.value == pytest.approx(printed, abs=0.0005)
    # The unit that one coder alone judged has nothing to compare.
    assert (estimate.traces, estimate.units) == (11, 11)


def test_alpha_of_two_coders_is_as_printed() -> None:
    assert krippendorff_alpha(from_coders(KRIPPENDORFF_A), "nominal").value == pytest.approx(0.095, abs=0.0005)
    assert krippendorff_alpha(from_coders(KRIPPENDORFF_B), "nominal").value == pytest.approx(0.692, abs=0.0005)


def test_fleiss_kappa_is_as_printed_and_as_generalised_to_gaps() -> None:
    assert fleiss_kappa(from_counts(FLEISS)).value == pytest.approx(0.430, abs=0.0005)
    assert fleiss_kappa(from_coders(KRIPPENDORFF_C)).value == pytest.approx(0.76117, abs=0.000005)


def test_cohen_kappa_is_as_printed_unweighted_and_weighted() -> None:
    assert cohen_kappa(from_table(COHEN_1960), "a", "b").value == pytest.approx(-0.092, abs=0.0005)
    assert cohen_kappa(from_table([[20, 5], [10, 15]]), "a", "b").value == pytest.approx(0.400, abs=0.0005)
    weighted = from_table(COHEN_1968)
    assert cohen_kappa(weighted, "a", "b").value == pytest.approx(0.492, abs=0.0005)
    assert cohen_kappa(weighted, "a", "b", np.array(COHEN_1968_DISAGREEMENT)).value == pytest.approx(0.348, abs=0.0005)
    assert cohen_kappa(weighted, "a", "b", "linear").value == pytest.approx(0.4736842, abs=1e-6)
    assert cohen_kappa(weighted, "a", "b", "quadratic").value == pytest.approx(0.4545455, abs=1e-6)


def test_ac1_is_as_printed_and_stays_high_where_kappa_falls_below_zero() -> None:
    assert gwet_ac1(from_coders(KRIPPENDORFF_C)).value == pytest.approx(0.77544, abs=0.000005)
    assert gwet_ac1(from_table(PARADOX)).value == pytest.approx(0.9408, abs=0.00005)
    assert cohen_kappa(from_table(PARADOX), "a", "b").value == pytest.approx(-0.0234, abs=0.00005)
    assert percent_agreement(from_table(PARADOX)).value == pytest.approx(118 / 125)


def test_intraclass_correlation_is_as_shrout_and_fleiss_printed_it() -> None:
    judges = from_coders(list(zip(*SHROUT_FLEISS, strict=True)))
    assert intraclass_correlation(judges).value == pytest.approx(0.29, abs=0.005)


def test_intraclass_correlation_says_that_it_needs_units_that_all_judged() -> None:
    nobody_judged_all = from_coders([[1, 2, None], [None, 2, 2], [3, None, 3]])
    undefined = intraclass_correlation(nobody_judged_all).undefined
    assert undefined == "no unit was judged by all 3 annotators, which it needs"


def test_intraclass_correlation_leaves_out_units_with_a_gap() -> None:
    rows = [*zip(*SHROUT_FLEISS, strict=True)]
    with_gap = from_coders([(*rows[0], 10), (*rows[1], 1), (*rows[2], 4), (*rows[3], None)])
    assert intraclass_correlation(with_gap).value == intraclass_correlation(from_coders(rows)).value


def test_an_undefined_figure_says_why() -> None:
    alone = Choices.gather([Judged("t1", 0, "a", 1), Judged("t2", 0, "b", 2)])
    same = Choices.gather([Judged("t1", 0, "a", 1), Judged("t1", 0, "b", 1)])
    for measure in (fleiss_kappa, gwet_ac1, percent_agreement, intraclass_correlation):
        assert measure(alone).undefined == "no unit was judged by two annotators"
    assert krippendorff_alpha(same, "nominal").undefined is not None
    assert "same value" in str(krippendorff_alpha(same, "interval").undefined)
    assert percent_agreement(same).value == 1.0
    assert krippendorff_alpha(Choices.gather([]), "ordinal").value is None


def test_numbers_far_from_zero_keep_their_digits() -> None:
    near = from_coders(KRIPPENDORFF_C)
    far = from_coders([[None if value is None else value + 10**9 for value in row] for row in KRIPPENDORFF_C])  # type: ignore[operator]
    assert krippendorff_alpha(far, "interval").value == krippendorff_alpha(near, "interval").value


def test_a_text_is_no_number() -> None:
    choices = Choices.gather([Judged("t", 0, "a", "approve"), Judged("t", 0, "b", 1)])
    with pytest.raises(ValueError, match="'approve' is none"):
        krippendorff_alpha(choices, "interval")


def test_an_annotators_last_choice_for_a_unit_counts() -> None:
    choices = Choices.gather([Judged("t", 0, "a", 1), Judged("t", 0, "b", 2), Judged("t", 0, "a", 2)])
    assert percent_agreement(choices).value == 1.0


def test_the_interval_lies_around_the_value_and_is_the_same_again() -> None:
    choices = from_counts(FLEISS)
    first, again = (fleiss_kappa(choices, seed=7) for _ in range(2))
    assert first == again
    assert first.low is not None
    assert first.high is not None
    assert first.value is not None
    assert first.low < first.value < first.high
    assert fleiss_kappa(choices, seed=8) != first


@pytest.mark.parametrize("number", [900, 5_000])
def test_the_interval_of_traces_that_all_differ_is_that_of_a_mean(number: int) -> None:
    """Few such traces are drawn one by one, many by Poisson variables: both must be as wide as the theory has it."""
    values = np.random.default_rng(3).gamma(2.0, 1.0, number)
    sums = np.column_stack([values, np.ones(number)])

    found = estimate(sums, share, Basis(number, number, number), "", samples=4_000, seed=1)

    assert found.value is not None
    half = 1.96 * values.std() / np.sqrt(number)
    assert found.low == pytest.approx(found.value - half, abs=half / 15)
    assert found.high == pytest.approx(found.value + half, abs=half / 15)


def test_an_answer_takes_the_place_of_the_earlier_one_as_a_whole() -> None:
    gatherer = Gatherer()
    gatherer.answer("trace", "ann", [(0, "good"), (1, "bad")])
    gatherer.answer("trace", "bea", [(0, "good"), (2, "good")])
    gatherer.answer("trace", "ann", [(2, "bad")])
    choices = gatherer.choices()

    chosen = {
        (gatherer.units()[unit], choices.names[name], choices.values[code])
        for unit, name, code in zip(choices.units, choices.annotators, choices.codes, strict=True)
    }
    assert chosen == {(0, "bea", "good"), (2, "bea", "good"), (2, "ann", "bad")}


def test_steps_of_one_trace_are_resampled_together() -> None:
    """Twenty units of two traces say less than twenty units of twenty traces."""

    def interval(traces: int) -> float:
        estimate = percent_agreement(
            Choices.gather(
                Judged(unit % traces, unit, name, value)
                for unit in range(20)
                for name, value in (("a", 1), ("b", unit % traces % 2))
            )
        )
        assert estimate.low is not None
        assert estimate.high is not None
        return estimate.high - estimate.low

    assert interval(2) > interval(20)


@given(judged_lists, st.randoms())
def test_neither_order_nor_names_change_a_figure(rows: list[Judged], random: object) -> None:
    rows = list({(row.trace, row.unit, row.annotator): row for row in rows}.values())
    renamed = [row._replace(annotator={"a": "z", "b": "y", "c": "x", "d": "w"}[str(row.annotator)]) for row in rows]
    random.shuffle(renamed)  # type: ignore[attr-defined]
    one, other = Choices.gather(rows, range(4)), Choices.gather(renamed, range(4))
    for level in ("nominal", "ordinal", "interval"):
        assert krippendorff_alpha(one, level, samples=0) == krippendorff_alpha(other, level, samples=0)
    for measure in (fleiss_kappa, gwet_ac1, percent_agreement, intraclass_correlation):
        assert measure(one, samples=0) == measure(other, samples=0)


@given(judged_lists)
def test_identical_annotators_agree_fully(rows: list[Judged]) -> None:
    rows = [row._replace(annotator=name) for row in rows for name in ("a", "b")]
    choices = Choices.gather(rows)
    for level in ("nominal", "ordinal", "interval"):
        assert krippendorff_alpha(choices, level, samples=0).value in (None, 1.0)
    for measure in (fleiss_kappa, gwet_ac1, percent_agreement):
        assert measure(choices, samples=0).value in (None, 1.0)
    assert cohen_kappa(choices, "a", "b", samples=0).value in (None, 1.0)


@given(judged_lists)
def test_cohen_kappa_is_symmetric(rows: list[Judged]) -> None:
    choices = Choices.gather(rows, range(4))
    for weights in ("none", "linear", "quadratic"):
        there = cohen_kappa(choices, "a", "b", weights, samples=0)
        assert there == cohen_kappa(choices, "b", "a", weights, samples=0)


@given(judged_lists)
def test_alpha_equals_its_definition_pair_by_pair(rows: list[Judged]) -> None:
    choices = Choices.gather(rows, range(4))
    units: dict[tuple[object, object], dict[object, int]] = {}
    for row in rows:
        units.setdefault((row.trace, row.unit), {})[row.annotator] = int(str(row.value))
    shared = [list(chosen.values()) for chosen in units.values() if len(chosen) > 1]
    for level in ("nominal", "ordinal", "interval"):
        assert krippendorff_alpha(choices, level, samples=0).value == pytest.approx(_alpha(shared, level), abs=1e-6)


@given(judged_lists)
def test_confusion_counts_each_pair_once(rows: list[Judged]) -> None:
    choices = Choices.gather(rows, range(4))
    assert confusion(choices).sum() == percent_agreement(choices, samples=0).pairs
    agreed = sum(
        first == second for chosen in _by_unit(rows).values() for first, second in combinations(chosen.values(), 2)
    )
    assert np.trace(confusion(choices)) == agreed


def _by_unit(rows: Sequence[Judged]) -> dict[tuple[object, object], dict[object, object]]:
    units: dict[tuple[object, object], dict[object, object]] = {}
    for row in rows:
        units.setdefault((row.trace, row.unit), {})[row.annotator] = row.value
    return units


def _alpha(units: list[list[int]], level: str) -> float | None:
    """1 - observed / expected disagreement, each a mean over ordered pairs of values."""
    every = [value for unit in units for value in unit]
    frequency = {value: every.count(value) for value in range(4)}

    def apart(one: int, other: int) -> float:
        if level == "nominal":
            return float(one != other)
        if level == "interval":
            return float(one - other) ** 2
        low, high = sorted((one, other))
        return (sum(frequency[value] for value in range(low, high + 1)) - (frequency[low] + frequency[high]) / 2) ** 2

    if not every:
        return None
    observed = sum(sum(apart(*pair) for pair in permutations(unit, 2)) / (len(unit) - 1) for unit in units) / len(every)
    expected = sum(apart(*pair) for pair in permutations(every, 2)) / (len(every) * (len(every) - 1))
    return 1 - observed / expected if expected else None


def test_what_rounds_to_nothing_has_no_sign() -> None:
    """A database gives 0.0 back for -0.0, and the same report computed again would be another file."""
    sums = np.array([[-1e-9, 1.0], [-1e-9, 1.0]])
    nothing = estimate(sums, share, Basis(2, 2, 2), "", samples=10, seed=1)
    assert [str(figure) for figure in (nothing.value, nothing.low, nothing.high)] == ["0.0", "0.0", "0.0"]
