"""Trajectories of ATIF: of every version, with agents inside, and broken as they are found."""

import io
import json
import zipfile
from typing import Any

from potato.runs.changes.derive import derive
from potato.runs.converters.reading import read_file
from potato.runs.model import AgentRun, Converted, ReadingOptions, Unreadable
from potato.runs.packages import sources_in
from potato.runs.run_files import source_at
from tests.potato.runs.damaged_files import read_damaged
from tests.potato.runs.reading import jsonl, read, runs, the_one
from tests.shared_data import shared_file, shared_files

AGENT = {"name": "tester", "version": "1", "model_name": "model-1", "extra": {"cwd": "/work"}}


def step(number: int, source: str, message: Any = "", **more: Any) -> dict[str, Any]:
    return {
        "step_id": number,
        "source": source,
        "message": message,
        "timestamp": f"2026-01-01T10:00:{number:02}Z",
        **more,
    }


def call(call_id: str, name: str, **arguments: Any) -> dict[str, Any]:
    return {"tool_call_id": call_id, "function_name": name, "arguments": arguments}


def results(*entries: Any) -> dict[str, Any]:
    return {"results": list(entries)}


def trajectory(*steps: Any, **more: Any) -> dict[str, Any]:
    return {"schema_version": "ATIF-v1.6", "session_id": "s", "agent": AGENT, "steps": list(steps), **more}


def document(value: Any) -> bytes:
    return json.dumps(value, indent=1).encode()


PICTURE = {"type": "image", "source": {"media_type": "image/png", "path": "a.png"}}
EDITING = trajectory(
    step(1, "system", "You are an agent."),
    step(2, "user", [{"type": "text", "text": "Round."}, PICTURE]),
    step(
        3, "agent", "I edit.", reasoning_content="Because.", model_name="model-2",
        tool_calls=[call("a", "str_replace_editor", command="create", path="/work/x.py", file_text="x\n"),
                    call("b", "bash", command="make fmt")],
        observation=results({"source_call_id": "a", "content": "File created successfully at: /work/x.py"}),
    ),
    step(4, "system", "", observation=results({"source_call_id": "b", "content": [{"type": "text", "text": "ok"}]})),
    step(5, "user", "Go on."),
    step(6, "agent", "Done."),
)  # fmt: skip


def changes_in(run: AgentRun) -> dict[str, tuple[str, int, int]]:
    """Path, operation, lines added and removed of the files that the run changed."""
    files = [file for file in derive(run).files if file.operation != "unchanged"]
    return {file.path: (file.operation, file.added, file.removed) for file in files}


def test_steps_of_the_agent_are_steps_with_their_results_wherever_they_stand() -> None:
    converted = the_one(document(EDITING), "trajectory.json")
    run = converted.run
    assert (run.external_id, run.task, run.folder) == ("s", "Round.\n\n[image/png a.png]", "/work")
    assert [(entry.message, entry.thought, entry.prompt, len(entry.calls)) for entry in run.steps] == [
        ("I edit.", "Because.", "", 2),
        ("Done.", "", "Go on.", 0),
    ]
    assert [entry.result for entry in run.steps[0].calls] == ["File created successfully at: /work/x.py", "ok"]
    assert changes_in(run) == {"x.py": ("added", 1, 0)}
    assert converted.report.dropped == {"system step": 1}
    assert converted.report.repairs == {}


def test_a_list_and_lines_of_trajectories_are_a_run_each_and_a_session_may_have_no_id() -> None:
    nameless = {key: value for key, value in EDITING.items() if key != "session_id"}
    other = {**nameless, "trajectory_id": "t", "schema_version": "ATIF-v1.8"}
    for data, name in ((document([EDITING, other]), "a.json"), (jsonl(EDITING, other), "a.jsonl")):
        assert [run.external_id for run in runs(read(data, name))] == ["s", "t"]


def with_agents(ref: Any, **more: Any) -> dict[str, Any]:
    child = trajectory(
        step(1, "user", "Look."),
        step(2, "agent", "", tool_calls=[call("w", "write_file", file_path="y.py", content="y\n")],
             observation=results({"source_call_id": "w", "content": "ok"})),
        session_id="child", agent={**AGENT, "name": "helper"},
    )  # fmt: skip
    asked = results({"source_call_id": "t", "content": "looked", "subagent_trajectory_ref": ref})
    parent = step(2, "agent", "I ask.", tool_calls=[call("t", "ask", prompt="Look.")], observation=asked)
    return trajectory(step(1, "user", "Round."), parent, subagent_trajectories=[child], **more)


def test_agents_inside_are_folded_under_the_call_that_names_them() -> None:
    for ref in ([{"session_id": "child"}], {"trajectory_id": "x", "session_id": "child"}):
        run = the_one(document(with_agents(ref)), "t.json").run
        (entry,) = run.steps
        (agent,) = entry.agents
        assert (agent.name, agent.call_id, agent.task, len(agent.steps)) == ("helper", "t", "Look.", 1)
        assert changes_in(run) == {"y.py": ("added", 1, 0)}
        assert run.event_steps == (0,)
        assert run.gaps == ()


def test_an_agent_in_another_file_is_said() -> None:
    run = the_one(document(with_agents([{"session_id": "elsewhere", "trajectory_path": "b.json"}])), "t.json").run
    assert run.gaps[0].startswith("The trajectory of a sub-agent is in another file, and what happened there")


def test_a_trajectory_that_goes_on_in_another_file_says_so() -> None:
    goes_on = trajectory(
        step(1, "user", "Round."), step(2, "agent", "I look."), continued_trajectory_ref="t.cont-1.json"
    )
    (gap,) = the_one(json.dumps(goes_on).encode(), "t.json").run.gaps
    assert gap == "The trajectory goes on in another file, t.cont-1.json, which is a run of its own."


def test_broken_ones_are_read_and_what_was_mended_is_counted() -> None:
    broken = {
        "schema_version": "1.4",
        "agent": {"name": "x"},
        "steps": [
            step(1, "user", "Round."),
            {"step_id": 2, "source": "agent", "tool_calls": [{"id": "a", "name": "bash", "input": {"command": "ls"}}],
             "observation": {"content": {"files": 1}}},
            {"step_id": 3, "source": "agent", "message": "ls again", "observation": results({"content": "x.py"})},
            {"step_id": 4, "source": "dream", "message": "zzz"},
            "step",
            step(5, "agent", "old", is_copied_context=True),
        ],
    }  # fmt: skip
    converted = the_one(document(broken), "t.json")
    assert [[entry.name for entry in each.calls] for each in converted.run.steps] == [["bash"], ["(no call)"]]
    assert json.loads(converted.run.steps[0].calls[0].result or "") == {"files": 1}
    assert converted.report.unknown == {"step of the source dream": 1, "step that is no object": 1}
    assert converted.report.dropped == {"copied step": 1}
    assert converted.report.repairs == {
        "call with other names than ATIF's": 1,
        "observation in another form than ATIF's": 1,
        "result without its call": 1,
    }


def test_where_system_steps_alone_tell_what_was_done_they_are_the_agents() -> None:
    steps = [
        step(1, "system", "You are an agent."),
        step(2, "user", "Round."),
        *(step(n, "system", f"Phase {n}") for n in (3, 4)),
    ]
    converted = the_one(document(trajectory(*steps)), "t.json")
    assert [entry.message for entry in converted.run.steps] == ["Phase 3", "Phase 4"]
    assert converted.report.repairs["system steps alone: read as the agent's"] == 1


def test_lines_with_a_step_each_are_one_run_and_their_index_belongs_to_them() -> None:
    head = {"schema_version": "ATIF-v1.4", "session_id": "s", "agent": AGENT}
    lines = jsonl(head, *EDITING["steps"])
    run = the_one(lines, "s.atif.jsonl").run
    assert run.steps == the_one(document(EDITING), "t.json").run.steps
    _, refusal = read(document({**head, "status": "complete"}), "s.index.json")
    assert isinstance(refusal, Unreadable)
    assert refusal.sentence.startswith("s.index.json is the index of an ATIF trajectory and has no steps.")
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as package:
        package.writestr("day/s.atif.jsonl", lines)
        package.writestr("day/s.index.json", document(head))
    names = [
        source.name
        for source in sources_in("a.zip", lambda: io.BytesIO(packed.getvalue()))
        if not isinstance(source, Unreadable)
    ]
    assert names == ["day/s.atif.jsonl"]


def test_real_trajectories_have_the_steps_and_calls_that_stand_in_them() -> None:
    number = 0
    for path in (*shared_files("atif/*.json"), *shared_files("atif/converted-from-claude-code/*.json")):
        steps = [entry for entry in json.loads(path.read_text())["steps"] if entry["source"] == "agent"]
        calls = {entry["tool_call_id"] for each in steps for entry in each.get("tool_calls") or []}
        told = [each for each in steps if each["message"] or each.get("reasoning_content") or each.get("tool_calls")]
        (entry,) = [entry for entry in read_file(source_at(path), ReadingOptions()) if isinstance(entry, Converted)]
        assert sum(len(each.calls) for each in entry.run.steps) == len(calls), path
        assert len(entry.run.steps) == len(told) - entry.report.dropped["empty message"], path
        assert entry.report.unknown == {}, path
        number += 1
    assert number == 7


def test_the_changes_are_those_of_the_sessions_that_were_converted() -> None:
    for path in shared_files("atif/converted-from-claude-code/*.json"):
        session = shared_file(f"claude-code/{path.name.removesuffix('.trajectory.json')}/session.jsonl")
        (run,) = runs(read_file(source_at(path), ReadingOptions()))
        (original,) = runs(read_file(source_at(session), ReadingOptions()))
        assert run.external_id == original.external_id
        assert set(changes_in(run)) == set(changes_in(original)), path
        grown = [sum(added - removed for _, added, removed in changes_in(each).values()) for each in (run, original)]
        assert grown[0] == grown[1], path


def test_real_indexes_are_refused_with_what_they_are() -> None:
    for path in shared_files("atif/openagents/*.index.json"):
        (refusal,) = [entry for entry in read_file(source_at(path), ReadingOptions()) if isinstance(entry, Unreadable)]
        assert "is the index of an ATIF trajectory" in refusal.sentence


def test_broken_files_raise_nothing() -> None:
    assert read_damaged(document(with_agents([{"session_id": "child"}])), "t.json", "atif", seed=4) > 50
    assert read_damaged(document(EDITING), "t.json", "atif", seed=5) > 50
    head = {"schema_version": "ATIF-v1.4", "session_id": "s", "agent": AGENT}
    assert read_damaged(jsonl(head, *EDITING["steps"]), "t.jsonl", "atif", seed=6, number=150) > 50
