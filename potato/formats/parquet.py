"""Rows of records as Parquet: typed columns for the documented scheme types, the whole annotation as JSON beside them.

Needs pyarrow, which the extra `parquet` brings. The same rows are the same bytes: one thread, fixed settings, and row
groups that end by what is in them. Memory holds one row group.
"""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from functools import cache, lru_cache
from typing import Any

from potato.formats.review_comments import TYPE as COMMENTS
from potato.formats.review_comments import comment_entries
from potato.formats.training import TYPE as REWARDS
from potato.formats.training import process_rewards, readable
from potato.records.sources import Project, Record, RecordsError, json_text, scheme_annotation
from potato.statistics.extras import MissingExtra, demand_extra
from potato.wording import timestamp

VERDICT = "code_review_verdict"
RATINGS = "code_review_file_ratings"
SCHEME_TYPES = frozenset({COMMENTS, RATINGS, VERDICT, REWARDS})
GROUP_ROWS = 10_000
GROUP_BYTES = 16 * 2**20
_LARGEST = 2**31 - 1
_COMMENT_TEXTS = ("file", "side", "numbering", "category", "severity", "comment", "suggestion", "comment_id")
_SUBJECT = "subject_type"
_COMMENT_NUMBERS = ("line_start", "line_end")


def demand_parquet(format: str) -> None:
    """Raises RecordsError, with the command that helps, where pyarrow is missing."""
    try:
        demand_extra("parquet", package="pyarrow", what=f"{format} is written")
    except MissingExtra as missing:
        raise RecordsError(str(missing)) from None


@cache
def record_columns() -> Any:
    """The columns of a record, as an Arrow schema."""
    import pyarrow as pa

    number = pa.int32()
    comment = [
        *((name, pa.string()) for name in ("file", "side")),
        *((name, number) for name in _COMMENT_NUMBERS),
        *((name, pa.string()) for name in _COMMENT_TEXTS[2:]),
        ("unsure", pa.bool_()),
        (_SUBJECT, pa.string()),
    ]
    rating = [("file", pa.string()), ("dimension", pa.string()), ("rating", pa.float64())]
    return pa.schema(
        [
            pa.field("id", pa.string(), nullable=False),
            pa.field("trace_version", number, nullable=False),
            ("annotator", pa.string()),
            ("timestamp", pa.timestamp("s", tz="UTC")),
            pa.field("kind", pa.string(), nullable=False),
            ("configuration_version", number),
            ("verdict", pa.string()),
            ("summary", pa.string()),
            ("comments", pa.list_(pa.struct(comment))),
            ("file_ratings", pa.list_(pa.struct(rating))),
            ("reward_mode", pa.string()),
            ("step_rewards", pa.list_(pa.float64())),
            ("first_error_step", number),
            ("error_categories", pa.list_(pa.struct([("step", number), ("category", pa.string())]))),
            pa.field("annotations", pa.string(), nullable=False),
        ]
    )


@cache
def columns_with_source() -> Any:
    """The columns of a record that may be an automated source's."""
    import pyarrow as pa

    source = pa.struct([(name, pa.string()) for name in ("name", "model", "version", "kind")])
    return pa.schema([*record_columns(), ("source", source)])


def record_row(record: Record, project: Project) -> dict[str, Any]:
    """The record's columns, as JSON. What is not there is left out. Raises RecordsError for parts of another type."""
    verdict = scheme_annotation(record, project.scheme(record, VERDICT), dict, "an object with a decision") or {}
    row: dict[str, Any] = {
        "id": readable(record.id),
        "trace_version": record.trace_version,
        "annotator": None if record.source else readable(record.annotator),
        "kind": "source" if record.source else record.kind,
        "timestamp": _moment(record.timestamp),
        "configuration_version": record.configuration_version,
        "verdict": _text(verdict.get("decision")),
        "summary": _text(verdict.get("summary")),
        **_review(record, project),
        **_rewards(record, project),
        # ASCII with escapes, so that what no column can hold is exact here.
        "annotations": record.annotations_text,
        "source": {key: readable(text) for key, text in record.source.as_json().items()} if record.source else None,
    }
    return {name: value for name, value in row.items() if value is not None}


def row_line(row: dict[str, Any]) -> bytes:
    return f"{json_text(row)}\n".encode("ascii")


def parquet_pieces(lines: Iterable[bytes], columns: Any) -> Iterator[bytes]:
    """A Parquet file of rows that are lines of JSON with those columns."""
    import pyarrow.parquet as pq

    pieces = _Pieces()
    with pq.ParquetWriter(pieces, columns, compression="zstd", compression_level=3, version="2.6") as writer:
        for group in _groups(lines):
            writer.write_table(_table(group, columns), row_group_size=GROUP_ROWS)
            yield from pieces.taken()
    yield from pieces.taken()


class _Pieces:
    """A file that is written to and read piece by piece."""

    closed = False

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def write(self, data: Any) -> int:
        self._pieces.append(bytes(data))
        return len(data)

    def taken(self) -> Iterator[bytes]:
        pieces, self._pieces = self._pieces, []
        yield from pieces

    def flush(self) -> None:
        """Nothing waits here."""

    def close(self) -> None:
        self.closed = True


def _groups(lines: Iterable[bytes]) -> Iterator[list[bytes]]:
    group: list[bytes] = []
    size = 0
    for line in lines:
        group.append(line)
        size += len(line)
        if len(group) >= GROUP_ROWS or size >= GROUP_BYTES:
            yield group
            group, size = [], 0
    if group:
        yield group


def _table(group: list[bytes], columns: Any) -> Any:
    import pyarrow as pa
    from pyarrow import json as arrow_json

    text = b"".join(group)
    # A row is never cut, and none is read beside another: the order stays.
    reading = arrow_json.ReadOptions(use_threads=False, block_size=len(text) + 1)
    parsing = arrow_json.ParseOptions(explicit_schema=columns, unexpected_field_behavior="error")
    table = arrow_json.read_json(pa.BufferReader(text), read_options=reading, parse_options=parsing)
    return table.select(columns.names).cast(columns)


def _review(record: Record, project: Project) -> dict[str, Any]:
    answers: dict[str, Any] = {}
    if comments := comment_entries(record, project):
        answers["comments"] = [_comment(comment) for comment in comments]
    ratings = scheme_annotation(record, project.scheme(record, RATINGS), dict, "an object of ratings") or {}
    rows = [
        {"file": readable(path), "dimension": readable(name), "rating": float(value)}
        for path, rating in ratings.items()
        if isinstance(rating, dict)
        for name, value in rating.items()
        if isinstance(value, int | float) and not isinstance(value, bool)
    ]
    return answers | ({"file_ratings": rows} if rows else {})


def _comment(comment: dict[str, Any]) -> dict[str, Any]:
    texts = {name: text for name in (*_COMMENT_TEXTS, _SUBJECT) if (text := _text(comment.get(name))) is not None}
    numbers = {name: number for name in _COMMENT_NUMBERS if (number := _number(comment.get(name))) is not None}
    unsure = comment.get("unsure")
    return texts | numbers | ({"unsure": unsure} if isinstance(unsure, bool) else {})


def _rewards(record: Record, project: Project) -> dict[str, Any]:
    rewards = process_rewards(record, project)
    if rewards is None:
        return {}
    categories = [
        {"step": step, "category": readable(category)}
        for step, category in rewards.categories.items()
        if step <= _LARGEST
    ]
    return {
        "reward_mode": readable(rewards.mode),
        "step_rewards": rewards.scores,
        "first_error_step": rewards.first_error(),
        **({"error_categories": categories} if categories else {}),
    }


@lru_cache(maxsize=1_000)
def _moment(text: str) -> str | None:
    """The time in UTC, to the second; None for what is no time with its zone."""
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        return None
    return None if at.tzinfo is None else timestamp(at.astimezone(UTC))


def _text(value: Any) -> str | None:
    return readable(value) if isinstance(value, str) else None


def _number(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and abs(value) <= _LARGEST else None
