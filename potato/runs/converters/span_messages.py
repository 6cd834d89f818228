"""Reads messages of a model's chat in any of the forms in which spans record them.

Field notes
- OpenTelemetry: {role, parts}; parts text and reasoning {content}, tool_call {id, name, arguments}, tool_call_response
  {id, response} (result in older ones), server_tool_call {id, name, server_tool_call: {type}} and
  server_tool_call_response {id, server_tool_call_response}, blob {mime_type, modality, content}, file {file_id}, uri
  {uri}. OpenInference has images as {type: image, image: {url}}.
- OpenAI: {role, content: text or parts, tool_calls: [{id, function: {name, arguments}}]}, {role: tool, tool_call_id,
  content}. Anthropic: content of blocks, which `blocks` reads. LangChain: {type: human | ai | tool | system, content,
  tool_calls: [{id, name, args}], additional_kwargs}, perhaps under `data` or `kwargs`.
- AI SDK: content of parts text, reasoning {text}, tool-call {toolCallId, toolName, input, earlier args} and tool-result
  {toolCallId, output: {type: text | json | error-text | error-json | content, value}, earlier result}.
- Gemini: {role: user | model, parts: [{text, thought}, {functionCall}, {functionResponse}]}.
- A list of messages may stand under `messages`, be a text of JSON, or be a text alone.
"""

import hashlib
from collections import Counter
from dataclasses import dataclass, field

from potato.runs.converters.blocks import Answer, as_json, joined, named_data, named_url, read_content, result_text
from potato.runs.converters.fields import name, objects, text
from potato.runs.converters.json_text import read_arguments
from potato.runs.converters.result_pictures import pictures_in, pictures_of_message
from potato.runs.model import JSON, Screenshot

_ROLES = {"human": "user", "ai": "assistant", "model": "assistant", "agent": "assistant", "function": "tool",
          "developer": "system", "AIMessage": "assistant", "HumanMessage": "user", "ToolMessage": "tool",
          "SystemMessage": "system", "AIMessageChunk": "assistant"}  # fmt: skip


@dataclass(slots=True)
class ChatMessage:
    """A message: whose it is, its texts and thoughts, its calls as (id, name, arguments), answers to calls, and the
    pictures beside its texts."""

    role: str
    texts: list[str] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    calls: list[tuple[str, str, JSON]] = field(default_factory=list)
    answers: list[Answer] = field(default_factory=list)
    pictures: list[Screenshot] = field(default_factory=list)

    def key(self) -> tuple[str, ...]:
        """What makes it the same message where a later request repeats it."""
        calls = (f"{call_id}|{tool}" for call_id, tool, _ in self.calls)
        answers = (f"{answer.call_id}|{answer.text}" for answer in self.answers)
        pictures = (hashlib.sha256(picture.data).hexdigest() for picture in self.pictures)
        return (self.role, joined(self.texts), *calls, *answers, *pictures)


def chat_messages(value: JSON, role: str, unknown: Counter[str]) -> list[ChatMessage]:
    """The messages of a value, whatever form it has; a text alone is one of the `role`."""
    if isinstance(value, str):
        inner = read_arguments(value) if value.lstrip().startswith(("[", "{")) else value
        if isinstance(inner, str):
            return [ChatMessage(role, [inner])] if inner.strip() else []
        value = inner
    if isinstance(value, dict):
        for key in ("messages", "generations", "contents", "choices"):
            if isinstance(value.get(key), list):
                return chat_messages(value[key], role, unknown)
        return [_message(value, role, unknown)]
    if not isinstance(value, list):
        return [] if value is None else [ChatMessage(role, [as_json(value)])]
    if value and all(isinstance(part, dict) and "type" in part and not _is_message(part) for part in value):
        # Blocks of one message, as Anthropic's answers are recorded.
        return [_message({"role": role, "content": value}, role, unknown)]
    messages: list[ChatMessage] = []
    for entry in value:
        messages += [_message(entry, role, unknown)] if isinstance(entry, dict) else chat_messages(entry, role, unknown)
    return messages


def _is_message(value: dict[str, JSON]) -> bool:
    return "role" in value or text(value, "type") in _ROLES or "kwargs" in value


def _message(value: dict[str, JSON], role: str, unknown: Counter[str]) -> ChatMessage:
    for key in ("message", "data", "kwargs"):
        inner = value.get(key)
        if isinstance(inner, dict) and ("content" in inner or "role" in inner or "parts" in inner):
            own = text(value, "type", "role")
            return _message({**({"type": own} if own else {}), **inner}, role, unknown)
    own_role = text(value, "role") or text(value, "type")
    message = ChatMessage(_ROLES.get(own_role, own_role) or role)
    if message.role not in ("user", "assistant", "system", "tool"):
        message.role = role
    parts = value.get("parts")
    if isinstance(parts, list):
        for part in parts:
            _add_part(part, message, unknown)
        message.pictures += pictures_of_message(parts)
    if "content" in value:
        _add_content(value, message, unknown)
    elif "parts" not in value and (words := text(value, "text", "output", "generated_text")):
        message.texts.append(words)
    elif "parts" not in value and not value.get("tool_calls"):
        message.texts.append(as_json(value))
    for key in ("reasoning_content", "reasoning", "thinking"):
        if words := text(value, key):
            message.thoughts.append(words)
            break
    extra = value.get("additional_kwargs")
    calls = objects(value.get("tool_calls")) or (objects(extra.get("tool_calls")) if isinstance(extra, dict) else [])
    known = {call_id for call_id, _, _ in message.calls}
    for call in calls:
        function = call.get("function")
        inner = function if isinstance(function, dict) else call
        tool = text(inner, "name") or "(no name)"
        arguments = next((inner[key] for key in ("arguments", "args", "input") if key in inner), None)
        if name(call, "id") not in known or not name(call, "id"):
            message.calls.append((name(call, "id"), tool, read_arguments(arguments)))
    return message


def _add_content(value: dict[str, JSON], message: ChatMessage, unknown: Counter[str]) -> None:
    content = value["content"]
    if message.role == "tool" and not _has_results(content):
        call_id = name(value, "tool_call_id") or name(value, "id")
        failed = text(value, "status") == "error"
        words = result_text(_plain_parts(content), unknown)
        message.answers.append(Answer(call_id, words, failed, pictures_in(content)))
        return
    if isinstance(content, dict):
        message.texts.append(text(content, "text") or as_json(content))
        return
    read = read_content(_plain_parts(content), unknown)
    message.pictures += pictures_of_message(content)
    message.texts += read.texts
    message.thoughts += read.thoughts
    message.calls += read.calls
    message.answers += read.answers


def _plain_parts(content: JSON) -> JSON:
    """Content whose parts of OpenAI's and OpenTelemetry's names have those of Anthropic's."""
    if not isinstance(content, list):
        return content
    parts = []
    for part in content:
        kind = text(part, "type")
        if kind in ("input_text", "output_text") or (isinstance(part, dict) and not kind and "text" in part):
            parts.append({"type": "text", "text": text(part, "text")})
        elif kind in ("image_url", "input_image") or (kind == "image" and "image" in part):
            image = part.get("image_url", part.get("image"))
            url = image if isinstance(image, str) else text(image, "url")
            parts.append({"type": "text", "text": named_url(url)})
        elif kind == "text" and "content" in part:
            parts.append({"type": "text", "text": text(part, "text", "content")})
        elif kind in ("blob", "file", "uri"):
            parts.append({"type": "text", "text": _named_part(part, kind)})
        elif kind == "tool-call":
            given = read_arguments(part.get("input", part.get("args")))
            parts.append(
                {"type": "tool_use", "id": part.get("toolCallId"), "name": text(part, "toolName"), "input": given}
            )
        elif kind == "tool-result":
            parts.append(_result_of_ai_sdk(part))
        elif kind == "reasoning":
            parts.append({"type": "thinking", "thinking": text(part, "reasoning", "text", "content")})
        else:
            parts.append(part)
    return parts


def _result_of_ai_sdk(part: dict[str, JSON]) -> dict[str, JSON]:
    output = part.get("output", part.get("result"))
    kind, failed = text(output, "type"), part.get("isError") is True
    if isinstance(output, dict) and "value" in output:
        failed, output = failed or kind.startswith("error"), output["value"]
    words = output if isinstance(output, str) or (isinstance(output, list) and kind == "content") else as_json(output)
    return {"type": "tool_result", "tool_use_id": part.get("toolCallId"), "content": words, "is_error": failed}


def _has_results(content: JSON) -> bool:
    return any(text(part, "type") == "tool-result" for part in objects(content))


def _add_part(part: JSON, message: ChatMessage, unknown: Counter[str]) -> None:
    if isinstance(part, str):
        message.texts.append(part)
        return
    if not isinstance(part, dict):
        unknown["part that is no object"] += 1
        return
    kind = text(part, "type")
    match kind:
        case "text":
            message.texts.append(text(part, "content", "text"))
        case "reasoning" | "thinking":
            message.thoughts.append(text(part, "content", "text", "thinking"))
        case "tool_call":
            arguments = part.get("arguments", part.get("input"))
            message.calls.append((name(part, "id"), text(part, "name") or "(no name)", read_arguments(arguments)))
        case "tool_call_response" | "tool_response":
            response = next((part[key] for key in ("response", "result", "content") if key in part), None)
            words = result_text(_plain_parts(response), unknown)
            message.answers.append(Answer(name(part, "id"), words, is_error=False, pictures=pictures_in(response)))
        case "server_tool_call":
            call = part.get("server_tool_call")
            tool = text(part, "name") or text(call, "type") or "(no name)"
            shown = {key: member for key, member in call.items() if key != "type"} if isinstance(call, dict) else call
            message.calls.append((name(part, "id"), tool, shown))
        case "server_tool_call_response":
            response = part.get("server_tool_call_response")
            shown = response.get("content", response) if isinstance(response, dict) else response
            message.answers.append(Answer(name(part, "id"), result_text(shown, unknown), is_error=False))
        case "blob" | "file" | "uri":
            message.texts.append(_named_part(part, kind))
        case "":
            _add_part_of_gemini(part, message, unknown)
        case _:
            unknown[f"part {kind[:40]}"] += 1
            message.texts.append(as_json(part))


def _named_part(part: JSON, kind: str) -> str:
    """The line that stands for a blob, a file or an address of OpenTelemetry."""
    media_type = text(part, "mime_type", "modality")
    if kind == "blob":
        return named_data(media_type, text(part, "content"))
    return named_url(text(part, "file_id", "uri"), media_type or kind)


def _add_part_of_gemini(part: dict[str, JSON], message: ChatMessage, unknown: Counter[str]) -> None:
    call = part.get("functionCall", part.get("function_call"))
    answer = part.get("functionResponse", part.get("function_response"))
    data = part.get("inlineData", part.get("inline_data"))
    file = part.get("fileData", part.get("file_data"))
    if isinstance(call, dict):
        message.calls.append((name(call, "id"), text(call, "name") or "(no name)", call.get("args")))
    elif isinstance(answer, dict):
        words, failed = response_words(answer.get("response"))
        call_id = name(answer, "id") or f"name {text(answer, 'name')}"
        message.answers.append(Answer(call_id, words, failed, pictures_in(answer)))
    elif isinstance(data, dict):
        message.texts.append(named_data(text(data, "mimeType", "mime_type"), text(data, "data")))
    elif isinstance(file, dict):
        message.texts.append(named_url(text(file, "fileUri", "file_uri"), text(file, "mimeType") or "file"))
    elif isinstance(part.get("executableCode"), dict):
        message.texts.append(f"```\n{text(part['executableCode'], 'code')}\n```")
    elif isinstance(part.get("codeExecutionResult"), dict):
        message.texts.append(text(part["codeExecutionResult"], "output"))
    elif "text" in part or "content" in part:
        (message.thoughts if part.get("thought") is True else message.texts).append(text(part, "text", "content"))
    elif set(part) - {"thought", "thoughtSignature"}:
        unknown["part without a type"] += 1
        message.texts.append(as_json(part))


def result_of_tool(value: JSON, unknown: Counter[str]) -> tuple[str | None, tuple[Screenshot, ...]]:
    """What a span says that its tool gave back: as text, in which a line stands for each picture, and the pictures."""
    inner = read_arguments(value) if isinstance(value, str) and value.lstrip().startswith(("[", "{")) else value
    if pictures := pictures_in(inner):
        content = inner.get("content", inner) if isinstance(inner, dict) else inner
        return result_text(_plain_parts(content if isinstance(content, list) else [content]), unknown), pictures
    if value is None or isinstance(value, str):
        return value, ()
    return as_json(value), ()


def response_words(response: JSON) -> tuple[str, bool]:
    """What a function of Gemini gave back, and whether it failed."""
    if isinstance(response, dict):
        if "error" in response:
            error = response["error"]
            return (error if isinstance(error, str) else as_json(error)), True
        for key in ("output", "result", "content", "llmContent"):
            if isinstance(response.get(key), str):
                return response[key], False
    return (response if isinstance(response, str) else "" if response is None else as_json(response)), False
