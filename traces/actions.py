"""What can be done to traces: give a file to a project, and import it, in the background or at once."""

import errno
import hashlib
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.core.files import File
from django.core.files.storage import default_storage
from django.db import transaction

from accounts.models import Organisation, Project
from jobs.actions import request_job
from jobs.bounds import demand_capacity
from jobs.kinds import JobFailed
from jobs.models import Job
from potato.runs.converters.detection import AUTOMATIC
from potato.runs.converters.registry import trace_converters
from potato.runs.sources import in_words, source_at
from tenancy import audit
from tenancy.actor import acting_in, current
from tenancy.errors import Refused
from tenancy.models import new_id
from traces.importing import uploads
from traces.importing.import_job import ImportTraces
from traces.importing.task_texts import are_tasks_first
from traces.models import ImportedFile

FILE_BYTES = settings.IMPORT_MOST_BYTES


class UnknownFormat(Refused):
    code = "unknown_format"
    status = 400


class FileTooLarge(Refused):
    code = "file_too_large"
    status = 413


class CannotImport(Refused):
    code = "cannot_import"


class NoSpace(Refused):
    code = "no_space"
    status = 507
    SENTENCE = (
        "The site's disk for uploads is full. Nothing was kept. Tell its operators, and send the file again later."
    )


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

    Raises UnknownFormat, EmptyFile, FileTooLarge, NoSpace and TooManyJobs, and keeps nothing then.
    """
    _known(format)
    demand_capacity()
    name, size = content.name or "upload", content.size
    if not size:
        raise EmptyFile(f"{name} is empty. Choose a file with at least one run in it.")
    _within_bound(name, size)
    digest = hashlib.sha256()
    for chunk in content.chunks():
        digest.update(chunk)
    stored_as = _stored(f"{uploads.FOLDER}/{current().organisation}/{new_id()}", content)
    try:
        return _requested(project, content, name, digest.hexdigest(), stored_as, format)
    except BaseException:
        default_storage.delete(stored_as)
        raise


def _stored(name: str, content: File[bytes]) -> str:
    try:
        return default_storage.save(name, content)
    except OSError as error:
        with suppress(OSError):
            default_storage.delete(name)
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise NoSpace(NoSpace.SENTENCE) from error
        raise


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
    _within_bound(name, size)
    with path.open("rb") as opened:
        digest = hashlib.file_digest(opened, "sha256").hexdigest()
    with acting_in(organisation):
        file = ImportedFile.objects.create(project=project, name=name[:300], size=size, sha256=digest, format=format)
        audit.record("traces.imported", project, file=file.name, format=format)
    job = Job(kind=kind.name, parameters={"file": str(file.pk)})
    source = source_at(path)
    while True:
        try:
            with acting_in(organisation):
                part = kind.do_part(job, source)
        except JobFailed as failure:
            raise CannotImport(str(failure)) from failure
        job.cursor = part.cursor
        if part.finished:
            with acting_in(organisation):
                file.refresh_from_db()
            brought = part.result
            stated = brought.get("stated", 0)
            return Imported(file, brought["imported"], brought["known"], brought["errors"], stated)


def _within_bound(name: str, size: int) -> None:
    if size > FILE_BYTES:
        raise FileTooLarge(
            f"{name} has {in_words(size)}; a file may have {in_words(FILE_BYTES)} (IMPORT_MOST_BYTES). "
            "Split it by runs."
        )


def _known(format: str) -> None:
    formats = [AUTOMATIC, *sorted(trace_converters())]
    if format not in formats:
        raise UnknownFormat(f"{format!r} is no format of traces. Use one of {', '.join(formats)}.")
