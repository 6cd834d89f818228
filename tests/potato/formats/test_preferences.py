"""What `dpo` writes: which of two runs of one task is the better one, by whose judgement, and never for its length."""

import json
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.potato.formats.files import exported, folder, json_lines, refused, without_django
from tests.potato.formats.rewarded import HOSTILE, RECORDS, RUNS, first_error, per_step, record, run

FIRST = 'Search first, {}\nsearch({{"query": "Tokyo", "deep": true}})\nread({{"path": "a.py"}})'
MENDED = HOSTILE.replace("\udcff", "\ufffd")


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return folder(tmp_path / "output", RECORDS, *RUNS)


def judged(path: Path, *records: dict[str, Any], steps: dict[str, int] | None = None) -> Path:
    """A folder with those records, and a run of one task for each trace that they name, three steps long if unsaid."""
    names = dict.fromkeys(one["id"] for one in records)
    return folder(path / "output", records, *(run(name, steps=(steps or {}).get(name, 3)) for name in names))


def rows_of(source: Path, *flags: str) -> list[dict[str, Any]]:
    return json_lines(exported(source, "dpo", ".jsonl", *flags))


def pairs(rows: list[dict[str, Any]]) -> list[tuple[str, str, str]]:
    return [(row["chosen_annotator"], row["chosen_trace_id"], row["rejected_trace_id"]) for row in rows]


def manifest_of(source: Path, *flags: str) -> Any:
    path = source.parent / "manifest.json"
    exported(source, "dpo", ".jsonl", *flags, "--manifest", str(path))
    return json.loads(path.read_text())


# --- the row ---


def test_pairs_are_between_runs_of_one_task_by_one_annotator(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = rows_of(source)
    assert pairs(rows) == [("ann", "delta", "empty"), ("ann", "delta", "talk")]
    said = capsys.readouterr().err
    assert "Left out: 3 of two modes, 2 ties, 1 without task." in said
    assert "--prompt-style messages" in said
    assert [(row["margin"], row["chosen_score"], row["rejected_score"]) for row in rows] == [(1.5, 2.0, 0.5)] * 2
    assert [row["pairing"] for row in rows] == ["within"] * 2


def test_a_pair_is_the_documented_row_with_its_scores_beside_it(source: Path) -> None:
    row = rows_of(source)[0]
    assert list(row)[:3] == ["prompt", "chosen", "rejected"]
    assert row["prompt"] == "Write the manual"
    texts = (FIRST.format("delta"), MENDED, "delta goes on 2")
    assert row["chosen"] == [{"role": "assistant", "content": text} for text in texts]
    assert [message["content"] for message in row["rejected"]][2] == "empty goes on 2"
    assert row["chosen_annotators"] == row["rejected_annotators"] == ["ann"]
    assert not row.keys() & {"completion", "messages"}


def test_the_gap_and_the_manifest_say_what_was_left_out(tmp_path: Path) -> None:
    source = judged(
        tmp_path,
        record("one", "ann", per_step(1.0, 1.0, 1.0)),
        record("two", "ann", per_step(1.0, 1.0, -1.0)),
        record("three", "ann", per_step(1.0, 0.5, -0.5)),
    )
    said = manifest_of(source, "--min-score-gap", "2")
    assert pairs(rows_of(source, "--min-score-gap", "2")) == [("ann", "one", "two"), ("ann", "one", "three")]
    assert said["left_out"] == {"ties": 1}
    assert (said["options"]["resolve"], said["options"]["min_score_gap"]) == ("all", 2.0)


def test_prompts_are_messages_where_trainers_want_them(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for row in rows_of(source, "--prompt-style", "messages"):
        assert row["prompt"] == [{"role": "user", "content": row["prompt"][0]["content"]}]
        for side in ("chosen", "rejected"):
            assert {tuple(message) for message in row[side]} == {("role", "content")}
            assert {message["role"] for message in row[side]} == {"assistant"}
        json.dumps(row, ensure_ascii=False).encode("utf-8")
    assert "--prompt-style" not in capsys.readouterr().err


def test_corrections_are_a_file_of_their_own(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = rows_of(source, "--pairs", "corrections")
    assert [(row["trace_id"], row["step"], row["annotator"]) for row in rows] == [
        ("alpha", 1, "cyd"),
        ("beta", 2, "bob"),
    ]
    assert rows[0]["prompt"] == f"Fix the parser\n\n{FIRST.format('alpha')}"
    assert rows[0]["chosen"] == [{"role": "assistant", "content": "Look at the file"}]
    assert rows[0]["rejected"] == [{"role": "assistant", "content": MENDED}]
    told = rows_of(source, "--pairs", "corrections", "--prompt-style", "messages")[1]
    assert [message["role"] for message in told["prompt"]] == ["user", "assistant", "assistant"]
    (source.parent / "written-dpo.jsonl").unlink()
    for flags in (("--min-score-gap", "1"), ("--score", "mean")):
        assert "a correction has no score" in refused(
            capsys, source, "dpo", "--pairs", "corrections", *flags, suffix=".jsonl"
        )


# --- first errors: no run is better for being longer ---


def test_a_right_run_is_better_than_a_longer_one_that_goes_wrong_at_its_end(tmp_path: Path) -> None:
    source = judged(
        tmp_path,
        record("long", "ann", first_error(7, 8)),
        record("right", "ann", first_error(None, 4)),
        steps={"long": 8, "right": 4},
    )
    (row,) = rows_of(source)
    assert (row["chosen_trace_id"], row["rejected_trace_id"]) == ("right", "long")
    assert (row["chosen_score"], row["rejected_score"], row["margin"]) == (1.0, 7 / 8, 1 / 8)


def test_two_right_runs_tie_however_long_they_are(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = judged(
        tmp_path,
        record("long", "ann", first_error(None, 8)),
        record("short", "ann", first_error(None, 4)),
        steps={"long": 8, "short": 4},
    )
    said = refused(capsys, source, "dpo", suffix=".jsonl")
    assert "no two traces of one task have different scores" in said
    assert "Left out: 1 ties." in said


def test_of_two_wrong_runs_the_one_that_went_wrong_later_by_its_share_is_the_better_one(tmp_path: Path) -> None:
    """Three right steps of four are more than five of eight, and one of three ties with two of six."""
    source = judged(
        tmp_path,
        record("five of eight", "ann", first_error(5, 8)),
        record("three of four", "ann", first_error(3, 4)),
        record("one of three", "ann", first_error(1, 3)),
        record("two of six", "ann", first_error(2, 6)),
        record("none of two", "ann", first_error(0, 2)),
        steps={"five of eight": 8, "three of four": 4, "one of three": 3, "two of six": 6, "none of two": 2},
    )
    better = {(row["chosen_trace_id"], row["rejected_trace_id"]): row for row in rows_of(source)}
    assert ("three of four", "five of eight") in better
    assert ("five of eight", "two of six") in better
    assert not {("one of three", "two of six"), ("two of six", "one of three")} & better.keys()
    assert better["one of three", "none of two"]["rejected_score"] == 0.0
    assert manifest_of(source)["left_out"] == {"ties": 1}
    assert "uneven_lengths" not in manifest_of(source)["counts"], "the share already says nothing of the length"


def test_a_run_that_is_wrong_from_its_first_step_is_one_and_not_unrated(tmp_path: Path) -> None:
    source = judged(tmp_path, record("one", "ann", first_error(0)), record("two", "ann", first_error(1)))
    (row,) = rows_of(source)
    assert (row["chosen_trace_id"], row["chosen_score"], row["rejected_score"]) == ("two", 1 / 3, 0.0)


def test_scores_of_two_modes_are_never_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    by_one = judged(tmp_path, record("one", "ann", first_error(None)), record("two", "ann", per_step(-1.0, -1.0, -1.0)))
    assert "Left out: 1 of two modes." in refused(capsys, by_one, "dpo", suffix=".jsonl")
    (tmp_path / "other").mkdir()
    by_two = judged(
        tmp_path / "other", record("one", "ann", first_error(None)), record("two", "bob", per_step(-1.0, -1.0, -1.0))
    )
    assert "Left out: 1 of two modes." in refused(capsys, by_two, "dpo", suffix=".jsonl")


# --- rated steps ---


def test_a_sum_is_the_documented_score_and_a_mean_does_not_grow_with_the_length(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = judged(
        tmp_path,
        record("long", "ann", per_step(1.0, 1.0, 1.0, 1.0, 1.0, 1.0, -1.0, 0.5)),
        record("short", "ann", per_step(1.0, None, 1.0, 1.0)),
        steps={"long": 8, "short": 4},
    )
    (row,) = rows_of(source)
    assert (row["chosen_trace_id"], row["chosen_score"], row["rejected_score"]) == ("long", 5.5, 3.0)
    said = capsys.readouterr().err
    assert "In 1 of 1 pairs the longer run has over one and a half times the steps" in said
    assert "--score mean" in said
    (row,) = rows_of(source, "--score", "mean")
    assert (row["chosen_trace_id"], row["chosen_score"], row["rejected_score"]) == ("short", 1.0, 5.5 / 8)
    assert "--score mean" not in capsys.readouterr().err
    assert manifest_of(source)["counts"] == {"pairs_within": 1, "uneven_lengths": 1}
    assert manifest_of(source, "--score", "mean")["options"]["score"] == "mean"


@pytest.mark.parametrize(("long", "is_uneven"), [(4, False), (6, False), (7, True)])
def test_lengths_differ_too_much_where_one_run_is_over_one_and_a_half_times_the_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], long: int, is_uneven: bool
) -> None:
    source = judged(
        tmp_path,
        record("long", "ann", per_step(*[1.0] * long)),
        record("short", "ann", per_step(1.0, 1.0, 1.0, -1.0)),
        steps={"long": long, "short": 4},
    )
    counts = manifest_of(source)["counts"]
    assert ("uneven_lengths" in counts) == is_uneven
    assert ("times the steps" in capsys.readouterr().err) == is_uneven


def test_a_run_whose_steps_are_worth_nothing_is_rated_all_the_same(tmp_path: Path) -> None:
    source = judged(
        tmp_path, record("one", "ann", per_step(0.0, 0.0, 0.0)), record("two", "ann", per_step(0.0, -0.5, None))
    )
    (row,) = rows_of(source)
    assert (row["chosen_trace_id"], row["chosen_score"]) == ("one", 0.0)


# --- who judged ---


def test_with_one_annotator_a_run_the_documented_command_compares_their_judgements_and_says_so(tmp_path: Path) -> None:
    source = judged(tmp_path, record("one", "ann", first_error(None)), record("two", "bob", first_error(1)))
    flags = ("-i", "output/", "-f", "dpo", "-o", "results/dpo_pairs.jsonl", "--min-score-gap", "0.5")
    done = without_django(*flags, cwd=source.parent)
    assert done.returncode == 0, done.stderr
    assert "1 of 1 pairs compare the means of different annotators" in done.stderr
    (row,) = json_lines((source.parent / "results/dpo_pairs.jsonl").read_bytes())
    assert (row["pairing"], row["chosen_annotator"], row["rejected_annotator"]) == ("across", "ann", "bob")
    assert manifest_of(source)["counts"] == {"pairs_across": 1}


def test_runs_that_nobody_judged_both_are_compared_by_the_means_over_their_annotators(tmp_path: Path) -> None:
    source = judged(
        tmp_path,
        record("one", "ann", per_step(1.0, 1.0, 1.0)),
        record("one", "bob", per_step(1.0, -1.0, -1.0)),
        record("two", "cyd", per_step(0.5, 0.5, 0.5)),
    )
    (row,) = rows_of(source)
    assert (row["chosen_trace_id"], row["chosen_score"], row["rejected_score"]) == ("two", 1.5, 1.0)
    assert (row["chosen_annotators"], row["rejected_annotators"]) == (["cyd"], ["ann", "bob"])
    assert (row["chosen_annotator"], row["rejected_annotator"]) == ("cyd", None)


def test_runs_that_one_annotator_judged_both_are_compared_within_that_annotator_alone(tmp_path: Path) -> None:
    """bob judged both, and finds the second one better; ann and cyd, of one run each, do not outvote him."""
    source = judged(
        tmp_path,
        record("one", "ann", first_error(None)),
        record("one", "bob", first_error(1)),
        record("two", "bob", first_error(2)),
        record("two", "cyd", first_error(0)),
    )
    (row,) = rows_of(source)
    assert (row["pairing"], row["chosen_trace_id"], row["chosen_annotators"]) == ("within", "two", ["bob"])


def test_judgements_of_nobody_known_may_be_of_two_people(tmp_path: Path) -> None:
    """As the documentation prints its results: without an annotator."""
    said = [{"id": name, "annotations": {"process_reward": first_error(at)}} for name, at in (("a", None), ("b", 1))]
    (row,) = rows_of(judged(tmp_path, *said))
    assert (row["pairing"], row["chosen_annotator"], row["rejected_annotator"]) == ("across", "unknown", "unknown")


def test_pairs_within_leaves_out_what_nobody_judged_both_of(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = judged(
        tmp_path,
        record("one", "ann", first_error(None)),
        record("two", "ann", first_error(1)),
        record("three", "bob", first_error(0)),
    )
    assert manifest_of(source)["counts"] == {"pairs_within": 1, "pairs_across": 2}
    assert pairs(rows_of(source, "--pairs", "within")) == [("ann", "one", "two")]
    said = manifest_of(source, "--pairs", "within")
    assert said["left_out"] == {"across_annotators": 2, "without_partner": 1}
    assert said["counts"] == {"pairs_within": 1}
    (tmp_path / "alone").mkdir()
    alone = judged(tmp_path / "alone", record("one", "ann", first_error(None)), record("two", "bob", first_error(1)))
    said = refused(capsys, alone, "dpo", "--pairs", "within", suffix=".jsonl")
    assert "no two traces of one task have different scores by one annotator" in said


def test_an_adjudicated_judgement_takes_the_place_of_an_annotator_s_own(tmp_path: Path) -> None:
    source = judged(
        tmp_path,
        record("alpha", "ann", first_error(None)),
        record("beta", "ann", first_error(2)),
        record("gamma", "ann", first_error(None)),
        record("delta", "bob", first_error(None)),
        record("alpha", "zoe", first_error(0), kind="adjudication"),
        record("gamma", "zoe", first_error(1), kind="adjudication"),
    )
    found = {
        (row["chosen_trace_id"], row["rejected_trace_id"]): (row["pairing"], row["chosen_score"], row["rejected_score"])
        for row in rows_of(source)
    }
    assert found == {
        ("gamma", "alpha"): ("within", 1 / 3, 0.0),
        ("beta", "alpha"): ("within", 2 / 3, 0.0),
        ("beta", "gamma"): ("within", 2 / 3, 1 / 3),
        # delta was judged by bob alone; the others are what zoe says of them, or ann.
        ("delta", "alpha"): ("across", 1.0, 0.0),
        ("delta", "beta"): ("across", 1.0, 2 / 3),
        ("delta", "gamma"): ("across", 1.0, 1 / 3),
    }
    assert pairs(rows_of(source, "--resolve", "adjudicated")) == [("zoe", "gamma", "alpha")]


def test_two_adjudicated_runs_are_one_pair_however_many_annotators_judged_both(tmp_path: Path) -> None:
    own = [record(run, who, first_error(None)) for run in ("one", "two") for who in ("ann", "bob")]
    final = [record("one", "zoe", first_error(1), kind="adjudication")]
    final += [record("two", "yan", first_error(2), kind="adjudication")]
    (row,) = rows_of(judged(tmp_path, *own, *final))
    assert (row["pairing"], row["chosen_annotator"], row["rejected_annotator"]) == ("across", "yan", "zoe")


def test_means_are_of_one_scale(tmp_path: Path) -> None:
    """Shares of steps and sums of scores make no mean together: bob's sum is compared with cyd's alone."""
    source = judged(
        tmp_path,
        record("one", "ann", first_error(None)),
        record("one", "bob", per_step(0.5, 0.5, 0.5)),
        record("two", "cyd", per_step(1.0, 0.5, -0.25)),
    )
    (row,) = rows_of(source)
    assert (row["chosen_score"], row["chosen_annotators"], row["rejected_score"]) == (1.5, ["bob"], 1.25)


def exact(score: float) -> Fraction:
    return Fraction(str(score))


SCORES = st.sampled_from([1.0, 0.5, 0.25, 0.1, 0.0, -0.5, -1.0])
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
    given = {(number, who): sum(map(exact, scores), Fraction(0)) for number, who, scores in judged}
    expected = set()
    for one, other in combinations(sorted({number for number, _ in given}), 2):
        if tasks[one] != tasks[other]:
            continue
        both = [who for who in "abc" if (one, who) in given and (other, who) in given]
        compared = [(f"within {who}", given[one, who], given[other, who]) for who in both]
        if not both:
            of = {run: [score for (number, _), score in given.items() if number == run] for run in (one, other)}
            first, second = (sum(of[run], Fraction(0)) / len(of[run]) for run in (one, other))
            compared = [("across", first, second)]
        for name, first, second in compared:
            if first != second and abs(first - second) >= exact(gap):
                better, worse = (one, other) if first > second else (other, one)
                expected.add((name, f"t{better}", f"t{worse}", float(abs(first - second))))
    if not expected:
        with pytest.raises(SystemExit):
            exported(source, "dpo", ".jsonl", "--min-score-gap", str(gap))
        return
    rows = rows_of(source, "--min-score-gap", str(gap))
    found = [
        (
            row["pairing"] if row["pairing"] == "across" else f"within {row['chosen_annotator']}",
            row["chosen_trace_id"],
            row["rejected_trace_id"],
            row["margin"],
        )
        for row in rows
    ]
    assert (len(found), set(found)) == (len(expected), expected)
