"""`potato mcp`: a site for AI agents, by the Model Context Protocol over stdin and stdout, over `potato.client`.

It sets projects up, imports runs and reads. It never annotates: it has no tool that claims, drafts, submits or settles,
and it does not start with a token whose scopes let it.
"""

from __future__ import annotations

import functools
from collections import deque
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, ParamSpec, TypeVar
from uuid import UUID

from pydantic import BaseModel

from potato.client import AsyncClient, AsyncProject, PotatoError, Refused
from potato.configuration import check_configuration
from potato.statistics.extras import MissingExtra

try:
    from mcp.server.mcpserver import MCPServer
    from mcp.server.mcpserver.exceptions import ToolError
except ImportError as missing:
    raise MissingExtra(
        'An MCP server is made with mcp, which is missing: pip install "potato-review[mcp]"'
    ) from missing

REFUSED_SCOPES = frozenset({"annotate"})
"""Scopes of a token with which the server does not start: they let it answer in a person's place."""
MOST_ROWS = 200
_INSTRUCTIONS = (
    "Sets up annotation projects of a Potato site, imports agents' runs into them, and reads what people said. "
    "Judging is people's work: nothing here claims a task or submits an annotation."
)

P = ParamSpec("P")
Answer = TypeVar("Answer")


class RefusedTokenError(PotatoError):
    """The token may do what an agent must not."""


async def demand_token(client: AsyncClient) -> None:
    """Raises RefusedTokenError for a token that may annotate."""
    caller = await client.whoami()
    scopes = set(caller.token.scopes) if caller.token else set()
    if refused := sorted(scopes & REFUSED_SCOPES):
        raise RefusedTokenError(
            f"This token has the scope {refused[0]}, with which it could answer in a person's place. Make one for "
            "agents with the scopes read, import, manage and export, or some of them."
        )


def make_server(client: AsyncClient, folder: Path) -> MCPServer[Any]:
    """The server with its tools. Files are imported from below `folder` alone."""
    server: MCPServer[Any] = MCPServer("potato", instructions=_INSTRUCTIONS)
    tools = _Tools(client, folder.resolve())
    for tool in (
        tools.whoami,
        tools.list_projects,
        tools.read_project,
        tools.check_configuration,
        tools.create_project,
        tools.publish_configuration,
        tools.import_files,
        tools.add_run,
        tools.list_imports,
        tools.import_problems,
        tools.list_traces,
        tools.read_trace,
        tools.read_records,
        tools.add_suggestions,
        tools.read_suggestions,
        tools.compute_agreement,
        tools.read_overview,
        tools.read_statistics,
        tools.request_export,
        tools.list_exports,
    ):
        server.tool()(_with_refusals(tool))
    return server


def _with_refusals(tool: Callable[P, Awaitable[Answer]]) -> Callable[P, Awaitable[Answer]]:
    """The tool, which tells the agent what the site refused, and why."""

    @functools.wraps(tool)
    async def call(*args: P.args, **kwargs: P.kwargs) -> Answer:
        try:
            return await tool(*args, **kwargs)
        except Refused as refused:
            problems = refused.facts.get("problems") or refused.facts.get("errors") or []
            raise ToolError(f"{refused.detail} {problems}" if problems else refused.detail) from None
        except PotatoError as error:
            raise ToolError(str(error)) from None

    return call


class _Tools:
    """Each method is one tool; its docstring is what agents read of it."""

    def __init__(self, client: AsyncClient, folder: Path) -> None:
        self._client = client
        self._folder = folder

    async def whoami(self) -> dict[str, Any]:
        """As whom you act on the site, with which rights, scopes and projects."""
        return _plain(await self._client.whoami())

    async def list_projects(self) -> list[dict[str, Any]]:
        """The published projects that you see, and how far they are."""
        return [_plain(project) for project in await self._client.projects()]

    async def read_project(self, project: str) -> dict[str, Any]:
        """One project by its slug: its state, draft and published version."""
        return _plain(await self._project(project).state())

    async def check_configuration(self, source: str) -> list[str]:
        """All that is wrong with a project's configuration in YAML, each with its line. Nothing is stored; an empty
        answer means that it can be published."""
        return [str(problem) for problem in check_configuration(source).problems]

    async def create_project(self, slug: str, name: str, source: str) -> dict[str, Any]:
        """Make a project whose draft is this configuration in YAML. Publish it to let people annotate."""
        return _plain(await self._client.make_project(slug, name, source=source))

    async def publish_configuration(self, project: str, source: str | None = None, note: str = "") -> dict[str, Any]:
        """Publish a configuration in YAML, or the project's saved draft. What would take something from existing
        annotations is refused: a person confirms that on the site."""
        return _plain(await self._project(project).publish(source, note=note))

    async def import_files(self, project: str, paths: list[str]) -> list[dict[str, Any]]:
        """Import agents' runs from files or folders below the folder that this server was started for, and wait until
        they are read. The format is found by the content."""
        return [_plain(one) for one in await self._project(project).import_files(*map(self._inside, paths))]

    async def add_run(self, project: str, run: dict[str, Any]) -> dict[str, Any]:
        """Import one run in Potato's own format: id, task_description, steps, and file_events or patch."""
        return _plain(await self._project(project).add_run(run))

    async def list_imports(self, project: str, most: int = 20) -> list[dict[str, Any]]:
        """The project's imports with their state, the newest first: look here to see how far one is."""
        return await _newest(self._project(project).imports(), most)

    async def import_problems(self, project: str, import_id: UUID, most: int = 50) -> list[dict[str, Any]]:
        """What of an import could not be read, and why."""
        return await _rows(self._project(project).import_problems(import_id), most)

    async def list_traces(
        self, project: str, filters: dict[str, list[str]] | None = None, most: int = 50
    ) -> list[dict[str, Any]]:
        """The project's traces with how far each is judged. `filters` as in the address of the site's list, such as
        {"q": ["parser"], "model": ["agent-c"]}."""
        return await _rows(self._project(project).traces(**(filters or {})), most)

    async def read_trace(self, project: str, trace: UUID) -> dict[str, Any]:
        """One trace as a whole: the task, the facts of the run, its files."""
        return _plain(await self._project(project).trace(trace))

    async def read_records(self, project: str, most: int = 50) -> list[dict[str, Any]]:
        """What annotators submitted, the oldest first, each as {id, annotator, timestamp, annotations}."""
        # In small pages: a request for records brings thousands.
        return [row["record"] for row in await _rows(self._project(project).submissions(), most)]

    async def add_suggestions(self, project: str, records: list[dict[str, Any]]) -> dict[str, Any]:
        """Send what a model suggests of traces: {id, model, model_version, annotations}. It is nobody's annotation:
        annotators see it, where the project shows suggestions, and accept, edit or reject it."""
        return _plain(await self._project(project).add_suggestions(records))

    async def read_suggestions(self, project: str, most: int = 50) -> list[dict[str, Any]]:
        """What models suggest of the project's traces, who saw it, and from whom it was hidden."""
        return await _rows(self._project(project).suggestions(), most)

    async def compute_agreement(self, project: str) -> dict[str, Any]:
        """Have it computed how far the annotators agree, and wait for all figures, with intervals."""
        return _plain(await self._project(project).agreement())

    async def read_statistics(self, project: str) -> dict[str, Any]:
        """The newest figures of process rewards: errors by step, correct prefixes, agreement."""
        return await self._project(project).statistics()

    async def read_overview(self, project: str) -> dict[str, Any]:
        """How far the project is, and how often each verdict, category and label was given."""
        return await self._project(project).overview()

    async def request_export(self, project: str, format: str, options: dict[str, Any] | None = None) -> dict[str, Any]:
        """Ask for an export in a format of docs/export-formats.md. It is made in the background; a person downloads
        it, or `potato export` does."""
        return _plain(await self._project(project).request_export(format, options=options))

    async def list_exports(self, project: str, most: int = 20) -> list[dict[str, Any]]:
        """The project's exports and their state, the newest first."""
        return await _newest(self._project(project).exports(), most)

    def _project(self, slug: str) -> AsyncProject:
        return self._client.project(slug)

    def _inside(self, name: str) -> Path:
        """The file of that name below the folder, links resolved. Raises ToolError for every other."""
        path = (self._folder / name).resolve()
        if not path.is_relative_to(self._folder):
            raise ToolError(f"{name} is not below {self._folder}. Start `potato mcp --folder` for another folder.")
        return path


def _plain(model: BaseModel) -> dict[str, Any]:
    shown: dict[str, Any] = model.model_dump(mode="json")
    return shown


async def _rows(rows: Any, most: int) -> list[dict[str, Any]]:
    """The first rows of a stream, at most MOST_ROWS."""
    found: list[dict[str, Any]] = []
    wanted = min(most, MOST_ROWS)
    if wanted < 1:
        return found
    async for row in rows:
        found.append(_plain(row) if isinstance(row, BaseModel) else dict(row))
        if len(found) == wanted:
            break
    return found


async def _newest(rows: Any, most: int) -> list[dict[str, Any]]:
    """The last rows of a stream that begins with the oldest, the newest first, at most MOST_ROWS."""
    last: deque[Any] = deque(maxlen=max(0, min(most, MOST_ROWS)))
    async for row in rows:
        last.append(row)
    return [_plain(row) for row in reversed(last)]


async def serve(address: str | None, folder: Path) -> None:
    """Serve over stdin and stdout until they end. Raises RefusedTokenError, and what the client raises for a login."""
    async with AsyncClient(address) as client:
        await demand_token(client)
        await make_server(client, folder).run_stdio_async()
