"""Trajectories of SWE-agent: each action is a step, and the window that the agent saw tells where it edited."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from potato.runs.changes.derive import derive
from potato.runs.changes.model import ChangeSet
from potato.runs.converters.reading import read_file
from potato.runs.model import Converted, ReadingOptions
from potato.runs.run_files import source_at
from tests.potato.runs.damaged_files import damaged, read_without_error, retyped
from tests.potato.runs.reading import SMALL_BOUNDS, errors, read, the_one
from tests.shared_data import shared_files

PATCH = (
    "diff --git a/price.py b/price.py\n--- a/price.py\n+++ b/price.py\n"
    "@@ -1,3 +1,3 @@\n def total(items):\n-    return int(sum(items))\n+    return round(sum(items), 2)\n \n"
)
PROMPT = "We're solving this.\nISSUE:\nTotals are cut off.\n\nINSTRUCTIONS:\nNow, you're going to solve it.\n"


def window(path: str, lines: list[str], first: int = 1, total: int | None = None) -> str:
    total = len(lines) if total is None else total
    above = f"({first - 1} more lines above)\n" if first > 1 else ""
    rest = total - first - len(lines) + 1
    below = f"({rest} more lines below)\n" if rest > 0 else ""
    numbered = "".join(f"{number}:{line}\n" for number, line in enumerate(lines, first))
    return f"[File: {path} ({total} lines total)]\n{above}{numbered}{below}"


def step(action: str, observation: str, thought: str = "", opened: str = "n/a") -> dict[str, Any]:
    state = json.dumps({"open_file": opened, "working_dir": "/shop"})
    return {
        "action": action, "observation": observation, "response": f"{thought}\n```\n{action}```", "state": state,
        "thought": thought,
    }  # fmt: skip


BEFORE = ["def total(items):", "    return int(sum(items))", ""]
AFTER = ["def total(items):", "    return round(sum(items), 2)", ""]
REFUSED = "Your proposed edit has introduced new syntax error(s).\n" + window("/shop/price.py", ["no"])
SHOWN = window("/shop/price.py", AFTER) + "File updated.\n"
TRIED = ["import price", "print(price.total([1.5]))"]
STEPS = [
    step("open price.py\n", window("/shop/price.py", BEFORE), "I look at the prices."),
    step("edit 2:2\n  return x\nend_of_edit\n", REFUSED, "I mend it.", "/shop/price.py"),
    step("edit 2:2\n    return round(sum(items), 2)\nend_of_edit\n", SHOWN, "Again.", "/shop/price.py"),
    step("create try.py\n", window("/shop/try.py", [""]), "I try it."),
    step("edit 1:1\n" + "\n".join(TRIED) + "\nend_of_edit\n", window("/shop/try.py", TRIED), "", "/shop/try.py"),
    step("rm try.py\n", "", "I clean up."),
    step("submit\n", PATCH, "Done."),
]


def trajectory(steps: list[dict[str, Any]] | None = None, **more: Any) -> dict[str, Any]:
    return {
        "environment": "main",
        "trajectory": STEPS if steps is None else steps,
        "history": [
            {"role": "system", "content": "SETTING: ...", "agent": "main", "message_type": "system_prompt"},
            {"role": "user", "content": "A demonstration.", "agent": "main", "is_demo": True},
            {"role": "user", "content": PROMPT, "agent": "main", "message_type": "observation"},
        ],
        "info": {"submission": PATCH, "exit_status": "submitted"},
        **more,
    }


def as_file(value: Any) -> bytes:
    return json.dumps(value, indent=2).encode()


def read_one(value: dict[str, Any], name: str = "shop__prices-7.traj") -> Converted:
    return the_one(as_file(value), name)


def replayed(value: dict[str, Any]) -> ChangeSet:
    value = value | {"info": {}}
    return derive(read_one(value).run)


def test_each_action_is_a_step_with_its_answer() -> None:
    run = read_one(trajectory()).run
    assert [call.name for one in run.steps for call in one.calls] == [
        "open", "edit", "edit", "create", "edit", "bash", "submit",
    ]  # fmt: skip
    assert run.steps[0].message == "I look at the prices."
    assert run.steps[2].calls[0].arguments == {
        "start_line": 2, "end_line": 2, "replacement_text": "    return round(sum(items), 2)",
    }  # fmt: skip
    assert [call.is_error for one in run.steps for call in one.calls] == [False, True, *[False] * 5]
    assert run.steps[5].calls[0].arguments == {"command": "rm try.py"}


def test_task_instance_and_patch_are_those_of_the_run() -> None:
    converted = read_one(trajectory())
    run = converted.run
    assert (run.task, run.instance_id, run.repo, run.folder) == (
        "Totals are cut off.", "shop__prices-7", "shop/prices", "/shop",
    )  # fmt: skip
    assert run.patch == PATCH.encode()
    assert converted.report.dropped["message of a demonstration"] == 1


def test_the_configuration_goes_before_what_the_prompt_says() -> None:
    configuration = {
        "agent": {"model": {"name": "m-1"}},
        "problem_statement": {"text": "Round the totals.", "id": "i-9"},
        "env": {"repo": {"github_url": "https://github.com/acme/shop.git", "base_commit": "abc"}},
    }
    for replay in (configuration, json.dumps(configuration)):
        run = read_one(trajectory(replay_config=replay)).run
        assert (run.task, run.agent_model, run.instance_id) == ("Round the totals.", "m-1", "i-9")
        assert (run.repo, run.external_id) == ("acme/shop", "i-9@m-1")


def test_the_patch_of_a_terminal_has_its_line_ends_mended() -> None:
    converted = read_one(trajectory(info={"submission": "\r\n" + PATCH.replace("\n", "\r\n")}))
    assert converted.run.patch == PATCH.encode()
    assert converted.report.repairs == {"line ends of a terminal in the patch": 1}


def test_a_submission_that_is_no_patch_is_counted_and_the_edits_are_the_change() -> None:
    converted = read_one(trajectory(info={"submission": "flag{round}"}))
    assert converted.run.patch is None
    assert converted.report.dropped["submission that is no patch"] == 1
    (change,) = [file for file in derive(converted.run).files if file.operation != "unchanged"]
    assert (change.path, change.new_text) == ("price.py", "\n".join([*AFTER, ""]))


def test_edits_in_the_window_come_to_the_patch_that_was_submitted() -> None:
    (change,) = [file for file in replayed(trajectory()).files if file.operation != "unchanged"]
    assert (change.path, change.added, change.removed, change.badges) == ("price.py", 1, 1, ())
    assert change.steps == (0, 2)
    assert change.new_text == "\n".join([*AFTER, ""])


def test_an_edit_of_a_file_that_is_never_seen_whole_stands_at_its_line() -> None:
    lines = [f"line {number}" for number in range(40, 60)]
    after = [*lines[:5], "new", "newer", *lines[6:]]
    changes = replayed(
        trajectory(
            [
                step("open big.py 50\n", window("/shop/big.py", lines, 40, 900)),
                step(
                    "edit 45:45\nnew\nnewer\nend_of_edit\n", window("/shop/big.py", after, 40, 901), "", "/shop/big.py"
                ),
            ]
        )
    )
    (change,) = changes.files
    (hunk,) = change.hunks
    assert (hunk.old_start, change.added, change.removed, change.has_line_numbers) == (42, 2, 1, True)


def test_edits_between_cursors_replace_the_lines_that_the_window_marks() -> None:
    marked = window("/shop/price.py", BEFORE).replace(
        "2:    return int(sum(items))\n",
        "<<<<< START CURSOR >>>>>\n2:    return int(sum(items))\n<<<<< END CURSOR >>>>>\n",
    )
    changes = replayed(
        trajectory(
            [
                step("open price.py\n", marked),
                step(
                    "edit\n    return round(sum(items), 2)\nend_of_edit\n",
                    window("/shop/price.py", AFTER),
                    "",
                    "/shop/price.py",
                ),
            ]
        )
    )
    (change,) = changes.files
    assert (change.new_text, change.badges) == ("\n".join([*AFTER, ""]), ())


def test_an_edit_whose_answer_says_something_else_is_not_guessed() -> None:
    changes = replayed(
        trajectory(
            [
                step("open price.py\n", window("/shop/price.py", BEFORE)),
                step(
                    "edit 2:2\nx = 1\nend_of_edit\n", window("/shop/price.py", ["y = 2", *BEFORE]), "", "/shop/price.py"
                ),
            ]
        )
    )
    (change,) = changes.files
    assert "change_not_recorded" in {badge.code for badge in change.badges}


def test_the_text_editor_is_read_from_its_call_and_from_its_words() -> None:
    shown = (
        "The file /shop/price.py has been edited. Here's the result of running `cat -n` on a snippet of "
        "/shop/price.py:\n     1\tdef total(items):\n     2\t    return round(sum(items), 2)\n"
    )
    action = (
        "str_replace_editor str_replace /shop/price.py --old_str '    return int(sum(items))' "
        "--new_str '    return round(sum(items), 2)'"
    )
    call = {
        "role": "assistant", "action": action,
        "tool_calls": [{"id": "1", "function": {"name": "str_replace_editor", "arguments": json.dumps({
            "command": "str_replace", "path": "/shop/price.py", "old_str": "    return int(sum(items))",
            "new_str": "    return round(sum(items), 2)"})}}],
    }  # fmt: skip
    for history in ([], [call]):
        (change,) = replayed(trajectory([step(action, shown)], history=history)).files
        assert (change.path, change.added, change.removed) == ("price.py", 1, 1)
        assert change.has_line_numbers


def test_an_editor_that_refused_changed_nothing() -> None:
    refusal = "No replacement was performed, old_str did not appear verbatim in /shop/price.py."
    converted = read_one(
        trajectory(
            [step("str_replace_editor str_replace /shop/price.py --old_str 'a' --new_str 'b'", refusal)], info={}
        )
    )
    assert converted.run.steps[0].calls[0].is_error
    assert converted.run.events == ()


def test_a_history_alone_is_a_run() -> None:
    history = [
        {"role": "system", "content": "SETTING", "agent": "main"},
        {"role": "user", "content": PROMPT, "agent": "main"},
        {
            "role": "assistant",
            "content": "I look.\n```\nls\n```",
            "thought": "I look.",
            "action": "ls",
            "agent": "main",
        },
        {"role": "user", "content": "price.py", "agent": "main"},
        {"role": "assistant", "content": "Done.", "thought": "Done.", "action": "submit", "agent": "main"},
    ]
    run = the_one(as_file({"history": history}), "a.traj").run
    assert run.task == "Totals are cut off."
    assert [(one.message, one.calls[0].name, one.calls[0].result) for one in run.steps] == [
        ("I look.", "bash", "price.py"), ("Done.", "submit", None),
    ]  # fmt: skip


def test_pictures_of_prompts_are_pictures_wherever_they_stand() -> None:
    url = "data:image/png;base64,iVBORw0KGgo="
    part = {"type": "image_url", "image_url": {"url": url}}
    task = {"role": "user", "content": [{"type": "text", "text": PROMPT}, part], "agent": "main"}
    acted = {"role": "assistant", "content": "I look.\n```\nls\n```", "thought": "I look.", "action": "ls"}
    said = {"role": "assistant", "content": "What now?", "thought": "What now?", "action": ""}
    shown = {"role": "user", "content": f"Like this: ![page]({url})", "agent": "main"}
    history = [task, acted, {"role": "user", "content": "price.py", "agent": "main"}, said, shown, shown, said]
    converted = the_one(as_file({"history": history, "info": {}}), "a.traj")
    first, second, third = converted.run.steps
    assert converted.run.task.strip() == "Totals are cut off."
    assert [len(each.prompt_pictures) for each in (first, second, third)] == [1, 0, 2]
    assert third.prompt_pictures[0].data[:4] == b"\x89PNG"
    assert "base64" not in third.prompt
    assert not converted.report.unknown
    value = trajectory(STEPS[:1])
    value["history"][-1] = task
    run = the_one(as_file(value), "a.traj").run
    assert (run.task.strip(), len(run.steps[0].prompt_pictures)) == ("Totals are cut off.", 1)


def test_hidden_reasoning_and_other_attempts_are_told() -> None:
    history = [{"role": "assistant", "action": "ls", "thinking_blocks": [{"type": "thinking", "thinking": "Hm."}]}]
    converted = read_one(trajectory([step("ls", "a")], history=history, attempts=[{}, {}, {}], extra=1))
    assert converted.run.steps[0].thought == "Hm."
    assert converted.report.dropped["attempt that was not chosen"] == 2
    assert converted.report.unknown == {"member extra": 1}


def test_a_trajectory_without_a_step_is_an_error_by_name() -> None:
    value = {"trajectory": [], "history": [{"role": "user", "content": "x", "agent": "main"}]}
    assert "has no step of the agent under trajectory or history" in the_refusal_sentence(value)


def the_refusal_sentence(value: dict[str, Any]) -> str:
    answers = read(as_file(value), "a.traj")
    assert errors(answers) == [(1, "no_steps")]
    return str(getattr(answers[1], "sentence", ""))


def test_a_damaged_trajectory_gives_runs_or_errors_by_name() -> None:
    data = as_file(trajectory())
    assert read_without_error(data, "a.traj", "swe_agent")
    for copy in damaged(data, 18, 200):
        read_without_error(copy, "a.traj", "swe_agent")
    for value in retyped(trajectory(), 18, 300):
        read_without_error(as_file(value), "a.traj", "swe_agent")


# --- Real ones ---


def converted_file(path: Path) -> Converted:
    _, converted = read_file(source_at(path), ReadingOptions())
    assert isinstance(converted, Converted), converted
    return converted


def test_every_real_trajectory_has_as_many_steps_and_calls_as_it_says() -> None:
    for path in shared_files("swe-agent/*.traj"):
        raw = json.loads(path.read_bytes())
        run = converted_file(path).run
        assert len(run.steps) == len(raw["trajectory"]), path
        assert sum(len(one.calls) for one in run.steps) == sum(bool(one["action"].strip()) for one in raw["trajectory"])
        assert [call.result for one in run.steps for call in one.calls] == [
            one["observation"] for one in raw["trajectory"]
        ]
        assert run.task, path
        has_patch = "diff --git" in (raw["info"].get("submission") or "")
        assert (run.patch is not None) == has_patch, path
        if has_patch:
            named = set(re.findall(r"^\+\+\+ b/(\S+)", raw["info"]["submission"], re.MULTILINE))
            assert {file.path for file in derive(run).files if file.operation != "unchanged"} == named, path


def test_the_edits_of_real_trajectories_come_to_the_lines_of_their_patch() -> None:
    """What the agent changed in its window, without looking at the patch, has the patch's added and removed lines."""
    compared = 0
    for path in shared_files("swe-agent/*.traj"):
        run = converted_file(path).run
        if run.patch is None:
            continue
        stated = {file.path: file for file in derive(run).files if file.operation != "unchanged"}
        derived = {file.path: file for file in derive(replace(run, patch=None)).files}
        for name, file in stated.items():
            assert [line for hunk in derived[name].hunks for line in hunk.lines if line.kind != "context"] == [
                line for hunk in file.hunks for line in hunk.lines if line.kind != "context"
            ], path
            compared += 1
    assert compared >= 6


@pytest.mark.parametrize("seed", [1])
def test_damaged_real_trajectories_give_runs_or_errors_by_name(seed: int) -> None:
    for path in shared_files("swe-agent/*.traj"):
        for copy in damaged(path.read_bytes(), seed, 8):
            read_without_error(copy, path.name, "swe_agent")


def test_a_trajectory_that_begins_with_a_long_observation_is_recognised() -> None:
    step = {"action": "cat a", "observation": "x" * 200_000, "response": "I look.", "thought": "I look.", "state": "{}"}
    data = json.dumps({"environment": "e", "trajectory": [step], "history": [], "info": {}}).encode()
    assert [call.result for call in the_one(data, "a.traj").run.steps[0].calls] == ["x" * 200_000]


def test_a_long_trajectory_in_one_line_is_a_document() -> None:
    """Programs write it again without line ends; a document may be longer than a line of JSON lines."""
    looked = {"action": "ls", "observation": "x" * 1_200, "response": "I look.", "thought": "I look.", "state": "{}"}
    record = {"environment": "e", "trajectory": [looked, looked], "history": [], "info": {"submission": None}}
    data = json.dumps(record).encode()
    assert SMALL_BOUNDS.bounds.line_bytes < len(data) < SMALL_BOUNDS.bounds.document_bytes
    assert len(the_one(data, "run.traj", options=SMALL_BOUNDS).run.steps) == 2
