"""A fault is planted on added lines alone, by its seed, and the expected comment stands where it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from potato.planting.changes import NothingToPlant, candidates, plant
from potato.planting.faults import KINDS, FaultKind
from potato.runs.changes.model import FileChange
from potato.runs.changes.patch import read_patch
from potato.runs.changes.texts import apply_hunks
from potato.runs.changes.writing import unified_patch
from tests.potato.planting.sources import PROJECTS, added_file, changed

OLD = """def page(rows, number, size):
    start = number * size
    return rows[start : start + size]


def last(rows):
    return rows[-1]
"""
NEW = """def page(rows, number, size):
    if number < 1:
        raise ValueError("pages count from 1")
    start = (number - 1) * size
    return rows[start : start + size]


def last(rows):
    return rows[-1]
"""


def test_only_lines_that_the_change_added_are_touched() -> None:
    file = changed(OLD, NEW, "pages.py")

    lines = {
        line for candidate in candidates([file], 1) for line in range(candidate.fault.first, candidate.fault.last + 1)
    }

    assert lines == {2, 3, 4}


@pytest.mark.parametrize("name", ["store.py", "queue.mjs", "report.ts", "report.go", "Report.java"])
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_planted_in_five_languages(name: str, kind: FaultKind) -> None:
    file = added_file(name)

    files, fault = plant([file], 3, kind)

    [planted] = files
    assert fault.kind == kind
    assert planted.new_text != file.new_text
    assert apply_hunks("", planted.hunks) == planted.new_text
    lines = (planted.new_text or "").splitlines()
    if fault.after and len(fault.after) < 100:
        assert fault.after.split()[0] in lines[fault.line - 1]
    assert fault.line in planted.lines("new")
    assert fault.before.split()[0] in (file.new_text or "")
    assert (fault.known.file, fault.known.line, fault.known.why) == (name, fault.line, fault.why)


def test_a_dropped_check_leaves_a_patch_that_still_applies() -> None:
    file = changed(OLD, NEW, "pages.py")

    [planted], fault = plant([file], 0, "dropped_check")

    assert fault.before == 'if number < 1: raise ValueError("pages count from 1")'
    assert (fault.after, fault.line) == ("", 2)
    assert fault.why == "A check is missing before this line: `number < 1`."
    assert "raise" not in (planted.new_text or "")
    [read] = read_patch(unified_patch([planted])).files
    assert apply_hunks(OLD, read.hunks) == planted.new_text
    assert (planted.added, planted.removed) == (1, 1)


PATCH = b"""--- a/total.go
+++ b/total.go
@@ -3,2 +3,6 @@ func total(cents []int, free int) int {
 \tsum := 0
+\tif len(cents) < 1 {
+\t\treturn -1
+\t}
+\tsum = sum + len(cents) + cents[0]
 \treturn sum
@@ -20,2 +24,3 @@ func other() int {
 \tx := 1
+\tx = x + 5
 \treturn x
"""


def test_a_patch_without_the_whole_file_is_enough() -> None:
    change = read_patch(PATCH)

    planted, fault = plant(change.files, 1, "dropped_check")

    assert fault.line == 4
    text = unified_patch(planted).decode()
    assert "@@ -3,2 +3,3 @@" in text
    assert "@@ -20,2 +21,3 @@" in text
    assert "len(cents) < 1" not in text
    _, other = plant(change.files, 2, "wrong_operator")
    assert {line for file in change.files for line in file.lines("new")} >= {other.line}


def test_the_same_seed_plants_the_same_fault_and_seeds_plant_many() -> None:
    files = [added_file("store.py")]

    assert plant(files, 11) == plant(files, 11)
    assert len({plant(files, seed)[1].line for seed in range(15)}) > 8
    assert {plant(files, seed)[1].kind for seed in range(25)} == {*KINDS}


@pytest.mark.parametrize(
    ("files", "kind", "sentence"),
    [
        ([], None, "The change adds no lines of Python, JavaScript, TypeScript, Go or Java outside of tests"),
        ([changed("", "# Read me\n", "README.md")], None, "The change adds no lines of Python"),
        ([changed("", "x = 1\n", "x.py")], None, "No fault can be planted on the lines that the change adds to x.py"),
        ([changed(OLD, NEW, "p.py")], "removed_await", "No fault of the kind removed_await can be planted"),
        ([changed("", "if x <<<<<<< (\n", "x.py")], None, "No fault can be planted"),
        ([changed("", "x = '\ud800' + 1 < 3\n", "x.py")], None, "No fault can be planted"),
        ([changed("", "\x00\x01 ((((" * 300, "x.py")], None, "No fault can be planted"),
        # Python's own parser gives up with MemoryError, and with RecursionError.
        ([changed("", "x = 1 + 2\ny = " + "-" * 50_000 + "1\n", "x.py")], None, "No fault can be planted"),
        ([changed("", "x = 1 + 2\ny = f" + "()" * 20_000 + "\n", "x.py")], None, "No fault can be planted"),
    ],
)
def test_where_nothing_can_be_planted_a_sentence_says_so(
    files: list[FileChange], kind: FaultKind | None, sentence: str
) -> None:
    with pytest.raises(NothingToPlant, match=sentence):
        plant(files, 1, kind)


@pytest.mark.parametrize(
    "path",
    ["tests/shop.py", "shop/test_pages.py", "conftest.py", "pages_test.go", "pages.test.ts", "src/PagesTest.java"],
)
def test_no_fault_is_planted_in_a_test(path: str) -> None:
    with pytest.raises(NothingToPlant, match="outside of tests"):
        plant([changed(OLD, NEW, path)], 1)


@pytest.mark.parametrize("path", ["contest.py", "src/latest.py", "testing.py", "attests/shop.py"])
def test_a_name_that_only_looks_like_a_test_is_none(path: str) -> None:
    assert plant([changed(OLD, NEW, path)], 1)[1].file == path


def test_windows_line_ends_stay() -> None:
    text = (PROJECTS / "store.py").read_text().replace("\n", "\r\n")
    file = changed("", text, "store.py")

    for seed in range(6):
        [planted], _ = plant([file], seed)
        assert (planted.new_text or "").count("\n") == (planted.new_text or "").count("\r\n")
        assert apply_hunks("", planted.hunks) == planted.new_text


@pytest.mark.parametrize(
    "source",
    [
        "def larger(a, b):\n    if a < b:\n        return b\n    return a\n",
        "def clamp(x):\n    return 0 if x < 0 else x\n",
    ],
)
def test_a_bound_that_chooses_the_larger_of_two_is_left_alone(source: str) -> None:
    """With `<=` in the place of `<` nothing would change."""
    found = {candidate.fault.after for candidate in candidates([changed("", source, "m.py")], 0, "off_by_one")}

    assert not any("<=" in after for after in found)


def test_the_fixtures_are_no_tests_of_ours() -> None:
    assert not [*Path(PROJECTS).glob("test_*")]
