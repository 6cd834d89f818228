"""Records as they come out of the database: some at a time, by how large they are."""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TypeVar
from uuid import UUID

from potato.records.sources import Record

Key = TypeVar("Key")


@dataclass(frozen=True)
class RecordChunk:
    """Some records, to be used up before the next chunk: how many, and the id of the row that is the last one's."""

    last_id: UUID
    count: int
    records: Iterable[Record]


def first_within(sizes: Iterable[tuple[Key, int]], budget: int) -> list[Key]:
    """As many as fit, at least one."""
    chosen: list[Key] = []
    for pk, size in sizes:
        budget -= size
        if budget < 0 and chosen:
            break
        chosen.append(pk)
    return chosen


def count_within(sizes: Sequence[int], budget: int) -> int:
    """How many fit, at least one of those that there are."""
    return min(len(sizes), max(1, bisect_right(list(accumulate(sizes)), budget)))
