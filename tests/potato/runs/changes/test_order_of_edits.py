"""Edits of one file are replayed in the order in which they happened, which is that of their results.

Each of the two edits can be made before the other, and gives another text then.
"""

from typing import Any

import pytest

from potato.runs.changes.derive import derive
from tests.potato.runs.reading import jsonl, the_one
from tests.potato.runs.sessions import FOLDER, SessionFile, calls, edited

CART = f"{FOLDER}/cart.py"
BEFORE = "a b\n"
EDITS = {"first": ("a", "b"), "second": ("b", "c")}
COME_TO = {("first", "second"): "c c\n", ("second", "first"): "b c\n"}
ORDERS = pytest.mark.parametrize("order", list(COME_TO), ids=" then ".join)


def asks(name: str) -> dict[str, Any]:
    old, new = EDITS[name]
    return calls(name, "Edit", file_path=CART, old_string=old, new_string=new, replace_all=True)


def told(session: SessionFile, order: tuple[str, str]) -> None:
    """The results of both edits, as the program writes them: each with the text that it found."""
    text = BEFORE
    for name in order:
        old, new = EDITS[name]
        session.result(name, "done", edited(CART, old, new, text, everywhere=True))
        text = text.replace(old, new)
    assert text == COME_TO[order]


def comes_to(data: bytes) -> tuple[str | None, str | None]:
    (file,) = derive(the_one(data).run).files
    assert file.badges == ()
    return file.old_text, file.new_text


@ORDERS
def test_calls_of_one_message_count_in_the_order_of_their_results(order: tuple[str, str]) -> None:
    session = SessionFile()
    session.user("Rename.")
    session.agent(asks("first"), asks("second"), message_id="m1")
    told(session, order)
    assert comes_to(session.bytes()) == (BEFORE, COME_TO[order])


@ORDERS
def test_calls_of_two_messages_count_in_the_order_of_their_results(order: tuple[str, str]) -> None:
    session = SessionFile()
    session.user("Rename.")
    session.agent(asks("first"), message_id="m1")
    session.agent(asks("second"), message_id="m2")
    told(session, order)
    assert comes_to(session.bytes()) == (BEFORE, COME_TO[order])


def native(order: tuple[str, str]) -> bytes:
    events: list[dict[str, Any]] = [{"kind": "read", "path": "cart.py", "text": BEFORE}]
    for name in order:
        old, new = EDITS[name]
        events.append({"kind": "edit", "path": "cart.py", "old": old, "new": new, "replace_all": True})
    return jsonl({"id": "1", "task_description": "Rename.", "steps": [{"message": "I do."}], "file_events": events})


def in_turns(order: tuple[str, str]) -> bytes:
    """Structured turns, whose calls have their results in them: the file was written whole before."""
    done = [
        {"tool": "Edit", "input": {"file_path": CART, "old_string": old, "new_string": new, "replace_all": True}}
        for old, new in (EDITS[name] for name in order)
    ]
    calls = [{"tool": "Write", "input": {"file_path": CART, "content": BEFORE}}, *done]
    turns = [{"role": "assistant", "content": "", "tool_calls": [{**call, "output": "done"} for call in calls]}]
    return jsonl({"id": "1", "task_description": "Rename.", "structured_turns": turns})


@ORDERS
def test_acts_of_the_long_form_count_in_the_order_of_the_record(order: tuple[str, str]) -> None:
    assert comes_to(native(order)) == (BEFORE, COME_TO[order])


@ORDERS
def test_calls_of_a_structured_turn_count_in_the_order_of_the_turn(order: tuple[str, str]) -> None:
    (file,) = derive(the_one(in_turns(order)).run).files
    assert file.new_text == COME_TO[order]


@ORDERS
def test_a_sub_agent_s_edit_counts_where_its_result_stands(order: tuple[str, str]) -> None:
    session = SessionFile()
    session.user("Rename.")
    session.agent(asks("first"), message_id="m1")
    session.agent(asks("second"), message_id="s1", isSidechain=True)
    text = BEFORE
    for name in order:
        old, new = EDITS[name]
        session.result(name, "done", edited(CART, old, new, text, everywhere=True), isSidechain=name == "second")
        text = text.replace(old, new)
    assert comes_to(session.bytes()) == (BEFORE, COME_TO[order])
