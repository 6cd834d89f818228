"""`agent_trace`: which lines of each run's final change the agent wrote, in the open Agent Trace format 0.1."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from potato.formats.notes import Notes, note_line
from potato.formats.options import Options
from potato.formats.registry import Format
from potato.formats.training import readable
from potato.records.sources import Project, Record, TraceFacts, json_text
from potato.runs.changes.derive import derive
from potato.runs.changes.linked_lines import linked_lines, links_within
from potato.runs.changes.model import FileChange, LineLink
from potato.runs.changes.places import Evidence, JudgedFile
from potato.runs.model import AgentRun

VERSION = "0.1"
"""As the published JSON Schema of a record demands it; the examples beside it write 0.1.0."""
_LONGEST_MODEL = 250


class AgentTrace(Format):
    """One Trace Record (<https://agent-trace.dev>) a line for each trace that somebody annotated. `files` has every
    file with added or changed lines, with their `ranges` on the new side: those that a step of the run wrote are of a
    contributor `ai` with the run's model, and those of which the trace does not say who wrote them, as where a command
    changed the file, of a contributor `unknown`. `content_hash` is the SHA-256 of the range's lines as UTF-8, joined by
    line feeds. `model_id` is the model as the trace names it, with a provider in front only where the trace has one.

    `id` is made of the trace's id and version, so that it is the same in every export. `timestamp` is that of the last
    step, else the run's beginning, else that of the first annotation. `metadata.potato` has the trace's id and version,
    its repository and for each range that steps wrote `steps`, their indexes from 0, the last one first. There is no
    `vcs`: no revision is known that holds the agent's change. Files of which nobody knows the line numbers are left
    out and counted as `files_without_lines`. The format has no place for what annotators said."""

    name = "agent_trace"
    label = "Who wrote which lines, one trace a line (Agent Trace 0.1)"
    suffix = ".jsonl"
    media_type = "application/jsonl"
    options = Options
    needs = frozenset({"run"})
    needs_traces = True
    gathers = True

    def __init__(self, project: Project, options: Any, state: Mapping[str, Any] | None = None) -> None:
        super().__init__(project, options, state)
        self._told: set[tuple[str, int]] = set()
        """Traces whose first note has the row."""

    def write(self, record: Record, facts: TraceFacts) -> bytes:
        trace = (record.id, record.trace_version)
        if trace in self._told:
            return note_line(trace, record.timestamp, None)
        run = facts.run
        if run is None:
            return self.leave_out("without_trace")
        self._told.add(trace)
        return note_line(trace, record.timestamp, _trace_record(record, run))

    def gathered(self, notes: Notes) -> Iterator[bytes]:
        for _, same in notes:
            row, skipped = notes.body(same[0])
            self.count("files_without_lines", skipped)
            if not row["timestamp"]:
                row["timestamp"] = min(_moment(note.head) or _EPOCH for note in same)
            self.state["rows"] += 1
            yield f"{json_text(row)}\n".encode("ascii")

    def nothing(self) -> str:
        return "The export selects nothing: no annotation is of a trace that is there. Nothing was written."


_EPOCH = "1970-01-01T00:00:00Z"


def _trace_record(record: Record, run: AgentRun) -> tuple[dict[str, Any], int]:
    """The row, and how many changed files are not in it."""
    changes = [change for change in derive(run).files if change.hunks]
    links = linked_lines(changes)
    files: list[dict[str, Any]] = []
    written: list[dict[str, Any]] = []
    skipped = 0
    for path, file in Evidence.of(changes).files.items():
        if file.numbering != "file":
            skipped += 1
            continue
        added = _added(changes, path)
        linked = [link for start, end in added for link in links_within(links.get(path, ()), "new", start, end)]
        conversations = _conversations(run, file, linked, _others(added, linked))
        if conversations:
            files.append({"path": readable(path), "conversations": conversations})
            written += [
                {"path": readable(path), "start_line": link.first, "end_line": link.last, "steps": list(link.steps)}
                for link in linked
            ]
    about = {"trace_id": readable(record.id), "trace_version": record.trace_version}
    row = {
        "version": VERSION,
        "id": str(uuid5(NAMESPACE_URL, f"potato-trace:{record.trace_version}:{readable(record.id)}")),
        "timestamp": _timestamp(run),
        "files": files,
        "metadata": {
            "potato": about | ({"repository": readable(run.repo)} if run.repo else {}) | {"ranges": written},
        },
    }
    return row, skipped


def _conversations(
    run: AgentRun, file: JudgedFile, linked: Sequence[LineLink], others: Sequence[tuple[int, int]]
) -> list[dict[str, Any]]:
    model = readable(run.agent_model)[:_LONGEST_MODEL]
    agent = {"type": "ai", **({"model_id": model} if model else {})}
    of_steps = [(link.first, link.last) for link in linked]
    return [
        {"contributor": contributor, "ranges": [_range(file, first, last) for first, last in ranges]}
        for contributor, ranges in ((agent, of_steps), ({"type": "unknown"}, others))
        if ranges
    ]


def _range(file: JudgedFile, first: int, last: int) -> dict[str, Any]:
    text = file.text("new", first, last)
    digest = {} if text is None else {"content_hash": f"sha256:{hashlib.sha256(readable(text).encode()).hexdigest()}"}
    return {"start_line": first, "end_line": last, **digest}


def _added(changes: Iterable[FileChange], path: str) -> list[tuple[int, int]]:
    """The added lines of the file in stretches."""
    numbers = sorted(
        {
            line.new_no
            for change in changes
            if change.path == path and change.has_line_numbers
            for hunk in change.hunks
            for line in hunk.lines
            if line.kind == "add" and line.new_no is not None
        }
    )
    return _stretches(numbers)


def _others(added: Iterable[tuple[int, int]], linked: Iterable[LineLink]) -> list[tuple[int, int]]:
    """The added lines without a link."""
    known = {number for link in linked for number in range(link.first, link.last + 1)}
    return _stretches([number for first, last in added for number in range(first, last + 1) if number not in known])


def _stretches(numbers: Iterable[int]) -> list[tuple[int, int]]:
    """Ascending numbers as pairs of the first and the last that follow one another."""
    stretches: list[tuple[int, int]] = []
    for number in numbers:
        if stretches and stretches[-1][1] == number - 1:
            stretches[-1] = (stretches[-1][0], number)
        else:
            stretches.append((number, number))
    return stretches


def _timestamp(run: AgentRun) -> str:
    """When the run ended, else when it began, in UTC; "" where the trace does not say."""
    moments = (_moment(at) for at in (*(step.at for step in reversed(run.steps)), run.started_at))
    return next(filter(None, moments), "")


def _moment(text: str) -> str:
    try:
        moment = datetime.fromisoformat(text)
        # A time without a zone is taken as UTC.
        moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return ""
    return moment.isoformat(timespec="seconds").replace("+00:00", "Z")
