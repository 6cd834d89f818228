"""Where exported files lie: private, on this machine or in an S3-compatible storage, by the alias "exports"."""

import os
import tempfile
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, cast

from django.core.files import File
from django.core.files.storage import FileSystemStorage, Storage, storages

BLOCK = 2**20


class DurableFileSystemStorage(FileSystemStorage):
    """Files that are on the disk before a row says that they are there."""

    def _save(self, name: str, content: File[Any]) -> str:
        try:
            saved: str = name
            if not self._linked(name, content):
                saved = super()._save(name, content)  # type: ignore[misc]  # the stubs leave the method out
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

    def _linked(self, name: str, content: File[Any]) -> bool:
        """Give a file that has no name this one, where it lies in the same file system: nothing is copied."""
        try:
            descriptor = content.fileno()
            if os.fstat(descriptor).st_nlink:
                # Somebody else's, who may go on writing to it.
                return False
            content.flush()
            path = self.path(name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            # With a folder, or links in the path would not be followed; it is not looked at, for the path is absolute.
            os.link(f"/proc/self/fd/{descriptor}", path, src_dir_fd=descriptor, follow_symlinks=True)
        except (OSError, AttributeError, NotImplementedError):
            # Another file system, a name that is taken, or a system that cannot: it is copied.
            return False
        if self.file_permissions_mode is not None:
            os.chmod(path, self.file_permissions_mode)
        return True


def unnamed_file(folder: Path, buffering: int) -> IO[bytes]:
    """A file on this machine's disk that is gone when it is closed, unless a storage gave it a name.

    Naming a finished part takes 1 us a record less than copying it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    try:
        descriptor = os.open(folder, os.O_TMPFILE | os.O_RDWR, 0o600)
    except (OSError, AttributeError):
        # A system or a file system without such files.
        return tempfile.TemporaryFile(buffering=buffering, dir=folder)
    return open(descriptor, "w+b", buffering=buffering)


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
