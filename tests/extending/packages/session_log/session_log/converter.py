"""The trace format `session_log`: a line of JSON for each session of an agent.

{"session": "run-1", "request": "Fix the parser", "agent": "model-a", "turns": [
  {"says": "I look at it.", "command": "cat a.py", "output": "a = 1"},
  {"says": "I mend it.", "writes": "a.py", "before": "a = 1", "text": "a = 2"}]}
"""

from collections.abc import Iterator
from typing import Any

from potato.runs.converters.fields import objects, text, text_or_none
from potato.runs.converters.outline import detect_outline
from potato.runs.converters.records import Record, read_records, resumable
from potato.runs.model import (
    AgentRun,
    ConversionReport,
    Converted,
    FileEvent,
    FileWrite,
    ReadingOptions,
    RunFile,
    Step,
    ToolCall,
    Unreadable,
)

KNOWN = frozenset({"says", "command", "output", "writes", "before", "text"})


class SessionLog:
    """Logs of our own agent."""

    name = "session_log"
    label = "Session logs of our agent"

    def recognises(self, head: bytes, filename: str) -> tuple[float, str]:
        for record in detect_outline(head, filename).records():
            if isinstance(record, dict) and "session" in record and isinstance(record.get("turns"), list):
                return 0.9, "it has a session with turns"
        return 0.0, "no record has a session with turns"

    def read(self, lines: RunFile, options: ReadingOptions) -> Iterator[Converted | Unreadable]:
        for record in read_records(lines, options.bounds):
            yield record if isinstance(record, Unreadable) else resumable(_converted(record), record.after)


def _converted(record: Record) -> Converted | Unreadable:
    turns = objects(record.value.get("turns"))
    if not turns:
        sentence = f"Line {record.place} has no turns. A session has them as a list of objects."
        return Unreadable(record.place, "no_turns", sentence)
    report = ConversionReport(repairs=record.repairs)
    events: list[FileEvent] = []
    places: list[int | None] = []
    for at, turn in enumerate(turns):
        report.unknown.update(f"member {member}"[:100] for member in turn.keys() - KNOWN)
        if path := text(turn, "writes"):
            events.append(FileWrite(path, text(turn, "text"), original=text_or_none(turn, "before")))
            places.append(at)
    run = AgentRun(
        external_id=text(record.value, "session"),
        task=text(record.value, "request"),
        agent_model=text(record.value, "agent"),
        steps=tuple(_step(turn) for turn in turns),
        events=tuple(events),
        event_steps=tuple(places),
    )
    return Converted(run, report, record.place)


def _step(turn: dict[str, Any]) -> Step:
    calls = []
    if command := text(turn, "command"):
        calls.append(ToolCall("", "shell", {"command": command}, text_or_none(turn, "output")))
    if path := text(turn, "writes"):
        calls.append(ToolCall("", "write", {"path": path, "text": text(turn, "text")}))
    return Step(message=text(turn, "says"), calls=tuple(calls))
