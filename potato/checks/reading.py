"""Reads a file of any kind of report: finds the kind by the content, the run by what it states and where it lies."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any

from potato.checks import junit, rdjson, sarif, swebench
from potato.checks.model import BOUNDS, Kind, Report, ReportBounds, UnreadableReport, short

NAMES: dict[Kind, str] = {
    "swebench": "a report of SWE-bench's harness",
    "junit": "a JUnit report of tests",
    "sarif": "findings as SARIF",
    "rdjson": "findings as rdjson",
}
SUFFIXES = frozenset({".json", ".jsonl", ".xml", ".sarif", ".rdjson", ".rdjsonl"})
"""Of files that may be reports."""
_KEYS = {
    "sarif": (re.compile(rb'"runs"\s*:\s*\['), re.compile(rb'"(?:version|\$schema)"\s*:')),
    "rdjson": (re.compile(rb'"diagnostics"\s*:\s*\['),),
    "lines": (re.compile(rb'"message"\s*:'), re.compile(rb'"location"\s*:\s*\{')),
    "swebench": (re.compile(rb'"resolved"\s*:\s*(?:true|false)'), re.compile(rb'"(?:tests_status|patch_\w+)"\s*:')),
    "summary": (re.compile(rb'"(?:\w+_ids|\w+_instances)"\s*:'),),
}
_OF_RUNS = re.compile(rb'"(?:messages|trajectory|history|model_patch|steps|events)"\s*:')
_ENDINGS = re.compile(
    r"(?:[._-](?:report|junit|xunit|test-results|tests|sarif|rdjson|findings))?\.(?:json|jsonl|xml|sarif|rdjson|rdjsonl)$"
)
_GENERIC = re.compile(
    r"(?:test-)?(?:reports?|results?)|junit|xunit|tests?|findings|sarif|rdjson|out(?:put)?|logs?|evaluation"
    r"|run_evaluations?|checks|build|target|surefire-reports|coverage|artifacts",
    re.IGNORECASE,
)
"""Names of files and folders that name no run."""
_FOLDERS = 6


def report_kind(head: bytes, name: str) -> Kind | None:
    """What kind of report a file may be that begins so; None for what is none. Only `read_reports` knows surely."""
    if PurePosixPath(name).suffix.lower() not in SUFFIXES:
        return None
    if junit.is_junit(head):
        return "junit"
    if head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] != b"{" or _OF_RUNS.search(head):
        return None
    for key, patterns in _KEYS.items():
        if all(pattern.search(head) for pattern in patterns):
            found: dict[str, Kind] = {"sarif": "sarif", "rdjson": "rdjson", "lines": "rdjson"}
            return found.get(key, "swebench") if _fits(head, key, name) else None
    return None


def read_reports(data: bytes, name: str, bounds: ReportBounds = BOUNDS) -> list[Report]:
    """The reports of a file, whose name is its path within what was brought. Raises UnreadableReport."""
    if len(data) > bounds.file_bytes:
        raise UnreadableReport(
            "too_large",
            f"The report has {len(data) / 2**20:,.1f} MiB; {bounds.file_bytes / 2**20:,.0f} are read. Leave out what "
            "tests printed, or split it.",
        )
    reports = [junit.read_junit(data, bounds)] if junit.is_junit(data[:8192]) else _from_json(data, bounds)
    ids, hints = names_in_path(name)
    model = model_in_path(name)
    return [
        replace(report, ids=tuple(dict.fromkeys((*report.ids, *ids))), model=report.model or model, hints=hints)
        for report in reports
    ]


def model_in_path(path: str) -> str:
    """The model whose folder SWE-bench's harness has put the report in; "" for every other path."""
    parts = _parts(path)
    below = parts[parts.index("run_evaluation") + 1 :] if "run_evaluation" in parts else []
    return short(below[1], 300) if len(below) == 4 else ""


def _parts(path: str) -> list[str]:
    return [part for part in path.replace("\\", "/").split("/") if part not in ("", ".", "..")]


def names_in_path(path: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names of a run that a path has, the nearest first: the file without its ending, and its folders; and those that
    may be names of its model."""
    parts = _parts(path)
    if not parts:
        return (), ()
    stem = _ENDINGS.sub("", parts[-1])
    names = [stem, *reversed(parts[:-1][-_FOLDERS:])]
    # "MODEL.RUN.json" of SWE-bench.
    models = [*names, *([stem.partition(".")[0]] if "." in stem else [])]
    kept = tuple(short(name, 300) for name in names if not _GENERIC.fullmatch(name))
    return kept, tuple(short(name, 300) for name in models if not _GENERIC.fullmatch(name))


def _fits(head: bytes, key: str, name: str) -> bool:
    """Whether the beginning is of that kind and no run's: a whole document is asked, of a cut one its keys say it."""
    try:
        value: Any = json.loads(head)
    except (ValueError, RecursionError):
        if key == "lines":
            return _first_line_is_a_diagnostic(head)
        if key == "sarif":
            return b'"driver"' in head or b"sarif" in head.lower() or name.lower().endswith((".sarif", ".sarif.json"))
        return key != "summary" or b'"resolved_ids"' in head or b'"total_instances"' in head
    return kind_of(value) is not None


def _first_line_is_a_diagnostic(head: bytes) -> bool:
    line = head.lstrip(b"\xef\xbb\xbf \t\r\n").partition(b"\n")[0]
    try:
        return rdjson.is_diagnostic(json.loads(line))
    except (ValueError, RecursionError):
        return False


def kind_of(value: Any) -> Kind | None:
    """The kind of a document."""
    if sarif.is_sarif(value):
        return "sarif"
    if rdjson.is_result(value) or rdjson.is_diagnostic(value):
        return "rdjson"
    return "swebench" if swebench.is_report(value) else None


def _from_json(data: bytes, bounds: ReportBounds) -> list[Report]:
    text = data.removeprefix(b"\xef\xbb\xbf")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        diagnostics = list(_lines(text))
        if diagnostics and all(rdjson.is_diagnostic(each) for each in diagnostics[:3]):
            return [rdjson.read_rdjsonl(diagnostics, bounds)]
        why = "it is nested too deeply" if isinstance(error, RecursionError) else f"{error}"
        raise UnreadableReport("bad_json", f"It is no JSON that can be read: {short(why, 200)}.") from None
    if _depth(value, bounds.depth) > bounds.depth:
        raise UnreadableReport("too_deep", f"The JSON is nested deeper than {bounds.depth}.")
    match kind_of(value):
        case "sarif":
            return sarif.read_sarif(value, bounds)
        case "rdjson" if rdjson.is_diagnostic(value):
            return [rdjson.read_rdjsonl([value], bounds)]
        case "rdjson":
            return [rdjson.read_rdjson(value, bounds)]
        case "swebench":
            return swebench.read_swebench(value, bounds)
        case _:
            raise UnreadableReport("no_report", "It is neither SARIF, rdjson nor a report of SWE-bench.")


def _lines(text: bytes) -> Iterator[Any]:
    """The values of lines; a line that is no JSON is None."""
    for line in text.splitlines():
        if line.strip():
            try:
                yield json.loads(line)
            except (ValueError, RecursionError):
                yield None


def _depth(value: Any, most: int) -> int:
    """How deep lists and objects are nested, as far as one more than `most`."""
    level, depth = [value], 0
    while level and depth <= most:
        depth += 1
        inner: list[Any] = []
        for each in level:
            if isinstance(each, dict):
                inner += (part for part in each.values() if isinstance(part, dict | list))
            elif isinstance(each, list):
                inner += (part for part in each if isinstance(part, dict | list))
        level = inner
    return depth
