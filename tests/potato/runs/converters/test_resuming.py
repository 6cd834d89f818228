"""A file that is read in several goes gives what it gives in one, of every format, and each byte is read about once."""

import io
import json
import zipfile
from collections.abc import Iterator
from typing import Any, BinaryIO

import pytest

from potato.runs.converters.reading import Bookmark, Entry, read_on
from potato.runs.model import Converted, ReadingOptions, Unreadable
from potato.runs.packages import sources_in
from potato.runs.run_files import InMemoryRunFile, StoredRunFile
from tests.potato.runs.converters.test_patches import BODY, DIFF, mail
from tests.potato.runs.reading import SMALL_BOUNDS, jsonl
from tests.potato.runs.sessions import SessionFile, says
from tests.potato.runs.web_runs import asked

STEP = {"message": "I look around."}
CHAT = [
    {
        "role": "assistant",
        "content": "I look.",
        "tool_calls": [{"id": "a", "function": {"name": "ls", "arguments": ""}}],
    },
    {"role": "tool", "tool_call_id": "a", "content": "price.py"},
]
OUTPUT = [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I look."}]}]
REACT = "\n".join(
    ["{0} Question: Where is {0}?", "Thought 1: I look.", "Action 1: Finish[{0}]", "Observation 1: ok", ""]
)


def native(number: int, **more: Any) -> dict[str, Any]:
    return {"id": f"run-{number}", "steps": [STEP], **more}


def prediction(instance: str, model: str = "m", patch: str = DIFF.decode()) -> dict[str, str]:
    return {"instance_id": instance, "model_name_or_path": model, "model_patch": patch}


def session(name: str, *prompts: str) -> SessionFile:
    file = SessionFile(name)
    for number, prompt in enumerate(prompts):
        file.user(prompt)
        file.agent(says(f"Answer to {prompt}"), message_id=f"{name}-{number}")
    return file


def mixed_sessions() -> bytes:
    one, two, three = session("one", "a", "b"), session("two", "c", "d"), session("three", "e")
    nameless = {"type": "summary", "summary": "What was done", "leafUuid": "x"}
    whole = {"id": "turns", "structured_turns": [{"role": "assistant", "content": "Done."}]}
    mixed = [line for pair in zip(one.lines, two.lines, strict=True) for line in pair]
    return jsonl(nameless, *mixed, whole, nameless, *three.lines, nameless, *session("four", "f").lines)


FILES: dict[str, bytes] = {
    "lines.jsonl": b"\n"
    + jsonl(native(1), native(2)).replace(b"\n", b"\r\n")
    + b'{"id": "broken", \n\n[7]\n'
    + b"x" * 3_000
    + b"\n"
    + jsonl(native(3), {"id": "nothing"}, *(native(number) for number in range(4, 9))),
    "list.json": b"\xef\xbb\xbf [ \n"
    + b",\n".join([*(json.dumps(native(number), indent=1).encode() for number in range(5)), b"{oops}", b"7"])
    + b",\n"
    + json.dumps(native(9, task_description='a "quoted", [bracketed] \\ text')).encode()
    + b"\n]\n",
    "predictions.jsonl": jsonl(
        prediction("a__b-1"),
        prediction("a__b-1", "other"),
        prediction("a__b-2"),
        prediction("a__b-2", patch=""),
        prediction("a__b-3", "other"),
        prediction("a__b-3"),
    ),
    "predictions.json": json.dumps(
        {f"a__b-{number}": {**prediction(""), "instance_id": f"a__b-{number}"} for number in range(5)} | {"x": 7},
        indent=1,
    ).encode(),
    "series.mbox": b"\n"
    + mail("[PATCH 0/2] Prices", b"Two patches.\n\n-- \n2.39.5\n\n")
    + mail("[PATCH 1/2] Round", BODY, sender="a" * 40)
    + mail("[PATCH 2/2] Ends", BODY.replace(b"\n", b"\r\n"), sender="b" * 40)
    + mail("Long", BODY + b" " * 5_000 + b"\n", sender="c" * 40)
    + mail("Without a tag", BODY, "alice@example.com"),
    "runs.txt": ("\n-----\n".join(REACT.format(number) for number in range(4)) + REACT.format(5) * 2).encode(),
    "react.jsonl": jsonl(
        *({"id": f"r{at}", "steps": [{"thought": "t", "action": "Finish[x]", "observation": "o"}]} for at in range(4))
    ),
    "sessions.jsonl": mixed_sessions(),
    "web.jsonl": jsonl(
        *(
            {"id": f"w{at}", "messages": [asked(), {"role": "assistant", "content": "Thought: a\nAction: Wait"}]}
            for at in range(4)
        )
    ),
    "history.md": "".join(
        f"\n# aider chat started at 2026-10-0{at} 12:00:00\n\n#### Do {at}  \n\nDone.\n" for at in range(1, 5)
    ).encode(),
    "rows.jsonl": jsonl(
        *(
            {"traj_id": f"t{at}", "instance_id": "a__b-1", "messages": [{"role": "assistant", "content": "I look."}]}
            for at in range(4)
        )
    ),
    "chat.jsonl": jsonl(
        {"id": "one", "messages": CHAT},
        {"object": "response", "id": "r1", "output": OUTPUT},
        {"object": "response", "id": "r2", "previous_response_id": "r1", "output": OUTPUT},
        {"object": "response", "id": "r3", "output": OUTPUT},
    )
    + b"{broken\n"
    + jsonl({"id": "two", "messages": CHAT}, *CHAT),
    "chat.json": json.dumps([{"id": f"c{at}", "messages": CHAT} for at in range(3)], indent=1).encode(),
    "mini.jsonl": jsonl(
        *({"trajectory_format": "mini-swe-agent-1", "instance_id": f"i{at}", "messages": CHAT} for at in range(3))
    ),
    "interact_messages.json": json.dumps(
        [asked(), {"role": "assistant", "content": "Thought: a\nAction: Wait"}]
    ).encode(),
}


def entries(source: StoredRunFile, mark: Bookmark | None = None) -> list[tuple[Entry | None, Bookmark]]:
    """Everything that the file gives from the bookmark on, which went through JSON as it does in a job's row."""
    mark = Bookmark.from_json(json.loads(json.dumps((mark or Bookmark()).as_json())))
    found = []
    for entry, after in read_on(source, SMALL_BOUNDS, mark):
        found.append((entry, Bookmark.from_json(json.loads(json.dumps(after.as_json())))))
    return found


def bare(found: list[tuple[Entry | None, Bookmark]]) -> list[Any]:
    """The entries themselves, as far as the person who imports sees them."""
    return [
        (entry.run, entry.report, entry.place) if isinstance(entry, Converted) else entry
        for entry, _ in found
        if entry is not None
    ]


@pytest.mark.parametrize("name", sorted(FILES))
def test_reading_goes_on_behind_every_entry_with_the_same_runs_and_the_same_line_numbers(name: str) -> None:
    source = InMemoryRunFile(name, FILES[name], SMALL_BOUNDS.bounds)
    found = entries(source)
    assert len(bare(found)) > 1
    assert any(isinstance(entry, Converted) for entry, _ in found)
    for number, (_, mark) in enumerate(found, 1):
        assert bare(entries(source, mark)) == bare(found[number:]), mark


def test_predictions_of_several_models_and_mixed_sessions_are_known_before_the_first_run_of_them() -> None:
    predictions = bare(entries(InMemoryRunFile("p.jsonl", FILES["predictions.jsonl"], SMALL_BOUNDS.bounds)))
    ids = [entry[0].external_id for entry in predictions if isinstance(entry, tuple)]
    assert ids == ["a__b-1@m", "a__b-1@other", "a__b-2", "a__b-3@other", "a__b-3@m"]
    sessions = bare(entries(InMemoryRunFile("s.jsonl", FILES["sessions.jsonl"], SMALL_BOUNDS.bounds)))
    ids = [entry[0].external_id for entry in sessions if isinstance(entry, tuple)]
    assert ids == ["one", "turns", "two", "three", "four"]


class Counted(io.BytesIO):
    """A file that counts the bytes that are read of it."""

    read_in_all = 0

    def read(self, size: int | None = -1) -> bytes:
        data = super().read(size)
        Counted.read_in_all += len(data)
        return data

    def readline(self, size: int | None = -1) -> bytes:
        data = super().readline(size)
        Counted.read_in_all += len(data)
        return data


def counted(name: str, data: bytes) -> StoredRunFile:
    Counted.read_in_all = 0

    def opened() -> BinaryIO:
        return Counted(data)

    return StoredRunFile(name, opened, len(data))


def in_goes(source: StoredRunFile, entries_a_go: int) -> Iterator[Entry]:
    """Reads the file in many goes, each from the bookmark of the one before."""
    mark = Bookmark()
    is_over = False
    while not is_over:
        is_over = True
        for number, (entry, after) in enumerate(read_on(source, ReadingOptions(), mark), 1):
            mark = after
            if entry is not None:
                yield entry
            if number == entries_a_go:
                is_over = False
                break


WIDE = {"message": "m" * 900}
LONG_BODY = BODY + b" " * 800 + b"\n"
LONG_DIFF = DIFF.decode() + " " * 900
LARGE: dict[str, tuple[bytes, int]] = {
    "lines.jsonl": (jsonl(*({"id": f"r{at}", "steps": [WIDE]} for at in range(10_000))), 1),
    "list.json": (json.dumps([{"id": f"r{at}", "steps": [WIDE]} for at in range(10_000)]).encode(), 1),
    # Predictions are read twice: it takes the whole file to know of which instances there are several.
    "predictions.jsonl": (jsonl(*(prediction(f"a__b-{at}", patch=LONG_DIFF) for at in range(10_000))), 2),
    "series.mbox": (b"".join(mail(f"[PATCH] {at}", LONG_BODY, f"{at:040x}") for at in range(1, 9_000)), 1),
    "runs.txt": ("".join(REACT.format(at) + "\n" + "x" * 900 + "\n" for at in range(10_000)).encode(), 1),
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(LARGE))
def test_a_file_of_many_records_that_is_read_in_many_goes_is_read_about_once(name: str) -> None:
    data, times = LARGE[name]
    source = counted(name, data)
    count = sum(isinstance(entry, Converted) for entry in in_goes(source, 1_000))
    assert count >= 8_999
    # Each go reads the file's head, and chunks of 256 KiB are cut somewhere.
    goes = 10 * times + 2
    assert Counted.read_in_all < times * len(data) + goes * 400 * 1024
    assert len(data) > 7 * 2**20


def test_a_zip_goes_on_at_the_member_and_the_entry_in_it() -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as package:
        package.writestr("a.jsonl", jsonl(native(1), native(2), native(3)))
        package.writestr("b.json", json.dumps([native(4), native(5)]))

    def read(index: int, mark: Bookmark) -> list[Any]:
        for at, member in enumerate(sources_in("two.zip", lambda: io.BytesIO(file.getvalue()))):
            if at == index:
                assert not isinstance(member, Unreadable)
                return entries(member, mark)
        return []

    for index in (0, 1):
        found = read(index, Bookmark())
        assert len(found) == (5 if index == 0 else 4)
        for number, (_, mark) in enumerate(found, 1):
            assert bare(read(index, mark)) == bare(found[number:])
