"""Twenty patches of SWE-bench with bundles that git makes: lines outside of each patch are read and commented on."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from django.core.files.base import ContentFile
from django.test import Client

from accounts.actions.projects import publish_configuration
from potato.runs.changes.model import FileChange
from potato.runs.changes.patch import read_patch
from tenancy.actor import acting_in
from tests.assignments.reviews import api_of, review_yaml
from tests.pages import text_of
from tests.shared_data import shared_file
from tests.tenants import Tenants
from tests.traces.stored import stored
from traces.attaching import attach_repository
from traces.evidence.judged_files import read_evidence
from traces.models import Trace

INSTANCES = 20
LINES_BEHIND = 40


def base_text(change: FileChange) -> str:
    """A file to which the patch applies: its old lines at their places, others between and behind them."""
    known = {
        line.old_no: line.whole for hunk in change.hunks for line in hunk.lines if line.old_no and line.kind != "add"
    }
    last = max(known, default=0)
    ends_without = last and not known[last].endswith("\n")
    count = last if ends_without else last + LINES_BEHIND
    return "".join(known.get(number, f"filler {number} of {change.path}\n") for number in range(1, count + 1))


def git(folder: Path, *arguments: str) -> str:
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    identity = ("-c", "user.name=Ada", "-c", "user.email=ada@example.com", "-c", "init.defaultBranch=main")
    done = subprocess.run(["git", *identity, *arguments], cwd=folder, env=environment, capture_output=True, check=True)
    return done.stdout.decode().strip()


def committed(folder: Path, changes: tuple[FileChange, ...]) -> str:
    """The id of a commit that has the files before these changes, and no others."""
    for path in folder.iterdir():
        if path.name != ".git":
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    for change in changes:
        if change.operation != "added":
            path = folder / (change.old_path or change.path)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(base_text(change), newline="")
    git(folder, "add", "--all", "--force")
    git(folder, "commit", "--quiet", "--allow-empty", "--message", "Base")
    return git(folder, "rev-parse", "HEAD")


@pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")
def test_twenty_instances_show_whole_files_whose_lines_are_commented_on(tenants: Tenants, tmp_path: Path) -> None:
    predictions = json.loads(shared_file("swebench/preds.json").read_bytes())
    patches = {name: row["model_patch"] for name, row in sorted(predictions.items()) if row["model_patch"]}
    chosen = list(patches.items())[:: max(1, len(patches) // INSTANCES)][:INSTANCES]
    assert len(chosen) == INSTANCES
    traces = []
    bundles: dict[str, Path] = {}
    for instance, patch in chosen:
        repo = instance.rpartition("-")[0].replace("__", "/")
        if repo not in bundles:
            bundles[repo] = tmp_path / str(len(bundles))
            bundles[repo].mkdir()
            git(bundles[repo], "init", "--quiet")
        changes = read_patch(patch.encode()).files
        commit = committed(bundles[repo], changes)
        trace = stored(
            tenants.acme,
            tenants.acme_project,
            external_id=instance,
            patch=patch.encode(),
            repo=repo,
            base_commit=commit,
        )
        traces.append((trace, changes))
    for repo, folder in bundles.items():
        git(folder, "bundle", "create", "--quiet", "all.bundle", "main")
        with acting_in(tenants.acme):
            file = ContentFile((folder / "all.bundle").read_bytes(), name="all.bundle")
            attach_repository(project=tenants.acme_project, name=repo, file=file)
    with acting_in(tenants.acme):
        outside = [_checked(trace, changes) for trace, changes in traces]
    assert sum(outside) > INSTANCES * LINES_BEHIND
    alice = Client()
    alice.force_login(tenants.alice)
    for (trace, _), expected in zip(traces, outside, strict=True):
        assert _shown(alice, f"/o/acme/p/parser/traces/{trace.pk}/") == expected, trace.external_id
    with acting_in(tenants.acme):
        publish_configuration(project=tenants.acme_project, source=review_yaml())
    _judged(tenants, {trace.pk: changes for trace, changes in traces})


def _shown(reader: Client, address: str) -> int:
    """How many lines outside the patch a reader finds who opens every fold of every file, each once."""
    seen: set[str] = set()
    opened: set[str] = set()
    page = text_of(reader.get(address))
    waiting = list(re.findall(r'data-base="([^"]+)"(.*?)(?=data-base=|\Z)', page, re.DOTALL))
    while waiting:
        base, html = waiting.pop()
        seen.update(re.findall(r"filler \d+ of [^\s<]+", re.sub(r"<[^>]+>", "", html.replace("</tr>", " "))))
        # A long fold has a button for what comes after its first rows.
        for part in re.findall(r'data-part="(rows-\d+-\d+|\d+)"', html):
            if (path := f"{base}{part}.html") not in opened:
                opened.add(path)
                waiting.append((base, text_of(reader.get(path))))
    return len(seen)


def _judged(tenants: Tenants, changes: dict[UUID, tuple[FileChange, ...]]) -> None:
    """Bob comments on the last line of each file, which no patch has, and on none behind it."""
    bob = api_of(tenants.bob)
    for _ in changes:
        task = bob.claim()
        files = [file for file in changes[UUID(task["trace"]["id"])] if file.operation != "deleted"]
        last = {file.path: _lines_at_the_end(file) for file in files}
        comment = {"category": "bug", "severity": "minor", "comment": "And here?", "side": "new"}
        comments: list[dict[str, Any]] = [
            {"file": path, "line_start": line, "line_end": line, **comment} for path, line in last.items()
        ]
        ratings = {file.path: {"correctness": 3, "quality": 3} for file in changes[UUID(task["trace"]["id"])]}
        verdict = {"decision": "request_changes", "summary": "More is wrong behind the patch."}
        answers = {"inline_comments": comments, "file_ratings": ratings, "verdict": verdict}
        beyond = [{**one, "line_start": last[one["file"]] + 1, "line_end": last[one["file"]] + 1} for one in comments]
        refused = bob.submit(task, {**answers, "inline_comments": beyond})
        assert refused.status_code == 422
        gaps = refused.json()["gaps"]
        assert {gap["place"].get("file") for gap in gaps} == set(last), gaps
        taken = bob.submit(task, answers)
        assert taken.status_code == 201, taken.content


def _lines_at_the_end(change: FileChange) -> int:
    """How many lines the file has after the patch."""
    if change.operation == "added":
        return change.added
    old = base_text(change)
    return old.count("\n") + (not old.endswith("\n")) + change.added - change.removed


def _checked(trace: Trace, changes: tuple[FileChange, ...]) -> int:
    """How many lines outside the patch are there, after each line of each file was compared."""
    outside = 0
    evidence = read_evidence(trace)
    for change in changes:
        if change.operation == "added":
            continue
        file = evidence.files[change.path]
        old = base_text(change).split("\n")
        last, shift = len(file.lines("old")), change.added - change.removed
        assert last == len(old) - (not old[-1])
        assert len(file.lines("new")) == last + shift
        for number, text in enumerate(old[:last], 1):
            assert file.text("old", number, number) == text.removesuffix("\r")
        if old[last - 1].startswith("filler"):
            assert file.text("new", last + shift, last + shift) == old[last - 1]
        outside += sum(text.startswith("filler") for text in old)
    return outside
