"""What a format is, and which ones installed packages bring by the entry-point group `potato.export_formats`.

Knows none of them: a third party adds a package with a `Format` and touches nothing else.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

from potato.entry_points import EXPORT_FORMATS, installed
from potato.formats.options import Options
from potato.records.sources import LineKind, Need, Project, Record, RecordsError, RecordSource, Resolve, TraceFacts
from potato.wording import listed


class Format:
    """One export of one project while it is written: told record by record, it answers with their rows as bytes.

    The file is head, rows, tail. What is carried from row to row is `state`, JSON, so that another process can go on.
    Head and tail are asked for after the last row.

    A format that gathers writes notes (`note_line`) instead of rows. The file is then what `gathered` makes of all
    notes, or a ZIP of `members` where `zips` says so; there is no head and no tail. One that is `in_order` writes
    lines of its own instead, and gets `Lines` where others get `Notes`.
    """

    name: ClassVar[str]
    label: ClassVar[str]
    """What the file holds, for people who choose."""
    suffix: ClassVar[str]
    media_type: ClassVar[str]
    options: ClassVar[type[Options]]
    needs: ClassVar[frozenset[Need]] = frozenset()
    """What of the traces the rows say."""
    annotation_types: ClassVar[frozenset[str]] = frozenset()
    """The scheme types whose annotations can fill it; empty for whatever there is."""
    is_archive: ClassVar[bool] = False
    """Whether the file is a folder or ZIP, with traces and configurations beside the rows."""

    lines: ClassVar[LineKind | None] = None
    """Of a format whose rows are the lines of the records and nothing else, which of them: `Record.text` or
    `Record.archived_text`. A source that makes many at once is asked for them, `write` for those of others."""

    in_order: ClassVar[bool] = False
    """Whether what is gathered are lines in the order of the records, rather than notes in groups."""

    folders: ClassVar[frozenset[str]] = frozenset()
    """The folders in the folder that it writes, whose files are its own."""

    example_file: ClassVar[str] = ""
    """Of a format that writes a folder, the file that the reference shows."""

    in_folders: ClassVar[bool] = False
    """Whether a command may be given a folder to write several files into, which `files` then names."""

    needs_traces: ClassVar[bool] = False
    """Whether there is no export without the traces."""

    def __init__(self, project: Project, options: Any, state: Mapping[str, Any] | None = None) -> None:
        self.project = project
        self.chosen = options
        self.state: dict[str, Any] = {**self.start(), **(state or {})}

    @property
    def resolve(self) -> Resolve:
        resolve: Resolve = getattr(self.chosen, "resolve", "all")
        return resolve

    @property
    def needed(self) -> frozenset[Need]:
        """What of the traces the rows say under the options that were chosen."""
        return self.needs

    @property
    def rows(self) -> int:
        """How many rows there are so far. An export without one is refused."""
        return int(self.state["rows"])

    @property
    def gathers(self) -> bool:
        return False

    @property
    def zips(self) -> bool:
        return False

    @property
    def left_out(self) -> dict[str, int]:
        """How many of what was selected are not in the file, by the reason's short name."""
        counts: dict[str, int] = self.state.get("left_out", {})
        return counts

    @property
    def counts(self) -> dict[str, int]:
        """How many of the rows, or of what is in them, are of which kind, by the kind's short name."""
        counts: dict[str, int] = self.state.get("counts", {})
        return counts

    @property
    def consensus(self) -> dict[str, Any] | None:
        """How annotators were weighed, where the export was asked for by consensus: the method, its iterations, how
        much it rests on, each annotator's table, and why it should not be trusted."""
        return self.state.get("consensus")

    def remarks(self) -> list[str]:
        """What a person should know about the file that was written, in sentences."""
        return []

    @classmethod
    def kind_of_file(cls, options: Mapping[str, Any]) -> tuple[str, str]:
        """The suffix and the media type of the file under those options."""
        return cls.suffix, cls.media_type

    @classmethod
    def options_by(cls, path: Path) -> dict[str, Any]:
        """The options that the name of the file to write says. Raises RecordsError for a name that it cannot have."""
        return {}

    def start(self) -> dict[str, Any]:
        """The state before the first record."""
        return {"rows": 0}

    def scan(self, record: Record) -> None:
        """Look at a record before the first row, where the project's configurations do not name every value."""

    def paths(self, record: Record) -> Collection[str]:
        """The files that `write` will ask its facts for."""
        return ()

    def write(self, record: Record, facts: TraceFacts) -> bytes:
        """The record's rows; none are empty bytes."""
        raise NotImplementedError

    def finish(self, source: RecordSource) -> None:
        """After the last record, for what has to be counted over traces."""

    def head(self) -> bytes:
        return b""

    def tail(self) -> bytes:
        return b""

    def gathered(self, notes: Any) -> Iterator[bytes]:
        """The whole file out of the notes."""
        raise NotImplementedError

    def members(self, notes: Any) -> Iterator[tuple[str, Iterable[bytes]]]:
        """The files of the ZIP out of the notes, each to be written before the next is asked for."""
        raise NotImplementedError

    def files(self, notes: Any) -> Iterator[tuple[str, Iterable[bytes]]]:
        """The files of a folder out of the notes, each to be written before the next is asked for."""
        raise NotImplementedError

    def leave_out(self, reason: str, many: int = 1) -> bytes:
        """Count what is not in the file; answers no bytes."""
        counts = self.state.setdefault("left_out", {})
        counts[reason] = counts.get(reason, 0) + many
        return b""

    def count(self, kind: str, many: int = 1) -> None:
        """Count rows, or what is in them, of that kind."""
        counts = self.state.setdefault("counts", {})
        if many:
            counts[kind] = counts.get(kind, 0) + many

    def nothing(self) -> str:
        """Why there is no row, as a sentence."""
        return "The export selects nothing: there is no annotation. Nothing was written."


def formats_for(annotation_types: Collection[str]) -> Mapping[str, type[Format]]:
    """The installed formats that annotations of these scheme types can fill."""
    types = frozenset(annotation_types)
    return {
        name: format
        for name, format in formats().items()
        if not format.annotation_types or format.annotation_types & types
    }


def demand_schemes(format: type[Format], annotation_types: Collection[str]) -> None:
    """Raises RecordsError, with the formats that there are, where no scheme of a project can fill the format."""
    offered = formats_for(annotation_types)
    if format.name not in offered:
        types = listed(sorted(format.annotation_types), "and")
        raise RecordsError(
            f"{format.name} is made of answers to {types}, and this project has no such scheme. The formats that its "
            f"schemes fill: {', '.join(offered)}."
        )


@cache
def formats() -> Mapping[str, type[Format]]:
    """Every installed format by its name, sorted."""
    return {name: entry.load() for name, entry in installed(EXPORT_FORMATS).items()}


def format_named(name: str) -> type[Format]:
    """Raises RecordsError, with the names that there are."""
    try:
        return formats()[name]
    except KeyError:
        known = ", ".join(formats()) or "none; install Potato itself, for example with pip install -e ."
        raise RecordsError(f"{name!r} is no export format. The formats are: {known}.") from None
