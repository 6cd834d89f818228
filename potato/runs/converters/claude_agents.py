"""The agents that work for a session's agent: their lines, wherever they stand, and the calls that started them.

Field notes
- Today `SESSION/subagents/agent-ID.jsonl` lies beside SESSION.jsonl, with `agent-ID.meta.json` {agentType, description,
  name, toolUseId, spawnDepth}; those of a workflow lie in `SESSION/subagents/workflows/RUN/`. Before, `agent-ID.jsonl`
  lay beside SESSION.jsonl and named the session in its lines.
- Earlier, the lines stood in the session's own file with isSidechain, or in progress lines {data: {type:
  agent_progress, agentId, prompt, message}, parentToolUseID}. In stream-json they have parent_tool_use_id.
- The answer of the call has `toolUseResult.agentId`, or "agentId: ID" in its text; of a workflow `toolUseResult.runId`.
- agent-acompact-*, agent-aprompt_suggestion-* and agent-aside_question-* work for the program, not for the agent.
- `SESSION/tool-results/NAME` has an output of which the session holds the beginning alone.
"""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from potato.runs.converters.conversation import AGENT_TOOLS, Call, Conversation
from potato.runs.converters.fields import name, text
from potato.runs.converters.json_text import Malformed, parsed
from potato.runs.converters.records import Record, read_records
from potato.runs.model import JSON, ConversionReport, ReadingOptions, RunFile, TooLarge

_AGENT_FILE = re.compile(r"agent-([\w-]{1,100})\.jsonl")
_OF_THE_PROGRAM = re.compile(r"a?(compact|prompt_suggestion|side_question|session_memory|away_summary)\b|a?compact-")
_AGENT_ID = re.compile(r"\bagentId: ([\w-]+)")
_KEPT_ELSEWHERE = re.compile(r"saved to:?\s+\S{0,1000}?[/\\]tool-results[/\\]([\w.-]+)")
_MOST_DEEP = 4
LEFT_OUT_OF_ANOTHER = "sub-agent file of another session: left out"
LEFT_OUT_WITHOUT_ID = "sub-agent file without a session's id: left out"


@dataclass(slots=True)
class SideLines:
    """The lines of one agent, in order; `call_id`, `agent_id` and `kind` as far as they are known."""

    agent_id: str = ""
    call_id: str = ""
    workflow: str = ""
    kind: str = ""
    task: str = ""
    events: list[dict[str, JSON]] = field(default_factory=list)
    is_inline: bool = True
    conversation: Conversation | None = None

    def starts_at(self) -> str:
        return next((at for event in self.events if (at := text(event, "timestamp"))), "")


class Companions:
    """What came with a file that holds these sessions."""

    def __init__(self, source: RunFile, options: ReadingOptions, sessions: Collection[str]) -> None:
        self._source = source
        self._options = options
        self._sessions = sessions
        self._names = source.companions()
        self._reported: set[str] = set()
        self.size = 0
        """How many bytes were read for the session at hand."""

    def session_agents(self, session_id: str, report: ConversionReport) -> Iterator[SideLines]:
        """The agents of the session, each with its lines.

        A file in the session's own folder that none of the file's sessions has is left out and counted, once.
        """
        for path in self._names:
            match = _AGENT_FILE.fullmatch(PurePosixPath(path).name)
            if match is None:
                continue
            beside = self._source.companion(path)
            if "/" not in path and (beside is None or session_id.encode("utf-8", "replace") not in beside.head()):
                continue
            size = self.size
            records = self._records(path, report)
            owner = next((owner for event in records if (owner := text(event, "sessionId"))), "")
            if owner != session_id:
                self.size = size
                self._report_left_out(path, owner, bool(records), report)
                continue
            if _OF_THE_PROGRAM.match(match[1]):
                report.dropped["message of an agent of the program"] += len(records)
                continue
            meta = self._meta(path)
            folder = PurePosixPath(path).parent
            yield SideLines(
                agent_id=match[1],
                call_id=name(meta, "toolUseId"),
                workflow=folder.name if folder.parent.name == "workflows" else "",
                kind=text(meta, "name", "agentType", "description"),
                events=records,
                is_inline=False,
            )

    def _report_left_out(self, path: str, owner: str, has_records: bool, report: ConversionReport) -> None:
        # Files beside the session's are those of every session of that folder; only its own folder promises that they
        # are its own. One of several sessions in a file may be asked before the one that the agent worked for.
        if "/" not in path or not has_records or owner in self._sessions or path in self._reported:
            return
        self._reported.add(path)
        report.repairs[LEFT_OUT_OF_ANOTHER if owner else LEFT_OUT_WITHOUT_ID] += 1

    def whole_result(self, answer: str) -> str:
        """The whole output where the answer names a file that has it and that came along; else the answer."""
        match = _KEPT_ELSEWHERE.search(answer[:20_000])
        # Of a run that is over its bound nothing more is read: it is refused.
        if match is None or self.size > self._options.bounds.run_bytes:
            return answer
        ending = f"tool-results/{match[1]}"
        path = next((name for name in self._names if name.endswith(ending)), None)
        source = self._source.companion(path) if path else None
        if source is None:
            return answer
        try:
            data = source.whole()
        except TooLarge:
            return answer
        self.size += len(data)
        return data.decode("utf-8", "surrogateescape")

    def _records(self, path: str, report: ConversionReport) -> list[dict[str, JSON]]:
        source = self._source.companion(path)
        events = []
        for record in read_records(source, self._options.bounds) if source is not None else ():
            if isinstance(record, Record):
                self.size += record.size
                if self.size <= self._options.bounds.run_bytes:
                    events.append(record.value)
            else:
                report.repairs["unreadable line of a sub-agent"] += 1
        return events

    def _meta(self, path: str) -> JSON:
        source = self._source.companion(path.removesuffix(".jsonl") + ".meta.json")
        if source is None:
            return {}
        try:
            return parsed(source.whole(), ConversionReport().repairs, depth=self._options.bounds.depth)
        except (Malformed, TooLarge):
            return {}


def join_agents(main: Conversation, sides: list[SideLines], report: ConversionReport) -> None:
    """Attach each agent's conversation to the call that started it, at most four levels deep. One whose call is not
    known stands with the step before its first line: nothing is lost."""
    starts = _Starts()
    starts.take(main, 0)
    waiting = [side for side in sides if side.conversation is not None and side.conversation.has_messages()]
    goes_on = True
    while waiting and goes_on:
        left = []
        for side in waiting:
            start = starts.of(side)
            if start is None:
                left.append(side)
                continue
            conversation = _side_conversation(side)
            start.owner.attach(_agent_name(side, start.call), start.call.id, conversation)
            starts.take(conversation, start.depth + 1)
        goes_on = len(left) < len(waiting)
        waiting = left
    for side in waiting:
        report.repairs["sub-agent without its call"] += 1
        main.attach(side.kind or "Sub-agent", "", _side_conversation(side), before=side.starts_at())


@dataclass(frozen=True, slots=True)
class _Start:
    owner: Conversation
    call: Call
    depth: int


class _Starts:
    """The calls that started agents, in conversations that are attached already, by what their agents say of them."""

    def __init__(self) -> None:
        self._by_call: dict[str, _Start] = {}
        self._by_agent: dict[str, _Start] = {}
        self._by_task: dict[str, list[_Start]] = {}

    def take(self, owner: Conversation, depth: int) -> None:
        """Calls of one more conversation; none of one that is too deep."""
        for call in owner.calls.values() if depth < _MOST_DEEP else ():
            start = _Start(owner, call, depth)
            self._by_call.setdefault(call.id, start)
            if call.name not in AGENT_TOOLS:
                continue
            match = _AGENT_ID.search(call.answer.text) if call.answer is not None else None
            for key in (
                name(call.outcome, "agentId"),
                match[1] if match else "",
                *(f"workflow {name(call.outcome, key)}" for key in ("runId", "taskId")),
            ):
                self._by_agent.setdefault(key, start)
            self._by_task.setdefault(text(call.arguments, "prompt").strip(), []).append(start)

    def of(self, side: SideLines) -> _Start | None:
        """The call that started the agent. One that only the task's words name starts one agent."""
        keys = [side.agent_id, f"workflow {side.workflow}" if side.workflow else ""]
        known = self._by_call.get(side.call_id) if side.call_id else None
        known = known or next((self._by_agent[key] for key in keys if key and key in self._by_agent), None)
        waiting = self._by_task.get(side.task.strip(), []) if side.task.strip() else []
        if known is None and waiting:
            return waiting.pop(0)
        if known is not None and side.task.strip():
            self._by_task[side.task.strip()] = [start for start in waiting if start is not known]
        return known


def _side_conversation(side: SideLines) -> Conversation:
    assert side.conversation is not None  # noqa: S101
    return side.conversation


def _agent_name(side: SideLines, call: Call) -> str:
    return side.kind or text(call.arguments, "name", "subagent_type", "description") or "Sub-agent"
