"""Builds a run from messages in OpenAI's forms: chat messages, and the items of Responses.

Field notes (OpenAI's API reference, chat completions and Responses)
- Chat: {role: system|developer|user|assistant|tool|function, content, tool_calls: [{id, type, function: {name,
  arguments}, or custom: {name, input}}], tool_call_id, name}. `arguments` is JSON as text; other programs write the
  object itself; `input` is a text of its own. Earlier: function_call {name, arguments}, answered by the role function.
  `content` is a text or parts: {type: text, text},
  {type: refusal, refusal}, {type: image_url, image_url: {url}}, input_audio, file. Reasoning, where a program keeps it:
  reasoning_content, reasoning or thinking; reasoning_details is the same again, or encrypted.
- Responses: items {type: message, role, content: [{type: input_text|output_text|refusal|input_image}]}, reasoning
  {summary: [{text}], content, encrypted_content}, function_call {call_id, name, arguments}, function_call_output
  {call_id, output}, custom_tool_call {call_id, name, input} and its _output, local_shell_call {call_id, action:
  {command}}, shell_call {action: {commands}} with an outcome {type, exit_code} in each part of its output,
  apply_patch_call {operation}, computer_call {action}, each with an item named _output. Tools at the model's side have
  call and answer in one item: web_search_call {action}, file_search_call {queries, results}, code_interpreter_call
  {code, outputs}, mcp_call {name, arguments, output, error}, image_generation_call. An item without a type that has a
  role is a message.
- A response is one message of the agent, from its first item until an answer or a prompt follows.
- Nothing says that a call failed but its words (`chat_tools`), or `status` and `error` of an item.
"""

import re
from collections import Counter

from potato.runs.converters.blocks import Answer, Content, as_json
from potato.runs.converters.chat_tools import ChatTools, has_failed
from potato.runs.converters.conversation import Conversation, ConversationSteps
from potato.runs.converters.fields import name, objects, text
from potato.runs.converters.json_text import Malformed, parsed
from potato.runs.converters.result_pictures import pictures_in, pictures_of_message
from potato.runs.converters.swe_agent_actions import read_action
from potato.runs.converters.text_calls import (
    TextCall,
    is_answer,
    read_block,
    read_text_calls,
    split_thought,
    without_heading,
)
from potato.runs.converters.usage import read_usage
from potato.runs.model import JSON, NO_USAGE, ConversionReport, ReadingOptions, Screenshot, Usage

_INSTRUCTIONS = frozenset({"system", "developer"})
AGENT_ROLES = frozenset({"assistant", "ai", "gpt", "agent", "model"})
USER_ROLES = frozenset({"user", "human"})
ANSWER_ROLES = frozenset({"tool", "function", "ipython", "observation", "environment"})
_CALLS = frozenset(
    {"function_call", "custom_tool_call", "local_shell_call", "shell_call", "apply_patch_call", "computer_call"}
)
_SERVER_CALLS = frozenset(
    {"web_search_call", "file_search_call", "code_interpreter_call", "mcp_call", "image_generation_call"}
)
_NOTES = frozenset({"item_reference", "mcp_list_tools", "mcp_approval_request", "mcp_approval_response", "compaction"})
MOST_UNKNOWN_KEPT = 1000
# What SWE-agent shows below each answer.
_STATE = re.compile(r"^\(Open file: ([^\n]{1,1000})\)\n\(Current directory: ([^\n]{1,1000})\)", re.MULTILINE)


class ChatMessages:
    """Takes messages and items in their order. `reads_blocks`: the last block between backticks in the agent's words is
    an action of SWE-agent."""

    def __init__(
        self,
        report: ConversionReport,
        options: ReadingOptions,
        *,
        task: str = "",
        folder: str = "",
        reads_blocks: bool = False,
    ) -> None:
        self._report = report
        self._options = options
        self._conversation = Conversation(report, task, read_effects=ChatTools(folder).effects)
        self._reads_blocks = reads_blocks
        self._waiting: dict[str, str] = {}
        self._response = ""
        self._count = 0
        self.unknown: list[JSON] = []

    @property
    def task(self) -> str:
        """The task that was stated, or the first prompt."""
        return self._conversation.task

    def steps(self) -> ConversationSteps:
        """Everything so far as steps and events."""
        return self._conversation.as_steps(split_tool_calls=self._options.split_tool_calls)

    def add(self, message: JSON, at: str = "", model: str = "") -> None:
        """One more chat message, or an item of Responses."""
        kind, role = text(message, "type"), text(message, "role") or text(message, "from")
        if isinstance(message, dict) and kind and kind not in ("message", "text") and not role:
            self._item(message, kind, at, model)
        elif role in AGENT_ROLES:
            is_item = kind == "message" or bool(self._response)
            self._agent(message, at or _time(message), model, self._key(is_item=is_item))
        elif role in ANSWER_ROLES:
            self._answer(message)
        elif role in USER_ROLES:
            content = _content(message)
            self._user(content_text(content, self._report.unknown), pictures_of_message(content))
        elif role in _INSTRUCTIONS:
            self._report.dropped["instruction of the agent"] += 1
        else:
            self._keep_unknown(message, f"message of the role {role}" if role else "message without a role")

    def took(self, usage: Usage) -> None:
        """What the newest message of the agent took."""
        self._conversation.took(usage)

    def end_message(self) -> None:
        """What comes next is no further piece of the agent's last message."""
        self._response = ""

    def _key(self, *, is_item: bool) -> str:
        """The message that the next piece belongs to."""
        if not (is_item and self._response):
            self._count += 1
            self._response = f"message {self._count}"
        key = self._response
        if not is_item:
            self._response = ""
        return key

    def _keep_unknown(self, value: JSON, kind: str) -> None:
        self._report.unknown[kind[:100]] += 1
        if len(self.unknown) < MOST_UNKNOWN_KEPT:
            self.unknown.append(value)

    # --- Chat messages ---

    def _agent(self, message: JSON, at: str, model: str, key: str) -> None:
        content = Content()
        words = content_text(_content(message), self._report.unknown)
        thought, words = split_thought(words)
        content.thoughts += [text(message, "reasoning_content", "reasoning", "thinking"), thought]
        calls = objects(message.get("tool_calls"))
        for call in calls:
            self._call(content, name(call, "id"), call.get("function", call.get("custom", call)))
        if not calls and isinstance(message.get("function_call"), dict):
            self._call(content, "", message["function_call"])
        if not content.calls:
            words, text_calls = self._text_calls(message, words)
            for tool, arguments in text_calls:
                content.calls.append((self._call_id("", tool), tool, arguments))
        content.texts.append(words)
        self._conversation.add_agent_message(content, message_id=key, at=at, model=text(message, "model") or model)
        self._conversation.took(read_usage(message.get("usage")) if isinstance(message, dict) else NO_USAGE, key)

    def _text_calls(self, message: JSON, words: str) -> tuple[str, list[TextCall]]:
        """The words without the calls that are written in them or beside them as an action, and the calls."""
        rest, calls = read_text_calls(words, self._report.repairs, self._options.bounds.depth)
        if calls:
            return rest, calls
        if action := text(message, "action").strip():
            return text(message, "thought") or read_block(words)[0], [read_action(action)]
        rest, block = read_block(words) if self._reads_blocks else (words, None)
        return (rest, [read_action(block)]) if block is not None and block.strip() else (words, [])

    def _call(self, content: Content, call_id: str, function: JSON) -> None:
        tool = text(function, "name") or "(no name)"
        arguments = function.get("arguments") if isinstance(function, dict) else None
        if arguments is None and isinstance(function, dict) and "input" in function:
            # A custom tool takes a text, which is no JSON.
            given = function["input"]
            read = {"input": given} if isinstance(given, str) else given
        else:
            read = self._arguments(arguments)
        content.calls.append((self._call_id(call_id, tool), tool, read))

    def _call_id(self, call_id: str, tool: str) -> str:
        call_id = call_id or f"call {self._count}.{len(self._waiting) + 1}"
        while call_id in self._conversation.calls or call_id in self._waiting:
            # Some programs number the calls of each message anew.
            self._report.repairs["id of a call that stands twice"] += 1
            call_id = f"{call_id} of {self._count}.{len(self._waiting) + 1}"
        self._waiting[call_id] = tool
        return call_id

    def _arguments(self, arguments: JSON) -> JSON:
        if not isinstance(arguments, str):
            return arguments
        try:
            data = arguments.encode("utf-8", "surrogatepass")
            value = parsed(data, self._report.repairs, depth=self._options.bounds.depth)
        except Malformed:
            if arguments.strip():
                self._report.repairs["arguments that are no JSON"] += 1
            return {"input": arguments} if arguments.strip() else {}
        return value if isinstance(value, dict) else {"input": value}

    def _user(self, words: str, pictures: tuple[Screenshot, ...]) -> None:
        self._response = ""
        if self._waiting and (is_answer(words) or self._expects_words()):
            self._answered(next(iter(self._waiting)), without_heading(words))
        elif words.strip():
            self._conversation.add_user_message(words, pictures)

    def _expects_words(self) -> bool:
        """Whether the calls that wait stood in words, which are answered in words."""
        return all(call_id.startswith("call ") for call_id in self._waiting)

    def _answer(self, message: JSON) -> None:
        self._response = ""
        words = content_text(_content(message), self._report.unknown)
        called = name(message, "tool_call_id") or next(iter(_names(message, "tool_call_ids")), "")
        if called not in self._waiting:
            matching = [key for key, tool in self._waiting.items() if key.startswith(f"{called} of ") and called]
            named = [key for key, tool in self._waiting.items() if tool == text(message, "name")]
            called = next(iter(matching or named or ([] if called else list(self._waiting))), called)
        self._answered(called, without_heading(words), pictures=pictures_in(_content(message)))

    def _answered(
        self, call_id: str, words: str, *, is_error: bool = False, pictures: tuple[Screenshot, ...] = ()
    ) -> None:
        self._waiting.pop(call_id, None)
        call = self._conversation.calls.get(call_id)
        failed = call is not None and has_failed(call.name, call.arguments, words)
        state = _STATE.search(words, max(0, len(words) - 2_000))
        outcome = {"open_file": state[1], "working_dir": state[2]} if state else None
        self._conversation.answer(Answer(call_id, words, is_error or failed, pictures), outcome)

    # --- Items of Responses ---

    def _item(self, item: dict[str, JSON], kind: str, at: str, model: str) -> None:
        if kind == "reasoning":
            parts = [*objects(item.get("summary")), *objects(item.get("content"))]
            thoughts = [words for part in parts if (words := text(part, "text"))]
            if not thoughts and item.get("encrypted_content"):
                self._report.dropped["encrypted reasoning"] += 1
            self._piece(Content(thoughts=thoughts), at, model)
        elif kind in _CALLS:
            tool, arguments = self._item_call(item, kind)
            call_id = self._call_id(name(item, "call_id") or name(item, "id"), tool)
            self._piece(Content(calls=[(call_id, tool, arguments)]), at, model)
        elif kind.endswith("_output") and kind.removesuffix("_output") in _CALLS:
            self._response = ""
            output = item.get("output")
            words = output if isinstance(output, str) else _output_text(output, self._report.unknown)
            failed = text(item, "status") in ("failed", "incomplete") or any(map(_ended_badly, objects(output)))
            self._answered(name(item, "call_id"), words, is_error=failed, pictures=pictures_in(output))
        elif kind in _SERVER_CALLS:
            tool, arguments, output = _server_call(item, kind)
            call_id = self._call_id(name(item, "id"), tool)
            self._piece(Content(calls=[(call_id, tool, arguments)]), at, model)
            self._answered(call_id, output, is_error=bool(item.get("error")) or text(item, "status") == "failed")
        elif kind in _NOTES:
            self._report.dropped[kind.replace("_", " ")] += 1
        else:
            self._keep_unknown(item, f"item {kind}")

    def _piece(self, content: Content, at: str, model: str) -> None:
        self._conversation.add_agent_message(content, message_id=self._key(is_item=True), at=at, model=model)

    def _item_call(self, item: dict[str, JSON], kind: str) -> tuple[str, JSON]:
        action = item.get("action")
        match kind:
            case "function_call":
                return text(item, "name") or "(no name)", self._arguments(item.get("arguments"))
            case "custom_tool_call":
                return text(item, "name") or "(no name)", {"input": item.get("input")}
            case "local_shell_call" | "shell_call":
                commands = action.get("commands") if isinstance(action, dict) else None
                if isinstance(commands, list):
                    return "shell", {"command": "\n".join(line for line in commands if isinstance(line, str))}
                return "shell", action if isinstance(action, dict) else {}
        return kind.removesuffix("_call"), action if action is not None else item.get("operation")


def content_text(content: JSON, unknown: Counter[str]) -> str:
    """What a message says: its text, or its parts, those that are no text as lines that name them."""
    if isinstance(content, str):
        return content
    if content is None:
        return ""
    if not isinstance(content, list):
        return as_json(content)
    lines = []
    for part in content:
        kind = text(part, "type")
        if isinstance(part, str):
            lines.append(part)
        elif kind in ("text", "input_text", "output_text", "summary_text", "reasoning_text"):
            lines.append(text(part, "text"))
        elif kind == "refusal":
            lines.append(text(part, "refusal"))
        elif kind in ("image_url", "input_image", "image", "computer_screenshot"):
            lines.append(_picture(part))
        elif kind in ("file", "input_file", "input_audio", "audio"):
            lines.append(f"[{kind.removeprefix('input_')}]")
        else:
            unknown[f"part {kind or 'without a type'}"[:100]] += 1
            lines.append(as_json(part))
    return "\n".join(lines)


def _picture(part: JSON) -> str:
    """The line that stands for a picture: its type and size, or its address."""
    address = part.get("image_url") if isinstance(part, dict) else None
    url = text(address, "url") if isinstance(address, dict) else text(part, "image_url", "url")
    head, comma, data = url.partition(",")
    if comma and head.startswith("data:"):
        kind = head.removeprefix("data:").partition(";")[0] or "image"
        return f"[{kind}, {len(data) * 3 // 4 - data[-2:].count('=')} bytes]"
    return f"[image {url[:200]}]".replace(" ]", "]")


def _content(message: JSON) -> JSON:
    for key in ("content", "text", "value"):
        if isinstance(message, dict) and message.get(key) is not None:
            return message[key]
    return None


def _names(message: JSON, key: str) -> list[str]:
    values = message.get(key) if isinstance(message, dict) else None
    return [value for value in values if isinstance(value, str)] if isinstance(values, list) else []


def _time(message: JSON) -> str:
    return text(message, "timestamp", "created_at")


def _output_text(output: JSON, unknown: Counter[str]) -> str:
    """An output that is no text: parts, or what a shell's commands gave, {stdout, stderr}."""
    if isinstance(output, list) and any("stdout" in part or "stderr" in part for part in objects(output)):
        return "\n".join(filter(None, (text(part, key) for part in objects(output) for key in ("stdout", "stderr"))))
    return content_text([output] if isinstance(output, dict) and "type" in output else output, unknown)


def _ended_badly(part: dict[str, JSON]) -> bool:
    """Whether a command of a shell's output failed: its `outcome` is {type: exit, exit_code} or {type: timeout}."""
    outcome = part.get("outcome")
    code = outcome.get("exit_code") if isinstance(outcome, dict) else None
    return text(outcome, "type") == "timeout" or (type(code) is int and code != 0)


def _server_call(item: dict[str, JSON], kind: str) -> tuple[str, JSON, str]:
    """Name, arguments and answer of a tool at the model's side."""
    match kind:
        case "mcp_call":
            error = item.get("error")
            answer = item.get("output") if error is None else error
            return text(item, "name") or "mcp", {"input": item.get("arguments")}, _as_text(answer)
        case "code_interpreter_call":
            return "code_interpreter", {"code": item.get("code")}, _as_text(item.get("outputs"))
        case "file_search_call":
            return "file_search", {"queries": item.get("queries")}, _as_text(item.get("results"))
        case "web_search_call":
            return "web_search", item.get("action"), ""
    return "image_generation", {"prompt": item.get("revised_prompt")}, "[image]" if item.get("result") else ""


def _as_text(value: JSON) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else as_json(value)
