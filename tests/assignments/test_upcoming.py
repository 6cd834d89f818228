"""What is rendered before somebody looks: the traces that the queue hands out next, and no more of a large pool."""

import re
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest
from django.test import Client

from accounts.actions.projects import publish_configuration
from assignments import upcoming
from assignments.actions.quotas import open_quotas
from assignments.actions.working import skip
from assignments.upcoming import next_traces
from jobs import outbox, runner
from jobs.models import Job, JobState
from tenancy.actor import Actor, acting_in, current
from tests.assignments.conftest import Queue, submit
from tests.tenants import Tenants
from tests.traces.stored import code, outcome, step, stored
from tests.traces.test_imports import lines, run, upload
from traces.evidence import render_ahead as ahead
from traces.evidence.fragments import VIEWS, DisplayOptions, file_fragment, render_files, render_steps, step_fragment
from traces.evidence.render_ahead import RenderAhead
from traces.models import Fragment, Trace, TraceFile, TraceStep
from traces.rendering import highlight


@pytest.fixture
def queue(tenants: Tenants) -> Iterator[Queue]:
    """Acme's project, published, without traces; Acme is entered."""
    with acting_in(tenants.acme, tenants.alice):
        queue = Queue(tenants, tenants.acme_project)
        queue.publish()
        yield queue


@pytest.fixture(autouse=True)
def _nobody_looked_yet() -> Iterator[None]:
    upcoming._looked_at.clear()
    yield
    upcoming._looked_at.clear()


def traces_of(queue: Queue, count: int) -> list[Trace]:
    """So many traces with a step and two files each, all of other content."""
    return [
        stored(
            queue.tenants.acme,
            queue.project,
            outcome("a.py", code(12, f"old {number}"), code(12, f"new {number}")),
            outcome("b.py", None, code(5, f"b {number}")),
            external_id=f"run-{number}",
            steps=(step(f"Step of {number}"),),
        )
        for number in range(count)
    ]


def is_rendered(trace: Trace) -> bool:
    hashes = {*trace.files.values_list("sha256", flat=True), *trace.steps.values_list("sha256", flat=True)}
    there = set(Fragment.objects.filter(sha256__in=hashes, part="0").values_list("sha256", flat=True))
    assert there in (hashes, set()), "rendered in part"
    return there == hashes


def rendered(traces: list[Trace]) -> list[int]:
    return [number for number, trace in enumerate(traces) if is_rendered(trace)]


def render_jobs() -> list[Job]:
    return list(Job.objects.filter(kind=RenderAhead.name).order_by("created_at"))


def work() -> None:
    """What a worker does: every waiting job of rendering, to its end, and the events until then."""
    outbox.deliver(current())
    for job in render_jobs():
        while job.is_open:
            part = RenderAhead().run_part(job)
            job.cursor = part.cursor
            if part.finished:
                Job.objects.filter(pk=job.pk).update(state=JobState.DONE, finished_at="2026-01-01T00:00Z")
            job.refresh_from_db(fields=["state"])


@pytest.fixture
def window(monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(ahead, "TRACES_AHEAD", 4)
    return 4


def test_what_stands_next_is_rendered_and_the_rest_of_the_pool_is_not(queue: Queue, window: int) -> None:
    traces = traces_of(queue, 12)
    upcoming.prepare(queue.project, at_once=True)
    assert render_jobs() == [], "nothing is in the queue yet"
    open_quotas(project=queue.project)
    upcoming.prepare(queue.project, at_once=True)
    upcoming.prepare(queue.project, at_once=True)
    work()
    assert rendered(traces) == [0, 1, 2, 3]
    assert [job.created_by_id for job in render_jobs()] == [None]


def test_the_window_moves_on_with_the_queue_and_is_filled_before_it_is_empty(
    queue: Queue, window: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upcoming, "_PAUSE_SECONDS", 0.0)
    traces = traces_of(queue, 14)
    queue.publish(target=1)
    open_quotas(project=queue.project)
    upcoming.prepare(queue.project, at_once=True)
    work()
    assert rendered(traces) == [0, 1, 2, 3]
    for done in range(1, 9):
        claimed = queue.claimed(queue.tenants.bob)
        assert is_rendered(claimed.trace), f"trace {done} was not rendered before it was handed out"
        if done % 3:
            submit(claimed)
        else:
            skip(assignment=claimed, fencing_token=claimed.fencing_token, reason="Too hard")
        work()
    left = rendered(traces)
    assert max(left) < 8 + window + 1
    assert len(left) < 14


def test_two_people_at_different_places_of_the_queue_both_find_their_next_trace_rendered(
    queue: Queue, window: int
) -> None:
    traces = traces_of(queue, 12)
    queue.publish(target=2)
    open_quotas(project=queue.project)
    for _ in range(6):
        submit(queue.claimed(queue.tenants.bob))
    assert [traces.index(Trace.objects.get(pk=pk)) for pk in next_traces(queue.project, 4)] == [6, 0, 7, 1]
    submit(queue.claimed(queue.tenants.mallory))
    upcoming._looked_at.clear()
    work()
    assert is_rendered(queue.claimed(queue.tenants.bob).trace)
    assert is_rendered(queue.claimed(queue.tenants.mallory).trace)


def test_a_file_is_lexed_once_for_both_layouts(queue: Queue, monkeypatch: pytest.MonkeyPatch) -> None:
    trace = traces_of(queue, 1)[0]
    asked: list[str] = []
    lexed = highlight._process.ask

    def counts(path: str, texts: Any, *more: Any) -> Any:
        asked.append(path)
        return lexed(path, texts, *more)

    monkeypatch.setattr(highlight._process, "ask", counts)
    file = trace.files.get(path="a.py")
    options = DisplayOptions()
    unified = file_fragment(file, options, "unified", "0")
    first = list(asked)
    split = file_fragment(file, options, "split", "0")
    assert asked == first
    assert len(asked) <= 2, "once for each side"
    assert unified.html != split.html


def test_whoever_renders_first_the_fragments_are_the_same(queue: Queue) -> None:
    """A page on demand, the job ahead of it, and both at once."""
    trace = traces_of(queue, 1)[0]
    options = DisplayOptions()
    render_files(TraceFile.objects.filter(trace=trace), options)
    render_steps(TraceStep.objects.filter(trace=trace), options)

    def there() -> set[Any]:
        return set(Fragment.objects.values_list("sha256", "view", "part", "rows", "nodes", "gzipped"))

    ahead_of_it = {(*row[:5], bytes(row[5])) for row in there()}
    render_files(TraceFile.objects.filter(trace=trace), options)
    assert {(*row[:5], bytes(row[5])) for row in there()} == ahead_of_it
    Fragment.objects.all().delete()
    for file in trace.files.all():
        for view in VIEWS:
            file_fragment(file, options, view, "0")
    step_fragment(trace.steps.get(), options, "0")
    assert {(*row[:5], bytes(row[5])) for row in there()} == ahead_of_it


def test_a_page_that_comes_before_the_rendering_shows_the_same_bytes_as_after_it(
    committed_tenants: Tenants, client: Client
) -> None:
    tenants = committed_tenants
    files = [outcome(f"src/f{at}.py", code(30, f"old {at}"), code(30, f"new {at}")) for at in range(6)]
    steps = tuple(step(f"Step {at}") for at in range(6))
    trace = stored(tenants.acme, tenants.acme_project, *files, steps=steps)
    client.force_login(tenants.alice)
    for tab in ("", "steps/"):
        address = f"/o/acme/p/parser/traces/{trace.pk}/{tab}"
        with acting_in(tenants.acme):
            before = Fragment.objects.count()
        first = client.get(address)
        with acting_in(tenants.acme):
            assert Fragment.objects.count() > before
        again = client.get(address)
        assert first.status_code == 200
        assert b"is-add" in first.content or tab
        assert without_nonces(first.content) == without_nonces(again.content)


def without_nonces(page: bytes) -> bytes:
    return re.sub(rb'nonce="[^"]+"|name="csrfmiddlewaretoken" value="[^"]+"', b"", page)


def test_an_import_asks_for_the_rendering_and_a_worker_does_it(committed_tenants: Tenants) -> None:
    tenants = committed_tenants
    with acting_in(tenants.acme, tenants.dora):
        publish_configuration(project=tenants.acme_project, source="task_name: X\n")
    upload(tenants, lines(*(run(f"run-{at}", new=f"{at}\n") for at in range(3))))
    actor = Actor(tenants.acme.pk, (tenants.acme.pk,))
    with acting_in(tenants.acme):
        (job,) = Job.objects.filter(kind=RenderAhead.name)
        assert not Fragment.objects.exists()
    runner.run(job_id=UUID(str(job.pk)), actor=actor)
    with acting_in(tenants.acme):
        job.refresh_from_db()
        assert (job.state, job.result) == (JobState.DONE, {"rendered": 4})
        views = set(Fragment.objects.values_list("view", flat=True))
        assert views == {"unified-5-coloured", "split-5-coloured", "step-coloured"}
