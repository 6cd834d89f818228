"""How long imports take from their file to traces that can be claimed, and how that grows with the file."""

import os
import resource
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from accounts.actions.projects import publish_configuration
from assignments.actions.quotas import open_quotas
from assignments.models import TraceQuota
from bench.changes import as_file, small_record, tiny_record
from jobs.models import Job
from potato.runs.run_files import source_at
from tenancy.actor import acting_in
from tests.tenants import Tenants
from traces.importing.import_job import ImportTraces
from traces.models import ImportedFile, Trace

TRACES = int(os.environ.get("BENCH_TRACES", "10000"))
RECORDS = int(os.environ.get("BENCH_RECORDS", "1000000"))
SHARES = 10


def bench_import_of_ten_thousand_traces(
    committed_tenants: Tenants, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with acting_in(committed_tenants.acme, committed_tenants.dora):
        publish_configuration(project=committed_tenants.acme_project, source="task_name: Bench\n")
    path = tmp_path / "runs.jsonl"
    write(path, (small_record(number) for number in range(TRACES)))
    begin, processor, database = time.perf_counter(), time.process_time(), of_the_database()
    with counted_statements() as statements:
        parts = list(import_in_parts(committed_tenants, path))
    processor, database = time.process_time() - processor, of_the_database() - database
    with acting_in(committed_tenants.acme):
        while open_quotas(project=committed_tenants.acme_project):
            pass
    seconds = time.perf_counter() - begin
    with acting_in(committed_tenants.acme):
        count = TraceQuota.objects.count()
    if count != TRACES:
        pytest.fail(f"{count} of {TRACES} traces can be claimed")
    with capsys.disabled():
        print(f"\n{TRACES:,} traces of {path.stat().st_size / TRACES / 1024:.1f} KiB, one worker")
        print(f"in and claimable {seconds:7.1f} s (bound 60 for 10,000), {seconds / TRACES * 1000:.2f} ms a trace")
        print(f"processor        {processor / TRACES * 1000:7.2f} ms a trace")
        print(f"of the database  {database / TRACES * 1000:7.2f} ms a trace")
        print(f"statements       {statements() / TRACES:7.2f} a trace")
        print(f"parts            {len(parts):7} of at most {max(seconds for _, seconds in parts):.1f} s")
        print(f"peak memory      {peak_mib():7.0f} MiB of the whole process (bound 300 for a worker)")


def bench_import_of_very_many_small_records(
    committed_tenants: Tenants, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "records.jsonl"
    write(path, (tiny_record(number) for number in range(RECORDS)))
    share, seconds = RECORDS // SHARES, 0.0
    shares: list[float] = []
    for seen, part in import_in_parts(committed_tenants, path):
        seconds += part
        if seen >= share * (len(shares) + 1):
            shares.append(seconds)
            with capsys.disabled():
                print(
                    f"\n{seen:9,} records {seconds:7.1f} s, {seconds / seen * 1e6:.0f} us a record", end="", flush=True
                )
    with acting_in(committed_tenants.acme):
        count = Trace.objects.count()
    if count != RECORDS:
        pytest.fail(f"{count} of {RECORDS} records came in")
    with capsys.disabled():
        first, last = shares[0], seconds - shares[-2]
        print(f"\nlast tenth takes {last / first:.2f} times the first, peak memory {peak_mib():.0f} MiB")


def write(path: Path, records: Iterable[dict[str, Any]]) -> None:
    with path.open("wb") as file:
        for record in records:
            file.write(as_file([record]))


def import_in_parts(tenants: Tenants, path: Path) -> Iterator[tuple[int, float]]:
    """The records read and the seconds after each part, as a worker would do them."""
    kind, source = ImportTraces(), source_at(path)
    with acting_in(tenants.acme):
        file = ImportedFile.objects.create(
            project=tenants.acme_project, name=path.name, size=source.size, format="native"
        )
    job = Job(parameters={"file": str(file.pk)})
    finished = False
    while not finished:
        begin = time.perf_counter()
        with acting_in(tenants.acme):
            part = kind.do_part(job, source)
        job.cursor, finished = part.cursor, part.finished
        yield part.progress, time.perf_counter() - begin


@contextmanager
def counted_statements() -> Iterator[Callable[[], int]]:
    count = 0

    def wrapper(execute: Callable[..., Any], *arguments: Any) -> Any:
        nonlocal count
        count += 1
        return execute(*arguments)

    with connection.execute_wrapper(wrapper):
        yield lambda: count


def of_the_database() -> float:
    """Seconds of processor time of this connection's server process; 0 where it is on another machine."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        (process,) = cursor.fetchone()
    stat = Path(f"/proc/{process}/stat")
    if not stat.exists():
        return 0.0
    fields = stat.read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
