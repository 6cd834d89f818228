"""Two whole texts compared: hunks at any context, exact to the byte, in bounded time."""

import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from potato.runs.changes.differences import _Search, same_lines
from potato.runs.changes.model import FileChange, counts, split_line_end, to_bytes
from potato.runs.changes.patch import read_patch
from potato.runs.changes.texts import apply_hunks, compare, diff_texts, split_lines
from potato.runs.changes.writing import unified_patch
from tests.potato.runs.changes.git_truth import counted, git, numstat

ENDS = st.sampled_from(["\n", "\r\n", "\n", "\r"])
CONTENT = st.sampled_from(
    ["", "a", "b", "c", "}", "  x", "\x0c", "\u2028", "\x00", "\udce9", "é", "-- ", "++ b", "\\ No"]
)
TEXTS = st.lists(st.tuples(CONTENT, ENDS).map("".join), max_size=25).map("".join)
TEXT_PAIRS = st.tuples(TEXTS, TEXTS) | st.tuples(TEXTS, TEXTS, TEXTS, TEXTS).map(
    lambda parts: (parts[0] + parts[1] + parts[2], parts[0] + parts[3] + parts[2])
)


def changed(old: str, new: str, context: int = 3) -> FileChange:
    hunks = diff_texts(old, new, context)
    added, removed = counts(hunks)
    return FileChange("x", "x", "modified", "content", hunks=hunks, added=added, removed=removed)


@settings(deadline=None)
@given(TEXT_PAIRS | st.tuples(st.text(alphabet="ab\n\r", max_size=60), st.text(alphabet="ab\n\r", max_size=60)))
def test_the_hunks_applied_to_the_old_text_give_the_new_one_at_any_context(texts: tuple[str, str]) -> None:
    old, new = texts
    for context in (0, 1, 3, 1000):
        hunks = diff_texts(old, new, context)
        assert apply_hunks(old, hunks) == new
        assert (hunks == ()) == (old == new)
        for hunk in hunks:
            assert any(line.kind != "context" for line in hunk.lines)


@settings(deadline=None)
@given(TEXT_PAIRS)
def test_a_written_difference_is_read_back_line_for_line(texts: tuple[str, str]) -> None:
    file = changed(*texts)
    if not file.hunks:
        return
    (again,) = read_patch(unified_patch([file])).files
    assert [hunk.lines for hunk in again.hunks] == [hunk.lines for hunk in file.hunks]
    assert [(hunk.old_start, hunk.new_start) for hunk in again.hunks] == [
        (hunk.old_start, hunk.new_start) for hunk in file.hunks
    ]


@settings(max_examples=60, deadline=None)
@given(TEXT_PAIRS)
def test_git_applies_a_written_difference_to_the_same_bytes(
    tmp_path_factory: pytest.TempPathFactory, texts: tuple[str, str]
) -> None:
    old, new = texts
    file = changed(old, new)
    if not file.hunks:
        return
    folder = tmp_path_factory.mktemp("apply")
    patch = unified_patch([file])
    assert numstat(patch, folder) == counted((file,))
    (folder / "x").write_bytes(to_bytes(old))
    git("apply", "--whitespace=nowarn", "-", folder=folder, stdin=patch)
    assert (folder / "x").read_bytes() == to_bytes(new)


def test_git_counts_added_deleted_renamed_and_unnumbered_files_as_we_do(tmp_path: Path) -> None:
    added = diff_texts("", "a\nb")
    deleted = diff_texts("a\nb\n", "")
    moved = diff_texts("a\nb\n", "a\nc\n")
    block = read_patch(b"--- a/x\n+++ b/x\n@@\n-a\n+b\n+c\n").files[0].hunks
    files = (
        FileChange("added ü", "", "added", "content", hunks=added, added=2),
        FileChange('del"eted', 'del"eted', "deleted", "content", hunks=deleted, removed=2),
        FileChange("to here", "from\there", "renamed", "content", hunks=moved, added=1, removed=1),
        FileChange("only\nmoved", "x", "renamed", "content"),
        FileChange("empty", "", "added", "content"),
        FileChange("mode", "mode", "modified", "patch", old_mode="100644", new_mode="100755"),
        FileChange("picture", "picture", "modified", "patch", is_binary=True),
        FileChange("block", "block", "modified", "blocks", hunks=block, added=2, removed=1, has_line_numbers=False),
        FileChange("/outside/the folder", "/outside/the folder", "modified", "edits", hunks=moved, added=1, removed=1),
        FileChange("read", "read", "unchanged", "read", old_text="x", new_text="x"),
    )
    assert numstat(unified_patch(files), tmp_path) == counted(files)


def test_only_a_line_feed_ends_a_line() -> None:
    assert split_lines("a\rb\x0cc\u2028d\r\n\ne") == ["a\rb\x0cc\u2028d\r\n", "\n", "e"]
    assert split_lines("") == []
    assert split_line_end("a\r\n") == ("a", "crlf")
    assert split_line_end("a\r") == ("a\r", "none")


def test_hunks_that_do_not_fit_are_not_applied() -> None:
    hunks = diff_texts("a\nb\nc\n", "a\nB\nc\n")
    assert apply_hunks("a\nb\nc\n", hunks) == "a\nB\nc\n"
    assert apply_hunks("a\nx\nc\n", hunks) is None
    assert apply_hunks("", hunks) is None
    assert apply_hunks("a\nb\nc", hunks) is None


def test_a_hunk_names_the_line_above_it_that_looks_like_its_function() -> None:
    old = "def first():\n" + "    pass\n" * 9 + "def second():\n" + "    pass\n" * 9
    new = old.replace("def second():\n" + "    pass\n" * 9, "def second():\n" + "    pass\n" * 8 + "    return 1\n")
    assert [hunk.section for hunk in diff_texts(old, new)] == ["def second():"]


def test_an_added_function_is_shown_as_a_whole_with_its_own_end() -> None:
    old = "f {\n  1\n}\n\nh {\n  3\n}\n"
    new = "f {\n  1\n}\n\ng {\n  2\n}\n\nh {\n  3\n}\n"
    added = [line.text for hunk in diff_texts(old, new) for line in hunk.lines if line.kind == "add"]
    assert added in (["g {", "  2", "}", ""], ["", "g {", "  2", "}"])


@settings(deadline=None)
@given(st.lists(st.sampled_from("abcd"), max_size=14), st.lists(st.sampled_from("abcd"), max_size=14))
def test_equal_runs_are_equal_in_order_and_apart(old: list[str], new: list[str]) -> None:
    found = same_lines(old, new)
    runs, cut = found.blocks, found.is_cut_short
    assert not cut
    old_at = new_at = 0
    for run in runs:
        assert run.length > 0
        assert run.old >= old_at
        assert run.new >= new_at
        assert old[run.old : run.old + run.length] == new[run.new : run.new + run.length]
        old_at, new_at = run.old + run.length, run.new + run.length


@settings(deadline=None)
@given(st.lists(st.sampled_from("ab"), max_size=10), st.lists(st.sampled_from("ab"), max_size=10))
def test_a_gap_is_filled_by_an_edit_as_short_as_the_table_of_all_edits_says(old: list[str], new: list[str]) -> None:
    table = [[0] * (len(new) + 1) for _ in range(len(old) + 1)]
    for i, left in enumerate(old):
        for j, right in enumerate(new):
            table[i + 1][j + 1] = table[i][j] + 1 if left == right else max(table[i][j + 1], table[i + 1][j])
    search = _Search([ord(one) for one in old], [ord(one) for one in new], 10_000)
    search._shortest(0, len(old), 0, len(new))
    assert sum(run.length for run in search.blocks) == table[-1][-1]


def large_texts() -> dict[str, tuple[str, str]]:
    chosen = random.Random(7)  # noqa: S311  (texts, not secrets)
    lines = [
        f"line {at} {chosen.random()}\n" if chosen.random() < 0.6 else chosen.choice(["\n", "}\n", "  return\n"])
        for at in range(50_000)
    ]
    edited = list(lines)
    for _ in range(3_000):
        place = chosen.randrange(len(edited))
        edited[place : place + chosen.randrange(4)] = [f"new {chosen.random()}\n"] * chosen.randrange(4)

    def two_kinds() -> str:
        return "".join(chosen.choices(["a\n", "b\n"], k=20_000))

    return {
        "3,000 edits": ("".join(lines), "".join(edited)),
        "nothing in common": ("".join(lines), "".join(f"other {at}\n" for at in range(50_000))),
        "all lines equal": ("\n" * 50_000, "\n" * 20_000 + "x\n" + "\n" * 20_000),
        "shuffled": ("".join(lines), "".join(chosen.sample(lines, len(lines)))),
        "two kinds of lines": (two_kinds(), two_kinds()),
    }


LARGE = large_texts()


@pytest.mark.parametrize("name", LARGE)
def test_fifty_thousand_lines_are_compared_exactly(name: str) -> None:
    old, new = LARGE[name]
    comparison = compare(old, new)
    assert apply_hunks(old, comparison.hunks) == new
    assert comparison.is_coarse == (name in ("shuffled", "two kinds of lines"))
