"""Records and traces in files: an archive (folder or ZIP), a folder with annotations alone, or a lone file of records.

Pure: no Django and no database. Every answer about a file names it, with the line.
"""

import json
import shutil
import tempfile
import zipfile
from collections.abc import Collection, Hashable, Iterator, Mapping
from dataclasses import dataclass
from json.encoder import encode_basestring_ascii
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Literal, Self, TypeAlias

from potato.wording import UNKNOWN

ANNOTATIONS = "annotations.jsonl"
TRACES = "traces.jsonl"
CONFIGURATION = "config.yaml"
VERSIONS = "configurations.jsonl"
MANIFEST = "manifest.json"

Kind: TypeAlias = Literal["normal", "gold", "adjudication"]
KINDS: tuple[Kind, ...] = ("normal", "gold", "adjudication")
BY_PROGRAM = "token"
"""In a record's `via`: a program submitted it, by a token that acts for the person."""

_DOCUMENT_BYTES = 256 * 2**20

json_text = json.JSONEncoder(ensure_ascii=True, separators=(",", ":")).encode
"""Compact JSON. All beyond ASCII is escaped, so that NUL and lone surrogates survive every reader."""


json_string = encode_basestring_ascii
"""A text as `json_text` writes it, in a third of the time: 0.5 us less for each record."""


class RecordsError(Exception):
    """Records that cannot be read, selected or written; the sentence says to a person what, where and what to do."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence


@dataclass(frozen=True, slots=True)
class AutomatedSource:
    """A program that answered what people are asked. Another model or version is another source."""

    name: str
    version: str
    model: str = ""
    kind: str = ""

    def is_named(self, names: Collection[str]) -> bool:
        """Whether one of the names is this source's, or its name with its version."""
        return self.name in names or f"{self.name} {self.version}" in names

    def as_json(self) -> dict[str, str]:
        return {"name": self.name, "model": self.model, "version": self.version, "kind": self.kind}


@dataclass(slots=True)
class Record:
    """One annotation. Nothing changes it; a frozen class would only take three times as long to make it.

    `annotations_text` is its part of the record as `json_text` writes it. `configuration_version` is
    the project's version that it was made under, None where the source does not say.
    `trace` is how the source finds the trace again, None where it has none. `active_seconds` is how long the person was
    at work, None where nobody knows. `via` is BY_PROGRAM where a program submitted it for the person, else None.
    `corrected_by` is the reviewer whose revision it is, None where it is the annotator's own. `source` is the program
    that answered, or the person in another tool, None where a person here did; a source's record has no annotator.
    `origin` is where a record of another tool comes from (tool, file, id, author), None for all others. `batch` is the
    number of the batch in which its trace was when it was annotated, None in none, or where the source does not say.
    """

    id: str
    annotator: str
    timestamp: str
    annotations_text: str
    trace_version: int = 1
    configuration_version: int | None = None
    kind: Kind = "normal"
    trace: Hashable = None
    active_seconds: int | None = None
    via: str | None = None
    source: AutomatedSource | None = None
    corrected_by: str | None = None
    origin: Mapping[str, str] | None = None
    batch: int | None = None
    _parsed: dict[str, Any] | None = None

    @property
    def annotations(self) -> dict[str, Any]:
        if self._parsed is None:
            self._parsed = json.loads(self.annotations_text)
        return self._parsed

    @property
    def text(self) -> str:
        """The documented record as one line of JSON, without the line's end."""
        version = f',"trace_version":{self.trace_version}' if self.trace_version > 1 else ""
        if self.source is not None:
            at = "" if self.timestamp == UNKNOWN else f',"timestamp":{json_string(self.timestamp)}'
            origin = f',"origin":{json_text(self.origin)}' if self.origin else ""
            return (
                f'{{"id":{json_string(self.id)}{version},"source":{json_text(self.source.as_json())}{origin}{at},'
                f'"annotations":{self.annotations_text}}}'
            )
        active = f',"active_seconds":{self.active_seconds}' if self.active_seconds is not None else ""
        via = f',"via":{json_string(self.via)}' if self.via is not None else ""
        corrected = f',"corrected_by":{json_string(self.corrected_by)}' if self.corrected_by is not None else ""
        return (
            f'{{"id":{json_string(self.id)}{version},"annotator":{json_string(self.annotator)},"timestamp":'
            f'{json_string(self.timestamp)}{active}{via}{corrected},"annotations":{self.annotations_text}}}'
        )

    @property
    def archived_text(self) -> str:
        """The same with what an archive says beside it: the version, the kind and the batch."""
        return self.text[:-1] + archived_end(self.configuration_version, self.kind, self.batch)


def archived_end(version: int | None, kind: Kind, batch: int | None) -> str:
    """How the line of a record ends in an archive, behind its annotations."""
    made_under = "" if version is None else f',"configuration_version":{version}'
    other_kind = "" if kind == "normal" else f',"kind":{json_string(kind)}'
    placed = "" if batch is None else f',"batch":{batch}'
    return f"{made_under}{other_kind}{placed}}}"


class RecordFiles:
    """The files at a path. `folder` is None for a lone file of records, and `traces` where no file has any.

    A ZIP is unpacked to where it can be read at any place; closing this removes what was unpacked. Raises RecordsError
    for a path without annotations.
    """

    def __init__(self, path: Path) -> None:
        self._unpacked: tempfile.TemporaryDirectory[str] | None = None
        self.folder = self._folder(path)
        self.annotations = _annotations(path, self.folder)
        self.traces = self.folder / TRACES if self.folder and (self.folder / TRACES).is_file() else None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._unpacked:
            self._unpacked.cleanup()

    def objects(self) -> Iterator[tuple[str, Any]]:
        """The records of a file of lines, or of one document that is a record or a list of them, as they stand there,
        each with its place in words."""
        with self.annotations.open("rb") as file:
            if _is_document(file):
                yield from _document(self.annotations, file)
                return
            for place, line in enumerate(file, 1):
                if line.strip():
                    where = f"{self.annotations.name} line {place}"
                    yield where, parsed(line, where)

    def trace_entries(self) -> Iterator[tuple[tuple[str, int], int, dict[str, Any]]]:
        """The traces in their order: id and version, where the line begins in bytes, and what it says."""
        if self.traces is None:
            return
        versions: dict[str, int] = {}
        offset = 0
        with self.traces.open("rb") as file:
            for place, line in enumerate(file, 1):
                if line.strip():
                    entry = parsed_object(line, f"{TRACES} line {place}")
                    name, version = entry.get("external_id", entry.get("id")), entry.get("trace_version")
                    if not isinstance(name, str):
                        raise RecordsError(f"{TRACES} line {place}: id must be text.")
                    # Whoever writes no version writes the versions of a trace one after another.
                    version = version if isinstance(version, int) else versions.get(name, 0) + 1
                    versions[name] = version
                    yield (name, version), offset, entry
                offset += len(line)

    def _folder(self, path: Path) -> Path | None:
        if path.is_dir():
            return path
        if not path.is_file():
            raise RecordsError(f"There is no file or folder {path}.")
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


def read_record(value: Any, where: str, places: dict[tuple[str, int], int] | None = None) -> Record:
    """A record out of JSON. One without an annotator or a timestamp, as the process reward documentation prints them,
    has "unknown" there. Raises RecordsError for what is no record."""
    if not isinstance(value, dict):
        raise RecordsError(f"{where} is not a JSON object, so it is no annotation.")
    if not isinstance(value.get("id"), str):
        raise RecordsError(f"{where}: id must be text. A record has id, annotator, timestamp and annotations.")
    for key in ("annotator", "timestamp"):
        if not isinstance(value.get(key), str | None):
            raise RecordsError(f"{where}: {key} must be text, or left out where it is not known.")
    if not isinstance(value.get("annotations"), dict):
        raise RecordsError(f"{where}: annotations must be an object with a part for each scheme.")
    version, made_under = value.get("trace_version", 1), value.get("configuration_version")
    kind, batch = value.get("kind", "normal"), value.get("batch")
    if not _is_number(version) or not (made_under is None or _is_number(made_under)):
        raise RecordsError(f"{where}: trace_version and configuration_version must be whole numbers from 1.")
    if not (batch is None or _is_number(batch)):
        raise RecordsError(f"{where}: batch must be a whole number from 1, or left out.")
    if kind not in KINDS:
        raise RecordsError(f"{where}: kind must be one of {', '.join(KINDS)}.")
    active = value.get("active_seconds")
    if active is not None and (isinstance(active, bool) or not isinstance(active, int) or active < 0):
        raise RecordsError(f"{where}: active_seconds must be a whole number of seconds, or left out.")
    via = value.get("via")
    if via not in (None, BY_PROGRAM):
        raise RecordsError(f"{where}: via must be {BY_PROGRAM!r}, or left out.")
    if not isinstance(value.get("corrected_by"), str | None):
        raise RecordsError(f"{where}: corrected_by must be the name of a reviewer, or left out.")
    origin = value.get("origin")
    if origin is not None and not (isinstance(origin, dict) and all(isinstance(one, str) for one in origin.values())):
        raise RecordsError(f"{where}: origin must be an object of texts: tool, file, id and author.")
    known: Kind = kind
    source = _source(value["source"], where) if value.get("source") is not None else None
    return Record(
        id=value["id"],
        annotator=_or_unknown(value.get("annotator")) if source is None else "",
        timestamp=_or_unknown(value.get("timestamp")),
        annotations_text=json_text(value["annotations"]),
        trace_version=version,
        configuration_version=made_under,
        kind=known,
        trace=(places or {}).get((value["id"], version)),
        active_seconds=active,
        via=via,
        source=source,
        corrected_by=value.get("corrected_by"),
        origin=origin,
        batch=batch,
    )


def _source(value: Any, where: str) -> AutomatedSource:
    if not isinstance(value, Mapping) or not all(isinstance(text, str) for text in value.values()):
        raise RecordsError(f"{where}: source must be an object of texts: name, version, and model and kind.")
    if not value.get("name") or not value.get("version"):
        raise RecordsError(f"{where}: source must have a name and a version.")
    return AutomatedSource(value["name"], value["version"], value.get("model", ""), value.get("kind", ""))


def _or_unknown(text: str | None) -> str:
    return UNKNOWN if text is None else text


def parsed_object(line: bytes, where: str) -> dict[str, Any]:
    """The JSON object of a line. Raises RecordsError where it is none."""
    value = parsed(line, where)
    if not isinstance(value, dict):
        raise RecordsError(f"{where} is not a JSON object.")
    return value


def parsed(data: bytes, where: str) -> Any:
    """The JSON, without the numbers that JSON does not have. Raises RecordsError where it is none."""
    try:
        return json.loads(data, parse_constant=_no_constant)
    except UnicodeDecodeError as error:
        raise RecordsError(f"{where} is not UTF-8: byte {error.start} cannot be decoded.") from None
    except json.JSONDecodeError as error:
        raise RecordsError(f"{where} is not JSON: {error.msg} at line {error.lineno}, column {error.colno}.") from None
    except (ValueError, RecursionError) as error:
        raise RecordsError(f"{where} is not JSON that can be read: {error}.") from None


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no number of JSON")


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def _annotations(path: Path, folder: Path | None) -> Path:
    if folder is None:
        return path
    annotations = folder / ANNOTATIONS
    if not annotations.is_file():
        raise RecordsError(
            f"{path} has no {ANNOTATIONS}. Name an archive, a folder with {ANNOTATIONS}, or a file of records."
        )
    return annotations


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
        raise RecordsError(
            f"{path.name} is one document of over {_DOCUMENT_BYTES >> 20} MiB. Write a record a line (JSONL)."
        )
    document = parsed(data, path.name)
    if not isinstance(document, list):
        yield path.name, document
        return
    for place, value in enumerate(document, 1):
        yield f"{path.name} record {place}", value
