"""Messages of OpenAI's form: chat with tool calls, items of Responses, and logs of both; Anthropic's as plain files."""

import json
from typing import Any

import pytest

from potato.runs.changes.derive import derive
from potato.runs.model import AgentRun
from tests.potato.runs.damaged_files import damaged, read_without_error, retyped
from tests.potato.runs.reading import errors, jsonl, read, runs, the_one, the_refusal

EDIT = {"command": "str_replace", "path": "/shop/price.py", "old_str": "int(x)", "new_str": "round(x)"}
EDITED = (
    "The file /shop/price.py has been edited. Here's the result of running `cat -n` on a snippet:\n     1\tround(x)\n"
)


def call(key: str, name: str, arguments: Any) -> dict[str, Any]:
    arguments = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return {"id": key, "type": "function", "function": {"name": name, "arguments": arguments}}


CHAT: list[dict[str, Any]] = [
    {"role": "system", "content": "You are an agent."},
    {"role": "user", "content": [{"type": "text", "text": "Round the price."}]},
    {
        "role": "assistant",
        "content": "I look.",
        "reasoning_content": "Where is it?",
        "tool_calls": [call("a", "bash", {"command": "ls nowhere"}), call("b", "str_replace_editor", EDIT)],
    },
    {"role": "tool", "tool_call_id": "b", "content": EDITED},
    {"role": "tool", "tool_call_id": "a", "content": "ls: no such file\n[The command completed with exit code 2.]"},
    {"role": "user", "content": "And the test?"},
    {"role": "assistant", "content": None, "refusal": None, "tool_calls": [call("a", "run_tests", "not json")]},
    {"role": "tool", "tool_call_id": "a", "content": "1 passed"},
    {"role": "assistant", "content": "Done."},
]
ITEMS: list[dict[str, Any]] = [
    {"role": "user", "content": "Round the price."},
    {"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": "Where is it?"}]},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I look."}]},
    {"type": "function_call", "call_id": "a", "name": "bash", "arguments": '{"command": "ls"}'},
    {"type": "custom_tool_call", "call_id": "b", "name": "grammar", "input": "x"},
    {"type": "function_call_output", "call_id": "a", "output": "price.py"},
    {"type": "custom_tool_call_output", "call_id": "b", "output": [{"type": "input_text", "text": "ok"}]},
    {"type": "local_shell_call", "call_id": "c", "action": {"type": "exec", "command": ["bash", "-lc", "make"]}},
    {"type": "local_shell_call_output", "call_id": "c", "output": "made"},
    {"type": "web_search_call", "id": "w", "status": "completed", "action": {"type": "search", "query": "round"}},
    {"type": "reasoning", "id": "s", "summary": [], "encrypted_content": "abc"},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Done."}]},
]


def changed_by(run: AgentRun) -> dict[str, tuple[str, int, int]]:
    return {file.path: (file.operation, file.added, file.removed) for file in derive(run).files}


def forms(messages: list[dict[str, Any]]) -> list[bytes]:
    return [json.dumps(messages, indent=1).encode(), jsonl(*messages), jsonl({"messages": messages}),
            json.dumps({"messages": messages, "model": "m"}, indent=1).encode()]  # fmt: skip


@pytest.mark.parametrize("data", forms(CHAT))
def test_each_message_of_the_agent_is_a_step_with_the_answers_to_its_calls(data: bytes) -> None:
    converted = the_one(data)
    first, second, third = converted.run.steps
    assert (converted.run.task, first.message, first.thought) == ("Round the price.", "I look.", "Where is it?")
    assert [(one.id, one.name, one.is_error) for one in first.calls] == [
        ("a", "bash", True), ("b", "str_replace_editor", False),
    ]  # fmt: skip
    assert first.calls[1].arguments == EDIT
    assert (second.prompt, second.calls[0].arguments) == ("And the test?", {"input": "not json"})
    assert second.calls[0].result == "1 passed"
    assert third.message == "Done."
    assert converted.report.dropped == {"instruction of the agent": 1}
    assert converted.report.repairs == {"id of a call that stands twice": 1, "arguments that are no JSON": 1}


def test_an_editor_in_a_chat_changes_its_file() -> None:
    (change,) = derive(the_one(jsonl({"messages": CHAT})).run).files
    assert (change.path, change.added, change.removed, change.steps) == ("/shop/price.py", 1, 1, (0,))


@pytest.mark.parametrize("data", [json.dumps(ITEMS, indent=1).encode(), jsonl(*ITEMS), jsonl({"input": ITEMS})])
def test_items_of_responses_are_joined_to_messages(data: bytes) -> None:
    converted = the_one(data)
    first, second, third = converted.run.steps
    assert (converted.run.task, first.message, first.thought) == ("Round the price.", "I look.", "Where is it?")
    assert [(one.name, one.result) for one in first.calls] == [("bash", "price.py"), ("grammar", "ok")]
    assert [(one.name, one.result) for one in second.calls] == [("shell", "made")]
    assert [(one.name, one.arguments) for one in third.calls] == [
        ("web_search", {"type": "search", "query": "round"})
    ]  # fmt: skip
    assert third.message == "Done."
    assert converted.report.dropped == {"encrypted reasoning": 1}


def test_responses_that_follow_one_another_are_one_run_and_others_are_their_own() -> None:
    def response(key: str, before: str, text: str) -> dict[str, Any]:
        output = [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}]
        return {"object": "response", "id": key, "previous_response_id": before, "model": "m", "output": output}

    found = runs(read(jsonl(response("1", "", "a"), response("2", "1", "b"), response("3", "", "c"))))
    assert [[step.message for step in run.steps] for run in found] == [["a", "b"], ["c"]]
    assert [(run.external_id, run.agent_model) for run in found] == [("1", "m"), ("3", "m")]


def test_a_log_of_requests_gives_the_choice_that_was_made() -> None:
    log = {
        "id": "log-1",
        "request": {"model": "m", "messages": CHAT[:2]},
        "response": {"model": "m-5", "choices": [{"message": CHAT[2]}, {"message": CHAT[8]}]},
    }
    converted = the_one(jsonl(log))
    (step,) = converted.run.steps
    assert (step.message, converted.run.agent_model, converted.run.external_id) == ("I look.", "m-5", "log-1")
    assert converted.report.dropped["choice that was not taken"] == 1


def test_facts_beside_the_messages_are_the_runs() -> None:
    record = {"id": "r1", "task_description": "Round it.", "model": "m", "repo": "a/b", "messages": CHAT, "tags": ["x"]}
    run = the_one(jsonl(record)).run
    assert (run.external_id, run.task, run.agent_model, run.repo, run.tags) == ("r1", "Round it.", "m", "a/b", ("x",))
    assert run.steps[0].prompt == "Round the price."


def test_calls_in_words_are_calls() -> None:
    written = "I look.\n\n<function=execute_bash>\n<parameter=command>\nls\n</parameter>\n</function>"
    hermes = 'Then:\n<tool_call>\n{"name": "execute_bash", "arguments": {"command": "pwd"}}\n</tool_call>'
    messages = [
        {"role": "user", "content": "Round."},
        {"role": "assistant", "content": f"<think>\nHm.\n</think>\n\n{written}"},
        {"role": "user", "content": "EXECUTION RESULT of [execute_bash]:\nprice.py"},
        {"role": "assistant", "content": hermes},
        {"role": "user", "content": "<tool_response>\n/shop\n</tool_response>"},
        {"role": "assistant", "content": "", "tool_calls": [call("z", "finish", {})]},
    ]
    first, second, third = the_one(jsonl({"messages": messages})).run.steps
    assert (first.message, first.thought, first.calls[0].arguments, first.calls[0].result) == (
        "I look.", "Hm.", {"command": "ls"}, "price.py",
    )  # fmt: skip
    assert (second.message, second.calls[0].result, third.calls[0].name) == ("Then:", "/shop", "finish")


def test_patches_change_files_in_every_form_in_which_a_model_of_openai_gives_them() -> None:
    begin, end = "*** Begin Patch", "*** End Patch"
    update = f"{begin}\n*** Update File: b.py\n@@\n-old\n+new\n{end}"
    custom = {"id": "a", "type": "custom", "custom": {"name": "apply_patch", "input": update}}
    shell = {"command": ["bash", "-lc", f"apply_patch <<'EOF'\n{begin}\n*** Add File: c.py\n+z\n{end}\nEOF"]}
    chat = [
        {"role": "user", "content": "Round."},
        {"role": "assistant", "content": None, "tool_calls": [custom, call("b", "shell", shell)]},
        {"role": "tool", "tool_call_id": "a", "content": "Success."},
        {"role": "tool", "tool_call_id": "b", "content": "Success."},
    ]
    converted = the_one(jsonl({"messages": chat}))
    assert changed_by(converted.run) == {"b.py": ("modified", 1, 1), "c.py": ("added", 1, 0)}
    assert not converted.report.repairs
    operations = [
        {"type": "create_file", "path": "a.py", "diff": "+x = 1\n+y = 2\n"},
        {"type": "update_file", "path": "b.py", "diff": "@@ def f():\n-    return 1\n+    return 2\n"},
        {"type": "delete_file", "path": "d.py"},
        {"type": "create_file", "path": "e.py", "diff": "+not written\n"},
    ]
    items: list[dict[str, Any]] = [{"role": "user", "content": "Round."}]
    for number, operation in enumerate(operations):
        status = "failed" if number == 3 else "completed"
        items += [
            {"type": "apply_patch_call", "call_id": f"p{number}", "status": "completed", "operation": operation},
            {"type": "apply_patch_call_output", "call_id": f"p{number}", "status": status, "output": "done"},
        ]
    items += [
        {"type": "custom_tool_call", "call_id": "q", "name": "apply_patch", "input": update.replace("b.py", "f.py")},
        {"type": "custom_tool_call_output", "call_id": "q", "output": "Success."},
    ]
    assert changed_by(the_one(jsonl({"input": items[:1], "output": items[1:]})).run) == {
        "a.py": ("added", 2, 0),
        "b.py": ("modified", 1, 1),
        "d.py": ("deleted", 0, 0),
        "f.py": ("modified", 1, 1),
    }


def test_tools_with_other_names_for_their_arguments_change_files_too() -> None:
    calls = [
        call("a", "edit", {"filePath": "/shop/a.py", "oldString": "x", "newString": "y"}),
        call("b", "exec_command", {"cmd": "python3 mend.py"}),
    ]
    answers = [{"role": "tool", "tool_call_id": key, "content": "ok"} for key in "ab"]
    run = the_one(jsonl({"messages": [{"role": "assistant", "content": "", "tool_calls": calls}, *answers]})).run
    assert changed_by(run) == {"/shop/a.py": ("modified", 1, 1)}
    assert "python3 mend.py" in run.gaps[0]


def test_a_shell_of_responses_says_by_its_outcome_that_it_failed() -> None:
    outcomes = [{"type": "exit", "exit_code": 0}, {"type": "exit", "exit_code": 1}, {"type": "timeout"}]
    items: list[dict[str, Any]] = []
    for number, outcome in enumerate(outcomes):
        action = {"commands": ["make"], "timeout_ms": 1000}
        shown = [{"stdout": "made\n", "stderr": "", "outcome": outcome}]
        items += [
            {"type": "shell_call", "call_id": f"s{number}", "action": action},
            {"type": "shell_call_output", "call_id": f"s{number}", "output": shown},
        ]
    calls = [each for step in the_one(jsonl({"input": "Go.", "output": items})).run.steps for each in step.calls]
    assert [(each.result, each.is_error) for each in calls] == [("made\n", False), ("made\n", True), ("made\n", True)]


def test_answers_of_a_batch_are_read_where_they_lie() -> None:
    message = {"role": "assistant", "content": "Hello."}
    bodies = [
        {"object": "chat.completion", "model": "m", "choices": [{"message": message}], "usage": {"prompt_tokens": 3}},
        {"object": "response", "id": "r", "model": "m", "output": [{"type": "message", **message}]},
    ]
    for body in bodies:
        line = {"id": "b", "custom_id": "c", "response": {"status_code": 200, "body": body}, "error": None}
        (run,) = runs(read(jsonl(line)))
        assert (run.external_id, run.agent_model, [step.message for step in run.steps]) == ("b", "m", ["Hello."])


def test_pictures_and_unknown_parts_are_named() -> None:
    parts = [
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
        {"type": "text", "text": "Seen?"},
        {"type": "smell", "value": 1},
    ]
    converted = the_one(jsonl({"messages": [{"role": "user", "content": parts}, *CHAT[2:], {"role": "referee"}]}))
    assert converted.run.task.startswith("[image/png, 3 bytes]\nSeen?\n")
    assert converted.report.unknown == {"part smell": 1, "message of the role referee": 1}
    assert converted.run.unknown_events == ({"role": "referee"},)


def test_one_record_that_cannot_be_read_leaves_the_others() -> None:
    data = jsonl({"messages": CHAT}) + b"{broken\n" + jsonl({"messages": CHAT[:2], "tool_calls": 1}, {"messages": CHAT})
    answers = read(data)
    assert errors(answers) == [(2, "not_json"), (3, "no_steps")]
    assert len(runs(answers)) == 2


def test_messages_without_calls_are_not_taken_for_a_format_without_being_told() -> None:
    plain = [{"role": "user", "content": "Hi."}, {"role": "assistant", "content": "Hello."}]
    assert "is no trace" in the_refusal(jsonl({"messages": plain})).sentence
    assert the_one(jsonl({"messages": plain}), named="openai", explicit=True).run.steps[0].message == "Hello."


@pytest.mark.parametrize("record", [CHAT, ITEMS])
def test_damaged_messages_give_runs_or_errors_by_name(record: list[dict[str, Any]]) -> None:
    for copy in damaged(jsonl({"messages": record}, *record), 3, 200):
        read_without_error(copy, "a.jsonl", "openai")
    for changed in retyped([{"messages": record}, *record], 3, 200):
        read_without_error(jsonl(*changed), "a.jsonl", "openai")


# --- Anthropic's messages, which claude_code reads ---


def test_plain_files_of_anthropic_messages_are_runs_with_changes() -> None:
    use = {"type": "tool_use", "id": "t", "name": "str_replace_based_edit_tool", "input": EDIT}
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": "Round the price."},
        {"role": "assistant", "content": [{"type": "text", "text": "I edit."}, use]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": EDITED}]},
        {"role": "assistant", "content": [{"type": "text", "text": "Done."}]},
    ]
    for data in forms(messages):
        run = the_one(data).run
        assert [step.message for step in run.steps] == ["I edit.", "Done."]
        assert [(file.path, file.added) for file in derive(run).files] == [("/shop/price.py", 1)]
