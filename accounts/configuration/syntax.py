"""Turns the YAML parser's complaint into a plain sentence with a place."""

from __future__ import annotations

import re

import yaml

from accounts.configuration.problems import Position, Problem

_NO_TAGS = "Tags are not allowed. Put the text in quotes if it starts with an exclamation mark."
_SENTENCES = {
    "mapping values are not allowed in this context": (
        "A key cannot stand here. Check the indentation, or put the text in quotes if it holds a colon."
    ),
    "did not find expected key": "This line does not fit the lines above it. Check the indentation.",
    "did not find expected node content": "A value is missing here.",
    "did not find expected '-' indicator": "This line does not fit the list above it. Check the indentation.",
    "block sequence entries are not allowed in this context": (
        "A list entry cannot start here. Put it on a line of its own."
    ),
    "found undefined tag handle": _NO_TAGS,
    "did not find expected tag URI": _NO_TAGS,
    "found unknown escape character": (
        "This is not an escape that YAML knows. Write \\\\ for a backslash, or use single quotes."
    ),
    "found invalid Unicode character escape code": "This escape is not a character. Remove it.",
    "did not find expected hexdecimal number": "This escape needs hexadecimal digits.",
    "did not find expected <document start>": "A configuration is one YAML document. Nothing may stand here.",
    "did not find expected comment or line break": "Only a comment may follow here on this line.",
    "found a tab character where an indentation space is expected": "Tabs cannot indent YAML. Use spaces.",
    "found a tab character that violates indentation": "Tabs cannot indent YAML. Use spaces.",
    "did not find expected alphabetic or numeric character": (
        "Anchors and aliases are not allowed. Put the text in quotes if it starts with & or *."
    ),
}
# These are found far behind their cause; the place to look at is where the unfinished thing began.
_UNFINISHED = {
    "while scanning a simple key": "A colon is missing after this key.",
    "while scanning a quoted scalar": "The quotation mark that opens here is never closed.",
    "while parsing a flow sequence": "The list that opens here with [ needs a comma or a closing ].",
    "while parsing a flow mapping": "The block that opens here with { needs a comma or a closing }.",
}
_UNFINISHED_PROBLEMS = (
    "could not find expected ':'",
    "found unexpected end of stream",
    "found unexpected document indicator",
    "did not find expected ',' or ']'",
    "did not find expected ',' or '}'",
)


def end_of(text: str) -> Position:
    """The place behind the last character."""
    lines = _lines(text)
    return Position(len(lines), len(lines[-1]) + 1)


def position_of(mark: yaml.Mark | None, end: Position) -> Position:
    """The mark's place, never behind the end of the text: the parser thinks of one more line there."""
    return min(Position(mark.line + 1, mark.column + 1), end) if mark else Position(1, 1)


def syntax_problem(error: yaml.MarkedYAMLError, text: str) -> Problem:
    """The parser's error as a Problem, at the place where a person has to look."""
    problem, end = error.problem or "", end_of(text)
    at = position_of(error.problem_mark or error.context_mark, end)
    if problem in _UNFINISHED_PROBLEMS and error.context in _UNFINISHED:
        begin = position_of(error.context_mark, end) if error.context_mark else at
        return _at(begin, _UNFINISHED[error.context])
    if problem == "found character that cannot start any token":
        return _at(at, _unquotable(_character(at, text)))
    return _at(at, _SENTENCES.get(problem) or f"This is not valid YAML: {problem}.")


def _unquotable(character: str) -> str:
    if character == "\t":
        return "Tabs cannot indent YAML. Use spaces."
    return f"A text cannot start with {character} here. Put it in quotes."


def _character(at: Position, text: str) -> str:
    return _lines(text)[at.line - 1][at.column - 1 : at.column]


def _lines(text: str) -> list[str]:
    return re.split(r"\r\n|\r|\n", text)


def _at(at: Position, message: str) -> Problem:
    return Problem(at.line, at.column, "error", (), "yaml_syntax", message)
