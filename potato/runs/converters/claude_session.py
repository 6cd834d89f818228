"""Reads one session of Claude Code: its steps, what people said between them, and what happened to files.

Field notes
- Lines {type, uuid, parentUuid, sessionId, cwd, timestamp, isSidechain, message, toolUseResult}. Types user and
  assistant are the conversation; other known types are noise (NOISE below); a system line says its kind in `subtype`.
  Which lines are live stands in `claude_tree`.
- One message of the agent comes in several lines with one `message.id`, a line for each block.
- The lines of agents that work for this one stand in `claude_agents`: no steps of this run.
- isMeta, isCompactSummary: written by the program in the user's name. isApiErrorMessage and the model "<synthetic>":
  written by it in the agent's name.
- What people type while the agent works is an attachment {attachment: {type: queued_command, prompt, commandMode,
  origin}} or stands in the queue alone, as `claude_queue` says. `prompt` may be a list of blocks.
- A file that changed beside the agent's own edits is an attachment {type: edited_text_file, filename, snippet}; before,
  it was a reminder in the person's name, "Note: PATH was modified, either by the user or by a linter".
- A plan that was accepted with "clear context" begins a root whose line has planContent.
- stream-json (`--output-format stream-json`) has session_id, no links and mostly no prompt; its first line, system
  init, names cwd.
"""

import re
from collections import Counter
from dataclasses import replace

from potato.runs.converters.blocks import Content, read_content
from potato.runs.converters.claude_agents import (
    LEFT_OUT_OF_ANOTHER,
    LEFT_OUT_WITHOUT_ID,
    Companions,
    SideLines,
    join_agents,
)
from potato.runs.converters.claude_queue import Operation, delivered_alone
from potato.runs.converters.claude_tree import Line, Live, live_lines
from potato.runs.converters.conversation import Conversation, ConversationSteps
from potato.runs.converters.fields import name, objects, text
from potato.runs.converters.moments import Moments
from potato.runs.converters.prompts import PersonMessage, is_by_program, person_message
from potato.runs.converters.records import Record
from potato.runs.converters.result_pictures import pictures_of_message
from potato.runs.converters.usage import read_usage
from potato.runs.model import JSON, AgentRun, ConversionReport, Converted, ReadingOptions, Screenshot, Unreadable
from potato.runs.run_files import in_words

NOISE = frozenset(
    {
        "progress", "file-history-snapshot", "file-history-delta", "queue-operation", "system", "summary",
        "last-prompt", "permission-mode", "custom-title", "ai-title", "agent-name", "agent-color", "agent-setting",
        "tag", "mode", "pr-link", "worktree-state", "attachment", "result", "stream_event", "rate_limit_event",
        "tool_progress", "auth_status", "content-replacement", "cost-state", "bridge-session", "fork-context-ref",
        "task-summary", "attribution-snapshot", "speculation-accept", "marble-origami-commit",
        "marble-origami-snapshot",
    }
)  # fmt: skip
MOST_UNKNOWN_KEPT = 1000
_MOST_SIDES = 2_000
_SYNTHETIC = "<synthetic>"
_MODIFIED = re.compile(
    r"\s*<system-reminder>\s*Note: (\S[^\n]{0,1000}?) was modified, either by the user or by a linter"
)
_PLAN = "Implement the following plan:"


_AGENT = "Claude Code"


class Session:
    """Takes the lines of one session in the file's order and makes a run of them."""

    def __init__(
        self,
        session_id: str,
        place: int,
        options: ReadingOptions,
        task: str = "",
        companions: Companions | None = None,
    ) -> None:
        self.session_id = session_id
        self._task = task
        self.place = place
        self._options = options
        self._companions = companions
        self._report = ConversionReport()
        self._lines: list[Line] = []
        self._by_key: dict[str, Line] = {}
        self._sides: dict[str, SideLines] = {}
        self._side_by_line: dict[str, str] = {}
        self._side_of_call: dict[str, str] = {}
        self._side_order: list[tuple[int, SideLines, dict[str, JSON]]] = []
        self._queue: list[Operation] = []
        self._outside: list[tuple[int, str, dict[str, JSON]]] = []
        self._unknown: list[JSON] = []
        self._folder = ""
        self._started_at = ""
        self._bytes = 0
        self._count = 0

    def add(self, record: Record) -> None:
        """One line more. Past a bound nothing more is kept, and `finished` says so."""
        self._count += 1
        self._bytes += record.size
        self._report.repairs.update(record.repairs)
        if self._excess():
            self._lines.clear()
            self._by_key.clear()
            self._side_order.clear()
            return
        event = record.value
        kind = text(event, "type")
        self._folder = self._folder or text(event, "cwd")
        if kind in {"user", "assistant"}:
            self._add_message(event, kind)
        elif kind in NOISE:
            self._add_noise(event, kind)
        else:
            self._keep_unknown(event, kind or "line without a type")
            self._link(event, None)

    def finished(self) -> Converted | Unreadable:
        """The run, or why there is none."""
        if excess := self._excess():
            return self._unreadable("too_large", excess)
        if self._companions is not None:
            self._companions.size = 0
        moments = Moments()
        main = Conversation(self._report, self._task, moments.next)
        steering = self._convert_main(main, moments)
        sides = self._with_agents(moments, main)
        bound = self._options.bounds.run_bytes
        if self._companions is not None and self._bytes + self._companions.size > bound:
            return self._unreadable(
                "too_large", f"is with its sub-agents over {in_words(bound)}, the bound of one run."
            )
        join_agents(main, sides, self._report)
        steps_and_events = main.as_steps(split_tool_calls=self._options.split_tool_calls)
        if not steps_and_events.steps:
            return self._unreadable("no_steps", self._why_no_steps(sides))
        return Converted(self._run(steps_and_events, main.task or steering), self._report, self.place)

    def _run(self, steps_and_events: ConversationSteps, task: str) -> AgentRun:
        return AgentRun(
            external_id=self.session_id,
            task=task,
            steps=steps_and_events.steps,
            events=steps_and_events.events,
            event_steps=steps_and_events.event_steps,
            folder=self._folder,
            agent_model=steps_and_events.agent_model,
            started_at=self._started_at,
            unknown_events=tuple(self._unknown),
            gaps=(*steps_and_events.gaps, *self._agents_left_out()),
            agent=_AGENT,
        )

    def _agents_left_out(self) -> list[str]:
        repairs = self._report.repairs
        if not (number := repairs[LEFT_OUT_OF_ANOTHER] + repairs[LEFT_OUT_WITHOUT_ID]):
            return []
        files = "A transcript of a sub-agent" if number == 1 else f"{number} transcripts of sub-agents"
        verb = "is" if number == 1 else "are"
        return [
            f"{files} in the session's folder {verb} not known to be this session's and not shown. Import a "
            "transcript together with the session that its lines name."
        ]

    def _why_no_steps(self, sides: list[SideLines]) -> str:
        if not any(line.event is not None and line.event.get("type") == "assistant" for line in self._lines):
            if sides:
                return (
                    "holds what a sub-agent did and nothing of the agent that started it. Import the session's own "
                    "file together with the folder of its name."
                )
            return "has no message of the agent, so there is nothing to judge."
        return "has no message of the agent but such that the program wrote in its name, so there is nothing to judge."

    def _excess(self) -> str:
        bounds = self._options.bounds
        if self._bytes > bounds.run_bytes:
            return f"is over {in_words(bounds.run_bytes)}, the bound of one run."
        if self._count > bounds.events:
            return f"has over {bounds.events:,} lines, the bound of one run."
        return ""

    def _unreadable(self, code: str, why: str) -> Unreadable:
        named = f"Session {self.session_id}" if self.session_id else "The session without an id"
        return Unreadable(self.place, code, f"{named}, from line {self.place} on, {why}")

    # Taking lines.

    def _add_message(self, event: dict[str, JSON], kind: str) -> None:
        message = event.get("message")
        if not isinstance(message, dict) or "content" not in message:
            self._keep_unknown(event, f"{kind} line without content")
            self._link(event, None)
            return
        self._started_at = self._started_at or text(event, "timestamp")
        self._link(event, event)

    def _add_noise(self, event: dict[str, JSON], kind: str) -> None:
        data = event.get("data")
        if kind == "progress" and isinstance(data, dict) and data.get("type") == "agent_progress":
            inner = data.get("message")
            if isinstance(inner, dict) and isinstance(inner.get("message"), dict):
                # A line of its own beside the tree: the progress line stays a mere link.
                call_id = name(event, "parentToolUseID")
                self._add_side(inner, call_id or name(data, "agentId"), call_id, name(data, "agentId"))
                self._link(event, None)
                return
        attachment = event.get("attachment")
        if kind == "attachment" and text(attachment, "type") == "queued_command":
            self._link(event, event)
            return
        if path := _changed_outside(event):
            self._outside.append((self._count, path, event))
        if kind == "queue-operation":
            words = "\n".join(read_content(event.get("content"), self._report.unknown).texts)
            self._queue.append(Operation(self._count, text(event, "operation"), words, text(event, "reason")))
        subtype = text(event, "subtype")
        if subtype != "compact_boundary":
            self._report.dropped[f"{kind} {subtype}" if kind == "system" and subtype else kind] += 1
        self._link(event, None)

    def _keep_unknown(self, event: JSON, kind: str) -> None:
        self._report.unknown[kind] += 1
        if len(self._unknown) < MOST_UNKNOWN_KEPT:
            self._unknown.append(event)

    def _link(self, event: dict[str, JSON], kept: dict[str, JSON] | None) -> None:
        uuid = name(event, "uuid")
        if kept is not None and uuid in self._by_key and _is_same_message(self._by_key[uuid].event, kept):
            self._report.dropped["line that stands twice"] += 1
            return
        is_boundary = event.get("type") == "system" and text(event, "subtype") == "compact_boundary"
        if kept is None and not uuid and not is_boundary:
            return
        key = uuid if uuid and uuid not in self._by_key else f"line {self._count}"
        call_id = name(event, "parent_tool_use_id")
        if event.get("isSidechain") or call_id:
            if kept is not None:
                agent_id = name(event, "agentId")
                parent = self._side_by_line.get(name(event, "parentUuid"), key)
                side = call_id or agent_id or self._side_that_called(kept) or parent
                self._side_by_line[key] = side
                self._add_side(kept, side, call_id, agent_id)
            else:
                self._side_by_line[key] = self._side_by_line.get(name(event, "parentUuid"), key)
            return
        line = Line(
            key,
            name(event, "parentUuid"),
            kept,
            name(event.get("message"), "id"),
            is_agent=kept is not None and kept.get("type") == "assistant" and not _is_by_program(kept),
            is_by_person=kept is not None and self._is_by_person(kept),
            is_boundary=is_boundary,
            restarts=kept is not None or _hook_name(event).endswith(":clear"),
            order=self._count,
        )
        self._lines.append(line)
        self._by_key[key] = line

    def _add_side(self, event: dict[str, JSON], key: str, call_id: str, agent_id: str) -> None:
        if key not in self._sides and len(self._sides) >= _MOST_SIDES:
            key, call_id, agent_id = "others", "", ""
        side = self._sides.setdefault(key, SideLines(agent_id=agent_id, call_id=call_id))
        side.events.append(event)
        self._side_order.append((self._count, side, event))
        for block in objects(event["message"].get("content")):
            if text(block, "type") == "tool_use":
                self._side_of_call[name(block, "id")] = key

    def _side_that_called(self, event: dict[str, JSON]) -> str:
        """Whose call a result answers, whatever line it is linked to; "" for a line that answers none."""
        called = (name(block, "tool_use_id") for block in objects(event["message"].get("content")))
        return next((self._side_of_call[call_id] for call_id in called if call_id in self._side_of_call), "")

    def _is_by_person(self, event: dict[str, JSON]) -> bool:
        """Whether a person says something in the line; that they stopped the agent begins no other branch."""
        if event.get("type") != "user" or event.get("isMeta") or event.get("isCompactSummary") or is_by_program(event):
            return False
        content = event["message"].get("content")
        blocks = content if isinstance(content, list) else [content]
        if any(text(block, "type").endswith("tool_result") for block in blocks):
            return False
        ignored = ConversionReport()
        person = person_message(read_content(content, ignored.unknown).texts, ignored.dropped)
        return bool(person.words or person.steering)

    # Telling them.

    def _convert_main(self, main: Conversation, moments: Moments) -> str:
        """All lines in their order. Answers the first command to the program that may stand for a task."""
        live = live_lines(self._lines, self._report.repairs) if self._lines else Live(set())
        branches: dict[int, Conversation] = {}
        alone = {operation.order: operation for operation in delivered_alone(self._queue, self._spoken())}
        self._report.dropped -= Counter({"queue-operation": len(alone)})
        entries: list[tuple[int, Line | SideLines | Operation | str, dict[str, JSON] | None]] = [
            *((line.order, line, line.event) for line in self._lines),
            *self._side_order,
            *((order, operation, None) for order, operation in alone.items()),
            *self._outside,
        ]
        steering = ""
        restarts = False
        for _, entry, event in sorted(entries, key=lambda item: item[0]):
            if isinstance(entry, SideLines):
                self._convert_side(entry, event or {}, moments)
            elif isinstance(entry, str):
                main.changed_outside(entry, text(event, "timestamp"))
            elif isinstance(entry, Operation):
                self._add_person_message(main, person_message([entry.words], self._report.dropped), "")
            elif entry.key not in live.keys:
                if event is not None:
                    self._convert_left(live.left[entry.key], event, entry, branches, main, moments)
            else:
                restarts |= entry.key in live.restarts
                if entry.is_boundary:
                    main.divide("compacted")
                    restarts = False
                if event is None:
                    continue
                if restarts:
                    main.divide("plan_accepted" if _is_plan(event) else "restarted")
                    restarts = False
                person = self._convert_line(event, entry.message_id or entry.key, main)
                steering = steering or person.steering
        return steering

    def _spoken(self) -> list[tuple[int, str]]:
        """The words of lines that a person may have queued before."""
        ignored = ConversionReport()
        return [
            (line.order, " ".join(read_content(content, ignored.unknown).texts))
            for line in self._lines
            if line.event is not None
            and (content := _queued(line.event) if line.event.get("type") == "attachment" else _user_words(line.event))
        ]

    def _convert_left(
        self,
        branch: int,
        event: dict[str, JSON],
        line: Line,
        branches: dict[int, Conversation],
        main: Conversation,
        moments: Moments,
    ) -> None:
        """A line of a branch that the person left: counted, no step; what it did to files happened."""
        self._report.dropped["message of an abandoned branch"] += 1
        if branch not in branches:
            self._report.dropped["abandoned branch"] += 1
            branches[branch] = Conversation(ConversionReport(), "", moments.next, is_left_behind=True)
            main.left_behind(branches[branch])
        if event.get("type") == "assistant":
            content = self._content(event)
            branches[branch].add_agent_message(content, message_id=line.message_id or line.key, at="", model="")
        elif event.get("type") == "user":
            self._answer(event, self._content(event), branches[branch])

    def _convert_side(self, side: SideLines, event: dict[str, JSON], moments: Moments) -> None:
        if side.conversation is None:
            side.conversation = Conversation(self._report, "", moments.next)
        self._convert_agent(side, event)

    def _convert_agent(self, side: SideLines, event: dict[str, JSON]) -> None:
        conversation = side.conversation
        assert conversation is not None  # noqa: S101
        side.kind = side.kind or text(event, "agentName", "attributionAgent")
        if text(event, "subtype") == "compact_boundary":
            conversation.divide("compacted")
        if path := _changed_outside(event):
            conversation.changed_outside(path, text(event, "timestamp"))
        if isinstance(event.get("message"), dict):
            key = name(event["message"], "id") or name(event, "uuid") or f"message {len(side.events)}"
            self._convert_line(event, key, conversation)
        side.task = conversation.task

    def _with_agents(self, moments: Moments, main: Conversation) -> list[SideLines]:
        """All agents that worked for this one: those in the session's own lines, and those in files beside."""
        beside = list(self._companions.session_agents(self.session_id, self._report)) if self._companions else []
        known = {side.agent_id for side in beside} - {""}
        inline = [side for side in self._sides.values() if side.agent_id not in known]
        for side in self._sides.values():
            if side.agent_id in known:
                self._report.dropped["line of a sub-agent that has its own file"] += len(side.events)
        for side in beside:
            call = main.calls.get(side.call_id)
            before = call.answered if call is not None and call.answer is not None else None
            side.conversation = Conversation(
                self._report,
                "",
                lambda at, before=before: moments.among(at, before),  # type: ignore[misc]
            )
            seen: set[str] = set()
            for event in side.events:
                uuid = name(event, "uuid")
                if uuid and uuid in seen:
                    self._report.dropped["line that stands twice"] += 1
                    continue
                seen.add(uuid)
                self._convert_agent(side, event)
        return [*inline, *beside]

    def _convert_line(self, event: dict[str, JSON], message_id: str, conversation: Conversation) -> PersonMessage:
        """One live line of a conversation. Answers what a person said in it."""
        kind = text(event, "type")
        if kind == "attachment":
            if _queued(event) is None:
                self._report.dropped["message of a program in the queue"] += 1
                return PersonMessage()
            content = read_content(_queued(event), self._report.unknown)
            person = person_message(content.texts, self._report.dropped)
            pictures = pictures_of_message(_queued(event))
            return self._add_person_message(conversation, person, text(event, "timestamp"), pictures)
        content = self._content(event)
        if kind == "assistant":
            self._convert_message(event, content, message_id, conversation)
            return PersonMessage()
        self._answer(event, content, conversation)
        for match in filter(None, map(_MODIFIED.match, content.texts)):
            conversation.changed_outside(match[1], text(event, "timestamp"))
        if event.get("isCompactSummary"):
            self._report.dropped["compact summary"] += 1
            conversation.divide("compacted")
        elif event.get("isMeta"):
            self._report.dropped["meta message"] += 1
        elif program := is_by_program(event):
            if any(words.strip() for words in content.texts):
                self._report.dropped[f"message of a program: {program[:60]}"] += 1
        else:
            person = person_message(content.texts, self._report.dropped)
            pictures = pictures_of_message(_message(event).get("content"))
            return self._add_person_message(conversation, person, text(event, "timestamp"), pictures)
        return PersonMessage()

    def _convert_message(
        self, event: dict[str, JSON], content: Content, message_id: str, conversation: Conversation
    ) -> None:
        if why := _is_by_program(event):
            self._report.dropped[why] += 1
        else:
            at, model = text(event, "timestamp"), text(event["message"], "model")
            usage = read_usage(_message(event).get("usage"), excludes_cache=True)
            conversation.add_agent_message(content, message_id=message_id, at=at, model=model, usage=usage)

    def _add_person_message(
        self, conversation: Conversation, person: PersonMessage, at: str, pictures: tuple[Screenshot, ...] = ()
    ) -> PersonMessage:
        if person.interrupts and not conversation.last_was_refused():
            conversation.divide("interrupted")
        if person.words:
            conversation.add_user_message(person.words, pictures)
            if person.words.startswith("! "):
                conversation.user_runs(person.words.removeprefix("! "), at)
        return person

    def _content(self, event: dict[str, JSON]) -> Content:
        message = event["message"]
        return read_content(message.get("content"), self._report.unknown)

    def _answer(self, event: dict[str, JSON], content: Content, conversation: Conversation) -> None:
        outcome = event.get("toolUseResult", event.get("tool_use_result")) if len(content.answers) == 1 else None
        for answer in content.answers:
            whole = self._companions.whole_result(answer.text) if self._companions is not None else answer.text
            conversation.answer(replace(answer, text=whole), outcome, text(event, "timestamp"))


def _is_same_message(known: dict[str, JSON] | None, event: dict[str, JSON]) -> bool:
    """Whether the line is there already: a resumed session writes lines again, with other links."""
    return (
        known is not None
        and known.get("type") == event.get("type")
        and (known.get("message") == event.get("message") and known.get("attachment") == event.get("attachment"))
    )


def _is_by_program(event: dict[str, JSON]) -> str:
    """What a message of the agent is that the program wrote in its name; "" for one of its own."""
    if event.get("isApiErrorMessage"):
        return "API error"
    return "synthetic message" if text(event["message"], "model") == _SYNTHETIC else ""


def _is_plan(event: dict[str, JSON]) -> bool:
    message = event.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    words = content if isinstance(content, str) else "".join(read_content(content, ConversionReport().unknown).texts)
    return bool(text(event, "planContent")) or words.lstrip().startswith(_PLAN)


def _changed_outside(event: dict[str, JSON]) -> str:
    """The file of which an attachment says that somebody else changed it."""
    attachment = event.get("attachment")
    return text(attachment, "filename") if text(attachment, "type") == "edited_text_file" else ""


def _hook_name(event: dict[str, JSON]) -> str:
    """The hook that a line tells of: of progress or, in newer files, an attachment."""
    return text(event.get("data"), "hookName") or text(event.get("attachment"), "hookName")


def _queued(event: dict[str, JSON]) -> JSON:
    """What a person put into the queue; None of what a program did."""
    attachment = event.get("attachment")
    mode = text(attachment, "commandMode")
    if not isinstance(attachment, dict) or mode not in ("", "prompt", "bash") or is_by_program(attachment):
        return None
    return attachment.get("prompt")


def _user_words(event: dict[str, JSON]) -> JSON:
    message = event.get("message")
    return message.get("content") if isinstance(message, dict) and event.get("type") == "user" else None


def session_key(event: dict[str, JSON]) -> str:
    """Which session a line says it belongs to; "" where it says nothing."""
    return name(event, "sessionId") or name(event, "session_id")


def _message(event: dict[str, JSON]) -> dict[str, JSON]:
    message = event.get("message")
    return message if isinstance(message, dict) else {}
