"""Logs of Inspect: each sample is a run, from JSON and from .eval."""

import contextlib
import io
import json
import struct
import zipfile
import zlib
from pathlib import Path
from typing import Any

import pytest
from zstandard import ZstdCompressor

from potato.runs.changes.derive import derive
from potato.runs.converters.reading import read_file
from potato.runs.model import Converted, ReadingOptions, Unreadable
from potato.runs.packages import BROKEN, run_files, sources_in
from potato.runs.run_files import source_at
from tests.potato.runs.damaged_files import read_damaged
from tests.potato.runs.reading import read, runs, the_one
from tests.shared_data import shared_file, shared_files

PICTURE = "data:image/png;base64,AAAA"


def assistant(number: int, content: Any, *calls: tuple[str, str, Any]) -> dict[str, Any]:
    called = [{"id": call_id, "function": tool, "arguments": arguments} for call_id, tool, arguments in calls]
    return {"id": f"m{number}", "role": "assistant", "content": content, "tool_calls": called or None, "model": "gpt-x"}


def tool(call_id: str, content: Any, error: Any = None) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": content, "error": error}


MESSAGES = [
    {"role": "system", "content": "You are an agent."},
    {"role": "user", "content": "attachment://h1", "source": "input"},
    assistant(
        1,
        [{"type": "reasoning", "reasoning": "Because.", "redacted": False}, {"type": "text", "text": "I write."}],
        ("a", "text_editor", {"command": "create", "path": "x.py", "file_text": "attachment://h2"}),
        ("b", "bash", {"cmd": "pytest"}),
        ("h", "researcher", {"input": "Look."}),
    ),
    tool("a", "File created successfully at: x.py"),
    tool("b", "", {"type": "timeout", "message": "Timed out."}),
    tool("h", [{"type": "text", "text": "looked"}, {"type": "image", "image": PICTURE}]),
    {"role": "user", "content": "Go on."},
    assistant(2, [{"type": "reasoning", "reasoning": "xx==", "redacted": True}, {"type": "text", "text": "Done."}]),
]
EVENTS: list[dict[str, Any]] = [
    {"event": "span_begin", "id": "s1", "name": "researcher", "type": "agent",
     "timestamp": "2026-01-01T10:00:00+00:00"},
    {"event": "model", "span_id": "s1", "model": "gpt-y", "timestamp": "2026-01-01T10:00:01+00:00",
     "input": [{"role": "user", "content": "Look."}],
     "output": {"choices": [{"message": assistant(9, "I look.", ("z", "bash", {"cmd": "ls"}))}]}},
    {"event": "tool", "span_id": "s1", "id": "z", "function": "bash", "result": "x.py",
     "timestamp": "2026-01-01T10:00:02+00:00"},
    {"event": "tool", "id": "h", "function": "researcher", "agent": "researcher", "agent_span_id": "s1",
     "timestamp": "2026-01-01T10:00:03+00:00"},
    {"event": "model", "model": "gpt-x", "timestamp": "2026-01-01T10:00:04+00:00",
     "output": {"choices": [{"message": MESSAGES[-1]}]}},
]  # fmt: skip
SAMPLE = {
    "id": "shop-1", "epoch": 1, "input": "attachment://h1", "target": "x", "messages": MESSAGES, "events": EVENTS,
    "attachments": {"h1": "Round.", "h2": "x = 1\n"}, "scores": {"match": {"value": "C"}}, "store": {}, "metadata": {},
}  # fmt: skip
LOG = {
    "version": 2, "status": "success", "plan": {}, "stats": {},
    "eval": {"eval_id": "e1", "run_id": "r1", "task": "rounding", "model": "openai/gpt-x",
             "created": "2026-01-01T09:00:00"},
}  # fmt: skip


def log(*samples: Any) -> bytes:
    return json.dumps({**LOG, "samples": list(samples)}, indent=1).encode()


def as_eval(*samples: Any, header: str = "header.json") -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as package:
        package.writestr("_journal/summaries/1.json", "[]")
        for number, sample in enumerate(samples, 1):
            package.writestr(f"samples/{number}_epoch_1.json", json.dumps(sample))
        package.writestr(header, json.dumps(LOG))
    return packed.getvalue()


def packed_with_zstandard(members: dict[str, bytes]) -> bytes:
    """A ZIP of method 93, as Inspect writes its logs; Python writes it from 3.14 on alone."""
    local, central = b"", b""
    for name, data in members.items():
        # Inspect packs a large member in frames.
        frames = b"".join(ZstdCompressor().compress(part) for part in (data[:100], data[100:]))
        facts = struct.pack("<4HL2L", 0, 93, 0, 33, zlib.crc32(data), len(frames), len(data))
        name_bytes = name.encode()
        central += b"PK\x01\x02" + struct.pack("<2H", 63, 63) + facts
        central += struct.pack("<5H2L", len(name_bytes), 0, 0, 0, 0, 0, len(local)) + name_bytes
        local += (
            b"PK\x03\x04" + struct.pack("<H", 63) + facts + struct.pack("<2H", len(name_bytes), 0) + name_bytes + frames
        )
    end = struct.pack("<4H2LH", 0, 0, len(members), len(members), len(central), len(local), 0)
    return local + central + b"PK\x05\x06" + end


def in_pieces(sample: dict[str, Any], folder: str, size: int) -> dict[str, bytes]:
    """The members of a sample that Inspect wrote as a folder: its shell, and lists of so many entries each."""
    names = list(sample["attachments"])

    def numbered(value: Any) -> Any:
        words = json.dumps(value)
        for number, known in enumerate(names):
            words = words.replace(f"attachment://{known}", f"attachment://{number}")
        return json.loads(words)

    lists = {
        "messages": numbered(sample["messages"]),
        "events": numbered(sample["events"]),
        "attachments": list(sample["attachments"].values()),
    }
    shell = {key: value for key, value in sample.items() if key not in lists}
    shell["message_refs"] = [[0, 3], [3, len(lists["messages"])]]
    members = {
        f"{folder}/sample.json": json.dumps(numbered(shell)).encode(),
        f"{folder}/skeleton.json": b'{"spans": []}',
        f"{folder}/events/stats.json": b"{}",
        f"{folder}/calls/0.json": b"[{}]",
    }
    for name, entries in lists.items():
        for begin in range(0, len(entries), size):
            members[f"{folder}/{name}/{begin}.json"] = json.dumps(entries[begin : begin + size]).encode()
    return members


def read_eval(data: bytes) -> list[Converted | Unreadable]:
    entries: list[Converted | Unreadable] = []
    for source in sources_in("log.eval", lambda: io.BytesIO(data)):
        if isinstance(source, Unreadable):
            entries.append(source)
        else:
            entries += [
                each for each in read_file(source, ReadingOptions()) if isinstance(each, Converted | Unreadable)
            ]
    return entries


def test_a_sample_is_a_run_with_its_calls_attachments_and_agents() -> None:
    converted = the_one(log(SAMPLE), "log.json")
    run = converted.run
    assert (run.external_id, run.task, run.task_id, run.instance_id) == (
        "e1/shop-1/1",
        "Round.",
        "rounding/shop-1",
        "shop-1",
    )
    assert (run.agent_model, run.started_at) == ("gpt-x", "2026-01-01T10:00:00+00:00")
    first, last = run.steps
    assert (first.message, first.thought) == ("I write.", "Because.")
    assert [(call.name, call.result, call.is_error) for call in first.calls] == [
        ("text_editor", "File created successfully at: x.py", False),
        ("bash", "Timed out.", True),
        ("researcher", "looked\n\n[image/png, 3 bytes]", False),
    ]
    assert first.calls[0].arguments["file_text"] == "x = 1\n"
    assert (last.message, last.prompt, last.at) == ("Done.", "Go on.", "2026-01-01T10:00:04+00:00")
    (agent,) = first.agents
    assert (agent.name, agent.call_id, agent.task) == ("researcher", "h", "Look.")
    assert [call.result for step in agent.steps for call in step.calls] == ["x.py"]
    assert [(file.path, file.operation, file.added) for file in derive(run).files] == [("x.py", "added", 1)]
    assert converted.report.dropped == {"system message": 1, "encrypted reasoning": 1, "scores": 1}


def test_samples_and_epochs_are_runs_of_their_own_and_one_without_the_model_is_said() -> None:
    silent = {**SAMPLE, "id": 7, "messages": MESSAGES[:2], "events": []}
    answers = read(log(SAMPLE, {**SAMPLE, "epoch": 2}, {**SAMPLE, "uuid": "u"}, silent, 8), "log.json")
    assert [run.external_id for run in runs(answers)] == ["e1/shop-1/1", "e1/shop-1/2", "u"]
    refusals = [answer.sentence for answer in answers if isinstance(answer, Unreadable)]
    assert refusals[0] == "Sample 7 of the Inspect log has no message of the model: nothing to judge."
    assert refusals[1] == "Sample 5 is no JSON object, so it can be no run."


def test_a_sample_with_events_alone_is_read_by_them() -> None:
    run = the_one(log({**SAMPLE, "messages": [], "events": EVENTS[1:3]}), "log.json").run
    assert [(step.message, [call.result for call in step.calls]) for step in run.steps] == [("I look.", ["x.py"])]


def test_an_eval_file_gives_the_runs_of_its_samples() -> None:
    for header in ("header.json", "_journal/start.json"):
        first, second = read_eval(as_eval(SAMPLE, {**SAMPLE, "id": "shop-2"}, header=header))
        assert isinstance(first, Converted)
        assert isinstance(second, Converted)
        assert first.run == the_one(log(SAMPLE), "log.json").run
        assert second.run.external_id == "e1/shop-2/1"


def test_an_eval_file_that_is_packed_with_zstandard_is_read_as_one_that_is_not() -> None:
    whole = json.dumps({**SAMPLE, "uuid": "u1"}).encode()
    members = {"header.json": json.dumps(LOG).encode(), "samples/shop-1_epoch_1.json": whole}
    data = packed_with_zstandard(members)
    (entry,) = read_eval(data)
    assert isinstance(entry, Converted), entry
    assert entry.run == the_one(log({**SAMPLE, "uuid": "u1"}), "log.json").run
    assert entry.run.task_id == "rounding/shop-1"
    damaged = bytearray(data)
    damaged[data.index(b"samples/") + 60] ^= 0xFF
    with pytest.raises(BROKEN):
        read_eval(bytes(damaged))
    lying = data.replace(struct.pack("<L", len(whole)), struct.pack("<L", len(whole) + 9))
    with pytest.raises(zipfile.BadZipFile, match="ends before"):
        read_eval(lying)


def test_a_damaged_list_of_a_zip_raises_nothing_but_that_it_is_damaged() -> None:
    members = {"header.json": json.dumps(LOG).encode(), "samples/a_epoch_1.json": json.dumps(SAMPLE).encode()}
    for data in (packed_with_zstandard(members), as_eval(SAMPLE)):
        for place in range(data.index(b"PK\x01\x02"), len(data)):
            for changed in (0, 0x7F, 0xFF):
                with contextlib.suppress(*BROKEN):
                    read_eval(data[:place] + bytes([changed]) + data[place + 1 :])


def test_a_sample_in_pieces_is_one_run_and_each_piece_is_none() -> None:
    header = {"header.json": json.dumps({**LOG, "version": 3}).encode()}
    other = {"samples/b_epoch_1.json": json.dumps({**SAMPLE, "id": "b"}).encode()}
    for folder in ("samples/shop-1_epoch_1", "samples/shop/1_epoch_1"):
        members = {**header, **in_pieces(SAMPLE, folder, 4), **other}
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as package:
            for name, data in members.items():
                package.writestr(name, data)
        pieces, whole = sorted(
            (entry for entry in read_eval(packed.getvalue()) if isinstance(entry, Converted)),
            key=lambda entry: entry.run.external_id,
            reverse=True,
        )
        expected = the_one(log(SAMPLE), "log.json")
        assert pieces.run == expected.run
        assert pieces.report == expected.report
        assert whole.run.external_id == "e1/b/1"


def test_a_sample_in_pieces_without_them_is_refused_with_what_to_do() -> None:
    shell = in_pieces(SAMPLE, "samples/shop-1_epoch_1", 4)["samples/shop-1_epoch_1/sample.json"]
    (_, refusal) = read(shell, "sample.json")
    assert isinstance(refusal, Unreadable)
    assert (refusal.code, "Import the whole log" in refusal.sentence) == ("no_steps", True)


def test_what_an_agent_was_told_is_found_where_events_name_it_by_numbers() -> None:
    told = {"role": "user", "content": "Look."}
    events = [
        {**{key: value for key, value in event.items() if key != "input"}, "input": [], "input_refs": [[1, 2]]}
        if event["event"] == "model" and "input" in event
        else event
        for event in EVENTS
    ]
    for pool in ({"events_data": {"messages": [MESSAGES[0], told]}}, {"message_pool": [MESSAGES[0], told]}):
        (agent,) = the_one(log({**SAMPLE, "events": events, **pool}), "log.json").run.steps[0].agents
        assert agent.task == "Look."


def test_a_sample_whose_input_is_longer_than_what_is_looked_at_is_known_by_its_name() -> None:
    long = {**SAMPLE, "input": "x" * 100_000}
    (converted,) = read_eval(as_eval(long))
    assert isinstance(converted, Converted)
    assert converted.run.task == "x" * 100_000


def test_logs_without_samples_and_inside_a_zip_are_refused_with_what_to_do(tmp_path: Path) -> None:
    (refusal,) = read_eval(as_eval())
    assert isinstance(refusal, Unreadable)
    assert refusal.sentence.startswith("The Inspect log log.eval has no samples: nothing to judge.")
    _, bare = read(log(), "log.json")
    assert isinstance(bare, Unreadable)
    assert bare.sentence.startswith("The Inspect log log.json has no samples")
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as package:
        package.writestr("a/log.eval", as_eval(SAMPLE))
        package.writestr("b.json", log(SAMPLE))
    nested, *_ = read_eval(packed.getvalue())
    assert isinstance(nested, Unreadable)
    assert nested.sentence == "a/log.eval in log.eval is an Inspect log, which is a ZIP itself. Import it by itself."
    (tmp_path / "log.eval").write_bytes(as_eval(SAMPLE))
    assert [path.name for path in run_files(tmp_path)] == ["log.eval"]


def counted(samples: list[dict[str, Any]]) -> list[tuple[int, int]]:
    """Answers and calls of the model in each sample, counted without the converter."""
    counts = []
    for sample in samples:
        said = [message for message in sample["messages"] if message["role"] == "assistant"]
        counts.append((len(said), sum(len(message.get("tool_calls") or []) for message in said)))
    return counts


def test_real_logs_have_the_answers_and_calls_that_stand_in_them() -> None:
    for path in shared_files("inspect-ai/2*.json"):
        samples = json.loads(path.read_text())["samples"]
        found = runs(read_file(source_at(path), ReadingOptions()))
        assert [(len(run.steps), sum(len(step.calls) for step in run.steps)) for run in found] == counted(samples), path
    (path,) = shared_files("inspect-ai/*.eval")
    with zipfile.ZipFile(path) as package:
        names = sorted(name for name in package.namelist() if name.startswith("samples/"))
        samples = [json.loads(package.read(name)) for name in names]
    found = [entry.run for entry in read_eval(path.read_bytes()) if isinstance(entry, Converted)]
    assert [(len(run.steps), sum(len(step.calls) for step in run.steps)) for run in found] == counted(samples)
    assert len(found) == 10
    assert len({run.external_id for run in found}) == 10


def test_real_test_files_of_the_viewer_are_refused_by_their_format() -> None:
    path = shared_file("inspect-ai/basic.json")
    _, refusal = read(path.read_bytes(), path.name)
    assert isinstance(refusal, Unreadable)
    assert refusal.sentence == "Sample 1 of the Inspect log has no message of the model: nothing to judge."


def test_broken_files_raise_nothing() -> None:
    assert read_damaged(log(SAMPLE, SAMPLE), "log.json", "inspect", seed=7, number=450) > 100
    data = as_eval(SAMPLE)
    for cut in range(0, len(data), 97):
        # The import says of such a member that it cannot be read.
        with contextlib.suppress(*BROKEN):
            assert read_eval(data[:cut] + data[cut + 1 :])
