"""The figures of the table of what is read, on made-up files of every format: counted by the converters, by a plain
reading of the file, and by the story that it tells."""

import shutil
from dataclasses import asdict, fields
from pathlib import Path

import pytest

from potato.reading_table import read_row
from potato.runs.converters.registry import trace_converters
from potato.runs.run_files import source_at
from tests.potato.runs.plain_counts import BY_FORMAT, Counts
from tests.potato.runs.plain_counts_of_others import OTHERS
from tests.potato.runs.told_stories import CAN_FAIL, ONE_ACT, TOLD_AS, story

STORIES = 12
WITHOUT_STEPS = {"patch", "swebench"}
WITHOUT_CALLS = WITHOUT_STEPS | {"pull_request", "git_bundle"}
WITHOUT_FILES = {"react", "webarena", "webvoyager"}


def test_every_format_has_a_plain_count_and_a_made_up_file() -> None:
    assert {form.partition(" ")[0] for form in TOLD_AS} == {*BY_FORMAT, *OTHERS} == set(trace_converters())
    assert not BY_FORMAT.keys() & OTHERS.keys()


@pytest.mark.parametrize("form", sorted(TOLD_AS))
def test_a_story_has_the_same_figures_in_every_format(form: str, tmp_path: Path) -> None:
    """Steps, calls, files, lines, what was left out, not known and mended: three counts that share no code."""
    format_name = form.partition(" ")[0]
    if format_name == "git_bundle" and not shutil.which("git"):
        pytest.skip("git is not installed")
    count = {**BY_FORMAT, **OTHERS}[format_name]
    for seed in range(STORIES):
        told = story(seed, one_act=format_name in ONE_ACT, fails=format_name in CAN_FAIL)
        name, data = TOLD_AS[form](told)
        (tmp_path / name).write_bytes(data)
        row = read_row(name, source_at(tmp_path / name))
        assert (row.format, row.problems) == (format_name, [])
        read = {each.name: getattr(row, each.name) for each in fields(Counts)}
        assert asdict(count(name, data)) == read, f"{form} {seed}"
        changes = {} if format_name in WITHOUT_FILES else told.changes()
        assert (
            read
            | {
                "runs": 1,
                "steps": 0 if format_name in WITHOUT_STEPS else len(told.turns),
                "calls": 0 if format_name in WITHOUT_CALLS else len(told.acts),
                "files": len(changes),
                "added": sum(added for added, _ in changes.values()),
                "removed": sum(removed for _, removed in changes.values()),
            }
            == read
        ), f"{form} {seed}"
