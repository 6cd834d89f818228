"""The figures of the site and the pictures of the library have one look: colours, words and axes."""

import re
from pathlib import Path
from typing import Any

from django.conf import settings
from matplotlib.patches import Rectangle

from potato.statistics import charts
from potato.statistics.rewards.plots import plot_error_distribution, plot_reward_curves
from rewards.charts import curve_chart, errors_by_share, errors_by_step


def record(number: int, model: str, error: int | None, steps: int = 4) -> dict[str, Any]:
    labels = [1 if error is None or at < error else -1 for at in range(steps)]
    part = {"mode": "first_error", "first_error_step": error, "total_steps": steps, "labels": labels}
    return {
        "id": f"trace_{number}",
        "annotator": "bob",
        "timestamp": "2026-01-01T00:00:00Z",
        "trace": {"agent_model": model},
        "annotations": {"rewards": part},
    }


RECORDS = [record(at, f"model-{at % 3}", error) for at, error in enumerate([1, 1, 1, 2, None, 0, 1, 1, 1, 3])]


def test_the_colours_are_those_of_the_site_in_its_light_theme() -> None:
    css = (Path(settings.BASE_DIR) / "static" / "css" / "tokens.css").read_text(encoding="utf-8")
    light: dict[str, str] = {}
    for name, colour in re.findall(r"--([\w-]+):\s*light-dark\((#\w+),", css):
        light.setdefault(name, colour)
    assert tuple(light[f"viz-{number}"] for number in (1, 2, 3, 4)) == charts.SERIES
    assert (light["viz-grid"], light["line-2"], light["text-3"]) == (charts.GRID, charts.AXIS, charts.TEXT)


def test_first_errors_stand_on_the_same_axes_with_the_same_words(tmp_path: Path) -> None:
    site = errors_by_step({0: 1, 1: 6, 2: 1, 3: 1})
    axes = plot_error_distribution(RECORDS, tmp_path / "errors.svg").axes[0]
    assert [f"{tick:g}" for tick in axes.get_yticks()] == [line.label for line in site.lines] == ["0", "2", "4", "6"]
    assert axes.get_ylim() == (0, 6)
    assert (axes.get_xlabel(), axes.get_ylabel()) == (site.heading, charts.FIRST_ERRORS)
    heights = [(bar.get_height(), bar.get_facecolor()) for bar in axes.patches if isinstance(bar, Rectangle)]
    assert [height for height, _ in heights] == [column.errors for column in site.columns]
    highest = [column.is_highest for column in site.columns]
    assert [colour == heights[1][1] for _, colour in heights] == highest == [False, True, False, False]
    share = plot_error_distribution(RECORDS, tmp_path / "share.svg", normalize_by_trace_length=True).axes[0]
    assert share.get_xlabel() == errors_by_share([0] * 10).heading


def test_rewards_stand_on_the_same_axes_in_the_same_order_of_colours(tmp_path: Path) -> None:
    alone = [record(0, "model-a", None), record(1, "model-b", 1)]
    site = curve_chart([("model-a", 1, [1, 2, 3, 4]), ("model-b", 1, [1, 0, -1, -2])])
    axes = plot_reward_curves(alone, tmp_path / "curves.svg").axes[0]
    assert [f"{tick:g}" for tick in axes.get_yticks()] == [line.label for line in site.lines]
    colours = [str(line.get_color()) for line in axes.get_lines()[:2]]
    assert colours == list(charts.SERIES[:2])
    assert (axes.get_xlabel(), axes.get_ylabel()) == (charts.STEP, charts.CUMULATIVE_REWARD)


def test_ten_groups_are_told_apart(tmp_path: Path) -> None:
    many = [record(at, f"model-{at}", at % 4) for at in range(10)]
    lines = plot_reward_curves(many, tmp_path / "many.svg").axes[0].get_lines()[:10]
    assert len({(line.get_color(), line.get_linestyle()) for line in lines}) == 10
