"""The format `claude_code`: sessions of Claude Code, its stream-json, Anthropic messages, and structured turns.

A file may hold several sessions, one after another or mixed, and any number of records that are a run each. What a
session's lines hold stands in `claude_session`; the one-record forms in `claude_records`.

Field notes
- Lines belong to a session by `sessionId` (stream-json: session_id). Lines that name none, such as `summary`, which
  may come first in a session that goes on with another, belong to the session around them.
- A file lies beside a folder of its name without ".jsonl", which has the session's sub-agents and long outputs.
- The id of a run is its session's, its task the first prompt that a person wrote, its model the one that wrote most
  of its messages, its folder the first cwd.
"""

from collections.abc import Iterator
from dataclasses import replace

from potato.runs.converters.claude_agents import Companions
from potato.runs.converters.claude_records import as_line, is_whole_run, run_of_record
from potato.runs.converters.claude_session import NOISE, Session, session_key
from potato.runs.converters.fields import objects, text
from potato.runs.converters.outline import detect_outline
from potato.runs.converters.records import Record, read_records, resumable
from potato.runs.model import BEGINNING, JSON, Converted, ReadingOptions, ReadPosition, RunFile, Unreadable

_FOREIGN_KEYS = frozenset({"trajectory_format", "trajectory", "payload", "schema_version", "samples", "steps"})


class ClaudeCode:
    """Claude Code sessions and their relatives."""

    name = "claude_code"
    label = "Claude Code session, Anthropic messages, structured turns"

    def recognises(self, head: bytes, filename: str) -> tuple[float, str]:
        records = [record for record in detect_outline(head, filename).records() if isinstance(record, dict)]
        for record in records:
            if isinstance(record.get("structured_turns"), list):
                return 1.0, "it has structured_turns"
        lines = [record for record in records if _is_line(record)]
        if lines:
            first = lines[0]
            if "sessionId" in first or "uuid" in first or "leafUuid" in first or "messageId" in first:
                return 0.95, f"its lines are those of a Claude Code session (type {text(first, 'type')})"
            return 0.9, f"its lines are stream-json of Claude Code (type {text(first, 'type')})"
        if any(isinstance(record.get("loglines"), list) for record in records):
            return 0.9, "it has the loglines of an exported session"
        return _recognises_messages(records)

    def read(self, lines: RunFile, options: ReadingOptions) -> Iterator[Converted | Unreadable]:
        last_lines = _last_lines(lines, options)
        companions = Companions(lines, options, last_lines.keys())
        sessions: dict[str, Session] = {}
        current = lines.begin.state or ""
        for record in read_records(lines, options.bounds):
            # Between sessions alone, reading can begin anew.
            after = replace(record.after, state=current) if record.after and not sessions else None
            if isinstance(record, Unreadable):
                yield resumable(record, after)
                continue
            if is_whole_run(record.value):
                yield resumable(run_of_record(record, options), after)
                continue
            line = Record(record.place, as_line(record.value), record.repairs, record.size)
            current = session_key(line.value) or current or next(iter(last_lines))
            if current not in sessions:
                sessions[current] = Session(current, record.place, options, companions=companions)
            sessions[current].add(line)
            if _at(record) == last_lines[current]:
                finished = sessions.pop(current).finished()
                after = replace(record.after, state=current) if record.after and not sessions else None
                yield resumable(finished, after)

    def survey(self, lines: RunFile, options: ReadingOptions, survey: dict[str, JSON]) -> Iterator[ReadPosition]:
        """Where each session ends, so that mixed sessions are told apart while only open ones are in memory."""
        last: dict[str, JSON] = survey.setdefault("last", {})
        for record in read_records(lines, options.bounds):
            if not isinstance(record, Unreadable) and not is_whole_run(record.value):
                survey["current"] = session_key(record.value) or survey.get("current", "")
                if survey["current"]:
                    last[survey["current"]] = _at(record)
                else:
                    survey["before_any"] = _at(record)
            if record.after:
                yield record.after


def _at(record: Record) -> list[int]:
    """Which record of the file it is: two may stand on one line."""
    return [record.place, record.nth]


def _last_lines(source: RunFile, options: ReadingOptions) -> dict[str, JSON]:
    """What a survey found: the last record of each session."""
    survey = source.survey
    if survey is None:
        survey = {}
        for _ in ClaudeCode().survey(source.at(BEGINNING), options, survey):
            pass
    return survey["last"] or {"": survey.get("before_any", [0, 0])}


def _is_line(record: dict[str, JSON]) -> bool:
    kind = text(record, "type")
    if kind in {"user", "assistant"}:
        return isinstance(record.get("message"), dict)
    marks = {"sessionId", "session_id", "uuid", "leafUuid", "messageId", "parentUuid"}
    return kind in NOISE and not marks.isdisjoint(record) and "payload" not in record


def _recognises_messages(records: list[dict[str, JSON]]) -> tuple[float, str]:
    for record in records:
        messages = objects(record.get("messages"))
        if "role" in record and "content" in record:
            messages = records
        if not messages or not _FOREIGN_KEYS.isdisjoint(record):
            continue
        if any("tool_calls" in message or text(message, "role") == "tool" for message in messages):
            return 0.0, "its messages have tool_calls, as OpenAI's have, and no tool_use blocks"
        kinds = {text(block, "type") for message in messages for block in objects(message.get("content"))}
        if not kinds.isdisjoint({"tool_use", "tool_result", "thinking"}):
            return 0.9, "it has Anthropic messages with tool_use blocks"
        if any(text(message, "role") == "assistant" for message in messages):
            return 0.3, "its messages have roles and contents, as those of many formats have, and no tool_use blocks"
    return 0.0, "no line is one of a session, and no record has messages, loglines or structured_turns"
