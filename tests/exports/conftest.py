"""A project of Acme whose traces people review, and the ways in which its reviews leave."""

import copy
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from accounts.models import User
from assignments.models import Assignment, Submission
from potato.commands.export import main
from tests.assignments.annotating import Annotating
from tests.review.documented_record import RECORD
from tests.review.evidence import numbered
from tests.tenants import Tenants
from tests.traces.stored import outcome, stored
from traces.models import Trace

ANSWERS: dict[str, Any] = RECORD["annotations"]
SCHEMES = [
    ("inline_comments", "code_review_comments", {"severity": {"enabled": True}}),
    ("file_ratings", "code_review_file_ratings", {}),
    ("verdict", "code_review_verdict", {"require_summary": False, "summary_min_length": 0}),
]
FORMATS = {
    "agent_trace": ".jsonl",
    "code_repair": ".jsonl",
    "code_review": ".jsonl",
    "code_review_comments": ".jsonl",
    "code_review_file_ratings": ".csv",
    "code_review_verdicts": ".json",
    "github_review": ".jsonl",
    "langfuse_scores": ".jsonl",
    "otel_evaluations": ".jsonl",
    "records_parquet": ".parquet",
    "sarif": ".sarif",
}


class Reviews(Annotating):
    def publish(self, *, wanted: int = 3, **names: str) -> None:
        """A version of the configuration in which some schemes have other names."""
        entries = [
            {"name": names.get(name, name), "annotation_type": kind, name: block} for name, kind, block in SCHEMES
        ]
        self.publish_schemes("Review", *entries, target=wanted)

    def trace(self, external_id: str = "trace_042", model: str = "model-a") -> Trace:
        files = (
            outcome("src/parser.py", numbered(60), numbered(60, (15, 42))),
            outcome("tests/test_parser.py", None, numbered(31)),
        )
        return stored(
            self.tenants.acme, self.project, *files, external_id=external_id, task="Fix the parser", agent_model=model
        )

    def submit(self, user: User, **changes: Any) -> Submission:
        """The next trace of that person, reviewed as documented but for some parts."""
        return self.submit_answers(self.claim(user), **changes)

    def submit_answers(self, assignment: Assignment, **changes: Any) -> Submission:
        return self.submit_annotations(assignment, {**copy.deepcopy(ANSWERS), **changes})

    def export(self, format: str, *flags: str, suffix: str = "") -> bytes:
        """What `manage.py export` writes."""
        path = self.folder / f"stored-{format}{suffix}"
        call_command("export", "--project", "acme/parser", "-f", format, "-o", str(path), *flags)
        return path.read_bytes() if path.is_file() else b""

    def archive(self) -> Path:
        path = self.folder / "archive.zip"
        self.export("archive", suffix=".zip")
        return (self.folder / "stored-archive.zip").rename(path)

    def offline(self, format: str, *flags: str) -> bytes:
        """What the offline command makes of the project's archive."""
        path = self.folder / f"offline-{format}"
        assert main(["-i", str(self.archive()), "-f", format, "-o", str(path), *flags]) == 0
        return path.read_bytes()


@pytest.fixture
def reviews(committed_tenants: Tenants, tmp_path: Path) -> Reviews:
    made = Reviews(committed_tenants, committed_tenants.acme_project, tmp_path)
    made.publish()
    return made
