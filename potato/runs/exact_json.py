"""Steps and file changes as plain JSON and back, for keeping them by the hash of what they say. Exact: nothing is lost.

JSON text made of these escapes everything beyond ASCII, so that NUL and lone surrogates survive every store.
"""

import hashlib
import json
from collections.abc import Iterator
from typing import Any

from potato.runs.changes.model import Badge, BadgeCode, FileChange, Hunk, Line, LineEnd, LineKind, Side
from potato.runs.model import JSON, Screenshot, Step, SubAgent, ToolCall, Usage

_KINDS: dict[LineKind, str] = {"context": " ", "add": "+", "del": "-"}
_KIND_OF: dict[str, LineKind] = {sign: kind for kind, sign in _KINDS.items()}


# Made once, as making an encoder takes as long as encoding a short step. What was read from JSON has no circles.
_canonical = json.JSONEncoder(ensure_ascii=True, sort_keys=True, separators=(",", ":"), check_circular=False)


def canonical(record: JSON) -> bytes:
    """The one byte string of a JSON value, on which hashes are taken."""
    return _canonical.encode(record).encode("ascii")


def canonical_parts(record: dict[str, JSON]) -> Iterator[bytes]:
    """The same, part by part."""
    return encoded_in_parts(record, _canonical)


def encoded_in_parts(record: dict[str, JSON], encoder: json.JSONEncoder) -> Iterator[bytes]:
    """What an encoder for ASCII makes of an object, a member at a time and of a list an element at a time: the text of
    a run of 50 MB, and its bytes, take twice that."""
    begin = b"{"
    for key in sorted(record) if encoder.sort_keys else record:
        yield begin + encoder.encode(key).encode("ascii") + b":"
        value = record[key]
        if isinstance(value, list) and value:
            for at, each in enumerate(value):
                yield b"," if at else b"["
                yield encoder.encode(each).encode("ascii")
            yield b"]"
        else:
            yield encoder.encode(value).encode("ascii")
        begin = b","
    yield b"}" if record else b"{}"


def hash_and_length(record: dict[str, JSON]) -> tuple[str, int]:
    """Of the one byte string of a large object."""
    digest, length = hashlib.sha256(), 0
    for part in canonical_parts(record):
        digest.update(part)
        length += len(part)
    return digest.hexdigest(), length


def json_sha256(record: JSON) -> str:
    return hashlib.sha256(canonical(record)).hexdigest()


def step_record(step: Step) -> dict[str, JSON]:
    return {
        "prompt": step.prompt,
        "message": step.message,
        "thought": step.thought,
        "calls": [
            {
                "id": call.id,
                "name": call.name,
                "arguments": call.arguments,
                "result": call.result,
                "is_error": call.is_error,
                **({"refused": True} if call.refused else {}),
                **({"pictures": [screenshot_record(each) for each in call.pictures]} if call.pictures else {}),
            }
            for call in step.calls
        ],
        "at": step.at,
        **page_record(step),
        **_around_record(step),
    }


def _around_record(step: Step) -> dict[str, JSON]:
    """What stands around the agent's own act. Nothing for a step without: its hash stays what it was."""
    record: dict[str, JSON] = {}
    if step.dividers:
        record["dividers"] = list(step.dividers)
    if step.after:
        record["after"] = step.after
    if step.model:
        record["model"] = step.model
    if step.agent:
        record["agent"] = step.agent
    if step.usage:
        record["usage"] = usage_record(step.usage)
    for name in ("prompt_pictures", "after_pictures"):
        if pictures := getattr(step, name):
            record[name] = [screenshot_record(each) for each in pictures]
    if step.agents:
        record["agents"] = [
            {
                "name": agent.name,
                "call_id": agent.call_id,
                "task": agent.task,
                "steps": [step_record(step) for step in agent.steps],
            }
            for agent in step.agents
        ]
    return record


def usage_record(usage: Usage) -> dict[str, JSON]:
    """What is known of it."""
    return {name: value for name in Usage.__slots__ if (value := getattr(usage, name)) is not None}


def page_record(step: Step) -> dict[str, JSON]:
    """What the agent saw, but for the picture's bytes. Nothing for a step without: its hash stays what it was."""
    record: dict[str, JSON] = {}
    if step.url:
        record["url"] = step.url
    if step.screenshot is not None:
        record["screenshot"] = screenshot_record(step.screenshot)
    if step.click is not None:
        record["click"] = list(step.click)
    if step.box is not None:
        record["box"] = list(step.box)
    return record


def screenshot_record(screenshot: Screenshot) -> dict[str, JSON]:
    """All of a picture but its bytes."""
    members = ("name", "sha256", "width", "height", "problem")
    return {key: value for key in members if (value := getattr(screenshot, key))}


def step_from(record: dict[str, Any]) -> Step:
    return Step(
        prompt=record["prompt"],
        message=record["message"],
        thought=record["thought"],
        calls=tuple(map(_call_from, record["calls"])),
        at=record["at"],
        url=record.get("url", ""),
        screenshot=Screenshot(**record["screenshot"]) if "screenshot" in record else None,
        click=_numbers(record.get("click"), 2),
        box=_numbers(record.get("box"), 4),
        dividers=tuple(record.get("dividers", ())),
        after=record.get("after", ""),
        model=record.get("model", ""),
        agent=record.get("agent", ""),
        usage=Usage(**record.get("usage", {})),
        prompt_pictures=tuple(Screenshot(**each) for each in record.get("prompt_pictures", ())),
        after_pictures=tuple(Screenshot(**each) for each in record.get("after_pictures", ())),
        agents=tuple(
            SubAgent(agent["name"], agent["call_id"], agent["task"], tuple(map(step_from, agent["steps"])))
            for agent in record.get("agents", ())
        ),
    )


def _call_from(record: dict[str, Any]) -> ToolCall:
    pictures = tuple(Screenshot(**each) for each in record.get("pictures", ()))
    return ToolCall(**{**record, "pictures": pictures})


def _numbers(value: list[float] | None, count: int) -> Any:
    """A tuple of so many numbers; Any, for the type of its length is the caller's."""
    return None if value is None else tuple(value[:count])


def change_record(change: FileChange) -> dict[str, JSON]:
    """All of a change but the steps that made it; a line is `[sign, old number, new number, text, end]`."""
    record: dict[str, JSON] = {
        "path": change.path,
        "old_path": change.old_path,
        "operation": change.operation,
        "source": change.source,
        "old_mode": change.old_mode,
        "new_mode": change.new_mode,
        "is_binary": change.is_binary,
        "old_text": change.old_text,
        "new_text": change.new_text,
        "badges": [[badge.code.value, badge.sentence] for badge in change.badges],
        "added": change.added,
        "removed": change.removed,
        "has_line_numbers": change.has_line_numbers,
        "hunks": [_hunk_record(hunk) for hunk in change.hunks],
    }
    if change.excerpts:
        record["excerpts"] = [_hunk_record(hunk) for hunk in change.excerpts]
    return record


def _hunk_record(hunk: Hunk) -> dict[str, JSON]:
    return {
        "old": [hunk.old_start, hunk.old_count],
        "new": [hunk.new_start, hunk.new_count],
        "section": hunk.section,
        "lines": [[_KINDS[line.kind], line.old_no, line.new_no, line.text, line.ends] for line in hunk.lines],
    }


def change_from(record: dict[str, Any]) -> FileChange:
    facts = {key: value for key, value in record.items() if key not in ("badges", "hunks", "excerpts")}
    return FileChange(
        **facts,
        badges=tuple(Badge(BadgeCode(code), sentence) for code, sentence in record["badges"]),
        hunks=tuple(_hunk_from(hunk) for hunk in record["hunks"]),
        excerpts=tuple(_hunk_from(hunk) for hunk in record.get("excerpts", ())),
    )


def lines_in(record: dict[str, Any], side: Side) -> dict[int, str]:
    """The known lines on that side, as FileChange.lines gives them, without making a change of it."""
    if not record["has_line_numbers"]:
        return change_from(record).lines(side)
    at = 2 if side == "new" else 1
    known = (*record.get("excerpts", ()), *record["hunks"])
    return {row[at]: row[3] for hunk in known for row in hunk["lines"] if row[at] is not None}


def _hunk_from(record: dict[str, Any]) -> Hunk:
    (old_start, old_count), (new_start, new_count) = record["old"], record["new"]
    rows: list[tuple[str, int | None, int | None, str, LineEnd]] = record["lines"]
    lines = tuple(Line(_KIND_OF[sign], old_no, new_no, text, ends) for sign, old_no, new_no, text, ends in rows)
    return Hunk(old_start, old_count, new_start, new_count, record["section"], lines)
