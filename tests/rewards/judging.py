"""A project of Acme whose steps people rate one by one, and the worker that computes its statistics."""

from pathlib import Path
from random import Random
from typing import Any

from django.core.management import call_command

from accounts.models import User
from assignments.models import Assignment, Submission
from jobs import outbox
from jobs.models import Job
from jobs.runner import run
from rewards.models import RewardStatistics
from rewards.statistics import request_statistics
from tenancy.actor import acting
from tests.assignments.annotating import Annotating
from tests.traces.stored import step, stored
from traces.models import Trace

LABELS = ("correct", "partially_correct", "incorrect", "unnecessary", "recovery")
CATEGORIES = ("Wrong tool selected", "Logic error", "Other")


class Judging(Annotating):
    def publish(self, *, target: int = 2, **block: Any) -> None:
        scheme = {
            "name": "process_reward",
            "annotation_type": "process_reward",
            "mode": "per_step",
            "per_step": {"error_categories": {"enabled": True}, "require_all_steps": False},
            **block,
        }
        self.publish_schemes("Steps", scheme, target=target)

    def trace(self, external_id: str, steps: int, model: str = "model-a") -> Trace:
        acts = tuple(step(f"Act {number} of {external_id}") for number in range(steps))
        return stored(
            self.tenants.acme, self.project, external_id=external_id, task="Do it", steps=acts, agent_model=model
        )

    def rate(self, user: User, *labels: str | None) -> Submission:
        """The next trace of that person with these labels; a wrong step is of the category "Logic error"."""
        return self.submit(self.claim(user), {str(at): rated(label) for at, label in enumerate(labels) if label})

    def rate_at_random(self, user: User, random: Random) -> Submission:
        assignment = self.claim(user)
        details = {
            str(at): rated(random.choices(LABELS, (6, 1, 1, 1, 1))[0], random.choice(CATEGORIES))
            for at in range(assignment.trace.steps_count)
            if random.random() < 0.9 or not at
        }
        return self.submit(assignment, details)

    def submit(self, assignment: Assignment, details: dict[str, Any]) -> Submission:
        return self.submit_annotations(assignment, {"process_reward": {"step_details": details}})

    def tell(self) -> None:
        """Deliver the waiting events, as the worker does."""
        outbox.deliver(self.actor)

    def ask(self) -> RewardStatistics:
        with acting(self.actor):
            return request_statistics(project=self.project)

    def work(self, asked: RewardStatistics) -> Job:
        """One task of a worker."""
        assert asked.job_id is not None
        run(job_id=asked.job_id, actor=self.actor)
        with acting(self.actor):
            return Job.objects.get(pk=asked.job_id)

    def compute(self) -> dict[str, Any]:
        """Ask, work until it is done, and answer the figures."""
        asked = self.ask()
        while (job := self.work(asked)).is_open:
            assert not job.failures, job.error
        assert job.state == "done", job.error
        figures: dict[str, Any] = self.kept().figures
        return figures

    def kept(self) -> RewardStatistics:
        with acting(self.actor):
            return RewardStatistics.objects.select_related("job").get(project=self.project)

    def archive(self) -> Path:
        """The project's archive, unpacked."""
        path = self.folder / "output"
        call_command("export", "--project", "acme/parser", "-f", "archive", "-o", str(path))
        return path


def rated(label: str, category: str = "Logic error") -> dict[str, str]:
    return {"label": label, **({"error_category": category} if label in ("incorrect", "partially_correct") else {})}
