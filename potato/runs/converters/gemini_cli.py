"""The format `gemini_cli`: recorded chats of Gemini CLI, and conversations in the form of Gemini's interface.

Field notes
- A recorded chat is {sessionId, projectHash, startTime, lastUpdated, kind, messages}, as one document or, in newer
  versions, as lines: first all but the messages, then a message a line, {$set: {...}} with new facts, perhaps with
  messages, and {$rewindTo: ID}. A line with a known id is that message as it stands by then. Qwen Code wrote the same;
  what it writes now stands in `qwen_code`.
- A message is {id, timestamp, type: user | gemini | info | error | warning, content, displayContent}; of gemini also
  model, thoughts: [{subject, description}], toolCalls: [{id, name, args, status: success | error | cancelled, result:
  [{functionResponse: {id, response: {output | error}}}], resultDisplay, agentId}]. content is a text or parts.
- resultDisplay of an edit is {fileName, fileDiff, originalContent, newContent}: the whole file before and after.
- `$rewindTo` takes back a message and all behind it.
- An agent that this one started has a chat of its own, kind subagent, in a folder with the session's id beside it.
- What the program prints as stream-json stands in `gemini_stream`.
- A conversation is {contents: [{role: user | model, parts}]}, a list of such contents, or {history: [...]} as a
  checkpoint has it, where the first two are what the program says of its surroundings. What a function gave back
  answers the call with its id or, without ids, the next call of its name.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from potato.runs.converters.blocks import Answer, Content, joined
from potato.runs.converters.conversation import Conversation
from potato.runs.converters.fields import name, objects, text, text_or_none
from potato.runs.converters.gemini_stream import StreamedMessages, is_stream_line
from potato.runs.converters.moments import Moment, Moments
from potato.runs.converters.outline import detect_outline
from potato.runs.converters.qwen_code import as_message, is_qwen_line, is_system_line, left_lines
from potato.runs.converters.records import read_records
from potato.runs.converters.result_pictures import pictures_in, pictures_of_message
from potato.runs.converters.span_messages import ChatMessage, chat_messages, response_words
from potato.runs.converters.tool_effects import read_tool_effects
from potato.runs.converters.tool_files import CallEffects
from potato.runs.converters.usage import read_usage
from potato.runs.model import (
    JSON,
    AgentRun,
    ConversionReport,
    Converted,
    FileWrite,
    ReadingOptions,
    RunFile,
    Unreadable,
)
from potato.runs.run_files import in_words

_NOISE = ("info", "error", "warning", "about", "help", "stats", "quit", "compression")
_REFUSED = "User rejected tool use"
_SURROUNDINGS = (
    "This is the Gemini CLI.",
    "<session_context>",
    "This is the Qwen Code.",
    "Got it. Thanks for the context",
)
_BY_PROGRAM = re.compile(r"\s*<(session_context|system-reminder|state_snapshot)>")
_MOST_UNKNOWN_KEPT = 1000


class GeminiCli:
    """Recorded chats of Gemini CLI and of its kin."""

    name = "gemini_cli"
    label = "Gemini CLI chat"

    def recognises(self, head: bytes, filename: str) -> tuple[float, str]:
        for record in detect_outline(head, filename).records():
            if not isinstance(record, dict):
                continue
            if "projectHash" in record and "sessionId" in record:
                return 0.97, "it has the sessionId and the projectHash of a recorded chat of Gemini CLI"
            if is_stream_line(record):
                return 0.95, "its lines are what `gemini --output-format stream-json` prints"
            if is_qwen_line(record):
                return 0.97, "its lines are those of a chat of Qwen Code (uuid, sessionId, and a message with parts)"
            if any(_is_content(entry) for key in ("contents", "history") for entry in objects(record.get(key))):
                return 0.9, "it has contents with roles and parts, as Gemini's conversations have"
            if _is_content(record):
                return 0.9, "it has contents with roles and parts, as Gemini's conversations have"
        return 0.0, "no record is a recorded chat of Gemini CLI or has contents with parts"

    def read(self, lines: RunFile, options: ReadingOptions) -> Iterator[Converted | Unreadable]:
        chat = _Chat()
        contents: list[dict[str, JSON]] = []
        report = ConversionReport()
        place = size = 0
        for record in read_records(lines, options.bounds):
            if isinstance(record, Unreadable):
                yield record
                continue
            value = record.value
            alone = next((value[key] for key in ("contents", "history") if isinstance(value.get(key), list)), None)
            if alone is not None and "messages" not in value:
                yield _converted_contents(objects(alone), value, record.place, ConversionReport(), options)
                continue
            place = place or record.place
            size += record.size
            report.repairs.update(record.repairs)
            if size > options.bounds.run_bytes:
                continue
            if _is_content(value):
                contents.append(value)
            elif isinstance(value.get("messages"), list) and chat.messages and "sessionId" in value:
                # Another chat in a list of them.
                yield _converted_chat(chat, lines, place, report, options)
                chat, report, place = _Chat(), ConversionReport(), record.place
                chat.take(value, report)
            else:
                chat.take(value, report)
        if not place:
            return
        if size > options.bounds.run_bytes:
            bound = in_words(options.bounds.run_bytes)
            yield Unreadable(place, "too_large", f"The chat {lines.name} is over {bound}, the bound of one run.")
        elif contents and not chat.messages:
            yield _converted_contents(contents, {}, place, report, options)
        else:
            yield _converted_chat(chat, lines, place, report, options)


def _is_content(value: dict[str, JSON]) -> bool:
    parts = objects(value.get("parts"))
    marks = {"text", "functionCall", "functionResponse", "inlineData", "thought"}
    return text(value, "role") in ("user", "model", "function") and any(
        "type" not in part and marks & part.keys() for part in parts
    )


@dataclass(slots=True)
class _Chat:
    """A recorded chat as its lines leave it: messages by their ids, in the order in which they came."""

    facts: dict[str, JSON] = field(default_factory=dict)
    messages: dict[str, dict[str, JSON]] = field(default_factory=dict)
    left: set[str] = field(default_factory=set)
    parents: dict[str, str] = field(default_factory=dict)
    streamed: StreamedMessages | None = None
    unknown: list[JSON] = field(default_factory=list)

    def take(self, value: dict[str, JSON], report: ConversionReport) -> None:
        if self.streamed is None and is_stream_line(value):
            self.streamed = StreamedMessages()
        if self.streamed is not None and self.streamed.take(value, report):
            return
        if is_qwen_line(value) or is_system_line(value):
            self._take_line(value, report)
        elif "$rewindTo" in value:
            self._rewind(name(value, "$rewindTo"), report)
        elif isinstance(value.get("$set"), dict):
            self._set(value["$set"])
        elif "sessionId" in value and "type" not in value:
            self._set(value)
        elif text(value, "type") and ("content" in value or "toolCalls" in value or "id" in value):
            self._add(value)
        else:
            report.unknown["line that is no message"] += 1
            if len(self.unknown) < _MOST_UNKNOWN_KEPT:
                self.unknown.append(value)

    def _take_line(self, value: dict[str, JSON], report: ConversionReport) -> None:
        """A line of Qwen Code, whose chat has no facts of its own."""
        self.parents[name(value, "uuid")] = name(value, "parentUuid")
        if not self.facts:
            self.facts = {"sessionId": name(value, "sessionId"), "startTime": text(value, "timestamp")}
            self.facts["directories"] = [text(value, "cwd")]
        if (message := as_message(value, report)) is not None:
            self._add(message)

    def finish(self, report: ConversionReport) -> None:
        """Take what was streamed, and leave what is on no way to the last line."""
        if self.streamed is not None:
            self._set({**self.streamed.facts, "messages": self.streamed.messages})
        self.left |= left_lines(self.parents) & self.messages.keys()
        if self.parents and self.left:
            report.dropped["message that was taken back"] += len(self.left)

    def _set(self, facts: dict[str, JSON]) -> None:
        for message in objects(facts.get("messages")):
            self._add(message)
        self.facts.update({key: value for key, value in facts.items() if key != "messages"})

    def _add(self, message: dict[str, JSON]) -> None:
        key = name(message, "id") or f"message {len(self.messages) + 1}"
        while key in self.left:
            key = f"{key}, again"
        self.messages[key] = message

    def _rewind(self, key: str, report: ConversionReport) -> None:
        keys = list(self.messages)
        if key not in self.messages or key in self.left:
            report.repairs["rewind to a message that is not there"] += 1
            return
        later = set(keys[keys.index(key) :]) - self.left
        self.left |= later
        report.dropped["message that was taken back"] += len(later)


class _Session:
    """Puts the messages of a chat into a conversation."""

    def __init__(self, chat: _Chat, report: ConversionReport, moments: Moments, moment: "Moment | None" = None) -> None:
        self._chat = chat
        self._report = report
        self._recorded: dict[str, FileWrite] = {}
        self.agents: dict[str, str] = {}
        directories = chat.facts.get("directories")
        known = [folder for folder in directories if isinstance(folder, str)] if isinstance(directories, list) else []
        self.folder = known[0] if known else ""
        next_moment = moments.next if moment is None else lambda at: moments.among(at, moment)
        self.conversation = Conversation(report, "", next_moment, read_effects=self._effects)
        self._left = Conversation(ConversionReport(), "", next_moment, is_left_behind=True, read_effects=self._effects)

    def convert(self) -> None:
        if self._chat.left:
            self.conversation.left_behind(self._left)
        for key, message in self._chat.messages.items():
            if key not in self._chat.left:
                self._take(message, key)
            elif text(message, "type") == "gemini":
                self._say(message, key, self._left)

    def _take(self, message: dict[str, JSON], key: str) -> None:
        kind = text(message, "type")
        if kind == "user":
            shown = message.get("displayContent") or message.get("content")
            parsed = chat_messages([{"role": "user", "parts": _parts(shown)}], "user", self._report.unknown)
            words = joined([words for each in parsed for words in each.texts])
            if _BY_PROGRAM.match(words):
                self._report.dropped["context that the program wrote"] += 1
            elif words:
                self.conversation.add_user_message(words, pictures_of_message(_parts(shown)))
            for answer in (answer for each in parsed for answer in each.answers):
                if answer.call_id in self.conversation.calls:
                    self._answer_recorded(answer, message)
        elif kind in ("gemini", "model", "assistant", "qwen"):
            self._say(message, key, self.conversation)
        elif kind in _NOISE:
            self._report.dropped[f"{kind} message"] += 1
        else:
            self._report.unknown[f"message of the type {kind[:40]}"] += 1
            if len(self._chat.unknown) < _MOST_UNKNOWN_KEPT:
                self._chat.unknown.append(message)

    def _answer_recorded(self, answer: Answer, message: dict[str, JSON]) -> None:
        """An answer in a message of its own, with what the program showed of it."""
        result = message.get("toolCallResult")
        refused = text(result, "status") == "cancelled"
        failed = (answer.is_error or text(result, "status") == "error") and not refused
        display = result.get("resultDisplay") if isinstance(result, dict) else None
        write = _recorded(self.conversation.calls[answer.call_id].arguments, display)
        if write is not None and not refused and not failed:
            self._recorded[answer.call_id] = write
        given = replace(answer, is_error=failed)
        self.conversation.answer(given, _REFUSED if refused else None, text(message, "timestamp"))

    def _say(self, message: dict[str, JSON], key: str, conversation: Conversation) -> None:
        at = text(message, "timestamp")
        (parsed,) = chat_messages(
            [{"role": "model", "parts": _parts(message.get("content"))}], "assistant", self._report.unknown
        )
        thoughts = [_thought(thought) for thought in objects(message.get("thoughts"))]
        content = Content(parsed.texts, [*thoughts, *parsed.thoughts])
        calls = objects(message.get("toolCalls"))
        if not calls:
            content.calls = [
                (call_id or f"{key}.{at}", tool, args) for at, (call_id, tool, args) in enumerate(parsed.calls)
            ]
        keys = []
        for number, call in enumerate(calls, 1):
            call_id = name(call, "id") or f"{key}.{number}"
            keys.append(call_id)
            content.calls.append((call_id, text(call, "name") or "(no name)", call.get("args")))
            if agent := name(call, "agentId"):
                self.agents[agent] = call_id
        usage = read_usage(message.get("tokens"))
        conversation.add_agent_message(content, message_id=key, at=at, model=text(message, "model"), usage=usage)
        for call, call_id in zip(calls, keys, strict=True):
            self._answer(call, call_id, conversation)

    def _answer(self, call: dict[str, JSON], call_id: str, conversation: Conversation) -> None:
        status, display = text(call, "status").lower(), call.get("resultDisplay")
        if status not in ("success", "error", "cancelled") and call.get("result") is None:
            return
        results = call.get("result")
        entries = results if isinstance(results, list) else [results]
        words, failed = [], status == "error"
        for entry in entries:
            response = entry.get("functionResponse") if isinstance(entry, dict) else None
            if isinstance(response, dict):
                own, own_failed = response_words(response.get("response"))
                failed = failed or own_failed
                words.append(own)
            elif entry is not None:
                (part,) = chat_messages([{"role": "user", "parts": [entry]}], "user", self._report.unknown)
                words += part.texts
        answer = joined(words) or (display if isinstance(display, str) else "")
        refused = status == "cancelled"
        at = text(call, "timestamp")
        if not refused and not failed and (write := _recorded(call.get("args"), display)) is not None:
            self._recorded[call_id] = write
        given = Answer(call_id, answer, failed and not refused, pictures_in(entries))
        conversation.answer(given, _REFUSED if refused else None, at)

    def _effects(
        self, tool: str, arguments: JSON, outcome: JSON, answer: Answer, report: ConversionReport
    ) -> CallEffects:
        if answer.call_id in self._recorded:
            return CallEffects((self._recorded[answer.call_id],))
        return read_tool_effects(tool, arguments, None, answer, report, folder=self.folder)


def _parts(content: JSON) -> list[JSON]:
    if isinstance(content, str):
        return [{"text": content}]
    return content if isinstance(content, list) else [] if content is None else [content]


def _thought(thought: dict[str, JSON]) -> str:
    return "\n".join(filter(None, (text(thought, "subject"), text(thought, "description", "text"))))


def _recorded(arguments: JSON, display: JSON) -> FileWrite | None:
    """The file before and after an edit, as the program showed it to the person."""
    new, old = text_or_none(display, "newContent"), text_or_none(display, "originalContent")
    path = text(arguments, "file_path", "absolute_path", "path") or text(display, "filePath", "fileName")
    if new is None or not path or not isinstance(display, dict):
        return None
    created = display.get("isNewFile") is True or old is None
    return FileWrite(path, new, original=None if created else old, created=True if created else None)


def _converted_chat(
    chat: _Chat, source: RunFile, place: int, report: ConversionReport, options: ReadingOptions
) -> Converted | Unreadable:
    chat.finish(report)
    moments = Moments()
    session = _Session(chat, report, moments)
    session.convert()
    _attach_agents(session, source, report, moments, options)
    steps = session.conversation.as_steps(split_tool_calls=options.split_tool_calls)
    if not steps.steps:
        sentence = f"The chat at {place} of {source.name} has no message of the agent, so there is nothing to judge."
        return Unreadable(place, "no_steps", sentence)
    run = AgentRun(
        external_id=name(chat.facts, "sessionId"),
        task=session.conversation.task,
        steps=steps.steps,
        events=steps.events,
        event_steps=steps.event_steps,
        folder=session.folder,
        agent_model=steps.agent_model,
        started_at=text(chat.facts, "startTime"),
        unknown_events=tuple(chat.unknown),
        gaps=steps.gaps,
        agent="Qwen Code" if chat.parents else "Gemini CLI",
    )
    return Converted(run, report, place)


def _attach_agents(
    session: _Session, source: RunFile, report: ConversionReport, moments: Moments, options: ReadingOptions
) -> None:
    """Fold the chats of agents, which lie beside, under the calls that started them."""
    size = 0
    for member in source.companions():
        beside = source.companion(member)
        if beside is None:
            continue
        chat = _Chat()
        for record in read_records(beside, options.bounds):
            if isinstance(record, Unreadable):
                report.repairs["line of a sub-agent that cannot be read"] += 1
                continue
            size += record.size
            if size <= options.bounds.run_bytes:
                chat.take(record.value, report)
        agent_id = name(chat.facts, "sessionId")
        call_id = session.agents.get(agent_id) or session.agents.get(member.rpartition("/")[2].partition(".")[0], "")
        call = session.conversation.calls.get(call_id)
        before = call.answered if call is not None and call.answer is not None else (1 << 60, "", 0)
        child = _Session(chat, report, moments, before)
        child.convert()
        if child.conversation.has_messages():
            began = text(chat.facts, "startTime")
            agent = call.name if call is not None else "agent"
            session.conversation.attach(agent, call_id if call is not None else "", child.conversation, began)


def _converted_contents(
    contents: list[dict[str, JSON]],
    value: dict[str, JSON],
    place: int,
    report: ConversionReport,
    options: ReadingOptions,
) -> Converted | Unreadable:
    """The run of a conversation in the form of Gemini's interface."""

    def effects(tool: str, arguments: JSON, outcome: JSON, answer: Answer, of: ConversionReport) -> CallEffects:
        return read_tool_effects(tool, arguments, None, answer, of)

    conversation = Conversation(report, "", read_effects=effects)
    model = text(value, "model", "modelVersion")
    began = False
    for number, message in enumerate(chat_messages(contents, "user", report.unknown), 1):
        parsed = joined(message.texts)
        if not began and parsed.startswith(_SURROUNDINGS):
            report.dropped["context that the program wrote"] += 1
            continue
        began = began or message.role == "assistant"
        if message.role == "assistant":
            calls = [
                (call_id or f"{number}.{at}", tool, args) for at, (call_id, tool, args) in enumerate(message.calls)
            ]
            content = Content(message.texts, message.thoughts, calls)
            conversation.add_agent_message(content, message_id=f"content {number}", at="", model=model)
        elif message.role == "system":
            report.dropped["system message"] += 1
        else:
            _answer_all(message, conversation)
            if parsed:
                conversation.add_user_message(parsed)
    steps = conversation.as_steps(split_tool_calls=options.split_tool_calls)
    if not steps.steps:
        sentence = f"The conversation at {place} has no content of the model, so there is nothing to judge."
        return Unreadable(place, "no_steps", sentence)
    run = AgentRun(
        external_id=text(value, "sessionId", "id"),
        task=conversation.task,
        steps=steps.steps,
        events=steps.events,
        event_steps=steps.event_steps,
        agent_model=steps.agent_model,
        gaps=steps.gaps,
    )
    return Converted(run, report, place)


def _answer_all(message: ChatMessage, conversation: Conversation) -> None:
    for answer in message.answers:
        call_id = answer.call_id
        if call_id.startswith("name "):
            named = call_id.removeprefix("name ")
            waiting = (call.id for call in conversation.calls.values() if call.answer is None and call.name == named)
            call_id = next(waiting, call_id)
        conversation.answer(replace(answer, call_id=call_id))
