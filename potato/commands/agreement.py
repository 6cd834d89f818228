"""`python -m potato.analysis agreement -i output/`: how far annotators agree, from files."""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from potato.configuration import SchemeConfiguration
from potato.entry_points import ExtensionError
from potato.records.folders import Folder
from potato.records.sources import RecordsError
from potato.schemes.registry import scheme_types
from potato.statistics.agreement.comments import TOLERANCE
from potato.statistics.agreement.estimates import SAMPLES, Estimate
from potato.statistics.agreement.report import TITLES, Answered, Compared, Settings, compare
from potato.statistics.agreement.words import CHANCE_CORRECTED, in_words


@dataclass(frozen=True)
class AgreementReport:
    """What is compared under every scheme, and what it rests on.

    `unreadable` counts parts of records that are not as their scheme has them; they are left out. `is_assumed` says
    that there was no configuration, and that the schemes are the documented ones.
    """

    annotations: int
    annotators: int
    traces: int
    shared_traces: int
    unreadable: int
    is_assumed: bool
    settings: Settings
    compared: tuple[Compared, ...]

    def as_json(self) -> dict[str, Any]:
        """The same as plain JSON."""
        return {
            "annotations": self.annotations,
            "annotators": self.annotators,
            "traces": self.traces,
            "shared_traces": self.shared_traces,
            "unreadable": self.unreadable,
            "is_assumed": self.is_assumed,
            "tolerance": self.settings.tolerance,
            "samples": self.settings.samples,
            "seed": self.settings.seed,
            "compared": [one.as_json() for one in self.compared],
        }


def report_on(folder: Folder, settings: Settings) -> AgreementReport:
    """How far the annotators of the folder's records agree, under the newest configuration's schemes.

    Gold and adjudicated annotations are left out: they are not people's independent judgements. Raises RecordsError for
    what cannot be read, and where no trace has two annotators.
    """
    project = folder.project
    configuration = project.newest
    schemes = configuration.annotation_schemes if configuration else ()
    answers: defaultdict[str, list[Answered]] = defaultdict(list)
    annotators: defaultdict[tuple[str, int], set[str]] = defaultdict(set)
    annotations = unreadable = 0
    for batch in folder.records("all", buffered=False):
        for record in batch:
            if record.kind != "normal":
                continue
            annotations += 1
            trace = (record.id, record.trace_version)
            annotators[trace].add(record.annotator)
            for scheme in schemes:
                part = record.annotations.get(scheme.name)
                if part is None:
                    continue
                if scheme_types()[scheme.annotation_type].malformed(part):
                    unreadable += 1
                else:
                    answers[scheme.name].append(Answered(trace, record.annotator, part))
    shared = sum(len(names) > 1 for names in annotators.values())
    if not shared:
        raise RecordsError(
            f"No trace has two annotators, in {_counted(annotations, 'annotation')} of "
            f"{_counted(len(annotators), 'trace')}. Agreement needs at least one trace that two people judged."
        )
    return AgreementReport(
        annotations=annotations,
        annotators=len({name for names in annotators.values() for name in names}),
        traces=len(annotators),
        shared_traces=shared,
        unreadable=unreadable,
        is_assumed=project.is_assumed,
        settings=settings,
        compared=tuple(_compared(schemes, answers, settings)),
    )


def _compared(
    schemes: Sequence[SchemeConfiguration], answers: dict[str, list[Answered]], settings: Settings
) -> Iterator[Compared]:
    for scheme in schemes:
        if given := answers.get(scheme.name):
            for comparison in scheme_types()[scheme.annotation_type].comparisons(scheme):
                yield compare(scheme.name, comparison, given, settings)


def report_lines(report: AgreementReport) -> Iterator[str]:
    """The report as lines of text."""
    yield (
        f"{_counted(report.annotators, 'annotator')}, {_counted(report.annotations, 'annotation')} of "
        f"{_counted(report.traces, 'trace')}, {report.shared_traces:,} of them judged by two or more"
    )
    if report.unreadable:
        yield f"{_counted(report.unreadable, 'part')} of records left out: not as the scheme has it"
    if report.is_assumed:
        yield (
            "There is no configuration, so the documented schemes are assumed: own categories, options and labels of "
            "steps are not compared. Name it with --config CONFIG.yaml."
        )
    for one in report.compared:
        yield ""
        yield f"{one.title} ({one.scheme})"
        for measure, estimate in one.figures.items():
            yield f"  {TITLES[measure]:<41} {_figure(estimate, measure)}"
        for name, estimate in sorted(one.rest.items(), key=lambda item: (item[1].value is None, item[1].value or 0)):
            yield f"  {name + ' with the others':<41} {_figure(estimate, '')}"


def _figure(estimate: Estimate, measure: str) -> str:
    if estimate.value is None:
        return f"not defined: {estimate.undefined}"
    interval = "" if estimate.low is None else f" [{estimate.low:.2f}, {estimate.high:.2f}]"
    word = f", agreement: {in_words(estimate)}" if measure in CHANCE_CORRECTED else ""
    few = ", too few to say much" if estimate.has_few_pairs else ""
    return f"{estimate.value:.2f}{interval} from {_counted(estimate.pairs, 'pair')}{word}{few}"


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def main(arguments: Sequence[str] | None = None) -> int:
    """`python -m potato.analysis`: 0 when figures were told, 1 when there are none, 2 for flags not understood."""
    parser = argparse.ArgumentParser(prog="python -m potato.analysis", description="Figures from files of annotations.")
    commands = parser.add_subparsers(dest="command", required=True)
    agreement = commands.add_parser("agreement", help="how far annotators agree, with intervals")
    agreement.add_argument(
        "-i", "--input", type=Path, required=True, metavar="PATH", help="what `potato.export -i` takes"
    )
    agreement.add_argument("--config", type=Path, metavar="CONFIG.yaml", help="the project's configuration")
    agreement.add_argument("--json", action="store_true", help="everything as JSON: pairs, positions, confusion too")
    agreement.add_argument(
        "--tolerance",
        type=_whole,
        default=TOLERANCE,
        metavar="LINES",
        help=f"lines between comments that match ({TOLERANCE})",
    )
    agreement.add_argument(
        "--samples",
        type=_whole,
        default=SAMPLES,
        metavar="N",
        help=f"resamplings for the intervals ({SAMPLES}; 0: none)",
    )
    agreement.add_argument("--seed", type=_whole, default=0, metavar="N", help="of the resampling (0)")
    given = parser.parse_args(arguments)
    try:
        with Folder(given.input, given.config) as folder:
            report = report_on(folder, Settings(given.tolerance, given.samples, given.seed))
    except RecordsError as refusal:
        parser.exit(1, f"{refusal.sentence}\n")
    except ExtensionError as broken:
        parser.exit(1, f"{broken}\n")
    if given.json:
        json.dump(report.as_json(), sys.stdout, indent=2, ensure_ascii=False)
        print()
    else:
        print("\n".join(report_lines(report)))
    return 0


def _whole(text: str) -> int:
    number = int(text)
    if number < 0:
        raise argparse.ArgumentTypeError(f"{text} is below 0")
    return number
