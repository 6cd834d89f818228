"""A changed file as HTML fragments, unified or split, rendered once and the same for every reader.

The fragment is what stands under the file's header: notes and tables. It holds no person's data and no permission.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from potato.runs.changes.model import FileChange, to_bytes
from traces.rendering.diff_layout import DiffRow, Hidden, Layout, Missing, Section, Shown, lay_out, split_sections
from traces.rendering.diff_rows import (
    LINE,
    LONGEST_SHOWN,
    Coloured,
    Drawn,
    Style,
    excerpt_rows,
    rests_of_lines,
    split_rows,
    unified_rows,
)
from traces.rendering.escaping import escaped
from traces.rendering.file_notes import notes
from traces.rendering.highlight import LineTokens, highlighted
from traces.rendering.icons import icon
from traces.rendering.parts import Part, nodes_in
from traces.rendering.safe import SafeHtml, trusted
from traces.rendering.word_changes import word_changes

RENDER_VERSION = 5
"""Raised with every change of what is rendered: stored fragments of another version are rendered anew."""

ROWS_IN_TABLE = 120
ROWS_IN_PART = 1_500
NODES_IN_TABLE = 3_000
NODES_IN_PART = 12_000
ROWS_EXPANDED = 500
ROWS_AT_AN_END = 20
"""So many hidden rows come when somebody asks for those at one end of them."""
EXPANDED = ("rows-", "head-", "tail-")
"""What the names of the parts of hidden rows begin with."""
LINES_OF_PLACE = 30
_COLUMNS = {
    "unified": '<colgroup><col class="n"><col class="n"><col class="s"><col></colgroup>',
    "split": '<colgroup><col class="n"><col class="s"><col><col class="n"><col class="s"><col></colgroup>',
}
Piece: TypeAlias = Literal["rows", "head", "tail"]
_HIDDEN_PART = re.compile(r"(rows|head|tail)-([0-9]{1,9})-([0-9]{1,9})", re.ASCII)
_WIDTHS = {"unified": 4, "split": 6}
_CAPTIONS = {
    "added": "New file",
    "deleted": "Deleted file",
    "unchanged": "Unchanged file",
}


@dataclass(frozen=True, slots=True)
class DiffOptions:
    """What a project chooses. `context`: unchanged lines around each change, as far as the trace has them."""

    view: Literal["unified", "split"] = "unified"
    context: int = 5
    syntax_highlight: bool = True
    hides_whitespace: bool = False
    """Whether lines that differ in white space alone stand as unchanged: the reader's choice, not the project's."""

    @property
    def key(self) -> str:
        """Names these options in a store, together with the content's hash and RENDER_VERSION."""
        colours = "coloured" if self.syntax_highlight else "plain"
        return f"{self.view}-{self.context}-{colours}{'-nowhitespace' if self.hides_whitespace else ''}"

    def layout(self, change: FileChange) -> Layout:
        return lay_out(change, hides_whitespace=self.hides_whitespace)


@dataclass(frozen=True, slots=True)
class HiddenRows:
    """Rows that `expand(change, first, last, options)` gives: positions, and the first line number on each side."""

    first: int
    last: int
    old_line: int | None
    new_line: int | None

    @property
    def key(self) -> str:
        return f"rows-{self.first}-{self.last}"


@dataclass(frozen=True, slots=True)
class HiddenPart:
    """What a button asks for of the hidden rows from `first` to `last`: all of them, or 20 at their head or tail."""

    piece: Piece
    first: int
    last: int

    @classmethod
    def named(cls, part: str) -> "HiddenPart":
        """Of a part's name, as "rows-30-75". Raises LookupError for any other."""
        found = _HIDDEN_PART.fullmatch(part)
        if found is None:
            raise LookupError(f"{part[:40]!r} names no rows.")
        piece: Piece = "head" if found[1] == "head" else "tail" if found[1] == "tail" else "rows"
        return cls(piece, int(found[2]), int(found[3]))


@dataclass(frozen=True, slots=True)
class RenderedFile:
    """All of a file's parts but the hidden rows. `rows` and `nodes` count the parts "0", "1" and so on."""

    parts: tuple[Part, ...]
    hidden: tuple[HiddenRows, ...]
    rows: int
    nodes: int


def content_hash(change: FileChange) -> str:
    """SHA-256, in hexadecimal, over everything of the change that its fragments depend on."""
    parts: list[bytes] = []

    def add(*values: object) -> None:
        for value in values:
            if value is None:
                parts.append(b"0:0:")
            else:
                data = to_bytes(value if isinstance(value, str) else str(value))
                parts.append(b"1:%d:" % len(data))
                parts.append(data)

    add(change.path, change.old_path, change.operation, change.source, change.old_mode, change.new_mode)
    add(change.is_binary, change.has_line_numbers, change.old_text, change.new_text, len(change.badges))
    for badge in change.badges:
        add(badge.code.value, badge.sentence)
    if change.excerpts:
        add("excerpts", len(change.excerpts))
    for hunk in (*change.excerpts, *change.hunks):
        add(hunk.old_start, hunk.old_count, hunk.new_start, hunk.new_count, hunk.section, len(hunk.lines))
        for line in hunk.lines:
            add(line.kind, line.old_no, line.new_no, line.text, line.ends)
    return hashlib.sha256(b"".join(parts)).hexdigest()


def render_views(change: FileChange, options: Sequence[DiffOptions], remark: str = "") -> tuple[RenderedFile, ...]:
    """A file rendered with each of the options, its syntax being read once. `remark` is a sentence to stand first."""
    layouts = {view.hides_whitespace: view.layout(change) for view in options}
    sections = {
        (view.hides_whitespace, view.context): split_sections(change, layouts[view.hides_whitespace], view.context)
        for view in options
    }
    colours = {hides: _Colours(change, layout) for hides, layout in layouts.items()}
    for (hides, _), contents in sections.items():
        colours[hides].need(row for section in contents if isinstance(section, Shown) for row in section.rows[-1:])
    return tuple(
        _rendered(
            change,
            layouts[view.hides_whitespace],
            sections[view.hides_whitespace, view.context],
            colours[view.hides_whitespace],
            view,
            remark,
        )
        for view in options
    )


def render_file(change: FileChange, options: DiffOptions) -> RenderedFile:
    """The notes and rows of a file, cut at 1,500 rows or 12,000 nodes into parts."""
    return render_views(change, [options])[0]


def _rendered(
    change: FileChange,
    layout: Layout,
    sections: Sequence[Section],
    colours: "_Colours",
    options: DiffOptions,
    remark: str,
) -> RenderedFile:
    writer = _Writer(change, options, colours, len(layout.rows))
    only_whitespace = options.hides_whitespace and bool(change.hunks) and not layout.changes_something
    remarks = notes(
        change, layout.is_whole, has_lines=bool(layout.runs), only_whitespace=only_whitespace, remark=remark
    )
    parts = writer.parts(remarks, sections)
    rest = [part for section in sections if isinstance(section, Shown) for part in rests_of_lines(section.rows, LINE)]
    return RenderedFile(
        parts=(*parts, *rest),
        hidden=tuple(_hidden_rows(section.rows) for section in sections if isinstance(section, Hidden)),
        rows=sum(part.rows for part in parts),
        nodes=sum(part.nodes for part in parts),
    )


def is_offered(change: FileChange, first: int, last: int, options: DiffOptions, *, step: int = ROWS_AT_AN_END) -> bool:
    """Whether a button shows these hidden rows: all of a fold, or what is left of it after parts from either end.

    With a `step` of ROWS_EXPANDED, whether it is all of a fold or what is left of it after parts of that size.
    """
    return any(
        hidden.first <= first <= last <= hidden.last
        and (first - hidden.first) % step == 0
        and ((hidden.last - last) % step == 0 if step == ROWS_AT_AN_END else hidden.last == last)
        for section in split_sections(change, options.layout(change), options.context)
        if isinstance(section, Hidden) and (hidden := _hidden_rows(section.rows))
    )


def expand(change: FileChange, first: int, last: int, options: DiffOptions, piece: Piece = "rows") -> tuple[Part, ...]:
    """Hidden rows by their positions: the part named `rows-first-last`, and the parts that its long lines need.

    Of more than 500 rows the first 500 are given, with the button for the others; of "head" and "tail" the first or
    last 20. The part is rows of the table in which its button stands. Raises LookupError where the change has no such
    rows.
    """
    layout = options.layout(change)
    rows = layout.rows
    if not 0 <= first <= last < len(rows):
        raise LookupError(f"{change.path!r} has no lines at positions {first} to {last}; it has {len(rows)}.")
    most = ROWS_EXPANDED if piece == "rows" else ROWS_AT_AN_END
    start = max(first, last - most + 1) if piece == "tail" else first
    chosen = rows[start : min(last, start + most - 1) + 1]
    colours = _Colours(change, layout)
    colours.need(chosen[-1:])
    writer = _Writer(change, options, colours, len(rows))
    drawn = _Drawing()
    if start > first:
        drawn.add(Drawn(writer.expand_row(Hidden(rows[first:start], ""))))
    for row in writer.draw_rows(chosen):
        drawn.add(row)
    if start + len(chosen) <= last:
        drawn.add(Drawn(writer.expand_row(Hidden(rows[start + len(chosen) : last + 1], ""))))
    key = f"{piece}-{first}-{last}"
    part = Part(key, trusted(drawn.html), drawn.rows, drawn.nodes, drawn.old_lines, drawn.new_lines)
    return part, *rests_of_lines(chosen, LINE)


def lines_with_context(
    change: FileChange,
    places: Sequence[tuple[str, int, int]],
    options: DiffOptions,
    before: int = 3,
    *,
    each_once: bool = False,
) -> list[SafeHtml | None]:
    """A table for each place, a side with its first and last line: these lines and so many before them, to be read.

    None where the trace does not show them. Very long lines are cut. With `each_once` the tables are read one below the
    other: lines that an earlier one has are left out at the start of a later one, which is empty where none is left.
    """
    layout = options.layout(change)
    rows = layout.rows
    positions: dict[str, dict[int, int]] = {"old": {}, "new": {}}
    for row in rows:
        if row.line.old_no is not None and row.line.kind != "add":
            positions["old"][row.line.old_no] = row.position
        if row.line.new_no is not None and row.line.kind != "del":
            positions["new"][row.line.new_no] = row.position
    chosen = [_rows_at(rows, positions[side], first, last, before) for side, first, last in places]
    unread = _without_repeated(chosen) if each_once else chosen
    colours = _Colours(change, layout)
    colours.need(shown[-1] for shown in unread if shown)
    style = Style()
    tables: list[SafeHtml | None] = []
    for found, shown in zip(chosen, unread, strict=True):
        if not shown:
            tables.append(trusted("") if found else None)
            continue
        coloured = [
            Coloured(replace(row.row, line=replace(row.row.line, text=row.row.line.text[:LONGEST_SHOWN])), (), [])
            if len(row.row.line.text) > LONGEST_SHOWN
            else row
            for row in colours.coloured(shown, syntax=options.syntax_highlight)
        ]
        caption = f"Lines of {escaped(change.path)}"
        tables.append(
            trusted(
                f'<table class="diff" dir="ltr" translate="no"><caption class="vh">{caption}</caption>'
                f'<colgroup><col class="n"><col class="s"><col></colgroup>'
                f"<tbody>{''.join(excerpt_rows(coloured, style))}</tbody></table>"
            )
        )
    return tables


def _rows_at(
    rows: Sequence[DiffRow], positions: Mapping[int, int], first: int, last: int, before: int
) -> tuple[DiffRow, ...]:
    """The rows from some before the first line to the last; at most LINES_OF_PLACE, the last of them. `positions` are
    those of the side's lines by number."""
    ends = [positions[number] for number in (first, last) if number in positions]
    if not ends:
        return ()
    start = max(ends[0] - before, ends[-1] - LINES_OF_PLACE + 1, 0)
    return tuple(rows[start : ends[-1] + 1])


def _without_repeated(chosen: Sequence[tuple[DiffRow, ...]]) -> list[tuple[DiffRow, ...]]:
    """The rows of each place without those at its start that stand in an earlier one."""
    read: set[int] = set()
    unread = []
    for rows in chosen:
        start = next((at for at, row in enumerate(rows) if row.position not in read), len(rows))
        unread.append(rows[start:])
        read.update(row.position for row in rows)
    return unread


class _Colours:
    """Syntax tokens of the known rows, looked up by position; lexed at the first question, up to the last row that is
    needed."""

    def __init__(self, change: FileChange, layout: Layout) -> None:
        self._change = change
        self._layout = layout
        self._last = -1
        self._found: dict[int, LineTokens] | None = None
        self._coloured: dict[tuple[int, int, bool], list[Coloured]] = {}

    def need(self, rows: Iterable[DiffRow]) -> None:
        self._last = max([self._last, *(row.position for row in rows)])

    def coloured(self, rows: tuple[DiffRow, ...], *, syntax: bool) -> list[Coloured]:
        """Rows of a section with their colours, made once for all views: they draw the same code in other cells."""
        key = (rows[0].position, rows[-1].position, syntax)
        if key not in self._coloured:
            words = word_changes([row.line for row in rows])
            self._coloured[key] = [
                Coloured(row, self.of(row) if syntax else (), words.get(at, [])) for at, row in enumerate(rows)
            ]
        return self._coloured[key]

    def of(self, row: DiffRow) -> LineTokens:
        if self._found is None:
            # The new side comes last: an unchanged line has the colours that it has there.
            self._found = {**self._lexed("del"), **self._lexed("add")}
        return self._found.get(row.position, ())

    def _lexed(self, kind: str) -> dict[int, LineTokens]:
        """The tokens of the side that has the removed, or the added lines."""
        other = "add" if kind == "del" else "del"
        runs = [[row for row in run if row.line.kind != other] for run in self._layout.runs]
        needed = [self._needed(run, only_removed=kind == "del") for run in runs]
        if not any(needed):
            return {}
        path = self._change.old_path or self._change.path if kind == "del" else self._change.path
        painted = highlighted(path, [[row.line.text for row in run] for run in runs], needed)
        return {
            row.position: tokens
            for run, lines in zip(runs, painted, strict=True)
            for row, tokens in zip(run, lines, strict=True)
            if tokens
        }

    def _needed(self, run: list[DiffRow], *, only_removed: bool) -> int:
        """Of how many rows of the run the colours are needed. Of the old side only removed lines have their own."""
        for at in range(len(run), 0, -1):
            row = run[at - 1]
            if row.position <= self._last and (row.line.kind == "del" or not only_removed):
                return at
        return 0


class _Writer:
    """Gathers rows into tables, and tables into parts."""

    def __init__(self, change: FileChange, options: DiffOptions, colours: _Colours, rows: int) -> None:
        self._rows = rows
        ends = {line.ends for hunk in change.hunks for line in hunk.lines}
        self._numbering = change.numbering
        self._style = Style(marks_ends={"lf", "crlf"} <= ends, counts_excerpt=self._numbering == "excerpt")
        self._options = options
        self._colours = colours
        self._caption = f"{_CAPTIONS.get(change.operation, 'Changes in')} {escaped(change.path)}"

    def draw_rows(self, rows: tuple[DiffRow, ...]) -> list[Drawn]:
        coloured = self._colours.coloured(rows, syntax=self._options.syntax_highlight)
        draw = unified_rows if self._options.view == "unified" else split_rows
        return draw(coloured, self._style)

    def parts(self, notes_html: str, sections: Iterable[Section]) -> tuple[Part, ...]:
        """The parts "0", "1" and so on. Table and part are cut where they have enough rows or nodes."""
        parts: list[_Drawing] = [_Drawing(notes_html, nodes_in(notes_html))]
        table = _Drawing()
        for drawn in self._drawn(sections):
            if table.rows >= ROWS_IN_TABLE or table.nodes >= NODES_IN_TABLE:
                parts[-1].take(table, self._table(table, len(parts) > 1 or bool(parts[-1].rows)))
                table = _Drawing()
                if parts[-1].rows >= ROWS_IN_PART or parts[-1].nodes >= NODES_IN_PART:
                    parts.append(_Drawing())
            table.add(drawn)
        if table.html:
            parts[-1].take(table, self._table(table, len(parts) > 1 or bool(parts[-1].rows)))
        left = sum(part.rows for part in parts)
        finished = []
        for number, part in enumerate(parts):
            left -= part.rows
            html = part.html + (_more(number + 1, left) if number + 1 < len(parts) else "")
            finished.append(Part(str(number), trusted(html), part.rows, nodes_in(html), part.old_lines, part.new_lines))
        return tuple(finished)

    def _drawn(self, sections: Iterable[Section]) -> Iterator[Drawn]:
        for section in sections:
            if isinstance(section, Shown):
                yield from self.draw_rows(section.rows)
            elif isinstance(section, Hidden):
                yield Drawn(self.expand_row(section))
            else:
                yield Drawn(_missing_row(section, self._options.view))

    def expand_row(self, hidden: Hidden) -> str:
        return _expand_row(hidden, self._options.view, self._rows)

    def _table(self, table: "_Drawing", is_later: bool) -> str:
        """One table in a box that the browser lays out when it comes near; a full one has a known height."""
        place = ""
        if is_later and (lines := table.new_lines or table.old_lines):
            place = f", lines {lines[0]} to {lines[1]}{' of the excerpt' if self._numbering == 'excerpt' else ''}"
        full = " chunk--full" if table.rows == ROWS_IN_TABLE else ""
        split = " diff--split" if self._options.view == "split" else ""
        excerpt = " diff--excerpt" if self._numbering == "excerpt" else ""
        return (
            f'<div class="chunk{full}"><table class="diff{split}{excerpt}" dir="ltr" translate="no">'
            f'<caption class="vh">{self._caption}{place}</caption>{_COLUMNS[self._options.view]}'
            f"<tbody>{table.html}</tbody></table></div>"
        )


class _Drawing:
    """HTML with what is in it: rows, nodes, and the first and last line number of each side."""

    def __init__(self, html: str = "", nodes: int = 0) -> None:
        self._html = [html] if html else []
        self.nodes = nodes
        self.rows = 0
        self.old_lines: tuple[int, int] | None = None
        self.new_lines: tuple[int, int] | None = None

    @property
    def html(self) -> str:
        return "".join(self._html)

    def add(self, row: Drawn) -> None:
        self._html.append(row.html)
        self.nodes += nodes_in(row.html)
        self.rows += row.is_line
        self.old_lines = _stretched(self.old_lines, row.old_no, row.old_no)
        self.new_lines = _stretched(self.new_lines, row.new_no, row.new_no)

    def take(self, table: "_Drawing", html: str) -> None:
        self._html.append(html)
        self.nodes += table.nodes
        self.rows += table.rows
        self.old_lines = _stretched(self.old_lines, *(table.old_lines or (None, None)))
        self.new_lines = _stretched(self.new_lines, *(table.new_lines or (None, None)))


def _stretched(lines: tuple[int, int] | None, first: int | None, last: int | None) -> tuple[int, int] | None:
    if first is None or last is None:
        return lines
    return (min(lines[0], first), max(lines[1], last)) if lines else (first, last)


def _hidden_rows(rows: tuple[DiffRow, ...]) -> HiddenRows:
    line = rows[0].line
    return HiddenRows(rows[0].position, rows[-1].position, line.old_no, line.new_no)


def _more(number: int, rows: int) -> str:
    return (
        f'<div class="diff__more"><button type="button" class="btn btn--s" data-part="{number}">Load the rest'
        f"</button> <span>{rows:,} more {'line' if rows == 1 else 'lines'}</span></div>"
    )


def _expand_row(hidden: Hidden, view: str, rows: int) -> str:
    """The row that stands for hidden ones, of a file with so many rows in all."""
    first, count = hidden.rows[0].line, len(hidden.rows)
    key = _hidden_rows(hidden.rows).key
    lines = f"{count:,} line" if count == 1 else f"{count:,} lines"
    places = "".join(
        f' data-{side}-first="{number}"'
        for side, number in (("old", first.old_no), ("new", first.new_no))
        if number is not None
    )
    return (
        f'<tr class="expand" data-rows="{count}"{places}><td colspan="{_WIDTHS[view]}"><div class="expand__in">'
        f'<button type="button" data-part="{key}" aria-label="Show {lines.replace(" ", " hidden ")}">'
        f"{icon('unfold-vertical')} {lines}</button>{_ends_of(hidden, rows)}"
        f"<span>{_heading(first.old_no, count, first.new_no, count, hidden.section)}</span></div></td></tr>"
    )


def _ends_of(hidden: Hidden, rows: int) -> str:
    """The buttons for a few of many hidden lines: those that follow what is shown above, and that lead to what is shown
    below. At the file's own ends nothing is shown."""
    first, last = hidden.rows[0].position, hidden.rows[-1].position
    if len(hidden.rows) <= ROWS_AT_AN_END:
        return ""
    ends = (("head", first > 0, "after"), ("tail", last < rows - 1, "before"))
    return "".join(
        f'<button type="button" data-part="{piece}-{first}-{last}" aria-label="Show {ROWS_AT_AN_END} hidden lines '
        f'{where} the shown ones">{icon("chevron-down")} {ROWS_AT_AN_END}</button>'
        for piece, is_there, where in ends
        if is_there
    )


def _missing_row(missing: Missing, view: str) -> str:
    hunk = missing.hunk
    heading = _heading(
        hunk.old_start if hunk.old_start or hunk.new_start else None,
        hunk.old_count,
        hunk.new_start,
        hunk.new_count,
        hunk.section,
    )
    return (
        f'<tr class="expand"><td colspan="{_WIDTHS[view]}"><div class="expand__in">'
        f'<span class="expand__none">Not in the trace</span><span>{heading}</span></div></td></tr>'
    )


def _heading(old: int | None, old_count: int, new: int | None, new_count: int, section: str) -> str:
    """What a hunk's header says, with the section that the lines are in."""
    place = "" if old is None or new is None else f"@@ -{old},{old_count} +{new},{new_count} @@"
    return f"{place} {escaped(section)}".strip()
