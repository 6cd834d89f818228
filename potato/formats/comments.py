"""`code_review_comments`: one comment a line, with the code that it is about."""

from collections.abc import Collection
from typing import Any

from potato.checks.places import findings_within
from potato.formats.options import RecordOptions
from potato.formats.registry import Format
from potato.formats.review_comments import TYPE, comment_entries, commented_paths
from potato.records.sources import Record, TraceChecks, TraceFacts, json_text
from potato.runs.changes.linked_lines import links_within
from potato.runs.changes.model import Hunk
from potato.runs.changes.places import SIDES, JudgedFile, Side
from potato.schemes.review.comments import is_general

_SIGNS = {"context": " ", "add": "+", "del": "-"}
_NO_LINE_END = "\n\\ No newline at end of file\n"


class Comments(Format):
    """The comment's own keys as they stand in the record, then what is known of its place: `side` ("new" or "old"), the
    record's `id` and `annotator` (or `source`, where an automated source answered), `diff_hunk` (the hunks that hold a
    commented line, as a unified diff) and `commented_text`. `line_start` and `line_end` count lines of the file on that
    side; with `"numbering": "excerpt"` the trace does not say where in the file they stand, and they count the lines of
    that side as they were shown, from 1, a gap between two hunks as one line: such a hunk begins with `@@ -0,3 +0,4
    @@`. A comment without a side is on the new one. A general comment has `subject_type` instead of a side and lines:
    "file", or "change" for the whole change; its `diff_hunk` and `commented_text` are null.

    `line_steps` stands where steps of the trace are known to have written commented lines: stretches of them with
    `steps`, the indexes of the steps from 0, the last one first. Of a line on the old side that is the step that
    removed it. Lines that a command or a person wrote, as far as the trace does not say how, are in no stretch.

    `test_outcome` is what imported reports of tests say of the run together ("passed", "failed" or "error"),
    `agent_test_outcome` what the last tests said that the agent ran itself, and `findings` what checkers found on
    commented lines of the new side; each stands where something is known."""

    name = "code_review_comments"
    label = "Comments with the code they are about, one a line"
    suffix = ".jsonl"
    media_type = "application/jsonl"
    options = RecordOptions
    needs = frozenset({"task_description", "files", "links", "checks"})
    annotation_types = frozenset({TYPE})

    def paths(self, record: Record) -> Collection[str]:
        return commented_paths(record, self.project)

    def write(self, record: Record, facts: TraceFacts) -> bytes:
        rows = [json_text(_row(comment, record, facts)) for comment in comment_entries(record, self.project)]
        self.state["rows"] += len(rows)
        return "".join(f"{row}\n" for row in rows).encode("ascii")

    def nothing(self) -> str:
        return "The export selects nothing: no annotation has a comment. Nothing was written."


def _row(comment: dict[str, Any], record: Record, facts: TraceFacts) -> dict[str, Any]:
    side: Side = next((side for side in SIDES if side == comment.get("side")), "new")
    path, start = comment.get("file"), comment.get("line_start")
    end = comment.get("line_end", start)
    file = facts.file(path) if isinstance(path, str) else None
    hunk = text = None
    if file is not None and isinstance(start, int) and isinstance(end, int):
        hunk, text = diff_hunk(file, side, start, end), file.text(side, start, end)
    return {
        **comment,
        **({} if is_general(comment) else {"side": side}),
        "id": record.id,
        **({"trace_version": record.trace_version} if record.trace_version > 1 else {}),
        **({"annotator": record.annotator} if record.source is None else {"source": record.source.as_json()}),
        "task_description": facts.task_description,
        "diff_hunk": hunk,
        "commented_text": text,
        **_line_steps(facts, path, side, start, end),
        **_checks(facts.checks, path, side, start, end),
    }


def _line_steps(facts: TraceFacts, path: Any, side: Side, start: Any, end: Any) -> dict[str, Any]:
    if not (isinstance(path, str) and isinstance(start, int) and isinstance(end, int)):
        return {}
    links = links_within(facts.linked_lines.get(path, ()), side, start, end)
    steps = [{"line_start": link.first, "line_end": link.last, "steps": list(link.steps)} for link in links]
    return {"line_steps": steps} if steps else {}


def _checks(checks: TraceChecks, path: Any, side: Side, start: Any, end: Any) -> dict[str, Any]:
    said = {
        name: outcome
        for name, outcome in (("test_outcome", checks.outcome), ("agent_test_outcome", checks.agent_outcome))
        if outcome
    }
    if not (isinstance(path, str) and isinstance(start, int) and isinstance(end, int)) or side != "new":
        return said
    findings = findings_within(checks.findings.get(path, ()), start, end)
    return {**said, "findings": [dict(finding) for finding in findings]} if findings else said


def diff_hunk(file: JudgedFile, side: Side, start: int, end: int) -> str | None:
    """The hunks that hold one of the lines, as a unified diff has them; None where no hunk does."""
    hunks = [
        hunk_text(hunk)
        for change in file.changes
        for hunk in change.shown_hunks
        if any(
            start <= number <= end
            for line in hunk.lines
            if (number := line.new_no if side == "new" else line.old_no) is not None
        )
    ]
    return "".join(hunks) or None


def hunk_text(hunk: Hunk) -> str:
    """The hunk with its header. Texts stand as they are, whatever they hold."""
    section = f" {hunk.section}" if hunk.section else ""
    lines = [f"@@ -{_range(hunk.old_start, hunk.old_count)} +{_range(hunk.new_start, hunk.new_count)} @@{section}\n"]
    for line in hunk.lines:
        lines.append(_SIGNS[line.kind] + line.whole)
        if line.ends == "none":
            lines.append(_NO_LINE_END)
    return "".join(lines)


def _range(start: int, count: int) -> str:
    return str(start) if count == 1 else f"{start},{count}"
