"""Where exported files lie: private, on this machine or in an S3-compatible storage, by the alias "exports"."""

import os
from collections.abc import Collection, Iterator
from contextlib import suppress
from typing import IO, Any, cast

from django.core.files import File
from django.core.files.storage import FileSystemStorage, Storage, storages

BLOCK = 2**20


class DurableFileSystemStorage(FileSystemStorage):
    """Files that are on the disk before a row says that they are there."""

    def _save(self, name: str, content: File[Any]) -> str:
        try:
            saved: str = super()._save(name, content)  # type: ignore[misc]  # the stubs leave the method out
        except OSError:
            # Names are never given twice here: what lies there is half of this one.
            with suppress(OSError):
                self.delete(name)
            raise
        path = self.path(saved)
        for place in (path, os.path.dirname(path)):
            descriptor = os.open(place, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
        return saved


def storage() -> Storage:
    return storages["exports"]


def keep(name: str, content: IO[bytes]) -> str:
    """Store the content from its beginning; answers the name that it got, which a name that is taken is not."""
    content.seek(0)
    return storage().save(name, cast(Any, File(content, name)))


def read(name: str) -> Iterator[bytes]:
    """The stored content, block by block."""
    with storage().open(name, "rb") as file:
        while block := file.read(BLOCK):
            yield block


def remove_folder(folder: str, *, but: Collection[str] = ()) -> None:
    """Remove what lies in the folder, but for some names. One that is gone already is no error."""
    try:
        _, names = storage().listdir(folder)
    except FileNotFoundError:
        return
    for name in names:
        if (whole := f"{folder}/{name}") not in but:
            storage().delete(whole)
    if not but:
        storage().delete(folder)
