"""What it costs to claim a task and to open its page in a project with so much live gold, in a web process and in all.

The person has done GOLD_DONE tasks of gold before.
"""

import os
import time
from statistics import median
from typing import Any

import pytest
from django.db import connection
from django.test import Client

from assignments.actions.quotas import open_quotas
from assignments.models import Assignment, AssignmentState, Kind, TraceQuota, Withheld
from gold.models import ExpectedAnnotation, Origin
from tests.assignments.conftest import submit
from tests.gold.conftest import REFUSE, GoldQueue
from tests.gold.conftest import gold_queue as gold_queue
from tests.gold.test_secrecy import ANSWER, API
from traces.models.bodies import pack

SIZES = [int(size) for size in os.environ.get("BENCH_GOLD_SIZES", "10,300,2000").split(",")]
GOLD_DONE = 5
TASKS = 60


@pytest.mark.timeout(1800)
def bench_gold_claims(gold_queue: GoldQueue, client: Client, capsys: pytest.CaptureFixture[str]) -> None:
    gold_queue.publish_with("gold: {rate: 0.1}", target=1)
    gold_queue.add_traces(TASKS * (len(SIZES) + 1))
    while open_quotas(project=gold_queue.project):
        pass
    client.force_login(gold_queue.tenants.bob)
    live = 0
    for size in SIZES:
        add_gold(gold_queue, size - live, is_first=not live)
        live = size
        took: dict[str, list[tuple[float, float]]] = {"claim": [], "page": []}
        for _ in range(TASKS):
            answer, claim = timed(client.post, f"{API}projects/parser/next/", "{}", content_type="application/json")
            assignment = Assignment.objects.get(pk=answer.json()["assignment"]["id"])
            _, page = timed(client.get, f"/o/acme/p/parser/tasks/{assignment.pk}/")
            took["claim"].append(claim)
            took["page"].append(page)
            submit(assignment, **ANSWER)
        with capsys.disabled():
            for name, rows in took.items():
                wall, processor = (median(row[at] for row in rows) * 1000 for at in (0, 1))
                print(
                    f"\n{size:,} live gold, {name}: {wall:.2f} ms, of which {processor:.2f} of the web process", end=""
                )


def add_gold(gold_queue: GoldQueue, number: int, *, is_first: bool) -> None:
    traces = gold_queue.add_traces(number, f"gold{number}")
    while open_quotas(project=gold_queue.project):
        pass
    ExpectedAnnotation.objects.bulk_create(
        [
            ExpectedAnnotation(project=gold_queue.project, trace=trace, origin=Origin.EXPERT, packed=pack(REFUSE))
            for trace in traces
        ]
    )
    quotas = TraceQuota.objects.filter(trace__in=traces)
    quotas.update(withheld=Withheld.KNOWN_ANSWER, is_released=False)
    if is_first:
        version = gold_queue.project.versions.latest("number")
        Assignment.objects.bulk_create(
            [
                Assignment(
                    project=gold_queue.project,
                    trace=trace,
                    user=gold_queue.tenants.bob,
                    version=version,
                    kind=Kind.GOLD,
                    state=AssignmentState.SUBMITTED,
                )
                for trace in traces[:GOLD_DONE]
            ]
        )
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")


def timed(request: Any, *values: Any, **named: Any) -> tuple[Any, tuple[float, float]]:
    wall, processor = time.perf_counter(), time.process_time()
    answer = request(*values, **named)
    return answer, (time.perf_counter() - wall, time.process_time() - processor)
