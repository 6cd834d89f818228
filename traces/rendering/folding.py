"""Long texts and tables in three parts: shown, folded, and loaded when asked for. So no text is too long to show."""

from collections.abc import Callable, Sequence
from itertools import pairwise

from traces.rendering.parts import Part, nodes_in
from traces.rendering.safe import trusted

LINES_SHOWN, CHARACTERS_SHOWN = 40, 8_000
LINES_OF_RESULTS = 16
"""What an agent got is shown to a third of a window: what it did stands above and below."""
LINES_FOLDED, CHARACTERS_FOLDED = 200, 24_000
LINES_LOADED, CHARACTERS_LOADED = 2_000, 100_000


def folded_text(
    text: str, key: str, draw: Callable[[int, int], str], shown: int = LINES_SHOWN
) -> tuple[str, list[Part]]:
    """HTML of a text that is folded beyond `shown` lines, and the parts `key-1`, `key-2`... beyond 200 more.

    `draw(start, end)` gives the HTML of a part, asked for in order. A part ends with a line where lines are of
    an ordinary length.
    """
    first = _cut(text, 0, shown, CHARACTERS_SHOWN)
    if _is_short(text[first:]):
        first = len(text)
    html = [draw(0, first)]
    second = _cut(text, first, LINES_FOLDED, CHARACTERS_FOLDED)
    if second > first:
        html.append(_fold(_amount(text, first, second), draw(first, second)))
    starts = [second]
    while starts[-1] < len(text):
        starts.append(_cut(text, starts[-1], LINES_LOADED, CHARACTERS_LOADED))
    parts = []
    for number, (start, end) in enumerate(pairwise(starts), 1):
        more = _load(f"{key}-{number + 1}", _amount(text, end, len(text))) if end < len(text) else ""
        body = draw(start, end) + more
        parts.append(Part(f"{key}-{number}", trusted(body), 0, nodes_in(body)))
    if parts:
        html.append(_load(f"{key}-1", _amount(text, second, len(text))))
    return "".join(html), parts


def folded_rows(
    rows: Sequence[str], key: str, table: Callable[[Sequence[str]], str], shown: int = LINES_SHOWN
) -> tuple[str, list[Part]]:
    """As folded_text, for rows that `table` puts into a table."""
    ends = [shown if len(rows) > shown + 5 else len(rows)]
    ends.append(min(len(rows), ends[0] + LINES_FOLDED))
    html = [table(rows[: ends[0]])]
    if ends[1] > ends[0]:
        html.append(_fold(_lines(ends[1] - ends[0]), table(rows[ends[0] : ends[1]])))
    parts = []
    starts = range(ends[1], len(rows), LINES_LOADED)
    for number, start in enumerate(starts, 1):
        end = min(len(rows), start + LINES_LOADED)
        more = _load(f"{key}-{number + 1}", _lines(len(rows) - end)) if end < len(rows) else ""
        body = table(rows[start:end]) + more
        parts.append(Part(f"{key}-{number}", trusted(body), end - start, nodes_in(body)))
    if parts:
        html.append(_load(f"{key}-1", _lines(len(rows) - ends[1])))
    return "".join(html), parts


def _cut(text: str, start: int, lines: int, characters: int) -> int:
    """Where a part ends that begins at `start`."""
    limit = min(len(text), start + characters)
    at = start
    for _ in range(lines):
        newline = text.find("\n", at, limit)
        if newline < 0:
            break
        at = newline + 1
    else:
        return at
    return limit if limit == len(text) or at == start else at


def _is_short(rest: str) -> bool:
    return len(rest) <= 800 and rest.count("\n") <= 5


def _amount(text: str, start: int, end: int) -> str:
    lines = text.count("\n", start, end) + (not text.endswith("\n", start, end))
    return _lines(lines) if lines > 1 else f"{end - start:,} characters"


def _lines(count: int) -> str:
    return "1 line" if count == 1 else f"{count:,} lines"


def _fold(amount: str, html: str) -> str:
    words = f"<span>Show {amount} more</span><span>Show less</span>"
    return f'<details class="fold fold--long"><summary>{words}</summary>{html}</details>'


def _load(key: str, amount: str) -> str:
    return f'<button type="button" class="rest" data-part="{key}">Load the rest ({amount})</button>'
