"""What the pages of a project's agreement show, out of a report's figures."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

from accounts.models import Project
from agreement.models import AgreementReport
from agreement.newer import came_in_after
from agreement.plots import LINE, Plot, Point, bars_plot, curves_plot
from agreement.wording import (
    FAST,
    FEW_MEETINGS,
    LOW_WORDS,
    MEANINGS,
    SHARES,
    SHORT,
    estimate_of,
    main_of,
    shown,
    too_few,
    why_undefined,
    word_of,
)
from assignments.wording import duration
from potato.statistics.agreement.estimates import FEW_PAIRS, FEW_TRACES, Estimate
from potato.statistics.agreement.words import CHANCE_CORRECTED
from potato.wording import counted, title_case

GROUP_TITLES = {
    "agent_model": "Agent",
    "tag": "Tag",
    "source_file": "Imported file",
    "week": "Week",
    "file": "File",
}
POSITIONS_SHOWN = 40
REPORTS_DRAWN = 60
CURVES_DRAWN = 4
MOST_VALUES = 8
"""A matrix of more values than these is not drawn."""


@dataclass(frozen=True)
class Interval:
    """A drawn interval in per cent of its track: the value, its ends, the line to compare with, and its tone."""

    at: str
    low: str
    high: str
    reference: str
    tone: str
    label: str


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


@dataclass(frozen=True)
class Section:
    """The measures of one thing that is compared."""

    title: str
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Cell:
    """How many pairs chose two values, with the share of its row; `depth` is how strong it is tinted."""

    number: int
    share: str
    is_same: bool
    depth: int
    is_costly: bool
    url: str


@dataclass(frozen=True)
class Matrix:
    title: str
    pairs: int
    values: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Cell, ...]], ...]
    costliest: str


@dataclass(frozen=True)
class People:
    """Each annotator beside the rest, by what `title` says, and what stands out."""

    title: str
    measure: str
    overall: str
    rows: tuple[Row, ...]
    flagged: tuple[str, ...]


@dataclass(frozen=True)
class Choice:
    """A part of a switch, with its address."""

    title: str
    query: str
    is_current: bool


@dataclass(frozen=True)
class Groups:
    title: str
    what: str
    rows: tuple[Row, ...]
    left_out: int


@dataclass(frozen=True)
class Query:
    """What the address of the page asks for: which comparison people and groups are shown by, and which groups."""

    on: str = ""
    by: str = ""

    def to(self, **changes: str) -> str:
        return "?" + urlencode(
            {name: value for name, value in {"on": self.on, "by": self.by, **changes}.items() if value}
        )


def sections(figures: Mapping[str, Any]) -> list[Section]:
    """All measures, by what they compare."""
    return [
        Section(
            one["title"],
            tuple(
                _row(
                    f"{one['scheme']}/{one['name']}/{measure}",
                    f"{one['title']}, {SHORT[measure]}",
                    MEANINGS[measure].format(tolerance=figures["tolerance"]),
                    measure,
                    estimate_of(estimate),
                    one["unit"] if measure not in ("category_alpha_nominal", "severity_alpha_ordinal") else "comments",
                    is_sub=number > 0,
                )
                for number, (measure, estimate) in enumerate(in_order(one))
            ),
        )
        for one in figures["compared"]
    ]


def in_order(one: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    """The measures of one comparison, the main one first: the database keeps keys in an order of its own."""
    return sorted(one["figures"].items(), key=lambda item: (item[0] != one["main"], [*MEANINGS].index(item[0])))


def matrices(report: AgreementReport) -> list[Matrix]:
    """Who says what when they differ, of everything that has a few values."""
    return [
        made
        for number, one in enumerate(report.figures["compared"])
        if one["main"] != "alpha_interval" and (made := _matrix(report, number, one))
    ]


def people(report: AgreementReport, one: Mapping[str, Any], annotations_url: str) -> People:
    """Each annotator against the rest; who is fast and agrees less is named."""
    overall = main_of(one)
    everybody = report.seconds.get("")
    rows = []
    flagged = []
    for name, figure in one["rest_main"].items():
        estimate, share = estimate_of(figure), estimate_of(one["rest"][name])
        if not estimate.pairs:
            continue
        seconds = report.seconds.get(name)
        is_flagged = is_fast_and_low(estimate, overall, seconds, everybody)
        badge = "Fast, low agreement" if is_flagged else ""
        if not badge and estimate.pairs < FEW_MEETINGS:
            badge = f"{counted(estimate.pairs, 'pair')} only"
        if is_flagged and seconds is not None and everybody is not None:
            flagged.append(
                f"{name} takes {_time(seconds)} where the median is {_time(everybody)}, and agrees in "
                f"{share.value or 0:.0%} of {counted(share.pairs, 'pair')}."
            )
        rows.append(
            _row(
                f"people/{name}",
                name,
                "",
                one["main"],
                estimate,
                one["unit"],
                reference=overall.value,
                badge=badge,
                url=f"{annotations_url}?{urlencode({'annotator': name})}",
                is_flagged=is_flagged,
                is_part=True,
                share="" if share.value is None else f"{share.value:.0%}",
                took="" if seconds is None else _time(seconds),
            )
        )
    return People(
        one["title"],
        SHORT[one["main"]],
        "" if overall.value is None else shown(overall.value, one["main"]),
        tuple(rows),
        tuple(flagged),
    )


def is_fast_and_low(own: Estimate, overall: Estimate, seconds: float | None, everybody: float | None) -> bool:
    """The rule of "Fast, low agreement": enough pairs, the interval wholly below the project's value, and less than a
    third of the project's median time."""
    return (
        own.pairs >= FEW_MEETINGS
        and own.high is not None
        and overall.value is not None
        and own.high < overall.value
        and seconds is not None
        and everybody is not None
        and seconds < everybody * FAST
    )


def groups(one: Mapping[str, Any], kind: str) -> Groups:
    """The main measure by agent model, tag, imported file, week or file."""
    found = one["groups"].get(kind, [])
    rows = tuple(
        _row(
            f"groups/{kind}/{group['name']}",
            group["name"] or "unknown",
            "",
            one["main"],
            estimate_of(group),
            one["unit"],
            is_part=True,
        )
        for group in found
    )
    return Groups(GROUP_TITLES[kind], SHORT[one["main"]], rows, one["groups_left_out"].get(kind, 0))


def by_category(one: Mapping[str, Any]) -> list[tuple[str, str, str, str]]:
    """Of the comments of each category: its name, the share matched, that share as a bar's width, and what it is of."""
    rows = []
    for name, figure in one["by_category"].items():
        estimate = estimate_of(figure)
        if estimate.value is None:
            continue
        matched = round(estimate.value * estimate.pairs)
        rows.append(
            (title_case(name), f"{estimate.value:.2f}", f"{estimate.value:.1%}", f"{matched:,} of {estimate.pairs:,}")
        )
    return rows


def plots(figures: Mapping[str, Any]) -> Iterator[Plot]:
    """All figures that are drawn of a report."""
    for number, one in enumerate(figures["compared"]):
        if one["distances"]:
            yield _distances(number, one)
        positions = sorted((int(at), figure) for at, figure in one["by_position_main"].items())
        if positions:
            yield curves_plot(
                f"positions-{number}",
                f"{one['title']} by position: {SHORT[one['main']]}",
                "position of the step",
                [("", [_point(str(at), estimate_of(figure)) for at, figure in positions[:POSITIONS_SHOWN]])],
                place="Step",
            )
        weeks = one["groups"].get("week", [])
        if len(weeks) > 1:
            yield curves_plot(
                f"weeks-{number}",
                f"{one['title']} over time: {SHORT[one['main']]}",
                "week in which a trace was judged last",
                [("", [_point(group["name"], estimate_of(group)) for group in weeks])],
                place="Week",
            )


def history_plot(reports: Sequence[AgreementReport]) -> Plot | None:
    """The main measures of the reports, the oldest first; None with fewer than two."""
    if len(reports) < 2:
        return None
    named = [one for one in reports[-1].summary if one["estimate"]["value"] is not None]
    series = []
    for wanted in named[:CURVES_DRAWN]:
        points = []
        for report in reports:
            estimate = estimate_in(report, wanted)
            label = f"{report.computed_at:%-d %b}" if report.computed_at else ""
            points.append(_point(label, estimate) if estimate else Point(label, None))
        series.append((wanted["title"], points))
    return curves_plot("history", "All reports so far", "", series, place="Computed") if series else None


def estimate_in(report: AgreementReport, wanted: Mapping[str, Any]) -> Estimate | None:
    """The main measure of the same comparison in a report, None where it has none."""
    found = (
        one["estimate"] for one in report.summary if (one["scheme"], one["name"]) == (wanted["scheme"], wanted["name"])
    )
    return next((estimate_of(one) for one in found), None)


def comparison_named(figures: Mapping[str, Any], name: str) -> Mapping[str, Any] | None:
    """What is compared under scheme/name, else the first coefficient with a value, else the first with one."""
    compared = figures["compared"]
    named = [one for one in compared if f"{one['scheme']}/{one['name']}" == name]
    with_value = [one for one in compared if main_of(one).value is not None]
    corrected = [one for one in with_value if one["main"] in CHANCE_CORRECTED]
    return next(iter([*named, *corrected, *with_value, *compared]), None)


def choices_on(figures: Mapping[str, Any], current: Mapping[str, Any], query: Query) -> list[Choice]:
    """The switch between what is compared."""
    return [
        Choice(one["title"], query.to(on=f"{one['scheme']}/{one['name']}"), one is current)
        for one in figures["compared"]
        if main_of(one).pairs
    ]


def choices_by(one: Mapping[str, Any], current: str, query: Query) -> list[Choice]:
    """The switch between kinds of groups."""
    return [
        Choice(title, query.to(by=kind), kind == current)
        for kind, title in GROUP_TITLES.items()
        if one["groups"].get(kind)
    ]


def traces_query(report: AgreementReport, number: int, of: Sequence[Any]) -> str:
    """The part of an address that names the traces of two choices."""
    return urlencode({"report": str(report.pk), "on": number, "of": [str(value) for value in of]}, doseq=True)


def _matrix(report: AgreementReport, number: int, one: Mapping[str, Any]) -> Matrix | None:
    """None where fewer than two values were chosen, or too many to be drawn. Values that nobody chose are left out."""
    chosen = [at for at, row in enumerate(one["confusion"]) if any(row)]
    if not 1 < len(chosen) <= MOST_VALUES:
        return None
    counts = [[one["confusion"][at][other] for other in chosen] for at in chosen]
    values = [one["values"][at] for at in chosen]
    of_examples = [example["of"] for example in one["examples"]]
    both = [
        [
            round(counts[at][other] if at == other else counts[at][other] + counts[other][at])
            for other in range(len(values))
        ]
        for at in range(len(values))
    ]
    off = sorted(
        ((both[at][other], at, other) for at in range(len(values)) for other in range(at + 1, len(values))),
        key=lambda cell: (-cell[0], cell[1:]),
    )
    costliest = off[0] if off and off[0][0] else None
    rows = []
    for at, value in enumerate(values):
        total = sum(both[at])
        cells = []
        for other, second in enumerate(values):
            here = both[at][other]
            of = next((of for of in of_examples if sorted(map(str, of)) == sorted(map(str, (value, second)))), None)
            share = here / total if total else 0
            cells.append(
                Cell(
                    here,
                    f"{share:.0%}" if total else "",
                    at == other,
                    min(3, round(share * 4)),
                    costliest is not None and {at, other} == {*costliest[1:]},
                    traces_query(report, number, of) if here and of else "",
                )
            )
        rows.append((_value(value), tuple(cells)))
    pairs = round(sum(sum(row) for row in counts))
    words = f"{_value(values[costliest[1]])} against {_value(values[costliest[2]])}" if costliest else ""
    return Matrix(
        one["title"] if one["unit"] != "comments" else "Category of matched comments",
        pairs,
        tuple(map(_value, values)),
        tuple(rows),
        f"{counted(costliest[0], 'pair')}: {words}" if costliest else "",
    )


def _value(value: Any) -> str:
    return title_case(value) if isinstance(value, str) else f"{value:g}"


def _distances(number: int, one: Mapping[str, Any]) -> Plot:
    counts = {one["steps"]: one["pairs"] for one in one["distances"]}
    both_none = one["without_error"]
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


def _row(
    key: str,
    title: str,
    meaning: str,
    measure: str,
    estimate: Estimate,
    unit: str,
    *,
    is_sub: bool = False,
    is_part: bool = False,
    reference: float | None = LINE,
    badge: str = "",
    url: str = "",
    is_flagged: bool = False,
    share: str = "",
    took: str = "",
) -> Row:
    few = too_few(estimate) if is_part and estimate.pairs else ""
    why = few or (why_undefined(estimate) if estimate.value is None else "")
    value = "" if why or estimate.value is None else shown(estimate.value, measure)
    words = ""
    if value and estimate.low is not None and estimate.high is not None:
        words = f"{shown(estimate.low, measure)} to {shown(estimate.high, measure)}"
    line = None if measure in SHARES and not is_part else reference
    tone = ""
    if estimate.has_few_traces:
        tone = "small"
    elif is_flagged or (
        not is_part and measure not in SHARES and word_of(measure, estimate) in (*LOW_WORDS, "rarely", "less than half")
    ):
        tone = "bad"
    return Row(
        key=key,
        title=title,
        meaning=meaning,
        value=value,
        why=why,
        is_sub=is_sub,
        interval=_interval(estimate, line, tone, words, value) if value else None,
        interval_words=words,
        basis=_basis(estimate, unit),
        badge=badge,
        url=url,
        is_flagged=is_flagged,
        share=share,
        took=took,
    )


def _interval(estimate: Estimate, reference: float | None, tone: str, words: str, value: str) -> Interval:
    label = f"{value}, 95% interval from {words}" if words else f"{value}, without an interval"
    return Interval(
        at=_per_cent(estimate.value),
        low=_per_cent(estimate.low),
        high=_per_cent(estimate.high),
        reference=_per_cent(reference),
        tone=tone,
        label=label,
    )


def _per_cent(value: float | None) -> str:
    return "" if value is None else f"{min(max(value, 0.0), 1.0) * 100:.1f}%"


def _basis(estimate: Estimate, unit: str) -> str:
    pairs = counted(estimate.pairs, "pair")
    if unit in ("traces", "comments", "") or estimate.units == estimate.traces:
        return f"{counted(estimate.traces, 'trace')}, {pairs}"
    return f"{estimate.units:,} {unit.split(' ')[0]}, {pairs}"


def _time(seconds: float) -> str:
    return duration(timedelta(seconds=seconds))


def newer_than(report: AgreementReport, project: Project) -> int:
    """How many annotations came in since the report."""
    return came_in_after(project, report.seen_until)[:10_000].count()


def is_small(report: AgreementReport) -> bool:
    return report.shared_traces < FEW_TRACES
