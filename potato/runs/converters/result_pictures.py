"""Finds the pictures that a tool gave back or a person sent, in the forms in which programs write them.

Field notes
- Anthropic: image {source: {type: base64, media_type, data}}. MCP: image {data, mimeType}. OpenAI: image_url {url} or
  input_image {image_url}, a data URL; Codex says imageUrl in some events. Inspect: image {image}, a data URL.
  OpenHands: image {image_urls}. Gemini: inlineData {mimeType, data}, inline_data in Python. ATIF: image {source:
  {media_type, path}}, a file beside the trajectory. OpenTelemetry: blob {mime_type, modality, content}, uri {uri}.
- Langfuse keeps files apart and writes "@@@langfuseMedia:type=image/png|id=...|source=...@@@" in place of the data or
  of its URL: such a picture is named by its id.
- A picture that has an address on the web alone is none here: nothing is fetched.
"""

import re
from collections.abc import Iterator

from potato.runs.converters.fields import text
from potato.runs.converters.native_pages import is_data_url, picture_bytes
from potato.runs.model import JSON, Screenshot

_DEPTH = 6
_KEPT_APART = re.compile(r"@@@langfuseMedia:type=(image/[\w.+-]{1,40})\|id=([\w.-]{1,100})\|source=\w{1,40}@@@")
_INSIDE = ("content", "content_items", "parts", "output", "response", "result", "functionResponse", "toolResult")
"""Members in which content stands."""
_URLS = ("image_url", "imageUrl", "image", "url", "image_urls")


def pictures_in(content: JSON) -> tuple[Screenshot, ...]:
    """The pictures of a tool's result, in their order: bytes where it holds them, else the name of a file beside."""
    if not isinstance(content, dict | list):
        return ()
    return tuple(_found(content, _DEPTH))


def pictures_of_message(content: JSON) -> tuple[Screenshot, ...]:
    """The pictures among the parts of a message itself, and not those in answers of tools that stand in it."""
    parts = content if isinstance(content, list) else [content]
    return tuple(each for part in parts if isinstance(part, dict) for each in _own(part))


def _found(content: JSON, depth: int) -> Iterator[Screenshot]:
    if isinstance(content, list):
        for part in content:
            yield from _found(part, depth)
    elif isinstance(content, dict) and depth:
        own = list(_own(content))
        yield from own
        if not own:
            for name in _INSIDE:
                if isinstance(inner := content.get(name), dict | list):
                    yield from _found(inner, depth - 1)


def _own(part: dict[str, JSON]) -> Iterator[Screenshot]:
    """The pictures that a part of the content is."""
    inline = part.get("inlineData", part.get("inline_data"))
    if isinstance(inline, dict):
        yield from _encoded(text(inline, "mimeType", "mime_type"), text(inline, "data"))
        return
    kind = text(part, "type")
    if kind == "blob":
        yield from _encoded(text(part, "mime_type", "modality"), text(part, "content"))
    if kind == "uri":
        yield from _at(text(part, "uri"))
    if "image" not in kind and kind not in ("computer_screenshot", "inputImage"):
        return
    source = part.get("source")
    if isinstance(source, dict):
        media_type = text(source, "media_type", "mediaType") or "image"
        yield from _encoded(media_type, text(source, "data"))
        if path := text(source, "path"):
            yield Screenshot(name=path)
        return
    yield from _encoded(text(part, "mimeType", "mime_type") or "image", text(part, "data"))
    for name in _URLS:
        value = part.get(name)
        for url in value if isinstance(value, list) else [value]:
            address = text(url, "url") if isinstance(url, dict) else url
            if isinstance(address, str):
                yield from _at(address)


def _at(address: str) -> Iterator[Screenshot]:
    if is_data_url(address):
        yield from _encoded(address.partition(";")[0].removeprefix("data:"), address)
    elif kept := _KEPT_APART.fullmatch(address):
        yield Screenshot(name=kept[2])


def _encoded(media_type: str, data: str) -> Iterator[Screenshot]:
    if kept := _KEPT_APART.fullmatch(data):
        yield Screenshot(name=kept[2])
    elif data and media_type.lower().startswith("image"):
        yield Screenshot(name=media_type, data=picture_bytes(data))
