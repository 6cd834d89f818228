"""Patches as models, mails and enemies write them: nothing raises, nothing is lost without a word, work is bounded."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from potato.runs.changes.model import BadgeCode, FileChange
from potato.runs.changes.patch import MAX_FILES, MAX_HUNKS, MAX_LINES, MAX_PATCH_BYTES, read_patch
from potato.runs.changes.writing import hunk_bytes
from tests.function_calls import calls_of

HUNK = b"@@ -1,2 +1,2 @@\n a\n-b\n+c\n"
GOOD = b"diff --git a/good b/good\nindex 1..2 100644\n--- a/good\n+++ b/good\n" + HUNK


def plain(hunks: bytes) -> bytes:
    return b"--- a/x\n+++ b/x\n" + hunks


def only(patch: bytes) -> FileChange:
    """The one file of a patch of which nothing is refused."""
    changes = read_patch(patch)
    assert changes.problems == ()
    assert len(changes.files) == 1
    return changes.files[0]


def codes(patch: bytes) -> list[str]:
    return [problem.code for problem in read_patch(patch).problems]


def lines(file: FileChange) -> list[str]:
    marks = {"context": " ", "add": "+", "del": "-"}
    return [marks[line.kind] + line.text for hunk in file.hunks for line in hunk.lines]


@pytest.mark.parametrize(
    ("hunk", "expected"),
    [
        (b"@@ -1,1 +1,1 @@\n a\n-b\n+c\n", [" a", "-b", "+c"]),
        (b"@@ -1,9 +1,9 @@\n a\n-b\n+c\n", [" a", "-b", "+c"]),
        (b"@@ -1,9 +1,9 @@\n a\n-b\n+c\n\n\n", [" a", "-b", "+c"]),
        (b"@@ -1,2 +1,1 @@\n a\n-b\n+c\n", [" a", "-b", "+c"]),
        (b"@@ -0,0 +0,0 @@\n+c\n", ["+c"]),
        (HUNK + b"+zz\n junk\n", [" a", "-b", "+c", "+zz", " junk"]),
        (b"@@\n a\n-b\n+c\n", [" a", "-b", "+c"]),
        (b"@@ ... @@\n a\n-b\n+c\n", [" a", "-b", "+c"]),
        (b"@@ -1,3 +1,3 @@\n a\n...\n-b\n", [" a"]),
        (HUNK + b"\n-after a gap\n", [" a", "-b", "+c"]),
        (b"@@ -1,2 +1,2 @@\n", []),
        (b"@@ -99999999999999999999,2 +1,2 @@\n a\n-b\n+c\n", [" a", "-b", "+c"]),
        (b"@@ -2147483647,2 +1,2 @@\n a\n-b\n+c\n", [" a", "-b", "+c"]),
    ],
)
def test_a_hunk_that_is_not_as_its_header_says_is_shown_with_a_badge_and_the_next_file_is_whole(
    hunk: bytes, expected: list[str]
) -> None:
    changes = read_patch(plain(hunk) + GOOD)
    assert changes.problems == ()
    bad, good = changes.files
    assert [badge.code for badge in bad.badges] == [BadgeCode.CORRUPT_PATCH]
    assert "Line " in bad.badges[0].sentence
    assert lines(bad) == expected
    assert (good.path, good.badges, lines(good)) == ("good", (), [" a", "-b", "+c"])


def test_numbers_follow_the_lines_where_the_header_counts_wrongly() -> None:
    file = only(plain(b"@@ -7,1 +9,1 @@\n a\n-b\n+c\n"))
    assert [(line.old_no, line.new_no) for line in file.hunks[0].lines] == [(7, 9), (8, None), (None, 10)]
    assert (file.hunks[0].old_count, file.hunks[0].new_count) == (2, 2)


def test_a_file_without_readable_numbers_has_none_at_all() -> None:
    file = only(plain(HUNK + b"@@\n x\n-y\n"))
    assert not file.has_line_numbers
    assert {number for hunk in file.hunks for line in hunk.lines for number in (line.old_no, line.new_no)} == {None}


@pytest.mark.parametrize(
    "patch",
    [
        plain(HUNK),
        plain(HUNK)[:-1],
        plain(b"@@ -1,3 +1,3 @@\n a\n\n-b\n+c\n"),
        plain(HUNK + b"-- \n2.39.5\n\n"),
        plain(HUNK + b"\n"),
        plain(HUNK + b"@@ -9,1 +9,1 @@ def f():\n-b\n+c\n"),
        b"\xef\xbb\xbf" + plain(HUNK),
        b"```diff\n" + plain(HUNK) + b"```\n",
        b"Index: x\n=====\n" + plain(HUNK),
        plain(b"@@ -1,2 +1,2 @@\n a\n--- b\n+++ c\n"),
        plain(b"@@ -1,2 +0,0 @@\n--- sql\n-- \n"),
    ],
)
def test_a_hunk_as_its_header_says_has_no_badge(patch: bytes) -> None:
    file = only(patch)
    assert (file.path, file.badges) == ("x", ())


def test_deleted_lines_that_look_like_headers_are_lines_of_their_hunk() -> None:
    file = only(plain(b"@@ -1,2 +1,1 @@\n--- a/fake\n-- \n+++ b/fake\n@@ -9 +8 @@\n-x\n+y\n"))
    assert lines(file) == ["--- a/fake", "-- ", "+++ b/fake", "-x", "+y"]


@pytest.mark.parametrize(
    ("patch", "path", "old_path", "operation"),
    [
        (b"diff --git a/d b/c b/d b/c\nold mode 100644\nnew mode 100755\n", "d b/c", "d b/c", "modified"),
        (b"diff --git a/x b/d b/x\nrename from x\nrename to d b/x\n", "d b/x", "x", "renamed"),
        (b'diff --git a/x "b/\\303\\274"\nrename from x\nrename to "\\303\\274"\n', "ü", "x", "renamed"),
        (b"diff --git xx.txt yy.txt\nrename from xx.txt\nrename to yy.txt\n", "yy.txt", "xx.txt", "renamed"),
        (b"diff --git a/x b/y\ncopy from x\ncopy to y\n", "y", "x", "copied"),
        (b"diff --git c/m.c c/m.c\n--- c/m.c\n+++ c/m.c\n" + HUNK, "c/m.c", "c/m.c", "modified"),
        (b"diff --git b/m b/m\nnew file mode 100644\n--- /dev/null\n+++ b/m\n@@ -0,0 +1 @@\n+x\n", "b/m", "", "added"),
        (b"--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+x\n", "n", "", "added"),
        (b"--- a/n\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n", "n", "n", "deleted"),
        (b"--- x.py\t2024-01-01 00:00:00.0 +0000\n+++ x.py\t2024-01-02 00:00\n" + HUNK, "x.py", "x.py", "modified"),
        (b"--- x\t1970-01-01 00:00:00.0 +0000\n+++ x\t2024-01-02 00:00\n@@ -0,0 +1 @@\n+x\n", "x", "", "added"),
        (b"--- p-1.0/src/x.c\n+++ p-2.0/src/x.c\n" + HUNK, "src/x.c", "src/x.c", "modified"),
        (b"--- x.py.orig\n+++ x.py\n" + HUNK, "x.py", "x.py", "modified"),
        (b"--- a/one.py\n+++ b/two.py\n" + HUNK, "two.py", "one.py", "renamed"),
        (b"--- a/../../x\n+++ b/../../x\n" + HUNK, "../../x", "../../x", "modified"),
        (b"diff --git a/<b c> b/<b c>\nold mode 100644\nnew mode 100755\n", "<b c>", "<b c>", "modified"),
        (b"Binary files a/i.png and b/i.png differ\n", "i.png", "i.png", "modified"),
        (b"Binary files /dev/null and b/i and j.png differ\n", "i and j.png", "", "added"),
    ],
)  # fmt: skip
def test_names_come_from_the_lines_that_state_them(patch: bytes, path: str, old_path: str, operation: str) -> None:
    for written in (patch, patch.replace(b"\n", b"\r\n")):
        file = only(written)
        assert (file.path, file.old_path, file.operation) == (path, old_path, operation)


def test_a_patch_with_crlf_throughout_keeps_it_in_content_and_nowhere_else() -> None:
    file = only(
        (b"diff --git a/x b/x\nnew file mode 100755\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+x\n").replace(
            b"\n", b"\r\n"
        )
    )
    assert (file.path, file.new_mode, file.badges) == ("x", "100755", ())
    assert [(line.text, line.ends) for line in file.hunks[0].lines] == [("x", "crlf")]


def test_the_mark_of_a_missing_line_end_is_known_in_any_language() -> None:
    marks = (b"\\ No newline at end of file\n", b"\\ Kein Zeilenumbruch am Dateiende.\n", b"\\ No newline\r\n")
    for mark in marks:
        file = only(plain(b"@@ -1 +1 @@\n-x\n" + mark + b"+y\r\n" + mark))
        assert [(line.text, line.ends) for line in file.hunks[0].lines] == [("x", "none"), ("y\r", "none")]
        assert file.badges == ()


def test_only_bytes_that_are_not_utf8_give_a_badge_and_they_survive() -> None:
    bad = only(plain(b"@@ -1 +1 @@\n-caf\xe9\n+caf\xc3\xa9 \xed\xa0\x80\n"))
    assert [badge.code for badge in bad.badges] == [BadgeCode.NOT_UTF8]
    assert hunk_bytes(bad.hunks[0]) == b"-caf\xe9\n+caf\xc3\xa9 \xed\xa0\x80\n"
    assert only(plain("@@ -1 +1 @@\n-é\n+\U0001f600\u202e\x00\n".encode())).badges == ()


def test_characters_that_other_tools_take_for_line_ends_stay_in_their_line() -> None:
    text = "a\x0cb\x0bc\x1cd\x85e\u2028f\rg\x00h"
    file = only(plain(f"@@ -1 +1 @@\n-{text}\n+{text}.\n".encode()))
    assert lines(file) == ["-" + text, "+" + text + "."]


@pytest.mark.parametrize(
    ("patch", "code"),
    [
        (b"", "empty"),
        (b" \n\r\n", "empty"),
        (b"hello\nworld\n", "no_files"),
        (b"--- a/x\n+++ b/x\n", "no_files"),
        (b"\xff\xfe\x00garbage", "no_files"),
        (HUNK, "no_file_name"),
        (b"--- \n+++ \n" + HUNK, "no_file_name"),
        (b"diff --cc x\nindex 1,2..3\n--- a/x\n+++ b/x\n@@@ -1,1 -1,1 +1,1 @@@\n- a\n -b\n++c\n", "combined_diff"),
        (b"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@@ -1,1 -1,1 +1,1 @@@\n- a\n", "combined_diff"),
        (b"@@@ -1,1 -1,1 +1,1 @@@\n- a\n", "combined_diff"),
        (b"diff --git a/" + b"x" * 5000 + b" b/x\n", "header_too_long"),
        (b"--- a/x\n+++ b/" + b"x" * 5000 + b"\n" + HUNK, "header_too_long"),
        (b"diff --git a/x b/y\nrename from x\nrename to " + b"y" * 5000 + b"\n", "header_too_long"),
        (b"x" * (MAX_PATCH_BYTES + 1), "too_large"),
        (plain(b"@@ -0,0 +1,1 @@\n" + b"+\n" * (MAX_LINES + 1)), "too_many_lines"),
        (b"diff --git a/x b/x\n" * (MAX_FILES + 1), "too_many_files"),
        (plain(b"@@ -1 +1 @@\n+\n" * (MAX_HUNKS + 1)), "too_many_hunks"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)  # fmt: skip
def test_what_cannot_be_read_is_refused_with_a_code_and_a_sentence(patch: bytes, code: str) -> None:
    changes = read_patch(patch)
    assert changes.files == ()
    assert [problem.code for problem in changes.problems] == [code]
    assert changes.problems[0].sentence.endswith(".")


@pytest.mark.parametrize(
    "bad",
    [
        b"diff --cc x\n--- a/x\n+++ b/x\n@@@ -1,1 -1,1 +1,1 @@@\n- a\n -b\n++c\n",
        b"diff --git a/" + b"x" * 5000 + b" b/x\n" + HUNK,
        b"--- \n+++ \n" + HUNK,
    ],
)
def test_a_file_that_is_refused_does_not_take_its_neighbours_along(bad: bytes) -> None:
    changes = read_patch(GOOD + bad + GOOD.replace(b"good", b"also"))
    assert [file.path for file in changes.files] == ["good", "also"]
    assert [file.badges for file in changes.files] == [(), ()]
    assert len(changes.problems) == 1
    assert changes.problems[0].line == GOOD.count(b"\n") + 1


def test_the_limits_themselves_are_allowed() -> None:
    many = b"".join(b"diff --git a/f%d b/f%d\nold mode 100644\nnew mode 100755\n" % (at, at) for at in range(MAX_FILES))
    assert len(read_patch(many).files) == MAX_FILES
    name = b"x" * (4096 - len("--- a/"))
    assert only(b"--- a/" + name + b"\n+++ b/" + name + b"\n" + HUNK).path == name.decode()


@pytest.mark.parametrize(
    "patch",
    [
        b"diff --git " + b"x://" * 1000 + b"\n",
        b"diff --git " + b"://a " * 800 + b"\t\n",
        (b"diff --git a/" + b" b/" * 1300 + b"\t\n") * 100,
        b"Binary files " + b" and a" * 650 + b"\n",
        b"Binary files " + b" and a" * 650 + b" differ\n",
        b'diff --git "' + b'\\"' * 2000 + b"\n",
        plain(b"@@ -" + b"1" * 4000 + b" +1 @@\n+a\n"),
        plain(b"@@ -1 +1 @@\n-a\n+b\n" + b"\n" * 50) * 2000,
        plain(b"@@ -1,9 +1,9 @@\n-a\n" + b"\n" * 50) * 2000,
        plain(b"") + b"--- a\n+++ b\n" * 100_000,
        (b"diff --git a/x b/x\n" + plain(b"@@ -1 +1 @@\n" + b"-a\n+b\n" * 30)) * 2500,
    ],
    ids=range(11),
)
def test_hostile_lines_are_read_with_bounded_work(patch: bytes) -> None:
    assert calls_of(lambda: read_patch(patch)) < 20 * len(patch) + 1_000


def test_a_file_that_stands_twice_is_one_file() -> None:
    file = only(GOOD + GOOD)
    assert (file.added, file.removed, len(file.hunks)) == (2, 2, 2)
    assert [badge.code for badge in file.badges] == [BadgeCode.CHANGED_IN_PARTS]
    assert "numbers repeat" in file.badges[0].sentence
    # Each line has one number, and each number one line.
    assert file.numbering == "excerpt"
    assert file.lines("new") == {1: "a", 2: "c", 4: "a", 5: "c"}
    assert file.lines("old") == {1: "a", 2: "b", 4: "a", 5: "b"}
    assert [hunk.new_start for hunk in file.hunks] == [1, 1]


def test_parts_in_different_places_keep_the_numbers_of_the_patch() -> None:
    file = only(GOOD + GOOD.replace(b"@@ -1,2 +1,2 @@", b"@@ -11,2 +11,2 @@"))
    assert file.numbering == "file"
    assert file.lines("new") == {1: "a", 2: "c", 11: "a", 12: "c"}
    assert "each with its own line numbers" in file.badges[0].sentence


def test_parts_of_a_file_that_the_patch_itself_adds_become_one_difference() -> None:
    added = b"--- /dev/null\n+++ b/good\n@@ -0,0 +1,2 @@\n+a\n+b\n"
    file = only(added + GOOD)
    assert (file.operation, file.old_text, file.new_text, file.badges) == ("added", "", "a\nc\n", ())
    assert lines(file) == ["+a", "+c"]


def test_a_second_part_that_does_not_fit_the_first_keeps_both() -> None:
    added = b"--- /dev/null\n+++ b/good\n@@ -0,0 +1 @@\n+other\n"
    file = only(added + GOOD)
    assert (file.operation, file.new_text) == ("added", None)
    assert [badge.code for badge in file.badges] == [BadgeCode.CHANGED_IN_PARTS]
    assert lines(file) == ["+other", " a", "-b", "+c"]


def test_a_header_without_a_change_has_a_badge() -> None:
    file = only(b"diff --git a/x b/x\nindex 1..2 100644\n")
    assert [badge.code for badge in file.badges] == [BadgeCode.CORRUPT_PATCH]


FRAGMENTS = [
    b"diff --git a/x b/x\n", b'diff --git "a/x b/y\n', b"diff --cc x\n", b"--- a/x\n", b"+++ b/x\n", b"--- /dev/null\n",
    b"+++ /dev/null\n", b"@@ -1,2 +1,2 @@\n", b"@@ -1 +1 @@ f\n", b"@@ -0,0 +1 @@\n", b"@@\n", b"@@@ -1 -1 +1 @@@\n",
    b" a\n", b"-b\n", b"+c\n", b"\n", b"\r\n", b"\\ No newline at end of file\n", b"-- \n", b"2.39.5\n", b"+\xff\n",
    b"rename from x\n", b"rename to y\n", b"copy from x\n", b"new file mode 100644\n", b"deleted file mode 100644\n",
    b"GIT binary patch\n", b"literal 3\n",
    b"Binary files a/x and b/x differ\n", b"From abcdef1234 Mon\n", b"+", b"x", b"\x00",
]  # fmt: skip


@settings(deadline=None)
@given(st.binary(max_size=300) | st.lists(st.sampled_from(FRAGMENTS), max_size=25).map(b"".join))
def test_no_bytes_raise_and_every_answer_is_whole(data: bytes) -> None:
    changes = read_patch(data)
    assert changes.files or changes.problems
    assert len({file.path for file in changes.files}) == len(changes.files)
    for file in changes.files:
        assert file.path
        every = [line for hunk in file.hunks for line in hunk.lines]
        assert file.added == sum(line.kind == "add" for line in every)
        assert file.removed == sum(line.kind == "del" for line in every)
        for hunk in file.hunks:
            assert hunk.old_count == sum(line.kind != "add" for line in hunk.lines)
            assert hunk.new_count == sum(line.kind != "del" for line in hunk.lines)
            for line in hunk.lines:
                numbered = file.has_line_numbers
                assert (line.old_no is not None) == (numbered and line.kind != "add")
                assert (line.new_no is not None) == (numbered and line.kind != "del")


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from([b" ", b"+", b"-"]), st.binary(max_size=12)), min_size=1, max_size=30))
def test_rows_read_back_are_the_bytes_of_the_hunk_whatever_they_are(rows: list[tuple[bytes, bytes]]) -> None:
    rows = [(mark, content.replace(b"\n", b"")) for mark, content in rows]
    old, new = (sum(mark != other for mark, _ in rows) for other in (b"+", b"-"))
    body = b"".join(mark + content + b"\n" for mark, content in rows)
    file = only(plain(b"@@ -1,%d +1,%d @@\n" % (old, new) + body))
    assert b"".join(hunk_bytes(hunk) for hunk in file.hunks) == body
    assert BadgeCode.CORRUPT_PATCH not in {badge.code for badge in file.badges}
