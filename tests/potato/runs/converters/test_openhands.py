"""Runs of OpenHands: events and results of the first versions, and conversations of version 1."""

import io
import json
import zipfile
from pathlib import Path
from typing import Any

from potato.runs.changes.derive import derive
from potato.runs.converters.reading import read_file
from potato.runs.model import AgentRun, Converted, ReadingOptions, Unreadable
from potato.runs.packages import run_files, sources_in
from potato.runs.run_files import source_at
from tests.potato.runs.damaged_files import read_damaged
from tests.potato.runs.reading import jsonl, read, runs, the_one, the_refusal
from tests.shared_data import shared_file


def v0_action(
    number: int, action: str, *, response: str = "", tool: tuple[str, str, Any] = ("", "", {}), **args: Any
) -> Any:
    event = {
        "id": number, "timestamp": f"2025-01-01T10:00:{number:02}", "source": "agent", "message": "The program's words",
        "action": action, "args": args,
    }  # fmt: skip
    if response:
        name, call_id, arguments = tool
        function = {"name": name, "arguments": json.dumps(arguments)}
        message = {"role": "assistant", "content": "x", "reasoning_content": "Because.",
                   "tool_calls": [{"id": call_id, "function": function}]}  # fmt: skip
        event["tool_call_metadata"] = {
            "function_name": name, "tool_call_id": call_id,
            "model_response": {"id": response, "model": "claude-x", "choices": [{"message": message}]},
        }  # fmt: skip
    return event


def v0_observation(number: int, cause: int, kind: str, content: str = "", **extras: Any) -> Any:
    return {
        "id": number, "timestamp": f"2025-01-01T10:00:{number:02}", "source": "agent", "message": "I did.",
        "cause": cause, "observation": kind, "content": content, "extras": extras,
    }  # fmt: skip


TASK = {"id": 0, "timestamp": "2025-01-01T10:00:00", "source": "user", "message": "Round.", "action": "message",
        "args": {"content": "Round."}}  # fmt: skip
EDIT = {"command": "str_replace", "path": "/workspace/cart.py", "old_str": "a", "new_str": "b"}
EVENTS = [
    TASK,
    v0_action(1, "system", content="You are an agent."),
    v0_action(
        2, "run", response="r1", tool=("execute_bash", "c1", {"command": "cat cart.py"}), command="x", thought="I look."
    ),
    v0_action(3, "edit", response="r1", tool=("str_replace_editor", "c2", EDIT), path="/workspace/cart.py", thought=""),
    v0_observation(4, 2, "run", "a\n", metadata={"exit_code": 1}),
    v0_observation(
        5, 3, "edit", "edited", path="/workspace/cart.py", prev_exist=True, old_content="a\nc\n", new_content="b\nc\n"
    ),
    v0_action(6, "weather"),
    v0_action(7, "finish", final_thought="Rounded."),
]  # fmt: skip


def changes_in(run: AgentRun) -> dict[str, tuple[str, int, int]]:
    """Path, operation, lines added and removed of the files that the run changed."""
    files = [file for file in derive(run).files if file.operation != "unchanged"]
    return {file.path: (file.operation, file.added, file.removed) for file in files}


def test_actions_of_one_answer_are_a_step_with_the_models_own_calls() -> None:
    converted = the_one(json.dumps(EVENTS).encode(), "trajectory.json")
    run = converted.run
    assert (run.task, run.agent_model, run.started_at) == ("Round.", "claude-x", "2025-01-01T10:00:00")
    first, second, last = run.steps
    assert (first.message, first.thought) == ("I look.", "Because.")
    assert [(call.name, call.arguments, call.is_error) for call in first.calls] == [
        ("execute_bash", {"command": "cat cart.py"}, True),
        ("str_replace_editor", EDIT, False),
    ]
    assert [call.name for call in second.calls] == ["weather"]
    assert (last.message, [call.name for call in last.calls]) == ("Rounded.", ["finish"])
    assert changes_in(run) == {"cart.py": ("modified", 1, 1)}
    assert converted.report.dropped == {"system": 1}
    assert the_one(jsonl(*EVENTS)).run.steps == run.steps


def test_an_answer_that_stands_with_each_of_its_actions_is_thought_once() -> None:
    converted = the_one(json.dumps(EVENTS).encode(), "trajectory.json")
    assert converted.run.steps[0].thought == "Because."
    assert converted.report.repairs == {}


def test_an_edit_without_the_file_around_it_is_read_by_its_command() -> None:
    events = [TASK, EVENTS[3], v0_observation(5, 3, "edit", "The file /workspace/cart.py has been edited.")]
    assert changes_in(the_one(json.dumps(events).encode(), "t.json").run) == {"cart.py": ("modified", 1, 1)}


def test_what_was_delegated_is_folded_under_its_call_and_a_refusal_is_none_of_the_agents_faults() -> None:
    events = [
        TASK,
        v0_action(1, "delegate", agent="Browser", inputs={"task": "look"}, thought="Ask."),
        v0_action(2, "write", path="/workspace/n.txt", content="x\n"),
        v0_observation(3, 2, "write", "", path="/workspace/n.txt"),
        v0_observation(4, 1, "delegate", "looked"),
        v0_action(5, "run", command="rm x"),
        v0_observation(6, 5, "user_rejected", "no"),
    ]
    run = the_one(json.dumps(events).encode(), "t.json").run
    assert [[call.name for call in step.calls] for step in run.steps] == [["delegate"], ["execute_bash"]]
    (agent,) = run.steps[0].agents
    assert (agent.name, len(agent.steps)) == ("Browser", 1)
    assert run.steps[0].calls[0].result == "looked"
    assert changes_in(run) == {"n.txt": ("added", 1, 0)}
    assert run.event_steps == (0,)
    assert run.steps[1].calls[0].refused


PATCH = "diff --git a/cart.py b/cart.py\n--- a/cart.py\n+++ b/cart.py\n@@ -1 +1 @@\n-a\n+b\n"


def test_a_row_of_results_has_its_patch_and_facts() -> None:
    row = {
        "instance_id": "shop__cart-7", "instruction": "Round.", "instance": {"repo": "shop/cart", "base_commit": "1"},
        "metadata": {"llm_config": {"model": "claude-x"}}, "history": EVENTS, "test_result": {"git_patch": PATCH},
        "metrics": {"accumulated_cost": 0.5}, "error": None,
    }  # fmt: skip
    run = the_one(jsonl(row), "output.jsonl").run
    assert (run.external_id, run.instance_id, run.repo, run.task) == (
        "shop__cart-7",
        "shop__cart-7",
        "shop/cart",
        "Round.",
    )
    assert run.patch == PATCH.encode()
    assert len(run.steps) == 3
    pairs = {**row, "history": [[{"action": "run", "command": "ls", "thought": "I look."},
                                 {"observation": "run", "content": "cart.py", "exit_code": 0}]]}  # fmt: skip
    (step,) = the_one(jsonl(pairs), "output.jsonl").run.steps
    assert (step.message, step.calls[0].name, step.calls[0].result) == ("I look.", "execute_bash", "cart.py")
    empty = {"instance_id": "x", "instruction": "Round.", "history": [], "test_result": {"git_patch": ""}}
    assert the_refusal_behind(jsonl(empty)).code == "no_steps"


def the_refusal_behind(data: bytes) -> Unreadable:
    _, refusal = read(data, "output.jsonl")
    assert isinstance(refusal, Unreadable)
    return refusal


def v1(number: int, kind: str, parent: str = "", **members: Any) -> dict[str, Any]:
    event = {"id": f"e{number}", "timestamp": f"2026-01-01T10:00:{number:02}", "kind": kind, **members}
    return {**event, "parent_id": parent} if parent else event


def v1_action(number: int, tool: str, arguments: Any, response: str, parent: str = "", thought: str = "") -> Any:
    call = {"id": f"c{number}", "name": tool, "arguments": json.dumps(arguments), "origin": "completion"}
    thoughts = [{"type": "text", "text": thought}] if thought else []
    return v1(number, "ActionEvent", parent, source="agent", thought=thoughts,
              reasoning_content="Because." if thought else None, action={"kind": "X", **arguments}, tool_name=tool,
              tool_call_id=f"c{number}", tool_call=call, llm_response_id=response)  # fmt: skip


def v1_observation(number: int, call: int, parent: str = "", **observation: Any) -> Any:
    return v1(number, "ObservationEvent", parent, source="environment", tool_name="t", tool_call_id=f"c{call}",
              action_id=f"e{call}", observation={"kind": "O", **observation})  # fmt: skip


def text_of(words: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": words}]


STATE = {
    "id": "conversation-1", "agent": {"kind": "Agent", "llm": {"model": "claude-y"}},
    "workspace": {"working_dir": "/work/shop"},
    "execution_status": "finished", "max_iterations": 500, "persistence_dir": "x", "leaf_event_id": "e8",
}  # fmt: skip
V1 = [
    v1(0, "SystemPromptEvent", source="agent"),
    v1(1, "MessageEvent", "e0", source="user", llm_message={"role": "user", "content": text_of("Round.")}),
    v1_action(2, "terminal", {"command": "ls"}, "r1", "e1", "I look."),
    v1_action(3, "file_editor", {"command": "create", "path": "/work/shop/a.py", "file_text": "x\n"}, "r1", "e2"),
    v1_observation(4, 2, "e3", content=text_of("cart.py"), exit_code=0),
    v1_observation(5, 3, "e4", content=text_of("created"), is_error=False, path="/work/shop/a.py", prev_exist=False,
                   old_content=None, new_content="x\ny\n"),
    v1_action(6, "terminal", {"command": "left"}, "r2", "e5", "I leave this branch."),
    v1(7, "Condensation", "e5", source="environment", forgotten_event_ids=[]),
    v1(8, "MessageEvent", "e7", source="agent", llm_message={"role": "assistant", "content": text_of("Rounded.")}),
]  # fmt: skip


def files_of_v1(folder: str = "c1/") -> dict[str, bytes]:
    files = {
        f"{folder}events/event-{at:05}-{event['id']}.json": json.dumps(event).encode() for at, event in enumerate(V1)
    }
    return {f"{folder}base_state.json": json.dumps(STATE).encode(), **files}


def zipped(files: dict[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as package:
        for name, data in files.items():
            package.writestr(name, data)
    return packed.getvalue()


def runs_in(data: bytes) -> list[Converted | Unreadable]:
    entries: list[Converted | Unreadable] = []
    for source in sources_in("all.zip", lambda: io.BytesIO(data)):
        assert not isinstance(source, Unreadable), source
        entries += [entry for entry in read_file(source, ReadingOptions()) if isinstance(entry, Converted | Unreadable)]
    return entries


def test_a_conversation_of_version_1_is_one_run_of_its_live_branch() -> None:
    (converted,) = runs_in(zipped(files_of_v1()))
    assert isinstance(converted, Converted)
    run = converted.run
    assert (run.external_id, run.agent_model, run.folder, run.task) == (
        "conversation-1",
        "claude-y",
        "/work/shop",
        "Round.",
    )
    assert [(step.message, step.thought, len(step.calls), step.dividers) for step in run.steps] == [
        ("I look.", "Because.", 2, ()),
        ("Rounded.", "", 0, ("compacted",)),
    ]
    assert changes_in(run) == {"a.py": ("added", 2, 0)}
    assert converted.report.dropped == {"SystemPromptEvent": 1, "event of an abandoned branch": 1}


def test_a_folder_a_list_and_a_download_give_the_same_steps(tmp_path: Path) -> None:
    linear = [event for event in V1 if event["id"] != "e6"]
    as_list = the_one(json.dumps(linear).encode(), "events.json").run
    download = {f"event_{at:06}_{event['id']}.json": json.dumps(event).encode() for at, event in enumerate(linear)}
    (downloaded,) = runs_in(zipped(download))
    for name, data in files_of_v1("").items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(data)
    (path,) = run_files(tmp_path)
    (in_folder,) = runs(read_file(source_at(path), ReadingOptions()))
    assert isinstance(downloaded, Converted)
    assert [step.message for step in as_list.steps] == ["I look.", "Rounded."]
    assert [step.calls for step in as_list.steps] == [step.calls for step in in_folder.steps]
    assert as_list.steps == downloaded.run.steps == in_folder.steps


def test_a_base_state_without_its_events_is_refused_with_what_to_do() -> None:
    _, refusal = read(json.dumps(STATE).encode(), "base_state.json")
    assert isinstance(refusal, Unreadable)
    assert refusal.sentence.endswith("Import it together with its folder events/, as a folder or a ZIP.")


def test_errors_refusals_and_unknown_events_of_version_1() -> None:
    events = [
        *V1[:4],
        v1(4, "AgentErrorEvent", source="agent", error="no such tool", tool_call_id="c2"),
        v1(5, "UserRejectObservation", rejection_reason="not now", rejection_source="user", tool_call_id="c3"),
        v1(6, "Sunrise"),
    ]
    converted = the_one(jsonl(*events))
    first, second = converted.run.steps[0].calls
    assert (first.is_error, first.result, second.refused) == (True, "no such tool", True)
    assert converted.report.unknown == {"event Sunrise": 1}
    assert changes_in(converted.run) == {}


PICTURE = "iVBORw0KGgo="


def test_contents_that_further_tools_record_and_the_pages_of_a_browser_are_read() -> None:
    edit = {"file_path": "/work/a.py", "old_string": "x", "new_string": "y"}
    events = [
        *V1[:2],
        v1_action(2, "edit", edit, "r1", thought="I edit."),
        v1_action(3, "write_file", {"file_path": "/work/b.py", "content": "1\n"}, "r1"),
        v1_observation(4, 2, content=text_of("ok"), file_path="/work/a.py", is_new_file=False, replacements_made=1,
                       old_content="x\nx = 1\n", new_content="y\nx = 1\n"),
        v1_observation(5, 3, content=text_of("ok"), file_path="/work/b.py", is_new_file=True, old_content=None,
                       new_content="1\n2\n"),
        v1_action(6, "browser_get_state", {}, "r2", thought="I look at the page."),
        v1_observation(7, 6, content=text_of("a page"), screenshot_data=PICTURE),
    ]  # fmt: skip
    events[1] = {**events[1], "extended_content": text_of("<EXTRA_INFO>a skill</EXTRA_INFO>")}
    converted = the_one(jsonl(*events))
    assert changes_in(converted.run) == {"/work/a.py": ("modified", 1, 1), "/work/b.py": ("added", 2, 0)}
    (call,) = converted.run.steps[1].calls
    assert call.result == "a page\n\n[image/png, 8 bytes]"
    assert [picture.data[:4] for picture in call.pictures] == [b"\x89PNG"]
    assert (converted.run.task, converted.report.dropped) == (
        "Round.",
        {"SystemPromptEvent": 1, "context that the program wrote": 1},
    )


def acp(number: int, call: str, status: str, **members: Any) -> dict[str, Any]:
    members = {"raw_input": None, "raw_output": None, "content": None, "is_error": False, **members}
    title = f"Title of {call}"
    return v1(number, "ACPToolCallEvent", source="agent", tool_call_id=call, title=title, status=status, **members)


def test_calls_of_an_agent_behind_the_agent_client_protocol_are_told_once_by_their_last_state() -> None:
    edit = {"file_path": "/work/shop/a.py", "old_string": "x", "new_string": "y"}
    difference = {"type": "diff", "path": "/work/shop/a.py", "old_text": "x", "new_text": "y"}
    new_file = {"type": "diff", "path": "/work/shop/b.py", "oldText": None, "newText": "1\n2\n"}
    wrapped = {"type": "content", "content": {"type": "text", "text": "two files"}}
    events = [
        *V1[:2],
        acp(2, "t1", "pending"),
        acp(3, "t1", "in_progress", tool_kind="execute", raw_input={"command": "ls"}),
        acp(4, "t2", "in_progress", tool_kind="edit", raw_input=edit),
        acp(5, "t1", "completed", tool_kind="execute", raw_input={"command": "ls"}, raw_output="cart.py"),
        acp(6, "t2", "completed", tool_kind="edit", raw_input=edit, content=[difference, new_file, wrapped]),
        acp(7, "t3", "failed", tool_kind="execute", raw_input={"command": ["bash", "-lc", "echo x > c.py"]},
            raw_output={"formatted_output": "no", "exit_code": 1}, is_error=True),
        acp(8, "t4", "completed", tool_kind="edit", raw_input=edit | {"old_string": "no such line"}, is_error=True),
        acp(9, "t5", "in_progress", tool_kind="other"),
        v1(10, "MessageEvent", source="agent", llm_message={"role": "assistant", "content": text_of("Rounded.")}),
    ]  # fmt: skip
    converted = the_one(jsonl(*events))
    calls = [call for step in converted.run.steps for call in step.calls]
    assert [(call.name, call.arguments, call.result, call.is_error) for call in calls] == [
        ("execute", {"command": "ls"}, "cart.py", False),
        ("edit", edit, "two files", False),
        ("execute", {"command": ["bash", "-lc", "echo x > c.py"]}, "no", True),
        ("edit", edit | {"old_string": "no such line"}, "", True),
        ("Title of t5", {"title": "Title of t5"}, None, False),
    ]
    assert [step.message for step in converted.run.steps] == ["", "", "", "", "", "Rounded."]
    assert changes_in(converted.run)["/work/shop/a.py"] == ("modified", 1, 1)
    assert changes_in(converted.run)["/work/shop/b.py"] == ("added", 2, 0)
    assert converted.report.dropped == {"SystemPromptEvent": 1, "earlier state of a call": 3}
    assert not converted.report.unknown


def test_what_a_conversation_of_version_1_took_stands_in_its_state() -> None:
    metrics = {
        "agent": {
            "accumulated_cost": 0.5,
            "token_usages": [
                {"response_id": "r1", "prompt_tokens": 10, "completion_tokens": 3, "cache_read_tokens": 4}
            ],
            "response_latencies": [{"response_id": "r1", "latency": 1.5}],
        },
        "condenser": {"accumulated_cost": 0.25},
    }  # fmt: skip
    files = files_of_v1()
    files["c1/base_state.json"] = json.dumps({**STATE, "stats": {"usage_to_metrics": metrics}}).encode()
    (converted,) = runs_in(zipped(files))
    assert isinstance(converted, Converted)
    usage = converted.run.steps[0].usage
    assert (converted.run.cost_usd, usage.input_tokens, usage.output_tokens) == (0.75, 10, 3)
    assert (usage.cached_tokens, usage.seconds) == (4, 1.5)
    update = v1(9, "ConversationStateUpdateEvent", key="full_state", value=STATE)
    cost = v1(10, "ConversationStateUpdateEvent", key="stats", value={"usage_to_metrics": metrics})
    run = the_one(jsonl(*V1[:6], update, cost)).run
    assert (run.external_id, run.agent_model, run.cost_usd) == ("conversation-1", "claude-y", 0.75)


def test_files_whose_marks_stand_behind_a_long_text_are_known_by_what_comes_first() -> None:
    row = {"instance_id": "x", "instruction": "Round.", "test_result": {"git_patch": PATCH}, "notes": "x" * 100_000}
    assert the_one(jsonl({**row, "history": EVENTS}), "output.jsonl").run.patch == PATCH.encode()
    agent = {"llm": {"model": "claude-y"}, "prompt": "x" * 100_000}
    state = {"id": "conversation-1", "agent": agent, **{key: STATE[key] for key in STATE if key not in ("id", "agent")}}
    (converted,) = runs_in(zipped({**files_of_v1(), "c1/base_state.json": json.dumps(state).encode()}))
    assert isinstance(converted, Converted)
    assert converted.run.external_id == "conversation-1"


def test_what_is_no_openhands_is_refused() -> None:
    assert the_refusal(jsonl({"action": "x", "mood": 1})).code == "not_a_trace"


def test_real_files_have_the_actions_files_and_patches_that_stand_in_them() -> None:
    for name, steps, calls in (("basic.json", 2, 2), ("basic_interactions.json", 3, 1)):
        path = shared_file(f"openhands/{name}")
        acts = [event for event in json.loads(path.read_text()) if event.get("source") == "agent" and "action" in event]
        assert len(acts) == steps
        (run,) = runs(read_file(source_at(path), ReadingOptions()))
        assert len(run.steps) == steps
        assert sum(len(step.calls) for step in run.steps) == calls == sum(act["action"] != "message" for act in acts)
    (run,) = runs(read_file(source_at(shared_file("openhands/basic.json")), ReadingOptions()))
    assert [file.path for file in derive(run).files] == ["game_2048.py"]


def test_real_results_have_their_calls_and_the_lines_of_their_patches() -> None:
    path = shared_file("openhands/resolver_output.jsonl")
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    found = runs(read_file(source_at(path), ReadingOptions()))
    assert len(found) == len(rows) == 2
    for row, run in zip(rows, found, strict=True):
        acts = [event for event in row["history"] if event.get("action", "message") != "message"]
        assert sum(len(step.calls) for step in run.steps) == len(acts)
        assert all(call.result is not None for step in run.steps for call in step.calls)
        added = [line for line in row["git_patch"].splitlines() if line.startswith("+") and not line.startswith("+++")]
        assert sum(file.added for file in derive(run).files) == len(added)


def test_broken_files_raise_nothing() -> None:
    assert read_damaged(json.dumps(EVENTS).encode(), "t.json", "openhands", seed=1) > 30
    assert read_damaged(jsonl(*V1), "t.jsonl", "openhands", seed=2) > 50
    row = {"instance_id": "x", "instruction": "Round.", "history": EVENTS, "git_patch": PATCH, "issue": {"owner": "a"}}
    assert read_damaged(jsonl(row, row), "output.jsonl", "openhands", seed=3, number=150) > 30
    for number, (name, data) in enumerate(files_of_v1().items()):
        broken = {**files_of_v1(), name: data[: number * 7]}
        assert runs_in(zipped(broken)) is not None
