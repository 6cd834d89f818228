"""What answers about a trace are checked against: its files with their lines, from stored bodies. Renders nothing."""

from collections.abc import Iterable
from functools import cached_property
from typing import Any, cast
from uuid import UUID

from django.db.models import QuerySet

from jobs.row_text import storable
from potato.runs.changes.model import FileChange, Hunk, Numbering, Operation, Side
from potato.runs.changes.places import Evidence, JudgedFile
from potato.runs.exact_json import change_from, lines_in
from tenancy.prepared import prepared
from traces.evidence.base_files import NO_BASES, Bases, bases_of
from traces.models import Body, Trace, TraceFile
from traces.models.bodies import unpack


class StoredChange:
    """A file's change as it lies in the store: unpacked when its lines are asked for, which most files' never are."""

    def __init__(self, file: TraceFile, packed: bytes | memoryview, bases: Bases = NO_BASES) -> None:
        self._packed = packed
        self._sha256 = file.sha256
        self._bases = bases
        is_kept = not (_is_altered(file.path) or _is_altered(file.old_path))
        self.path = file.path if is_kept else self._whole.path
        self.old_path = file.old_path if is_kept else self._whole.old_path
        self.operation = cast(Operation, file.operation)

    @cached_property
    def _record(self) -> dict[str, Any]:
        record: dict[str, Any] = unpack(self._packed)
        return record

    @cached_property
    def _whole(self) -> FileChange:
        return change_from(self._record)

    def lines(self, side: Side) -> dict[int, str]:
        return lines_in(self._record, side)

    @property
    def numbering(self) -> Numbering:
        return "file" if self._record["has_line_numbers"] else "excerpt"

    @property
    def hunks(self) -> tuple[Hunk, ...]:
        return self._whole.hunks

    @property
    def shown_hunks(self) -> tuple[Hunk, ...]:
        return self._whole.shown_hunks

    @property
    def old_text(self) -> str | None:
        return self._texts[0]

    @property
    def new_text(self) -> str | None:
        return self._texts[1]

    @cached_property
    def _texts(self) -> tuple[str | None, str | None]:
        """The whole texts, as far as the trace has them or an attached repository completes it."""
        if self._sha256 in self._bases.ids and self._record["old_text"] is None and self._record["new_text"] is None:
            change, _ = self._bases.completed(self._sha256, self._whole)
            return change.old_text, change.new_text
        return self._record["old_text"], self._record["new_text"]


def read_evidence(trace: Trace) -> Evidence:
    """All files of the trace, exact, and the number of its steps. Two queries, whatever the number of files, and a few
    more where the trace names a repository and a commit."""
    bodies = dict(_bodies.rows(trace.pk))
    files = list(_files.rows(trace.pk))
    bases = bases_of(trace, files)
    return Evidence.of([StoredChange(file, bodies[file.sha256], bases) for file in files], steps=trace.steps_count)


@prepared
def _files(trace: UUID) -> "QuerySet[TraceFile]":
    files = TraceFile.objects.filter(trace=trace).order_by("index")
    return files.only("path", "old_path", "operation", "is_binary", "sha256")


@prepared
def _bodies(trace: UUID) -> "QuerySet[Body, tuple[str, bytes | memoryview]]":
    hashes = TraceFile.objects.filter(trace=trace).values("sha256")
    return Body.objects.filter(sha256__in=hashes).values_list("sha256", "packed")


def judged_file(trace: Trace, path: str) -> JudgedFile | None:
    """One file of the trace by its path, as it is or as columns keep it; None where there is none. Two queries."""
    files = list(trace.files.filter(path=storable(path, 4096)).order_by("index"))
    changes = _changes(files, bases_of(trace, files))
    return next(iter(Evidence.of(changes).files.values()), None)


def exact_paths(files: Iterable[TraceFile]) -> list[str]:
    """The files' paths as answers name them: columns keep neither NUL, bytes that are not UTF-8 nor endless ones.

    One query where there is such a path, else none.
    """
    rows = list(files)
    altered = _packed({file.sha256 for file in rows if _is_altered(file.path)})
    return [StoredChange(file, altered[file.sha256]).path if file.sha256 in altered else file.path for file in rows]


def _changes(files: list[TraceFile], bases: Bases) -> list[StoredChange]:
    bodies = _packed({file.sha256 for file in files})
    return [StoredChange(file, bodies[file.sha256], bases) for file in files]


def _packed(hashes: set[str]) -> dict[str, bytes | memoryview]:
    return dict(Body.objects.filter(sha256__in=hashes).values_list("sha256", "packed")) if hashes else {}


def _is_altered(path: str) -> bool:
    """Whether a column may hold something else than the path itself."""
    return "\ufffd" in path or path.endswith("…")
