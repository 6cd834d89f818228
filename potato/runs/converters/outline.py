"""What the beginning of a file looks like: lines of JSON, one JSON document, or text; and an outline of each value.

Made for detection alone: an outline is JSON with its rest missing, since the beginning may end anywhere.
"""

import codecs
import json
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from potato.runs.model import JSON

Layout = Literal["lines", "document", "text", "empty", "utf-16"]
# A string that the beginning cuts off ends with it, so that every quote is looked at once.
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*(?:"|\\?\Z)|[\[\]{}:,]|[^\s\[\]{}:,"]+', re.DOTALL)
_DEEPEST = 6
_MOST_MEMBERS = 200
_MOST_LINES = 40


@dataclass(frozen=True, slots=True)
class Outline:
    """`values` are the outlines of the first lines, or of the document alone; none for text."""

    layout: Layout
    values: tuple[JSON, ...] = ()

    def records(self) -> tuple[JSON, ...]:
        """The outlines that stand where records would: lines, or the members of a document that is a list."""
        if self.layout == "document" and isinstance(self.values[0], list):
            return tuple(self.values[0])
        return self.values


# Every converter asks the same of a file, one after another.
@lru_cache(maxsize=4)
def detect_outline(head: bytes, filename: str = "") -> Outline:
    """How the file is laid out, from its first bytes. Nobody changes the values of an outline."""
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return Outline("utf-16")
    text = head.removeprefix(codecs.BOM_UTF8).decode("utf-8", "surrogateescape").lstrip()
    if not text:
        return Outline("empty")
    if text[0] not in "{[":
        layout: Layout = "lines" if _has_lines_of_json(text) else "text"
    else:
        layout = "document" if _is_document(text, filename) else "lines"
    if layout == "document":
        return Outline(layout, (sketch(text),))
    if layout == "text":
        return Outline(layout)
    lines = [line for line in text.split("\n") if line.strip().startswith(("{", "["))]
    return Outline(layout, tuple(sketch(line) for line in lines[:_MOST_LINES]))


def _is_document(text: str, filename: str) -> bool:
    first, end_of_line, rest = text.partition("\n")
    if not end_of_line:
        return text[0] == "[" or filename.lower().endswith((".json", ".traj"))
    if _is_json(first):
        return text[0] == "[" and not rest.strip()
    # A list goes on with anything, an object with its next key; below a line that was cut off the next one begins.
    end, begin = first.rstrip()[-1:], rest.lstrip()[:1]
    if end == "[" or (end in "{," and begin == '"'):
        return True
    return not any(line.startswith("{") and _is_json(line) for line in rest.split("\n")[:_MOST_LINES])


def _has_lines_of_json(text: str) -> bool:
    return any(line.startswith("{") and _is_json(line) for line in text.split("\n")[:_MOST_LINES])


def _is_json(line: str) -> bool:
    try:
        json.loads(line, strict=False)
    except (ValueError, RecursionError):
        return False
    return True


@dataclass(slots=True)
class _Open:
    """An object or list whose end has not come yet, and the key that waits for its value."""

    container: dict[str, JSON] | list[JSON]
    key: str | None = None

    def put(self, value: JSON) -> None:
        if len(self.container) >= _MOST_MEMBERS:
            return
        if isinstance(self.container, list):
            self.container.append(value)
        elif self.key is not None:
            self.container[self.key] = value
            self.key = None

    def take(self, scalar: JSON) -> None:
        if isinstance(self.container, dict) and self.key is None:
            self.key = str(scalar)
        else:
            self.put(scalar)


def sketch(text: str) -> JSON:
    """The JSON value at the beginning of the text, as far as it goes.

    Left out: what is missing, deeper than six levels, or past the 200th member. Of text that is no JSON it is what
    can be made of it, or None.
    """
    root: list[JSON] = []
    frames = [_Open(root)]
    for match in _TOKEN.finditer(text):
        mark = match.group()
        if mark in {"[", "{"}:
            container: dict[str, JSON] | list[JSON] = [] if mark == "[" else {}
            if len(frames) <= _DEEPEST:
                frames[-1].put(container)
            frames.append(_Open(container))
        elif mark in {"]", "}"}:
            frames.pop()
        elif mark == ",":
            frames[-1].key = None
        elif mark != ":":
            frames[-1].take(_scalar(mark))
        if (len(frames) == 1 and root) or not frames:
            break
    return root[0] if root else None


def _scalar(word: str) -> JSON:
    try:
        return json.loads(word, strict=False)
    except ValueError:
        return None
