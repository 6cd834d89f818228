"""A project with gold among its traces."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import settings
from django.urls import set_urlconf

from accounts.actions.projects import publish_configuration
from accounts.models import User
from assignments.models import Assignment, Submission
from gold.actions import expect
from gold.models import ExpectedAnnotation, Use
from tenancy.actor import acting_in
from tests.assignments.conftest import Queue, submit
from tests.tenants import Tenants

YAML = """task_name: Review
annotation_schemes:
  - annotation_type: code_review_verdict
    name: verdict
assignment:
  order: random
  max_open: {max_open}
  annotations_per_trace: {target}
{blocks}
"""
APPROVE = {"verdict": {"decision": "approve", "summary": ""}}
REFUSE = {"verdict": {"decision": "request_changes", "summary": "The bound is off by one."}}


@pytest.fixture
def addresses() -> Iterator[None]:
    """Those of an organisation, as a request has them."""
    set_urlconf(settings.ORGANISATION_URLCONF)
    yield
    set_urlconf(None)


class GoldQueue(Queue):
    """The same acts, in a project that mixes something in."""

    def publish_with(self, blocks: str, *, target: int = 1, max_open: int = 1) -> None:
        source = YAML.format(blocks=blocks, target=target, max_open=max_open)
        publish_configuration(project=self.project, source=source)

    def add_gold(
        self, count: int, prefix: str = "gold", *, annotations: Any = REFUSE, use: Use = Use.GOLD
    ) -> list[ExpectedAnnotation]:
        return [expect(trace=trace, annotations=annotations, use=use) for trace in self.add_traces(count, prefix)]

    def tasks(self, user: User, number: int, answer: Any = None) -> list[tuple[Assignment, Submission]]:
        """So many tasks in a row, each submitted; `answer` makes the result of an assignment."""
        done = []
        for _ in range(number):
            assignment = self.claimed(user)
            done.append((assignment, submit(assignment, **(answer(assignment) if answer else APPROVE))))
        return done


@pytest.fixture
def gold_queue(tenants: Tenants) -> Iterator[GoldQueue]:
    """Acme's project, published without anything mixed in; Acme is entered."""
    with acting_in(tenants.acme, tenants.alice):
        queue = GoldQueue(tenants, tenants.acme_project)
        queue.publish_with("")
        yield queue
