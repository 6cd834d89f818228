"""What `codex exec --json` prints, as lines of a rollout.

Field notes
- Lines {type}: thread.started {thread_id}, turn.started, turn.completed {usage of the whole turn}, turn.failed {error},
  error {message}, item.started, item.updated and item.completed {item: {id, type}}. What was asked is not among them,
  nor the model.
- Items: agent_message {text}, reasoning {text}, command_execution {command, aggregated_output, exit_code, status},
  file_change {changes: [{path, kind: add | delete | update}], status} without contents, mcp_tool_call {server, tool,
  arguments, result, error, status}, collab_tool_call, web_search {query}, todo_list {items: [{text, completed}]},
  error {message}. status: in_progress, completed, failed, declined. At first they had item_type for type.
- Before there were items: {id, msg: {type, ...}}, whose `msg` is an event as a rollout's event_msg has it.
"""

import json

from potato.runs.converters.blocks import as_json
from potato.runs.converters.fields import name, objects, text, word_set
from potato.runs.converters.tool_files import CallEffects
from potato.runs.model import JSON, FileEvent, FilePatch, FileTouched

FILE_CHANGE = "file_change"
_FIRST_EVENTS = word_set("task_started agent_message agent_reasoning exec_command_begin session_configured")
KINDS = word_set(
    "thread.started turn.started turn.completed turn.failed item.started item.updated item.completed error"
)


def is_exec_line(record: dict[str, JSON]) -> bool:
    """Whether it is a line of that output, and not one of a rollout."""
    kind = text(record, "type")
    is_item = kind.startswith("item.") and isinstance(record.get("item"), dict)
    is_begin = kind == "thread.started" and "thread_id" in record
    return is_printed(record) and (is_item or is_begin or text(record.get("msg"), "type") in _FIRST_EVENTS)


def is_printed(record: dict[str, JSON]) -> bool:
    """Whether it is a line of that output in a file that has some."""
    if "payload" in record:
        return False
    is_event = "type" not in record and "id" in record and bool(text(record.get("msg"), "type"))
    return is_event or text(record, "type") in KINDS


def rollout_lines(record: dict[str, JSON]) -> list[dict[str, JSON]]:
    """The lines of a rollout that say the same; none for what only says how far the program is."""
    if "type" not in record:
        return [{"type": "event_msg", "payload": record.get("msg")}]
    match text(record, "type"):
        case "thread.started":
            return [{"type": "session_meta", "payload": {"id": record.get("thread_id")}}]
        case "turn.failed":
            return [{"type": "event_msg", "payload": {"type": "turn_aborted"}}]
        case "item.completed":
            item = record.get("item")
            return _of_item(item) if isinstance(item, dict) else []
    return []


def _of_item(item: dict[str, JSON]) -> list[dict[str, JSON]]:
    kind, status, words = text(item, "type", "item_type"), text(item, "status"), text(item, "text")
    match kind:
        case "agent_message":
            return [_item("message", role="assistant", content=[{"type": "output_text", "text": words}])]
        case "reasoning":
            return [_item("reasoning", summary=[{"type": "summary_text", "text": words}])]
        case "command_execution":
            output = json.dumps(
                {"output": text(item, "aggregated_output"), "metadata": {"exit_code": item.get("exit_code")}}
            )
            return _called(item, "shell", {"command": text(item, "command")}, output, status)
        case "file_change":
            files = {text(change, "path"): text(change, "kind") for change in objects(item.get("changes"))}
            return _called(item, FILE_CHANGE, {"files": files}, "", status)
        case "mcp_tool_call":
            tool = f"{text(item, 'server')}.{text(item, 'tool')}".strip(".")
            result = item.get("result") if item.get("error") is None else item.get("error")
            return _called(item, tool, item.get("arguments"), "" if result is None else result, status)
        case "web_search":
            return _called(item, "web_search", {"query": item.get("query")}, "", status)
        case "todo_list":
            return _called(item, "update_plan", {"items": item.get("items")}, "", status)
        case "collab_tool_call":
            given = {key: value for key, value in item.items() if key not in ("id", "type", "status")}
            return _called(item, text(item, "tool") or kind, given, "", status)
    return [{"type": "event_msg", "payload": {**item, "type": "error" if kind == "error" else kind}}]


def _item(kind: str, **members: JSON) -> dict[str, JSON]:
    return {"type": "response_item", "payload": {"type": kind, **members}}


def _called(item: dict[str, JSON], tool: str, arguments: JSON, output: JSON, status: str) -> list[dict[str, JSON]]:
    call_id = name(item, "id")
    call = _item("function_call", name=tool, arguments=as_json(arguments), call_id=call_id)
    if status == "in_progress":
        return [call]
    if status == "declined":
        output = "rejected by user"
    elif status == "failed" and tool != "shell":
        output = {"content": output if isinstance(output, str) else as_json(output), "success": False}
    return [call, _item("function_call_output", call_id=call_id, output=output)]


def changed_files(arguments: JSON) -> CallEffects:
    """What a file_change did; nobody says how it changed the files that are left."""
    files = arguments.get("files") if isinstance(arguments, dict) else None
    events: list[FileEvent] = []
    for path, kind in files.items() if isinstance(files, dict) else ():
        deleted = FilePatch(path, (), "deleted")
        events.append(deleted if kind == "delete" else FileTouched(path, "The agent", is_certain=True))
    return CallEffects(tuple(events))
