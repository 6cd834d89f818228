"""What is expected of one trace, at its lines, and what was planted in it. Managers alone read it."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from uuid import UUID

from gold.actions import NotScorable, newest_configuration
from gold.models import ExpectedAnnotation
from gold.practice_page import PracticeComparison, compare_parts
from gold.scoring import parts_as_json
from potato.configuration import ProjectConfiguration
from potato.runs.changes.derive import derive
from potato.runs.changes.model import FileChange
from potato.runs.exact_json import change_from
from potato.runs.model import AgentRun, FileOutcome
from potato.schemes.gold import GoldError, score_annotation
from traces.evidence.fragments import DisplayOptions
from traces.models import Body, TraceFile
from traces.models.bodies import unpack
from traces.rendering.diff import DiffOptions, lines_with_context
from traces.rendering.safe import SafeHtml


@dataclass(frozen=True)
class PlantedLines:
    """The lines of a file that differ from those of the trace that the fault was planted in."""

    path: str
    lines: tuple[SafeHtml, ...]


@dataclass(frozen=True)
class ShownExpectation:
    """`compared` is None where the newest configuration cannot read what is expected."""

    compared: PracticeComparison | None
    planted: tuple[PlantedLines, ...]
    source: str
    """What is expected as JSON, to be changed."""


def shown_expectation(expected: ExpectedAnnotation) -> ShownExpectation:
    annotations = expected.annotations
    try:
        configuration = newest_configuration(expected.project)
    except NotScorable:
        configuration = None
    planted = tuple(_planted(expected, DisplayOptions.of(configuration).diff("unified")))
    source = json.dumps(annotations, ensure_ascii=False, indent=2)
    return ShownExpectation(_compared(expected, configuration), planted, source)


def _compared(expected: ExpectedAnnotation, configuration: ProjectConfiguration | None) -> PracticeComparison | None:
    """The expected annotation scored by itself: every part of it is there once."""
    if configuration is None:
        return None
    annotations = expected.annotations
    try:
        parts = parts_as_json(score_annotation(annotations, annotations, configuration.annotation_schemes))
    except GoldError:
        return None
    alone = [{**part, "given": None, "given_at": None} for part in parts]
    return compare_parts(expected.trace, alone, {"expected": annotations, "given": {}}, configuration)


def _planted(expected: ExpectedAnnotation, options: DiffOptions) -> Iterator[PlantedLines]:
    if expected.source_id is None:
        return
    before = dict(_hashes(expected.source_id))
    for path, sha256 in _hashes(expected.trace_id):
        if path not in before or before[path] == sha256:
            continue
        old, new = _new_text(before[path]), _new_text(sha256)
        if old is None or new is None or old == new:
            continue
        outcome = FileOutcome(path, "modified", old_text=old, new_text=new)
        for change in derive(AgentRun("planted", task="", events=(outcome,), event_steps=(None,))).files:
            tables = lines_with_context(change, [*_places(change)], options)
            yield PlantedLines(path, tuple(table for table in tables if table))


def _hashes(trace: UUID) -> list[tuple[str, str]]:
    rows = TraceFile.objects.filter(trace=trace).order_by("index")
    return list(rows.values_list("path", "sha256"))


def _new_text(sha256: str) -> str | None:
    """The file as the run left it: as far as the trace has it, and its other lines empty."""
    body = Body.objects.filter(sha256=sha256).first()
    if body is None:
        return None
    change = change_from(unpack(body.packed))
    if change.new_text is not None:
        return change.new_text
    lines = change.lines("new")
    return "".join(f"{lines.get(number, '')}\n" for number in range(1, max(lines, default=0) + 1))


def _places(change: FileChange) -> Iterator[tuple[str, int, int]]:
    for hunk in change.shown_hunks:
        added = [line.new_no for line in hunk.lines if line.kind == "add" and line.new_no is not None]
        removed = [line.old_no for line in hunk.lines if line.kind == "del" and line.old_no is not None]
        if added:
            yield "new", added[0], added[-1]
        elif removed:
            yield "old", removed[0], removed[-1]
