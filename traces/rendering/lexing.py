"""The process that runs Pygments' lexers, started by `highlight`. It answers with lengths, never with text.

Lexers are regular expressions over text that strangers wrote: some of them backtrack for hours. So they run in a
process of their own, under a bound of processor time that does not depend on how busy the machine is. It is run by
its path, imports nothing of the product, and ends when its standard input does.
"""

import json
import re
import signal
import sys
from functools import lru_cache
from types import FrameType
from typing import BinaryIO, NoReturn, TypeAlias

from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name, get_lexer_for_filename
from pygments.token import (
    Comment,
    Keyword,
    Literal,
    Name,
    Number,
    Operator,
    String,
    _TokenType,
)
from pygments.util import ClassNotFound

LineTokens: TypeAlias = list[tuple[str, int]]

_PROCESSOR_SECONDS = 2.0
_SHEBANG = re.compile(r"#!\s*\S*?(?:/env\s+(?:-S\s+)?)?([A-Za-z]+)[0-9.]*(?:\s|$)")

# The short classes that the style sheet knows; a token has the class of its nearest kind here.
_CLASSES: dict[_TokenType, str] = {
    Keyword: "k",
    Keyword.Constant: "kc",
    Keyword.Namespace: "kn",
    Keyword.Type: "nb",
    Operator.Word: "ow",
    Literal: "s",
    String.Doc: "sd",
    Number: "mi",
    Name.Attribute: "nf",
    Name.Builtin: "nb",
    Name.Class: "nc",
    Name.Decorator: "nd",
    Name.Exception: "nc",
    Name.Function: "nf",
    Name.Tag: "nt",
    Comment: "c1",
    Comment.Preproc: "kn",
    Comment.PreprocFile: "s",
}


class _TooSlow(Exception):  # noqa: N818
    pass


@lru_cache(maxsize=256)
def _class_of(kind: _TokenType) -> str:
    nearest: _TokenType | None = kind
    while nearest is not None:
        if nearest in _CLASSES:
            return _CLASSES[nearest]
        nearest = nearest.parent
    return ""


def _lexer(path: str, text: str) -> Lexer | None:
    try:
        return get_lexer_for_filename(path.rsplit("/", 1)[-1], text)
    except ClassNotFound:
        pass
    if shebang := _SHEBANG.match(text[:200]):
        try:
            return get_lexer_by_name({"node": "javascript", "deno": "typescript"}.get(shebang[1], shebang[1]))
        except ClassNotFound:
            pass
    return None


def _lines(lexer: Lexer, text: str) -> list[LineTokens] | None:
    """Classes and lengths for each line; None where the lexer's tokens are not exactly the text."""
    whole = text + "\n"
    lines: list[LineTokens] = []
    line: LineTokens = []
    at = 0
    for start, kind, value in lexer.get_tokens_unprocessed(whole):
        if start != at or not whole.startswith(value, at):
            return None
        at += len(value)
        name = _class_of(kind)
        first = True
        for part in value.split("\n"):
            if not first:
                lines.append(line)
                line = []
            first = False
            if not part:
                continue
            if line and line[-1][0] == name:
                line[-1] = (name, line[-1][1] + len(part))
            else:
                line.append((name, len(part)))
    return lines if at == len(whole) else None


def _answer(path: str, texts: list[str]) -> list[list[LineTokens] | None] | None:
    """For each text its lines' tokens; None where no lexer fits or the time is over."""
    signal.setitimer(signal.ITIMER_VIRTUAL, _PROCESSOR_SECONDS)
    try:
        lexer = _lexer(path, texts[0]) if texts else None
        return [_lines(lexer, text) for text in texts] if lexer else None
    except (_TooSlow, RecursionError, MemoryError):
        return None
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def _stop(number: int, frame: FrameType | None) -> NoReturn:
    raise _TooSlow


def _serve(requests: BinaryIO, answers: BinaryIO) -> None:
    signal.signal(signal.SIGVTALRM, _stop)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while header := requests.read(4):
        asked = json.loads(requests.read(int.from_bytes(header, "big")))
        try:
            answer = _answer(asked["path"], asked["texts"])
        except _TooSlow:  # The alarm rang while the answer was already leaving.
            answer = None
        body = json.dumps(answer, separators=(",", ":")).encode()
        answers.write(len(body).to_bytes(4, "big") + body)
        answers.flush()


if __name__ == "__main__":
    _serve(sys.stdin.buffer, sys.stdout.buffer)
