"""Files as people have them: folders, archives and lone files of records, and the offline command upon them."""

import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from potato.commands.export import main
from potato.runs.converters.native import run_as_native
from potato.runs.model import AgentRun

WITHOUT_DJANGO = """
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("django", "psycopg", "celery", "rest_framework", "redis"):
            raise ImportError(f"{name} is blocked")

sys.meta_path.insert(0, Blocked())
"""
"""Stands before a program in which Django and the database's driver cannot be imported."""
_COMMAND = """
import runpy
sys.argv[0] = "potato.export"
runpy.run_module("potato.export", run_name="__main__")
"""


def lines(path: Path, records: Iterable[Any]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def folder(path: Path, records: Iterable[Any], *runs: AgentRun, configuration: str = "") -> Path:
    """A project's files; those that are not given are left out."""
    path.mkdir()
    lines(path / "annotations.jsonl", records)
    if runs:
        lines(path / "traces.jsonl", map(run_as_native, runs))
    if configuration:
        (path / "config.yaml").write_text(configuration, encoding="utf-8")
    return path


def exported(source: Path, format: str, suffix: str = "", *flags: str) -> bytes:
    """What the offline command writes, in this process."""
    output = source.parent / f"written-{format}{suffix}"
    assert main(["-i", str(source), "-f", format, "-o", str(output), *flags]) == 0
    return output.read_bytes()


def refused(capsys: pytest.CaptureFixture[str], source: Path, format: str, *flags: str, suffix: str = "") -> str:
    """What the command says, which writes no file."""
    with pytest.raises(SystemExit) as ended:
        exported(source, format, suffix, *flags)
    assert ended.value.code in (1, 2)
    assert not (source.parent / f"written-{format}{suffix}").exists()
    return capsys.readouterr().err


def json_lines(data: bytes) -> list[Any]:
    return [json.loads(line) for line in data.splitlines()]


def without_django(*arguments: str, cwd: Path) -> "subprocess.CompletedProcess[str]":
    """The command, in a process of its own."""
    program = [sys.executable, "-c", WITHOUT_DJANGO + _COMMAND, *arguments]
    return subprocess.run(program, cwd=cwd, capture_output=True, text=True, check=False)
