"""Searches one text. Linear in its length, whatever it holds: RE2 never goes back."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import re2

from potato.runs.secrets.rules import RULES, Group, Rule

ALL: frozenset[Group] = frozenset({"keys", "personal_data"})
_SHORTEST = 6
_KEY_BLOCK = 20_000
_HIDDEN = "[hidden]"
_END_OF_KEY = b"-----END"
# As placeholders are written, so that what was replaced is not found again.
_PLACEHOLDER = r"(?:[A-Z]+(?:-[A-Z]+)*-[0-9]+(?:-x*)?|x*[0-9]*)"


@dataclass(frozen=True, slots=True)
class Found:
    """From character `start` to before `end` of a text stands something of that kind."""

    kind: str
    start: int
    end: int
    value: str


def _options() -> Any:
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.log_errors = False
    return options


@cache
def _hints() -> Any:
    hints = re2.Set.SearchSet(_options())
    for rule in RULES:
        hints.Add(rule.hint)
    hints.Compile()
    return hints


@cache
def _pattern(pattern: str) -> Any:
    return re2.compile(pattern.encode("latin-1"), options=_options())


def find(text: str, groups: Collection[Group] = ALL) -> list[Found]:
    """What the rules of these groups find, in the order of the text; of two that overlap the longer one."""
    if len(text) < _SHORTEST:
        return []
    data = text.encode("utf-8", "surrogatepass")
    hits = _hints().Match(data)
    if not hits:
        return []
    spans = [
        (start, end, rule.kind)
        for rule in (RULES[at] for at in sorted(hits))
        if rule.group in groups
        for start, end in _spans(rule, data)
    ]
    spans.sort(key=lambda span: (span[0], -span[1]))
    found: list[Found] = []
    behind = 0
    for start, end, kind in spans:
        if start >= behind:
            found.append(_found(text, data, start, end, kind))
            behind = end
    return found


def hide(text: str, groups: Collection[Group] = ALL) -> str:
    """The text with a word in the place of everything that is found, for messages that quote what was read."""
    pieces, behind = [], 0
    for found in find(text, groups):
        pieces += [text[behind : found.start], _HIDDEN]
        behind = found.end
    return "".join([*pieces, text[behind:]]) if pieces else text


def _found(text: str, data: bytes, start: int, end: int, kind: str) -> Found:
    if len(text) != len(data):
        start, end = (len(data[:at].decode("utf-8", "surrogatepass")) for at in (start, end))
    return Found(kind, start, end, text[start:end])


def _spans(rule: Rule, data: bytes) -> Iterator[tuple[int, int]]:
    """In bytes."""
    if rule.kind == "private_key":
        yield from _private_keys(rule, data)
        return
    for match in _pattern(rule.pattern).finditer(data):
        start, end = match.span(1)
        value = data[start:end]
        if rule.harmless and _pattern(rule.harmless).fullmatch(value):
            continue
        if not _pattern(_PLACEHOLDER).fullmatch(value):
            yield start, end


def _private_keys(rule: Rule, data: bytes) -> Iterator[tuple[int, int]]:
    """The words between the marks of each key: its lines stay lines, also with the sign of a patch before each.

    Of a key that is cut off, those that are as long as its lines.
    """
    for match in _pattern(rule.pattern).finditer(data):
        begin = match.end()
        end = data.find(_END_OF_KEY, begin, begin + _KEY_BLOCK)
        shortest = 4 if end >= 0 else 40
        for word in _pattern(r"\\[nrt]|([A-Za-z0-9/][A-Za-z0-9+/=]{3,})").finditer(
            data, begin, end if end >= 0 else begin + 4_000
        ):
            start, stop = word.span(1)
            value = data[start:stop]
            if start >= 0 and stop - start >= shortest and not value.isdigit() and not _is_placeholder(value):
                yield start, stop


def _is_placeholder(word: bytes) -> bool:
    return _pattern(r"(?:[xX]+[0-9]*|PRIVATE|KEY|[A-Z]+)").fullmatch(word) is not None
