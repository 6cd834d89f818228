"""What a shell command did to files and showed of them, where its words and its output say that exactly.

Field notes
- Agents that have a shell alone write files with here documents (`cat > path <<'EOF'`, `tee path <<EOF`) and `echo`,
  remove their own trials with `rm`, and read with `cat`, `nl -ba`, `cat -n`, `head` and `sed -n 'A,Bp'`, perhaps behind
  `cd folder &&`. The body of a here document whose word is quoted, or that holds nothing to expand, is the file.
- A command that failed did what stands before the first part of it that may have failed.
- `sed -i` on lines that the run has shown or written is replayed (`sed_edits`). What is changed in another way is a
  change of which the lines are not known.
"""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from posixpath import isabs, join, normpath

from potato.runs.converters.numbered import CUT_AT, numbered_lines, uncut_excerpts
from potato.runs.converters.path_index import PathIndex
from potato.runs.converters.sed_edits import LineEdit, read_script
from potato.runs.converters.shell import command_effects
from potato.runs.converters.tool_files import CallEffects
from potato.runs.model import Excerpt, FileEdit, FileEvent, FilePatch, FileRead, FileTouched, FileWrite

_LONGEST = 200_000
_HEREDOC = re.compile(r"<<(-?)[ \t]*(['\"]?)(\w{1,100})\2([^\n]{0,2000})\n")
_BODY = re.compile(r"\ue000(\d+)\ue001")
_MARKS = "();<>|&\n"
_EXPANDED = re.compile(r"[$`\\]")
_STATIC = re.compile(r"[\w./+@=,:-][\w./+@=,: -]*")
_RANGE = re.compile(r"(\d{1,7})(?:,(\d{1,7}|\$))?p")
_LINES = re.compile(r"-n?(\d{1,7})")


@dataclass(slots=True)
class _Simple:
    """One simple command: its words, the file its output goes into, its here document, and what follows it."""

    words: list[str] = field(default_factory=list)
    into: str = ""
    appends: bool = False
    reads_file: bool = False
    body: str | None = None
    then: str = ""


@dataclass(slots=True)
class _Lines:
    """Lines of a file that are known as they are now, by their numbers. `total` is how many there are where all are."""

    known: dict[int, str] = field(default_factory=dict)
    total: int | None = None

    @classmethod
    def read(cls, text: str) -> "_Lines":
        """All lines of a whole file."""
        lines = text.removesuffix("\n").split("\n") if text else []
        return cls(dict(enumerate(lines, 1)), len(lines))

    def apply(self, edit: LineEdit) -> None:
        last = edit.first + len(edit.old)
        grown = len(edit.new) - len(edit.old)
        after = {number: line for number, line in self.known.items() if number < edit.first}
        after |= dict(enumerate(edit.new, edit.first))
        after |= {number + grown: line for number, line in self.known.items() if number >= last}
        self.known = after
        self.total = None if self.total is None else self.total + grown


class ShellFiles:
    """Reads the commands of one run in their order, and remembers which files they wrote.

    `is_exact`: outputs are as the programs wrote them, their last line end included. `is_only_tool`: the run has no
    other way to change a file, so that what its commands showed of one holds until a command changes it.
    """

    def __init__(self, folder: str = "", *, is_exact: bool = True, is_only_tool: bool = False) -> None:
        self._folder = folder
        self._is_exact = is_exact
        self._is_only_tool = is_only_tool
        self._written: set[str] = set()
        self._lines: dict[str, _Lines] = {}
        self._index = PathIndex()

    def add_written(self, path: str) -> None:
        """Another tool of the agent wrote this file."""
        self._written.add(normpath(path))

    def effects(self, command: str, output: str, *, failed: bool, folder: str = "") -> CallEffects:
        """What the command did, with the parts whose effect is not recorded as its command. `folder`: where it ran."""
        parts = _simple_commands(command)
        if parts is None:
            return CallEffects(command=command)
        where = folder or self._folder
        events: list[FileEvent] = []
        rest: list[str] = []
        shown: list[tuple[list[_Simple], str]] = []
        pipe: list[_Simple] = []
        for part in parts:
            pipe.append(part)
            if part.then == "|":
                continue
            is_move = len(pipe) == 1 and part.words[:1] == ["cd"] and len(part.words) == 2
            # Of a command that failed it is not known whether it went anywhere else.
            if is_move and (not failed or part.words[1] == self._folder):
                where = _path(part.words[1], where)
            else:
                recorded = self._recorded(part, where, failed=failed) if len(pipe) == 1 and not rest else None
                if recorded is not None:
                    events += recorded
                else:
                    rest.append(_text(pipe))
                    shown.append((pipe, where))
            pipe = []
        rest += [_text(pipe)] if pipe else []
        if len(shown) == 1 and not events and not failed and (read := self._read(*shown[0], output)):
            self._learn(read)
            return CallEffects((read,))
        self._forget_changed("; ".join(rest))
        whole = command if not events else "; ".join(rest)
        return CallEffects(tuple(events), command=whole if rest else "")

    def _recorded(self, part: _Simple, folder: str, *, failed: bool) -> list[FileEvent] | None:
        """The events that are all that the command did; None for one of which they are not known. `failed`: this part
        may be the one that did not succeed, unless it is one that hardly can."""
        program, rest = part.words[0] if part.words else "", part.words[1:]
        plain = [word for word in rest if not word.startswith("-")]
        if program == "cat" and part.body is not None and not rest and part.into and not part.appends:
            return [self._write(part.into, part.body, folder)] if _STATIC.fullmatch(part.into) else None
        if program == "tee" and part.body is not None and len(rest) == 1 and _STATIC.fullmatch(rest[0]):
            return [self._write(rest[0], part.body, folder)]
        if program == "echo" and part.into and not part.appends and plain == rest and _STATIC.fullmatch(part.into):
            text = " ".join(rest)
            return None if _EXPANDED.search(text) else [self._write(part.into, text + "\n", folder)]
        if failed:
            return None
        if program == "rm" and plain and set(rest) - set(plain) <= {"-f"} and not part.into:
            paths = [_path(word, folder) for word in plain]
            if all(path in self._written for path in paths):
                self._written -= set(paths)
                for path in paths:
                    self._lines.pop(path, None)
                return [FilePatch(path, (), "deleted") for path in paths]
        if program == "sed" and any(re.fullmatch(r"-[nErs]*i|--in-place", word) for word in rest) and not part.into:
            has_script = any(word in ("-e", "--expression") for word in rest)
            paths = plain if has_script else plain[1:]
            if not has_script and paths and all(_STATIC.fullmatch(path) for path in paths):
                by = "The command `" + " ".join(shlex.join(part.words).split())[:80].replace("`", "'") + "`"
                is_plain = [word for word in rest if word not in plain] == ["-i"]
                return [
                    event
                    for path in paths
                    for event in self._edited(_path(path, folder), plain[0] if is_plain else "", by)
                ]
        return None

    def _edited(self, path: str, script: str, by: str) -> list[FileEvent]:
        """What a script of sed did to one file."""
        lines = self._lines.get(path, _Lines()) if self._is_only_tool else _Lines()
        edits = read_script(script, lines.known, lines.total) if self._is_only_tool and script else None
        if edits is None:
            self._lines.pop(path, None)
            return [FileTouched(path, by, is_certain=True)]
        events: list[FileEvent] = []
        for edit in edits:
            if lines.total is not None:
                events.append(FilePatch(path, ((edit.old, edit.new),), starts=(edit.first,)))
            elif edit.old:
                placed = edit
                if not edit.new and edit.first - 1 in lines.known:
                    # With the line before, the place of what is gone can be told.
                    before = lines.known[edit.first - 1]
                    placed = LineEdit(edit.first - 1, (before, *edit.old), (before,))
                old, new = ("".join(f"{line}\n" for line in side) for side in (placed.old, placed.new))
                shown = (Excerpt(placed.first, placed.new),) if placed.new else ()
                events.append(FileEdit(path, old, new, shown=shown))
            else:
                text = "".join(f"{line}\n" for line in edit.new)
                events.append(FileEdit(path, "", text, line=edit.first - 1))
            lines.apply(edit)
        self._keep(path, lines)
        return events

    def _learn(self, read: FileRead) -> None:
        """Lines that are shown now; where they are not those that were known, what was known is forgotten."""
        if read.text is not None:
            self._keep(read.path, _Lines.read(read.text))
            return
        shown = {number: line for part in read.excerpts for number, line in enumerate(part.lines, part.first)}
        lines = self._lines.get(read.path, _Lines())
        if any(lines.known.get(number, line) != line for number, line in shown.items()):
            lines = _Lines()
        self._keep(read.path, lines)
        if lines.total is None:
            lines.known |= shown

    def _forget_changed(self, command: str) -> None:
        """Files that a command changed, as far as it names them, or all where it goes back to other texts.

        A badge tells of a program that may have changed any.
        """
        for effect in command_effects(command) if command and self._lines else ():
            if effect.on == "any" and not effect.words:
                self._lines.clear()
            elif effect.on == "named":
                for path in self._index.meant_by(effect):
                    self._lines.pop(path, None)

    def _write(self, path: str, text: str, folder: str) -> FileWrite:
        path = _path(path, folder)
        self._written.add(path)
        self._keep(path, _Lines.read(text))
        return FileWrite(path, text)

    def _keep(self, path: str, lines: _Lines) -> None:
        self._lines[path] = lines
        self._index.add(path)

    def _read(self, pipe: list[_Simple], folder: str, output: str) -> FileRead | None:
        """What a command that only reads one file shows of it."""
        if any(part.into or part.reads_file or part.body is not None for part in pipe) or not output:
            return None
        words = pipe[0].words
        program = words[0] if words else ""
        plain = [word for word in words[1:] if not word.startswith("-") and not _LINES.fullmatch(word)]
        options = [word for word in words[1:] if word not in plain]
        path = plain[-1] if plain else ""
        if not path or not _STATIC.fullmatch(path):
            return None
        path = _path(path, folder)
        if len(pipe) == 2 and pipe[1].words[:1] in (["sed"], ["head"], ["tail"]) and len(plain) == 1:
            is_numbered = (program, options) in (("nl", ["-ba"]), ("nl", ["-b", "a"]), ("cat", ["-n"]))
            return FileRead(path, excerpts=numbered_lines(output)) if is_numbered else None
        if len(pipe) != 1:
            return None
        if program in ("nl", "cat") and options and len(plain) == 1:
            is_numbered = options in (["-ba"], ["-n"])
            return FileRead(path, excerpts=numbered_lines(output)) if is_numbered else None
        if program == "cat" and len(plain) == 1 and not options:
            return FileRead(path, output) if self._is_exact else _excerpt(path, 1, output)
        if program == "head" and len(plain) <= 2:
            return _excerpt(path, 1, output)
        if program == "sed" and options == ["-n"] and len(plain) == 2 and (match := _RANGE.fullmatch(plain[0])):
            return _excerpt(path, int(match[1]), output)
        return None


def _excerpt(path: str, first: int, output: str) -> FileRead | None:
    if first < 1:
        return None
    lines = output.removesuffix("\n").split("\n")
    if (lines and not lines[-1]) or any(len(line) >= CUT_AT for line in lines):
        lines = [*lines, ""]
    return FileRead(path, excerpts=uncut_excerpts(first, lines))


def _path(path: str, folder: str) -> str:
    return normpath(path) if isabs(path) or not folder else normpath(join(folder, path))


def _text(pipe: list[_Simple]) -> str:
    texts = []
    for part in pipe:
        into = f" {'>>' if part.appends else '>'} {shlex.quote(part.into)}" if part.into else ""
        body = f" <<'EOF'\n{part.body}EOF\n" if part.body is not None else ""
        texts.append(shlex.join(part.words) + into + body)
    return " | ".join(texts)


def _simple_commands(command: str) -> list[_Simple] | None:
    """The simple commands of a line; None for one that has groups, loops or more than can be told apart."""
    if len(command) > _LONGEST or "\ue000" in command:
        return None
    bodies: list[str | None] = []
    parts_of_text: list[str] = []
    at = 0
    while (match := _HEREDOC.search(command, at)) is not None:
        end = re.compile(rf"^\t*{match[3]}[ \t]*(?:\n|\Z)", re.MULTILINE).search(command, match.end())
        if end is None:
            return None
        body = command[match.end() : end.start()]
        is_literal = bool(match[2]) or not _EXPANDED.search(body)
        bodies.append((re.sub(r"(?m)^\t+", "", body) if match[1] else body) if is_literal else None)
        parts_of_text.append(f"{command[at : match.start()]} \ue000{len(bodies) - 1}\ue001 {match[4]}\n")
        at = end.end()
    bare = ("".join(parts_of_text) + command[at:]).replace("\\\n", " ")
    if "<<" in bare:
        return None
    try:
        parts = list(_split(bare, bodies))
    except ValueError:
        return None
    return None if any(part is None for part in parts) else [part for part in parts if part is not None]


def _split(text: str, bodies: list[str | None]) -> Iterator[_Simple | None]:
    lexer = shlex.shlex(text, posix=True, punctuation_chars=_MARKS)
    lexer.whitespace = " \t\r"
    lexer.whitespace_split = True
    lexer.commenters = ""
    part, into = _Simple(), ""
    for word in lexer:
        if word and set(word) <= set(_MARKS):
            mark = word.strip("\n")
            if mark in (">", ">>", ">&", "<", "&>"):
                into = mark
                if part.words and part.words[-1] in ("1", "2"):
                    into = mark + part.words.pop()
            elif mark in ("", ";", "&&", "||", "|"):
                if part.words or part.into:
                    part.then = mark
                    yield part
                part, into = _Simple(), ""
            else:
                yield None
        elif match := _BODY.fullmatch(word):
            body = bodies[int(match[1])]
            if body is None or part.body is not None:
                yield None
            part.body = body
        elif into:
            if into in (">", ">>", ">1", ">>1"):
                part.into, part.appends = word, into.startswith(">>")
            elif into.startswith("<"):
                part.reads_file = True
            elif into == "&>":
                part.into = word
            into = ""
        else:
            part.words.append(word)
    if part.words or part.into:
        yield part
