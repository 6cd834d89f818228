"""The figures of reports that are drawn."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from agreement.models import AgreementReport
from agreement.plots import Plot, Point, bars_plot, curves_plot
from agreement.wording import SHORT, read_estimate
from potato.statistics.agreement.bounds import FEW_PAIRS
from potato.statistics.agreement.figures import Estimate
from potato.wording import counted

POSITIONS_SHOWN = 40
REPORTS_DRAWN = 60
CURVES_DRAWN = 4


def plots(figures: Mapping[str, Any]) -> Iterator[Plot]:
    """All figures that are drawn of a report."""
    for number, comparison in enumerate(figures["compared"]):
        if comparison["distances"]:
            yield _distances(number, comparison)
        positions = sorted((int(at), figure) for at, figure in comparison["by_position_main"].items())
        if positions:
            yield curves_plot(
                f"positions-{number}",
                f"{comparison['title']} by position: {SHORT[comparison['main']]}",
                "position of the step",
                [("", [_point(str(at), read_estimate(figure)) for at, figure in positions[:POSITIONS_SHOWN]])],
                place="Step",
            )
        weeks = comparison["groups"].get("week", [])
        if len(weeks) > 1:
            yield curves_plot(
                f"weeks-{number}",
                f"{comparison['title']} over time: {SHORT[comparison['main']]}",
                "week in which a trace was judged last",
                [("", [_point(group["name"], read_estimate(group)) for group in weeks])],
                place="Week",
            )


def history_plot(reports: Sequence[AgreementReport]) -> Plot | None:
    """The main measures of the reports, the oldest first; None with fewer than two."""
    if len(reports) < 2:
        return None
    named = [entry for entry in reports[-1].summary if entry["estimate"]["value"] is not None]
    series = []
    for comparison in named[:CURVES_DRAWN]:
        points = []
        for report in reports:
            estimate = estimate_in(report, comparison)
            label = f"{report.computed_at:%-d %b}" if report.computed_at else ""
            points.append(_point(label, estimate) if estimate else Point(label, None))
        series.append((comparison["title"], points))
    return curves_plot("history", "All reports so far", "", series, place="Computed") if series else None


def estimate_in(report: AgreementReport, comparison: Mapping[str, Any]) -> Estimate | None:
    """The main measure of the same comparison in a report, None where it has none."""
    estimates = (
        entry["estimate"]
        for entry in report.summary
        if (entry["scheme"], entry["name"]) == (comparison["scheme"], comparison["name"])
    )
    return next((read_estimate(entry) for entry in estimates), None)


def _distances(number: int, comparison: Mapping[str, Any]) -> Plot:
    counts = {distance["steps"]: distance["pairs"] for distance in comparison["distances"]}
    both_none = comparison["without_error"]
    far = sum(pairs for steps, pairs in counts.items() if steps is not None and steps > 3)
    bars = [
        ("both none", both_none, 3),
        ("same", counts.get(0, 0) - both_none, 3),
        *((str(steps), counts.get(steps, 0), 4) for steps in (1, 2, 3)),
        ("4+", far, 4),
        ("one none", counts.get(None, 0), 2),
    ]
    return bars_plot(
        f"distances-{number}",
        "How far apart the first errors are",
        "steps between the two first errors",
        bars,
        place="Steps apart",
        counted="Pairs",
    )


def _point(label: str, estimate: Estimate) -> Point:
    has_value = estimate.value is not None and estimate.pairs >= FEW_PAIRS
    return Point(
        label,
        estimate.value if has_value else None,
        estimate.low if has_value else None,
        estimate.high if has_value else None,
        estimate.has_few_traces,
        counted(estimate.pairs, "pair"),
    )
