"""Every badge of the fixed list: one run that must have it, and one so close to it that it must not."""

import random

import pytest

from potato.runs.changes.derive import derive
from potato.runs.changes.model import BadgeCode, FileChange
from potato.runs.model import AgentRun, FileEdit, FileEvent, FileOutcome, FilePatch, FileRead, FileTouched, FileWrite

TEXT = "one\ntwo\nthree\n"
HUNK = b"@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n"
PATCH = b"--- a/x\n+++ b/x\n" + HUNK

Run = tuple[bytes | None, tuple[FileEvent, ...]]


def patched(patch: bytes, *events: FileEvent) -> Run:
    return patch, events


def played(*events: FileEvent) -> Run:
    return None, events


def noise(seed: int, count: int) -> str:
    return "".join(random.Random(seed).choices(["a\n", "b\n"], k=count))  # noqa: S311  (texts, not secrets)


def two_edits(second_original: str | None) -> Run:
    return played(
        FileEdit("x", "two", "2", original=TEXT),
        FileEdit("x", "three", "3", original=second_original),
    )


CASES: dict[BadgeCode, list[tuple[Run, Run]]] = {
    BadgeCode.CORRUPT_PATCH: [
        (patched(PATCH.replace(b"-1,3", b"-1,2")), patched(PATCH)),
        (patched(PATCH + b"+four\n"), patched(PATCH + b"\n")),
    ],
    BadgeCode.NOT_UTF8: [
        (patched(PATCH.replace(b"+2", b"+\xe9")), patched(PATCH.replace(b"+2", b"+\xc3\xa9"))),
        (patched(PATCH.replace(b"/x", b"/x\xe9")), patched(PATCH.replace(b"/x", b"/x\xc3\xa9"))),
    ],
    BadgeCode.CHANGED_IN_PARTS: [
        (patched(PATCH + PATCH), patched(PATCH + PATCH.replace(b"/x", b"/y"))),
    ],
    BadgeCode.NOT_IN_PATCH: [
        (
            patched(PATCH, FileEdit("y", "two", "2", original=TEXT)),
            patched(PATCH, FileEdit("x", "two", "2", original=TEXT), FileRead("y", TEXT)),
        ),
    ],
    BadgeCode.EDIT_NOT_FOUND: [
        (
            played(FileEdit("x", "four", "4", original=TEXT)),
            played(FileEdit("x", "three", "3", original=TEXT)),
        ),
        (
            played(FileRead("x", TEXT), FileEdit("x", "", "4", line=4)),
            played(FileRead("x", TEXT), FileEdit("x", "", "4", line=3)),
        ),
        (
            played(FileRead("x", TEXT), FilePatch("x", ((("two", "four"), ("2",)),))),
            played(FileRead("x", TEXT), FilePatch("x", ((("two", "three"), ("2",)),))),
        ),
        (
            played(FileEdit("x", "", "whole", original=TEXT)),
            played(FileEdit("x", "", "whole", original="")),
        ),
    ],
    BadgeCode.EDIT_AMBIGUOUS: [
        (
            played(FileEdit("x", "e", "E", original=TEXT)),
            played(FileEdit("x", "e", "E", replace_all=True, original=TEXT)),
        ),
        (
            played(FileRead("x", TEXT + TEXT), FilePatch("x", ((("two",), ("2",)),))),
            played(FileRead("x", TEXT + "twofold\n"), FilePatch("x", ((("two",), ("2",)),))),
        ),
    ],
    BadgeCode.LINE_ENDS_ADAPTED: [
        (
            played(FileEdit("x", "two\n", "2\n", original=TEXT.replace("\n", "\r\n"))),
            played(FileEdit("x", "two\r\n", "2\r\n", original=TEXT.replace("\n", "\r\n"))),
        ),
    ],
    BadgeCode.CHANGED_BETWEEN: [
        (two_edits("one\n2\nthree\nfour\n"), two_edits("one\n2\nthree\n")),
        (two_edits(TEXT), two_edits(None)),
        (
            played(FileEdit("x", "two", "2", original=TEXT), FileRead("x", "formatted\n")),
            played(FileEdit("x", "two", "2", original=TEXT), FileRead("x", "one\r\n2\r\nthree")),
        ),
        (
            played(FileWrite("x", "a\n", created=True), FileWrite("x", "b\n", original="c\n")),
            played(FileRead("x", "c\n"), FileWrite("x", "b\n", original="d\n")),
        ),
    ],
    BadgeCode.CHANGE_NOT_RECORDED: [
        (
            played(FileEdit("x", "two", "2", original=TEXT), FileTouched("x", "The command `make format`")),
            played(
                FileEdit("x", "two", "2", original=TEXT),
                FileTouched("x", "The command `make format`"),
                FileRead("x", "one\n2\nthree\n"),
            ),
        ),
        (
            played(FileTouched("x", "The command `sed -i`", is_certain=True)),
            played(
                FileEdit("x", "two", "2", original=TEXT),
                FileTouched("x", "The command `make format`"),
                FileEdit("x", "three", "3", original="one\n2\nthree\n"),
            ),
        ),
        (
            played(FileRead("x", TEXT), FileTouched("x", "The command `sed -i x`")),
            played(FileTouched("x", "The command `make`"), FileWrite("x", "a\n", created=True)),
        ),
    ],
    BadgeCode.BASE_UNKNOWN: [
        (played(FileWrite("x", "a\n")), played(FileWrite("x", "a\n", created=True))),
        (played(FileWrite("x", "a\n", created=False)), played(FileRead("x", "b\n"), FileWrite("x", "a\n"))),
        (played(FileEdit("x", "two", "2")), played(FileEdit("x", "two", "2", original=TEXT))),
        (
            played(FilePatch("x", ((("two",), ("2",)),))),
            played(FileRead("x", TEXT), FilePatch("x", ((("two",), ("2",)),))),
        ),
        (
            played(FilePatch("x", (), operation="deleted")),
            played(FileRead("x", TEXT), FilePatch("x", (), operation="deleted")),
        ),
        (
            played(FileOutcome("x", "modified", new_text="a\n")),
            played(FileOutcome("x", "modified", old_text="b\n", new_text="a\n")),
        ),
        (played(FileOutcome("x", "modified", old_text="b\n")), played(FileOutcome("x", "renamed", old_path="y"))),
    ],
    BadgeCode.COARSE_DIFFERENCE: [
        (
            played(FileWrite("x", noise(1, 9000), original=noise(2, 9000))),
            played(FileWrite("x", noise(1, 900), original=noise(2, 900))),
        ),
    ],
}
PAIRS = [(code, number) for code, pairs in CASES.items() for number in range(len(pairs))]


def badged(run: Run) -> tuple[set[str], tuple[FileChange, ...]]:
    patch, events = run
    steps = tuple(range(len(events)))
    files = derive(AgentRun("1", "Task", events=events, event_steps=steps, patch=patch, folder="/f")).files
    return {badge.code for file in files for badge in file.badges}, files


def test_no_badge_is_without_its_two_runs() -> None:
    assert set(CASES) == set(BadgeCode)


@pytest.mark.parametrize(("code", "number"), PAIRS)
def test_the_badge_is_given_alone_and_says_what_happened(code: BadgeCode, number: int) -> None:
    found, files = badged(CASES[code][number][0])
    assert found == {code}
    sentences = [badge.sentence for file in files for badge in file.badges]
    assert all(sentence.endswith(".") and len(sentence) > 40 for sentence in sentences)


@pytest.mark.parametrize(("code", "number"), PAIRS)
def test_its_neighbour_has_no_badge_at_all(code: BadgeCode, number: int) -> None:
    found, files = badged(CASES[code][number][1])
    assert files
    assert found == set()


def test_the_best_that_can_be_shown_is_kept() -> None:
    def new_text(*events: FileEvent) -> str | None:
        return badged(played(*events))[1][0].new_text

    first, second = FileEdit("x", "two", "2", original=TEXT), FileEdit("x", "three", "3", original="one\n2\nthree\n!\n")
    assert new_text(first, second) == "one\n2\n3\n!\n"
    assert new_text(first, FileEdit("x", "nowhere", "x")) == "one\n2\nthree\n"
    assert new_text(FileEdit("x", "e", "E", original=TEXT)) == "onE\ntwo\nthree\n"
    assert new_text(FileEdit("x", "two\n", "2\n", original="one\r\ntwo\r\n")) == "one\r\n2\r\n"


def test_an_edit_that_is_all_there_is_and_is_not_found_is_shown_without_numbers() -> None:
    _, (file,) = badged(played(FileEdit("x", "four", "4", original=TEXT)))
    assert (file.operation, file.source, file.has_line_numbers) == ("modified", "blocks", False)
    assert [(line.kind, line.text) for hunk in file.hunks for line in hunk.lines] == [("del", "four"), ("add", "4")]


def test_a_badge_names_the_step_where_the_trace_and_the_replay_part() -> None:
    _, (file,) = badged(played(FileRead("x", TEXT), FileEdit("x", "four", "4")))
    assert file.badges[0].sentence.startswith("Step 1: ")


def test_a_file_that_changed_in_a_way_that_nobody_recorded_is_a_modified_one_without_lines() -> None:
    _, (file,) = badged(played(FileRead("x", TEXT), FileTouched("x", "The command `sed -i x`", is_certain=True)))
    assert (file.operation, file.hunks, file.steps) == ("modified", (), (0, 1))
    assert file.badges[0].sentence == (
        "Step 1: The command `sed -i x` changed this file, and the trace does not record how. "
        "What it did is not in the lines shown."
    )


def test_a_blocks_own_line_number_tells_which_of_several_places_it_changed() -> None:
    text = TEXT + TEXT
    patch = FilePatch("x", ((("two",), ("2",)), (("three",), ("3", "4"))), starts=(2, 6))
    _, (file,) = badged(played(FileRead("x", text), patch))
    assert (file.new_text, file.badges) == ("one\n2\nthree\none\ntwo\n3\n4\n", ())
