"""Reads one session of Claude Code from its lines: the live branch, its steps, and what happened to files.

Field notes
- Lines {type, uuid, parentUuid, sessionId, cwd, timestamp, isSidechain, message, toolUseResult}. Types user and
  assistant are the conversation; other known types are noise (NOISE below); a system line says its kind in `subtype`.
- `parentUuid` makes a tree. Who goes back and asks again starts a branch; the branch of the last message is live. The
  results of parallel calls hang on their own calls, beside that path, and belong to it by their call. A
  compact_boundary has no parent but a `logicalParentUuid`. Files exist without any links: their order is the order.
- One message of the agent comes in several lines with one `message.id`, a line for each block.
- A sub-agent's messages have isSidechain (or stand in a progress line, data.type agent_progress): no steps of this run,
  but their edits happened. In stream-json they have parent_tool_use_id.
- isMeta, isCompactSummary: written by the program in the user's name. isApiErrorMessage and the model "<synthetic>":
  written by it in the agent's name.
- stream-json (`--output-format stream-json`) has session_id, no links and mostly no prompt; its first line, system
  init, names cwd.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from traces.converters.blocks import Content, content_of
from traces.converters.conversation import Conversation
from traces.converters.fields import name, text
from traces.converters.prompts import command_with_arguments, words_of_person
from traces.converters.records import Record
from traces.runs import JSON, AgentRun, ConversionReport, Converted, ReadingOptions, Unreadable
from traces.sources import in_words

NOISE = frozenset(
    {
        "progress", "file-history-snapshot", "queue-operation", "system", "summary", "last-prompt", "permission-mode",
        "custom-title", "ai-title", "agent-name", "agent-color", "agent-setting", "tag", "mode", "pr-link",
        "worktree-state", "attachment", "result", "stream_event", "rate_limit_event", "tool_progress", "auth_status",
    }
)  # fmt: skip
MOST_UNKNOWN_KEPT = 1000
_SYNTHETIC = "<synthetic>"


@dataclass(slots=True)
class _Node:
    """A line of the conversation's tree; `event` is None for a line that only links others."""

    key: str
    parent: str
    event: dict[str, JSON] | None
    is_side: bool
    message_id: str


class Session:
    """Takes the lines of one session in the file's order and makes a run of them."""

    def __init__(self, session_id: str, place: int, options: ReadingOptions, task: str = "") -> None:
        self.session_id = session_id
        self._task = task
        self.place = place
        self._options = options
        self._report = ConversionReport()
        self._nodes: list[_Node] = []
        self._by_key: dict[str, _Node] = {}
        self._unknown: list[JSON] = []
        self._folder = ""
        self._started_at = ""
        self._bytes = 0
        self._lines = 0
        self._has_links = False

    def add(self, record: Record) -> None:
        """One line more. Past a bound nothing more is kept, and `finished` says so."""
        self._lines += 1
        self._bytes += record.size
        self._report.repairs.update(record.repairs)
        if self._excess():
            self._nodes.clear()
            self._by_key.clear()
            return
        event = record.value
        kind = text(event, "type")
        self._folder = self._folder or text(event, "cwd")
        if kind in {"user", "assistant"}:
            self._add_message(event, kind, record.place)
        elif kind in NOISE:
            self._add_noise(event, kind, record.place)
        else:
            self._keep_unknown(event, kind or "line without a type")
            self._link(event, None, record.place)

    def finished(self) -> Converted | Unreadable:
        """The run, or why there is none."""
        if excess := self._excess():
            return self._unreadable("too_large", excess)
        live = self._live()
        conversation = Conversation(self._report, task=self._task)
        command = ""
        for node in self._nodes:
            if node.event is None:
                continue
            content = self._content(node.event)
            if node.is_side:
                self._report.dropped["message of a sub-agent"] += 1
                self._take_side(node.event, content, conversation)
            elif node.key not in live:
                self._report.dropped["message of an abandoned branch"] += 1
            elif text(node.event, "type") == "assistant":
                self._take_agent(node, content, conversation)
            else:
                command = command or command_with_arguments(content.texts)
                self._take_user(node.event, content, conversation)
        told = conversation.told(split_tool_calls=self._options.split_tool_calls)
        if not told.steps:
            return self._unreadable(
                "no_steps",
                "has no message of the agent on its live branch, so there is nothing to judge. "
                "Import the session's whole file.",
            )
        run = AgentRun(
            external_id=self.session_id,
            task=conversation.task or command,
            steps=told.steps,
            events=told.events,
            event_steps=told.event_steps,
            folder=self._folder,
            agent_model=told.agent_model,
            started_at=self._started_at,
            unknown_events=tuple(self._unknown),
        )
        return Converted(run, self._report, self.place)

    def _excess(self) -> str:
        bounds = self._options.bounds
        if self._bytes > bounds.run_bytes:
            return f"is over {in_words(bounds.run_bytes)}, the bound of one run."
        if self._lines > bounds.events:
            return f"has over {bounds.events:,} lines, the bound of one run."
        return ""

    def _unreadable(self, code: str, why: str) -> Unreadable:
        named = f"Session {self.session_id}" if self.session_id else "The session without an id"
        return Unreadable(self.place, code, f"{named}, from line {self.place} on, {why}")

    def _add_message(self, event: dict[str, JSON], kind: str, place: int) -> None:
        message = event.get("message")
        if not isinstance(message, dict) or "content" not in message:
            self._keep_unknown(event, f"{kind} line without content")
            self._link(event, None, place)
            return
        self._started_at = self._started_at or text(event, "timestamp")
        self._link(event, event, place)

    def _add_noise(self, event: dict[str, JSON], kind: str, place: int) -> None:
        data = event.get("data")
        if kind == "progress" and isinstance(data, dict) and data.get("type") == "agent_progress":
            inner = data.get("message")
            if isinstance(inner, dict) and isinstance(inner.get("message"), dict):
                # A node of its own beside the tree: the progress line stays a mere link.
                self._nodes.append(_Node(f"line {place}", "", inner, True, ""))
        subtype = text(event, "subtype")
        self._report.dropped[f"{kind} {subtype}" if kind == "system" and subtype else kind] += 1
        self._link(event, None, place)

    def _keep_unknown(self, event: JSON, kind: str) -> None:
        self._report.unknown[kind] += 1
        if len(self._unknown) < MOST_UNKNOWN_KEPT:
            self._unknown.append(event)

    def _link(self, event: dict[str, JSON], kept: dict[str, JSON] | None, place: int) -> None:
        uuid = name(event, "uuid")
        parent = name(event, "parentUuid") or name(event, "logicalParentUuid")
        if uuid in self._by_key and kept is not None and self._by_key[uuid].event == kept:
            self._report.dropped["line that stands twice"] += 1
            return
        key = uuid if uuid and uuid not in self._by_key else f"line {place}"
        if kept is None and not uuid:
            return
        is_side = bool(event.get("isSidechain")) or bool(name(event, "parent_tool_use_id"))
        node = _Node(key, parent, kept, is_side, name(event.get("message"), "id"))
        self._has_links = self._has_links or "parentUuid" in event
        self._nodes.append(node)
        self._by_key[key] = node

    def _live(self) -> set[str]:
        """The keys of the live branch's nodes, with the results that hang beside it."""
        main = [node for node in self._nodes if not node.is_side]
        if not any(node.parent in self._by_key for node in main):
            if self._has_links and len(main) > 1:
                self._report.repairs["lines without links: read in their order"] += 1
            return {node.key for node in main}
        live = self._ancestors(main)
        messages = {node.message_id for node in main if node.key in live and _is_agent(node) and node.message_id}
        live |= {node.key for node in main if _is_agent(node) and node.message_id in messages}
        calls = {call for node in main if node.key in live for call in _ids(node, "tool_use", "id")}
        live |= {node.key for node in main if not calls.isdisjoint(_ids(node, "tool_result", "tool_use_id"))}
        self._count_branches(main, live)
        return live

    def _ancestors(self, main: list[_Node]) -> set[str]:
        position = {node.key: index for index, node in enumerate(main)}
        spoken = [index for index, node in enumerate(main) if node.event is not None]
        index = spoken[-1] if spoken else len(main) - 1
        live: set[str] = set()
        while True:
            node = main[index]
            if node.key in live:
                self._report.repairs["links that go in a circle"] += 1
                return live
            live.add(node.key)
            if not node.parent:
                return live
            if node.parent in position:
                index = position[node.parent]
            elif index:
                self._report.repairs["missing line: joined to the line before"] += 1
                index -= 1
            else:
                self._report.repairs["beginning of the session is not in the file"] += 1
                return live

    def _count_branches(self, main: list[_Node], live: set[str]) -> None:
        branch_of: dict[str, int] = {}
        spoken: set[int] = set()
        for number, node in enumerate(main):
            if node.key not in live:
                branch_of[node.key] = branch_of.get(node.parent, number)
                if node.event is not None:
                    spoken.add(branch_of[node.key])
        if spoken:
            self._report.dropped["abandoned branch"] += len(spoken)

    def _content(self, event: dict[str, JSON]) -> Content:
        message = event["message"]
        return content_of(message.get("content"), self._report.unknown)

    def _take_side(self, event: dict[str, JSON], content: Content, conversation: Conversation) -> None:
        conversation.sub_agent_says(content)
        _answer(event, content, conversation)

    def _take_agent(self, node: _Node, content: Content, conversation: Conversation) -> None:
        assert node.event is not None  # noqa: S101
        model = text(node.event["message"], "model")
        if node.event.get("isApiErrorMessage"):
            self._report.dropped["API error"] += 1
        elif model == _SYNTHETIC:
            self._report.dropped["synthetic message"] += 1
        else:
            at = text(node.event, "timestamp")
            conversation.agent_says(content, message_id=node.message_id or node.key, at=at, model=model)

    def _take_user(self, event: dict[str, JSON], content: Content, conversation: Conversation) -> None:
        _answer(event, content, conversation)
        if event.get("isCompactSummary"):
            self._report.dropped["compact summary"] += 1
        elif event.get("isMeta"):
            self._report.dropped["meta message"] += 1
        elif words := words_of_person(content.texts, self._report.dropped):
            conversation.user_says(words)


def _answer(event: dict[str, JSON], content: Content, conversation: Conversation) -> None:
    outcome = event.get("toolUseResult", event.get("tool_use_result")) if len(content.answers) == 1 else None
    for answer in content.answers:
        conversation.answer(answer, outcome)


def _is_agent(node: _Node) -> bool:
    return node.event is not None and node.event.get("type") == "assistant"


def _ids(node: _Node, kind: str, key: str) -> Iterable[str]:
    if node.event is None:
        return ()
    content = node.event["message"].get("content")
    blocks = content if isinstance(content, list) else ()
    return {name(block, key) for block in blocks if isinstance(block, dict) and block.get("type") == kind} - {""}


def session_key(event: dict[str, JSON]) -> str:
    """Which session a line says it belongs to; "" where it says nothing."""
    return name(event, "sessionId") or name(event, "session_id")
