"""Diffs as HTML: what is shown reads back as what came, nothing of it becomes markup, and its size is bounded."""

import json
import re
from dataclasses import replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from potato.runs.changes.derive import derive
from potato.runs.changes.model import Badge, BadgeCode, FileChange, Hunk, Line, counts
from potato.runs.changes.patch import read_patch
from potato.runs.changes.texts import diff_texts
from potato.runs.exact_json import change_from, change_record
from potato.runs.model import AgentRun, Excerpt, FileEdit, FileRead
from tests.hostile import HOSTILE
from tests.shared_data import shared_file
from traces.rendering.diff import DiffOptions, content_hash, expand, is_offered, render_file, render_views
from traces.rendering.parts import nodes_in

from .fragments import Fragment, Tables, lines_read_back

UNIFIED = DiffOptions(context=3)
SPLIT = DiffOptions(view="split", context=3)

lines = st.lists(
    st.tuples(
        st.text(st.characters(codec=None, exclude_characters="\n"), max_size=12), st.sampled_from(["\n", "\r\n"])
    ).map("".join),
    max_size=12,
)


def modified(old: str, new: str, path: str = "src/a.py", *, knows_whole: bool = True, context: int = 3) -> FileChange:
    hunks = diff_texts(old, new, context)
    added, removed = counts(hunks)
    return FileChange(
        path=path,
        old_path=path,
        operation="modified",
        source="content",
        hunks=hunks,
        old_text=old if knows_whole else None,
        new_text=new if knows_whole else None,
        added=added,
        removed=removed,
    )


def of_hunks(change: FileChange) -> list[Line]:
    return [line for hunk in change.hunks for line in hunk.lines]


def settled(found: list[Line]) -> list[Line]:
    """In the order of a patch that writes removed lines before added ones."""
    out: list[Line] = []
    run: list[Line] = []
    for line in [*found, None]:
        if line is None or line.kind == "context":
            out += sorted(run, key=lambda one: one.kind, reverse=True)
            run = []
            if line:
                out.append(line)
        else:
            run.append(line)
    return out


def numbered(count: int, start: int = 1) -> str:
    return "".join(f"line {number}\n" for number in range(start, start + count))


@settings(max_examples=150, deadline=None)
@given(lines, lines, st.booleans(), st.booleans())
@example(["a\r\n"], ["a\n"], True, True)
@example(["\x00\udce9\n"], ["\ud83d"], True, False)
@example(["x" * 9_000 + "\n"], ["\u202e" + "y" * 250_000], False, False)
def test_rendered_rows_read_back_as_the_lines_of_each_hunk(
    before: list[str], after: list[str], ends_open: bool, colours: bool
) -> None:
    new = "".join(after)
    change = modified("".join(before), new.removesuffix("\n") if ends_open else new)

    for options in (UNIFIED, SPLIT):
        rendered = render_file(change, replace(options, syntax_highlight=colours))
        expected = of_hunks(change) if options is UNIFIED else settled(of_hunks(change))
        assert lines_read_back(rendered, change, options.view) == expected


def test_every_real_patch_reads_back_line_by_line() -> None:
    predictions = json.loads(shared_file("swebench/preds.json").read_text())
    records = list(predictions.values()) if isinstance(predictions, dict) else predictions
    files = 0
    for record in records:
        for change in read_patch((record["model_patch"] or "").encode()).files:
            files += 1
            for options in (DiffOptions(context=99), DiffOptions(view="split", context=99, syntax_highlight=False)):
                expected = of_hunks(change) if options.view == "unified" else settled(of_hunks(change))
                assert lines_read_back(render_file(change, options), change, options.view) == expected, change.path
    assert files >= len(records)


def test_context_is_as_wide_as_asked_and_the_rest_can_be_expanded() -> None:
    old, new = numbered(100), numbered(49) + "changed\n" + numbered(50, 51)

    for context in (0, 2, 5, 40):
        change = modified(old, new)
        rendered = render_file(change, DiffOptions(context=context))
        shown = lines_read_back(rendered, change, "unified")
        assert [line.new_no for line in shown if line.kind == "context"] == [
            number for number in range(50 - context, 51 + context) if number != 50
        ]
        hidden = [
            line
            for rows in rendered.hidden
            for part in expand(change, rows.first, rows.last, UNIFIED)
            for line in [row.cells[1].number for row in Tables(f"<table>{part.html}</table>").rows]
        ]
        numbers = [number for number in [*hidden, *(line.new_no for line in shown)] if number]
        assert sorted(numbers) == list(range(1, 101))
        for rows in rendered.hidden:
            assert f'data-part="{rows.key}"' in rendered.parts[0].html


def test_fewer_context_lines_than_the_patch_holds_hides_rows_behind_expand() -> None:
    change = modified(numbered(9), numbered(4) + "x\n" + numbered(4, 6), knows_whole=False)

    rendered = render_file(change, DiffOptions(context=1))

    assert [line.new_no for line in lines_read_back(rendered, change, "unified")] == [4, None, 5, 6]
    assert len(rendered.hidden) == 2
    assert "Show 2 hidden lines" in rendered.parts[0].html


def test_lines_that_the_trace_does_not_have_are_said_to_be_missing() -> None:
    change = modified(numbered(40), numbered(19) + "x\n" + numbered(20, 21), knows_whole=False)
    html = render_file(change, UNIFIED).parts[0].html

    assert "Not in the trace" in html
    assert "data-part" not in html
    assert "no more of this file can be shown" in html
    assert "Not in the trace" not in render_file(modified(numbered(40), numbered(39)), UNIFIED).parts[0].html


def test_a_whole_text_that_contradicts_the_hunks_is_not_believed() -> None:
    change = replace(modified(numbered(40), numbered(39)), new_text=numbered(39).replace("line 38", "line x"))

    assert render_file(change, UNIFIED).hidden == ()


def test_a_file_that_was_only_read_can_be_opened() -> None:
    change = FileChange("a.txt", "", "unchanged", "read", old_text=numbered(700), new_text=numbered(700))
    rendered = render_file(change, UNIFIED)

    assert "did not change it" in rendered.parts[0].html
    (rows,) = rendered.hidden
    (part,) = expand(change, rows.first, rows.last, UNIFIED)
    assert (part.rows, part.new_lines) == (500, (1, 500))
    assert 'data-part="rows-500-699"' in part.html
    (rest,) = expand(change, 500, 699, UNIFIED)
    assert (rest.rows, rest.new_lines) == (200, (501, 700))
    with pytest.raises(LookupError, match="700"):
        expand(change, 500, 700, UNIFIED)


def test_each_line_that_can_be_commented_has_one_button_that_says_so() -> None:
    change = modified("a\nb\nc\n", "a\nB\nc\n")
    rows = Tables(render_file(change, UNIFIED).parts[0].html).rows
    split = Tables(render_file(change, SPLIT).parts[0].html).rows

    assert [[cell.label for cell in row.cells if cell.label] for row in rows] == [
        ["Comment on new line 1"],
        ["Comment on old line 2"],
        ["Comment on new line 2"],
        ["Comment on new line 3"],
    ]
    assert [(row.attributes.get("data-old"), row.attributes.get("data-new")) for row in rows] == [
        ("1", "1"),
        ("2", None),
        (None, "2"),
        ("3", "3"),
    ]
    assert [[cell.label for cell in row.cells if cell.label] for row in split] == [
        [f"Comment on old line {number}", f"Comment on new line {number}"] for number in (1, 2, 3)
    ]


def blocks(*hunks: tuple[Line, ...]) -> FileChange:
    """A file of which nobody knows where these lines stand."""
    made = tuple(Hunk(0, len(lines_), 0, len(lines_), "", lines_) for lines_ in hunks)
    return FileChange("a", "a", "modified", "blocks", made, has_line_numbers=False)


def test_lines_whose_place_nobody_knows_are_counted_as_they_are_shown_and_the_note_says_so() -> None:
    first = (Line("context", None, None, "a"), Line("del", None, None, "b"), Line("add", None, None, "c"))
    second = (Line("add", None, None, "d"),)
    for options in (UNIFIED, SPLIT):
        html = render_file(blocks(first, second), options).parts[0].html
        assert "numbers are those of the excerpt" in html
        assert "diff--excerpt" in html
        labels = re.findall(r'aria-label="(Comment on [^"]*)"', html)
        assert [label for label in labels if "old line 1" not in label] == [
            "Comment on new line 1 of the excerpt",
            "Comment on old line 2 of the excerpt",
            "Comment on new line 2 of the excerpt",
            "Comment on new line 4 of the excerpt",
        ]
        assert html.count("Not in the trace") == 1
        assert "@@" not in html


def partly_read() -> FileChange:
    """Of 100 lines the agent read 20 to 50 and 80 to 90, and replaced line 40 by two."""
    texts = [f"line {number}\n" for number in range(1, 101)]
    (file,) = derive(
        AgentRun(
            "1",
            "Task",
            events=(
                FileRead("a.py", excerpts=(Excerpt(20, tuple(f"line {number}" for number in range(20, 51))),)),
                FileEdit("a.py", texts[39], "first\nsecond\n"),
                FileRead("a.py", excerpts=(Excerpt(81, tuple(f"line {number}" for number in range(80, 91))),)),
            ),
            event_steps=(0, 1, 2),
        )
    ).files
    return file


def test_lines_that_the_agent_read_stand_around_its_edits_with_the_numbers_of_the_file() -> None:
    change = partly_read()
    for options in (DiffOptions(context=2), DiffOptions("split", context=2)):
        rendered = render_file(change, options)
        html = rendered.parts[0].html
        assert "diff--excerpt" not in html
        assert "only the lines that the agent read or changed" in html
        assert 'aria-label="Comment on old line 40"' in html
        assert 'aria-label="Comment on new line 41"' in html
        assert html.count("Not in the trace") == 2
        assert [(hidden.old_line, hidden.new_line, hidden.last - hidden.first + 1) for hidden in rendered.hidden] == [
            (20, 20, 18),
            (43, 44, 8),
            (80, 81, 11),
        ]
        hidden = rendered.hidden[2]
        assert is_offered(change, hidden.first, hidden.last, options)
        (more,) = expand(change, hidden.first, hidden.last, options)
        assert (more.old_lines, more.new_lines) == ((80, 90), (81, 91))
    assert content_hash(change) != content_hash(replace(change, excerpts=()))
    # Which steps wrote the lines is kept with the trace: other runs may come to the same change.
    assert change_from(change_record(change)) == replace(change, steps=(), links=())


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (FileChange("logo.png", "logo.png", "modified", "patch", is_binary=True), "its content is not text"),
        (FileChange("b", "a", "renamed", "patch"), "the trace has none of its text"),
        (FileChange("a", "a", "unchanged", "read"), "the trace has none of its text"),
        (FileChange("a", "", "added", "content", old_text="", new_text=""), "the file is empty"),
    ],
)
def test_a_file_of_which_no_line_can_be_shown_says_that_none_can_be_commented_and_why(
    change: FileChange, why: str
) -> None:
    assert f"No line can be commented on: {why}." in render_file(change, UNIFIED).parts[0].html
    assert "No line can be commented" not in render_file(partly_read(), UNIFIED).parts[0].html


def test_words_that_changed_are_marked_across_syntax() -> None:
    change = modified("    return to_int(left), left\n", "    return int(left), right\n")
    html = render_file(change, UNIFIED).parts[0].html

    assert '<span class="w">to_int</span>(left), <span class="w">left</span></td>' in html
    assert '<span class="k">return</span> <span class="w"><span class="nb">int</span></span>(left)' in html


def test_a_line_inside_a_long_string_has_the_strings_colour_where_the_whole_file_is_known() -> None:
    old = '"""\n' + numbered(20) + '"""\n'
    change = modified(old, old.replace("line 10", "def 10"))

    whole, hunk_alone = (
        render_file(one, UNIFIED).parts[0].html for one in (change, replace(change, old_text=None, new_text=None))
    )

    assert '<span class="w"><span class="sd">def</span></span><span class="sd"> 10</span>' in whole
    assert '<span class="w"><span class="k">def</span></span>' in hunk_alone


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (FileChange("b", "a", "renamed", "patch"), "Renamed from"),
        (FileChange("b", "a", "copied", "patch"), "Copied from"),
        (FileChange("a", "", "added", "patch", new_text=""), "The file is empty."),
        (FileChange("a", "a", "modified", "patch", is_binary=True), "Binary file"),
        (
            FileChange("a", "a", "modified", "patch", old_mode="100644", new_mode="100755"),
            "Mode changed from 100644 (an ordinary file) to 100755 (executable).",
        ),
        (FileChange("a", "", "added", "patch", new_mode="120000"), "Symbolic link"),
        (FileChange("a", "a", "modified", "patch", old_mode="160000", new_mode="160000"), "Submodule"),
        (modified("a\n", "a\r\n"), "Line ends change</b> from LF to CR LF."),
        (modified("a\r\n", "b\r\n"), "Line ends are CR LF."),
        (modified("a\nx\r\n", "b\nx\r\n"), "Line ends are mixed"),
        (
            FileChange("a", "a", "modified", "patch", badges=(Badge(BadgeCode.NOT_UTF8, "Bytes <b>."),)),
            '<li data-badge="not_utf8">',
        ),
    ],
)
def test_what_is_special_about_a_file_is_said_in_words(change: FileChange, sentence: str) -> None:
    for options in (UNIFIED, SPLIT):
        html = render_file(change, options).parts[0].html
        assert sentence in html
        assert "Bytes <b>" not in html


def test_a_missing_newline_at_the_end_is_said_on_its_line() -> None:
    html = render_file(modified("a\nb", "a\nb\n"), UNIFIED).parts[0].html

    assert html.count("No newline at end of file") == 1
    assert '">b<span class="eol">No newline at end of file</span>' in html.replace('<span class="w">', "")


def test_every_table_has_a_caption_and_columns() -> None:
    change = replace(modified("", numbered(500)), operation="added")
    html = render_file(change, UNIFIED).parts[0].html

    assert html.count("<table") == html.count("<caption") == html.count("<colgroup>") == 5
    assert ">New file src/a.py</caption>" in html
    assert ">New file src/a.py, lines 121 to 240</caption>" in html


def test_a_huge_file_is_cut_into_parts_that_lead_to_each_other() -> None:
    change = modified("", numbered(4_000))
    rendered = render_file(change, DiffOptions(syntax_highlight=False))

    assert [part.key for part in rendered.parts] == [str(number) for number in range(len(rendered.parts))]
    assert max(part.rows for part in rendered.parts) <= 1_560
    assert max(part.nodes for part in rendered.parts) <= 15_000
    assert rendered.rows == 4_000
    assert rendered.parts[0].new_lines == (1, rendered.parts[0].rows)
    assert f"{4_000 - rendered.parts[0].rows:,} more lines" in rendered.parts[0].html
    assert lines_read_back(rendered, change, "unified") == of_hunks(change)


def test_nodes_are_counted_as_a_browser_does() -> None:
    assert nodes_in('<table><tr><td class="a">x<b>y</b>z</td></tr></table>') == 7


def test_five_thousand_rows_of_busy_code_are_all_rendered() -> None:
    text = "".join(f"    value_{n} = compute({n}, name='x{n}')  # row {n}\n" for n in range(250))

    rows = sum(render_file(modified("", text, f"src/file_{n}.py"), UNIFIED).rows for n in range(20))

    assert rows == 5_000


def test_a_typical_change_of_twelve_files_stays_far_under_the_budget_of_nodes() -> None:
    old = "".join(f"    total = total + prices[{n}] * rate\n" for n in range(400))
    new = old.replace("prices[7]", "costs[7]").replace("prices[90]", "costs[90]").replace("prices[250]", "costs[250]")

    nodes = sum(render_file(modified(old, new, f"src/{n}.py"), UNIFIED).nodes for n in range(12))

    assert 0 < nodes < 14_000


def test_the_hash_changes_with_everything_that_is_shown() -> None:
    change = modified("a\n", "b\n")
    variants = [
        change,
        replace(change, path="other"),
        replace(change, new_text=None),
        replace(change, new_text=""),
        replace(change, badges=(Badge(BadgeCode.NOT_UTF8, "x"),)),
        replace(change, new_mode="100755"),
        modified("a\n", "b\r\n"),
        modified("a\n", "b"),
        modified("a\n", "\udce9\n"),
        modified("a\n", "\ud83d\n"),
    ]

    assert len({content_hash(one) for one in variants}) == len(variants)
    assert content_hash(change) == content_hash(modified("a\n", "b\n"))


def test_both_views_are_rendered_together_as_each_is_alone() -> None:
    change = modified("import os\n", "import sys\n")

    assert render_views(change, [UNIFIED, SPLIT]) == (render_file(change, UNIFIED), render_file(change, SPLIT))


@pytest.mark.parametrize("options", [UNIFIED, SPLIT], ids=["unified", "split"])
def test_parts_whose_line_numbers_repeat_say_their_places_and_count_what_is_shown(options: DiffOptions) -> None:
    patch = b"--- a/x\n+++ b/x\n@@ -7 +7 @@\n-a\n+b\n"
    (change,) = read_patch(patch + patch).files
    part = render_file(change, options).parts[0].html

    rows = [row for row in Tables(part).rows if "expand" not in row.classes]

    for side in ("data-old", "data-new"):
        assert [row.attributes[side] for row in rows if side in row.attributes] == ["1", "3"]
    assert part.count("@@ -7,1 +7,1 @@") == 2
    assert "Their line numbers repeat" in part


def test_a_fragment_holds_no_script_style_or_address() -> None:
    change = modified(numbered(300), "<script>alert(1)</script>\n" + numbered(290), 'a"><img src=x onerror=1>.html')
    for options in (UNIFIED, SPLIT):
        for part in render_file(change, options).parts:
            for name, attributes in Fragment(part.html).elements:
                assert name not in {"script", "style", "img", "a", "iframe"}
                assert not {"style", "href", "src"} & set(attributes)
                assert not any(attribute.startswith("on") for attribute in attributes)


@pytest.mark.parametrize("hostile", HOSTILE)
def test_nothing_hostile_in_any_text_of_a_change_becomes_markup(hostile: str) -> None:
    one_line = hostile.replace("\n", " ")
    hunk = Hunk(3, 2, 3, 2, hostile, (Line("context", 3, 3, one_line), Line("del", 4, None, one_line)))
    hunk = replace(hunk, lines=(*hunk.lines, Line("add", None, 4, one_line + "x", "none")))
    badge = Badge(BadgeCode.NOT_UTF8, hostile)
    change = FileChange(
        hostile, hostile, "renamed", "patch", (hunk,), old_mode=hostile, new_mode=hostile + "1", badges=(badge,)
    )
    known = FileChange(hostile, "", "unchanged", "read", old_text=hostile, new_text=hostile)

    for options in (UNIFIED, SPLIT):
        rendered = render_file(change, options)
        parts = [*rendered.parts, *render_file(known, options).parts]
        for rows in render_file(known, options).hidden:
            parts += expand(known, rows.first, rows.last, options)
        for part in parts:
            part.html.encode()
            for name, attributes in Tables(
                f"<table>{part.html}</table>" if "<table" not in part.html else part.html
            ).elements:
                assert name in ELEMENTS, name
                assert set(attributes) <= ATTRIBUTES, attributes
        assert [line.text for line in lines_read_back(rendered, change, options.view)] == [
            one_line,
            one_line,
            one_line + "x",
        ]


def test_a_line_of_five_megabytes_is_cut_and_its_rest_can_be_read() -> None:
    change = modified("a\n", "<" * 5_000_000 + "\n")
    rendered = render_file(change, UNIFIED)

    assert len(rendered.parts[0].html) < 30_000
    assert max(len(part.html) for part in rendered.parts) < 500_000
    assert "4,000,000 more characters of this line are not shown" in rendered.parts[-1].html


ELEMENTS = {
    "ul", "li", "svg", "path", "circle", "span", "b", "code", "div", "table", "caption", "colgroup", "col", "tbody",
    "tr", "td", "button",
}  # fmt: skip
ATTRIBUTES = {
    "class", "title", "aria-hidden", "aria-label", "type", "data-l", "data-part", "data-old", "data-new", "data-side",
    "data-rows", "data-old-first", "data-new-first", "data-badge", "viewbox", "d", "cx", "cy", "r", "dir", "translate",
    "colspan",
}  # fmt: skip


# --- Without white space ---------------------------------------------------------------------------------------


def shown_without_whitespace(old: str, new: str, view: str = "unified", *, knows_whole: bool = True) -> list[str]:
    change = modified(old, new, knows_whole=knows_whole)
    options = DiffOptions(view=view, context=3, hides_whitespace=True)  # type: ignore[arg-type]  # one of the words
    signs = {"context": " ", "del": "-", "add": "+"}
    return [signs[line.kind] + line.text for line in lines_read_back(render_file(change, options), change, view)]


@pytest.mark.parametrize("view", ["unified", "split"])
@pytest.mark.parametrize("knows_whole", [True, False])
def test_lines_that_differ_in_white_space_alone_can_stand_as_unchanged(view: str, knows_whole: bool) -> None:
    old = "if a:\n  one\n  two\nend\n"
    new = "if  a:\n    one\n    three\n\ttwo \nend\n"
    assert shown_without_whitespace(old, new, view, knows_whole=knows_whole) == [
        " if  a:",
        "     one",
        "+    three",
        " \ttwo ",
        " end",
    ]


def test_an_unchanged_line_of_two_sides_can_be_commented_on_the_new_one() -> None:
    change = modified("a\nb\nx\n", "new\na\n  b\nx\n")
    html = render_file(change, DiffOptions(hides_whitespace=True)).parts[0].html
    assert '<tr data-old="2" data-new="3">' in html
    assert 'data-side="new" data-l="3"' in html
    assert 'data-side="old"' not in html


@pytest.mark.parametrize("knows_whole", [True, False])
def test_a_file_in_which_only_white_space_differs_says_so_and_hides_its_lines(knows_whole: bool) -> None:
    change = modified("a\nb\n", "a \n b\n", knows_whole=knows_whole)
    options = DiffOptions(hides_whitespace=True)
    rendered = render_file(change, options)
    assert "Only white space differs in this file." in rendered.parts[0].html
    (hidden,) = rendered.hidden
    (part,) = expand(change, hidden.first, hidden.last, options)
    assert part.rows == 2
    assert "Only white space" not in render_file(change, DiffOptions()).parts[0].html


def test_very_long_runs_are_left_as_they_are() -> None:
    old, new = "".join(f"{at}\n" for at in range(2_100)), "".join(f" {at}\n" for at in range(2_100))
    assert shown_without_whitespace(old, new).count("-5") == 1


@settings(max_examples=100, deadline=None)
@given(lines, lines)
def test_without_white_space_no_line_of_the_new_side_is_lost(before: list[str], after: list[str]) -> None:
    change = modified("".join(before), "".join(after), context=99)
    shown = lines_read_back(render_file(change, DiffOptions(context=99, hides_whitespace=True)), change, "unified")
    new = [line for line in of_hunks(change) if line.kind != "del"]
    if any(line.kind != "context" for line in shown):
        assert [(line.new_no, line.text) for line in shown if line.kind != "del"] == [
            (line.new_no, line.text) for line in new
        ]
    else:
        assert "".join("".join(before).split()) == "".join("".join(after).split())
