"""Looks for texts in every table and every stored file, whatever made them: proof that what was removed is gone.

Rows are read as the platform role. What is packed is unpacked: compressed columns, ZIP files and gzip files.
"""

import gzip
import io
import json
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.core.files.storage import Storage, default_storage, storages
from django.db import connection

from tenancy.catalogue import all_tables, columns_of_type

TEXT_TYPES = ("text", "varchar", "bpchar", "json", "jsonb", "uuid", "_text", "_varchar", "_uuid")
_ROWS_AT_ONCE = 500
_BLOCK = 2**20
_MOST_UNPACKED = 2**30


@dataclass(frozen=True, order=True)
class Occurrence:
    """Where a text was found: a column of a table with the number of its rows, or a file of a storage."""

    where: str
    rows: int

    def __str__(self) -> str:
        return f"{self.where} ({self.rows})"


def rows_with(marks: Sequence[str]) -> list[Occurrence]:
    """The columns in which one of the texts stands, whatever its case, of all organisations. Call it within
    `unscoped`; a table that only the owner may read is left out."""
    readable = [table for table in all_tables() if _may_read(table)]
    texts, packed = columns_of_type(*TEXT_TYPES), columns_of_type("bytea")
    places = []
    for table in readable:
        for column in texts.get(table, ()):
            if rows := _text_rows(table, column, marks):
                places.append(Occurrence(f"{table}.{column}", rows))
        for column in packed.get(table, ()):
            if rows := _packed_rows(table, column, marks):
                places.append(Occurrence(f"{table}.{column}", rows))
    return places


def files_with(marks: Sequence[str]) -> list[Occurrence]:
    """The stored files in which one of the texts stands, in their content or in their name."""
    wanted = _as_bytes(marks)
    # Both storages may be one folder.
    places = {
        Occurrence(name, 1)
        for storage in (default_storage, storages["exports"])
        for name in every_file(storage)
        if _contains(name.encode(), wanted) or _file_contains(storage, name, wanted)
    }
    return sorted(places)


def every_file(storage: Storage, folder: str = "") -> Iterator[str]:
    """The names of all files below a folder; nothing where there is none."""
    try:
        folders, names = storage.listdir(folder)
    except (FileNotFoundError, NotADirectoryError):
        return
    for name in names:
        yield f"{folder}/{name}".lstrip("/")
    for inner in folders:
        yield from every_file(storage, f"{folder}/{inner}".lstrip("/"))


def _text_rows(table: str, column: str, marks: Sequence[str]) -> int:
    name, key = connection.ops.quote_name(table), connection.ops.quote_name(column)
    # As it is, and as JSON writes it.
    forms = sorted({form.lower() for mark in marks for form in (mark, json.dumps(mark)[1:-1])})
    tests = " OR ".join([f"position(%s IN lower({key}::text)) > 0"] * len(forms))
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT count(*) FROM {name} WHERE {tests}", forms)  # noqa: S608
        (count,) = cursor.fetchone()
    return int(count)


def _packed_rows(table: str, column: str, marks: Sequence[str]) -> int:
    name, key = connection.ops.quote_name(table), connection.ops.quote_name(column)
    wanted, count = _as_bytes(marks), 0
    with connection.chunked_cursor() as cursor:
        cursor.execute(f"SELECT {key} FROM {name} WHERE {key} IS NOT NULL")  # noqa: S608
        while rows := cursor.fetchmany(_ROWS_AT_ONCE):
            count += sum(_contains(bytes(value), wanted) for (value,) in rows)
    return count


def _may_read(table: str) -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT has_table_privilege(%s, 'SELECT')", [table])
        return bool(cursor.fetchone()[0])


def _as_bytes(marks: Sequence[str]) -> list[bytes]:
    return sorted({form.lower().encode() for mark in marks for form in (mark, json.dumps(mark)[1:-1])})


def _contains(content: bytes, wanted: Sequence[bytes]) -> bool:
    """The content as it is, or unpacked where it is packed."""
    if content[:2] == b"\x1f\x8b":
        content = _unzipped(content)
    elif content[:4] == b"PK\x03\x04":
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            if any(_contains(archive.read(name), wanted) for name in archive.namelist()):
                return True
    low = content.lower()
    return any(mark in low for mark in wanted)


def _unzipped(content: bytes) -> bytes:
    unpacker = zlib.decompressobj(wbits=31)
    try:
        return unpacker.decompress(content, _MOST_UNPACKED)
    except zlib.error:
        return content


def _file_contains(storage: Storage, name: str, wanted: Sequence[bytes]) -> bool:
    try:
        with storage.open(name, "rb") as file:
            beginning = file.read(4)
            file.seek(0)
            if beginning == b"PK\x03\x04":
                with zipfile.ZipFile(file) as archive:
                    for member in archive.namelist():
                        with archive.open(member) as inner:
                            if _stream_contains(inner, wanted):
                                return True
                return False
            if beginning[:2] == b"\x1f\x8b":
                with gzip.GzipFile(fileobj=file) as inner:
                    return _stream_contains(inner, wanted)
            return _stream_contains(file, wanted)
    except (FileNotFoundError, zipfile.BadZipFile, EOFError, gzip.BadGzipFile):
        return False


def _stream_contains(file: object, wanted: Sequence[bytes]) -> bool:
    """Block by block, with the end of each before the next one."""
    longest, kept = max(map(len, wanted)), b""
    while block := file.read(_BLOCK):  # type: ignore[attr-defined]  # what storages and archives open has it
        text = kept + block.lower()
        if any(mark in text for mark in wanted):
            return True
        kept = text[-longest:]
    return False
