"""The import of a file of a source's answers as a job: line after line, in parts that commit with the job's cursor.

A file of another tool is read as records first, which are kept beside it; what of it has no place stands among them.
"""

import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any, cast

from django.core.files import File
from django.core.files.storage import default_storage

from accounts.models import Project
from agreement.models import Source
from agreement.sources.answers import Named, Taken, Taker
from agreement.sources.comparing import request_comparison
from assignments.machine_records import NoConfiguration
from jobs.kinds import SECONDS_A_PART, JobFailed, Part
from jobs.models import Job, OutboxEvent
from potato.records.archives import json_text, parsed
from potato.records.other_tools.model import Reading
from potato.records.other_tools.placing import PlacedRecord
from potato.records.other_tools.reading import records_from
from potato.records.sources import RecordsError
from tenancy import audit

PROBLEMS_KEPT = 100
LINE_BYTES = 16 * 2**20
LINES_A_PART = 2_000
_BEGINNING = {
    "offset": 0, "line": 0, "taken": 0, "known": 0, "refused": 0, "left_out": 0, "problems": [], "sources": [],
}  # fmt: skip


class ImportAnswers:
    """Job parameters: `project`, `stored_as`, the file's `name` and `size`, and the `source` of records without one;
    for a file of another tool `tool`, a name of potato.records.other_tools or what finds it, and `reading`.

    Fails where nothing was taken and nothing known.
    """

    name = "import_answers"
    label = "Import of a source's answers"
    queue = "imports"

    def run_part(self, job: Job) -> Part:
        stored_as = job.parameters["stored_as"]
        if job.parameters.get("tool"):
            if not (job.cursor or {}).get("is_read"):
                return _read(job, stored_as)
            stored_as = _records_of(stored_as)
        try:
            file = cast(IO[bytes], default_storage.open(stored_as, "rb"))
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
                _take(taker, line, cursor["line"], taken, is_of_a_tool=bool(job.parameters.get("tool")))
            if time.monotonic() >= ends or cursor["line"] - first >= LINES_A_PART:
                is_over = False
                break
        cursor["taken"] += taken.taken
        cursor["known"] += taken.known
        cursor["refused"] += len(taken.problems) - taken.left_out
        cursor["left_out"] += taken.left_out
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
    result = {name: cursor[name] for name in ("taken", "known", "refused", "left_out", "problems", "sources")}
    return Part(cursor=None, progress=cursor["line"], total=cursor["line"], finished=True, result=result)


def _nothing(cursor: dict[str, Any]) -> str:
    if not cursor["problems"]:
        return "The file has no record. Write a JSON object a line, with id, annotations and source."
    place, field, sentence = cursor["problems"][0]
    more = f" {cursor['refused'] - 1:,} more lines were refused." if cursor["refused"] > 1 else ""
    if isinstance(place, str):
        others = cursor["refused"] + cursor["left_out"] - 1
        more = f" {others:,} more of it had no place." if others else ""
    return f"No answer was taken. {in_words(place, field, sentence)}{more}"


def in_words(place: int | str, field: str, sentence: str) -> str:
    """A problem as a line: where it stands, in which field, and what to do. A text is a place in a tool's file."""
    if isinstance(place, str):
        return f"{place}: {sentence}"
    return f"Line {place}{f', {field}' if field else ''}: {sentence}"


def _lines(file: IO[bytes]) -> Iterator[bytes]:
    while line := file.readline(LINE_BYTES):
        yield line


def _take(taker: Taker, line: bytes, place: int, taken: Taken, *, is_of_a_tool: bool) -> None:
    if len(line) >= LINE_BYTES and not line.endswith(b"\n"):
        taken.problems.append((place, "", f"The line is over {LINE_BYTES >> 20} MiB. Write a record a line."))
        return
    try:
        value = parsed(line, "The line")
    except RecordsError as refusal:
        taken.problems.append((place, "", refusal.sentence))
        return
    if not is_of_a_tool:
        taker.take(value, place, taken)
    elif "record" in value:
        taker.take(value["record"], value["place"], taken)
    else:
        taken.left_out += 1
        taken.problems.append((value["place"], "", value["reason"]))


def lines_of_tool(path: Path, project: Project, parameters: Mapping[str, Any]) -> Iterator[bytes]:
    """The records of another tool's file, and what of it has no place, a line each. Raises JobFailed."""
    reading = Reading(**parameters["reading"])
    try:
        configuration = Taker(project).configuration
        name = parameters["name"]
        for read in records_from(path, configuration, tool=parameters["tool"], reading=reading, name=name):
            said = {"record": read.record} if isinstance(read, PlacedRecord) else {"reason": read.reason}
            yield f"{json_text({'place': read.place, **said})}\n".encode("ascii")
    except (NoConfiguration, RecordsError) as refusal:
        raise JobFailed(refusal.sentence) from None


def _read(job: Job, stored_as: str) -> Part:
    """Read the file as records, and keep them; the same again where this is done twice."""
    project = Project.objects.get(pk=job.parameters["project"])
    with tempfile.TemporaryDirectory(prefix="potato-answers-") as folder:
        upload, records = Path(folder) / "upload", Path(folder) / "records"
        try:
            with default_storage.open(stored_as, "rb") as stored, upload.open("wb") as file:
                shutil.copyfileobj(stored, file, 2**20)
        except FileNotFoundError:
            raise JobFailed("The uploaded file is gone from the storage. Send it again.") from None
        with records.open("wb") as file:
            file.writelines(lines_of_tool(upload, project, job.parameters))
        default_storage.delete(_records_of(stored_as))
        with records.open("rb") as file:
            default_storage.save(_records_of(stored_as), File(file))
    return Part(cursor={**_BEGINNING, "is_read": True}, progress=0)


def _records_of(stored_as: str) -> str:
    """Where the records of an upload are kept."""
    return f"{stored_as}-records"


def remove_upload(event: OutboxEvent) -> None:
    """Subscriber of job.finished: the file is needed no more, whatever became of its import."""
    if event.payload["kind"] == ImportAnswers.name:
        for parameters in Job.objects.filter(pk=event.payload["job"]).values_list("parameters", flat=True):
            if stored_as := parameters.get("stored_as"):
                default_storage.delete(stored_as)
                default_storage.delete(_records_of(stored_as))
