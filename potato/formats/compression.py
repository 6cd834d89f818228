"""The file of an export packed by gzip or Zstandard, in one stream: the same rows are the same bytes."""

import zlib
from collections.abc import Iterable, Iterator
from typing import Any, Literal, TypeAlias

from potato.records.archives import RecordsError
from potato.statistics.extras import MissingExtra, demand_extra

Compression: TypeAlias = Literal["none", "gzip", "zstd"]

_KINDS = {"gzip": (".gz", "application/gzip"), "zstd": (".zst", "application/zstd")}
_PACKED_ALREADY = (".zip", ".parquet")
_GZIP_LEVEL, _ZSTD_LEVEL = 6, 3
_GZIP = 31
"""What tells zlib to put gzip's frame around, without a time in it."""


def kind_of_compressed(compression: str, kind: tuple[str, str]) -> tuple[str, str]:
    """The suffix and the media type of a file of that kind, packed."""
    if compression not in _KINDS:
        return kind
    suffix, media_type = _KINDS[compression]
    return kind[0] + suffix, media_type


def demand_compressible(name: str, compression: str, suffix: str) -> None:
    """Raises RecordsError where a format with that suffix cannot be packed, or this installation cannot pack so."""
    if compression == "none":
        return
    if suffix in _PACKED_ALREADY:
        raise RecordsError(f"{name} is a {suffix} file, which is packed in itself. Choose compression none.")
    if compression == "zstd":
        try:
            demand_extra("zstd", package="zstandard", what="Zstandard is written")
        except MissingExtra as missing:
            raise RecordsError(str(missing)) from None


def compressed(pieces: Iterable[bytes], compression: str) -> Iterator[bytes]:
    """The pieces as one compressed stream; as they are with "none"."""
    if compression == "none":
        yield from pieces
        return
    packer = _packer(compression)
    for piece in pieces:
        if packed := packer.compress(piece):
            yield packed
    yield packer.flush()


def _packer(compression: str) -> Any:
    if compression == "gzip":
        return zlib.compressobj(_GZIP_LEVEL, zlib.DEFLATED, _GZIP)
    from zstandard import ZstdCompressor

    return ZstdCompressor(level=_ZSTD_LEVEL, write_checksum=True).compressobj()
