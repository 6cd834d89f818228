"""How long a change of some 60,000 lines takes from its file to the reader's first rows."""

import json
import resource
import time
from collections.abc import Callable
from typing import TypeVar

import pytest
from django.db import connection
from django.test import Client

from accounts.models import Project
from bench.releases import difference
from jobs.models import Job
from potato.runs.run_files import InMemoryRunFile
from tenancy.actor import acting_in
from tests.tenants import Tenants
from traces.importing.import_job import ImportTraces
from traces.models import ImportedFile, Trace

Answer = TypeVar("Answer")


def timed(work: Callable[[], Answer]) -> tuple[Answer, float]:
    begin = time.perf_counter()
    return work(), time.perf_counter() - begin


def peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def bench_huge_trace(committed_tenants: Tenants, client: Client, capsys: pytest.CaptureFixture[str]) -> None:
    patch = difference()
    record = {
        "instance_id": "django__django-1",
        "model_name_or_path": "m",
        "model_patch": patch.decode("utf-8", "replace"),
    }
    source = InMemoryRunFile("preds.jsonl", json.dumps(record).encode() + b"\n")
    before = peak_mib()
    parts = import_in_parts(committed_tenants, source)
    after = peak_mib()
    with acting_in(committed_tenants.acme):
        trace = Trace.objects.get()
    client.force_login(committed_tenants.alice)
    connection.close()
    path = f"/o/acme/p/{committed_tenants.acme_project.slug}/traces/{trace.pk}/"
    page, first = timed(lambda: client.get(path, headers={"accept-encoding": "gzip"}))
    _, again = timed(lambda: client.get(path, headers={"accept-encoding": "gzip"}))
    if page.status_code != 200:
        pytest.fail(f"{path} answered {page.status_code}")
    with capsys.disabled():
        print(f"\n{trace.files_count} files, +{trace.added} -{trace.removed}, {len(patch):,} bytes")
        print(f"import           {sum(parts):6.1f} s in {len(parts)} parts, the longest {max(parts):.1f} s ")
        print(f"peak memory      {after:6.0f} MiB, {after - before:.0f} more than before")
        sent = f"{len(page.content):,} bytes sent"
        print(f"page             {first * 1000:6.0f} ms at first, unrendered, {again * 1000:.0f} ms again, {sent}")


def import_in_parts(tenants: Tenants, source: InMemoryRunFile) -> list[float]:
    """The seconds of each part, as a worker would do them."""
    kind = ImportTraces()
    with acting_in(tenants.acme):
        project = Project.objects.get()
        file = ImportedFile.objects.create(project=project, name=source.name, size=source.size, format="swebench")
    job = Job(parameters={"file": str(file.pk)})
    seconds = []
    finished = False
    while not finished:
        begin = time.perf_counter()
        with acting_in(tenants.acme):
            part = kind.do_part(job, source)
        seconds.append(time.perf_counter() - begin)
        job.cursor, finished = part.cursor, part.finished
    return seconds
