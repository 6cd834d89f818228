"""The format `aider`: the chat history that Aider keeps, .aider.chat.history.md.

Field notes (aider/io.py and aider/coders of its repository; what edits look like stands in `aider_edits`)
- Markdown, sessions one after another: "# aider chat started at 2026-10-02 12:00:00". A line of a person's begins with
  "#### ", one of the program with "> "; both end with two spaces, without which they are a part of the agent's reply.
  Anything else is the reply.
- Of the program: "Model: NAME with diff edit format" or "Main model: ...", "Applied edit to PATH", "Did not apply edit
  to PATH", "Commit abc1234 message", "Running COMMAND" with its output, "Allow creation of new file PATH? ... y", in
  newer versions PATH and in the next line "Create new file? (Y)es/(N)o [Yes]: y", "Tokens: ...". "Committing PATH
  before applying edits." goes before a commit of what the person had changed. What else it says behind a reply is what
  the agent is asked next, such as to mend an edit.
- A note of several lines has "> " before the first one alone; a reply has an empty line before it.
- A person's line that begins with "/" is a command to the program; /ask, /code and /architect have words for the agent,
  and "/run COMMAND" or "!COMMAND" runs one. "<blank>" is an empty line.
- A session is a run; its id is the file's name and its number. Whether the agent's text was applied says the program.
"""

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from potato.runs.converters.aider_edits import Edit, read_edits
from potato.runs.converters.blocks import Answer, Content
from potato.runs.converters.conversation import Conversation
from potato.runs.converters.outline import detect_outline
from potato.runs.converters.records import numbered_lines
from potato.runs.converters.tool_files import CallEffects
from potato.runs.model import (
    JSON,
    AgentRun,
    ConversionReport,
    Converted,
    FileEdit,
    FileEvent,
    FilePatch,
    FileTouched,
    FileWrite,
    ReadingOptions,
    ReadPosition,
    RunFile,
    Unreadable,
)

_STARTED = re.compile(r"# aider chat started at (\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)\s*")
_BEGINNING = re.compile(rb"^# aider chat started at \d{4}-\d\d-\d\d", re.MULTILINE)
_MODEL = re.compile(r"(?:Main )?[Mm]odel: (\S+)(?: with .*)?")
_APPLIED = re.compile(r"Applied edit to (.+)")
_CREATED = re.compile(r"(?:Allow creation of new file|Create new file|Creating empty file)\s+(\S+?)\??(?:\s.*)?")
_QUESTION = re.compile(r"(.*)\? \(Y\)es/\(N\)o.*?(?:: ?(\S*))?\s*", re.DOTALL)
"""What the program asks, and the answer. What it asks about stands in the line before."""
_COMMIT = re.compile(r"Commit ([0-9a-f]{7,40}) (.*)")
_RUNNING = re.compile(r"Running (?!on )(\S.*)")
_NOISE = re.compile(
    r"Tokens: |Cost: |Aider v|Git repo|Repo-map|Added .* to the chat|Removed .* from the chat|Add .* to (?:the )?chat\?"
    r"|Use /help|VSCode|Weak model|Editor model|Restored previous|https?://\S+\s*\Z|\$ aider|/?\S*python\S* \S*aider"
    r"|Allow edits to|Dropping|Scraping|Update git|Newer aider|\^C|Multiline mode|You can use /undo|Retrying in"
    r"|Committing "
)
_SPOKEN = ("/ask ", "/code ", "/architect ", "/chat-mode ")
_COMMANDS = ("/run ", "/test ", "!")


class Aider:
    """Chat histories of Aider."""

    name = "aider"
    label = "Aider chat history"

    def recognises(self, head: bytes, filename: str) -> tuple[float, str]:
        if detect_outline(head, filename).layout != "text":
            return 0.0, "it is JSON, or empty"
        if _BEGINNING.search(head):
            return 0.97, 'it has a line "# aider chat started at"'
        return 0.0, 'no line says "# aider chat started at"'

    def read(self, lines: RunFile, options: ReadingOptions) -> Iterator[Converted | Unreadable]:
        session: _Session | None = None
        count = lines.begin.state or 0
        for entry in numbered_lines(lines):
            if isinstance(entry, Unreadable):
                yield Unreadable(entry.place, entry.code, entry.sentence)
                continue
            data = entry.text.removeprefix(codecs.BOM_UTF8) if entry.number == 1 else entry.text
            line = data.decode("utf-8", "surrogateescape")
            started = _STARTED.fullmatch(line) if line.startswith("# aider") else None
            if started:
                if session is not None:
                    yield session.converted(lines.name, entry.before(count))
                count += 1
                session = _Session(entry.number, count, f"{started[1]}T{started[2]}", options)
            elif session is not None and session.size > options.bounds.run_bytes:
                sentence = f"The session that begins in line {session.place} is too large."
                yield Unreadable(session.place, "too_large", sentence)
                session = None
            elif session is not None:
                session.add(line, len(data))
        if session is not None:
            yield session.converted(lines.name, None)


@dataclass(slots=True)
class _Reply:
    """A reply, and what the program said behind it."""

    lines: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


class _Session:
    """Takes the lines of one session in their order."""

    def __init__(self, place: int, number: int, started_at: str, options: ReadingOptions) -> None:
        self.place = place
        self.size = 0
        self._number = number
        self._started_at = started_at
        self._options = options
        self._report = ConversionReport()
        self._conversation = Conversation(self._report, read_effects=_effects)
        self._model = ""
        self._reply: _Reply | None = None
        self._person: list[str] = []
        self._block = ""
        self._is_noting = False
        # Some programs take spaces away from the ends of lines.
        self._has_marks = False
        self._count = 0

    def add(self, line: str, size: int) -> None:
        """One more line."""
        self.size += size
        was_noting, self._is_noting = self._is_noting, False
        if not line and self._reply is not None and not self._reply.notes:
            self._reply.lines.append(line)
            return
        is_replying = self._reply is not None and not self._reply.notes
        is_marked = line.endswith("  ") or not (self._block or (is_replying and self._has_marks))
        if (line.startswith("#### ") or line == "####") and is_marked:
            self._has_marks |= line.endswith("  ")
            self._finish_reply()
            self._person.append(line.removeprefix("####").strip())
        elif line.startswith("> ") and is_marked:
            self._finish_person()
            self._note(line.removeprefix("> ").rstrip())
        elif line.rstrip() == ">":
            self._is_noting = True
            self._finish_person()
        elif was_noting and line.strip():
            self._is_noting = True
            if self._reply is not None and self._reply.notes:
                self._reply.notes[-1] += f"\n{line.rstrip()}"
        else:
            self._finish_person()
            self._add_message_line(line)

    def _add_message_line(self, line: str) -> None:
        if self._reply is None or self._reply.notes:
            if not line.strip():
                return
            self._finish_reply()
            self._reply = _Reply()
        bare = line.strip()
        if self._block:
            if bare == self._block or (self._block == "REPLACE" and bare.endswith("> REPLACE")):
                self._block = ""
        elif bare.startswith("<<<<<") and bare.rstrip(">").endswith(" SEARCH"):
            self._block = "REPLACE"
        elif bare.startswith("```"):
            self._block = "```"
        self._reply.lines.append(line)

    def _note(self, note: str) -> None:
        self._block = ""
        self._is_noting = True
        if model := _MODEL.fullmatch(note):
            self._model = self._model or model[1]
        if self._reply is None:
            if note.strip():
                self._report.dropped["line of the program"] += 1
        else:
            self._reply.notes.append(note)

    def _finish_person(self) -> None:
        if not self._person:
            return
        words, self._person = "\n".join(self._person).strip(), []
        if not words or words == "<blank>":
            return
        if words.startswith(_COMMANDS):
            command = re.sub(r"\A(?:/run |/test |!)", "", words)
            self._conversation.user_runs(command, "")
            self._conversation.add_user_message(f"! {command}")
        elif words.startswith("/") and not words.startswith(_SPOKEN) and re.match(r"/[a-z-]+(\s|\Z)", words):
            self._report.dropped["command"] += 1
        else:
            self._conversation.add_user_message(words)

    def _finish_reply(self) -> None:
        reply, self._reply, self._block = self._reply, None, ""
        if reply is None:
            return
        self._count += 1
        words, edits, blocks = read_edits(reply.lines)
        notes = _Notes(reply.notes, self._report)
        content = Content(texts=[words])
        answers: list[tuple[Answer, JSON]] = []
        applied = set(notes.applied)
        for edit in [*edits, *_whole_files(applied, edits, blocks)]:
            call_id = f"{self._count}.{len(content.calls) + 1}"
            content.calls.append((call_id, "edit", _arguments(edit)))
            if edit.path in applied:
                answer = Answer(call_id, f"Applied edit to {edit.path}", is_error=False)
                answers.append((answer, {"edit": edit, "is_created": edit.path in notes.created}))
        for name, arguments, output in notes.calls:
            call_id = f"{self._count}.{len(content.calls) + 1}"
            content.calls.append((call_id, name, arguments))
            answers.append((Answer(call_id, output, is_error=False), None))
        self._conversation.add_agent_message(content, message_id=f"reply {self._count}", at="", model=self._model)
        for answer, outcome in answers:
            self._conversation.answer(answer, outcome)
        if notes.others:
            self._conversation.add_user_message("\n".join(notes.others))

    def converted(self, filename: str, after: ReadPosition | None) -> Converted | Unreadable:
        """The run, once its last line was taken."""
        self._finish_person()
        self._finish_reply()
        read = self._conversation.as_steps(split_tool_calls=self._options.split_tool_calls)
        if not read.steps:
            sentence = (
                f"The session that begins in line {self.place} has no reply of the agent, so there is nothing to judge."
            )
            return Unreadable(self.place, "no_steps", sentence, after)
        run = AgentRun(
            external_id=f"{filename}#{self._number}",
            task=self._conversation.task,
            steps=read.steps,
            events=read.events,
            event_steps=read.event_steps,
            gaps=read.gaps,
            agent_model=self._model,
            started_at=self._started_at,
            agent="aider",
        )
        return Converted(run, self._report, self.place, after)


class _Notes:
    """What the program said behind a reply, sorted by what it tells."""

    def __init__(self, notes: list[str], report: ConversionReport) -> None:
        self.applied: list[str] = []
        self.created: set[str] = set()
        self.calls: list[tuple[str, JSON, str]] = []
        self.others: list[str] = []
        is_output = is_persons = False
        subject = ""
        for note in notes:
            before, subject = subject, ""
            if question := _QUESTION.fullmatch(note):
                if before:
                    self.others.pop()
                if (
                    before
                    and question[1].endswith("Create new file")
                    and (question[2] or "").lower() in ("y", "yes", "a")
                ):
                    self.created.add(before)
                elif match := _CREATED.fullmatch(note):
                    self.created.add(match[1])
                report.dropped["line of the program"] += 1 + bool(before)
            elif note.startswith("Committing ") and note.endswith(" before applying edits."):
                is_persons = True
                report.dropped["line of the program"] += 1
            elif is_persons and _COMMIT.fullmatch(note):
                is_persons = False
                report.dropped["commit of what the person had changed"] += 1
            elif match := _APPLIED.fullmatch(note):
                self.applied.append(match[1].strip())
                is_output = False
            elif match := _CREATED.fullmatch(note):
                self.created.add(match[1])
                report.dropped["line of the program"] += 1
            elif match := _COMMIT.fullmatch(note):
                self.calls.append(("commit", {"message": match[2]}, match[1]))
                is_output = False
            elif match := _RUNNING.fullmatch(note):
                self.calls.append(("bash", {"command": match[1]}, ""))
                is_output = True
            elif _NOISE.match(note) or not note.strip():
                report.dropped["line of the program"] += bool(note.strip())
            elif is_output:
                name, arguments, output = self.calls[-1]
                self.calls[-1] = (name, arguments, f"{output}{note}\n")
            else:
                self.others.append(note)
                subject = note.strip()


def _arguments(edit: Edit) -> JSON:
    if edit.hunks:
        lines = [mark + line for old, new in edit.hunks for mark, side in (("-", old), ("+", new)) for line in side]
        return {"file_path": edit.path, "difference": "\n".join(lines)}
    return {"file_path": edit.path, "old_string": edit.old, "new_string": edit.new}


def _whole_files(applied: set[str], edits: list[Edit], blocks: dict[str, str]) -> list[Edit]:
    """Files that were applied, and of which the reply has no edit but a block below their name, or nothing."""
    known = {edit.path for edit in edits}
    return [Edit(path, new=blocks.get(path, "")) for path in sorted(applied - known)]


def _effects(name: str, arguments: JSON, outcome: JSON, answer: Answer, report: ConversionReport) -> CallEffects:
    if name == "bash":
        command = arguments.get("command") if isinstance(arguments, dict) else None
        return CallEffects(command=command if isinstance(command, str) else "")
    edit = outcome.get("edit") if isinstance(outcome, dict) else None
    return (
        CallEffects((_event(edit, is_created=bool(outcome["is_created"])),))
        if isinstance(edit, Edit)
        else CallEffects()
    )


def _event(edit: Edit, *, is_created: bool) -> FileEvent:
    """What an edit that was applied did. One that has only new text is a whole file where the file is a new one."""
    if edit.hunks:
        if edit.is_new:
            return FileWrite(edit.path, "".join(f"{line}\n" for _, new in edit.hunks for line in new), created=True)
        return FilePatch(edit.path, edit.hunks)
    if edit.old:
        return FileEdit(edit.path, edit.old, edit.new)
    if edit.new and is_created:
        return FileWrite(edit.path, edit.new, created=True)
    return FileTouched(edit.path, "Aider", is_certain=True)
