"""Reads the content of a message in Anthropic's form: texts, thoughts, tool calls and their results.

Field notes
- `content` is a text or a list of blocks: text {text}; thinking {thinking, signature}; redacted_thinking {data};
  tool_use {id, name, input}; tool_result {tool_use_id, content, is_error}; image and document {source: {type,
  media_type, data}}. Any other block is kept as a line that names it, and counted.
- Tools that run at the model's side have blocks named server_tool_use and mcp_tool_use, and their results stand in the
  agent's own message: web_search_tool_result, web_fetch_tool_result, mcp_tool_result, advisor_tool_result,
  code_execution_tool_result and its relatives, with the same members. `content` is a list of web_search_result {title,
  url, page_age, encrypted_content}, or an object: web_fetch_result {url, content}, advisor_result {text},
  *code_execution_result {stdout, stderr, return_code}; *_tool_result_error {error_code} says that it failed.
- The content of a tool_result is a text, or blocks again; an image in it becomes "[image/png, 48213 bytes]",
  and is one of the answer's pictures.
"""

import json
from collections import Counter
from dataclasses import dataclass, field

from potato.runs.converters.fields import name, text
from potato.runs.converters.result_pictures import pictures_in
from potato.runs.model import JSON, Screenshot


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back from the call `call_id`."""

    call_id: str
    text: str
    is_error: bool
    pictures: tuple[Screenshot, ...] = ()


@dataclass(slots=True)
class Content:
    """A message's content, sorted by kind; `calls` are (id, name, arguments)."""

    texts: list[str] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    calls: list[tuple[str, str, JSON]] = field(default_factory=list)
    answers: list[Answer] = field(default_factory=list)


def read_content(content: JSON, unknown: Counter[str]) -> Content:
    """The content of a message; blocks of a kind that nobody knows are counted in `unknown`."""
    parts = Content()
    if isinstance(content, str):
        parts.texts.append(content)
    elif isinstance(content, list):
        for block in content:
            _take(block, parts, unknown)
    return parts


def joined(parts: list[str]) -> str:
    """Parts that say something, as paragraphs."""
    return "\n\n".join(part for part in parts if part.strip())


def _take(block: JSON, parts: Content, unknown: Counter[str]) -> None:
    if isinstance(block, str):
        parts.texts.append(block)
        return
    kind = text(block, "type")
    match kind:
        case "text":
            parts.texts.append(text(block, "text"))
        case "thinking":
            parts.thoughts.append(text(block, "thinking"))
        case "redacted_thinking":
            parts.thoughts.append("[redacted thinking]")
        case "image" | "document":
            parts.texts.append(named(block))
        case _ if kind.endswith("tool_use"):
            parts.calls.append((name(block, "id"), text(block, "name") or "(no name)", block.get("input")))
        case _ if kind.endswith("tool_result"):
            content = block.get("content")
            is_error = bool(block.get("is_error")) or text(content, "type").endswith("_error")
            answer = result_text(content, unknown)
            parts.answers.append(Answer(name(block, "tool_use_id"), answer, is_error, pictures_in(content)))
        case _:
            unknown[f"block {kind or 'without a type'}"] += 1
            parts.texts.append(f"[{kind or 'block without a type'}]")


def result_text(content: JSON, unknown: Counter[str]) -> str:
    """What a tool gave back, as text: blocks that are not text as lines that name them, other JSON as JSON."""
    if isinstance(content, str):
        return content
    if content is None:
        return ""
    if isinstance(content, dict) and (server_text := _of_server(content, unknown)) is not None:
        return server_text
    if not isinstance(content, list) or not all(isinstance(block, dict | str) for block in content):
        return as_json(content)
    lines = []
    for block in content:
        if isinstance(block, str):
            lines.append(block)
        elif text(block, "type") == "text":
            lines.append(text(block, "text"))
        elif text(block, "type") in {"image", "document"}:
            lines.append(named(block))
        elif (server_text := _of_server(block, unknown)) is not None:
            lines.append(server_text)
        elif kind := text(block, "type"):
            if kind != "tool_reference":
                unknown[f"block {kind}"] += 1
            label = text(block, "tool_name", "name", "title")
            lines.append(f"[{kind}{' ' if label else ''}{label}]")
        else:
            lines.append(as_json(block))
    return "\n".join(lines)


def _of_server(block: dict[str, JSON], unknown: Counter[str]) -> str | None:
    """What a result of a tool at the model's side says; None for a block that is none. Encrypted parts are left out."""
    kind = text(block, "type")
    if kind.endswith("_error"):
        return text(block, "error_message") or text(block, "error_code") or kind
    match kind:
        case "web_search_result":
            age = text(block, "page_age")
            return " ".join(filter(None, (text(block, "title"), text(block, "url"), f"({age})" if age else "")))
        case "web_fetch_result":
            page = block.get("content")
            source = page.get("source") if isinstance(page, dict) else None
            body = text(source, "data") if text(source, "type") == "text" else named(page) if source else ""
            return "\n".join(filter(None, (text(block, "url"), body)))
        case "advisor_result":
            return text(block, "text")
        case "advisor_redacted_result" | "encrypted_code_execution_result":
            return f"[{kind}]"
        case _ if kind.endswith("code_execution_result"):
            printed = [text(block, "stdout"), text(block, "stderr")]
            files = block.get("content")
            return "\n".join(filter(None, [*printed, result_text(files, unknown) if files else ""]))
    return None


def as_json(value: JSON) -> str:
    """JSON for a person to read."""
    return json.dumps(value, ensure_ascii=False, indent=2)


def named(block: JSON) -> str:
    """The line that stands for an image or a document: its type and size."""
    source = block.get("source") if isinstance(block, dict) else None
    if source is None and text(block, "data"):
        source = block
    kind = text(source, "media_type", "mimeType", "mime_type") or text(block, "type")
    data = text(source, "data")
    if data or text(source, "type") == "base64":
        return named_data(kind, data)
    return f"[{kind} {text(source, 'url', 'file_id')}]".replace(" ]", "]")


def named_url(url: str, kind: str = "image") -> str:
    """The line that stands for a picture or another file, by its address or its data."""
    if url.startswith("data:"):
        head, _, data = url.partition(",")
        return named_data(head.removeprefix("data:").partition(";")[0], data)
    return f"[{kind} {url[:200]}]".replace(" ]", "]")


def named_data(kind: str, data: str) -> str:
    """The line that stands for data in base64: its type and size."""
    if data.startswith("@@@"):
        # Langfuse keeps the data apart, and names it in its place.
        return f"[{kind or 'data'} {data[:200]}]"
    return f"[{kind or 'data'}, {len(data) * 3 // 4 - data[-2:].count('=')} bytes]"
