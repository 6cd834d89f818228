"""Rows of submissions as PostgreSQL sends them, some hundreds as one, and their answers unpacked by a thread.

Each row by itself would cost as much as its answers.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import accumulate, starmap
from operator import itemgetter
from struct import iter_unpack, unpack
from typing import Any, Final, TypeAlias

from django.db import connection
from django.db.models import BinaryField, Func, QuerySet, Value
from django.db.models.expressions import RawSQL
from isal import igzip, isal_zlib

from exports.record_chunks import count_within
from exports.stored_facts import GZIP

COLUMNS = (
    "pk",
    "submitted_at",
    "assignment__trace_id",
    "assignment__user_id",
    "assignment__version_id",
    "assignment__trace__version",
    "assignment__kind",
    "packed",
    "name",
    "active_seconds",
    "via_token",
    "batch_number",
)
"""What is asked for of a submission; `name` is NAME."""
NAME = Func("assignment__trace__external_id", Value("UTF8"), function="convert_to", output_field=BinaryField())
# Ids and numbers come behind one another.
_LAYOUT = ">16sq16s16s16siiiiiii"
_SIZE: Final = 7
_NAME_LENGTH: Final = 8
SENT = """
SELECT chunk.* FROM unnest(%s::uuid[], %s::uuid[]) AS chunks (first, last) CROSS JOIN LATERAL (
  SELECT
    string_agg(
      uuid_send(id) || timestamptz_send(at) || uuid_send(trace) || uuid_send(annotator) || uuid_send(version)
      || int4send(trace_version) || int4send(ascii(kind)) || int4send(octet_length(packed))
      || int4send(octet_length(name)) || int4send(coalesce(active_seconds, -1)) || int4send(via_token::int)
      || int4send(coalesce(batch, 0)),
      ''
    ),
    string_agg(packed, ''),
    string_agg(name, '')
  FROM ({rows}) AS rows (id, at, trace, annotator, version, trace_version, kind, packed, name, active_seconds,
                         via_token, batch)
) AS chunk
"""
"""The rows between each two ids, as SentRows; `{rows}` selects COLUMNS where the id is between chunks.first and
chunks.last."""
ROWS_A_CHUNK = 500
BYTES_A_CHUNK = 2**20
UNPACKED_BYTES_A_CHUNK = 4 * 2**20
CHUNKS_AHEAD = 2
_packed_size = itemgetter(_SIZE)

SentRow: TypeAlias = tuple[bytes, int, bytes, bytes, bytes, int, int, int, int, int, int, int]
"""Id, microseconds since 2000, trace, annotator, version, trace version, letter of the kind, bytes of the answers and
of the name, seconds of work or -1, whether by a token, number of the batch or 0."""


@dataclass(frozen=True, slots=True)
class SentRows:
    """Some rows, with their answers as they are stored and their names, each behind one another."""

    rows: Sequence[SentRow]
    packed: bytes
    names: bytes

    @classmethod
    def read(cls, numbers: bytes | None, packed: bytes | None, names: bytes | None) -> "SentRows":
        rows: Any = list(iter_unpack(_LAYOUT, numbers or b""))
        return cls(rows, packed or b"", names or b"")

    def only(self, wanted: set[bytes]) -> "SentRows":
        """Those of the rows whose ids are wanted."""
        if wanted.issuperset(map(itemgetter(0), self.rows)):
            return self
        kept = [each for each in self.each() if each[0][0] in wanted]
        rows, names, packed = zip(*kept, strict=True) if kept else ((), (), ())
        return SentRows(rows, b"".join(packed), "".join(names).encode("utf-8"))

    def each(self) -> Iterator[tuple[SentRow, str, bytes]]:
        """The rows, each with its name and its answers as they are stored."""
        at = 0
        for row, name in zip(self.rows, self.each_name(), strict=True):
            end = at + row[_SIZE]
            yield row, name, self.packed[at:end]
            at = end

    def each_name(self) -> Iterator[str]:
        """The rows' names."""
        at = 0
        for length in self.name_lengths():
            yield self.names[at : at + length].decode("utf-8")
            at += length

    def name_lengths(self) -> list[int]:
        """How many bytes each row's name has."""
        return list(map(itemgetter(_NAME_LENGTH), self.rows))

    def unpacked_sizes(self) -> Sequence[int]:
        """How long each row's answers are: the last four bytes of each say so."""
        packed = self.packed
        ends = b"".join([packed[end - 4 : end] for end in accumulate(map(_packed_size, self.rows))])
        return unpack(f"<{len(self.rows)}I", ends)


@dataclass(frozen=True, slots=True)
class UnpackedRows:
    """Some rows with their answers: `sizes` says how long each one's part of `text` is. Where that would be large,
    there is no text, and each row's answers are unpacked when it is its turn."""

    sent: SentRows
    sizes: Sequence[int]
    text: str | None

    def each(self) -> Iterator[tuple[SentRow, str, str]]:
        """The rows, each with its name and its answers as text."""
        if self.text is None:
            for row, name, packed in self.sent.each():
                yield row, name, unpacked(packed)
            return
        at = 0
        for row, name, size in zip(self.sent.rows, self.sent.each_name(), self.sizes, strict=True):
            yield row, name, self.text[at : at + size]
            at += size


def sent_rows(submissions: QuerySet[Any], ranges: Sequence[tuple[bytes, bytes]]) -> Iterator[SentRows]:
    """Those of the submissions in each of the ranges of ids, while PostgreSQL still reads on: COPY is its fastest way
    out. Within the transaction that is open, and nothing else can be asked for in it until the last row."""
    inside = submissions.filter(pk__gte=RawSQL("chunks.first", ()), pk__lte=RawSQL("chunks.last", ()))
    statement, parameters = inside.annotate(name=NAME).order_by("pk").values_list(*COLUMNS).query.sql_with_params()
    ends = [f"{{{','.join(key.hex() for key in side)}}}" for side in zip(*ranges, strict=True)]
    with (
        connection.cursor() as cursor,
        cursor.cursor.copy(
            f"COPY ({SENT.format(rows=statement)}) TO STDOUT (FORMAT BINARY)", (*ends, *parameters)
        ) as copy,
    ):
        copy.set_types(["bytea", "bytea", "bytea"])
        yield from starmap(SentRows.read, copy.rows())


def id_ranges(keys: Sequence[bytes], sizes: Sequence[int]) -> Iterator[tuple[bytes, bytes]]:
    """The first and the last id of so many rows as come as one."""
    start = 0
    while start < len(keys):
        end = start + count_within(sizes[start : start + ROWS_A_CHUNK], BYTES_A_CHUNK)
        yield keys[start], keys[end - 1]
        start = end


def unpacked_size(packed: bytes, end: int) -> int:
    """How long the content of the gzip file is that ends there: its last four bytes say so."""
    return int.from_bytes(packed[end - 4 : end], "little")


def unpacked(packed: bytes) -> str:
    text: bytes = isal_zlib.decompress(packed, GZIP)
    return text.decode("ascii")


def unpacked_ahead(chunks: Iterable[SentRows]) -> Iterator[UnpackedRows]:
    """The rows in their order, with their answers as text.

    A thread unpacks the answers of a chunk by one call, beside which other threads run, while the chunk before is
    written: 5 us a row that the main thread does not spend, where there is a second processor. In memory are
    CHUNKS_AHEAD + 1 chunks.
    """
    waiting: deque[tuple[SentRows, Sequence[int], Future[str] | None]] = deque()

    def first() -> UnpackedRows:
        sent, sizes, text = waiting.popleft()
        return UnpackedRows(sent, sizes, None if text is None else text.result())

    with ThreadPoolExecutor(1) as thread:
        for chunk in chunks:
            sizes = chunk.unpacked_sizes()
            is_small = 0 < sum(sizes) <= UNPACKED_BYTES_A_CHUNK
            waiting.append((chunk, sizes, thread.submit(_unpacked_whole, chunk.packed) if is_small else None))
            if len(waiting) > CHUNKS_AHEAD:
                yield first()
        while waiting:
            yield first()


def _unpacked_whole(packed: bytes) -> str:
    """Contents of gzip that lie behind one another."""
    text: bytes = igzip.decompress(packed)
    return text.decode("ascii")
