"""A Potato site for programs: `Client` waits for answers, `AsyncClient` is for asyncio, and both do the same.

    from potato.client import Client

    with Client("https://potato.example.org", token) as client:
        project = client.project("reviews")
        project.import_files("runs/")
        for record in project.records():
            print(record["id"], record["annotations"])

docs/client.md goes through all of it. Needs the extra: `pip install "potato-review[client]"`.
"""

from __future__ import annotations

from typing import Self

from potato.client.credentials import saved_login
from potato.client.errors import (
    Conflict,
    Fault,
    InvalidRequest,
    JobFailed,
    NoAnswer,
    NotAcceptable,
    NotAllowed,
    NotAuthenticated,
    NotConfigured,
    NotFound,
    NothingToSend,
    PotatoError,
    Refused,
    ScopeNeeded,
    SiteFailed,
    TooManyRequests,
    Unfinished,
    WrongFile,
)
from potato.client.operations import Awaiting, Waiting
from potato.client.progress import Report, bars, silent
from potato.client.project import ProjectOperations
from potato.client.site import SiteOperations
from potato.client.transports import AsyncTransport, Patience, Transport, api_address

__all__ = [
    "AsyncClient",
    "AsyncProject",
    "Client",
    "Conflict",
    "Fault",
    "InvalidRequest",
    "JobFailed",
    "NoAnswer",
    "NotAcceptable",
    "NotAllowed",
    "NotAuthenticated",
    "NotConfigured",
    "NotFound",
    "NothingToSend",
    "Patience",
    "PotatoError",
    "Project",
    "Refused",
    "Report",
    "ScopeNeeded",
    "SiteFailed",
    "TooManyRequests",
    "Unfinished",
    "WrongFile",
    "bars",
]

TIMEOUT = 60.0
"""Seconds without a byte of an answer."""


class Project(ProjectOperations, Waiting):
    """One project of a site."""

    def __init__(self, transport: Transport, slug: str, report: Report) -> None:
        super().__init__(transport)
        self.slug, self._report = slug, report


class AsyncProject(ProjectOperations, Awaiting):
    """One project of a site, for asyncio."""

    def __init__(self, transport: AsyncTransport, slug: str, report: Report) -> None:
        super().__init__(transport)
        self.slug, self._report = slug, report


class Client(SiteOperations, Waiting):
    """A site. Without an address and a token it takes POTATO_URL and POTATO_TOKEN, else what `potato login` kept.

    What fails on the way is tried again after a pause, as `patience` says, where the site does it once all the same.
    `progress` is told how far long things are: `bars()` shows bars on a terminal. `unencrypted` allows http:// to
    another machine. Raises NotConfigured. Threads may share a client.
    """

    def __init__(
        self,
        address: str | None = None,
        token: str | None = None,
        *,
        patience: Patience | None = None,
        timeout: float = TIMEOUT,
        progress: Report = silent,
        unencrypted: bool = False,
    ) -> None:
        login = saved_login(address, token)
        where = api_address(login.address, unencrypted=unencrypted)
        super().__init__(Transport(where, login.token, patience=patience or Patience(), timeout=timeout))
        self._report = progress

    def project(self, slug: str) -> Project:
        """The project at that address; nothing is asked yet."""
        return Project(self._transport, slug, self._report)

    def close(self) -> None:
        self._transport.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()


class AsyncClient(SiteOperations, Awaiting):
    """A site, for asyncio: the same as Client, with `await` and `async for`. Files are read and written as they are
    elsewhere, a part at a time."""

    def __init__(
        self,
        address: str | None = None,
        token: str | None = None,
        *,
        patience: Patience | None = None,
        timeout: float = TIMEOUT,
        progress: Report = silent,
        unencrypted: bool = False,
    ) -> None:
        login = saved_login(address, token)
        where = api_address(login.address, unencrypted=unencrypted)
        super().__init__(AsyncTransport(where, login.token, patience=patience or Patience(), timeout=timeout))
        self._report = progress

    def project(self, slug: str) -> AsyncProject:
        """The project at that address; nothing is asked yet."""
        return AsyncProject(self._transport, slug, self._report)

    async def close(self) -> None:
        await self._transport.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *failure: object) -> None:
        await self.close()
