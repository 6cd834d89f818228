"""`python -m potato.plant fault|step -i FILE -o FILE`: gold out of a run or a patch that is known to be good."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from potato.configuration import ProjectConfiguration, SchemeConfiguration
from potato.entry_points import ExtensionError
from potato.planting.changes import NothingToPlant
from potato.planting.faults import KINDS
from potato.planting.runs import plant_in_run
from potato.planting.steps import STEP_KINDS, splice_wrong_step
from potato.records.folders import read_configuration
from potato.records.sources import RecordsError
from potato.runs.converters.detection import NotATrace, choose
from potato.runs.converters.native import run_as_native
from potato.runs.model import AgentRun, Converted, ReadingOptions, TooLarge, Unreadable
from potato.runs.run_files import source_at
from potato.schemes.gold import expected_answers

PATCHES = (".diff", ".patch")
"""Endings of files that are written as a patch alone."""
_SHOWN = 5


class _Refusal(Exception):  # noqa: N818  (an answer to the person who asked)
    """What the person who asked has to change."""


def main(arguments: Sequence[str] | None = None) -> int:
    """`python -m potato.plant`: 0 when a file was written, 1 when not, 2 for flags that cannot be understood."""
    parser = argparse.ArgumentParser(
        prog="python -m potato.plant",
        description="Make gold out of a run or a patch that is known to be good. What is expected of annotators is "
        "printed as JSON.",
    )
    commands = parser.add_subparsers(dest="command", required=True)
    fault = commands.add_parser("fault", help="plant one fault in the change, on lines that it added")
    step = commands.add_parser("step", help="splice one wrong step into the run")
    for command, kinds in ((fault, KINDS), (step, STEP_KINDS)):
        command.add_argument("-i", "--input", type=Path, required=True, metavar="FILE", help="a trace, or a patch")
        command.add_argument("-o", "--output", type=Path, required=True, metavar="FILE", help="a new file of one run")
        command.add_argument("--trace", metavar="ID", help="which run, where the file has several")
        command.add_argument("--kind", choices=kinds, help="the kind; chosen by the seed when left out")
        command.add_argument("--config", type=Path, metavar="CONFIG.yaml", help="whose schemes the answers are for")
        command.add_argument("--seed", type=int, default=0, metavar="N", help="the same seed makes the same gold (0)")
        command.add_argument("--id", metavar="ID", help="the id of the new run; that of the run it is made of")
    flags = parser.parse_args(arguments)
    try:
        if flags.output.exists():
            raise _Refusal(f"{flags.output} is there already. Name a new file.")
        if flags.command == "step" and flags.output.suffix in PATCHES:
            raise _Refusal(f"A patch has no steps. Write a trace: {flags.output.with_suffix('.jsonl')}.")
        schemes = _schemes(flags.config)
        run = _chosen_run(flags.input, flags.trace)
        if flags.command == "fault":
            planted, fault_planted = plant_in_run(run, flags.seed, flags.kind)
            expected = asdict(fault_planted) | {"expected": expected_answers(fault_planted.known, schemes)}
        else:
            planted, step_planted = splice_wrong_step(run, flags.seed, flags.kind)
            expected = asdict(step_planted) | {"expected": expected_answers(step_planted.known, schemes)}
        identifier = flags.id or run.external_id
        record = run_as_native(planted) | {"id": identifier}
        _write(flags.output, planted, record)
    except (_Refusal, NothingToPlant, NotATrace, RecordsError, TooLarge, ExtensionError) as refusal:
        parser.exit(1, f"{refusal}\n")
    except OSError as error:
        parser.exit(1, f"{error.filename or flags.input} cannot be read or written: {error.strerror}.\n")
    json.dump({"id": identifier, **expected}, sys.stdout, indent=2)
    print()
    return 0


def _schemes(path: Path | None) -> Sequence[SchemeConfiguration]:
    """Those of the configuration; without one the documented schemes."""
    if path is None:
        return ProjectConfiguration(task_name="Gold").annotation_schemes
    return read_configuration(path.read_text(encoding="utf-8", errors="replace"), str(path)).annotation_schemes


def _chosen_run(path: Path, wanted: str | None) -> AgentRun:
    """The run of that id, or the only one."""
    runs: list[AgentRun] = []
    for run in _runs(path):
        if wanted is not None and run.external_id == wanted:
            return run
        runs.append(run)
        if wanted is None and len(runs) > _SHOWN:
            break
    if wanted is not None:
        raise _Refusal(f"{path} has no run with the id {wanted}.{_named(runs)}")
    if not runs:
        raise _Refusal(f"{path} has no run.")
    if len(runs) > 1:
        raise _Refusal(f"{path} has several runs. Say which with --trace ID.{_named(runs)}")
    return runs[0]


def _named(runs: Sequence[AgentRun]) -> str:
    names = [run.external_id for run in runs if run.external_id][:_SHOWN]
    more = " and others" if len(runs) > len(names) else ""
    return f" It has {', '.join(names)}{more}." if names else ""


def _runs(path: Path) -> Iterator[AgentRun]:
    source = source_at(path)
    for entry in choose(source).converter.read(source, ReadingOptions()):
        if isinstance(entry, Converted):
            yield entry.run
        elif isinstance(entry, Unreadable):
            print(f"{path}, entry {entry.place}: {entry.sentence}", file=sys.stderr)


def _write(path: Path, run: AgentRun, record: dict[str, Any]) -> None:
    if path.suffix not in PATCHES:
        path.write_text(json.dumps(record) + "\n", encoding="utf-8")
        return
    if run.patch is None:
        raise _Refusal(f"The run states no patch. Write a trace: {path.with_suffix('.jsonl')}.")
    path.write_bytes(run.patch)
