"""Potato's own trace format: what it says, what it refuses, and that every run survives a trip through it."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from potato.runs.converters.native import run_as_native
from potato.runs.exact_json import canonical, canonical_parts, step_from, step_record
from potato.runs.model import (
    AgentRun,
    Divider,
    Excerpt,
    FileEdit,
    FileOutcome,
    FilePatch,
    FileRead,
    FileTouched,
    FileWrite,
    ReadingOptions,
    Screenshot,
    Step,
    SubAgent,
    ToolCall,
    Unreadable,
)
from tests.potato.runs.reading import jsonl, read, runs, the_one, the_refusal

DOCUMENTATION = Path(__file__).resolve().parents[4] / "docs" / "trace-format.md"


def test_a_whole_record_is_read_member_by_member() -> None:
    record = {
        "id": "trace_042",
        "task_description": "Round prices.",
        "task_id": "round",
        "agent_model": "agent-1",
        "instance_id": "shop__cart-7",
        "repo": "shop/cart",
        "tags": ["python", "money"],
        "folder": "/home/alice/shop",
        "started_at": "2026-03-01T10:00:00Z",
        "steps": [
            {
                "message": "I edit.",
                "thought": "Floats.",
                "prompt": "Go on.",
                "at": "2026-03-01T10:00:01Z",
                "tool_calls": [
                    {"id": "c1", "name": "bash", "arguments": {"command": "ls"}, "result": "cart.py", "is_error": False}
                ],
            }
        ],
        "files": [
            {"path": "cart.py", "operation": "modified", "old_text": "a\n", "new_text": "b\n"},
            {"path": "new.py", "new_text": "x\n"},
            {"path": "gone.py", "old_text": "y\n"},
            {"path": "now.py", "old_path": "then.py"},
        ],
        "patch": "diff --git a/cart.py b/cart.py\n",
    }
    converted = the_one(jsonl(record))
    assert converted.run == AgentRun(
        external_id="trace_042",
        task="Round prices.",
        steps=(
            Step(
                message="I edit.",
                thought="Floats.",
                prompt="Go on.",
                at="2026-03-01T10:00:01Z",
                calls=(ToolCall("c1", "bash", {"command": "ls"}, "cart.py"),),
            ),
        ),
        events=(
            FileOutcome("cart.py", "modified", "", "a\n", "b\n"),
            FileOutcome("new.py", "added", "", None, "x\n"),
            FileOutcome("gone.py", "deleted", "", "y\n", None),
            FileOutcome("now.py", "renamed", "then.py"),
        ),
        event_steps=(None, None, None, None),
        patch=b"diff --git a/cart.py b/cart.py\n",
        folder="/home/alice/shop",
        task_id="round",
        agent_model="agent-1",
        instance_id="shop__cart-7",
        repo="shop/cart",
        tags=("python", "money"),
        started_at="2026-03-01T10:00:00Z",
    )
    assert converted.report.unknown == {}


def test_the_project_names_the_id_and_the_task() -> None:
    record = {"key": 7, "goal": "Round.", "id": "not this", "steps": [{"message": "Yes."}]}
    converted = the_one(jsonl(record), options=ReadingOptions(id_key="key", text_key="goal"))
    assert (converted.run.external_id, converted.run.task) == ("7", "Round.")
    assert converted.report.unknown == {"member id": 1}


def test_members_that_the_form_does_not_know_are_counted() -> None:
    record = {"id": "x", "mood": 1, "steps": [{"message": "a", "cost": 2}, {"message": "b", "cost": 3}]}
    assert the_one(jsonl(record)).report.unknown == {"member mood": 1, "member steps[].cost": 2}


def test_a_result_that_is_no_text_is_written_as_json_and_counted() -> None:
    converted = the_one(jsonl({"id": "x", "steps": [{"tool_calls": [{"name": "f", "result": [1, 2]}]}]}))
    assert converted.run.steps[0].calls[0].result == "[\n  1,\n  2\n]"
    assert converted.report.repairs == {"result that is no text": 1}


@pytest.mark.parametrize(
    ("record", "sentence"),
    [
        ({"steps": {}}, "Record 1: steps must be a list, got an object."),
        ({"steps": ["a"]}, "Record 1: steps[0] must be an object, got a text."),
        ({"steps": [{"thought": 1}]}, "Record 1: steps[0].thought must be a text, got a number."),
        ({"task_description": []}, "Record 1: task_description must be a text, got a list."),
        (
            {"steps": [{"tool_calls": [{"name": "f", "is_error": "no"}]}]},
            "Record 1: steps[0].tool_calls[0].is_error must be true or false, got a text.",
        ),
        ({"files": [{"new_text": ""}]}, "Record 1: files[0].path is missing."),
        (
            {"files": [{"path": "a", "operation": "lost"}]},
            "Record 1: files[0].operation must be added, modified, deleted or renamed, got 'lost'.",
        ),
        (
            {"files": [{"path": "a", "operation": "modified"}]},
            "Record 1: files[0].new_text is missing: a file that was modified has a text afterwards.",
        ),
        (
            {"file_events": [{"kind": "edit", "path": "a", "step": 3}]},
            "Record 1: file_events[0].step must be the index of a step, below 0, got 3.",
        ),
        (
            {"file_events": [{"kind": "wish", "path": "a"}]},
            "Record 1: file_events[0].kind must be read, edit, write, patch, outcome or touched, got 'wish'.",
        ),
        ({"id": "x"}, "Record 1 has no steps, no files and no patch, so there is nothing to judge."),
    ],
)
def test_what_is_wrong_is_said_with_its_place(record: dict[str, Any], sentence: str) -> None:
    _, refusal = read(jsonl(record), named="native", explicit=True)
    assert getattr(refusal, "sentence", refusal) == sentence


def test_every_example_of_the_documentation_is_a_trace() -> None:
    examples = re.findall(r"```json\n(.*?)```", DOCUMENTATION.read_text(), re.DOTALL)
    assert len(examples) >= 2
    for example in examples:
        converted = the_one(example.encode(), "example.json")
        assert converted.run.external_id
        assert converted.report.unknown == {}


def through_json(text: str) -> str:
    """The text as JSON can say it: two lone surrogates that make a pair are one character."""
    value: str = json.loads(json.dumps(text))
    return value


texts = st.text(st.characters(exclude_categories=()) | st.sampled_from("\0\ud800\udc80\r\n\u202e"), max_size=12)
kept_texts = texts.map(through_json)
some_texts = kept_texts.filter(bool)
optional = st.none() | kept_texts
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | kept_texts,
    lambda children: st.lists(children, max_size=3) | st.dictionaries(kept_texts, children, max_size=3),
    max_leaves=6,
)
lines = st.lists(kept_texts, max_size=3).map(tuple)
excerpt_lines = kept_texts.map(lambda text: text.replace("\n", ""))
excerpts = st.lists(
    st.builds(Excerpt, st.integers(1, 99), st.lists(excerpt_lines, min_size=1, max_size=3).map(tuple)), max_size=2
).map(tuple)
events = st.one_of(
    st.builds(FileRead, some_texts, optional, excerpts),
    st.builds(
        FileEdit, some_texts, kept_texts, kept_texts, st.booleans(), optional, st.none() | st.integers(0, 99), excerpts
    ),
    st.builds(FileWrite, some_texts, kept_texts, optional, st.none() | st.booleans(), st.booleans()),
    st.builds(
        FilePatch,
        some_texts,
        st.lists(st.tuples(lines, lines), max_size=2).map(tuple),
        st.sampled_from(["added", "modified", "deleted"]),
        kept_texts,
        is_shared=st.booleans(),
    ),
    st.builds(FilePatch, some_texts, st.tuples(st.tuples(lines, lines)), starts=st.tuples(st.integers(0, 99))),
    st.builds(FileTouched, some_texts, some_texts, st.booleans()),
    st.builds(FileOutcome, some_texts, st.sampled_from(["deleted", "renamed"]), kept_texts, optional, optional),
    st.builds(FileOutcome, some_texts, st.sampled_from(["added", "modified"]), kept_texts, optional, kept_texts),
)
hashes = st.sampled_from(["", "0123456789abcdef" * 4])
sides = st.integers(0, 100_000)
lengths = st.integers(-100_000, 100_000) | st.floats(-1e5, 1e5)
some_calls = st.lists(
    st.builds(ToolCall, kept_texts, kept_texts, values, optional, st.booleans(), st.booleans()), max_size=2
).map(tuple)
dividers = st.lists(st.sampled_from(get_args(Divider)), max_size=2).map(tuple)


def agents_with(steps: st.SearchStrategy[Step]) -> st.SearchStrategy[tuple[SubAgent, ...]]:
    listed = st.lists(steps, max_size=2).map(tuple)
    return st.lists(st.builds(SubAgent, kept_texts, kept_texts, kept_texts, listed), max_size=2).map(tuple)


steps_of_agents = st.recursive(
    st.builds(Step, kept_texts, calls=some_calls, dividers=dividers, after=kept_texts),
    lambda children: st.builds(Step, kept_texts, agents=agents_with(children)),
    max_leaves=4,
)
steps = st.builds(
    Step,
    kept_texts,
    kept_texts,
    some_calls,
    kept_texts,
    kept_texts,
    kept_texts,
    st.none()
    | st.builds(
        Screenshot, kept_texts.filter(bool), st.just(b"") | st.binary(min_size=2), hashes, sides, sides, kept_texts
    ),
    st.none() | st.tuples(lengths, lengths),
    st.none() | st.tuples(lengths, lengths, lengths, lengths),
    dividers,
    kept_texts,
    agents_with(steps_of_agents),
)


@st.composite
def whole_runs(draw: st.DrawFn) -> AgentRun:
    """A run of at least one step, with every member that a run can have."""
    its_steps = tuple(draw(st.lists(steps, min_size=1, max_size=3)))
    its_events = tuple(draw(st.lists(events, max_size=4)))
    indices = st.none() | st.integers(0, len(its_steps) - 1)
    names = ("folder", "task_id", "agent_model", "instance_id", "repo", "started_at", "agent", "base_commit")
    facts = {key: draw(kept_texts) for key in names}
    return AgentRun(
        external_id=draw(kept_texts),
        task=draw(kept_texts),
        steps=its_steps,
        events=its_events,
        event_steps=tuple(draw(indices) for _ in its_events),
        patch=draw(st.none() | st.binary(max_size=40)),
        tags=tuple(draw(st.lists(some_texts, max_size=2))),
        unknown_events=tuple(draw(st.lists(values, max_size=2))),
        gaps=tuple(draw(st.lists(kept_texts, max_size=2))),
        cost_usd=draw(st.none() | st.floats(0, 1e6)),
        **facts,
    )


@given(st.lists(whole_runs(), min_size=1, max_size=3))
@settings(max_examples=200, deadline=None)
def test_every_run_survives_being_written_and_read(written: list[AgentRun]) -> None:
    data = jsonl(*(run_as_native(run) for run in written))
    assert runs(read(data, named="native", explicit=True)) == written


@given(whole_runs())
@settings(max_examples=100, deadline=None)
def test_the_parts_of_a_run_are_its_one_text(run: AgentRun) -> None:
    native = run_as_native(run)
    assert b"".join(canonical_parts(native)) == canonical(native)
    assert b"".join(canonical_parts({})) == canonical({})


@given(steps)
@settings(max_examples=100, deadline=None)
def test_every_step_survives_being_stored(step: Step) -> None:
    stored = step if step.screenshot is None else replace(step, screenshot=replace(step.screenshot, data=b""))
    assert step_from(json.loads(canonical(step_record(stored)))) == stored


@pytest.mark.parametrize(
    ("step", "sentence"),
    [
        (
            {"dividers": ["torn"]},
            "Record 1: steps[0].dividers may hold compacted, plan_accepted, restarted, interrupted, got 'torn'.",
        ),
        ({"dividers": "compacted"}, "Record 1: steps[0].dividers must be a list of texts."),
        ({"agents": [{"name": 1}]}, "Record 1: steps[0].agents[0].name must be a text, got a number."),
        ({"agents": [1]}, "Record 1: steps[0].agents[0] must be an object, got a number."),
    ],
)
def test_what_is_wrong_around_a_step_is_said_with_its_place(step: dict[str, Any], sentence: str) -> None:
    _, refusal = read(jsonl({"steps": [step]}), named="native", explicit=True)
    assert getattr(refusal, "sentence", refusal) == sentence


def test_agents_that_start_agents_without_end_are_refused() -> None:
    step: dict[str, Any] = {"message": "x"}
    for _ in range(9):
        step = {"agents": [{"name": "a", "steps": [step]}]}
    _, refusal = read(jsonl({"steps": [step]}), named="native", explicit=True)
    assert "agents may start agents 8 levels deep" in getattr(refusal, "sentence", "")


def test_a_sub_agents_screenshot_is_counted_and_left_out() -> None:
    agent = {"name": "a", "steps": [{"message": "x", "screenshot": "page.png"}]}
    converted = the_one(jsonl({"id": "x", "steps": [{"message": "y", "agents": [agent]}]}))
    assert converted.run.steps[0].agents == (SubAgent("a", steps=(Step("x"),)),)
    assert converted.report.dropped == {"screenshot of a sub-agent": 1}


def test_a_written_run_is_recognised() -> None:
    run = AgentRun("x", "Round.", steps=(Step("Yes."),), patch=b"\xff\0", events=(FileRead("a"),), event_steps=(0,))
    assert the_one(jsonl(run_as_native(run))).run == run


def test_a_record_that_is_no_object_of_ours_is_refused() -> None:
    assert the_refusal(jsonl({"id": "x", "steps": [{"step_id": 1, "source": "agent"}]})).code == "not_a_trace"


def test_lines_with_their_numbers_are_checked_by_name() -> None:
    for value, said in (
        ({"lines": ["a"]}, "file_events[0].excerpts[0].first must be a line number from 1 on, got null."),
        ({"first": 0, "lines": ["a"]}, "file_events[0].excerpts[0].first must be a line number from 1 on"),
        ({"first": 1, "lines": []}, "file_events[0].excerpts[0].lines must be a list of texts"),
        ({"first": 1, "lines": ["a\nb"]}, "must hold a line each"),
    ):
        event = {"kind": "read", "path": "a.py", "excerpts": [value]}
        _, refusal = read(jsonl({"id": "1", "file_events": [event]}), named="native", explicit=True)
        assert isinstance(refusal, Unreadable)
        assert said in refusal.sentence, refusal.sentence
