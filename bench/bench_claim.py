"""What a claim costs the database in a large project, for somebody who has done much of it: 1,000,000 traces, 5,000
done by the person, in batches of every order.

Each way is measured twice: the walk along the index as PostgreSQL itself counts it, prepared as on a connection of the
site, and the whole claim as its caller waits for it.
"""

import os
import time
from contextlib import suppress
from functools import partial
from statistics import median
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection, transaction

from accounts.models import Project
from assignments import next_slot
from assignments.actions.claiming import claim_next
from assignments.actions.submitting import store_submission
from assignments.models import Assignment, Batch, BatchPerson, BatchState, Order, Priority
from assignments.models.queue import RANKS_A_LEVEL, rank_step
from tenancy.actor import acting_in
from tenancy.statements import executed
from tests.assignments.conftest import Queue
from tests.tenants import Tenants

TRACES = int(os.environ.get("BENCH_CLAIM_TRACES", "1000000"))
DONE = int(os.environ.get("BENCH_CLAIM_DONE", "5000"))
CLAIMS = 60
ALLOWED = 2.0
"""Milliseconds of the database a claim."""

_TRACES = """
INSERT INTO traces_trace (id, organisation_id, project_id, file_id, external_id, version, content_sha256, task,
  task_id,
  agent_model, instance_id, repo, tags, started_at, converter, report, gaps, steps_count, tool_calls, files_count,
  added, removed, error_steps, badged_files, imported_at)
SELECT ('0190' || lpad(to_hex(n), 8, '0') || '70008000000000000000')::varchar(32)::uuid, %(organisation)s, %(project)s,
  %(file)s, 'trace-' || n, 1, repeat('0', 64), '', 'task', 'agent-' || n %% 3, '', '', '[]', '', 'native', '{}', '[]',
  1, 0, 0, 0, 0, 0, 0, now()
  FROM generate_series(1, %(traces)s) n
"""
_DONE = """
INSERT INTO assignments_assignment (id, organisation_id, project_id, trace_id, user_id, version_id, kind, state, since,
  claimed_at, fencing_token, skip_reason)
SELECT gen_random_uuid(), q.organisation_id, q.project_id, q.trace_id, %(user)s, %(version)s, 'normal', 'submitted',
  now(), now(), 1, ''
  FROM assignments_tracequota q WHERE q.project_id = %(project)s ORDER BY q.trace_id LIMIT %(done)s
"""


_QUOTAS = """
INSERT INTO assignments_tracequota (id, organisation_id, project_id, trace_id, target, slots, extra, active, done,
  batch_id, is_released, is_reserved, rank, rank_step, withheld, withheld_reason, tags)
SELECT gen_random_uuid(), organisation_id, project_id, id, 3, 3, 0, 0, 0, %(batch)s, true, false,
  row_number() OVER (ORDER BY id) + %(level)s * (row_number() OVER (ORDER BY id) %% 4), %(step)s, '', '', '[]'
  FROM traces_trace WHERE project_id = %(project)s ORDER BY id OFFSET %(offset)s LIMIT %(size)s
"""


def bench_claim_in_a_large_project(committed_tenants: Tenants, capsys: pytest.CaptureFixture[str]) -> None:
    project = committed_tenants.acme_project
    with acting_in(committed_tenants.acme, committed_tenants.alice):
        batches = fill(committed_tenants, project)
    with connection.cursor() as cursor:
        # As their owner, who alone may have the tables counted; the next transaction takes the site's role again.
        cursor.execute("SET ROLE NONE")
        cursor.execute("VACUUM ANALYZE")
    connection.close()
    with capsys.disabled():
        print(f"\n{TRACES:,} traces, {DONE:,} done by the person; milliseconds of the database a claim")
        first = 0.0
        for batch in batches:
            measured = measure(committed_tenants, project)
            show(batch.name, *measured)
            walk = median(measured[1][5:])
            first = first or walk
            print(f"{'':<24} {walk / first:.2f} of the walk as imported")
            with acting_in(committed_tenants.acme, committed_tenants.alice):
                Batch.objects.filter(pk=batch.pk).update(state=BatchState.PAUSED)


def fill(tenants: Tenants, project: Project) -> list[Batch]:
    """The large batches, in the order in which they are given out. Before them comes one that the person has done, and
    thirty small ones that are for others."""
    queue = Queue(tenants, project)
    queue.publish(target=3)
    (first,) = queue.add_traces(1, prefix="first")
    size = TRACES // 5
    with connection.cursor() as cursor:
        facts: dict[str, Any] = {
            "organisation": tenants.acme.pk,
            "project": project.pk,
            "file": first.file_id,
            "traces": TRACES,
            "user": tenants.bob.pk,
            "version": project.versions.get().pk,
            "done": DONE,
        }
        cursor.execute("SET LOCAL statement_timeout = 0")
        cursor.execute(_TRACES, facts)
        done = _batch(project, 1, "done", priority=Priority.URGENT)
        cursor.execute(_QUOTAS, {**facts, "batch": done.pk, "step": 0, "level": 0, "offset": 0, "size": DONE})
        cursor.execute(_DONE, facts)
        for number in range(2, 32):
            BatchPerson.objects.create(
                batch=_batch(project, number, "for others", priority=Priority.HIGH, is_restricted=True),
                user=tenants.alice,
            )
        large = [
            _batch(project, 40, "as imported"),
            _batch(project, 41, "random for each person", order=Order.RANDOM, last_rank=size),
            _batch(project, 42, "fewest first", order=Order.FEWEST),
            _batch(project, 43, "by priority", order=Order.PRIORITY),
            _batch(project, 44, "for the person alone", is_restricted=True),
        ]
        BatchPerson.objects.create(batch=large[-1], user=tenants.bob)
        for at, batch in enumerate(large):
            last = TRACES + 1 - DONE - 4 * size if batch is large[-1] else size
            place: dict[str, Any] = {
                "batch": batch.pk,
                "step": rank_step(batch.order),
                "level": RANKS_A_LEVEL if batch.order == Order.PRIORITY else 0,
                "offset": DONE + at * size,
                "size": last,
            }
            cursor.execute(_QUOTAS, {**facts, **place})
    return large


def _batch(project: Project, number: int, name: str, **facts: Any) -> Batch:
    return Batch.objects.create(project=project, number=number, name=name, state=BatchState.OPEN, **facts)


class _Undone(Exception):  # noqa: N818  (no error)
    """What the measured walk has locked and written down is undone."""


def explain(explained: list[tuple[float, float]], sql: str, values: Any = ()) -> Any:
    """Carry a statement out twice, once with its times counted by PostgreSQL."""
    with connection.cursor() as cursor, suppress(_Undone), transaction.atomic():
        cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {sql}", values)
        ((plan,),) = cursor.fetchall()
        explained.append((plan[0]["Execution Time"], plan[0]["Planning Time"]))
        raise _Undone
    return executed(sql, values)


def measure(tenants: Tenants, project: Project) -> tuple[list[float], list[float], list[float]]:
    taken, walked, planned = [], [], []
    for _ in range(CLAIMS):
        explained: list[tuple[float, float]] = []
        with acting_in(tenants.acme, tenants.bob), pytest.MonkeyPatch.context() as patch, suppress(_Undone):
            patch.setattr(next_slot, "executed", partial(explain, explained))
            next_slot.take_next(next_slot.Walker(tenants.acme.pk, project.pk, tenants.bob.pk))
            raise _Undone
        walked.append(sum(run for run, _ in explained))
        planned.append(sum(plan for _, plan in explained))
        with acting_in(tenants.acme, tenants.bob):
            begin = time.perf_counter()
            claim = claim_next(project=project, user=tenants.bob)
            taken.append((time.perf_counter() - begin) * 1000)
        if not isinstance(claim, Assignment):
            pytest.fail(f"nothing was given out: {claim}")
        with acting_in(tenants.acme, tenants.bob):
            store_submission(
                assignment=claim, fencing_token=claim.fencing_token, key=str(uuid4()), payload={}, result={}
            )
    return taken, walked, planned


def show(name: str, taken: list[float], walked: list[float], planned: list[float]) -> None:
    print(
        f"{name:<24} walk: first {walked[0]:7.2f}, median {median(walked[5:]):5.2f}, most {max(walked[5:]):6.2f}"
        f" (allowed {ALLOWED:.1f}); planned: {median(planned):5.2f}; whole claim: first"
        f" {taken[0]:7.2f}, median {median(taken[5:]):5.2f}"
    )
