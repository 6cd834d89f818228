"""Uploaded files: kept until a job has read them, and removed where nothing belongs to them any more."""

import errno
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import structlog
from django.conf import settings
from django.core.files import File
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import TemporaryUploadedFile, UploadedFile
from django.core.files.uploadhandler import FileUploadHandler, TemporaryFileUploadHandler
from django.db.models import Q
from django.utils import timezone

from jobs.models import Job
from jobs.sweeps import Sweep
from potato.runs.run_files import in_words
from tenancy.actor import Actor, acting, current
from tenancy.errors import Refused
from tenancy.models import new_id
from traces.models import ImportedFile

log = structlog.get_logger(__name__)

FILE_BYTES = settings.IMPORT_MOST_BYTES
FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
FOLDER = "imports"
KEPT = timedelta(days=1)
"""A file may lie there before its row is committed, and a large one takes long to arrive."""


class FileTooLarge(Refused):
    code = "file_too_large"
    status = 413


class NoSpace(Refused):
    code = "no_space"
    status = 507
    SENTENCE = (
        "The site's disk for uploads is full. Nothing was kept. Tell its operators, and send the file again later."
    )


def demand_size(name: str, size: int) -> None:
    """Raises FileTooLarge for a file over the bound of all imports."""
    if size > FILE_BYTES:
        raise FileTooLarge(
            f"{name} has {in_words(size)}; a file may have {in_words(FILE_BYTES)} (IMPORT_MOST_BYTES). "
            "Split it into several."
        )


@contextmanager
def kept(content: File[bytes]) -> Iterator[str]:
    """Store an upload of the active organisation for a job that the block asks for; gives the name in the storage.

    Where the block raises, nothing stays. Raises NoSpace on a full disk.
    """
    name = f"{FOLDER}/{current().organisation}/{new_id()}"
    try:
        name = default_storage.save(name, content)
        yield name
    except BaseException as error:
        with suppress(OSError):
            default_storage.delete(name)
        if isinstance(error, OSError) and error.errno in FULL:
            raise NoSpace(NoSpace.SENTENCE) from error
        raise


class ArrivingFile(TemporaryUploadedFile):
    """An upload in the folder for what arrives, which is made when it is needed."""

    def __init__(self, name: str, content_type: str, size: int, charset: str | None, extra: Any = None) -> None:
        folder = arriving()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = tempfile.NamedTemporaryFile(suffix=".upload", dir=folder)  # noqa: SIM115  (it is this one)
        UploadedFile.__init__(self, file, name, content_type, size, charset, extra)


class ArrivingFileHandler(TemporaryFileUploadHandler):
    def new_file(self, *args: Any, **kwargs: Any) -> None:
        FileUploadHandler.new_file(self, *args, **kwargs)
        self.file = ArrivingFile(
            self.file_name or "", self.content_type or "", 0, self.charset, self.content_type_extra
        )


def arriving() -> Path:
    return Path(settings.MEDIA_ROOT) / "arriving"


class OrphanedUploads(Sweep):
    """Asks the storage instead of the database where there is work: the folders carry the organisations' ids."""

    def organisations(self) -> list[UUID]:
        remove_fragments()
        return [organisation for organisation in _organisations() if next(_old_files(organisation), None)]


def remove_orphans(sender: Actor) -> int:
    """Remove the organisation's files that are older than a day and named by no row or open job, or by an import that
    ended a day ago; answers how many."""
    if sender.organisation is None:
        return 0
    with acting(sender):
        # One that failed or was cancelled can be tried again for a day; afterwards its file goes, too.
        ended = Q(job__isnull=False, job__finished_at__lt=_oldest())
        named = set(ImportedFile.objects.exclude(stored_as="").exclude(ended).values_list("stored_as", flat=True))
        # A job that has no row of its own beside it names its file itself; it may wait for longer than a day.
        waiting = Job.objects.open().filter(parameters__has_key="stored_as")
        named.update(waiting.values_list("parameters__stored_as", flat=True))
    orphans = [name for name in _old_files(sender.organisation) if name not in named]
    for name in orphans:
        default_storage.delete(name)
    if orphans:
        log.warning("traces.orphaned_uploads_removed", files=len(orphans))
    return len(orphans)


def remove_fragments() -> None:
    """Remove what is left, after a day, of uploads that never arrived."""
    for path in arriving().glob("*.upload"):
        try:
            if datetime.fromtimestamp(path.stat().st_mtime, tz=timezone.get_current_timezone()) < _oldest():
                path.unlink()
        except FileNotFoundError:
            continue  # It has arrived.


def _organisations() -> Iterator[UUID]:
    try:
        folders, _ = default_storage.listdir(FOLDER)
    except FileNotFoundError:
        return
    for folder in folders:
        try:
            yield UUID(folder)
        except ValueError:
            continue


def _old_files(organisation: UUID) -> Iterator[str]:
    _, names = default_storage.listdir(f"{FOLDER}/{organisation}")
    for name in names:
        whole = f"{FOLDER}/{organisation}/{name}"
        try:
            if default_storage.get_modified_time(whole) < _oldest():
                yield whole
        except FileNotFoundError:
            continue


def _oldest() -> datetime:
    return timezone.now() - KEPT
