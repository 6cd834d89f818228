"""Whether the time of an answer tells a task with a known answer from the others: claiming, opening and submitting
TASKS of each kind over the API, in the order in which they are drawn, each request a transaction as on a site.

The chance that a task of gold took longer than another one is 0.5 where time tells nothing.
"""

import json
import math
import os
import time
from collections import defaultdict
from statistics import median
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client

from assignments.models import Assignment, Kind
from tenancy.actor import acting_in
from tests.gold.conftest import GoldQueue
from tests.gold.test_secrecy import ANSWER, API, mix
from tests.tenants import Tenants

TASKS = int(os.environ.get("BENCH_GOLD_TASKS", "250"))
_JSON: dict[str, Any] = {"content_type": "application/json"}


@pytest.mark.timeout(1800)
def bench_gold_timing(committed_tenants: Tenants, client: Client, capsys: pytest.CaptureFixture[str]) -> None:
    tenants = committed_tenants
    with acting_in(tenants.acme, tenants.alice):
        mix(GoldQueue(tenants, tenants.acme_project), TASKS + 150)
    client.force_login(tenants.bob)
    took: dict[str, dict[str, list[tuple[float, float]]]] = defaultdict(lambda: defaultdict(list))
    kinds: list[str] = []
    while min(kinds.count(Kind.GOLD), kinds.count(Kind.NORMAL)) < TASKS:
        steps: dict[str, tuple[float, float]] = {}
        claimed, steps["claim"] = _timed(lambda: client.post(f"{API}projects/parser/next/", "{}", **_JSON))
        assignment = claimed.json()["assignment"]
        here = f"{API}assignments/{assignment['id']}/"
        body = json.dumps({"lease_token": assignment["lease_token"], "annotations": ANSWER})
        page = f"/o/acme/p/parser/tasks/{assignment['id']}/"
        _, steps["page"] = _timed(lambda page=page: client.get(page))
        answer, steps["submit"] = _timed(
            lambda here=here, body=body: client.post(f"{here}submit/", body, **_JSON, HTTP_IDEMPOTENCY_KEY=str(uuid4()))
        )
        if answer.status_code != 201:
            raise RuntimeError(answer.content)
        with acting_in(tenants.acme):
            kind = Assignment.objects.values_list("kind", flat=True).get(pk=assignment["id"])
        kinds.append(kind)
        for name, one in steps.items():
            took[name][kind].append(one)
    with capsys.disabled():
        print(f"\n{kinds.count(Kind.GOLD)} of gold and {kinds.count(Kind.NORMAL)} others")
        for name, by_kind in took.items():
            for at, clock in enumerate(("wall", "processor of the web process")):
                gold, other = ([one[at] * 1000 for one in by_kind[kind]] for kind in (Kind.GOLD, Kind.NORMAL))
                longer = _longer(gold, other)
                # Of two samples of one distribution (Mann and Whitney).
                error = math.sqrt((len(gold) + len(other) + 1) / (12 * len(gold) * len(other)))
                print(
                    f"{name}, {clock}: {median(gold):.2f} and {median(other):.2f} ms, gold takes longer with a chance "
                    f"of {longer:.3f} (by chance alone {0.5 - 1.96 * error:.3f} to {0.5 + 1.96 * error:.3f})"
                )


def _timed(do: Any) -> tuple[Any, tuple[float, float]]:
    wall, processor = time.perf_counter(), time.process_time()
    answer = do()
    return answer, (time.perf_counter() - wall, time.process_time() - processor)


def _longer(first: list[float], other: list[float]) -> float:
    return sum((one > two) + (one == two) / 2 for one in first for two in other) / (len(first) * len(other))
