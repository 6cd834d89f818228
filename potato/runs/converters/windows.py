"""Files as tools with a window show and change them: some of their lines at a time, each with its number.

Field notes (SWE-agent's windowed tools, and the functions for files of the first versions of OpenHands)
- A window is "[File: path (N lines total)]", "(n more lines above)", "12:text" or "12|text", "(n more lines below)".
  OpenHands writes "(N lines total after edit)", and "(this is the beginning of the file)" where nothing is above.
- Of SWE-agent's first versions, <<<<< START CURSOR >>>>> and <<<<< END CURSOR >>>>> stand around the lines that an
  edit without numbers would replace.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from posixpath import basename

from potato.runs.model import Excerpt, FileEdit, FileEvent, FilePatch, FileRead

_HEADING = re.compile(
    r"^\[File: (?P<path>[^\n]{1,1000}?) \((?P<total>\d{1,7}) lines total(?: after edit)?\)\]\r?$", re.MULTILINE
)
_LINE = re.compile(r"(\d{1,7})[:|](.*)", re.DOTALL)


MOST_LINES = 200_000
"""Of a longer file no window is followed."""
_MOST_SEARCHED = 50_000_000
"""So many lines are searched in a run, which takes 3 s: a run of 2 MB can ask for 1,000,000,000."""
_UNKNOWN = "\0"


@dataclass(frozen=True, slots=True)
class Window:
    """Lines of a file from line `first` (from 1) on, how many it has in all, and the lines between cursors."""

    path: str
    total: int
    first: int = 1
    lines: tuple[str, ...] = ()
    cursors: tuple[int, int] | None = None

    @property
    def is_whole(self) -> bool:
        return 0 < len(self.lines) == self.total

    def has(self, number: int) -> bool:
        """Whether it shows the line of this number, or ends before it."""
        return self.first <= number <= self.first + len(self.lines)

    def excerpts(self) -> tuple[Excerpt, ...]:
        return (Excerpt(self.first, self.lines),) if self.lines else ()


def windows(answer: str) -> list[Window]:
    """The windows that the answer shows, in their order."""
    headings = list(_HEADING.finditer(answer))
    ends = [*(heading.start() for heading in headings), len(answer)][1:]
    return [_window(heading, answer[heading.end() : end]) for heading, end in zip(headings, ends, strict=True)]


def last_window(answer: str) -> Window | None:
    """The last window that the answer shows."""
    shown = windows(answer)
    return shown[-1] if shown else None


def _window(heading: re.Match[str], body: str) -> Window:
    lines: list[str] = []
    first = 1
    begin, end = 0, 0
    marked = ""
    for raw in body.split("\n")[1:]:
        line = raw.removesuffix("\r")
        if line.startswith("<<<<< "):
            marked = line
            end = first + len(lines) - 1 if "END CURSOR" in line and lines else end
            continue
        numbered = _LINE.fullmatch(line)
        if numbered is None:
            if lines or not line.startswith("("):
                break
            continue
        number = int(numbered[1])
        if not lines:
            first = number
        elif number != first + len(lines):
            break
        lines.append(numbered[2])
        begin = number if "START CURSOR" in marked else begin
        marked = ""
    if first < 1 or first + len(lines) > MOST_LINES:
        lines, begin = [], 0
    cursors = (begin, end) if 0 < begin <= end else None
    return Window(heading["path"], int(heading["total"]), first, tuple(lines), cursors)


@dataclass(slots=True)
class _Known:
    """A file's lines as they are now, None where it is not known. `is_replayed`: the whole text is in the events."""

    lines: list[str | None] = field(default_factory=list)
    total: int = 0
    is_replayed: bool = False

    def between(self, first: int, last: int) -> list[str] | None:
        """The lines `first` to `last`; None where one of them is not known."""
        found = [line for line in self.lines[first - 1 : last] if line is not None]
        return found if len(found) == last - first + 1 else None

    def contradicts(self, window: Window) -> bool:
        here = self.lines[window.first - 1 : window.first - 1 + len(window.lines)]
        return self.total != window.total or any(
            known is not None and known != shown for known, shown in zip(here, window.lines, strict=False)
        )


class WindowedFiles:
    """What is known of each file's lines from the windows so far."""

    def __init__(self) -> None:
        self._known: dict[str, _Known] = {}
        self._searched = 0

    def forget(self, path: str) -> None:
        """Something that nobody can follow changed the file."""
        self._known.pop(path, None)

    def forget_named(self, words: str) -> None:
        """Something may have changed every file whose name stands in these words."""
        self._known = {path: known for path, known in self._known.items() if basename(path) not in words}

    def created(self, path: str) -> None:
        """The file is there, with one empty line."""
        self._known[path] = _Known([""], 1, is_replayed=True)

    def line_count(self, path: str) -> int:
        """How many lines the file has; 0 where that is not known."""
        known = self._known.get(path)
        return known.total if known is not None else 0

    def find(self, path: str, text: str) -> int:
        """The line, from 1, in which the text begins among those that are known; 0 where it does not."""
        known = self._known.get(path)
        if known is None or not text or _UNKNOWN in text or self._searched > _MOST_SEARCHED:
            return 0
        self._searched += len(known.lines)
        whole = "\n".join(_UNKNOWN if line is None else line for line in known.lines)
        place = whole.find(text)
        return whole.count("\n", 0, place) + 1 if place >= 0 else 0

    def replaced(
        self, path: str, first: int, last: int, new: Sequence[str], window: Window | None
    ) -> FilePatch | FileEdit | None:
        """The lines `first` to `last` were replaced, or where `last` is the number before, lines were put in there.

        None, and nothing is taken for changed, where the lines are not known or the window says otherwise: then the
        tool did something else.
        """
        known = self._known.get(path)
        if known is None or first < 1 or (known.total and first > known.total + 1):
            return None
        last = min(last, known.total) if known.total else last
        old = known.between(first, last)
        if old is None or len(known.lines) + len(new) > MOST_LINES:
            return None
        # Where nothing is known just before an insertion, the lines there are not known either.
        before = [*known.lines[: first - 1], *[None] * (first - 1 - len(known.lines))]
        after = _Known([*before, *new, *known.lines[last:]], known.total + len(new) - len(old), known.is_replayed)
        if window is not None and (after.contradicts(window) or not (known.is_replayed or window.has(first))):
            return None
        self._known[path] = after
        if known.is_replayed:
            return FilePatch(path, ((tuple(old), tuple(new)),), starts=(first,))
        shown = window.excerpts() if window is not None else ()
        line = None if old else first - 1
        return FileEdit(path, _ended(old), _ended(new), line=line, shown=shown)

    def shown(self, path: str, window: Window) -> list[FileEvent]:
        """A window tells what the file is now; what is known otherwise is forgotten."""
        known = self._known.setdefault(path, _Known())
        if known.contradicts(window):
            known = self._known[path] = _Known(total=window.total)
        begin = window.first - 1
        known.lines += [None] * (begin - len(known.lines))
        known.lines[begin : begin + len(window.lines)] = window.lines
        if known.is_replayed:
            return []
        if window.is_whole:
            known.is_replayed = True
            return [FileRead(path, _ended(window.lines))]
        return [FileRead(path, excerpts=window.excerpts())]


def _ended(lines: Sequence[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
