"""A file of 1 GB through the client to a running site, over a connection that is cut again and again: how long that is,
what is sent twice, and what memory both sides take for it."""

import hashlib
import os
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

from accounts.actions.projects import publish_configuration
from accounts.actions.tokens import make_token
from accounts.models import Membership
from bench.bench_export import YAML
from bench.bench_records_stream import Peaks
from bench.served import served
from tenancy.actor import acting_in
from tests.tenants import Tenants
from traces.models import ImportedFile

MEGABYTES = int(os.environ.get("BENCH_UPLOAD_MB", "1000"))
CUT_EVERY = 70 * 2**20
"""Bytes that a connection lives."""

SENDER = """
import resource, sys, time
from potato.client import Client
with Client(sys.argv[1], sys.argv[2]) as client:
    began = time.perf_counter()
    (one,) = client.project("parser").import_files(sys.argv[3], wait=False)
    print(time.perf_counter() - began, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, one.id)
"""


class CuttingProxy:
    """Passes bytes on to a port, and closes a connection in the middle of what it sends once enough of all has come."""

    def __init__(self, port: int) -> None:
        self.target, self.passed, self.cuts = port, 0, 0
        self.open: list[socket.socket] = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.listener.getsockname()[1]}"

    def _accept(self) -> None:
        while True:
            near, _ = self.listener.accept()
            far = socket.create_connection(("127.0.0.1", self.target))
            self.open += (near, far)
            threading.Thread(target=self._pass, args=(near, far, True), daemon=True).start()
            threading.Thread(target=self._pass, args=(far, near, False), daemon=True).start()

    def close(self) -> None:
        """A server waits for its connections before it ends."""
        for one in self.open:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    def _pass(self, source: socket.socket, sink: socket.socket, counts: bool) -> None:
        try:
            while data := source.recv(64 * 1024):
                sink.sendall(data)
                if counts:
                    before, self.passed = self.passed, self.passed + len(data)
                    if before // CUT_EVERY != self.passed // CUT_EVERY:
                        self.cuts += 1
                        break
        except OSError:
            pass
        for one in (source, sink):
            one.close()


@pytest.mark.timeout(7200)
def bench_upload(committed_tenants: Tenants, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tenants = committed_tenants
    with acting_in(tenants.acme, tenants.alice):
        publish_configuration(project=tenants.acme_project, source=YAML)
        member = Membership.objects.get(user=tenants.alice)
        token = str(make_token(membership=member, name="bench", by_owner=True)[1])
    file, digest = tmp_path / "runs.jsonl", hashlib.sha256()
    with file.open("wb") as output:
        for number in range(MEGABYTES):
            text = hashlib.sha256(str(number).encode()).hexdigest() * 15_620
            line = b'{"id":"run-%d","task_description":"Try it","steps":[{"message":"%s"}]}\n' % (number, text.encode())
            digest.update(line)
            output.write(line)
    with served() as site:
        proxy = CuttingProxy(int(site.address.rpartition(":")[2]))
        peaks = Peaks(site.process.pid)
        peaks.start()
        time.sleep(1)
        before = peaks.mib
        done = subprocess.run(
            [sys.executable, "-c", SENDER, proxy.address, token, str(file)], capture_output=True, text=True, check=True
        )
        proxy.close()
        peaks.ended.set()
        peaks.join()
        # Before the site ends, which takes as long as its last connections do.
        seconds, client, name = done.stdout.split()
        size = file.stat().st_size
        with acting_in(tenants.acme, tenants.alice):
            row = ImportedFile.objects.get(pk=name)
        assert row.size == size  # noqa: S101
        assert row.sha256 in ("", digest.hexdigest())  # noqa: S101
        with capsys.disabled():
            print(f"\n{size:,} bytes in {float(seconds):.0f} s over {proxy.cuts} cut connections")
            print(f"bytes on the wire        {proxy.passed:,} ({proxy.passed / size:.3f} of the file)")
            print(f"client's memory at most  {float(client):.0f} MiB")
            print(f"web process's memory     {before:.0f} MiB before, {peaks.mib:.0f} MiB at most")
