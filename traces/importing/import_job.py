"""The import of a file as a job: read runs, store them in batches, sum up. Nothing is rendered here.

Every part begins where the one before ended, and commits together with the job's cursor: a killed worker repeats one
part, and no run comes in twice. A part is short, because other organisations' jobs have their turn between two.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, cast
from uuid import UUID

from django.conf import settings
from django.core.files.storage import default_storage

from jobs import outbox
from jobs.kinds import SECONDS_A_PART, JobFailed, Part
from jobs.models import Job, JobState, OutboxEvent
from jobs.row_text import storable
from potato.configuration import ProjectConfiguration, UnreadablePinError
from potato.configuration.project import Secrets
from potato.runs.converters.detection import AUTOMATIC
from potato.runs.converters.reading import Bookmark, Chosen, Entry, read_on
from potato.runs.converters.task_texts import has_tasks
from potato.runs.model import Converted, ReadingOptions, StatedTask, Unreadable
from potato.runs.named_keys import problems
from potato.runs.packages import BROKEN, is_package, sources_in, task_texts_in
from potato.runs.run_files import StoredRunFile
from potato.runs.secrets import hide
from traces.contents import keep_contents
from traces.evidence.fragments import published_configuration
from traces.evidence.nothing_to_judge import judged_of_file
from traces.importing.check_reports import (
    StatedReports,
    counts_of_reports,
    join_reports,
    keep_reports,
    kind_of_report,
    read_source,
)
from traces.importing.joining import join_tasks, note_joined
from traces.importing.screening import DEFAULT, groups_searched_for
from traces.importing.screenshots import with_pictures
from traces.importing.storing import Ready, UnusableRun, count_rows, ready, store_runs
from traces.importing.task_texts import has_texts, keep_tasks, note_silent_tasks, with_task
from traces.models import ImportedFile, ImportedMember, ImportProblem

RECORDS_A_PART = 5_000
RUNS_A_BATCH = 200
BYTES_A_BATCH = 4 * 2**20
# A file read in the wrong format has an error a line: the first ones say enough, the rest is counted.
PROBLEMS_KEPT = 5_000
UNJUDGED_NAMED = 100
TRACES_IMPORTED = "traces.imported"
_BEGINNING = {
    "phase": "read", "seen": 0, "imported": 0, "versions": 0, "known": 0, "errors": 0, "member": 0, "mark": None,
}  # fmt: skip
_COUNTS = ("imported", "versions", "known", "errors", "stated", "reports")


class ImportTraces:
    """Job parameters: `file`, the id of an ImportedFile in the storage. Fails where no trace came in at all."""

    name = "import_traces"
    label = "Import of traces"
    queue = "imports"

    def run_part(self, job: Job) -> Part:
        return self.do_part(job, None)

    def do_part(self, job: Job, source: StoredRunFile | None) -> Part:
        """The part at the job's cursor, out of the given source or the storage."""
        # Before any row of it is locked: whoever removes contents waits for this lock, and then wants those rows.
        keep_contents()
        file = ImportedFile.objects.select_related("project").get(pk=job.parameters["file"])
        cursor = {**_BEGINNING, **(job.cursor or {})}
        if cursor["phase"] == "read":
            return _read(file, source or _stored(file), cursor)
        if cursor["phase"] == "join":
            if join_tasks(file, cursor, secrets_rules(file)):
                cursor["phase"] = "join_reports"
            return Part(cursor=cursor, progress=cursor["seen"], total=cursor["seen"])
        if cursor["phase"] == "join_reports":
            if join_reports(file, cursor):
                cursor["phase"] = "end"
            return Part(cursor=cursor, progress=cursor["seen"], total=cursor["seen"])
        return _sum_up(file, cursor)


def _survey(source: StoredRunFile) -> dict[str, Any]:
    """How many files of a ZIP are read, and which of them come first because they state what others were asked."""
    first = task_texts_in(source.opened, has_tasks)
    return {"members": sum(1 for _ in sources_in(source.name, source.opened, first)), "first": first}


def _stored(file: ImportedFile) -> StoredRunFile:
    return StoredRunFile(file.name, lambda: cast(Any, default_storage.open(file.stored_as, "rb")), file.size)


def _read(file: ImportedFile, source: StoredRunFile, cursor: dict[str, Any]) -> Part:
    ends = time.monotonic() + SECONDS_A_PART
    first, before = cursor["seen"], cursor["imported"]
    is_package_of_runs = is_package(source.head())
    if "members" not in cursor:
        cursor |= _survey(source) if is_package_of_runs else {"members": 1, "first": []}
    cursor["mark"] = Bookmark.from_json(cursor["mark"]) if cursor["mark"] else None
    batch = _Batch(file, cursor, in_package=is_package_of_runs, secrets=secrets_rules(file))
    is_over = True
    for entry, member, number in _entries(file, source, cursor):
        batch.at_member(number, member)
        if cursor["seen"] > settings.IMPORT_MOST_RECORDS:
            cursor["stopped"] = cursor["seen"] = settings.IMPORT_MOST_RECORDS
            break
        if entry is not None:
            batch.add(entry, member)
        if cursor["seen"] - first >= RECORDS_A_PART or time.monotonic() >= ends:
            is_over = False
            break
    if is_over:
        batch.finish()
    batch.store()
    if cursor["imported"] > before:
        outbox.publish(TRACES_IMPORTED, project=str(file.project_id), file=str(file.pk))
    mark: Bookmark | None = cursor["mark"]
    cursor["mark"] = mark.as_json() if mark else None
    if is_over:
        cursor |= {"phase": "join" if cursor.get("stated") else "join_reports", "mark": None}
    return Part(cursor=cursor, progress=cursor["seen"], total=cursor["seen"] if is_over else None)


def _entries(
    file: ImportedFile, source: StoredRunFile, cursor: dict[str, Any]
) -> Iterator[tuple[Entry | StatedReports | None, StoredRunFile, int]]:
    """What the file holds from the cursor on, or the members of a ZIP one after another, each with the source that it
    came from and that one's number. The cursor stands behind each of them; None is a piece of work that gave nothing
    yet."""
    if not is_package(source.head()):
        for entry, _ in _of_one(file, source, cursor):
            yield entry, source, 0
        return
    for member in islice(sources_in(source.name, source.opened, cursor["first"]), cursor["member"], None):
        number = cursor["member"]
        if isinstance(member, Unreadable):
            cursor["seen"] += 1
            cursor["member"] = number + 1
            yield member, source, number
            continue
        try:
            for entry, _ in _of_one(file, member, cursor):
                yield entry, member, number
        except BROKEN as error:
            cursor["seen"] += 1
            cursor |= {"member": number + 1, "mark": None}
            sentence = f"{member.name} cannot be unpacked: {error}. Pack it again."
            yield Unreadable(1, "bad_zip", sentence), member, number
        else:
            cursor |= {"member": number + 1, "mark": None}


def _of_one(
    file: ImportedFile, source: StoredRunFile, cursor: dict[str, Any]
) -> Iterator[tuple[Entry | StatedReports | None, StoredRunFile]]:
    if cursor["mark"] is None and file.format == AUTOMATIC and (kind := kind_of_report(source)):
        cursor["seen"] += 1
        yield read_source(source, kind), source
        return
    named, options = _reading(file)
    # What the person named wins; the project's own converter is only what it expects.
    for entry, behind in read_on(
        source, options, cursor["mark"] or Bookmark(), named=named, explicit=file.format != AUTOMATIC
    ):
        cursor["mark"] = behind
        cursor["seen"] += entry is not None and not isinstance(entry, Chosen)
        cursor["named_keys"] = options.named_keys.with_earlier(cursor.get("named_keys", ()))
        yield entry, source


@dataclass
class _Batch:
    """Runs on their way into the database, and what is to be told of the others. Counts in the job's cursor, and in the
    row of the file within the import that they came from."""

    file: ImportedFile
    cursor: dict[str, Any]
    in_package: bool
    runs: list[Ready] = field(default_factory=list)
    members: list[ImportedMember] = field(default_factory=list)
    stated: list[StatedTask] = field(default_factory=list)
    sentences: list[list[str]] = field(default_factory=list)
    problems: list[ImportProblem] = field(default_factory=list)
    changed: dict[int, ImportedMember] = field(default_factory=dict)
    size: int = 0
    secrets: Secrets = DEFAULT
    has_chosen: bool = False
    has_texts: bool | None = None
    member: ImportedMember | None = None

    def at_member(self, number: int, source: StoredRunFile) -> None:
        """What is added from now on comes from this file of the import; the one before it is over."""
        if self.member is not None and self.member.number == number:
            return
        if self.member is not None:
            self.member.is_over = True
        own = ImportedMember.objects.filter(organisation=self.file.organisation_id, file=self.file, number=number)
        size, name = source.size, storable(source.name, 500)
        self.member = own.first() or ImportedMember(file=self.file, number=number, name=name, size=size)
        self.changed[number] = self.member

    def finish(self) -> None:
        """The last file of the import is over."""
        if self.member is not None:
            self.member.is_over = True
            self.changed[self.member.number] = self.member

    def add(self, entry: Entry | StatedReports, source: StoredRunFile) -> None:
        match entry:
            case Chosen():
                self._chose(entry.format, entry.sentence)
            case StatedTask():
                self.stated.append(entry)
                self.size += len(entry.text)
                self._count("stated", self._member)
                self.has_texts = True
            case StatedReports():
                self._chose(entry.kind, entry.sentence)
                # A ZIP's paths name the runs, and so does a file's own name.
                keep_reports(self.file, self._member.name, entry.reports, self.secrets)
                for _ in entry.reports:
                    self._count("reports", self._member)
            case Converted():
                # It may be of an instance whose text has just come.
                self._keep_tasks()
                seen, sentences = with_pictures(self._with_task(entry), source)
                name = self._member.name if self.in_package else ""
                self.runs.append(ready(seen, self.file, name, self.secrets))
                self.members.append(self._member)
                self.sentences.append(sentences)
                self.size += self.runs[-1].size
            case Unreadable():
                self._note(entry, self._member)
        if len(self.runs) + len(self.stated) >= RUNS_A_BATCH or self.size >= BYTES_A_BATCH:
            self.store()

    def _chose(self, format: str, sentence: str) -> None:
        # A ZIP has several: the last one stands in the file's row.
        self.file.chosen, self.file.reason = format, sentence
        self._member.chosen, self._member.reason = format, storable(sentence)
        self.has_chosen = True

    @property
    def _member(self) -> ImportedMember:
        if self.member is None:
            raise RuntimeError("at_member() comes before add().")
        self.changed[self.member.number] = self.member
        return self.member

    def _count(self, what: str, member: ImportedMember) -> None:
        self.cursor[what] = self.cursor.get(what, 0) + 1
        setattr(member, what, getattr(member, what) + 1)
        self.changed[member.number] = member

    def _with_task(self, entry: Converted) -> Converted:
        """Most projects have no texts of tasks, and are asked for them once a batch instead of once a run."""
        if self.has_texts is None:
            self.has_texts = has_texts(self.file.project)
        return with_task(entry, self.file.project) if self.has_texts else entry

    def _keep_tasks(self) -> None:
        if self.stated:
            keep_tasks(self.file.project, self.stated, self.file)
            self.stated = []

    def store(self) -> None:
        self._keep_tasks()
        if self.has_chosen:
            self.file.save(update_fields=["chosen", "reason"])
            self.has_chosen = False
        before = self.cursor["imported"]
        outcomes = store_runs(self.runs, self.file) if self.runs else []
        for run, member, sentences, outcome in zip(self.runs, self.members, self.sentences, outcomes, strict=True):
            place = run.converted.place
            if isinstance(outcome, UnusableRun):
                self._note(Unreadable(place, outcome.code, outcome.sentence), member)
                continue
            self._count("imported" if outcome else "known", member)
            if outcome > 1:
                self._count("versions", member)
            self.problems += (
                self._problem(place, "no_screenshot", sentence, member) for sentence in sentences if outcome
            )
        count_rows(before, self.cursor["imported"])
        ImportProblem.objects.bulk_create(self.problems, batch_size=500)
        self._store_members()
        self.runs, self.members, self.sentences, self.problems, self.size = [], [], [], [], 0

    def _store_members(self) -> None:
        ImportedMember.objects.bulk_create(
            list(self.changed.values()),
            batch_size=500,
            update_conflicts=True,
            unique_fields=["organisation", "file", "number"],
            update_fields=["chosen", "reason", *_COUNTS, "is_over"],
        )
        self.changed = {}

    def _note(self, problem: Unreadable, member: ImportedMember) -> None:
        self._count("errors", member)
        if self.cursor["errors"] <= PROBLEMS_KEPT:
            self.problems.append(self._problem(problem.place, problem.code, problem.sentence, member))

    def _problem(self, place: int, code: str, sentence: str, member: ImportedMember) -> ImportProblem:
        name = member.name if self.in_package else ""
        # It may quote what could not be read.
        hidden = storable(hide(sentence, groups_searched_for(self.secrets)))
        return ImportProblem(file=self.file, member=name, place=place, code=code, sentence=hidden)


def _sum_up(file: ImportedFile, cursor: dict[str, Any]) -> Part:
    if not _report_traces_without_anything_to_judge(file, cursor):
        return Part(cursor=cursor, progress=cursor["seen"], total=cursor["seen"])
    _report_keys_that_no_record_has(file, cursor)
    result = {key: cursor[key] for key in ("imported", "known", "errors")}
    if cursor["versions"]:
        result["versions"] = cursor["versions"]
    if stated := cursor.get("stated", 0):
        result |= {"stated": stated, **note_joined(file, cursor)}
    if reports := cursor.get("reports", 0):
        result |= {"reports": reports, **counts_of_reports(file)}
    note_silent_tasks(file)
    if "stopped" in cursor:
        came_in = f"{cursor['imported']:,} traces of them came in and stay"
        raise JobFailed(
            f"{file.name} has more than {cursor['stopped']:,} records, which is the most of one import "
            f"(IMPORT_MOST_RECORDS). The first {cursor['stopped']:,} were read, and {came_in}. Split the file by runs, "
            "and import the rest."
        )
    if not (cursor["imported"] or cursor["known"] or stated or reports) and file.job_id:
        first = file.problems.first()
        raise JobFailed(f"No trace came in. {first.sentence if first else ''}".strip())
    return Part(cursor=cursor, progress=cursor["seen"], total=cursor["seen"], finished=True, result=result)


def _report_keys_that_no_record_has(file: ImportedFile, cursor: dict[str, Any]) -> None:
    _, options = _reading(file)
    named, usual = ({"id_key": reading.id_key, "text_key": reading.text_key} for reading in (options, ReadingOptions()))
    for code, sentence in problems(cursor.get("named_keys", ()), named=named, usual=usual):
        ImportProblem.objects.create(file=file, place=ImportProblem.WHOLE_FILE, code=code, sentence=storable(sentence))


def _report_traces_without_anything_to_judge(file: ImportedFile, cursor: dict[str, Any]) -> bool:
    """They came in, and the queue gives them to nobody: the first ones as a problem each, and all of them as a number.

    Answers whether all traces of the file were looked at; the cursor says where the next part of the job goes on.
    """
    configuration = _published_if_valid(file)
    if configuration is None:
        return True
    progress: dict[str, Any] = cursor.setdefault("unjudged", {"after": None, "found": 0})
    ends = time.monotonic() + SECONDS_A_PART
    after = UUID(progress["after"]) if progress["after"] else None
    for looked, (trace, name, reason) in enumerate(judged_of_file(configuration, file.pk, after), 1):
        progress["after"] = str(trace)
        if reason is not None:
            progress["found"] += 1
            if progress["found"] <= UNJUDGED_NAMED:
                _report(file, f"{name} is given to nobody: {reason}, so nothing of it can be judged in this project.")
        if not looked % RUNS_A_BATCH and time.monotonic() >= ends:
            return False
    if progress["found"] > UNJUDGED_NAMED:
        _report(
            file,
            f"{progress['found']:,} traces of this file are given to nobody, because nothing of them can be judged.",
        )
    return True


def _report(file: ImportedFile, sentence: str) -> None:
    ImportProblem.objects.create(
        file=file, place=ImportProblem.WHOLE_FILE, code="nothing_to_judge", sentence=storable(sentence)
    )


def remove_upload(event: OutboxEvent) -> None:
    """Subscriber of job.finished: the file of an import that is done is not needed any more. That of one that failed or
    was cancelled is kept for a day, so that it can be tried again."""
    if event.payload["kind"] == ImportTraces.name and event.payload["state"] == JobState.DONE:
        for file in ImportedFile.objects.filter(job=event.payload["job"]).exclude(stored_as=""):
            default_storage.delete(file.stored_as)


def _published_if_valid(file: ImportedFile) -> ProjectConfiguration | None:
    try:
        return published_configuration(file.project)
    except UnreadablePinError as reason:
        raise JobFailed(reason.sentence) from reason


def secrets_rules(file: ImportedFile) -> Secrets:
    """What the project says about keys and personal data in what comes in."""
    configuration = _published_if_valid(file)
    return Secrets() if configuration is None else configuration.secrets


def _reading(file: ImportedFile) -> tuple[str, ReadingOptions]:
    configuration = _published_if_valid(file)
    if configuration is None:
        return file.format, ReadingOptions()
    named = configuration.agentic.trace_converter if file.format == AUTOMATIC else file.format
    return named, ReadingOptions(
        id_key=configuration.item_properties.id_key,
        text_key=configuration.item_properties.text_key,
        split_tool_calls=configuration.agentic.steps.split_tool_calls,
    )
