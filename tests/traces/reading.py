"""Rendered fragments read back: which elements they have, and which text of the run they show."""

import re
from html.parser import HTMLParser

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
        if tag not in {"br", "hr", "col", "use", "path", "circle", "rect", "line", "polyline", "ellipse"}:
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
