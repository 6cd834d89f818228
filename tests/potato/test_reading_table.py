"""The table of what is read of real files: its figures are counted from what a test wrote, and the page is today's."""

import io
import json
import zipfile
from dataclasses import asdict, fields
from functools import cache
from pathlib import Path

import pytest

from potato.reading_table import FileRow, as_page, main, rows_of_folder
from tests.potato.runs.plain_counts import BY_FORMAT, Counts
from tests.potato.runs.reading import jsonl
from tests.shared_data import SHARED_DATA, shared_file

PAGE = Path(__file__).resolve().parents[2] / "docs" / "formats-read.md"
DIFF = "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1 +1,2 @@\n-a\n+b\n+c\n"
FINDING = {"message": "Too long.", "location": {"path": "a.py", "range": {"start": {"line": 1}}}}
EDITED = {
    "id": "one",
    "steps": [{"message": "I edit.", "tool_calls": [{"name": "Edit"}, {"name": "Bash"}]}, {"message": "Done."}],
    "file_events": [{"kind": "edit", "step": 0, "path": "a.py", "old": "a\n", "new": "b\n"}],
    "patch": DIFF,
    "mood": "good",
}


def folder_with_files(folder: Path) -> Path:
    (folder / "sub").mkdir()
    (folder / "sub" / "runs.jsonl").write_bytes(jsonl(EDITED, {"id": "two"}))
    (folder / "notes.txt").write_text("Dear all,\n")
    (folder / "shot.png").write_bytes(b"\x89PNG")
    (folder / "checks.json").write_text(json.dumps({"diagnostics": [FINDING, FINDING]}))
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as package:
        package.writestr("fix.diff", DIFF)
    (folder / "two.zip").write_bytes(file.getvalue())
    return folder


def test_each_file_is_a_line_with_what_was_counted_by_hand(tmp_path: Path) -> None:
    page = as_page(rows_of_folder(folder_with_files(tmp_path)))
    lines = page.split("\n")
    assert "| sub/runs.jsonl | native | 1 | 2 | 2 | 1 | +2 -1 | 0 | 1 | 0 | 2 of 3 |" in lines
    assert "| two.zip/fix.diff | patch | 1 | 0 | 0 | 1 | +2 -1 | 0 | 0 | 0 |  |" in lines
    assert "| 4 files |  | 2 | 2 | 2 | 2 | +4 -2 | 0 | 1 | 0 | 2 of 3 |" in lines
    assert "- `notes.txt`: notes.txt is no trace: a text without JSON and without a diff." in lines
    assert any(line.startswith("- `sub/runs.jsonl`: Record 2 has no steps") for line in lines)
    assert "- `checks.json`: findings as rdjson, 0 tests passed, 0 failed, 2 findings." in lines
    assert "shot.png" not in page


def test_the_command_writes_the_page_and_refuses_what_is_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "files").mkdir()
    folder = folder_with_files(tmp_path / "files")
    monkeypatch.setattr("sys.argv", ["reading_table", str(folder), "-o", str(tmp_path / "page.md")])
    main()
    assert (tmp_path / "page.md").read_text() == as_page(rows_of_folder(folder))
    monkeypatch.setattr("sys.argv", ["reading_table", str(tmp_path / "page.md")])
    with pytest.raises(SystemExit):
        main()
    assert "is no folder" in capsys.readouterr().err


@cache
def shared_rows() -> tuple[FileRow, ...]:
    shared_file("MANIFEST.md")
    return tuple(rows_of_folder(SHARED_DATA))


def test_the_page_says_what_the_converters_of_today_read() -> None:
    assert PAGE.read_text() == as_page(shared_rows()), (
        "docs/formats-read.md is not of today: python -m potato.reading_table ../shared/data -o docs/formats-read.md"
    )


def test_every_file_is_read_or_refused_with_a_reason() -> None:
    """Each file but pictures; of a log in a ZIP its members stand for it."""
    rows = shared_rows()
    assert [row.name for row in rows if not (row.runs or row.report or row.problems)] == []
    files = {path.relative_to(SHARED_DATA).as_posix() for path in SHARED_DATA.rglob("*") if path.is_file()}
    named = {row.name.partition(".eval/")[0] + (".eval" if ".eval/" in row.name else "") for row in rows}
    assert named == {name for name in files if not name.endswith(".png")}


@pytest.mark.parametrize("format_name", sorted(BY_FORMAT))
def test_every_figure_is_what_a_plain_reading_of_the_file_counts(format_name: str) -> None:
    """Steps, calls, files, lines, what was left out, not known and mended, of each real file of the format."""
    rows = [row for row in shared_rows() if row.format == format_name]
    assert rows
    for row in rows:
        columns = {each.name: getattr(row, each.name) for each in fields(Counts)}
        name, is_member, member = row.name.partition(".eval/")
        if is_member:
            with zipfile.ZipFile(SHARED_DATA / f"{name}.eval") as package:
                counts = BY_FORMAT[format_name](member, package.read(member))
        else:
            counts = BY_FORMAT[format_name](name, (SHARED_DATA / name).read_bytes())
        assert asdict(counts) == columns, row.name


def test_every_report_says_how_many_tests_and_findings_it_has() -> None:
    shared_file("MANIFEST.md")
    expected = {}
    for path in sorted(SHARED_DATA.glob("swebench/reports/*.json")):
        sides = json.loads(path.read_bytes())["tests_status"].values()
        passed, failed = (sum(len(side[key]) for side in sides) for key in ("success", "failure"))
        words = f"a report of SWE-bench's harness, {passed} tests passed, {failed} failed, 0 findings"
        expected[f"swebench/reports/{path.name}"] = words
    checker = "review-formats/reviewdog/custom_rdjson.json"
    diagnostics = json.loads((SHARED_DATA / checker).read_bytes())["diagnostics"]
    expected[checker] = f"findings as rdjson, 0 tests passed, 0 failed, {len(diagnostics)} findings"
    assert {row.name: row.report for row in shared_rows() if row.report} == expected


def test_no_format_of_the_real_files_goes_uncounted() -> None:
    assert {row.format for row in shared_rows()} - {""} == set(BY_FORMAT)
