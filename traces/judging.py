"""What answers about a trace are checked against: its files with their lines, from stored bodies. Renders nothing."""

from collections.abc import Iterable

from jobs.wording import storable
from traces.changes.model import FileChange
from traces.changes.places import Evidence, JudgedFile
from traces.models import Body, Trace, TraceFile
from traces.records import change_from


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
    doubtful = {file.sha256 for file in rows if "\ufffd" in file.path or file.path.endswith("…")}
    bodies = {body.sha256: body.content for body in Body.objects.filter(sha256__in=doubtful)} if doubtful else {}
    return [change_from(bodies[file.sha256]).path if file.sha256 in bodies else file.path for file in rows]


def _changes(files: list[TraceFile]) -> list[FileChange]:
    bodies = {body.sha256: body.content for body in Body.objects.filter(sha256__in={file.sha256 for file in files})}
    return [change_from(bodies[file.sha256]) for file in files]
