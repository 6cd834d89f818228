"""The format `otel_genai`: spans of OpenTelemetry by the conventions for generative AI, and messages in their form.

How spans become a run stands in `spans`, what a message holds in `span_messages`.

Field notes
- OTLP as JSON: {resourceSpans: [{scopeSpans: [{spans: [{traceId, spanId, parentSpanId, name, startTimeUnixNano,
  attributes: [{key, value: {stringValue | intValue | boolValue | arrayValue | kvlistValue}}], events, status}]}]}]},
  one document, or one a line as the collector's file exporter writes it; with underscores (resource_spans,
  string_value) where a program kept the protocol's names. Printed by SDKs: {name, context: {trace_id, span_id},
  parent_id, start_time, attributes: {...}, events, status: {status_code}}.
- Events may come as records of a log, which belong to their spans: {resourceLogs: [{scopeLogs: [{logRecords: [{traceId,
  spanId, timeUnixNano, eventName or the attribute event.name, attributes, body}]}]}]}.
- gen_ai.operation.name is chat, generate_content, text_completion, execute_tool, invoke_agent, create_agent; elsewhere
  the span's name begins with it.
- Messages: gen_ai.input.messages and gen_ai.output.messages, JSON or a text of it, as attributes or those of an event
  gen_ai.client.inference.operation.details; before, events gen_ai.{system,user,assistant,tool}.message and
  gen_ai.choice; gen_ai.prompt and gen_ai.completion as a text, or flat as gen_ai.prompt.N.role, .content,
  .tool_calls.M.name.
- Tools: gen_ai.tool.name, gen_ai.tool.call.{id,arguments,result}. Failures: status.code 2 (ERROR), error.type.
- A run is a trace, or the traces of one gen_ai.conversation.id.
- The AI SDK has names of its own beside some of these: ai.operationId (ai.generateText.doGenerate, ai.toolCall and the
  like), ai.prompt.messages, ai.response.{text,toolCalls}, ai.toolCall.{id,name,args,result}, whose result is JSON.
- A list of messages {role, parts} without any span is a conversation, too.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from potato.runs.converters.fields import name, objects, text
from potato.runs.converters.json_text import read_arguments
from potato.runs.converters.outline import detect_outline
from potato.runs.converters.records import Record, read_records
from potato.runs.converters.span_messages import ChatMessage, chat_messages, result_of_tool
from potato.runs.converters.spans import AGENT, MODEL, OTHER, TOOL, Span, iso_time, run_of_spans
from potato.runs.converters.usage import duration, read_usage
from potato.runs.model import JSON, NO_USAGE, ConversionReport, Converted, ReadingOptions, RunFile, Unreadable, Usage
from potato.runs.run_files import in_words

_KINDS = {
    "chat": MODEL, "generate_content": MODEL, "text_completion": MODEL, "completion": MODEL, "execute_tool": TOOL,
    "invoke_agent": AGENT, "tool": TOOL, "agent": AGENT,
}  # fmt: skip
_PARTS = frozenset({"text", "tool_call", "tool_call_response", "reasoning", "server_tool_call"})
_RESOURCES = ("resourceSpans", "resource_spans")
_LOGS = ("resourceLogs", "resource_logs")
_SCOPES = ("scopeSpans", "scope_spans", "instrumentationLibrarySpans", "instrumentation_library_spans")
_LOG_TIMES = ("timeUnixNano", "time_unix_nano", "observedTimeUnixNano", "observed_time_unix_nano")
_FLAT = re.compile(r"gen_ai\.(prompt|completion)\.(\d{1,4})\.(.+)")
_FLAT_CALL = re.compile(r"tool_calls\.(\d{1,3})\.(id|name|arguments)")
_EVENT_ROLE = re.compile(r"gen_ai\.(system|user|assistant|tool)\.message")
_MOST_DEEP = 30


class OtelGenAi:
    """Spans and messages of OpenTelemetry for generative AI."""

    name = "otel_genai"
    label = "OpenTelemetry GenAI spans"

    def recognises(self, head: bytes, filename: str) -> tuple[float, str]:
        records = [record for record in detect_outline(head, filename).records() if isinstance(record, dict)]
        for record in records:
            for key in (*_RESOURCES, *_LOGS):
                if isinstance(record.get(key), list):
                    return 0.9, f"it has {key}, as OpenTelemetry writes them"
            if any(key.startswith("gen_ai.") for key in _attribute_keys(record)):
                return 0.95, "its spans have attributes gen_ai.*"
            messages = objects(record.get("messages")) or [record]
            if any(_is_message(message) for message in messages):
                return 0.9, "it has messages with parts, as OpenTelemetry's are"
        return 0.0, "no record is a span of OpenTelemetry or a message in its form"

    def read(self, lines: RunFile, options: ReadingOptions) -> Iterator[Converted | Unreadable]:
        found = _Found()
        report = ConversionReport()
        unknown: list[JSON] = []
        messages: list[dict[str, JSON]] = []
        size = place = 0
        for record in read_records(lines, options.bounds):
            if isinstance(record, Unreadable):
                yield record
                continue
            place = place or record.place
            size += record.size
            report.repairs.update(record.repairs)
            if size > options.bounds.run_bytes or found.count > options.bounds.events:
                continue
            _take(record, found, report, unknown)
            own = objects(record.value.get("messages")) or [record.value]
            messages += [message for message in own if _is_message(message)]
        if not place:
            return
        if size > options.bounds.run_bytes or found.count > options.bounds.events:
            bound = f"{in_words(options.bounds.run_bytes)} and {options.bounds.events:,} spans"
            yield Unreadable(
                place, "too_large", f"{lines.name} is over {bound}, the bounds of one file. Split it by traces."
            )
            return
        spans = [_span(value, place, report) for value, place in found.with_logs()]
        if messages and not spans:
            spans = [_as_span(messages, report)]
        if not any(span.kind != OTHER for span in spans):
            sentence = (
                f"{lines.name} has {len(spans):,} spans and none of a model, a tool or an agent "
                "(gen_ai.operation.name). Import spans that follow OpenTelemetry's conventions for generative AI."
            )
            yield Unreadable(place, "no_steps", sentence)
            return
        first = True
        for key, members in _by_run(spans).items():
            own_report = report if first else ConversionReport()
            yield run_of_spans(key, members, own_report, unknown if first else [], options)
            first = False


def _attribute_keys(record: dict[str, JSON]) -> list[str]:
    attributes = record.get("attributes")
    keys = list(record)
    if isinstance(attributes, dict):
        keys += list(attributes)
    return keys + [text(pair, "key") for pair in objects(attributes)]


def _is_message(message: dict[str, JSON]) -> bool:
    return "role" in message and any(text(part, "type") in _PARTS for part in objects(message.get("parts")))


def _by_run(spans: list[Span]) -> dict[str, list[Span]]:
    """The spans by conversation, or by trace where a trace names none; without spans of no interest alone."""
    conversations = {span.trace: span.conversation for span in spans if span.conversation}
    runs: dict[str, list[Span]] = {}
    for span in spans:
        runs.setdefault(conversations.get(span.trace, span.trace), []).append(span)
    return {key: members for key, members in runs.items() if any(span.kind != OTHER for span in members)}


def _as_span(messages: list[dict[str, JSON]], report: ConversionReport) -> Span:
    """Messages without any span, as if one request had them all."""
    return Span("", "", "", MODEL, inputs=chat_messages(messages, "user", report.unknown))


@dataclass(slots=True)
class _Found:
    """The spans of a file with their places, and the events that it has as records of a log, by trace and span."""

    spans: list[tuple[dict[str, JSON], int]] = field(default_factory=list)
    logs: dict[tuple[str, str], list[dict[str, JSON]]] = field(default_factory=dict)
    count: int = 0

    def add_log(self, value: dict[str, JSON], report: ConversionReport) -> None:
        attributes = _attributes(value.get("attributes"))
        kind = text(value, "eventName", "event_name") or text(attributes, "event.name")
        if not kind.startswith("gen_ai."):
            report.dropped["record of a log that is none of generative AI"] += 1
            return
        self.count += 1
        event = {**value, "name": kind, "attributes": attributes, "body": _any_value(value.get("body"))}
        self.logs.setdefault(_ids(value), []).append(event)

    def with_logs(self) -> Iterator[tuple[dict[str, JSON], int]]:
        """The spans with their events; events whose span is not there are one of their own."""
        for value, place in self.spans:
            events = self.logs.pop(_ids(value), []) if self.logs else []
            yield ({**value, "events": [*objects(value.get("events")), *events]} if events else value), place
        for (trace, span), events in self.logs.items():
            at = next((known for key in _LOG_TIMES if (known := events[0].get(key))), None)
            yield {"traceId": trace, "spanId": span, "startTimeUnixNano": at, "events": events}, 1


def _ids(value: dict[str, JSON]) -> tuple[str, str]:
    context = value.get("context")
    return _id(value, context, "traceId", "trace_id"), _id(value, context, "spanId", "span_id")


def _take(record: Record, found: _Found, report: ConversionReport, unknown: list[JSON]) -> None:
    value = record.value
    is_whole = False
    for key in _RESOURCES:
        for span in _inside(value.get(key), _SCOPES, "spans"):
            found.spans.append((span, record.place))
            found.count += 1
        is_whole |= isinstance(value.get(key), list)
    for key in _LOGS:
        for log in _inside(value.get(key), ("scopeLogs", "scope_logs"), "logRecords", "log_records"):
            found.add_log(log, report)
        is_whole |= isinstance(value.get(key), list)
    if is_whole:
        return
    if "attributes" in value or any(key.startswith("gen_ai.") for key in value):
        found.spans.append((value, record.place))
        found.count += 1
    elif not _is_message(value) and "messages" not in value:
        report.unknown["record that is no span"] += 1
        unknown.append(value)


def _inside(resources: JSON, scopes: tuple[str, ...], *members: str) -> Iterator[dict[str, JSON]]:
    for resource in objects(resources):
        for scope in (scope for key in scopes for scope in objects(resource.get(key))):
            for key in members:
                yield from objects(scope.get(key))


def _span(value: dict[str, JSON], place: int, report: ConversionReport) -> Span:
    attributes = _attributes(value.get("attributes"))
    if not attributes:
        attributes = {key: member for key, member in value.items() if key.startswith("gen_ai.")}
    context = value.get("context")
    events = objects(value.get("events"))
    for event in events:
        if "operation.details" in text(event, "name"):
            attributes = {**_attributes(event.get("attributes")), **attributes}
    attributes = _with_names_of_ai_sdk(attributes)
    times = ("startTimeUnixNano", "start_time", "startTime", "start_time_unix_nano", "timestamp")
    start, at = iso_time(next((value[key] for key in times if key in value), None))
    ends = ("endTimeUnixNano", "end_time", "endTime", "end_time_unix_nano")
    end, _ = iso_time(next((value[key] for key in ends if key in value), None))
    took = duration(end - start) if start and end else NO_USAGE
    title = text(value, "name")
    operation = text(attributes, "gen_ai.operation.name") or title.split(" ")[0]
    kind = _KINDS.get(operation, OTHER)
    inputs, outputs = _messages(attributes, events, report)
    if kind == OTHER and outputs:
        kind = MODEL
    status = value.get("status")
    code = status.get("code", status.get("status_code")) if isinstance(status, dict) else None
    result, pictures = result_of_tool(attributes.get("gen_ai.tool.call.result"), report.unknown)
    agent = text(attributes, "gen_ai.agent.name")
    named = text(attributes, "gen_ai.tool.name") if kind == TOOL else agent if kind == AGENT else title
    return Span(
        id=_id(value, context, "spanId", "span_id"),
        parent=_id(value, context, "parentSpanId", "parent_id", "parent_span_id"),
        trace=_id(value, context, "traceId", "trace_id"),
        kind=kind,
        start=start,
        at=at,
        name=named or title.removeprefix(f"{operation} "),
        conversation=name(attributes, "gen_ai.conversation.id"),
        model=text(attributes, "gen_ai.response.model") or text(attributes, "gen_ai.request.model"),
        inputs=inputs,
        outputs=outputs,
        call_id=name(attributes, "gen_ai.tool.call.id"),
        arguments=read_arguments(attributes.get("gen_ai.tool.call.arguments")),
        result=result,
        pictures=pictures,
        is_error=code in (2, "ERROR", "STATUS_CODE_ERROR", "StatusCode.ERROR") or bool(text(attributes, "error.type")),
        usage=_usage(attributes) + took,
        place=place,
    )


def _with_names_of_ai_sdk(attributes: dict[str, JSON]) -> dict[str, JSON]:
    """The attributes, with those that the AI SDK has in place of the conventions' by the names of these."""
    operation = text(attributes, "ai.operationId")
    if operation == "ai.toolCall":
        own = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": attributes.get("ai.toolCall.name"),
            "gen_ai.tool.call.id": attributes.get("ai.toolCall.id"),
            "gen_ai.tool.call.arguments": attributes.get("ai.toolCall.args"),
            "gen_ai.tool.call.result": read_arguments(attributes.get("ai.toolCall.result")),
        }
    elif operation.endswith((".doGenerate", ".doStream")):
        calls = objects(read_arguments(attributes.get("ai.response.toolCalls")))
        said: list[JSON] = [{"type": "tool-call", **call} for call in calls]
        if words := text(attributes, "ai.response.text"):
            said.insert(0, {"type": "text", "text": words})
        own = {
            "gen_ai.operation.name": "chat",
            "gen_ai.input.messages": attributes.get("ai.prompt.messages"),
            "gen_ai.output.messages": [{"role": "assistant", "content": said}] if said else None,
        }
    else:
        return attributes
    return {**{key: member for key, member in own.items() if member is not None}, **attributes}


def _usage(attributes: dict[str, JSON]) -> Usage:
    names = ("input_tokens", "output_tokens", "prompt_tokens", "completion_tokens")
    counts = {name: attributes.get(f"gen_ai.usage.{name}") for name in names}
    return read_usage({**counts, "cached_tokens": attributes.get("gen_ai.usage.cache_read.input_tokens")})


def _id(value: dict[str, JSON], context: JSON, *keys: str) -> str:
    known = text(value, *keys) or text(context, *keys)
    return known.removeprefix("0x")


def _attributes(value: JSON) -> dict[str, JSON]:
    if isinstance(value, dict):
        return value
    return {text(pair, "key"): _any_value(pair.get("value")) for pair in objects(value)}


def _any_value(value: JSON, depth: int = 0) -> JSON:
    """The plain value of an attribute of OTLP."""
    if not isinstance(value, dict) or depth > _MOST_DEEP:
        return value
    for kind, member in value.items():
        match kind:
            case "stringValue" | "boolValue" | "doubleValue" | "bytesValue":
                return member
            case "string_value" | "bool_value" | "double_value" | "bytes_value":
                return member
            case "intValue" | "int_value":
                is_text = isinstance(member, str) and member.lstrip("-").isdigit() and len(member) < 30
                return int(member) if is_text else member
            case "arrayValue" | "array_value" if isinstance(member, dict):
                values = member.get("values")
                return [_any_value(each, depth + 1) for each in values] if isinstance(values, list) else []
            case "kvlistValue" | "kvlist_value" if isinstance(member, dict):
                pairs = objects(member.get("values"))
                return {text(pair, "key"): _any_value(pair.get("value"), depth + 1) for pair in pairs}
    return None


def _messages(
    attributes: dict[str, JSON], events: list[dict[str, JSON]], report: ConversionReport
) -> tuple[list[ChatMessage], list[ChatMessage]]:
    """What the span records as its input and its output, in the newest form that it has."""
    unknown = report.unknown
    inputs = chat_messages(attributes.get("gen_ai.input.messages"), "user", unknown)
    outputs = chat_messages(attributes.get("gen_ai.output.messages"), "assistant", unknown)
    if inputs or outputs:
        return inputs, outputs
    for event in events:
        members = _attributes(event.get("attributes"))
        body = event.get("body")
        values: dict[str, JSON] = {**members, **(body if isinstance(body, dict) else {})}
        kind = text(event, "name") or text(members, "event.name")
        if match := _EVENT_ROLE.fullmatch(kind):
            shown = {**values, "role": match[1], "tool_calls": read_arguments(values.get("tool_calls"))}
            if match[1] == "tool":
                shown["tool_call_id"] = name(values, "id") or name(values, "tool_call_id")
            inputs += chat_messages([shown], "user", unknown)
        elif kind == "gen_ai.choice":
            message = read_arguments(values.get("message"))
            inner = message if isinstance(message, dict) else {"content": message or text(values, "content")}
            calls = read_arguments(values.get("tool_calls"))
            outputs += chat_messages([{**({"tool_calls": calls} if calls else {}), **inner}], "assistant", unknown)
        elif kind == "gen_ai.content.prompt":
            inputs += chat_messages(members.get("gen_ai.prompt"), "user", unknown)
        elif kind == "gen_ai.content.completion":
            outputs += chat_messages(members.get("gen_ai.completion"), "assistant", unknown)
    if inputs or outputs:
        return inputs, outputs
    flat = _flat_messages(attributes)
    inputs = chat_messages(flat["prompt"] or attributes.get("gen_ai.prompt"), "user", unknown)
    outputs = chat_messages(flat["completion"] or attributes.get("gen_ai.completion"), "assistant", unknown)
    return inputs, outputs


def _flat_messages(attributes: dict[str, JSON]) -> dict[str, list[JSON]]:
    """Messages whose members are attributes of their own: gen_ai.prompt.0.role and the like."""
    sides: dict[str, dict[int, dict[str, JSON]]] = {"prompt": {}, "completion": {}}
    calls: dict[tuple[str, int], dict[int, dict[str, JSON]]] = {}
    for key, value in attributes.items():
        if match := _FLAT.fullmatch(key):
            message = sides[match[1]].setdefault(int(match[2]), {})
            if call := _FLAT_CALL.fullmatch(match[3]):
                calls.setdefault((match[1], int(match[2])), {}).setdefault(int(call[1]), {})[call[2]] = value
            else:
                message[match[3]] = read_arguments(value) if match[3] == "content" else value
    for (side, number), members in calls.items():
        sides[side][number]["tool_calls"] = [members[at] for at in sorted(members)]
        sides[side][number].setdefault("content", "")
    return {side: [messages[at] for at in sorted(messages)] for side, messages in sides.items()}
