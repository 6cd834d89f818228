"""The actions of SWE-agent: commands of its own interface, or lines for a shell, and what they did to files.

Field notes (the windowed tools and str_replace_editor of SWE-agent, tools/ in its repository)
- An action is text: "open path 12", "goto 12", "create path", "submit", "edit 3:5" with lines and "end_of_edit" below;
  anything else goes to the shell. Earlier, "edit" replaced the lines between two cursors. A range that ends behind the
  file's last line ends with it.
- With function calling a step also has a call with JSON: edit {start_line, end_line, replacement_text} or {search,
  replace, replace-all}, insert {text, line}, create {filename}, str_replace_editor {command, path, ...}.
- As text it is "str_replace_editor str_replace /path --old_str '...' --new_str '...'", quoted as for a shell.
- The answer shows a window of the file (`windows`). `create` makes a file of one empty line.
- An edit that breaks the syntax is not made: "Your proposed edit has introduced new syntax error(s)", and shows windows
  of what would have been; "Your edit was not applied".
- No answer has an exit status: whether a shell command failed is not known.
"""

import re
import shlex
from posixpath import isabs, join, normpath

from potato.runs.converters.blocks import Answer
from potato.runs.converters.fields import text, text_or_none, word_set
from potato.runs.converters.shell_files import ShellFiles
from potato.runs.converters.tool_files import CallEffects, read_call_effects
from potato.runs.converters.windows import Window, WindowedFiles, last_window
from potato.runs.model import (
    JSON,
    ConversionReport,
    FileEdit,
    FileEvent,
    FileRead,
    FileTouched,
    FileWrite,
)

SHELL = "bash"
WINDOWED = frozenset({"open", "goto", "scroll_up", "scroll_down", "create", "edit", "insert", "set_cursors"})
_COMMANDS = word_set(
    "open goto scroll_up scroll_down create edit insert append undo_edit search_dir search_file find_file submit"
    " set_cursors exit_forfeit exit_cost exit_context view_image filemap diff_state str_replace_editor"
)
_RANGE = re.compile(r"edit\s+(\d{1,7}):(\d{1,7})\s*\n(.*)", re.DOTALL)
_END = re.compile(r"\n?^end_of_edit[^\n]*\s*\Z", re.MULTILINE)
_NOT_MADE = re.compile(
    r"\s*(?:Your proposed edit has introduced|Your edit was not applied|Edit the file again|Usage: |No file open"
    r"|ERROR|Error: |Error:|Invalid |No replacement was performed|The path .{1,1000} does not exist|File .{1,1000} not"
    r" found|Your command (?:exited|.{0,80} (?:was cancelled|timed out))|EXECUTION TIMED OUT|COMMAND TIMED OUT"
    r"|Your bash command contained syntax errors|Your output could not be parsed)",
)
_EDITED = ("has been edited successfully", "has been edited.", "File created successfully", "undone successfully")
_EDITOR = "str_replace_editor"
_OPTIONS = frozenset({"file_text", "old_str", "new_str", "insert_line", "insert_text", "view_range"})


def read_action(action: str, call: JSON = None) -> tuple[str, JSON]:
    """The tool's name and its arguments. `call` is the call in JSON that the action was made of, where there is one:
    {name, arguments}."""
    if isinstance(call, dict) and text(call, "name") and isinstance(call.get("arguments"), dict):
        return text(call, "name"), call["arguments"]
    bare = action.strip()
    name = bare.split(None, 1)[0] if bare else ""
    if name not in _COMMANDS:
        return SHELL, {"command": action.strip("\n")}
    if name == "edit":
        if match := _RANGE.match(bare + "\n"):
            first, last = int(match[1]), int(match[2])
            return name, {"start_line": first, "end_line": last, "replacement_text": _replacement(match[3])}
        if bare.startswith("edit\n"):
            return name, {"replacement_text": _replacement(bare.removeprefix("edit\n"))}
    if name == _EDITOR and (arguments := _editor_arguments(bare)):
        return name, arguments
    if name in ("create", "open") and (words := _words(bare)):
        arguments = {"filename" if name == "create" else "path": words[1]} if len(words) > 1 else {}
        return name, arguments | ({"line_number": words[2]} if len(words) > 2 else {})
    return name, {"input": bare[len(name) :].strip()}


def is_failure(name: str, answer: str) -> bool:
    """Whether the answer says that the tool did nothing."""
    if name == _EDITOR and not _NOT_MADE.match(answer):
        return not (answer.lstrip().startswith("Here's the") or any(words in answer for words in _EDITED))
    return _NOT_MADE.match(answer) is not None


def _replacement(body: str) -> str:
    return _END.sub("", body.removesuffix("\n") if body.endswith("end_of_edit\n") else body)


def _words(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError:
        return []


def _editor_arguments(action: str) -> dict[str, JSON]:
    words = _words(action)
    if len(words) < 3:
        return {}
    arguments: dict[str, JSON] = {"command": words[1], "path": words[2]}
    at = 3
    while at < len(words):
        key, equals, value = words[at].removeprefix("--").partition("=")
        if not words[at].startswith("--") or key not in _OPTIONS:
            return {}
        if key == "view_range":
            numbers = words[at + 1 : at + 3] if not equals else value.split()
            arguments[key] = [int(number) for number in numbers if re.fullmatch(r"-?\d{1,7}", number)]
            at += 1 if equals else 3
            continue
        if not equals:
            at += 1
            value = words[at] if at < len(words) else ""
        arguments[key] = int(value) if key == "insert_line" and re.fullmatch(r"\d{1,7}", value) else value
        at += 1
    return arguments


class WindowFiles:
    """What each action did to files, in their order. The outcome of an action is {open_file, working_dir, before}:
    the state that the trace notes with it, and the working folder before it."""

    def __init__(self, folder: str, shell: ShellFiles | None = None) -> None:
        self._shell = shell or ShellFiles(folder, is_exact=False)
        self._files = WindowedFiles()
        self._open = ""
        self._cursors: dict[str, tuple[int, int]] = {}

    def effects(
        self, name: str, arguments: JSON, outcome: JSON, answer: Answer, report: ConversionReport
    ) -> CallEffects:
        """What an answered action did."""
        folder = text(outcome, "before") or text(outcome, "working_dir")
        if name == SHELL:
            effects = self._shell.effects(
                text(arguments, "command"), answer.text, failed=answer.is_error, folder=folder
            )
            for event in effects.events:
                if not isinstance(event, FileRead):
                    self._files.forget(event.path)
            return effects
        if answer.is_error:
            return CallEffects()
        if name == _EDITOR:
            effects = read_call_effects(name, arguments, None, answer, report)
            for event in effects.events:
                if isinstance(event, FileWrite):
                    self._shell.add_written(event.path)
            if text(arguments, "command") == "undo_edit" and (path := text(arguments, "path")):
                return CallEffects((FileTouched(path, "Undoing an edit, of which the trace has no text,", True),))
            return effects
        if name not in _COMMANDS:
            return CallEffects(doubts_all=f"The tool {name[:60]}")
        window = last_window(answer.text)
        path = self._path(window, outcome, folder)
        if not path or name in ("submit", "search_dir", "find_file", "search_file"):
            return CallEffects()
        events: list[FileEvent] = []
        if name == "create":
            events.append(FileWrite(path, "\n", created=True))
            self._files.created(path)
            self._shell.add_written(path)
        elif name == "edit" and "search" in (arguments if isinstance(arguments, dict) else {}):
            events += self._searched(path, arguments, window)
        elif name in ("edit", "insert", "append", "undo_edit"):
            events += self._edit(path, arguments, window) if name == "edit" else self._unknown(path, name)
        if window is not None:
            if window.cursors is not None:
                self._cursors[path] = window.cursors
            events += self._files.shown(path, window)
        return CallEffects(tuple(events))

    def _path(self, window: Window | None, outcome: JSON, folder: str) -> str:
        opened = text(outcome, "open_file")
        if window is None:
            return self._open
        path = window.path
        if not isabs(path):
            path = opened if opened.endswith("/" + path) else join(folder, path)
        self._open = normpath(path)
        return self._open

    def _edit(self, path: str, arguments: JSON, window: Window | None) -> list[FileEvent]:
        first, last = self._lines_meant(path, arguments)
        new = text(arguments, "replacement_text").split("\n") if text(arguments, "replacement_text") else []
        edited = self._files.replaced(path, first, last, new, window)
        return self._unknown(path, "edit") if edited is None else [edited]

    def _lines_meant(self, path: str, arguments: JSON) -> tuple[int, int]:
        first, last = (
            (arguments.get("start_line"), arguments.get("end_line")) if isinstance(arguments, dict) else (0, 0)
        )
        if isinstance(first, int) and isinstance(last, int):
            return first, max(first - 1, last)
        return self._cursors.get(path, (0, 0))

    def _searched(self, path: str, arguments: JSON, window: Window | None) -> list[FileEvent]:
        old, new = text(arguments, "search"), text_or_none(arguments, "replace")
        self._files.forget(path)
        if not old or new is None:
            return self._unknown(path, "edit")
        everywhere = bool(arguments.get("replace-all", arguments.get("replace_all")))
        shown = window.excerpts() if window is not None else ()
        return [FileEdit(path, old, new, everywhere, shown=shown)]

    def _unknown(self, path: str, name: str) -> list[FileEvent]:
        self._files.forget(path)
        return [FileTouched(path, f"The command `{name}`", is_certain=True)]
