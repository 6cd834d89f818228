"""The import of a file of a source's answers as a job: line after line, in parts that commit with the job's cursor."""

import time
from collections.abc import Iterator
from typing import IO, Any, cast

from django.core.files.storage import default_storage

from accounts.models import Project
from agreement.models import Source
from agreement.sources.answers import Named, Taken, Taker
from agreement.sources.comparing import request_comparison
from assignments.machine_records import NoConfiguration
from jobs.kinds import SECONDS_A_PART, JobFailed, Part
from jobs.models import Job, OutboxEvent
from potato.records.archives import parsed
from potato.records.sources import RecordsError
from tenancy import audit

PROBLEMS_KEPT = 100
LINE_BYTES = 16 * 2**20
LINES_A_PART = 2_000
_BEGINNING = {"offset": 0, "line": 0, "taken": 0, "known": 0, "refused": 0, "problems": [], "sources": []}


class ImportAnswers:
    """Job parameters: `project`, `stored_as`, the file's `name` and `size`, and the `source` of records without one.

    Fails where nothing was taken and nothing known.
    """

    name = "import_answers"
    label = "Import of a source's answers"
    queue = "imports"

    def run_part(self, job: Job) -> Part:
        try:
            file = cast(IO[bytes], default_storage.open(job.parameters["stored_as"], "rb"))
        except FileNotFoundError:
            raise JobFailed("The uploaded file is gone from the storage. Send it again.") from None
        with file:
            return self.do_part(job, file)

    def do_part(self, job: Job, file: IO[bytes]) -> Part:
        """The part at the job's cursor, out of the file."""
        project = Project.objects.get(pk=job.parameters["project"])
        cursor: dict[str, Any] = {**_BEGINNING, **(job.cursor or {})}
        default = job.parameters.get("source")
        try:
            taker = Taker(project, Named(**default) if default else None)
        except NoConfiguration as refusal:
            raise JobFailed(refusal.sentence) from None
        taken, ends, first, is_over = Taken(), time.monotonic() + SECONDS_A_PART, cursor["line"], True
        file.seek(cursor["offset"])
        for line in _lines(file):
            cursor["line"] += 1
            cursor["offset"] += len(line)
            if line.strip():
                _take(taker, line, cursor["line"], taken)
            if time.monotonic() >= ends or cursor["line"] - first >= LINES_A_PART:
                is_over = False
                break
        cursor["taken"] += taken.taken
        cursor["known"] += taken.known
        cursor["refused"] += len(taken.problems)
        cursor["problems"] = [*cursor["problems"], *map(list, taken.problems)][:PROBLEMS_KEPT]
        cursor["sources"] = sorted({*cursor["sources"], *taken.sources})
        if not is_over:
            return Part(cursor=cursor, progress=cursor["line"])
        return _ended(project, job, cursor)


def _ended(project: Project, job: Job, cursor: dict[str, Any]) -> Part:
    if not cursor["taken"] and not cursor["known"]:
        raise JobFailed(_nothing(cursor))
    audit.record(
        "answers.imported", project, file=job.parameters["name"], taken=cursor["taken"], refused=cursor["refused"]
    )
    if cursor["taken"]:
        for source in Source.objects.for_project(project).filter(pk__in=cursor["sources"]):
            request_comparison(source=source)
    result = {name: cursor[name] for name in ("taken", "known", "refused", "problems", "sources")}
    return Part(cursor=None, progress=cursor["line"], total=cursor["line"], finished=True, result=result)


def _nothing(cursor: dict[str, Any]) -> str:
    if not cursor["problems"]:
        return "The file has no record. Write a JSON object a line, with id, annotations and source."
    place, field, sentence = cursor["problems"][0]
    more = f" {cursor['refused'] - 1:,} more lines were refused." if cursor["refused"] > 1 else ""
    return f"No answer was taken. {in_words(place, field, sentence)}{more}"


def in_words(place: int, field: str, sentence: str) -> str:
    """A problem as a line: where it stands, in which field, and what to do."""
    return f"Line {place}{f', {field}' if field else ''}: {sentence}"


def _lines(file: IO[bytes]) -> Iterator[bytes]:
    while line := file.readline(LINE_BYTES):
        yield line


def _take(taker: Taker, line: bytes, place: int, taken: Taken) -> None:
    if len(line) >= LINE_BYTES and not line.endswith(b"\n"):
        taken.problems.append((place, "", f"The line is over {LINE_BYTES >> 20} MiB. Write a record a line."))
        return
    try:
        value = parsed(line, "The line")
    except RecordsError as refusal:
        taken.problems.append((place, "", refusal.sentence))
        return
    taker.take(value, place, taken)


def remove_upload(event: OutboxEvent) -> None:
    """Subscriber of job.finished: the file is needed no more, whatever became of its import."""
    if event.payload["kind"] == ImportAnswers.name:
        for parameters in Job.objects.filter(pk=event.payload["job"]).values_list("parameters", flat=True):
            if stored_as := parameters.get("stored_as"):
                default_storage.delete(stored_as)
