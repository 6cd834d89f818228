"""What the routes of traces answer about tests and checkers."""

from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import BaseModel, ConfigDict


class TestRunFacts(BaseModel):
    """A command of the agent that ran tests. Numbers are null where its output does not say them."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    # What pytest collects is named so; this is none.
    __test__ = False

    step: int
    """The index of the step, from 0."""
    runner: str
    command: str
    exit_code: int | None = None
    """Of the whole command, as far as the trace has it."""
    outcome: str = ""
    """`passed`, `failed`, `error`, or empty where nothing tells it."""
    passed: int | None = None
    failed: int | None = None
    errors: int | None = None
    skipped: int | None = None


class ReportFacts(BaseModel):
    """What one program said of the run."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    kind: str
    """`swebench`, `junit`, `sarif` or `rdjson`."""
    name: str
    outcome: str
    """Of its tests as a whole: `passed`, `failed`, `error`, or empty where it has none."""
    file: str
    """The file of the import in which it was."""
    passed: int
    failed: int
    errors: int
    skipped: int
    tests: list[dict[str, Any]]
    """`name` and `outcome`, and `group`, `message`, `file`, `line` and `seconds` as far as the report says them; those
    that failed first, 5,000 at most."""
    findings: list[dict[str, Any]]
    """`path`, `message` and `level` (`error`, `warning` or `note`), and `line`, `end_line`, `rule` and `tool` as far as
    the report says them."""


class ListedReport(BaseModel):
    """A report in short."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    id: UUID
    run: str
    """The external id of the run that it is of; empty while it means none, or several."""
    names: list[str]
    """What it names its run by, the surest first."""
    kind: str
    name: str
    outcome: str
    file: str
    passed: int
    failed: int
    errors: int
    skipped: int
    findings: int
    added_at: datetime


class ListedReports(BaseModel):
    next: str | None
    previous: str | None
    results: list[ListedReport]


class TraceChecks(BaseModel):
    """What tests and checkers said of a run."""

    test_runs: list[TestRunFacts]
    reports: list[ReportFacts]
