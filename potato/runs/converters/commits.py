"""A run whose steps are commits, as a series of patches and a pull request are: each with its message and its changes.

Field notes
- A commit's diff says which lines it replaced and where they stood; whole files it does not have.
- What all commits come to is stated by the diff of the whole where there is one, else by their diffs one after another:
  a file that several of them change is then shown in parts.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from potato.runs.changes.model import FileChange
from potato.runs.changes.patch import read_patch
from potato.runs.model import FileEvent, FilePatch, FileTouched, Step


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit, with its changes as a `diff`, or read already as `files`; neither where they are not known. `touched`
    are files that it changed, nobody knows how."""

    id: str
    message: str
    at: str
    diff: bytes = b""
    files: tuple[FileChange, ...] = ()
    touched: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CommitSteps:
    """A step for each commit, what it did to files, and their diffs one after another."""

    steps: tuple[Step, ...]
    events: tuple[FileEvent, ...]
    event_steps: tuple[int | None, ...]
    patch: bytes


def commit_steps(commits: Iterable[Commit]) -> CommitSteps:
    """The commits in their order."""
    steps: list[Step] = []
    events: list[FileEvent] = []
    event_steps: list[int | None] = []
    diffs: list[bytes] = []
    for index, commit in enumerate(commits):
        steps.append(Step(message=commit.message or f"(Commit {commit.id[:12]} has no message.)", at=commit.at))
        for change in (*commit.files, *(read_patch(commit.diff).files if commit.diff else ())):
            file_events = _events(change)
            events += file_events
            event_steps += [index] * len(file_events)
        events += (FileTouched(path, "The commit", is_certain=True) for path in commit.touched)
        event_steps += [index] * len(commit.touched)
        if commit.diff:
            diffs.append(commit.diff if commit.diff.endswith(b"\n") else commit.diff + b"\n")
    return CommitSteps(tuple(steps), tuple(events), tuple(event_steps), b"".join(diffs))


def _events(change: FileChange) -> list[FileEvent]:
    moved = change.operation == "renamed"
    if change.is_binary or not (change.hunks or moved):
        touched: list[FileEvent] = [FileTouched(change.path, "The commit", is_certain=True)]
        if change.old_path not in ("", change.path):
            touched.append(FileTouched(change.old_path, "The commit", is_certain=True))
        return touched
    hunks = tuple(
        (
            tuple(line.text for line in hunk.lines if line.old_no is not None),
            tuple(line.text for line in hunk.lines if line.new_no is not None),
        )
        for hunk in change.hunks
    )
    operations: dict[str, Literal["added", "modified", "deleted"]] = {"added": "added", "deleted": "deleted"}
    operation = operations.get(change.operation, "modified")
    starts = tuple(hunk.old_start if hunk.old_count else hunk.old_start + 1 for hunk in change.hunks)
    return [
        FilePatch(
            change.old_path if moved else change.path,
            hunks,
            operation,
            moved_to=change.path if moved else "",
            starts=starts if operation == "modified" else (),
        )
    ]
