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
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from traces.converters.conversation import AGENT_TOOLS, Conversation
from traces.converters.fields import name, text
from traces.converters.json_text import Malformed, parsed
from traces.converters.records import Record, records_of
from traces.runs import JSON, ConversionReport, ReadingOptions, Source, TooLarge

_AGENT_FILE = re.compile(r"agent-([\w-]{1,100})\.jsonl")
_OF_THE_PROGRAM = re.compile(r"a?(compact|prompt_suggestion|side_question|session_memory|away_summary)\b|a?compact-")
_AGENT_ID = re.compile(r"\bagentId: ([\w-]+)")
_KEPT_ELSEWHERE = re.compile(r"saved to:?\s+\S*?([^/\\\s]+)[/\\]tool-results[/\\]([\w.-]+)")
_MOST_DEEP = 4


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
    """What came with a session's file."""

    def __init__(self, source: Source, options: ReadingOptions) -> None:
        self._source = source
        self._options = options
        self._names = source.companions()
        self.size = 0
        """How many bytes were read for the session at hand."""

    def agents_of(self, session_id: str, report: ConversionReport) -> Iterator[SideLines]:
        """The agents of the session, each with its lines."""
        for path in self._names:
            match = _AGENT_FILE.fullmatch(PurePosixPath(path).name)
            if match is None:
                continue
            records = self._records(path, report)
            first = next((event for event in records if text(event, "sessionId")), None)
            if first is None or text(first, "sessionId") != session_id:
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

    def whole_result(self, answer: str) -> str:
        """The whole output where the answer names a file that has it and that came along; else the answer."""
        match = _KEPT_ELSEWHERE.search(answer[:20_000])
        if match is None:
            return answer
        wanted = f"tool-results/{match[2]}"
        path = next((one for one in self._names if one.endswith(wanted)), None)
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
        found = []
        for record in records_of(source, self._options.bounds) if source is not None else ():
            if isinstance(record, Record):
                self.size += record.size
                if self.size <= self._options.bounds.run_bytes:
                    found.append(record.value)
            else:
                report.repairs["unreadable line of a sub-agent"] += 1
        return found

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
    conversations = [(main, 0)]
    waiting = [side for side in sides if side.conversation is not None and side.conversation.has_messages()]
    claimed: set[str] = set()
    goes_on = True
    while waiting and goes_on:
        goes_on = False
        for side in list(waiting):
            for owner, depth in conversations:
                call_id = _call_of(side, owner, claimed) if depth < _MOST_DEEP else ""
                if call_id:
                    claimed.add(call_id)
                    conversation = _conversation_of(side)
                    owner.attach(_name_of(side, owner, call_id), call_id, conversation)
                    conversations.append((conversation, depth + 1))
                    waiting.remove(side)
                    goes_on = True
                    break
    for side in waiting:
        report.repairs["sub-agent without its call"] += 1
        main.attach(side.kind or "Sub-agent", "", _conversation_of(side), before=side.starts_at())


def _conversation_of(side: SideLines) -> Conversation:
    assert side.conversation is not None  # noqa: S101
    return side.conversation


def _call_of(side: SideLines, owner: Conversation, claimed: set[str]) -> str:
    """The owner's call that started the agent; "" where there is none. Several agents may be one workflow's."""
    if side.conversation is owner:
        return ""
    if side.call_id in owner.calls:
        return side.call_id
    started = [call for call in owner.calls.values() if call.name in AGENT_TOOLS]
    for call in started:
        answer = call.answer.text if call.answer is not None else ""
        if side.workflow and side.workflow in (name(call.outcome, "runId"), name(call.outcome, "taskId")):
            return call.id
        match = _AGENT_ID.search(answer)
        if side.agent_id and side.agent_id in (name(call.outcome, "agentId"), match[1] if match else ""):
            return call.id
    task = side.task.strip()
    for call in started:
        if task and call.id not in claimed and text(call.arguments, "prompt").strip() == task:
            return call.id
    return ""


def _name_of(side: SideLines, owner: Conversation, call_id: str) -> str:
    arguments = owner.calls[call_id].arguments
    return side.kind or text(arguments, "name", "subagent_type", "description") or "Sub-agent"
