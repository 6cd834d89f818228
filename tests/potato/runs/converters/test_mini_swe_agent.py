"""Trajectories of mini-swe-agent: actions as text or as calls, each a shell command, and the patch handed in."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from potato.runs.changes.derive import derive
from potato.runs.converters.reading import read_file
from potato.runs.converters.shell_files import ShellFiles
from potato.runs.model import Converted, FilePatch, FileRead, FileTouched, FileWrite, ReadingOptions
from potato.runs.run_files import source_at
from tests.potato.runs.damaged_files import damaged, read_without_error, retyped
from tests.potato.runs.reading import errors, jsonl, read, runs, the_one
from tests.shared_data import shared_files

PATCH = (
    "diff --git a/price.py b/price.py\n--- a/price.py\n+++ b/price.py\n"
    "@@ -1,2 +1,2 @@\n def total(items):\n-    return int(sum(items))\n+    return round(sum(items), 2)\n"
)
TEMPLATE = "<pr_description>\nConsider the following PR description:\n{{task}}\n</pr_description>\n\nUse {{system}}."
TASK = "Totals are cut off.\n\n1.5 becomes 1."
PRICE = "def total(items):\n    return int(sum(items))\n"


def answered(output: str, code: int = 0) -> dict[str, str]:
    return {"role": "user", "content": f"<returncode>{code}</returncode>\n<output>\n{output}</output>"}


def acts(command: str, words: str = "THOUGHT: I act.", block: str = "bash") -> dict[str, Any]:
    extra = {"response": {"model": "m-1", "usage": {}}}
    return {"role": "assistant", "content": f"{words}\n\n```{block}\n{command}\n```", "extra": extra}


FIRST = [
    {"role": "system", "content": "You are helpful."},
    {"role": "user", "content": TEMPLATE.replace("{{task}}", TASK).replace("{{system}}", "Linux")},
]
MESSAGES: list[dict[str, Any]] = [
    *FIRST,
    acts("cat price.py", "THOUGHT: I look."),
    answered(PRICE),
    acts("cat <<'EOF' > try.py\nimport price\nprint(price.total([1.5]))\nEOF"),
    answered(""),
    acts("python try.py"),
    answered("1\n", 1),
    {"role": "assistant", "content": "I have no action."},
    {"role": "user", "content": "Please always provide EXACTLY ONE action in triple backticks."},
    acts("sed -i 's/int(sum(items))/round(sum(items), 2)/' price.py"),
    answered(""),
    acts("rm try.py"),
    answered(""),
    acts("echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT && git add -A && git diff --cached"),
    {"role": "user", "content": PATCH},
]


def trajectory(messages: list[dict[str, Any]] | None = None, **more: Any) -> dict[str, Any]:
    info = {
        "exit_status": "Submitted",
        "submission": PATCH,
        "model_stats": {"instance_cost": 0.5, "api_calls": 7},
        "mini_version": "1.15.0",
        "config": {
            "agent": {"instance_template": TEMPLATE},
            "model": {"model_name": "acme/m-1"},
            "environment": {"cwd": "/shop"},
        },
    }
    about = {"trajectory_format": "mini-swe-agent-1", "instance_id": "acme__shop-7"}
    return {"info": info, "messages": MESSAGES if messages is None else messages, **about, **more}


def as_file(value: Any) -> bytes:
    return json.dumps(value, indent=2).encode()


@pytest.mark.parametrize("tag", ["bash_code", "mswea_bash_command"])
def test_actions_between_tags_are_those_between_backticks(tag: str) -> None:
    """As the configuration swebench_xml.yaml asks for them."""
    in_tags = [
        {
            **message,
            "content": re.sub(r"```bash\n(.*?)\n```", rf"<{tag}>\n\1\n</{tag}>", message["content"], flags=re.S),
        }
        for message in MESSAGES
    ]
    expected, tagged = the_one(as_file(trajectory())).run, the_one(as_file(trajectory(in_tags))).run
    assert expected == tagged
    value = trajectory(in_tags)
    value["info"]["config"]["model"]["action_regex"] = rf"<{tag}>(.*?)</{tag}>"
    shown = {"role": "assistant", "content": f"Not so:\n```bash\nrm -r /\n```\nbut\n<{tag}>ls</{tag}>"}
    value["messages"] = [*FIRST, shown, answered("price.py\n")]
    (step,) = the_one(as_file(value)).run.steps
    assert [call.arguments for call in step.calls] == [{"command": "ls"}]


def test_each_message_of_the_agent_is_a_step_with_its_command() -> None:
    run = the_one(as_file(trajectory()), "a.traj.json").run
    assert [call.arguments["command"].split()[0] for step in run.steps for call in step.calls] == [
        "cat", "cat", "python", "sed", "rm", "echo",
    ]  # fmt: skip
    assert (run.steps[0].message, run.steps[0].calls[0].result) == ("THOUGHT: I look.", MESSAGES[3]["content"])
    assert run.steps[2].calls[0].is_error
    assert (run.steps[3].message, run.steps[3].calls) == ("I have no action.", ())
    assert run.steps[4].prompt.startswith("Please always provide EXACTLY ONE action")
    assert run.steps[-1].calls[0].result == PATCH


def test_the_run_says_its_task_model_instance_and_patch() -> None:
    run = the_one(as_file(trajectory()), "a.traj.json").run
    assert (run.task, run.agent_model, run.instance_id, run.repo) == (TASK, "acme/m-1", "acme__shop-7", "acme/shop")
    assert (run.external_id, run.folder, run.patch) == ("acme__shop-7@acme/m-1", "/shop", PATCH.encode())


def test_the_steps_that_touched_a_file_are_known_and_its_whole_text() -> None:
    (change,) = derive(the_one(as_file(trajectory()), "a.traj.json").run).files
    assert (change.path, change.steps, change.badges) == ("price.py", (0, 4), ())
    assert (change.old_text, change.source) == (PRICE, "patch")


def test_a_bare_list_of_messages_is_a_run_whose_last_answer_is_the_patch() -> None:
    run = the_one(as_file(MESSAGES), "a.traj.json").run
    assert (len(run.steps), run.task, run.patch) == (7, TASK, PATCH.encode())
    lines = the_one(jsonl(*MESSAGES), "a.traj.json").run
    assert (lines.steps, lines.patch) == (run.steps, run.patch)


def test_of_blocks_for_bash_the_one_of_the_program_counts() -> None:
    content = "I show it:\n\n```bash\nls -a\n```\n\nNow:\n\n```mswea_bash_command\nls\n```"
    run = the_one(as_file(trajectory([*FIRST, {"role": "assistant", "content": content}, answered("a")]))).run
    (step,) = run.steps
    assert [call.arguments for call in step.calls] == [{"command": "ls"}]
    assert step.message == "I show it:\n\n```bash\nls -a\n```\n\nNow:"


def tool_calls(*commands: tuple[str, str]) -> dict[str, Any]:
    return {
        "role": "assistant",
        "content": "Both at once.",
        "reasoning_content": "Hm.",
        "tool_calls": [
            {"id": key, "type": "function", "function": {"name": "bash", "arguments": json.dumps({"command": command})}}
            for key, command in commands
        ],
        "extra": {
            "actions": [{"command": command, "tool_call_id": key} for key, command in commands],
            "timestamp": 1_770_000_000.5,
            "cost": 0.1,
        },
    }


def of_tool(key: str, output: str, code: int = 0) -> dict[str, Any]:
    extra = {"raw_output": output, "returncode": code, "timestamp": 1_770_000_001.0}
    return {"role": "tool", "tool_call_id": key, "content": f"returned {code}\n{output}", "extra": extra}


END = {"role": "exit", "content": PATCH, "extra": {"exit_status": "Submitted", "submission": PATCH}}


def second(messages: list[dict[str, Any]]) -> dict[str, Any]:
    value = trajectory(messages, trajectory_format="mini-swe-agent-1.1")
    value["info"].pop("submission")
    return value


def test_calls_of_the_second_version_have_their_answers_by_id() -> None:
    both = tool_calls(("c1", "cat price.py"), ("c2", "ls nowhere"))
    run = the_one(as_file(second([*FIRST, both, of_tool("c2", "no", 2), of_tool("c1", PRICE), END]))).run
    (step,) = run.steps
    assert [(call.id, call.result, call.is_error) for call in step.calls] == [
        ("c1", "returned 0\n" + PRICE, False), ("c2", "returned 2\nno", True),
    ]  # fmt: skip
    assert (step.message, step.thought, step.at) == ("Both at once.", "Hm.", "2026-02-02T02:40:00.500000+00:00")
    assert run.patch == PATCH.encode()
    (change,) = derive(run).files
    assert change.old_text == PRICE


def test_a_response_of_openai_is_a_step_too() -> None:
    response = {
        "object": "response",
        "model": "m-2",
        "output": [
            {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm."}]},
            {"type": "message", "content": [{"type": "output_text", "text": "I look."}]},
            {"type": "function_call", "call_id": "c1", "name": "bash", "arguments": '{"command": "ls"}'},
        ],
        "extra": {"actions": [{"command": "ls", "tool_call_id": "c1"}]},
    }
    answer = {"type": "function_call_output", "call_id": "c1", "output": "price.py", "extra": {"returncode": 0}}
    (step,) = the_one(as_file(second([*FIRST, response, answer, END]))).run.steps
    assert (step.message, step.thought, step.calls[0].result) == ("I look.", "Hm.", "price.py")


def test_what_nobody_knows_is_counted_and_kept() -> None:
    converted = the_one(as_file(trajectory([*MESSAGES, {"role": "referee", "content": "Foul."}], mood=1)))
    assert converted.report.unknown == {"member mood": 1, "message of the role referee": 1}
    assert converted.run.unknown_events == ({"role": "referee", "content": "Foul."},)


def test_messages_without_the_agent_are_an_error_by_name() -> None:
    assert errors(read(as_file(trajectory(FIRST)), "a.traj.json")) == [(1, "no_steps")]


def test_several_trajectories_may_stand_in_one_file() -> None:
    lines = jsonl(trajectory(), trajectory(instance_id="acme__shop-8"))
    assert [run.instance_id for run in runs(read(lines))] == ["acme__shop-7", "acme__shop-8"]


# --- Commands ---


@pytest.mark.parametrize(
    ("command", "output", "events"),
    [
        ("cat <<'EOF' > a.py\nx = '$1'\nEOF", "", [FileWrite("/shop/a.py", "x = '$1'\n")]),
        ("cat > /shop/a.py << EOF\nx = 1\nEOF\n", "", [FileWrite("/shop/a.py", "x = 1\n")]),
        ("cd lib && cat > a.py <<-EOF\n\tx = 1\n\tEOF", "", [FileWrite("/shop/lib/a.py", "x = 1\n")]),
        ("tee a.py <<'X' > /dev/null\na\nX", "", [FileWrite("/shop/a.py", "a\n")]),
        ("echo 'one two' > a.txt", "", [FileWrite("/shop/a.txt", "one two\n")]),
        ("cat a.py", "x = 1\n", [FileRead("/shop/a.py", "x = 1\n")]),
        ("sed -i 's/a/b/' a.py b.py", "", ["touched a.py", "touched b.py"]),
    ],
)
def test_a_command_that_says_it_all_is_recorded(command: str, output: str, events: list[Any]) -> None:
    effects = ShellFiles("/shop").effects(command, output, failed=False)
    told = [f"touched {event.path[6:]}" if isinstance(event, FileTouched) else event for event in effects.events]
    assert (told, effects.command) == (events, "")


@pytest.mark.parametrize(
    "command",
    [
        "cat > a.py <<EOF\n$HOME\nEOF",
        "cat >> a.py <<'EOF'\nx\nEOF",
        "cat a.py | tee b.py",
        "for f in *.py; do cat > $f <<'EOF'\nx\nEOF\ndone",
        "(cat > a.py <<'EOF'\nx\nEOF\n)",
        "cat > $A <<'EOF'\nx\nEOF",
        "rm a.py",
        "rm -rf lib",
        "echo -e 'a\\nb' > a.py",
        "cat 'a.py",
        "python - <<'EOF'\nopen('a.py', 'w')\nEOF",
    ],
)
def test_a_command_that_leaves_something_open_is_only_doubted(command: str) -> None:
    effects = ShellFiles("/shop").effects(command, "", failed=False)
    assert (effects.events, effects.command) == ((), command)


def test_of_a_failed_command_only_what_stands_before_the_failure_happened() -> None:
    files = ShellFiles("/shop")
    wrote = "cat > a.py <<'EOF'\nx\nEOF\n"
    effects = files.effects(f"{wrote}python a.py; cat > b.py <<'EOF'\ny\nEOF", "Traceback", failed=True)
    assert effects.events == (FileWrite("/shop/a.py", "x\n"),)
    assert "python a.py" in effects.command
    assert files.effects("rm a.py", "", failed=True).events == ()
    assert files.effects("rm a.py", "", failed=False).events == (FilePatch("/shop/a.py", (), "deleted"),)


@pytest.mark.parametrize(
    ("command", "output", "first", "lines"),
    [
        ("sed -n '5,6p' a.py", "e\nf\n", 5, ("e", "f")),
        ("head -n 2 a.py", "a\nb\n", 1, ("a", "b")),
        ("head -2 a.py", "a\n\n", 1, ("a", "")),
        ("nl -ba a.py | sed -n '5,6p'", "     5\te\n     6\tf\n", 5, ("e", "f")),
        ("cd /shop && cat -n a.py", "     1\ta\n     2\tb\n", 1, ("a", "b")),
    ],
)
def test_what_a_command_shows_of_a_file_is_read(command: str, output: str, first: int, lines: tuple[str, ...]) -> None:
    (event,) = ShellFiles("/shop").effects(command, output, failed=False).events
    assert isinstance(event, FileRead)
    (excerpt,) = event.excerpts
    assert (event.path, excerpt.first, excerpt.lines) == ("/shop/a.py", first, lines)


def test_a_damaged_trajectory_gives_runs_or_errors_by_name() -> None:
    value = second([*MESSAGES, tool_calls(("c1", "ls")), of_tool("c1", "a"), END])
    for copy in damaged(as_file(value), 18, 200):
        read_without_error(copy, "a.traj.json", "mini_swe_agent")
    for changed in retyped(value, 18, 300):
        read_without_error(as_file(changed), "a.traj.json", "mini_swe_agent")
    assert not read_without_error(b'[{"role": ["user"], "content": "x"}]', "a.traj.json", "mini_swe_agent")


# --- Real ones ---


def converted_file(path: Path) -> Converted:
    _, converted = read_file(source_at(path), ReadingOptions())
    assert isinstance(converted, Converted), converted
    return converted


def test_every_real_trajectory_has_its_messages_commands_and_files() -> None:
    for path in shared_files("mini-swe-agent/*.json"):
        raw = json.loads(path.read_bytes())
        messages = raw if isinstance(raw, list) else raw["messages"]
        said = [message["content"] for message in messages if message["role"] == "assistant"]
        run = converted_file(path).run
        assert len(run.steps) == len(said), path
        commands = [re.findall(r"```(?:bash|mswea_bash_command)\s*\n(.*?)\n```", words, re.DOTALL) for words in said]
        assert [call.arguments["command"] for step in run.steps for call in step.calls] == [
            found[0].strip() for found in commands if len(found) == 1
        ], path
        assert all(call.result is not None for step in run.steps for call in step.calls), path
        submission = messages[-1]["content"] if isinstance(raw, list) else raw["info"]["submission"]
        named = set(re.findall(r"^\+\+\+ b/(\S+)", submission, re.MULTILINE))
        changed = [file for file in derive(run).files if file.operation != "unchanged"]
        assert {file.path for file in changed} == named, path
        assert run.task, path
        assert "```bash" not in run.task.split("\n")[0], path


def test_a_real_change_is_linked_to_the_steps_that_made_it() -> None:
    linked = total = 0
    for path in shared_files("mini-swe-agent/*.json"):
        for file in derive(converted_file(path).run).files:
            if file.operation != "unchanged":
                total += 1
                linked += bool(file.steps)
    assert total - linked <= 4


def test_damaged_real_trajectories_give_runs_or_errors_by_name() -> None:
    for path in shared_files("mini-swe-agent/*.json"):
        for copy in damaged(path.read_bytes(), 7, 8):
            read_without_error(copy, path.name, "mini_swe_agent")
