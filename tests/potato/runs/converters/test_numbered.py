"""What agents were shown of files, with numbers: read out of tools' answers in every form that has them."""

from typing import Any

import pytest

from potato.runs.changes.derive import derive
from potato.runs.changes.model import FileChange
from potato.runs.converters.numbered import CUT_AT, numbered_lines
from potato.runs.model import Excerpt
from tests.potato.runs.reading import jsonl, the_one
from tests.potato.runs.sessions import SessionFile, calls, says

CAT = "    41\tdef total(prices):\n    42\t    return sum(prices)\n    43\t"
ARROWS = CAT.replace("\t", "→")


@pytest.mark.parametrize(
    "answer",
    [
        CAT,
        ARROWS,
        CAT.replace(" " * 4, "", 1).replace("\n    4", "\n4"),
        f"{CAT}\n",
        f"{ARROWS}\n\n<system-reminder>\nBe careful.\n</system-reminder>",
        f"The file x.py was updated. Here's the result of running `cat -n` on a snippet of the edited file:\n{CAT}",
        f"Here's the result of running `cat -n` on x.py:\n{CAT}\nReview the changes. Edit the file again if necessary.",
        f"{CAT}\n    99\tnot the next line",
    ],
)
def test_numbered_lines_are_read_up_to_the_first_that_does_not_follow(answer: str) -> None:
    assert numbered_lines(answer) == (Excerpt(41, ("def total(prices):", "    return sum(prices)")),)


@pytest.mark.parametrize(
    "answer",
    ["", "def total(prices):\n    1\tx", "No such file", "Here's the result:\n    1\tx", "    0\tx", "1 x", "    1 x"],
)
def test_an_answer_without_numbered_lines_shows_none(answer: str) -> None:
    assert numbered_lines(answer) == ()


def test_an_empty_last_line_may_be_none_of_the_file() -> None:
    assert numbered_lines("     1\ta\n     2\t\n     3\tb\n     4\t") == (Excerpt(1, ("a", "", "b")),)
    assert numbered_lines("     1\t") == ()


def test_a_line_that_the_tool_may_have_cut_is_not_known() -> None:
    answer = f"     1\ta\n     2\t{'x' * CUT_AT}\n     3\tb"
    assert numbered_lines(answer) == (Excerpt(1, ("a",)), Excerpt(3, ("b",)))


EDIT = {"file_path": "/shop/cart.py", "old_string": "sum(prices)", "new_string": "round(sum(prices), 2)"}
SNIPPET = "Here's the result of running `cat -n` on a snippet of it:\n    42\t    return round(sum(prices), 2)"


def turns(*tools: dict[str, Any]) -> bytes:
    turn = {"role": "assistant", "content": "I round.", "tool_calls": list(tools)}
    return jsonl({"id": "1", "task_description": "Round.", "cwd": "/shop", "structured_turns": [turn]})


def messages(*tools: dict[str, Any]) -> bytes:
    found: list[dict[str, Any]] = [{"role": "user", "content": "Round."}]
    for at, tool in enumerate(tools):
        block = {"type": "tool_use", "id": f"c{at}", "name": tool["tool"], "input": tool["input"]}
        found.append({"role": "assistant", "content": [block]})
        answer = {"type": "tool_result", "tool_use_id": f"c{at}", "content": tool["output"]}
        found.append({"role": "user", "content": [answer]})
    return jsonl({"id": "1", "messages": found})


def session(*tools: dict[str, Any]) -> bytes:
    file = SessionFile()
    file.user("Round.")
    for at, tool in enumerate(tools):
        file.agent(says("I round."), calls(f"c{at}", tool["tool"], **tool["input"]), message_id=f"m{at}")
        file.result(f"c{at}", tool["output"])
    return file.bytes()


READ = {"tool": "Read", "input": {"file_path": "/shop/cart.py", "offset": 41}, "output": ARROWS}
VIEW = {"tool": "str_replace_editor", "input": {"command": "view", "path": "/shop/cart.py"}, "output": CAT}
EDITED = {"tool": "Edit", "input": EDIT, "output": "The file was updated."}
SHOWN = {"tool": "Edit", "input": EDIT, "output": SNIPPET}
REPLACED = {
    "tool": "str_replace_based_edit_tool",
    "input": {"command": "str_replace", "path": "/shop/cart.py", "old_str": "sum(prices)", "new_str": "0"},
    "output": "Here's the result of running `cat -n` on a snippet of it:\n    42\t    return 0",
}


@pytest.mark.parametrize("form", [turns, messages, session])
@pytest.mark.parametrize("tools", [(READ, EDITED), (VIEW, EDITED), (SHOWN,), (REPLACED,), (READ, SHOWN)])
def test_edits_have_the_numbers_of_what_the_agent_was_shown(form: Any, tools: tuple[dict[str, Any], ...]) -> None:
    file = changed(form(*tools))
    assert (file.operation, file.numbering, file.badges) == ("modified", "file", ())
    assert [(line.kind, line.old_no, line.new_no) for line in file.hunks[0].lines if line.kind != "context"] == [
        ("del", 42, None),
        ("add", None, 42),
    ]
    assert changed(form(EDITED)).numbering == "excerpt"


def test_a_part_that_the_program_itself_names_is_read_before_the_answer() -> None:
    file = SessionFile()
    file.user("Round.")
    file.agent(calls("a", "Read", file_path="/shop/cart.py"), message_id="m1")
    part = {"filePath": "/shop/cart.py", "content": "x\ny\n", "startLine": 7, "numLines": 2, "totalLines": 30}
    file.result("a", "     1\tx", {"type": "text", "file": part})
    (found,) = derive(the_one(file.bytes()).run).files
    assert found.lines("new") == {7: "x", 8: "y"}


def changed(data: bytes) -> FileChange:
    (file,) = derive(the_one(data).run).files
    return file
