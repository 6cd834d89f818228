"""What `atif` writes: trajectories by the rules of the format, with what each person said of each step."""

import json
from pathlib import Path
from typing import Any

import pytest

from potato.runs.model import AgentRun, Step, SubAgent, ToolCall
from tests.potato.formats.files import exported, folder, json_lines, refused, without_django
from tests.potato.formats.rewarded import RECORDS, RUNS, first_error, per_step, record

DELEGATING = AgentRun(
    "delegating",
    "Ask the others",
    steps=(
        Step(
            "Both of you",
            thought="hidden",
            calls=(ToolCall("", "agent", ["not", "an object"], "done"), ToolCall("a", "agent", {}, is_error=True)),
            at="2026-03-01T10:00:00Z",
            agents=(
                SubAgent("one", "a", "Look", (Step("I looked", agents=(SubAgent("inner", "", "", (Step("in"),)),)),)),
                SubAgent("two", "", "Think", (Step("I thought"),)),
            ),
        ),
        Step("nul \0 lone \udcff", calls=(ToolCall("x", "f", {}), ToolCall("x", "f", {}, "1")), prompt="Go on", at="?"),
        Step("Ready", after="Thanks"),
    ),
    agent_model="model-a",
    repo="acme/parser",
)
OF_DELEGATING = (record("delegating", "ann", first_error(1)), record("delegating", "bob", per_step(1.0, None, -1.0)))


def trajectories(source: Path) -> dict[str, dict[str, Any]]:
    rows = json_lines(exported(source, "atif", ".jsonl"))
    for row in rows:
        assert_is_trajectory(row)
        json.dumps(row, ensure_ascii=False).encode("utf-8")
    return {row["session_id"]: row for row in rows}


def assert_is_trajectory(given: dict[str, Any]) -> None:
    """The rules of the format, as its models have them; `make train-check` asks these models themselves."""
    assert given["schema_version"] == "ATIF-v1.7"
    assert {"name", "version"} <= given["agent"].keys()
    embedded = [one["trajectory_id"] for one in given.get("subagent_trajectories", [])]
    assert len(set(embedded)) == len(embedded)
    assert [step["step_id"] for step in given["steps"]] == list(range(1, len(given["steps"]) + 1))
    for step in given["steps"]:
        assert step["source"] in ("user", "agent")
        assert step["source"] == "agent" or not step.keys() & {"tool_calls", "reasoning_content", "model_name"}
        names = [call["tool_call_id"] for call in step.get("tool_calls", [])]
        assert all(names)
        assert len(set(names)) == len(names)
        assert all(isinstance(call["arguments"], dict) for call in step.get("tool_calls", []))
        for result in step.get("observation", {}).get("results", []):
            assert result.get("source_call_id") in (None, *names)
            for reference in result.get("subagent_trajectory_ref", []):
                assert reference["trajectory_id"] in embedded
    for one in given.get("subagent_trajectories", []):
        assert_is_trajectory(one)


def test_each_annotated_trace_is_a_trajectory_with_all_that_was_said_of_it(tmp_path: Path) -> None:
    found = trajectories(folder(tmp_path / "output", RECORDS, *RUNS))
    assert list(found) == ["alpha", "beta", "gamma", "delta", "empty", "talk", "short"]
    alpha = found["alpha"]
    assert alpha["agent"]["model_name"] == "model-a"
    assert [(step["source"], step.get("extra", {}).get("step")) for step in alpha["steps"]] == [
        ("user", None),
        ("agent", 0),
        ("agent", 1),
        ("agent", 2),
    ]
    first = alpha["steps"][1]
    assert (first["message"], first["reasoning_content"]) == ("Search first, alpha", "hidden")
    assert first["tool_calls"][0] == {
        "tool_call_id": "1",
        "function_name": "search",
        "arguments": {"query": "Tokyo", "deep": True},
    }
    assert first["observation"] == {"results": [{"source_call_id": "1", "content": "13,960,000 people"}]}
    assert alpha["steps"][2]["extra"]["rewards"] == [
        {"annotator": "ann", "reward": 1.0, "label": 1},
        {"annotator": "bob", "reward": -1.0, "label": -1},
        {"annotator": "cyd", "reward": -1.0, "label": -1, "correction": "Look at the file"},
    ]
    # A step that is neutral has a reward, and nothing is to be learned from it.
    assert first["extra"]["rewards"][1] == {"annotator": "bob", "reward": 1.0, "label": None}
    given = alpha["extra"]["annotations"]
    assert [one["annotator"] for one in given] == ["ann", "bob", "cyd"]
    assert given[0]["annotations"] == RECORDS[0]["annotations"]
    # A step that nobody rated has no rewards.
    assert [len(step.get("extra", {}).get("rewards", [])) for step in found["beta"]["steps"]] == [0, 2, 1, 2]
    assert all("rewards" not in step.get("extra", {}) for step in found["short"]["steps"])


def test_agents_that_a_call_started_and_calls_without_an_own_id_have_theirs(tmp_path: Path) -> None:
    found = trajectories(folder(tmp_path / "output", OF_DELEGATING, DELEGATING))["delegating"]
    assert [step["source"] for step in found["steps"]] == ["user", "agent", "user", "agent", "agent", "user"]
    act, later = found["steps"][1], found["steps"][3]
    assert [call["tool_call_id"] for call in act["tool_calls"]] == ["call_1", "a"]
    assert act["tool_calls"][0]["arguments"] == {"value": ["not", "an object"]}
    assert act["observation"]["results"] == [
        {"source_call_id": "call_1", "content": "done", "subagent_trajectory_ref": [{"trajectory_id": "agent-0.1"}]},
        {
            "source_call_id": "a",
            "subagent_trajectory_ref": [{"trajectory_id": "agent-0.0"}],
            "extra": {"is_error": True},
        },
    ]
    one, two = found["subagent_trajectories"]
    assert [step["message"] for step in one["steps"]] == ["Look", "I looked"]
    assert [step["message"] for step in one["subagent_trajectories"][0]["steps"]] == ["in"]
    assert two["agent"]["name"] == "two"
    assert later["message"] == "nul \ufffd lone \ufffd"
    assert [call["tool_call_id"] for call in later["tool_calls"]] == ["x", "x_"]
    assert "timestamp" not in later
    # The rewards stand at the steps that annotators saw, whatever the user said in between.
    assert [one["reward"] for one in later["extra"]["rewards"]] == [-1.0]
    assert [one["reward"] for one in found["steps"][4]["extra"]["rewards"]] == [-1.0, -1.0]


def test_an_annotation_without_its_trace_is_left_out_and_nothing_is_no_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = folder(tmp_path / "output", [record("nowhere", "ann", first_error(None))], *RUNS)
    assert "Left out: 1 without trace." in refused(capsys, source, "atif", suffix=".jsonl")


def test_it_writes_the_same_without_django(tmp_path: Path) -> None:
    source = folder(tmp_path / "output", RECORDS, *RUNS)
    done = without_django("-i", str(source), "-f", "atif", "-o", "atif.jsonl", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "atif.jsonl").read_bytes() == exported(source, "atif", ".jsonl")
