"""A file that is packed with Zstandard, read as what it holds: in one stream, forwards, with flat memory."""

import io
from typing import BinaryIO, cast

from potato.runs.forward_reader import ForwardReader
from potato.runs.model import Bounds
from potato.runs.run_files import HEAD_BYTES, StoredRunFile, in_words

MAGIC = b"\x28\xb5\x2f\xfd"
_ENDING = ".zst"
_MOST_BYTES = 4 * 2**30


class NotUnpacked(Exception):  # noqa: N818  (an answer to the person who uploaded the file)
    """The file cannot be unpacked; the sentence says why and what to do."""


def is_zstandard(head: bytes) -> bool:
    return head.startswith(MAGIC)


def unpacked(source: StoredRunFile, bounds: Bounds) -> StoredRunFile:
    """The file as what it holds, under its name without ".zst". Reading it may raise NotUnpacked."""
    name = source.name[: -len(_ENDING)] if source.name.lower().endswith(_ENDING) else source.name
    return StoredRunFile(
        name,
        lambda: cast(BinaryIO, io.BufferedReader(_Stream(source.opened(), source.name))),
        source.size,
        bounds,
        folder=source.folder,
        beside=source.find_beside,
        names=source.names_beside,
    )


def unpacked_head(head: bytes) -> bytes:
    """What the beginning of a packed file holds, as far as it goes; of any other file its beginning itself."""
    if not is_zstandard(head):
        return head
    try:
        from zstandard import ZstdDecompressor, ZstdError
    except ImportError:
        return b""
    try:
        return ZstdDecompressor().stream_reader(io.BytesIO(head)).read(HEAD_BYTES)
    except ZstdError:
        return b""


class _Stream(ForwardReader):
    """What the packed file holds."""

    def __init__(self, packed: BinaryIO, name: str) -> None:
        try:
            from zstandard import ZstdDecompressor
        except ImportError:
            packed.close()
            raise NotUnpacked(
                f"{name} is packed with Zstandard, and the package zstandard is not installed here. Unpack it first "
                "(zstd -d), or install potato-review[zstd]."
            ) from None
        super().__init__()
        self._packed = packed
        self._name = name
        self._reader = ZstdDecompressor().stream_reader(packed, read_across_frames=True)

    def _read(self, size: int) -> bytes:
        from zstandard import ZstdError

        try:
            data: bytes = self._reader.read(size)
        except ZstdError as error:
            raise NotUnpacked(f"{self._name} cannot be unpacked: {error}. Pack it again with zstd.") from None
        self._at += len(data)
        if self._at > _MOST_BYTES:
            raise NotUnpacked(
                f"{self._name} holds more than {in_words(_MOST_BYTES)}, which a packed file may hold. Split it by runs."
            )
        return data

    def close(self) -> None:
        if not self.closed:
            self._packed.close()
        super().close()
