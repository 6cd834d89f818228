"""Reading and searching the files that a run began from, as an attached repository has them. Everything is bounded."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from potato.repositories.model import DEEPEST, TreeEntry
from potato.runs.changes.texts import lines_without_ends
from traces.evidence.base_files import BaseCommit, contents, entries_at, folders_of, without_keys
from traces.rendering.diff_rows import LONGEST_SHOWN, painted
from traces.rendering.escaping import attribute, escaped
from traces.rendering.highlight import highlighted
from traces.rendering.safe import SafeHtml, trusted

MOST_FOUND = 200
MOST_FILES_SEARCHED = 20_000
MOST_BYTES_SEARCHED = 32 * 2**20
_FILES_AT_ONCE = 200
LONGEST_LINE_FOUND = 300


@dataclass(frozen=True)
class FoundLine:
    """A line that says the words, or a file whose name does: then `number` is 0."""

    path: str
    number: int
    text: str


@dataclass
class Found:
    """What a search came to. `is_cut`: not everything was looked at, or more was found than is told."""

    lines: list[FoundLine] = field(default_factory=list)
    files: int = 0
    is_cut: bool = False


@dataclass(frozen=True)
class BaseFile:
    """A file's text; None where it is not kept, as one that is binary or over 1 MB."""

    path: str
    text: str | None
    is_link: bool = False

    @property
    def lines(self) -> list[str]:
        return lines_without_ends(self.text or "")


def folder_at(base: BaseCommit, path: str) -> list[TreeEntry] | None:
    """The entries of a folder, folders first; None where there is no such folder. "" is the topmost one."""
    entry = None if path == "" else entries_at(base.tree, [path]).get(path)
    if path and (entry is None or not entry.is_folder):
        return None
    folders = folders_of([entry.id if entry else base.tree])
    entries = next(iter(folders.values()), {})
    return sorted(entries.values(), key=lambda one: (not one.is_folder, one.name.lower()))


def file_at(base: BaseCommit, path: str) -> BaseFile | None:
    """A file; None where there is none. A link is the path that it points to: it is never followed."""
    entry = entries_at(base.tree, [path]).get(path)
    if entry is None or entry.is_folder:
        return None
    content = contents([entry.id]).get(entry.id)
    text = None if content is None else without_keys(content.decode("utf-8", "surrogateescape"))
    return BaseFile(path, text, is_link=not entry.is_file)


def search(base: BaseCommit, words: str) -> Found:
    """Files whose path says the words, then lines that do; capitals and small letters are the same."""
    found = Found()
    wanted = words.casefold()
    files = list(islice(_files(base.tree), MOST_FILES_SEARCHED + 1))
    if len(files) > MOST_FILES_SEARCHED:
        files, found.is_cut = files[:MOST_FILES_SEARCHED], True
    found.files = len(files)
    found.lines += (FoundLine(path, 0, "") for path, _ in files if wanted in path.casefold())
    left = MOST_BYTES_SEARCHED
    for start in range(0, len(files), _FILES_AT_ONCE):
        if len(found.lines) > MOST_FOUND or left <= 0:
            found.is_cut = True
            break
        some = files[start : start + _FILES_AT_ONCE]
        texts = contents({identity for _, identity in some})
        for path, identity in some:
            content = texts.get(identity, b"")
            left -= len(content)
            text = content.decode("utf-8", "replace")
            if wanted in text.casefold():
                found.lines += _lines_saying(path, without_keys(text), wanted)
    if len(found.lines) > MOST_FOUND:
        found.lines, found.is_cut = found.lines[:MOST_FOUND], True
    return found


def _lines_saying(path: str, text: str, wanted: str) -> Iterator[FoundLine]:
    for number, line in enumerate(text.split("\n"), 1):
        if wanted in line.casefold():
            yield FoundLine(path, number, line.strip()[:LONGEST_LINE_FOUND])


def _files(tree: str) -> Iterator[tuple[str, str]]:
    """Paths and ids of all files below a folder, level by level."""
    level = [("", tree)]
    for _ in range(DEEPEST):
        if not level:
            return
        folders = folders_of({identity for _, identity in level})
        following: list[tuple[str, str]] = []
        for place, identity in level:
            for entry in folders.get(identity, {}).values():
                if entry.is_folder:
                    following.append((f"{place}{entry.name}/", entry.id))
                elif entry.is_file:
                    yield place + entry.name, entry.id
        # Folders that are in one another a thousand times over have one content, and endless paths.
        level = following[:MOST_FILES_SEARCHED]


def file_table(file: BaseFile) -> SafeHtml:
    """The file's lines with their numbers and colours, to be read; very long lines are cut."""
    lines = file.lines
    (tokens,) = highlighted(file.path, [lines])
    rows = "".join(_row(number, line, tokens[number - 1]) for number, line in enumerate(lines, 1))
    return trusted(
        f'<table class="diff" dir="ltr" translate="no"><caption class="vh">Lines of {escaped(file.path)}</caption>'
        f'<colgroup><col class="n"><col></colgroup><tbody>{rows}</tbody></table>'
    )


def _row(number: int, line: str, tokens: Sequence[tuple[str, int]]) -> str:
    if len(line) > LONGEST_SHOWN:
        code = f'{escaped(line[:LONGEST_SHOWN])}<span class="eol">{len(line) - LONGEST_SHOWN:,} more characters</span>'
    else:
        code = painted(line, tokens, [])
    place = attribute(f"L{number}")
    return f'<tr id="{place}"><td class="ln" data-l="{number}"></td><td class="code">{code}</td></tr>'
