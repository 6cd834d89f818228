"""Thought, action, observation: runs as text and as JSON, several in one file, and what stands between them."""

import json
from typing import Any

import pytest

from potato.runs.model import Bounds, Converted, ReadingOptions, ToolCall
from tests.potato.runs.reading import errors, jsonl, read, runs, the_one
from tests.shared_data import shared_file

RUN = """12 Question: Which city is larger, Tokyo or New York?
Thought 1: I look up Tokyo.
It is in Japan.
Action 1: Search[Tokyo]
Observation 1: Tokyo has 14 million people.

Its wider area has 37.
Thought 2: That is enough.
Action 2: Finish[Tokyo]
Observation 2: Episode finished, reward = 1
"""
NOISE = "\n{'steps': 2, 'answer': 'Tokyo', 'reward': 1}\n\n1 1 1.0 4.5\n"


def test_a_printed_run_becomes_its_steps() -> None:
    run = the_one(RUN.encode(), "run.txt").run
    assert (run.external_id, run.task) == ("12", "Question: Which city is larger, Tokyo or New York?")
    first, last = run.steps
    assert first.message == "I look up Tokyo.\nIt is in Japan."
    assert first.calls == (
        ToolCall("", "Search", {"input": "Tokyo"}, "Tokyo has 14 million people.\n\nIts wider area has 37."),
    )
    assert last.calls[0].arguments == {"input": "Tokyo"}


@pytest.mark.parametrize("between", [f"{NOISE}-----------\n\n", NOISE, "\n"])
def test_runs_stand_apart_by_a_rule_or_by_the_next_task(between: str) -> None:
    answers = read((RUN + between + RUN.replace("12 ", "13 ")).encode(), "runs.txt")
    assert [run.external_id for run in runs(answers)] == ["12", "13"]
    assert [len(run.steps) for run in runs(answers)] == [2, 2]
    assert errors(answers) == []


def test_what_the_program_printed_after_a_run_is_counted_and_is_no_part_of_it() -> None:
    converted = the_one((RUN + NOISE).encode(), "run.txt")
    assert converted.report.dropped == {"result of the run": 1, "running averages": 1}
    assert converted.run.steps[-1].calls[0].result == "Episode finished, reward = 1"


def test_a_question_inside_an_observation_begins_no_run() -> None:
    text = RUN.replace("Its wider area has 37.", "Question: how many?")
    assert len(runs(read(text.encode(), "run.txt"))) == 1


def test_labels_without_numbers_and_actions_of_another_form() -> None:
    run = the_one(
        b"Tidy up\nThought: list it\nAction: ls -l\nObservation: a\nAction: rm a\nObservation: ok\n", "r.txt"
    ).run
    assert run.external_id == "r.txt#1"
    assert [(step.message, step.calls[0].arguments) for step in run.steps] == [
        ("list it", {"input": "ls -l"}),
        ("", {"input": "rm a"}),
    ]


def test_an_observation_without_an_action_is_kept_and_counted() -> None:
    converted = the_one(b"T\nThought: a\nAction: b[c]\nObservation: d\nObservation: e\n", "r.txt")
    assert [call.result for call in converted.run.steps[0].calls] == ["d", "e"]
    assert converted.report.repairs == {"observation without an action": 1}


def test_bytes_that_are_no_utf_8_come_through() -> None:
    run = the_one(RUN.encode().replace(b"14 million", b"\xff\x00million"), "run.txt").run
    assert "\udcff\x00million" in (run.steps[0].calls[0].result or "")


STEPS: list[dict[str, Any]] = [
    {"thought": "I look up Tokyo.", "action": "Search[Tokyo]", "observation": "14 million"},
    {"thought": "Enough.", "action": {"name": "Finish", "arguments": {"answer": "Tokyo"}}},
]


@pytest.mark.parametrize("key", ["steps", "trajectory", "history", "react"])
def test_json_of_the_same_manner(key: str) -> None:
    record = {"id": "t1", "question": "Which?", "model": "agent-1", key: STEPS}
    for data in (jsonl(record), json.dumps([record], indent=1).encode()):
        run = the_one(data, "runs.json").run
        assert (run.external_id, run.task, run.agent_model) == ("t1", "Which?", "agent-1")
        assert [step.message for step in run.steps] == ["I look up Tokyo.", "Enough."]
        assert run.steps[0].calls == (ToolCall("", "Search", {"input": "Tokyo"}, "14 million"),)
        assert run.steps[1].calls == (ToolCall("", "Finish", {"answer": "Tokyo"}, None),)


def test_an_action_with_its_input_beside_it() -> None:
    steps = [{"thought": "a", "action": "search", "action_input": {"q": 1}, "observation": ""}]
    call = the_one(jsonl({"id": "t", "steps": steps})).run.steps[0].calls[0]
    assert call == ToolCall("", "search", {"q": 1}, "")


def test_what_cannot_be_read_is_an_error_by_name_and_the_rest_comes() -> None:
    records = [
        {"id": "a", "steps": [{"thought": 1, "action": "x"}]},
        {"id": "b", "steps": [{"thought": "t", "action": "x", "observation": ["y"]}]},
        {"id": "c", "steps": STEPS},
        {"id": "d", "steps": []},
        {"id": "e", "steps": [{"thought": "t", "action": 3, "observation": "y"}]},
    ]
    answers = read(jsonl(*records), named="react", explicit=True)
    assert errors(answers) == [(1, "wrong_shape"), (2, "wrong_shape"), (4, "no_steps"), (5, "wrong_shape")]
    assert [run.external_id for run in runs(answers)] == ["c"]


def test_text_without_labels_is_refused() -> None:
    assert errors(read(b"just a text\n", "r.txt", named="react", explicit=True)) == [(1, "no_steps")]


def test_a_run_over_the_bound_is_an_error_and_the_next_one_comes() -> None:
    data = (RUN.replace("37", "3" * 3000) + "-----\n" + RUN).encode()
    answers = read(data, "r.txt", options=ReadingOptions(bounds=Bounds(run_bytes=2000)), named="react", explicit=True)
    assert errors(answers) == [(1, "too_large")]
    assert len(runs(answers)) == 1


def test_the_printed_runs_of_a_notebook() -> None:
    path = shared_file("react/fever-runs.txt")
    answers = read(path.read_bytes(), path.name)
    found = [answer for answer in answers if isinstance(answer, Converted)]
    assert len(found) == 25
    assert errors(answers) == []
    assert all(one.run.task.startswith("Claim: ") and one.run.steps[-1].calls[0].name == "Finish" for one in found)
