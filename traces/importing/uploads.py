"""Uploaded files that nothing belongs to: of requests that ended half-way, by a killed process or a full disk."""

import tempfile
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import structlog
from django.conf import settings
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import TemporaryUploadedFile, UploadedFile
from django.core.files.uploadhandler import FileUploadHandler, TemporaryFileUploadHandler
from django.utils import timezone

from jobs.sweeps import Sweep
from tenancy.actor import Actor, acting
from traces.models import ImportedFile

log = structlog.get_logger(__name__)

FOLDER = "imports"
KEPT = timedelta(days=1)
"""A file may lie there before its row is committed, and a large one takes long to arrive."""


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
    """Remove the organisation's files that no row names and that are older than a day; answers how many."""
    if sender.organisation is None:
        return 0
    with acting(sender):
        named = set(ImportedFile.objects.exclude(stored_as="").values_list("stored_as", flat=True))
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
