"""Reads an uploaded file: chooses its converter, and passes on its runs and errors one by one, within the bounds."""

from collections.abc import Iterator
from dataclasses import dataclass

from traces.converters.detection import AUTOMATIC, NotATrace, choose
from traces.runs import Converted, ReadingOptions, Source, Unreadable


@dataclass(frozen=True, slots=True)
class Chosen:
    """The first answer for a file that can be read: its format, and why it is this one."""

    format: str
    sentence: str


def read_file(
    source: Source, options: ReadingOptions, *, named: str = AUTOMATIC, explicit: bool = False
) -> Iterator[Chosen | Converted | Unreadable]:
    """What the file holds: a Chosen, then its runs and unreadable records in their order.

    A file that no converter reads is one Unreadable. A file that yields nothing is an Unreadable too, so that whoever
    counts the answers never takes it for an import of no runs. Nothing is raised for the file's content.
    """
    try:
        choice = choose(source, named=named, explicit=explicit)
    except NotATrace as refusal:
        yield Unreadable(1, refusal.code, refusal.sentence)
        return
    yield Chosen(choice.converter.name, choice.sentence)
    nothing = True
    for entry in choice.converter.read(source, options):
        nothing = False
        yield _within_bounds(entry, options)
    if nothing:
        yield Unreadable(
            1, "nothing", f"{source.name} holds nothing that {choice.converter.name} could read: no record, no run."
        )


def _within_bounds(entry: Converted | Unreadable, options: ReadingOptions) -> Converted | Unreadable:
    if isinstance(entry, Unreadable):
        return entry
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
            )
    return entry
