"""Runs of an agent that reads pages by their screenshots: chat messages become steps, each with what the agent saw."""

import base64

import pytest

from potato.runs.converters.reading import read_file
from potato.runs.model import Bounds, Converted, ReadingOptions, Screenshot, Step, ToolCall
from potato.runs.run_files import InMemoryRunFile, source_at
from tests.potato.runs.damaged_files import damaged, read_without_error, retyped
from tests.potato.runs.reading import errors, jsonl, read, runs, the_one, the_refusal
from tests.potato.runs.web_runs import RUN, SYSTEM, acted, as_json, asked, drawn, observed, omitted
from tests.shared_data import shared_file, shared_files

NAME = "interact_messages.json"


def steps_of(*messages: object) -> tuple[Step, ...]:
    return the_one(as_json([SYSTEM, *messages]), NAME).run.steps


def test_each_message_of_the_agent_is_a_step_and_the_prompt_is_none() -> None:
    run = the_one(as_json(RUN), NAME).run

    assert run.task == "Find the help page."
    assert [(step.message, step.calls[0].name, step.calls[0].arguments) for step in run.steps] == [
        ("The help is linked at the top.", "Click", {"element": 7}),
        ("I search in it.", "Type", {"element": 3, "content": "abstracts in two languages"}),
        ("I have it.", "ANSWER", {"content": "A line of dashes"}),
    ]
    assert [step.screenshot for step in run.steps] == [
        Screenshot("screenshot1.png"),
        Screenshot("screenshot2.png"),
        Screenshot("screenshot3.png"),
    ]
    assert [step.url for step in run.steps] == ["https://example.org/", "", ""]


def test_the_elements_that_the_agent_saw_stand_before_its_step() -> None:
    *_, last = the_one(as_json(RUN), NAME).run.steps
    assert last.prompt == '- [3] <input> "Search"\n- [7] "Help"\n- [12] <button> "Send", "Send the form"'


def test_what_the_file_leaves_out_is_counted() -> None:
    assert the_one(as_json(RUN), NAME).report.dropped == {
        "instruction of the agent": 1,
        "observation that the file leaves out": 2,
    }


@pytest.mark.parametrize(
    ("action", "name", "arguments"),
    [
        ("Click 4", "Click", {"element": 4}),
        ("Type [2]; [two words]", "Type", {"element": 2, "content": "two words"}),
        ("Type [2]; a\nb", "Type", {"element": 2, "content": "a\nb"}),
        ("Scroll [WINDOW]; down", "Scroll", {"element": "WINDOW", "direction": "down"}),
        ("Scroll [8]; up", "Scroll", {"element": 8, "direction": "up"}),
        ("Wait", "Wait", {}),
        ("GoBack", "GoBack", {}),
        ("Google", "Google", {}),
        ("ANSWER; 1. One\n2. Two", "ANSWER", {"content": "1. One\n2. Two"}),
        ("Press the red one", "action", {"input": "Press the red one"}),
    ],
)
def test_actions_are_read_as_the_agent_was_told_to_write_them(
    action: str, name: str, arguments: dict[str, object]
) -> None:
    (step,) = steps_of(asked(), acted("So.", action))
    assert step.calls == (ToolCall("", name, arguments, ""),)


def test_an_answer_of_the_program_belongs_to_the_action_before_and_an_error_has_no_new_page() -> None:
    first, second, third = steps_of(
        asked(),
        acted("One.", "Click [99]"),
        {"role": "user", "content": "The action you have chosen cannot be executed. Please double-check."},
        acted("Two.", "Click [7]"),
        observed(told=" You downloaded a PDF file."),
        acted("Three.", "Wait"),
    )
    assert (first.calls[0].result, first.calls[0].is_error) == (
        "The action you have chosen cannot be executed. Please double-check.",
        True,
    )
    assert second.screenshot is None
    assert (second.calls[0].result, second.calls[0].is_error) == ("You downloaded a PDF file.", False)
    assert third.screenshot == Screenshot("screenshot3.png")


def test_a_picture_in_the_messages_themselves_is_read() -> None:
    picture = drawn()
    url = f"data:image/png;base64,{base64.b64encode(picture).decode()}"
    *_, last = steps_of(asked(), acted("One.", "Wait"), observed(picture=url), acted("Two.", "Wait"))
    assert last.screenshot == Screenshot("screenshot2.png", picture)


def test_a_message_without_an_action_is_a_step_all_the_same() -> None:
    (step,) = steps_of(asked(), {"role": "assistant", "content": "I cannot browse."})
    assert (step.message, step.calls) == ("I cannot browse.", ())


def test_several_runs_stand_in_one_file_with_their_facts() -> None:
    data = jsonl(
        {"id": "run-1", "agent_model": "m", "task_id": "t", "messages": RUN},
        {"id": "run-2", "messages": [SYSTEM, asked("Other."), acted("So.", "Wait"), omitted()]},
    )
    one, two = runs(read(data))
    assert (one.external_id, one.agent_model, one.task_id, one.task) == ("run-1", "m", "t", "Find the help page.")
    assert (two.external_id, two.task, len(two.steps)) == ("run-2", "Other.", 1)


def test_a_run_without_an_id_is_named_after_its_folder_or_its_content() -> None:
    source = InMemoryRunFile(NAME, as_json(RUN))
    source.folder = "taskForms--2"
    _, named = read_file(source, ReadingOptions())
    assert isinstance(named, Converted)
    assert named.run.external_id == "taskForms--2"

    alone = the_one(as_json(RUN), NAME).run.external_id
    other = the_one(as_json(RUN[:-1]), NAME).run.external_id
    assert alone.startswith("webvoyager-")
    assert alone == the_one(as_json(RUN), NAME).run.external_id != other


def test_what_is_no_message_and_a_run_without_a_step_are_told() -> None:
    assert errors(read(as_json([SYSTEM, asked()]), NAME)) == [(1, "no_steps")]
    assert errors(read(as_json([SYSTEM, {"a": 1}, asked(), acted("So.", "Wait")]), NAME)) == [(2, "no_message")]


def test_damaged_runs_give_runs_or_errors_by_name() -> None:
    for changed in retyped(list(RUN), 23, 300):
        read_without_error(jsonl(*changed), NAME, "webvoyager")
    for copy in damaged(as_json(RUN), 23, 100):
        read_without_error(copy, NAME, "webvoyager")


def test_a_run_over_the_bound_is_refused_by_name() -> None:
    options = ReadingOptions(bounds=Bounds(run_bytes=400))
    assert errors(read(as_json(RUN), NAME, options=options))[0][1] == "too_large"


def test_other_chats_are_none_of_these() -> None:
    chat = as_json([{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Hello"}])
    assert the_refusal(chat, "chat.json").code == "not_a_trace"


def test_real_runs_are_read_with_their_screenshots() -> None:
    for path in shared_files("web-agent/webvoyager/*/interact_messages.json"):
        chosen, converted = read_file(source_at(path), ReadingOptions())
        assert isinstance(converted, Converted)
        assert chosen.format == "webvoyager"  # type: ignore[union-attr]
        assert converted.run.external_id == path.parent.name
        assert converted.run.task
        assert not converted.report.unknown
        assert not converted.report.repairs
        assert all(step.message and step.calls and step.calls[0].name != "action" for step in converted.run.steps)
        assert converted.run.steps[-1].calls[0].name == "ANSWER"

    source = source_at(shared_file("web-agent/webvoyager/taskArXiv--11/interact_messages.json"))
    _, converted = read_file(source, ReadingOptions())
    assert isinstance(converted, Converted)
    names = [step.screenshot.name for step in converted.run.steps if step.screenshot]
    assert len(names) == len(converted.run.steps) == 7
    assert all(source.beside(name) for name in names)
