"""Writes an export to a file or folder in one go: whole, or not at all.

Pure: no Django and no database. Rows are streamed; what is held in memory is a batch of the records.
"""

import hashlib
import json
import os
import tempfile
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from importlib.metadata import PackageNotFoundError, version
from itertools import chain, repeat
from pathlib import Path, PurePosixPath
from platform import python_version
from typing import IO, Any

from potato.formats.compression import compressed, demand_compressible
from potato.formats.notes import Lines, Notes, kept_lines, noted
from potato.formats.registry import Format
from potato.records.archives import ANNOTATIONS, CONFIGURATION, MANIFEST, TRACES, VERSIONS
from potato.records.sources import NO_TRACE, LineKind, Record, RecordLines, RecordsError, RecordSource, json_text

SCHEMA_VERSION = 1
# Fast, and nearly as small: an archive of a large project is packed by one worker.
COMPRESSION_LEVEL = 1
BLOCK_BYTES = 2**18
ARCHIVE_FILES = (ANNOTATIONS, TRACES, CONFIGURATION, VERSIONS, MANIFEST)
_LONG_AGO = (1980, 1, 1, 0, 0, 0)
"""ZIPs of the same content have the same bytes."""


def software_versions() -> dict[str, str]:
    """What made a file, by the name of its package; those that are not installed are left out."""
    versions = {"python": python_version()}
    for name in ("potato-review", "pyarrow", "zstandard", "numpy"):
        with suppress(PackageNotFoundError):
            versions[name] = version(name)
    return versions


@dataclass
class Digest:
    """How many bytes went by, and their SHA-256."""

    size: int = 0

    def __post_init__(self) -> None:
        self._sha256 = hashlib.sha256()

    def passing(self, pieces: Iterable[bytes]) -> Iterator[bytes]:
        for piece in pieces:
            self.size += len(piece)
            self._sha256.update(piece)
            yield piece

    def beside(self, blocks: Iterable[bytes]) -> Iterator[bytes]:
        """As `passing`, for large blocks: a thread hashes each while the next one is made. Other threads run while one
        hashes, so that it costs no time where there is a second processor."""
        with ThreadPoolExecutor(1) as thread:
            hashing: Future[None] | None = None
            for block in blocks:
                if hashing is not None:
                    hashing.result()
                self.size += len(block)
                hashing = thread.submit(self._sha256.update, block)
                yield block

    def write(self, file: IO[bytes], blocks: Iterable[bytes]) -> None:
        """Write large blocks: a thread hashes and writes each while the next one is made, both of which let other
        threads run. Writing them took 0.8 us a record of the 16 of the thread that makes them."""

        def written(block: bytes) -> None:
            self._sha256.update(block)
            file.write(block)

        with ThreadPoolExecutor(1) as thread:
            writing: Future[None] | None = None
            for block in blocks:
                if writing is not None:
                    writing.result()
                self.size += len(block)
                writing = thread.submit(written, block)
            if writing is not None:
                writing.result()

    @property
    def sha256(self) -> str:
        return self._sha256.hexdigest()


@dataclass(frozen=True)
class Manifest:
    """What a file of an export holds: how it was chosen, how much it is, and how to tell that it is whole."""

    schema_version: int
    format: str
    options: dict[str, Any]
    rows: int
    bytes: int
    sha256: str
    left_out: dict[str, int]
    counts: dict[str, int]
    remarks: list[str]
    consensus: dict[str, Any] | None = None
    software: dict[str, str] = field(default_factory=software_versions)

    def as_json(self) -> dict[str, Any]:
        members = asdict(self)
        if self.consensus is None:
            del members["consensus"]
        return members


def write_rows(format: Format, source: RecordSource, batch: Iterable[Record]) -> Iterator[bytes]:
    """The rows of some records, record by record, or many at once where the format has the lines of records alone."""
    if format.lines and isinstance(batch, RecordLines):
        return _lines(format, format.lines, batch)
    if not format.needed:
        return map(format.write, batch, repeat(NO_TRACE))
    records = list(batch)
    # A record comes before its facts, so that none are made for a record that is not there.
    return map(
        format.write, records, source.facts([(record, format.paths(record)) for record in records], format.needed)
    )


def _lines(format: Format, kind: LineKind, batch: RecordLines) -> Iterator[bytes]:
    for many, lines in batch.lines(kind):
        format.state["rows"] += many
        yield lines


def write_body(format: Format, source: RecordSource) -> Iterator[bytes]:
    """All rows of the source. Raises RecordsError where there are none."""
    if not source.names_every_version:
        for batch in source.records(format.resolve, buffered=False):
            for record in batch:
                format.scan(record)
    for batch in source.records(format.resolve, buffered=bool(format.needed)):
        yield from in_blocks(write_rows(format, source, batch))
    format.finish(source)
    if not format.gathers:
        demand_rows(format)


def demand_rows(format: Format) -> None:
    """Raises RecordsError where the file would have no row."""
    if not format.rows:
        raise RecordsError(f"{format.nothing()} {describe_left_out(format)}".rstrip())


def demand_traces(format: Format, source: RecordSource) -> None:
    """Raises RecordsError where the format needs traces and there are none."""
    if format.needs_traces and not source.has_traces:
        raise RecordsError(
            f"There is no {TRACES}, and {format.name} needs it: only traces know their steps, tasks and patches. "
            f"Put it beside {ANNOTATIONS}, or name an archive that has both (-f archive writes one)."
        )


def describe_left_out(format: Format) -> str:
    """What is not in the file, as a sentence; "" where nothing was left out."""
    return left_out_in_words(format.left_out)


def left_out_in_words(left_out: Mapping[str, int]) -> str:
    """The counts of a manifest as that sentence."""
    counts = (f"{many:,} {reason.replace('_', ' ')}" for reason, many in sorted(left_out.items()))
    listed = ", ".join(counts)
    return f"Left out: {listed}." if listed else ""


def build_manifest(format: Format, digest: Digest) -> Manifest:
    return Manifest(
        schema_version=SCHEMA_VERSION,
        format=format.name,
        options=chosen_options(format),
        rows=format.rows,
        bytes=digest.size,
        sha256=digest.sha256,
        left_out=format.left_out,
        counts=format.counts,
        remarks=format.remarks(),
        consensus=format.consensus,
    )


def in_blocks(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The same bytes in larger pieces, for what costs its time a piece: hashes, files."""
    block: list[bytes] = []
    left = BLOCK_BYTES
    for piece in pieces:
        block.append(piece)
        left -= len(piece)
        if left <= 0:
            yield b"".join(block)
            block, left = [], BLOCK_BYTES
    if block:
        yield b"".join(block)


def chosen_options(format: Format) -> dict[str, Any]:
    options: dict[str, Any] = format.chosen.chosen()
    return options


def write_export(format: Format, source: RecordSource, path: Path) -> Manifest:
    """Write the export to the path. An archive is a ZIP where the path ends so, else a folder; where the path is a
    folder, a format of several files writes them into it.

    Missing folders are made. Raises RecordsError, and leaves no file, where nothing is selected.
    """
    demand_traces(format, source)
    is_folder = names_folder(path) and (format.in_folders or format.is_archive)
    suffix = ".zip" if is_folder else format.kind_of_file(chosen_options(format))[0]
    demand_compressible(format.name, format.chosen.compression, suffix)
    path.parent.mkdir(parents=True, exist_ok=True)
    if format.in_folders and names_folder(path):
        return _write_files(format, source, path)
    if not format.is_archive:
        return _write_file(format, source, path)
    if path.is_dir() or path.suffix.lower() != ".zip":
        return write_folder(format, source, path)
    digest = Digest()
    with _beside(path) as file:
        file.writelines(zipped_archive(format, archive_members(format, source)))
        file.seek(0)
        for _ in digest.passing(_blocks(file)):
            pass
    return build_manifest(format, digest)


def names_folder(path: Path) -> bool:
    """Whether a path to write to is a folder: one that is there, or a name without a suffix."""
    return path.is_dir() or not path.suffix


def files_written(format: type[Format], path: Path) -> list[Path]:
    """The files that an export to the path may write, where that is known before."""
    if format.is_archive and (path.is_dir() or path.suffix.lower() != ".zip"):
        return [path / name for name in ARCHIVE_FILES]
    if format.in_folders and names_folder(path):
        return []
    return [path]


def write_folder(format: Format, source: RecordSource, folder: Path) -> Manifest:
    """Write an archive as a folder of files, without those of an earlier archive that this one has not.

    The manifest's size and hash are those of its annotations.
    """
    contents = write_into(folder, format, archive_members(format, source), MANIFEST)
    manifest = build_manifest(format, contents[ANNOTATIONS])
    others = [name for name in ARCHIVE_FILES if name not in {*contents, MANIFEST} and (folder / name).exists()]
    remarks = (
        f"{folder / name} is not of this export and was left; who reads the folder reads it too." for name in others
    )
    return replace(manifest, remarks=[*manifest.remarks, *remarks])


def write_into(
    folder: Path, format: Format, members: Iterable[tuple[str, Iterable[bytes]]], manifest: str
) -> dict[str, Digest]:
    """Write files into a folder, with a manifest of that name; answers what was written.

    What an earlier export of this format wrote there and this one does not goes; a file that somebody else wrote, or
    changed since, stays.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".export-", dir=folder) as unfinished:
        contents: dict[str, Digest] = {}
        for name, pieces in members:
            digest = contents[name] = Digest()
            (Path(unfinished) / name).parent.mkdir(parents=True, exist_ok=True)
            with (Path(unfinished) / name).open("wb") as file:
                file.writelines(digest.passing(pieces))
        (Path(unfinished) / manifest).write_bytes(archive_manifest(format, contents))
        for name in _written_before(folder, format, manifest) - contents.keys():
            (folder / name).unlink()
        for name in (*contents, manifest):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (Path(unfinished) / name).replace(folder / name)
    return contents


def _written_before(folder: Path, format: Format, manifest: str) -> set[str]:
    """The files that the manifest in the folder says were written by this format, as far as they are still the same."""
    try:
        known = json.loads((folder / manifest).read_bytes())
        files = known["files"] if known["format"] == format.name else {}
        hashes = {name: entry["sha256"] for name, entry in files.items() if _is_own(name, format)}
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        # There is none, or somebody else's.
        return set()
    return {name for name, sha256 in hashes.items() if _file_hash(folder / name) == sha256}


def _is_own(name: str, format: Format) -> bool:
    """Whether a name in a manifest names a file of the manifest's folder, or of a folder there that is the format's."""
    path = PurePosixPath(name)
    return path.name == name or (str(path) == name and str(path.parent) in format.folders)


def _file_hash(path: Path) -> str | None:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None


def archive_members(format: Format, source: RecordSource) -> Iterator[tuple[str, Iterable[bytes]]]:
    """The files of an archive but the manifest, each to be written before the next is asked for."""
    yield ANNOTATIONS, write_body(format, source)
    if first := next(lines := source.trace_lines(), None):
        yield TRACES, (line + b"\n" for block in ((first,), lines) for line in block)
    yield from configuration_members(source)


def configuration_members(source: RecordSource) -> Iterator[tuple[str, Iterable[bytes]]]:
    if newest := source.configuration_text():
        yield CONFIGURATION, [newest.encode("utf-8")]
    if versions := source.configuration_sources():
        lines = ({"version": number, "source": text, "note": note} for number, text, note in versions)
        yield VERSIONS, [f"{json_text(line)}\n".encode("ascii") for line in lines]


def zipped_archive(format: Format, members: Iterable[tuple[str, Iterable[bytes]]]) -> Iterator[bytes]:
    """A ZIP of the members and their manifest, block by block."""
    contents: dict[str, Digest] = {}

    def with_manifest() -> Iterator[tuple[str, Iterable[bytes]]]:
        for name, pieces in members:
            digest = contents[name] = Digest()
            yield name, digest.passing(pieces)
        yield MANIFEST, [archive_manifest(format, contents)]

    return zipped(with_manifest())


def zipped(members: Iterable[tuple[str, Iterable[bytes]]]) -> Iterator[bytes]:
    """A ZIP of the members, block by block: of the same content the same blocks, however its pieces are cut."""
    pieces = _Pieces()
    with zipfile.ZipFile(pieces, "w", zipfile.ZIP_DEFLATED, compresslevel=COMPRESSION_LEVEL) as archive:  # type: ignore[call-overload]
        for name, content in members:
            # A small file is written in one go: no room is kept for the size of a large one.
            with archive.open(_entry(name), "w", force_zip64=not isinstance(content, list)) as packed:
                for piece in in_blocks(content):
                    packed.write(piece)
                    yield from pieces.blocks()
    yield from pieces.blocks(is_over=True)


class _Pieces:
    """A file that is written to, and read in blocks of one size; it cannot be gone back in."""

    def __init__(self) -> None:
        self._written = bytearray()

    def write(self, data: bytes) -> int:
        self._written += data
        return len(data)

    def flush(self) -> None:
        """Nothing waits here."""

    def blocks(self, *, is_over: bool = False) -> Iterator[bytes]:
        """What is whole of what was written; at the end the rest, too."""
        while len(self._written) >= BLOCK_BYTES or (is_over and self._written):
            block = bytes(self._written[:BLOCK_BYTES])
            del self._written[:BLOCK_BYTES]
            yield block


def write_gathered(file: IO[bytes], format: Format, notes: Iterable[bytes], folder: Path) -> None:
    """The whole file of a format that gathers. Raises RecordsError where there is nothing in it."""
    with gathering(format, notes, folder) as (_, blocks):
        file.writelines(blocks)
    demand_rows(format)


@contextmanager
def gathering(format: Format, notes: Iterable[bytes], folder: Path) -> Iterator[tuple[Notes | Lines, Iterator[bytes]]]:
    """What a format that gathers wrote of the records, and the file that it makes of it, block by block: the same
    blocks whenever it is made again."""
    with _noted(format, notes, folder) as notes_or_lines:
        if format.zips:
            yield notes_or_lines, zipped(format.members(notes_or_lines))
        else:
            yield notes_or_lines, in_blocks(format.gathered(notes_or_lines))


def _noted(
    format: Format, pieces: Iterable[bytes], folder: Path
) -> AbstractContextManager[Notes] | AbstractContextManager[Lines]:
    """What the format wrote of the records, as it wants to read it."""
    return kept_lines(pieces, folder) if format.in_order else noted(pieces, folder)


def archive_manifest(format: Format, contents: dict[str, Digest]) -> bytes:
    manifest = {
        "schema_version": SCHEMA_VERSION,
        "format": format.name,
        "options": chosen_options(format),
        "rows": format.rows,
        **({"consensus": format.consensus} if format.consensus else {}),
        "files": {name: {"bytes": digest.size, "sha256": digest.sha256} for name, digest in contents.items()},
    }
    return json.dumps(manifest, indent=2).encode("ascii") + b"\n"


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, _LONG_AGO)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o600 << 16
    return entry


def _write_files(format: Format, source: RecordSource, folder: Path) -> Manifest:
    """The files of a format that writes several. The manifest's size and hash are those of all in their order."""
    digest = Digest()
    with tempfile.TemporaryFile(dir=folder.parent) as body:
        body.writelines(write_body(format, source))
        body.seek(0)
        with _noted(format, _blocks(body), folder.parent) as gathered:
            members = ((name, digest.passing(in_blocks(pieces))) for name, pieces in format.files(gathered))
            # Where there is nothing, not even the folder is made.
            first = next(members, None)
            demand_rows(format)
            write_into(folder, format, chain([first] if first else [], members), f"{format.name}.{MANIFEST}")
    return build_manifest(format, digest)


def _write_file(format: Format, source: RecordSource, path: Path) -> Manifest:
    digest, compression = Digest(), format.chosen.compression
    with tempfile.TemporaryFile(dir=path.parent) as body, _beside(path) as file:
        # What stands at the head may be known after the last row only.
        body.writelines(write_body(format, source))
        body.seek(0)
        if format.gathers:
            with tempfile.TemporaryFile(dir=path.parent) as whole:
                write_gathered(whole, format, _blocks(body), path.parent)
                whole.seek(0)
                file.writelines(digest.passing(compressed(_blocks(whole), compression)))
            return build_manifest(format, digest)
        pieces = chain([format.head()], _blocks(body), [format.tail()])
        file.writelines(digest.passing(compressed(pieces, compression)))
    return build_manifest(format, digest)


@contextmanager
def _beside(path: Path) -> Iterator[IO[bytes]]:
    """A file that takes its name when it is finished, and is gone when it is not."""
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
        try:
            yield file
            file.flush()
            os.fsync(file.fileno())
            os.chmod(file.name, 0o666 & ~_umask())
            os.replace(file.name, path)
        except BaseException:
            os.unlink(file.name)
            raise


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _blocks(file: IO[bytes]) -> Iterator[bytes]:
    while block := file.read(2**20):
        yield block
