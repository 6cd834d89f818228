"""Lines of a file with some before them, for pages that are about a few places of a change."""

import re

import pytest

from potato.runs.changes.model import FileChange
from potato.runs.changes.texts import diff_texts
from traces.rendering.diff import LINES_OF_PLACE, DiffOptions, lines_with_context

OLD = "".join(f"line {number}\n" for number in range(1, 101))
NEW = OLD.replace("line 50\n", "changed 50\nadded\n")


def change(old: str = OLD, new: str = NEW) -> FileChange:
    return FileChange(
        "a.txt", "a.txt", "modified", "edits", hunks=tuple(diff_texts(old, new, 3)), old_text=old, new_text=new
    )


def shown(side: str, first: int, last: int) -> str:
    (table,) = lines_with_context(change(), [(side, first, last)], DiffOptions())
    return str(table)


def test_a_place_is_shown_with_three_lines_before_it() -> None:
    table = shown("new", 20, 21)
    assert [f"line {number}<" in table for number in (16, 17, 18, 19, 20, 21, 22)] == [False, *[True] * 5, False]
    assert 'data-l="17"' in table
    assert "<button" not in table


def test_each_side_has_its_own_lines() -> None:
    assert ">changed</span> 50<" in shown("new", 50, 50)
    assert "changed" not in shown("old", 50, 50)
    assert "line 50<" in shown("old", 50, 50)


def test_a_long_place_is_cut_to_its_end() -> None:
    table = shown("new", 1, 45)
    assert table.count("<tr") == LINES_OF_PLACE
    assert "line 45<" in table


def test_tables_below_each_other_show_each_line_once() -> None:
    places = [("new", 20, 21), ("new", 21, 21), ("new", 23, 23), ("new", 60, 60), ("new", 1000, 1000)]
    tables = lines_with_context(change(), places, DiffOptions(), each_once=True)
    numbers = [None if table is None else re.findall(r"line (\d+)<", table) for table in tables]
    assert numbers == [["17", "18", "19", "20", "21"], [], ["22", "23"], ["56", "57", "58", "59"], None]


def test_lines_that_the_trace_does_not_show_have_no_table() -> None:
    assert lines_with_context(change(), [("new", 1000, 1001), ("new", 1, 1)], DiffOptions())[0] is None


def test_a_very_long_line_is_cut_without_a_button_that_nothing_answers() -> None:
    (table,) = lines_with_context(change("a\n", "x" * 10_000 + "\n"), [("new", 1, 1)], DiffOptions())
    assert "<button" not in str(table)
    assert "x" * 4_000 in str(table)
    assert "x" * 4_001 not in str(table)


@pytest.mark.parametrize("hostile", ["<script>alert(1)</script>", '"><img src=x>', "\u202e"])
def test_text_is_escaped(hostile: str) -> None:
    (table,) = lines_with_context(change("a\n", f"{hostile}\n"), [("new", 1, 1)], DiffOptions())
    assert hostile not in str(table)
