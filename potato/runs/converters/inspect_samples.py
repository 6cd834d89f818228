"""Reads one sample of an Inspect log: what the model said and called, and what came back.

Field notes
- {id, epoch, input: text or messages, target, messages, output, scores, events, attachments, error, uuid}. A text
  "attachment://HASH" anywhere is what `attachments` has under that hash.
- Messages {id, role: system | user | assistant | tool, content}: of an assistant tool_calls [{id, function, arguments,
  parse_error}] and model; of a tool tool_call_id, function, error {type, message}. content is a text or parts: text,
  reasoning {reasoning, summary, redacted}, image {image: a data URL}, audio, video, data, document, and tool_use {id,
  name, arguments, result, error} for tools at the model's side. Redacted reasoning is encrypted.
- Times stand in events alone: model {output: {choices: [{message}]}, timestamp}, tool {id, function, arguments, result,
  error, agent, agent_span_id, timestamp}, span_begin {id, parent_id, type, name}. What a tool's agent did lies in the
  events of its span or, in older logs, in the tool event's own `events`.
- Where `messages` has nothing of the model, its events have.
- The input of a model's event may be ranges, input_refs: [[begin, end), ...], of the messages in events_data.messages
  or, for a while, message_pool.
"""

from collections.abc import Iterator
from typing import Any

from potato.runs.converters.blocks import Answer, Content, as_json, joined, named_url
from potato.runs.converters.conversation import Conversation
from potato.runs.converters.fields import name, objects, text
from potato.runs.converters.json_text import read_arguments
from potato.runs.converters.result_pictures import pictures_in
from potato.runs.converters.tool_effects import read_tool_effects
from potato.runs.converters.tool_files import CallEffects
from potato.runs.converters.usage import duration, read_usage
from potato.runs.model import JSON, NO_USAGE, ConversionReport, Screenshot, Usage

_ATTACHMENT = "attachment://"
_MOST_SPANS = 50
_MOST_REFERRED_TO = 100_000
_MEDIA = ("image", "audio", "video")


class Sample:
    """Puts the messages of a sample into a conversation."""

    def __init__(self, value: dict[str, JSON], model: str, report: ConversionReport) -> None:
        self._value = value
        self._model = model
        self._report = report
        attachments = value.get("attachments")
        self._attachments: dict[str, Any] = attachments if isinstance(attachments, dict) else {}
        self._events = objects(value.get("events")) or objects(value.get("transcript"))
        data = value.get("events_data")
        pool = data.get("messages") if isinstance(data, dict) else value.get("message_pool")
        self._pool: list[JSON] = pool if isinstance(pool, list) else []
        self._times: dict[str, str] = {}
        self._usages: dict[str, Usage] = {}
        self.started_at = ""
        self.unknown: list[JSON] = []
        self.conversation = Conversation(report, self._task(), read_effects=self._effects)

    def convert(self) -> None:
        for event in self._events:
            at = text(event, "timestamp")
            self.started_at = self.started_at or at
            for message in _output_messages(event):
                self._times.setdefault(name(message, "id"), at)
                self._usages.setdefault(name(message, "id"), _usage(event))
            if text(event, "event") == "tool":
                self._times.setdefault(name(event, "id"), at)
        messages = objects(self._value.get("messages"))
        if any(text(message, "role") == "assistant" for message in messages):
            for number, message in enumerate(messages, 1):
                self._take(message, number, self.conversation)
        else:
            self._convert_events(self._events, self.conversation)
        self._attach_agents()
        for kind in ("scores", "error", "limit"):
            if self._value.get(kind):
                self._report.dropped[kind] += 1

    def _task(self) -> str:
        value = self._value.get("input")
        if isinstance(value, list):
            return joined([self._words(part.get("content")) for part in objects(value) if text(part, "role") == "user"])
        return self._resolved(value) if isinstance(value, str) else ""

    # Messages.

    def _take(self, message: dict[str, JSON], number: int, conversation: Conversation) -> None:
        role = text(message, "role")
        if role == "assistant":
            self._say(message, f"message {number}", conversation, self._times.get(name(message, "id"), ""))
        elif role == "tool":
            self._answer(message, conversation)
        elif role == "user":
            if words := self._words(message.get("content")):
                conversation.add_user_message(words, self._pictures(message.get("content")))
        elif role == "system":
            self._report.dropped["system message"] += 1
        else:
            self._report.unknown[f"message of the role {role[:40]}" if role else "message without a role"] += 1
            self.unknown.append(message)

    def _say(self, message: dict[str, JSON], key: str, conversation: Conversation, at: str) -> None:
        parts = Content()
        content = message.get("content")
        for part in content if isinstance(content, list) else [content]:
            self._add(part, parts, f"{key}.{len(parts.calls)}")
        for number, call in enumerate(objects(message.get("tool_calls")), 1):
            arguments = read_arguments(self._deep(call.get("arguments")))
            tool = text(call, "function", "name") or "(no name)"
            parts.calls.append((name(call, "id") or f"{key} call {number}", tool, arguments))
        model = text(message, "model") or self._model
        usage = self._usages.get(name(message, "id"), NO_USAGE)
        conversation.add_agent_message(parts, message_id=key, at=at, model=model, usage=usage)

    def _add(self, part: JSON, parts: Content, key: str) -> None:
        kind = text(part, "type")
        if kind == "reasoning":
            is_hidden = part.get("redacted") is True
            words = text(part, "summary") if is_hidden else self._resolved(text(part, "reasoning", "summary"))
            if words:
                parts.thoughts.append(words)
            else:
                self._report.dropped["encrypted reasoning"] += 1
        elif kind == "tool_use":
            call_id = name(part, "id") or key
            tool = text(part, "name") or text(part, "tool_type") or "(no name)"
            parts.calls.append((call_id, tool, read_arguments(self._deep(part.get("arguments")))))
            error = self._words(part.get("error"))
            result = part.get("result")
            pictures = self._pictures(result)
            parts.answers.append(Answer(call_id, error or self._words(result), bool(error), pictures))
        elif part is not None:
            parts.texts.append(self._part(part))

    def _answer(self, message: dict[str, JSON], conversation: Conversation) -> None:
        call_id = name(message, "tool_call_id")
        error = message.get("error")
        words = self._words(message.get("content"))
        if error is not None and not words:
            words = text(error, "message") if isinstance(error, dict) else self._words(error)
        at = self._times.get(call_id, "")
        pictures = self._pictures(message.get("content"))
        conversation.answer(Answer(call_id, words, error is not None, pictures), at=at)

    def _pictures(self, content: JSON) -> tuple[Screenshot, ...]:
        """Those of a message or a result, whose data lie among the attachments."""
        own = [text(part, "image") for part in objects(content) if text(part, "type") == "image"]
        known = [self._attachments.get(each.removeprefix(_ATTACHMENT), each) for each in own]
        return pictures_in([{"type": "image", "image": data} for data in known])

    def _words(self, content: JSON) -> str:
        if isinstance(content, list):
            return joined([self._part(part) for part in content])
        if isinstance(content, str):
            return self._resolved(content)
        return "" if content is None else as_json(self._deep(content))

    def _part(self, part: JSON) -> str:
        if isinstance(part, str):
            return self._resolved(part)
        kind = text(part, "type")
        if kind == "text":
            return self._resolved(text(part, "text"))
        if kind in _MEDIA:
            return named_url(self._resolved(text(part, kind)), kind)
        if kind == "reasoning":
            return ""
        if kind in ("data", "document"):
            return as_json(self._deep(part.get("data"))) if kind == "data" else named_url(text(part, "document"), kind)
        self._report.unknown[f"part {kind[:40] or 'without a type'}"] += 1
        return as_json(part)

    def _resolved(self, words: str) -> str:
        if not words.startswith(_ATTACHMENT):
            return words
        known = self._attachments.get(words.removeprefix(_ATTACHMENT))
        if not isinstance(known, str):
            self._report.repairs["attachment that is not there"] += 1
            return words
        return known

    def _deep(self, value: JSON) -> JSON:
        """The value with its attachments in their places."""
        if isinstance(value, str):
            return self._resolved(value)
        if isinstance(value, dict):
            return {key: self._deep(member) for key, member in value.items()}
        return [self._deep(member) for member in value] if isinstance(value, list) else value

    # Events.

    def _convert_events(self, events: list[dict[str, JSON]], conversation: Conversation) -> None:
        """What events say of a conversation that has no messages of its own."""
        for number, event in enumerate(events, 1):
            kind = text(event, "event")
            if kind == "model":
                if not conversation.has_messages():
                    refs = event.get("input_refs")
                    inputs = objects(event.get("input")) or objects(referred_to(refs, self._pool))
                    self._report.dropped["system message"] += sum(text(each, "role") == "system" for each in inputs)
                    for content in (each.get("content") for each in inputs if text(each, "role") == "user"):
                        if words := self._words(content):
                            conversation.add_user_message(words, self._pictures(content))
                for message in _output_messages(event):
                    model = text(event, "model")
                    by_model = {**message, "model": text(message, "model") or model}
                    self._say(by_model, f"event {number}", conversation, text(event, "timestamp"))
            elif kind == "tool":
                call_id = name(event, "id")
                call = conversation.calls.get(call_id)
                if call is None or call.answer is not None:
                    continue
                error = event.get("error")
                words = self._words(event.get("result")) or text(error, "message")
                pictures = self._pictures(event.get("result"))
                conversation.answer(Answer(call_id, words, error is not None, pictures), at=text(event, "timestamp"))

    def _attach_agents(self) -> None:
        """Agents that a tool ran, folded under its call."""
        begins = [event for event in self._events if text(event, "event") == "span_begin"]
        parents = {name(event, "id"): name(event, "parent_id") for event in begins}
        agents = {name(event, "agent_span_id") for event in self._events if text(event, "event") == "tool"} - {""}
        within: dict[str, list[dict[str, JSON]]] = {}
        for event in self._events:
            for span in _spans_above(name(event, "span_id"), parents):
                if span in agents:
                    within.setdefault(span, []).append(event)
        for event in self._events:
            call_id = name(event, "id")
            if text(event, "event") != "tool" or call_id not in self.conversation.calls:
                continue
            inner = within.get(name(event, "agent_span_id")) or objects(event.get("events"))
            if not any(text(entry, "event") == "model" for entry in inner):
                continue
            child = Conversation(self._report, "", read_effects=self._effects)
            self._convert_events(inner, child)
            if child.has_messages():
                agent = text(event, "agent") or text(event, "function") or "agent"
                self.conversation.attach(agent, call_id, child)

    def _effects(
        self, tool: str, arguments: JSON, outcome: JSON, answer: Answer, report: ConversionReport
    ) -> CallEffects:
        return read_tool_effects(tool, arguments, None, answer, report)


def referred_to(refs: JSON, pool: list[JSON]) -> list[JSON]:
    """The entries of a list that ranges [begin, end) name."""
    found: list[JSON] = []
    for ref in refs if isinstance(refs, list) else ():
        # Ranges that overlap may name more than there are, again and again.
        if isinstance(ref, list) and [type(each) for each in ref] == [int, int] and len(found) <= _MOST_REFERRED_TO:
            found += pool[max(ref[0], 0) : max(ref[1], 0)]
    return found


def _output_messages(event: dict[str, JSON]) -> list[dict[str, JSON]]:
    output = event.get("output")
    choices = objects(output.get("choices")) if isinstance(output, dict) and text(event, "event") == "model" else []
    return [message for choice in choices[:1] if isinstance(message := choice.get("message"), dict)]


def _spans_above(span: str, parents: dict[str, str]) -> Iterator[str]:
    """The span and those around it, the nearest first."""
    seen: set[str] = set()
    while span and span not in seen and len(seen) < _MOST_SPANS:
        seen.add(span)
        yield span
        span = parents.get(span, "")


def _usage(event: dict[str, JSON]) -> Usage:
    """What a call of the model took."""
    output = event.get("output")
    if not isinstance(output, dict):
        return NO_USAGE
    return read_usage(output.get("usage")) + duration(output.get("time", event.get("working_time")))
