"""What stored traces say beside annotations: their texts, the runs themselves, and files with their lines."""

from collections import Counter, OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias
from uuid import UUID

from django.db import connection
from django.db.models.functions import Length
from isal import isal_zlib

from exports.record_chunks import first_within
from jobs.row_text import storable
from potato.records.folders import parse_run
from potato.records.sources import NO_CHECKS, TraceChecks
from potato.runs.changes.linked_lines import LinkedLines
from potato.runs.changes.model import LineLink
from potato.runs.changes.places import Evidence, JudgedFile
from potato.runs.exact_json import change_from
from potato.runs.model import AgentRun
from tenancy.actor import Actor, acting
from traces.evidence.base_files import BaseCommit, base_commit, bases_at
from traces.models import Body, CheckReport, Trace

LINES_KEPT = 100_000
COMMITS_KEPT = 1_000
RUN_BYTES_KEPT = 4 * 2**20
RUN_BYTES_AHEAD = 4 * 2**20
PATH_LENGTH = 4096
_TASK_LENGTH, _NAME_LENGTH = 100_000, 200
GZIP = 31
"""What tells it that gzip's frame is around it."""


@contextmanager
def reading(actor: Actor) -> Iterator[None]:
    """A short transaction for batches, which are found along indexes, row by row.

    A planner that thinks of all rows would read whole tables for each batch, and compile queries for longer than
    they run; one that thinks there are none would sort what stands in order already.
    """
    with acting(actor), connection.cursor() as cursor:
        _plan(cursor, nested_loops=True)
        yield


@contextmanager
def reading_tables(actor: Actor) -> Iterator[None]:
    """A short transaction for a count, which reads each table once, whatever the planner believes of its rows."""
    with acting(actor), connection.cursor() as cursor:
        _plan(cursor, nested_loops=False)
        yield
        # The part of a job is one transaction, in which this one lies.
        _plan(cursor, nested_loops=True)


def _plan(cursor: Any, *, nested_loops: bool) -> None:
    """Have rows found one by one in the order of an index, or tables read and joined as a whole."""
    settings = {
        "jit": False,
        "enable_nestloop": nested_loops,
        "enable_hashjoin": not nested_loops,
        "enable_mergejoin": not nested_loops,
        "enable_sort": not nested_loops,
    }
    cursor.execute("; ".join(f"SET LOCAL {name} = {'on' if is_on else 'off'}" for name, is_on in settings.items()))


@dataclass(frozen=True)
class StoredFile:
    """One change of a file: what it did, and the body that has it."""

    operation: str
    sha256: str


LinkRows: TypeAlias = Sequence[tuple[str, str, Sequence[Any] | None]]
"""Of each file of a trace its path as the column keeps it, its body, and the stretches of its links."""


CheckRows: TypeAlias = tuple[Sequence[Mapping[str, Any]], Sequence[str]]
"""Of a trace the reports of its run, and the paths of its files."""


def report_record(row: CheckReport) -> dict[str, Any]:
    """A report as it stands beside a run in an archive: as the API has it."""
    return {
        **{name: getattr(row, name) for name in ("kind", "name", "outcome", "passed", "failed", "errors", "skipped")},
        "tests": row.content.get("tests", []),
        "findings": row.content.get("findings", []),
    }


class StoredFiles:
    """Files with their lines, the latest used ones, as many as some lines are; and the commits that runs began from."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, ...], tuple[JudgedFile | None, int]] = OrderedDict()
        self._lines = 0
        self._bases: dict[tuple[UUID, str, str], BaseCommit | None] = {}

    def base(self, project: UUID, repo: str, commit: str) -> BaseCommit | None:
        """That commit, where it is attached to the project: asked once for all traces that begin from it."""
        key = (project, repo, commit)
        if key not in self._bases:
            if len(self._bases) >= COMMITS_KEPT:
                self._bases.clear()
            self._bases[key] = base_commit(Trace(project_id=project, repo=repo, base_commit=commit))
        return self._bases[key]

    def read(self, path: str, hashes: tuple[str, ...], base: BaseCommit | None = None) -> JudgedFile | None:
        """The file of that exact path whose changes are those bodies, with the file at `base` around them; None where
        they are another's."""
        key = (path, base.tree if base else "", *hashes)
        if key not in self._kept:
            bodies = {body.sha256: body.content for body in Body.objects.filter(sha256__in=hashes)}
            changes = [change_from(bodies[sha256]) for sha256 in hashes]
            if base:
                places = {
                    sha256: change.old_path or change.path for sha256, change in zip(hashes, changes, strict=True)
                }
                bases = bases_at(base, places)
                changes = [bases.completed(*pair)[0] for pair in zip(hashes, changes, strict=True)]
            lines = sum(len(hunk.lines) for change in changes for hunk in change.hunks) + sum(
                (text or "").count("\n") for change in changes for text in (change.old_text, change.new_text)
            )
            self._kept[key] = Evidence.of(changes).files.get(path), lines
            self._lines += lines
            while self._lines > LINES_KEPT and len(self._kept) > 1:
                _, (_, gone) = self._kept.popitem(last=False)
                self._lines -= gone
        self._kept.move_to_end(key)
        return self._kept[key][0]


class StoredRuns:
    """Runs as they were imported, the latest used ones, as many as some bytes are before they are read as JSON.

    The records of a trace share one, and those of a batch are read together, some bytes at a time: a transaction for
    each record's run made hf_dataset take 3.0 ms of processor a record instead of 0.7. Nobody may change a run.
    """

    def __init__(self, actor: Actor) -> None:
        self._actor = actor
        self._kept: OrderedDict[str, tuple[AgentRun | None, int]] = OrderedDict()
        self._bytes = 0
        self._coming: dict[str, int] = {}
        self._packed: dict[str, bytes] = {}

    def expect(self, hashes: Iterable[str]) -> None:
        """Say which runs are read next, by their hashes and in that order; what was expected before is forgotten."""
        missing = [sha256 for sha256 in dict.fromkeys(hashes) if sha256 not in self._kept]
        self._packed, self._coming = {}, {}
        if missing:
            with reading(self._actor):
                sizes = dict(Body.objects.filter(sha256__in=missing).values_list("sha256", Length("packed")))
            self._coming = {sha256: sizes[sha256] for sha256 in missing}

    def read(self, sha256: str) -> AgentRun | None:
        """The run whose body has that hash."""
        if sha256 not in self._kept:
            native = isal_zlib.decompress(self._read_packed(sha256), GZIP)
            self._kept[sha256] = parse_run(native), len(native)
            self._bytes += len(native)
            while self._bytes > RUN_BYTES_KEPT and len(self._kept) > 1:
                _, (_, gone) = self._kept.popitem(last=False)
                self._bytes -= gone
        self._kept.move_to_end(sha256)
        return self._kept[sha256][0]

    def _read_packed(self, sha256: str) -> bytes:
        if sha256 not in self._packed:
            ahead = first_within(self._coming.items(), RUN_BYTES_AHEAD)
            for key in ahead:
                del self._coming[key]
            with reading(self._actor):
                bodies = Body.objects.filter(sha256__in={sha256, *ahead}).values_list("sha256", "packed")
                self._packed = {key: bytes(packed) for key, packed in bodies}
        return self._packed.pop(sha256)


class StoredFacts:
    """What a stored trace says. Texts in columns are mended and cut; where that may be so, the run itself is read."""

    def __init__(
        self,
        actor: Actor,
        row: Mapping[str, Any],
        files: Mapping[str, list[StoredFile]],
        cache: StoredFiles,
        runs: StoredRuns,
        links: LinkRows = (),
        checks: CheckRows | None = None,
    ) -> None:
        self._actor = actor
        self._row = row
        self._stored = files
        self._cache = cache
        self._runs = runs
        self._links = links
        self._checks = checks

    @property
    def task_description(self) -> str | None:
        return self._exact("task", _TASK_LENGTH, "task_description")

    @property
    def agent_model(self) -> str:
        return self._exact("agent_model", _NAME_LENGTH, "agent_model")

    @property
    def run(self) -> AgentRun | None:
        return self._runs.read(self._row["content_sha256"])

    @cached_property
    def linked_lines(self) -> LinkedLines:
        paths = Counter(path for path, _, _ in self._links)
        return {
            self._exact_path(path, sha256): tuple(
                LineLink(side, first, last, tuple(steps)) for side, first, last, steps in stretches
            )
            for path, sha256, stretches in self._links
            if stretches and paths[path] == 1
        }

    @cached_property
    def checks(self) -> TraceChecks:
        if self._checks is None:
            return NO_CHECKS
        reports, paths = self._checks
        return TraceChecks(reports, self._row["tests_outcome"], paths)

    def _exact_path(self, path: str, sha256: str) -> str:
        if _is_exact(path, PATH_LENGTH):
            return path
        with reading(self._actor):
            return str(Body.objects.get(sha256=sha256).content["path"])

    def operation(self, path: str) -> str | None:
        stored = self._stored.get(storable(path, PATH_LENGTH), [])
        operations = {file.operation for file in stored}
        if len(operations) == 1 and _is_exact(path, PATH_LENGTH):
            return operations.pop()
        with reading(self._actor):
            # What became of a file is said without the lines around its change.
            file = self._cache.read(path, tuple(file.sha256 for file in stored)) if stored else None
        return file.operation if file else None

    def file(self, path: str) -> JudgedFile | None:
        stored = self._stored.get(storable(path, PATH_LENGTH))
        if not stored:
            return None
        with reading(self._actor):
            # Where the commit that the run began from is attached, people may have commented on any line of it.
            base = self._cache.base(*(self._row[name] for name in ("project_id", "repo", "base_commit")))
            return self._cache.read(path, tuple(file.sha256 for file in stored), base)

    def _exact(self, column: str, length: int, member: str) -> str:
        text: str = self._row[column]
        if _is_exact(text, length):
            return text
        with reading(self._actor):
            native = Body.objects.get(sha256=self._row["content_sha256"]).content
        return str(native.get(member, ""))


def _is_exact(text: str, length: int) -> bool:
    """Whether a column of that length keeps the text as it is, or kept it so."""
    return len(text) < length and storable(text, length) == text and "\ufffd" not in text
