"""The proxy's configuration as it is shipped, in a real nginx, before a server of four threads."""

import json
import os
import re
import shutil
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from potato_site.receiving import API_BYTES, FORM_BYTES, UPLOAD_BYTES

ROOT = Path(__file__).parents[2]
SLOW = 32
UPLOADS = (
    "/o/acme/p/demo/agreement/machines/import/",
    "/o/acme/p/demo/traces/imports/new/",
    "/o/acme/api/v1/projects/demo/imports/",
    "/api/v1/projects/demo/imports/",
    "/o/acme/p/demo/traces/repositories/",
    "/api/v1/projects/demo/repositories/",
)
HEAD = "Host: localhost\r\nConnection: close\r\n"


@dataclass
class Proxy:
    port: int
    log: Path
    context: ssl.SSLContext

    def connect(self) -> ssl.SSLSocket:
        return self.context.wrap_socket(
            socket.create_connection(("127.0.0.1", self.port), 60), server_hostname="localhost"
        )

    def said(self, request: str, body: bytes = b"") -> bytes:
        with closing(self.connect()) as client:
            client.sendall(request.encode() + body)
            return b"".join(iter(lambda: client.recv(65536), b""))

    def get(self, path: str, headers: str = "") -> bytes:
        return self.said(f"GET {path} HTTP/1.1\r\n{HEAD}{headers}\r\n")

    def post(self, path: str, size: int, headers: str = "") -> bytes:
        """With a head that declares so much, and nothing of it."""
        return self.said(f"POST {path} HTTP/1.1\r\n{HEAD}{headers}Content-Length: {size}\r\n\r\n")

    def environ(self, headers: str = "") -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.get("/environ", headers).partition(b"\r\n\r\n")[2])
        return found


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    return port


def wait_for(port: int, process: "subprocess.Popen[bytes]", log: Path) -> None:
    until = time.monotonic() + 60
    while time.monotonic() < until:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            assert process.poll() is None, log.read_text()
            time.sleep(0.1)
        else:
            return
    raise AssertionError(log.read_text())


@pytest.fixture(scope="module")
def proxy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    nginx = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")
    if nginx is None or shutil.which("openssl") is None:
        assert not os.environ.get("CI"), "nginx and openssl are not installed"
        pytest.skip("no nginx or no openssl on PATH: apt-get install nginx-light openssl")
    folder = tmp_path_factory.mktemp("proxy")
    folder.chmod(0o755)
    shutil.copy(ROOT / "docker" / "make-secrets.sh", folder)
    subprocess.run(["sh", folder / "make-secrets.sh"], check=True, capture_output=True)
    site_port, http_port, port = free_port(), free_port(), free_port()
    text = (ROOT / "docker" / "nginx.conf").read_text()
    for shipped, here in {
        "server web:8000": f"server 127.0.0.1:{site_port}",
        "listen 8080": f"listen 127.0.0.1:{http_port}",
        "listen 8443": f"listen 127.0.0.1:{port}",
        "/run/secrets/": f"{folder}/secrets/",
        "/var/cache/nginx": str(folder / "cache"),
        "pid /tmp": f"pid {folder}",
        "  send_timeout 30s": "  send_timeout 2s",
        "/dev/stdout": str(folder / "access.log"),
    }.items():
        assert shipped in text, shipped
        text = text.replace(shipped, here)
    (folder / "cache").mkdir()
    (folder / "nginx.conf").write_text(text)
    log = folder / "log"
    with ExitStack() as running, log.open("wb") as output:
        for listens, command in (
            (
                site_port,
                [
                    *(sys.executable, "-m", "gunicorn", "tests.potato_site.echo", "--bind", f"127.0.0.1:{site_port}"),
                    *("--worker-class", "potato_site.serving.Worker", "--threads", "4", "--no-control-socket"),
                ],
            ),
            (port, [nginx, "-e", str(folder / "errors"), "-c", str(folder / "nginx.conf"), "-g", "daemon off;"]),
        ):
            process = running.enter_context(subprocess.Popen(command, cwd=ROOT, stdout=output, stderr=output))
            running.callback(process.terminate)
            wait_for(listens, process, log)
        context = ssl.create_default_context(cafile=str(folder / "secrets" / "tls_certificate"))
        yield Proxy(port, folder / "access.log", context)


@pytest.mark.parametrize(
    "sends",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"GET / HTTP/1.1\r\nHost: loc", id="half a head"),
        pytest.param(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nhalf", id="half a body"),
        pytest.param(b"GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n", id="an answer that nobody takes"),
        pytest.param(
            b"POST /o/acme/p/demo/traces/imports/new/ HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nhalf",
            id="half an upload",
        ),
    ],
)
def test_32_slow_clients_hold_nobody_up(proxy: Proxy, sends: bytes) -> None:
    clients = []
    with ExitStack() as slow:
        for _ in range(SLOW):
            client = slow.enter_context(closing(proxy.connect()))
            client.sendall(sends)
            clients.append(client)
        assert proxy.get("/healthz").startswith(b"HTTP/1.1 200 ")
        # And none of them was turned away for it.
        assert [ended for client in clients if (ended := was_turned_away(client))] == []


def was_turned_away(client: ssl.SSLSocket) -> str:
    """How a connection ended before its time, empty where it did not."""
    client.setblocking(False)
    try:
        begins = client.recv(100)
    except ssl.SSLWantReadError:
        return ""
    except OSError as error:
        return str(error)
    return "" if begins.startswith((b"HTTP/1.1 200 ", b"HTTP/1.1 408 ")) else f"closed {begins!r}"


def test_a_client_that_takes_nothing_of_its_answer_is_left(proxy: Proxy) -> None:
    before = proxy.log.read_text().count('"/large"')
    with ExitStack() as crowd:
        for _ in range(SLOW):
            crowd.enter_context(closing(proxy.connect())).sendall(b"GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n")
        # A line is written when a request is over. It is hurried here: 30 s are shipped.
        until = time.monotonic() + 30
        while proxy.log.read_text().count('"/large"') < before + SLOW and time.monotonic() < until:
            time.sleep(0.1)
        assert proxy.log.read_text().count('"/large"') == before + SLOW


def test_a_request_comes_whole_and_with_its_length(proxy: Proxy) -> None:
    chunks = b"5\r\nabcde\r\n3\r\nabc\r\n0\r\n\r\n"
    answer = proxy.said(f"POST / HTTP/1.1\r\n{HEAD}Transfer-Encoding: chunked\r\n\r\n", chunks)
    assert answer.endswith(b"\r\n\r\n8")
    assert proxy.said(f"POST /api/v1/x HTTP/1.1\r\n{HEAD}Content-Length: 4\r\n\r\n", b"abcd").endswith(b"4")


def test_what_a_client_says_of_itself_is_lost(proxy: Proxy) -> None:
    claims = "X-Forwarded-For: 203.0.113.9\r\nX-Forwarded-Proto: http\r\nX-Forwarded-Host: evil\r\nForwarded: for=9\r\n"
    seen = proxy.environ(claims + "X-Real-IP: 203.0.113.9\r\n")
    assert seen["HTTP_X_FORWARDED_FOR"] == "127.0.0.1"
    assert seen["HTTP_X_FORWARDED_PROTO"] == "https"
    assert seen["HTTP_HOST"] == "localhost"
    assert not {"HTTP_X_FORWARDED_HOST", "HTTP_FORWARDED", "HTTP_X_REAL_IP"} & seen.keys()


@pytest.mark.parametrize(
    ("path", "bound"),
    [
        ("/accounts/login/", FORM_BYTES),
        ("/o/acme/p/demo/", FORM_BYTES),
        ("/o/acme/api/v1/work/", API_BYTES),
        ("/api/v1/work/", API_BYTES),
        *((path, UPLOAD_BYTES) for path in UPLOADS),
    ],
)
def test_a_body_over_the_bound_of_its_route_is_refused_unread(proxy: Proxy, path: str, bound: int) -> None:
    assert proxy.post(path, bound + 300_000).startswith(b"HTTP/1.1 413 ")


@pytest.mark.parametrize("path", UPLOADS)
def test_an_upload_reaches_the_site_before_it_is_here_so_that_it_can_be_refused(proxy: Proxy, path: str) -> None:
    """The site answers after the head alone; any other route's body would be waited for."""
    with closing(proxy.connect()) as client:
        client.sendall(f"POST {path} HTTP/1.1\r\n{HEAD}Content-Length: 9000000\r\n\r\nx".encode())
        assert client.recv(1000).startswith(b"HTTP/1.1 408 "), "as the tests' site answers one that does not go on"


def test_readiness_is_not_for_strangers(proxy: Proxy) -> None:
    assert proxy.get("/readyz").startswith(b"HTTP/1.1 404 ")


def test_a_flood_of_reports_is_turned_away(proxy: Proxy) -> None:
    statuses = [proxy.post("/csp-report/", 0)[9:12] for _ in range(40)]
    assert b"429" in statuses


def test_no_secret_of_an_address_is_logged(proxy: Proxy) -> None:
    proxy.get("/join/0123456789abcdef0123456789abcdef.0123456789abcdefghijklmnopqrstuv/")
    proxy.get("/o/acme/exports/1/?token=hunter2", "Referer: https://localhost/join/abc/?token=hunter3\r\n")
    proxy.get("/the-end")
    until = time.monotonic() + 20
    while "/the-end" not in proxy.log.read_text() and time.monotonic() < until:
        time.sleep(0.05)
    lines = proxy.log.read_text()
    assert "/join/[secret]" in lines
    assert '"path":"/o/acme/exports/1/"' in lines
    assert not re.search("hunter|abcdefghij|127.0.0.1", lines)
