"""Reads records, traces and configurations from files: an archive, a folder with annotations alone, or a lone file.

Pure: no Django and no database. Every answer about a file names it, with the line.
"""

import json
import shutil
import tempfile
import zipfile
from array import array
from collections import OrderedDict
from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self

from accounts.configuration import ProjectConfiguration, check_configuration
from exports.formats.archive import ANNOTATIONS, CONFIGURATION, TRACES, VERSIONS
from exports.formats.records import (
    KINDS,
    NO_TRACE,
    Answer,
    Kind,
    Need,
    Project,
    Record,
    Refusal,
    Resolve,
    TraceFacts,
    Wanted,
    json_text,
)
from traces.changes.derive import derive
from traces.changes.places import Evidence, JudgedFile
from traces.converters.native import Native
from traces.runs import Bounds, Converted, ReadingOptions
from traces.sources import BytesSource

RECORDS_AT_ONCE = 500
TRACES_KEPT = 8
_DOCUMENT_BYTES = 256 * 2**20
_LINE_BYTES = 512 * 2**20
BOUNDS = Bounds(line_bytes=_LINE_BYTES, document_bytes=_LINE_BYTES)
"""A line of an archive holds a whole run."""


class Folder:
    """A source of records out of files. `configuration` is used where the path brings none, and instead of its own.

    Closing it removes what was unpacked.
    """

    def __init__(self, path: Path, configuration: Path | None = None) -> None:
        self._unpacked: tempfile.TemporaryDirectory[str] | None = None
        folder = self._folder(path)
        self._annotations = _annotations(path, folder)
        self._traces = folder / TRACES if folder and (folder / TRACES).is_file() else None
        self._versions = folder / VERSIONS if folder and not configuration else None
        self._configuration = configuration or (folder / CONFIGURATION if folder else None)
        if configuration and not configuration.is_file():
            raise Refusal(f"There is no file {configuration}.")
        self._kept: OrderedDict[int, TraceFacts] = OrderedDict()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._unpacked:
            self._unpacked.cleanup()

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

    def records(self, resolve: Resolve, *, held: bool) -> Iterator[Sequence[Record]]:
        chosen: Iterator[Record]
        if resolve == "latest":
            wanted = set(self._latest())
            chosen = (record for place, record in enumerate(self._records()) if place in wanted)
        elif resolve == "adjudicated":
            chosen = self._adjudicated()
        else:
            chosen = self._records()
        portion: list[Record] = []
        for record in chosen:
            portion.append(record)
            if len(portion) >= RECORDS_AT_ONCE:
                yield portion
                portion = []
        if portion:
            yield portion

    def by_trace(self, read: Callable[[Record], Answer | None]) -> Iterator[tuple[Record, list[Answer]]]:
        groups: dict[tuple[str, int], tuple[Record, list[Answer]]] = {}
        for record in self._records():
            if (answer := read(record)) is not None:
                key = (record.id, record.trace_version)
                if key not in groups:
                    groups[key] = (replace(record, annotations_text="{}"), [])
                groups[key][1].append(answer)
        yield from groups.values()

    def facts(self, wanted: Wanted, needs: Collection[Need]) -> Iterator[TraceFacts]:
        for record, _ in wanted:
            yield self._facts(record.trace)

    def trace_lines(self) -> Iterator[bytes]:
        if self._traces is not None:
            with self._traces.open("rb") as file:
                for line in file:
                    if line.strip():
                        yield line.rstrip(b"\r\n")

    def configuration_sources(self) -> Sequence[tuple[int, str, str]]:
        if self._versions is None or not self._versions.is_file():
            return ()
        found = []
        with self._versions.open("rb") as file:
            for place, line in enumerate(file, 1):
                entry = _parsed(line, f"{VERSIONS} line {place}")
                number, text, note = (entry.get(key) for key in ("version", "source", "note"))
                if not (isinstance(number, int) and isinstance(text, str) and isinstance(note, str)):
                    raise Refusal(f"{VERSIONS} line {place} must have a version, a source and a note.")
                found.append((number, text, note))
        return sorted(found)

    def configuration_text(self) -> str | None:
        """The YAML of the newest configuration; None where there is none."""
        if sources := self.configuration_sources():
            return sources[-1][1]
        if self._configuration is None or not self._configuration.is_file():
            return None
        return _text(self._configuration)

    def _folder(self, path: Path) -> Path | None:
        """The folder to read, None for a lone file. A ZIP is unpacked to where it can be read at any place."""
        if path.is_dir():
            return path
        if not path.is_file():
            raise Refusal(f"There is no file or folder {path}.")
        if not zipfile.is_zipfile(path):
            return None
        self._unpacked = tempfile.TemporaryDirectory(prefix="potato-archive-")
        folder = Path(self._unpacked.name)
        with zipfile.ZipFile(path) as archive:
            for name in (ANNOTATIONS, TRACES, CONFIGURATION, VERSIONS):
                if name in archive.namelist():
                    with archive.open(name) as packed, (folder / name).open("wb") as file:
                        shutil.copyfileobj(packed, file, 2**20)
        return folder

    def _records(self) -> Iterator[Record]:
        places = self._places
        for where, value in _objects(self._annotations):
            yield read_record(value, where, places)

    def _adjudicated(self) -> Iterator[Record]:
        found = False
        for record in self._records():
            if record.kind == "adjudication":
                found = True
                yield record
        if not found:
            raise Refusal(f"{self._annotations} has no adjudicated annotation. Use --resolve all, or adjudicate first.")

    def _latest(self) -> Iterator[int]:
        latest: dict[tuple[str, int], tuple[str, int]] = {}
        for place, record in enumerate(self._records()):
            key = (record.id, record.trace_version)
            latest[key] = max(latest.get(key, ("", -1)), (record.timestamp, place))
        return (place for _, place in latest.values())

    @cached_property
    def _places(self) -> dict[tuple[str, int], int]:
        """Where each trace stands in the file of traces, by id and version, as the number of its entry in _offsets."""
        self._offsets = array("Q")
        found: dict[tuple[str, int], int] = {}
        if self._traces is None:
            return found
        versions: dict[str, int] = {}
        offset = 0
        with self._traces.open("rb") as file:
            for place, line in enumerate(file, 1):
                if line.strip():
                    entry = _parsed(line, f"{TRACES} line {place}")
                    name, version = entry.get("external_id", entry.get("id")), entry.get("trace_version")
                    if not isinstance(name, str):
                        raise Refusal(f"{TRACES} line {place}: id must be text.")
                    # Whoever writes no version writes the versions of a trace one after another.
                    version = version if isinstance(version, int) else versions.get(name, 0) + 1
                    versions[name] = version
                    found[name, version] = len(self._offsets)
                    self._offsets.append(offset)
                offset += len(line)
        return found

    def _facts(self, place: Hashable) -> TraceFacts:
        if not isinstance(place, int) or self._traces is None:
            return NO_TRACE
        if place not in self._kept:
            self._kept[place] = _facts_of(self._line(place, self._traces))
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

    task_description: str | None
    agent_model: str
    evidence: Evidence

    def operation(self, path: str) -> str | None:
        file = self.evidence.files.get(path)
        return file.operation if file else None

    def file(self, path: str) -> JudgedFile | None:
        return self.evidence.files.get(path)


def _facts_of(line: bytes) -> TraceFacts:
    """What the line of a trace says; a line that is no trace says nothing."""
    read = next(iter(Native().read(BytesSource(TRACES, line, BOUNDS), ReadingOptions(bounds=BOUNDS))), None)
    if not isinstance(read, Converted):
        return NO_TRACE
    return RunFacts(read.run.task, read.run.agent_model, Evidence.of(derive(read.run).files))


def read_record(value: Any, where: str, places: dict[tuple[str, int], int] | None = None) -> Record:
    """A record out of JSON. Raises Refusal where it is none."""
    if not isinstance(value, dict):
        raise Refusal(f"{where} is not a JSON object, so it is no annotation.")
    for key in ("id", "annotator", "timestamp"):
        if not isinstance(value.get(key), str):
            raise Refusal(f"{where}: {key} must be text. A record has id, annotator, timestamp and annotations.")
    if not isinstance(value.get("annotations"), dict):
        raise Refusal(f"{where}: annotations must be an object with a part for each scheme.")
    version, made_under = value.get("trace_version", 1), value.get("configuration_version")
    kind = value.get("kind", "normal")
    if not _is_number(version) or not (made_under is None or _is_number(made_under)):
        raise Refusal(f"{where}: trace_version and configuration_version must be whole numbers from 1.")
    if kind not in KINDS:
        raise Refusal(f"{where}: kind must be one of {', '.join(KINDS)}.")
    known: Kind = kind
    return Record(
        id=value["id"],
        annotator=value["annotator"],
        timestamp=value["timestamp"],
        annotations_text=json_text(value["annotations"]),
        trace_version=version,
        configuration_version=made_under,
        kind=known,
        trace=(places or {}).get((value["id"], version)),
    )


def read_configuration(text: str, name: str) -> ProjectConfiguration:
    """The configuration in the YAML. Raises Refusal with its errors."""
    checked = check_configuration(text, where="command")
    if checked.configuration is None:
        raise Refusal("\n".join(f"{name}, {problem}" for problem in checked.errors))
    return checked.configuration


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def _annotations(path: Path, folder: Path | None) -> Path:
    if folder is None:
        return path
    found = folder / ANNOTATIONS
    if not found.is_file():
        raise Refusal(
            f"{path} has no {ANNOTATIONS}. Name an archive, a folder with {ANNOTATIONS}, or a file of records."
        )
    return found


def _objects(path: Path) -> Iterator[tuple[str, Any]]:
    """The records of a file of lines, or of one document that is a record or a list of them, each with its place."""
    with path.open("rb") as file:
        if _is_document(file):
            yield from _document(path, file)
            return
        for place, line in enumerate(file, 1):
            if line.strip():
                where = f"{path.name} line {place}"
                yield where, _json(line, where)


def _is_document(file: BinaryIO) -> bool:
    """Whether the file's first line is not whole JSON, or is a list."""
    first = b""
    while not first.strip() and (line := file.readline(_DOCUMENT_BYTES)):
        first = line
    file.seek(0)
    try:
        return isinstance(json.loads(first or b"{}"), list)
    except ValueError:
        # The broken first line of a file of lines is told as such: the second one begins a record again.
        return not first.lstrip().startswith(b"{") or not first.rstrip().endswith(b"}")


def _document(path: Path, file: BinaryIO) -> Iterator[tuple[str, Any]]:
    data = file.read(_DOCUMENT_BYTES + 1)
    if len(data) > _DOCUMENT_BYTES:
        raise Refusal(
            f"{path.name} is one document of over {_DOCUMENT_BYTES >> 20} MiB. Write a record a line (JSONL)."
        )
    document = _json(data, path.name)
    if not isinstance(document, list):
        yield path.name, document
        return
    for place, value in enumerate(document, 1):
        yield f"{path.name} record {place}", value


def _parsed(line: bytes, where: str) -> dict[str, Any]:
    value = _json(line, where)
    if not isinstance(value, dict):
        raise Refusal(f"{where} is not a JSON object.")
    return value


def _json(data: bytes, where: str) -> Any:
    try:
        return json.loads(data, parse_constant=_no_constant)
    except UnicodeDecodeError as error:
        raise Refusal(f"{where} is not UTF-8: byte {error.start} cannot be decoded.") from None
    except json.JSONDecodeError as error:
        raise Refusal(f"{where} is not JSON: {error.msg} at line {error.lineno}, column {error.colno}.") from None
    except (ValueError, RecursionError) as error:
        raise Refusal(f"{where} is not JSON that can be read: {error}.") from None


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no number of JSON")


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise Refusal(f"{path} is not UTF-8 text: byte {error.start} cannot be decoded.") from None
