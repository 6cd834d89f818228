"""Reads single items of a Codex rollout: what people said, what calls were made, what came back.

Field notes
- A call is function_call {name, namespace, arguments: text of JSON, call_id}, custom_tool_call {name, input, call_id},
  local_shell_call {action: {type: exec, command, working_directory}, call_id}, web_search_call {id, action},
  tool_search_call {arguments, call_id}, image_generation_call {id, revised_prompt, result}. Old fixtures have tool_call
  {function: {name}, arguments} and no id.
- `output` is a text; a text of JSON {output, metadata: {exit_code}}; a list of {type: input_text, text} and {type:
  input_image, image_url}; one of these; or {content, success}. A text says "Process exited with code N" or "Exit
  code: N" in its first lines, "Script failed" where a program of `exec` did, and "rejected by user" where a person
  refused.
- The program writes in the user's name: <environment_context>, <user_instructions>, "# AGENTS.md instructions",
  <permissions instructions>, <skill>, <turn_aborted>, <subagent_notification> and the like. A command of the
  person's own shell is <user_shell_command> with <command>. An editor puts "# Context from my IDE setup" before what
  the person asks, which follows "## My request for Codex:".
"""

import re
from collections import Counter
from dataclasses import dataclass

from potato.runs.converters.blocks import as_json, named_url
from potato.runs.converters.fields import name, objects, text, word_set
from potato.runs.converters.json_text import read_arguments
from potato.runs.converters.result_pictures import pictures_in
from potato.runs.model import JSON, Screenshot

_BY_PROGRAM = re.compile(
    r"\s*(<(environment_context|user_instructions|permissions instructions|permissions_instructions|skill|skills"
    r"|skills_instructions|turn_aborted|subagent_notification|collaboration_mode|INSTRUCTIONS|apps_instructions"
    r"|plugins_instructions|personality_spec|model_switch|hook_prompt|user_action|realtime_conversation|goal_context"
    r"|codex_internal_context|image|recommended_plugins)\b|</image>|# AGENTS\.md instructions)"
)
_SHELL = re.compile(r"\s*<user_shell_command>.*?<command>\s*(.*?)\s*</command>", re.DOTALL)
_REQUEST = re.compile(r"\s*# Context from my IDE setup:.*?^## My request for Codex:\s*\n", re.DOTALL | re.MULTILINE)
_EXIT = re.compile(r"(?:Process exited with code|Exit code:|exit code:?) (-?\d+)")
_REJECTED = re.compile(r"rejected by (?:the )?user", re.IGNORECASE)
_FAILED = re.compile(
    r"Script failed|apply_patch verification failed|execution error:|failed to parse function arguments"
)
_HEAD = 400
_CALLS = word_set(
    "function_call custom_tool_call local_shell_call web_search_call tool_search_call image_generation_call tool_call"
)
_OUTPUTS = word_set(
    "function_call_output custom_tool_call_output tool_search_output mcp_tool_call_output local_shell_call_output"
    " function_result tool_result"
)
_MODEL_SIDE = frozenset({"web_search_call", "image_generation_call"})


@dataclass(frozen=True, slots=True)
class ItemCall:
    """A call. `id` is "" where the rollout gives none; `result` is there where the item itself says what came of it."""

    id: str
    name: str
    arguments: JSON
    folder: str = ""
    result: str | None = None


@dataclass(frozen=True, slots=True)
class Output:
    """What a call gave back. `tool` is the tool's name where there is no call's id."""

    call_id: str
    tool: str
    text: str
    is_error: bool
    is_refused: bool
    pictures: tuple[Screenshot, ...] = ()


def is_call(kind: str) -> bool:
    return kind in _CALLS


def is_output(kind: str) -> bool:
    return kind in _OUTPUTS


def read_call(item: dict[str, JSON]) -> ItemCall:
    """The call that an item of the kinds of `is_call` is."""
    kind = text(item, "type")
    call_id = name(item, "call_id") or name(item, "id")
    if kind == "local_shell_call":
        action = item.get("action")
        return ItemCall(call_id, "local_shell", action, text(action, "working_directory"))
    if kind == "web_search_call":
        return ItemCall(call_id, "web_search", item.get("action"), result="" if text(item, "status") else None)
    if kind == "tool_search_call":
        return ItemCall(call_id, "tool_search", item.get("arguments"))
    if kind == "image_generation_call":
        prompt = {"prompt": text(item, "revised_prompt")}
        return ItemCall(call_id, "image_generation", prompt, result=_image(text(item, "result")))
    function = item.get("function")
    tool = text(item, "name") or text(function, "name") or "(no name)"
    if namespace := text(item, "namespace"):
        tool = f"{namespace.removesuffix('__')}__{tool}" if namespace.startswith("mcp__") else f"{namespace}.{tool}"
    arguments = item.get("input") if kind == "custom_tool_call" else item.get("arguments")
    arguments = read_arguments(arguments) if kind != "custom_tool_call" or _is_json(arguments) else arguments
    return ItemCall(name(item, "call_id"), tool, arguments, text(arguments, "workdir", "cwd"))


def is_at_models_side(kind: str) -> bool:
    """Whether the call ran where the model runs, so that no output of it follows."""
    return kind in _MODEL_SIDE


def _is_json(arguments: JSON) -> bool:
    return isinstance(arguments, str) and arguments.lstrip().startswith("{")


def read_output(item: dict[str, JSON], unknown: Counter[str]) -> Output:
    """What an item of the kinds of `is_output` gave back."""
    tool = text(item, "name")
    if text(item, "type") == "tool_search_output":
        tools = [text(tool, "name") for tool in objects(item.get("tools"))]
        return Output(name(item, "call_id"), tool, "\n".join(tools), is_error=False, is_refused=False)
    value = next((item[key] for key in ("output", "result", "content", "tools") if key in item), None)
    words, failed = output_text(value, unknown)
    refused = _REJECTED.search(words[:_HEAD]) is not None
    failed = failed and not refused
    return Output(name(item, "call_id"), tool, words, failed, refused, pictures_in(value))


def output_text(value: JSON, unknown: Counter[str]) -> tuple[str, bool]:
    """The text of an output, and whether it says that the call failed."""
    if isinstance(value, str):
        inner = read_arguments(value) if value.lstrip().startswith("{") else None
        if isinstance(inner, dict) and isinstance(inner.get("output"), str) and "metadata" in inner:
            return _with_exit_code(inner["output"], _member(inner["metadata"], "exit_code"))
        return value, _says_failure(value)
    if isinstance(value, list):
        words = "\n".join(_part(part, unknown) for part in value)
        return words, _says_failure(words)
    if not isinstance(value, dict):
        return ("" if value is None else as_json(value)), False
    if "content" in value or "content_items" in value:
        words, failed = output_text(value.get("content_items") or value.get("content"), unknown)
        return words, failed or value.get("success") is False or value.get("isError") is True
    if "type" in value:
        words = _part(value, unknown)
        return words, _says_failure(words)
    if "stdout" in value or "exitCode" in value or "exit_code" in value:
        printed = "".join(filter(None, (text(value, "stdout", "output"), text(value, "stderr"))))
        return _with_exit_code(printed, value.get("exitCode", value.get("exit_code")))
    return as_json(value), False


def _with_exit_code(words: str, code: JSON) -> tuple[str, bool]:
    if type(code) is not int or code == 0:
        return words, False
    return f"{words.rstrip()}\n(exit code {code})".lstrip(), True


def _says_failure(words: str) -> bool:
    head = words[:_HEAD]
    match = _EXIT.search(head)
    return (match is not None and int(match[1]) != 0) or _FAILED.match(head.lstrip()) is not None


def _part(part: JSON, unknown: Counter[str]) -> str:
    if isinstance(part, str):
        return part
    kind = text(part, "type")
    if kind in ("input_text", "output_text", "text", "Text", "summary_text", "reasoning_text", "inputText"):
        return text(part, "text")
    if kind in ("input_image", "image", "inputImage"):
        return _image(text(part, "image_url", "data", "imageUrl"))
    if kind == "encrypted_content":
        return "[encrypted]"
    unknown[f"content {kind or 'without a type'}"] += 1
    return f"[{kind or 'content without a type'}]"


def _image(url: str) -> str:
    """The line that stands for a picture."""
    return named_url(url) if url.startswith("data:") or 0 < len(url) <= 200 else "[image]"


def content_texts(content: JSON, unknown: Counter[str]) -> list[str]:
    """The texts of a message, part by part; pictures as lines that name them."""
    if isinstance(content, str):
        return [content]
    return [_part(part, unknown) for part in content] if isinstance(content, list) else []


def thoughts(item: dict[str, JSON], unknown: Counter[str]) -> list[str]:
    """The readable parts of an item of reasoning: its own words where it has them, else their summary."""
    own = content_texts(item.get("content"), unknown)
    return own if any(words.strip() for words in own) else content_texts(item.get("summary"), unknown)


@dataclass(frozen=True, slots=True)
class PersonWords:
    """What a person said, and the command that they ran in a shell of their own."""

    words: str = ""
    command: str = ""


def person_words(texts: list[str], dropped: Counter[str]) -> PersonWords:
    """What a person said in a message of the user; what a program wrote in their name is counted."""
    spoken: list[str] = []
    command = ""
    for words in texts:
        if _BY_PROGRAM.match(words):
            dropped["context that the program wrote"] += 1
            continue
        if match := _SHELL.match(words):
            command = match[1]
            spoken.append(f"! {command}")
            continue
        if match := _REQUEST.match(words):
            dropped["editor context"] += 1
            words = words[match.end() :]
        if words.strip():
            spoken.append(words)
    return PersonWords("\n\n".join(spoken), command)


def _member(value: JSON, key: str) -> JSON:
    return value.get(key) if isinstance(value, dict) else None
