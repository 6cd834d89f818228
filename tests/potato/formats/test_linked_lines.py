"""Exports name the steps that wrote lines: comments, rows of steps, and records of Agent Trace by its schema."""

import hashlib
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from potato.runs.model import AgentRun, FileEdit, FilePatch, FileRead, FileTouched, FileWrite, Step
from tests.potato.formats.files import exported, folder, json_lines
from tests.potato.formats.rewarded import per_step
from tests.potato.formats.rewarded import record as rated
from tests.potato.formats.test_formats import record

BASE = "".join(f"line {number}\n" for number in range(1, 21))
FORMATTED = BASE.replace("line 15", "LINE 15")
SCHEMA = Path(__file__).parent / "schemas" / "agent-trace-0.1.json"
BLOCK = FilePatch("notes.md", (((), ("somewhere",)),))


def run(*events: Any, at: str = "2026-03-01T12:00:00.5+02:00") -> AgentRun:
    """Step 0 reads and changes the parser, a command formats it, step 2 goes over one of its lines."""
    acts = events or (
        (None, FileRead("src/parser.py", BASE)),
        (0, FileEdit("src/parser.py", "line 5\n", "five\nand more\n")),
        (1, FileTouched("src/parser.py", "The command `make format`", is_certain=True)),
        (2, FileEdit("src/parser.py", "five\n", "FIVE\n", original=FORMATTED.replace("line 5\n", "five\nand more\n"))),
        (2, FileWrite("new\udcff.py", "a\n", created=True)),
        (1, BLOCK),
    )
    return AgentRun(
        "trace_042",
        "Fix",
        steps=(Step("one", at="no time"), Step("two", at=at), Step("three")),
        events=tuple(event for _, event in acts),
        event_steps=tuple(step for step, _ in acts),
        agent_model="vendor/model-a",
        repo="acme/parser",
    )


def commented(*places: tuple[int, int, str]) -> dict[str, Any]:
    comments = [
        {"file": "src/parser.py", "line_start": first, "line_end": last, "side": side, "comment": "Hm"}
        for first, last, side in places
    ]
    return record(annotations={"inline_comments": comments})


def test_a_comment_names_the_steps_that_wrote_its_lines_and_no_other_has_the_key(tmp_path: Path) -> None:
    given = commented((4, 6, "new"), (6, 6, "new"), (5, 5, "old"), (16, 16, "new"), (1, 2, "new"))
    rows = json_lines(exported(folder(tmp_path / "output", [given], run()), "code_review_comments"))
    assert [row.get("line_steps") for row in rows] == [
        [{"line_start": 5, "line_end": 5, "steps": [2, 0]}, {"line_start": 6, "line_end": 6, "steps": [0]}],
        [{"line_start": 6, "line_end": 6, "steps": [0]}],
        [{"line_start": 5, "line_end": 5, "steps": [0]}],
        None,  # What a command wrote is nobody's.
        None,
    ]


@pytest.mark.parametrize("resolve", ["all", "majority"])
def test_rows_of_steps_have_their_lines_where_that_is_asked_for(tmp_path: Path, resolve: str) -> None:
    known = run()
    lost = AgentRun("lost", "Fix", steps=known.steps)
    records = [rated(trace, "ann", per_step(1, -1, 1)) for trace in ("trace_042", "lost")]
    source = folder(tmp_path / "output", records, known, lost)
    assert not any("step_lines" in row for row in json_lines(exported(source, "prm", ".jsonl", "--resolve", resolve)))
    rows = json_lines(exported(source, "prm", ".jsonl", "--resolve", resolve, "--lines", "yes"))
    by_trace = {row["trace_id"]: row["step_lines"] for row in rows}
    assert by_trace["lost"] is None
    first, second, third = by_trace["trace_042"]
    assert {"file": "src/parser.py", "side": "new", "line_start": 6, "line_end": 6} in first
    assert [place["file"] for place in second] == ["notes.md"]
    assert {"file": "src/parser.py", "side": "new", "line_start": 5, "line_end": 5} in third
    assert "new\ufffd.py" in [place["file"] for place in third]


def test_a_trace_is_a_record_of_agent_trace_as_its_published_schema_has_it(tmp_path: Path) -> None:
    untimed = run(at="")
    other = AgentRun(
        **{name: getattr(untimed, name) for name in AgentRun.__slots__} | {"external_id": "other", "agent_model": ""}
    )
    records = [record(), record(annotator="second"), record("other", timestamp="2026-04-01T00:00:00Z")]
    source = folder(tmp_path / "output", records, run(), other)
    rows = json_lines(exported(source, "agent_trace", ".jsonl"))
    schema = json.loads(SCHEMA.read_text())
    for row in rows:
        jsonschema.validate(row, schema, format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER)
    assert [row["metadata"]["potato"]["trace_id"] for row in rows] == ["trace_042", "other"]
    assert [row["timestamp"] for row in rows] == ["2026-03-01T10:00:00Z", "2026-04-01T00:00:00Z"]
    assert len({row["id"] for row in rows}) == 2
    assert rows == json_lines(exported(source, "agent_trace", ".jsonl"))
    new, parser = rows[0]["files"]
    agent, unknown = parser["conversations"]
    assert agent["contributor"] == {"type": "ai", "model_id": "vendor/model-a"}
    assert [(one["start_line"], one["end_line"]) for one in agent["ranges"]] == [(5, 5), (6, 6)]
    assert agent["ranges"][0]["content_hash"] == f"sha256:{hashlib.sha256(b'FIVE').hexdigest()}"
    assert unknown["contributor"] == {"type": "unknown"}
    assert [(one["start_line"], one["end_line"]) for one in unknown["ranges"]] == [(16, 16)]
    assert new["path"] == "new\ufffd.py"
    assert rows[0]["metadata"]["potato"]["repository"] == "acme/parser"
    assert [one["steps"] for one in rows[0]["metadata"]["potato"]["ranges"]] == [[2], [2, 0], [0]]
    assert rows[1]["files"][0]["conversations"][0]["contributor"] == {"type": "ai"}
    assert "notes.md" not in json.dumps(rows), "nobody knows where in the file its lines stand"
