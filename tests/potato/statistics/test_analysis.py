"""Statistics and plots of process rewards, against a second implementation and the script of the documentation."""

import json
from itertools import combinations
from math import isnan, nan
from pathlib import Path
from random import Random
from statistics import mean
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.patches import Rectangle

from potato.analysis import plot_error_distribution, plot_reward_curves, process_reward_stats
from potato.schemes.rewards.judgements import decided, judgements
from potato.statistics.rewards.curves import GROUPS_KEPT, STEPS_KEPT, RewardCurves
from potato.statistics.rewards.figures import RewardTally


def record(trace: str, annotator: str, labels: list[Any], **part: Any) -> dict[str, Any]:
    part = {"mode": "per_step", "total_steps": len(labels), "labels": labels, **part}
    return {"id": trace, "annotator": annotator, "annotations": {"process_reward": part}}


labels = st.lists(st.sampled_from([None, 1.0, 0.5, 0.25, 0.0, -0.5, -1.0]), min_size=1, max_size=8)
annotated = st.dictionaries(
    st.tuples(st.sampled_from("abcd"), st.sampled_from(["r1", "r2", "r3"])), labels, max_size=12
)


def expected(given_labels: dict[tuple[str, str], list[Any]]) -> dict[str, Any]:
    """The definitions once more, in other words."""
    first = {
        who: next((i for i, x in enumerate(ls) if x is not None and x <= 0), None) for who, ls in given_labels.items()
    }
    traces = {trace for trace, _ in first}
    of = {trace: [error for (name, _), error in first.items() if name == trace] for trace in traces}
    pairs = [list(combinations(errors, 2)) for errors in of.values() if len(errors) > 1]
    errors = [error for error in first.values() if error is not None]
    near = [[a == b or (a is not None and b is not None and abs(a - b) == 1) for a, b in one] for one in pairs]
    correct = [trace for trace in traces if set(of[trace]) == {None}]
    return {
        "total_traces": len(traces),
        "all_correct_count": len(correct),
        "all_correct_pct": len(correct) / len(traces) * 100 if traces else nan,
        "avg_first_error_step": mean(errors) if errors else nan,
        "avg_correct_prefix_length": (
            mean(len(given_labels[who]) if error is None else error for who, error in first.items()) if first else nan
        ),
        "error_by_position": {step: errors.count(step) for step in sorted(set(errors))},
        "multi_annotator": bool(pairs),
        "first_error_exact_agreement": mean(mean(a == b for a, b in one) for one in pairs) if pairs else nan,
        "first_error_near_agreement": mean(map(mean, near)) if pairs else nan,
    }


@given(annotated)
def test_the_statistics_equal_a_second_implementation(given_labels: dict[tuple[str, str], list[Any]]) -> None:
    stats = process_reward_stats(record(trace, who, ls) for (trace, who), ls in given_labels.items())
    wanted = expected(given_labels)
    assert stats.keys() == {*wanted, *(["error_categories"] if given_labels else [])}
    assert_same(stats, wanted)


def assert_same(stats: Any, wanted: dict[str, Any]) -> None:
    for key, value in wanted.items():
        assert stats[key] == pytest.approx(value, nan_ok=True), key


@given(annotated, st.randoms())
def test_in_another_order_they_are_the_same(given_labels: dict[tuple[str, str], list[Any]], random: Random) -> None:
    records = [record(trace, who, ls) for (trace, who), ls in given_labels.items()]
    shuffled = random.sample(records, len(records))
    assert_same(process_reward_stats(shuffled), cast(dict[str, Any], process_reward_stats(records)))


@given(st.lists(labels, min_size=1, max_size=5))
def test_annotators_who_say_the_same_agree_entirely(traces: list[list[Any]]) -> None:
    stats = process_reward_stats(record(f"t{at}", who, ls) for at, ls in enumerate(traces) for who in ("r1", "r2"))
    assert (stats["first_error_exact_agreement"], stats["first_error_near_agreement"]) == (1.0, 1.0)


@given(annotated)
def test_sums_that_were_written_down_between_traces_are_the_same(
    given_labels: dict[tuple[str, str], list[Any]],
) -> None:
    found = judgements(record(trace, who, ls) for (trace, who), ls in given_labels.items())
    whole, carried, curves = RewardTally(), RewardTally(), RewardCurves()
    for trace in sorted({one.trace for one in found}):
        same = [one for one in found if one.trace == trace]
        whole.add(same)
        carried = RewardTally.from_json(json.loads(json.dumps(carried.as_json())))
        carried.add(same)
        curves = RewardCurves.from_json(json.loads(json.dumps(curves.as_json())))
        for one in same:
            curves.add(one, "annotator")
    assert carried == whole
    assert sum(curve.judgements for curve in curves.groups.values()) == len(found)
    for who, curve in curves.groups.items():
        longest = [one.curve for one in found if one.annotator == who]
        assert curve.means == pytest.approx(
            [mean(c[at] for c in longest if at < len(c)) for at in range(len(curve.means))]
        )


def test_curves_of_very_many_groups_and_steps_are_bounded() -> None:
    curves = RewardCurves()
    for at in range(GROUPS_KEPT + 30):
        (one,) = judgements([record("t", f"r{at}", [1.0] * (STEPS_KEPT + 5))])
        curves.add(one, "annotator")
    assert len(curves.groups) == GROUPS_KEPT + 1
    largest = curves.largest(4)
    assert [(name, curve.judgements) for name, curve in largest] == [("r0", 1), ("r1", 1), ("r10", 1), ("other", 77)]
    assert len(largest[-1][1].means) == STEPS_KEPT


@pytest.mark.parametrize(("score", "says"), [(None, None), (0.0, -1), (0.25, 1), (-0.5, -1), (1, 1)])
def test_a_step_is_correct_above_the_threshold(score: float | None, says: int | None) -> None:
    assert decided(score) == says
    assert decided(score, threshold=-1) == (None if score is None else 1)


def test_the_documented_script_prints_with_one_annotator_no_error_and_no_category(
    capsys: pytest.CaptureFixture[str],
) -> None:
    stats = process_reward_stats([record("t", "r1", [1, 1], mode="first_error", first_error_step=None)])
    print(f"Traces with no errors: {stats['all_correct_count']} ({stats['all_correct_pct']:.1f}%)")
    print(f"Average first-error position: step {stats['avg_first_error_step']:.1f}")
    print(f"Average steps before error: {stats['avg_correct_prefix_length']:.1f}")
    assert capsys.readouterr().out.splitlines() == [
        "Traces with no errors: 1 (100.0%)",
        "Average first-error position: step nan",
        "Average steps before error: 2.0",
    ]
    assert stats["error_by_position"] == {}
    assert "error_categories" not in stats
    assert not stats["multi_annotator"]
    assert isnan(stats["first_error_exact_agreement"])


def test_error_categories_are_counted_where_steps_were_rated() -> None:
    details = {"0": {"label": "incorrect", "error_category": "Other"}, "1": {"label": "correct"}}
    stats = process_reward_stats([record("t", who, [-1.0, 1.0], step_details=details) for who in ("r1", "r2")])
    assert stats["error_categories"] == {"Other": 2}


def test_of_one_annotator_the_last_judgement_of_a_trace_counts() -> None:
    stats = process_reward_stats([record("t", "r1", [-1.0]), record("t", "r1", [1.0])])
    assert (stats["total_traces"], stats["all_correct_count"], stats["multi_annotator"]) == (1, 1, False)
    assert stats["avg_correct_prefix_length"] == 1


def test_a_trace_without_steps_is_no_perfect_one_and_in_no_figure() -> None:
    nothing: dict[str, Any] = {"mode": "first_error", "first_error_step": None, "total_steps": 0, "labels": []}
    idle = {"id": "idle", "annotator": "r1", "annotations": {"process_reward": nothing}}
    stats = process_reward_stats([idle, record("t", "r1", [1.0, -1.0])])
    assert (stats["total_traces"], stats["all_correct_count"], stats["all_correct_pct"]) == (1, 0, 0.0)
    assert stats["avg_correct_prefix_length"] == 1
    alone = process_reward_stats([idle])
    assert (alone["total_traces"], alone["all_correct_count"]) == (0, 0)
    assert isnan(alone["all_correct_pct"])
    tally = RewardTally()
    for one in judgements([idle, record("t", "r1", [1.0])]):
        tally.add([one])
    assert (tally.traces, tally.without_steps) == (1, 1)


def test_an_error_category_makes_no_error_of_a_step_that_scores_above_the_threshold_and_is_counted() -> None:
    details = {"1": {"label": "partially_correct", "error_category": "Other"}}
    found = judgements(
        [record("a", "r1", [1.0, 0.5], step_details=details), record("b", "r1", [1.0, 0.0], step_details=details)]
    )
    tally = RewardTally()
    for one in found:
        tally.add([one])
    assert (tally.all_correct, tally.categorised, dict(tally.positions)) == (1, 1, {1: 1})
    assert tally.stats()["error_categories"] == {"Other": 2}


def test_annotations_of_another_kind_are_passed_over() -> None:
    other = {"id": "t", "annotator": "r1", "annotations": {"verdict": {"decision": "approve"}}}
    assert process_reward_stats([other])["total_traces"] == 0


@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_plots_are_written_into_folders_that_are_made(tmp_path: Path, suffix: str) -> None:
    annotations = [
        {**record(f"t{trace}", who, [1.0, 1.0, -1.0]), "trace": {"agent_model": model}}
        for trace, (who, model) in enumerate([("r1", "_a"), ("r2", "$x^$"), ("r1", "")])
    ]
    errors = tmp_path / "figures" / f"errors.{suffix}"
    figure = plot_error_distribution(annotations, output_path=errors, normalize_by_trace_length=True, title="Where?")
    assert sum(cast(Rectangle, bar).get_height() for bar in figure.axes[0].patches) == 3
    assert errors.stat().st_size > 1000
    curves = tmp_path / "figures" / "more" / f"curves.{suffix}"
    figure = plot_reward_curves(annotations, output_path=curves, group_by="agent_model", title="Reward")
    legend = figure.axes[0].get_legend()
    assert legend
    assert [text.get_text() for text in legend.get_texts()] == ["$x^$ (n = 1)", "_a (n = 1)", "unknown (n = 1)"]
    assert list(np.asarray(figure.axes[0].lines[0].get_ydata())) == [1.0, 2.0, 1.0]
    assert curves.stat().st_size > 1000


def test_nothing_to_draw_is_said_and_writes_nothing(tmp_path: Path) -> None:
    for plot in (plot_error_distribution, plot_reward_curves):
        with pytest.raises(ValueError, match="nothing to draw"):
            plot([], output_path=tmp_path / "none.png")
    assert not list(tmp_path.iterdir())
