"""Reads an uploaded file: chooses its converter, and passes on its runs and errors one by one, within the bounds."""

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from typing import TypeAlias

from potato.runs.converters.detection import AUTOMATIC, NotATrace, choose
from potato.runs.converters.registry import trace_converters
from potato.runs.model import (
    BEGINNING,
    JSON,
    Converted,
    Converter,
    ReadingOptions,
    ReadPosition,
    RunFile,
    StatedTask,
    Unreadable,
)
from potato.runs.run_files import StoredRunFile
from potato.runs.unpacking import NotUnpacked, is_zstandard, unpacked


@dataclass(frozen=True, slots=True)
class Chosen:
    """The first answer for a file that can be read: its format, and why it is this one."""

    format: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Bookmark:
    """How far a file was read, for going on in another transaction or another process.

    `format` is the converter that was chosen, "" before. `passed` counts the entries behind `place` that were read
    already. `found` is what the converter's survey of the file has noted; until `is_surveyed`, `place` is that of the
    survey.
    """

    format: str = ""
    place: ReadPosition = BEGINNING
    passed: int = 0
    found: dict[str, JSON] | None = None
    is_surveyed: bool = False
    has_entries: bool = False

    def as_json(self) -> dict[str, JSON]:
        return asdict(self)

    @classmethod
    def from_json(cls, value: dict[str, JSON]) -> "Bookmark":
        return cls(**{**value, "place": ReadPosition(**value["place"])})


Entry: TypeAlias = Chosen | Converted | StatedTask | Unreadable


def read_file(
    source: RunFile, options: ReadingOptions, *, named: str = AUTOMATIC, explicit: bool = False
) -> Iterator[Entry]:
    """What the file holds: a Chosen, then its runs, texts of tasks and unreadable records in their order.

    A file that no converter reads is one Unreadable. A file that yields nothing is an Unreadable too, so that whoever
    counts the answers never takes it for an import of no runs. Nothing is raised for the file's content.
    """
    for entry, _ in read_on(source, options, Bookmark(), named=named, explicit=explicit):
        if entry is not None:
            yield entry


def read_on(
    source: RunFile, options: ReadingOptions, mark: Bookmark, *, named: str = AUTOMATIC, explicit: bool = False
) -> Iterator[tuple[Entry | None, Bookmark]]:
    """As read_file, from a bookmark on: each entry with the bookmark behind it. None stands for a piece of a survey."""
    if not (isinstance(source, StoredRunFile) and is_zstandard(source.head())):
        yield from _read_on(source, options, mark, named=named, explicit=explicit)
        return
    last = mark
    try:
        for entry, behind in _read_on(unpacked(source, options.bounds), options, mark, named=named, explicit=explicit):
            last = behind
            yield entry, behind
    except NotUnpacked as refusal:
        yield Unreadable(1, "bad_zst", str(refusal)), replace(last, has_entries=True)


def _read_on(
    source: RunFile, options: ReadingOptions, mark: Bookmark, *, named: str, explicit: bool
) -> Iterator[tuple[Entry | None, Bookmark]]:
    if mark.format:
        converter = trace_converters()[mark.format]
    else:
        try:
            choice = choose(source, named=named, explicit=explicit)
        except NotATrace as refusal:
            yield Unreadable(1, refusal.code, refusal.sentence), mark
            return
        converter = choice.converter
        mark = replace(mark, format=converter.name)
        yield Chosen(converter.name, choice.sentence), mark
    if not mark.is_surveyed:
        for surveyed in _surveyed(converter, source, options, mark):
            mark = surveyed
            yield None, mark
    to_skip, entries_read = mark.passed, 0
    for entry in converter.read(source.at(mark.place, mark.found), options):
        entries_read += 1
        if entries_read <= to_skip:
            continue
        if entry.after is None:
            mark = replace(mark, passed=entries_read, has_entries=True)
        else:
            mark = replace(mark, place=entry.after, passed=0, has_entries=True)
            to_skip = entries_read = 0
        yield _within_bounds(entry, options) if isinstance(entry, Converted) else entry, mark
    if not mark.has_entries:
        sentence = f"{source.name} holds nothing that {mark.format} could read: no record, no run."
        yield Unreadable(1, "nothing", sentence), replace(mark, has_entries=True)


def _surveyed(converter: Converter, source: RunFile, options: ReadingOptions, mark: Bookmark) -> Iterator[Bookmark]:
    """Bookmarks of the survey, the last one of which has all that it found. One for a converter without a survey."""
    survey: Callable[..., Iterator[ReadPosition]] | None = getattr(converter, "survey", None)
    if survey is None:
        yield replace(mark, is_surveyed=True)
        return
    surveyed = mark.found or {}
    for place in survey(source.at(mark.place), options, surveyed):
        yield replace(mark, place=place, found=surveyed)
    yield replace(mark, place=BEGINNING, found=surveyed, is_surveyed=True)


def _within_bounds(entry: Converted, options: ReadingOptions) -> Converted | Unreadable:
    bounds = options.bounds
    for what, count, most in (
        ("steps", len(entry.run.steps), bounds.steps),
        ("acts on files", len(entry.run.events), bounds.events),
    ):
        if count > most:
            return Unreadable(
                entry.place,
                "too_large",
                f"The run at {entry.place} has {count:,} {what}; a run may have {most:,}. Split it.",
                entry.after,
            )
    return entry
