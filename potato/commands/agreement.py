"""`python -m potato.analysis agreement -i output/`: how far annotators agree, from files."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Hashable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from potato.commands.anchoring import anchoring_in, anchoring_lines
from potato.configuration import SchemeConfiguration
from potato.entry_points import ExtensionError
from potato.formats.options import Options, read_options
from potato.records.filters import Filters
from potato.records.folders import Folder
from potato.records.sources import Record, RecordsError
from potato.schemes.matching import TOLERANCE
from potato.statistics.agreement.figures import SAMPLES, Estimate
from potato.statistics.agreement.report import (
    TITLES,
    About,
    AgreementReport,
    Settings,
    batch_text,
    compare_in,
    count_basics,
    iso_week,
    list_comparisons,
)
from potato.statistics.agreement.words import CHANCE_CORRECTED, in_words, unjudged_in_words
from potato.wording import counted

HELP = {
    "batches": (
        "annotations of traces in any of these batches at that time alone, by number or, on a site, name, with commas "
        "between"
    ),
    "agent_models": "annotations of runs by these agent models alone",
    "tags": "annotations of runs with any of these tags alone",
    "annotators": "annotations by these annotators alone",
    "made_from": "annotations of this day (UTC, as 2026-11-22) and later alone",
    "made_until": "annotations of this day (UTC, as 2026-11-22) and earlier alone",
}
"""The filters of a report, and what they mean."""


def read_filters(given: Mapping[str, Any]) -> dict[str, Any]:
    """The filters as a report names them: those that choose something, several values in one order. Raises
    RecordsError for what none can be."""
    chosen = read_options(Options, given).chosen()
    return {name: sorted(set(value)) if isinstance(value, list) else value for name, value in chosen.items() if value}


def options_filters(chosen: Mapping[str, Any]) -> Filters:
    """The filters that a report names."""
    return read_options(Options, chosen).filters


class FolderAnswers:
    """The records of a folder with what its traces say."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self._known: dict[Hashable, tuple[str, tuple[str, ...]]] = {}

    @property
    def schemes(self) -> Sequence[SchemeConfiguration]:
        configuration = self._folder.project.newest
        return configuration.annotation_schemes if configuration else ()

    def records(self, *, with_answers: bool = True) -> Iterator[tuple[Record, About]]:
        for batch in self._folder.records("all", buffered=False):
            for record in batch:
                model, tags = self._of_trace(record)
                yield record, About(model, tags, "", iso_week(record.timestamp), batch_text(record.batch))

    def _of_trace(self, record: Record) -> tuple[str, tuple[str, ...]]:
        """The agent's model and the tags, read once for each trace."""
        if record.trace not in self._known:
            [facts] = self._folder.facts([(record, ())], ("agent_model", "run"))
            run = facts.run
            tags = tuple(dict.fromkeys(run.tags)) if run else ()
            self._known[record.trace] = facts.agent_model, tags
        return self._known[record.trace]


def report_on(folder: Folder, settings: Settings) -> AgreementReport:
    """How far the annotators of the folder's records agree, under the newest configuration's schemes.

    Gold and adjudicated annotations are left out: they are not people's independent judgements. Raises RecordsError for
    what cannot be read, and where no trace has two annotators.
    """
    answers = FolderAnswers(folder)
    basics = count_basics(answers)
    if not basics.shared_traces:
        raise RecordsError(
            f"No trace has two annotators, in {counted(basics.annotations, 'annotation')} of "
            f"{counted(basics.traces, 'trace')}. Agreement needs at least one trace that two people judged."
        )
    compared, unreadable = [], {}
    for scheme, comparison in list_comparisons(answers.schemes):
        result, unreadable[scheme.name] = compare_in(answers, scheme, comparison, settings)
        if result is not None:
            compared.append(result)
    return AgreementReport(basics, settings, unreadable, folder.project.is_assumed, tuple(compared))


def report_lines(report: AgreementReport) -> Iterator[str]:
    """The report as lines of text."""
    return compared_lines(report.as_json())


def compared_lines(figures: Mapping[str, Any]) -> Iterator[str]:
    """A report's JSON as lines of text."""
    yield (
        f"{counted(figures['annotators'], 'annotator')}, {counted(figures['annotations'], 'annotation')} of "
        f"{counted(figures['traces'], 'trace')}, {figures['shared_traces']:,} of them judged by two or more"
    )
    if figures["unreadable"]:
        yield f"{counted(figures['unreadable'], 'part')} of records left out: not as the scheme has it"
    if figures["is_assumed"]:
        yield (
            "There is no configuration, so the documented schemes are assumed: own categories, options and labels of "
            "steps are not compared. Name it with --config CONFIG.yaml."
        )
    for comparison in figures["compared"]:
        yield ""
        yield f"{comparison['title']} ({comparison['scheme']})"
        for measure, estimate in comparison["figures"].items():
            yield f"  {TITLES[measure]:<41} {_figure(Estimate(**estimate), measure)}"
        if unjudged := unjudged_in_words(comparison):
            yield f"  {unjudged}"
        rest = {name: Estimate(**estimate) for name, estimate in comparison["rest"].items()}
        for name, estimate in sorted(rest.items(), key=lambda item: (item[1].value is None, item[1].value or 0)):
            yield f"  {name + ' with the others':<41} {_figure(estimate, '')}"


def _figure(estimate: Estimate, measure: str) -> str:
    if estimate.value is None:
        return f"not defined: {estimate.undefined}"
    interval = "" if estimate.low is None else f" [{estimate.low:.2f}, {estimate.high:.2f}]"
    word = f", agreement: {in_words(estimate)}" if measure in CHANCE_CORRECTED else ""
    few = ", too few to say much" if estimate.has_few_pairs else ""
    return f"{estimate.value:.2f}{interval} from {counted(estimate.pairs, 'pair')}{word}{few}"


def main(arguments: Sequence[str] | None = None) -> int:
    """`python -m potato.analysis`: 0 when figures were told, 1 when there are none, 2 for flags not understood."""
    parser = argparse.ArgumentParser(prog="python -m potato.analysis", description="Figures from files of annotations.")
    commands = parser.add_subparsers(dest="command", required=True)
    agreement = commands.add_parser("agreement", help="how far annotators agree, with intervals")
    anchoring = commands.add_parser("anchoring", help="how far annotators follow what a model suggests")
    anchoring.add_argument(
        "--suggestions", type=Path, required=True, metavar="FILE", help="what `potato suggestions PROJECT` writes"
    )
    for command in (agreement, anchoring):
        _add_settings(command)
    for name, described in HELP.items():
        agreement.add_argument(f"--{name.replace('_', '-')}", metavar="VALUE", help=described)
    flags = parser.parse_args(arguments)
    try:
        chosen = read_filters({name: value for name in HELP if (value := getattr(flags, name, None))})
    except RecordsError as refusal:
        parser.error(refusal.sentence)
    try:
        with Folder(flags.input, flags.config, options_filters(chosen)) as folder:
            settings = Settings(flags.tolerance, flags.samples, flags.seed)
            if flags.command == "anchoring":
                return _print_anchoring(anchoring_in(folder, flags.suggestions, settings), flags.json)
            report = report_on(folder, settings)
    except RecordsError as refusal:
        parser.exit(1, f"{refusal.sentence}\n")
    except ExtensionError as broken:
        parser.exit(1, f"{broken}\n")
    if flags.json:
        json.dump(report.as_json() | ({"filters": chosen} if chosen else {}), sys.stdout, indent=2, ensure_ascii=False)
        print()
    else:
        print("\n".join(report_lines(report)))
    return 0


def _add_settings(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "-i", "--input", type=Path, required=True, metavar="PATH", help="what `potato.export -i` takes"
    )
    command.add_argument("--config", type=Path, metavar="CONFIG.yaml", help="the project's configuration")
    command.add_argument("--json", action="store_true", help="everything as JSON: pairs, positions, confusion too")
    command.add_argument(
        "--tolerance",
        type=_whole,
        default=TOLERANCE,
        metavar="LINES",
        help=f"lines between comments that match ({TOLERANCE})",
    )
    command.add_argument(
        "--samples",
        type=_whole,
        default=SAMPLES,
        metavar="N",
        help=f"resamplings for the intervals ({SAMPLES}; 0: none)",
    )
    command.add_argument("--seed", type=_whole, default=0, metavar="N", help="of the resampling (0)")


def _print_anchoring(figures: Mapping[str, Any], as_json: bool) -> int:
    if as_json:
        print(json.dumps(figures, indent=2, ensure_ascii=False))
    else:
        print("\n".join(anchoring_lines(figures)))
    return 0


def _whole(text: str) -> int:
    number = int(text)
    if number < 0:
        raise argparse.ArgumentTypeError(f"{text} is below 0")
    return number
