"""The queue of adjudicators of a project with 10,000 traces that ten people each reviewed: its page, and taking one."""

import time
from collections.abc import Callable
from uuid import UUID

import pytest
from django.db import connection
from django.test import Client

from accounts.actions.projects import publish_configuration
from adjudication.disagreements import next_annotated, update_traces
from adjudication.models import Disagreement
from adjudication.queue import MOST_COUNTED, in_turn, take_next
from bench.bench_export import YAML
from tenancy.actor import Actor, acting, acting_in
from tests.exports.seeding import count_rows, seed
from tests.tenants import Tenants

PAGE = "/o/acme/p/parser/adjudicate/"
TIMES = 7
TRACES = 10_000
_QUEUE = """
INSERT INTO assignments_tracequota (id, organisation_id, project_id, trace_id, target, slots, extra, active, done,
  is_released, is_reserved, rank, rank_step, withheld, withheld_reason, tags)
SELECT gen_random_uuid(), t.organisation_id, t.project_id, t.id, 10, 10, 0, 0, 10, false, false, 0, 0, '', '', '[]'
  FROM traces_trace t
"""
# Comparing them takes a job of minutes, as it would on the site: what is measured is reading what it has stored.
_DIFFER = """
INSERT INTO adjudication_disagreement (id, organisation_id, project_id, trace_id, annotations, weight, questions,
  differing, deciding, words, conflicts, has_conflict, since, computed_at)
SELECT gen_random_uuid(), t.organisation_id, t.project_id, t.id, 10, random() * 3, 12, 5, (random() * 2)::int,
       '[{"title": "Verdict", "range": "6 : 4"}]', '[]', false, now(), now()
  FROM traces_trace t
"""


@pytest.mark.timeout(3600)
def bench_adjudication(committed_tenants: Tenants, client: Client, capsys: pytest.CaptureFixture[str]) -> None:
    tenants = committed_tenants
    project = tenants.acme_project
    actor = Actor(tenants.acme.pk, (tenants.acme.pk,), tenants.alice.pk)
    with acting(actor):
        publish_configuration(project=project, source=f"{YAML}\nadjudication: {{when: disagreement}}\n")
    seed(tenants.acme, project, TRACES * 10)
    with acting_in(tenants.acme), connection.cursor() as cursor:
        cursor.execute(_QUEUE)
    with acting(actor):
        some = next_annotated(project, UUID(int=0))
        begin = time.perf_counter()
        update_traces(project=project, traces=some)
        compared = time.perf_counter() - begin
        Disagreement.objects.all().delete()
    with acting_in(tenants.acme), connection.cursor() as cursor:
        cursor.execute(_DIFFER)
    count_rows()
    client.force_login(tenants.mallory)
    page = [_seconds(lambda: client.get(PAGE)) for _ in range(TIMES)]
    with acting(actor):
        taking = [_seconds(lambda: take_next(project=project, user=tenants.alice)) for _ in range(TIMES)]
        waiting = len(in_turn(project, tenants.alice, MOST_COUNTED))
    with capsys.disabled():
        print(f"\n{waiting:,} traces are counted; {len(some)} traces of ten reviews compared in {compared:.2f} s")
        print(f"page {sorted(page)[TIMES // 2] * 1000:.0f} ms, taking one {sorted(taking)[TIMES // 2] * 1000:.0f} ms")


def _seconds(do: Callable[[], object]) -> float:
    begin = time.perf_counter()
    do()
    return time.perf_counter() - begin
