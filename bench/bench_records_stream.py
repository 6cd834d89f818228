"""How fast records come out of a running site through the client, beside the file of an export, and what memory both
sides take for them."""

import subprocess
import sys
import threading
from pathlib import Path

import pytest
from pytest_django.fixtures import Settings

from accounts.actions.projects import publish_configuration
from accounts.actions.tokens import make_token
from accounts.models import Membership
from bench.bench_export import RECORDS, YAML, export_rows, measured
from bench.served import served
from bench.workers import _peak_mib
from tenancy.actor import Actor, acting_in
from tests.exports.seeding import count_rows, seed
from tests.tenants import Tenants

READER = """
import resource, sys, time
from potato.client import Client
with Client(sys.argv[1], sys.argv[2]) as client:
    next(iter(client.project("parser").records()))
    before = resource.getrusage(resource.RUSAGE_SELF)
    begin, number, first = time.perf_counter(), 0, 0
    for record in client.project("parser").records():
        number += 1
        if number == 20_000:
            first = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    used = resource.getrusage(resource.RUSAGE_SELF)
    print(number, time.perf_counter() - begin, used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime,
          first / 1024, used.ru_maxrss / 1024)
"""


class Peaks(threading.Thread):
    """The most memory that the processes below one ever had, in MiB."""

    def __init__(self, master: int) -> None:
        super().__init__(daemon=True)
        self.master, self.mib, self.ended = master, 0.0, threading.Event()

    def run(self) -> None:
        while not self.ended.wait(0.2):
            children = Path(f"/proc/{self.master}/task/{self.master}/children").read_text().split()
            self.mib = max([self.mib, *(_peak_mib(int(pid)) for pid in children)])


@pytest.mark.timeout(7200)
def bench_records_through_the_client(
    committed_tenants: Tenants, settings: Settings, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tenants = committed_tenants
    settings.STORAGES = {
        **settings.STORAGES,
        "exports": {"BACKEND": "exports.storage.DurableFileSystemStorage", "OPTIONS": {"location": str(tmp_path)}},
    }
    with acting_in(tenants.acme, tenants.alice):
        publish_configuration(project=tenants.acme_project, source=YAML)
        member = Membership.objects.get(user=tenants.alice)
        token = str(make_token(membership=member, name="bench", by_owner=True)[1])
    seed(tenants.acme, tenants.acme_project, RECORDS)
    count_rows()
    actor = Actor(tenants.acme.pk, (tenants.acme.pk,), tenants.alice.pk)
    with served() as site:
        peaks = Peaks(site.process.pid)
        for _ in range(2):
            exported = measured(lambda: export_rows(tenants, actor))
            used, began = site.used(), peaks.mib
            if not peaks.is_alive():
                peaks.start()
            done = subprocess.run(
                [sys.executable, "-c", READER, site.address, token], capture_output=True, text=True, check=True
            )
            spent = site.used() - used
            number, seconds, client, first, last = (float(word) for word in done.stdout.split())
            assert number == RECORDS  # noqa: S101
            streamed = client + spent.web + spent.database
            each = 1_000_000 / RECORDS
            with capsys.disabled():
                print(f"\n{RECORDS:,} records: export {exported.seconds:.1f} s, stream {seconds:.1f} s")
                print(f"ratio of rates           {exported.seconds / seconds:10.2f} (at least 0.33)")
                print(f"ratio of processor time  {exported.processor / streamed:10.2f}")
                print(
                    f"us a record: client {client * each:.1f}, web {spent.web * each:.1f}, "
                    f"PostgreSQL {spent.database * each:.1f}; export {exported.processor * each:.1f}"
                )
                print(f"client's memory after 20,000 records {first:.0f} MiB, at the end {last:.0f} MiB")
                print(f"web process's memory {began:.0f} MiB before, {peaks.mib:.0f} MiB at most")
        peaks.ended.set()
        peaks.join()
