"""Files of which the agent saw only parts: an edit has the file's own numbers where they are certain, and else none."""

from hypothesis import given, settings
from hypothesis import strategies as st

from potato.runs.changes.derive import derive
from potato.runs.changes.model import FileChange, Side
from potato.runs.model import AgentRun, Excerpt, FileEdit, FileEvent, FilePatch, FileRead

TEXT = [f"line {number}" for number in range(1, 61)]


def lines(first: int, last: int, text: list[str] = TEXT) -> Excerpt:
    return Excerpt(first, tuple(text[first - 1 : last]))


def read(first: int, last: int, text: list[str] = TEXT) -> FileRead:
    return FileRead("x.py", excerpts=(lines(first, last, text),))


def changed(*events: FileEvent) -> FileChange:
    (file,) = derive(AgentRun("1", "Task", events=events, event_steps=tuple(range(len(events))))).files
    return file


def numbers(file: FileChange) -> list[tuple[str, int | None, int | None]]:
    return [
        (line.kind, line.old_no, line.new_no) for hunk in file.hunks for line in hunk.lines if line.kind != "context"
    ]


def test_an_edit_stands_where_its_text_stands_among_the_lines_that_were_read() -> None:
    file = changed(
        read(20, 30), FileEdit("x.py", "line 25\n", "a\nb\n"), read(41, 50, ["", *TEXT]), FileEdit("x.py", "45", "4.5")
    )
    assert numbers(file) == [
        ("del", 25, None),
        ("add", None, 25),
        ("add", None, 26),
        ("del", 45, None),
        ("add", None, 46),
    ]
    assert [(hunk.old_start, hunk.old_count, hunk.new_start, hunk.new_count) for hunk in file.hunks] == [
        (22, 7, 22, 8),
        (42, 7, 43, 7),
    ]
    assert [(hunk.old_start, hunk.new_start) for hunk in file.excerpts] == [(20, 20), (40, 41)]
    assert (file.numbering, file.badges, file.source, file.steps) == ("file", (), "edits", (0, 1, 2, 3))
    assert (file.added, file.removed, file.old_text, file.new_text) == (3, 2, None, None)


def test_parts_that_touch_or_overlap_are_one() -> None:
    file = changed(read(1, 10), read(8, 20), read(21, 22), FileEdit("x.py", "line 10\nline 11", "ten"), read(1, 5))
    assert [(hunk.old_start, hunk.old_count) for hunk in file.excerpts] == [(1, 22)]
    assert numbers(file) == [("del", 10, None), ("del", 11, None), ("add", None, 10)]


def test_an_edit_is_found_where_the_tool_showed_it_afterwards() -> None:
    after = [*TEXT[:24], "twenty", "five", *TEXT[25:]]
    file = changed(FileEdit("x.py", "line 25", "twenty\nfive", shown=(lines(21, 30, after),)))
    assert numbers(file) == [("del", 25, None), ("add", None, 25), ("add", None, 26)]
    assert [(hunk.old_start, hunk.old_count, hunk.new_count) for hunk in file.excerpts] == [(21, 9, 10)]


def test_an_insertion_says_its_own_line() -> None:
    file = changed(FileEdit("x.py", "", "new\n", line=9), read(12, 15, ["", *TEXT]))
    assert numbers(file) == [("add", None, 10)]
    assert [(hunk.old_start, hunk.old_count, hunk.new_start) for hunk in file.hunks] == [(9, 0, 10)]
    assert [(hunk.old_start, hunk.new_start) for hunk in file.excerpts] == [(9, 10), (11, 12)]


def test_no_number_is_given_where_one_is_not_certain() -> None:
    edit = FileEdit("x.py", "line 25", "x\ny")
    uncertain: list[tuple[FileEvent, ...]] = [
        (edit,),
        (read(1, 10), edit),
        (FileRead("x.py", excerpts=(Excerpt(5, ("line 25",)), Excerpt(25, ("line 25",)))), edit),
        (FileRead("x.py", excerpts=(Excerpt(5, ("line 25 and line 25",)),)), edit),
        (read(20, 30), FileEdit("x.py", "line 25", "x\ny", replace_all=True)),
        (read(20, 30), edit, FileEdit("x.py", "nowhere", "x\n")),
        (read(20, 30), FileEdit("x.py", "line 30\n", "joined ")),
        (read(20, 30), edit, read(20, 30)),
        (read(20, 30), edit, FilePatch("x.py", ((("line 20",), ("20",)),))),
        (FileEdit("x.py", "line 25", "", shown=(lines(20, 24),)),),
    ]
    for events in uncertain:
        file = changed(*events)
        assert (file.has_line_numbers, file.excerpts) == (False, ()), events
        assert [badge.code for badge in file.badges] == ["base_unknown"], events
        assert file.lines("new") or file.lines("old"), events


def test_parts_of_a_file_that_was_only_read_can_be_pointed_at() -> None:
    file = changed(read(20, 22), FileRead("x.py"), read(40, 40))
    assert (file.operation, file.source, file.hunks) == ("unchanged", "read", ())
    assert file.lines("new") == file.lines("old") == {number: f"line {number}" for number in (20, 21, 22, 40)}
    assert changed(read(20, 22), read(21, 22, ["x"] * 30)).lines("new") == {}


words = st.sampled_from(["a", "b", "c", "d", "e"])


@settings(max_examples=300, deadline=None)
@given(st.lists(words, min_size=1, max_size=12), st.data())
def test_every_number_that_is_given_is_that_of_the_file(words_: list[str], data: st.DataObject) -> None:
    old = [f"{word}{number}" for number, word in enumerate(words_)]
    now = list(old)
    events: list[FileEvent] = []
    for turn in range(data.draw(st.integers(1, 6))):
        first = data.draw(st.integers(1, max(1, len(now))))
        last = data.draw(st.integers(first, max(first, min(first + 4, len(now)))))
        match data.draw(st.sampled_from(["read", "edit", "shown", "insert"])):
            case "read" if now:
                events.append(read(first, last, now))
            case "insert":
                new = [f"new{turn}"] * data.draw(st.integers(1, 2))
                events.append(FileEdit("x.py", "", "".join(f"{line}\n" for line in new), line=first - 1))
                now[first - 1 : first - 1] = new
            case how if now:
                new = [f"{turn}.{at}" for at in range(data.draw(st.integers(0, 3)))]
                before = "".join(f"{line}\n" for line in now[first - 1 : last])
                after = "".join(f"{line}\n" for line in new)
                if "".join(f"{line}\n" for line in now).count(before) != 1:
                    continue
                now[first - 1 : last] = new
                shown = (lines(max(1, first - 1), first + len(new), now),) if how == "shown" and now else ()
                events.append(FileEdit("x.py", before, after, shown=tuple(one for one in shown if one.lines)))
    for file in derive(AgentRun("1", "Task", events=tuple(events), event_steps=tuple(range(len(events))))).files:
        if file.has_line_numbers:
            sides: tuple[tuple[Side, list[str]], ...] = (("old", old), ("new", now))
            for side, text in sides:
                known = dict(enumerate(text, 1))
                assert {number: known.get(number) for number in file.lines(side)} == file.lines(side)
