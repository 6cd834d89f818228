"""What other tools write is read as records: by each tool's own form, with nothing lost in silence."""

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from potato.configuration import ProjectConfiguration, check_configuration
from potato.records.archives import RecordsError
from potato.records.other_tools.github import split_suggestion
from potato.records.other_tools.model import Reading, utc_timestamp
from potato.records.other_tools.placing import PlacedRecord
from potato.records.other_tools.reading import records_from

PULL = "https://api.github.com/repos/acme/parser/pulls/7"


def configured(mode: str = "per_step") -> ProjectConfiguration:
    checked = check_configuration(
        f"""
task_name: Both
annotation_schemes:
  - {{name: inline_comments, annotation_type: code_review_comments}}
  - {{name: file_ratings, annotation_type: code_review_file_ratings}}
  - {{name: verdict, annotation_type: code_review_verdict}}
  - {{name: rewards, annotation_type: process_reward, mode: {mode}}}
""",
        where="command",
    )
    assert checked.configuration is not None
    return checked.configuration


def read(
    path: Path, value: Any, tool: str = "auto", mode: str = "per_step", **said: Any
) -> tuple[list[Any], dict[str, str]]:
    """The records, and the reasons by the places of what has none."""
    file = path / "export.json"
    file.write_text(value if isinstance(value, str) else json.dumps(value))
    return placed(file, tool, mode, **said)


def placed(file: Path, tool: str = "auto", mode: str = "per_step", **said: Any) -> tuple[list[Any], dict[str, str]]:
    found = list(records_from(file, configured(mode), tool=tool, reading=Reading(**said)))
    records = [each.record for each in found if isinstance(each, PlacedRecord)]
    return records, {each.place: each.reason for each in found if not isinstance(each, PlacedRecord)}


def test_a_review_of_github_is_one_record_of_its_author_on_the_trace_of_the_pull_request(tmp_path: Path) -> None:
    def review(number: int, state: str, body: str = "", login: str = "octo", **more: Any) -> dict[str, Any]:
        at = f"2026-02-01T10:0{number}:00Z"
        user = {"login": login, **more}
        return {
            "id": number, "state": state, "body": body, "user": user, "submitted_at": at, "pull_request_url": PULL,
        }  # fmt: skip

    def comment(number: int, **more: Any) -> dict[str, Any]:
        return {
            "id": number,
            "path": "a.py",
            "line": 4,
            "side": "LEFT",
            "body": "Hm",
            "user": {"login": "octo"},
            "created_at": "2026-02-01T10:00:00Z",
            "pull_request_url": PULL,
            **more,
        }

    # As `gh api --paginate --slurp` answers: pages in a list.
    value = [
        [comment(11, start_line=2), comment(12, subject_type="file"), comment(13, side="RIGHT", start_side="LEFT")],
        [review(1, "APPROVED"), review(2, "COMMENTED", "One more remark."), review(3, "COMMENTED")],
        [review(4, "DISMISSED"), review(5, "CHANGES_REQUESTED", "No.", login="bot[bot]", type="Bot")],
        [{"id": 8}],
    ]
    records, unplaced = read(tmp_path, value, tool="github")
    person, program = records
    assert person["id"] == "acme/parser#7"
    assert person["annotations"]["verdict"] == {"decision": "approve", "summary": "One more remark."}
    (kept,) = person["annotations"]["inline_comments"]
    assert (kept["line_start"], kept["line_end"], kept["side"], kept["comment"]) == (2, 4, "old", "Hm")
    assert (person["source"]["kind"], program["source"]["kind"]) == ("person_elsewhere", "automated_reviewer")
    assert len(unplaced) == 5
    reasons = " ".join(unplaced.values())
    for said in ("whole file", "begins on one side", "DISMISSED", "neither a review comment", "said something else"):
        assert said in reasons


@pytest.mark.parametrize(
    ("body", "text", "suggestion"),
    [
        ("Plain.", "Plain.", None),
        ("Before.\n```suggestion\na = 1\nb = 2\n```\nAfter.", "Before.\n\nAfter.", "a = 1\nb = 2"),
        ("```suggestion\n```", "Suggested change.", ""),
        ("````suggestion\n```\ncode\n```\n````", "Suggested change.", "```\ncode\n```"),
        ("```python\na\n```", "```python\na\n```", None),
    ],
)
def test_a_suggestion_is_the_content_of_its_block(body: str, text: str, suggestion: str | None) -> None:
    assert split_suggestion(body) == (text, suggestion)


def test_an_output_folder_of_potato_is_read_by_its_state_and_by_its_lines(tmp_path: Path) -> None:
    review = {
        "verdict": "request_changes",
        "comments": [{"category": "bug", "file": "a.py", "line": 3, "text": "Off by one."}],
        "file_ratings": {"a.py": {"correctness": 2}},
    }
    rewards = {"steps": [{"index": 0, "reward": 1}, {"index": 1, "reward": 0}, {"index": 2, "reward": -1}]}
    labels = [
        [{"schema": "review", "name": "review"}, json.dumps(review)],
        [{"schema": "rewards", "name": "rewards"}, json.dumps(rewards)],
        [{"schema": "mood", "name": "happy"}, "true"],
    ]
    state = {
        "user_id": "ann",
        "instance_id_to_label_to_value": {"t1": labels},
        "instance_id_to_span_to_value": {"t1": [[{"schema": "spans", "start": 0, "end": 4}, True]]},
    }
    line = {"id": "t1", "label_annotations": {"verdict": {"approve": "true"}}}
    folder = tmp_path / "annotation_output"
    for person, name, text in (
        ("ann", "user_state.json", json.dumps(state)),
        ("ann", "annotated_instances.jsonl", json.dumps(line)),
        ("ben", "annotated_instances.jsonl", f"{json.dumps(line)}\n{json.dumps({**line, 'id': 't2'})}\n"),
        ("ben", "assigned_user_data.json", "{"),
    ):
        (folder / person).mkdir(parents=True, exist_ok=True)
        (folder / person / name).write_text(text)
    records, unplaced = placed(folder)
    assert [(one["id"], one["origin"]["author"]) for one in records] == [("t1", "ann"), ("t1", "ben"), ("t2", "ben")]
    assert records[0]["annotations"] == {
        "inline_comments": [{"file": "a.py", "line_start": 3, "category": "bug", "comment": "Off by one."}],
        "file_ratings": {"a.py": {"correctness": 2}},
        "verdict": {"decision": "request_changes"},
        "rewards": {"step_details": {"0": {"label": "correct"}, "2": {"label": "incorrect"}}},
    }
    assert records[2]["annotations"] == {"verdict": {"decision": "approve"}}
    assert "mood=" in unplaced["ann/user_state.json, t1, mood"]
    assert "1 marked part" in unplaced["ann/user_state.json, t1, spans"]

    packed = tmp_path / "output.zip"
    with zipfile.ZipFile(packed, "w") as archive:
        for file in folder.rglob("*.json*"):
            archive.write(file, file.relative_to(tmp_path))
    zipped, _ = placed(packed)
    assert [one["annotations"] for one in zipped] == [one["annotations"] for one in records]
    first_error, _ = placed(folder, mode="first_error")
    assert first_error[0]["annotations"]["rewards"] == {"first_error_step": 2}


def test_tasks_of_label_studio_say_by_their_names_what_is_meant(tmp_path: Path) -> None:
    def result(name: str, kind: str, value: dict[str, Any]) -> dict[str, Any]:
        return {"from_name": name, "to_name": "run", "type": kind, "value": value}

    value = [
        {
            "id": 1,
            "data": {"run": "...", "trace_id": "t1"},
            "annotations": [
                {
                    "id": 9,
                    "completed_by": {"id": 4, "email": "ann@example.org"},
                    "created_at": "2026-02-01T10:00:00.5+02:00",
                    "result": [
                        result("decision", "choices", {"choices": ["Approve"]}),
                        result("why", "textarea", {"text": ["It", "works."]}),
                        result("step_0", "rating", {"rating": 1}),
                        result("step_1", "choices", {"choices": ["broken"]}),
                        result("spans", "labels", {"start": 0, "end": 3, "labels": ["bug"]}),
                    ],
                },
                {"id": 10, "completed_by": 5, "was_cancelled": True, "result": []},
            ],
            "predictions": [
                {"id": 3, "model_version": "judge-1", "result": [result("decision", "choices", {"choices": ["no"]})]}
            ],
        },
        {"id": 2, "data": {"text": "no id"}, "annotations": [{"id": 11, "result": []}]},
    ]
    names = {"decision": "verdict", "why": "verdict.summary", "step": "rewards"}
    values = {"broken": "incorrect", "decision:no": "request_changes"}
    records, unplaced = read(tmp_path, value, names=names, values=values)
    person, model = records
    assert person["annotations"] == {
        "verdict": {"decision": "approve", "summary": "It\nworks."},
        "rewards": {"step_details": {"0": {"label": "correct"}, "1": {"label": "incorrect"}}},
    }
    assert (person["source"]["name"], person["timestamp"]) == ("ann@example.org (Label Studio)", "2026-02-01T08:00:00Z")
    assert (model["source"]["name"], model["source"]["kind"]) == ("judge-1 (Label Studio)", "other")
    assert [place.partition("task ")[2] for place in unplaced] == [
        "1, annotation 9, spans",
        "1, annotation 10",
        "2, annotation 11",
    ]

    small = [{"id": 1, "trace_id": "t1", "annotator": 4, "annotation_id": 9, "decision": "approve", "text": "x"}]
    (record,), _ = read(tmp_path, small, names={"decision": "verdict"})
    assert record["annotations"] == {"verdict": {"decision": "approve"}}


def test_labels_of_docent_and_scores_of_langfuse_name_their_runs(tmp_path: Path) -> None:
    docent = [
        {"agent_run_id": "t1", "label_set_id": "set", "label_value": {"verdict": "approve", "explanation": "Fine."}},
        {"agent_run_id": "t1", "rubric_id": "r", "rubric_version": 2, "output": {"verdict": "maybe"}},
        {"id": "t2", "metadata": {"scores": {"reward": 1.0, "passed": True}}},
        {"agent_run_id": 4},
    ]
    values = {"reward:1": "approve"}
    records, unplaced = read(tmp_path, docent, names={"reward": "verdict"}, values=values)
    assert [(one["id"], one["source"]["name"]) for one in records] == [
        ("t1", "label set set (Docent)"),
        ("t2", "scores of runs (Docent)"),
    ]
    assert records[0]["annotations"]["verdict"] == {"decision": "approve", "summary": "Fine."}
    assert len(unplaced) == 3
    assert any("“maybe” is not a verdict" in reason for reason in unplaced.values())

    scores = {
        "data": [
            {"id": "a", "traceId": "t1", "name": "verdict", "stringValue": "approve", "value": 0, "source": "EVAL"},
            {"id": "b", "sessionId": "s", "name": "verdict", "value": 1},
            {"id": "c", "traceId": "t1", "observationId": "o", "name": "rewards", "value": 1},
        ],
        "meta": {"page": 1},
    }
    (judge,), unplaced = read(tmp_path, scores)
    assert (judge["source"], judge["origin"]["id"]) == (
        {"name": "verdict (Langfuse)", "version": "1", "kind": "llm_judge"},
        "a",
    )
    assert sorted(place[-1] for place in unplaced) == ["b", "c"]


def test_what_is_no_file_of_a_tool_is_refused_with_what_to_do(tmp_path: Path) -> None:
    for value, said in (
        ("[]", "Say which one it is of: potato_2, label_studio"),
        ("not json", "is not JSON"),
        ('{"a": 1}\n{', "line 2 is not JSON"),
        ("", "has no JSON"),
    ):
        with pytest.raises(RecordsError, match=said):
            read(tmp_path, value)
    with pytest.raises(RecordsError, match="There is no file or folder"):
        placed(tmp_path / "nothing")
    assert utc_timestamp("2026-01-01") == "2026-01-01T00:00:00Z"
    assert utc_timestamp("soon") is None


SAMPLES: dict[str, Any] = {
    "github": {
        "comments": [
            {
                "id": 5,
                "path": "a.py",
                "line": 3,
                "start_line": 2,
                "side": "RIGHT",
                "body": "Hm",
                "user": {"login": "o"},
                "created_at": "2026-01-01T00:00:00Z",
                "pull_request_url": PULL,
            }
        ],
        "reviews": [{"id": 1, "state": "APPROVED", "user": {"login": "o"}, "pull_request_url": PULL}],
    },
    "label_studio": [
        {
            "id": 1,
            "data": {"trace_id": "t1"},
            "annotations": [
                {
                    "id": 9,
                    "completed_by": {"id": 1},
                    "created_at": "2026-01-01T00:00:00Z",
                    "result": [{"from_name": "verdict", "type": "choices", "value": {"choices": ["approve"]}}],
                }
            ],
            "predictions": [{"model_version": "m", "result": []}],
        }
    ],
    "potato_2": {
        "user_id": "a",
        "instance_id_to_label_to_value": {
            "t1": [
                [{"schema": "rewards", "name": "x"}, {"steps": [{"index": 0, "reward": 1}]}],
                [
                    {"schema": "review", "name": "x"},
                    {"verdict": "approve", "comments": [{"line": 2}], "file_ratings": {"a": {"correctness": 2}}},
                ],
            ],
            "t2": {"verdict": {"approve": True}},
        },
        "instance_id_to_span_to_value": {"t1": [1]},
    },
    "langfuse": {
        "data": [
            {"traceId": "t", "name": "rewards", "value": 1, "metadata": {"step": 1, "error_category": "x"}},
            {"traceId": "t", "name": "inline_comments", "value": "bug", "metadata": {"file": "a", "line_start": 2}},
        ]
    },
    "docent": [
        {"agent_run_id": "t1", "label_value": {"verdict": "approve", "explanation": "b"}},
        {"id": "t", "metadata": {"scores": {"verdict": 1.0}}},
    ],
}


def places_in(value: Any, place: tuple[Any, ...] = ()) -> Any:
    yield place
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, member in inside:
        yield from places_in(member, (*place, key))


def with_other(value: Any, place: tuple[Any, ...], other: Any) -> Any:
    if not place:
        return other
    changed = json.loads(json.dumps(value))
    holder = changed
    for key in place[:-1]:
        holder = holder[key]
    holder[place[-1]] = other
    return changed


@pytest.mark.parametrize("tool", SAMPLES)
@pytest.mark.parametrize("other", [None, True, 1.5, 10**30, "\ud800", [[]], {"a": 1}, [{"x": None}]])
def test_whatever_stands_anywhere_in_a_file_is_a_record_or_a_reason(tmp_path: Path, tool: str, other: Any) -> None:
    for place in places_in(SAMPLES[tool]):
        records, _ = read(tmp_path, json.dumps(with_other(SAMPLES[tool], place, other)), tool=tool)
        assert all(record["annotations"] and record["source"]["name"] for record in records), place
