"""The two ways to a site: one that waits and one for asyncio. Each sends a request, tries again after a pause where
that is safe, and runs the steps of operations; whether and how long to wait is decided once, in Patience."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from importlib import metadata
from typing import Any, TypeVar
from urllib.parse import urlsplit

from potato.client.errors import NoAnswer, NotConfigured, PotatoError, Refused, refusal
from potato.client.steps import Pause, Reply, Request, Rows, Step, Steps, Stream
from potato.statistics.extras import MissingExtra

try:
    import httpx2
except ImportError:
    raise MissingExtra(
        'The client asks sites with httpx2, which is missing: pip install "potato-review[client]"'
    ) from None

Answer = TypeVar("Answer")

UNANSWERED = (500, 502, 504)
"""The site may have done it."""
UNDONE = (429, 503)
"""The site did not do it."""
_NEVER_SENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout)


@dataclass(frozen=True)
class Patience:
    """How often a request is tried, and the longest pause in seconds before the next try: a Retry-After that is longer
    is not waited for."""

    tries: int = 6
    longest_pause: float = 60.0

    def pause(self, request: Request, outcome: Refused | httpx2.TransportError, tried: int) -> float | None:
        """How long to wait before the request is sent again; None where it is not to be."""
        if tried >= self.tries:
            return None
        if isinstance(outcome, Refused):
            if outcome.status not in UNDONE and not (outcome.status in UNANSWERED and request.is_repeatable):
                return None
            if outcome.retry_after is not None:
                return outcome.retry_after if outcome.retry_after <= self.longest_pause else None
        elif not request.is_repeatable and not isinstance(outcome, _NEVER_SENT):
            return None
        # Half of it by chance: programs that were refused together do not come back together.
        return min(self.longest_pause, 0.5 * 2.0 ** (tried - 1)) * random.uniform(0.5, 1)  # noqa: S311


def api_address(address: str, *, unencrypted: bool = False) -> str:
    """Where a site's API lies. Raises NotConfigured for what is no address, and where the token would be sent in the
    clear to another machine, unless that is `unencrypted` on purpose."""
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise NotConfigured(f"{address!r} is no site's address, which looks like https://potato.example.org.")
    if not unencrypted and parts.scheme == "http" and parts.hostname not in ("localhost", "127.0.0.1", "::1"):
        raise NotConfigured(f"{address} would send the token unencrypted. Write https://{parts.netloc}.")
    return f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/').removesuffix('/api/v1')}/api/v1/"


def _headers(token: str) -> dict[str, str]:
    return {
        "Authorization": f"Bearer {token}",
        "Accept": "application/json",
        "User-Agent": f"potato-review/{metadata.version('potato-review')}",
    }


def _options(request: Request) -> dict[str, Any]:
    form: dict[str, tuple[str | None, str | bytes]] | None = None
    if request.form is not None:
        form = {name: (None, value) for name, value in request.form.items()}
        if request.file is not None:
            form["file"] = request.file
    return {
        "params": dict(request.params),
        "headers": dict(request.headers),
        "content": request.content,
        "files": form,
    }


def _unreachable(request: Request, address: str, error: Exception) -> NoAnswer:
    return NoAnswer(f"{address} gave no answer to {request}: {error or type(error).__name__}")


class Transport:
    """Asks and waits. Safe to share between threads."""

    def __init__(self, address: str, token: str, *, patience: Patience, timeout: float) -> None:
        self.address, self._patience = address, patience
        self._http = httpx2.Client(base_url=self.address, headers=_headers(token), timeout=timeout)

    def close(self) -> None:
        self._http.close()

    def run(self, steps: Steps[Answer]) -> Answer:
        """What the steps come to."""
        try:
            step = next(steps)
            while True:
                try:
                    reply = self._take(step)
                except PotatoError as error:
                    step = steps.throw(error)
                else:
                    step = steps.send(reply)
        except StopIteration as over:
            answer: Answer = over.value
            return answer

    def stream(self, steps: Stream[Answer]) -> Iterator[Answer]:
        """The rows, as they come."""
        try:
            step = next(steps)
            while True:
                if isinstance(step, Rows):
                    yield from step.rows
                    step = next(steps)
                else:
                    step = steps.send(self._take(step))
        except StopIteration:
            return

    def _take(self, step: Step) -> Reply:
        if isinstance(step, Pause):
            time.sleep(step.seconds)
            return Reply()
        tried = 0
        while True:
            tried += 1
            outcome: Refused | httpx2.TransportError
            try:
                return self._once(step)
            except (Refused, httpx2.TransportError) as error:
                outcome = error
            pause = self._patience.pause(step, outcome, tried)
            if pause is None:
                raise outcome if isinstance(outcome, Refused) else _unreachable(step, self.address, outcome)
            time.sleep(pause)

    def _once(self, request: Request) -> Reply:
        with self._http.stream(request.method, request.path, **_options(request)) as response:
            if request.sink is None or not response.is_success:
                content = response.read()
            else:
                content = b""
                request.sink.seek(0)
                request.sink.truncate()
                for chunk in response.iter_bytes():
                    request.sink.write(chunk)
            if not response.is_success:
                raise refusal(str(request), response.status_code, response.headers, content)
            return Reply(response.status_code, response.headers, content)


class AsyncTransport:
    """Asks within asyncio."""

    def __init__(self, address: str, token: str, *, patience: Patience, timeout: float) -> None:
        self.address, self._patience = address, patience
        self._http = httpx2.AsyncClient(base_url=self.address, headers=_headers(token), timeout=timeout)

    async def close(self) -> None:
        await self._http.aclose()

    async def run(self, steps: Steps[Answer]) -> Answer:
        """What the steps come to."""
        try:
            step = next(steps)
            while True:
                try:
                    reply = await self._take(step)
                except PotatoError as error:
                    step = steps.throw(error)
                else:
                    step = steps.send(reply)
        except StopIteration as over:
            answer: Answer = over.value
            return answer

    async def stream(self, steps: Stream[Answer]) -> AsyncIterator[Answer]:
        """The rows, as they come."""
        try:
            step = next(steps)
            while True:
                if isinstance(step, Rows):
                    for row in step.rows:
                        yield row
                    step = next(steps)
                else:
                    step = steps.send(await self._take(step))
        except StopIteration:
            return

    async def _take(self, step: Step) -> Reply:
        if isinstance(step, Pause):
            await asyncio.sleep(step.seconds)
            return Reply()
        tried = 0
        while True:
            tried += 1
            outcome: Refused | httpx2.TransportError
            try:
                return await self._once(step)
            except (Refused, httpx2.TransportError) as error:
                outcome = error
            pause = self._patience.pause(step, outcome, tried)
            if pause is None:
                raise outcome if isinstance(outcome, Refused) else _unreachable(step, self.address, outcome)
            await asyncio.sleep(pause)

    async def _once(self, request: Request) -> Reply:
        async with self._http.stream(request.method, request.path, **_options(request)) as response:
            if request.sink is None or not response.is_success:
                content = await response.aread()
            else:
                content = b""
                request.sink.seek(0)
                request.sink.truncate()
                async for chunk in response.aiter_bytes():
                    request.sink.write(chunk)
            if not response.is_success:
                raise refusal(str(request), response.status_code, response.headers, content)
            return Reply(response.status_code, response.headers, content)
