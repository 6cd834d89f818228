"""gunicorn's threaded worker, whose threads never wait for a client: a request is gathered in the main loop, and a
thread takes it when it is there.

As gunicorn has it, a connection that sends nothing holds a thread for five seconds, and one whose body never comes for
ever: so many of them as there are threads stop the site. Here they hold some bytes. What arrives too slowly is answered
408. A body that is larger than any page or program sends (an upload) is read by the thread, at a minimum rate; whether
it is wanted at all, potato_site.receiving says before. gunicorn's own parser decides what the request means.
"""

import contextlib
import re
import selectors
import socket
import time
from functools import partial
from typing import Any

from gunicorn.workers.gthread import ThreadWorker

HEAD_SECONDS = 10.0
BODY_SECONDS = 15.0
SLOWEST_BYTES_A_SECOND = 16 * 1024
SEND_SECONDS = 30.0
"""A client that takes no byte of its answer for so long is left."""
LARGEST_HEAD = 64 * 1024
LARGEST_GATHERED = 5 * 2**20
"""Larger bodies are read by a thread."""
MOST_HELD = 64 * 2**20
"""Bytes of all requests together that are still arriving."""
_READ_BYTES = 64 * 1024
_READS_A_TURN = 16
_LINGER_SECONDS = 2.0

_HEAD_END = b"\r\n\r\n"
_LENGTH = re.compile(rb"[ \t]*([0-9]{1,15})[ \t]*\r\n")


def _short_answer(status: str, retry_after: int = 0) -> bytes:
    retry = f"Retry-After: {retry_after}\r\n" if retry_after else ""
    return f"HTTP/1.1 {status}\r\nConnection: close\r\n{retry}Content-Length: 0\r\n\r\n".encode()


_TOO_SLOW = _short_answer("408 Request Timeout")
_TOO_MUCH = _short_answer("503 Service Unavailable", 10)


class Arrival:
    """A request on its way in: what is there of it, what is missing, and until when the rest may come."""

    def __init__(self, now: float, data: bytes) -> None:
        self.data = bytearray(data)
        # A moment, not a pause: one byte every few seconds would renew a pause for ever.
        self.ends = now + HEAD_SECONDS
        self.began = now
        self.is_partial = False
        """Whether the body is left for the thread to read."""
        self.expects = False
        self._needed: int | None = None
        """The request's length in bytes, once its head is there."""
        self._next_chunk: int | None = None
        self._searched = 0

    def is_whole(self) -> bool:
        """Whether a thread can take it: it is complete, or no request at all, or too large to be gathered here."""
        if self._needed is None and self._next_chunk is None:
            return self._head_is_whole()
        if self._next_chunk is not None:
            return self._chunks_are_whole()
        return self._needed is not None and len(self.data) >= self._needed

    def _head_is_whole(self) -> bool:
        end = self.data.find(_HEAD_END, max(0, self._searched - len(_HEAD_END)))
        self._searched = len(self.data)
        if end < 0:
            return len(self.data) > LARGEST_HEAD  # gunicorn says what is wrong with it.
        # In small letters, once: patterns without case take ten times as long.
        head = bytes(self.data[: end + len(_HEAD_END)]).lower()
        self.expects = b"\r\nexpect:" in head
        if b"\r\ntransfer-encoding:" in head:
            self._next_chunk = len(head)
            self.ends = self.began + HEAD_SECONDS + BODY_SECONDS
            return self._chunks_are_whole()
        at = head.find(b"\r\ncontent-length:")
        declared = _LENGTH.match(head, at + len(b"\r\ncontent-length:")) if at >= 0 else None
        length = int(declared[1]) if declared else 0
        if length > LARGEST_GATHERED:
            self.is_partial = True
            return True
        # A long body gets longer, at a rate that any line has; a short one cannot be drawn out.
        self.ends = self.began + HEAD_SECONDS + BODY_SECONDS + length / SLOWEST_BYTES_A_SECOND
        self._needed = len(head) + length
        return len(self.data) >= self._needed

    def _chunks_are_whole(self) -> bool:
        """Walks from chunk to chunk. What is none is gunicorn's to refuse."""
        at = self._next_chunk or 0
        while True:
            if at > LARGEST_GATHERED:
                self.is_partial = True
                return True
            end = self.data.find(b"\r\n", at)
            if end < 0:
                self._next_chunk = at
                return len(self.data) - at > LARGEST_HEAD
            try:
                size = int(bytes(self.data[at:end]).partition(b";")[0].strip(), 16)
            except ValueError:
                return True
            if size <= 0:
                self._next_chunk = at
                trailers = len(self.data) - end
                return size < 0 or self.data.find(_HEAD_END, end) >= 0 or trailers > LARGEST_HEAD
            at = end + 2 + size + 2
            self._next_chunk = at
            if at >= len(self.data):
                return False


class TimedSocket(socket.socket):
    """A client's socket in a thread: sending ends after a while, a body comes at a minimum rate; else TimeoutError."""

    _body_began: float | None = None
    _body_bytes = 0

    @classmethod
    def of(cls, accepted: socket.socket) -> "TimedSocket":
        family, kind, protocol = accepted.family, accepted.type, accepted.proto
        return cls(family, kind, protocol, fileno=accepted.detach())

    def setblocking(self, flag: bool, /) -> None:
        self.settimeout(SEND_SECONDS if flag else 0.0)
        self._body_began, self._body_bytes = None, 0

    def recv(self, size: int, flags: int = 0, /) -> bytes:
        allowed = self.gettimeout()
        if not allowed:
            return super().recv(size, flags)
        now = time.monotonic()
        if self._body_began is None:
            self._body_began = now
        left = self._body_began + BODY_SECONDS + self._body_bytes / SLOWEST_BYTES_A_SECOND - now
        if left <= 0:
            raise TimeoutError("the body of the request comes too slowly")
        self.settimeout(min(left, allowed))
        try:
            data = super().recv(size, flags)
        finally:
            self.settimeout(allowed)
        self._body_bytes += len(data)
        return data


class Worker(ThreadWorker):  # type: ignore[misc]  # gunicorn ships no types
    """`gunicorn --worker-class potato_site.serving.Worker`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._arriving: dict[Any, Arrival] = {}
        self._leaving: dict[Any, float] = {}
        self._held = 0

    # --- A request comes in ---

    def enqueue_req(self, conn: Any) -> None:
        """As gunicorn calls it for a connection that is new or has more to say."""
        if self.cfg.is_ssl:
            super().enqueue_req(conn)  # Its bytes are not the request's.
            return
        if not isinstance(conn.sock, TimedSocket):
            conn.sock = TimedSocket.of(conn.sock)
        conn.sock.setblocking(False)
        read_ahead = conn.parser.unreader.take_buffered() if conn.parser else b""
        if self.nr_conns >= self.worker_connections and self._arriving:
            # The oldest unfinished request gives its slot up: gunicorn would accept nobody any more, and whoever opens
            # connections without a request could so close the site.
            self._drop(next(iter(self._arriving)))
        self._arriving[conn] = Arrival(time.monotonic(), read_ahead)
        self._held += len(read_ahead)
        if not self._gather(conn):
            self.poller.register(conn.sock, selectors.EVENT_READ, partial(self._on_more, conn))

    def _on_more(self, conn: Any, client: Any) -> None:
        if conn not in self._arriving:
            return  # dropped by an event of the same turn
        if self._gather(conn):
            with contextlib.suppress(OSError, KeyError, ValueError):
                self.poller.unregister(client)

    def _gather(self, conn: Any) -> bool:
        """Read what is there. True when the connection waits no more: a thread has it, or it is closed."""
        arrival = self._arriving[conn]
        before = len(arrival.data)
        ended = False
        whole = bool(arrival.data) and arrival.is_whole()
        # So many, and then the others': one fast client would keep the loop to itself.
        for _ in range(_READS_A_TURN):
            if whole:
                break
            try:
                data = conn.sock.recv(_READ_BYTES)
            except (BlockingIOError, InterruptedError):
                break
            except OSError:
                data = b""
            if not data:
                ended = True
                break
            arrival.data += data
            whole = arrival.is_whole()
        self._held += len(arrival.data) - before
        if whole or (ended and arrival.data):
            self._hand_over(conn)
            return True
        if ended:
            self._drop(conn)
            return True
        if self._held > MOST_HELD:
            self._drop(conn, _TOO_MUCH)
            return True
        if arrival.expects:
            # curl waits for this answer before it sends a body; gunicorn sends it when a thread has the request.
            arrival.expects = False
            with contextlib.suppress(OSError):
                conn.sock.send(b"HTTP/1.1 100 Continue\r\n\r\n")
        return False

    def _hand_over(self, conn: Any) -> None:
        arrival = self._forget(conn)
        conn.reads_on = arrival.is_partial
        conn.init()
        conn.parser.unreader.unread(bytes(arrival.data))
        super().enqueue_req(conn)

    def _forget(self, conn: Any) -> Arrival:
        arrival = self._arriving.pop(conn)
        self._held -= len(arrival.data)
        return arrival

    def _drop(self, conn: Any, answer: bytes = b"") -> None:
        self._forget(conn)
        if answer:
            with contextlib.suppress(OSError):
                conn.sock.send(answer)
        self._close(conn)

    def _close(self, conn: Any) -> None:
        with contextlib.suppress(OSError, KeyError, ValueError):
            self.poller.unregister(conn.sock)
        self.nr_conns -= 1
        conn.close()

    def murder_pending(self) -> None:
        """Called each second: what was too slow is answered, what has ended is closed."""
        super().murder_pending()
        now = time.monotonic()
        for conn, arrival in list(self._arriving.items()):
            if arrival.ends <= now or not (self.alive or arrival.data):
                self._drop(conn, _TOO_SLOW if arrival.data else b"")
        for conn, ends in list(self._leaving.items()):
            if ends <= now:
                self._left(conn)

    # --- A thread has it ---

    def handle_request(self, req: Any, conn: Any) -> Any:
        if conn.__dict__.get("reads_on"):
            # What the site did not read is not drained, for which a thread would wait.
            req.force_close()
        return super().handle_request(req, conn)

    def finish_request(self, conn: Any, fs: Any) -> None:
        """As gunicorn's, but that nobody waits for the client to close: the main loop would stand still meanwhile."""
        stays = not fs.cancelled() and fs.exception() is None and bool(fs.result())
        if stays or self.cfg.is_ssl:
            super().finish_request(conn, fs)
            return
        try:
            conn.sock.setblocking(False)
            conn.sock.shutdown(socket.SHUT_WR)
            self.poller.register(conn.sock, selectors.EVENT_READ, partial(self._on_last_words, conn))
        except (OSError, KeyError, ValueError):
            self.nr_conns -= 1
            conn.close()
        else:
            self._leaving[conn] = time.monotonic() + _LINGER_SECONDS

    def _on_last_words(self, conn: Any, client: Any) -> None:
        """What the client still sends is read away, so that the answer is not cut off by a reset."""
        try:
            data = conn.sock.recv(_READ_BYTES)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            data = b""
        if not data:
            self._left(conn)

    def _left(self, conn: Any) -> None:
        if self._leaving.pop(conn, None) is not None:
            self._close(conn)
