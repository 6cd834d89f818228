"""Reads the events of OpenHands since its version 1 (the software agent SDK).

Field notes
- Events {id, timestamp, source, kind, parent_id}. ActionEvent {thought: [{text}], reasoning_content, thinking_blocks,
  action, tool_name, tool_call_id, tool_call: {name, arguments}, llm_response_id}; `action` is null for a call that
  could not be run. ObservationEvent {observation, tool_call_id, action_id}, AgentErrorEvent {error, tool_call_id},
  UserRejectObservation {rejection_reason, rejection_source: user | hook}, MessageEvent {source, llm_message: {role,
  content, reasoning_content}}. Actions of one llm_response_id are one message of the agent.
- An observation has content: [{type: text, text} | {type: image}], or output in the first versions; is_error; of a
  terminal exit_code or metadata.exit_code; of the file editor path, prev_exist, old_content, new_content, of the tools
  edit and write_file file_path, is_new_file and these contents; of a browser screenshot_data, a picture in base64.
- extended_content is what the program added for the model to a message or an observation.
- Calls of an agent behind the Agent Client Protocol stand in `openhands_acp`.
- Events are a tree: `parent_id` is the one before, `leaf_event_id` of base_state.json the newest one of the branch on
  which the conversation goes on. Others were left. Without parents the order is the order.
- ConversationStateUpdateEvent {key: full_state | stats | ..., value}: the state, as base_state.json has it.
- Condensation: the context was compacted. SystemPromptEvent, ConversationStateUpdateEvent, PauseEvent, TokenEvent,
  StreamingDeltaEvent and the like are the program's own.
- Agents that the tools delegate and task start keep events of their own elsewhere.
"""

from potato.runs.converters.blocks import Answer, Content, as_json, joined, named_url
from potato.runs.converters.codex_items import content_texts
from potato.runs.converters.conversation import Conversation
from potato.runs.converters.fields import name, objects, text, word_set
from potato.runs.converters.inline_pictures import pictures_of_url
from potato.runs.converters.json_text import read_arguments
from potato.runs.converters.openhands_acp import AcpCalls
from potato.runs.converters.openhands_events import REFUSED, EventRun
from potato.runs.converters.result_pictures import pictures_in, pictures_of_message
from potato.runs.converters.tool_files import CallEffects
from potato.runs.model import JSON, NO_USAGE

KINDS = word_set(
    "ActionEvent ObservationEvent AgentErrorEvent UserRejectObservation MessageEvent SystemPromptEvent Condensation"
    " CondensationRequest CondensationSummaryEvent ConversationStateUpdateEvent PauseEvent ConversationErrorEvent"
    " ACPToolCallEvent"
)
_NOISE = word_set(
    "SystemPromptEvent ConversationStateUpdateEvent PauseEvent TokenEvent StreamingDeltaEvent LLMCompletionLogEvent"
    " HookExecutionEvent CondensationRequest CondensationSummaryEvent ConversationErrorEvent UserActionEvent"
    " ConversationIterationLimitEvent WarningEvent InterruptEvent ResumeTranscriptEvent"
)
_AGENTS = word_set("delegate task task_tool")
_PICTURES = {"/9j/": "image/jpeg", "R0lGODlh": "image/gif", "UklGR": "image/webp"}
"""The kinds of pictures by how their base64 begins; what begins otherwise is a PNG."""
_LOST = (
    "Agents were started whose events are not here, and what happened there is not shown. OpenHands keeps them beside "
    "the conversation's own folder."
)


def convert_v1(events: list[dict[str, JSON]], leaf: str, run: EventRun) -> None:
    """Put the events into the run's conversation; `leaf` is the newest event of the live branch, "" where unknown."""
    live = _live(events, leaf)
    left: Conversation | None = None
    for event in events:
        # Those of lists alone: of a folder the state stands in its own file.
        if text(event, "kind") == "ConversationStateUpdateEvent":
            if text(event, "key") == "full_state":
                run.take_state(event.get("value"))
            elif text(event, "key") == "stats":
                run.take_statistics(event.get("value"))
    main = run.conversation
    is_live = [live is None or name(event, "id") in live for event in events]
    calls = AcpCalls([event for event, lives in zip(events, is_live, strict=True) if lives])
    calls_left = AcpCalls([event for event, lives in zip(events, is_live, strict=True) if not lives])
    for number, event in enumerate(events, 1):
        run.started_at = run.started_at or text(event, "timestamp")
        if not is_live[number - 1]:
            run.report.dropped["event of an abandoned branch"] += 1
            if left is None:
                left = run.new_conversation(is_left_behind=True)
                main.left_behind(left)
            _take(event, number, run, left, calls_left)
        else:
            _take(event, number, run, main, calls)


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


def _take(event: dict[str, JSON], number: int, run: EventRun, conversation: Conversation, calls: AcpCalls) -> None:
    kind, at = text(event, "kind"), text(event, "timestamp")
    if objects(event.get("extended_content")):
        run.report.dropped["context that the program wrote"] += 1
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
        case "ACPToolCallEvent":
            calls.take(event, conversation, run.report, run.model)
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
    usage = run.usages.get(message_id, NO_USAGE)
    at = text(event, "timestamp")
    conversation.add_agent_message(content, message_id=message_id, at=at, model=run.model, usage=usage)
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
    usage = run.usages.get(message_id, NO_USAGE)
    at = text(event, "timestamp")
    conversation.add_agent_message(content, message_id=message_id, at=at, model=run.model, usage=usage)


def _thoughts(record: dict[str, JSON]) -> list[str]:
    blocks = [words for block in objects(record.get("thinking_blocks")) if (words := text(block, "thinking"))]
    own = text(record, "reasoning_content")
    summary = record.get("responses_reasoning_item")
    # Its own words where they are not hidden, else their summary.
    told = (summary.get("content") or summary.get("summary")) if isinstance(summary, dict) else None
    parts = [part for part in told if isinstance(part, str)] if isinstance(told, list) else []
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
    pictures = pictures_in(observation.get("content"))
    if page := text(observation, "screenshot_data"):
        url = f"data:{_media_type(page)};base64,{page}"
        words, pictures = joined([words, named_url(url)]), (*pictures, *pictures_of_url(url))
    answer = Answer(name(event, "tool_call_id"), words, failed, pictures)
    conversation.answer(answer, observation if "new_content" in observation else None, text(event, "timestamp"))


def _media_type(data: str) -> str:
    return next((kind for begin, kind in _PICTURES.items() if data.startswith(begin)), "image/png")
