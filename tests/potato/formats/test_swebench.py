"""What `swebench` writes: the files of SWE-bench's harness, with outcomes that are people's judgements."""

import io
import json
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from potato.commands.export import main
from tests.potato.formats.files import exported, folder, json_lines
from tests.potato.formats.rewarded import HOSTILE, RECORDS, RUNS, first_error, per_step, record, run

KINDS = (
    "submitted",
    "completed",
    "resolved",
    "unresolved",
    "infra_failure",
    "ambiguous_failure",
    "empty_patch",
    "error",
)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return folder(tmp_path / "output", RECORDS, *RUNS)


def unpacked(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as packed:
        assert packed.testzip() is None
        return {name: packed.read(name) for name in packed.namelist()}


def report_again(files: dict[str, bytes], folder: str) -> dict[str, Any]:
    """The run report as the harness makes it: of the predictions, the data set and the reports of the instances."""
    predictions = {row["instance_id"]: row for row in json_lines(files[f"predictions/{folder}.jsonl"])}
    ids: dict[str, set[str]] = {kind: set() for kind in (*KINDS, "incomplete")}
    ids["submitted"] = set(predictions)
    instances = [row["instance_id"] for row in json_lines(files["dataset.jsonl"])]
    for instance in instances:
        if instance not in predictions:
            ids["incomplete"].add(instance)
        elif predictions[instance]["model_patch"] in ("", None):
            ids["empty_patch"].add(instance)
        else:
            model = predictions[instance]["model_name_or_path"].replace("/", "__")
            name = f"logs/run_evaluation/human/{model}/{instance}/report.json"
            if name not in files:
                ids["error"].add(instance)
                continue
            ids["completed"].add(instance)
            ids["resolved" if json.loads(files[name])[instance]["resolved"] else "unresolved"].add(instance)
    counts = {f"{kind}_instances": len(ids[kind]) for kind in KINDS}
    return {
        "total_instances": len(instances),
        **counts,
        **{f"{kind}_ids": sorted(found) for kind, found in ids.items()},
        "failure_reasons": {},
        "schema_version": 2,
    }


def test_the_reports_in_the_zip_count_what_its_other_files_say(source: Path) -> None:
    files = unpacked(exported(source, "swebench", ".zip"))
    kinds: set[str] = set()
    for folder_name in ("model-a", "org__model-b"):
        report = json.loads(files[f"{folder_name}.human.json"])
        assert report == report_again(files, folder_name)
        kinds |= {kind for kind in (*KINDS, "incomplete") if report[f"{kind}_ids"]}
    assert kinds == {"submitted", "completed", "resolved", "unresolved", "empty_patch", "incomplete"}


def test_the_zip_has_the_files_of_the_harness_and_nothing_else(source: Path) -> None:
    files = unpacked(exported(source, "swebench", ".zip"))
    assert sorted(files) == [
        "README.md",
        "dataset.jsonl",
        "human_judgments.jsonl",
        "logs/run_evaluation/human/model-a/acme__manual-1/report.json",
        "logs/run_evaluation/human/model-a/acme__parser-1/report.json",
        "logs/run_evaluation/human/org__model-b/acme__parser-1/report.json",
        "logs/run_evaluation/human/org__model-b/acme__parser-2/report.json",
        "model-a.human.json",
        "org__model-b.human.json",
        "predictions/model-a.jsonl",
        "predictions/org__model-b.jsonl",
    ]
    predictions = json_lines(files["predictions/org__model-b.jsonl"])
    assert [list(row) for row in predictions] == [["instance_id", "model_name_or_path", "model_patch"]] * 2
    assert {row["model_name_or_path"] for row in predictions} == {"org/model-b"}
    # The harness splits lines at every sign that Unicode ends a line with.
    assert len(files["dataset.jsonl"].decode().splitlines()) == 5
    assert {row["FAIL_TO_PASS"] for row in json_lines(files["dataset.jsonl"])} == {"[]"}
    assert b"not the result of tests" in files["README.md"]


def test_judgements_name_who_said_what_by_which_rule(source: Path) -> None:
    files = unpacked(exported(source, "swebench", ".zip"))
    rows = json_lines(files["human_judgments.jsonl"])
    alpha = [row for row in rows if row["trace_id"] == "alpha"]
    assert [(row["annotator"], row["outcome"], row["rule"]) for row in alpha] == [
        ("ann", "resolved", "verdict"),
        ("bob", "resolved", "verdict"),
        ("cyd", "unresolved", "verdict"),
    ]
    assert alpha[0]["annotations"] == RECORDS[0]["annotations"]
    assert len(rows) == 10


def test_the_json_is_the_run_report_of_one_model_with_its_instances(source: Path) -> None:
    data = exported(source, "swebench", ".json", "--model", "org/model-b")
    report = json.loads(data)
    instances = report.pop("instances")
    assert [(one["instance_id"], one["resolved"]) for one in instances] == [
        ("acme__parser-1", False),
        ("acme__parser-2", True),
    ]
    assert list(instances[0]) == ["instance_id", "model_name_or_path", "model_patch", "resolved"]
    alone = unpacked(exported(source, "swebench", ".zip", "--model", "org/model-b"))
    assert json.loads(alone["org__model-b.human.json"]) == report


def test_an_approved_run_without_a_change_is_an_empty_patch_and_not_resolved(source: Path) -> None:
    """As SWE-bench counts it: a prediction that was submitted, with nothing to be resolved by."""
    report = json.loads(exported(source, "swebench", ".json", "--model", "model-a"))
    assert (report["empty_patch_ids"], report["empty_patch_instances"]) == (["acme__manual-2"], 1)
    assert "acme__manual-2" not in report["resolved_ids"] + report["unresolved_ids"] + report["completed_ids"]
    (empty,) = [one for one in report["instances"] if one["instance_id"] == "acme__manual-2"]
    assert (empty["model_patch"], empty["resolved"]) == ("", False)
    files = unpacked(exported(source, "swebench", ".zip"))
    assert "logs/run_evaluation/human/model-a/acme__manual-2/report.json" not in files
    rows = json_lines(files["human_judgments.jsonl"])
    assert [row["outcome"] for row in rows if row["instance_id"] == "acme__manual-2"] == ["resolved"], (
        "what people said"
    )


@pytest.mark.parametrize("patch", [b"", b"\n", b" \n\t\n"])
def test_a_patch_of_white_space_alone_is_empty(tmp_path: Path, patch: bytes) -> None:
    runs = [replace(run("one", instance="i", is_changed=False), patch=patch)]
    source = folder(tmp_path / "output", [record("one", "ann", verdict="approve")], *runs)
    report = json.loads(exported(source, "swebench", ".json"))
    assert (report["empty_patch_ids"], report["resolved_ids"]) == (["i"], [])
    assert report["instances"] == [
        {"instance_id": "i", "model_name_or_path": "model-a", "model_patch": "", "resolved": False}
    ]


def test_with_several_models_a_folder_gets_the_run_report_of_each(
    source: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = source.parent / "results" / "reports"
    assert main(["-i", str(source), "-f", "swebench", "-o", f"{target}/"]) == 0
    assert f"{target}: 7 rows of swebench" in capsys.readouterr().out
    assert sorted(path.name for path in target.iterdir()) == [
        "model-a.human.json",
        "org__model-b.human.json",
        "swebench.manifest.json",
    ]
    zipped = unpacked(exported(source, "swebench", ".zip"))
    for name in ("model-a.human.json", "org__model-b.human.json"):
        report = json.loads((target / name).read_text())
        assert {one["model_name_or_path"].replace("/", "__") for one in report.pop("instances")} == {
            name.removesuffix(".human.json")
        }
        assert report == json.loads(zipped[name])
    flags = ("-i", str(source), "-f", "swebench", "-o", str(target), "--model", "model-a")
    assert main(flags) == 0
    assert sorted(path.name for path in target.iterdir()) == ["model-a.human.json", "swebench.manifest.json"]


def test_a_folder_that_nothing_is_selected_for_is_not_made(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["-i", str(source), "-f", "swebench", "-o", str(source.parent / "reports"), "--model", "model-z"])
    assert "is of that model. Nothing was written." in capsys.readouterr().err
    assert not (source.parent / "reports").exists()


def test_a_tie_is_unresolved_and_a_comment_alone_is_neither(tmp_path: Path) -> None:
    votes = {"approve request_changes": "unresolved", "approve approve": "resolved", "comment_only": "incomplete"}
    runs = [run(f"r{number}", instance=f"i{number}") for number in range(len(votes))]
    records = [
        record(f"r{number}", f"p{place}", verdict=verdict)
        for number, given in enumerate(votes)
        for place, verdict in enumerate(given.split())
    ]
    report = json.loads(exported(folder(tmp_path / "output", records, *runs), "swebench", ".json"))
    for number, kind in enumerate(votes.values()):
        assert report[f"{kind}_ids"] == [f"i{number}"]
    assert [one["instance_id"] for one in report["instances"]] == ["i0", "i1"]


def test_without_verdicts_a_run_without_an_error_is_resolved(tmp_path: Path) -> None:
    records = [record("alpha", "ann", first_error(None)), record("gamma", "ann", first_error(2))]
    files = unpacked(exported(folder(tmp_path / "output", records, *RUNS), "swebench", ".zip"))
    assert json.loads(files["model-a.human.json"])["resolved_ids"] == ["acme__parser-1"]
    assert json.loads(files["org__model-b.human.json"])["unresolved_ids"] == ["acme__parser-2"]
    assert {row["rule"] for row in json_lines(files["human_judgments.jsonl"])} == {"process_reward"}


@pytest.mark.parametrize(
    ("threshold", "resolved"), [("0", ["acme__parser-1"]), ("0.25", []), ("0.2", ["acme__parser-1"])]
)
def test_the_threshold_says_which_step_is_wrong_enough_to_leave_a_run_unresolved(
    tmp_path: Path, threshold: str, resolved: list[str]
) -> None:
    source = folder(tmp_path / "output", [record("alpha", "ann", per_step(1.0, 0.25, 0.5))], *RUNS)
    report = json.loads(exported(source, "swebench", ".json", "--threshold", threshold))
    assert report["resolved_ids"] == resolved


def test_other_verdicts_need_their_meaning(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    records = [record("alpha", "ann", verdict="ship_it"), record("delta", "ann", verdict="meh")]
    source = folder(tmp_path / "output", records, *RUNS)
    with pytest.raises(SystemExit):
        exported(source, "swebench", ".json")
    assert "--resolved approve,accept" in capsys.readouterr().err
    report = json.loads(exported(source, "swebench", ".json", "--resolved", "ship_it, approve"))
    assert (report["resolved_ids"], report["unresolved_ids"]) == (["acme__parser-1"], ["acme__manual-1"])
    with pytest.raises(SystemExit):
        exported(source, "swebench", ".json", "--resolved", "shipit")
    assert "shipit is no verdict of this project." in capsys.readouterr().err


@pytest.mark.parametrize(
    ("suffix", "flags", "says"),
    [
        (
            ".json",
            (),
            "there are 2: model-a, org/model-b. Choose one with --model, export a ZIP, or give the command a ",
        ),
        (".txt", (), "must end in .json (the run report of one model) or in .zip (everything), or be a folder"),
        (".zip", ("--resolve", "all"), "SWE-bench has one outcome for an instance"),
        (".zip", ("--model", "model-z"), "is of that model. Nothing was written."),
    ],
)
def test_what_cannot_be_written_is_refused_with_a_sentence(
    source: Path, capsys: pytest.CaptureFixture[str], suffix: str, flags: tuple[str, ...], says: str
) -> None:
    with pytest.raises(SystemExit):
        exported(source, "swebench", suffix, *flags)
    assert says in capsys.readouterr().err
    assert not list(source.parent.glob("written-*"))


def test_names_that_are_no_file_names_stay_in_their_folder(tmp_path: Path) -> None:
    names = ["../../up", "/abs", "a\x00b", "", "..", "x" * 400, HOSTILE, "CON", "a/../b"]
    runs = [run(f"r{number}", model=name, instance=name) for number, name in enumerate(names)]
    records = [record(f"r{number}", "ann", verdict="approve") for number in range(len(names))]
    files = unpacked(exported(folder(tmp_path / "output", records, *runs), "swebench", ".zip"))
    assert all(".." not in name.split("/") and not name.startswith("/") for name in files)
    assert all(name.isascii() and name.isprintable() for name in files)
    folders = [name.removeprefix("predictions/").removesuffix(".jsonl") for name in files if "predictions/" in name]
    assert len(folders) == len(names)
    for folder_name in folders:
        report = json.loads(files[f"{folder_name}.human.json"])
        assert report == report_again(files, folder_name)
        assert len(report["resolved_ids"]) == 1


def test_two_models_of_one_folder_are_refused_by_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runs = [run("one", model="a/b", instance="i"), run("two", model="A__b", instance="i")]
    records = [record(name, "ann", verdict="approve") for name in ("one", "two")]
    with pytest.raises(SystemExit):
        exported(folder(tmp_path / "output", records, *runs), "swebench", ".zip")
    assert "have one folder in SWE-bench's files. Choose one with --model." in capsys.readouterr().err


def test_of_two_runs_of_a_model_for_an_instance_the_last_counts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = [run("one", instance="i"), run("second", instance="i")]
    records = [record("one", "ann", verdict="approve"), record("second", "ann", verdict="request_changes")]
    report = json.loads(exported(folder(tmp_path / "output", records, *runs), "swebench", ".json"))
    assert report["unresolved_ids"] == ["i"]
    assert "+a = 6" in report["instances"][0]["model_patch"]
    assert "Left out: 1 earlier runs." in capsys.readouterr().err
