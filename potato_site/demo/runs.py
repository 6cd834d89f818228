"""Runs of invented agents at the tasks of coding-tasks.yaml, with what is wrong in each: the planted truth.

Each task is read, changed and tested by three agents in their own manner. The same texts always make the same runs.
"""

import hashlib
import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from textwrap import indent
from typing import Any

import yaml

FOLDER = Path(__file__).resolve().parent
_BEGUN = datetime(2026, 10, 26, 8, 0)
_SECONDS_A_STEP = 21
_PROGRAM = "Potting Shed"
"""The agent program that all of them run in."""
_INDENTS = ("", "    ", "  ", "\t")

_OPENING = {
    "tern-code-1": "I look for where this is decided before I change anything.",
    "gannet-3": "I search for the function that the task is about.",
    "finch-mini": "First I get an overview of the project.",
}
_READING = {
    "tern-code-1": "I read the whole file, to see what else depends on it.",
    "gannet-3": "I open the file.",
    "finch-mini": "Let me read it.",
}
_PASSED = {
    "tern-code-1": "The tests pass. I read the change once more, and it does what the task asks for and nothing else.",
    "gannet-3": "Done: the tests are green.",
    "finch-mini": "All tests pass, the task is finished.",
}
_FAILED = {
    "tern-code-1": "One test still fails. I leave that to a person, because I do not see what it expects.",
    "gannet-3": "A test fails that seems unrelated to the task, so I stop here.",
    "finch-mini": "The task is finished. The failing test looks outdated.",
}


@dataclass(frozen=True)
class Flaw:
    """What is wrong with a change: on which line of which file as it is afterwards, what kind of fault it is for a
    reviewer, and which category of error the step has. `comments` are ways to say it."""

    file: str
    line: int
    category: str
    severity: str
    error: str
    comments: tuple[str, ...]

    @property
    def is_serious(self) -> bool:
        return self.severity in ("major", "critical")


@dataclass(frozen=True)
class Truth:
    """What a perfect annotator would say of a run: `labels` of its steps, and the flaw of its change, if it has one.
    `changed` is the file that is changed, `line` the first new line."""

    labels: tuple[str, ...]
    changed: str
    line: int
    flaw: Flaw | None

    @property
    def first_error(self) -> int | None:
        return next((at for at, label in enumerate(self.labels) if label in ("incorrect", "partially_correct")), None)


@dataclass(frozen=True)
class InventedRun:
    record: dict[str, Any]
    truth: Truth

    @property
    def name(self) -> str:
        return str(self.record["id"])


@cache
def invented_runs() -> tuple[InventedRun, ...]:
    """All of them, one agent's attempt at every task after another's."""
    tasks = yaml.safe_load((FOLDER / "coding-tasks.yaml").read_text(encoding="utf-8"))
    agents = list(dict.fromkeys(agent for task in tasks for agent in task["agents"]))
    return tuple(
        _run(task, agent, number)
        for at, agent in enumerate(agents)
        for number, task in enumerate(tasks, at * len(tasks))
    )


def write_runs(path: Path) -> None:
    """The runs as a file of the format `native`."""
    lines = (json.dumps(run.record, ensure_ascii=False) for run in invented_runs())
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def _run(task: dict[str, Any], agent: str, number: int) -> InventedRun:
    attempt = task[task["agents"][agent]]
    folder = f"/workspace/{task['repo']}"
    path = f"{folder}/{task['path']}"
    edits = [_edit(attempt, task["before"])]
    if "also" in attempt:
        edits.append((attempt["also"]["old"], attempt["also"]["new"]))
    after = task["before"]
    for old, new in edits:
        after = after.replace(old, new, 1)
    flaw = _flaw(attempt, task["path"], after)
    passed = "fail" not in attempt["found"].lower()
    steps = [
        *_exploring_calls(task, agent, folder),
        (_READING[agent], [_call("Read", {"file_path": path}, _numbered(task["before"]))], "correct"),
        (
            attempt["say"],
            [
                _call("Edit", {"file_path": path, "old_string": old, "new_string": new}, "The file was changed.")
                for old, new in edits
            ],
            _label_step(flaw),
        ),
        (
            "Now the tests.",
            [_call("Bash", {"command": task["test"]}, attempt["found"], is_error=not passed)],
            "correct",
        ),
        ((_PASSED if passed else _FAILED)[agent], [], "correct" if passed or agent == "tern-code-1" else "incorrect"),
    ]
    read_at = len(steps) - 4
    events: list[dict[str, Any]] = [{"kind": "read", "path": task["path"], "text": task["before"], "step": read_at}]
    events += [
        {"kind": "edit", "path": task["path"], "old": old, "new": new, "step": read_at + 1} for old, new in edits
    ]
    begun = _BEGUN + timedelta(hours=7 * number)
    record = {
        "id": f"{task['task']}-{agent.partition('-')[0]}",
        "task_id": task["task"],
        "task_description": f"{task['title']}\n\n{task['description']}",
        "agent_model": agent,
        "agent": _PROGRAM,
        "base_commit": hashlib.sha256(task["before"].encode()).hexdigest()[:40],
        "cost_usd": round(0.004 * len(steps) * (1 + number % 5), 3),
        "repo": task["repo"],
        "tags": [_language(task["path"])],
        "folder": folder,
        "started_at": _at(begun, 0),
        "steps": [_step(message, calls, _at(begun, at), at) for at, (message, calls, _) in enumerate(steps)],
        "file_events": events,
    }
    changed = next(at for at, line in enumerate(after.splitlines(), 1) if line not in task["before"].splitlines())
    truth = Truth(tuple(label for _, _, label in steps), task["path"], changed, flaw)
    return InventedRun(record, truth)


def _exploring_calls(task: dict[str, Any], agent: str, folder: str) -> list[tuple[str, list[dict[str, Any]], str]]:
    """How the agent finds the file. The smallest one lists everything first, which helps nobody."""
    pattern, found = task["search"]
    search = _call("Grep", {"pattern": pattern, "path": folder}, found)
    if agent != "finch-mini":
        return [(_OPENING[agent], [search], "correct")]
    listing = f"{task['path']}\nREADME.md\nMakefile\ntests"
    return [
        (_OPENING[agent], [_call("Bash", {"command": "ls -R | head -60"}, listing)], "unnecessary"),
        (f"I search for `{pattern}`.", [search], "correct"),
    ]


def _edit(attempt: dict[str, Any], before: str) -> tuple[str, str]:
    """The texts with the indentation that they have in the file: YAML takes it away."""
    for prefix in _INDENTS:
        old = indent(attempt["old"], prefix)
        if f"\n{old}" in before or before.startswith(old):
            return old, indent(attempt["new"], prefix)
    raise ValueError(f"{attempt['old']!r} is not in the file")


def _flaw(attempt: dict[str, Any], path: str, after: str) -> Flaw | None:
    if "flaw" not in attempt:
        return None
    given = attempt["flaw"]
    line = [text.strip() for text in after.splitlines()].index(given["at"]) + 1
    return Flaw(path, line, given["category"], given["severity"], given["error"], tuple(given["comments"]))


def _label_step(flaw: Flaw | None) -> str:
    if flaw is None:
        return "correct"
    return "incorrect" if flaw.severity == "critical" else "partially_correct"


def _call(name: str, arguments: dict[str, Any], result: str, *, is_error: bool = False) -> dict[str, Any]:
    return {"name": name, "arguments": arguments, "result": result, **({"is_error": True} if is_error else {})}


def _step(message: str, calls: list[dict[str, Any]], at: str, number: int) -> dict[str, Any]:
    named = [{"id": f"call_{number:02}_{place}", **call} for place, call in enumerate(calls)]
    # A model reads all that came before, most of it from a cache.
    usage = {
        "input_tokens": 1_800 + 640 * number, "cached_tokens": 1_500 + 560 * number, "output_tokens": 40 + len(message),
        "seconds": round(1.2 + len(message) / 40, 1),
    }  # fmt: skip
    return {"message": message, "at": at, "usage": usage, **({"tool_calls": named} if named else {})}


def _numbered(text: str) -> str:
    return "\n".join(f"{number:6}\t{line}" for number, line in enumerate(text.splitlines(), 1))


def _at(begun: datetime, step: int) -> str:
    return f"{begun + timedelta(seconds=_SECONDS_A_STEP * step):%Y-%m-%dT%H:%M:%SZ}"


def _language(path: str) -> str:
    names = {".py": "python", ".ts": "typescript", ".go": "go", ".sql": "sql"}
    return names[Path(path).suffix]
