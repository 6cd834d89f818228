"""Where an export goes: never onto what it is read from, and into folders that hold other people's files too."""

import errno
import hashlib
import io
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from potato.commands.export import main
from potato.formats.writing import Digest
from potato.runs.converters.native import run_as_native
from tests.potato.configuration.documented_configurations import COMPLETE
from tests.potato.formats.files import folder, lines
from tests.potato.formats.test_formats import record, run


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return folder(tmp_path / "output", [record()], run(), configuration=COMPLETE)


def contents(path: Path) -> dict[str, bytes]:
    return {str(file.relative_to(path)): file.read_bytes() for file in path.rglob("*") if file.is_file()}


# --- never onto its own input ---


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        ("-i output -f archive -o output", "output is the folder that is read."),
        ("-i output/ -f archive -o ./output/../output", "is the folder that is read."),
        ("-i output -f archive -o link", "link is the folder that is read."),
        ("-i output --config config.yaml", "output is the folder that is read."),
        ("-i output -f code_review -o output/annotations.jsonl", "output/annotations.jsonl is one of the files"),
        ("-i output -f code_review -o output/traces.jsonl", "output/traces.jsonl is one of the files"),
        ("-i output -f code_review -o output/configurations.jsonl", "is one of the files that are read"),
        ("-i output -f code_review -o output/config.yaml", "output/config.yaml is one of the files"),
        ("-i output -f code_review -o link/annotations.jsonl", "link/annotations.jsonl is one of the files"),
        ("-i output/annotations.jsonl -f code_review -o output/annotations.jsonl", "is one of the files"),
        ("-i output/annotations.jsonl -f archive -o output", "output/annotations.jsonl is one of the files"),
        ("-i all.zip -f archive -o all.zip", "all.zip is one of the files that are read"),
        ("-i all.zip -f archive -o link.zip", "link.zip is one of the files that are read"),
        ("-i all.zip -f code_review -o config.yaml --config config.yaml", "config.yaml is one of the files"),
        ("-i all.zip -f archive -o . --config config.yaml", "config.yaml is one of the files that are read"),
        ("-i all.zip -f code_review -o r.jsonl --manifest all.zip", "all.zip is one of the files that are read"),
        ("-i output -f code_review -o r.jsonl --manifest output/annotations.jsonl", "is one of the files"),
        ("-i all.zip -f code_review -o r.jsonl --manifest r.jsonl", "r.jsonl is where the export goes."),
        ("-i all.zip -f code_review -o output", "output is a folder. Name a file with -o, such as output/code_review"),
    ],
)
def test_an_export_onto_its_own_input_is_refused_before_anything_is_written(
    source: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    flags: str,
    says: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["-i", "output", "-f", "archive", "-o", "all.zip"]) == 0
    (tmp_path / "config.yaml").write_text(COMPLETE)
    (tmp_path / "link").symlink_to("output")
    (tmp_path / "link.zip").symlink_to("all.zip")
    before = contents(tmp_path)
    with pytest.raises(SystemExit) as ended:
        main(flags.split())
    assert ended.value.code == 1
    assert says in capsys.readouterr().err
    with pytest.raises(CommandError, match="Name a"):
        call_command("export", *flags.split())
    assert contents(tmp_path) == before


def test_a_file_beside_what_is_read_is_no_input(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for flags in ("-f code_review -o output/reviews.jsonl", "-f archive -o output/all.zip", "-f archive -o output/all"):
        assert main(["-i", "output", *flags.split()]) == 0


# --- a folder is what its last export wrote, and what others put there ---


def test_what_an_earlier_archive_left_in_the_folder_goes_and_what_others_put_there_stays(
    source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "archive"
    assert main(["-i", str(source), "-f", "archive", "-o", str(target)]) == 0
    (target / "notes.txt").write_text("mine")
    (target / "more").mkdir()
    (target / "more" / "traces.jsonl").write_text("mine")
    alone = lines(tmp_path / "records.jsonl", [record("b")])
    assert main(["-i", str(alone), "-f", "archive", "-o", str(target)]) == 0
    assert sorted(contents(target)) == ["annotations.jsonl", "manifest.json", "more/traces.jsonl", "notes.txt"]
    assert "was left" not in capsys.readouterr().err


def test_a_file_that_no_export_wrote_or_that_was_changed_since_is_kept_and_told(
    source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    alone = lines(tmp_path / "records.jsonl", [record("b")])
    target = tmp_path / "archive"
    target.mkdir()
    (target / "config.yaml").write_text("task_name: Mine\n")
    assert main(["-i", str(alone), "-f", "archive", "-o", str(target)]) == 0
    assert (target / "config.yaml").read_text() == "task_name: Mine\n"
    assert "config.yaml is not of this export and was left" in capsys.readouterr().err
    shutil.rmtree(target)
    assert main(["-i", str(source), "-f", "archive", "-o", str(target)]) == 0
    lines(target / "traces.jsonl", [run_as_native(run()), run_as_native(run("mine"))])
    assert main(["-i", str(alone), "-f", "archive", "-o", str(target)]) == 0
    assert sorted(contents(target)) == ["annotations.jsonl", "manifest.json", "traces.jsonl"]
    assert "traces.jsonl is not of this export and was left" in capsys.readouterr().err


@pytest.mark.parametrize(
    "manifest",
    ["nonsense", "[]", '{"format": "archive", "files": {"../x": {"sha256": 1}}}', '{"format": "archive", "files": []}'],
)
def test_a_manifest_of_somebody_else_removes_nothing(source: Path, tmp_path: Path, manifest: str) -> None:
    target = tmp_path / "archive"
    target.mkdir()
    (tmp_path / "x").write_text("mine")
    (target / "manifest.json").write_text(manifest)
    assert main(["-i", str(source), "-f", "archive", "-o", str(target)]) == 0
    assert json.loads((target / "manifest.json").read_text())["format"] == "archive"
    assert (tmp_path / "x").exists()


@pytest.mark.parametrize(
    ("format", "name"), [("archive", "../x"), ("archive", "more/x"), ("swebench", "x"), ("archive", "x")]
)
def test_a_manifest_names_files_of_its_own_folder_and_format_alone(
    source: Path, tmp_path: Path, format: str, name: str
) -> None:
    """Their hashes are right each time: only what this format wrote here goes."""
    target = tmp_path / "archive"
    (target / "more").mkdir(parents=True)
    for place in (tmp_path, target / "more", target):
        (place / "x").write_text("mine")
    known = {name: {"sha256": hashlib.sha256(b"mine").hexdigest()}}
    (target / "manifest.json").write_text(json.dumps({"format": format, "files": known}))
    assert main(["-i", str(source), "-f", "archive", "-o", str(target)]) == 0
    assert (tmp_path / "x").exists()
    assert (target / "more" / "x").exists()
    assert (target / "x").exists() == ((format, name) != ("archive", "x"))


def test_reports_in_a_folder_leave_its_archive_alone(source: Path, tmp_path: Path) -> None:
    target = tmp_path / "results"
    assert main(["-i", str(source), "-f", "archive", "-o", str(target)]) == 0
    before = contents(target)
    assert main(["-i", str(source), "-f", "swebench", "-o", str(target)]) == 0
    after = contents(target)
    assert {name: after[name] for name in before} == before
    assert sorted(after.keys() - before.keys()) == ["model-a.human.json", "swebench.manifest.json"]


# --- its hash ---


def test_blocks_that_are_hashed_while_the_next_is_made_have_the_hash_of_the_whole() -> None:
    blocks = [bytes([number % 251]) * (number * 97 % 5_000) for number in range(300)]
    digest = Digest()
    assert list(digest.beside(iter(blocks))) == blocks
    whole = len(b"".join(blocks)), hashlib.sha256(b"".join(blocks)).hexdigest()
    assert (digest.size, digest.sha256) == whole
    written, file = Digest(), io.BytesIO()
    written.write(file, iter(blocks))
    assert (file.getvalue(), written.size, written.sha256) == (b"".join(blocks), *whole)


def test_a_disk_that_is_full_at_the_last_block_is_told() -> None:
    class Full(io.BytesIO):
        def write(self, data: Any) -> int:
            raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(OSError, match="No space left"):
        Digest().write(Full(), [b"the only block"])
