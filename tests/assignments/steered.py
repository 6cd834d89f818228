"""A project whose imports wait in the pool, and what the tests of steering ask of it."""

from typing import Any

import pytest

from accounts.models import Project
from assignments.actions.releasing import (
    BatchFacts,
    release_batch,
)
from assignments.actions.steering import (
    let_imports_wait,
)
from assignments.models import (
    Batch,
    TraceQuota,
)
from assignments.pool.selecting import Selection
from tests.assignments.conftest import Queue, submit


@pytest.fixture
def pool(queue: Queue) -> Queue:
    """A project whose imports wait in the pool."""
    other = Queue(queue.tenants, Project.objects.create(slug="pool", name="Pool"))
    let_imports_wait(project=other.project, wait=True)
    other.publish()
    return other


def release(queue: Queue, selection: Selection | None = None, **facts: Any) -> Batch:
    return release_batch(
        project=queue.project, selection=selection or Selection(), facts=BatchFacts(**{"name": "First", **facts})
    )


def names(batch: Batch) -> list[str]:
    rows = TraceQuota.objects.filter(batch=batch).order_by("trace")
    return list(rows.values_list("trace__external_id", flat=True))


def given_in_turn(queue: Queue, count: int) -> list[str]:
    """What bob is given, one after another."""
    given = []
    for _ in range(count):
        claim = queue.claimed(queue.tenants.bob)
        given.append(claim.trace.external_id)
        submit(claim)
    return given
