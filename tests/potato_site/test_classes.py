"""Style sheets and pages name the same classes: none is defined that nothing uses, none is used that nothing knows."""

import re
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings

ROOT = Path(settings.BASE_DIR)
OF_DJANGO = {"admin-django.css", "admin.css", "admin-forms.css"}
"""For markup that Django's admin makes."""
MADE_OF_PARTS = re.compile(r"(ivl--|yaml__msg--|expect--|goldchart__line--|is-)\w+|pt--\d|l\d|[fb]\d+")
"""What templates, scripts and the server make when they run, as in `class="ivl--{{ tone }}"`; `f12` is a terminal's."""
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_CLASS = re.compile(r"\.(-?[A-Za-z_][\w-]*)")
_VALUE = re.compile(r"\{\{.*?\}\}", re.DOTALL)
_TAG = re.compile(r"\{[%#].*?[%#]\}", re.DOTALL)
_ATTRIBUTE = re.compile(r'\bclass="([^"]*)"')
_WORD = re.compile(r"[A-Za-z_][\w-]*")


def defined(name: Path) -> set[str]:
    """The classes in the selectors of a sheet."""
    selectors = re.findall(r"([^{};]+)\{", _COMMENT.sub("", name.read_text()))
    return {each for selector in selectors for each in _CLASS.findall(re.sub(r'"[^"]*"|@media.*', "", selector))}


def sheets() -> dict[str, set[str]]:
    return {path.name: defined(path) for path in (ROOT / "static/css").glob("*.css")}


def sources(*patterns: str) -> Iterator[str]:
    """The text of our templates, scripts and modules."""
    folders = [
        "templates",
        "static/js",
        "potato",
        "potato_site",
        *(str(path.parent) for path in ROOT.glob("*/apps.py")),
    ]
    for folder in folders:
        for pattern in patterns:
            yield from (path.read_text() for path in (ROOT / folder).rglob(pattern))


def test_no_sheet_defines_a_class_that_nothing_uses() -> None:
    words = {word for text in sources("*.html", "*.js", "*.py") for word in _WORD.findall(text)}
    unused = {
        f"{sheet}: {name}"
        for sheet, names in sheets().items()
        if sheet not in OF_DJANGO
        for name in names - words
        if not MADE_OF_PARTS.fullmatch(name)
    }
    assert sorted(unused) == []


def test_no_template_uses_a_class_that_neither_a_sheet_nor_a_script_knows() -> None:
    known = set[str]().union(*sheets().values())
    known |= {word for text in sources("*.js") for word in _WORD.findall(text)}
    used: set[str] = set()
    for text in sources("*.html"):
        for names in _ATTRIBUTE.findall(_TAG.sub(" ", _VALUE.sub("\0", text))):
            used.update(name for name in names.split() if "\0" not in name)
    assert sorted(used - known) == []
