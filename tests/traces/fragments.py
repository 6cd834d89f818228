"""Rendered fragments read back: which elements they have, and which text of the run they show."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser

from potato.runs.changes.model import FileChange, Line, LineEnd, LineKind
from traces.rendering.diff import RenderedFile
from traces.rendering.parts import Part

_MARK = re.compile(r"(?:U\+([0-9A-F]{4,6})|0x([0-9A-F]{2}))(?: x(\d+))?")


def unmarked(mark: str) -> str:
    """The characters that a mark such as "U+202E" or "0xE9 x3" stands for."""
    match = _MARK.fullmatch(mark)
    assert match, mark
    character = chr(int(match[1], 16)) if match[1] else chr(0xDC00 + int(match[2], 16))
    return character * int(match[3] or 1)


class Fragment(HTMLParser):
    """`elements` are (name, attributes) in order; `text_of_run` is all text, with marks as the characters they name.

    Text of an element whose class is in `left_out` is not of the run.
    """

    left_out = frozenset({"eol"})

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text_of_run = ""
        self._open: list[tuple[str, frozenset[str]]] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        assert len(attributes) == len(attrs), "an attribute stands twice"
        self.elements.append((tag, attributes))
        if tag not in {"br", "hr", "col", "img", "use", "path", "circle", "rect", "line", "polyline", "ellipse"}:
            self._open.append((tag, frozenset((attributes.get("class") or "").split())))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert [tag] == [name for name, _ in self._open[-1:]], f"</{tag}> closes {self._open[-1:]}"
        self._open.pop()

    def handle_data(self, data: str) -> None:
        classes = self._open[-1][1] if self._open else frozenset()
        if "ctl" in classes:
            self.text_of_run += unmarked(data)
        elif not self.left_out & classes:
            self.text_of_run += data

    def close(self) -> None:
        super().close()
        assert not self._open, f"left open: {self._open}"


@dataclass
class Cell:
    """A cell of a diff row: its classes, its text, the button or number in it, and the marks after its text."""

    classes: frozenset[str]
    text: str = ""
    number: int | None = None
    label: str | None = None
    ends: list[str] = field(default_factory=list)
    rest: str | None = None


@dataclass
class TableRow:
    classes: frozenset[str]
    attributes: dict[str, str | None]
    cells: list[Cell] = field(default_factory=list)


class Tables(Fragment):
    """`rows` are all rows of all tables, with their cells."""

    def __init__(self, html: str) -> None:
        self.rows: list[TableRow] = []
        self._is_in_button = False
        super().__init__(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        super().handle_starttag(tag, attrs)
        attributes = dict(attrs)
        classes = frozenset((attributes.get("class") or "").split())
        if tag == "tr":
            self.rows.append(TableRow(classes, attributes))
        elif tag == "td":
            self.rows[-1].cells.append(Cell(classes, number=_number(attributes)))
        elif tag == "button":
            self._is_in_button = True
            if "rest" in classes:
                self.rows[-1].cells[-1].rest = attributes["data-part"]
            elif self.rows and self.rows[-1].cells:
                self.rows[-1].cells[-1].number = _number(attributes)
                self.rows[-1].cells[-1].label = attributes.get("aria-label")

    def handle_endtag(self, tag: str) -> None:
        super().handle_endtag(tag)
        if tag == "button":
            self._is_in_button = False

    def handle_data(self, data: str) -> None:
        before = len(self.text_of_run)
        super().handle_data(data)
        if self._is_in_button or "td" not in [tag for tag, _ in self._open]:
            return
        cell = self.rows[-1].cells[-1]
        if "eol" in self._open[-1][1]:
            cell.ends.append(data)
        else:
            cell.text += self.text_of_run[before:]


def _number(attributes: dict[str, str | None]) -> int | None:
    number = attributes.get("data-l")
    return int(number) if number else None


def lines_read_back(rendered: RenderedFile, change: FileChange, view: str) -> list[Line]:
    """The lines that the rows of a rendered file show, in the order of a patch."""
    by_key = {part.key: part for part in rendered.parts}
    rows: list[TableRow] = []
    key: str | None = "0"
    while key is not None:
        rows += [row for row in Tables(by_key[key].html).rows if "expand" not in row.classes]
        following = str(int(key) + 1)
        assert (f'data-part="{following}"' in by_key[key].html) == (following in by_key)
        key = following if following in by_key else None
    all_crlf = {line.ends for hunk in change.hunks for line in hunk.lines} <= {"crlf", "none"}
    read = _unified if view == "unified" else _split
    return list(read(rows, by_key, all_crlf))


def _unified(rows: list[TableRow], parts: dict[str, Part], all_crlf: bool) -> Iterator[Line]:
    for row in rows:
        old, new, sign, code = row.cells
        kind: LineKind = "add" if "is-add" in row.classes else "del" if "is-del" in row.classes else "context"
        assert sign.text == ""
        yield _line(kind, old.number, new.number, code, parts, all_crlf)


def _split(rows: list[TableRow], parts: dict[str, Part], all_crlf: bool) -> Iterator[Line]:
    removed: list[Line] = []
    added: list[Line] = []
    for row in rows:
        old, _, old_code, new, _, new_code = row.cells
        if "is-del" in old_code.classes:
            removed.append(_line("del", old.number, None, old_code, parts, all_crlf))
        if "is-add" in new_code.classes:
            added.append(_line("add", None, new.number, new_code, parts, all_crlf))
        if {"code"} == set(old_code.classes) == set(new_code.classes):
            yield from removed
            yield from added
            removed, added = [], []
            assert old_code.text == new_code.text
            yield _line("context", old.number, new.number, new_code, parts, all_crlf)
    yield from removed
    yield from added


def _line(kind: LineKind, old: int | None, new: int | None, code: Cell, parts: dict[str, Part], all_crlf: bool) -> Line:
    text = code.text
    rest = code.rest
    while rest:
        piece = Tables(f"<table><tr><td>{parts[rest].html}</td></tr></table>").rows[0].cells[0]
        text += piece.text
        rest = piece.rest
    ends: LineEnd = "crlf" if all_crlf or "CR LF" in code.ends else "lf"
    return Line(kind, old, new, text, "none" if "No newline at end of file" in code.ends else ends)
