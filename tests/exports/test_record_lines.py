"""Lines of records that are made many at once are those that each record has by itself."""

import gzip
import json
import random
from typing import Any

import pytest

from exports.sent_rows import SentRow, SentRows, unpacked_ahead
from exports.stored_records import RecordMaker, StoredRecords
from potato.formats.options import read_options
from potato.formats.registry import format_named
from potato.formats.writing import write_rows
from potato.records.sources import LineKind, Project, json_text

NAMES = ("run-1", 'a "quoted" name', "back\\slash", "Größe/中文", "\U0001f954", "")
ANNOTATORS = {b"a" * 16: "bob", b"b" * 16: 'Zoë "Z"'}
VERSIONS = {b"1" * 16: 1, b"2" * 16: 12}
PLAIN: SentRow = (b"", 0, b"t" * 16, b"a" * 16, b"1" * 16, 1, ord("n"), 0, 0, -1, 0, 0)
OTHERWISE: dict[str, dict[int, Any]] = {
    "plain": {},
    "in a batch": {11: 3},
    "at work for a while": {9: 75},
    "in no time": {9: 0},
    "of a trace's second version": {5: 2},
    "by a program": {10: 1, 9: 3, 11: 1},
    "adjudicated, by another person, under another version": {6: ord("a"), 3: b"b" * 16, 4: b"2" * 16, 11: 2},
}


def sent(rows: list[tuple[SentRow, str, Any]]) -> SentRows:
    """The rows as PostgreSQL sends them."""
    packed = [gzip.compress(json_text(said).encode("ascii"), mtime=0) for _, _, said in rows]
    names = [name.encode("utf-8") for _, name, _ in rows]
    sized = [
        (*row[:7], len(answers), len(name), *row[9:])
        for (row, _, _), answers, name in zip(rows, packed, names, strict=True)
    ]
    return SentRows(sized, b"".join(packed), b"".join(names))


def row(number: int, changed: dict[int, Any]) -> Any:
    values: list[Any] = [*PLAIN]
    values[0], values[1] = number.to_bytes(16, "big"), number * 86_399_000_123
    for place, value in changed.items():
        values[place] = value
    return tuple(values)


@pytest.mark.parametrize("kind", ["text", "archived"])
def test_lines_made_many_at_once_are_those_of_the_records(kind: LineKind) -> None:
    chance = random.Random(14)  # noqa: S311 - the same answers each time
    rows = [
        (row(number, changed), name, {"verdict": {"summary": f"{name} {chance.random()} \u2028"}})
        for number, (changed, name) in enumerate((changed, name) for changed in OTHERWISE.values() for name in NAMES)
    ]
    maker = RecordMaker(ANNOTATORS, VERSIONS, {(5).to_bytes(16, "big"): "rita", (20).to_bytes(16, "big"): "unknown"})
    chunks = [sent(rows[:10]), sent(rows[10:11]), sent([]), sent(rows[11:])]

    records = list(StoredRecords(unpacked_ahead(chunks), maker))
    by_one = [record.text if kind == "text" else record.archived_text for record in records]
    lines = list(StoredRecords(unpacked_ahead(chunks), maker).lines(kind))

    assert [line.decode("ascii") for _, block in lines for line in block.splitlines()] == by_one
    assert sum(many for many, _ in lines) == len(rows)
    said = [json.loads(line) for line in by_one]
    assert [line["id"] for line in said] == [name for _, name, _ in rows]
    assert [line["annotations"] for line in said] == [answers for _, _, answers in rows]
    assert {line.get("corrected_by") for line in said} == {None, "rita", "unknown"}
    assert {line.get("batch") for line in said} == ({None, 1, 2, 3} if kind == "archived" else {None})


def test_lines_of_large_answers_are_made_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [(row(number, {}), f"run-{number}", {"text": "x" * 2_000}) for number in range(5)]
    maker = RecordMaker(ANNOTATORS, VERSIONS, {})
    together = list(StoredRecords(unpacked_ahead([sent(rows)]), maker).lines("text"))
    monkeypatch.setattr("exports.sent_rows.UNPACKED_BYTES_A_CHUNK", 3_000)
    one_by_one = list(StoredRecords(unpacked_ahead([sent(rows)]), maker).lines("text"))

    assert [many for many, _ in together] == [5]
    assert [many for many, _ in one_by_one] == [1] * 5
    assert b"".join(block for _, block in together) == b"".join(block for _, block in one_by_one)


@pytest.mark.parametrize("name", ["code_review", "archive"])
def test_a_format_of_lines_writes_the_same_of_records_and_of_lines(name: str) -> None:
    rows: list[tuple[SentRow, str, Any]] = [
        (row(number, changed), f"run-{number}", {}) for number, changed in enumerate(OTHERWISE.values())
    ]
    kind = format_named(name)
    written = []
    source: Any = None  # facts are asked for by neither
    for is_lines in (True, False):
        format = kind(Project.unknown(), read_options(kind.options, {}))
        records: Any = StoredRecords(unpacked_ahead([sent(rows)]), RecordMaker(ANNOTATORS, VERSIONS, {}))
        written.append(b"".join(write_rows(format, source, records if is_lines else list(records))))
        assert format.rows == len(rows)
    assert written[0] == written[1]
