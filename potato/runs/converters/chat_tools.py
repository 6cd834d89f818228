"""What the tools of a chat did to files: editors, windows and shells by the names that agents give them.

Field notes
- A tool's name is the agent's own choice. Known are shells (bash, execute_bash, run_command ...), Anthropic's editor
  (str_replace_editor ...), the windowed tools of SWE-agent (open, edit {start_line, end_line, replacement_text}), and
  tools for files with Claude Code's arguments (edit_file {path, old_string, new_string}, write_file {path, content}).
- Nothing but its words says whether a call failed: an editor's "has been edited", "ERROR", "No replacement was
  performed"; of a shell "[The command completed with exit code N.]" and "<returncode>N</returncode>", where they stand.
- apply_patch has the patch as its input or, as a tool of Responses, {type: create_file | update_file | delete_file,
  path, diff}, whose diff has the lines that stand below the file's heading in a patch.
- What a shell printed is not taken for a file: remarks of the program may stand in it.
"""

import re

from potato.runs.converters.apply_patch import BEGIN, patch_in_command
from potato.runs.converters.blocks import Answer
from potato.runs.converters.fields import text
from potato.runs.converters.shell_files import ShellFiles
from potato.runs.converters.swe_agent_actions import WINDOWED, WindowFiles, is_failure
from potato.runs.converters.tool_effects import read_tool_effects
from potato.runs.converters.tool_files import CallEffects, is_shell, is_text_editor
from potato.runs.model import JSON, ConversionReport

_CLAUDE_NAMES = {
    "edit": "Edit", "edit_file": "Edit", "file_edit": "Edit", "replace": "Edit", "replace_in_file": "Edit",
    "write": "Write", "write_file": "Write", "create_file": "Write", "file_write": "Write",
    "read": "Read", "read_file": "Read", "file_read": "Read", "multiedit": "MultiEdit", "multi_edit": "MultiEdit",
}  # fmt: skip
_OPERATIONS = {"create_file": "Add", "update_file": "Update", "delete_file": "Delete"}
_EXIT = re.compile(r"exit code:? (-?\d{1,5})\b|<returncode>(-?\d{1,5})</returncode>")
_FAILED = re.compile(r"\s*(?:error\b|traceback \(most recent|failed to |exception: )", re.IGNORECASE)


class ChatTools:
    """Reads the calls of one run in their order. `folder` is where its shell begins, "" where that is not known."""

    def __init__(self, folder: str = "") -> None:
        self._folder = folder
        self._shell = ShellFiles(folder)
        self._window = WindowFiles(folder, self._shell)

    def effects(
        self, name: str, arguments: JSON, outcome: JSON, answer: Answer, report: ConversionReport
    ) -> CallEffects:
        """What an answered call did."""
        if is_shell(name):
            command = _command(arguments)
            if patch_in_command(command):
                return read_tool_effects("bash", {"command": command}, None, answer, report, folder=self._folder)
            return self._shell.effects(command, "", failed=answer.is_error)
        if is_windowed(name, arguments):
            return self._window.effects(name, arguments, outcome, answer, report)
        known = _CLAUDE_NAMES.get(name.lower(), name)
        return read_tool_effects(known, _as_patch(arguments), outcome, answer, report, folder=self._folder)


def _as_patch(arguments: JSON) -> JSON:
    """An operation of the tool apply_patch of Responses as the patch that it stands for; anything else as it is."""
    heading = _OPERATIONS.get(text(arguments, "type"))
    path = text(arguments, "path")
    if heading is None or not path or "\n" in path:
        return arguments
    lines = text(arguments, "diff").rstrip("\n")
    return {"input": "\n".join(filter(None, (BEGIN, f"*** {heading} File: {path}", lines, "*** End Patch")))}


def is_windowed(name: str, arguments: JSON) -> bool:
    """Whether the call is one of SWE-agent's windowed tools; an editor of another agent may be called the same."""
    if name not in WINDOWED or not isinstance(arguments, dict):
        return False
    return name not in ("edit", "insert") or bool(
        {"start_line", "replacement_text", "search"} & arguments.keys() or name == "insert"
    )


def has_failed(name: str, arguments: JSON, answer: str) -> bool:
    """Whether the words of an answer say that the call failed."""
    if is_shell(name):
        codes = [match[1] or match[2] for match in _EXIT.finditer(answer[-400:])] or [
            match[1] or match[2] for match in _EXIT.finditer(answer[:200])
        ]
        return bool(codes) and int(codes[-1]) != 0
    if is_text_editor(name):
        return is_failure("str_replace_editor", answer)
    if is_windowed(name, arguments):
        return is_failure(name, answer)
    return name.lower() in _CLAUDE_NAMES and _FAILED.match(answer) is not None


def _command(arguments: JSON) -> str:
    """The command of a shell's call; one that comes as its words is joined."""
    command = arguments.get("command", arguments.get("cmd")) if isinstance(arguments, dict) else None
    if isinstance(command, list) and all(isinstance(word, str) for word in command):
        # ["bash", "-lc", "make test"]
        if len(command) == 3 and re.fullmatch(r"-[a-z]*c", command[1]):
            return str(command[2])
        return " ".join(command)
    return text(arguments, "command", "cmd", "script", "input")
