"""The format `openai`: chat messages and Responses of OpenAI's form, whoever wrote them.

Field notes (what a message holds stands in `chat_messages`)
- A record for each run: {messages: [...]}, perhaps with model, tools, id, and choices [{message}] of the answer to
  them; {request: {messages}, response: {choices}} of a log; {input: [items], output: [items]}, or a response {object:
  "response", id, output, previous_response_id, instructions, usage}; {custom_id, response: {body}} of a batch. Of
  several choices the first one is the run's.
- Or a file that is one run: a list or lines of messages or of items.
- Responses that name the one before them by previous_response_id, one after another, are one run.
- In each record the project's id and task fields, task_id, agent_model or model, instance_id, repo, tags and patch
  count if given.
"""

from collections.abc import Iterator
from dataclasses import replace

from potato.runs.converters.chat_messages import AGENT_ROLES, ANSWER_ROLES, USER_ROLES, ChatMessages
from potato.runs.converters.facts import read_facts
from potato.runs.converters.fields import name, objects, text, word_set
from potato.runs.converters.outline import detect_outline
from potato.runs.converters.records import Record, read_records, resumable
from potato.runs.converters.usage import read_usage
from potato.runs.model import JSON, ConversionReport, Converted, ReadingOptions, ReadPosition, RunFile, Unreadable

_ITEMS = word_set(
    "function_call function_call_output custom_tool_call custom_tool_call_output local_shell_call"
    " local_shell_call_output shell_call shell_call_output apply_patch_call apply_patch_call_output computer_call"
    " computer_call_output web_search_call file_search_call code_interpreter_call mcp_call"
)
_ROLES = AGENT_ROLES | ANSWER_ROLES | USER_ROLES | {"system", "developer"}
_FOREIGN = word_set("payload record_type schema_version trajectory_format sessionId projectHash resourceSpans")


class OpenAi:
    """Chat messages and Responses."""

    name = "openai"
    label = "OpenAI chat messages and Responses"

    def recognises(self, head: bytes, filename: str) -> tuple[float, str]:
        records = [record for record in detect_outline(head, filename).records() if isinstance(record, dict)]
        if any(not _FOREIGN.isdisjoint(record) for record in records) or (
            records and {"timestamp", "instructions"} <= records[0].keys()
        ):
            return 0.0, "it has members of another format"
        for record in records:
            for messages in _lists(record) or [records]:
                if any(_has_calls(message) for message in messages):
                    return 0.85, "its messages have tool_calls, or answers of the role tool"
                if any(text(message, "type") in _ITEMS for message in messages):
                    return 0.8, "it has items of Responses: calls of functions and their outputs"
            if any(
                text(each, "object") == "response" and isinstance(each.get("output"), list)
                for each in objects(_answers(record))
            ):
                return 0.85, "it is a response of OpenAI with its output"
            if any(map(_has_choices, _answers(record))):
                return 0.8, "it has choices of a chat completion"
        return 0.0, "no record has messages with tool_calls, or items of Responses"

    def read(self, lines: RunFile, options: ReadingOptions) -> Iterator[Converted | Unreadable]:
        run: _Run | None = None
        for record in read_records(lines, options.bounds):
            if isinstance(record, Unreadable):
                if run is not None and run.is_whole:
                    yield run.converted(lines.name, run.after)
                    run = None
                yield resumable(record, None if run else record.after)
                continue
            value = record.value
            if not _is_whole(value):
                if run is None or run.is_whole:
                    if run is not None:
                        yield run.converted(lines.name, run.after)
                    run = _Run(record, options, is_whole=False)
                run.add_message(record)
                if run.size > options.bounds.run_bytes:
                    yield Unreadable(record.place, "too_large", f"The run is too large at message {record.place}.")
                    return
            elif run is not None and run.is_whole and run.goes_on_with(value):
                run.add_record(record)
            else:
                if run is not None:
                    yield run.converted(lines.name, run.after)
                run = _Run(record, options, is_whole=True)
                run.add_record(record)
        if run is not None:
            yield run.converted(lines.name, run.after if run.is_whole else None)


def _is_whole(value: dict[str, JSON]) -> bool:
    return any(
        bool(_lists(each)) or text(each, "object") in ("response", "chat.completion") or "choices" in each
        for each in objects(_answers(value))
    )


def _has_calls(message: dict[str, JSON]) -> bool:
    calls = message.get("tool_calls")
    return (isinstance(calls, list) and bool(calls)) or "tool_call_id" in message or text(message, "role") == "tool"


def _answers(record: dict[str, JSON]) -> list[JSON]:
    """Where an answer of the model may stand: in the record, or as a log or a batch has it."""
    response = record.get("response")
    body = response.get("body") if isinstance(response, dict) else None
    return [record, response, record.get("body"), body]


def _has_choices(value: JSON) -> bool:
    choices = value.get("choices") if isinstance(value, dict) else None
    return any(isinstance(choice.get("message"), dict) for choice in objects(choices))


def _lists(record: dict[str, JSON]) -> list[list[dict[str, JSON]]]:
    """The lists of messages or items that a record has, in their order."""
    lists = []
    for key in ("request", "body", "input", "messages", "response", "output", "conversations"):
        value = record.get(key)
        if isinstance(value, list) and any(_is_message(entry) for entry in objects(value)):
            lists.append(objects(value))
        elif key in ("request", "body", "response") and isinstance(value, dict):
            lists += _lists(value)
    return lists


def _is_message(value: dict[str, JSON]) -> bool:
    kind = text(value, "type")
    return text(value, "role") in _ROLES or kind in _ITEMS or kind in ("message", "reasoning") or "from" in value


class _Run:
    """One run as far as it was read. `is_whole`: its records are runs, or responses of one."""

    def __init__(self, first: Record, options: ReadingOptions, *, is_whole: bool) -> None:
        self.is_whole = is_whole
        self.size = 0
        self.after: ReadPosition | None = None
        self._place = first.place
        self._last_response = ""
        self._report = ConversionReport()
        self._facts = read_facts(first.value if is_whole else {}, options).run()
        self._messages = ChatMessages(self._report, options, task=self._facts.task)

    def goes_on_with(self, value: dict[str, JSON]) -> bool:
        before = name(value, "previous_response_id")
        return bool(before) and before == self._last_response

    def add_message(self, record: Record) -> None:
        self._report.repairs.update(record.repairs)
        self.size += record.size
        self._messages.add(record.value)

    def add_record(self, record: Record) -> None:
        self._report.repairs.update(record.repairs)
        self.after = record.after
        self._add(record.value)

    def _add(self, value: dict[str, JSON]) -> None:
        self._messages.end_message()
        self._last_response = name(value, "id") if text(value, "object") == "response" else self._last_response
        model = text(value, "model")
        for key in ("request", "body", "input", "messages", "conversations", "response", "output"):
            entries = value.get(key)
            if isinstance(entries, list):
                for entry in entries:
                    self._messages.add(entry, model=model)
            elif key == "input" and isinstance(entries, str):
                self._messages.add({"role": "user", "content": entries})
            elif key in ("request", "body", "response") and isinstance(entries, dict):
                self._add(entries)
        choices = objects(value.get("choices"))
        for choice in choices[:1]:
            self._messages.add(choice.get("message"), model=model)
        if choices or text(value, "object") == "response":
            self._messages.took(read_usage(value.get("usage")))
        if len(choices) > 1:
            self._report.dropped["choice that was not taken"] += len(choices) - 1

    def converted(self, filename: str, after: ReadPosition | None) -> Converted | Unreadable:
        read = self._messages.steps()
        place = self._place
        if not read.steps:
            sentence = f"Record {place} has no message of the agent (role assistant), so there is nothing to judge."
            return Unreadable(place, "no_steps", sentence, after)
        run = replace(
            self._facts,
            external_id=self._facts.external_id or ("" if self.is_whole else filename),
            task=self._messages.task,
            steps=read.steps,
            events=read.events,
            event_steps=read.event_steps,
            gaps=read.gaps,
            agent_model=self._facts.agent_model or read.agent_model,
            started_at=read.steps[0].at,
            unknown_events=tuple(self._messages.unknown),
        )
        return Converted(run, self._report, place, after)
