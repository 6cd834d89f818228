"""The files of a run: which source is believed, what edits come to when replayed, and which file a path means."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from potato.runs.changes.derive import derive
from potato.runs.changes.model import FileChange
from potato.runs.changes.paths import identity
from potato.runs.changes.texts import apply_hunks
from potato.runs.changes.writing import unified_patch
from potato.runs.model import AgentRun, FileEdit, FileEvent, FileOutcome, FilePatch, FileRead, FileWrite

FOLDER = "/home/alice/shop"
TEXT = "one\ntwo\nthree\n"
PATCH = b"diff --git a/x.py b/x.py\n--- a/x.py\n+++ b/x.py\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n"


def run(*events: FileEvent, patch: bytes | None = None, folder: str = FOLDER) -> AgentRun:
    """A run in which each event is a step of its own."""
    return AgentRun("1", "Task", events=events, event_steps=tuple(range(len(events))), patch=patch, folder=folder)


def files(*events: FileEvent, patch: bytes | None = None, folder: str = FOLDER) -> dict[str, FileChange]:
    return {file.path: file for file in derive(run(*events, patch=patch, folder=folder)).files}


def only(*events: FileEvent, patch: bytes | None = None) -> FileChange:
    """The one file of a run, of which there are no doubts."""
    (file,) = files(*events, patch=patch).values()
    assert file.badges == ()
    if file.old_text is not None and file.new_text is not None:
        assert apply_hunks(file.old_text, file.hunks) == file.new_text
    return file


@pytest.mark.parametrize(
    "appended",
    [
        FilePatch("x.py", (((), ("last",)),)),
        FilePatch("x.py", ((("end",), ("end", "last")),)),
        FileEdit("x.py", "", "last\n", line=2),
        FileEdit("x.py", "end", "end\nlast\n"),
    ],
)
def test_what_is_appended_to_a_file_without_a_last_line_end_stands_on_a_line_of_its_own(appended: FileEvent) -> None:
    file = only(FileRead("x.py", "one\nend"), appended)
    assert file.new_text in ("one\nend\nlast\n", "one\nend\nlast")
    assert (file.old_text, file.added, file.removed) == ("one\nend", 2, 1)


def test_blocks_that_are_appended_one_after_another_keep_their_lines() -> None:
    events = (FilePatch("x.py", (((), ("two", "three")), ((), ("four",)))), FileEdit("x.py", "", "five", line=4))
    assert only(FileRead("x.py", "one"), *events).new_text == "one\ntwo\nthree\nfour\nfive"


@pytest.mark.parametrize("event", [FilePatch("x.py", (((), ("last",)),)), FileEdit("x.py", "", "last\r\n", line=2)])
def test_what_is_appended_ends_the_last_line_as_the_others_end(event: FileEvent) -> None:
    assert only(FileRead("x.py", "one\r\nend"), event).new_text == "one\r\nend\r\nlast\r\n"


def test_edits_are_replayed_in_their_order_on_the_recorded_original() -> None:
    file = only(
        FileEdit("x.py", "two", "2", original=TEXT),
        FileEdit("x.py", "2\n", "2\n2.5\n"),
        FileEdit("x.py", "e", "E", replace_all=True),
        FileEdit("x.py", "", "zero", line=0),
        FileEdit("x.py", "", "half\n", line=1),
        FileEdit("x.py", "", "last", line=6),
    )
    assert (file.operation, file.source, file.old_path) == ("modified", "edits", "x.py")
    assert file.new_text == "zero\nhalf\nonE\n2\n2.5\nthrEE\nlast"
    assert (file.old_text, file.added, file.removed) == (TEXT, 7, 3)
    assert file.steps == (0, 1, 2, 3, 4, 5)


def test_an_edit_stands_on_what_was_read_or_written_before() -> None:
    read = only(FileRead("x.py", TEXT), FileEdit("x.py", "two", "2"))
    assert (read.operation, read.old_text, read.new_text) == ("modified", TEXT, "one\n2\nthree\n")
    written = only(FileWrite("x.py", TEXT, created=True), FileEdit("x.py", "two", "2"))
    assert (written.operation, written.old_text, written.new_text) == ("added", "", "one\n2\nthree\n")


def test_whole_texts_before_and_after_are_content() -> None:
    file = only(FileWrite("x.py", TEXT, original="one\n"), FileWrite("x.py", "1\n", original=TEXT))
    assert (file.source, file.old_text, file.new_text) == ("content", "one\n", "1\n")
    assert only(FileWrite("new.py", "a", created=True)).operation == "added"


def test_a_stated_outcome_is_believed_before_edits() -> None:
    found = files(
        FileEdit("x.py", "two", "2", original=TEXT),
        FileEdit("y.py", "two", "2", original=TEXT),
        FileOutcome("x.py", "modified", old_text=TEXT, new_text="one\nTWO\nthree\n"),
        FileOutcome("new.py", "renamed", old_path="old.py", old_text=TEXT, new_text=TEXT),
        FileOutcome("added.py", "added", new_text="a\n"),
        FileOutcome("gone.py", "deleted", old_text="a\n"),
    )
    assert (found["x.py"].source, found["x.py"].new_text, found["x.py"].steps) == (
        "content",
        "one\nTWO\nthree\n",
        (0, 2),
    )
    assert found["y.py"].new_text == "one\n2\nthree\n"
    assert (found["new.py"].operation, found["new.py"].old_path, found["new.py"].hunks) == ("renamed", "old.py", ())
    assert (found["added.py"].operation, found["added.py"].added, found["added.py"].old_text) == ("added", 1, "")
    assert (found["gone.py"].operation, found["gone.py"].removed, found["gone.py"].new_text) == ("deleted", 1, "")
    assert [file.badges for file in found.values()] == [()] * 5


def test_the_patch_of_a_run_is_believed_before_everything_else() -> None:
    found = files(
        FileRead("read.py", "r\n"),
        FileEdit("x.py", "one", "1", original=TEXT),
        FileOutcome("x.py", "modified", old_text="other\n", new_text="another\n"),
        patch=PATCH,
    )
    assert (found["x.py"].source, found["x.py"].added, found["x.py"].removed) == ("patch", 1, 1)
    assert found["x.py"].steps == (1, 2)
    assert (found["read.py"].operation, found["read.py"].source, found["read.py"].new_text) == (
        "unchanged",
        "read",
        "r\n",
    )


def test_a_recorded_original_that_the_patch_fits_gives_both_whole_texts() -> None:
    file = only(FileEdit("x.py", "two", "something else", original=TEXT), patch=PATCH)
    assert (file.old_text, file.new_text) == (TEXT, "one\n2\nthree\n")
    other = only(FileRead("x.py", "not that\n"), patch=PATCH)
    assert (other.old_text, other.new_text) == (None, None)


def test_a_patch_without_a_file_leaves_the_word_to_the_events_and_says_so() -> None:
    for patch, code in ((b"", "empty"), (b"garbage", "no_files")):
        changes = derive(run(FileEdit("x.py", "two", "2", original=TEXT), patch=patch))
        assert [(file.path, file.source) for file in changes.files] == [("x.py", "edits")]
        assert [problem.code for problem in changes.problems] == [code]


def test_a_path_is_the_same_file_however_it_is_written() -> None:
    found = files(
        FileEdit(f"{FOLDER}/a/x.py", "two", "2", original=TEXT),
        FileEdit("a/../a/./x.py", "2", "3"),
        FileEdit("./a/x.py", "3", "4"),
        FileRead("/etc/hosts"),
        FileRead("../other/y.py"),
        FileRead(f"{FOLDER}2/z.py"),
    )
    assert set(found) == {"a/x.py", "/etc/hosts", "/home/alice/other/y.py", "/home/alice/shop2/z.py"}
    assert found["a/x.py"].new_text == "one\n4\nthree\n"


@pytest.mark.parametrize(
    ("path", "folder", "expected"),
    [
        ("x", "", "x"),
        ("../x", "", "../x"),
        ("/a/../b", "", "/b"),
        ("//b", "", "/b"),
        ("x", "/", "x"),
        ("/x", "/", "x"),
        ("C:\\shop\\a\\x.py", "C:\\shop", "a/x.py"),
        ("a/x.py", "C:\\shop\\", "a/x.py"),
        ("D:\\x.py", "C:\\shop", "D:/x.py"),
        ("a\\b", "/f", "a\\b"),
        ("\x00\ud800", "/f", "\x00\ud800"),
    ],
)
def test_paths_are_relative_to_the_folder_where_they_can_be(path: str, folder: str, expected: str) -> None:
    assert identity(path, folder) == expected


def test_without_a_folder_an_absolute_path_finds_the_one_name_of_the_patch_that_it_ends_with() -> None:
    event = FileEdit("/testbed/x.py", "two", "2", original=TEXT)
    assert files(event, patch=PATCH, folder="")["x.py"].steps == (0,)
    assert set(files(event, patch=PATCH, folder="/work")) == {"x.py", "/testbed/x.py"}


def test_files_that_were_only_read_are_unchanged_with_their_text_where_it_is_known() -> None:
    found = files(FileRead("whole.py", TEXT), FileRead("part.py"), FileRead("whole.py"))
    assert {(file.path, file.operation, file.source, file.new_text) for file in found.values()} == {
        ("whole.py", "unchanged", "read", TEXT),
        ("part.py", "unchanged", "read", None),
    }
    assert found["whole.py"].steps == (0, 2)


def test_a_file_that_was_created_and_deleted_again_is_not_listed() -> None:
    assert files(FileWrite("x.py", TEXT, created=True), FilePatch("x.py", (), operation="deleted")) == {}


def test_a_deleted_file_shows_what_is_known_of_it() -> None:
    file = only(FileRead("x.py", TEXT), FilePatch("x.py", (), operation="deleted"))
    assert (file.operation, file.old_text, file.new_text, file.removed) == ("deleted", TEXT, "", 3)


def test_edits_that_undo_each_other_leave_the_file_unchanged() -> None:
    file = only(FileEdit("x.py", "two", "2", original=TEXT), FileEdit("x.py", "2", "two"))
    assert (file.operation, file.source, file.hunks) == ("unchanged", "edits", ())


def test_blocks_are_put_where_their_lines_stand_and_move_files() -> None:
    file = only(
        FileRead("old.py", TEXT + "two"),
        FilePatch("old.py", ((("one",), ("1",)), (("three", "two"), ("3", "two!"))), moved_to="new.py"),
        FilePatch("new.py", ((("3",), ("3", "4")),)),
    )
    assert (file.path, file.old_path, file.operation) == ("new.py", "old.py", "renamed")
    assert file.new_text == "1\ntwo\n3\n4\ntwo!"


def test_a_file_that_is_moved_and_moved_back_keeps_its_name() -> None:
    moves = (FilePatch("a.py", (), moved_to="b.py"), FilePatch("b.py", (), moved_to="a.py"))
    file = only(FileRead("a.py", TEXT), *moves, FileEdit("a.py", "two", "2"))
    assert (file.path, file.old_path, file.operation) == ("a.py", "a.py", "modified")


def test_a_file_that_was_created_and_moved_is_added_at_its_last_place() -> None:
    file = only(FilePatch("a.py", (((), ("x",)),), operation="added"), FilePatch("a.py", (), moved_to="b.py"))
    assert (file.path, file.old_path, file.operation, file.new_text) == ("b.py", "", "added", "x\n")


def test_a_file_that_was_moved_and_deleted_is_gone_from_its_old_place() -> None:
    gone = (FileRead("a.py", TEXT), FilePatch("a.py", (), moved_to="b.py"), FilePatch("b.py", (), operation="deleted"))
    file = only(*gone)
    assert (file.path, file.operation, file.old_text) == ("a.py", "deleted", TEXT)
    again = FileWrite("a.py", "new\n", created=True)
    for events in ((*gone, again), (*gone[:2], again, gone[2])):
        file = only(*events)
        assert (file.path, file.operation, file.old_text, file.new_text) == ("a.py", "modified", TEXT, "new\n")


def test_blocks_without_a_text_are_shown_without_numbers() -> None:
    (file,) = files(
        FilePatch("x.py", ((("a", "b"), ("a", "c")), (("d",), ()))), FileEdit("x.py", "foo", "bar")
    ).values()
    assert (file.source, file.has_line_numbers, file.added, file.removed) == ("blocks", False, 2, 3)
    shown = [[(line.kind, line.text, line.old_no, line.new_no) for line in hunk.lines] for hunk in file.hunks]
    assert shown == [
        [("context", "a", None, None), ("del", "b", None, None), ("add", "c", None, None)],
        [("del", "d", None, None)],
        [("del", "foo", None, None), ("add", "bar", None, None)],
    ]


def test_files_stand_in_the_order_in_which_git_lists_them() -> None:
    names = ["b", "a/z", "a.py", "ä", "B", "a b", "\udce9"]
    found = files(*(FileWrite(name, "x", created=True) for name in names))
    assert list(found) == ["B", "a b", "a.py", "a/z", "b", "ä", "\udce9"]


def test_events_outside_every_step_count_for_no_step() -> None:
    events = (FileRead("x.py", TEXT), FileRead("y.py", TEXT))
    changes = derive(AgentRun("1", "", events=events, event_steps=(None, 3)))
    assert [(file.path, file.steps) for file in changes.files] == [("x.py", ()), ("y.py", (3,))]
    assert [file.steps for file in derive(AgentRun("1", "", events=events)).files] == [(), ()]


WILD = st.text(alphabet="ab\n\r\x00\ud800\udce9é ", max_size=12)
NAMES = st.sampled_from(["x", "y", "/f/x", "../x", "", "\x00", "a/../y"])
LINES = st.lists(WILD.map(lambda text: text.replace("\n", "")), max_size=3).map(tuple)
MAYBE = st.none() | WILD
EVENTS = st.one_of(
    st.builds(FileRead, NAMES, MAYBE),
    st.builds(FileEdit, NAMES, WILD, WILD, st.booleans(), MAYBE, st.none() | st.integers(-1, 4)),
    st.builds(FileWrite, NAMES, WILD, MAYBE, st.none() | st.booleans()),
    st.builds(
        FilePatch,
        NAMES,
        st.lists(st.tuples(LINES, LINES), max_size=2).map(tuple),
        st.sampled_from(["added", "modified", "deleted"]),
        st.sampled_from(["", "", "y", "z"]),
    ),
    st.builds(FileOutcome, NAMES, st.sampled_from(["added", "modified", "deleted", "renamed"]), NAMES, MAYBE, MAYBE),
)


@settings(deadline=None, max_examples=300)
@given(st.lists(EVENTS, max_size=8), st.none() | st.sampled_from([PATCH, b"", b"x"]), st.sampled_from(["", "/f"]))
def test_no_events_raise_and_known_texts_are_those_of_the_hunks(
    events: list[FileEvent], patch: bytes | None, folder: str
) -> None:
    changes = derive(run(*events, patch=patch, folder=folder))
    assert len({file.path for file in changes.files}) == len(changes.files)
    unified_patch(changes.files)
    for file in changes.files:
        assert len({badge.code for badge in file.badges}) == len(file.badges)
        if file.old_text is not None and file.new_text is not None and file.has_line_numbers:
            assert apply_hunks(file.old_text, file.hunks) == file.new_text
