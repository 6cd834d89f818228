"""`python -m potato.analysis agreement`: from files of records to figures."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from potato.commands.agreement import main
from potato.records import folders
from tests.potato.formats.files import WITHOUT_DJANGO, lines

CONFIGURATION = """
task_name: Reviews
annotation_schemes:
  - name: inline_comments
    annotation_type: code_review_comments
    inline_comments: {severity: {enabled: true}}
  - name: file_ratings
    annotation_type: code_review_file_ratings
  - name: verdict
    annotation_type: code_review_verdict
  - name: rewards
    annotation_type: process_reward
    mode: per_step
    per_step:
      error_categories: {enabled: true, categories: [Logic error, Other]}
"""


def review(
    trace: int, annotator: str, decision: str, correctness: int, comments: Sequence[tuple[int, str, str]], labels: str
) -> dict[str, Any]:
    values = {"c": ("correct", 1.0), "i": ("incorrect", -1.0)}
    details = {str(at): {"label": values[label][0]} for at, label in enumerate(labels)}
    for detail in details.values():
        if detail["label"] == "incorrect":
            detail["error_category"] = "Logic error"
    return {
        "id": f"trace_{trace}",
        "annotator": annotator,
        "timestamp": "2026-11-02T10:00:00Z",
        "annotations": {
            "inline_comments": [
                {
                    "file": "a.py",
                    "line_start": line,
                    "line_end": line,
                    "category": category,
                    "severity": severity,
                    "comment": "Why?",
                    "side": "new",
                    "comment_id": f"c{line}",
                    "created_at": "2026-11-02T10:00:00Z",
                }
                for line, category, severity in comments
            ],
            "file_ratings": {"a.py": {"correctness": correctness, "quality": 3}},
            "verdict": {"decision": decision, "summary": "As the comments say, in short."},
            "rewards": {
                "mode": "per_step",
                "total_steps": len(labels),
                "labels": [values[label][1] for label in labels],
                "step_details": details,
                "cumulative_score": sum(values[label][1] for label in labels),
            },
        },
    }


RECORDS = [
    review(1, "ann", "approve", 5, [(10, "bug", "major")], "ccc"),
    review(1, "bea", "approve", 4, [(12, "bug", "minor"), (90, "style", "nit")], "ccc"),
    review(2, "ann", "request_changes", 1, [(5, "logic", "critical")], "cii"),
    review(2, "bea", "request_changes", 2, [(5, "logic", "critical")], "cci"),
    review(3, "ann", "approve", 5, [], "c"),
    review(3, "cho", "request_changes", 1, [], "i"),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    lines(tmp_path / "annotations.jsonl", RECORDS)
    (tmp_path / "config.yaml").write_text(CONFIGURATION, encoding="utf-8")
    return tmp_path


def reported(folder: Path, capsys: pytest.CaptureFixture[str], *flags: str) -> dict[str, Any]:
    assert main(["agreement", "-i", str(folder), "--json", "--samples", "50", *flags]) == 0
    report: dict[str, Any] = json.loads(capsys.readouterr().out)
    return report


def test_every_scheme_tells_its_agreement(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = reported(folder, capsys)
    compared = {one["name"]: one for one in report["compared"]}
    assert set(compared) == {
        "comments", "correctness", "quality", "decision", "first_error", "labels", "scores", "error_categories",
    }  # fmt: skip
    assert (report["annotations"], report["annotators"], report["shared_traces"]) == (6, 3, 3)
    # Two of three pairs gave the same verdict; one place of five comments' pairs matches twice.
    assert compared["decision"]["figures"]["percent"]["value"] == pytest.approx(2 / 3, abs=1e-6)
    assert compared["comments"]["figures"]["f1"]["value"] == pytest.approx(4 / 5)
    assert compared["comments"]["figures"]["category_alpha_nominal"]["value"] == 1.0
    # ann and bea: none and none, step 1 and step 2; ann and cho: none and step 0.
    assert compared["first_error"]["figures"]["same"]["value"] == pytest.approx(1 / 3, abs=1e-6)
    assert compared["first_error"]["figures"]["near"]["value"] == pytest.approx(2 / 3, abs=1e-6)
    assert compared["first_error"]["distances"] == [
        {"steps": 0, "pairs": 1}, {"steps": 1, "pairs": 1}, {"steps": None, "pairs": 1},
    ]  # fmt: skip
    assert [one["value"] for one in compared["labels"]["by_position"].values()] == pytest.approx(
        [2 / 3, 0.5, 1.0], abs=1e-6
    )
    # Where every rating is the same nothing could be due to chance, and the report says so.
    assert "same value" in compared["quality"]["figures"]["alpha_ordinal"]["undefined"]


def test_each_annotator_is_compared_with_the_others_alone(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    [decision] = [one for one in reported(folder, capsys)["compared"] if one["name"] == "decision"]
    shares = {name: one["value"] for name, one in decision["rest"].items()}
    assert shares == {"ann": pytest.approx(2 / 3, abs=1e-6), "bea": 1.0, "cho": 0.0}
    assert {tuple(one["annotators"]): one["value"] for one in decision["pairs"]} == {
        ("ann", "bea"): 1.0,
        ("ann", "cho"): 0.0,
    }


def test_the_order_of_the_records_changes_nothing(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = reported(folder, capsys)
    lines(folder / "annotations.jsonl", reversed(RECORDS))
    assert reported(folder, capsys) == before


def test_the_tolerance_decides_which_comments_match(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    [comments] = [one for one in reported(folder, capsys, "--tolerance", "0")["compared"] if one["name"] == "comments"]
    assert comments["figures"]["f1"]["value"] == pytest.approx(2 / 5)


def test_the_text_says_what_a_figure_rests_on(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["agreement", "-i", str(folder), "--samples", "50"]) == 0
    told = capsys.readouterr().out
    assert "3 annotators, 6 annotations of 3 traces, 3 of them judged by two or more" in told
    assert "Verdict (verdict)" in told
    assert "from 3 pairs" in told
    assert "too few to say much" in told


def test_without_a_configuration_it_says_what_is_assumed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "config.yaml").unlink()
    assert main(["agreement", "-i", str(folder), "--samples", "0"]) == 0
    assert "There is no configuration, so the documented schemes are assumed" in capsys.readouterr().out


def test_gold_and_adjudicated_records_are_no_independent_judgements(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = reported(folder, capsys)
    lines(folder / "annotations.jsonl", [*RECORDS, {**RECORDS[0], "annotator": "expert", "kind": "adjudication"}])
    assert reported(folder, capsys) == {**before, "left_out": {"adjudication": 1}}


def test_a_part_that_is_not_as_its_scheme_has_it_is_counted(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    broken = {**RECORDS[0], "annotator": "dan", "annotations": {"verdict": ["approve"]}}
    lines(folder / "annotations.jsonl", [*RECORDS, broken])
    report = reported(folder, capsys)
    assert report["unreadable"] == 1


def test_what_could_not_be_judged_is_counted_and_is_no_disagreement(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = reported(folder, capsys)
    refused = {**RECORDS[0], "annotator": "dan", "annotations": {"cannot_judge": "I cannot read this language."}}
    ratings = {"a.py": {"cannot_judge": "Generated"}}
    partly = {**refused, "id": "another", "annotations": {"file_ratings": ratings}}
    lines(folder / "annotations.jsonl", [*RECORDS, refused, partly])
    report = reported(folder, capsys)
    counts = {(each["scheme"], each["name"]): each.pop("cannot_judge") for each in report["compared"]}
    assert set(map(str, counts.values())) == {"{'trace': 1}", "{'file': 1, 'trace': 1}"}
    assert counts["file_ratings", "correctness"] == {"file": 1, "trace": 1}
    figures = {each["name"]: each["figures"][each["main"]] for each in before["compared"]}
    assert {each["name"]: each["figures"][each["main"]] for each in report["compared"]} == figures
    assert main(["agreement", "-i", str(folder), "--samples", "0"]) == 0
    assert "  Annotators could not judge 1 whole trace and 1 file, and said why.\n" in capsys.readouterr().out


def test_without_a_trace_judged_twice_there_is_no_figure(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines(folder / "annotations.jsonl", RECORDS[:1])
    with pytest.raises(SystemExit) as ended:
        main(["agreement", "-i", str(folder)])
    assert ended.value.code == 1
    assert "No trace has two annotators, in 1 annotation of 1 trace." in capsys.readouterr().err


def test_it_runs_as_documented_without_django(folder: Path) -> None:
    program = WITHOUT_DJANGO + (
        "import runpy\nsys.argv[:] = ['potato.analysis', *sys.argv[1:]]\n"
        "runpy.run_module('potato.analysis', run_name='__main__')\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program, "agreement", "-i", str(folder)], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert "Comments (inline_comments)" in ran.stdout


def test_the_configuration_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "config.yaml").write_text(CONFIGURATION)
    records = [review(1, name, "approve", 3, [], "c") for name in ("ann", "ben")]
    (tmp_path / "annotations.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    read: list[Path] = []
    text = folders._text

    def noting(path: Path) -> str:
        read.append(path)
        return str(text(path))

    monkeypatch.setattr(folders, "_text", noting)
    assert (
        main(
            [
                "agreement",
                "-i",
                str(tmp_path / "annotations.jsonl"),
                "--config",
                str(tmp_path / "config.yaml"),
                "--json",
            ]
        )
        == 0
    )
    assert [path.name for path in read] == ["config.yaml"]
