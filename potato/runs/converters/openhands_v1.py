"""Reads the events of OpenHands since its version 1 (the software agent SDK).

Field notes
- Events {id, timestamp, source, kind, parent_id}. ActionEvent {thought: [{text}], reasoning_content, thinking_blocks,
  action, tool_name, tool_call_id, tool_call: {name, arguments}, llm_response_id}; `action` is null for a call that
  could not be run. ObservationEvent {observation, tool_call_id, action_id}, AgentErrorEvent {error, tool_call_id},
  UserRejectObservation {rejection_reason, rejection_source: user | hook}, MessageEvent {source, llm_message: {role,
  content, reasoning_content}}. Actions of one llm_response_id are one message of the agent.
- An observation has content: [{type: text, text} | {type: image}], or output in the first versions; is_error; of a
  terminal exit_code or metadata.exit_code; of the file editor path, prev_exist, old_content, new_content.
- Events are a tree: `parent_id` is the one before, `leaf_event_id` of base_state.json the newest one of the branch on
  which the conversation goes on. Others were left. Without parents the order is the order.
- Condensation: the context was compacted. SystemPromptEvent, ConversationStateUpdateEvent, PauseEvent, TokenEvent,
  StreamingDeltaEvent and the like are the program's own.
- Agents that the tools delegate and task start keep events of their own elsewhere.
"""

from potato.runs.converters.blocks import Answer, Content, as_json, joined
from potato.runs.converters.codex_items import content_texts
from potato.runs.converters.conversation import Conversation
from potato.runs.converters.fields import name, objects, text, word_set
from potato.runs.converters.json_text import read_arguments
from potato.runs.converters.openhands_events import REFUSED, EventRun
from potato.runs.converters.result_pictures import pictures_in, pictures_of_message
from potato.runs.converters.tool_files import CallEffects
from potato.runs.model import JSON

KINDS = word_set(
    "ActionEvent ObservationEvent AgentErrorEvent UserRejectObservation MessageEvent SystemPromptEvent Condensation"
    " CondensationRequest CondensationSummaryEvent ConversationStateUpdateEvent PauseEvent ConversationErrorEvent"
)
_NOISE = word_set(
    "SystemPromptEvent ConversationStateUpdateEvent PauseEvent TokenEvent StreamingDeltaEvent LLMCompletionLogEvent"
    " HookExecutionEvent CondensationRequest CondensationSummaryEvent ConversationErrorEvent UserActionEvent"
    " ConversationIterationLimitEvent WarningEvent InterruptEvent ResumeTranscriptEvent"
)
_AGENTS = word_set("delegate task task_tool")
_LOST = (
    "Agents were started whose events are not here, and what happened there is not shown. OpenHands keeps them beside "
    "the conversation's own folder."
)


def convert_v1(events: list[dict[str, JSON]], leaf: str, run: EventRun) -> None:
    """Put the events into the run's conversation; `leaf` is the newest event of the live branch, "" where unknown."""
    live = _live(events, leaf)
    left: Conversation | None = None
    main = run.conversation
    for number, event in enumerate(events, 1):
        run.started_at = run.started_at or text(event, "timestamp")
        if live is not None and name(event, "id") not in live:
            run.report.dropped["event of an abandoned branch"] += 1
            if left is None:
                left = run.new_conversation(is_left_behind=True)
                main.left_behind(left)
            _take(event, number, run, left)
        else:
            _take(event, number, run, main)


def _live(events: list[dict[str, JSON]], leaf: str) -> set[str] | None:
    """The events from the first one to the leaf; None where nothing was left, or nobody can tell."""
    parents = {name(event, "id"): text(event, "parent_id") for event in events}
    if leaf not in parents or not any(parents.values()):
        return None
    live: set[str] = set()
    at = leaf
    while at in parents and at not in live:
        live.add(at)
        at = parents[at]
    # Events from before there were parents come first, and belong to all branches.
    for event in events:
        if text(event, "parent_id"):
            break
        live.add(name(event, "id"))
    return None if len(live) >= len(parents) else live


def _take(event: dict[str, JSON], number: int, run: EventRun, conversation: Conversation) -> None:
    kind, at = text(event, "kind"), text(event, "timestamp")
    match kind:
        case "ActionEvent":
            _act(event, number, run, conversation)
        case "MessageEvent":
            _message(event, number, run, conversation)
        case "ObservationEvent":
            _observe(event, run, conversation)
        case "AgentErrorEvent":
            conversation.answer(Answer(name(event, "tool_call_id"), text(event, "error"), is_error=True), at=at)
        case "UserRejectObservation":
            reason = text(event, "rejection_reason")
            is_user = text(event, "rejection_source") in ("", "user")
            answer = Answer(name(event, "tool_call_id"), reason, is_error=not is_user)
            conversation.answer(answer, REFUSED if is_user else None, at)
        case "Condensation":
            conversation.divide("compacted")
        case _ if kind in _NOISE:
            run.report.dropped[kind] += 1
        case _:
            run.keep_unknown(event, f"event {kind or 'without a kind'}")


def _act(event: dict[str, JSON], number: int, run: EventRun, conversation: Conversation) -> None:
    call, action = event.get("tool_call"), event.get("action")
    function = call.get("function", call) if isinstance(call, dict) else None
    tool = text(event, "tool_name") or text(function, "name") or text(action, "kind") or "(no name)"
    arguments = read_arguments(function.get("arguments")) if isinstance(function, dict) else None
    if not isinstance(arguments, dict) and isinstance(action, dict):
        arguments = {key: value for key, value in action.items() if key != "kind" and value is not None}
    call_id = name(event, "tool_call_id") or f"call {number}"
    content = Content(
        content_texts(event.get("thought"), run.report.unknown), _thoughts(event), [(call_id, tool, arguments)]
    )
    message_id = text(event, "llm_response_id") or f"event {number}"
    conversation.add_agent_message(content, message_id=message_id, at=text(event, "timestamp"), model=run.model)
    if tool in _AGENTS and action is not None:
        conversation.record_effects(call_id, CallEffects(doubts_all="A sub-agent, whose events are missing,"))
        if _LOST not in run.gaps:
            run.gaps.append(_LOST)


def _message(event: dict[str, JSON], number: int, run: EventRun, conversation: Conversation) -> None:
    message = event.get("llm_message")
    if not isinstance(message, dict):
        run.keep_unknown(event, "MessageEvent without a message")
        return
    texts = content_texts(message.get("content"), run.report.unknown)
    if text(event, "source") == "user" or text(message, "role") == "user":
        if words := joined(texts):
            conversation.add_user_message(words, pictures_of_message(message.get("content")))
        return
    message_id = text(event, "llm_response_id") or f"event {number}"
    content = Content(texts, _thoughts(message) or _thoughts(event))
    conversation.add_agent_message(content, message_id=message_id, at=text(event, "timestamp"), model=run.model)


def _thoughts(record: dict[str, JSON]) -> list[str]:
    blocks = [words for block in objects(record.get("thinking_blocks")) if (words := text(block, "thinking"))]
    own = text(record, "reasoning_content")
    summary = record.get("responses_reasoning_item")
    summary_parts = summary.get("summary") if isinstance(summary, dict) else None
    parts = [part for part in summary_parts if isinstance(part, str)] if isinstance(summary_parts, list) else []
    return [own] if own else blocks or parts


def _observe(event: dict[str, JSON], run: EventRun, conversation: Conversation) -> None:
    observation = event.get("observation")
    if not isinstance(observation, dict):
        run.keep_unknown(event, "ObservationEvent without an observation")
        return
    texts = content_texts(observation.get("content"), run.report.unknown)
    words = joined(texts) or text(observation, "output", "error", "message", "text")
    if not words and "content" not in observation:
        words = as_json({key: value for key, value in observation.items() if key != "kind"})
    metadata = observation.get("metadata")
    code = observation.get("exit_code", metadata.get("exit_code") if isinstance(metadata, dict) else None)
    failed = observation.get("is_error") is True or bool(text(observation, "error"))
    failed = failed or (type(code) is int and code > 0)
    answer = Answer(name(event, "tool_call_id"), words, failed, pictures_in(observation.get("content")))
    conversation.answer(answer, observation if "new_content" in observation else None, text(event, "timestamp"))
