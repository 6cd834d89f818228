"""All figures of agreement of the answers of a project: one function for records in files and in a database."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import lru_cache
from typing import Any, Protocol

from potato.configuration import SchemeConfiguration
from potato.records.archives import Record
from potato.schemes.comparisons import Comparison
from potato.schemes.registry import scheme_types
from potato.schemes.unjudged import FILE, KEY, STEP, WHOLE
from potato.statistics.agreement.compared import (
    NEAR,
    TITLES,
    About,
    Answered,
    Compared,
    Group,
    Settings,
)

__all__ = [
    "NEAR",
    "TITLES",
    "About",
    "AgreementReport",
    "Answered",
    "Answers",
    "Basics",
    "Compared",
    "Group",
    "Settings",
    "batch_text",
    "compare",
    "compare_in",
    "count_basics",
    "iso_week",
    "list_comparisons",
    "report_json",
]


class Answers(Protocol):
    """Where records come from for a report. It can be read as often as one likes, always in the same order."""

    @property
    def schemes(self) -> Sequence[SchemeConfiguration]:
        """The schemes of the newest configuration."""
        ...

    def records(self, *, with_answers: bool = True) -> Iterator[tuple[Record, About]]:
        """The records with what is known beside them. Without answers what was annotated may be left out."""
        ...


@dataclass(frozen=True)
class Basics:
    """What a report rests on. `left_out` counts records that are nobody's independent judgement, by their kind."""

    annotations: int
    annotators: int
    traces: int
    shared_traces: int
    left_out: dict[str, int]

    def as_json(self) -> dict[str, Any]:
        return {
            "annotations": self.annotations,
            "annotators": self.annotators,
            "traces": self.traces,
            "shared_traces": self.shared_traces,
            "left_out": self.left_out,
        }


@dataclass(frozen=True)
class AgreementReport:
    """What is compared under every scheme, and what it rests on.

    `unreadable` counts by scheme the parts of records that are not as it has them; they are left out. `is_assumed`
    says that there was no configuration, and that the schemes are the documented ones.
    """

    basics: Basics
    settings: Settings
    unreadable: dict[str, int] = field(default_factory=dict)
    is_assumed: bool = False
    compared: tuple[Compared, ...] = field(default=())

    def as_json(self) -> dict[str, Any]:
        """The same as plain JSON."""
        return report_json(
            self.basics.as_json(),
            self.settings,
            self.unreadable,
            [comparison.as_json() for comparison in self.compared],
            is_assumed=self.is_assumed,
        )


def report_json(
    basics: dict[str, Any],
    settings: Settings,
    unreadable: dict[str, int],
    compared: list[dict[str, Any]],
    *,
    is_assumed: bool = False,
) -> dict[str, Any]:
    """A report as JSON out of its parts, which may have been computed one by one."""
    return {
        **basics,
        "unreadable": sum(unreadable.values()),
        "is_assumed": is_assumed,
        "tolerance": settings.tolerance,
        "samples": settings.samples,
        "seed": settings.seed,
        "compared": compared,
    }


def count_basics(answers: Answers) -> Basics:
    """How much there is to compare."""
    annotators: defaultdict[tuple[str, int], set[str]] = defaultdict(set)
    left_out: Counter[str] = Counter()
    annotations = 0
    for record, _ in answers.records(with_answers=False):
        if record.kind == "normal":
            annotations += 1
            annotators[record.id, record.trace_version].add(record.annotator)
        else:
            left_out[record.kind] += 1
    return Basics(
        annotations=annotations,
        annotators=len({name for names in annotators.values() for name in names}),
        traces=len(annotators),
        shared_traces=sum(len(names) > 1 for names in annotators.values()),
        left_out=dict(sorted(left_out.items())),
    )


def list_comparisons(schemes: Iterable[SchemeConfiguration]) -> list[tuple[SchemeConfiguration, Comparison]]:
    """Everything that annotators can agree on under these schemes."""
    types = scheme_types()
    return [
        (scheme, comparison) for scheme in schemes for comparison in types[scheme.annotation_type].comparisons(scheme)
    ]


def compare_in(
    answers: Answers, scheme: SchemeConfiguration, comparison: Comparison, settings: Settings
) -> tuple[Compared | None, int]:
    """How far annotators agree on this, and how many parts of records are unreadable; None where nobody answered.

    Gold and adjudicated annotations are left out: they are not people's independent judgements.
    """
    # Here and below, because it loads numpy, which whoever only reads reports does not need.
    from potato.statistics.agreement.collecting import collector

    kind = scheme_types()[scheme.annotation_type]
    collected = collector(scheme.name, comparison, settings)
    not_judged: Counter[str] = Counter()
    answered = unreadable = 0
    for record, about in answers.records():
        if record.kind != "normal":
            continue
        part = record.annotations.get(scheme.name)
        if part is None:
            not_judged[WHOLE] += KEY in record.annotations
            continue
        if kind.malformed(part):
            unreadable += 1
            continue
        answered += 1
        # Looked for in the text first: nearly all records have none, and choices take time.
        if KEY in record.annotations_text:
            not_judged.update(unit for name, unit in kind.choices(part, scheme) if name == KEY and unit in (STEP, FILE))
        collected.add(Answered((record.id, record.trace_version), record.annotator, part, about))
    if not answered:
        return None, unreadable
    return replace(collected.compared(), cannot_judge=+not_judged), unreadable


def compare(scheme: str, comparison: Comparison, answers: Iterable[Answered], settings: Settings) -> Compared:
    """Everything that can be said of how far annotators agree on this. The order of the answers makes no difference
    but for which of an annotator's answers to a trace is the later one."""
    from potato.statistics.agreement.collecting import collector

    collected = collector(scheme, comparison, settings)
    for answered in answers:
        collected.add(answered)
    return collected.compared()


@lru_cache(maxsize=1_000)
def _week_of_day(day: str) -> str:
    try:
        year, week, _ = date.fromisoformat(day).isocalendar()
    except ValueError:
        return ""
    return f"{year}-W{week:02}"


def batch_text(number: int | None) -> str:
    """A batch as a report names it: by its number, for its name may change."""
    return "" if number is None else str(number)


def iso_week(timestamp: str) -> str:
    """The week of a record's timestamp as 2026-W47, Monday first; "" for one that is no time."""
    return _week_of_day(timestamp[:10])
