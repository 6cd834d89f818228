"""Lines of a chat that Qwen Code recorded, as messages of a recorded chat of Gemini CLI.

Field notes
- Since it keeps its own form, ~/.qwen/projects/PROJECT/chats/SESSION.jsonl: {uuid, parentUuid, sessionId, timestamp,
  type: user | assistant | tool_result | system, subtype, cwd, version, gitBranch, model, message: {role, parts},
  usageMetadata, toolCallResult: {callId, status, resultDisplay}}. Earlier it wrote what Gemini CLI writes.
- The lines are a tree by parentUuid, whose last line is the end of the live branch.
- system says what the program did: slash_command, ui_telemetry, chat_compression and the like.
"""

from potato.runs.converters.fields import name, text
from potato.runs.model import JSON, ConversionReport

_TYPES = {"user": "user", "assistant": "gemini", "tool_result": "user"}


def is_qwen_line(record: dict[str, JSON]) -> bool:
    """Whether it is such a line; Claude Code's lines have the same links, and messages without parts."""
    message = record.get("message")
    has_links = {"uuid", "parentUuid", "sessionId"} <= record.keys()
    return has_links and isinstance(message, dict) and isinstance(message.get("parts"), list)


def is_system_line(record: dict[str, JSON]) -> bool:
    """Whether it says what the program did; of a file that has other lines of the form."""
    return text(record, "type") == "system" and {"uuid", "parentUuid", "sessionId"} <= record.keys()


def as_message(record: dict[str, JSON], report: ConversionReport) -> dict[str, JSON] | None:
    """The line as a message; None for one of the program, which is counted."""
    kind = text(record, "type")
    if kind == "system":
        report.dropped[f"system {text(record, 'subtype')}".rstrip()[:80]] += 1
        return None
    return {
        "id": name(record, "uuid"),
        "timestamp": text(record, "timestamp"),
        "type": _TYPES.get(kind, kind),
        "content": record["message"]["parts"],
        "model": text(record, "model"),
        "tokens": record.get("usageMetadata"),
        "toolCallResult": record.get("toolCallResult"),
    }


def left_lines(parents: dict[str, str]) -> set[str]:
    """The lines that are not on the way from the last one to its beginning."""
    live: set[str] = set()
    at = next(reversed(parents), "")
    while at in parents and at not in live:
        live.add(at)
        at = parents[at]
    return parents.keys() - live
