"""Sessions of Claude Code become runs: what is a step, what is a file event, and what is left out and counted."""

import base64

import pytest

from potato.runs.model import Excerpt, FileEdit, FileRead, FileWrite, ReadingOptions
from tests.potato.runs.reading import errors, jsonl, read, runs, the_one
from tests.potato.runs.sessions import FOLDER, SessionFile, calls, edited, says, thinks

CART = f"{FOLDER}/cart.py"


def a_short_session() -> SessionFile:
    session = SessionFile()
    session.user("Round prices to cents.")
    session.agent(thinks("Prices are floats."), message_id="m1")
    session.agent(says("I look at the cart."), message_id="m1")
    session.agent(calls("c1", "Read", file_path=CART), message_id="m1")
    session.result("c1", "1 total = price", {"type": "text", "file": whole_file("total = price\n")})
    session.agent(
        calls("c2", "Edit", file_path=CART, old_string="price", new_string="round(price, 2)"), message_id="m2"
    )
    session.result("c2", "done", edited(CART, "price", "round(price, 2)", "total = price\n"))
    session.agent(says("Prices are rounded."), message_id="m3", model="claude-haiku-4-5")
    return session


def whole_file(content: str) -> dict[str, object]:
    count = content.count("\n") + 1
    return {"filePath": CART, "content": content, "startLine": 1, "numLines": count, "totalLines": count}


def test_lines_of_one_message_are_one_step_with_the_results_that_answer_it() -> None:
    run = the_one(a_short_session().bytes()).run
    assert [(step.thought, step.message, [call.name for call in step.calls]) for step in run.steps] == [
        ("Prices are floats.", "I look at the cart.", ["Read"]),
        ("", "", ["Edit"]),
        ("", "Prices are rounded.", []),
    ]
    assert run.steps[0].calls[0].result == "1 total = price"
    assert run.steps[0].at == "2026-03-01T10:00:01Z"


def test_a_run_has_the_facts_of_its_session() -> None:
    run = the_one(a_short_session().bytes()).run
    assert (run.external_id, run.task, run.agent_model, run.folder, run.started_at) == (
        "session-1",
        "Round prices to cents.",
        "claude-opus-4-6",
        FOLDER,
        "2026-03-01T10:00:00Z",
    )


def test_what_the_agent_did_to_files_comes_with_the_step_that_did_it() -> None:
    run = the_one(a_short_session().bytes()).run
    assert run.events == (
        FileRead(CART, "total = price\n"),
        FileEdit(CART, "price", "round(price, 2)", original="total = price\n"),
    )
    assert run.event_steps == (0, 1)


def test_the_branch_of_the_last_message_is_live_and_the_one_left_behind_is_counted() -> None:
    session = SessionFile()
    asked = session.user("Add a login.")
    session.agent(says("I add a login with a password."), message_id="m1")
    session.user("No, stop.")
    session.agent(says("Stopped."), message_id="m2")
    session.agent(says("I add a login by mail."), message_id="m3", after=asked)
    converted = the_one(session.bytes())
    assert [step.message for step in converted.run.steps] == ["I add a login by mail."]
    assert converted.report.dropped == {"abandoned branch": 1, "message of an abandoned branch": 3}


def test_results_of_parallel_calls_belong_to_the_live_branch_though_they_hang_beside_it() -> None:
    session = SessionFile()
    session.user("Look around.")
    first = session.agent(calls("c1", "Bash", command="ls"), message_id="m1")
    second = session.agent(calls("c2", "Bash", command="pwd"), message_id="m1")
    session.result("c1", "cart.py", after=first)
    last = session.result("c2", FOLDER, after=second)
    session.agent(says("A shop."), message_id="m2", after=last)
    converted = the_one(session.bytes())
    assert [[call.result for call in step.calls] for step in converted.run.steps] == [["cart.py", FOLDER], []]
    assert converted.report.dropped == {}


def test_a_missing_line_in_the_middle_does_not_cost_what_stood_before_it() -> None:
    session = a_short_session()
    del session.lines[4]
    converted = the_one(session.bytes())
    assert len(converted.run.steps) == 3
    assert converted.report.repairs == {"missing line: joined to the line before": 1}


def test_a_file_that_begins_in_the_middle_of_a_session_says_so() -> None:
    session = a_short_session()
    del session.lines[0]
    assert the_one(session.bytes()).report.repairs == {"beginning of the session is not in the file": 1}


def test_links_that_go_in_a_circle_end_somewhere() -> None:
    session = a_short_session()
    session.lines[0]["parentUuid"] = session.lines[7]["uuid"]
    converted = the_one(session.bytes())
    assert len(converted.run.steps) == 3
    assert converted.report.repairs == {"links that go in a circle": 1}


def test_lines_without_links_are_read_in_their_order() -> None:
    session = a_short_session()
    for line in session.lines:
        line["parentUuid"] = None
    converted = the_one(session.bytes())
    assert len(converted.run.steps) == 3
    assert converted.report.repairs == {"lines without links: read in their order": 1}


def test_a_compaction_goes_on_with_what_stood_before_it() -> None:
    session = a_short_session()
    last = session.lines[-1]["uuid"]
    session.line("system", subtype="compact_boundary", after=None, logicalParentUuid=last)
    session.user("This session is being continued.", isCompactSummary=True)
    session.user("Now the tests.")
    session.agent(says("I write tests."), message_id="m4")
    converted = the_one(session.bytes())
    assert len(converted.run.steps) == 4
    assert converted.run.steps[3].prompt == "Now the tests."
    assert [step.dividers for step in converted.run.steps] == [(), (), (), ("compacted",)]
    assert converted.report.dropped == {"compact summary": 1}


def test_a_sub_agents_steps_stand_with_the_call_and_are_no_steps_of_the_run() -> None:
    session = SessionFile()
    session.user("Fix both.")
    call = session.agent(calls("c1", "Task", prompt="Fix the cart."), message_id="m1")
    session.user("Fix the cart.", isSidechain=True, after=None)
    session.agent(calls("s1", "Write", file_path=CART, content="x = 1\n"), message_id="s1", isSidechain=True)
    outcome = {"type": "create", "filePath": CART, "content": "x = 1\n", "originalFile": None}
    session.result("s1", "created", outcome, isSidechain=True)
    session.result("c1", "The cart is fixed.", after=call)
    converted = the_one(session.bytes())
    (step,) = converted.run.steps
    (agent,) = step.agents
    assert (agent.name, agent.call_id, agent.task) == ("Sub-agent", "c1", "Fix the cart.")
    assert [[call.name for call in one.calls] for one in agent.steps] == [["Write"]]
    assert converted.run.events == (FileWrite(CART, "x = 1\n", created=True),)
    assert converted.run.event_steps == (0,)
    assert converted.run.gaps == ()
    assert converted.report.dropped == {}


def test_a_sub_agents_steps_in_progress_lines_stand_with_the_call_too() -> None:
    session = SessionFile()
    session.user("Fix the cart.")
    session.agent(calls("c1", "Task", prompt="Fix the cart."), message_id="m1")
    for message, outcome in (
        ({"role": "assistant", "content": [calls("s1", "Edit", file_path=CART)]}, None),
        (
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "s1", "content": "ok"}]},
            edited(CART, "1", "2", "x = 1\n"),
        ),
    ):
        inner = {"type": message["role"], "message": message, "toolUseResult": outcome}
        session.line("progress", parentToolUseID="c1", data={"type": "agent_progress", "message": inner})
    session.result("c1", "Fixed.")
    converted = the_one(session.bytes())
    assert converted.run.events == (FileEdit(CART, "1", "2", original="x = 1\n"),)
    assert [[call.name for call in one.calls] for one in converted.run.steps[0].agents[0].steps] == [["Edit"]]
    assert converted.report.dropped == {}


def test_noise_is_dropped_and_counted_by_its_name() -> None:
    session = a_short_session()
    session.lines.insert(0, {"type": "summary", "summary": "Cart work", "leafUuid": "elsewhere"})
    session.lines.insert(1, {"type": "file-history-snapshot", "messageId": "x", "snapshot": {}})
    session.line("progress", data={"type": "hook_progress"})
    session.line("system", subtype="turn_duration", durationMs=5)
    session.lines.append({"type": "queue-operation", "operation": "enqueue", "sessionId": "session-1"})
    converted = the_one(session.bytes())
    assert len(converted.run.steps) == 3
    assert converted.report.dropped == {
        "summary": 1,
        "file-history-snapshot": 1,
        "progress": 1,
        "system turn_duration": 1,
        "queue-operation": 1,
    }


def test_events_and_blocks_of_an_unknown_kind_are_kept_and_counted() -> None:
    session = a_short_session()
    session.line("telepathy", thought="?")
    session.agent(says("Done."), {"type": "hologram", "light": 1}, message_id="m4")
    converted = the_one(session.bytes())
    assert converted.report.unknown == {"telepathy": 1, "block hologram": 1}
    assert [event["type"] for event in converted.run.unknown_events] == ["telepathy"]
    assert converted.run.steps[-1].message == "Done.\n\n[hologram]"


@pytest.mark.parametrize(
    ("text", "counted"),
    [
        ("<command-name>/clear</command-name>\n<command-args></command-args>", "command"),
        ("<command-name>/model</command-name>\n<command-args>opus</command-args>", "command"),
        ("Caveat: The messages below were generated by the user while running local commands.", "command output"),
        ("<local-command-stdout>3 files</local-command-stdout>", "command output"),
        ("<user-prompt-submit-hook>lint first</user-prompt-submit-hook>", "hook text"),
        ("<ide_opened_file>cart.py</ide_opened_file>", "editor context"),
    ],
)
def test_the_task_is_what_a_person_said_first(text: str, counted: str) -> None:
    session = SessionFile()
    session.user(text)
    session.user("A skill's text.", isMeta=True)
    session.user([says(text), says("Make the cart faster.")])
    session.agent(says("I measure."), message_id="m1")
    converted = the_one(session.bytes())
    assert converted.run.task == "Make the cart faster."
    assert converted.report.dropped == {counted: 2, "meta message": 1}


def test_what_was_said_together_with_an_interruption_is_kept() -> None:
    session = a_short_session()
    session.user("[Request interrupted by user]\n\nuse Decimal instead")
    session.agent(says("Decimal it is."), message_id="m4")
    converted = the_one(session.bytes())
    assert converted.run.steps[-1].prompt == "use Decimal instead"
    assert converted.run.steps[-1].dividers == ("interrupted",)
    assert converted.report.dropped == {}


def test_a_command_with_arguments_is_the_task_where_nothing_else_was_said() -> None:
    session = SessionFile()
    session.user("<command-name>/fix</command-name><command-args>the rounding</command-args>")
    session.agent(says("I fix the rounding."), message_id="m1")
    assert the_one(session.bytes()).run.task == "/fix the rounding"


def test_later_prompts_stand_before_the_step_that_answers_them() -> None:
    session = a_short_session()
    session.user("Use Decimal.")
    session.user("And test it.")
    session.agent(says("Yes."), message_id="m4")
    session.user("Thanks.")
    converted = the_one(session.bytes())
    assert [step.prompt for step in converted.run.steps] == ["", "", "", "Use Decimal.\n\nAnd test it."]
    assert [step.after for step in converted.run.steps] == ["", "", "", "Thanks."]
    assert converted.report.dropped == {}


def test_messages_that_the_program_wrote_in_the_agents_name_are_no_steps() -> None:
    session = a_short_session()
    session.agent(says("API Error: 529 overloaded"), message_id="m4", isApiErrorMessage=True, model="<synthetic>")
    session.agent(says("No response requested."), message_id="m5", model="<synthetic>")
    session.agent(says("\n\n"), message_id="m6")
    converted = the_one(session.bytes())
    assert len(converted.run.steps) == 3
    assert converted.run.agent_model == "claude-opus-4-6"
    assert converted.report.dropped == {"API error": 1, "synthetic message": 1, "empty message": 1}


def test_an_image_in_a_result_is_named_by_type_and_size() -> None:
    data = base64.b64encode(b"\x89PNG" * 100).decode()
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}
    session = SessionFile()
    session.user("Look at the page.")
    session.agent(calls("c1", "Screenshot"), message_id="m1")
    session.result("c1", [says("taken"), image])
    assert the_one(session.bytes()).run.steps[0].calls[0].result == "taken\n[image/png, 400 bytes]"


def test_a_failed_edit_and_an_unanswered_one_change_no_file() -> None:
    session = SessionFile()
    session.user("Fix it.")
    session.agent(calls("c1", "Edit", file_path=CART, old_string="a", new_string="b"), message_id="m1")
    session.result("c1", "String to replace not found in file.", "Error: String to replace not found", is_error=True)
    session.agent(calls("c2", "Edit", file_path=CART, old_string="a", new_string="b"), message_id="m2")
    run = the_one(session.bytes()).run
    assert run.events == ()
    assert [(call.result, call.is_error) for step in run.steps for call in step.calls] == [
        ("String to replace not found in file.", True),
        (None, False),
    ]


MULTI_EDIT = {
    "filePath": CART,
    "edits": [
        {"old_string": "a", "new_string": "b", "replace_all": True},
        {"old_string": "c", "new_string": "d", "replace_all": False},
    ],
    "originalFileContents": "a a c\n",
}
NOTEBOOK = {"notebook_path": "n.ipynb", "original_file": "{}", "updated_file": '{"cells": []}'}


@pytest.mark.parametrize(
    ("tool", "arguments", "outcome", "events"),
    [
        (
            "MultiEdit",
            {},
            MULTI_EDIT,
            (FileEdit(CART, "a", "b", replace_all=True, original="a a c\n"), FileEdit(CART, "c", "d")),
        ),
        ("Edit", {}, edited("new.py", "", "x\n", ""), (FileWrite("new.py", "x\n", created=True),)),
        ("NotebookEdit", {}, NOTEBOOK, (FileWrite("n.ipynb", '{"cells": []}', original="{}"),)),
        (
            "Write",
            {},
            {"type": "update", "filePath": CART, "content": "new\n", "originalFile": "old\n"},
            (FileWrite(CART, "new\n", original="old\n", created=False),),
        ),
        (
            "Read",
            {},
            {"type": "text", "file": whole_file("x\n") | {"startLine": 40, "numLines": 2, "totalLines": 90}},
            (FileRead(CART, None, (Excerpt(40, ("x",)),)),),
        ),
        ("Write", {"file_path": CART, "content": "x\n"}, "Wrote the file.", (FileWrite(CART, "x\n"),)),
        ("Bash", {"command": "rm cart.py"}, {"stdout": "", "stderr": ""}, ()),
        ("str_replace_editor", {"command": "create", "path": CART, "file_text": "x"}, None, (FileWrite(CART, "x"),)),
        (
            "str_replace_based_edit_tool",
            {"command": "str_replace", "path": CART, "old_str": "a"},
            None,
            (FileEdit(CART, "a", ""),),
        ),
        (
            "str_replace_based_edit_tool",
            {"command": "insert", "path": CART, "insert_line": 3, "insert_text": "x\n"},
            None,
            (FileEdit(CART, "", "x\n", line=3),),
        ),
        ("str_replace_editor", {"command": "view", "path": CART}, None, (FileRead(CART),)),
    ],
)
def test_each_tool_tells_what_it_did_to_files(
    tool: str, arguments: dict[str, object], outcome: object, events: tuple[object, ...]
) -> None:
    session = SessionFile()
    session.user("Work.")
    session.agent(calls("c1", tool, **arguments), message_id="m1")
    session.result("c1", "ok", outcome)
    assert the_one(session.bytes()).run.events == events


def test_several_sessions_of_one_file_are_runs_even_where_their_lines_are_mixed() -> None:
    first, second, third = a_short_session(), SessionFile("session-2"), SessionFile("session-3")
    second.user("Something else.")
    second.agent(says("Else."), message_id="e1")
    third.user("A third thing.")
    third.agent(says("Third."), message_id="t1")
    mixed = [*first.lines[:4], *second.lines, *first.lines[4:], *third.lines]
    found = runs(read(jsonl(*mixed)))
    assert [(run.external_id, len(run.steps)) for run in found] == [
        ("session-2", 1),
        ("session-1", 3),
        ("session-3", 1),
    ]


def test_a_session_without_any_message_of_the_agent_is_an_error_by_name() -> None:
    session = SessionFile()
    session.user("Hello?")
    (_, refusal) = read(session.bytes())
    assert errors([refusal]) == [(1, "no_steps")]
    assert "Session session-1" in getattr(refusal, "sentence", "")


def test_a_line_that_stands_twice_counts_once() -> None:
    session = a_short_session()
    session.lines.insert(6, session.lines[5])
    converted = the_one(session.bytes())
    assert sum(len(step.calls) for step in converted.run.steps) == 2
    assert converted.report.dropped == {"line that stands twice": 1}


def test_each_call_of_a_message_is_a_step_where_the_project_wants_it_so() -> None:
    session = SessionFile()
    session.user("Look around.")
    session.agent(
        thinks("Two things."), says("I look."), calls("c1", "Bash", command="ls"), calls("c2", "Read"), message_id="m1"
    )
    session.result("c2", "x", {"type": "text", "file": whole_file("x\n")})
    session.result("c1", "cart.py")
    session.agent(says("Done."), message_id="m2")
    run = the_one(session.bytes(), options=ReadingOptions(split_tool_calls=True)).run
    assert [(step.thought, step.message, [call.id for call in step.calls]) for step in run.steps] == [
        ("Two things.", "I look.", ["c1"]),
        ("", "", ["c2"]),
        ("", "Done.", []),
    ]
    assert run.event_steps == (1,)


def test_stream_json_is_a_session_too() -> None:
    data = jsonl(
        {"type": "system", "subtype": "init", "session_id": "s", "cwd": FOLDER, "model": "claude-opus-4-6"},
        {
            "type": "assistant",
            "session_id": "s",
            "parent_tool_use_id": None,
            "message": {"id": "m1", "role": "assistant", "content": [calls("c1", "Write", file_path="a", content="x")]},
        },
        {
            "type": "user",
            "session_id": "s",
            "parent_tool_use_id": None,
            "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "ok"}]},
        },
        {
            "type": "assistant",
            "session_id": "s",
            "parent_tool_use_id": "c1",
            "message": {"id": "m2", "role": "assistant", "content": [says("I am a sub-agent.")]},
        },
        {"type": "result", "subtype": "success", "session_id": "s", "result": "Done."},
    )
    converted = the_one(data)
    assert (converted.run.external_id, converted.run.folder, len(converted.run.steps)) == ("s", FOLDER, 1)
    assert converted.run.events == (FileWrite("a", "x"),)
    assert [step.message for step in converted.run.steps[0].agents[0].steps] == ["I am a sub-agent."]
    assert converted.report.dropped == {"system init": 1, "result": 1}
    assert converted.report.repairs == {}


def test_anthropic_messages_are_a_run_with_the_fields_that_the_project_names() -> None:
    record = {
        "trace": 42,
        "goal": "Round prices.",
        "model": "claude-opus-4-6",
        "tags": ["shop"],
        "messages": [
            {"role": "user", "content": "Please round prices."},
            {"role": "assistant", "content": [says("Yes."), calls("c1", "Write", file_path="a.py", content="x")]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "ok"}]},
            {"role": "assistant", "content": "Done."},
        ],
    }
    converted = the_one(jsonl(record), options=ReadingOptions(id_key="trace", text_key="goal"))
    run = converted.run
    assert (run.external_id, run.task, run.agent_model, run.tags) == (
        "42",
        "Round prices.",
        "claude-opus-4-6",
        ("shop",),
    )
    assert [(step.message, step.prompt) for step in run.steps] == [("Yes.", "Please round prices."), ("Done.", "")]
    assert run.events == (FileWrite("a.py", "x"),)


def test_structured_turns_are_a_run() -> None:
    record = {
        "id": "trace_1",
        "task_description": "Round prices.",
        "structured_turns": [
            {"role": "user", "content": "Round prices."},
            {
                "role": "assistant",
                "content": "I edit the cart.",
                "tool_calls": [
                    {
                        "tool": "Edit",
                        "input": {"path": "cart.py", "old_string": "a", "new_string": "b"},
                        "output": "ok",
                    },
                    {"tool": "bash", "input": {"command": "pytest"}, "output": {"passed": 3}},
                ],
            },
            {"role": "user", "content": "Thanks. Now commit."},
            {"role": "agent", "content": "Committed."},
        ],
    }
    run = the_one(jsonl(record)).run
    assert (run.external_id, run.task) == ("trace_1", "Round prices.")
    assert [(step.prompt, step.message) for step in run.steps] == [
        ("", "I edit the cart."),
        ("Thanks. Now commit.", "Committed."),
    ]
    assert run.steps[0].calls[1].result == '{\n  "passed": 3\n}'
    assert run.events == (FileEdit("cart.py", "a", "b"),)


def test_an_exported_log_in_one_document_is_a_session() -> None:
    session = a_short_session()
    document = jsonl({"loglines": session.lines}).replace(b"}, {", b"},\n{")
    assert len(the_one(document, "log.json").run.steps) == 3
