"""The JSON records of a file, one by one: the lines of JSONL, the members of a list, or one document.

Every record that cannot be read is an Unreadable in its place; the ones after it come all the same.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from potato.runs.converters.json_members import Member, read_members
from potato.runs.converters.json_text import Malformed, parsed, parsed_line
from potato.runs.converters.outline import detect_outline
from potato.runs.model import JSON, Bounds, Converted, ReadPosition, RunFile, TooLarge, Unreadable


@dataclass(frozen=True, slots=True)
class Record:
    """An object of the file, where it stands (from 1), what was mended in reading it, and its size in bytes.

    Of several on one line, which `nth` counts from 0, the first one has both. `after` is where reading can begin anew
    behind it, None where it is all of a document, or another one follows on its line.
    """

    place: int
    value: dict[str, JSON]
    repairs: Counter[str]
    size: int
    after: ReadPosition | None = None
    nth: int = 0


@dataclass(frozen=True, slots=True)
class NumberedLine:
    """A line with its number from 1, where it begins in the file, and where the next one does."""

    number: int
    text: bytes
    offset: int
    end: int

    def before(self, state: JSON = None) -> ReadPosition:
        return ReadPosition(self.offset, self.number - 1, state=state)

    @property
    def after(self) -> ReadPosition:
        return ReadPosition(self.end, self.number)


def read_records(source: RunFile, bounds: Bounds) -> Iterator[Record | Unreadable]:
    """The file's records in their order; of a document that is no list, the document is the one record."""
    outline = detect_outline(source.head(), source.name)
    if outline.layout == "utf-16":
        yield Unreadable(1, "not_utf8", f"{source.name} is UTF-16. Save it as UTF-8.")
    elif outline.layout == "document":
        if isinstance(outline.values[0], list):
            for member in read_members(source, bounds):
                yield member if isinstance(member, Unreadable) else record_in(member, bounds)
        else:
            yield _document(source, bounds)
    else:
        yield from _lines(source, bounds)


def numbered_lines(source: RunFile) -> Iterator[NumberedLine | Unreadable]:
    """Lines from the source's `begin` on; a line over the bound is an Unreadable in its place."""
    lines = source.lines()
    number = source.begin.before
    while True:
        number += 1
        offset = lines.offset
        try:
            text = next(lines)
        except StopIteration:
            return
        except TooLarge as error:
            yield Unreadable(number, "too_large", f"Line {number}: {error}", ReadPosition(lines.offset, number))
        else:
            yield NumberedLine(number, text, offset, lines.offset)


def resumable(entry: Converted | Unreadable, after: ReadPosition | None) -> Converted | Unreadable:
    """The entry with where reading can begin anew behind it."""
    return replace(entry, after=after)


def record_in(member: Member, bounds: Bounds) -> Record | Unreadable:
    """The record that a member of a list is."""
    repairs: Counter[str] = Counter()
    try:
        value = parsed(member.data, repairs, depth=bounds.depth)
    except Malformed as error:
        sentence = f"Record {member.number}, which begins in line {member.line}: {error}"
        return Unreadable(member.number, "not_json", sentence, member.after)
    return _record(member.number, value, repairs, len(member.data), "Record", member.after)


def _lines(source: RunFile, bounds: Bounds) -> Iterator[Record | Unreadable]:
    for line in numbered_lines(source):
        if isinstance(line, Unreadable):
            yield line
            continue
        if not line.text.strip():
            continue
        repairs: Counter[str] = Counter()
        try:
            values = parsed_line(line.text, repairs, depth=bounds.depth)
        except Malformed as error:
            yield Unreadable(line.number, "not_json", f"Line {line.number}: {error}", line.after)
            continue
        for nth, value in enumerate(values):
            first, last = nth == 0, nth == len(values) - 1
            mended, size = (repairs, len(line.text)) if first else (Counter[str](), 0)
            yield _record(line.number, value, mended, size, "Line", line.after if last else None, nth)


def _document(source: RunFile, bounds: Bounds) -> Record | Unreadable:
    repairs: Counter[str] = Counter()
    try:
        data = source.whole()
        value = parsed(data, repairs, depth=bounds.depth)
    except TooLarge as error:
        return Unreadable(1, "too_large", str(error))
    except Malformed as error:
        return Unreadable(1, "not_json", f"{source.name}: {error}")
    return _record(1, value, repairs, len(data), "Document", None)


def _record(
    place: int, value: JSON, repairs: Counter[str], size: int, what: str, after: ReadPosition | None, nth: int = 0
) -> Record | Unreadable:
    if isinstance(value, dict):
        return Record(place, value, repairs, size, after, nth)
    sentence = f"{what} {place} is {_kind(value)}, not a JSON object, so it can be no part of a run."
    return Unreadable(place, "not_an_object", sentence, after)


def _kind(value: JSON) -> str:
    kinds = {str: "a text", bool: "true or false", int: "a number", float: "a number", list: "a list"}
    return "null" if value is None else kinds[type(value)]
