"""What Python code did to files by the functions that the first versions of OpenHands brought for it.

Field notes (agent_skills/file_ops in its repository, until 0.13)
- open_file(path, line_number, context_lines), goto_line(n), scroll_down(), scroll_up() show a window of a file
  (`windows`); search_dir, search_file and find_file show none.
- create_file(filename) makes a file of one empty line, shows it, and writes "[File PATH created.]".
- edit_file_by_replace(file_name, to_replace, new_content) replaces whole lines: those in which to_replace begins to the
  one in which it ends. insert_content_at_line(file_name, line_number, content) puts lines before that one,
  append_file(file_name, content) behind the last; of a file with one blank line both replace that one. Before 0.8,
  edit_file(file_name, start, end, content) replaced lines by their numbers.
- What was changed is shown, and "[File updated (edited at line 12)" follows. Where the linter refused, windows without
  a heading are shown, and nothing was changed. Exceptions and "No exact match found" have no heading either.
"""

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from potato.runs.converters.tool_files import CallEffects
from potato.runs.converters.windows import Window, WindowedFiles, windows
from potato.runs.model import FileEvent, FileTouched, FileWrite
from potato.runs.python_code import parsed

_PARAMETERS = {
    "open_file": ("path", "line_number", "context_lines"),
    "goto_line": ("line_number",),
    "scroll_down": (),
    "scroll_up": (),
    "create_file": ("file_name",),
    "edit_file_by_replace": ("file_name", "to_replace", "new_content"),
    "insert_content_at_line": ("file_name", "line_number", "content"),
    "append_file": ("file_name", "content"),
    "edit_file": ("file_name", "start", "end", "content"),
    "search_dir": ("search_term", "dir_path"),
    "search_file": ("search_term", "file_path"),
    "find_file": ("file_name", "dir_path"),
}
_WITHOUT_WINDOW = frozenset({"search_dir", "search_file", "find_file"})
_EDITS = frozenset({"edit_file_by_replace", "insert_content_at_line", "append_file", "edit_file"})
_EDITED_PATH = re.compile(rf"\b(?:{'|'.join(sorted(_EDITS))})\(\s*['\"]([^'\"\n]+)['\"]")
_WORKED = "[File updated"
_CREATED = re.compile(r"\[File (\S+) created\.?\]")
_BY = "A function of the program"

_Value: TypeAlias = str | int | None


@dataclass(frozen=True, slots=True)
class _Call:
    name: str
    arguments: Mapping[str, _Value] = field(default_factory=dict)

    def text(self, key: str) -> str | None:
        value = self.arguments.get(key)
        return value if isinstance(value, str) else None

    def number(self, key: str) -> int:
        value = self.arguments.get(key)
        return value if isinstance(value, int) else 0


class SkillFiles:
    """Follows the functions through a run, from what they showed."""

    def __init__(self) -> None:
        self._files = WindowedFiles()

    def forget_named(self, words: str) -> None:
        """Another tool, or a command of these words, may have changed the files that are named in them."""
        self._files.forget_named(words)

    def effects(self, code: str, answer: str) -> CallEffects | None:
        """What the code did by these functions; None where it calls none of them, and may have done other things."""
        calls = _calls(code)
        shown = windows(answer)
        expected = [call for call in calls if call.name not in _WITHOUT_WINDOW]
        if not calls or len(shown) != len(expected):
            return self._named(code, answer, is_known=bool(calls))
        events: list[FileEvent] = []
        for call, window in zip(expected, shown, strict=True):
            if call.name in _EDITS:
                events.append(self._edited(call, window))
            elif call.name == "create_file":
                events.append(FileWrite(window.path, "\n", created=True))
                self._files.created(window.path)
            events += self._files.shown(window.path, window)
        return CallEffects(tuple(events))

    def _named(self, code: str, answer: str, *, is_known: bool) -> CallEffects | None:
        """The files that it names, where it is not told what each call did."""
        paths = _CREATED.findall(answer) + (_EDITED_PATH.findall(code) if _WORKED in answer else [])
        if not paths and is_known:
            return CallEffects()
        self.forget_named(code)
        touched = tuple(FileTouched(path, _BY, is_certain=True) for path in dict.fromkeys(paths))
        return CallEffects(touched) if touched else None

    def _edited(self, call: _Call, window: Window) -> FileEvent:
        path = window.path
        content = call.text("content" if call.name != "edit_file_by_replace" else "new_content")
        for first, last in self._places(call, path):
            if content is not None:
                new = content.removesuffix("\n").split("\n")
                if event := self._files.replaced(path, first, last, new, window):
                    return event
        self._files.forget(path)
        return FileTouched(path, _BY, is_certain=True)

    def _places(self, call: _Call, path: str) -> list[tuple[int, int]]:
        """The lines that the call may have replaced, by the versions of the program."""
        count = self._files.line_count(path)
        blank = [(1, 1)] if count == 1 else []
        match call.name:
            case "edit_file":
                return [(call.number("start"), call.number("end"))]
            case "insert_content_at_line":
                line = call.number("line_number")
                return [(line, line - 1), *blank]
            case "append_file":
                return [(count + 1, count), *blank]
        old = "\n".join((call.text("to_replace") or "").splitlines())
        first = self._files.find(path, old)
        return [(first, first + old.count("\n"))]


def _calls(code: str) -> list[_Call]:
    """The calls of which the code consists, each of one of the functions with values that stand there; else none."""
    if not any(name in code for name in _PARAMETERS):
        return []
    module = parsed(code)
    statements = module.body if module is not None else []
    calls = [_call(statement.value) if isinstance(statement, ast.Expr) else None for statement in statements]
    known = [call for call in calls if call is not None]
    return known if len(known) == len(calls) else []


def _call(expression: ast.expr) -> _Call | None:
    if not isinstance(expression, ast.Call) or not isinstance(expression.func, ast.Name):
        return None
    name = expression.func.id
    if name not in _PARAMETERS:
        return None
    parameters = _PARAMETERS[name]
    named = [(word.arg, word.value) for word in expression.keywords]
    # The first versions edited the open file, by numbers alone.
    is_of_open_file = name == "edit_file" and len(expression.args) + len(named) == 3
    values = [*zip(parameters[1:] if is_of_open_file else parameters, expression.args, strict=False), *named]
    arguments: dict[str, _Value] = {}
    for key, value in values:
        if key is None or not isinstance(value, ast.Constant) or not isinstance(value.value, str | int | None):
            return None
        arguments[key] = value.value
    return _Call(name, arguments)
