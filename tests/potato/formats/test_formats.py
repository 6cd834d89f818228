"""The four exports of code review: the documented record, what traces add to it, and texts that mean harm."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from potato.commands.export import main
from potato.runs.model import AgentRun, FileEdit, FileOutcome
from tests.hostile import HOSTILE
from tests.potato.formats.files import exported, folder, json_lines, lines
from tests.review.documented_record import RECORD
from tests.review.evidence import numbered

HARM = [*HOSTILE, "\ud83d\ude00 \udc00", "NUL \0 in a text", "\u2028\u2029\x85", '\\"\r\n', "Ünï ☃ 🥔"]


def record(id: str = "trace_042", annotator: str = "reviewer_01", **changes: Any) -> dict[str, Any]:
    return {**json.loads(json.dumps(RECORD)), "id": id, "annotator": annotator, **changes}


def run(id: str = "trace_042", model: str = "model-a") -> AgentRun:
    """The run that the documented record judges: line 15 and 42 of the parser changed, and its tests grew."""
    parser = FileOutcome("src/parser.py", "modified", old_text=numbered(60), new_text=numbered(60, (15, 42)))
    tests = FileOutcome("tests/test_parser.py", "added", new_text=numbered(31))
    return AgentRun(id, "Fix the parser", events=(parser, tests), event_steps=(None, None), agent_model=model)


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    return folder(tmp_path / "output", [record()], run())


def table(data: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(data.decode("utf-8"), newline="")))


def test_the_documented_record_leaves_key_by_key(archive: Path) -> None:
    data = exported(archive, "code_review")
    assert json.dumps(json_lines(data)) == json.dumps([RECORD])


def test_each_comment_leaves_with_its_keys_and_with_the_code_it_is_about(archive: Path) -> None:
    rows = json_lines(exported(archive, "code_review_comments"))
    given = RECORD["annotations"]["inline_comments"]
    assert [{key: row[key] for key in comment} for row, comment in zip(rows, given, strict=True)] == given
    added = [list(row)[len(comment) :] for row, comment in zip(rows, given, strict=True)]
    assert added == [["side", "id", "annotator", "task_description", "diff_hunk", "commented_text"]] * 3
    first, _, last = rows
    assert (first["id"], first["annotator"], first["task_description"], first["side"]) == (
        "trace_042",
        "reviewer_01",
        "Fix the parser",
        "new",
    )
    assert first["commented_text"] == "line 42 changed"
    assert first["diff_hunk"] == (
        "@@ -39,7 +39,7 @@ line 38\n line 39\n line 40\n line 41\n"
        "-line 42\n+line 42 changed\n line 43\n line 44\n line 45\n"
    )
    assert last["commented_text"] == "line 28\nline 29\nline 30"
    assert last["diff_hunk"].startswith("@@ -0,0 +1,31 @@\n+line 1\n")


def test_a_comment_on_the_old_side_has_the_old_text_and_one_between_hunks_has_no_hunk(tmp_path: Path) -> None:
    comments = [
        {"file": "src/parser.py", "line_start": 42, "line_end": 42, "comment": "Why?", "side": "old"},
        {"file": "src/parser.py", "line_start": 25, "line_end": 26, "comment": "Here too"},
        {"file": "src/parser.py", "line_start": 15, "line_end": 42, "comment": "All of it"},
        {"file": "src/gone.py", "line_start": 1, "line_end": 1, "comment": "Where is it?"},
    ]
    made = record(annotations={"inline_comments": comments})
    rows = json_lines(exported(folder(tmp_path / "output", [made], run()), "code_review_comments"))
    assert [(row["side"], row["commented_text"]) for row in rows[:2]] == [
        ("old", "line 42"),
        ("new", "line 25\nline 26"),
    ]
    assert rows[1]["diff_hunk"] is None
    assert [line for line in rows[2]["diff_hunk"].splitlines() if line.startswith("@@")] == [
        "@@ -12,7 +12,7 @@ line 11",
        "@@ -39,7 +39,7 @@ line 38",
    ]
    assert (rows[3]["diff_hunk"], rows[3]["commented_text"]) == (None, None)


def test_the_hunk_of_a_comment_on_the_old_side_is_found_by_the_numbers_of_that_side(tmp_path: Path) -> None:
    """Forty lines were put in at the top, so that line 50 of the old side is line 90 of the new one."""
    old = numbered(60)
    new = "".join(f"put in {number}\n" for number in range(40)) + old.replace("line 50\n", "line 50 changed\n")
    changed = FileOutcome("a.py", "modified", old_text=old, new_text=new)
    gone = FileOutcome("gone.py", "deleted", old_text="only\nold\n")
    moved = FileOutcome("to.py", "renamed", old_path="from.py", old_text=old, new_text=old.replace("line 9\n", ""))
    made = AgentRun("trace_042", "Fix", events=(changed, gone, moved), event_steps=(None,) * 3)
    comments = [
        {"file": "a.py", "line_start": 50, "line_end": 50, "comment": "Was right", "side": "old"},
        {"file": "a.py", "line_start": 90, "line_end": 90, "comment": "Is wrong", "side": "new"},
        {"file": "a.py", "line_start": 1, "line_end": 1, "comment": "Before what was put in", "side": "old"},
        {"file": "gone.py", "line_start": 2, "line_end": 2, "comment": "Needed", "side": "old"},
        {"file": "to.py", "line_start": 9, "line_end": 9, "comment": "Needed too", "side": "old"},
    ]
    source = folder(tmp_path / "output", [record(annotations={"inline_comments": comments})], made)
    rows = json_lines(exported(source, "code_review_comments"))
    assert [row["commented_text"] for row in rows] == ["line 50", "line 50 changed", "line 1", "old", "line 9"]
    hunks = [row["diff_hunk"].splitlines()[0].split(" @@")[0] for row in rows]
    assert hunks == [
        "@@ -47,7 +87,7",
        "@@ -47,7 +87,7",
        "@@ -1,3 +1,43",
        "@@ -1,2 +0,0",
        "@@ -6,7 +6,6",
    ]


def test_a_comment_on_lines_whose_place_nobody_knows_leaves_with_the_excerpt_that_it_counts(tmp_path: Path) -> None:
    given = AgentRun(
        "trace_042",
        "Round.",
        events=(FileEdit("src/cart.py", "a\nb\n", "a\nc\nd\n"), FileEdit("src/cart.py", "e\n", "f\n")),
        event_steps=(None, None),
    )
    comment = {"file": "src/cart.py", "line_start": 2, "line_end": 3, "comment": "Why?", "numbering": "excerpt"}
    second = {"file": "src/cart.py", "line_start": 4, "line_end": 4, "comment": "And?", "side": "old"}
    made = record(annotations={"inline_comments": [comment, second]})
    rows = json_lines(exported(folder(tmp_path / "output", [made], given), "code_review_comments"))
    assert (rows[0]["numbering"], rows[0]["line_start"], rows[0]["commented_text"]) == ("excerpt", 2, "c\nd")
    assert rows[0]["diff_hunk"] == "@@ -0,2 +0,3 @@\n a\n-b\n+c\n+d\n"
    assert (rows[1]["commented_text"], rows[1]["diff_hunk"]) == ("e", "@@ -0 +0 @@\n-e\n+f\n")


def test_ratings_are_a_table_cell_by_cell(archive: Path) -> None:
    assert exported(archive, "code_review_file_ratings").decode() == (
        "id,annotator,timestamp,file,operation,correctness,quality\r\n"
        "trace_042,reviewer_01,2025-01-15T14:30:00Z,src/parser.py,modified,3,2\r\n"
        "trace_042,reviewer_01,2025-01-15T14:30:00Z,tests/test_parser.py,added,5,4\r\n"
    )


def test_a_rating_that_was_not_given_is_an_empty_cell_and_never_zero(tmp_path: Path) -> None:
    made = record(annotations={"file_ratings": {"a.py": {"quality": 0}, "b.py": {"correctness": None, "speed": 2}}})
    rows = table(exported(lines(tmp_path / "records.jsonl", [made]), "code_review_file_ratings"))
    assert [(row["correctness"], row["quality"], row["speed"]) for row in rows] == [("", "0", ""), ("", "", "2")]


def test_verdicts_are_counted_in_all_by_model_and_by_annotator(tmp_path: Path) -> None:
    verdicts = {"a": "approve", "b": "request_changes", "c": "approve", "d": "approve"}
    records = [
        record(id, f"r{number % 2}", annotations={"verdict": {"decision": decision, "summary": f"Of {id}"}})
        for number, (id, decision) in enumerate(verdicts.items())
    ]
    runs = [run("a"), run("b"), run("c", "model-b")]
    made = json.loads(exported(folder(tmp_path / "output", records, *runs), "code_review_verdicts"))
    assert list(made) == ["total", "distribution", "by_agent_model", "by_annotator", "summaries"]
    assert made["total"] == 4
    assert made["distribution"] == {
        "approve": {"count": 3, "share": 0.75},
        "request_changes": {"count": 1, "share": 0.25},
        "comment_only": {"count": 0, "share": 0.0},
    }
    counts = {
        key: {name: [entry["count"] for entry in group["distribution"].values()] for name, group in made[key].items()}
        for key in ("by_agent_model", "by_annotator")
    }
    assert counts == {
        "by_agent_model": {"model-a": [1, 1, 0], "model-b": [1, 0, 0], "unknown": [1, 0, 0]},
        "by_annotator": {"r0": [2, 0, 0], "r1": [1, 1, 0]},
    }
    assert made["summaries"][0] == {
        "id": "a",
        "annotator": "r0",
        "timestamp": "2025-01-15T14:30:00Z",
        "agent_model": "model-a",
        "decision": "approve",
        "summary": "Of a",
    }


def test_the_majority_counts_each_trace_once_and_a_tie_as_one(tmp_path: Path) -> None:
    given = {"a": ["approve", "approve", "request_changes"], "b": ["approve", "comment_only"], "c": ["approve"]}
    records = [
        record(id, f"r{number}", annotations={"verdict": {"decision": decision}})
        for number in range(3)
        for id, decisions in given.items()
        for decision in decisions[number : number + 1]
    ]
    source = folder(tmp_path / "output", records, run("a"))
    made = json.loads(exported(source, "code_review_verdicts", "", "--resolve", "majority"))
    assert made["total"] == 3
    assert {name: entry["count"] for name, entry in made["distribution"].items() if entry["count"]} == {
        "approve": 2,
        "tie": 1,
    }
    assert made["by_annotator"] is None
    assert made["by_agent_model"]["model-a"]["distribution"]["approve"] == {"count": 1, "share": 1.0}


def test_latest_takes_one_annotation_of_each_trace(tmp_path: Path) -> None:
    source = lines(
        tmp_path / "records.jsonl",
        [
            record("a", "early", timestamp="2025-01-15T14:30:00Z"),
            record("a", "late", timestamp="2025-01-16T14:30:00Z"),
            record("a", "middle", timestamp="2025-01-15T15:30:00Z"),
            record("a", "other version", trace_version=2),
            record("b", "first"),
            record("b", "second"),
        ],
    )
    rows = json_lines(exported(source, "code_review", "", "--resolve", "latest"))
    assert [(row["id"], row["annotator"]) for row in rows] == [("a", "late"), ("a", "other version"), ("b", "second")]


def test_hostile_texts_come_back_byte_by_byte(tmp_path: Path) -> None:
    comments = [{"file": text, "line_start": 1, "line_end": 1, "comment": text, "suggestion": text} for text in HARM]
    records = [
        record(text, annotations={"inline_comments": comments, text: text, "verdict": {"decision": text}})
        for text in HARM
    ]
    source = lines(tmp_path / "records.jsonl", records)
    data = exported(source, "code_review")
    assert data.isascii()
    assert [json.dumps(row) for row in json_lines(data)] == [json.dumps(given) for given in records]
    again = exported(lines(tmp_path / "again.jsonl", json_lines(data)), "code_review")
    assert again == data
    rows = json_lines(exported(source, "code_review_comments"))
    assert [json.dumps(row["comment"]) for row in rows[: len(HARM)]] == [json.dumps(text) for text in HARM]
    made = json.loads(exported(source, "code_review_verdicts"))
    assert {json.dumps(text) for text in HARM} <= {json.dumps(name) for name in made["distribution"]}


@pytest.mark.parametrize("path", ["=1+1", "+1", "-2+3", "@SUM(A1)", "|cmd", "%x", "\t=1", "\r=1", "\n=1"])
def test_no_cell_is_a_formula(tmp_path: Path, path: str) -> None:
    made = record(path, annotator=path, annotations={"file_ratings": {path: {"quality": 1, path: 3}}})
    data = exported(lines(tmp_path / "records.jsonl", [made]), "code_review_file_ratings").decode()
    cells = [cell for row in csv.reader(io.StringIO(data, newline="")) for cell in row]
    assert len(cells) == 16
    assert not [cell for cell in cells if cell.lstrip("\t\r\n")[:1] in tuple("=+-@|%")]
    assert not [cell for cell in cells if cell[:1] in ("\t", "\r", "\n")]


def test_a_table_of_hostile_paths_is_utf8_with_a_row_for_each(tmp_path: Path) -> None:
    made = record(annotations={"file_ratings": {text: {"quality": 1} for text in HARM}})
    data = exported(lines(tmp_path / "records.jsonl", [made]), "code_review_file_ratings")
    assert len(table(data)) == len(HARM)


def test_a_dimension_named_like_a_column_keeps_both(tmp_path: Path) -> None:
    made = record(annotations={"file_ratings": {"a.py": {"file": 4}}})
    (row,) = table(exported(lines(tmp_path / "records.jsonl", [made]), "code_review_file_ratings"))
    assert (row["file"], row["dimension_file"]) == ("a.py", "4")


def test_schemes_are_found_by_their_type_under_the_names_of_the_configuration(tmp_path: Path) -> None:
    configuration = (
        "task_name: X\nannotation_schemes:\n"
        "  - {name: opinion, annotation_type: code_review_verdict, verdict: {options: [{value: good}, {value: bad}]}}\n"
        "  - {name: marks, annotation_type: code_review_file_ratings,"
        " file_ratings: {dimensions: [{name: taste}, {name: speed}]}}\n"
    )
    made = record(annotations={"opinion": {"decision": "bad"}, "marks": {"a.py": {"speed": 3}}})
    source = folder(tmp_path / "output", [made], configuration=configuration)
    assert list(json.loads(exported(source, "code_review_verdicts"))["distribution"]) == ["good", "bad"]
    (row,) = table(exported(source, "code_review_file_ratings"))
    assert list(row)[5:] == ["taste", "speed"]
    alone = lines(tmp_path / "records.jsonl", [made])
    (tmp_path / "mine.yaml").write_text(configuration)
    flags = ("--config", str(tmp_path / "mine.yaml"))
    assert list(json.loads(exported(alone, "code_review_verdicts", "", *flags))["distribution"]) == ["good", "bad"]


def test_an_archive_of_an_archive_is_the_same_as_folder_and_as_zip(archive: Path, tmp_path: Path) -> None:
    packed = tmp_path / "packed.zip"
    assert main(["-i", str(archive), "-f", "archive", "-o", str(packed)]) == 0
    assert main(["-i", str(packed), "-f", "archive", "-o", str(tmp_path / "again")]) == 0
    for name in ("annotations.jsonl", "traces.jsonl"):
        assert json_lines((tmp_path / "again" / name).read_bytes()) == json_lines((archive / name).read_bytes())
    for format in ("code_review", "code_review_comments", "code_review_file_ratings", "code_review_verdicts"):
        assert exported(packed, format) == exported(archive, format) == exported(tmp_path / "again", format)
    first = packed.read_bytes()
    assert main(["-i", str(tmp_path / "again"), "-f", "archive", "-o", str(packed)]) == 0
    assert packed.read_bytes() == first
