"""What can be done to traces: give files to a project, import them, in the background or at once, and try again."""

import hashlib
import threading
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from django.core.files import File
from django.core.files.storage import default_storage
from django.db import connection, transaction

from accounts.actions.projects import demand_unarchived
from accounts.models import Organisation, Project
from jobs.actions import JobIsOver, cancel_job, request_job
from jobs.bounds import demand_capacity
from jobs.kinds import JobFailed
from jobs.models import Job, JobState
from jobs.row_text import storable
from jobs.runner import run_here
from potato.runs.converters.detection import AUTOMATIC
from potato.runs.converters.registry import trace_converters
from potato.runs.packages import left_out
from potato.runs.run_files import source_at
from potato.wording import shortened
from tenancy import audit, limits
from tenancy.actor import acting_in, current
from tenancy.errors import Refused
from traces.importing.import_job import ImportTraces
from traces.importing.received import Arrived
from traces.importing.resumed import ResumedUpload, UploadMustWait
from traces.importing.task_texts import are_tasks_first
from traces.importing.uploads import demand_size, kept
from traces.models import ImportedFile, ImportedMember, ImportProblem

_NAMES_SHOWN = 5
_collecting = threading.BoundedSemaphore(1)
"""Of a process: to read a large upload anew takes a thread as long as a minute, and the others are for annotators."""


class UnknownFormat(Refused):
    code = "unknown_format"
    status = 400


class CannotImport(Refused):
    code = "cannot_import"


class CannotTryAgain(Refused):
    code = "cannot_try_again"


class NoFiles(Refused):
    code = "no_files"
    status = 400


class EmptyFile(Refused):
    code = "empty_file"
    status = 400


@dataclass(frozen=True)
class Imported:
    """What an import brought: new traces, traces known already, what could not be read, and texts of tasks."""

    file: ImportedFile
    imported: int
    known: int
    errors: int
    stated: int = 0

    @property
    def is_empty(self) -> bool:
        return not (self.imported or self.known or self.stated)


def tasks_first(paths: Iterable[Path]) -> list[Path]:
    """The files in the order in which they belong together: texts of tasks before the runs that they are given to."""
    return sorted(paths, key=lambda path: path.is_dir() or not are_tasks_first(source_at(path)))


def request_import(*, project: Project, content: File[bytes], format: str = AUTOMATIC) -> ImportedFile:
    """Keep an uploaded file and ask for its import in the background; the file's `job` tells how far it is.

    Raises UnknownFormat, EmptyFile, FileTooLarge, NoSpace, TooManyJobs and ProjectArchived, and keeps nothing then.
    """
    _known(format)
    demand_unarchived(project)
    demand_capacity()
    name, size = content.name or "upload", content.size
    if not size:
        raise EmptyFile(f"{name} is empty. Choose a file with at least one run in it.")
    demand_size(name, size)
    digest = hashlib.sha256()
    for chunk in content.chunks():
        digest.update(chunk)
    with kept(content) as stored_as:
        return _requested(project, content, name, digest.hexdigest(), stored_as, format)


def request_imports(*, project: Project, arrived: Sequence[Arrived], format: str = AUTOMATIC) -> list[ImportedFile]:
    """Ask for the import of all that a form brought: the files that came together as one, and each ZIP.

    What is left out, because by its name it is no run, is remarked on the import. Raises NoFiles, and as
    request_import; then none of them is asked for, so that all can be sent again.
    """
    if not arrived:
        raise NoFiles("Choose one or more files, a folder or a ZIP.")
    imports: list[ImportedFile] = []
    try:
        with transaction.atomic():
            for upload in arrived:
                file = request_import(project=project, content=upload.content, format=format)
                imports.append(file)
                if len(upload.members) > 1:
                    _remark_left_out(file, upload.members)
    except BaseException:
        for file in imports:
            with suppress(OSError):
                default_storage.delete(file.stored_as)
        raise
    return imports


def import_resumed(*, upload: ResumedUpload, project: Project, format: str = AUTOMATIC) -> list[ImportedFile]:
    """Ask for the import of what an upload brought in parts, once; the upload is over with the transaction. Where that
    is refused it stays, to be asked for again. Raises NotWhole, UploadMustWait while this or another is being taken in,
    and as request_imports."""
    claim = upload.claimed()
    try:
        if not _collecting.acquire(blocking=False):
            raise UploadMustWait("Another large upload is just being taken in. Ask again in some seconds.")
        try:
            with transaction.atomic():
                _compute_long()
                collected = upload.collected()
                try:
                    imports = request_imports(project=project, arrived=collected.arrived, format=format)
                finally:
                    collected.close()
        finally:
            _collecting.release()
    except BaseException:
        claim.close()
        raise

    def end() -> None:
        # In this order: whoever has the claim next finds that the upload is over. A rollback closes the claim as well,
        # for nothing refers to it then.
        upload.remove()
        claim.close()

    transaction.on_commit(end)
    return imports


def _compute_long() -> None:
    """The database waits for us until the transaction ends as long as it waits for a job."""
    name = "idle_in_transaction_session_timeout"
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config(%s, %s, true)", [name, limits.BACKGROUND[name]])


def _remark_left_out(file: ImportedFile, members: Sequence[str]) -> None:
    names = left_out(members)
    if not names:
        return
    shown = ", ".join(shortened(name) for name in names[:_NAMES_SHOWN])
    more = f" and {len(names) - _NAMES_SHOWN:,} more" if len(names) > _NAMES_SHOWN else ""
    whose = "1 file was" if len(names) == 1 else f"{len(names):,} files were"
    sentence = f"{whose} left out, because by the name it is no run of an agent: {shown}{more}."
    ImportProblem.objects.create(
        file=file, place=ImportProblem.WHOLE_FILE, code="left_out", sentence=storable(sentence)
    )


def can_try_again(file: ImportedFile) -> bool:
    """Whether the import ended without all of its file, and the file is still there."""
    job = file.job
    if job is None or job.is_open or job.state == JobState.DONE or not file.stored_as or file.undone_at:
        return False
    return default_storage.exists(file.stored_as)


def try_again(*, file: ImportedFile, format: str = "") -> ImportedFile:
    """Read the file of an import that failed or was cancelled once more, from its beginning: what came in is known.

    `format` may name another one than before. Raises CannotTryAgain, UnknownFormat, ProjectArchived and TooManyJobs.
    """
    if format:
        _known(format)
    demand_unarchived(file.project)
    with transaction.atomic():
        locked = ImportedFile.objects.select_for_update(of=("self",)).select_related("job", "project").get(pk=file.pk)
        if not can_try_again(locked):
            raise CannotTryAgain(
                f"{locked.name} cannot be read again: it is being read, was read to its end, or is no longer kept. "
                "Choose the file anew."
            )
        ImportProblem.objects.filter(file=locked).exclude(code="left_out").delete()
        ImportedMember.objects.filter(file=locked).delete()
        job = request_job(
            kind=ImportTraces.name, parameters={"file": str(locked.pk), "name": locked.name}, by_person=True
        )
        locked.job, locked.format = job, format or locked.format
        locked.chosen = locked.reason = ""
        locked.save(update_fields=["job", "format", "chosen", "reason"])
        audit.record("traces.import-repeated", locked.project, file=locked.name, format=locked.format)
    return locked


def cancel_import(*, file: ImportedFile) -> Job:
    """End an import after its present part; what came in stays, and can be undone. Raises JobIsOver."""
    if file.job is None:
        raise JobIsOver("This import is over; there is nothing to cancel.")
    return cancel_job(job=file.job, reason=f"The import of {file.name} was cancelled.")


def _requested(
    project: Project, content: File[bytes], name: str, sha256: str, stored_as: str, format: str
) -> ImportedFile:
    with transaction.atomic():
        file = ImportedFile.objects.create(
            project=project,
            name=name[:300],
            size=content.size,
            sha256=sha256,
            stored_as=stored_as,
            format=format,
            added_by_id=current().user,
        )
        job = request_job(kind=ImportTraces.name, parameters={"file": str(file.pk), "name": file.name}, by_person=True)
        ImportedFile.objects.filter(pk=file.pk).update(job=job)
        file.job = job
        audit.record("traces.import-requested", project, file=file.name, format=format)
    return file


def import_now(*, organisation: Organisation, project: Project, path: Path, format: str = AUTOMATIC) -> Imported:
    """Import a file in this process, part by part, each in a transaction of its own; call it outside every block.

    What was imported before an error or an interruption stays. Raises UnknownFormat, FileTooLarge, and CannotImport
    where the project's configuration does not load or the file has too many records.
    """
    _known(format)
    kind, name, size = ImportTraces(), path.name, path.stat().st_size
    demand_size(name, size)
    with path.open("rb") as opened:
        digest = hashlib.file_digest(opened, "sha256").hexdigest()
    with acting_in(organisation):
        demand_unarchived(project)
        file = ImportedFile.objects.create(project=project, name=name[:300], size=size, sha256=digest, format=format)
        audit.record("traces.imported", project, file=file.name, format=format)
    job = Job(kind=kind.name, parameters={"file": str(file.pk)})
    try:
        brought = run_here(organisation.pk, job, partial(kind.do_part, job, source_at(path)))
    except JobFailed as failure:
        raise CannotImport(str(failure)) from failure
    with acting_in(organisation):
        file.refresh_from_db()
    return Imported(file, brought["imported"], brought["known"], brought["errors"], brought.get("stated", 0))


def _known(format: str) -> None:
    formats = [AUTOMATIC, *sorted(trace_converters())]
    if format not in formats:
        raise UnknownFormat(f"{format!r} is no format of traces. Use one of {', '.join(formats)}.")
