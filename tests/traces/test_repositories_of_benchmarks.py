"""Twenty patches of SWE-bench with bundles that git makes: lines outside of each patch are there to be judged."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from django.core.files.base import ContentFile

from potato.runs.changes.model import FileChange
from potato.runs.changes.patch import read_patch
from tenancy.actor import acting_in
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
def test_twenty_instances_show_whole_files(tenants: Tenants, tmp_path: Path) -> None:
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
        outside = sum(_checked(trace, changes) for trace, changes in traces)
    assert outside > INSTANCES * LINES_BEHIND


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
