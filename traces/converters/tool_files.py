"""What a tool call of Claude Code or of Anthropic's text editor did to files.

Field notes
- `toolUseResult` of a session's line says what happened, and goes before the arguments, which say what was asked:
  Edit {filePath, oldString, newString, originalFile, replaceAll}; MultiEdit {filePath, edits: [{old_string,
  new_string, replace_all}], originalFileContents}; Write {type: create|update, filePath, content, originalFile};
  NotebookEdit {notebook_path, original_file, updated_file}; Read {type, file: {filePath, content, startLine, numLines,
  totalLines}}. Of an error it is a text.
- An edit whose old text is empty creates the file, or fills an empty one.
- Elsewhere there are arguments alone: file_path, old_string, new_string, replace_all; content; edits. The text editor
  (str_replace_editor, str_replace_based_edit_tool, str_replace_based_edit_tool_2) has {command: view|create|
  str_replace|insert|undo_edit, path, file_text, old_str, new_str, insert_line, insert_text}.
- What a read answers to the agent, and what an edit answers in older sessions and in the text editor, has the lines
  with their numbers: they say where an edit stands in a file that is never shown whole.
- A call that failed or was never answered changed nothing.
"""

from collections import Counter
from dataclasses import replace

from traces.converters.fields import objects, text, text_or_none
from traces.converters.numbered import excerpts_of, numbered_lines
from traces.runs import JSON, Excerpt, FileEdit, FileEvent, FileRead, FileWrite

_TEXT_EDITORS = ("str_replace_editor", "str_replace_based_edit_tool", "text_editor")


def files_of_call(name: str, arguments: JSON, outcome: JSON, answer: str, unknown: Counter[str]) -> list[FileEvent]:
    """The file events of an answered call that did not fail, in order.

    `outcome` is the line's `toolUseResult`, or None; `answer` the text that the agent saw. What such a tool did in a
    way that cannot be told is counted in `unknown`.
    """
    if name.startswith(_TEXT_EDITORS):
        return _text_editor(arguments, answer, unknown)
    said = outcome if isinstance(outcome, dict) else {}
    match name:
        case "Edit":
            return _shown_after(_edit(arguments, said), answer)
        case "MultiEdit":
            return _multi_edit(arguments, said)
        case "Write":
            return _write(arguments, said)
        case "NotebookEdit":
            return _notebook(arguments, said, unknown)
        case "Read" | "NotebookRead":
            return _read(arguments, said, answer)
    return []


def _shown_after(events: list[FileEvent], answer: str) -> list[FileEvent]:
    """The events of one act, whose answer may show the lines around an edit of a text that is not known."""
    return [
        replace(event, shown=numbered_lines(answer))
        if isinstance(event, FileEdit) and event.original is None
        else event
        for event in events
    ]


def _replacement(path: str, old: str, new: str, *, everywhere: bool, original: str | None) -> FileEvent:
    if old:
        return FileEdit(path, old, new, replace_all=everywhere, original=original)
    return FileWrite(path, new, original=original or None, created=None if original else True)


def _edit(arguments: JSON, said: JSON) -> list[FileEvent]:
    path = text(said, "filePath") or text(arguments, "file_path", "path")
    old = text_or_none(said, "oldString")
    new = text_or_none(said, "newString")
    if old is None or new is None:
        old, new = text_or_none(arguments, "old_string"), text_or_none(arguments, "new_string")
    if not path or old is None or new is None:
        return []
    everywhere = bool(said.get("replaceAll") if "replaceAll" in said else _member(arguments, "replace_all"))
    return [_replacement(path, old, new, everywhere=everywhere, original=text_or_none(said, "originalFile"))]


def _multi_edit(arguments: JSON, said: JSON) -> list[FileEvent]:
    path = text(said, "filePath") or text(arguments, "file_path", "path")
    edits = objects(said.get("edits")) or objects(_member(arguments, "edits"))
    if not path:
        return []
    events: list[FileEvent] = []
    original = text_or_none(said, "originalFileContents")
    for edit in edits:
        old, new = text_or_none(edit, "old_string"), text_or_none(edit, "new_string")
        if old is not None and new is not None:
            everywhere = bool(edit.get("replace_all"))
            events.append(_replacement(path, old, new, everywhere=everywhere, original=original))
            original = None
    return events


def _write(arguments: JSON, said: JSON) -> list[FileEvent]:
    path = text(said, "filePath") or text(arguments, "file_path", "path")
    content = text_or_none(said, "content")
    if content is None:
        content = text_or_none(arguments, "content")
    if not path or content is None:
        return []
    created = {"create": True, "update": False}.get(text(said, "type"))
    return [FileWrite(path, content, original=text_or_none(said, "originalFile"), created=created)]


def _notebook(arguments: JSON, said: JSON, unknown: Counter[str]) -> list[FileEvent]:
    path = text(said, "notebook_path") or text(arguments, "notebook_path")
    after = text_or_none(said, "updated_file")
    if not path or after is None:
        unknown["NotebookEdit without the notebook's text"] += 1
        return []
    return [FileWrite(path, after, original=text_or_none(said, "original_file"))]


def _read(arguments: JSON, said: JSON, answer: str) -> list[FileEvent]:
    file = said.get("file")
    path = text(file, "filePath") or text(arguments, "file_path", "notebook_path", "path")
    if not path:
        return []
    whole = isinstance(file, dict) and file.get("startLine") == 1 and file.get("numLines") == file.get("totalLines")
    content = text_or_none(file, "content") if whole else None
    return [FileRead(path, content, () if content is not None else _part_read(file) or numbered_lines(answer))]


def _part_read(file: JSON) -> tuple[Excerpt, ...]:
    """The lines of a read that the program itself says the place of."""
    first, count = _member(file, "startLine"), _member(file, "numLines")
    content = text_or_none(file, "content")
    if content is None or type(first) is not int or type(count) is not int or first < 1 or count < 1:
        return ()
    return excerpts_of(first, content.split("\n")[:count])


def _text_editor(arguments: JSON, answer: str, unknown: Counter[str]) -> list[FileEvent]:
    path, command = text(arguments, "path"), text(arguments, "command")
    if not path:
        return []
    old, new = text_or_none(arguments, "old_str"), text_or_none(arguments, "new_str")
    if command == "view":
        if answer.startswith("Here's the files and directories"):
            return []
        return [FileRead(path, excerpts=numbered_lines(answer))]
    if command == "create":
        content = text_or_none(arguments, "file_text")
        return [] if content is None else [FileWrite(path, content)]
    if command == "str_replace" and old:
        return [FileEdit(path, old, new or "", shown=numbered_lines(answer))]
    inserted = text_or_none(arguments, "insert_text")
    inserted = new if inserted is None else inserted
    line = _member(arguments, "insert_line")
    if command == "insert" and inserted is not None and isinstance(line, int) and line >= 0:
        return [FileEdit(path, "", inserted, line=line, shown=numbered_lines(answer))]
    unknown[f"editor command {command or 'without a name'}"] += 1
    return []


def _member(value: JSON, key: str) -> JSON:
    return value.get(key) if isinstance(value, dict) else None
