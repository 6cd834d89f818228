"""What is sent as one: a fragment with its name and its size."""

from dataclasses import dataclass

from traces.rendering.safe import SafeHtml


@dataclass(frozen=True, slots=True)
class Part:
    """A fragment that is sent as one.

    `key` is what a button's `data-part` names. Of a file: "0", "1" and so on for the rows in order ("0" is shown
    first, each one ends with the button for the next), "line-12-1" for more of a long line, "rows-30-75" for expanded
    rows. Of a step: "0" for the step, others for the rest of a long text. `rows` counts rows that show lines.
    `old_lines` and `new_lines` are the first and last number in it, None where it has none.
    """

    key: str
    html: SafeHtml
    rows: int
    nodes: int
    old_lines: tuple[int, int] | None = None
    new_lines: tuple[int, int] | None = None


def nodes_in(html: str) -> int:
    """How many nodes, elements and texts, a browser makes of it."""
    elements = html.count("<") - html.count("</")
    # A text stands behind each bracket that another one does not follow; brackets inside texts are escaped.
    return elements + html.count(">") - html.count("><") - html.endswith(">")
