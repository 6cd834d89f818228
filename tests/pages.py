"""What a page says that the test client got, what it asked of the database, and that nothing in it can do harm."""

import re
from html.parser import HTMLParser
from typing import Any

from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext


def text_of(response: Any, status: int = 200) -> str:
    """Any: the test client's answer is no HttpResponse for the stubs."""
    assert response.status_code == status, response.status_code
    return str(response.content.decode())


def queries_of(client: Client, path: str) -> int:
    """How many queries the page costs that was opened before."""
    text_of(client.get(path))
    with CaptureQueriesContext(connection) as queries:
        text_of(client.get(path))
    return len([query for query in queries if "SAVEPOINT" not in query["sql"]])


class Page(HTMLParser):
    """`elements` are (name, attributes), in order."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))


def assert_harmless(page: str, words: str) -> None:
    """Nothing of what a run says became markup that could do something, and nothing that is read is invisible."""
    for name, attributes in Page(page).elements:
        assert name not in ("iframe", "img", "style", "base", "math", "object", "embed"), words
        assert not [key for key in attributes if key.startswith("on") or key in ("style", "srcdoc", "autofocus")], words
        assert not re.match(r"\s*(?:javascript|vbscript|data|file):", attributes.get("href") or "", re.I), words
    # A filter's value is sent back as it is; what is read shows what hides in it.
    seen = re.sub(r'<(?:option|input)[^>]*? value="[^"]*"', "", page)
    assert not re.search("[\x00-\x08\x0e-\x1f\x7f\u202e\u2066\u200b]", seen), words
