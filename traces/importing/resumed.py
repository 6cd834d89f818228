"""Uploads in parts: one that breaks off goes on where it stopped, and is imported when it is whole.

What is sent is a whole form (`multipart/form-data`), or one file. Its bytes lie beside the organisation's other uploads
until they are imported, given up, or swept after a day. The name of an upload is signed: it says whose it is, of which
project and how large, so that nothing else has to be kept, and nobody can go on with that of another.
"""

import fcntl
import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import timedelta
from pathlib import Path
from typing import IO, Any, Self

from django.core import signing
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import UploadedFile
from django.http.multipartparser import MultiPartParser, MultiPartParserError

from accounts.actions.projects import demand_unarchived
from accounts.models import Project
from jobs.row_text import storable
from tenancy.actor import current
from tenancy.errors import Frozen, Refused
from tenancy.models import new_id
from traces.importing.received import Arrived, Collected, CollectingHandler, safe_path
from traces.importing.uploads import FOLDER, FULL, KEPT, NoSpace, demand_size

PART_BYTES = 2**20
"""The most of one request: what the site takes in any form."""
MOST_OPEN = 20
"""So many of an organisation may be on their way, of which each may have the size of an import."""
STANDS_STILL = timedelta(hours=1)
"""One to which nothing was added for so long makes place for another, where there are as many as there may be."""
_SALT = "traces.importing.resumed"
_FORM = re.compile(r"multipart/form-data; boundary=[0-9A-Za-z'()+_,./:=?-]{1,70}")
_RANGE = re.compile(r"bytes (\d{1,15})-(\d{1,15})/(\d{1,15})")


class NoSuchUpload(Refused):
    code = "no_such_upload"
    status = 410


class WrongPart(Refused):
    code = "wrong_part"
    status = 400


class NotWhole(Refused):
    code = "upload_is_not_whole"
    status = 409


class TooManyUploads(Refused):
    code = "too_many_uploads"
    status = 429
    retry_after = 60


class UploadMustWait(Refused):
    code = "upload_must_wait"
    status = 503
    retry_after = 5


@dataclass(frozen=True)
class ResumedUpload:
    """One that is on its way: `type` is the form's with its boundary, "" for one file, which is called `name`."""

    id: str
    organisation: str
    project: str
    user: str
    name: str
    size: int
    type: str

    @classmethod
    def begun(cls, *, project: Project, size: int, name: str = "", type: str = "") -> Self:
        """A new one of the person who acts. Raises ProjectArchived, Frozen, FileTooLarge, TooManyUploads, NoSpace, and
        WrongPart for a type that is no form's."""
        demand_unarchived(project)
        if Project.objects.filter(pk=project.pk, organisation__frozen_at__isnull=False).exists():
            raise Frozen
        if size < 1:
            raise WrongPart("Say in `size` how many bytes are to come: a whole number from 1.")
        if type and not _FORM.fullmatch(type):
            raise WrongPart("`type` is multipart/form-data with its boundary, or nothing for a single file.")
        name = storable(safe_path(name).rpartition("/")[2], 200) or "upload"
        demand_size(name, size)
        actor = current()
        upload = cls(str(new_id()), str(actor.organisation), str(project.pk), str(actor.user), name, size, type)
        folder = upload._path.parent
        with _for_a_full_disk():
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            _make_place(folder)
            upload._path.touch(mode=0o600)
        return upload

    @classmethod
    def named(cls, signed: str, project: Project) -> Self:
        """The upload of that name. Raises NoSuchUpload for one that is over, another's, or of another project."""
        try:
            upload = cls(**signing.loads(signed, salt=_SALT, max_age=KEPT))
        except (signing.BadSignature, TypeError):
            raise NoSuchUpload(_OVER) from None
        actor = current()
        own = (str(actor.organisation), str(actor.user), str(project.pk))
        if (upload.organisation, upload.user, upload.project) != own or not upload._path.exists():
            raise NoSuchUpload(_OVER)
        return upload

    @property
    def signed(self) -> str:
        return signing.dumps(asdict(self), salt=_SALT, compress=True)

    @property
    def received(self) -> int:
        """How many bytes are here: the next part begins with the next one."""
        try:
            return self._path.stat().st_size
        except FileNotFoundError:
            raise NoSuchUpload(_OVER) from None

    def add(self, content_range: str, data: bytes) -> int:
        """Append a part, `bytes 0-99/1000` of the whole; answers how many bytes are here then.

        A part, or the beginning of one, that is here already is not written again: whoever got no answer sends it once
        more. Raises WrongPart, NoSuchUpload, UploadMustWait and NoSpace.
        """
        match = _RANGE.fullmatch(content_range.strip())
        first, last, whole = map(int, match.groups()) if match else (0, -1, 0)
        if match is None or whole != self.size or last >= whole or last - first + 1 != len(data):
            raise WrongPart(
                f"Content-Range is to say which bytes these are, as in bytes 0-{PART_BYTES - 1}/{self.size}, "
                f"and there are to be as many. A part may have {PART_BYTES:,}."
            )
        with self.claimed() as file, _for_a_full_disk():
            here = os.fstat(file.fileno()).st_size
            if first > here:
                raise WrongPart(f"{here:,} bytes are here. Go on with the next one.")
            try:
                file.seek(0, os.SEEK_END)
                left = memoryview(data)[here - first :]
                while left:
                    # What a disk takes of one write may be less than all.
                    left = left[file.write(left) :]
            except OSError:
                file.truncate(here)
                raise
            return max(here, last + 1)

    def claimed(self) -> IO[bytes]:
        """The file, which no other request adds to or imports until it is closed, or its process is gone.

        Raises UploadMustWait where one does, and NoSuchUpload where one has.
        """
        try:
            file = self._path.open("r+b", buffering=0)
        except FileNotFoundError:
            raise NoSuchUpload(_OVER) from None
        try:
            # Not waited for: whoever waits for an import of minutes has a thread of the site meanwhile.
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.fstat(file.fileno()).st_nlink == 0:
                raise NoSuchUpload(_OVER)
        except BlockingIOError:
            file.close()
            raise UploadMustWait(
                "This upload is being imported already, or a part of it is just arriving. Ask again in some seconds."
            ) from None
        except BaseException:
            file.close()
            raise
        return file

    def collected(self) -> Collected:
        """What the whole upload brought; close it. Raises NotWhole, WrongPart where it is no form, and as the form."""
        if self.received != self.size:
            raise NotWhole(f"{self.received:,} of {self.size:,} bytes are here. Send the others first.")
        if not self.type:
            content: UploadedFile[bytes] = UploadedFile(self._path.open("rb"), self.name, size=self.size)
            return Collected([Arrived(self.name, [self.name], content)])
        handler = CollectingHandler()
        meta = {"CONTENT_TYPE": self.type, "CONTENT_LENGTH": str(self.size)}
        try:
            with self._path.open("rb") as file, _for_a_full_disk():
                MultiPartParser(meta, file, [handler]).parse()
                return handler.collected()
        except MultiPartParserError:
            handler.discard()
            raise WrongPart("What came is no form with files. Send it anew.") from None
        except BaseException:
            handler.discard()
            raise

    def remove(self) -> None:
        """It is imported, or given up."""
        with suppress(FileNotFoundError):
            self._path.unlink()

    @property
    def _path(self) -> Path:
        return Path(default_storage.path(f"{FOLDER}/{self.organisation}/{self.id}.part"))


_OVER = "This upload is over: it was imported, given up, or begun more than a day ago. Send its files anew."


def _make_place(folder: Path) -> None:
    """Give up the one that stands still longest, where there are as many as may be. Raises TooManyUploads where none
    stands still."""
    added_to = {}
    for path in folder.glob("*.part"):
        with suppress(FileNotFoundError):
            added_to[path] = path.stat().st_mtime
    if len(added_to) < MOST_OPEN:
        return
    oldest = min(added_to, key=lambda path: added_to[path])
    if time.time() - added_to[oldest] < STANDS_STILL.total_seconds():
        raise TooManyUploads(
            f"{MOST_OPEN} uploads are on their way here. Finish one, or wait until one is over: "
            "to one that stands still for an hour nothing more is added."
        )
    oldest.unlink(missing_ok=True)


@contextmanager
def _for_a_full_disk() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in FULL:
            raise NoSpace(NoSpace.SENTENCE) from error
        raise


def requested_size(text: Any) -> int:
    """The number of bytes that a request says; 0 where it says none."""
    return int(text) if isinstance(text, (str, int)) and re.fullmatch(r"\d{1,15}", str(text)) else 0
