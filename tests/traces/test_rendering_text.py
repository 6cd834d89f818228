"""Text on its way into HTML: what is escaped, what is made visible, which words differ, what a terminal printed."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from potato.runs.changes.model import Line
from tests.function_calls import calls_of
from traces.rendering.ansi import Terminal
from traces.rendering.escaping import attribute, escaped
from traces.rendering.highlight import highlighted
from traces.rendering.icons import SHAPES
from traces.rendering.safe import SafeHtml, trusted
from traces.rendering.terminal_colours import STYLE_SHEET, style_sheet
from traces.rendering.word_changes import changed_ranges, word_changes

from .fragments import Fragment

ROOT = Path(__file__).parents[2]
any_text = st.text(st.characters(codec=None, exclude_characters="\r"), max_size=60)


@given(any_text)
def test_escaped_text_reads_back_as_it_was_and_can_be_encoded(text: str) -> None:
    html = escaped(text)

    html.encode("utf-8")
    read = Fragment(html)
    assert read.text_of_run == text
    assert {name for name, _ in read.elements} <= {"span"}


@given(any_text)
def test_an_attribute_ends_where_it_should(text: str) -> None:
    read = Fragment(f'<p title="{attribute(text)}">x</p>')

    assert [(name, list(attributes)) for name, attributes in read.elements] == [("p", ["title"])]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\u202e", "U+202E"),
        ("\u2066", "U+2066"),
        ("\u200b", "U+200B"),
        ("\u061c", "U+061C"),
        ("\x00", "U+0000"),
        ("\x1b", "U+001B"),
        ("\ud83d", "U+D83D"),
        ("\udce9", "0xE9"),
        ("\ufeff" * 40, "U+FEFF x40"),
        ("\U000e0041", "U+E0041"),
    ],
)
def test_what_hides_or_reorders_is_shown_by_its_name(text: str, shown: str) -> None:
    assert f">{shown}</span>" in escaped(f"a{text}b")
    assert text not in escaped(text)
    assert attribute(text) == shown


def test_ordinary_text_of_every_script_is_left_alone() -> None:
    text = "\tdéjà vu, привет, 你好, «quoted», ❤️, שלום\n"

    assert escaped(text) == text


def test_a_template_prints_a_fragment_as_it_is_and_text_escaped() -> None:
    from django.template import Context, Engine

    template = Engine().from_string("{{ fragment }}{{ text }}")

    assert template.render(Context({"fragment": trusted("<b>1</b>"), "text": "<b>2</b>"})) == (
        "<b>1</b>&lt;b&gt;2&lt;/b&gt;"
    )
    assert isinstance(trusted("x"), SafeHtml)


def test_html_is_marked_safe_in_one_function_alone() -> None:
    """Whoever marks HTML elsewhere, in Python or in a template, is found here."""
    shortcuts = ("mark_safe", "|safe", "| safe", "autoescape off", "Markup(", "SafeString(", "SafeHtml(", "safeseq")
    found = set()
    for path in ROOT.rglob("*"):
        relative = path.relative_to(ROOT)
        if path.suffix not in {".py", ".html"} or {".venv", "node_modules", "tests", "build"} & set(relative.parts):
            continue
        if relative.parts[0].startswith("."):
            continue
        text = path.read_text()
        found |= {(str(relative), shortcut) for shortcut in shortcuts if shortcut in text}

        if "trusted(" in text:
            assert relative.parts[0] == "traces", f"{relative} marks HTML safe"

    assert found == {("traces/rendering/safe.py", "SafeHtml(")}
    assert (ROOT / "traces" / "rendering" / "safe.py").read_text().count("SafeHtml(") == 2  # the class and its one use


def test_the_icons_of_fragments_are_those_of_the_sprite() -> None:
    sprite = (ROOT / "static" / "icons" / "sprite.svg").read_text()

    for name, shape in SHAPES.items():
        assert f'<symbol id="i-{name}" viewBox="0 0 24 24">{shape}</symbol>' in sprite


def test_the_changed_words_of_a_line_are_found() -> None:
    old, new = changed_ranges("return to_int(left), left", "return int(left), right")

    assert old == [(7, 13), (21, 25)]
    assert new == [(7, 10), (18, 23)]


def test_lines_that_have_little_in_common_are_not_compared() -> None:
    assert changed_ranges("import os", "x = y + z * 3") == ([], [])
    assert changed_ranges("a " * 1500, "a " * 1499 + "b ") == ([], [])


def test_words_are_compared_only_between_runs_of_equal_length() -> None:
    def line(kind: str, text: str) -> Line:
        return Line(kind, 1, 1, text)  # type: ignore[arg-type]

    two_for_one = [line("del", "a = b + 1"), line("add", "a = b + 2"), line("add", "a = b + 3")]
    one_for_one = [line("context", "x"), line("del", "a = b + 1"), line("add", "a = b + 2"), line("context", "y")]

    assert word_changes(two_for_one) == {}
    assert word_changes(one_for_one) == {1: [(8, 9)], 2: [(8, 9)]}


@given(any_text, any_text)
def test_word_ranges_lie_inside_their_lines_in_order(old: str, new: str) -> None:
    for ranges, line in zip(changed_ranges(old, new), (old, new), strict=True):
        edges = [edge for pair in ranges for edge in pair]
        assert edges == sorted(set(edges))
        assert not edges or (edges[0] >= 0 and edges[-1] <= len(line))


@pytest.mark.parametrize(
    ("printed", "html"),
    [
        ("\x1b[31mred\x1b[0m plain", '<span class="f1">red</span> plain'),
        ("\x1b[1;92mok\x1b[22m", '<span class="t1 f10">ok</span>'),
        ("\x1b[48;5;208mx\x1b[49my", '<span class="b208">x</span>y'),
        ("\x1b[38;2;255;0;0mtrue", '<span class="f196">true</span>'),
        ("\x1b[31m<script>", '<span class="f1">&lt;script&gt;</span>'),
        ("\x1b]8;;javascript:alert(1)\x07click\x1b]8;;\x1b\\", "click"),
        ("\x1b]0;<title>\x07after\x1b[2J\x1b[?25l", "after"),
        ("10%\r20%\r30%\r\ndone", "30%\ndone"),
        ("N\x08NA\x08A", "NA"),
        ("\x1b[38;5;999mx\x1b[38mx", "xx"),
    ],
)
def test_a_terminal_keeps_colours_and_drops_the_rest(printed: str, html: str) -> None:
    assert Terminal().html(printed) == html


def test_a_terminals_colour_goes_on_in_the_next_piece() -> None:
    terminal = Terminal()

    assert terminal.html("\x1b[32ma\nb") == '<span class="f2">a</span>\n<span class="f2">b</span>'
    assert terminal.html("c\x1b[md") == '<span class="f2">c</span>d'


@given(st.text(st.sampled_from("\x1b[]m;0138\x07\x08\r\n<&\"'a\u202e\ud800"), max_size=80))
def test_a_terminal_makes_nothing_but_spans_with_its_own_classes(printed: str) -> None:
    for name, attributes in Fragment(Terminal().html(printed)).elements:
        assert name == "span"
        assert set(attributes) <= {"class", "title"}


@pytest.mark.parametrize(
    "printed",
    [
        "\x1b[" * 200_000,
        "\x1b]8;;http://a" * 20_000,
        "\x1b[" + "1;" * 100_000 + "m",
        "a\r" * 500_000,
        "\x00a" * 500_000,
    ],
    ids=["escapes", "links left open", "parameters", "overwriting", "control characters"],
)
def test_a_hostile_terminal_is_read_in_linear_time(printed: str) -> None:
    half = printed[: len(printed) // 2]
    assert calls_of(lambda: Terminal().html(printed)) < 2.2 * calls_of(lambda: Terminal().html(half)) + 1_000


def test_the_terminals_style_sheet_is_current() -> None:
    assert STYLE_SHEET.read_text() == style_sheet(), "run python -m traces.rendering.terminal_colours"


def test_a_files_language_is_known_by_its_name_or_its_first_line() -> None:
    by_name, by_shebang, unknown = (
        highlighted(path, [lines])[0]
        for path, lines in [
            ("src/a.py", ["import os", "x = 'é'  # y"]),
            ("bin/run", ["#!/usr/bin/env python3", "import os"]),
            ("notes.unknown", ["import os"]),
        ]
    )

    assert [list(map(tuple, line)) for line in by_name] == [
        [("kn", 6), ("", 3)],
        [("", 4), ("s", 3), ("", 2), ("c1", 3)],
    ]
    assert list(map(tuple, by_shebang[1])) == [("kn", 6), ("", 3)]
    assert unknown == [()]


def test_a_string_that_began_lines_ago_is_still_a_string() -> None:
    lines = highlighted("a.py", [['"""one', "def two():", 'three"""']])[0]

    assert {name for line in lines for name, _ in line} == {"sd"}


@pytest.mark.parametrize("character", ["\r", "\x0c", "\u2028", "\x00", "\udce9", "\ufeff"])
def test_no_character_moves_the_colours(character: str) -> None:
    line = f"x = 1 {character} # y"

    for tokens in highlighted("a.py", [[line, "y"]])[0]:
        assert sum(length for _, length in tokens) in (0, len(line), 1)


@pytest.mark.parametrize(
    "lines",
    [["x = 1" + " " * 2_001], ["x = 1"] * 5_001, ["x" * 1_000] * 201],
    ids=["a long line", "many lines", "many characters"],
)
def test_what_is_too_large_stays_plain(lines: list[str]) -> None:
    assert set(highlighted("a.py", [lines])[0]) == {()}


def test_a_lexer_that_does_not_end_is_stopped_and_the_next_file_has_its_colours() -> None:
    hostile = highlighted("a.php", [["<?php " + "$" * 60_000]])[0]

    assert hostile == [()]
    assert highlighted("a.py", [["import os"]])[0] != [()]
