"""A report of tests or of a checker as every reader hands it on. Pure data: nothing here reads or shows anything."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

Kind: TypeAlias = Literal["swebench", "junit", "sarif", "rdjson"]
TestOutcome: TypeAlias = Literal["passed", "failed", "error", "skipped"]
"""Of one test: `error` where it could not be run to its end."""
Level: TypeAlias = Literal["error", "warning", "note"]
Outcome: TypeAlias = Literal["", "passed", "failed", "error"]
"""Of tests as a whole; "" where there are none."""

KINDS: dict[Kind, str] = {
    "swebench": "SWE-bench",
    "junit": "Tests",
    "sarif": "SARIF",
    "rdjson": "reviewdog",
}
TEST_OUTCOMES: tuple[TestOutcome, ...] = ("failed", "error", "passed", "skipped")
LEVELS: tuple[Level, ...] = ("error", "warning", "note")


class UnreadableReport(Exception):  # noqa: N818  (an answer to the person who brought the file)
    """A file of which no report can be read. The sentence says why, and what to do."""

    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code
        self.sentence = sentence


@dataclass(frozen=True, slots=True)
class ReportBounds:
    """How much is read of one file, and how much is kept. What is over a bound is counted, or an error by name."""

    file_bytes: int = 32 * 2**20
    depth: int = 100
    reports: int = 10_000
    tests: int = 5_000
    findings: int = 2_000
    text: int = 2_000
    path: int = 1_000


BOUNDS = ReportBounds()


@dataclass(frozen=True, slots=True)
class Test:
    """One test and what became of it. `message` is the beginning of what it said; `file` and `line` say where it
    stands, where the report does."""

    # What pytest collects is named so; this is none.
    __test__ = False

    name: str
    outcome: TestOutcome
    group: str = ""
    message: str = ""
    file: str = ""
    line: int | None = None
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """What a checker says of lines of a file as the run left it. `line` is None for one about the whole file."""

    path: str
    message: str
    line: int | None = None
    end_line: int | None = None
    level: Level = "warning"
    rule: str = ""
    tool: str = ""


@dataclass(frozen=True, slots=True)
class Counts:
    """How many tests there are of each outcome. All of them, also those that a report does not list."""

    passed: int = 0
    failed: int = 0
    errors: int = 0
    skipped: int = 0

    def __bool__(self) -> bool:
        return bool(self.passed or self.failed or self.errors or self.skipped)

    @property
    def outcome(self) -> Outcome:
        """What these tests say together: nothing where none was run."""
        if self.failed:
            return "failed"
        if self.errors:
            return "error"
        return "passed" if self.passed else ""

    @classmethod
    def of(cls, outcomes: Iterable[TestOutcome]) -> "Counts":
        counted = Counter(outcomes)
        return cls(counted["passed"], counted["failed"], counted["error"], counted["skipped"])


NO_TESTS = Counts()


@dataclass(frozen=True, slots=True)
class Report:
    """What one program said of one run.

    `ids` are names of the run, its instance or its task, the surest first: those that the report states, then those of
    the folders and the file in which it lay. `model` is the model that surely made the run, "" where the report does
    not say; `hints` are names that may be its model's, and tell runs of one instance apart. `left_out` counts by short
    names what was not kept.
    """

    kind: Kind
    name: str
    ids: tuple[str, ...] = ()
    model: str = ""
    hints: tuple[str, ...] = ()
    outcome: Outcome = ""
    counts: Counts = NO_TESTS
    tests: tuple[Test, ...] = ()
    findings: tuple[Finding, ...] = ()
    left_out: Counter[str] = field(default_factory=Counter)


def report_content(report: Report) -> dict[str, Any]:
    """The tests, the findings and what was left out, as JSON; facts that are not known are left out."""
    return {
        "tests": [_known(test) for test in report.tests],
        "findings": [_known(finding) for finding in report.findings],
        "left_out": dict(report.left_out),
    }


def is_report_record(value: Any) -> bool:
    """Whether a value is a report as the site writes it beside a run."""
    if not isinstance(value, dict) or not all(isinstance(value.get(key), str) for key in ("kind", "name", "outcome")):
        return False
    findings = value.get("findings")
    return isinstance(value.get("tests"), list) and isinstance(findings, list) and all(map(_is_finding, findings))


def _is_finding(value: Any) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("path"), str):
        return False
    return all(value.get(key) is None or isinstance(value[key], int) for key in ("line", "end_line"))


def _known(item: Test | Finding) -> dict[str, Any]:
    members = {name: getattr(item, name) for name in item.__slots__}
    return {name: value for name, value in members.items() if value not in ("", None)}


def kept_tests(tests: Iterable[Test], left_out: Counter[str], bounds: ReportBounds = BOUNDS) -> tuple[Test, ...]:
    """Those that failed first, as many as are kept."""
    ordered = sorted(tests, key=lambda test: TEST_OUTCOMES.index(test.outcome))
    if len(ordered) > bounds.tests:
        left_out["test over the bound"] += len(ordered) - bounds.tests
    return tuple(ordered[: bounds.tests])


def kept_findings(
    findings: Iterable[Finding], left_out: Counter[str], bounds: ReportBounds = BOUNDS
) -> tuple[Finding, ...]:
    """The gravest first, as many as are kept, in the order of their places."""
    ordered = sorted(findings, key=lambda finding: LEVELS.index(finding.level))
    if len(ordered) > bounds.findings:
        left_out["finding over the bound"] += len(ordered) - bounds.findings
    return tuple(sorted(ordered[: bounds.findings], key=lambda finding: (finding.path, finding.line or 0)))


def short(text: str, length: int) -> str:
    """The text, cut to a length."""
    return text if len(text) <= length else text[: length - 1] + "…"
