"""Opens the members of a ZIP, also those that are packed with Zstandard, which Python knows from 3.14 on alone."""

import copy
import io
import zipfile
import zlib
from typing import BinaryIO, cast

from potato.runs.forward_reader import ForwardReader

_STORED, _ZSTANDARD = zipfile.ZIP_STORED, 93


def opened_member(package: zipfile.ZipFile, member: zipfile.ZipInfo) -> BinaryIO:
    """The member as what it holds; no more of it is read than it declares.

    Opening and reading raise zipfile.BadZipFile for a damaged member, and NotImplementedError for one that is packed in
    a way that is not known here.
    """
    if member.compress_type != _ZSTANDARD:
        return _opened(package, member)
    try:
        from zstandard import ZstdDecompressor
    except ImportError:
        raise NotImplementedError(
            "it is packed with Zstandard, and the package zstandard is not installed here (potato-review[zstd])"
        ) from None
    as_it_lies = copy.copy(member)
    as_it_lies.compress_type, as_it_lies.file_size = _STORED, member.compress_size
    # What lies there has no sum of its own; that of what it holds is checked in reading.
    del as_it_lies.CRC
    packed = _opened(package, as_it_lies)
    reader = ZstdDecompressor().stream_reader(packed, read_across_frames=True)
    return cast(BinaryIO, io.BufferedReader(_Unpacked(reader, member)))


def _opened(package: zipfile.ZipFile, member: zipfile.ZipInfo) -> BinaryIO:
    try:
        return cast(BinaryIO, package.open(member))
    except ValueError as error:
        # A place before the file's beginning, or a name that is no text.
        raise zipfile.BadZipFile(f"{member.filename} is not where the list says: {error}") from None


class _Unpacked(ForwardReader):
    """What a member holds."""

    def __init__(self, reader: BinaryIO, member: zipfile.ZipInfo) -> None:
        super().__init__()
        self._reader = reader
        self._member = member
        self._sum = 0

    def _read(self, size: int) -> bytes:
        from zstandard import ZstdError

        name, left = self._member.filename, self._member.file_size - self._at
        if not (size := min(size, left)):
            return b""
        try:
            data = self._reader.read(size)
        except ZstdError as error:
            raise zipfile.BadZipFile(f"{name} is no whole Zstandard: {error}") from None
        if not data:
            raise zipfile.BadZipFile(f"{name} ends before the {self._member.file_size:,} bytes that it declares")
        self._at += len(data)
        self._sum = zlib.crc32(data, self._sum)
        if self._at == self._member.file_size and self._sum != self._member.CRC:
            raise zipfile.BadZipFile(f"Bad CRC-32 for file {name!r}")
        return data

    def close(self) -> None:
        if not self.closed:
            self._reader.close()
        super().close()
