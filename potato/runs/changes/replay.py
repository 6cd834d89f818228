"""Replays what an agent did to files, in order, on the texts that the trace has. Guesses nothing: where the trace and
the replay part, the recorded text is taken and the file gets a badge.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import zip_longest

from potato.runs.changes.line_history import LineHistory
from potato.runs.changes.model import Badge, BadgeCode, Hunk
from potato.runs.changes.partial import PartialText
from potato.runs.changes.patch import without_numbers
from potato.runs.changes.paths import identity
from potato.runs.changes.texts import diff_texts, split_lines
from potato.runs.model import FileEdit, FileEvent, FileOutcome, FilePatch, FileRead, FileTouched, FileWrite


@dataclass(slots=True)
class ReplayedFile:
    """A file as the run found it and as the replay leaves it. A text is None where the trace does not have it.

    `existed` is None where the trace does not say whether there was a file before. `blocks` are the changes to a text
    that is not known, `missed` those that did not fit a known one; both without line numbers. `partial` is what can be
    told of a text that is not known from lines that the agent was shown. `doubt` says what may have changed the file
    since its text was last known. `history` has the lines of `current`, None as long as it is the original one;
    `block_steps` and `missed_steps` the step of each block.
    """

    path: str
    old_path: str = ""
    existed: bool | None = None
    exists: bool = True
    original: str | None = None
    current: str | None = None
    is_edited: bool = False
    is_written_whole: bool = True
    blocks: list[Hunk] = field(default_factory=list)
    block_steps: list[int | None] = field(default_factory=list)
    missed: list[Hunk] = field(default_factory=list)
    missed_steps: list[int | None] = field(default_factory=list)
    partial: PartialText = field(default_factory=PartialText)
    badges: dict[BadgeCode, Badge] = field(default_factory=dict)
    steps: dict[int, None] = field(default_factory=dict)
    doubt: str = ""
    history: LineHistory | None = None

    def become(self, text: str, step: int | None) -> None:
        """The whole text is this one from now on; what the two have in common is not the step's."""
        self.tracked().replace(0, split_lines(self.text), split_lines(text), step)
        self.current, self.exists = text, True

    def splice(self, place: int, length: int, new: str, step: int | None) -> None:
        """So many characters of the text from `place` on are replaced by others. Without a file the text is empty."""
        text = self.text
        self.tracked().splice(text, place, length, new, step)
        self.current, self.exists = text[:place] + new + text[place + length :], True

    def remove(self, step: int | None) -> None:
        """There is no file any more."""
        self.tracked().replace(0, split_lines(self.text), (), step)
        self.current, self.exists = None, False

    def tracked(self) -> LineHistory:
        """The history of the text as it is now."""
        if self.history is None:
            self.history = LineHistory.before_run(len(split_lines(self.text)))
        return self.history

    @property
    def text(self) -> str:
        """The text as it is now, empty where there is none or nobody knows it."""
        return self.current if self.exists and self.current is not None else ""

    def warn(self, code: BadgeCode, sentence: str) -> None:
        """Give the file a badge; of several with one code the first stays."""
        self.badges.setdefault(code, Badge(code, sentence))


def replay(events: Iterable[FileEvent], steps: Iterable[int | None], folder: str) -> dict[str, ReplayedFile]:
    """Every file that the events name, by its path relative to the folder. Raises nothing.

    An outcome that the trace states for a file stands in place of what its events come to.
    """
    files: dict[str, ReplayedFile] = {}
    outcomes: list[tuple[FileOutcome, int | None]] = []
    for event, step in zip_longest(events, steps):
        if event is None:
            break
        if isinstance(event, FileOutcome):
            outcomes.append((event, step))
            continue
        path = identity(event.path, folder)
        file = files.setdefault(path, ReplayedFile(path))
        if step is not None and not (isinstance(event, FileTouched) and not event.is_certain):
            file.steps[step] = None
        _Act(file, step).play(event)
        if isinstance(event, FilePatch) and event.moved_to and file.exists:
            _move(files, file, identity(event.moved_to, folder), None if event.is_shared else step)
        elif file.old_path and not file.exists:
            _move_back(files, file)
    for outcome, step in outcomes:
        _state(files, outcome, step, folder)
    for file in files.values():
        if file.doubt:
            file.warn(BadgeCode.CHANGE_NOT_RECORDED, file.doubt)
    return files


def _state(files: dict[str, ReplayedFile], outcome: FileOutcome, step: int | None, folder: str) -> None:
    path = identity(outcome.path, folder)
    old_path = identity(outcome.old_path, folder) if outcome.old_path and outcome.operation == "renamed" else ""
    known = [file for name in dict.fromkeys((old_path, path)) if (file := files.pop(name, None)) is not None]
    steps = {step: None for file in known for step in file.steps}
    if step is not None:
        steps[step] = None
    files[path] = stated = ReplayedFile(
        path,
        old_path=old_path,
        existed=outcome.operation != "added",
        exists=outcome.operation != "deleted",
        original=outcome.old_text,
        current=outcome.new_text,
        is_edited=True,
        steps=steps,
    )
    stated.history = _history_of_outcome(outcome, step, known)


def _history_of_outcome(outcome: FileOutcome, step: int | None, known: list[ReplayedFile]) -> LineHistory:
    """Whose the lines of a stated text are: as the replay of the file's acts has it, and where there were none, those
    of the step that states it."""
    old, new = outcome.old_text or "", outcome.new_text or ""
    edited = [file for file in known if file.is_edited and file.history is not None]
    if not edited:
        history = LineHistory.before_run(len(split_lines(old)))
        history.replace(0, split_lines(old), split_lines(new), None if known else step)
        return history
    file = edited[-1]
    return file.tracked().aligned((file.original or "", old), (file.text, new))


def _move(files: dict[str, ReplayedFile], file: ReplayedFile, path: str, step: int | None) -> None:
    if path == file.path:
        return
    there = files.get(path)
    if there is not None and there.old_path and there.exists:
        # What is written over had come from elsewhere itself: there it is gone.
        there.remove(step)
        _move_back(files, there)
        there = files.get(path)
    if there is not None and there.existed and path != file.old_path:
        _move_over(files, file, there, step)
        return
    del files[file.path]
    file.old_path = file.old_path or file.path
    file.path = path
    files[path] = file


def _move_over(files: dict[str, ReplayedFile], file: ReplayedFile, there: ReplayedFile, step: int | None) -> None:
    """A file comes to a place where another one was before the run: that one is changed, as git tells it, and the one
    that came is gone from its own place. Its lines come there by the step, but for those that a step had written."""
    current, came = file.current, file.tracked().lines
    there.become(file.text, step)
    history = there.tracked()
    history.lines = [
        here if isinstance(here, int) or isinstance(line, int) else line
        for here, line in zip(history.lines, came, strict=True)
    ]
    history.overwritten.update(file.tracked().overwritten)
    there.current, there.is_edited = current, True
    there.is_written_whole &= file.is_written_whole
    there.doubt = file.doubt
    there.blocks, there.block_steps = [], []
    there.steps.update(file.steps)
    there.badges.update(file.badges)
    if not file.existed:
        del files[file.path]
        return
    file.remove(step)
    file.tracked().overwritten.clear()
    if file.old_path:
        _move_back(files, file)


def _move_back(files: dict[str, ReplayedFile], file: ReplayedFile) -> None:
    """A file that was moved and then deleted is gone from its old place; what stands there now comes after it."""
    del files[file.path]
    later = files.get(file.old_path)
    if later is None:
        file.path, file.old_path = file.old_path, ""
        files[file.path] = file
    else:
        later.original, later.existed = file.original, file.existed
        later.history = later.tracked().after_removal(file.tracked())
        later.steps.update(file.steps)


@dataclass(frozen=True, slots=True)
class _Act:
    """One event on one file, which a step caused, or none of them."""

    file: ReplayedFile
    step: int | None

    @property
    def where(self) -> str:
        """The beginning of the sentences of badges."""
        return "" if self.step is None else f"Step {self.step}: "

    def play(self, event: FileEvent) -> None:
        if isinstance(event, FileRead):
            self._read(event)
            return
        if isinstance(event, FileTouched):
            self._touched(event)
            return
        if isinstance(event, FileWrite | FilePatch) and event.is_shared:
            self._shared()
        if isinstance(event, FileWrite):
            self._write(event)
        elif isinstance(event, FileEdit):
            self._edit(event)
        elif isinstance(event, FilePatch):
            self._patch(event)
        self.file.is_edited = True
        self.file.is_written_whole &= isinstance(event, FileWrite)

    def _touched(self, event: FileTouched) -> None:
        """The text stays the last one that is known; the file's badge says that it may be another by now."""
        what = "changed" if event.is_certain else "may have changed"
        sentence = (
            f"{self.where}{event.by} {what} this file, and the trace does not record how. "
            "What it did is not in the lines shown."
        )
        if event.is_certain:
            self.file.is_edited = True
            self.file.warn(BadgeCode.CHANGE_NOT_RECORDED, sentence)
        else:
            self.file.doubt = self.file.doubt or sentence

    def _read(self, event: FileRead) -> None:
        file = self.file
        if file.existed is None and not file.is_edited:
            file.existed = True
        if event.text is None and file.exists and file.current is None:
            file.partial.read(event.excerpts)
        if event.text is None or file.blocks:
            return
        self._commanded(event.text)
        file.doubt = ""
        if not file.is_edited:
            file.original = file.current = event.text
        elif not file.exists or (file.current is not None and not _alike(file.current, event.text)):
            self._changed_between()
            file.become(event.text, None)

    def _recorded(self, text: str) -> None:
        """The trace has the whole text before this event."""
        file = self.file
        self._commanded(text)
        file.doubt = ""
        if not file.is_edited:
            file.original, file.existed = text, True
            file.current, file.exists = text, True
        elif not file.exists or file.current != text:
            if not file.exists or file.current is not None:
                self._changed_between()
            file.become(text, None)

    def _commanded(self, text: str) -> None:
        """Where a command may have changed a file that no act has changed before, another text is its work: the change
        has it, and the file as the run found it stays the one that was read first."""
        file = self.file
        if file.doubt and file.original is not None and not _alike(file.original, text):
            file.is_edited = True

    def _changed_between(self) -> None:
        sentence = (
            f"{self.where}the file is not as the recorded edits left it: something that the trace does not record "
            "(a formatter, a command, a person) changed it. Those changes are part of the lines shown."
        )
        self.file.warn(BadgeCode.CHANGED_BETWEEN, sentence)

    def _shared(self) -> None:
        sentence = (
            f"{self.where}others wrote in this folder while the command ran. What they changed in this file, if they "
            "did, is part of the lines shown."
        )
        self.file.warn(BadgeCode.CHANGED_BETWEEN, sentence)

    def _write(self, event: FileWrite) -> None:
        file = self.file
        if event.original is not None:
            self._recorded(event.original)
        elif event.created:
            self._absent()
        elif event.created is False and not file.is_edited:
            file.existed = True
        self._forget_blocks()
        file.become(event.text, None if event.is_shared else self.step)
        file.doubt = ""

    def _forget_blocks(self) -> None:
        self.file.blocks.clear()
        self.file.block_steps.clear()

    def _absent(self) -> None:
        """The trace says that there was no file before this event."""
        file = self.file
        if not file.is_edited:
            file.existed, file.original = False, None
        elif file.exists and file.current is not None:
            self._changed_between()

    def _edit(self, event: FileEdit) -> None:
        file = self.file
        if event.original is not None and not file.blocks:
            self._recorded(event.original)
        if file.exists and file.current is None:
            if not event.old and event.line is None:
                file.become(event.new, self.step)
            else:
                file.blocks.append(_block(event.old, event.new))
                file.block_steps.append(self.step)
                file.partial.edit(event, self.step)
            return
        if event.line is not None:
            is_made = self._insert(file.text, event.line, event.new)
        else:
            is_made = self._replace(file.text, event)
        if not is_made:
            file.missed.append(_block(event.old, event.new))
            file.missed_steps.append(self.step)

    def _insert(self, current: str, line: int, new: str) -> bool:
        lines = split_lines(current)
        if not 0 <= line <= len(lines):
            sentence = (
                f"{self.where}text was inserted after line {line}, but the file as replayed has {len(lines)} lines. "
                "The insertion is not in the text shown."
            )
            self.file.warn(BadgeCode.EDIT_NOT_FOUND, sentence)
            return False
        place = sum(map(len, lines[:line]))
        end = _line_end(lines)
        if place and not current[:place].endswith("\n"):
            new = f"{end}{new}"
        elif place < len(current) and not new.endswith("\n"):
            new = f"{new}{end}"
        self.file.splice(place, 0, new, self.step)
        return True

    def _replace(self, current: str, event: FileEdit) -> bool:
        old, new = event.old, event.new
        if not old:
            if not current:
                self.file.become(new, self.step)
                return True
            count = 0
        else:
            old = event.old_in(current)
            count = current.count(old)
        if old and not count and "\r\n" in current and "\n" in old and "\r" not in old:
            old, new = old.replace("\n", "\r\n"), new.replace("\n", "\r\n")
            count = current.count(old)
            if count:
                sentence = f"{self.where}the edit has LF line ends and the file CR LF; the edit was made to fit."
                self.file.warn(BadgeCode.LINE_ENDS_ADAPTED, sentence)
        if not count:
            sentence = (
                f"{self.where}the text that the edit replaces is not in the file as replayed. "
                "The edit is not in the text shown."
            )
            self.file.warn(BadgeCode.EDIT_NOT_FOUND, sentence)
            return False
        if count > 1 and not event.replace_all:
            self._ambiguous(count)
        if event.replace_all and count > _PLACES:
            self.file.become(current.replace(old, new), self.step)
            return True
        places = [place := current.find(old)]
        while event.replace_all and (place := current.find(old, place + len(old))) >= 0:
            places.append(place)
        for place in reversed(places):
            self.file.splice(place, len(old), new, self.step)
        return True

    def _ambiguous(self, count: int) -> None:
        sentence = (
            f"{self.where}the text that the edit replaces once stands in the file {count} times. "
            "The first one is shown as replaced."
        )
        self.file.warn(BadgeCode.EDIT_AMBIGUOUS, sentence)

    def _patch(self, event: FilePatch) -> None:
        file = self.file
        if event.operation == "added":
            self._absent()
            self._forget_blocks()
            file.become("".join(_text(new) for _, new in event.hunks), None if event.is_shared else self.step)
            return
        if event.operation == "deleted":
            if file.original is None and not file.is_edited and len(event.hunks) == 1 and not event.hunks[0][1]:
                file.original = file.current = _text(event.hunks[0][0])
            if not file.is_edited:
                file.existed = True
            self._forget_blocks()
            file.remove(None if event.is_shared else self.step)
            return
        if not file.is_edited:
            file.existed = True
        if file.exists and file.current is None:
            blocks = [_block(_text(old), _text(new)) for old, new in event.hunks]
            blocks = [block for block in blocks if not (event.is_shared and block in file.blocks)]
            file.blocks += blocks
            file.block_steps += [None if event.is_shared else self.step] * len(blocks)
            file.partial.is_certain = False
            return
        if not event.is_shared and self._patch_as_stated(event):
            return
        start = shift = 0
        step = None if event.is_shared else self.step
        for (old, new), line in zip_longest(event.hunks, event.starts):
            stated = None if line is None else max(line - 1, 0) + shift
            if not (event.is_shared and self._is_applied(new, stated)):
                start = self._patch_hunk(old, new, start, stated, step)
            shift += len(new) - len(old)

    def _patch_as_stated(self, event: FilePatch) -> bool:
        """Replace the lines of all hunks in one go, if each stands at its stated line; else nothing is done.

        One by one, each hunk would cost as much as the whole file is long.
        """
        file = self.file
        lines = split_lines(file.text)
        if len(event.starts) != len(event.hunks) or (lines and not lines[-1].endswith("\n")):
            return False
        line_end = _line_end(lines)
        placed: list[tuple[int, list[str], list[str]]] = []
        behind = 0
        for (old, new), start in zip(event.hunks, event.starts, strict=True):
            place = max(start - 1, 0)
            replaced = lines[place : place + len(old)]
            bare = [line[:-1].removesuffix("\r") for line in replaced]
            if place < behind or place > len(lines) or bare != list(old):
                return False
            placed.append((place, replaced, [line + line_end for line in new]))
            behind = place + len(old)
        history = file.tracked()
        for place, replaced, put in reversed(placed):
            history.replace(place, replaced, put, self.step)
            lines[place : place + len(replaced)] = put
        file.current, file.exists = "".join(lines), True
        return True

    def _is_applied(self, new: tuple[str, ...], stated: int | None) -> bool:
        """Whether the lines stand there already: who wrote them at the same time recorded them before."""
        lines = [line.rstrip("\n").removesuffix("\r") for line in split_lines(self.file.current or "")]
        return stated is not None and bool(new) and tuple(lines[stated : stated + len(new)]) == new

    def _patch_hunk(
        self, old: tuple[str, ...], new: tuple[str, ...], start: int, stated: int | None, step: int | None
    ) -> int:
        """Replace lines at the line `stated`, from 0, if they stand there; else at the first place from `start` on,
        else from the top. Answers where the new ones end."""
        file = self.file
        lines = split_lines(file.current or "")
        bare = [line.rstrip("\n").removesuffix("\r") for line in lines]
        places = equal_places(bare, old)
        if not places:
            sentence = (
                f"{self.where}the lines that a block replaces are not in the file as replayed. "
                "The block is not in the text shown."
            )
            file.warn(BadgeCode.EDIT_NOT_FOUND, sentence)
            file.missed.append(_block(_text(old), _text(new)))
            file.missed_steps.append(step)
            return start
        if stated is not None and (stated in places or not old):
            place = min(stated, len(lines))
        else:
            if len(places) > 1:
                self._ambiguous(len(places))
            place = next((begin for begin in places if begin >= start), places[0])
        end = _line_end(lines)
        put = [line + end for line in new]
        if put and old and place + len(old) == len(lines) and not lines[-1].endswith("\n"):
            put[-1] = new[-1]
        text = "".join(put)
        if place == len(lines) and lines and not lines[-1].endswith("\n"):
            text = end + text
        begin = sum(map(len, lines[:place]))
        file.splice(begin, sum(map(len, lines[place : place + len(old)])), text, step)
        return place + len(new)


_PLACES = 1_000
"""So many replacements of one edit are followed one by one; those of more are found by comparing the texts."""


def equal_places(lines: list[str], searched: tuple[str, ...]) -> list[int]:
    """Where the lines stand together, at most the first _PLACES. Nothing stands at the end alone."""
    if not searched:
        return [len(lines)]
    text = "\n" + "\n".join(lines) + "\n"
    pattern = "\n" + "\n".join(searched) + "\n"
    places: list[int] = []
    at = line = counted = 0
    while (at := text.find(pattern, at)) >= 0 and len(places) < _PLACES:
        line += text.count("\n", counted, at)
        counted = at
        places.append(line)
        at += 1
    return places


def _line_end(lines: list[str]) -> str:
    """The one that the first line has."""
    return "\r\n" if any(line.endswith("\r\n") for line in lines[:1]) else "\n"


def _text(lines: tuple[str, ...]) -> str:
    return "".join(line + "\n" for line in lines)


def _block(old: str, new: str) -> Hunk:
    """A change whose place is not known: its own lines alone, the last ones as if they ended."""
    old, new = (text + "\n" if text and not text.endswith("\n") else text for text in (old, new))
    hunks = diff_texts(old, new, context=len(old) + len(new))
    return without_numbers(hunks[0]) if hunks else Hunk(0, 0, 0, 0, "", ())


def _alike(text: str, other: str) -> bool:
    """Whether two texts are equal but for line ends: tools that show a file do not always keep them."""
    return text == other or _plain(text) == _plain(other)


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n").rstrip("\n")
