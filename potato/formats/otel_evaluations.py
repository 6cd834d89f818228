"""`otel_evaluations`: what annotators said as evaluation events of OpenTelemetry's conventions for generative AI."""

import re
from calendar import timegm
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from potato.formats.options import RecordOptions
from potato.formats.registry import Format
from potato.formats.scores import Score, author_of, scores_in
from potato.formats.training import readable
from potato.records.sources import Record, TraceFacts, json_text
from potato.wording import UNKNOWN

EVENT = "gen_ai.evaluation.result"
_TRACE_ID = re.compile(r"(?!0{32})[0-9a-f]{32}", re.ASCII)
_WHOLE = 2**63


class OtelEvaluations(Format):
    """One `LogsData` a line for each annotation, as the OTLP file exporter writes logs and a collector reads them. Each
    log record is an event `gen_ai.evaluation.result` with `gen_ai.evaluation.name` (the scheme, with the question
    behind a point where it has several), `gen_ai.evaluation.score.label` (what was chosen),
    `gen_ai.evaluation.score.value` (a rating, or the score of a label) and `gen_ai.evaluation.explanation` (what was
    written beside it). The conventions are in development: their names may change.

    `traceId` is the trace's id where it is one of OpenTelemetry, 32 hexadecimal digits; `potato.trace.id` and
    `potato.trace.version` always say which trace is meant. `code.file.path` and `code.line.number` are those of a
    comment or a rated file, `potato.step` is the step from 0, `potato.annotator` or `potato.source` whoever said it,
    and other attributes under `potato.` what else was said. There is no `spanId`: a trace does not keep which span a
    step was. Annotations that say nothing are left out and counted."""

    name = "otel_evaluations"
    label = "Evaluation events of OpenTelemetry GenAI (OTLP logs)"
    suffix = ".jsonl"
    media_type = "application/jsonl"
    options = RecordOptions

    def write(self, record: Record, facts: TraceFacts) -> bytes:
        events = [_event(record, score) for score in scores_in(record, self.project)]
        if not events:
            return self.leave_out("without_scores")
        self.state["rows"] += 1
        row = {
            "resourceLogs": [
                {
                    "resource": {"attributes": [_attribute("service.name", "potato")]},
                    "scopeLogs": [{"scope": {"name": "potato.annotations"}, "logRecords": events}],
                }
            ]
        }
        return f"{json_text(row)}\n".encode("ascii")

    def nothing(self) -> str:
        return "The export selects nothing: no annotation has anything to score. Nothing was written."


def _event(record: Record, score: Score) -> dict[str, Any]:
    at = {} if record.timestamp == UNKNOWN else _times(record.timestamp)
    trace = {"traceId": record.id} if _TRACE_ID.fullmatch(record.id) else {}
    return {
        **at,
        "severityNumber": 9,
        "eventName": EVENT,
        "attributes": [_attribute(key, value) for key, value in _attributes(record, score)],
        **trace,
    }


def _attributes(record: Record, score: Score) -> Iterator[tuple[str, Any]]:
    yield "gen_ai.evaluation.name", score.name
    if score.number is not None:
        yield "gen_ai.evaluation.score.value", float(score.number)
    if score.label is not None:
        yield "gen_ai.evaluation.score.label", score.label
    if score.text:
        yield "gen_ai.evaluation.explanation", score.text
    yield "potato.trace.id", record.id
    yield "potato.trace.version", record.trace_version
    for key, value in author_of(record).items():
        yield f"potato.{key}", value
    if record.kind != "normal":
        yield "potato.kind", record.kind
    about = dict(score.about)
    if "file" in about:
        yield "code.file.path", about.pop("file")
    if "line_start" in about:
        yield "code.line.number", about["line_start"]
    for key, value in about.items():
        yield f"potato.{key}", value
    for key, value in (record.origin or {}).items():
        yield f"potato.origin.{key}", value


def _attribute(key: str, value: Any) -> dict[str, Any]:
    """As OTLP's JSON has it: whole numbers are texts."""
    if isinstance(value, bool):
        typed: dict[str, Any] = {"boolValue": value}
    elif isinstance(value, int) and abs(value) < _WHOLE:
        typed = {"intValue": str(value)}
    elif isinstance(value, int | float):
        typed = {"doubleValue": float(value)}
    else:
        typed = {"stringValue": readable(str(value))}
    return {"key": key, "value": typed}


def _times(timestamp: str) -> dict[str, str]:
    """Nanoseconds since 1970; nothing for what is no time."""
    try:
        moment = datetime.fromisoformat(timestamp)
    except ValueError:
        return {}
    nanoseconds = str(timegm(moment.utctimetuple()) * 1_000_000_000)
    return {"timeUnixNano": nanoseconds, "observedTimeUnixNano": nanoseconds}
