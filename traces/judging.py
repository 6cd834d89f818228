"""What answers about a trace are checked against: its files with their lines, from stored bodies. Renders nothing."""

from collections.abc import Iterable
from functools import cached_property
from typing import cast

from jobs.wording import storable
from traces.changes.model import FileChange, Hunk, Operation
from traces.changes.places import Evidence, JudgedFile
from traces.models import Body, Trace, TraceFile
from traces.models.bodies import unpack
from traces.records import change_from


class StoredChange:
    """A file's change as it lies in the store: unpacked when its lines are asked for, which most files' never are."""

    def __init__(self, file: TraceFile, packed: bytes | memoryview) -> None:
        self._packed = packed
        is_kept = not (_is_altered(file.path) or _is_altered(file.old_path))
        self.path = file.path if is_kept else self._whole.path
        self.old_path = file.old_path if is_kept else self._whole.old_path
        self.operation = cast(Operation, file.operation)

    @cached_property
    def _whole(self) -> FileChange:
        return change_from(unpack(self._packed))

    @property
    def hunks(self) -> tuple[Hunk, ...]:
        return self._whole.hunks

    @property
    def old_text(self) -> str | None:
        return self._whole.old_text

    @property
    def new_text(self) -> str | None:
        return self._whole.new_text


def evidence_of(trace: Trace) -> Evidence:
    """All files of the trace, exact, and the number of its steps. Two queries, whatever the number of files."""
    return Evidence.of(_changes(list(trace.files.order_by("index"))), steps=trace.steps_count)


def judged_file(trace: Trace, path: str) -> JudgedFile | None:
    """One file of the trace by its path, as it is or as columns keep it; None where there is none. Two queries."""
    changes = _changes(list(trace.files.filter(path=storable(path, 4096)).order_by("index")))
    return next(iter(Evidence.of(changes).files.values()), None)


def exact_paths(files: Iterable[TraceFile]) -> list[str]:
    """The files' paths as answers name them: columns keep neither NUL, bytes that are not UTF-8 nor endless ones.

    One query where there is such a path, else none.
    """
    rows = list(files)
    altered = _packed({file.sha256 for file in rows if _is_altered(file.path)})
    return [StoredChange(file, altered[file.sha256]).path if file.sha256 in altered else file.path for file in rows]


def _changes(files: list[TraceFile]) -> list[StoredChange]:
    bodies = _packed({file.sha256 for file in files})
    return [StoredChange(file, bodies[file.sha256]) for file in files]


def _packed(hashes: set[str]) -> dict[str, bytes | memoryview]:
    return dict(Body.objects.filter(sha256__in=hashes).values_list("sha256", "packed")) if hashes else {}


def _is_altered(path: str) -> bool:
    """Whether a column may hold something else than the path itself."""
    return "\ufffd" in path or path.endswith("…")
