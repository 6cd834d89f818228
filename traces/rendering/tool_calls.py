"""What an agent's tool call is about, whatever the tool is called: kind, title, file, command, edits. Makes no HTML."""

import re
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from potato.runs.model import Step, ToolCall
from traces.rendering.escaping import named

Kind: TypeAlias = Literal["command", "read", "edit", "write", "search", "web", "plan", "agent", "message", "other"]

_LONGEST_TITLE = 160
_LOOKERS = "ls cat head tail less pwd cd wc tree find grep egrep rg ag fd file stat which echo"
_LOOKING = frozenset(_LOOKERS.split())
_NEXT_COMMAND = re.compile(r"\|\|?|&&|;|\n")
_HARMLESS = re.compile(r"\d?>&\d|[\d&]?>\s*/dev/null")
_WRITES = re.compile(r">|`|\$\(|-delete\b|-exec\b|(?<!&)&(?!&)")

_NAMES: dict[Kind, str] = {
    "command": "bash shell sh run_command execute_bash execute_command run_shell_command run_terminal_cmd terminal exec"
    " exec_command shell_command local_shell container.exec cmd powershell bashoutput killbash killshell"
    " run_in_terminal ipython execute_ipython_cell python",
    "read": "read read_file view view_file open open_file cat notebookread readfile",
    "edit": "edit edit_file multiedit multi_edit str_replace str_replace_editor str_replace_based_edit_tool apply_patch"
    " applypatch search_replace replace insert notebookedit patch replace_in_file",
    "write": "write write_file create create_file write_to_file save_file",
    "search": "grep glob search ls list list_dir list_directory list_files find find_file search_file search_dir"
    " codebase_search file_search grep_search search_files toolsearch",
    "web": "webfetch websearch web_fetch web_search fetch browser browse navigate goto click"
    " type scroll wait goback google press hover select screenshot answer",
    "plan": "todowrite todoread update_plan exitplanmode enterplanmode think taskcreate taskupdate",
    "agent": "task agent delegate subagent",
}
_KINDS: dict[str, Kind] = {name: kind for kind, names in _NAMES.items() for name in names.split()}
_TITLES: dict[Kind, str] = {
    "command": "Run a command",
    "read": "Read a file",
    "edit": "Edit a file",
    "write": "Write a file",
    "search": "Search",
    "web": "Use the web",
    "plan": "Plan",
    "agent": "Ask another agent",
}
_ACTS = {
    "click": "Click",
    "type": "Type",
    "scroll": "Scroll",
    "wait": "Wait",
    "press": "Press a key",
    "hover": "Hover",
    "select": "Select",
    "goback": "Go back",
    "goto": "Open a page",
    "navigate": "Open a page",
    "google": "Open Google",
    "screenshot": "Take a screenshot",
    "answer": "Answer",
}
"""What an agent does on a page, by the last word of the tool's name."""
_SUBCOMMANDS: dict[str, Kind] = {"view": "read", "create": "write"}
_PATHS = ("file_path", "path", "filename", "file", "notebook_path", "target_file", "absolute_path", "filepath")
_DETAILS = ("pattern", "query", "url", "command", "cmd", "prompt", "description", "input", "name")


@dataclass(frozen=True, slots=True)
class Edit:
    """Text replaced in a file."""

    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Use:
    """What a call does. `shown` are the names of arguments that the rendering shows in another way than as a list."""

    kind: Kind
    title: str
    detail: str = ""
    path: str = ""
    command: str = ""
    written: str | None = None
    edits: tuple[Edit, ...] = ()
    shown: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class StepTitle:
    """A step in one line, as plain text with hidden characters named: for its header and for lists of steps."""

    kind: Kind
    title: str
    detail: str = ""


def describe_call(call: ToolCall) -> Use:
    """What the call is about. Of a tool that is not known the title is its name."""
    arguments = call.arguments if isinstance(call.arguments, dict) else {}
    kind = _kind(call.name, arguments)
    path = _first_text(arguments, _PATHS)
    title = _TITLES.get(kind) or _one_line(call.name) or "Call a tool"
    if kind == "command":
        command = _command(arguments) or (call.arguments if isinstance(call.arguments, str) else "")
        described = _one_line(_text(arguments.get("description")))
        shown = {"command", "cmd", "code"} | ({"description"} if described else set())
        return Use(kind, described or title, _one_line(command), command=command, shown=frozenset(shown))
    if kind == "edit":
        edits = _edits(arguments)
        names = {"old_string", "new_string", "old_str", "new_str", "edits"} if edits else set()
        return Use(kind, title, _one_path(path), path, edits=edits, shown=frozenset(names))
    if kind == "write":
        names = {name for name in ("content", "file_text", "contents", "text") if isinstance(arguments.get(name), str)}
        written = next((arguments[name] for name in sorted(names)), None)
        return Use(kind, title, _one_path(path), path, written=written, shown=frozenset(sorted(names)[:1]))
    if kind == "web":
        title = _ACTS.get(_short(call.name.lower())) or title
        return Use(kind, title, _on_page(arguments) or _one_line(_first_text(arguments, _DETAILS) or path), path)
    detail = path if kind == "read" else _first_text(arguments, _DETAILS) or path
    if not detail and isinstance(call.arguments, str):
        detail = call.arguments
    return Use(kind, title, _one_path(detail) if kind == "read" else _one_line(detail), path)


def step_title(step: Step) -> StepTitle:
    """What the step does: its first call that is told, else its message, else its thought."""
    if step.calls:
        use = describe_call(step.calls[0])
        if use.kind == "web" and (named := _element(step)):
            use = replace(use, detail=_one_line(use.detail.replace(f"[{named[0]}]", f"[{named[0]}] {named[1]}", 1)))
        more = len(step.calls) - 1
        others = f"and {more} more {'call' if more == 1 else 'calls'}" if more else ""
        return StepTitle(use.kind, use.title, ", ".join(filter(None, (use.detail, others))))
    if message := _one_line(step.message.lstrip("#*->` \n\t")):
        return StepTitle("message", message)
    return StepTitle("message", "Thought" if step.thought.strip() else "Empty step", _one_line(step.thought))


def _element(step: Step) -> tuple[int, str] | None:
    """The number and the text of the labelled element that the first call acts on, where the agent saw a list."""
    arguments = step.calls[0].arguments
    number = arguments.get("element") if isinstance(arguments, dict) else None
    if not isinstance(number, int):
        return None
    for line in step.prompt.splitlines():
        if line.startswith(f"- [{number}] "):
            return number, line.split("] ", 1)[1]
    return None


def is_noise(step: Step) -> bool:
    """Whether the step only looked around, without a word and without a failure: it read, listed or searched."""
    return (
        bool(step.calls)
        and not step.message.strip()
        and step.screenshot is None
        and not any(call.is_error for call in step.calls)
        and all(_is_exploration(describe_call(call)) for call in step.calls)
    )


def _is_exploration(use: Use) -> bool:
    if use.kind != "command":
        return use.kind in ("read", "search")
    if not use.command or _WRITES.search(_HARMLESS.sub("", use.command)):
        return False
    words = (part.split() for part in _NEXT_COMMAND.split(use.command))
    return all(not part or part[0] in _LOOKING for part in words)


def _kind(name: str, arguments: dict[str, Any]) -> Kind:
    lowered = name.lower().replace("-", "_")
    kind = _KINDS.get(lowered) or _KINDS.get(_short(lowered)) or ("web" if lowered.startswith("browser") else "other")
    if kind == "edit":
        return _SUBCOMMANDS.get(_text(arguments.get("command")), kind)
    return kind


def _short(name: str) -> str:
    """A tool's own name, without that of the server or the module that offers it."""
    return re.split(r"__|[./]|browser_", name)[-1]


def _on_page(arguments: dict[str, Any]) -> str:
    """The element acted on and what was written there, in one line; "" where the arguments name none."""
    element = arguments.get("element", arguments.get("target"))
    named = f"[{element}]" if isinstance(element, int) else _text(element)
    written = _first_text(arguments, ("content", "text", "direction", "value", "key"))
    return _one_line(": ".join(filter(None, (named, written))))


def _command(arguments: dict[str, Any]) -> str:
    for name in ("command", "cmd", "code"):
        value = arguments.get(name)
        if isinstance(value, str):
            return value
        if isinstance(value, list) and value and all(isinstance(word, str) for word in value):
            return " ".join(value)
    return ""


def _edits(arguments: dict[str, Any]) -> tuple[Edit, ...]:
    """The replaced texts; none where one of them cannot be read, so that the arguments are shown as they came."""
    listed = arguments.get("edits")
    edits = []
    for edit in listed if isinstance(listed, list) else [arguments]:
        if not isinstance(edit, dict):
            return ()
        old = edit.get("old_string", edit.get("old_str", ""))
        new = edit.get("new_string", edit.get("new_str", ""))
        if not (isinstance(old, str) and isinstance(new, str) and (old or new)):
            return ()
        edits.append(Edit(old, new))
    return tuple(edits)


def _first_text(arguments: dict[str, Any], names: tuple[str, ...]) -> str:
    return next((value for name in names if isinstance(value := arguments.get(name), str) and value), "")


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _one_line(text: str) -> str:
    """The first line that says something, cut to 160 characters, with hidden characters named."""
    line = _first_line(text)
    return line if len(line) <= _LONGEST_TITLE else line[: _LONGEST_TITLE - 1] + "…"


def _one_path(path: str) -> str:
    """The same of a path, of which the end tells more than the beginning."""
    line = _first_line(path)
    return line if len(line) <= _LONGEST_TITLE else "…" + line[1 - _LONGEST_TITLE :]


def _first_line(text: str) -> str:
    return next((line for part in text[:4_000].splitlines() if (line := named(" ".join(part.split())))), "")
