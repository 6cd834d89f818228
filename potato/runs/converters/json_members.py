"""The members of a JSON list or object as bytes, one after another, so that no file is too long to be read.

Members end where a comma stands outside every bracket and string; whether one is JSON is for its reader to say. So one
that is not hides no other, unless its brackets do not match.
"""

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass

from potato.runs.model import Bounds, ReadPosition, RunFile, Unreadable
from potato.runs.run_files import in_words

# A quote alone begins a string whose end was not read yet. Possessive, because nothing is to be tried twice.
_MARK = re.compile(rb'"(?:[^"\\]++|\\.)*+"|["\[\]{},]', re.DOTALL)
_SPACE = b" \t\r\n"
_READ_AT_ONCE = 2**20


@dataclass(frozen=True, slots=True)
class Member:
    """One member: its number and the number of the line in which it begins, both from 1."""

    number: int
    data: bytes
    line: int
    after: ReadPosition | None


class _Portions:
    """What was read of the file: `data`, used up to `start`, which is the byte `offset` of the file."""

    def __init__(self, source: RunFile) -> None:
        self._chunks = source.chunks()
        self.data = b""
        self.start = 0
        self.offset = source.begin.offset
        self.is_all = False

    def use(self, end: int) -> None:
        """Everything before this position of the data is done with."""
        self.offset += end - self.start
        self.start = end

    def read(self, most: int) -> int:
        """Read as much again as is there, so that what is looked through again does not grow with its square.

        Returns by how much all positions in the data are smaller now.
        """
        used = self.start
        chunks = [self.data[used:]]
        missing = min(max(len(chunks[0]), 1), most)
        while missing > 0 and not self.is_all:
            chunk = next(self._chunks, b"")
            self.is_all = not chunk
            chunks.append(chunk)
            missing -= len(chunk)
        self.data, self.start = b"".join(chunks), 0
        return used

    def use_space(self) -> bytes:
        """Pass over white space to the next byte, and answer with it: b"" at the end of the file."""
        while True:
            rest = self.data[self.start :].lstrip(_SPACE)
            self.use(len(self.data) - len(rest))
            if rest or self.is_all:
                return rest[:1]
            self.read(_READ_AT_ONCE)


def read_members(source: RunFile, bounds: Bounds) -> Iterator[Member | Unreadable]:
    """The members from the source's `begin` on; of an object each is a key with its value, `"key": value`.

    A member over the bound for documents is an Unreadable in its place, and so is what is missing or too much at the
    end.
    """
    file = _Portions(source)
    number, line = source.begin.before, source.begin.line
    if not source.begin.offset:
        line += _open(file)
    while True:
        number += 1
        end, size = _end_of_member(file, bounds.document_bytes)
        data, closed_by = file.data[file.start : end], file.data[end : end + 1]
        begins = line + data[: len(data) - len(data.lstrip(_SPACE))].count(b"\n")
        line += data.count(b"\n")
        is_last = closed_by != b","
        is_blank = not data.strip(_SPACE)
        file.use(min(end + 1, len(file.data)))
        after = ReadPosition(file.offset, number, line)
        if size > bounds.document_bytes:
            sentence = (
                f"Record {number}, which begins in line {begins}, has more than {in_words(bounds.document_bytes)}, "
                "which a record may have. Leave large results out of the trace."
            )
            yield Unreadable(number, "too_large", sentence, None if is_last else after)
            if not closed_by:
                return
        elif not (is_blank and is_last):
            yield Member(number, data.strip(_SPACE), begins, None if is_last else after)
        if is_last:
            if problem := _wrong_at_the_end(file, closed_by):
                yield Unreadable(number + (not is_blank), "not_json", f"{source.name}, line {line}: {problem}")
            return


def _open(file: _Portions) -> int:
    """Pass over the bracket that opens the list or object; returns how many lines end before it."""
    file.read(1)
    file.use(len(codecs.BOM_UTF8) if file.data.startswith(codecs.BOM_UTF8) else 0)
    lines = file.data[: len(file.data) - len(file.data[file.start :].lstrip(_SPACE))].count(b"\n")
    file.use_space()
    file.use(min(file.start + 1, len(file.data)))
    return lines


def _end_of_member(file: _Portions, most: int) -> tuple[int, int]:
    """Where in the data the comma or bracket stands that ends the member, or the data's end where none does, and how
    large the member is. Of one that is larger than `most` only the end is kept."""
    depth = dropped = 0
    at = file.start
    while True:
        for mark in _MARK.finditer(file.data, at):
            character = mark[0]
            if character in (b"[", b"{"):
                depth += 1
            elif character in (b"]", b"}", b","):
                if not depth:
                    return mark.start(), dropped + mark.start() - file.start
                depth -= character != b","
            elif character == b'"':
                at = mark.start()
                break
        else:
            at = len(file.data)
        known = len(file.data) - file.start
        if file.is_all or known > 2 * most:
            # The file is cut off, or nobody reads on in a string that does not end.
            return len(file.data), dropped + known
        if dropped or at - file.start > most:
            dropped += at - file.start
            file.use(at)
        at -= file.read(most)


def _wrong_at_the_end(file: _Portions, closed_by: bytes) -> str:
    """What is wrong behind the last member, "" for nothing."""
    if not closed_by:
        return "The list has no end. The text seems to be cut off."
    return "Text stands behind the end of the list, which was not read." if file.use_space() else ""
