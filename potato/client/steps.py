"""What is asked of a site, without the asking: an operation is a generator that yields requests and pauses, is sent the
replies, and returns what they come to. So each is written once, and runs with and without `await`."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import IO, Any, Generic, TypeAlias, TypeVar
from urllib.parse import parse_qs, quote, urlsplit
from uuid import uuid4

from pydantic import BaseModel

from potato.client.errors import JobFailed, Unfinished

Answer = TypeVar("Answer")
Model = TypeVar("Model", bound=BaseModel)
Row = TypeVar("Row")


@dataclass(frozen=True)
class Request:
    """One request. `path` lies below the API's address. `is_repeatable`: the site does it once however often it comes,
    so that it may be sent again when no answer came. `file` is the name and the content of the field "file" of the
    form. `sink` is where the body of a good answer is written to."""

    method: str
    path: str
    params: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    content: bytes | None = None
    form: Mapping[str, str] | None = None
    file: tuple[str, bytes] | None = None
    is_repeatable: bool = False
    sink: IO[bytes] | None = None

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


@dataclass(frozen=True)
class Pause:
    """So many seconds are waited."""

    seconds: float


@dataclass(frozen=True)
class Rows(Generic[Row]):
    """What a stream hands out."""

    rows: Sequence[Row]


@dataclass(frozen=True)
class Reply:
    """A good answer; empty after a pause."""

    status: int = 0
    headers: Mapping[str, str] = field(default_factory=dict)
    content: bytes = b""

    def json(self) -> Any:
        return json.loads(self.content)


_PACKED_FROM = 64 * 1024

Step: TypeAlias = Request | Pause
Steps: TypeAlias = Generator[Step, Reply, Answer]
Stream: TypeAlias = Generator[Step | Rows[Row], Reply, None]


def path(*parts: object) -> str:
    """The address below the API's own, with the parts escaped: `projects/reviews/next/`."""
    return "".join(f"{quote(str(part), safe='')}/" for part in parts)


def get(where: str, **params: Any) -> Request:
    """Parameters that are None are left out."""
    chosen = {name: value for name, value in params.items() if value is not None}
    return Request("GET", where, params=chosen, is_repeatable=True)


def send(
    method: str, where: str, body: object = None, *, key: str | None = None, is_repeatable: bool | None = None
) -> Request:
    """A request with a JSON body: ASCII, so that lone surrogates in texts pass, and packed where it is long. A POST has
    an idempotency key, a new one where none is given, so that it may be repeated as PUT and DELETE may."""
    headers = {"Content-Type": "application/json"}
    if method == "POST":
        headers["Idempotency-Key"] = key or str(uuid4())
    if is_repeatable is None:
        is_repeatable = method in ("POST", "PUT", "DELETE")
    content = b"{}" if body is None else json.dumps(body, allow_nan=False).encode()
    if len(content) > _PACKED_FROM:
        content, headers["Content-Encoding"] = gzip.compress(content, 6, mtime=0), "gzip"
    return Request(method, where, headers=headers, content=content, is_repeatable=is_repeatable)


def ask(request: Request, model: type[Model]) -> Steps[Model]:
    """The answer as the model."""
    return model.model_validate_json((yield request).content)


def tell(request: Request) -> Steps[None]:
    """A request whose answer says no more than that it was done."""
    yield request


def pages(where: str, row: type[Model], **params: Any) -> Stream[Model]:
    """All rows of a long list, page by page: each page is asked for when the rows before it were taken."""
    cursor: str | None = None
    while True:
        answer = (yield get(where, **params, cursor=cursor)).json()
        yield Rows([row.model_validate(entry) for entry in answer["results"]])
        cursor = _cursor(answer.get("next"))
        if cursor is None:
            return


def _cursor(address: str | None) -> str | None:
    """That of the next page. The address itself is not followed: the token goes nowhere else."""
    return parse_qs(urlsplit(address).query)["cursor"][0] if address else None


def next_cursor(reply: Reply) -> str | None:
    """That of the address in the header Link whose relation is next."""
    found = re.search(r'<([^>]*)>; rel="next"', reply.headers.get("Link", ""))
    return _cursor(found[1]) if found else None


def collect(stream: Stream[Row]) -> Steps[list[Row]]:
    """All rows of a stream at once."""
    rows: list[Row] = []
    reply = Reply()
    while True:
        try:
            step = stream.send(reply) if reply.status else next(stream)
        except StopIteration:
            return rows
        if isinstance(step, Rows):
            rows += step.rows
            reply = Reply()
        else:
            reply = yield step


FIRST_PAUSE, LONGEST_PAUSE = 0.2, 5.0


def until_over(
    request: Request, model: type[Model], *, what: str, patience: float | None, progress: Any = None
) -> Steps[Model]:
    """Ask until the answer's `state` says that the work is over. Raises JobFailed, and Unfinished after `patience`
    seconds of waiting; None waits for ever. `progress(done, total)` is told how far it is."""
    waited, pause = 0.0, FIRST_PAUSE
    while True:
        answer = yield from ask(request, model)
        state = str(getattr(answer, "state", ""))
        if progress is not None:
            progress(answer)
        if state in ("done", "ready"):
            return answer
        if state in ("failed", "cancelled", "undone", "expired", "removed"):
            why = str(getattr(answer, "error", "") or "it says no more")
            raise JobFailed(f"{what} is {state}: {why}")
        if patience is not None and waited >= patience:
            raise Unfinished(f"{what} is still {state} after {waited:.0f} s.")
        yield Pause(pause)
        waited, pause = waited + pause, min(pause * 1.5, LONGEST_PAUSE)
