"""What `records_parquet` and `hf_dataset` write: tables that pyarrow reads, and a data set with card and splits."""

import hashlib
import io
import json
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from potato.commands.export import main
from potato.formats import parquet
from potato.formats.dataset_splits import (
    IDENTITIES,
    SPLITS,
    Rows,
    identity,
    shared_identities,
    split_rows,
    with_identities,
)
from potato.runs.model import AgentRun, Step
from tests.hostile import HOSTILE
from tests.potato.formats.files import WITHOUT_DJANGO, exported, folder, refused
from tests.potato.formats.rewarded import RECORDS, RUNS, first_error
from tests.potato.formats.rewarded import record as judged
from tests.potato.formats.test_formats import record, run
from tests.review.documented_record import RECORD

CONFIGURATION = """\
task_name: "Reviews: *of* agents"
annotation_schemes:
  - {name: process_reward, annotation_type: process_reward, mode: first_error}
  - name: verdict
    annotation_type: code_review_verdict
    verdict: {require_summary: false, summary_min_length: 0}
"""


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return folder(tmp_path / "output", [record(), *RECORDS], run(), *RUNS)


def table(source: Path, *flags: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = pq.read_table(
        io.BytesIO(exported(source, "records_parquet", ".parquet", *flags))
    ).to_pylist()
    return rows


# --- records_parquet ---


def test_pyarrow_reads_a_row_of_every_record_with_typed_columns(source: Path) -> None:
    review, alpha, *_ = rows = table(source)
    assert len(rows) == 1 + len(RECORDS)
    assert (review["id"], review["annotator"], review["verdict"]) == ("trace_042", "reviewer_01", "request_changes")
    assert review["timestamp"].isoformat() == "2025-01-15T14:30:00+00:00"
    assert [(one["file"], one["line_start"], one["severity"]) for one in review["comments"]] == [
        ("src/parser.py", 42, "critical"),
        ("src/parser.py", 15, "nit"),
        ("tests/test_parser.py", 28, None),
    ]
    assert review["file_ratings"][0] == {"file": "src/parser.py", "dimension": "correctness", "rating": 3.0}
    assert review["step_rewards"] is None
    assert (alpha["reward_mode"], alpha["step_rewards"], alpha["first_error_step"]) == ("first_error", [1, 1, 1], None)
    assert [row["step_rewards"] for row in rows if row["id"] == "beta"] == [[1.0, None, -1.0], [1.0, 0.25, -0.5]]
    assert json.loads(review["annotations"]) == RECORD["annotations"]


def test_every_text_is_exact_in_the_whole_annotation_and_readable_in_its_column(tmp_path: Path) -> None:
    texts = [*HOSTILE, "lone \udcff", "nul \0", "\ud83d\ude00"]
    comments = [{"file": text, "line_start": 1, "comment": text} for text in texts]
    strange = {"file": 1, "line_start": "x", "line_end": 2**40, "comment": None, "unsure": "no"}
    made = record(annotations={"inline_comments": [*comments, strange]}, timestamp="yesterday")
    (row,) = table(folder(tmp_path / "output", [made], run()))
    got = [one["comment"] for one in json.loads(row["annotations"])["inline_comments"][:-1]]
    assert [json.dumps(text) for text in got] == [json.dumps(text) for text in texts]
    mended = [text.encode("utf-16", "surrogatepass").decode("utf-16", "replace") for text in texts]
    assert [one["comment"] for one in row["comments"][:-1]] == mended
    assert set(row["comments"][-1].values()) == {None}
    assert row["timestamp"] is None


def test_a_file_is_the_same_bytes_each_time_and_its_groups_end_by_rows_and_by_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = folder(tmp_path / "output", [record(annotator=f"a{number}") for number in range(25)], run())
    first = exported(source, "records_parquet", ".parquet")
    assert exported(source, "records_parquet", ".parquet") == first
    monkeypatch.setattr(parquet, "GROUP_ROWS", 10)
    file = pq.ParquetFile(io.BytesIO(exported(source, "records_parquet", ".parquet")))
    assert [file.metadata.row_group(number).num_rows for number in range(file.num_row_groups)] == [10, 10, 5]
    monkeypatch.setattr(parquet, "GROUP_BYTES", 1)
    file = pq.ParquetFile(io.BytesIO(exported(source, "records_parquet", ".parquet")))
    assert file.num_row_groups == 25
    assert [row["annotator"] for row in file.read().to_pylist()] == [f"a{number}" for number in range(25)]


@pytest.mark.parametrize(
    ("format", "missing", "sentence"),
    [
        ("records_parquet", "pyarrow", 'with pyarrow, which is missing: pip install "potato-review[parquet]"'),
        ("hf_dataset", "numpy", 'with numpy, which is missing: pip install "potato-review[agreement]"'),
    ],
)
def test_without_the_extra_a_sentence_says_what_to_install(
    format: str, missing: str, sentence: str, source: Path, tmp_path: Path
) -> None:
    program = f"""
import importlib.util, runpy, sys
find = importlib.util.find_spec
importlib.util.find_spec = lambda name, package=None: None if name == {missing!r} else find(name, package)
sys.argv = ["potato.export", "-i", {str(source)!r}, "-f", {format!r}, "-o", "out.zip"]
runpy.run_module("potato.export", run_name="__main__")
"""
    command = [sys.executable, "-c", WITHOUT_DJANGO + program]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    assert sentence in done.stderr
    assert not (tmp_path / "out.zip").exists()


def test_nothing_is_no_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = folder(tmp_path / "output", [], run())
    assert "The export selects nothing" in refused(capsys, source, "records_parquet", suffix=".parquet")
    lonely = folder(tmp_path / "lonely", [record("nowhere")], run())
    said = refused(capsys, lonely, "hf_dataset", suffix=".zip")
    assert "Left out: 1 without trace." in said


# --- hf_dataset ---


def of_repositories(many: int) -> tuple[list[dict[str, Any]], list[AgentRun]]:
    """A run of each repository, judged by two people."""
    runs = [
        AgentRun(f"t{number}", f"Task {number}", steps=(Step(f"Act {number}"),), repo=f"acme/r{number}")
        for number in range(many)
    ]
    records = [
        judged(made.external_id, name, first_error(None, 1), verdict="approve", configuration_version=1)
        for made in runs
        for name in ("ann", "bob")
    ]
    return records, runs


def data_set(source: Path, *flags: str) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(exported(source, "hf_dataset", ".zip", *flags))) as packed:
        return {name: packed.read(name) for name in packed.namelist()}


def rows_of(files: dict[str, bytes]) -> dict[str, list[dict[str, Any]]]:
    return {
        name.split("/")[1].split("-")[0]: pq.read_table(io.BytesIO(data)).to_pylist()
        for name, data in files.items()
        if name.startswith("data/")
    }


def test_the_folder_has_data_card_guidelines_and_metadata(tmp_path: Path) -> None:
    records, runs = of_repositories(20)
    source = folder(tmp_path / "output", records, *runs)
    (source / "configurations.jsonl").write_text(
        json.dumps({"version": 1, "source": CONFIGURATION, "note": "First | <b>try</b>"}) + "\n"
    )
    files = data_set(source, "--license", "cc-by-4.0")
    assert list(files) == [
        *(f"data/{split}-00000-of-00001.parquet" for split in SPLITS),
        "guidelines/version-1.yaml",
        "croissant.json",
        "README.md",
    ]
    assert {split: len(rows) for split, rows in rows_of(files).items()} == {"train": 32, "validation": 4, "test": 4}
    assert files["guidelines/version-1.yaml"].decode() == CONFIGURATION
    text = files["README.md"].decode()
    metadata = yaml.safe_load(text.split("---")[1])
    assert (metadata["license"], metadata["pretty_name"]) == ("cc-by-4.0", "Reviews: *of* agents")
    assert metadata["configs"][0]["data_files"] == [
        {"split": split, "path": f"data/{split}-00000-of-00001.parquet"} for split in SPLITS
    ]
    assert "# Reviews: \\*of\\* agents" in text
    assert "| 1 | `guidelines/version-1.yaml` | 40 | First \\| \\<b\\>try\\</b\\> |" in text
    assert "| Verdict (verdict) | Same choice | 1.00 | 1.00 to 1.00 | 20 |" in text
    assert "Nothing that tells an answer stands in two splits." in text
    about = json.loads(files["croissant.json"])
    for entry in about["distribution"]:
        assert entry["sha256"] == hashlib.sha256(files[entry["contentUrl"]]).hexdigest()
        assert entry["contentSize"] == f"{len(files[entry['contentUrl']])} B"
    assert {name for name in about if name.startswith("rai:")} >= {
        "rai:dataCollection", "rai:dataBiases", "rai:dataLimitations", "rai:dataUseCases", "rai:dataSocialImpact",
        "rai:dataAnnotationProtocol", "rai:dataReleaseMaintenancePlan", "rai:personalSensitiveInformation",
    }  # fmt: skip


def test_a_folder_gets_the_files_of_the_zip_and_loses_those_of_an_earlier_one(tmp_path: Path) -> None:
    records, runs = of_repositories(20)
    source = folder(tmp_path / "output", records, *runs)
    target = tmp_path / "set"
    assert main(["-i", str(source), "-f", "hf_dataset", "-o", str(target)]) == 0
    packed = data_set(source)
    assert {name: (target / name).read_bytes() for name in packed} == packed
    one = folder(tmp_path / "one", records[:2], *runs)
    assert main(["-i", str(one), "-f", "hf_dataset", "-o", str(target)]) == 0
    assert [path.name for path in (target / "data").iterdir()] == ["train-00000-of-00001.parquet"]


def test_a_repository_is_in_one_split_and_what_leaks_all_the_same_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Twenty forks with one task, whose runs did the same."""
    runs = [
        AgentRun(f"t{at}", "One  task" if at % 2 else "one task", (Step("Act"),), repo=f"r{at}") for at in range(20)
    ]
    records = [judged(made.external_id, "ann", verdict="approve") for made in runs]
    source = folder(tmp_path / "output", records, *runs)
    files = data_set(source)
    splits = {row["repository"]: split for split, rows in rows_of(files).items() for row in rows}
    assert len(splits) == 20
    said = capsys.readouterr().err
    assert "The splits are not independent. In more than one of them: 1 task, 1 run." in said
    assert "The card states no licence" in said
    assert "**The splits are not independent.**" in files["README.md"].decode()
    together = data_set(source, "--split-by", "task")
    assert list(rows_of(together)) == ["train"]
    assert "There is one split alone." in capsys.readouterr().err


def test_the_splits_of_tasks_keep_a_task_together_over_runs_and_models(source: Path) -> None:
    found = rows_of(data_set(source, "--split-by", "task", "--validation-share", "0"))
    assert set(found) == {"train", "test"}
    tasks = {split: {row["task_id"] for row in rows} for split, rows in found.items()}
    assert not tasks["train"] & tasks["test"]


@example([0, 0, 0, 1, 2], 0.4375, 0.25)
@given(
    groups=st.lists(st.integers(0, 12), min_size=1, max_size=60),
    test=st.floats(0, 0.5, exclude_max=True),
    validation=st.floats(0, 0.5, exclude_max=True),
)
@settings(max_examples=200, deadline=None)
def test_no_group_is_in_two_splits_and_train_is_never_empty(groups: list[int], test: float, validation: float) -> None:
    lines = [with_identities(dict.fromkeys(IDENTITIES, identity(f"g{group}")), b"{}\n") for group in groups]
    rows = Rows.read(lines)
    splits = split_rows(rows, {"test": test, "validation": validation})
    assert shared_identities(rows, splits) == dict.fromkeys(IDENTITIES, 0)
    assert splits.rows("train") > 0
    assert sum(splits.rows(split) for split in SPLITS) == len(groups)
    if len(set(groups)) < 3:
        assert splits.filled == ["train"]
    else:
        assert (splits.rows("test") > 0) == (test > 0)
        assert (splits.rows("validation") > 0) == (validation > 0)


@pytest.mark.parametrize(
    ("flags", "sentence"),
    [
        (["--license", "CC BY"], "license: "),
        (["--test-share", "0.6", "--validation-share", "0.4"], "leave nothing to train on"),
        (["--test-share", "1"], "test_share: "),
    ],
)
def test_a_choice_that_makes_no_data_set_is_refused(
    flags: list[str], sentence: str, source: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert sentence in refused(capsys, source, "hf_dataset", *flags, suffix=".zip")
