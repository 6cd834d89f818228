"""The JSON records of a file, one by one: the lines of JSONL, the members of a list, or one document.

Every record that cannot be read is an Unreadable in its place; the ones after it come all the same.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from traces.converters.json_text import Malformed, parsed, parsed_line
from traces.converters.outline import outline_of
from traces.runs import JSON, Bounds, Source, TooLarge, Unreadable


@dataclass(frozen=True, slots=True)
class Record:
    """An object of the file, where it stands (from 1), what was mended in reading it, and its size in bytes. Of several
    on one line the first one has both."""

    place: int
    value: dict[str, JSON]
    repairs: Counter[str]
    size: int


def records_of(source: Source, bounds: Bounds) -> Iterator[Record | Unreadable]:
    """The file's records in their order; of a document that is no list, the document is the one record."""
    outline = outline_of(source.head(), source.name)
    if outline.layout == "utf-16":
        yield Unreadable(1, "not_utf8", f"{source.name} is UTF-16. Save it as UTF-8.")
    elif outline.layout == "document":
        yield from _document(source, bounds)
    else:
        yield from _lines(source, bounds)


def numbered_lines(source: Source) -> Iterator[tuple[int, bytes] | Unreadable]:
    """Lines with their numbers from 1; a line over the bound is an Unreadable in its place."""
    lines = source.lines()
    place = 0
    while True:
        place += 1
        try:
            yield place, next(lines)
        except StopIteration:
            return
        except TooLarge as error:
            yield Unreadable(place, "too_large", f"Line {place}: {error}")


def _lines(source: Source, bounds: Bounds) -> Iterator[Record | Unreadable]:
    for entry in numbered_lines(source):
        if isinstance(entry, Unreadable):
            yield entry
            continue
        place, line = entry
        if not line.strip():
            continue
        repairs: Counter[str] = Counter()
        try:
            values = parsed_line(line, repairs, depth=bounds.depth)
        except Malformed as error:
            yield Unreadable(place, "not_json", f"Line {place}: {error}")
            continue
        for number, value in enumerate(values):
            first = number == 0
            yield _record(place, value, repairs if first else Counter(), len(line) if first else 0, "Line")


def _document(source: Source, bounds: Bounds) -> Iterator[Record | Unreadable]:
    repairs: Counter[str] = Counter()
    try:
        data = source.whole()
    except TooLarge as error:
        yield Unreadable(1, "too_large", str(error))
        return
    try:
        value = parsed(data, repairs, depth=bounds.depth)
    except Malformed as error:
        yield Unreadable(1, "not_json", f"{source.name}: {error}")
        return
    size = len(data)
    del data
    if not isinstance(value, list):
        yield _record(1, value, repairs, size, "Document")
        return
    for place, member in enumerate(value, 1):
        yield _record(place, member, repairs if place == 1 else Counter(), size // len(value), "Record")


def _record(place: int, value: JSON, repairs: Counter[str], size: int, what: str) -> Record | Unreadable:
    if isinstance(value, dict):
        return Record(place, value, repairs, size)
    return Unreadable(
        place, "not_an_object", f"{what} {place} is {_kind(value)}, not a JSON object, so it can be no part of a run."
    )


def _kind(value: JSON) -> str:
    kinds = {str: "a text", bool: "true or false", int: "a number", float: "a number", list: "a list"}
    return "null" if value is None else kinds[type(value)]
