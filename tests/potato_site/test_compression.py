"""Pages leave compressed, and come back as they were; what is small, or not asked for so, leaves as it is."""

import gzip

from django.http import HttpResponse
from django.test import RequestFactory

from potato_site.compression import GZipMiddleware


def answer(content: bytes, accepts: str = "gzip, br", **headers: str) -> HttpResponse:
    request = RequestFactory().get("/", headers={"accept-encoding": accepts})
    packed = GZipMiddleware(lambda _: HttpResponse(content, headers=headers))(request)
    assert isinstance(packed, HttpResponse)
    return packed


def test_a_page_is_packed_with_a_length_that_tells_nothing() -> None:
    page = "<p>Ünïcode ☃</p>".encode() * 500
    packed = [answer(page) for _ in range(30)]
    assert {gzip.decompress(one.content) for one in packed} == {page}
    assert {one["Content-Encoding"] for one in packed} == {"gzip"}
    assert all(one["Content-Length"] == str(len(one.content)) and one["Vary"] == "Accept-Encoding" for one in packed)
    assert len({len(one.content) for one in packed}) > 5
    assert max(len(one.content) for one in packed) < len(page) / 10


def test_what_is_small_or_packed_or_not_wanted_packed_leaves_as_it_is() -> None:
    page = b"<p>Potato</p>" * 200
    for one in (answer(page[:1_000]), answer(page, accepts="identity"), answer(page, **{"Content-Encoding": "br"})):
        assert one.content in (page, page[:1_000])
        assert one.get("Content-Encoding") != "gzip"
    assert answer(page, accepts="identity")["Vary"] == "Accept-Encoding"
