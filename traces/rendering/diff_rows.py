"""Rows of a diff table, unified, split or as an excerpt, and the code in them. Decides nothing about which rows.

Every reader gets the same rows. A row says where it stands: `data-old` and `data-new` are its line numbers. A line
that can be commented has a button that says so; the numbers and signs that are seen come from `data-l` and the
style sheet, so that copied code has none, and a row needs few nodes.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import zip_longest
from typing import NamedTuple

from potato.runs.changes.model import Line
from traces.rendering.diff_layout import DiffRow
from traces.rendering.escaping import escaped
from traces.rendering.highlight import LineTokens
from traces.rendering.parts import Part, nodes_in
from traces.rendering.safe import trusted
from traces.rendering.word_changes import Ranges

LONGEST_SHOWN = 4_000
"""A longer line is cut, at this length, and the rest can be asked for, up to a million characters."""

LINE = "line"
"""What the names of the parts of long lines begin with."""

_REST = 100_000
_LONGEST = 1_000_000

_CLASSES = {"context": "", "add": "is-add", "del": "is-del"}


@dataclass(slots=True)
class Coloured:
    """A row with its syntax tokens and the ranges of its changed words. `painted` is its code once it was drawn."""

    row: DiffRow
    tokens: LineTokens
    ranges: Ranges
    painted: str | None = None


@dataclass(frozen=True, slots=True)
class Style:
    """What all rows of a file share. `marks_ends`: some lines end with CR LF and others do not.

    `counts_excerpt`: the numbers count the lines that are shown, not those of the file. `key` begins the names of the
    parts that long lines are continued in.
    """

    marks_ends: bool = False
    counts_excerpt: bool = False
    key: str = LINE


class Drawn(NamedTuple):
    """A row of a table, and its line number on each side. `is_line`: it shows lines, not what is hidden there."""

    html: str
    old_no: int | None = None
    new_no: int | None = None
    is_line: bool = False


def unified_rows(coloured: Iterable[Coloured], style: Style) -> list[Drawn]:
    return [Drawn(_unified(row, style), row.row.line.old_no, row.row.line.new_no, True) for row in coloured]


def split_rows(coloured: Iterable[Coloured], style: Style) -> list[Drawn]:
    """Rows with both sides: a run of removed lines stands beside the run of added lines that follows it."""
    rows: list[Drawn] = []
    removed: list[Coloured] = []
    added: list[Coloured] = []

    def pair() -> None:
        rows.extend(_split(old, new, style) for old, new in zip_longest(removed, added))
        removed.clear()
        added.clear()

    for row in coloured:
        kind = row.row.line.kind
        if kind == "del":
            if added:
                pair()
            removed.append(row)
        elif kind == "add":
            added.append(row)
        else:
            pair()
            rows.append(_split(row, row, style))
    pair()
    return rows


def excerpt_rows(coloured: Iterable[Coloured], style: Style) -> list[str]:
    """Rows with one number and without buttons, for an edit shown inside a step."""
    rows = []
    for row in coloured:
        line = row.row.line
        number = line.old_no if line.kind == "del" else line.new_no
        rows.append(f'<tr{_class(_CLASSES[line.kind])}>{_number(number)}<td class="sg"></td>{_code(row, style)}</tr>')
    return rows


def painted(text: str, tokens: LineTokens, ranges: Ranges) -> str:
    """A text with a span for each syntax token, inside `<span class="w">` where words changed."""
    if not ranges:
        if not tokens:
            return escaped(text)
        pieces = []
        at = 0
        for name, length in tokens:
            piece = escaped(text[at : at + length])
            pieces.append(f'<span class="{name}">{piece}</span>' if name else piece)
            at += length
        return "".join(pieces)
    edges = iter([*(edge for pair in ranges for edge in pair), len(text) + 1])
    edge = next(edges)
    pieces = []
    at = 0
    inside = False
    for name, length in tokens or (("", len(text)),):
        end = at + length
        while at < end:
            if at == edge:
                pieces.append("</span>" if inside else '<span class="w">')
                inside = not inside
                edge = next(edges)
            stop = min(end, edge)
            piece = escaped(text[at:stop])
            pieces.append(f'<span class="{name}">{piece}</span>' if name else piece)
            at = stop
    if inside:
        pieces.append("</span>")
    return "".join(pieces)


def _unified(coloured: Coloured, style: Style) -> str:
    line = coloured.row.line
    if line.kind == "del":
        numbers = _button(line.old_no, "old", style) + _number(None)
    else:
        numbers = _number(line.old_no) + _button(line.new_no, "new", style)
    place = _place(line.old_no, line.new_no)
    return f'<tr{_class(_CLASSES[line.kind])}{place}>{numbers}<td class="sg"></td>{_code(coloured, style)}</tr>'


def _split(old: Coloured | None, new: Coloured | None, style: Style) -> Drawn:
    old_no = old.row.line.old_no if old else None
    new_no = new.row.line.new_no if new else None
    place = _place(old_no, new_no)
    return Drawn(f"<tr{place}>{_half(old, 'old', style)}{_half(new, 'new', style)}</tr>", old_no, new_no, True)


def _half(coloured: Coloured | None, side: str, style: Style) -> str:
    if coloured is None:
        return '<td class="ln void"></td><td class="sg void"></td><td class="code void"></td>'
    line = coloured.row.line
    kind = _CLASSES[line.kind]
    number = line.old_no if side == "old" else line.new_no
    sign = f'<td class="sg {kind}"></td>' if kind else '<td class="sg"></td>'
    return f"{_button(number, side, style, kind)}{sign}{_code(coloured, style, kind)}"


def _class(name: str) -> str:
    return f' class="{name}"' if name else ""


def _place(old_no: int | None, new_no: int | None) -> str:
    old = "" if old_no is None else f' data-old="{old_no}"'
    new = "" if new_no is None else f' data-new="{new_no}"'
    return old + new


def _number(number: int | None) -> str:
    return '<td class="ln"></td>' if number is None else f'<td class="ln" data-l="{number}"></td>'


def _button(number: int | None, side: str, style: Style, kind: str = "") -> str:
    cell = f'<td class="ln {kind}">' if kind else '<td class="ln">'
    if number is None:
        return f"{cell}</td>"
    label = f"Comment on {side} line {number}{' of the excerpt' if style.counts_excerpt else ''}"
    return f'{cell}<button type="button" data-side="{side}" data-l="{number}" aria-label="{label}"></button></td>'


def _code(coloured: Coloured, style: Style, kind: str = "") -> str:
    line = coloured.row.line
    cell = f'<td class="code {kind}">' if kind else '<td class="code">'
    if len(line.text) > LONGEST_SHOWN:
        shown = escaped(line.text[:LONGEST_SHOWN]) + _rest_button(
            f"{style.key}-{coloured.row.position}-1", len(line.text) - LONGEST_SHOWN
        )
    else:
        if coloured.painted is None:
            coloured.painted = painted(line.text, coloured.tokens, coloured.ranges)
        shown = coloured.painted
    return f"{cell}{shown}{_ending(line, style)}</td>"


def rests_of_lines(rows: Iterable[DiffRow], key: str) -> Iterator[Part]:
    """What is left of the lines that are too long to be shown at once; each part ends with the button for the next."""
    for row in rows:
        text = row.line.text
        if len(text) <= LONGEST_SHOWN:
            continue
        starts = range(LONGEST_SHOWN, min(len(text), _LONGEST), _REST)
        for number, start in enumerate(starts, 1):
            end = min(len(text), start + _REST, _LONGEST)
            html = escaped(text[start:end])
            if number < len(starts):
                html += _rest_button(f"{key}-{row.position}-{number + 1}", len(text) - end)
            elif len(text) > end:
                html += f'<span class="eol">{len(text) - end:,} more characters of this line are not shown</span>'
            yield Part(f"{key}-{row.position}-{number}", trusted(html), 0, nodes_in(html))


def _rest_button(key: str, characters: int) -> str:
    return (
        f'<button type="button" class="rest" data-part="{key}">'
        f"Show {characters:,} more characters of this line</button>"
    )


def _ending(line: Line, style: Style) -> str:
    if line.ends == "none":
        return '<span class="eol">No newline at end of file</span>'
    if line.ends == "crlf" and style.marks_ends:
        return '<span class="eol" title="This line ends with CR LF">CR LF</span>'
    return ""
