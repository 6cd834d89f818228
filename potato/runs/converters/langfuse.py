"""The format `langfuse`: traces and observations as Langfuse exports them.

How observations become a run stands in `spans`, what a message holds in `chat_messages`.

Field notes
- A trace is {id, name, timestamp, sessionId, input, output, metadata, tags, observations}; the interface answers with
  one, or with {data: [...]}. Observations may come alone, as a list or a line each: {id, traceId, parentObservationId,
  type, name, startTime, endTime, model, input, output, level, statusMessage, usageDetails, metadata}. Exports to a
  storage write the names with underscores (trace_id, parent_observation_id, start_time).
- type: GENERATION is a call of a model, TOOL one of a tool, AGENT an agent; SPAN, EVENT, CHAIN, RETRIEVER, EVALUATOR,
  EMBEDDING and GUARDRAIL are neither. Before there were those types a tool was a SPAN; nobody can tell it from others.
- input and output are JSON, or a text of it: messages of any form, arguments and results of tools. A tool's input may
  have {id, name, args} of the call, as LangChain writes it; tool_call_id stands there or in metadata.
- level ERROR: it failed, and statusMessage says how.
- A trace without a generation is read by its own input and output. In a list of traces `observations` are ids alone.
"""

from collections.abc import Iterator
from dataclasses import replace

from potato.runs.converters.fields import name, objects, text
from potato.runs.converters.json_text import read_arguments
from potato.runs.converters.outline import detect_outline
from potato.runs.converters.records import read_records
from potato.runs.converters.span_messages import chat_messages, result_of_tool
from potato.runs.converters.spans import AGENT, MODEL, OTHER, TOOL, Span, iso_time, run_of_spans
from potato.runs.converters.usage import duration, positive_number, read_usage
from potato.runs.model import (
    JSON,
    NO_USAGE,
    ConversionReport,
    Converted,
    ReadingOptions,
    RunFile,
    Screenshot,
    Unreadable,
)
from potato.runs.run_files import in_words

_KINDS = {"GENERATION": MODEL, "TOOL": TOOL, "AGENT": AGENT}
_TYPES = frozenset(
    {"GENERATION", "TOOL", "AGENT", "SPAN", "EVENT", "CHAIN", "RETRIEVER", "EVALUATOR", "EMBEDDING", "GUARDRAIL"}
)
_MARKS = frozenset({"projectId", "bookmarked", "public", "release", "environment", "htmlPath", "sessionId", "userId"})


class Langfuse:
    """Traces and observations that Langfuse exports."""

    name = "langfuse"
    label = "Langfuse export"

    def recognises(self, head: bytes, filename: str) -> tuple[float, str]:
        for record in detect_outline(head, filename).records():
            for value in _entries(record):
                if any(_is_observation(each) for each in (value, *objects(value.get("observations")))):
                    return 0.95, "it has observations of a Langfuse trace"
                if "observations" in value and {"id", "timestamp"} <= value.keys():
                    return 0.9, "it is a trace of Langfuse"
                if {"id", "timestamp"} <= value.keys() and len(_MARKS & value.keys()) > 2:
                    # Its observations stand behind its input, and may not be seen yet.
                    return 0.8, "it has the facts of a trace of Langfuse"
        return 0.0, "no record is a trace or an observation of Langfuse"

    def read(self, lines: RunFile, options: ReadingOptions) -> Iterator[Converted | Unreadable]:
        spans: dict[str, list[Span]] = {}
        traces: dict[str, dict[str, JSON]] = {}
        report = ConversionReport()
        unknown: list[JSON] = []
        size = place = count = 0
        for record in read_records(lines, options.bounds):
            if isinstance(record, Unreadable):
                yield record
                continue
            place = place or record.place
            size += record.size
            report.repairs.update(record.repairs)
            if size > options.bounds.run_bytes or count > options.bounds.events:
                continue
            for value in _entries(record.value):
                observations = objects(value.get("observations"))
                if _is_observation(value):
                    observations = [value]
                elif "id" in value and ("observations" in value or "timestamp" in value):
                    traces.setdefault(name(value, "id"), value)
                else:
                    report.unknown["record that is neither trace nor observation"] += 1
                    unknown.append(value)
                for observation in observations:
                    trace = _member(observation, "traceId", "trace_id") or name(value, "id")
                    spans.setdefault(trace, []).append(_span(observation, trace, record.place, report))
                    count += 1
        if not place:
            return
        if size > options.bounds.run_bytes or count > options.bounds.events:
            bound = f"{in_words(options.bounds.run_bytes)} and {options.bounds.events:,} observations"
            sentence = f"{lines.name} is over {bound}, the bounds of one file. Export fewer traces at once."
            yield Unreadable(place, "too_large", sentence)
            return
        own_report, own_unknown = report, unknown
        for trace in dict.fromkeys([*traces, *spans]):
            members = spans.get(trace, [])
            if not any(span.kind == MODEL for span in members) and trace in traces:
                members = [*members, _whole(traces[trace], trace, place, own_report)]
            entry = run_of_spans(trace, members, own_report, own_unknown, options)
            yield _without_observations(entry, spans.get(trace, []), traces.get(trace, {}))
            own_report, own_unknown = ConversionReport(), []


def _without_observations(
    entry: Converted | Unreadable, members: list[Span], trace: dict[str, JSON]
) -> Converted | Unreadable:
    """The run with what it lacks: lists of traces have the ids of their observations alone."""
    observations = trace.get("observations")
    named = [each for each in observations if isinstance(each, str)] if isinstance(observations, list) else []
    if members or not named or isinstance(entry, Unreadable):
        return entry
    gap = (
        f"The trace names {len(named):,} observations, which are not here: what is shown is its own input and output. "
        "Export the trace with its observations."
    )
    return replace(entry, run=replace(entry.run, gaps=(gap, *entry.run.gaps)))


def _entries(record: JSON) -> list[dict[str, JSON]]:
    """The traces or observations of a record, which may be a page of them."""
    if not isinstance(record, dict):
        return []
    data = record.get("data")
    if isinstance(data, list) and "id" not in record:
        return objects(data)
    trace = record.get("trace")
    if isinstance(trace, dict) and isinstance(record.get("observations"), list):
        return [{**trace, "observations": record["observations"]}]
    return [record]


_USAGES = ("usageDetails", "usage_details", "usage")
_COSTS = ("calculatedTotalCost", "totalCost", "total_cost")


def _is_observation(value: dict[str, JSON]) -> bool:
    has_trace = bool({"traceId", "trace_id"} & value.keys())
    return text(value, "type") in _TYPES and (has_trace or bool({"startTime", "start_time"} & value.keys()))


def _member(value: dict[str, JSON], *keys: str) -> str:
    return next((known for key in keys if (known := name(value, key))), "")


def _span(value: dict[str, JSON], trace: str, place: int, report: ConversionReport) -> Span:
    start, at = iso_time(_member(value, "startTime", "start_time"))
    kind = _KINDS.get(text(value, "type"), OTHER)
    failed = text(value, "level") == "ERROR"
    end, _ = iso_time(_member(value, "endTime", "end_time"))
    usage = next((read_arguments(value[key]) for key in _USAGES if value.get(key)), None)
    costs = read_arguments(value.get("costDetails", value.get("cost_details")))
    total = costs.get("total") if isinstance(costs, dict) else None
    cost = positive_number(next((value[key] for key in _COSTS if value.get(key) is not None), total))
    input_value, output_value = read_arguments(value.get("input")), read_arguments(value.get("output"))
    span = Span(
        id=name(value, "id"),
        parent=_member(value, "parentObservationId", "parent_observation_id"),
        trace=trace,
        kind=kind,
        start=start,
        at=at,
        name=text(value, "name"),
        model=text(value, "model", "provided_model_name", "providedModelName"),
        is_error=failed,
        usage=read_usage(usage) + (duration(end - start) if start and end else NO_USAGE),
        cost_usd=cost,
        place=place,
    )
    if kind in (MODEL, AGENT):
        span.inputs = chat_messages(input_value, "user", report.unknown)
        span.outputs = chat_messages(output_value, "assistant", report.unknown)
    elif kind == TOOL:
        metadata = read_arguments(value.get("metadata"))
        span.arguments = input_value
        if isinstance(input_value, dict):
            span.call_id = _member(input_value, "tool_call_id", "toolCallId")
            if isinstance(input_value.get("args"), dict) and "name" in input_value:
                span.call_id = span.call_id or name(input_value, "id")
                span.arguments = input_value["args"]
        if isinstance(metadata, dict):
            span.call_id = span.call_id or _member(metadata, "tool_call_id", "toolCallId")
        words, span.pictures = _result(output_value, report)
        span.result = words if words is not None else text(value, "statusMessage", "status_message") or None
        if isinstance(output_value, dict):
            span.call_id = span.call_id or name(output_value, "tool_call_id")
    return span


def _result(value: JSON, report: ConversionReport) -> tuple[str | None, tuple[Screenshot, ...]]:
    if isinstance(value, dict) and isinstance(value.get("content"), str):
        return str(value["content"]), ()
    return result_of_tool(value, report.unknown)


def _whole(value: dict[str, JSON], trace: str, place: int, report: ConversionReport) -> Span:
    """The trace itself, as one call of a model."""
    start, at = iso_time(_member(value, "timestamp"))
    input_value, output_value = read_arguments(value.get("input")), read_arguments(value.get("output"))
    return Span(
        id="",
        parent="",
        trace=trace,
        kind=MODEL,
        start=start,
        at=at,
        name=text(value, "name"),
        inputs=chat_messages(input_value, "user", report.unknown),
        outputs=chat_messages(output_value, "assistant", report.unknown),
        place=place,
    )
