"""The offline command: what it reads, how it answers, and that it needs neither Django nor a database."""

import json
from pathlib import Path
from typing import Any

import pytest

from potato.analysis import load_annotations, process_reward_stats
from potato.commands.export import main
from potato.formats.registry import formats
from potato.runs.model import AgentRun, Step
from tests.potato.configuration.documented_configurations import COMPLETE
from tests.potato.formats.files import exported, folder, json_lines, lines, without_django
from tests.potato.formats.test_formats import record, run
from tests.review.documented_record import RECORD
from tests.rewards import documented_results as documented_rewards

COMMANDS = [
    ("code_review", "results/reviews.jsonl"),
    ("code_review_comments", "results/comments.jsonl"),
    ("code_review_file_ratings", "results/file_ratings.csv"),
    ("code_review_verdicts", "results/verdicts.json"),
]


@pytest.mark.parametrize(("format", "output"), COMMANDS)
def test_the_documented_commands_run_without_django(tmp_path: Path, format: str, output: str) -> None:
    source = folder(tmp_path / "output", [RECORD], run(), configuration=COMPLETE)
    done = without_django("-i", "output/", "-f", format, "-o", output, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert f"{output}: " in done.stdout
    assert (tmp_path / output).read_bytes() == exported(source, format)


def test_the_archive_too_needs_no_django(tmp_path: Path) -> None:
    folder(tmp_path / "output", [RECORD], run(), configuration=COMPLETE)
    done = without_django("-i", "output", "-f", "archive", "-o", "all.zip", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    done = without_django("-i", "all.zip", "-f", "code_review", "-o", "reviews.jsonl", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert json_lines((tmp_path / "reviews.jsonl").read_bytes()) == [RECORD]


def test_the_documented_record_is_read_as_it_is_printed(tmp_path: Path) -> None:
    path = tmp_path / "record.json"
    path.write_text(json.dumps(RECORD, indent=2))
    assert json_lines(exported(path, "code_review")) == [RECORD]
    path.write_text(json.dumps([RECORD, record("b")], indent=2))
    assert [row["id"] for row in json_lines(exported(path, "code_review"))] == ["trace_042", "b"]


@pytest.mark.parametrize("part", [documented_rewards.FIRST_ERROR, documented_rewards.PER_STEP])
def test_the_documented_output_of_process_rewards_is_read_as_it_is_printed(tmp_path: Path, part: Any) -> None:
    """It has neither an annotator nor a timestamp: both are unknown, and every format says so."""
    printed = {"id": "trace_042", "annotations": {"process_reward": part}}
    steps = tuple(Step(message=f"Step {at}") for at in range(part["total_steps"]))
    source = folder(tmp_path / "output", [printed], AgentRun("trace_042", "Fix the parser", steps=steps))
    assert json_lines(exported(source, "code_review")) == [
        {"id": "trace_042", "annotator": "unknown", "timestamp": "unknown", **printed}
    ]
    (row,) = json_lines(exported(source, "prm"))
    assert (row["trace_id"], row["annotator"], row["rewards"]) == ("trace_042", "unknown", part["labels"])
    (loaded,) = load_annotations(source)
    assert (loaded["annotator"], loaded["timestamp"]) == ("unknown", "unknown")
    assert process_reward_stats([loaded])["total_traces"] == process_reward_stats([printed])["total_traces"] == 1
    archive = tmp_path / "all.zip"
    assert main(["-i", str(source), "-f", "archive", "-o", str(archive)]) == 0
    assert json_lines(exported(archive, "code_review"))[0]["annotator"] == "unknown"


def test_an_annotation_without_a_time_is_never_the_latest(tmp_path: Path) -> None:
    records = [record("a", "known"), {**record("a", "timeless"), "timestamp": None}]
    source = lines(tmp_path / "records.jsonl", records)
    assert [row["annotator"] for row in json_lines(exported(source, "code_review", "", "--resolve", "latest"))] == [
        "known"
    ]


def test_without_traces_what_only_they_know_is_left_open(tmp_path: Path) -> None:
    source = folder(tmp_path / "output", [RECORD])
    row = json_lines(exported(source, "code_review_comments"))[0]
    assert (row["task_description"], row["diff_hunk"], row["commented_text"]) == (None, None, None)
    assert b"src/parser.py,,3,2" in exported(source, "code_review_file_ratings")
    assert list(json.loads(exported(source, "code_review_verdicts"))["by_agent_model"]) == ["unknown"]


@pytest.mark.parametrize(
    ("made", "format", "says"),
    [
        ([], "code_review", "there is no annotation"),
        ([record(annotations={})], "code_review_comments", "no annotation has a comment"),
        ([record(annotations={})], "code_review_file_ratings", "no annotation has a rated file"),
        ([record(annotations={})], "code_review_verdicts", "no annotation has a verdict"),
        ([], "archive", "there is no annotation"),
    ],
)
def test_an_empty_selection_says_so_and_writes_nothing(
    tmp_path: Path, made: list[object], format: str, says: str
) -> None:
    folder(tmp_path / "output", made)
    done = without_django("-i", "output", "-f", format, "-o", "results/file", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr == f"The export selects nothing: {says}. Nothing was written.\n"
    assert list((tmp_path / "results").rglob("*")) in ([], [tmp_path / "results" / "file"])
    assert not [path for path in (tmp_path / "results").rglob("*") if path.is_file()]


def test_an_export_that_fails_leaves_the_earlier_file_as_it_is(tmp_path: Path) -> None:
    source = lines(tmp_path / "records.jsonl", [RECORD])
    before = exported(source, "code_review")
    source.write_text(json.dumps(RECORD) + "\n{broken\n")
    with pytest.raises(SystemExit):
        exported(source, "code_review")
    assert (tmp_path / "written-code_review").read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["records.jsonl", "written-code_review"]


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        (["-f", "prn", "-o", "x"], f"'prn' is no export format. The formats are: {', '.join(formats())}."),
        (["-o", "x"], "Say which format with -f."),
        (["-f", "code_review"], "Say where to write with -o FILE."),
        (["-f", "code_review", "-o", "x", "--resolve", "majority"], "There is no majority of single annotations"),
        (["-f", "code_review", "-o", "x", "--resolve", "best"], "resolve: Input should be 'all', 'adjudicated'"),
        (["-f", "archive", "-o", "x", "--resolve", "all"], "resolve is not an option of this format."),
        (["-f", "code_review", "--config", "config.yaml"], "only an archive goes into the folder of config.yaml"),
    ],
)
def test_flags_that_cannot_be_understood_exit_2_and_say_why(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], flags: list[str], says: str
) -> None:
    source = lines(tmp_path / "records.jsonl", [RECORD])
    with pytest.raises(SystemExit) as ended:
        main(["-i", str(source), *flags])
    assert ended.value.code == 2
    assert says in capsys.readouterr().err


def test_the_help_names_every_value_of_an_option_that_some_formats_restrict(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    assert "the latest of each trace, what the majority says, what annotators say weighted" in " ".join(
        capsys.readouterr().out.split()
    )


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ('{"annotator": "a"}\n', "records.jsonl line 1: id must be text."),
        ('{"id": "a"}\n', "records.jsonl line 1: annotations must be an object"),
        ('{"id": "a", "annotator": 7}\n', "records.jsonl line 1: annotator must be text, or left out"),
        ('{"id": "a", "timestamp": []}\n', "records.jsonl line 1: timestamp must be text, or left out"),
        ('{"id": "a", "annotator": "b", "timestamp": "c", "annotations": []}\n', "annotations must be an object"),
        (json.dumps(RECORD) + "\n[]\n", "records.jsonl line 2 is not a JSON object"),
        (json.dumps(RECORD) + '\n{"id": NaN}\n', "NaN is no number of JSON"),
        (json.dumps(record(trace_version=0)), "trace_version and configuration_version must be whole numbers"),
        (json.dumps(record(kind="best")), "kind must be one of normal, gold, adjudication"),
        ("nonsense", "records.jsonl is not JSON: Expecting value at line 1"),
        (json.dumps(record(annotations={"verdict": []})), "verdict of the record"),
    ],
)
def test_files_that_hold_no_records_are_named_with_the_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str, says: str
) -> None:
    path = tmp_path / "records.jsonl"
    path.write_text(content)
    with pytest.raises(SystemExit) as ended:
        exported(path, "code_review_verdicts")
    assert ended.value.code == 1
    assert says in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["records.jsonl"]


def test_a_broken_configuration_is_told_with_its_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = folder(tmp_path / "output", [RECORD], configuration="task_name: X\nguidlines: hm\n")
    with pytest.raises(SystemExit) as ended:
        exported(source, "code_review")
    assert ended.value.code == 1
    assert "config.yaml, line 2, column 1: error: guidlines is not a key" in capsys.readouterr().err


def test_adjudicated_annotations_are_chosen_and_missed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = lines(tmp_path / "records.jsonl", [record("a"), record("b", kind="adjudication")])
    assert [row["id"] for row in json_lines(exported(source, "code_review", "", "--resolve", "adjudicated"))] == ["b"]
    lines(source, [record("a")])
    with pytest.raises(SystemExit) as ended:
        exported(source, "code_review", "", "--resolve", "adjudicated")
    assert ended.value.code == 1
    assert "has no adjudicated annotation" in capsys.readouterr().err


def test_without_an_output_the_archive_goes_where_the_configuration_says(tmp_path: Path) -> None:
    packed = tmp_path / "all.zip"
    source = folder(tmp_path / "given", [RECORD], run(), configuration=COMPLETE)
    assert main(["-i", str(source), "-f", "archive", "-o", str(packed)]) == 0
    project = tmp_path / "project"
    project.mkdir()
    (project / "config.yaml").write_text(COMPLETE)
    assert main(["-i", str(packed), "--config", str(project / "config.yaml")]) == 0
    assert sorted(path.name for path in (project / "output").iterdir()) == [
        "annotations.jsonl",
        "config.yaml",
        "manifest.json",
        "traces.jsonl",
    ]
    assert exported(project / "output", "code_review_comments") == exported(source, "code_review_comments")


def test_the_folder_of_a_configuration_is_inside_its_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = lines(tmp_path / "records.jsonl", [RECORD])
    project = tmp_path / "project"
    project.mkdir()
    (project / "link").symlink_to(tmp_path)
    (project / "config.yaml").write_text("task_name: X\noutput_annotation_dir: link/elsewhere\n")
    with pytest.raises(SystemExit) as ended:
        main(["-i", str(source), "--config", str(project / "config.yaml")])
    assert ended.value.code == 1
    assert "lies outside its folder" in capsys.readouterr().err
    assert not (tmp_path / "elsewhere").exists()


def test_the_manifest_says_what_was_written_and_how_it_was_chosen(tmp_path: Path) -> None:
    source = lines(tmp_path / "records.jsonl", [RECORD])
    data = exported(source, "code_review_comments", "", "--manifest", str(tmp_path / "manifest.json"))
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    assert manifest["options"] == {"resolve": "all"}
    assert (manifest["format"], manifest["rows"], manifest["bytes"]) == ("code_review_comments", 3, len(data))
