"""How fast the traces of an archive leave, beside a transaction for each of them."""

import os
import time
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from accounts.actions.projects import publish_configuration
from bench.bench_import import counted_statements, import_in_parts, peak_mib, write
from bench.changes import small_record
from exports.stored import StoredProject
from tenancy.actor import Actor, acting, acting_in
from tenancy.snapshots import Snapshot
from tests.exports.trace_lines import line_of
from tests.tenants import Tenants
from traces.models import Trace

TRACES = int(os.environ.get("BENCH_TRACES", "10000"))


@pytest.mark.timeout(3600)
def bench_traces_of_an_archive(committed_tenants: Tenants, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tenants = committed_tenants
    with acting_in(tenants.acme, tenants.dora):
        publish_configuration(project=tenants.acme_project, source="task_name: Bench\n")
    path = tmp_path / "runs.jsonl"
    write(path, (small_record(number) for number in range(TRACES)))
    for _ in import_in_parts(tenants, path):
        pass
    actor = Actor(tenants.acme.pk, (tenants.acme.pk,), tenants.alice.pk)
    one_by_one, single = measured(lines_one_by_one(actor, tenants))
    with acting(actor):
        source = StoredProject(tenants.acme_project, actor, Snapshot.now())
    together, batched = measured(source.trace_lines())
    if one_by_one != together:
        pytest.fail("The two ways give different bytes")
    with capsys.disabled():
        print(f"\n{TRACES:,} traces of {path.stat().st_size / TRACES / 1024:.1f} KiB")
        for name, (seconds, size, statements) in (("one by one", single), ("export", batched)):
            rates = f"{TRACES / seconds:8,.0f} traces/s {size / seconds / 2**20:7.1f} MiB/s"
            print(f"{name:12} {rates} {statements / TRACES:7.3f} statements a trace")
        print(f"ratio        {single[0] / batched[0]:8.1f}, peak memory {peak_mib():.0f} MiB of the whole process")


def measured(lines: Iterator[bytes]) -> tuple[int, tuple[float, int, int]]:
    """The checksum of all lines; the seconds, the bytes and the statements that they took."""
    checksum = size = 0
    begin = time.perf_counter()
    with counted_statements() as statements:
        for line in lines:
            checksum, size = zlib.crc32(line, checksum), size + len(line)
    return checksum, (time.perf_counter() - begin, size, statements())


def lines_one_by_one(actor: Actor, tenants: Tenants) -> Iterator[bytes]:
    with acting(actor):
        keys = list(Trace.objects.filter(project=tenants.acme_project).order_by("pk").values_list("pk", flat=True))
    for key in keys:
        with acting(actor):
            line = line_of(Trace.objects.get(pk=key))
        yield line
