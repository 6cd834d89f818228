"""Writes sessions of Claude Code line by line, linked as the program links them."""

from typing import Any

from tests.potato.runs.reading import jsonl

FOLDER = "/home/alice/shop"


class SessionFile:
    """A session's lines: each one follows the line before, unless the test says which one it follows."""

    def __init__(self, session_id: str = "session-1") -> None:
        self.session_id = session_id
        self.lines: list[dict[str, Any]] = []

    def line(self, kind: str, *, after: str | None = "", **members: Any) -> str:
        """Adds a line and returns its uuid."""
        uuid = f"{self.session_id}-{len(self.lines) + 1}"
        last = next((line["uuid"] for line in reversed(self.lines) if "uuid" in line), None)
        self.lines.append(
            {
                "type": kind,
                "uuid": uuid,
                "parentUuid": last if after == "" else after,
                "sessionId": self.session_id,
                "cwd": FOLDER,
                "isSidechain": False,
                "timestamp": f"2026-03-01T10:00:{len(self.lines):02}Z",
                **members,
            }
        )
        return uuid

    def user(self, content: Any, **members: Any) -> str:
        """What the user says, or what stands in the user's name."""
        return self.line("user", message={"role": "user", "content": content}, **members)

    def agent(self, *blocks: Any, message_id: str, model: str = "claude-opus-4-6", **members: Any) -> str:
        """A piece of a message of the agent."""
        message = {"role": "assistant", "id": message_id, "model": model, "content": list(blocks)}
        return self.line("assistant", message=message, **members)

    def result(self, call_id: str, content: Any, outcome: Any = None, *, is_error: bool = False, **members: Any) -> str:
        """The result of a tool call, and what the program says about files beside it."""
        block = {"type": "tool_result", "tool_use_id": call_id, "content": content, "is_error": is_error}
        if outcome is not None:
            members["toolUseResult"] = outcome
        return self.user([block], **members)

    def bytes(self) -> bytes:
        """The file."""
        return jsonl(*self.lines)


def says(text: str) -> dict[str, Any]:
    """A block of text."""
    return {"type": "text", "text": text}


def thinks(text: str) -> dict[str, Any]:
    """A block of thought."""
    return {"type": "thinking", "thinking": text, "signature": "c2lnbmVk"}


def calls(call_id: str, tool: str, **arguments: Any) -> dict[str, Any]:
    """A block that calls a tool."""
    return {"type": "tool_use", "id": call_id, "name": tool, "input": arguments}


def edited(path: str, old: str, new: str, original: str | None, *, everywhere: bool = False) -> dict[str, Any]:
    """What the program says beside the result of an Edit."""
    return {
        "filePath": path,
        "oldString": old,
        "newString": new,
        "originalFile": original,
        "replaceAll": everywhere,
        "structuredPatch": [],
        "userModified": False,
    }
