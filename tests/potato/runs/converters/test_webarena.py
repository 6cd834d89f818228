"""Pages of WebArena: each action is a step with the page that the agent saw, and the expected answer stays out."""

import base64

import pytest

from potato.runs.converters.reading import read_file
from potato.runs.model import Converted, ReadingOptions
from potato.runs.packages import runs_among
from potato.runs.run_files import InMemoryRunFile, StoredRunFile
from tests.potato.runs.damaged_files import damaged, read_without_error
from tests.potato.runs.reading import errors, read, the_one
from tests.potato.runs.web_runs import drawn

NAME = "render_21.html"
CONFIGURATION = (
    "sites: ['shopping']\ntask_id: 21\nstart_url: http://shop.example/\nintent: Who complains about small ear cups?\n"
    "eval: {'reference_answers': {'must_include': ['Secret Reviewer']}}\n"
)
TREE = "Tab 0 (current): Shop\n\n[1] RootWebArea 'Shop' focused: True\n\t[42] link '12 Reviews <b>'"


def page(url: str, raw: str, parsed: str, before: str = "None", picture: bytes = b"", tree: str = TREE) -> str:
    image = base64.b64encode(picture).decode()
    shown = f"<img src='data:image/png;base64,{image}' style='width:50vw; height:auto;'/>\n" if picture else ""
    return (
        f"<h2>New Page</h2>\n<h3 class='url'><a href={url}>URL: {url}</a></h3>\n"
        f"<div class='state_obv'><pre>{tree}</pre><div>\n{shown}"
        f"<div class='prev_action' style='background-color:pink'>{before}</div>\n"
        "<div class='predict_action'><div class='raw_parsed_prediction' style='background-color:grey'>"
        f"<pre>{raw}</pre></div><div class='action_object' style='background-color:grey'><pre>{{'x': 1}}</pre></div>"
        f"<div class='parsed_action' style='background-color:yellow'><pre>{parsed}</pre></div></div>\n"
    )


def rendered(*pages: str, configuration: str = CONFIGURATION) -> bytes:
    body = f"<pre>{configuration}</pre>\n" + "".join(pages)
    return f"\n<!DOCTYPE html>\n<head>\n</head>\n<html>\n    <body>\n     {body}\n    </body>\n</html>\n".encode()


PICTURE = drawn(40, 30)
RUN = rendered(
    page("http://shop.example/", "I open the reviews. In summary, ```click [42]```", "click [42]", picture=PICTURE),
    page("http://shop.example/r", "```type [7] [ear [cups]] [1]```", "type [7]", 'Attempt to perfom "click" on [42]'),
    page("http://shop.example/r", "Done. ```stop [Joseph]```", "stop [Joseph]", "type [7] [ear cups]"),
)


def test_each_action_is_a_step_with_the_page_before_it() -> None:
    run = the_one(RUN, NAME).run
    assert [(step.url, step.calls[0].name, step.calls[0].arguments) for step in run.steps] == [
        ("http://shop.example/", "click", {"element": "42"}),
        ("http://shop.example/r", "type", {"element": "7", "content": "ear [cups]", "press_enter": "1"}),
        ("http://shop.example/r", "stop", {"content": "Joseph"}),
    ]
    assert run.steps[0].message == "I open the reviews. In summary, ```click [42]```"
    assert run.steps[0].prompt == f"```\n{TREE}\n```"
    assert (run.task, run.task_id, run.external_id) == (
        "Who complains about small ear cups?", "webarena-21", "webarena-21",
    )  # fmt: skip


def test_an_action_that_could_not_be_done_failed() -> None:
    first, second, third = the_one(RUN, NAME).run.steps
    assert (first.calls[0].is_error, first.calls[0].result) == (True, 'Attempt to perfom "click" on [42]')
    assert (second.calls[0].is_error, third.calls[0].is_error) == (False, False)


def test_pictures_in_the_page_are_its_screenshots() -> None:
    first, second, _ = the_one(RUN, NAME).run.steps
    assert first.screenshot is not None
    assert first.screenshot.data == PICTURE
    assert second.screenshot is None


def test_the_expected_answer_stays_out_and_what_is_left_out_is_counted() -> None:
    converted = the_one(RUN, NAME)
    assert "Secret Reviewer" not in repr(converted.run)
    assert converted.report.dropped == {
        "program's form of an action": 3,
        "configuration of the task and its expected answer": 1,
    }


def test_runs_of_one_task_in_two_folders_are_two_runs_of_it() -> None:
    found = []
    for folder in ("gpt-4", "claude"):
        source: StoredRunFile = InMemoryRunFile(NAME, RUN)
        source.folder = folder
        found += [entry.run for entry in read_file(source, ReadingOptions()) if isinstance(entry, Converted)]
    assert [(run.external_id, run.task_id) for run in found] == [
        ("webarena-21@gpt-4", "webarena-21"), ("webarena-21@claude", "webarena-21"),
    ]  # fmt: skip


def test_an_agent_that_writes_code_acts_by_it() -> None:
    step = page("http://shop.example/", "", "").partition("<div class='predict_action'>")[0]
    run = the_one(rendered(step + "<div class='predict_action'>page.get_by_role('link').click()</div>\n"), NAME).run
    assert run.steps[0].calls[0].arguments == {"input": "page.get_by_role('link').click()"}


@pytest.mark.parametrize("pages", [(), ("<h2>New Page</h2>\n<h3 class='url'><a href=x>URL: x</a></h3>\n",)])
def test_a_page_without_an_action_is_an_error_by_name(pages: tuple[str, ...]) -> None:
    assert errors(read(rendered(*pages), NAME)) == [(1, "no_steps")]


def test_another_page_is_no_run_and_one_in_a_folder_is() -> None:
    assert errors(read(b"<!DOCTYPE html><html><body><pre>x</pre></body></html>", "a.html")) == [(1, "not_a_trace")]
    assert runs_among(["out/render_21.html", "out/index.html", "out/log.md"]) == ["out/render_21.html"]


def test_damaged_pages_give_runs_or_errors_by_name() -> None:
    for copy in damaged(RUN, 6, 400):
        read_without_error(copy, NAME, "webarena")
