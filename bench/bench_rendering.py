"""How much processor time rendering takes, and how much less than another checkout's: BENCH_BEFORE=../before."""

import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

import pytest
from django.test import Client

from bench.changes import as_file, record
from bench.stage import Stage, import_traces
from tenancy.actor import acting_in
from tests.tenants import Tenants
from traces.models import Trace
from traces.rendering import highlight

HERE = Path(__file__).resolve().parent
ROUNDS = 3
PAGES = 9


def bench_rendering(capsys: pytest.CaptureFixture[str]) -> None:
    before = os.environ.get("BENCH_BEFORE")
    checkouts = {"now": HERE.parent} | ({"before": Path(before).resolve()} if before else {})
    found: dict[str, list[dict[str, float]]] = {name: [] for name in checkouts}
    # In turn, so that both have the same share of what else the machine does.
    for _ in range(ROUNDS):
        for name, checkout in checkouts.items():
            found[name].append(rendered_in(checkout))
    seconds = {name: min(one["seconds"] for one in rounds) for name, rounds in found.items()}
    with capsys.disabled():
        print("\na trace of 12 files and 12 steps, in both layouts")
        for name, one in seconds.items():
            print(f"{name:7} {one * 1000:6.0f} ms of processor, {found[name][0]['bytes']:,.0f} bytes")
        if "before" in seconds:
            print(f"{seconds['before'] / seconds['now']:.2f} times the rate of before")


def bench_first_page_of_an_unrendered_trace(
    committed_tenants: Tenants, client: Client, capsys: pytest.CaptureFixture[str]
) -> None:
    tenants = committed_tenants
    content = as_file([record(number, files=12, lines=9) for number in range(PAGES)])
    import_traces(Stage(tenants.acme, tenants.acme_project, []), content, rendered=False)
    client.force_login(tenants.alice)
    with acting_in(tenants.acme):
        traces = list(Trace.objects.all())
    found: dict[str, list[tuple[float, float]]] = {"unrendered": [], "rendered": []}
    for name, times in found.items():
        for trace in traces:
            begin, used = time.perf_counter(), of_this_and_the_lexer()
            answer = client.get(f"/o/acme/p/{tenants.acme_project.slug}/traces/{trace.pk}/")
            times.append((time.perf_counter() - begin, of_this_and_the_lexer() - used))
            if answer.status_code != 200:
                pytest.fail(f"{name}: {answer.status_code}")
    with capsys.disabled():
        print(f"\nthe first page of a trace of 12 files, {PAGES} of them, the first left out")
        for name, times in found.items():
            seconds, used = (statistics.median(column) for column in zip(*times[1:], strict=True))
            print(f"{name:11}{seconds * 1000:6.0f} ms, {used * 1000:.0f} ms of processor (bound 300)")


def of_this_and_the_lexer() -> float:
    running = highlight._process._running
    lexer = 0.0
    if running is not None:
        fields = Path(f"/proc/{running.pid}/stat").read_text().rpartition(")")[2].split()
        lexer = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return time.process_time() + lexer


def rendered_in(checkout: Path) -> dict[str, float]:
    command = [sys.executable, str(HERE / "rendering.py")]
    environment = {**os.environ, "PYTHONPATH": str(checkout)}
    done = subprocess.run(command, cwd=checkout, env=environment, capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found
