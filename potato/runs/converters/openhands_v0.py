"""Reads the events of OpenHands before its version 1, as its trajectories and the `history` of its results have them.

Field notes
- An action is {id, timestamp, source, action, args, tool_call_metadata: {function_name, tool_call_id, model_response:
  {id, model, choices: [{message: {content, reasoning_content, tool_calls}}]}}}, an observation {id, cause, observation,
  content, extras, success}; `cause` is the id of its action. `message` is a sentence of the program, and no words of
  the agent. In older results args and extras stand in the event itself, and there are no ids; oldest are pairs of both.
- Actions of one model_response.id are one message of the agent. args.thought are its words. What is called, and how,
  stands in the model's own tool_calls; where those are missing, the action and its args say it.
- source: user, agent or environment. Without sources the first message is the user's, and so is one that follows a
  message of the agent.
- edit observations have extras {path, prev_exist, old_content, new_content}. A run has exit_code in extras or in
  extras.metadata. error and user_rejected are observations too.
- delegate {agent, inputs}: what follows up to its observation was done by another agent.
- condensation: the context was compacted. system, recall, change_agent_state and null are the program's own.
- Pictures are data URLs: extras.screenshot and, with its elements marked, extras.set_of_marks of browse;
  extras.image_urls of run_ipython; the content itself of a picture that was read. The content of mcp is JSON with
  blocks of content.
- Python of the first versions edits by functions (`openhands_skills`).
"""

from collections import Counter
from collections.abc import Iterable, Iterator

from potato.runs.converters.blocks import Answer, Content, as_json, named_url, result_text
from potato.runs.converters.conversation import Conversation
from potato.runs.converters.fields import name, objects, text, word_set
from potato.runs.converters.inline_pictures import pictures_of_url, without_pictures
from potato.runs.converters.json_text import read_arguments
from potato.runs.converters.openhands_events import REFUSED, EventRun
from potato.runs.converters.openhands_skills import SkillFiles
from potato.runs.converters.result_pictures import pictures_in
from potato.runs.converters.usage import read_usage
from potato.runs.model import JSON, Screenshot

_NOISE = word_set(
    "system recall change_agent_state agent_state_changed null pause resume stop start_task initialize"
    " condensation_request send_pr push loop_recovery"
)
_TOOLS = {
    "run": "execute_bash", "run_ipython": "execute_ipython_cell", "edit": "str_replace_editor", "read": "read_file",
    "write": "write_file", "call_tool_mcp": "mcp", "browse_interactive": "browser", "browse": "fetch",
}  # fmt: skip
_NOT_ARGUMENTS = word_set(
    "thought action observation id timestamp source message cause tool_call_metadata llm_metrics is_confirmed"
    " confirmation_state keep_prompt action_risk security_risk kernel_init_code wait_for_response timeout hidden"
    " translated_ipython_code impl_source image_urls images_urls agent_state response_id include_extra blocking"
    " is_input"
    " is_static"
)


def flat_events(history: JSON) -> Iterator[JSON]:
    """The events of a history, whose oldest form has pairs of an action and its observation."""
    for entry in history if isinstance(history, list) else ():
        if isinstance(entry, list):
            yield from entry
        else:
            yield entry


def convert_v0(events: Iterable[JSON], run: EventRun) -> None:
    """Put the events into the run's conversation."""
    reader = _Reader(run)
    for event in events:
        if isinstance(event, dict):
            reader.take(event)
        else:
            run.keep_unknown(event, "event that is no object")
    reader.finish()


class _Reader:
    def __init__(self, run: EventRun) -> None:
        self._run = run
        self._conversation = run.conversation
        self._parents: list[tuple[Conversation, str, str]] = []
        self._count = 0
        self._calls: dict[str, str] = {}
        self._open: list[str] = []
        self._was_message_of_agent = False
        self._reasoned = ""
        self._skills = SkillFiles()

    def take(self, event: dict[str, JSON]) -> None:
        self._count += 1
        self._run.started_at = self._run.started_at or text(event, "timestamp")
        if "observation" in event and "action" not in event:
            self._observe(event, text(event, "observation") or "null")
        elif "action" in event:
            self._act(event, text(event, "action") or "null")
        else:
            self._run.keep_unknown(event, "event that is neither action nor observation")

    def _act(self, event: dict[str, JSON], kind: str) -> None:
        arguments = event.get("args")
        values: dict[str, JSON] = arguments if isinstance(arguments, dict) else event
        if kind in _NOISE:
            self._run.report.dropped[kind] += 1
        elif kind == "condensation":
            self._conversation.divide("compacted")
        elif kind == "message":
            self._message(event, values)
        elif kind in ("finish", "reject"):
            words = text(values, "final_thought", "thought", "reason")
            outputs = values.get("outputs")
            self._call(event, kind, {"outputs": outputs} if outputs else {}, words)
            self._conversation.answer(Answer(self._open.pop(), "", is_error=False), at=text(event, "timestamp"))
        elif kind == "delegate":
            shown = {key: value for key, value in values.items() if key in ("agent", "inputs")}
            self._call(event, kind, shown, text(values, "thought"))
            self._begin_agent(text(values, "agent") or "agent", as_json(values.get("inputs")))
        elif text(event, "source") == "user" and kind == "run":
            command = text(values, "command")
            self._conversation.add_user_message(f"! {command}")
            self._conversation.user_runs(command, text(event, "timestamp"))
        else:
            shown = {key: value for key, value in values.items() if key not in _NOT_ARGUMENTS and value is not None}
            self._call(event, _TOOLS.get(kind, kind), shown, text(values, "thought") if kind != "think" else "")

    def _message(self, event: dict[str, JSON], values: dict[str, JSON]) -> None:
        words = text(values, "content")
        source = text(event, "source")
        is_first = not self._conversation.has_messages() and not self._was_message_of_agent
        from_user = source == "user" or (not source and (is_first or self._was_message_of_agent))
        if from_user:
            listed = values.get("image_urls") or values.get("images_urls")
            urls = [url for url in listed if isinstance(url, str)] if isinstance(listed, list) else []
            pictures = [each for url in urls for each in pictures_of_url(url)]
            self._conversation.add_user_message("\n".join([words, *map(named_url, urls)]), pictures)
        else:
            response = _response(event)
            self._say(event, Content(texts=[words], thoughts=self._reasoning(response)))
        self._was_message_of_agent = not from_user

    def _call(self, event: dict[str, JSON], tool: str, arguments: JSON, words: str) -> None:
        metadata = event.get("tool_call_metadata")
        call_id = text(metadata, "tool_call_id")
        response = _response(event)
        for call in _tool_calls(response):
            if call_id and text(call, "id") == call_id:
                function = call.get("function")
                tool = text(function, "name") or tool
                arguments = read_arguments(function.get("arguments")) if isinstance(function, dict) else arguments
        key = call_id if call_id and call_id not in self._conversation.calls else f"call {self._count}"
        self._calls[name(event, "id") or key] = key
        self._calls[call_id or key] = key
        self._open.append(key)
        self._say(event, Content([words], self._reasoning(response), [(key, tool, arguments)]))
        self._was_message_of_agent = False

    def _reasoning(self, response: JSON) -> list[str]:
        """What the model thought, told with the first of the actions, each of which has the model's whole answer."""
        own = text(response, "id")
        is_told = bool(own) and own == self._reasoned
        self._reasoned = own
        if is_told:
            return []
        return [words for message in _messages(response) if (words := text(message, "reasoning_content"))]

    def _say(self, event: dict[str, JSON], content: Content) -> None:
        response = _response(event)
        model = text(response, "model")
        at = text(event, "timestamp")
        # Actions of one answer of the model are one message; its words are written into the first of them alone.
        message_id = text(response, "id") or f"event {self._count}"
        usage = read_usage(response.get("usage") if isinstance(response, dict) else None)
        self._conversation.add_agent_message(content, message_id=message_id, at=at, model=model, usage=usage)

    def _observe(self, event: dict[str, JSON], kind: str) -> None:
        if kind in _NOISE:
            self._run.report.dropped[f"{kind} observation" if kind == "recall" else kind] += 1
            return
        if kind in ("delegate", "agent_delegate") and self._parents:
            self._end_agent()
        extras = event.get("extras")
        values: dict[str, JSON] = extras if isinstance(extras, dict) else event
        cause = name(event, "cause") or text(event.get("tool_call_metadata"), "tool_call_id")
        call_id = self._calls.get(cause, "")
        if not call_id and "cause" not in event and self._open:
            call_id = self._open[0]
        if call_id in self._open:
            self._open.remove(call_id)
        at = text(event, "timestamp")
        if not call_id:
            self._run.report.dropped[f"{kind} observation of no call"] += 1
            return
        refused = kind == "user_rejected"
        answer = _answer(event, values, kind, call_id)
        call = self._conversation.calls.get(call_id)
        self._conversation.answer(answer, REFUSED if refused else values if kind == "edit" else None, at)
        if call is None:
            return
        if kind != "run_ipython":
            self._skills.forget_named(as_json(call.arguments))
        elif effects := self._skills.effects(text(call.arguments, "code"), answer.text):
            self._conversation.record_effects(call_id, effects, at)

    def _begin_agent(self, agent: str, task: str) -> None:
        self._parents.append((self._conversation, agent, self._open.pop()))
        self._conversation = self._run.new_conversation(task)

    def _end_agent(self) -> None:
        parent, agent, call_id = self._parents.pop()
        if self._conversation.has_messages():
            parent.attach(agent, call_id, self._conversation)
        self._conversation = parent
        self._open.append(call_id)

    def finish(self) -> None:
        while self._parents:
            self._end_agent()


def _answer(event: dict[str, JSON], values: dict[str, JSON], kind: str, call_id: str) -> Answer:
    content = event.get("content")
    words, pictures = _words_and_pictures(content, kind, values)
    metadata = values.get("metadata")
    code = values.get("exit_code", metadata.get("exit_code") if isinstance(metadata, dict) else None)
    failed = kind == "error" or (kind == "run" and type(code) is int and code > 0) or event.get("success") is False
    return Answer(call_id, words, failed, pictures)


def _words_and_pictures(content: JSON, kind: str, values: dict[str, JSON]) -> tuple[str, tuple[Screenshot, ...]]:
    """What came back as text, in which a line names each picture, and the pictures in the order of their lines."""
    blocks = _blocks(content) if kind == "mcp" and isinstance(content, str) else None
    if blocks is not None:
        words, pictures = result_text(blocks, Counter()), pictures_in(blocks)
    elif isinstance(content, str):
        words, pictures = without_pictures(content)
    else:
        words, pictures = "" if content is None else as_json(content), ()
    listed = values.get("image_urls")
    # The page with its elements marked is the same page once more.
    page = text(values, "screenshot") or text(values, "set_of_marks")
    for url in [page, *(listed if isinstance(listed, list) else [])]:
        if isinstance(url, str) and (shown := pictures_of_url(url)):
            words, pictures = "\n".join(filter(None, (words, named_url(url)))), (*pictures, *shown)
    return words, pictures


def _blocks(content: str) -> list[JSON] | None:
    """The blocks of an MCP answer in JSON that has a picture; None for any other."""
    if '"image"' not in content:
        return None
    value = read_arguments(content)
    blocks = value.get("content") if isinstance(value, dict) else None
    return blocks if isinstance(blocks, list) else None


def _response(event: dict[str, JSON]) -> JSON:
    metadata = event.get("tool_call_metadata")
    return metadata.get("model_response") if isinstance(metadata, dict) else None


def _messages(response: JSON) -> list[dict[str, JSON]]:
    choices = objects(response.get("choices")) if isinstance(response, dict) else []
    return [message for choice in choices if isinstance(message := choice.get("message"), dict)]


def _tool_calls(response: JSON) -> list[dict[str, JSON]]:
    return [call for message in _messages(response) for call in objects(message.get("tool_calls"))]
