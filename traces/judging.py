"""What answers about a trace are checked against: its files with their lines, from stored bodies. Renders nothing."""

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


def _changes(files: list[TraceFile]) -> list[FileChange]:
    bodies = {body.sha256: body.content for body in Body.objects.filter(sha256__in={file.sha256 for file in files})}
    return [change_from(bodies[file.sha256]) for file in files]
