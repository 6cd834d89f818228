"""Rollouts of Codex: what a session's lines come to, in every version of the format."""

import io
import json
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import zstandard

from potato.runs.changes.derive import derive
from potato.runs.converters.reading import Bookmark, read_file, read_on
from potato.runs.model import AgentRun, Converted, ReadingOptions, Unreadable
from potato.runs.packages import run_files, sources_in
from potato.runs.run_files import InMemoryRunFile, source_at
from tests.potato.runs.damaged_files import read_damaged
from tests.potato.runs.reading import jsonl, read, runs, the_one, the_refusal
from tests.shared_data import shared_file, shared_files

PARENT = "019a0000-0000-7000-8000-00000000000a"
CHILD = "019a0000-0000-7000-8000-00000000000b"


class RolloutFile:
    """Lines of a rollout, each a second after the one before."""

    def __init__(self, **meta: Any) -> None:
        self.lines: list[dict[str, Any]] = []
        self.line("session_meta", {"id": PARENT, "timestamp": self.time(), "cwd": "/work/shop", **meta})
        self.line("turn_context", {"cwd": "/work/shop", "model": "gpt-5-codex"})

    def time(self) -> str:
        return f"2026-05-01T10:{len(self.lines) // 60:02}:{len(self.lines) % 60:02}.000Z"

    def line(self, kind: str, payload: Any, **more: Any) -> "RolloutFile":
        self.lines.append({"timestamp": self.time(), "type": kind, "payload": payload, **more})
        return self

    def item(self, kind: str, **payload: Any) -> "RolloutFile":
        return self.line("response_item", {"type": kind, **payload})

    def event(self, kind: str, **payload: Any) -> "RolloutFile":
        return self.line("event_msg", {"type": kind, **payload})

    def done(self, **item: Any) -> "RolloutFile":
        return self.event("item_completed", thread_id=PARENT, item=item)

    def user(self, words: str) -> "RolloutFile":
        return self.item("message", role="user", content=[{"type": "input_text", "text": words}])

    def agent(self, words: str) -> "RolloutFile":
        return self.item("message", role="assistant", content=[{"type": "output_text", "text": words}])

    def call(self, call_id: str, name: str, **arguments: Any) -> "RolloutFile":
        return self.item("function_call", call_id=call_id, name=name, arguments=json.dumps(arguments))

    def custom(self, call_id: str, name: str, words: str) -> "RolloutFile":
        return self.item("custom_tool_call", call_id=call_id, name=name, input=words)

    def output(self, call_id: str, output: Any, kind: str = "function_call_output") -> "RolloutFile":
        return self.item(kind, call_id=call_id, output=output)

    @property
    def data(self) -> bytes:
        return jsonl(*self.lines)


PATCH = """*** Begin Patch
*** Update File: cart.py
@@ def total():
-    return price
+    return round(price, 2)
*** Add File: notes.md
+Prices are rounded.
*** Delete File: old.py
*** Update File: a.txt
*** Move to: b.txt
@@
-one
+two
*** End Patch"""


def changes_in(run: AgentRun) -> dict[str, tuple[str, int, int]]:
    """Path, operation, lines added and removed of the files that the run changed."""
    return {
        file.path: (file.operation, file.added, file.removed)
        for file in derive(run).files
        if file.operation != "unchanged"
    }


def test_a_step_is_what_the_model_wrote_between_two_answers() -> None:
    file = RolloutFile(git={"repository_url": "https://user@example.com/shop/cart.git", "commit_hash": "0" * 40})
    file.user("<environment_context>\n<cwd>/work/shop</cwd></environment_context>").user("Round the prices.")
    file.item("reasoning", summary=[{"type": "summary_text", "text": "I look first."}], encrypted_content="g==")
    file.agent("I look at the cart.").call("c1", "shell", command=["bash", "-lc", "cat cart.py"])
    file.call("c2", "shell_command", command="ls", workdir="/work/shop")
    file.output("c1", json.dumps({"output": "x = 1\n", "metadata": {"exit_code": 0}}))
    file.output("c2", "Exit code: 1\nWall time: 0 s\nOutput:\nno")
    file.item("reasoning", summary=[], encrypted_content="g==")
    file.agent("Nothing to do.").user("Then end.").agent("Ended.").user("Thanks.")
    converted = the_one(file.data)
    run = converted.run
    assert (run.external_id, run.task, run.agent_model) == (PARENT, "Round the prices.", "gpt-5-codex")
    assert (run.folder, run.repo, run.started_at) == ("/work/shop", "shop/cart", "2026-05-01T10:00:00.000Z")
    assert [(step.message, step.thought, len(step.calls), step.prompt, step.after) for step in run.steps] == [
        ("I look at the cart.", "I look first.", 2, "", ""),
        ("Nothing to do.", "", 0, "", ""),
        ("Ended.", "", 0, "Then end.", "Thanks."),
    ]
    first, second = run.steps[0].calls
    assert (first.arguments, first.result, first.is_error) == (
        {"command": ["bash", "-lc", "cat cart.py"]},
        "x = 1\n",
        False,
    )
    assert second.is_error
    assert converted.report.dropped == {"context that the program wrote": 1, "encrypted reasoning": 1}
    assert converted.report.unknown == {}


@pytest.mark.parametrize(
    "call",
    [
        lambda file: file.custom("c", "apply_patch", PATCH),
        lambda file: file.call("c", "apply_patch", input=PATCH),
        lambda file: file.call("c", "shell", command=["apply_patch", PATCH]),
        lambda file: file.call("c", "exec_command", cmd=f"apply_patch <<'EOF'\n{PATCH}\nEOF\n"),
    ],
)
def test_a_patch_is_read_by_its_grammar_however_it_is_given(call: Any) -> None:
    file = RolloutFile()
    file.user("Round.")
    call(file).output("c", "Success. Updated the following files:\nM cart.py")
    run = the_one(file.data).run
    assert changes_in(run) == {
        "b.txt": ("renamed", 1, 1),
        "cart.py": ("modified", 1, 1),
        "notes.md": ("added", 1, 0),
        "old.py": ("deleted", 0, 0),
    }
    assert set(run.event_steps) == {0}


def test_a_patch_that_did_not_fit_changed_nothing_and_one_without_an_answer_is_said() -> None:
    failed = RolloutFile().user("Round.").custom("c", "apply_patch", PATCH)
    failed.output("c", "apply_patch verification failed: Failed to find expected lines", "custom_tool_call_output")
    assert changes_in(the_one(failed.data).run) == {}
    silent = RolloutFile().user("Round.").custom("c", "apply_patch", PATCH).agent("Done.")
    run = the_one(silent.data).run
    assert changes_in(run) == {}
    assert run.gaps[0].startswith("A call of apply_patch has no answer in the rollout")


def test_recorded_changes_go_before_the_words_of_the_patch() -> None:
    file = RolloutFile().user("Round.").custom("c", "apply_patch", PATCH)
    file.event(
        "patch_apply_end",
        call_id="c",
        success=True,
        changes={
            "/work/shop/cart.py": {
                "type": "update",
                "unified_diff": "@@ -7,2 +7,2 @@\n total\n-    return price\n+    return round(price, 3)\n",
                "move_path": None,
            },
            "notes.md": {"add": {"content": "One.\nTwo.\n"}},
            "gone.py": {"type": "delete", "content": "a\nb\n"},
        },
    )
    run = the_one(file.output("c", "Success.").data).run
    assert changes_in(run) == {"cart.py": ("modified", 1, 1), "notes.md": ("added", 2, 0), "gone.py": ("deleted", 0, 2)}


def test_what_a_program_of_exec_ran_is_shown_as_calls_of_its_step() -> None:
    file = RolloutFile(cli_version="0.146.0").user("Round.")
    file.custom("c", "exec", 'const r = await tools.exec_command({cmd: "pytest"}); await tools.apply_patch(p)')
    file.done(
        type="CommandExecution", id="exec-1", command=["/bin/bash", "-lc", "pytest"], cwd="/work/shop",
        source="agent", status="failed", aggregated_output="1 failed", exit_code=1,
    )  # fmt: skip
    file.done(
        type="FileChange", id="exec-2", status="completed", stdout="Success.",
        changes={"/work/shop/cart.py": {"type": "add", "content": "x = 1\n"}},
    )  # fmt: skip
    file.done(type="McpToolCall", id="exec-3", server="docs", tool="find", arguments={"q": "x"}, status="completed",
              result={"content": [{"type": "text", "text": "found"}]})  # fmt: skip
    file.output("c", [{"type": "input_text", "text": "Script completed\nOutput:\n"}], "custom_tool_call_output")
    file.agent("Done.")
    run = the_one(file.data).run
    assert [(call.name, call.result, call.is_error) for call in run.steps[0].calls] == [
        ("exec", "Script completed\nOutput:\n", False),
        ("exec_command", "1 failed\n(exit code 1)", True),
        ("apply_patch", "Success.", False),
        ("docs.find", "found", False),
    ]
    assert changes_in(run) == {"cart.py": ("added", 1, 0)}
    assert run.gaps == ()
    old = RolloutFile().user("Round.").custom("c", "exec", "await tools.docs.find()").call("d", "docs__find")
    asked = {"server": "docs", "tool": "find", "arguments": {"q": "x"}}
    found = {"Ok": {"content": [{"type": "text", "text": "found"}], "isError": False}}
    for call_id, result in (("exec-1", found), ("exec-2", {"Err": "down"}), ("d", found)):
        old.event("mcp_tool_call_end", call_id=call_id, invocation=asked, result=result)
    old.output("c", "ok", "custom_tool_call_output").output("d", "found")
    converted = the_one(old.data)
    assert [(call.name, call.result, call.is_error) for call in converted.run.steps[0].calls] == [
        ("exec", "ok", False),
        ("docs__find", "found", False),
        ("docs.find", "found", False),
        ("docs.find", "down", True),
    ]
    assert converted.report.dropped["mcp_tool_call_end that says an output again"] == 1
    assert converted.run.gaps == ()
    bare = RolloutFile().user("Round.").custom("c", "exec", "await tools.exec_command({cmd: x})").output("c", "ok")
    assert the_one(bare.data).run.gaps[0].startswith("A program of the tool `exec` ran tools, and the rollout does not")


def test_a_refused_call_is_refused_and_an_interruption_divides() -> None:
    file = RolloutFile().user("Round.").call("c", "shell", command=["rm", "x"])
    file.output("c", "exec command rejected by user").event("turn_aborted", reason="interrupted")
    run = the_one(file.user("Go on.").agent("Yes.").data).run
    assert (run.steps[0].calls[0].refused, run.steps[0].calls[0].is_error) == (True, False)
    assert run.steps[1].dividers == ("interrupted",)


def test_copied_history_is_counted_and_is_no_step() -> None:
    file = RolloutFile(id=CHILD, forked_from_id=PARENT, subagent_history_start_ordinal=4)
    file.line("session_meta", {"id": PARENT}).user("The parent's task.").agent("The parent's words.").user("Look.")
    file.agent("I looked.")
    file.lines = [{**line, "ordinal": at - 1} for at, line in enumerate(file.lines)]
    converted = the_one(file.data)
    assert [step.message for step in converted.run.steps] == ["I looked."]
    assert (converted.run.external_id, converted.run.task) == (CHILD, "Look.")
    assert converted.report.dropped["line of copied history"] == 3
    assert converted.report.dropped["session_meta of another thread"] == 1


def test_turns_that_were_taken_back_are_no_steps_but_their_files_are_in_doubt() -> None:
    file = RolloutFile().user("First.").agent("A.").user("Second.").custom("c", "apply_patch", PATCH)
    file.output("c", "Success.").event("thread_rolled_back", num_turns=1).user("Third.").agent("B.")
    converted = the_one(file.data)
    assert [step.message for step in converted.run.steps] == ["A.", "B."]
    assert converted.report.dropped["line of a turn that was taken back"] == 3
    assert "change_not_recorded" in {badge.code.value for file in derive(converted.run).files for badge in file.badges}


def test_unknown_lines_items_and_events_are_kept_and_counted() -> None:
    file = RolloutFile().user("Round.").item("poem", text="x").event("sunrise", at=1).line("weather", {"a": 1})
    file.lines.append({"mood": 1})
    converted = the_one(file.agent("Done.").data)
    assert converted.report.unknown == {
        "item poem": 1, "event sunrise": 1, "weather": 1, "line without a type": 1,
    }  # fmt: skip
    assert len(converted.run.unknown_events) == 4


def test_the_oldest_files_without_payloads_are_read() -> None:
    data = jsonl(
        {"id": "s1", "timestamp": "2025-05-01T10:00:00Z", "instructions": "x", "git": {}},
        {"record_type": "state"},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Round."}]},
        {
            "type": "local_shell_call",
            "call_id": "c",
            "action": {"type": "exec", "command": ["ls"]},
            "status": "completed",
        },
        {"type": "function_call_output", "call_id": "c", "output": "cart.py"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Done."}]},
    )
    run = the_one(data).run
    assert (run.external_id, run.task, [step.message for step in run.steps]) == ("s1", "Round.", ["", "Done."])
    assert run.steps[0].calls[0].result == "cart.py"


def test_a_file_with_events_alone_is_read_by_them() -> None:
    file = RolloutFile().event("user_message", message="Round.").event("agent_message", message="Rounded.")
    run = the_one(file.data).run
    assert (run.task, [step.message for step in run.steps]) == ("Round.", ["Rounded."])


def family() -> dict[str, bytes]:
    """A session, the agent that it started, and one that this one started, as files by their names."""
    parent = RolloutFile().user("Round.").call("spawn", "spawn_agent", message="Look.")
    parent.output("spawn", json.dumps({"agent_id": CHILD})).agent("Waiting.")
    child = RolloutFile(id=CHILD, parent_thread_id=PARENT, agent_nickname="Kant").user("Look.")
    child.custom("p", "apply_patch", "*** Begin Patch\n*** Add File: new.py\n+x\n*** End Patch").output("p", "Success.")
    return {
        f"2026/05/01/rollout-2026-05-01T10-00-00-{PARENT}.jsonl": parent.data,
        f"2026/05/02/rollout-2026-05-02T10-00-00-{CHILD}.jsonl": child.data,
    }


def zipped(files: dict[str, bytes]) -> io.BytesIO:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as package:
        for name, data in files.items():
            package.writestr(name, data)
    return packed


def test_an_agents_rollout_is_folded_under_the_call_that_started_it() -> None:
    packed = zipped(family())
    answers = [
        entry
        for source in sources_in("all.zip", lambda: io.BytesIO(packed.getvalue()))
        if not isinstance(source, Unreadable)
        for entry in read_file(source, ReadingOptions())
    ]
    (run,) = runs(answers)
    (agent,) = run.steps[0].agents
    assert (agent.name, agent.call_id, agent.task) == ("Kant", "spawn", "Look.")
    assert [len(step.calls) for step in agent.steps] == [1]
    assert changes_in(run) == {"new.py": ("added", 1, 0)}
    assert set(run.event_steps) == {0}
    assert run.gaps == ()


def test_a_missing_agents_rollout_is_said_and_alone_it_is_a_run() -> None:
    parent, child = family().values()
    assert the_one(parent).run.gaps[0].startswith("The rollout of a sub-agent is missing")
    assert the_one(child).run.external_id == CHILD


def test_rollouts_of_a_folder_go_together(tmp_path: Path) -> None:
    for name, data in family().items():
        (tmp_path / Path(name).name).write_bytes(data)
    (path,) = run_files(tmp_path)
    (run,) = runs(read_file(source_at(path), ReadingOptions()))
    assert len(run.steps[0].agents) == 1


def test_a_packed_rollout_is_unpacked_also_from_a_place_within_it() -> None:
    data = RolloutFile().user("Round.").agent("Done.").data
    packed = zstandard.ZstdCompressor().compress(data)
    whole = the_one(data)
    assert the_one(packed, "rollout-x.jsonl.zst").run == whole.run
    *_, (_, mark) = read_on(InMemoryRunFile("r.jsonl.zst", packed), ReadingOptions(), Bookmark())
    assert mark.place.offset == len(data)
    assert list(read_on(InMemoryRunFile("r.jsonl.zst", packed), ReadingOptions(), mark)) == []


def test_packed_rollouts_of_agents_are_folded_as_others_are_and_a_broken_one_is_counted(tmp_path: Path) -> None:
    (parent, whole), (child, _) = family().items()
    packed = {f"{Path(name).name}.zst": zstandard.ZstdCompressor().compress(data) for name, data in family().items()}
    for name, data in packed.items():
        (tmp_path / name).write_bytes(data)
    (path,) = run_files(tmp_path)
    assert path.name == f"{Path(parent).name}.zst"
    (run,) = runs(read_file(source_at(path), ReadingOptions()))
    assert [agent.call_id for agent in run.steps[0].agents] == ["spawn"]
    assert [step.message for step in run.steps] == [step.message for step in the_one(whole).run.steps]
    (in_zip,) = sources_in("a.zip", lambda: io.BytesIO(zipped(packed).getvalue()))
    assert in_zip.name == path.name if not isinstance(in_zip, Unreadable) else in_zip.sentence
    (tmp_path / f"{Path(child).name}.zst").write_bytes(packed[f"{Path(child).name}.zst"][:6] + b"\xff" * 40)
    _, converted = read_file(source_at(path), ReadingOptions())
    assert isinstance(converted, Converted)
    assert converted.report.repairs == {"rollout beside that cannot be unpacked": 1}
    assert converted.run.gaps[0].startswith("The rollout of a sub-agent is missing")


def test_a_packed_file_that_is_broken_is_refused() -> None:
    packed = zstandard.ZstdCompressor().compress(RolloutFile().user("Round.").data)
    refusal = the_refusal(packed[:6] + b"\xff" * 30, "rollout-x.jsonl.zst")
    assert refusal.code == "bad_zst"
    assert refusal.sentence.startswith("rollout-x.jsonl.zst cannot be unpacked: ")


def test_what_codex_exec_prints_is_a_run() -> None:
    def done(number: int, kind: str, **members: Any) -> dict[str, Any]:
        return {"type": "item.completed", "item": {"id": f"item_{number}", "type": kind, **members}}

    files = [{"path": "/work/a.py", "kind": "update"}, {"path": "/work/b.py", "kind": "delete"}]
    lines = [
        {"type": "thread.started", "thread_id": PARENT},
        {"type": "turn.started"},
        done(0, "reasoning", text="I look."),
        {"type": "item.started", "item": {"id": "item_1", "type": "command_execution", "status": "in_progress"}},
        done(1, "command_execution", command="ls", aggregated_output="a.py\n", exit_code=0, status="completed"),
        done(2, "command_execution", command="false", aggregated_output="", exit_code=1, status="failed"),
        done(3, "file_change", changes=files, status="completed"),
        done(4, "file_change", changes=[{"path": "/work/c.py", "kind": "add"}], status="failed"),
        done(5, "mcp_tool_call", server="docs", tool="find", arguments={"q": 1}, result={"content": [
            {"type": "text", "text": "found"}]}, error=None, status="completed"),
        done(6, "mcp_tool_call", server="docs", tool="find", arguments={}, error={"message": "down"}, status="failed"),
        done(7, "todo_list", items=[{"text": "Round", "completed": True}]),
        done(8, "agent_message", text="Rounded."),
        {"type": "turn.completed", "usage": {"input_tokens": 10, "output_tokens": 2}},
    ]  # fmt: skip
    converted = the_one(jsonl(*lines), "codex.jsonl")
    run = converted.run
    calls = [call for step in run.steps for call in step.calls]
    assert [(call.name, call.is_error) for call in calls] == [
        ("shell", False), ("shell", True), ("file_change", False), ("file_change", True), ("docs.find", False),
        ("docs.find", True), ("update_plan", False),
    ]  # fmt: skip
    assert (calls[0].result, calls[4].result) == ("a.py\n", "found")
    assert (run.external_id, run.steps[0].thought, run.steps[-1].message) == (PARENT, "I look.", "Rounded.")
    assert {file.path: file.operation for file in derive(run).files} == {
        "/work/a.py": "modified",
        "/work/b.py": "deleted",
    }
    assert converted.report.dropped == {"turn.started": 1, "item.started": 1, "turn.completed": 1}
    assert not converted.report.unknown
    events = [
        {"type": "task_started"},
        {"type": "agent_reasoning", "text": "I look."},
        {
            "type": "exec_command_end",
            "call_id": "a",
            "command": ["bash", "-lc", "ls"],
            "stdout": "a.py\n",
            "exit_code": 0,
        },
        {"type": "agent_message", "message": "Rounded."},
    ]
    printed = [{"id": str(number), "msg": event} for number, event in enumerate(events)]
    run = the_one(jsonl(*printed), "codex.jsonl").run
    assert [(call.name, call.result) for step in run.steps for call in step.calls] == [("exec_command", "a.py\n")]
    assert (run.steps[0].thought, run.steps[-1].message) == ("I look.", "Rounded.")


def test_a_rollout_in_which_the_agent_said_nothing_is_refused_with_that() -> None:
    _, refusal = read(RolloutFile().user("Round.").data, "rollout.jsonl")
    assert isinstance(refusal, Unreadable)
    assert refusal.sentence.startswith("The rollout rollout.jsonl has no message and no call of the agent")


def naive_counts(path: Path) -> tuple[int, int]:
    """Calls and written messages of the agent in a rollout, counted line by line without the converter."""
    calls, messages = set(), 0
    for line in filter(str.strip, path.read_text().split("\n")):
        record = json.loads(line)
        item = record.get("payload", record)
        kind = item.get("type", "")
        if kind.endswith("_call") or kind in ("function_call", "mcp_tool_call_end"):
            calls.add(item.get("call_id") or item.get("id") or line)
        if item.get("role") == "assistant" and kind in ("message", ""):
            messages += 1
    return len(calls), messages


NO_STEPS = {"codex_050_legacy.jsonl", "codex_051_usage.jsonl", "codex_052_raw.jsonl", "codex_053_rate_limit.jsonl"}


def test_real_files_have_the_calls_and_words_that_stand_in_them() -> None:
    seen: Counter[str] = Counter()
    for path in shared_files("codex/**/*.jsonl"):
        entries = list(read_file(source_at(path), ReadingOptions()))
        if path.name in NO_STEPS:
            assert [entry.code for entry in entries if isinstance(entry, Unreadable)] == ["no_steps"], path
            continue
        (converted,) = [entry for entry in entries if isinstance(entry, Converted)]
        calls, messages = naive_counts(path)
        run = converted.run
        # What a later program ran has calls of its own, which no item of the conversation is.
        of_items = [
            call
            for step in run.steps
            for call in step.calls
            if call.name not in ("apply_patch",) or call.result is None
        ]
        assert len(of_items) == calls, path
        assert sum(1 for step in run.steps if step.message) <= messages, path
        assert converted.report.unknown == {}, path
        seen["files"] += 1
    assert seen["files"] == 6


def test_broken_files_raise_nothing() -> None:
    file = RolloutFile().user("Round.").custom("c", "apply_patch", PATCH).output("c", "Success.")
    file.event(
        "patch_apply_end",
        call_id="c",
        success=True,
        changes={"a": {"type": "update", "unified_diff": "@@ -1 +1 @@\n-a\n+b"}},
    )
    file.done(type="CommandExecution", id="e", command=["sh", "-c", "ls"], cwd="/", exit_code=0, aggregated_output="x")
    file.event("thread_rolled_back", num_turns=1).user("Again.").agent("Done.")
    assert read_damaged(file.data, "rollout.jsonl", "codex", seed=18) > 50
    real = shared_file("codex/codex-rollout.sample.jsonl").read_bytes()
    assert read_damaged(real, "rollout.jsonl", "codex", seed=19, number=150) > 30
