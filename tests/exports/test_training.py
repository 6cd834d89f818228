"""What `prm` and `dpo` write: rows that trainers take, of every step, and of the runs of one task alone."""

import json
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.exports.files import exported, folder, json_lines, without_django
from tests.exports.rewarded import HOSTILE, RECORDS, RUNS, first_error, per_step, record, run

FIRST = 'Search first, alpha\nsearch({"query": "Tokyo", "deep": true})\nread({"path": "a.py"})'
MENDED = HOSTILE.replace("\udcff", "\ufffd")


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return folder(tmp_path / "output", RECORDS, *RUNS)


def refused(capsys: pytest.CaptureFixture[str], source: Path, format: str, *flags: str, suffix: str = "") -> str:
    """What the command says, which writes no file."""
    with pytest.raises(SystemExit) as ended:
        exported(source, format, suffix, *flags)
    assert ended.value.code in (1, 2)
    assert not (source.parent / f"written-{format}{suffix}").exists()
    return capsys.readouterr().err


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


# --- dpo ---


def pairs(rows: list[dict[str, Any]]) -> list[tuple[str, str, str]]:
    return [(row["chosen_annotator"], row["chosen_trace_id"], row["rejected_trace_id"]) for row in rows]


def test_pairs_are_between_runs_of_one_task_by_one_annotator(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = json_lines(exported(source, "dpo", ".jsonl"))
    assert pairs(rows) == [
        ("ann", "alpha", "beta"),
        ("ann", "gamma", "beta"),
        ("bob", "beta", "alpha"),
        ("ann", "delta", "empty"),
        ("ann", "delta", "talk"),
    ]
    said = capsys.readouterr().err
    assert "Left out: 2 ties, 1 without task." in said
    assert "--prompt-style messages" in said
    assert [(row["margin"], row["chosen_score"], row["rejected_score"]) for row in rows[:3]] == [
        (3.0, 3.0, 0.0),
        (3.0, 3.0, 0.0),
        (1.75, 0.75, -1.0),
    ]


def test_a_pair_is_the_documented_row_with_its_scores_beside_it(source: Path) -> None:
    row = json_lines(exported(source, "dpo", ".jsonl"))[0]
    assert list(row)[:3] == ["prompt", "chosen", "rejected"]
    assert row["prompt"] == "Fix the parser"
    assert row["chosen"] == [{"role": "assistant", "content": text} for text in (FIRST, MENDED, "alpha goes on 2")]
    assert [message["content"] for message in row["rejected"]][2] == "beta goes on 2"
    assert not row.keys() & {"completion", "messages"}


def test_the_gap_and_the_manifest_say_what_was_left_out(source: Path) -> None:
    manifest = source.parent / "manifest.json"
    flags = ("--min-score-gap", "2", "--manifest", str(manifest))
    assert pairs(json_lines(exported(source, "dpo", ".jsonl", *flags))) == [
        ("ann", "alpha", "beta"),
        ("ann", "gamma", "beta"),
    ]
    said = json.loads(manifest.read_text())
    assert said["left_out"] == {"ties": 2, "under_the_gap": 3, "without_task": 1}
    assert (said["options"]["resolve"], said["options"]["min_score_gap"]) == ("all", 2.0)


def test_prompts_are_messages_where_trainers_want_them(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for row in json_lines(exported(source, "dpo", ".jsonl", "--prompt-style", "messages")):
        assert row["prompt"] == [{"role": "user", "content": row["prompt"][0]["content"]}]
        for side in ("chosen", "rejected"):
            assert {tuple(message) for message in row[side]} == {("role", "content")}
            assert {message["role"] for message in row[side]} == {"assistant"}
        json.dumps(row, ensure_ascii=False).encode("utf-8")
    assert "--prompt-style" not in capsys.readouterr().err


def test_corrections_are_a_file_of_their_own(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = json_lines(exported(source, "dpo", ".jsonl", "--pairs", "corrections"))
    assert [(row["trace_id"], row["step"], row["annotator"]) for row in rows] == [
        ("alpha", 1, "cyd"),
        ("beta", 2, "bob"),
    ]
    assert rows[0]["prompt"] == f"Fix the parser\n\n{FIRST}"
    assert rows[0]["chosen"] == [{"role": "assistant", "content": "Look at the file"}]
    assert rows[0]["rejected"] == [{"role": "assistant", "content": MENDED}]
    told = json_lines(exported(source, "dpo", ".jsonl", "--pairs", "corrections", "--prompt-style", "messages"))[1]
    assert [message["role"] for message in told["prompt"]] == ["user", "assistant", "assistant"]
    (source.parent / "written-dpo.jsonl").unlink()
    assert "a correction has no score" in refused(
        capsys, source, "dpo", "--pairs", "corrections", "--min-score-gap", "1", suffix=".jsonl"
    )


def test_an_adjudicated_judgement_takes_the_place_of_an_annotator_s_own(tmp_path: Path) -> None:
    final = [
        record("alpha", "zoe", first_error(0), kind="adjudication"),
        record("gamma", "zoe", first_error(1), kind="adjudication"),
    ]
    source = folder(tmp_path / "output", [*RECORDS, *final], *RUNS)
    rows = json_lines(exported(source, "dpo", ".jsonl"))
    found = [(row["chosen_trace_id"], row["rejected_trace_id"], row["margin"]) for row in rows]
    # zoe's scores are alpha -3, gamma -1; ann has beta 0 and bob has beta 0.75, who did not judge gamma.
    assert found[:4] == [
        ("gamma", "alpha", 2.0),
        ("beta", "alpha", 3.0),
        ("beta", "gamma", 1.0),
        ("beta", "alpha", 3.75),
    ]
    adjudicated = json_lines(exported(source, "dpo", ".jsonl", "--resolve", "adjudicated"))
    assert pairs(adjudicated) == [("zoe", "gamma", "alpha")]


@pytest.mark.parametrize(("format", "flags", "says"), [
    ("dpo", ("--resolve", "majority"), "it exists for code_review_verdicts, swebench and prm"),
    ("dpo", ("--min-score-gap", "-1"), "min_score_gap: Input should be greater than or equal to 0"),
    ("dpo", ("--min-score-gap", "nan"), "min_score_gap: Input should be a finite number"),
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


SCORES = st.sampled_from([1.0, 0.5, 0.25, 0.1, -0.5, -1.0])
JUDGED = st.lists(
    st.tuples(st.integers(0, 5), st.sampled_from("abc"), st.tuples(SCORES, SCORES, SCORES)),
    min_size=2,
    max_size=12,
    unique_by=lambda one: one[:2],
)


@given(judged=JUDGED, gap=st.sampled_from([0.0, 0.5, 1.25]))
def test_pairs_equal_those_of_a_second_implementation(
    tmp_path_factory: pytest.TempPathFactory, judged: list[tuple[int, str, tuple[float, float, float]]], gap: float
) -> None:
    tasks = [number % 2 for number in range(6)]
    runs = [run(f"t{number}", task=f"task {task}") for number, task in enumerate(tasks)]
    records = [record(f"t{number}", who, per_step(*scores)) for number, who, scores in judged]
    source = folder(tmp_path_factory.mktemp("pairs") / "output", records, *runs)
    expected = set()
    for one, other in combinations(judged, 2):
        margin = round(sum(one[2]) - sum(other[2]), 6)
        if one[1] == other[1] and tasks[one[0]] == tasks[other[0]] and margin and abs(margin) >= gap:
            better, worse = (one, other) if margin > 0 else (other, one)
            expected.add((one[1], f"t{better[0]}", f"t{worse[0]}", abs(margin)))
    if not expected:
        with pytest.raises(SystemExit):
            exported(source, "dpo", ".jsonl", "--min-score-gap", str(gap))
        return
    rows = json_lines(exported(source, "dpo", ".jsonl", "--min-score-gap", str(gap)))
    assert {(*pair, row["margin"]) for pair, row in zip(pairs(rows), rows, strict=True)} == expected
    assert len(rows) == len(expected)
