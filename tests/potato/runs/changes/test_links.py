"""Each changed line of a run's final change names the steps that wrote it, as a list of lines kept by hand says."""

from collections import Counter
from dataclasses import dataclass, field
from itertools import count

from hypothesis import example, given, settings
from hypothesis import strategies as st

from potato.runs.changes.derive import derive
from potato.runs.changes.model import FileChange, Side
from potato.runs.changes.texts import diff_texts
from potato.runs.model import (
    AgentRun,
    Excerpt,
    FileEdit,
    FileEvent,
    FileOutcome,
    FilePatch,
    FileRead,
    FileTouched,
    FileWrite,
    Step,
)

BASE = "".join(f"line {number}\n" for number in range(1, 31))


def run(*acts: tuple[int | None, FileEvent], patch: bytes | None = None) -> AgentRun:
    steps = max((step for step, _ in acts if step is not None), default=0) + 1
    return AgentRun(
        "run",
        "task",
        steps=tuple(Step(message=str(index)) for index in range(steps)),
        events=tuple(event for _, event in acts),
        event_steps=tuple(step for step, _ in acts),
        patch=patch,
    )


def change(*acts: tuple[int | None, FileEvent], patch: bytes | None = None) -> FileChange:
    (file,) = derive(run(*acts, patch=patch)).files
    return file


def links(file: FileChange, side: Side) -> dict[int, tuple[int, ...]]:
    return {
        number: link.steps for link in file.links if link.side == side for number in range(link.first, link.last + 1)
    }


def texts(file: FileChange, side: Side) -> dict[str, tuple[int, ...]]:
    """The steps by the text of the lines."""
    lines = file.lines(side)
    return {lines[number]: steps for number, steps in links(file, side).items()}


def read(text: str = BASE) -> tuple[None, FileEvent]:
    return None, FileRead("a.py", text)


# --- The oracle: lines with their writers, changed one by one ---


@dataclass
class Oracle:
    """The file as a list of (text, steps that wrote it, number before the run)."""

    lines: list[tuple[str, tuple[int, ...], int]]
    removed: dict[int, int] = field(default_factory=dict)

    def replace(self, first: int, length: int, new: list[str], step: int) -> None:
        gone = self.lines[first : first + length]
        for _, _, number in gone:
            if number:
                self.removed[number] = step
        if len(gone) == len(new):
            earlier = [steps for _, steps, _ in gone]
        else:
            everybody = sorted({step for _, steps, _ in gone for step in steps}, reverse=True)
            earlier = [tuple(everybody)] * len(new)
        self.lines[first : first + length] = [
            (text, (step, *(other for other in before if other != step)), 0)
            for text, before in zip(new, earlier, strict=True)
        ]


@st.composite
def scripts(draw: st.DrawFn) -> tuple[AgentRun, Oracle]:
    """A file that is read and then changed by edits, insertions, patch blocks and whole writes; no text comes twice."""
    fresh = count(1_000)
    oracle = Oracle([(f"line {number}", (), number) for number in range(1, draw(st.integers(0, 25)) + 1)])
    acts: list[tuple[int | None, FileEvent]] = [read(_text(oracle))]
    for step in range(draw(st.integers(1, 12))):
        first = draw(st.integers(0, len(oracle.lines)))
        length = draw(st.integers(0, min(6, len(oracle.lines) - first)))
        new = [f"text {next(fresh)}" for _ in range(draw(st.integers(0, 5)))]
        if not length and not new:
            continue
        kind = draw(st.sampled_from(["edit", "edit", "edit", "insert", "block", "write"]))
        before = [text for text, _, _ in oracle.lines]
        # What is written again as it was is not written by the step: lines around that the edit repeats.
        above = draw(st.integers(0, min(2, first)))
        below = draw(st.integers(0, min(2, len(before) - first - length)))
        old_lines = before[first - above : first + length + below]
        new_lines = before[first - above : first] + new + before[first + length : first + length + below]
        if kind == "insert" and not length and new:
            acts.append((step, FileEdit("a.py", "", _joined(new), line=first)))
        elif kind == "block" and old_lines:
            acts.append((step, FilePatch("a.py", ((tuple(old_lines), tuple(new_lines)),))))
        elif kind == "write" or not old_lines:
            acts.append((step, FileWrite("a.py", _joined(before[:first] + new + before[first + length :]))))
        else:
            acts.append((step, FileEdit("a.py", _joined(old_lines), _joined(new_lines))))
        oracle.replace(first, length, new, step)
    return run(*acts), oracle


def _joined(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _text(oracle: Oracle) -> str:
    return _joined([text for text, _, _ in oracle.lines])


@given(scripts())
def test_random_edits_leave_the_writers_that_a_list_of_lines_has(script: tuple[AgentRun, Oracle]) -> None:
    acted, oracle = script
    (file,) = derive(acted).files
    assert (file.new_text or "") == _text(oracle)
    added = {line.new_no for hunk in file.hunks for line in hunk.lines if line.kind == "add"}
    gone = {line.old_no for hunk in file.hunks for line in hunk.lines if line.kind == "del"}
    expected = {number: steps for number, (_, steps, _) in enumerate(oracle.lines, 1) if number in added}
    assert links(file, "new") == expected
    assert links(file, "old") == {number: (step,) for number, step in oracle.removed.items() if number in gone}
    # Where no text comes twice, the final change has every line that a step wrote or removed.
    assert added == {number for number, (_, steps, _) in enumerate(oracle.lines, 1) if steps}
    assert gone == set(oracle.removed)


@given(st.integers(0, 4), st.integers(0, 4))
@example(0, 0)
def test_of_equal_lines_the_one_that_was_inserted_is_the_step_s(above: int, below: int) -> None:
    text = "same\n" * above + "other\n" + "same\n" * below
    file = change(read(text), (4, FileEdit("a.py", "", "same\n", line=above)))
    assert list(links(file, "new").values()) == [(4,)]
    gone = change(read(text + "same\nlast\n"), (7, FileEdit("a.py", "same\nlast\n", "last\n")))
    assert list(links(gone, "old").values()) == [(7,)]


_EQUAL = st.sampled_from(["a", "b", "}"])


@st.composite
def scripts_of_equal_lines(draw: st.DrawFn) -> tuple[AgentRun, Oracle]:
    """As scripts, of few texts that stand everywhere, each change at the line that the trace states."""
    count = draw(st.integers(1, 12))
    oracle = Oracle([(draw(_EQUAL), (), number) for number in range(1, count + 1)])
    acts: list[tuple[int | None, FileEvent]] = [read(_text(oracle))]
    for step in range(draw(st.integers(1, 6))):
        first = draw(st.integers(0, len(oracle.lines)))
        length = draw(st.integers(0, min(4, len(oracle.lines) - first)))
        new = draw(st.lists(_EQUAL, max_size=3))
        before = [text for text, _, _ in oracle.lines]
        # Of lines that the new ones repeat nobody can say which of them are the same.
        if set(new) & set(before[first : first + length]) or not (length or new) or len(before) + len(new) == length:
            continue
        acts.append(
            (step, FilePatch("a.py", ((tuple(before[first : first + length]), tuple(new)),), starts=(first + 1,)))
        )
        oracle.replace(first, length, new, step)
    return run(*acts), oracle


@settings(max_examples=300)
@given(scripts_of_equal_lines())
def test_no_step_has_more_of_equal_lines_than_it_wrote_or_removed(script: tuple[AgentRun, Oracle]) -> None:
    acted, oracle = script
    (file,) = derive(acted).files
    assert (file.new_text or "") == _text(oracle)
    new, old = file.lines("new"), file.lines("old")
    named = Counter((new[number], steps) for number, steps in links(file, "new").items())
    assert named <= Counter((text, steps) for text, steps, _ in oracle.lines if steps)
    gone = Counter((old[number], steps) for number, steps in links(file, "old").items())
    assert gone <= Counter((old.get(number), (step,)) for number, step in oracle.removed.items())


# --- Each way of changing a file ---


def test_a_line_names_who_wrote_it_last_and_who_wrote_it_before() -> None:
    file = change(
        read(),
        (2, FileEdit("a.py", "line 5\n", "first try\n")),
        (6, FileEdit("a.py", "first try\n", "second try\n")),
        (8, FileEdit("a.py", "line 9\nline 10\n", "joined\n")),
    )
    assert texts(file, "new") == {"second try": (6, 2), "joined": (8,)}
    assert texts(file, "old") == {"line 5": (2,), "line 9": (8,), "line 10": (8,)}
    (gone,) = file.overwritten
    assert (gone.step, gone.by, gone.lines) == (2, 6, 1)


def test_a_part_of_a_line_makes_the_line_the_step_s_and_no_other() -> None:
    file = change(read(), (3, FileEdit("a.py", "e 5\nlin", "e five\nlin")))
    assert texts(file, "new") == {"line five": (3,)}
    assert texts(file, "old") == {"line 5": (3,)}


def test_wherever_a_text_is_replaced_the_line_is_the_step_s() -> None:
    file = change(read(), (1, FileEdit("a.py", "line 1", "row 1", replace_all=True)))
    assert set(links(file, "new")) == {1, *range(10, 20)}
    many = "x x\n" * 1_200
    assert set(links(change(read(many), (1, FileEdit("a.py", "x", "y", replace_all=True))), "new")) == {
        *range(1, 1_201)
    }


def test_what_changed_between_the_acts_is_nobody_s() -> None:
    formatted = BASE.replace("line 5\n", "LINE 5\n").replace("line 7\n", "seven\n")
    file = change(
        read(),
        (1, FileEdit("a.py", "line 7\n", "seven\n")),
        (2, FileTouched("a.py", "The command `make format`", is_certain=True)),
        (3, FileEdit("a.py", "line 9\n", "nine\n", original=formatted)),
    )
    assert texts(file, "new") == {"seven": (1,), "nine": (3,)}
    assert texts(file, "old") == {"line 7": (1,), "line 9": (3,)}


def test_what_others_may_have_written_at_the_same_time_is_nobody_s() -> None:
    file = change(read(), (1, FileWrite("a.py", BASE.replace("line 5", "five"), is_shared=True)))
    assert file.added == 1
    assert not file.links


def test_a_new_file_and_a_removed_one() -> None:
    added = change((4, FileWrite("a.py", "one\ntwo\n", created=True)), (5, FileEdit("a.py", "two", "three")))
    assert texts(added, "new") == {"one": (4,), "three": (5, 4)}
    removed = change(read("one\ntwo\n"), (4, FilePatch("a.py", (), operation="deleted")))
    assert texts(removed, "old") == {"one": (4,), "two": (4,)}


def test_a_moved_file_keeps_who_wrote_its_lines() -> None:
    file = change(
        read(),
        (1, FileEdit("a.py", "line 5\n", "five\n")),
        (2, FilePatch("a.py", ((("line 7",), ("seven",)),), moved_to="b.py")),
    )
    assert file.path == "b.py"
    assert texts(file, "new") == {"five": (1,), "seven": (2,)}


def test_a_file_that_comes_to_the_place_of_another_one_is_that_one_changed() -> None:
    moved = (
        read(),
        (None, FileRead("b.py", "line 3\nbee\n")),
        (1, FileEdit("b.py", "bee\n", "bees\n")),
        (2, FilePatch("a.py", (), operation="deleted")),
        (3, FilePatch("b.py", (), moved_to="a.py")),
        (4, FileEdit("a.py", "bees\n", "bees\nwasp\n")),
    )
    came, gone = derive(run(*moved)).files
    assert (came.path, came.operation, came.old_text, came.new_text) == (
        "a.py",
        "modified",
        BASE,
        "line 3\nbees\nwasp\n",
    )
    assert texts(came, "new") == {"bees": (1,), "wasp": (4,)}
    assert set(texts(came, "old").values()) == {(2,)}
    assert came.steps == (1, 2, 3, 4)
    assert (gone.path, gone.operation, gone.old_text, gone.new_text) == ("b.py", "deleted", "line 3\nbee\n", "")
    assert texts(gone, "old") == {"line 3": (3,), "bee": (1,)}


def test_a_file_written_beside_another_one_and_moved_over_it_is_that_one_changed() -> None:
    file = change(
        read("one\ntwo\n"),
        (1, FileWrite("a.tmp", "one\n2\n", created=True)),
        (2, FilePatch("a.tmp", (), moved_to="a.py")),
    )
    assert (file.path, file.operation, file.new_text) == ("a.py", "modified", "one\n2\n")
    assert texts(file, "new") == {"2": (1,)}
    assert texts(file, "old") == {"two": (2,)}


def test_what_a_command_changed_before_the_first_edit_is_in_the_change_and_nobody_s() -> None:
    formatted = BASE.replace("line 5\n", "LINE 5\n")
    for seen in ((None, FileRead("a.py", formatted)), (3, FileEdit("a.py", "line 9\n", "nine\n", original=formatted))):
        file = change(read(), (2, FileTouched("a.py", "The command `make format`")), seen)
        assert file.old_text == BASE
        added = [line.text for hunk in file.hunks for line in hunk.lines if line.kind == "add"]
        assert added[0] == "LINE 5"
        assert set(texts(file, "new")) == set(added) - {"LINE 5"}


def test_lines_of_a_file_that_nobody_saw_whole() -> None:
    shown = Excerpt(11, tuple(f"line {number}" for number in range(11, 21)))
    file = change(
        (0, FileRead("a.py", excerpts=(shown,))),
        (1, FileEdit("a.py", "line 12\n", "twelve\nand a half\n")),
        (3, FileEdit("a.py", "and a half\n", "and more\n")),
    )
    assert links(file, "new") == {12: (1,), 13: (3, 1)}
    assert links(file, "old") == {12: (1,)}


def test_blocks_without_a_place_are_their_step_s() -> None:
    file = change(
        (2, FileEdit("a.py", "old one\n", "new one\n")),
        (5, FilePatch("a.py", ((("old two", "kept"), ("new two", "kept")),))),
    )
    assert not file.has_line_numbers
    assert texts(file, "new") == {"new one": (2,), "new two": (5,)}
    assert texts(file, "old") == {"old one": (2,), "old two": (5,)}


PATCH = b"""--- a/a.py
+++ b/a.py
@@ -4,3 +4,3 @@
 line 4
-line 5
+five
 line 6
"""


def test_a_stated_patch_takes_the_writers_of_lines_that_read_the_same() -> None:
    edit = FileEdit("a.py", "line 5\n", "five\n")
    file = change(read(), (3, edit), patch=PATCH)
    assert texts(file, "new") == {"five": (3,)}
    assert texts(file, "old") == {"line 5": (3,)}


def test_a_stated_patch_whose_lines_stand_elsewhere_takes_them_where_they_stand_once() -> None:
    file = change(
        read(), (1, FileEdit("a.py", "", "above\n", line=0)), (3, FileEdit("a.py", "line 5\n", "five\n")), patch=PATCH
    )
    assert texts(file, "new") == {"five": (3,)}


def test_a_stated_patch_that_says_something_else_has_no_links() -> None:
    file = change(read(), (3, FileEdit("a.py", "line 5\n", "fünf\n")), patch=PATCH)
    assert not links(file, "new")
    assert links(file, "old") == {5: (3,)}


def test_a_stated_outcome_keeps_the_writers_of_what_is_left() -> None:
    after = BASE.replace("line 5\n", "five\n").replace("line 20\n", "twenty\n")
    file = change(
        read(),
        (1, FileEdit("a.py", "line 5\n", "five\n")),
        (2, FileEdit("a.py", "line 9\n", "nine\n")),
        (None, FileOutcome("a.py", "modified", old_text=BASE, new_text=after)),
    )
    assert texts(file, "new") == {"five": (1,)}
    alone = change((6, FileOutcome("a.py", "modified", old_text=BASE, new_text=after)))
    assert texts(alone, "new") == {"five": (6,), "twenty": (6,)}


_LINES = st.lists(st.sampled_from(["a", "b", "c", "}"]), max_size=24)


@given(_LINES, _LINES, st.integers(min_value=0, max_value=2), st.booleans())
@example(["b", "a", "b", "c", "a", "b"], ["a", "b", "a", "b", "b", "c"], 1, False)
def test_hunks_with_their_lines_stated_give_the_text_that_they_were_made_of(
    old: list[str], new: list[str], context: int, crlf: bool
) -> None:
    end = "\r\n" if crlf else "\n"
    before, after = ("".join(line + end for line in lines) for lines in (old, new))
    hunks = diff_texts(before, after, context)
    pairs = tuple(
        tuple(tuple(line.text for line in hunk.lines if line.kind != without) for without in ("add", "del"))
        for hunk in hunks
    )
    starts = tuple(hunk.old_start if hunk.old_count else hunk.old_start + 1 for hunk in hunks)
    file = change(read(before), (0, FilePatch("a.py", pairs, starts=starts)))  # type: ignore[arg-type]
    if old:  # An empty file does not say how its lines end.
        assert file.new_text == after
        assert file.badges == ()
        added = Counter(line.text for hunk in file.hunks for line in hunk.lines if line.kind == "add")
        linked = Counter(texts_of_links(file))
        # Of lines that only changed places with others a difference may show other ones as new than the hunks do, which
        # have the lines before and after them and not which of these are new. Such a line may have no link.
        assert linked <= added
        assert all(text in old for text in added - linked)


def texts_of_links(file: FileChange) -> list[str]:
    lines = file.lines("new")
    return [lines[number] for number, steps in links(file, "new").items() if steps == (0,)]
