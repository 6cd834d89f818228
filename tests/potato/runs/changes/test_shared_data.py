"""Real patches and real sessions, counted by git and replayed by a second hand. Skipped by name without them."""

import json
from functools import cache
from pathlib import Path
from typing import cast

from potato.runs.changes.derive import derive
from potato.runs.changes.model import FileChange, Side
from potato.runs.changes.patch import read_patch
from potato.runs.changes.paths import identity
from potato.runs.changes.texts import apply_hunks
from potato.runs.changes.writing import unified_patch
from potato.runs.converters.reading import read_file
from potato.runs.model import AgentRun, Converted, FileEdit, FilePatch, FileWrite, ReadingOptions
from potato.runs.run_files import StoredRunFile
from tests.potato.runs.changes.git_truth import counted, numstat
from tests.potato.runs.reading import jsonl, the_one
from tests.shared_data import shared_file, shared_files


def runs_of(path: Path) -> list[AgentRun]:
    source = StoredRunFile(path.name, lambda: path.open("rb"), path.stat().st_size)
    return [entry.run for entry in read_file(source, ReadingOptions()) if isinstance(entry, Converted)]


@cache
def sessions() -> list[tuple[str, AgentRun, tuple[FileChange, ...]]]:
    paths = [*shared_files("claude-code/*/session.jsonl"), *shared_files("claude-code/small/*.json*")]
    return [("/".join(path.parts[-2:]), run, derive(run).files) for path in paths for run in runs_of(path)]


def test_every_prediction_has_the_files_and_counts_that_git_sees(tmp_path: Path) -> None:
    predictions = json.loads(shared_file("swebench/preds.json").read_bytes())
    patches = [
        one["model_patch"].encode() for one in (predictions if isinstance(predictions, list) else predictions.values())
    ]
    assert len(patches) == 200
    for patch in patches:
        changes = read_patch(patch)
        assert changes.problems == ()
        assert [file.badges for file in changes.files] == [()] * len(changes.files)
        assert counted(changes.files) == numstat(patch, tmp_path)
        assert counted(read_patch(unified_patch(changes.files)).files) == counted(changes.files)


def test_the_derived_difference_of_every_session_has_the_counts_that_git_sees(tmp_path: Path) -> None:
    lines = 0
    for name, _, files in sessions():
        assert numstat(unified_patch(files), tmp_path) == counted(files), name
        lines += sum(file.added + file.removed for file in files)
    assert lines > 300


def test_every_long_session_changes_a_file() -> None:
    for name, _, files in sessions():
        if name.endswith("session.jsonl"):
            assert any(file.operation != "unchanged" for file in files), name


def test_the_recorded_edits_replayed_by_a_second_hand_give_the_same_text_wherever_there_is_no_badge() -> None:
    replayed = 0
    for name, run, files in sessions():
        texts: dict[str, str] = {}
        for event in run.events:
            path = identity(event.path, run.folder)
            if isinstance(event, FileWrite):
                texts[path] = event.text
            elif isinstance(event, FileEdit):
                before = texts.get(path, event.original or "")
                texts[path] = before.replace(event.old, event.new, -1 if event.replace_all else 1)
        for file in files:
            if file.badges or file.source == "read":
                continue
            assert file.new_text == texts[file.path], (name, file.path)
            assert file.old_text is not None
            assert apply_hunks(file.old_text, file.hunks) == file.new_text
            replayed += 1
    assert replayed > 15


def test_the_files_with_a_badge_are_those_that_are_known() -> None:
    found = {
        (name, file.path.rpartition("/")[2]): [badge.code.value for badge in file.badges]
        for name, _, files in sessions()
        for file in files
        if file.badges
    }
    assert found == {
        # After each of these the agent ran a formatter, whose doings the trace does not have.
        ("5de5697d60ab-0/session.jsonl", "gemini.go"): ["change_not_recorded"],
        ("5de5697d60ab-0/session.jsonl", "hooks.go"): ["change_not_recorded"],
        ("7ed4051c8a85-0/session.jsonl", "root.go"): ["change_not_recorded"],
        ("7ed4051c8a85-0/session.jsonl", "main.go"): ["changed_between", "change_not_recorded"],
        ("small/sample_session.json", "math_utils.py"): ["base_unknown"],
        ("small/sample_session.json", "test_math.py"): ["base_unknown"],
        ("small/sample_session.jsonl", "hello.py"): ["base_unknown"],
    }


def test_sessions_without_what_the_program_says_of_files_get_their_numbers_from_what_the_agent_was_shown() -> None:
    placed = unplaced = 0
    for name, _, files in sessions():
        if not name.endswith("session.jsonl"):
            continue
        truth = {file.path: file for file in files}
        for file in derive(bare_run(name)).files:
            if file.operation == "unchanged" or not file.hunks:
                continue
            unplaced += not file.has_line_numbers
            if file.excerpts:
                placed += 1
                known = truth[file.path]
                assert (file.added, file.removed) == (known.added, known.removed), (name, file.path)
                for side, text in (("old", known.old_text), ("new", known.new_text)):
                    lines = dict(enumerate((text or "").splitlines(), 1))
                    shown = file.lines(cast(Side, side))
                    assert {number: lines.get(number) for number in shown} == shown, (name, file.path, side)
    assert (placed, unplaced) == (11, 2)


def bare_run(name: str) -> AgentRun:
    """The session as messages alone, as other programs keep it: only the answers that the agent saw."""
    lines = shared_file(f"claude-code/{name}").read_bytes().splitlines()
    records = [{key: value for key, value in json.loads(line).items() if key != "toolUseResult"} for line in lines]
    return the_one(jsonl(*records)).run


def test_a_linked_line_is_a_text_of_the_step_that_wrote_it() -> None:
    """By the acts alone: the step holds the line among what it wrote, and no later step of the file writes it away."""
    linked = changed = 0
    for name, run, files in sessions():
        for file in files:
            lines: dict[Side, dict[int, str]] = {"new": file.lines("new"), "old": file.lines("old")}
            changed += file.added + file.removed
            for link in file.links:
                linked += link.last - link.first + 1
                for number in range(link.first, link.last + 1):
                    text = lines[link.side][number]
                    written, replaced = _texts_of(run, file, link.steps[0])
                    known = written if link.side == "new" else replaced
                    assert any(text in each for each in known), (name, file.path, link, text)
    assert linked / changed > 0.97, (linked, changed)


def _texts_of(run: AgentRun, file: FileChange, step: int) -> tuple[list[str], list[str]]:
    """What the step's acts wrote into the file, and what they replaced; a whole file that was there is all replaced."""
    written: list[str] = []
    replaced: list[str] = []
    for event, index in zip(run.events, run.event_steps, strict=True):
        if index != step or identity(event.path, run.folder) not in (file.path, file.old_path):
            continue
        if isinstance(event, FileEdit):
            written.append(event.new)
            replaced.append(event.old)
            # An edit within a line writes the whole line anew.
            if event.original is not None:
                written.append(event.original.replace(event.old, event.new) if event.old else event.original)
                replaced.append(event.original)
        elif isinstance(event, FileWrite):
            written.append(event.text)
            replaced.append(event.original or file.old_text or "")
        elif isinstance(event, FilePatch):
            written += ["\n".join(new) for _, new in event.hunks]
            replaced += ["\n".join(old) for old, _ in event.hunks]
    return written, replaced
