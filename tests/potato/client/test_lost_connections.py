"""The client against a server that breaks off, refuses and forgets: what is sent again, and what never is."""

import asyncio
import email
import gzip
import hashlib
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from potato.api.exports import Export
from potato.api.shapes import Assignment
from potato.client import AsyncClient, Client, NoAnswer, NotConfigured, Patience, TooManyRequests, Unfinished, WrongFile
from potato.client.errors import retry_after
from tests.event_loops import run_apart

ID = UUID(int=1)
ASSIGNMENT = Assignment.model_validate(
    {
        "id": ID,
        "project": "a",
        "trace": {"id": ID, "external_id": "t", "version": 1, "task": ""},
        "state": "claimed",
        "lease_token": 3,
        "lease_until": None,
        "configuration_version": 1,
    }
)
SUBMITTED = {"submission": str(ID), "record": {}, "surplus": False, "undo_until": "2026-11-22T10:00:00Z"}
EXPORT = {
    "id": str(ID), "project": "a", "format": "prm", "options": {}, "state": "running", "progress": 0, "total": None,
    "rows": 0, "bytes": 4, "sha256": hashlib.sha256(b"rows").hexdigest(), "error": "", "expires_at": None, "file": None,
    "requested_at": "2026-11-22T10:00:00Z", "manifest": {},
}  # fmt: skip
BREAK_OFF = object()
Answer = tuple[int, dict[str, str], Any] | object


class Server(ThreadingHTTPServer):
    """Answers as `answer` says, which gets each request; `asked` are their lines."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.asked: list[str] = []
        self.keys: list[str | None] = []
        self.answer: Callable[[str, str, Any, bytes], Answer] = lambda *_: (404, {}, {})

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"

    def _serve(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path = self.path.removeprefix("/api/v1/")
        self.server.asked.append(f"{self.command} {path}")
        self.server.keys.append(self.headers["Idempotency-Key"])
        answer = self.server.answer(self.command, path, self.headers, body)
        if not isinstance(answer, tuple):
            self.close_connection = True
            return
        status, headers, content = answer
        data = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(status)
        for name, value in {"Content-Length": str(len(data)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)
        if "Content-Length" in headers:
            self.close_connection = True

    do_GET = do_POST = do_PUT = _serve  # noqa: N815

    def log_message(self, format: str, *args: Any) -> None: ...


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def client(server: Server) -> Iterator[Client]:
    with Client(server.address, "t", patience=Patience(tries=4, longest_pause=0.01)) as client:
        yield client


def one_after_another(*answers: Answer) -> Callable[..., Answer]:
    rest = iter(answers)
    return lambda *_: next(rest)


def test_what_only_looks_is_asked_again_after_a_break_and_a_refusal(server: Server, client: Client) -> None:
    refused = (503, {"Retry-After": "0"}, {"code": "unavailable", "detail": "Later."})
    answers: tuple[Answer, ...] = (BREAK_OFF, refused, (502, {}, b"<html>"), (200, {}, {"results": []}))
    server.answer = one_after_another(*answers)
    assert client.projects() == []
    assert server.asked == ["GET projects/"] * 4
    server.answer = one_after_another(*answers)

    async def same() -> list[Any]:
        patience = Patience(tries=4, longest_pause=0.01)
        async with AsyncClient(server.address, "t", patience=patience) as site:
            found: list[Any] = list(await site.projects())
            return found

    assert run_apart(asyncio.run, same()) == []
    assert len(server.asked) == 8
    server.answer = lambda *_: BREAK_OFF
    with pytest.raises(NoAnswer, match="GET projects/"):
        client.projects()
    assert len(server.asked) == 12


def test_what_might_be_done_twice_is_sent_again_under_its_key(server: Server, client: Client) -> None:
    server.answer = lambda *_: BREAK_OFF
    with pytest.raises(NoAnswer):
        client.make_project("a", "A")
    assert server.asked == ["POST projects/"] * 4
    assert len(set(server.keys)) == 1
    assert server.keys[0]
    with pytest.raises(NoAnswer):
        client.save_draft(ASSIGNMENT, {})
    assert server.asked[4:] == [f"PUT assignments/{ID}/draft/"], "sent twice it would be a conflict with itself"
    server.answer = one_after_another(BREAK_OFF, (201, {}, SUBMITTED), (201, {}, SUBMITTED))
    client.submit(ASSIGNMENT, {})
    client.submit(ASSIGNMENT, {})
    first, again, other = server.keys[-3:]
    assert first == again != other


def test_a_pause_that_is_too_long_is_told_and_not_waited_for(server: Server, client: Client) -> None:
    server.answer = lambda *_: (429, {"Retry-After": "3600"}, {"code": "too_soon", "detail": "Within an hour."})
    with pytest.raises(TooManyRequests, match="Within an hour") as refused:
        client.projects()
    assert (refused.value.retry_after, len(server.asked)) == (3600, 1)
    assert retry_after({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}) == 0
    assert retry_after({"retry-after": "soon"}) is retry_after({}) is None


def test_what_goes_on_longer_than_ones_patience_is_said(server: Server, client: Client) -> None:
    server.answer = lambda *_: (200, {}, EXPORT)
    with pytest.raises(Unfinished, match="running"):
        client.project("a").wait_for_export(ID, patience=0.2)


class Uploads:
    """Takes parts as a site does, and loses the connection with the second one, of which half has arrived."""

    def __init__(self) -> None:
        self.type, self.content, self.sizes = "", b"", list[int]()
        self.breaks = 1

    def answer(self, method: str, path: str, headers: Any, body: bytes) -> Answer:
        if path.endswith("/uploads/"):
            self.type = json.loads(body)["type"]
            return 201, {}, {"upload": "u", "received": 0, "most": 1000}
        if path.endswith("/imports/"):
            assert b"u" in body
            return 202, {}, {"imports": []}
        if method == "PUT":
            self.sizes.append(len(body))
            first = int(headers["Content-Range"].removeprefix("bytes ").partition("-")[0])
            if first != len(self.content):
                return 400, {}, {"code": "wrong_part", "detail": "Not the next part."}
            if len(self.sizes) == 2 and self.breaks:
                self.breaks = 0
                self.content += body[: len(body) // 2]
                return BREAK_OFF
            self.content += body
        return 200, {}, {"upload": "u", "received": len(self.content), "most": 1000}


def test_an_upload_goes_on_from_what_the_site_has(server: Server, client: Client, tmp_path: Path) -> None:
    folder = tmp_path / "wöche"
    (folder / "deep").mkdir(parents=True)
    contents = {"wöche/a.jsonl": b"a" * 2500, "wöche/deep/b.jsonl": b"b" * 700}
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    (folder / ".hidden").write_bytes(b"x")
    uploads = Uploads()
    server.answer = uploads.answer
    client.project("a").import_files(folder, wait=False)
    whole = email.message_from_bytes(f"Content-Type: {uploads.type}\r\n\r\n".encode() + uploads.content)
    sent = [part.get_payload(decode=True) for part in whole.walk() if not part.is_multipart()]
    assert sent == list(contents.values())
    assert f'name="file:{next(iter(contents))}"'.encode() in uploads.content
    assert "GET projects/a/uploads/part/" in server.asked
    assert uploads.sizes[1] == 1000

    uploads = Uploads()
    server.answer = uploads.answer
    client.project("a").import_files(folder / "a.jsonl", wait=False)
    assert (uploads.type, uploads.content) == ("", contents["wöche/a.jsonl"])


def test_a_download_is_whole_or_not_there(server: Server, client: Client, tmp_path: Path) -> None:
    ready = Export.model_validate(EXPORT)
    cut_off = (200, {"Content-Length": "1000"}, b"ro")
    server.answer = one_after_another(cut_off, (200, {}, b"rows"), (200, {}, b"wrong"))
    client.project("a").download_export(ready, tmp_path / "out/file")
    assert (tmp_path / "out/file").read_bytes() == b"rows"
    with pytest.raises(WrongFile):
        client.project("a").download_export(ready, tmp_path / "out/other")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["file"]


def test_a_list_goes_on_at_the_same_site_whatever_the_next_address_says(server: Server, client: Client) -> None:
    row = {"submission": str(ID), "record": {"id": "t"}, "surplus": False}
    first = {"next": "https://elsewhere.example.org/steal/?cursor=c2&mine=0", "previous": None, "results": [row]}
    server.answer = one_after_another((200, {}, first), (200, {}, {**first, "next": None}))
    submissions = client.project("a").submissions()
    assert next(submissions).record == {"id": "t"}
    assert len(server.asked) == 1, "a page is asked for when the one before it was read"
    assert [one.record for one in submissions] == [{"id": "t"}]
    assert server.asked[1] == "GET projects/a/annotations/?mine=0&surplus=0&cursor=c2"


def test_records_go_on_where_the_header_link_says(server: Server, client: Client) -> None:
    link = {"Link": '<https://elsewhere.example.org/steal/?cursor=c2>; rel="next"'}
    server.answer = one_after_another((200, link, b'{"id":"t"}\n{"id":"u"}\n'), (200, {}, b'{"id":"v"}\n'))
    assert [record["id"] for record in client.project("a").records()] == ["t", "u", "v"]
    assert server.asked[1] == "GET projects/a/records/?mine=0&surplus=0&cursor=c2"
    server.answer = lambda *_: (200, {}, b"")
    assert list(client.project("a").records()) == []


def test_a_token_goes_to_its_own_site_and_never_in_the_clear(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    for name in ("POTATO_URL", "POTATO_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    with suppress(ImportError):
        import keyring
        from keyring.backends.null import Keyring

        keyring.set_keyring(Keyring())
    (tmp_path / "potato").mkdir()
    (tmp_path / "potato/login.json").write_text('{"address": "https://a.example.org", "token": "pt_1"}')
    Client().close()
    for address in ("https://b.example.org", "http://a.example.org", "a.example.org"):
        with pytest.raises(NotConfigured):
            Client(address)
    with pytest.raises(NotConfigured, match="unencrypted"):
        Client("http://b.example.org", "t")
    Client("http://b.example.org", "t", unencrypted=True).close()


def test_a_long_body_goes_packed(server: Server, client: Client) -> None:
    came: list[tuple[str | None, bytes]] = []

    def take(method: str, path: str, headers: Any, body: bytes) -> Answer:
        came.append((headers["Content-Encoding"], body))
        return 200, {}, {"is_publishable": True, "problems": []}

    server.answer = take
    client.check("a" * 10)
    client.check("a" * 1_000_000)
    assert came[0][0] is None
    assert came[1][0] == "gzip"
    assert json.loads(gzip.decompress(came[1][1])) == {"source": "a" * 1_000_000}
