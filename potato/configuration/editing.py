"""Changes single values in the text of a configuration. All else stays as it was written: comments, order, quotes.

Each change is checked by reading the text again: it says what was asked and everything else as before, or the text is
left alone and NotEditableError says so.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from textwrap import indent
from typing import Any

import yaml

from potato.validation.problems import Path
from potato.validation.yaml_source import read_yaml

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_./() +'-]*[A-Za-z0-9_./()'-]|[A-Za-z]")
_STEP = 2


class NotEditableError(Exception):
    """The text is written in a way that only a person can change; the sentence says where."""

    def __init__(self, line: int) -> None:
        self.sentence = (
            f"This is written in YAML in a way that the form cannot change. Change it there, on line {line}."
        )
        super().__init__(self.sentence)


def with_value(text: str, path: Path, value: Any) -> str:
    """The text in which the value stands at the path; blocks on the way that are missing are added."""
    return _edited(text, path, value, _with_value)


def without(text: str, path: Path) -> str:
    """The text without the key or the entry of a list; blocks that would be left empty go too."""
    return _edited(text, path, _GONE, lambda text, path, _: _without(text, path))


def with_entry(text: str, path: Path, entry: Any) -> str:
    """The text in which the list at the path, which is there, has one entry more at its end."""
    length = len(_value_at(read_yaml(text).value, path))
    return _edited(text, (*path, length), entry, lambda text, _, entry: _with_entry(text, path, entry))


def with_key(text: str, path: Path, name: str) -> str:
    """The text in which the key at the path has another name."""
    before = read_yaml(text)
    whole = _Text(text)
    place, left = whole.find(path)
    if left or place.key is None:
        raise NotEditableError(before.value_position(path).line)
    edited = whole.replaced(whole.start(place.key), whole.end(place.key), rendered(name))
    expected = deepcopy(before.value)
    above = _value_at(expected, path[:-1])
    renamed = {name if key == path[-1] else key: value for key, value in above.items()}
    above.clear()
    above.update(renamed)
    if read_yaml(edited).value != expected:
        raise NotEditableError(before.key_position(path).line)
    return edited


def rendered(value: Any) -> str:
    """A value on one line, as YAML."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int() | float():
            return json.dumps(value)
        case str():
            return value if _is_plain(value) else json.dumps(value, ensure_ascii=False)
        case dict():
            pairs = ", ".join(f"{rendered(key)}: {rendered(inner)}" for key, inner in value.items())
            return f"{{ {pairs} }}" if pairs else "{}"
        case _:
            return f"[{', '.join(rendered(entry) for entry in value)}]"


_GONE: Any = object()


def _edited(text: str, path: Path, value: Any, edit: Any) -> str:
    before = read_yaml(text)
    line = before.value_position(path).line if before.entries else 1
    try:
        edited: str = edit(text, path, value)
    except (yaml.YAMLError, _CannotError, LookupError, TypeError):
        raise NotEditableError(line) from None
    after = read_yaml(edited)
    if not after.is_readable or after.value != _expected(before.value, path, value):
        raise NotEditableError(line)
    return edited


def _expected(before: Any, path: Path, value: Any) -> Any:
    expected = deepcopy(before) if before is not None else {}
    if value is _GONE:
        _drop(expected, path)
        return expected
    within = expected
    for step in path[:-1]:
        if isinstance(within, dict) and within.get(step) is None:
            within[step] = {}
        within = within[step]
    if isinstance(within, list) and path[-1] == len(within):
        within.append(value)
    else:
        within[path[-1]] = value
    return expected


def _drop(within: Any, path: Path) -> None:
    inner = _value_at(within, path[:-1])
    del inner[path[-1]]
    if not inner and len(path) > 1:
        _drop(within, path[:-1])


def _value_at(value: Any, path: Path) -> Any:
    for step in path:
        value = value[step]
    return value


class _CannotError(Exception):
    pass


@dataclass(frozen=True)
class _NodePosition:
    """A node with the node of its key, None for an entry of a list, and the collection that it is in."""

    node: yaml.Node
    key: yaml.Node | None
    parent: yaml.Node | None


class _Text:
    """The text with its nodes, whose marks are turned into offsets."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.root: yaml.Node | None = yaml.compose(text, Loader=yaml.CSafeLoader)
        self._starts = [0]
        for line in text.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))

    def offset(self, mark: Any) -> int:
        line, column = int(mark.line), int(mark.column)
        return min(self._starts[min(line, len(self._starts) - 1)] + column, len(self.text))

    def start(self, node: yaml.Node) -> int:
        return self.offset(node.start_mark)

    def end(self, node: yaml.Node) -> int:
        """Where its last sign stands: the mark of a block goes on over comments and empty lines."""
        if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
            last = node.value[-1]
            return self.end(last[1] if isinstance(last, tuple) else last)
        end = self.offset(node.end_mark)
        if isinstance(node, yaml.ScalarNode) and node.style in ("|", ">"):
            return self.start(node) + len(self.text[self.start(node) : end].rstrip())
        return end

    def line_start(self, offset: int) -> int:
        return self.text.rfind("\n", 0, offset) + 1

    def line_end(self, offset: int) -> int:
        """Behind the line, its end included; at the end of the text where it has none."""
        end = self.text.find("\n", offset)
        return len(self.text) if end < 0 else end + 1

    def find(self, path: Path) -> tuple[_NodePosition, Path]:
        """The deepest node on the way that is there, and what of the way is left."""
        if self.root is None:
            raise _CannotError
        place = _NodePosition(self.root, None, None)
        for at, step in enumerate(path):
            below = self._below(place.node, step)
            if below is None:
                return place, path[at:]
            place = below
        return place, ()

    def _below(self, node: yaml.Node, step: str | int) -> _NodePosition | None:
        if isinstance(node, yaml.MappingNode):
            return next((_NodePosition(value, key, node) for key, value in node.value if key.value == step), None)
        if isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
            return _NodePosition(node.value[step], None, node)
        return None

    def replaced(self, start: int, end: int, with_text: str) -> str:
        return self.text[:start] + with_text + self.text[end:]

    def column(self, offset: int) -> int:
        return offset - self.line_start(offset)


def _with_value(text: str, path: Path, value: Any) -> str:
    if not text.strip() or read_yaml(text).value is None:
        return f"{text.rstrip()}\n{_block(_nested(path, value), 0)}".lstrip("\n")
    whole = _Text(text)
    place, left = whole.find(path)
    if not left:
        return _with_other_value(whole, place, value)
    if isinstance(place.node, yaml.ScalarNode) and place.key is not None and not place.node.value:
        # A key without a value becomes a block.
        column = whole.column(whole.start(place.key)) + _STEP
        at = whole.line_end(whole.offset(place.key.end_mark))
        return _inserted(whole, at, _block(_nested(left, value), column))
    if not isinstance(place.node, yaml.MappingNode):
        raise _CannotError
    if place.node.flow_style or not place.node.value:
        pair = ", ".join(f"{key}: {rendered(inner)}" for key, inner in _nested(left, value).items())
        return _into_flow(whole, place.node, pair)
    column = whole.column(whole.start(place.node.value[0][0]))
    return _inserted(whole, whole.line_end(whole.end(place.node)), _block(_nested(left, value), column))


def _with_other_value(whole: _Text, place: _NodePosition, value: Any) -> str:
    start, end = whole.start(place.node), whole.end(place.node)
    in_flow = isinstance(place.parent, yaml.CollectionNode) and bool(place.parent.flow_style)
    if place.key is None or in_flow or (not isinstance(value, list | dict) and not _is_long(value)):
        if isinstance(place.node, yaml.ScalarNode) and not place.node.value and not place.node.style:
            colon = whole.text.index(":", whole.offset(place.key.end_mark)) + 1 if place.key else start
            return whole.replaced(colon, colon, f" {rendered(value)}")
        return whole.replaced(start, end, rendered(value))
    key = whole.start(place.key)
    return whole.replaced(key, end, _block({place.key.value: value}, whole.column(key)).strip())


def _without(text: str, path: Path) -> str:
    whole = _Text(text)
    place, left = whole.find(path)
    if left or not isinstance(place.parent, yaml.CollectionNode):
        raise _CannotError
    if len(place.parent.value) == 1 and len(path) > 1:
        return _without(text, path[:-1])
    first = place.key or place.node
    start, end = whole.start(first), whole.end(place.node)
    if isinstance(place.parent, yaml.CollectionNode) and place.parent.flow_style:
        return _out_of_flow(whole, start, end)
    lead = whole.text[whole.line_start(start) : start]
    if place.key is None:
        return whole.replaced(whole.line_start(start), whole.line_end(end), "")
    if lead.strip():
        # The first key of an entry of a list stands behind its dash: the next key takes its place.
        following = next(key for key, _ in place.parent.value if whole.start(key) > start)
        return whole.replaced(start, whole.start(following), "")
    return whole.replaced(whole.line_start(start), whole.line_end(end), "")


def _with_entry(text: str, path: Path, entry: Any) -> str:
    whole = _Text(text)
    place, left = whole.find(path)
    if left or not isinstance(place.node, yaml.SequenceNode):
        raise _CannotError
    if place.node.flow_style or not place.node.value:
        return _into_flow(whole, place.node, rendered(entry))
    first = whole.start(place.node.value[0])
    column = whole.text.rindex("-", whole.line_start(first), first) - whole.line_start(first)
    return _inserted(whole, whole.line_end(whole.end(place.node)), f"{' ' * column}- {rendered(entry)}\n")


def _into_flow(whole: _Text, node: yaml.Node, piece: str) -> str:
    if not isinstance(node, yaml.CollectionNode):
        raise _CannotError
    if node.value:
        last = node.value[-1]
        end = whole.end(last[1] if isinstance(last, tuple) else last)
        return whole.replaced(end, end, f", {piece}")
    start = whole.start(node) + 1
    return whole.replaced(start, start, f" {piece} " if isinstance(node, yaml.MappingNode) else piece)


def _out_of_flow(whole: _Text, start: int, end: int) -> str:
    behind = re.compile(r"\s*,[ \t]*").match(whole.text, end)
    if behind:
        return whole.replaced(start, behind.end(), "")
    before = re.search(r",\s*\Z", whole.text[:start])
    return whole.replaced(before.start() if before else start, end, "")


def _inserted(whole: _Text, at: int, lines: str) -> str:
    gap = "" if at == 0 or whole.text[at - 1] == "\n" else "\n"
    return whole.replaced(at, at, gap + lines)


def _nested(path: Path, value: Any) -> dict[str, Any]:
    for step in reversed(path):
        if isinstance(step, int):
            raise _CannotError
        value = {step: value}
    nested: dict[str, Any] = value
    return nested


def _block(value: dict[str, Any], column: int) -> str:
    """Keys under each other, lists of blocks an entry a line, long texts as they are read."""
    lines = []
    for key, inner in value.items():
        name = rendered(key)
        if isinstance(inner, dict) and inner:
            lines.append(f"{name}:\n{_block(inner, _STEP)}")
        elif isinstance(inner, Sequence) and not isinstance(inner, str) and inner:
            entries = "".join(f"{' ' * _STEP}- {rendered(entry)}\n" for entry in inner)
            lines.append(f"{name}:\n{entries}")
        elif _is_long(inner):
            ends = "|" if inner.endswith("\n") else "|-"
            lines.append(f"{name}: {ends}\n{indent(inner.rstrip(chr(10)), ' ' * _STEP)}\n")
        else:
            lines.append(f"{name}: {rendered(inner)}\n")
    return indent("".join(lines), " " * column)


def _is_long(value: Any) -> bool:
    """Whether a text is written as a literal block: several lines that mean themselves in one."""
    if not isinstance(value, str) or "\n" not in value.strip("\n"):
        return isinstance(value, str) and value.endswith("\n") and len(value) > 1 and value.strip() != ""
    return not value.startswith((" ", "\n")) and not value.endswith("\n\n") and "\r" not in value


def _is_plain(value: str) -> bool:
    return bool(_PLAIN.fullmatch(value)) and yaml.safe_load(value) == value
