"""Reads one rollout of Codex: its steps, what people said between them, and what happened to files.

Field notes
- Lines {timestamp, type, payload}, newer ones with `ordinal`. Types: session_meta, turn_context, response_item,
  event_msg, compacted, world_state, inter_agent_communication(_metadata). The oldest files (before 0.20) have response
  items without a payload around them, behind a first line {id, timestamp, instructions, git}, and {record_type: state}.
- response_item is the conversation; of event_msg most say the same again. A step is what the model wrote between two
  answers: reasoning, words and calls that follow one another. Files without any response item of the agent are read
  by their events user_message, agent_message and agent_reasoning.
- session_meta {id, cwd, git: {repository_url}, forked_from_id, parent_thread_id, source: {subagent: {thread_spawn:
  {parent_thread_id, agent_nickname, agent_path}}}, subagent_history_start_ordinal, history_base:
  {end_ordinal_exclusive}}: the first one is the file's own, later ones are copied with the history of the thread that
  this one came from. Lines with an ordinal below the mark are that history; without a mark those with a time
  before the session's own.
- The model stands in turn_context.
- What ran: event_msg exec_command_end {call_id, command, cwd, aggregated_output, exit_code, source}, patch_apply_end
  {call_id, success, changes}, mcp_tool_call_end {call_id, invocation, result: {Ok | Err}}, and since 0.139
  item_completed {item: {type: CommandExecution | FileChange | McpToolCall | DynamicToolCall | CollabAgentToolCall |
  WebSearch | Extension | ..., id}}. An id of no call belongs to something that a program of the call `exec` ran: it is
  shown as a call of the same step.
- compacted: the context was compacted. turn_aborted: the person stopped the agent. thread_rolled_back {num_turns}: the
  person went back so many of their prompts. undo_completed: files were taken back, nobody says which.
- Reasoning is mostly encrypted; its summary may be readable.
- Agents of its own: the call spawn_agent, whose answer has {agent_id} or {task_name}; collab_agent_spawn_end {call_id,
  new_thread_id}; sub_agent_activity {event_id, agent_thread_id, agent_path}. Their rollouts are files of their own.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from potato.runs.converters import codex_exec
from potato.runs.converters import codex_items as items
from potato.runs.converters.apply_patch import path_from, recorded_changes
from potato.runs.converters.blocks import Answer, Content, as_json
from potato.runs.converters.codex_lines import ITEM_NOISE, RolloutLine, ThreadFacts, as_rollout_line, thread_facts
from potato.runs.converters.conversation import Conversation
from potato.runs.converters.fields import name, text, word_set
from potato.runs.converters.json_text import read_arguments
from potato.runs.converters.moments import Moment
from potato.runs.converters.result_pictures import pictures_in, pictures_of_message
from potato.runs.converters.tool_effects import joined_words, read_tool_effects
from potato.runs.converters.tool_files import CallEffects
from potato.runs.converters.usage import read_usage
from potato.runs.model import JSON, ConversionReport, Screenshot

MOST_UNKNOWN_KEPT = 1000
_REFUSED = "User rejected tool use"
_NOISE = word_set("world_state inter_agent_communication_metadata inter_agent_communication security")
_MESSAGE_EVENTS = word_set(
    "agent_message agent_reasoning user_message agent_reasoning_raw_content UserMessage AgentMessage Reasoning"
    " HookPrompt"
    " Plan"
)
_EVENT_NOISE = word_set(
    "task_started task_complete turn_started turn_complete thread_settings_applied context_compacted"
    " thread_name_updated thread_goal_updated guardian_assessment entered_review_mode exited_review_mode error warning"
    " stream_error image_generation_end view_image_tool_call web_search_end collab_waiting_end"
    " collab_close_end collab_agent_interaction_end collab_resume_end dynamic_tool_call_request session_configured"
    " background_event plan_update turn_diff model_reroute deprecation_notice agent_reasoning_section_break"
    " exec_command_begin patch_apply_begin mcp_tool_call_begin web_search_begin item_started hook_started"
    " hook_completed"
    " shutdown_complete turn.completed codex/event/raw_item account/rateLimits/updated token_usage_record"
    " exec_approval_request apply_patch_approval_request request_user_input elicitation_request sub_agent_activity"
    " collab_agent_spawn_end"
)
_SPAWN = "spawn_agent"
_PROGRAM = "exec"


class Rollout:
    """Takes the lines of one rollout in the file's order and puts them into a conversation."""

    def __init__(self, report: ConversionReport, moment: Callable[[str], Moment]) -> None:
        self._report = report
        self.facts = ThreadFacts()
        self._moment = moment
        self.lines: list[RolloutLine] = []
        self.unknown: list[JSON] = []
        self.spawned: dict[str, str] = {}
        """The call that started an agent, by the agent's thread or path."""
        self.spawn_calls: dict[str, str] = {}
        self._has_meta = False
        self._folder = ""
        self._model = ""
        self._step = 0
        self._is_answered = True
        self._has_events_alone = False
        self._folders: dict[str, str] = {}
        self._unnamed: list[tuple[str, str]] = []
        self._programs: dict[str, bool] = {}
        self._newest_program = ""
        self._results: dict[str, str] = {}
        self.conversation = Conversation(report, "", moment, read_effects=self._effects)
        self._main = self.conversation

    def add(self, record: dict[str, JSON]) -> None:
        """One line more."""
        kind = text(record, "type")
        if codex_exec.is_printed(record):
            lines = codex_exec.rollout_lines(record)
            if not lines:
                self._report.dropped[kind or "line of the program"] += 1
            for each in lines:
                self.add(each)
            return
        line = as_rollout_line(record)
        if line is None:
            self._keep_unknown(record, kind or "line without a type")
            return
        if line.kind == "session_meta":
            if self._has_meta:
                self._report.dropped["session_meta of another thread"] += 1
                return
            self._has_meta = True
            self.facts = thread_facts(line.payload, line.at)
            self._folder = self.facts.folder
            self._model = self.facts.model
            return
        self.lines.append(line)

    def convert(self) -> None:
        """Put the lines into the conversation."""
        own = [line for line in self.lines if not self._is_copied(line)]
        if copied := len(self.lines) - len(own):
            self._report.dropped["line of copied history"] += copied
        elif self.facts.forked_from and self.facts.own_from is None:
            self._report.repairs["fork that does not say where its own lines begin: read whole"] += 1
        self._has_events_alone = not any(
            line.kind == "response_item" and (text(line.payload, "role") == "assistant" or items.is_call(_kind(line)))
            for line in own
        )
        left = self._rolled_back(own)
        branch: Conversation | None = None
        for index, line in enumerate(own):
            if index in left:
                if branch is None:
                    branch = Conversation(
                        ConversionReport(), "", self._moment, is_left_behind=True, read_effects=self._effects
                    )
                    self._main.left_behind(branch)
                    self._is_answered = True
                self._report.dropped["line of a turn that was taken back"] += 1
                self.conversation = branch
            elif branch is not None:
                branch, self.conversation, self._is_answered = None, self._main, True
            self._convert(line)
        self.conversation = self._main
        for call_id, is_recorded in self._programs.items():
            call = self._main.calls.get(call_id)
            if not is_recorded and call is not None and not call.effects and "tools." in str(call.arguments):
                doubt = CallEffects(doubts_all="A program of `exec`, of which the rollout does not record what it ran,")
                self._main.record_effects(call_id, doubt)

    def unrecorded_programs(self) -> int:
        """Programs of `exec` of which nothing says what they ran."""
        return sum(
            not is_recorded and call_id in self._main.calls and "tools." in str(self._main.calls[call_id].arguments)
            for call_id, is_recorded in self._programs.items()
        )

    def _is_copied(self, line: RolloutLine) -> bool:
        facts = self.facts
        if facts.own_from is not None and line.ordinal is not None:
            return line.ordinal < facts.own_from
        is_derived = bool(facts.forked_from or facts.parent_id)
        return is_derived and bool(line.at) and "T" in facts.started_at and line.at < facts.started_at

    def _rolled_back(self, lines: list[RolloutLine]) -> set[int]:
        """The lines of turns that the person went back behind."""
        ignored = ConversionReport()
        left: set[int] = set()
        turns: list[int] = []
        for index, line in enumerate(lines):
            kind = _kind(line)
            if line.kind == "response_item" and kind == "message" and text(line.payload, "role") == "user":
                texts = items.content_texts(line.payload.get("content"), ignored.unknown)
                if items.person_words(texts, ignored.dropped).words:
                    turns.append(index)
            elif line.kind == "event_msg" and kind == "thread_rolled_back":
                number = line.payload.get("num_turns")
                count = min(number if type(number) is int and number > 0 else 0, len(turns))
                if count:
                    left.update(range(turns[-count], index))
                    del turns[-count:]
        return left

    # One line.

    def _convert(self, line: RolloutLine) -> None:
        payload, kind = line.payload, _kind(line)
        match line.kind:
            case "turn_context":
                self._folder = text(payload, "cwd") or self._folder
                self._model = text(payload, "model") or self._model
                self.facts.folder = self.facts.folder or self._folder
            case "compacted":
                self.conversation.divide("compacted")
                self._is_answered = True
            case "response_item":
                self._convert_item(payload, kind, line.at)
            case "event_msg":
                self._convert_event(payload, kind, line.at)
            case _ if line.kind in _NOISE:
                self._report.dropped[line.kind] += 1
            case _:
                self._keep_unknown(payload, line.kind)

    def _convert_item(self, item: dict[str, JSON], kind: str, at: str) -> None:
        if kind == "message":
            self._convert_message(item, at)
        elif kind == "reasoning":
            words = items.thoughts(item, self._report.unknown)
            if any(part.strip() for part in words):
                self._say(Content(thoughts=words), at)
            elif text(item, "encrypted_content"):
                self._report.dropped["encrypted reasoning"] += 1
        elif items.is_call(kind):
            self._call(items.read_call(item), at, item)
        elif items.is_output(kind):
            self._answer(items.read_output(item, self._report.unknown), at)
        elif kind == "agent_message":
            self._report.dropped["message of another agent"] += 1
        elif kind in ITEM_NOISE:
            self._report.dropped[kind] += 1
        else:
            self._keep_unknown(item, f"item {kind or 'without a type'}")

    def _convert_message(self, item: dict[str, JSON], at: str) -> None:
        texts = items.content_texts(item.get("content"), self._report.unknown)
        role = text(item, "role")
        if role == "assistant":
            self._say(Content(texts=texts), at)
        elif role == "user":
            self._take_person(texts, at, pictures_of_message(item.get("content")))
        else:
            self._report.dropped[f"{role or 'nameless'} message"] += 1

    def _take_person(self, texts: list[str], at: str, pictures: tuple[Screenshot, ...] = ()) -> None:
        person = items.person_words(texts, self._report.dropped)
        if not person.words:
            return
        self.conversation.add_user_message(person.words, pictures)
        self._is_answered = True
        if person.command:
            self.conversation.user_runs(person.command, at)

    def _say(self, content: Content, at: str) -> None:
        """What the model wrote: one more piece of the step, unless something was answered since the last one."""
        if self._is_answered:
            self._step += 1
            self._is_answered = False
        self.conversation.add_agent_message(content, message_id=f"step {self._step}", at=at, model=self._model)

    def _call(self, call: items.ItemCall, at: str, item: dict[str, JSON]) -> None:
        call_id = call.id or f"{self._step + self._is_answered}.{len(self.conversation.calls) + 1}"
        if not call.id:
            self._unnamed.append((call.name, call_id))
        self._folders[call_id] = path_from(self._folder, call.folder) if call.folder else self._folder
        self._say(Content(calls=[(call_id, call.name, call.arguments)]), at)
        if call.name == _SPAWN or call.name.endswith(f".{_SPAWN}"):
            self.spawn_calls[call_id] = text(call.arguments, "task_name", "agent_type", "name")
        if call.name == _PROGRAM and isinstance(call.arguments, str):
            self._programs[call_id] = False
            self._newest_program = call_id
        result = self._results.pop(call_id, call.result)
        if items.is_at_models_side(_item_kind(item)) and result is not None:
            self.conversation.answer(Answer(call_id, result, is_error=False), at=at)

    def _answer(self, output: items.Output, at: str) -> None:
        call_id = output.call_id
        if not call_id:
            place = next(
                (at for at, (tool, _) in enumerate(self._unnamed) if not output.tool or tool == output.tool), -1
            )
            call_id = self._unnamed.pop(place)[1] if place >= 0 else ""
        self._is_answered = True
        answer = Answer(call_id, output.text, output.is_error, output.pictures)
        self.conversation.answer(answer, _REFUSED if output.is_refused else None, at)
        if call_id in self.spawn_calls:
            reply = read_arguments(output.text)
            for thread in (name(reply, "agent_id"), text(reply, "task_name")):
                if thread:
                    self.spawned[thread] = call_id

    # Events.

    def _convert_event(self, event: dict[str, JSON], kind: str, at: str) -> None:
        if kind == "item_completed":
            item = event.get("item")
            if isinstance(item, dict):
                self._convert_event(item, text(item, "type"), at)
            else:
                self._keep_unknown(event, "item_completed without an item")
            return
        match kind:
            case "exec_command_end" | "CommandExecution":
                self._command_ran(event, at)
            case "patch_apply_end" | "FileChange":
                self._files_changed(event, at)
            case "McpToolCall" | "DynamicToolCall" | "dynamic_tool_call_response" | "WebSearch" | "Extension":
                self._tool_ran(event, kind, at)
            case "mcp_tool_call_end":
                self._tool_ran(_of_invocation(event), kind, at)
            case "turn_aborted":
                self.conversation.divide("interrupted")
                self._is_answered = True
            case "undo_completed":
                if event.get("success") is True:
                    self.conversation.record_effects("", CallEffects(doubts_all="The user's undo"), at)
                self._report.dropped[kind] += 1
            case "thread_rolled_back" | "ContextCompaction" | "ImageView" | "Sleep" | "ImageGeneration":
                self._report.dropped[kind] += 1
            case _ if kind in _MESSAGE_EVENTS:
                self._take_message_event(event, kind, at)
            case "token_count":
                info = event.get("info")
                self.conversation.took(read_usage(info.get("last_token_usage") if isinstance(info, dict) else None))
            case _ if kind in _EVENT_NOISE or kind in ("SubAgentActivity", "CollabAgentToolCall"):
                self._note_agent(event, kind)
                self._report.dropped[kind] += 1
            case _:
                self._keep_unknown(event, f"event {kind or 'without a type'}")

    def _take_message_event(self, event: dict[str, JSON], kind: str, at: str) -> None:
        """Events say the items again; where there are no items they are all that is there."""
        if not self._has_events_alone:
            self._report.dropped[f"{kind} that says an item again"] += 1
            return
        words = text(event, "message", "text")
        texts = [words] if words else items.content_texts(event.get("content"), self._report.unknown)
        if kind in ("user_message", "UserMessage"):
            self._take_person(texts, at)
        elif kind in ("agent_message", "AgentMessage", "Plan"):
            self._say(Content(texts=texts), at)
            self._is_answered = True
        elif "easoning" in kind:
            self._say(
                Content(thoughts=texts or items.content_texts(event.get("summary_text"), self._report.unknown)), at
            )
        else:
            self._report.dropped[kind] += 1

    def _note_agent(self, event: dict[str, JSON], kind: str) -> None:
        call_id = name(event, "call_id") or name(event, "event_id") or name(event, "id")
        if call_id not in self.conversation.calls:
            return
        threads = [text(event, "new_thread_id"), text(event, "agent_thread_id")]
        receivers = event.get("receiver_thread_ids")
        if kind == "CollabAgentToolCall" and text(event, "tool") in ("spawn_agent", "SpawnAgent", "spawnAgent"):
            threads += [
                thread for thread in (receivers if isinstance(receivers, list) else []) if isinstance(thread, str)
            ]
        for thread in filter(None, threads):
            self.spawned.setdefault(thread, call_id)

    def _nested(self, call_id: str, tool: str, arguments: JSON, at: str) -> bool:
        """Show what a program of `exec` ran as a call of its step; False where the call is known already."""
        if call_id in self.conversation.calls:
            return False
        if self._newest_program in self._programs:
            self._programs[self._newest_program] = True
        if not self.conversation.has_messages():
            self._step += 1
        self._folders[call_id] = self._folder
        content = Content(calls=[(call_id, tool, arguments)])
        step = f"step {max(self._step, 1)}"
        self.conversation.add_agent_message(content, message_id=step, at=at, model=self._model)
        return True

    def _command_ran(self, event: dict[str, JSON], at: str) -> None:
        call_id = name(event, "call_id") or name(event, "id")
        if text(event, "source") in ("user_shell", "userShell"):
            self._report.dropped["command of the user's shell, which the conversation says"] += 1
            return
        words = event.get("command")
        command = joined_words([word for word in words if isinstance(word, str)]) if isinstance(words, list) else words
        folder = text(event, "cwd")
        if not call_id or not self._nested(call_id, "exec_command", {"cmd": command, "workdir": folder}, at):
            self._report.dropped["exec_command_end that says an output again"] += 1
            return
        self._folders[call_id] = path_from(self._folder, folder)
        printed = text(event, "aggregated_output") or text(event, "stdout") + text(event, "stderr")
        result, failed = items.output_text(
            {"output": printed, "exit_code": event.get("exit_code")}, self._report.unknown
        )
        declined = text(event, "status") == "declined"
        self.conversation.answer(
            Answer(call_id, result, failed and not declined), _REFUSED if declined else None, at=at
        )

    def _files_changed(self, event: dict[str, JSON], at: str) -> None:
        call_id = name(event, "call_id") or name(event, "id")
        succeeded = event.get("success") is not False and text(event, "status") in ("", "completed")
        changes = event.get("changes")
        paths = list(changes) if isinstance(changes, dict) else []
        if call_id and self._nested(call_id, "apply_patch", {"files": paths}, at):
            declined = text(event, "status") == "declined"
            printed = text(event, "stdout") + text(event, "stderr")
            self.conversation.answer(
                Answer(call_id, printed, not succeeded and not declined), _REFUSED if declined else None, at=at
            )
        if succeeded:
            known = recorded_changes(changes, self._folders.get(call_id, self._folder), self._report.unknown)
            self.conversation.record_effects(call_id, CallEffects(tuple(known)), at)

    def _tool_ran(self, event: dict[str, JSON], kind: str, at: str) -> None:
        call_id = name(event, "id") or name(event, "call_id")
        tool = ".".join(filter(None, (text(event, "server", "namespace"), text(event, "tool", "kind")))) or kind
        arguments = event.get("arguments", event.get("action"))
        if not call_id or not self._nested(call_id, tool, arguments, at):
            self._report.dropped[f"{kind} that says an output again"] += 1
            return
        result = next((event[key] for key in ("result", "content_items", "results", "error") if event.get(key)), None)
        is_plain = isinstance(result, dict) or kind == "DynamicToolCall"
        is_plain = is_plain or isinstance(result, str)
        words, failed = items.output_text(result, self._report.unknown) if is_plain else (as_json(result), False)
        failed = failed or text(event, "status") == "failed" or event.get("success") is False
        answer = Answer(call_id, "" if result is None else words, failed, pictures_in(result))
        self.conversation.answer(answer, at=at)

    def _effects(
        self, tool: str, arguments: JSON, outcome: JSON, answer: Answer, report: ConversionReport
    ) -> CallEffects:
        if tool == _PROGRAM and isinstance(arguments, str):
            return CallEffects()
        folder = self._folders.get(answer.call_id, self._folder)
        if tool == codex_exec.FILE_CHANGE:
            return CallEffects() if answer.is_error else codex_exec.changed_files(arguments)
        effects = read_tool_effects(tool, arguments, outcome, answer, report, folder=folder)
        return replace(effects, events=tuple(_in_folder(event, folder) for event in effects.events))

    def _keep_unknown(self, event: JSON, kind: str) -> None:
        self._report.unknown[kind[:80]] += 1
        if len(self.unknown) < MOST_UNKNOWN_KEPT:
            self.unknown.append(event)


def _of_invocation(event: dict[str, JSON]) -> dict[str, JSON]:
    """The end of a call of MCP, {call_id, invocation: {server, tool, arguments}, result: {Ok | Err}}, as its item."""
    invocation, result = event.get("invocation"), event.get("result")
    members: dict[str, JSON] = {**invocation} if isinstance(invocation, dict) else {}
    members["id"] = event.get("call_id")
    if isinstance(result, dict) and "Err" in result:
        return {**members, "error": result["Err"], "status": "failed"}
    members["result"] = result["Ok"] if isinstance(result, dict) and "Ok" in result else result
    return members


def _in_folder(event: Any, folder: str) -> Any:
    """The event with its path seen from where it happened."""
    return replace(event, path=path_from(folder, event.path))


def _kind(line: RolloutLine) -> str:
    return text(line.payload, "type")


def _item_kind(item: dict[str, JSON]) -> str:
    return text(item, "type")
