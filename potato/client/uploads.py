"""Files on their way to a site: in parts, so that what a lost connection stopped goes on where it was."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO
from uuid import uuid4

from potato.api.imports import Import, ImportsStarted, NewUpload, UploadState
from potato.client.errors import NoAnswer, NothingToSend, PotatoError, Refused
from potato.client.progress import Report
from potato.client.steps import Pause, Request, Steps, ask, path, send

TRIES_TO_GO_ON = 20
"""So often in a row a part may get no answer, whatever the transport had tried before."""


@dataclass(frozen=True)
class NamedFile:
    """A file and how it is called on the site: its path within the folder that was named."""

    path: Path
    name: str


def files_at(paths: Iterable[str | Path]) -> list[NamedFile]:
    """The files of paths, those of a folder with their paths within it, without hidden ones. Raises NothingToSend."""
    found: list[NamedFile] = []
    for named in map(Path, paths):
        if named.is_dir():
            inside = sorted(one for one in named.rglob("*") if one.is_file() and not _is_hidden(one.relative_to(named)))
            found += [NamedFile(one, f"{named.resolve().name}/{one.relative_to(named).as_posix()}") for one in inside]
        elif named.is_file():
            found.append(NamedFile(named, named.name))
        else:
            raise NothingToSend(f"There is no file {named}.")
    if not found:
        raise NothingToSend("There is no file to send: name files, or folders with files in them.")
    return found


def _is_hidden(inside: Path) -> bool:
    return any(part.startswith(".") for part in inside.parts)


class _Body:
    """The bytes of an upload: of one file as it is, of several as a form. Nothing is held but the part that is sent."""

    def __init__(self, files: Sequence[NamedFile]) -> None:
        self.name, self.type = files[0].name, ""
        self._pieces: list[bytes | Path] = [files[0].path]
        if len(files) > 1 or "/" in self.name:
            boundary = secrets.token_hex(24)
            self.name, self.type = "", f"multipart/form-data; boundary={boundary}"
            self._pieces = [*self._form(files, boundary), f"--{boundary}--\r\n".encode()]
        self._sizes = [len(piece) if isinstance(piece, bytes) else piece.stat().st_size for piece in self._pieces]
        self.size = sum(self._sizes)
        self._open: tuple[Path, IO[bytes]] | None = None

    @staticmethod
    def _form(files: Sequence[NamedFile], boundary: str) -> Iterator[bytes | Path]:
        for file in files:
            field, name = (_quoted(text) for text in (f"file:{file.name}", file.path.name))
            head = f'--{boundary}\r\nContent-Disposition: form-data; name="{field}"; filename="{name}"\r\n'
            yield f"{head}Content-Type: application/octet-stream\r\n\r\n".encode("utf-8", "surrogateescape")
            yield file.path
            yield b"\r\n"

    def part(self, first: int, most: int) -> bytes:
        """At most so many bytes from there on."""
        taken: list[bytes] = []
        begins = 0
        for piece, size in zip(self._pieces, self._sizes, strict=True):
            if first < begins + size and most > 0:
                within = first - begins
                data = self._read(piece, within, min(most, size - within))
                taken.append(data)
                first, most = first + len(data), most - len(data)
            begins += size
        return b"".join(taken)

    def _read(self, piece: bytes | Path, first: int, length: int) -> bytes:
        if isinstance(piece, bytes):
            return piece[first : first + length]
        if self._open is None or self._open[0] != piece:
            self.close()
            self._open = piece, piece.open("rb")
        file = self._open[1]
        file.seek(first)
        data = file.read(length)
        if len(data) != length:
            raise PotatoError(f"{piece} became shorter while it was sent. Send it again when nobody writes to it.")
        return data

    def close(self) -> None:
        if self._open is not None:
            self._open[1].close()
            self._open = None


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\r", " ").replace("\n", " ")


def import_steps(project: str, files: Sequence[NamedFile], format: str, report: Report) -> Steps[list[Import]]:
    """Send the files as one import. What is lost on the way is sent again from where the site has it."""
    body = _Body(files)
    try:
        new = NewUpload(size=body.size, name=body.name, type=body.type)
        upload = yield from ask(send("POST", path("projects", project, "uploads"), new.model_dump()), UploadState)
        yield from _send_parts(project, body, upload, report)
    finally:
        body.close()
    form = {"upload": upload.upload, **({"format": format} if format else {})}
    where, headers = path("projects", project, "imports"), {"Idempotency-Key": str(uuid4())}
    started = yield from ask(Request("POST", where, headers=headers, form=form, is_repeatable=True), ImportsStarted)
    return started.imports


def _send_parts(project: str, body: _Body, upload: UploadState, report: Report) -> Steps[None]:
    where = path("projects", project, "uploads", "part")
    received, failures = upload.received, 0
    while received < body.size:
        part = body.part(received, upload.most)
        headers = {
            "Upload": upload.upload,
            "Content-Range": f"bytes {received}-{received + len(part) - 1}/{body.size}",
            "Content-Type": "application/octet-stream",
        }
        request = Request("PUT", where, headers=headers, content=part, is_repeatable=True)
        try:
            state = yield from ask(request, UploadState)
        except (NoAnswer, Refused) as error:
            # A part that is not the next one: the site has more of it than we know, or less.
            if isinstance(error, Refused) and (error.code != "wrong_part" or failures):
                raise
            failures += 1
            if failures > TRIES_TO_GO_ON:
                raise
            yield Pause(1)
            asked = Request("GET", where, headers={"Upload": upload.upload}, is_repeatable=True)
            state = yield from ask(asked, UploadState)
        else:
            failures = 0
        received = state.received
        report("Sending", received, body.size)
