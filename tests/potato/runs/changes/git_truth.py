"""What git itself says about a patch, and repositories to make patches in. The git program is the oracle of tests;
the product never runs it.
"""

import os
import shutil
import subprocess
from pathlib import Path

from potato.runs.changes.model import FileChange
from tests.missing import missing

_QUIET = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "Alice",
    "GIT_AUTHOR_EMAIL": "alice@example.com",
    "GIT_COMMITTER_NAME": "Alice",
    "GIT_COMMITTER_EMAIL": "alice@example.com",
}

Counts = dict[str, tuple[int, int]]


def git(*arguments: str, folder: Path, stdin: bytes = b"", fails: bool = False) -> bytes:
    """The standard output of git; the test ends where there is no git."""
    if shutil.which("git") is None:
        missing("git is not installed")
    done = subprocess.run(
        ["git", *arguments],
        cwd=folder,
        input=stdin,
        capture_output=True,
        env={**os.environ, **_QUIET},
        check=False,
    )
    assert fails or done.returncode == 0, done.stderr
    return done.stdout


def numstat(patch: bytes, folder: Path, strip: int = 1) -> Counts:
    """Added and removed lines by path, as `git apply --numstat` counts them; a file in two parts is counted once."""
    if not patch:
        return {}
    counts: Counts = {}
    answer = git("apply", f"-p{strip}", "--numstat", "-z", "-", folder=folder, stdin=patch)
    for record in answer.split(b"\0")[:-1]:
        added, removed, path = record.split(b"\t", 2)
        before = counts.get(name := path.decode("utf-8", "surrogateescape"), (0, 0))
        counts[name] = (before[0] + _number(added), before[1] + _number(removed))
    return counts


def counted(files: tuple[FileChange, ...]) -> Counts:
    """The same of files that we read, the unchanged ones left out."""
    return {file.path: (file.added, file.removed) for file in files if file.operation != "unchanged"}


def _number(text: bytes) -> int:
    return 0 if text == b"-" else int(text)


class Repository:
    """A repository in a folder of its own, for patches that git itself writes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        self.git("init", "-q", "-b", "main")
        self.git("config", "core.autocrlf", "false")

    def git(self, *arguments: str, fails: bool = False) -> bytes:
        return git(*arguments, folder=self.folder, fails=fails)

    def write(self, name: str, content: bytes) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)

    def commit(self, message: str) -> None:
        self.git("add", "-A")
        self.git("commit", "-q", "-m", message)
