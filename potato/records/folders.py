"""Reads records, traces and configurations from files: an archive, a folder with annotations alone, or a lone file.

Pure: no Django and no database. Every answer about a file names it, with the line.
"""

import json
from array import array
from collections import OrderedDict
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from potato.checks.model import is_report_record
from potato.configuration import ProjectConfiguration, check_configuration
from potato.records.archives import CONFIGURATION, VERSIONS, RecordFiles, parsed_object, read_record
from potato.records.filters import Filters
from potato.records.sources import (
    AMONG_ANNOTATORS,
    NO_TRACE,
    Answer,
    AutomatedSource,
    Need,
    Project,
    Record,
    RecordPaths,
    RecordsError,
    Resolve,
    TraceChecks,
    TraceFacts,
)
from potato.runs.changes.derive import derive
from potato.runs.changes.linked_lines import LinkedLines, linked_lines
from potato.runs.changes.model import FileChange
from potato.runs.changes.places import Evidence, JudgedFile
from potato.runs.converters.native import run_in
from potato.runs.model import AgentRun, Bounds, ReadingOptions
from potato.runs.test_runs import last_outcome, test_runs
from potato.wording import UNKNOWN

RECORDS_AT_ONCE = 500
TRACES_KEPT = 8
_LINE_BYTES = 512 * 2**20
BOUNDS = Bounds(line_bytes=_LINE_BYTES, document_bytes=_LINE_BYTES)
"""A line of an archive holds a whole run."""


EVERYTHING = Filters()


class Folder:
    """A source of records out of files. `configuration` is used where the path brings none, and instead of its own.
    With `filters` there are those records alone that they let pass, and their traces.

    Closing it removes what was unpacked.
    """

    def __init__(self, path: Path, configuration: Path | None = None, filters: Filters = EVERYTHING) -> None:
        if not all(batch.isdecimal() for batch in filters.batches):
            raise RecordsError("batches: files know batches by their numbers alone, as the page Batches shows them.")
        if filters.batches and filters.sources:
            raise RecordsError("batches: files do not say in which batch the traces of automated sources are.")
        self._filters = filters
        self._files = RecordFiles(path)
        folder = self._files.folder
        self._traces = self._files.traces
        self._versions = folder / VERSIONS if folder and not configuration else None
        self._configuration = configuration or (folder / CONFIGURATION if folder else None)
        if configuration and not configuration.is_file():
            raise RecordsError(f"There is no file {configuration}.")
        self._kept: OrderedDict[int, TraceFacts] = OrderedDict()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._files.__exit__(kind, error, traceback)

    @cached_property
    def project(self) -> Project:
        versions = {number: read_configuration(text, VERSIONS) for number, text, _ in self.configuration_sources()}
        if versions:
            return Project(versions=versions)
        if self._configuration is None or not self._configuration.is_file():
            return Project.unknown()
        return Project(read_configuration(_text(self._configuration), self._configuration.name))

    @property
    def names_every_version(self) -> bool:
        return bool(self.project.versions)

    @property
    def has_traces(self) -> bool:
        return self._traces is not None

    def records(self, resolve: Resolve, *, buffered: bool) -> Iterator[Sequence[Record]]:
        chosen: Iterator[Record]
        if not self._filters.people:
            chosen = iter(())
        elif resolve == "latest":
            latest = set(self._latest())
            chosen = (record for place, record in enumerate(self._records()) if place in latest)
        elif resolve == "adjudicated":
            chosen = self._adjudicated()
        else:
            chosen = self._by_annotators() if resolve in AMONG_ANNOTATORS else self._records()
        batch: list[Record] = []
        for record in chain(chosen, self._records_of_sources()):
            batch.append(record)
            if len(batch) >= RECORDS_AT_ONCE:
                yield batch
                batch = []
        if batch:
            yield batch

    def by_trace(self, read: Callable[[Record], Answer | None]) -> Iterator[tuple[Record, list[Answer]]]:
        groups: dict[tuple[str, int], tuple[Record, list[Answer]]] = {}
        for record in self._by_annotators():
            if (answer := read(record)) is not None:
                key = (record.id, record.trace_version)
                if key not in groups:
                    groups[key] = (replace(record, annotations_text="{}"), [])
                groups[key][1].append(answer)
        yield from groups.values()

    def facts(self, records: RecordPaths, needs: Collection[Need]) -> Iterator[TraceFacts]:
        for record, _ in records:
            yield self._facts(record.trace)

    def trace_lines(self) -> Iterator[bytes]:
        if self._traces is not None and self._filters:
            records = chain(self._records(), self._records_of_sources())
            places = {record.trace for record in records if isinstance(record.trace, int)}
            for place in sorted(places):
                yield self._line(place, self._traces).rstrip(b"\r\n")
        elif self._traces is not None:
            with self._traces.open("rb") as file:
                for line in file:
                    if line.strip():
                        yield line.rstrip(b"\r\n")

    def configuration_sources(self) -> Sequence[tuple[int, str, str]]:
        if self._versions is None or not self._versions.is_file():
            return ()
        versions = []
        with self._versions.open("rb") as file:
            for place, line in enumerate(file, 1):
                entry = parsed_object(line, f"{VERSIONS} line {place}")
                number, text, note = (entry.get(key) for key in ("version", "source", "note"))
                if not (isinstance(number, int) and isinstance(text, str) and isinstance(note, str)):
                    raise RecordsError(f"{VERSIONS} line {place} must have a version, a source and a note.")
                versions.append((number, text, note))
        return sorted(versions)

    def configuration_text(self) -> str | None:
        """The YAML of the newest configuration; None where there is none."""
        if sources := self.configuration_sources():
            return sources[-1][1]
        if self._configuration is None or not self._configuration.is_file():
            return None
        return _text(self._configuration)

    def _records(self) -> Iterator[Record]:
        """What people said, as far as it counts."""
        for record in self._all_records():
            if record.source is None:
                kept = self._filters.kept(record, self._run) if self._filters else record
                if kept is not None:
                    yield kept

    def _records_of_sources(self) -> Iterator[Record]:
        """What the chosen automated sources answered. Raises RecordsError, after the last one, for one without any."""
        chosen = self._filters.sources
        if not chosen:
            return
        there: dict[AutomatedSource, None] = {}
        for record in self._all_records():
            if record.source is not None:
                there[record.source] = None
                if (kept := self._filters.kept(record, self._run)) is not None:
                    yield kept
        for name in chosen:
            if not any(source.is_named([name]) for source in there):
                known = ", ".join(f"{source.name} {source.version}" for source in there) or "none"
                raise RecordsError(
                    f"{self._files.annotations} has no answers of the automated source {name!r}. Sources in it: "
                    f"{known}."
                )

    def _all_records(self) -> Iterator[Record]:
        places = self._places
        for where, value in self._files.objects():
            yield read_record(value, where, places)

    def _run(self, place: Hashable) -> AgentRun | None:
        return self._facts(place).run

    def _by_annotators(self) -> Iterator[Record]:
        return (record for record in self._records() if record.kind != "adjudication")

    def _adjudicated(self) -> Iterator[Record]:
        is_any = False
        for record in self._records():
            if record.kind == "adjudication":
                is_any = True
                yield record
        if not is_any:
            raise RecordsError(
                f"{self._files.annotations} has no adjudicated annotation. Use --resolve all, or adjudicate first."
            )

    def _latest(self) -> Iterator[int]:
        latest: dict[tuple[str, int], tuple[str, int]] = {}
        for place, record in enumerate(self._records()):
            key = (record.id, record.trace_version)
            # What was made nobody knows when comes before everything that has a time.
            at = "" if record.timestamp == UNKNOWN else record.timestamp
            latest[key] = max(latest.get(key, ("", -1)), (at, place))
        return (place for _, place in latest.values())

    @cached_property
    def _places(self) -> dict[tuple[str, int], int]:
        """Where each trace stands in the file of traces, by id and version, as the number of its entry in _offsets."""
        self._offsets = array("Q")
        places: dict[tuple[str, int], int] = {}
        for key, offset, _ in self._files.trace_entries():
            places[key] = len(self._offsets)
            self._offsets.append(offset)
        return places

    def _facts(self, place: Hashable) -> TraceFacts:
        if not isinstance(place, int) or self._traces is None:
            return NO_TRACE
        if place not in self._kept:
            self._kept[place] = _read_facts(self._line(place, self._traces))
            if len(self._kept) > TRACES_KEPT:
                self._kept.popitem(last=False)
        self._kept.move_to_end(place)
        return self._kept[place]

    def _line(self, place: int, traces: Path) -> bytes:
        with traces.open("rb") as file:
            file.seek(self._offsets[place])
            return file.readline()


@dataclass(frozen=True)
class RunFacts:
    """What a run as it was imported says."""

    run: AgentRun
    reports: Sequence[Mapping[str, Any]] = ()

    @property
    def task_description(self) -> str | None:
        return self.run.task

    @property
    def agent_model(self) -> str:
        return self.run.agent_model

    @cached_property
    def _changes(self) -> Sequence[FileChange]:
        return derive(self.run).files

    @cached_property
    def evidence(self) -> Evidence:
        return Evidence.of(self._changes)

    @cached_property
    def linked_lines(self) -> LinkedLines:
        return linked_lines(self._changes)

    @cached_property
    def checks(self) -> TraceChecks:
        return TraceChecks(self.reports, last_outcome(test_runs(self.run)), [file.path for file in self._changes])

    def operation(self, path: str) -> str | None:
        file = self.evidence.files.get(path)
        return file.operation if file else None

    def file(self, path: str) -> JudgedFile | None:
        return self.evidence.files.get(path)


def parse_run(line: bytes) -> AgentRun | None:
    """The run of an archive's line; None for a line that is no trace."""
    try:
        return run_in(json.loads(line), ReadingOptions(bounds=BOUNDS))
    except ValueError:
        return None


def _read_facts(line: bytes) -> TraceFacts:
    """What the line of a trace says; a line that is no trace says nothing."""
    run = parse_run(line)
    return NO_TRACE if run is None else RunFacts(run, _reports_in(line))


def _reports_in(line: bytes) -> list[Mapping[str, Any]]:
    """The reports that stand beside the run, as the site wrote them. Others' are none."""
    if b',"reports":[' not in line:
        return []
    value = json.loads(line).get("reports")
    return value if isinstance(value, list) and all(map(is_report_record, value)) else []


def read_configuration(text: str, name: str) -> ProjectConfiguration:
    """The configuration in the YAML. Raises RecordsError with its errors."""
    checked = check_configuration(text, where="command")
    if checked.configuration is None:
        raise RecordsError("\n".join(f"{name}, {problem}" for problem in checked.errors))
    return checked.configuration


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise RecordsError(f"{path} is not UTF-8 text: byte {error.start} cannot be decoded.") from None
