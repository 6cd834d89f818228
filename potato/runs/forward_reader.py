"""A stream that is read forwards alone, as what is unpacked on the way is."""

import io
from abc import abstractmethod

_SKIPPED_AT_ONCE = 2**20


class ForwardReader(io.RawIOBase):
    """What `_read` gives, one piece after the other. Seeking goes forward alone, by reading: nothing is kept."""

    def __init__(self) -> None:
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        if whence == io.SEEK_CUR:
            offset += self._at
        if whence == io.SEEK_END or offset < self._at:
            raise io.UnsupportedOperation("what is packed is read forwards")
        while self._at < offset and self._read(min(_SKIPPED_AT_ONCE, offset - self._at)):
            pass
        return self._at

    def readinto(self, buffer: "bytearray | memoryview") -> int:  # type: ignore[override]
        data = self._read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    @abstractmethod
    def _read(self, size: int) -> bytes:
        """So many bytes at most, by which `_at` goes on; b"" at the end."""
