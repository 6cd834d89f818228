"""When a request that comes in pieces is there: not before its last byte, and until which moment the rest may come."""

import pytest

from potato_site.serving import (
    BODY_SECONDS,
    HEAD_SECONDS,
    LARGEST_GATHERED,
    LARGEST_HEAD,
    SLOWEST_BYTES_A_SECOND,
    Arrival,
)

BEGAN = 1_000.0
POST = b"POST /x HTTP/1.1\r\nHost: localhost\r\n"
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n\r\n"


def of_length(length: int) -> bytes:
    return POST + b"Content-Length: %d\r\n\r\n" % length


REQUESTS = {
    "no body": b"GET /x HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "a body with its length": of_length(5) + b"a\r\n\r\n",
    "chunks": CHUNKED + b"4\r\nwiki\r\n5;note=x\r\npedia\r\nA\r\n0123456789\r\n0\r\n\r\n",
    "chunks that look like ends": CHUNKED + b"7\r\n0\r\n\r\n0\r\r\n3\r\n\r\n0\r\n0\r\n\r\n",
    "chunks and trailers": CHUNKED + b"1\r\nx\r\n0\r\nX-Sum: 1\r\nX-More: 2\r\n\r\n",
    "chunks without content": CHUNKED + b"0\r\n\r\n",
}


@pytest.mark.parametrize("request_", REQUESTS.values(), ids=REQUESTS)
@pytest.mark.parametrize("piece", [1, 3, 1_000])
def test_a_request_is_whole_with_its_last_byte_and_not_before(request_: bytes, piece: int) -> None:
    arrival = Arrival(BEGAN, b"")
    for at in range(0, len(request_), piece):
        assert not arrival.is_whole(), bytes(arrival.data)
        arrival.data += request_[at : at + piece]
    assert arrival.is_whole()
    assert not arrival.is_partial


@pytest.mark.parametrize("end", [b"no number\r\n", b"-1\r\n", b"\r\n"])
def test_what_is_no_chunk_is_handed_on_at_once_to_be_refused(end: bytes) -> None:
    assert Arrival(BEGAN, CHUNKED + b"1\r\nx\r\n" + end).is_whole()


def test_a_head_or_a_size_without_an_end_is_handed_on_at_the_bound_of_a_head() -> None:
    for begun in (POST, CHUNKED, CHUNKED + b"0\r\n"):
        assert not Arrival(BEGAN, begun + b"1" * (LARGEST_HEAD - len(begun))).is_whole()
        assert Arrival(BEGAN, begun + b"1" * (LARGEST_HEAD + 1)).is_whole()


def test_a_large_body_is_left_for_the_thread() -> None:
    for declared in (LARGEST_GATHERED, LARGEST_GATHERED + 1):
        arrival = Arrival(BEGAN, of_length(declared))
        assert arrival.is_whole() == arrival.is_partial == (declared > LARGEST_GATHERED)
    chunks = Arrival(BEGAN, CHUNKED)
    while not chunks.is_whole():
        assert len(chunks.data) < 2 * LARGEST_GATHERED, "it is not gathered without end"
        chunks.data += b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
    assert chunks.is_partial


def test_a_body_may_take_as_long_as_a_slow_line_takes_and_no_longer() -> None:
    assert Arrival(BEGAN, POST).ends == BEGAN + HEAD_SECONDS
    for length in (0, 1, 1_000_000):
        arrival = Arrival(BEGAN, of_length(length))
        arrival.is_whole()
        assert arrival.ends == BEGAN + HEAD_SECONDS + BODY_SECONDS + length / SLOWEST_BYTES_A_SECOND
    # Nobody knows how long chunks are: they have what a short body has, however many come.
    chunks = Arrival(BEGAN, CHUNKED)
    for _ in range(3):
        assert not chunks.is_whole()
        assert chunks.ends == BEGAN + HEAD_SECONDS + BODY_SECONDS
        chunks.data += b"1\r\nx\r\n"
