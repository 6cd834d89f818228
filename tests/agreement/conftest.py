"""A project of Acme whose annotators judge the same traces, and the worker that computes how far they agree."""

from pathlib import Path
from random import Random
from typing import Any

import pytest
from django.core.management import call_command

from accounts.models import User
from agreement.actions import PAUSE, request_report
from agreement.models import AgreementReport
from assignments.actions.quotas import open_quotas
from assignments.models import Assignment, Batch, BatchState, Submission, TraceQuota
from jobs.models import Job
from jobs.runner import run
from tenancy.actor import acting, acting_in
from tests.agreement.judging import judging as judging
from tests.assignments.annotating import Annotating
from tests.review.evidence import numbered
from tests.tenants import Tenants
from tests.traces.stored import outcome, step, stored
from traces.models import Trace

SCHEMES: list[dict[str, Any]] = [
    {
        "name": "inline_comments",
        "annotation_type": "code_review_comments",
        "inline_comments": {"severity": {"enabled": True}},
    },
    {"name": "file_ratings", "annotation_type": "code_review_file_ratings", "file_ratings": {}},
    {
        "name": "verdict",
        "annotation_type": "code_review_verdict",
        "verdict": {"require_summary": False, "summary_min_length": 0},
    },
    {
        "name": "process_reward",
        "annotation_type": "process_reward",
        "mode": "per_step",
        "per_step": {"error_categories": {"enabled": True}, "require_all_steps": False},
    },
]


class Comparing(Annotating):
    """People who judge the same traces."""

    def publish(self, *, target: int = 2) -> None:
        self.publish_schemes("Review", *SCHEMES, target=target)

    def trace(self, external_id: str, model: str = "model-a", steps: int = 3, **more: Any) -> Trace:
        acts = tuple(step(f"Act {number} of {external_id}") for number in range(steps))
        file = outcome("src/parser.py", numbered(60), numbered(60, (15, 42)))
        return stored(
            self.tenants.acme, self.project, file, external_id=external_id, steps=acts, agent_model=model, **more
        )

    def put_into_second_batch(self, *external_ids: str) -> Batch:
        """Some of the traces into an open batch of their own, "Second, small"; answers the one with the others."""
        with acting(self.actor):
            open_quotas(project=self.project)
            first = Batch.objects.for_project(self.project).get()
            second = Batch.objects.create(
                project=self.project, number=first.number + 1, name="Second, small", state=BatchState.OPEN
            )
            TraceQuota.objects.filter(trace__external_id__in=external_ids).update(batch=second)
        return first

    def judge(
        self,
        user: User,
        decision: str = "approve",
        *,
        rating: int = 4,
        lines: tuple[int, ...] = (),
        labels: str = "ccc",
        category: str = "bug",
        task: Assignment | None = None,
    ) -> Submission:
        """The next trace of that person, or the one of a task that is theirs: a verdict, one rated file, a comment for
        each line, a label for each step."""
        kinds = {"c": "correct", "i": "incorrect", "p": "partially_correct"}
        details = {
            str(at): {
                "label": kinds[label],
                **({"error_category": "Logic error"} if label in "ip" else {}),
            }
            for at, label in enumerate(labels)
        }
        comments = [
            {
                "file": "src/parser.py",
                "line_start": line,
                "line_end": line,
                "category": category,
                "severity": "minor",
                "comment": "Why?",
                "side": "new",
            }
            for line in lines
        ]
        annotations = {
            "inline_comments": comments,
            "file_ratings": {"src/parser.py": {"correctness": rating, "quality": rating}},
            "verdict": {"decision": decision, "summary": ""},
            "process_reward": {"step_details": details},
        }
        return self.submit_annotations(task or self.claim(user), annotations)

    def judge_at_random(self, traces: int, seed: int = 1) -> None:
        """Bob and dora judge so many new traces, each differently now and then."""
        random = Random(seed)  # noqa: S311 - no secrets are made of it
        for number in range(traces):
            self.trace(f"t{seed}-{number}", random.choice(["model-a", "model-b", ""]))
        for person in (self.tenants.bob, self.tenants.dora):
            for _ in range(traces):
                self.judge(
                    person,
                    random.choice(["approve", "approve", "request_changes"]),
                    rating=random.randint(2, 5),
                    lines=tuple(random.sample(range(1, 60), random.randrange(3))),
                    labels="".join(random.choices("ccip", k=3)),
                    category=random.choice(["bug", "style"]),
                )

    def ask(self, **settings: int) -> AgreementReport:
        with acting_in(self.tenants.acme, self.tenants.alice):
            return request_report(project=self.project, settings=settings or {"samples": 50})

    def work(self, report: AgreementReport) -> Job:
        """One task of a worker."""
        assert report.job_id is not None
        run(job_id=report.job_id, actor=self.actor)
        with acting(self.actor):
            return Job.objects.get(pk=report.job_id)

    def done(self, report: AgreementReport) -> AgreementReport:
        """Work until the report's job is over."""
        while (job := self.work(report)).is_open:
            assert not job.failures, job.error
        return self.kept(report)

    def compute(self, **settings: int) -> AgreementReport:
        with acting(self.actor):
            # People may not ask twice within a few seconds, which these stories do.
            for one in AgreementReport.objects.all():
                AgreementReport.objects.filter(pk=one.pk).update(requested_at=one.requested_at - PAUSE)
        return self.done(self.ask(**settings))

    def kept(self, report: AgreementReport) -> AgreementReport:
        with acting(self.actor):
            return AgreementReport.objects.select_related("project", "job").get(pk=report.pk)

    def archive(self) -> Path:
        path = self.folder / "output"
        call_command("export", "--project", "acme/parser", "-f", "archive", "-o", str(path))
        return path


@pytest.fixture
def comparing(committed_tenants: Tenants, tmp_path: Path) -> Comparing:
    made = Comparing(committed_tenants, committed_tenants.acme_project, tmp_path)
    made.publish()
    return made
