"""What `prm` writes: rows that trainers take, of every step; and what the formats for training refuse."""

import json
from pathlib import Path
from typing import Any

import pytest

from potato.schemes.rewards.judgements import judgements
from tests.potato.formats.files import exported, folder, json_lines, refused, without_django
from tests.potato.formats.rewarded import HOSTILE, RECORDS, RUNS, first_error, per_step, record, run

FIRST = 'Search first, alpha\nsearch({"query": "Tokyo", "deep": true})\nread({"path": "a.py"})'
MENDED = HOSTILE.replace("\udcff", "\ufffd")


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return folder(tmp_path / "output", RECORDS, *RUNS)


# --- prm ---


def assert_trains(rows: list[dict[str, Any]]) -> None:
    """What a trainer of stepwise supervision demands of every row, and what is the same said twice in it."""
    for row in rows:
        assert type(row["prompt"]) is str
        assert row["completions"]
        assert {type(text) for text in row["completions"]} == {str}
        assert {type(label) for label in row["labels"]} == {int}
        assert set(row["labels"]) <= {1, 0, -100}
        assert set(row["labels"]) != {-100}
        assert len(row["completions"]) == len(row["labels"]) == len(row["rewards"]) == len(row["steps"])
        for step, text, label, reward in zip(
            row["steps"], row["completions"], row["labels"], row["rewards"], strict=True
        ):
            assert list(step) == ["content", "label"]
            assert step["content"] == text
            assert {1: 1, 0: -1, -100: None}[label] == step["label"]
            assert (reward is None) == (label == -100)
            assert reward is None or type(reward) is float
        # Nothing that no tokenizer takes, and no other column by which trainers tell kinds of data apart.
        json.dumps(row, ensure_ascii=False).encode("utf-8")
        assert not row.keys() & {"chosen", "rejected", "completion", "messages"}


def test_every_row_has_the_documented_keys_and_the_columns_of_trainers(source: Path) -> None:
    rows = json_lines(exported(source, "prm", ".jsonl"))
    assert_trains(rows)
    assert [list(row)[:2] for row in rows] == [["trace_id", "steps"]] * 9
    assert rows[0] == {
        "trace_id": "alpha",
        "steps": [
            {"content": FIRST, "label": 1},
            {"content": MENDED, "label": 1},
            {"content": "alpha goes on 2", "label": 1},
        ],
        "annotator": "ann",
        "mode": "first_error",
        "prompt": "Fix the parser",
        "completions": [FIRST, MENDED, "alpha goes on 2"],
        "labels": [1, 1, 1],
        "rewards": [1.0, 1.0, 1.0],
    }


def test_neutral_and_unrated_steps_are_left_out_of_the_loss(source: Path) -> None:
    rows = {(row["trace_id"], row["annotator"]): row for row in json_lines(exported(source, "prm", ".jsonl"))}
    neutral, unrated = rows["alpha", "bob"], rows["beta", "ann"]
    assert neutral["labels"] == [-100, 0, 0]
    assert unrated["labels"] == [1, -100, 0]
    assert unrated["rewards"] == [1.0, None, -1.0]
    assert ("short", "bob") not in rows, "an annotation that rates nothing"


def test_the_threshold_decides_which_scores_are_right(source: Path) -> None:
    def labels(threshold: str) -> Any:
        rows = json_lines(exported(source, "prm", ".jsonl", "--threshold", threshold))
        return next(row["labels"] for row in rows if (row["trace_id"], row["annotator"]) == ("beta", "bob"))

    assert labels("0") == [1, 1, 0]
    assert labels("0.25") == [1, 0, 0]
    assert labels("-0.5") == [1, 1, 0]
    assert labels("-0.6") == [1, 1, 1]


def test_results_and_hidden_thoughts_leave_only_in_full(source: Path) -> None:
    assert b"13,960,000" not in exported(source, "prm", ".jsonl")
    assert b"hidden" not in exported(source, "dpo", ".jsonl")
    (row, *_) = json_lines(exported(source, "prm", ".jsonl", "--step-text", "full"))
    assert row["completions"][0] == (
        'hidden\nSearch first, alpha\nsearch({"query": "Tokyo", "deep": true})\n'
        '13,960,000 people\nread({"path": "a.py"})'
    )


def test_the_majority_has_a_row_for_each_trace_and_a_tie_is_not_rated(source: Path) -> None:
    rows = json_lines(exported(source, "prm", ".jsonl", "--resolve", "majority"))
    assert_trains(rows)
    assert [(row["trace_id"], row["annotators"], row["labels"]) for row in rows] == [
        ("alpha", 3, [1, 0, 0]),
        ("beta", 2, [1, 1, 0]),
        ("gamma", 1, [1, 1, 1]),
        ("delta", 1, [1, 1, 1]),
        ("empty", 1, [1, 1, 0]),
        ("talk", 1, [1, 1, 0]),
    ]
    both = [record("gamma", "ann", first_error(None)), record("gamma", "bob", first_error(1))]
    tied = folder(source.parent / "tied", both, *RUNS)
    (row,) = json_lines(exported(tied, "prm", ".jsonl", "--resolve", "majority"))
    assert (row["labels"], row["rewards"]) == ([1, -100, -100], [1.0, None, None])


def test_the_latest_and_the_adjudicated_are_chosen_as_elsewhere(
    source: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    latest = json_lines(exported(source, "prm", ".jsonl", "--resolve", "latest"))
    assert [(row["trace_id"], row["annotator"]) for row in latest][:2] == [("alpha", "cyd"), ("beta", "bob")]
    (source.parent / "written-prm.jsonl").unlink()
    assert "has no adjudicated annotation" in refused(
        capsys, source, "prm", "--resolve", "adjudicated", suffix=".jsonl"
    )


def test_a_record_that_rates_other_steps_than_its_trace_has_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = folder(tmp_path / "output", [record("alpha", "ann", first_error(None, 5))], *RUNS)
    assert 'The record "alpha" by "ann" rates 5 steps, but its trace has 3.' in refused(capsys, source, "prm")


@pytest.mark.parametrize("labels", ["1", [True], ["1"], {"0": 1}, None, [1e300]])
def test_labels_that_are_none_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str], labels: Any) -> None:
    rewards = {"mode": "first_error", "labels": labels}
    source = folder(tmp_path / "output", [record("alpha", "ann", rewards)], *RUNS)
    assert "must be a list of numbers or null" in refused(capsys, source, "prm")


@pytest.mark.parametrize(("format", "suffix"), [("prm", ".jsonl"), ("dpo", ".jsonl"), ("swebench", ".json")])
def test_a_run_without_steps_teaches_nothing_and_is_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], format: str, suffix: str
) -> None:
    idle = run("idle", steps=0)
    records = [record("idle", "ann", first_error(None, 0)), record("alpha", "ann", first_error(None))]
    source = folder(tmp_path / "output", [*records, record("gamma", "ann", first_error(1))], *RUNS[:1], RUNS[2], idle)
    flags = ("--model", "model-a") if format == "swebench" else ()
    exported(source, format, suffix, *flags)
    said = capsys.readouterr().err
    assert f"1 without {'rated step' if format == 'swebench' else 'steps'}" in said


def test_a_category_on_a_right_step_is_said_beside_it_and_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    details = {
        "s0": {"label": "partially_correct", "error_category": "Other"},
        "s2": {"label": "incorrect", "error_category": "Logic error"},
    }
    records = [record("beta", "ann", per_step(0.5, 1.0, -1.0, **details)), record("alpha", "ann", first_error(None))]
    source = folder(tmp_path / "output", records, *RUNS)
    manifest = tmp_path / "manifest.json"
    rows = json_lines(exported(source, "prm", ".jsonl", "--manifest", str(manifest)))
    assert rows[0]["error_categories"] == ["Other", None, "Logic error"]
    assert rows[0]["labels"] == [1, 1, 0]
    assert "error_categories" not in rows[1]
    assert json.loads(manifest.read_text())["counts"] == {"right_steps_with_error_category": 1}
    assert "although an error category was given to them: 1." in capsys.readouterr().err
    assert json_lines(exported(source, "prm", ".jsonl", "--threshold", "0.5"))[0]["labels"] == [0, 1, 0]
    assert "error category" not in capsys.readouterr().err


def test_a_resolved_run_with_a_category_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    details = {"s0": {"label": "partially_correct", "error_category": "Other"}}
    source = folder(tmp_path / "output", [record("beta", "ann", per_step(0.5, 1.0, 0.25, **details))], *RUNS)
    report = json.loads(exported(source, "swebench", ".json"))
    assert report["resolved_ids"] == ["acme__parser-1"]
    assert "has an error category all the same: 1." in capsys.readouterr().err


@pytest.mark.parametrize(("score", "label"), [(0.0, 0), (0.1, 1), (-0.1, 0)])
def test_right_is_what_scores_above_nothing_in_every_format(tmp_path: Path, score: float, label: int) -> None:
    source = folder(tmp_path / "output", [record("beta", "ann", per_step(1.0, score, 1.0))], *RUNS)
    (row,) = json_lines(exported(source, "prm", ".jsonl"))
    assert row["labels"] == [1, label, 1]
    report = json.loads(exported(source, "swebench", ".json"))
    assert report["resolved_ids"] == (["acme__parser-1"] if label else [])
    (found,) = judgements([record("beta", "ann", per_step(1.0, score, 1.0))])
    assert found.first_error == (None if label else 1)


# --- what both need ---


@pytest.mark.parametrize(("format", "suffix"), [("prm", ".jsonl"), ("dpo", ".jsonl"), ("swebench", ".zip")])
def test_missing_traces_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str], format: str, suffix: str) -> None:
    said = refused(capsys, folder(tmp_path / "output", RECORDS), format, suffix=suffix)
    assert f"There is no traces.jsonl, and {format} needs it" in said


@pytest.mark.parametrize(("format", "suffix"), [("prm", ".jsonl"), ("dpo", ".jsonl"), ("swebench", ".zip")])
def test_nothing_selected_says_so_and_exits_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], format: str, suffix: str
) -> None:
    said = refused(capsys, folder(tmp_path / "output", [record("alpha", "ann")], *RUNS), format, suffix=suffix)
    assert said.startswith("The export selects nothing: ")
    assert "Nothing was written." in said


def test_the_spec_s_commands_run_without_django(source: Path) -> None:
    for format, name, flags in (
        ("prm", "results/prm_training_data.jsonl", ()),
        ("dpo", "results/dpo_pairs.jsonl", ("--min-score-gap", "0.5")),
        ("swebench", "results/swebench_results.json", ("--model", "model-a")),
    ):
        done = without_django("-i", "output/", "-f", format, "-o", name, *flags, cwd=source.parent)
        assert (done.returncode, (source.parent / name).stat().st_size > 0) == (0, True), done.stderr


# --- options ---


@pytest.mark.parametrize(("format", "flags", "says"), [
    ("dpo", ("--resolve", "majority"), "only of one choice for a whole trace or a step"),
    ("dpo", ("--min-score-gap", "-1"), "min_score_gap: Input should be greater than or equal to 0"),
    ("dpo", ("--min-score-gap", "nan"), "min_score_gap: Input should be a finite number"),
    ("dpo", ("--score", "median"), "score: Input should be 'sum' or 'mean'"),
    ("dpo", ("--pairs", "across"), "pairs: Input should be 'traces', 'within' or 'corrections'"),
    ("prm", ("--score", "mean"), "score is not an option of this format."),
    ("dpo", ("--prompt-style", "chat"), "prompt_style: Input should be 'text' or 'messages'"),
    ("dpo", ("--threshold", "0"), "threshold is not an option of this format."),
    ("prm", ("--threshold", "much"), "threshold: Input should be a valid number"),
    ("prm", ("--step-text", "all"), "step_text: Input should be 'short' or 'full'"),
    ("prm", ("--min-score-gap", "1"), "min_score_gap is not an option of this format."),
])  # fmt: skip
def test_options_are_refused_with_a_sentence(
    source: Path, capsys: pytest.CaptureFixture[str], format: str, flags: tuple[str, ...], says: str
) -> None:
    assert says in refused(capsys, source, format, *flags)
