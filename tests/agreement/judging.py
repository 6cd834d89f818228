"""Acme's project with runs that people gave verdicts on, and what a judge says of the same runs."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from accounts.models import User
from agreement.models import Source, SourceReport
from agreement.sources.actions import take_answers
from jobs.models import Job
from jobs.runner import run
from tenancy.actor import Actor, acting
from tests.assignments.annotating import Annotating
from tests.review.evidence import numbered
from tests.tenants import Tenants
from tests.traces.stored import outcome, stored
from traces.models import Trace

JUDGE = {"name": "judge-a", "model": "large-1", "version": "3.1", "kind": "llm_judge"}
SCHEMES: tuple[dict[str, Any], ...] = (
    {
        "name": "inline_comments",
        "annotation_type": "code_review_comments",
        "inline_comments": {"severity": {"enabled": False}},
    },
    {
        "name": "verdict",
        "annotation_type": "code_review_verdict",
        "verdict": {"require_summary": False, "summary_min_length": 0},
    },
)


def comment(line: int, category: str = "bug") -> dict[str, Any]:
    return {"file": "src/parser.py", "line_start": line, "category": category, "comment": "This breaks at the end."}


def verdict(decision: str, *comments: dict[str, Any]) -> dict[str, Any]:
    return {"inline_comments": list(comments), "verdict": {"decision": decision}}


def answer(trace: str, decision: str, *comments: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A judge's record; its comments stand in it where there are any."""
    annotations: dict[str, Any] = {"verdict": {"decision": decision}}
    if comments:
        annotations["inline_comments"] = list(comments)
    return {"id": trace, "annotations": annotations, "source": JUDGE, **more}


def lines(records: Iterable[Any]) -> bytes:
    return "".join(json.dumps(record) + "\n" for record in records).encode("ascii")


class Judging(Annotating):
    def begin(self, traces: int, target: int = 3) -> list[Trace]:
        self.publish_schemes("Review", *SCHEMES, target=target)
        return [self.trace(f"t{number:02}", f"model-{number % 2}") for number in range(traces)]

    def trace(self, name: str, model: str) -> Trace:
        file = outcome("src/parser.py", numbered(60), numbered(60, (15, 42)))
        return stored(self.tenants.acme, self.project, file, external_id=name, task="Fix the parser", agent_model=model)

    def people_say(self, decisions: dict[str, str]) -> None:
        """Three people judge all runs, and agree but for their comments."""
        for place, person in enumerate((self.tenants.bob, self.tenants.dora, self.tenants.alice)):
            self.person_says(person, decisions, place)

    def person_says(self, person: User, decisions: dict[str, str], place: int = 0) -> None:
        for _ in decisions:
            assignment = self.claim(person)
            decision = decisions[assignment.trace.external_id]
            comments = [comment(15 + place)] if decision == "request_changes" else []
            self.submit_annotations(assignment, verdict(decision, *comments))

    @property
    def actor(self) -> Actor:
        return Actor(self.tenants.acme.pk, (self.tenants.acme.pk,), self.tenants.mallory.pk)

    def work(self) -> None:
        """What a worker does until no job of the organisation waits."""
        for _ in range(50):
            with acting(self.actor):
                job = Job.objects.open().order_by("created_at").first()
            if job is None:
                return
            run(job_id=job.pk, actor=self.actor)
        raise AssertionError("Jobs do not come to an end.")

    def take(self, records: Iterable[Any]) -> None:
        """Answers that a program sends."""
        with acting(self.actor):
            taken = take_answers(project=self.project, records=list(records))
        assert not taken.problems, taken.problems

    def source(self, **named: str) -> Source:
        with acting(self.actor):
            return Source.objects.select_related("project").get(**named)

    def report(self, source: Source) -> SourceReport:
        with acting(self.actor):
            newest = SourceReport.objects.of(source).computed().first()
            assert newest is not None
            return newest


@pytest.fixture
def judging(committed_tenants: Tenants, tmp_path: Path) -> Judging:
    return Judging(committed_tenants, committed_tenants.acme_project, tmp_path)
