"""Whatever somebody uploads, reading answers with runs and named errors: it raises nothing and grows no memory."""

import json
import tracemalloc
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from potato.configuration.converters import NAMED_FORMATS, allowed_converters, installed_converters
from potato.runs.converters.reading import read_file
from potato.runs.converters.registry import trace_converters
from potato.runs.model import Bounds, Converted, ReadingOptions, TooLarge, Unreadable
from potato.runs.run_files import InMemoryRunFile, StoredRunFile
from tests.potato.runs.reading import SMALL_BOUNDS, errors, jsonl, read, runs, the_one, the_refusal
from tests.potato.runs.sessions import SessionFile, says

STEP = {"message": "I look."}
FORMATS = ", ".join(sorted(NAMED_FORMATS))
GOOD = jsonl({"id": "good", "task_description": "Look.", "steps": [STEP]})


def test_a_choice_says_why() -> None:
    chosen, _ = read(GOOD)
    assert getattr(chosen, "sentence", "") == (
        "trace.jsonl is native: it has steps with message, thought or tool_calls."
    )


@pytest.mark.parametrize(
    ("name", "data", "sentence"),
    [
        (
            "metadata.json",
            b'{\n  "checkpoint_id": "c",\n  "session_id": "s",\n  "files_touched": ["a"]\n}\n',
            "metadata.json is no trace: a JSON object with the keys checkpoint_id, session_id, files_touched. "
            f"Potato reads {FORMATS}.",
        ),
        (
            "a.jsonl",
            b"",
            f"a.jsonl is no trace: the file is empty. Potato reads {FORMATS}.",
        ),
        ("a.txt", b"Dear all,\n", "a.txt is no trace: a text without JSON and without a diff. "),
        ("a.png", b"\x89PNG\r\n\x1a\n\0\0", "a.png is no trace: bytes that are no text. "),
        ("a.jsonl.gz", b"\x1f\x8b\x08\0", "a.jsonl.gz is no trace: it is packed with gzip; unpack it first"),
        (
            "rows.parquet",
            b"PAR1\x15\0",
            "rows.parquet is no trace: it is a table as Parquet; write its rows as JSON lines",
        ),
        ("state.vscdb", b"SQLite format 3\0\x10", "state.vscdb is no trace: it is a data base of SQLite; export"),
        (
            "a.diff",
            "diff --git a/a b/a\n".encode("utf-16"),
            "a.diff is no trace: its text is UTF-16; write it as UTF-8",
        ),
        ("a.json", b"[1, 2]", "a.json is no trace: a JSON list without traces. "),
        ("a.json", b"{}", "a.json is no trace: a JSON object without keys. "),
        ("a.jsonl", b'{"a": 1}\n{"a": 2}\n', "a.jsonl is no trace: lines of JSON with the keys a. "),
    ],
)
def test_a_file_that_is_no_trace_is_refused_with_what_it_is(name: str, data: bytes, sentence: str) -> None:
    refusal = the_refusal(data, name)
    assert refusal.code == "not_a_trace"
    assert refusal.sentence.startswith(sentence)


@pytest.mark.parametrize(
    "foreign",
    [
        {"trajectory_format": "mini", "messages": [{"role": "assistant", "content": "I look."}]},
    ],
)
def test_formats_of_others_are_not_taken_for_ours(foreign: object) -> None:
    assert the_refusal(jsonl(foreign)).code == "not_a_trace"


def test_a_file_of_another_kind_than_the_project_names_is_an_error_that_names_both() -> None:
    refusal = the_refusal(GOOD, named="claude_code")
    assert refusal.code == "other_format"
    assert refusal.sentence.startswith("trace.jsonl is native, since ")
    assert "but the project reads claude_code." in refusal.sentence


PLAIN = jsonl({"id": "x", "messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]})


def test_messages_that_could_be_of_many_formats_are_read_where_the_format_is_named() -> None:
    refusal = the_refusal(PLAIN)
    assert refusal.sentence.endswith(
        "If it is claude_code, say so at the import: its messages have roles and contents, as those of many formats "
        "have, and no tool_use blocks."
    )
    assert the_one(PLAIN, named="claude_code").run.steps[0].message == "Hello"


def test_a_file_that_is_no_trace_at_all_is_told_what_the_project_reads() -> None:
    refusal = the_refusal(b'{"a": 1}', named="swebench")
    assert refusal.sentence == "trace.jsonl is no trace: a JSON object with the keys a. The project reads swebench."


def test_a_format_that_somebody_says_for_this_file_wins() -> None:
    chosen, *rest = read(GOOD, named="claude_code", explicit=True)
    assert getattr(chosen, "format", "") == "claude_code"
    assert errors(rest) == [(1, "no_steps")]


def test_a_format_without_a_converter_is_an_error() -> None:
    refusal = the_refusal(GOOD, named="harness")
    assert refusal.sentence == (f"No converter for harness is installed. Potato reads {FORMATS}.")


def test_a_project_may_name_every_installed_format() -> None:
    assert set(trace_converters()) == installed_converters() == set(FORMATS.split(", "))
    assert set(trace_converters()) <= set(allowed_converters())
    for name, converter in trace_converters().items():
        assert converter.name == name
        assert converter.label


DEEP = b'{"id": "deep", "steps": [{"message": ' + b"[" * 100_000 + b"]" * 100_000 + b"}]}"


@pytest.mark.parametrize(
    ("bad", "code"),
    [
        (b"{", "not_json"),
        (b'{"id": "cut off', "not_json"),
        (b'"a text"', "not_an_object"),
        (b"null", "not_an_object"),
        (b"[" * 100_000, "not_json"),
        (DEEP, "not_json"),
        (b'{"a":' * 150 + b"1" + b"}" * 150, "not_json"),
        ('{"id": "wide"}'.encode("utf-16"), "not_json"),
        (b'{"id": "x", "steps": "many"}', "wrong_shape"),
        (b'{"id": "x", "steps": [1]}', "wrong_shape"),
        (b'{"id": "x", "steps": []}', "no_steps"),
        (b'{"id": "x", "steps": [{"message": 1}]}', "wrong_shape"),
        (b"\0\0\0", "not_json"),
    ],
)
def test_a_bad_line_is_an_error_in_its_place_and_does_not_stop_the_good_ones(bad: bytes, code: str) -> None:
    answers = read(GOOD + bad + b"\n" + GOOD.replace(b"good", b"better"))
    found = errors(answers)
    assert (2, code) in found
    assert {place for place, _ in found} <= {2, 3}
    assert [run.external_id for run in runs(answers)] == ["good", "better"]


def test_a_line_that_is_cut_off_is_said_to_be() -> None:
    answers = read(GOOD + b'{"id": "last", "steps": [{"mess')
    assert [answer.sentence for answer in answers if isinstance(answer, Unreadable)] == [
        "Line 2: Not JSON at character 27: Unterminated string starting at. The text seems to be cut off."
    ]


@pytest.mark.parametrize(
    ("line", "repaired", "value"),
    [
        (b'{"id":"x","steps":[{"message":"caf\xe9"}]}', "bytes that are not UTF-8", "caf\udce9"),
        (b'\xef\xbb\xbf{"id":"x","steps":[{"message":"bom"}]}', "byte order mark", "bom"),
        (b'{"id":"x","steps":[{"message":"a"}],"steps":[{"message":"b"}]}', "key that stands twice", "b"),
        (b'{"id":"x","steps":[{"message":"tab\there"}]}', "raw control character", "tab\there"),
    ],
)
def test_what_can_be_mended_is_mended_and_counted(line: bytes, repaired: str, value: str) -> None:
    converted = the_one(line)
    assert converted.run.steps[0].message == value
    assert converted.report.repairs == {repaired: 1}


@pytest.mark.parametrize(
    ("number", "kept", "repaired"),
    [
        (b"NaN", "NaN", "NaN or Infinity"),
        (b"-Infinity", "-Infinity", "NaN or Infinity"),
        (b"1e999", "1e999", "NaN or Infinity"),
        (b"9" * 5000, "9" * 5000, "number of too many digits"),
    ],
)
def test_numbers_that_no_database_holds_are_kept_as_text(number: bytes, kept: str, repaired: str) -> None:
    line = b'{"id": "x", "steps": [{"tool_calls": [{"name": "f", "arguments": {"n": %b}}]}]}' % number
    converted = the_one(line)
    assert converted.run.steps[0].calls[0].arguments == {"n": kept}
    assert converted.report.repairs == {repaired: 1}


def test_nul_and_lone_surrogates_are_kept() -> None:
    text = "\0 \ud800 \udfff \u202e"
    assert the_one(jsonl({"id": "x", "steps": [{"message": text}]})).run.steps[0].message == text


def test_line_ends_of_windows_and_empty_lines_mean_nothing() -> None:
    answers = read(b"\r\n" + GOOD.replace(b"\n", b"\r\n") + b"\r\n\n   \n" + GOOD.rstrip())
    assert [type(answer).__name__ for answer in answers] == ["Chosen", "Converted", "Converted"]
    assert [answer.place for answer in answers if isinstance(answer, Converted)] == [2, 6]


def test_a_line_over_the_bound_is_skipped_with_both_sizes() -> None:
    answers = read(GOOD + b'{"id": "' + b"x" * 5000 + b'"}\n' + GOOD, options=SMALL_BOUNDS)
    assert len(runs(answers)) == 2
    assert [answer.sentence for answer in answers if isinstance(answer, Unreadable)] == [
        "Line 2: The line has 4.9 KiB; a line may have 2 KiB. "
        "Leave large results out of the trace, or split the file by runs."
    ]


def test_a_document_over_the_bound_is_an_error() -> None:
    document = json.dumps({"id": "x", "steps": [STEP] * 500}, indent=1).encode()
    assert errors(read(document, "all.json", options=SMALL_BOUNDS)) == [(1, "too_large")]


def test_a_list_may_be_longer_than_a_document_and_a_member_over_the_bound_hides_no_other() -> None:
    small = {"id": "x", "steps": [STEP]}
    document = json.dumps([small] * 100 + [{"id": "y", "steps": [{"message": "m" * 9_000}]}] + [small] * 100, indent=1)
    answers = read(document.encode(), "all.json", options=SMALL_BOUNDS)
    assert len(runs(answers)) == 200
    assert errors(answers) == [(101, "too_large")]


def test_a_member_of_a_list_that_is_no_json_is_told_with_its_line_and_hides_no_other() -> None:
    good = json.dumps({"id": "x", "steps": [STEP]})
    answers = read(f"[\n{good},\n{{oops}},\n{good}\n]\n".encode(), "all.json")
    assert len(runs(answers)) == 2
    (told,) = (answer for answer in answers if isinstance(answer, Unreadable))
    assert told.sentence.startswith("Record 2, which begins in line 3: Not JSON at character 2")


@pytest.mark.parametrize(
    ("end", "says"),
    [("", "The list has no end"), (', {"id": "cut', "seems to be cut off"), ("] more", "Text stands behind the end")],
)
def test_a_list_that_ends_wrongly_keeps_what_came_before(end: str, says: str) -> None:
    good = json.dumps({"id": "x", "steps": [STEP]})
    answers = read(f"[\n{good}, {good}{end}".encode(), "all.json")
    assert len(runs(answers)) == 2
    assert any(says in answer.sentence for answer in answers if isinstance(answer, Unreadable))


def test_a_run_of_too_many_steps_is_an_error_and_the_next_one_is_read() -> None:
    data = jsonl({"id": "long", "steps": [STEP] * 6}, {"id": "short", "steps": [STEP] * 5})
    answers = read(data, options=SMALL_BOUNDS)
    assert errors(answers) == [(1, "too_large")]
    assert [run.external_id for run in runs(answers)] == ["short"]


def test_a_session_over_the_bound_of_lines_or_bytes_is_an_error() -> None:
    many, heavy = SessionFile("many"), SessionFile("heavy")
    for number in range(21):
        many.user(f"Prompt {number}")
    for _ in range(5):
        heavy.agent(says("x" * 1200), message_id="m")
    answers = read(jsonl(*many.lines, *heavy.lines), options=SMALL_BOUNDS)
    assert errors(answers) == [(1, "too_large"), (22, "too_large")]


@pytest.mark.parametrize("first", ['{"id": "a", "steps": [', '{"id": "a",'])
def test_a_document_with_a_whole_object_in_one_of_its_lines_is_a_document(first: str) -> None:
    rest = (
        '{"message": "I look."},\n{"message": "I see."}\n]}'
        if first.endswith("[")
        else ('"steps":\n[{"message": "I look."},\n{"message": "I see."}\n]}')
    )
    (run,) = runs(read(f"{first}\n{rest}\n".encode(), "run.json"))
    assert [step.message for step in run.steps] == ["I look.", "I see."]


def test_a_document_may_hold_several_runs() -> None:
    document = json.dumps([{"id": "a", "steps": [STEP]}, 7, {"id": "b", "steps": [STEP]}], indent=2).encode()
    answers = read(document, "runs.json")
    assert [run.external_id for run in runs(answers)] == ["a", "b"]
    assert errors(answers) == [(2, "not_an_object")]


def test_a_source_is_read_from_its_beginning_each_time_and_keeps_lone_carriage_returns() -> None:
    source = InMemoryRunFile("a", b"one\r\ntwo\rstill two\n\nfour")
    assert list(source.lines()) == list(source.lines()) == [b"one", b"two\rstill two", b"", b"four"]
    assert source.whole() == b"one\r\ntwo\rstill two\n\nfour"


def test_lines_go_on_after_one_that_is_too_large() -> None:
    lines = InMemoryRunFile("a", b"one\n" + b"x" * 50 + b"\nthree\n", Bounds(line_bytes=10)).lines()
    assert next(lines) == b"one"
    with pytest.raises(TooLarge, match=r"The line has 51 bytes; a line may have 10 bytes\."):
        next(lines)
    assert list(lines) == [b"three"]


@given(st.binary(max_size=300))
@example(b'{"type": "user", "message": {"content": [[[1]]]}, "uuid": 1, "parentUuid": 1}')
@example(b'{"type":"user","uuid":"1","message":{"content":[{"type":"tool_use"},{"type":"tool_result","content":[1]}]}}')
@example(b'{"messages": [{"role": "user", "content": {"a": 1}}, 1, null, {"role": "assistant", "content": 7}]}')
@example(b'{"structured_turns": [1, {"role": 3}, {"role": "assistant", "content": 1, "tool_calls": 5}]}')
@example(b'{"loglines": [{"type": "assistant", "message": {"id": [], "content": [{"type": []}]}}]}')
@example(b'{"a": {"instance_id": [], "model_patch": {}}}')
@example(b'{"instance_id": {}, "model_patch": 1}')
@example(b'{"id": [], "steps": [{"tool_calls": [{"arguments": []}]}], "files": [{"path": ""}], "patch": "\\ud800"}')
@example(b"From 0 Mon Sep 17 00:00:00 2001\nSubject: =?utf-9?q?x?=\nDate: 99\nContent-Type: multipart/x\n\n@@ -1 +1 @@")
@settings(max_examples=150, deadline=None)
def test_no_content_raises_anything(data: bytes) -> None:
    for name in ("a.jsonl", "a.json", "a.patch"):
        for named in ("auto", "claude_code", "native", "patch", "swebench"):
            answers = read(data, name, named=named, explicit=True)
            assert answers


KEYS = [
    "type",
    "message",
    "content",
    "role",
    "id",
    "uuid",
    "parentUuid",
    "toolUseResult",
    "file",
    "filePath",
    "messages",
    "structured_turns",
    "tool_calls",
    "steps",
    "files",
    "path",
    "instance_id",
    "model_patch",
]
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda children: (
        st.lists(children, max_size=4)
        | st.dictionaries(
            st.sampled_from(KEYS),
            children,
            max_size=6,
        )
    ),
    max_leaves=25,
)


@given(st.lists(JSON_VALUES, max_size=4))
@settings(max_examples=300, deadline=None)
def test_no_json_raises_anything(values: list[object]) -> None:
    for named in ("auto", "claude_code", "native", "swebench"):
        assert read(jsonl(*values), named=named, explicit=True)


class Endless(BytesIO):
    """A file of many runs that is made while it is read."""

    def __init__(self, line: bytes, lines: int) -> None:
        super().__init__()
        self._line = line
        self._left = lines

    def readline(self, size: int | None = -1) -> bytes:
        self._left -= 1
        return self._line if self._left >= 0 else b""

    def read(self, size: int | None = -1) -> bytes:
        return self._line[:size]


@pytest.mark.parametrize("format_name", ["native", "claude_code"])
def test_memory_stays_flat_over_twenty_megabytes_of_runs(format_name: str) -> None:
    message = "x" * 20_000
    record: dict[str, object] = {"id": "x", "steps": [{"message": message}]}
    if format_name == "claude_code":
        record = {"id": "x", "structured_turns": [{"role": "assistant", "content": message}]}
    line = jsonl(record)

    def opened() -> BinaryIO:
        return Endless(line, 1000)

    source = StoredRunFile("many.jsonl", opened, len(line) * 1000)
    count = 0
    tracemalloc.start()
    try:
        for answer in read_file(source, ReadingOptions()):
            count += isinstance(answer, Converted)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert count == 1000
    assert len(line) * 1000 > 20_000_000
    assert peak < 5_000_000


def test_memory_stays_flat_over_many_sessions(tmp_path: Path) -> None:
    path = tmp_path / "sessions.jsonl"
    with path.open("wb") as file:
        for number in range(200):
            session = SessionFile(f"session-{number}")
            for turn in range(5):
                session.user("x" * 10_000)
                session.agent(says("y" * 10_000), message_id=f"m{turn}")
            file.write(session.bytes())
    assert path.stat().st_size > 20_000_000
    tracemalloc.start()
    try:
        answers: Iterator[object] = read_file(
            StoredRunFile(path.name, lambda: path.open("rb"), path.stat().st_size), ReadingOptions()
        )
        count = sum(isinstance(answer, Converted) for answer in answers)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert count == 200
    assert peak < 5_000_000
