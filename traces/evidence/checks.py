"""What tests and checkers said of a run, as the pages of its trace show it: beside the change, apart from comments.

Grants nothing: the caller knows that this person may read it.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from potato.checks.model import KINDS, LEVELS, Level
from potato.checks.places import files_meant
from potato.wording import counted, listed
from tenancy.prepared import prepared
from traces.models import CheckReport, Trace, TraceFile
from traces.models.traces import Operation

REPORTS_SHOWN = 20
TESTS_SHOWN = 50
FINDINGS_SHOWN = 50
FINDINGS_AT_LINES = 400
"""So many stand at their lines; the rest is in the list alone."""
_LONGEST = 600
_OUTCOMES = {
    "passed": ("Passed", "ok-t", "circle-check"),
    "failed": ("Failed", "bad-t", "circle-x"),
    "error": ("Could not be run", "warn-t", "triangle-alert"),
    "": ("No result", "", "circle-slash"),
}
_LEVELS = {"error": ("Error", "circle-x"), "warning": ("Warning", "triangle-alert"), "note": ("Note", "info")}


@dataclass(frozen=True)
class ShownTest:
    name: str
    outcome: str
    group: str
    message: str

    @property
    def words(self) -> str:
        return _OUTCOMES[self.outcome][0] if self.outcome in _OUTCOMES else self.outcome.capitalize()


@dataclass(frozen=True)
class ShownFinding:
    """A finding; `file` is the file of the change that it is about, None for one that the run did not change."""

    path: str
    line: int | None
    end_line: int | None
    level: Level
    rule: str
    tool: str
    message: str
    file: TraceFile | None

    @property
    def level_words(self) -> str:
        return _LEVELS[self.level][0]

    @property
    def icon(self) -> str:
        return _LEVELS[self.level][1]

    @property
    def place(self) -> str:
        """What stands behind ? and # in the address of its line; "" where it is not among the changed files."""
        if self.file is None:
            return ""
        anchor = f"f{self.file.index}-new-{self.line}" if self.line else f"f{self.file.index}"
        return f"file={self.file.index}#{anchor}"

    @property
    def where(self) -> str:
        lines = f":{self.line}" if self.line else ""
        more = f"-{self.end_line}" if self.line and self.end_line and self.end_line > self.line else ""
        return f"{self.path}{lines}{more}"


@dataclass(frozen=True)
class ShownReport:
    """One report: `tests` are the first ones, those that did not pass before all others."""

    title: str
    outcome: str
    words: str
    tests: Sequence[ShownTest]
    tests_further: int
    findings: Sequence[ShownFinding]
    findings_further: int

    @property
    def outcome_words(self) -> str:
        return _OUTCOMES[self.outcome][0]

    @property
    def tone(self) -> str:
        return _OUTCOMES[self.outcome][1]

    @property
    def icon(self) -> str:
        return _OUTCOMES[self.outcome][2] if self.outcome else "search"

    @property
    def icon_classes(self) -> str:
        return f"i {self.tone}"


@dataclass(frozen=True)
class ShownTestRun:
    """A command of the agent that ran tests."""

    step: int
    command: str
    outcome: str
    words: str

    @property
    def outcome_words(self) -> str:
        return _OUTCOMES[self.outcome][0]

    @property
    def tone(self) -> str:
        return _OUTCOMES[self.outcome][1]

    @property
    def icon(self) -> str:
        return _OUTCOMES[self.outcome][2]

    @property
    def icon_classes(self) -> str:
        return f"i {self.tone}"


@dataclass(frozen=True)
class Checks:
    """All of it. `at_lines` are the findings at lines of changed files, as js/findings.js reads them."""

    reports: Sequence[ShownReport]
    test_runs: Sequence[ShownTestRun]
    at_lines: Sequence[dict[str, Any]]

    @property
    def last_run(self) -> ShownTestRun | None:
        """The last run of tests of which something is told."""
        return next((run for run in reversed(self.test_runs) if run.outcome), None)


@prepared
def reports_of_run(project: UUID, external_id: str) -> "QuerySet[CheckReport]":
    """The reports of a run, in no order."""
    return CheckReport.objects.filter(project=project, external_id=external_id).order_by()


def stored_reports(trace: Trace) -> list[CheckReport]:
    """The reports of the trace's run: those of tests first, then by their names."""
    rows = [*reports_of_run.rows(trace.project_id, trace.external_id)]
    return sorted(rows, key=lambda row: (not row.outcome, row.name, row.added_at))


def checks_of(trace: Trace, files: Sequence[TraceFile]) -> Checks | None:
    """What is known of the run; None where that is nothing, and where the agent ran tests of which nothing is told."""
    return shown_checks(trace, stored_reports(trace), files)


def shown_checks(trace: Trace, rows: Sequence[CheckReport], files: Sequence[TraceFile]) -> Checks | None:
    """The same of reports that were read already."""
    if not rows and not trace.tests_outcome:
        return None
    by_path = {file.path: file for file in files if file.operation != Operation.DELETED}
    found = {row.pk: _findings(row, by_path) for row in rows}
    at_lines = [
        {
            "file": finding.file.index,
            "line": finding.line,
            "end": finding.end_line or finding.line,
            "level": finding.level,
            "by": " ".join(filter(None, (finding.tool, finding.rule))),
            "words": finding.message,
        }
        for findings in found.values()
        for finding in findings
        if finding.file is not None and finding.line is not None
    ]
    return Checks(
        [_report(row, found[row.pk]) for row in rows[:REPORTS_SHOWN]],
        [_test_run(run) for run in trace.test_runs],
        at_lines[:FINDINGS_AT_LINES],
    )


def _findings(row: CheckReport, by_path: Mapping[str, TraceFile]) -> list[ShownFinding]:
    """The gravest ones first, and of these what is about the change."""
    said = row.content.get("findings", ())
    meant = files_meant((finding["path"] for finding in said), by_path)
    shown = [
        ShownFinding(
            path=meant.get(finding["path"], finding["path"]),
            line=finding.get("line"),
            end_line=finding.get("end_line"),
            level=finding.get("level", "warning"),
            rule=finding.get("rule", ""),
            tool=finding.get("tool", row.name),
            message=_cut(finding["message"]),
            file=by_path.get(meant.get(finding["path"], "")),
        )
        for finding in said
    ]
    return sorted(shown, key=lambda one: (one.file is None, LEVELS.index(one.level)))


def _report(row: CheckReport, findings: Sequence[ShownFinding]) -> ShownReport:
    tests = [
        ShownTest(test["name"], test["outcome"], test.get("group", ""), _cut(test.get("message", "")))
        for test in row.content.get("tests", ())[:TESTS_SHOWN]
    ]
    whole = row.passed + row.failed + row.errors + row.skipped
    kind = KINDS.get(row.kind, row.kind)  # type: ignore[call-overload]
    named = row.name if row.kind in ("sarif", "rdjson") or row.name == kind else f"{kind} {row.name}"
    return ShownReport(
        title=named,
        outcome=row.outcome,
        words=_words_of(row, findings),
        tests=tests,
        tests_further=max(0, whole - len(tests)),
        findings=findings[:FINDINGS_SHOWN],
        findings_further=max(0, row.findings - FINDINGS_SHOWN),
    )


def _words_of(row: CheckReport, findings: Iterable[ShownFinding]) -> str:
    if row.kind in ("sarif", "rdjson"):
        levels = Counter(finding.level for finding in findings)
        parts = [counted(levels[level], level) for level in LEVELS if levels[level]]
        return listed(parts, "and") if parts else "nothing found"
    return counts_in_words({name: getattr(row, name) for name in ("passed", "failed", "errors", "skipped")})


def counts_in_words(counts: Mapping[str, int]) -> str:
    """As in "2 failed, 15 passed"; "" where nothing was counted."""
    words = {"failed": "failed", "errors": "could not be run", "passed": "passed", "skipped": "skipped"}
    return ", ".join(f"{counts[name]:,} {said}" for name, said in words.items() if counts.get(name))


def _test_run(run: Mapping[str, Any]) -> ShownTestRun:
    code = run.get("exit_code")
    parts = [counts_in_words(run), "" if code is None else f"exit code {code}"]
    return ShownTestRun(run["step"], run["command"], run.get("outcome", ""), ", ".join(filter(None, parts)))


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
