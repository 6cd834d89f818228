"""Chats of Gemini CLI: as one document, as lines, and as conversations in Gemini's own form."""

import io
import json
import zipfile
from pathlib import Path
from typing import Any

from potato.runs.changes.derive import derive
from potato.runs.converters.reading import read_file
from potato.runs.model import AgentRun, ReadingOptions, Unreadable
from potato.runs.packages import run_files, sources_in
from potato.runs.run_files import source_at
from tests.potato.runs.damaged_files import read_damaged
from tests.potato.runs.reading import jsonl, read, runs, the_one

SESSION = "0123abcd-0000-4000-8000-000000000001"
FACTS = {"sessionId": SESSION, "projectHash": "f" * 8, "startTime": "2026-01-01T10:00:00Z", "directories": ["/work"]}


def message(number: int, kind: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"id": f"m{number}", "timestamp": f"2026-01-01T10:00:{number:02}Z", "type": kind, "content": content, **more}


def tool_call(call_id: str, name: str, output: Any = None, status: str = "success", **more: Any) -> dict[str, Any]:
    answered = [{"functionResponse": {"id": call_id, "name": name, "response": output}}] if output is not None else None
    return {"id": call_id, "name": name, "args": {}, "status": status, "result": answered, "timestamp": "", **more}


REPLACED = {"file_path": "/work/x.py", "old_string": "a", "new_string": "b"}
MESSAGES = [
    message(1, "info", "Update available."),
    message(2, "user", [{"text": "Round."}]),
    message(
        3, "gemini", "I edit.", model="gemini-x", thoughts=[{"subject": "Plan", "description": "Because."}],
        toolCalls=[
            tool_call("a", "replace", {"output": "done"},
                      args={"file_path": "/work/x.py", "old_string": "a", "new_string": "b"},
                      resultDisplay={"fileName": "x.py", "originalContent": "a\nc\n", "newContent": "b\nc\n"}),
            tool_call("b", "run_shell_command", {"error": "exit 1"}, "error", args={"command": "pytest"}),
            tool_call("c", "write_file", args={"file_path": "/work/n.py", "content": "n\n"}, status="cancelled"),
        ],
    ),
    message(4, "user", "Go on."),
    message(5, "gemini", [{"text": "Done."}], model="gemini-x"),
]  # fmt: skip


def changes_in(run: AgentRun) -> dict[str, tuple[str, int, int]]:
    """Path, operation, lines added and removed of the files that the run changed."""
    files = [file for file in derive(run).files if file.operation != "unchanged"]
    return {file.path: (file.operation, file.added, file.removed) for file in files}


def chat(*messages: Any, **facts: Any) -> bytes:
    return json.dumps({**FACTS, **facts, "messages": list(messages)}, indent=1).encode()


def test_a_message_of_the_model_is_a_step_with_its_calls() -> None:
    converted = the_one(chat(*MESSAGES), "session.json")
    run = converted.run
    assert (run.external_id, run.task, run.agent_model, run.folder) == (SESSION, "Round.", "gemini-x", "/work")
    first, last = run.steps
    assert (first.message, first.thought) == ("I edit.", "Plan\nBecause.")
    assert [(call.name, call.result, call.is_error, call.refused) for call in first.calls] == [
        ("replace", "done", False, False),
        ("run_shell_command", "exit 1", True, False),
        ("write_file", "", False, True),
    ]
    assert (last.message, last.prompt) == ("Done.", "Go on.")
    assert changes_in(run) == {"x.py": ("modified", 1, 1)}
    assert converted.report.dropped == {"info message": 1}


def test_edits_without_the_file_around_them_are_read_by_their_words() -> None:
    calls = [
        tool_call("a", "replace", {"output": "ok"}, args=REPLACED),
        tool_call("b", "write_file", {"output": "ok"}, args={"file_path": "/work/n.py", "content": "n\n"}),
    ]
    run = the_one(chat(MESSAGES[1], message(3, "gemini", "", toolCalls=calls)), "session.json").run
    assert changes_in(run) == {"x.py": ("modified", 1, 1), "n.py": ("added", 1, 0)}


def test_lines_are_replayed_with_what_they_change_and_take_back() -> None:
    early = {**MESSAGES[2], "toolCalls": [], "content": "I"}
    wrong = tool_call("z", "write_file", {"output": "ok"}, args={"file_path": "/work/x.py", "content": "z\n"})
    rewound = message(7, "gemini", "Wrong.", toolCalls=[wrong])
    lines = [
        FACTS, MESSAGES[0], MESSAGES[1], early, MESSAGES[2], {"$set": {"summary": "Rounding"}},
        message(6, "user", "Now wrongly."), rewound, {"$rewindTo": "m6"}, *MESSAGES[3:], {"poem": 1},
    ]  # fmt: skip
    converted = the_one(jsonl(*lines), "session-2026-0123abcd.jsonl")
    whole = the_one(chat(*MESSAGES), "session.json").run
    assert converted.run.steps == whole.steps
    assert converted.report.dropped["message that was taken back"] == 2
    assert converted.report.unknown == {"line that is no message": 1}
    badges = {badge.code.value for file in derive(converted.run).files for badge in file.badges}
    assert "change_not_recorded" in badges


def family() -> dict[str, bytes]:
    """A session and the chat of the agent that it started, as files by their names."""
    call = tool_call("t", "codebase_investigator", {"output": "looked"}, agentId="child-1")
    asked = message(3, "gemini", "I ask.", toolCalls=[call])
    child = {**FACTS, "sessionId": "child-1", "kind": "subagent"}
    writes = [tool_call("w", "write_file", {"output": "ok"}, args={"file_path": "/work/y.py", "content": "y\n"})]
    lines = jsonl(child, message(1, "user", "Look."), message(2, "gemini", "I look.", toolCalls=writes))
    return {
        "chats/session-2026-01-01T10-00-0123abcd.json": chat(MESSAGES[1], asked),
        f"chats/{SESSION}/child-1.jsonl": lines,
    }


def test_an_agents_chat_is_folded_under_the_call_that_started_it(tmp_path: Path) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as package:
        for name, data in family().items():
            package.writestr(name, data)
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_bytes(data)
    (path,) = run_files(tmp_path)
    members = sources_in("a.zip", lambda: io.BytesIO(packed.getvalue()))
    (run,) = [
        run
        for member in members
        if not isinstance(member, Unreadable)
        for run in runs(read_file(member, ReadingOptions()))
    ]
    assert runs(read_file(source_at(path), ReadingOptions())) == [run]
    (agent,) = run.steps[0].agents
    assert (agent.name, agent.call_id, agent.task) == ("codebase_investigator", "t", "Look.")
    assert changes_in(run) == {"y.py": ("added", 1, 0)}
    assert run.event_steps == (0,)


CONTENTS = [
    {"role": "user", "parts": [{"text": "This is the Gemini CLI. We are setting up the context for our chat."}]},
    {"role": "model", "parts": [{"text": "Got it. Thanks for the context!"}]},
    {"role": "user", "parts": [{"text": "Round."}, {"inlineData": {"mimeType": "image/png", "data": "AAAA"}}]},
    {"role": "model", "parts": [{"text": "Because.", "thought": True}, {"text": "I look."},
                                {"functionCall": {"name": "read_file", "args": {"file_path": "x.py"}}},
                                {"functionCall": {"name": "read_file", "args": {"file_path": "y.py"}}}]},
    {"role": "user", "parts": [{"functionResponse": {"name": "read_file", "response": {"output": "x"}}},
                               {"functionResponse": {"name": "read_file", "response": {"error": "no such file"}}}]},
    {"role": "model", "parts": [{"text": "Done."}]},
]  # fmt: skip


def test_conversations_in_geminis_form_are_read_from_every_place_where_they_stand() -> None:
    forms = [CONTENTS, {"contents": CONTENTS}, {"history": CONTENTS, "authType": "x"}]
    found = [the_one(json.dumps(form, indent=1).encode(), "checkpoint.json") for form in forms]
    assert [each.run.steps == found[0].run.steps for each in found] == [True] * 3
    run = found[0].run
    assert run.task == "Round.\n\n[image/png, 3 bytes]"
    first, last = run.steps
    assert (first.message, first.thought, last.message) == ("I look.", "Because.", "Done.")
    assert [(call.result, call.is_error) for call in first.calls] == [("x", False), ("no such file", True)]
    assert found[0].report.dropped == {"context that the program wrote": 2}


def qwen(number: int, parent: int, kind: str, parts: Any, **more: Any) -> dict[str, Any]:
    role = "model" if kind == "assistant" else "user"
    return {
        "uuid": f"u{number}", "parentUuid": f"u{parent}" if parent else None, "sessionId": "s1", "cwd": "/work",
        "timestamp": f"2026-01-01T10:00:{number:02}Z", "version": "0.6.0", "type": kind,
        "message": {"role": role, "parts": parts}, **more,
    }  # fmt: skip


def called(call_id: str, name: str, **arguments: Any) -> dict[str, Any]:
    return {"functionCall": {"id": call_id, "name": name, "args": arguments}}


def gave(call_id: str, name: str, **response: Any) -> list[dict[str, Any]]:
    return [{"functionResponse": {"id": call_id, "name": name, "response": response}}]


def test_the_lines_of_qwen_code_are_a_chat_and_no_session_of_claude_code() -> None:
    program = {key: value for key, value in qwen(1, 0, "system", []).items() if key != "message"}
    shown = {"fileName": "x.py", "originalContent": "a\nc\n", "newContent": "b\nc\n"}
    used = {"promptTokenCount": 9, "candidatesTokenCount": 2}
    lines = [
        {**program, "subtype": "slash_command"},
        qwen(2, 1, "user", [{"text": "Round."}]),
        qwen(3, 2, "assistant", [{"text": "Hm.", "thought": True}, {"text": "Not so."}], model="qwen-x"),
        qwen(4, 2, "assistant",
             [{"text": "I edit."}, called("a", "edit", **REPLACED), called("b", "run_shell_command")],
             model="qwen-x", usageMetadata=used),
        qwen(5, 4, "tool_result", gave("a", "edit", output="done"),
             toolCallResult={"callId": "a", "status": "success", "resultDisplay": shown}),
        qwen(6, 5, "tool_result", gave("b", "run_shell_command", error="no"),
             toolCallResult={"callId": "b", "status": "cancelled"}),
        qwen(7, 6, "assistant", [{"text": "Done."}], model="qwen-x"),
    ]  # fmt: skip
    converted = the_one(jsonl(*lines), "s1.jsonl")
    run = converted.run
    assert (run.external_id, run.agent, run.agent_model, run.folder, run.task) == (
        "s1", "Qwen Code", "qwen-x", "/work", "Round.",
    )  # fmt: skip
    first, last = run.steps
    assert [(call.name, call.result, call.is_error, call.refused) for call in first.calls] == [
        ("edit", "done", False, False),
        ("run_shell_command", "no", False, True),
    ]
    assert (first.message, first.usage.input_tokens, last.message) == ("I edit.", 9, "Done.")
    assert changes_in(run) == {"x.py": ("modified", 1, 1)}
    assert converted.report.dropped == {"system slash_command": 1, "message that was taken back": 1}
    assert not converted.report.unknown


def test_what_gemini_prints_as_a_stream_is_a_chat() -> None:
    def said(content: str, role: str = "assistant") -> dict[str, Any]:
        return {"type": "message", "role": role, "content": content, "timestamp": "2026-01-01T10:00:01Z", "delta": True}

    def used(tool_id: str, tool_name: str, **parameters: Any) -> dict[str, Any]:
        return {"type": "tool_use", "tool_name": tool_name, "tool_id": tool_id, "parameters": parameters}

    lines = [
        {"type": "init", "timestamp": "2026-01-01T10:00:00Z", "session_id": "s1", "model": "gemini-x"},
        said("Round.", "user"),
        said("I "),
        said("edit."),
        used("a", "replace", **REPLACED),
        used("b", "run_shell_command", command="pytest"),
        {"type": "tool_result", "tool_id": "a", "status": "success", "output": "done"},
        {"type": "tool_result", "tool_id": "b", "status": "error", "error": {"type": "x", "message": "no"}},
        said("Done."),
        {"type": "result", "status": "success", "stats": {}},
    ]
    converted = the_one(jsonl(*lines), "gemini.jsonl")
    run = converted.run
    assert (run.external_id, run.agent_model, run.task) == ("s1", "gemini-x", "Round.")
    assert [step.message for step in run.steps] == ["I edit.", "Done."]
    assert [(call.name, call.result, call.is_error) for call in run.steps[0].calls] == [
        ("replace", "done", False),
        ("run_shell_command", "no", True),
    ]
    assert changes_in(run) == {"/work/x.py": ("modified", 1, 1)}
    assert converted.report.dropped == {"result line": 1}


def test_a_chat_in_which_the_model_said_nothing_is_refused_with_that() -> None:
    _, refusal = read(chat(*MESSAGES[:2]), "session.json")
    assert isinstance(refusal, Unreadable)
    assert (
        refusal.sentence == "The chat at 1 of session.json has no message of the agent, so there is nothing to judge."
    )


def test_broken_files_raise_nothing() -> None:
    assert read_damaged(chat(*MESSAGES), "session.json", "gemini_cli", seed=11, number=450) > 60
    lines = jsonl(FACTS, *MESSAGES, {"$rewindTo": "m5"}, {"$set": {"messages": MESSAGES[:3]}})
    assert read_damaged(lines, "session.jsonl", "gemini_cli", seed=12, number=240) > 60
    assert read_damaged(json.dumps(CONTENTS).encode(), "c.json", "gemini_cli", seed=13) > 50
