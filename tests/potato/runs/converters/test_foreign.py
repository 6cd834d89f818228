"""Files that are known by sight and are no runs are refused by what they are."""

import json
from typing import Any

import pytest

from potato.runs.converters.reading import read_file
from potato.runs.model import ReadingOptions, Unreadable
from potato.runs.run_files import StoredRunFile
from tests.potato.runs.reading import jsonl, the_refusal
from tests.shared_data import shared_file, shared_files

ENTIRE = "what Entire keeps of a checkpoint beside the session's own file"
MADE: list[tuple[str, str, Any]] = [
    ("a.json", "a JSON schema", {"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object"}),
    ("a.jsonl", "a JSON schema", [{"$defs": {}}]),
    (
        "logs.json",
        "Gemini CLI's list of what people typed (logs.json)",
        [{"sessionId": "s", "messageId": 0, "type": "user", "message": "Round.", "timestamp": "2026-01-01"}],
    ),
    ("a.jsonl", "Codex's list of what people typed", [{"session_id": "s", "ts": 1, "text": "Round."}]),
    (
        "a.jsonl",
        "Claude Code's list of what people typed",
        [{"display": "Round.", "pastedContents": {}, "timestamp": 1, "project": "/shop"}],
    ),
    (
        "files.json",
        "the list of files of a pull request",
        [{"sha": "1", "filename": "a.py", "status": "modified", "changes": 2, "patch": "@@ -1 +1 @@"}],
    ),
    (
        "mr.json",
        "a merge request of GitLab",
        {"iid": 7, "project_id": 3, "title": "Round", "web_url": "https://gitlab.example/a/b/-/merge_requests/7"},
    ),
    ("a.json", "metrics of OpenTelemetry", {"resourceMetrics": []}),
    ("metadata.json", ENTIRE, {"checkpoint_id": "0", "session_id": "s", "strategy": "auto", "branch": "main"}),
]


def file_of(content: Any, name: str) -> bytes:
    return jsonl(*content) if name.endswith(".jsonl") else json.dumps(content, indent=1).encode()


@pytest.mark.parametrize(("name", "said", "content"), MADE)
@pytest.mark.parametrize("named", ["auto", "claude_code"])
def test_what_is_known_by_sight_is_refused_by_what_it_is(name: str, said: str, content: Any, named: str) -> None:
    refusal = the_refusal(file_of(content, name), name, named=named)
    reads = "The project reads claude_code." if named == "claude_code" else "Potato reads "
    assert refusal.sentence.startswith(f"{name} is {said}")
    assert f", and no trace. {reads}" in refusal.sentence
    assert "say so" not in refusal.sentence


def test_what_nobody_knows_by_sight_is_described_as_before() -> None:
    assert "a JSON object with the keys mood" in the_refusal(b'{"mood": 1}', "a.json").sentence


REAL = {
    "otel-genai/*.json": {"a JSON schema"},
    "claude-code/*/metadata.json": {ENTIRE},
}


@pytest.mark.parametrize("pattern", REAL)
def test_real_files_that_are_no_runs_are_refused_by_what_they_are(pattern: str) -> None:
    shared_file("MANIFEST.md")
    for path in shared_files(pattern):
        source = StoredRunFile(path.name, lambda path=path: path.open("rb"), path.stat().st_size)  # type: ignore[misc]
        (refusal,) = read_file(source, ReadingOptions())
        assert isinstance(refusal, Unreadable), path
        assert any(f" is {name}, and no trace." in refusal.sentence for name in REAL[pattern]), (
            path,
            refusal.sentence,
        )
        assert "say so" not in refusal.sentence
