"""Annotations leave as scores of Langfuse and as evaluation events of OpenTelemetry, by the schemas of both."""

import json
from pathlib import Path
from typing import Any

import jsonschema

from potato.configuration import check_configuration
from potato.records.other_tools.model import Reading
from potato.records.other_tools.placing import PlacedRecord
from potato.records.other_tools.reading import records_from
from tests.potato.formats.files import exported, folder, json_lines, refused

SCHEMAS = Path(__file__).parent / "schemas"
TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
CONFIGURATION = """
task_name: Both
annotation_schemes:
  - name: inline_comments
    annotation_type: code_review_comments
    inline_comments: {severity: {enabled: true}}
  - {name: file_ratings, annotation_type: code_review_file_ratings}
  - {name: verdict, annotation_type: code_review_verdict}
  - name: rewards
    annotation_type: process_reward
    mode: per_step
    per_step: {allow_notes: true, require_all_steps: false, error_categories: {enabled: true}}
"""
SAID: dict[str, Any] = {
    "inline_comments": [
        {
            "file": "src/a.py",
            "line_start": 3,
            "line_end": 4,
            "category": "bug",
            "severity": "major",
            "comment": "Rounds half to even.",
            "suggestion": "x = 1",
            "side": "new",
            "comment_id": "one",
        }
    ],
    "file_ratings": {"src/a.py": {"correctness": 2}},
    "verdict": {"decision": "request_changes", "summary": "The lone \ud800 stays readable."},
    "rewards": {
        "mode": "per_step",
        "total_steps": 3,
        "labels": [1.0, -1.0, None],
        "step_details": {
            "0": {"label": "correct"},
            "1": {"label": "incorrect", "error_category": "reasoning_error", "notes": "Wrong file."},
        },
        "cumulative_score": 0.0,
        "label_origin": ["given", "given", None],
    },
}
JUDGE = {
    "id": "t2",
    "source": {"name": "octo (GitHub)", "version": "1", "model": "", "kind": "person_elsewhere"},
    "origin": {"tool": "github", "file": "review.json", "id": "90", "author": "octo"},
    "annotations": {"verdict": {"decision": "approve"}},
}


def archive(path: Path, **more: Any) -> Path:
    ann = {"id": TRACE, "annotator": "ann", "timestamp": "2026-03-01T10:00:00Z", "annotations": SAID, **more}
    path.mkdir(exist_ok=True)
    return folder(path / "output", [ann, JUDGE], configuration=CONFIGURATION)


def test_scores_are_bodies_that_langfuse_takes_and_the_same_ones_each_time(tmp_path: Path) -> None:
    source = archive(tmp_path)
    rows = json_lines(exported(source, "langfuse_scores", ".jsonl", "--sources", "octo (GitHub)"))
    schema = json.loads((SCHEMAS / "langfuse-create-score.json").read_text())
    for row in rows:
        jsonschema.validate(row, schema)
    assert [(row["name"], row["value"]) for row in rows if row["traceId"] == TRACE] == [
        ("inline_comments", "bug"),
        ("file_ratings.correctness", 2),
        ("verdict", "request_changes"),
        ("rewards.cumulative_score", 0.0),
        ("rewards.first_error", "1"),
        ("rewards", "correct"),
        ("rewards", "incorrect"),
    ]
    assert rows[2]["comment"] == "The lone \ufffd stays readable."
    assert rows[6]["metadata"]["step"] == 1
    assert rows[6]["metadata"]["score"] == -1.0
    assert rows[7]["metadata"]["origin"]["tool"] == "github"
    ids = [row["id"] for row in rows]
    assert len(set(ids)) == len(rows)
    corrected = archive(tmp_path / "later", timestamp="2026-04-01T10:00:00Z")
    again = json_lines(exported(corrected, "langfuse_scores", ".jsonl", "--sources", "octo (GitHub)"))
    assert [row["id"] for row in again] == ids, "sent again they replace those that are there"


def test_scores_that_were_sent_to_langfuse_come_back_as_what_was_submitted(tmp_path: Path) -> None:
    path = tmp_path / "scores.jsonl"
    path.write_bytes(exported(archive(tmp_path), "langfuse_scores", ".jsonl"))
    configuration = check_configuration(CONFIGURATION, where="command").configuration
    assert configuration is not None
    read = list(records_from(path, configuration, tool="auto", reading=Reading()))
    (back,) = (each.record for each in read if isinstance(each, PlacedRecord))
    assert back["id"] == TRACE
    assert back["source"]["name"] == "ann (Langfuse)"
    annotations = back["annotations"]
    assert annotations["inline_comments"] == SAID["inline_comments"]
    assert annotations["file_ratings"] == SAID["file_ratings"]
    assert annotations["verdict"]["decision"] == "request_changes"
    assert annotations["rewards"]["step_details"] == SAID["rewards"]["step_details"]
    assert {each.reason for each in read if not isinstance(each, PlacedRecord)} == {
        "It follows from what is said of the steps."
    }


def test_evaluation_events_are_as_the_conventions_and_otlp_have_them(tmp_path: Path, capsys: Any) -> None:
    source = archive(tmp_path)
    rows = json_lines(exported(source, "otel_evaluations", ".jsonl", "--sources", "octo (GitHub)"))
    schema = json.loads((SCHEMAS / "otlp-evaluation-logs.json").read_text())
    for row in rows:
        jsonschema.validate(row, schema)
    ours, theirs = (row["resourceLogs"][0]["scopeLogs"][0]["logRecords"] for row in rows)
    assert len(ours) == 7
    assert {event["traceId"] for event in ours} == {TRACE}
    assert {event["timeUnixNano"] for event in ours} == {"1772359200000000000"}
    comment = {each["key"]: each["value"] for each in ours[0]["attributes"]}
    assert comment["gen_ai.evaluation.name"] == {"stringValue": "inline_comments"}
    assert comment["gen_ai.evaluation.explanation"] == {"stringValue": "Rounds half to even."}
    assert comment["code.file.path"] == {"stringValue": "src/a.py"}
    assert comment["code.line.number"] == {"intValue": "3"}
    assert comment["potato.annotator"] == {"stringValue": "ann"}
    label = {each["key"]: each["value"] for each in ours[6]["attributes"]}
    assert label["gen_ai.evaluation.score.value"] == {"doubleValue": -1.0}
    assert label["gen_ai.evaluation.score.label"] == {"stringValue": "incorrect"}
    assert label["potato.step"] == {"intValue": "1"}
    (event,) = theirs
    assert "traceId" not in event, "t2 is no id of OpenTelemetry"
    assert {"key": "potato.origin.author", "value": {"stringValue": "octo"}} in event["attributes"]

    (tmp_path / "other").mkdir()
    silent = folder(
        tmp_path / "other" / "silent", [{**JUDGE, "source": None, "annotations": {}}], configuration=CONFIGURATION
    )
    assert "no annotation has anything to score" in refused(capsys, silent, "otel_evaluations", suffix=".jsonl")
