"""Runs that stand in one JSON record: Anthropic messages, an exported log, and structured turns.

Field notes
- Anthropic messages: {messages: [{role, content}]}, `content` as `blocks` says; beside it perhaps model, and a system
  prompt, which is no part of the run.
- Exported log: {loglines: [lines of a session]}, often without ids.
- Structured turns: {id, task_description, structured_turns: [{role, content, tool_calls: [{tool, input, output}]}]}.
  A turn of the role assistant or agent is a step; user turns are prompts. `output` may be missing: the form has no
  word for a call without an answer, so such a call counts as done unless it says `is_error`.
- In each, the project's id and task fields, task_id, agent_model, instance_id, repo, tags and `patch` count if given.
"""

from dataclasses import replace

from potato.runs.converters.blocks import Answer, Content, result_text
from potato.runs.converters.claude_session import Session, session_key
from potato.runs.converters.conversation import Conversation
from potato.runs.converters.facts import read_facts
from potato.runs.converters.fields import name, objects, text
from potato.runs.converters.records import Record
from potato.runs.converters.result_pictures import pictures_in
from potato.runs.converters.usage import read_usage
from potato.runs.model import JSON, AgentRun, ConversionReport, Converted, ReadingOptions, Unreadable

_AGENT_ROLES = frozenset({"assistant", "agent", "model", "ai"})
_USER_ROLES = frozenset({"user", "human"})
# Names that hand-written turns give to the tools whose files we know.
_TOOLS = {
    "edit": "Edit", "edit_file": "Edit", "file_edit": "Edit", "write": "Write", "write_file": "Write",
    "create_file": "Write", "file_write": "Write", "read": "Read", "read_file": "Read", "file_read": "Read",
    "multiedit": "MultiEdit", "multi_edit": "MultiEdit",
}  # fmt: skip


def is_whole_run(record: dict[str, JSON]) -> bool:
    """Whether the record is a run of its own, and not a line of a session."""
    return any(isinstance(record.get(key), list) for key in ("structured_turns", "messages", "loglines"))


def run_of_record(record: Record, options: ReadingOptions) -> Converted | Unreadable:
    """The run of a record that is one."""
    if isinstance(record.value.get("structured_turns"), list):
        return _structured(record, options)
    return _messages(record, options)


def as_line(message: JSON) -> JSON:
    """A message {role, content} as a session's line; anything else as it is."""
    if isinstance(message, dict) and "role" in message and "message" not in message:
        role = text(message, "role")
        kind = {"human": "user", "ai": "assistant"}.get(role, role)
        return {"type": kind, "message": message, "timestamp": text(message, "timestamp")}
    return message


def _messages(record: Record, options: ReadingOptions) -> Converted | Unreadable:
    facts = read_facts(record.value, options)
    session_id = facts.external_id or session_key(record.value)
    session = Session(session_id, record.place, options, task=facts.task)
    lines = record.value.get("messages")
    for number, line in enumerate(lines if isinstance(lines, list) else record.value["loglines"], 1):
        value = as_line(line)
        if not isinstance(value, dict):
            value = {"value": value}
        size = record.size if number == 1 else 0
        session.add(Record(number, value, record.repairs if number == 1 else type(record.repairs)(), size))
    converted = session.finished()
    if isinstance(converted, Unreadable):
        return converted
    run = converted.run
    return Converted(_with_facts(run, facts.run()), converted.report, record.place)


def _with_facts(run: AgentRun, facts: AgentRun) -> AgentRun:
    return replace(
        run,
        task_id=facts.task_id,
        agent_model=facts.agent_model or run.agent_model,
        instance_id=facts.instance_id,
        repo=facts.repo,
        tags=facts.tags,
        patch=facts.patch,
    )


def _structured(record: Record, options: ReadingOptions) -> Converted | Unreadable:
    facts = read_facts(record.value, options)
    report = ConversionReport()
    report.repairs.update(record.repairs)
    conversation = Conversation(report, task=facts.task)
    unknown: list[JSON] = []
    for number, turn in enumerate(record.value["structured_turns"], 1):
        role = text(turn, "role").lower()
        if role in _AGENT_ROLES:
            _take_turn(turn, number, conversation, report)
        elif role in _USER_ROLES:
            if words := text(turn, "content", "text"):
                conversation.add_user_message(words)
        elif role == "system":
            report.dropped["system prompt"] += 1
        else:
            report.unknown[f"turn of the role {role}" if role else "turn without a role"] += 1
            unknown.append(turn)
    steps_and_events = conversation.as_steps(split_tool_calls=options.split_tool_calls)
    if not steps_and_events.steps:
        return Unreadable(
            record.place,
            "no_steps",
            f"Record {record.place} has no turn of the agent (role assistant or agent), so there is nothing to judge.",
        )
    run = replace(
        facts.run(),
        task=conversation.task,
        steps=steps_and_events.steps,
        events=steps_and_events.events,
        event_steps=steps_and_events.event_steps,
        folder=text(record.value, "cwd", "folder"),
        started_at=steps_and_events.steps[0].at,
        unknown_events=tuple(unknown),
    )
    return Converted(run, report, record.place)


def _take_turn(turn: JSON, number: int, conversation: Conversation, report: ConversionReport) -> None:
    content = Content(texts=[result_text(turn.get("content"), report.unknown)])
    content.thoughts.append(text(turn, "thought", "thinking", "reasoning"))
    answers = []
    for index, call in enumerate(objects(turn.get("tool_calls")), 1):
        call_id = name(call, "id") or f"{number}.{index}"
        tool = text(call, "tool", "name") or "(no name)"
        arguments = call.get("input", call.get("arguments"))
        result = call.get("output", call.get("result"))
        output = result_text(result, report.unknown)
        content.calls.append((call_id, _TOOLS.get(tool.lower(), tool), arguments))
        answers.append(Answer(call_id, output, bool(call.get("is_error")), pictures_in(result)))
    at = text(turn, "timestamp", "at")
    conversation.add_agent_message(
        content, message_id=f"turn {number}", at=at, model=text(turn, "model"), usage=read_usage(turn.get("usage"))
    )
    for answer in answers:
        conversation.answer(answer)
