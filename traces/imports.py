"""The import of a file as a job: read runs and store them, render what pages show of them, sum up.

A part reads from the file's beginning, and passes over the records that earlier parts stored: reading is cheap beside
storing and rendering. Every part commits with the job's cursor, so a killed worker repeats one part, and no run comes
in twice.
"""

import time
from collections.abc import Iterator
from itertools import islice
from typing import Any, cast

from django.core.files.storage import default_storage

from accounts.configuration import ProjectConfiguration, UnreadablePinError
from jobs.kinds import SECONDS_A_PART, JobFailed, Part
from jobs.models import Job, OutboxEvent
from jobs.wording import storable
from traces.converters.detection import AUTOMATIC
from traces.converters.reading import Chosen, read_file
from traces.fragments import VIEWS, DisplayOptions, configuration_of, render_trace_file, render_trace_step
from traces.models import ImportedFile, ImportProblem, Trace
from traces.named_keys import problems
from traces.packages import BROKEN, is_package, sources_in
from traces.runs import Converted, ReadingOptions, Unreadable
from traces.screenshots import with_pictures
from traces.sources import FileSource
from traces.storing import Refused, store_run

RECORDS_A_PART = 200
# A file read in the wrong format has an error a line: the first ones say enough, the rest is counted.
PROBLEMS_KEPT = 5_000


class ImportTraces:
    """Job parameters: `file`, the id of an ImportedFile in the storage. Fails where no trace came in at all."""

    name = "import_traces"
    label = "Import of traces"
    queue = "imports"

    def run_part(self, job: Job) -> Part:
        return self.do_part(job, None)

    def do_part(self, job: Job, source: FileSource | None) -> Part:
        """The part at the job's cursor, out of the given source or the storage."""
        file = ImportedFile.objects.select_related("project").get(pk=job.parameters["file"])
        cursor = job.cursor or {"phase": "read", "seen": 0, "imported": 0, "known": 0, "errors": 0}
        if cursor["phase"] == "read":
            return _read(file, source or _stored(file), dict(cursor))
        if cursor["phase"] == "render":
            return _render(file, dict(cursor))
        return _sum_up(file, cursor)


def _stored(file: ImportedFile) -> FileSource:
    return FileSource(file.name, lambda: cast(Any, default_storage.open(file.stored_as, "rb")), file.size)


def _read(file: ImportedFile, source: FileSource, cursor: dict[str, Any]) -> Part:
    named, options = _reading(file)
    # What the person named wins; the project's own converter is only what it expects.
    entries = _entries(source, options, named, explicit=file.format != AUTOMATIC)
    ends = float("inf")
    for records, (entry, member) in enumerate(islice(entries, cursor["seen"], None), 1):
        # The clock starts when the records of earlier parts are passed over: else a part of a large file did no more.
        ends = min(ends, time.monotonic() + SECONDS_A_PART)
        cursor["seen"] += 1
        _take(file, entry, member, cursor)
        cursor["named_keys"] = options.named_keys.with_earlier(cursor.get("named_keys", ()))
        if records >= RECORDS_A_PART or time.monotonic() >= ends:
            return Part(cursor=cursor, progress=cursor["seen"])
    cursor |= {"phase": "render", "trace": None, "rendered": 0}
    return Part(cursor=cursor, progress=cursor["seen"], total=cursor["seen"] + cursor["imported"])


def _entries(
    source: FileSource, options: ReadingOptions, named: str, *, explicit: bool
) -> Iterator[tuple[Chosen | Converted | Unreadable, FileSource]]:
    """What the file holds, or the members of a ZIP one after another, each with the source that it came from."""
    if not is_package(source.head()):
        for entry in read_file(source, options, named=named, explicit=explicit):
            yield entry, source
        return
    for member in sources_in(source.name, source.opened):
        if isinstance(member, Unreadable):
            yield member, source
            continue
        try:
            for entry in read_file(member, options, named=named, explicit=explicit):
                yield entry, member
        except BROKEN as error:
            yield Unreadable(1, "bad_zip", f"{member.name} cannot be unpacked: {error}. Pack it again."), member


def _take(
    file: ImportedFile, entry: Chosen | Converted | Unreadable, source: FileSource, cursor: dict[str, Any]
) -> None:
    match entry:
        case Chosen():
            ImportedFile.objects.filter(pk=file.pk).update(chosen=entry.format, reason=entry.sentence)
            file.chosen = entry.format
        case Converted():
            seen, sentences = with_pictures(entry, source)
            try:
                came_in = store_run(seen, file)
            except Refused as refusal:
                _note(file, Unreadable(entry.place, refusal.code, refusal.sentence), cursor)
            else:
                cursor["imported" if came_in else "known"] += 1
                for sentence in sentences if came_in else ():
                    ImportProblem.objects.create(
                        file=file, place=entry.place, code="no_screenshot", sentence=storable(sentence)
                    )
        case Unreadable():
            _note(file, entry, cursor)


def _note(file: ImportedFile, problem: Unreadable, cursor: dict[str, Any]) -> None:
    cursor["errors"] += 1
    if cursor["errors"] <= PROBLEMS_KEPT:
        ImportProblem.objects.create(
            file=file, place=problem.place, code=problem.code, sentence=storable(problem.sentence)
        )


def _render(file: ImportedFile, cursor: dict[str, Any]) -> Part:
    """Fragments of the new traces in both views, with the project's own options, a body at a time."""
    options = DisplayOptions.of(_configuration_of(file))
    ends = time.monotonic() + SECONDS_A_PART
    traces = Trace.objects.filter(file=file).order_by("pk")
    if cursor["trace"] is not None:
        traces = traces.filter(pk__gte=cursor["trace"])
    total = cursor["seen"] + cursor["imported"]
    for trace in traces:
        if cursor["trace"] != str(trace.pk):
            cursor |= {"trace": str(trace.pk), "pieces": 0}
        for piece in islice(_pieces(trace, options), cursor["pieces"], None):
            piece()
            cursor["pieces"] += 1
            if time.monotonic() >= ends:
                return Part(cursor=cursor, progress=cursor["seen"] + cursor["rendered"], total=total)
        cursor["rendered"] += 1
    cursor["phase"] = "end"
    return Part(cursor=cursor, progress=total, total=total)


def _pieces(trace: Trace, options: DisplayOptions) -> Iterator[Any]:
    for file in trace.files.order_by("index"):
        yield lambda file=file: render_trace_file(file, options, *VIEWS)
    for step in trace.steps.order_by("index"):
        yield lambda step=step: render_trace_step(step, options)


def _sum_up(file: ImportedFile, cursor: dict[str, Any]) -> Part:
    _tell_keys_that_no_record_has(file, cursor)
    result = {key: cursor[key] for key in ("imported", "known", "errors")}
    if not cursor["imported"] and not cursor["known"] and file.job_id:
        first = file.problems.first()
        raise JobFailed(f"No trace came in. {first.sentence if first else ''}".strip())
    total = cursor["seen"] + cursor["imported"]
    return Part(cursor=cursor, progress=total, total=total, finished=True, result=result)


def _tell_keys_that_no_record_has(file: ImportedFile, cursor: dict[str, Any]) -> None:
    _, options = _reading(file)
    named, usual = ({"id_key": one.id_key, "text_key": one.text_key} for one in (options, ReadingOptions()))
    for code, sentence in problems(cursor.get("named_keys", ()), named=named, usual=usual):
        ImportProblem.objects.create(file=file, place=1, code=code, sentence=storable(sentence))


def remove_upload(event: OutboxEvent) -> None:
    """Subscriber of job.finished: however an import ended, its file is not needed any more."""
    if event.payload["kind"] == ImportTraces.name:
        for file in ImportedFile.objects.filter(job=event.payload["job"]).exclude(stored_as=""):
            default_storage.delete(file.stored_as)


def _configuration_of(file: ImportedFile) -> ProjectConfiguration | None:
    try:
        return configuration_of(file.project)
    except UnreadablePinError as reason:
        raise JobFailed(reason.sentence) from reason


def _reading(file: ImportedFile) -> tuple[str, ReadingOptions]:
    configuration = _configuration_of(file)
    if configuration is None:
        return file.format, ReadingOptions()
    named = configuration.agentic.trace_converter if file.format == AUTOMATIC else file.format
    return named, ReadingOptions(
        id_key=configuration.item_properties.id_key,
        text_key=configuration.item_properties.text_key,
        split_tool_calls=configuration.agentic.steps.split_tool_calls,
    )
