"""How long /healthz takes while 32 clients send half a request: to the site itself, and through the shipped proxy."""

import shutil
import socket
import ssl
import subprocess
import sys
import time
from contextlib import ExitStack, closing
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from bench.served import ROOT, served

SLOW, ASKED, ALLOWED = 32, 20, 1.0
HALVES = {
    "nothing": b"",
    "half a head": b"POST /accounts/login/ HTTP/1.1\r\nHost: loc",
    "half a body": b"POST /accounts/login/ HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\nlogin=",
}


def bench_slow_clients(transactional_db: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with served() as site, capsys.disabled():
        port = urlsplit(site.address).port or 0
        print(f"\n/healthz beside {SLOW} slow clients, slowest of {ASKED} (allowed: {ALLOWED} s)")
        for name, half in HALVES.items():
            print(f"  {name:12} to the site {slowest(port, half):.3f} s")
        with ExitStack() as running:
            proxy = started_proxy(running, tmp_path, port)
            for name, half in HALVES.items():
                print(f"  {name:12} through nginx {slowest(proxy, half, tls=True):.3f} s")


def started_proxy(running: ExitStack, folder: Path, site: int) -> int:
    nginx = shutil.which("nginx", path="/usr/sbin:/usr/local/sbin:/usr/bin")
    if nginx is None:
        pytest.skip("no nginx: apt-get install nginx-light")
    shutil.copy(ROOT / "docker" / "make-secrets.sh", folder)
    subprocess.run(["sh", folder / "make-secrets.sh"], check=True, capture_output=True)
    with socket.socket() as one, socket.socket() as other:
        one.bind(("127.0.0.1", 0))
        other.bind(("127.0.0.1", 0))
        port, plain = one.getsockname()[1], other.getsockname()[1]
    text = (ROOT / "docker" / "nginx.conf").read_text()
    for shipped, here in {
        "server web:8000": f"server 127.0.0.1:{site}",
        "listen 8080": f"listen 127.0.0.1:{plain}",
        "listen 8443": f"listen 127.0.0.1:{port}",
        "/run/secrets/": f"{folder}/secrets/",
        "/var/cache/nginx": f"{folder}/cache",
        "pid /tmp": f"pid {folder}",
        "/dev/stdout": f"{folder}/log",
    }.items():
        text = text.replace(shipped, here)
    (folder / "cache").mkdir()
    (folder / "nginx.conf").write_text(text)
    process = subprocess.Popen([nginx, "-c", str(folder / "nginx.conf"), "-g", "daemon off;"], stderr=sys.stderr)
    running.callback(process.wait)
    running.callback(process.terminate)
    for _ in range(100):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            break
        except OSError:
            time.sleep(0.1)
    return int(port)


def slowest(port: int, half: bytes, *, tls: bool = False) -> float:
    with ExitStack() as slow:
        for _ in range(SLOW):
            slow.enter_context(closing(_connected(port, tls))).sendall(half)
        return max(_answer_time(port, tls) for _ in range(ASKED))


def _connected(port: int, tls: bool) -> socket.socket:
    plain = socket.create_connection(("127.0.0.1", port), 120)
    if not tls:
        return plain
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context.wrap_socket(plain)


def _answer_time(port: int, tls: bool) -> float:
    begin = time.perf_counter()
    with closing(_connected(port, tls)) as client:
        client.sendall(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
        answer = b"".join(iter(lambda: client.recv(4096), b""))
    if not answer.startswith(b"HTTP/1.1 200 "):
        raise RuntimeError(answer[:200].decode(errors="replace"))
    return time.perf_counter() - begin
