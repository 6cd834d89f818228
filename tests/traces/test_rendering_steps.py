"""Steps as HTML: what an agent thought, said, did and got back, whole, in parts, and without any harm."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from potato.runs.model import Step, ToolCall
from tests.function_calls import calls_of
from tests.hostile import HOSTILE
from tests.potato.runs.reading import the_one
from tests.potato.runs.web_runs import SYSTEM, acted, as_json, asked, observed
from tests.shared_data import shared_files
from traces.rendering.parts import Part
from traces.rendering.prose import markdown
from traces.rendering.steps import RenderedStep, StepOptions, render_step
from traces.rendering.tool_calls import StepTitle, step_title

from .fragments import Fragment, Tables


def call(name: str, arguments: Any, result: str | None = "", *, is_error: bool = False) -> ToolCall:
    return ToolCall("1", name, arguments, result, is_error)


def rendered(*calls: ToolCall, message: str = "", thought: str = "", prompt: str = "") -> RenderedStep:
    return render_step(Step(message=message, thought=thought, calls=calls, prompt=prompt), StepOptions())


def html_of(*calls: ToolCall, message: str = "", thought: str = "", prompt: str = "") -> str:
    return rendered(*calls, message=message, thought=thought, prompt=prompt).parts[0].html


def whole_text(step: RenderedStep) -> str:
    """The text of a step with every part put where its button stands."""
    parts = {part.key: part for part in step.parts}

    def with_rest(part: Part) -> str:
        html = str(part.html)
        for name, attributes in Fragment(html).elements:
            key = attributes.get("data-part") if name == "button" else None
            if key:
                start = html.index(f'<button type="button" class="rest" data-part="{key}">')
                end = html.index("</button>", start) + len("</button>")
                html = html[:start] + with_rest(parts[key]) + html[end:]
        return html

    return Fragment(with_rest(parts["0"])).text_of_run


def test_a_step_says_nothing_of_its_place_and_holds_no_form() -> None:
    elements = Fragment(html_of(call("Bash", {"command": "ls"}, "a"))).elements

    assert not [attributes for _, attributes in elements if "id" in attributes]
    assert not {"article", "header", "input", "form", "textarea", "fieldset"} & {name for name, _ in elements}


@pytest.mark.parametrize(
    ("step", "kind", "title", "detail"),
    [
        (Step(calls=(call("Bash", {"command": "ls -l\npwd"}),)), "command", "Run a command", "ls -l"),
        (
            Step(calls=(call("Bash", {"command": "ls", "description": "List it"}), call("Read", {}))),
            "command",
            "List it",
            "ls, and 1 more call",
        ),
        (Step(calls=(call("Read", {"file_path": "a.py"}),)), "read", "Read a file", "a.py"),
        (
            Step(calls=(call("str_replace_editor", {"command": "view", "path": "a.py"}),)),
            "read",
            "Read a file",
            "a.py",
        ),
        (Step(calls=(call("mcp__files__write_file", {"path": "a"}),)), "write", "Write a file", "a"),
        (Step(calls=(call("Grep", {"pattern": "x+", "path": "src"}),)), "search", "Search", "x+"),
        (Step(calls=(call("frobnicate", "free text"),)), "other", "frobnicate", "free text"),
        (Step(calls=(call("", None),)), "other", "Call a tool", ""),
        (Step(message="## Done\nmore"), "message", "Done", ""),
        (Step(thought="hm"), "message", "Thought", "hm"),
        (Step(), "message", "Empty step", ""),
    ],
)
def test_a_step_is_told_in_one_line(step: Step, kind: str, title: str, detail: str) -> None:
    told = step_title(step)

    assert (told.kind, told.title, told.detail) == (kind, title, detail)


def test_a_title_can_be_stored_and_hides_nothing() -> None:
    told = step_title(Step(calls=(call("x\u202ey", {"path": "a\x00\ud800b<i>"}),)))

    assert (told.title, told.detail) == ("xU+202Ey", "aU+0000U+D800b<i>")


def test_a_command_and_its_output_stand_in_one_terminal_with_colours() -> None:
    html = html_of(
        call("Bash", {"command": "pytest -q", "description": "Run"}, "\x1b[32m3 passed\x1b[0m", is_error=True)
    )

    assert '<pre><span class="t-p">$</span> pytest -q</pre><pre><span class="f2">3 passed</span></pre>' in html
    assert html.count(">Error</span>") + html.count(" Error</span>") == 1
    assert "<dt>" not in html


def test_a_files_lines_keep_their_numbers_and_colours_and_what_follows_them() -> None:
    html = html_of(
        call("Read", {"file_path": "a.py"}, "    41→import os\n    42→\n<system-reminder>x</system-reminder>")
    )
    rows = Tables(html).rows

    assert [(row.cells[0].number, row.cells[2].text) for row in rows] == [(41, "import os"), (42, "")]
    assert '<span class="kn">import</span>' in html
    assert "&lt;system-reminder&gt;" in html


def test_an_edit_is_a_diff_and_its_texts_are_not_shown_twice() -> None:
    edit = call("Edit", {"file_path": "a.py", "old_string": "a = 1\nb", "new_string": "a = 2\nb", "replace_all": True})
    html = html_of(edit)

    assert [sorted(row.classes) for row in Tables(html).rows] == [["is-del"], ["is-add"], []]
    assert "old_string" not in html
    assert "<dt>replace_all</dt><dd>true</dd>" in html
    assert "No newline" not in html


def test_several_edits_in_one_call_are_several_diffs_and_an_unreadable_one_is_shown_as_it_came() -> None:
    good = call("MultiEdit", {"file_path": "a", "edits": [{"old_string": "a", "new_string": "b"}] * 2})
    bad = call("MultiEdit", {"file_path": "a", "edits": [{"old_string": "a", "new_string": "b"}, 7]})

    assert html_of(good).count("<table") == 2
    assert html_of(bad).count("<table") == 0
    assert "old_string" in html_of(bad)


def test_a_written_file_is_added_lines_with_numbers() -> None:
    rows = Tables(html_of(call("Write", {"file_path": "a.go", "content": "package a\n\nvar b = 1\n"}))).rows

    assert [(row.cells[0].number, row.cells[2].text) for row in rows] == [(1, "package a"), (2, ""), (3, "var b = 1")]
    assert all("is-add" in row.classes for row in rows)


def test_arguments_and_json_answers_are_set_out() -> None:
    html = html_of(call("lookup", {"a": {"b": [1, None]}, "n": 1.5, "s": "<x>"}, '{"ok":true}'))

    assert "<dt>s</dt><dd>&lt;x&gt;</dd>" in html
    assert "<dt>n</dt><dd>1.5</dd>" in html
    assert '<span class="nt">"b"</span>'.replace('"b"', "&quot;b&quot;") in html
    assert '{\n  <span class="nt">&quot;ok&quot;</span>: <span class="kc">true</span>\n}' in html


def test_a_call_without_an_answer_says_so() -> None:
    assert "never answered" in html_of(call("lookup", {}, None))
    assert "not answered" in html_of(call("Bash", {"command": "x"}, None))
    assert "Nothing came back" in html_of(call("lookup", {}, " "))


def test_what_the_user_said_stands_apart_from_the_agents_message() -> None:
    html = html_of(message="Mine", prompt="Yours")

    assert html.index('class="step__before"') < html.index("Yours") < html.index("<p>Mine")


def test_a_message_is_markdown_and_a_thought_is_folded() -> None:
    html = html_of(message="# Plan\n\n1. *first*\n\n```python\nimport os\n```", thought="Let me **see**")

    assert '<p class="prose__h"><strong>Plan</strong></p>' in html
    assert "<em>first</em>" in html
    assert '<pre class="code"><span class="kn">import</span> os</pre>' in html
    assert '<details class="fold"><summary>' in html
    assert '<p class="thought">Let me **see**</p>' in html


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("[a](javascript:alert(1))", "<p>[a](javascript:alert(1))</p>\n"),
        ("[a](data:text/html;base64,x)", "<p>[a](data:text/html;base64,x)</p>\n"),
        ("[a](//evil.example)", '<p><a rel="noopener noreferrer nofollow">a</a></p>\n'),
        ("![a](https://x.example/pixel.png)", "<p>[image: a]</p>\n"),
        ("<img src=x onerror=alert(1)>", "<p>&lt;img src=x onerror=alert(1)&gt;</p>\n"),
        ("&#x202e;x", '<p><span class="ctl" title="Right-to-left override">U+202E</span>x</p>\n'),
        ("https://auto.example", "<p>https://auto.example</p>\n"),
        (
            '[a](https://x.example/?b=1&c "onclick=alert(1)")',
            '<p><a href="https://x.example/?b=1&amp;c" rel="noopener noreferrer nofollow">a</a></p>\n',
        ),
        ("a\nb", "<p>a<br>\nb</p>\n"),
    ],
)
def test_markdown_makes_no_address_that_a_reader_did_not_choose(written: str, shown: str) -> None:
    assert markdown(written) == shown


@pytest.mark.parametrize(
    "text",
    [
        "[" * 20_000,
        "![" * 30_000,
        ">" * 60_000,
        "- " * 30_000,
        "*a" * 30_000,
        "`" * 60_000,
        "|a" * 30_000,
        "x" * 70_000,
    ],
    ids=["brackets", "images", "quotes", "lists", "stars", "backticks", "cells", "too long"],
)
def test_hostile_markdown_is_shown_with_little_work(text: str) -> None:
    assert calls_of(lambda: html_of(message=text)) < 100 * len(text)


def test_long_output_is_folded_and_loaded_in_portions_and_nothing_is_lost() -> None:
    text = "".join(f"line {number}\n" for number in range(5_000)) + "the end"
    step = rendered(call("lookup", {}, text))

    assert step.parts[0].html.count("<details") == 1
    assert "Show 200 lines more" in step.parts[0].html
    assert "Load the rest (4,785 lines)" in step.parts[0].html
    assert [part.key for part in step.parts] == ["0", "call-0-result-1", "call-0-result-2", "call-0-result-3"]
    assert text in whole_text(step).replace("Show 200 lines moreShow less", "")
    assert step.nodes < 200


def test_what_an_agent_got_is_capped_sooner_than_what_it_did() -> None:
    text = "".join(f"line {number}\n" for number in range(1, 31))
    numbered = "".join(f"{number:6}\tline {number}\n" for number in range(1, 31))
    for got in (call("Read", {"file_path": "a"}, numbered), call("Bash", {"command": "ls"}, text), call("x", {}, text)):
        folded = html_of(got).partition('<details class="fold fold--long">')[2]
        assert folded.startswith("<summary><span>Show 14 lines more</span><span>Show less</span></summary>"), got
        assert "line 16" not in folded
        assert "line 17" in folded
    for did in (call("Write", {"file_path": "a", "content": text}, "ok"), call("Bash", {"command": text}, "ok")):
        assert "fold--long" not in html_of(did)
    assert "fold--long" not in html_of(call("x", {}, "".join(f"line {number}\n" for number in range(1, 21))))


def test_a_line_of_five_megabytes_breaks_nothing_anywhere() -> None:
    line = "x<" * 2_500_000

    for one in (
        call("Bash", {"command": "cat x"}, line),
        call("Read", {"file_path": "a.py"}, f"1\t{line}"),
        call("Write", {"file_path": "a.py", "content": line}),
        call("Edit", {"file_path": "a.py", "old_string": "a", "new_string": line}),
        call("lookup", {"a": line, "b": [line]}, line),
    ):
        step = rendered(one)
        assert len(step.parts[0].html) < 500_000
        assert max(len(part.html) for part in step.parts) < 1_000_000
        named = {
            attributes["data-part"]
            for part in step.parts
            for _, attributes in Fragment(part.html).elements
            if "data-part" in attributes
        }
        assert named == {part.key for part in step.parts[1:]}


texts = st.text(st.characters(codec=None, exclude_characters="\r\x08\x1b"), max_size=40)


@settings(max_examples=60, deadline=None)
@given(texts, texts, texts)
def test_no_text_of_a_step_is_lost_but_what_a_terminal_hides(name: str, value: str, result: str) -> None:
    text = whole_text(rendered(call(f"x{name}", {"key": value}, f"[{result}")))

    assert f"x{name}" in text
    assert value in text
    assert result in text


ELEMENTS = {
    "article", "header", "span", "svg", "path", "circle", "rect", "line", "div", "b", "button", "details", "summary",
    "p", "pre", "dl", "dt", "dd", "table", "caption", "colgroup", "col", "tbody", "tr", "td", "code", "a", "strong",
    "ul", "li", "br", "em", "ol", "thead", "th",
}  # fmt: skip
ATTRIBUTES = {
    "class", "id", "title", "aria-hidden", "aria-label", "aria-expanded", "aria-controls", "type", "data-l",
    "data-part", "viewbox", "d", "cx", "cy", "r", "x", "y", "x1", "x2", "y1", "y2", "width", "height", "rx", "ry",
    "dir", "translate", "colspan", "rel", "href",
}  # fmt: skip


@pytest.mark.parametrize("hostile", HOSTILE)
def test_nothing_hostile_in_any_text_of_a_step_becomes_markup(hostile: str) -> None:
    tools = ("Bash", "Read", "Edit", "Write", "lookup", hostile)
    arguments: list[Any] = [
        {"command": hostile, "description": hostile, hostile: hostile},
        {"file_path": hostile, "old_string": hostile, "new_string": hostile + "x", "content": hostile},
        [hostile],
        hostile,
    ]
    for result in (hostile, json.dumps([hostile])):
        for given_ in arguments:
            step = rendered(
                *(call(name, given_, result, is_error=True) for name in tools),
                message=hostile,
                thought=hostile,
                prompt=hostile,
            )
            for part in step.parts:
                part.html.encode()
                for name, attributes in Fragment(part.html).elements:
                    assert name in ELEMENTS, name
                    assert set(attributes) <= ATTRIBUTES, attributes
                    assert (attributes.get("href") or "https://").startswith(("https://", "http://", "mailto:"))


def test_every_step_of_real_sessions_is_rendered() -> None:
    from potato.runs.converters.reading import read_file
    from potato.runs.model import Converted, ReadingOptions
    from potato.runs.run_files import InMemoryRunFile

    steps = 0
    for path in shared_files("claude-code/*/session.jsonl"):
        for entry in read_file(InMemoryRunFile(path.name, path.read_bytes()), ReadingOptions()):
            for step in entry.run.steps if isinstance(entry, Converted) else ():
                steps += 1
                rendered_step = render_step(step, StepOptions())
                assert step_title(step).title
                for part in rendered_step.parts:
                    Fragment(part.html)
    assert steps > 50


def test_a_step_is_called_by_its_element_where_the_agent_saw_a_list() -> None:
    messages = [SYSTEM, asked(), acted("First.", "Wait"), observed(), acted("The form.", "Click [12]")]
    *_, last = the_one(as_json(messages), "interact_messages.json").run.steps
    assert step_title(last) == StepTitle("web", "Click", '[12] <button> "Send", "Send the form"')
