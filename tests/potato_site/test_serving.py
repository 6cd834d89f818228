"""Clients that are slow, silent or gone hold no thread of the web server: the others are answered."""

import re
import select
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MANY = 40
"""Ten times as many as there are threads."""
HEAD_SECONDS = 4.0
"""How long tests.potato_site.echo waits for a head."""
POST = b"POST / HTTP/1.1\r\nHost: localhost\r\n"


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """Where a server of one process and four threads listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    log = tmp_path_factory.mktemp("serving") / "log"
    command = [
        *(sys.executable, "-m", "gunicorn", "tests.potato_site.echo", "--bind", f"127.0.0.1:{port}"),
        *("--worker-class", "tests.potato_site.echo.Worker", "--threads", "4", "--no-control-socket"),
        *("--worker-connections", "200"),
    ]
    with log.open("wb") as response_to:
        process = subprocess.Popen(command, cwd=ROOT, stdout=response_to, stderr=response_to)
    try:
        until = time.monotonic() + 60
        while time.monotonic() < until:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                assert process.poll() is None, log.read_text()
                time.sleep(0.1)
        yield port
    finally:
        process.terminate()
        process.wait(30)
    printed = log.read_text()
    assert not re.findall(r"^\w*(?:Error|Exception)\b.*", printed.replace("TimeoutError: timed out", ""), re.M), printed


def client(port: int, sends: bytes = b"") -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", port), 30)
    connection.sendall(sends)
    return connection


def answer_to(connection: socket.socket) -> bytes:
    """Everything until the server closes."""
    return b"".join(iter(lambda: connection.recv(65536), b""))


def response_to(port: int, sends: bytes) -> bytes:
    with closing(client(port, sends)) as connection:
        return answer_to(connection)


def was_turned_away(connection: socket.socket) -> str:
    """How a connection ended before its time, empty where it did not."""
    connection.setblocking(False)
    try:
        begins = connection.recv(100)
    except BlockingIOError:
        return ""
    except ConnectionResetError:
        return "reset"
    return "" if begins.startswith((b"HTTP/1.1 200 ", b"HTTP/1.1 408 ")) else f"closed {begins!r}"


@contextmanager
def many(port: int, sends: bytes) -> Iterator[list[socket.socket]]:
    crowd = [client(port, sends) for _ in range(MANY)]
    try:
        yield crowd
    finally:
        for connection in crowd:
            connection.close()


@pytest.mark.parametrize(
    "sends",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"GET / HTTP/1.1\r\nHost: loc", id="half a head"),
        pytest.param(POST + b"Content-Length: 100\r\n\r\n", id="no body"),
        pytest.param(POST + b"Content-Length: 100\r\n\r\nhalf of it", id="half a body"),
        pytest.param(POST + b"Transfer-Encoding: chunked\r\n\r\n", id="no chunk"),
        pytest.param(POST + b"Transfer-Encoding: chunked\r\n\r\n5\r\nabc", id="half a chunk"),
        pytest.param(POST + b"Transfer-Encoding: chunked\r\n\r\n7\r\n\r\n0\r\n\r\n", id="an end inside a chunk"),
        pytest.param(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", id="an answer and no goodbye"),
        pytest.param(POST.replace(b" / ", b" /unread ") + b"Content-Length: 99999999\r\n\r\n", id="a body not read"),
    ],
)
def test_a_crowd_that_goes_no_further_holds_nobody_up(port: int, sends: bytes) -> None:
    with many(port, sends) as crowd:
        assert response_to(port, POST + b"Content-Length: 3\r\nConnection: close\r\n\r\nabc").endswith(b"\r\n\r\n3")
        # Nobody of the crowd was turned away to make that possible: they are still waiting, or were answered.
        assert [closed for connection in crowd if (closed := was_turned_away(connection))] == []


def test_a_client_that_takes_no_answer_is_left(port: int) -> None:
    with many(port, b"GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n"):
        assert response_to(port, POST + b"Content-Length: 3\r\nConnection: close\r\n\r\nabc").endswith(b"3")


@pytest.mark.parametrize(
    "sends",
    [
        pytest.param(b"GET / HTTP/1.1\r\nHost: loc", id="head"),
        pytest.param(POST + b"Content-Length: 100\r\n\r\nhalf", id="body"),
        pytest.param(POST + b"Transfer-Encoding: chunked\r\n\r\n5\r\nabc", id="chunk"),
        pytest.param(POST + b"Content-Length: 9000000\r\n\r\nhalf", id="large body"),
    ],
)
def test_what_comes_too_slowly_is_answered_408_and_closed(port: int, sends: bytes) -> None:
    answer = response_to(port, sends)
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert b"connection: close" in answer.lower()


@pytest.mark.parametrize(
    "begins",
    [
        pytest.param(b"GET / HTTP/1.1\r\nHost: loc", id="head"),
        pytest.param(POST + b"Content-Length: 1000000\r\n\r\n", id="body"),
        pytest.param(POST + b"Transfer-Encoding: chunked\r\n\r\nfffff\r\n", id="chunk"),
        pytest.param(POST + b"Content-Length: 9000000\r\n\r\n", id="large body"),
    ],
)
def test_drops_do_not_buy_time(port: int, begins: bytes) -> None:
    with closing(client(port, begins)) as dripping:
        dripping.settimeout(0.2)
        answer = b""
        for _ in range(600):
            dripping.sendall(b"x")
            try:
                answer = dripping.recv(1000)
                break
            except TimeoutError:
                continue
        assert answer.startswith(b"HTTP/1.1 408 ")


def test_who_opens_every_connection_that_there_is_keeps_nobody_out(port: int) -> None:
    """The server of these tests takes 200 at once. What was begun first gives its place up for who comes now."""
    with ExitStack() as crowd:
        for _ in range(250):
            crowd.enter_context(closing(client(port, b"GET / HTTP/1.1\r\nHost: loc")))
        began = client(port, POST + b"Content-Length: 3\r\nConnection: close\r\n\r\nabc")
        began.settimeout(HEAD_SECONDS / 2)
        with closing(began):
            assert answer_to(began).endswith(b"\r\n\r\n3"), "before the others' time is over"


def test_what_all_requests_together_keep_in_memory_is_bounded(port: int) -> None:
    """Who passes it is turned away with 503, and the bodies that were there before come in."""
    most = POST + b"Content-Length: 2500000\r\nConnection: close\r\n\r\n" + bytes(2_000_000)
    with ExitStack() as crowd:
        first, *others = [crowd.enter_context(closing(client(port))) for _ in range(4)]
        first.sendall(most)
        time.sleep(0.2)
        for connection in others:
            with suppress(ConnectionError):
                connection.sendall(most)
        # As soon as it is there: the time of the first body runs.
        readable, _, _ = select.select(others, [], [], HEAD_SECONDS)
        answers = []
        for connection in readable:
            with suppress(ConnectionResetError):
                answers.append(connection.recv(100))
        assert any(answer.startswith(b"HTTP/1.1 503 ") for answer in answers), answers
        first.sendall(bytes(500_000))
        assert answer_to(first).endswith(b"\r\n\r\n2500000")


UNREAD = POST.replace(b" / ", b" /unread ") + b"Content-Length: 9000000\r\n\r\n"


def test_a_body_that_nobody_wants_is_not_waited_for_and_the_answer_arrives_whole(port: int) -> None:
    with closing(client(port, UNREAD + bytes(1_000_000))) as connection:
        # To the end of the connection, and not to a reset, which could cut the answer off.
        answer = answer_to(connection)
    assert b"connection: close" in answer.lower()
    assert answer.endswith(b"\r\n\r\nnot read")


def test_a_client_that_does_not_close_after_its_answer_is_closed(port: int) -> None:
    with closing(client(port, UNREAD)) as connection:
        assert answer_to(connection).endswith(b"not read")
        for _ in range(200):
            time.sleep(0.1)
            try:
                connection.sendall(b"x")
            except OSError:
                return
        pytest.fail("the connection stays")


def _in_pieces(connection: socket.socket, data: bytes, size: int) -> None:
    for start in range(0, len(data), size):
        connection.sendall(data[start : start + size])
        time.sleep(0.001)


CHUNKED = b"Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
CLOSING = b"Connection: close\r\n"
WHOLE: dict[str, tuple[bytes, int]] = {
    "a small body": (POST + CLOSING + b"Content-Length: 5\r\n\r\nabcde", 5),
    "chunks": (POST + CHUNKED + b"5\r\nabcde\r\n3;a=b\r\nabc\r\n0\r\n\r\n", 8),
    "chunks with trailers": (POST + CHUNKED + b"5\r\nabcde\r\n0\r\nA: b\r\n\r\n", 5),
    "ends inside chunks": (POST + CHUNKED + b"7\r\n\r\n0\r\n\r\n\r\n0\r\n\r\n", 7),
    "a large body": (POST + CLOSING + b"Content-Length: 6000000\r\n\r\n" + bytes(6_000_000), 6_000_000),
    "large chunks": (POST + CHUNKED + b"5B8D80\r\n" + bytes(6_000_000) + b"\r\n0\r\n\r\n", 6_000_000),
}


@pytest.mark.parametrize("send", [socket.socket.sendall, lambda to, data: _in_pieces(to, data, 1 + len(data) // 40)])
@pytest.mark.parametrize("name", WHOLE)
def test_a_request_arrives_as_it_was_sent(port: int, name: str, send: Callable[[socket.socket, bytes], None]) -> None:
    data, length = WHOLE[name]
    with closing(client(port)) as connection:
        send(connection, data)
        assert answer_to(connection).endswith(b"\r\n\r\n" + str(length).encode())


def test_several_requests_on_one_connection_are_answered_in_order(port: int) -> None:
    first = POST + b"Content-Length: 1\r\n\r\na"
    last = POST + b"Content-Length: 3\r\nConnection: close\r\n\r\nabc"
    answer = response_to(port, first + POST + b"Content-Length: 2\r\n\r\nab" + last)
    assert [part[-1:] for part in answer.split(b"HTTP/1.1 200 OK")[1:]] == [b"1", b"2", b"3"]


def test_who_asks_whether_to_go_on_is_told(port: int) -> None:
    with closing(client(port, POST + CLOSING + b"Expect: 100-continue\r\nContent-Length: 3\r\n\r\n")) as connection:
        assert connection.recv(1000).startswith(b"HTTP/1.1 100 Continue")
        connection.sendall(b"abc")
        assert answer_to(connection).endswith(b"3")


@pytest.mark.parametrize(
    "sends",
    [
        b"GET / HTTP/1.1\r\nHost: a\r\nX: " + b"x" * 70_000 + b"\r\n\r\n",
        b"what is this\r\n\r\n",
        POST + b"Content-Length: -1\r\n\r\n",
        POST + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        POST + b"Transfer-Encoding: chunked\r\n\r\nwhat\r\n",
    ],
    ids=["a long head", "no words of HTTP", "a negative length", "two lengths", "no chunk"],
)
def test_what_is_no_request_is_refused(port: int, sends: bytes) -> None:
    assert response_to(port, sends).startswith(b"HTTP/1.1 4")
