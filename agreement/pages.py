"""What the pages of a project's agreement show, out of a report's figures."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from accounts.models import Project
from agreement.filters import options_filters
from agreement.models import AgreementReport
from agreement.rows import Row, row
from agreement.since_report import came_in_after, decided_after
from agreement.wording import MEANINGS, SHORT, main_estimate, read_estimate
from assignments.filtering import filtered
from assignments.models import Batch
from potato.statistics.agreement.report import batch_text
from potato.statistics.agreement.words import CHANCE_CORRECTED, unjudged_in_words
from potato.wording import title_case

GROUP_TITLES = {
    "agent_model": "Agent",
    "tag": "Tag",
    "source_file": "Imported file",
    "week": "Week",
    "batch": "Batch",
    "file": "File",
}


@dataclass(frozen=True)
class Section:
    """The measures of one thing that is compared, and what annotators could not judge of it, as a sentence or ""."""

    title: str
    rows: tuple[Row, ...]
    unjudged: str = ""


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
    """What the address of the page asks for: which comparison people and groups are shown by, and which groups; `kept`
    are its other pairs."""

    on: str = ""
    by: str = ""
    kept: tuple[tuple[str, str], ...] = ()

    def to(self, **changes: str) -> str:
        chosen = {name: value for name, value in {"on": self.on, "by": self.by, **changes}.items() if value}
        return "?" + urlencode([*chosen.items(), *self.kept])


def sections(figures: Mapping[str, Any]) -> list[Section]:
    """All measures, by what they compare."""
    return [
        Section(
            comparison["title"],
            tuple(
                row(
                    f"{comparison['scheme']}/{comparison['name']}/{measure}",
                    f"{comparison['title']}, {SHORT[measure]}",
                    MEANINGS[measure].format(tolerance=figures["tolerance"]),
                    measure,
                    read_estimate(estimate),
                    comparison["unit"]
                    if measure not in ("category_alpha_nominal", "severity_alpha_ordinal")
                    else "comments",
                    is_sub=number > 0,
                )
                for number, (measure, estimate) in enumerate(in_order(comparison))
            ),
            unjudged_in_words(comparison),
        )
        for comparison in figures["compared"]
    ]


def in_order(comparison: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    """The measures of one comparison, the main one first: the database keeps keys in an order of its own."""
    return sorted(
        comparison["figures"].items(), key=lambda item: (item[0] != comparison["main"], [*MEANINGS].index(item[0]))
    )


def groups(comparison: Mapping[str, Any], kind: str, project: Project) -> Groups:
    """The main measure by agent model, tag, imported file, week, batch or file. Batches have their names of today."""
    entries = comparison["groups"].get(kind, [])
    titles: Mapping[str, str] = {}
    if kind == "batch":
        titles = batch_titles(project)
        entries = sorted(entries, key=lambda group: int(group["name"]))
    rows = tuple(
        row(
            f"groups/{kind}/{group['name']}",
            titles.get(group["name"]) or group["name"] or "unknown",
            "",
            comparison["main"],
            read_estimate(group),
            comparison["unit"],
            is_part=True,
        )
        for group in entries
    )
    return Groups(GROUP_TITLES[kind], SHORT[comparison["main"]], rows, comparison["groups_left_out"].get(kind, 0))


def batch_titles(project: Project) -> dict[str, str]:
    """The batches by their numbers as a report names them, as in "2, Sample of March"."""
    batches = Batch.objects.for_project(project).values_list("number", "name")
    return {batch_text(number): f"{number}, {name}" for number, name in batches}


def by_category(comparison: Mapping[str, Any]) -> list[tuple[str, str, str, str]]:
    """Of the comments of each category: its name, the share matched, that share as a bar's width, and what it is of."""
    rows = []
    for name, figure in comparison["by_category"].items():
        estimate = read_estimate(figure)
        if estimate.value is None:
            continue
        matched = round(estimate.value * estimate.pairs)
        rows.append(
            (title_case(name), f"{estimate.value:.2f}", f"{estimate.value:.1%}", f"{matched:,} of {estimate.pairs:,}")
        )
    return rows


def comparison_named(figures: Mapping[str, Any], name: str) -> Mapping[str, Any] | None:
    """What is compared under scheme/name, else the first coefficient with a value, else the first with one."""
    compared = figures["compared"]
    named = [comparison for comparison in compared if f"{comparison['scheme']}/{comparison['name']}" == name]
    with_value = [comparison for comparison in compared if main_estimate(comparison).value is not None]
    corrected = [comparison for comparison in with_value if comparison["main"] in CHANCE_CORRECTED]
    return next(iter([*named, *corrected, *with_value, *compared]), None)


def choices_on(figures: Mapping[str, Any], current: Mapping[str, Any], query: Query) -> list[Choice]:
    """The switch between what is compared."""
    return [
        Choice(comparison["title"], query.to(on=f"{comparison['scheme']}/{comparison['name']}"), comparison is current)
        for comparison in figures["compared"]
        if main_estimate(comparison).pairs
    ]


def choices_by(comparison: Mapping[str, Any], current: str, query: Query) -> list[Choice]:
    """The switch between kinds of groups."""
    return [
        Choice(title, query.to(by=kind), kind == current)
        for kind, title in GROUP_TITLES.items()
        if comparison["groups"].get(kind)
    ]


def newer_than(report: AgreementReport, project: Project) -> int:
    """How many annotations came in since the report, or were decided of so that they count no more, or again, of those
    that it is of."""
    filters = options_filters(report.filters)
    changed = (came_in_after(project, report.seen_until), decided_after(project, report.seen_until))
    return sum(int(filtered(rows, project, filters)[:10_000].count()) for rows in changed)
