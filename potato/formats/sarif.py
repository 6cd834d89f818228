"""`sarif`: comments as the results of a code analysis, for the programs that show findings beside code."""

from collections.abc import Collection, Iterator
from typing import Any
from urllib.parse import quote

from potato.formats.notes import Notes, note_line
from potato.formats.options import RowOptions
from potato.formats.registry import Format
from potato.formats.review_comments import TYPE, ReviewComment, category_names, commented_paths, comments_in
from potato.formats.training import readable
from potato.records.sources import Record, TraceFacts, json_text
from potato.runs.changes.model import to_bytes

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
UNCATEGORISED = "comment"
_LEVELS = {"critical": "error", "major": "error", "minor": "warning", "nit": "note"}
_REMARKS = ("praise", "question")
_HEAD = f'{{"$schema":"{SCHEMA}","version":"2.1.0","runs":['.encode("ascii")


class Sarif(Format):
    """SARIF 2.1.0 with a run for each trace, whose id is the run's `automationDetails.id`, and a result for each
    comment. The rule is the comment's category (`comment` where it has none). The level is error for the severities
    critical and major, warning for minor, note for nit, and without a severity note for praise and question, else
    warning. The suggestion is a `fix` that replaces the lines. `properties` have the annotator, the time, the category
    and severity as they were given, and the trace's id.

    SARIF points at lines of one version of a file, the new one. A comment on old lines, or on lines of which the trace
    does not say where in the file they stand, is a result of the whole file; its lines are in its properties, and its
    suggestion is not a fix. A general comment has its `subject_type` there, and the root of the source as its place
    where it is about the whole change. Such results are counted as `results_without_lines`. Verdicts, summaries and
    ratings of files are not in the file: an analysis has no such thing. Lone surrogates become U+FFFD."""

    name = "sarif"
    label = "Comments as findings of a code analysis (SARIF 2.1.0)"
    suffix = ".sarif"
    media_type = "application/sarif+json"
    options = RowOptions
    needs = frozenset({"files"})
    gathers = True
    annotation_types = frozenset({TYPE})

    def paths(self, record: Record) -> Collection[str]:
        return commented_paths(record, self.project)

    def write(self, record: Record, facts: TraceFacts) -> bytes:
        results = [_result(comment, record) for comment in comments_in(record, self.project, facts)]
        if not results:
            return b""
        self.count("results", len(results))
        self.count("results_without_lines", sum("region" not in _physical_location(result) for result in results))
        return note_line([record.id, record.trace_version], None, results)

    def gathered(self, notes: Notes) -> Iterator[bytes]:
        names = category_names(self.project)
        yield _HEAD
        for number, ((trace, version), same) in enumerate(notes):
            results = [result for note in same for result in notes.body(note)]
            self.state["rows"] += len(results)
            yield (b",\n" if number else b"\n") + json_text(_run(trace, version, results, names)).encode("ascii")
        yield b"\n]}\n"

    def nothing(self) -> str:
        return "The export selects nothing: no annotation has a comment. Nothing was written."


def _run(trace: str, version: int, results: list[dict[str, Any]], names: dict[str, str]) -> dict[str, Any]:
    rules = list(dict.fromkeys(result["ruleId"] for result in results))
    driver = {
        "name": "Potato",
        "rules": [{"id": rule, "shortDescription": {"text": readable(names.get(rule, rule))}} for rule in rules],
    }
    return {
        "tool": {"driver": driver},
        "automationDetails": {"id": readable(trace) + (f"/{version}" if version > 1 else "")},
        "columnKind": "unicodeCodePoints",
        "results": [{**result, "ruleIndex": rules.index(result["ruleId"])} for result in results],
    }


def _physical_location(result: dict[str, Any]) -> dict[str, Any]:
    location: dict[str, Any] = result["locations"][0]["physicalLocation"]
    return location


def _result(comment: ReviewComment, record: Record) -> dict[str, Any]:
    # A path may hold anything; as an address it is bytes, of which all but plain signs are escaped. A comment on the
    # change as a whole has none: its location is the root of the source.
    artifact = {"uri": quote(to_bytes(comment.path), safe="/"), "uriBaseId": "%SRCROOT%"}
    location: dict[str, Any] = {"artifactLocation": artifact}
    lines = comment.lines if comment.side == "new" else None
    if lines:
        location["region"] = {"startLine": lines[0], "endLine": lines[1]}
        shown = None if comment.file is None else comment.file.text("new", *lines)
        if shown is not None:
            location["region"]["snippet"] = {"text": readable(shown)}
    fix = {} if lines is None or comment.suggestion is None else {"fixes": [_fix(artifact, lines, comment.suggestion)]}
    return {
        "ruleId": readable(comment.text("category")) or UNCATEGORISED,
        "level": _level(comment),
        "message": {"text": readable(comment.text("comment")) or "No text."},
        "locations": [{"physicalLocation": location}],
        **fix,
        "properties": {
            "trace_id": readable(record.id),
            **({"trace_version": record.trace_version} if record.trace_version > 1 else {}),
            "annotator": readable(record.annotator),
            "timestamp": record.timestamp,
            **{key: readable(text) for key in ("category", "severity", "comment_id") if (text := comment.text(key))},
            **({} if lines else _stated_lines(comment)),
        },
    }


def _stated_lines(comment: ReviewComment) -> dict[str, Any]:
    """Which lines a comment means that no lines of the new file are."""
    lines = {key: comment.fields[key] for key in ("line_start", "line_end") if isinstance(comment.fields.get(key), int)}
    if comment.is_general:
        return {"subject_type": comment.text("subject_type")}
    numbering = {"numbering": "excerpt"} if comment.is_excerpt else {}
    return {"side": comment.side, **lines, **numbering}


def _level(comment: ReviewComment) -> str:
    if severity := comment.text("severity"):
        return _LEVELS.get(severity, "warning")
    return "note" if comment.text("category") in _REMARKS else "warning"


def _fix(artifact: dict[str, str], lines: tuple[int, int], suggestion: str) -> dict[str, Any]:
    start, end = lines
    if suggestion:
        replacement: dict[str, Any] = {
            "deletedRegion": {"startLine": start, "endLine": end},
            "insertedContent": {"text": readable(suggestion.removesuffix("\n"))},
        }
    else:
        # The lines go with their ends: up to the beginning of the line behind them.
        removed = {"startLine": start, "startColumn": 1, "endLine": end + 1, "endColumn": 1}
        replacement = {"deletedRegion": removed}
    return {
        "description": {"text": "The suggestion of the comment."},
        "artifactChanges": [{"artifactLocation": artifact, "replacements": [replacement]}],
    }
