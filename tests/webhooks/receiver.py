"""A receiver of webhooks on this machine: it keeps what comes, and answers as it is told."""

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Received:
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def message(self) -> Any:
        return json.loads(self.body)


@dataclass
class Receiver:
    """`answers` are used up one by one, each a status, headers and a body; after them it answers 204."""

    port: int = 0
    received: list[Received] = field(default_factory=list)
    answers: list[tuple[int, dict[str, str], bytes]] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook"

    def will_answer(self, *statuses: int, body: bytes = b"", **headers: str) -> None:
        self.answers += [(status, headers, body) for status in statuses]


@contextmanager
def receiving() -> Iterator[Receiver]:
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            receiver.received.append(Received(self.path, dict(self.headers.items()), body))
            status, headers, answer = receiver.answers.pop(0) if receiver.answers else (204, {}, b"")
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def do_GET(self) -> None:
            self.do_POST()

        def log_message(self, format: str, *args: Any) -> None:
            """Nothing: the tests look at what was received."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    receiver.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def listening(*hosts: str) -> Iterator[tuple[int, list[str]]]:
    """A listener at one port of several addresses of this machine, and who connected; it answers nothing."""
    connected: list[str] = []
    over = threading.Event()
    sockets: list[socket.socket] = []
    port = 0
    for host in hosts:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        each = socket.socket(family, socket.SOCK_STREAM)
        each.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            each.bind((host, port))
        except OSError:
            each.close()
            continue
        port = each.getsockname()[1]
        each.listen()
        each.settimeout(0.05)
        sockets.append(each)

    def accept(each: socket.socket) -> None:
        while not over.is_set():
            try:
                connection, peer = each.accept()
            except TimeoutError:
                continue
            connected.append(str(peer))
            connection.close()

    threads = [threading.Thread(target=accept, args=(each,), daemon=True) for each in sockets]
    for thread in threads:
        thread.start()
    try:
        yield port, connected
    finally:
        over.set()
        for thread in threads:
            thread.join()
        for each in sockets:
            each.close()
