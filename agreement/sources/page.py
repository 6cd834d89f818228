"""What the page of a project's sources shows: the figures of a report as rows, drawn intervals and words."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from accounts.reader_zone import moment_text
from agreement.intervals import Interval, place
from agreement.intervals import interval as drawn_interval
from agreement.models import Source, SourceKind, SourceReport
from agreement.sources.primary import most_informative
from assignments.models import TraceQuota
from potato.statistics.agreement.bounds import FEW_TRACES
from potato.wording import counted
from traces.listing import first_line
from traces.models import Trace

LOW = 0.85
"""Sensitivity and specificity below this are drawn in the colour that asks for a look; our choice."""
DIFFERENCES_SHOWN = 50
SHOWN = (("all", "All"), ("kind", "Too kind"), ("strict", "Too strict"))


@dataclass(frozen=True)
class Measure:
    """A row: what is measured, what it means, the value, its interval drawn and in figures, and what it rests on.
    Without a value `why` says why."""

    name: str
    meaning: str
    value: str
    why: str
    drawn: Interval | None
    interval: str
    basis: str


@dataclass(frozen=True)
class Cell:
    count: int
    share: str
    tone: str
    note: str


@dataclass(frozen=True)
class DifferenceRow:
    """A trace on which the source and people differ. `extra_annotators` counts those that were asked for."""

    trace: Trace
    name: str
    people: str
    source: str
    people_key: str
    source_key: str
    probable: str
    extra_annotators: int


@dataclass(frozen=True)
class Rate:
    label: str
    basis: str
    value: str


@dataclass(frozen=True)
class SourceRow:
    """A source in the table, with the figure of its newest report."""

    source: Source
    kind: str
    answers: int
    comparable: str
    against: str
    is_chosen: bool


@dataclass(frozen=True)
class Shown:
    """A report as the page has it."""

    title: str
    method: str
    headline: str
    rates_sentence: str
    rates: list[Rate]
    measures: list[Measure]
    foot: str
    doubts: list[str]
    columns: list[str]
    cells: list[tuple[str, list[Cell]]]
    comparable: int
    missed: list[tuple[str, int, str]]
    missed_traces: int
    groups: list[Measure]
    group_title: str
    reference: str
    reference_at: str
    different: int
    kinds: int
    stricts: int


@dataclass(frozen=True)
class RowOfTwo:
    """A measure of two sources on what both answered; `verdict` says in words whether they can be told apart."""

    name: str
    basis: str
    first: str
    second: str
    difference: str
    interval: str
    verdict: str


METHODS = {
    "dawid_skene": "consensus by Dawid and Skene",
    "one_coin": "consensus by one coin an annotator",
    "majority": "majority",
}


def source_rows(sources: Sequence[Any], chosen: Source | None) -> Iterator[SourceRow]:
    """The table of sources, each annotated with `answered` and `newest_summary`, of its newest report."""
    for source in sources:
        summary = source.newest_summary
        against, comparable = "not compared yet", ""
        if summary:
            comparable, against = f"{summary['comparable']:,}", "no kappa"
            if summary["kappa"] is not None:
                against = f"kappa {summary['kappa']:.2f}"
            elif summary["precision"] is not None and summary["recall"] is not None:
                against = f"precision {summary['precision']:.2f}, recall {summary['recall']:.2f}"
        kind = SourceKind(source.kind).label + (f", {source.model}" if source.model else "")
        yield SourceRow(
            source, kind, source.answered, comparable, against, chosen is not None and source.pk == chosen.pk
        )


def primary(figures: Mapping[str, Any]) -> dict[str, Any] | None:
    """The comparison that the page is about, with the scheme that it is of."""
    candidates = []
    for scheme in figures.get("schemes", ()):
        outcomes = [scheme["first_errors"]["outcome"]] if scheme["first_errors"] else []
        candidates += [{**values, "scheme": scheme["scheme"]} for values in [*scheme["values"], *outcomes]]
    return most_informative(
        candidates, lambda values: (values["answered"], values["rates"] is not None, values["unit"])
    )


def places_in(figures: Mapping[str, Any]) -> dict[str, Any] | None:
    return next((scheme["places"] for scheme in figures.get("schemes", ()) if scheme["places"]), None)


def first_errors_in(figures: Mapping[str, Any]) -> dict[str, Any] | None:
    return next((scheme["first_errors"] for scheme in figures.get("schemes", ()) if scheme["first_errors"]), None)


def shown(report: SourceReport, by: str, earlier: Sequence[SourceReport]) -> Shown:
    """The report in words and drawings; `by` is what the second list of measures goes by: agent, category or time."""
    figures, source = report.figures, report.source
    values, places = primary(figures), places_in(figures)
    rates = values["rates"] if values else None
    all_kappa = values["kappa"]["value"] if values else None
    groups, group_title = _groups(by, values, places, earlier, all_kappa)
    columns, cells = _confusion(values) if values else ([], [])
    differences = values["differences"] if values else []
    return Shown(
        title=str(source),
        method=f"{METHODS[report.options['method']]}, posterior at least {report.options['sure']}",
        headline=figures["headline"] or f"{source} says nothing that people say, too.",
        rates_sentence=_rates_sentence(rates),
        rates=list(_rates(str(source), rates)),
        measures=list(_measures(values, places, first_errors_in(figures))),
        foot=_foot(values),
        doubts=list(values["doubts"]) if values else [],
        columns=columns,
        cells=cells,
        comparable=values["comparable"] if values else 0,
        missed=list(_missed(figures["missed_categories"])),
        missed_traces=sum(difference["is_too_kind"] is True for difference in differences),
        groups=groups,
        group_title=group_title,
        reference=f"all {all_kappa:.2f}" if all_kappa is not None and by == "agent" else "",
        reference_at=place(all_kappa),
        different=values["different"] if values else 0,
        kinds=sum(difference["is_too_kind"] is True for difference in differences),
        stricts=sum(difference["is_too_kind"] is False for difference in differences),
    )


def rows_of_two(report: SourceReport) -> list[RowOfTwo]:
    """How the report's source and the one beside it differ."""
    two = report.figures["two"]
    names = (str(report.source), two["name"])
    return [_row_of_two(measure, names) for measure in two["measures"]]


def _row_of_two(measure: Mapping[str, Any], names: tuple[str, str]) -> RowOfTwo:
    difference = measure["difference"]
    first, second = (
        "none" if measure[side]["value"] is None else f"{measure[side]['value']:.2f}" for side in ("first", "second")
    )
    if difference["value"] is None:
        verdict, value, interval = str(difference["undefined"] or "Not defined").capitalize(), "none", ""
    else:
        value = f"{difference['value']:+.2f}"
        interval = (
            f"{difference['low']:+.2f} to {difference['high']:+.2f}"
            if difference["low"] is not None
            else "too few for an interval"
        )
        verdict = "No difference" if difference["low"] == difference["high"] == 0 else "Cannot be told apart"
        if difference["low"] is not None and difference["low"] > 0:
            verdict = f"{names[0]} is closer to people"
        elif difference["high"] is not None and difference["high"] < 0:
            verdict = f"{names[1]} is closer to people"
    traces = counted(difference["traces"], "trace")
    basis = traces if measure["unit"] == "traces" else f"{difference['units']:,} {measure['unit']} in {traces}"
    return RowOfTwo(measure["title"], basis, first, second, value, interval, verdict)


def difference_rows(report: SourceReport, which: str) -> list[DifferenceRow]:
    """The first differences of that kind, with their traces."""
    values = primary(report.figures)
    kinds = {"kind": (True,), "strict": (False,)}.get(which, (True, False, None))
    chosen = [
        difference for difference in (values["differences"] if values else []) if difference["is_too_kind"] in kinds
    ]
    chosen = chosen[:DIFFERENCES_SHOWN]
    keys = [difference["trace"] for difference in chosen]
    traces = {str(trace.pk): trace for trace in Trace.objects.filter(project=report.project_id, pk__in=keys)}
    quotas = TraceQuota.objects.filter(project=report.project_id, trace__in=keys)
    extra_by_trace = {str(trace): extra for trace, extra in quotas.values_list("trace", "extra")}
    scheme = values["scheme"] if values else ""
    return [
        DifferenceRow(
            trace=traces[difference["trace"]],
            name=first_line(traces[difference["trace"]].task) or traces[difference["trace"]].external_id,
            people=_value_label(difference["people"]),
            source=_value_label(difference["source"]),
            people_key=f"{scheme}.{difference['people']}",
            source_key=f"{scheme}.{difference['source']}",
            probable=f"{difference['probable']:.2f}",
            extra_annotators=extra_by_trace.get(difference["trace"], 0),
        )
        for difference in chosen
        if difference["trace"] in traces
    ]


def _value_label(value: Any) -> str:
    return str(value).replace("_", " ").capitalize()


def _rates_sentence(rates: Mapping[str, Any] | None) -> str:
    if rates is None or rates["said"]["value"] is None:
        return ""
    rate_sentence = f"It accepts {rates['said']['value']:.0%} of what it answered."
    corrected = rates["corrected"]
    if corrected["value"] is None:
        return f"{rate_sentence} That rate cannot be corrected: {corrected['undefined']}."
    people = rates["people"]
    own = f" People alone, on the {people['units']:,} of which they are sure, accept {people['value']:.0%}."
    return f"{rate_sentence} Corrected for its errors, {corrected['value']:.0%}{_span(corrected, per_cent=True)}.{own}"


def _span(figure: Mapping[str, Any], *, per_cent: bool = False) -> str:
    if figure["low"] is None:
        return ""
    low, high = figure["low"], figure["high"]
    return f" ({low:.0%} to {high:.0%})" if per_cent else f" ({low:.2f} to {high:.2f})"


def _rates(name: str, rates: Mapping[str, Any] | None) -> Iterator[Rate]:
    if rates is None:
        return
    for label, key in ((f"As {name} says", "said"), ("Corrected", "corrected"), ("People", "people")):
        figure = rates[key]
        if figure["value"] is None:
            yield Rate(label, "cannot be said" if key == "people" else "cannot be corrected", "")
        else:
            interval = f"{figure['low'] * 100:.0f} to {figure['high'] * 100:.0f}" if figure["low"] is not None else ""
            yield Rate(label, f"n {figure['units']:,}" if key == "said" else interval, f"{figure['value']:.0%}")


def _measures(
    values: Mapping[str, Any] | None, places: Mapping[str, Any] | None, first_errors: Mapping[str, Any] | None
) -> Iterator[Measure]:
    if values is not None:
        unit = "runs" if values["unit"] == "traces" else values["unit"]
        if rates := values["rates"]:
            yield _of_hits("Sensitivity", f"Of the {unit} that people accept, it accepts", rates["sensitivity"])
            yield _of_hits("Specificity", f"Of the {unit} that people reject, it rejects", rates["specificity"])
        alpha = values["people_alpha"]
        among = f"; people among themselves reach {alpha['value']:.2f} alpha" if alpha["value"] is not None else ""
        yield measure(
            "Kappa against consensus",
            f"Agreement beyond chance{among}",
            values["kappa"],
            f"{values['comparable']:,} {values['unit']}",
            reference=alpha["value"],
        )
        if rates:
            yield measure(
                "Success rate, corrected",
                "Its rate, with sensitivity and specificity taken into account; the line is the rate as it is",
                rates["corrected"],
                f"{values['answered']:,} {unit}",
                reference=rates["said"]["value"],
                per_cent=True,
            )
    if first_errors is not None:
        basis = f"{first_errors['same']['traces']:,} traces"
        yield measure("Same first error", "The step that most people name, or no error", first_errors["same"], basis)
        yield measure("At most one step away", "As above, give or take a step", first_errors["near"], basis)
    if places is not None:
        basis = f"{places['comments']:,} comments"
        yield measure("Comment precision", "Of its comments, people commented there", places["precision"], basis)
        basis = f"{places['places']:,} places of people"
        yield measure("Comment recall", "Of the places where people commented, it did", places["recall"], basis)


def _of_hits(name: str, meaning: str, figure: Mapping[str, Any]) -> Measure:
    hits = round((figure["value"] or 0) * figure["units"])
    is_low = figure["value"] is not None and figure["value"] < LOW
    return measure(name, meaning, figure, f"{hits:,} of {figure['units']:,}", is_low=is_low)


def measure(
    name: str,
    meaning: str,
    figure: Mapping[str, Any],
    basis: str,
    *,
    reference: float | None = None,
    per_cent: bool = False,
    is_low: bool = False,
) -> Measure:
    """A figure as a row. What rests on few traces is drawn hollow."""
    value = figure["value"]
    if value is None:
        return Measure(name, meaning, "none", str(figure["undefined"] or "Not defined").capitalize(), None, "", basis)
    words = f"{value:.0%}" if per_cent else f"{value:.2f}"
    interval = _span(figure, per_cent=per_cent).strip(" ()")
    tone = "small" if figure["traces"] < FEW_TRACES else ("bad" if is_low else "")
    label = f"{words}, 95% interval from {interval}" if interval else f"{words}, no interval"
    drawn = drawn_interval(value, figure["low"], figure["high"], label=label, tone=tone, reference=reference)
    return Measure(name, meaning, words, "", drawn, interval or "too few for an interval", basis)


def _foot(values: Mapping[str, Any] | None) -> str:
    if values is None:
        return ""
    left_out, alone, unit = values["left_out"], values["alone"], values["unit"]
    parts = [f"{values['comparable'] + left_out:,} {unit} were judged by people too"]
    if left_out:
        parts.append(f"{left_out:,} left out because people are not sure enough of them")
    if alone:
        parts.append(f"{alone:,} that only the source judged")
    return "; ".join(parts)


def _confusion(values: Mapping[str, Any]) -> tuple[list[str], list[tuple[str, list[Cell]]]]:
    names, positive = values["values"], values["positive"]
    used = [
        at
        for at in range(len(names))
        if any(values["confusion"][at]) or any(row[at] for row in values["confusion"]) or names[at] in positive
    ]
    rows = []
    for at in used:
        row = values["confusion"][at]
        total = sum(row)
        cells = []
        for other in used:
            tone = "same k3" if at == other else ("k1" if row[other] else "")
            note = ""
            if at != other and (names[at] in positive) != (names[other] in positive):
                is_kind = names[other] in positive
                note = "too kind" if is_kind else "too strict"
                tone = "off" if is_kind and row[other] else tone
            cells.append(
                Cell(row[other], f"{row[other] / total:.0%}" if total else "", tone, note if row[other] else "")
            )
        rows.append((_value_label(names[at]), cells))
    return [_value_label(names[at]) for at in used], rows


def _missed(categories: Mapping[str, int]) -> Iterator[tuple[str, int, str]]:
    most = max(categories.values(), default=1)
    for name, many in sorted(categories.items(), key=lambda item: (-item[1], item[0])):
        yield _value_label(name), many, f"{100 * many / most:.1f}%"


def _groups(
    by: str,
    values: Mapping[str, Any] | None,
    places: Mapping[str, Any] | None,
    earlier: Sequence[SourceReport],
    reference: float | None,
) -> tuple[list[Measure], str]:
    if by == "category" and places is not None:
        return [
            measure(
                _value_label(name),
                "Of people's places with this category, it commented there",
                figure,
                counted(figure["units"], "place"),
            )
            for name, figure in places["recall_by_category"].items()
        ], "Recall"
    if by == "time":
        compared = [(report, primary(report.figures)) for report in earlier]
        return [
            measure(
                moment_text(report.computed_at) if report.computed_at else "",
                f"{report.answers:,} answers, {report.annotations:,} annotations of people",
                comparison["kappa"],
                f"{comparison['comparable']:,} {comparison['unit']}",
                reference=reference,
            )
            for report, comparison in compared
            if comparison is not None
        ], "Kappa"
    if values is None:
        return [], "Kappa"
    return [
        measure(
            model or "Agent not named",
            _of_model(rates),
            kappa,
            f"{kappa['units']:,} {values['unit']}",
            reference=reference,
        )
        for model, (kappa, rates) in values["by_model"].items()
    ], "Kappa"


def _of_model(rates: Mapping[str, Any] | None) -> str:
    if rates is None or rates["said"]["value"] is None:
        return ""
    corrected = rates["corrected"]
    after = "cannot be corrected" if corrected["value"] is None else f"corrected {corrected['value']:.0%}"
    return f"It accepts {rates['said']['value']:.0%}, {after}"
