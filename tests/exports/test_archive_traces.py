"""The traces of an archive: read many at a time, in the bytes of each read alone, and counted as they are written."""

from base64 import b64encode
from pathlib import Path

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from pytest_django.fixtures import Settings

from exports import exporting, stored
from exports.actions import request_export
from exports.stored import StoredProject
from jobs.models import Job
from jobs.runner import run
from tenancy.actor import acting, acting_in
from tenancy.snapshots import Snapshot
from tests.exports.conftest import Reviews
from tests.exports.trace_lines import line_of
from tests.potato.runs.reading import jsonl
from tests.potato.runs.web_runs import drawn
from tests.traces.stored import outcome
from tests.traces.stored import stored as keep
from traces.actions import import_now
from traces.models import Picture, Trace


def source_of(reviews: Reviews) -> StoredProject:
    with acting(reviews.actor):
        return StoredProject(reviews.project, reviews.actor, Snapshot.now())


def one_by_one(reviews: Reviews) -> list[bytes]:
    with acting(reviews.actor):
        return [line_of(trace) for trace in Trace.objects.filter(project=reviews.project).order_by("pk")]


def many(reviews: Reviews, count: int, first: int = 0) -> None:
    for number in range(first, first + count):
        reviews.trace(f"t{number}", model=f"model-{number}")


@pytest.mark.parametrize("budget", [1, 3_000, stored.BUFFERED_BYTES_AT_ONCE])
def test_the_lines_are_those_of_traces_that_are_read_alone(
    reviews: Reviews, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, budget: int
) -> None:
    many(reviews, 4)
    tenants = reviews.tenants
    # A second version, a run without an id, the same run under two names, and one with two pictures.
    keep(tenants.acme, reviews.project, outcome("a.py", "old\n", "new\n"), external_id="t1", agent_model="later")
    path = tmp_path / "runs.jsonl"
    picture = "data:image/png;base64," + b64encode(drawn()).decode("ascii")
    steps = [{"message": "I look.", "screenshot": picture}] * 2
    nameless = {"task_description": "Say \u00e9 and \ud800", "steps": [{"message": "I do."}]}
    path.write_bytes(jsonl(nameless, {"id": "web", "task_description": "Look", "steps": steps}))
    import_now(organisation=tenants.acme, project=reviews.project, path=path)
    with acting_in(tenants.acme):
        assert Picture.objects.exists()
    expected = one_by_one(reviews)
    assert len(expected) == 7
    monkeypatch.setattr(stored, "BUFFERED_BYTES_AT_ONCE", budget)
    monkeypatch.setattr(stored, "TRACES_AT_ONCE", 3)
    assert list(source_of(reviews).trace_lines()) == expected


def test_more_traces_cost_no_more_statements(reviews: Reviews) -> None:
    many(reviews, 2)
    with CaptureQueriesContext(connection) as few:
        assert len(list(source_of(reviews).trace_lines())) == 2
    many(reviews, 18, 2)
    with CaptureQueriesContext(connection) as lots:
        assert len(list(source_of(reviews).trace_lines())) == 20
    assert len(lots) == len(few)


def test_no_more_is_read_at_a_time_than_fits(reviews: Reviews, monkeypatch: pytest.MonkeyPatch) -> None:
    many(reviews, 6)
    source, read = source_of(reviews), []
    packed = StoredProject._packed

    def noting(self: StoredProject, hashes: set[str]) -> dict[str, bytes]:
        found = packed(self, hashes)
        read.append([len(content) for content in found.values()])
        return found

    monkeypatch.setattr(StoredProject, "_packed", noting)
    list(source.trace_lines())
    assert len(read) == 1
    budget = sum(read[0]) // 2
    read.clear()
    monkeypatch.setattr(stored, "BUFFERED_BYTES_AT_ONCE", budget)
    list(source.trace_lines())
    assert len(read) > 1
    assert all(sum(sizes) <= budget for sizes in read)


def test_the_job_counts_the_traces_while_it_writes_them(
    reviews: Reviews, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.EXPORT_SCRATCH = tmp_path / "scratch"
    storage = {"BACKEND": "exports.storage.DurableFileSystemStorage", "OPTIONS": {"location": str(tmp_path / "kept")}}
    settings.STORAGES = {**settings.STORAGES, "exports": storage}
    settings.JOBS_TASK_BUDGET_SECONDS = 0
    monkeypatch.setattr(exporting, "BYTES_A_PART", 1)
    many(reviews, 3)
    reviews.submit(reviews.tenants.bob)
    with acting(reviews.actor):
        job_id = request_export(project=reviews.project, format="archive", options={}).job_id
    assert job_id is not None
    seen, is_open = [], True
    while is_open:
        run(job_id=job_id, actor=reviews.actor)
        with acting(reviews.actor):
            job = Job.objects.get(pk=job_id)
        seen.append((job.progress, job.total))
        is_open = job.is_open
    # Of a record and three traces; the parts that find nothing more move nothing.
    assert list(dict.fromkeys(seen)) == [(1, 4), (2, 4), (3, 4), (4, 4)]
