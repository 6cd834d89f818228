"""Langfuse exports: traces with their observations, pages of them, and observations alone."""

import json
from typing import Any

from potato.runs.changes.derive import derive
from potato.runs.model import AgentRun, Unreadable
from tests.potato.runs.damaged_files import read_damaged
from tests.potato.runs.reading import jsonl, read, runs, the_one


def observation(number: int, kind: str, parent: int = 0, **more: Any) -> dict[str, Any]:
    return {
        "id": f"o{number}", "traceId": "t1", "type": kind, "name": f"{kind.lower()} {number}", "level": "DEFAULT",
        "startTime": f"2026-01-01T10:{number // 60:02}:{number % 60:02}.000Z",
        "parentObservationId": f"o{parent}" if parent else None, **more,
    }  # fmt: skip


def openai_call(call_id: str, name: str, **arguments: Any) -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}


ASKED = [{"role": "system", "content": "You are an agent."}, {"role": "user", "content": "Round."}]
FIRST = {"role": "assistant", "content": "I write.", "reasoning_content": "Because.", "tool_calls": [
    openai_call("a", "write_file", path="x.py", content="x\n"),
    openai_call("b", "bash", command="pytest")]}  # fmt: skip
BACK = [
    {"role": "tool", "tool_call_id": "a", "content": "written"},
    {"role": "tool", "tool_call_id": "b", "content": "failed"},
]
OBSERVATIONS = [
    observation(1, "AGENT", name="coder"),
    observation(2, "GENERATION", 1, model="gpt-x", input=ASKED, output=FIRST),
    observation(3, "TOOL", 1, name="write_file",
                input={"id": "a", "name": "write_file", "args": {"path": "x.py"}}, output="written"),
    observation(4, "TOOL", 1, name="bash", input={"command": "pytest"}, output=None, level="ERROR",
                statusMessage="failed", metadata={"tool_call_id": "b"}),
    observation(5, "GENERATION", 1, model="gpt-x", input={"messages": [*ASKED, FIRST, *BACK]}, output="Done."),
    observation(6, "SPAN", 1, name="retry"),
]  # fmt: skip
TRACE = {"id": "t1", "name": "rounding", "timestamp": "2026-01-01T10:00:00Z", "input": "Round.", "output": "Done."}


def trace(**more: Any) -> bytes:
    return json.dumps({**TRACE, "observations": OBSERVATIONS, **more}, indent=1).encode()


def changed(run: AgentRun) -> list[tuple[str, int]]:
    return [(file.path, file.added) for file in derive(run).files]


def test_a_trace_is_a_run_of_its_generations_and_tools() -> None:
    converted = the_one(trace(), "trace.json")
    run = converted.run
    assert (run.external_id, run.task, run.agent_model) == ("t1", "Round.", "gpt-x")
    first, last = run.steps
    assert (first.message, first.thought, first.at) == ("I write.", "Because.", "2026-01-01T10:00:02.000Z")
    assert [(call.id, call.name, call.result, call.is_error) for call in first.calls] == [
        ("a", "write_file", "written", False),
        ("b", "bash", "failed", True),
    ]
    assert (last.message, last.calls) == ("Done.", ())
    assert changed(run) == [("x.py", 1)]
    assert converted.report.dropped == {"system message": 1, "span retry": 1}


def test_pages_lists_lines_and_names_with_underscores_are_the_same_run() -> None:
    whole = the_one(trace(), "trace.json").run
    shallow = [{**each, "input": json.dumps(each["input"]) if "input" in each else None} for each in OBSERVATIONS]
    renamed = ("traceId", "startTime", "parentObservationId")
    stored = [
        {
            "trace_id": each["traceId"], "start_time": each["startTime"],
            "parent_observation_id": each["parentObservationId"],
            **{key: member for key, member in each.items() if key not in renamed},
        }
        for each in shallow
    ]  # fmt: skip
    page = {"data": [{**TRACE, "observations": OBSERVATIONS}], "meta": {"page": 1}}
    export = {"trace": TRACE, "observations": OBSERVATIONS}
    for data, name in (
        (json.dumps(page, indent=1).encode(), "page.json"),
        (json.dumps(export, indent=1).encode(), "export.json"),
        (json.dumps(OBSERVATIONS, indent=1).encode(), "observations.json"),
        (jsonl(*stored), "observations.jsonl"),
    ):
        assert the_one(data, name).run.steps == whole.steps, name


def test_a_trace_without_a_generation_is_read_by_its_own_input_and_output() -> None:
    run = the_one(trace(observations=[]), "trace.json").run
    assert (run.task, [step.message for step in run.steps]) == ("Round.", ["Done."])
    answers = read(json.dumps({**TRACE, "input": None, "output": None, "observations": []}).encode(), "trace.json")
    assert [answer.code for answer in answers if isinstance(answer, Unreadable)] == ["no_steps"]


def test_a_trace_that_names_observations_which_are_not_there_says_so() -> None:
    trace = {"id": "t1", "timestamp": "2026-01-01T10:00:00Z", "name": "x", "input": "Round.", "output": "Done."}
    page = {"data": [{**trace, "observations": ["o1", "o2"]}], "meta": {"page": 1}}
    run = the_one(json.dumps(page, indent=1).encode(), "traces.json").run
    assert [step.message for step in run.steps] == ["Done."]
    assert run.gaps[0].startswith("The trace names 2 observations, which are not here")


def test_messages_of_the_ai_sdk_have_calls_and_results() -> None:
    outputs = [
        {"type": "text", "value": "x.py"},
        {"type": "error-text", "value": "no"},
        {"type": "json", "value": {"a": 1}},
        {"type": "content", "value": [{"type": "text", "text": "seen"}]},
    ]
    calls = [
        {"type": "tool-call", "toolCallId": f"c{at}", "toolName": "bash", "input": {}} for at in range(len(outputs))
    ]
    back = [{"type": "tool-result", "toolCallId": f"c{at}", "output": output} for at, output in enumerate(outputs)]
    messages = [
        {"role": "user", "content": [{"type": "text", "text": "Round."}]},
        {"role": "assistant", "content": [{"type": "reasoning", "text": "Because."}, *calls]},
        {"role": "tool", "content": back},
    ]
    made = observation(1, "GENERATION", input={"messages": messages}, output={"role": "assistant", "content": "Done."})
    converted = the_one(jsonl(made), "o.jsonl")
    first, last = converted.run.steps
    assert [(call.name, call.result, call.is_error) for call in first.calls] == [
        ("bash", "x.py", False),
        ("bash", "no", True),
        ("bash", '{\n  "a": 1\n}', False),
        ("bash", "seen", False),
    ]
    assert (first.thought, last.message, converted.report.unknown) == ("Because.", "Done.", {})


def test_an_agent_under_an_agent_is_folded_under_the_call_of_its_tool() -> None:
    asked = [{"id": "h", "name": "ask", "args": {"task": "Look."}}]
    langchain = {"type": "ai", "content": "I ask.", "tool_calls": asked}
    blocks = [
        {"type": "text", "text": "I look."},
        {"type": "tool_use", "id": "z", "name": "bash", "input": {"command": "ls"}},
    ]
    inner = {"role": "assistant", "content": blocks}
    observations = [
        observation(1, "AGENT"),
        observation(2, "GENERATION", 1, input=[{"type": "human", "content": "Round."}], output=langchain),
        observation(
            3, "TOOL", 1, name="ask", input={"task": "Look."}, output={"content": "looked", "tool_call_id": "h"}
        ),
        observation(4, "AGENT", 3, name="helper"),
        observation(5, "GENERATION", 4, input=[{"role": "user", "content": "Look."}], output=inner),
    ]
    run = the_one(trace(observations=observations), "trace.json").run
    (step,) = run.steps
    assert [(call.name, call.result) for call in step.calls] == [("ask", "looked")]
    (agent,) = step.agents
    assert (agent.name, agent.call_id, agent.task) == ("helper", "h", "Look.")
    assert [call.name for each in agent.steps for call in each.calls] == ["bash"]


def test_traces_are_runs_of_their_own() -> None:
    other = {**TRACE, "id": "t2", "observations": [{**each, "traceId": "t2"} for each in OBSERVATIONS]}
    found = runs(read(jsonl({**TRACE, "observations": OBSERVATIONS}, other), "traces.jsonl"))
    assert [run.external_id for run in found] == ["t1", "t2"]


def test_broken_files_raise_nothing() -> None:
    assert read_damaged(trace(), "trace.json", "langfuse", seed=14, number=450) > 60
    assert read_damaged(jsonl(*OBSERVATIONS), "o.jsonl", "langfuse", seed=15, number=240) > 60


def test_files_whose_marks_stand_behind_a_long_text_are_known_by_what_comes_first() -> None:
    facts = {
        "id": "t1",
        "name": "x",
        "timestamp": "2026-01-01T10:00:00Z",
        "public": False,
        "bookmarked": False,
        "projectId": "p",
    }
    data = json.dumps({**facts, "input": "x" * 100_000, "output": "Done.", "observations": OBSERVATIONS}, indent=1)
    assert len(the_one(data.encode(), "trace.json").run.steps) == 2
