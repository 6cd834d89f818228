"""Reads the calls of an agent that OpenHands steers by the Agent Client Protocol, such as Claude Code or Codex.

Field notes
- ACPToolCallEvent {tool_call_id, title, status: pending | in_progress | completed | failed, tool_kind: read | edit |
  delete | move | search | execute | think | fetch | other, raw_input, raw_output, content, is_error}. A call has an
  event for each of its states, with all that is known by then: the last one counts.
- content: {type: content, content: {type: text, text}}, {type: diff, path, old_text, new_text} (oldText and newText on
  the wire) and {type: terminal}. old_text is the text that was replaced, null where a whole file was written.
- The agent's words come in one MessageEvent at the end.
"""

from potato.runs.converters.blocks import Answer, Content, as_json, joined
from potato.runs.converters.codex_items import content_texts
from potato.runs.converters.conversation import Conversation
from potato.runs.converters.fields import name, objects, text, text_or_none
from potato.runs.converters.result_pictures import pictures_in
from potato.runs.converters.tool_effects import read_tool_effects
from potato.runs.converters.tool_files import CallEffects
from potato.runs.model import JSON, ConversionReport, FileEvent

KIND = "ACPToolCallEvent"
_ENDED = frozenset({"completed", "failed"})


class AcpCalls:
    """The calls of one branch of a conversation, each by its last event."""

    def __init__(self, events: list[dict[str, JSON]]) -> None:
        self._last = {name(event, "tool_call_id"): event for event in events if text(event, "kind") == KIND}

    def take(self, event: dict[str, JSON], conversation: Conversation, report: ConversionReport, model: str) -> None:
        """One more event of a call: its first one is the call, the last one of all its answer."""
        call_id = name(event, "tool_call_id")
        last = self._last.get(call_id, event)
        if call_id in conversation.calls:
            report.dropped["earlier state of a call"] += 1
        else:
            title, kind, given = text(last, "title"), text(last, "tool_kind"), last.get("raw_input")
            tool = kind if kind and kind != "other" else title or "(no name)"
            arguments = given if given not in (None, {}, "") else {"title": title}
            content = Content(calls=[(call_id, tool, arguments)])
            at = text(event, "timestamp")
            conversation.add_agent_message(content, message_id=f"call {call_id}", at=at, model=model)
        if event is last and (text(last, "status") in _ENDED or last.get("is_error") is True):
            failed = last.get("is_error") is True or text(last, "status") == "failed"
            answer = Answer(call_id, _words(last, report), failed, pictures_in(_blocks(last)))
            conversation.answer(answer, last, text(last, "timestamp"))


def acp_effects(event: dict[str, JSON], answer: Answer, report: ConversionReport, folder: str) -> CallEffects:
    """What a call did to files: its differences, else what its input says."""
    events: list[FileEvent] = []
    given = event.get("raw_input")
    differences = [block for block in objects(event.get("content")) if text(block, "type") == "diff"]
    for block in differences:
        path, new = text(block, "path"), text_or_none(block, "new_text")
        old = text_or_none(block, "old_text")
        new = text_or_none(block, "newText") if new is None else new
        old = text_or_none(block, "oldText") if old is None else old
        edit: dict[str, JSON] = {"file_path": path, "content": new}
        if old is not None:
            everywhere = isinstance(given, dict) and given.get("replace_all") is True
            edit = {"file_path": path, "old_string": old, "new_string": new or "", "replace_all": everywhere}
        tool = "write_file" if old is None else "edit"
        events += read_tool_effects(tool, edit, None, answer, report, folder=folder).events
    if differences:
        return CallEffects(tuple(events))
    if text(event, "tool_kind") == "execute":
        return read_tool_effects("bash", given, None, answer, report, folder=folder)
    if isinstance(given, dict) and text(event, "tool_kind") == "edit":
        tool = "edit" if text_or_none(given, "old_string") is not None else "write_file"
        return read_tool_effects(tool, given, None, answer, report, folder=folder)
    return CallEffects()


def _blocks(event: dict[str, JSON]) -> list[dict[str, JSON]]:
    """What a call gave back, without the wrapping of each block and without differences and terminals."""
    inner = [block.get("content", block) for block in objects(event.get("content"))]
    return [block for block in objects(inner) if text(block, "type") not in ("diff", "terminal")]


def _words(event: dict[str, JSON], report: ConversionReport) -> str:
    # Blocks that are texts may have lost their type on their way.
    blocks = [block if text(block, "type") else {"type": "text", **block} for block in _blocks(event)]
    if words := joined(content_texts(blocks, report.unknown)):
        return words
    output = event.get("raw_output")
    if isinstance(output, str) or output is None:
        return output or ""
    return text(output, "formatted_output", "aggregated_output", "output", "stdout") or as_json(output)
