"""The export of a project as a job: rows in parts to the storage, what is gathered of them, packed or compressed in
parts, too, then the whole file's hash, then the manifest.

Every part commits with the job's cursor, and reads what the snapshot of the first part had seen. So a killed worker
repeats one part, and the file is the same, whatever was annotated meanwhile.
"""

import errno
import gc
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from hashlib import sha256
from typing import IO, Any
from uuid import UUID

from django.conf import settings
from django.utils import timezone

from assignments.pool.progress import released_batches
from exports import storage
from exports.making import remove_left_over, resumed, wait
from exports.models import Export
from exports.policies import pseudonyms, retention, usage
from exports.record_chunks import RecordChunk
from exports.stored import StoredProject
from jobs import outbox
from jobs.kinds import SECONDS_A_PART, JobFailed, Part
from jobs.models import Job, OutboxEvent
from potato.formats.compression import compressed
from potato.formats.notes import Lines, Notes
from potato.formats.options import Options, read_options
from potato.formats.registry import Format, format_named
from potato.formats.writing import (
    SCHEMA_VERSION,
    Digest,
    chosen_options,
    configuration_members,
    demand_rows,
    gathering,
    in_blocks,
    software_versions,
    write_rows,
    zipped_archive,
)
from potato.records.archives import ANNOTATIONS, TRACES
from potato.records.sources import RecordsError
from tenancy import audit
from tenancy.actor import current, on_commit
from tenancy.snapshots import Snapshot

EXPORT_FINISHED = "export.finished"

BYTES_A_PART: int = settings.EXPORT_BYTES_A_PART
BUFFER_BYTES = 2**20


class ExportAnnotations:
    """Job parameters: `export`, the id of an Export. Fails where nothing is selected."""

    name = "export_annotations"
    label = "Export of annotations"
    queue = "exports"

    def run_part(self, job: Job) -> Part:
        export = Export.objects.select_related("project").get(pk=job.parameters["export"])
        if (kept := usage()).is_full:
            raise JobFailed(f"{kept.sentence} Nothing of this export was kept.")
        try:
            cursor = dict(job.cursor) if job.cursor else _begin(export)
            work = _Work(export, cursor, job.fencing_token)
            match cursor["phase"]:
                case "rows" | "answers":
                    work.write_rows()
                case "traces":
                    work.write_traces()
                case "gather" | "pack" | "compress":
                    work.write_made()
                case "end" if work.is_compressed:
                    work.close()
                    cursor["phase"] = "compress"
                case _:
                    return work.finish()
        except RecordsError as refusal:
            raise JobFailed(refusal.sentence) from refusal
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise JobFailed(
                    "The site's disk for exports is full, and nothing of this export was kept. Tell the site's "
                    "operators, then start it again."
                ) from error
            raise
        export.save(update_fields=["rows", "bytes", "parts"])
        done = cursor["records"] + cursor["traces"] + cursor["gathered"]
        return Part(cursor=cursor, progress=done, total=max(cursor["total"], done))


def _begin(export: Export) -> dict[str, Any]:
    """The cursor of the first part: the moment, and how many records, and traces in an archive, there are to be."""
    snapshot = Snapshot.now()
    source = _open_source(export, snapshot)
    kind = format_named(export.format)
    traces = source.count_traces() if kind.is_archive else 0
    records = source.count(export.options.get("resolve", "all"))
    # What is noted of each record is read once more.
    gathered = records if kind(source.project, _chosen(export)).gathers else 0
    return {
        "phase": "rows" if _chosen(export).filters.people else "answers",
        "key_id": pseudonyms().key_id if _chosen(export).pseudonyms == "yes" else "",
        "snapshot": snapshot.as_json(),
        "after": None,
        "state": {},
        "records": 0,
        "answers": 0,
        "traces": 0,
        "gathered": 0,
        "made": 0,
        "total": records + traces + gathered,
    }


def earlier_snapshot(export: Export) -> Snapshot | None:
    """The moment since which the export has what is new; None for one with everything."""
    return Snapshot.from_json(export.since) if export.since else None


def _open_source(export: Export, snapshot: Snapshot) -> StoredProject:
    chosen = _chosen(export)
    names = pseudonyms() if chosen.pseudonyms == "yes" else None
    return StoredProject(
        export.project, current(), snapshot, earlier_snapshot(export), filters=chosen.filters, pseudonyms=names
    )


def _chosen(export: Export) -> Options:
    return read_options(format_named(export.format).options, export.options)


class _Work:
    """One part of an export. It changes the cursor and the export, which the caller keeps."""

    def __init__(self, export: Export, cursor: dict[str, Any], fencing_token: int) -> None:
        self._export = export
        self._cursor = cursor
        self._fencing_token = fencing_token
        self._snapshot = Snapshot.from_json(cursor["snapshot"])
        if (key_id := cursor.get("key_id")) and key_id != pseudonyms().key_id:
            raise RecordsError("The key of pseudonyms was replaced while the export was made. Export again.")
        self._source = _open_source(export, self._snapshot)
        kind = format_named(export.format)
        self._format: Format = kind(
            self._source.project, read_options(kind.options, export.options), deepcopy(cursor["state"]) or None
        )

    def write_rows(self) -> None:
        """Rows from the cursor on, until the part is large enough, or there are no more: of what people said, then of
        the answers of automated sources, where they are wanted."""
        format, cursor = self._format, self._cursor
        phase = cursor["phase"]
        records, ends = 0, time.monotonic() + SECONDS_A_PART
        with _buffer() as file, _without_collecting():
            digest = Digest()
            for chunk in self._chunks():
                digest.write(file, in_blocks(write_rows(format, self._source, chunk.records)))
                cursor["after"] = str(chunk.last_id)
                records += chunk.count
                if records >= settings.EXPORT_RECORDS_A_PART or digest.size >= BYTES_A_PART or time.monotonic() >= ends:
                    break
            else:
                cursor["after"] = None
                if phase == "rows" and format.chosen.filters.sources:
                    cursor["phase"] = "answers"
                else:
                    self._end_rows()
            self._keep(file, digest, ANNOTATIONS)
        cursor["records"] += records
        if phase == "answers":
            cursor["answers"] = cursor.get("answers", 0) + records
        cursor["state"] = format.state
        self._export.rows = format.rows

    def _chunks(self) -> Iterator[RecordChunk]:
        """The records behind the cursor, people's or the sources'."""
        after = UUID(self._cursor["after"]) if self._cursor["after"] else None
        at_most = settings.EXPORT_RECORDS_A_PART
        if self._cursor["phase"] == "answers":
            return self._source.source_answers.chunks(after=after, at_most=at_most)
        format = self._format
        return self._source.chunks(format.resolve, buffered=bool(format.needed), after=after, at_most=at_most)

    def _end_rows(self) -> None:
        """What comes after the last row."""
        format, cursor = self._format, self._cursor
        if format.is_archive:
            # Traces take minutes, and an archive without an annotation is none.
            demand_rows(format)
        if format.gathers:
            format.finish(self._source)
            cursor["phase"] = "gather"
        else:
            cursor["phase"] = "traces" if format.is_archive else "end"

    def write_traces(self) -> None:
        """The traces of an archive from the cursor on."""
        cursor = self._cursor
        ends = time.monotonic() + SECONDS_A_PART
        with _buffer() as file:
            digest = Digest()
            for last, line in self._source.traces(UUID(cursor["after"]) if cursor["after"] else None):
                file.writelines(digest.passing([line, b"\n"]))
                cursor["after"] = str(last)
                cursor["traces"] += 1
                if digest.size >= BYTES_A_PART or time.monotonic() >= ends:
                    break
            else:
                self._format.finish(self._source)
                cursor["phase"] = "pack"
            self._keep(file, digest, TRACES)
        cursor["state"] = self._format.state

    def write_made(self) -> None:
        """What is gathered of the notes, packed as a ZIP or compressed, from the cursor on."""
        cursor, stage = self._cursor, self._cursor["phase"]
        begin = {"gather": self._gathering, "pack": self._packing, "compress": self._compressing}[stage]
        making = resumed(self._export.pk, stage, cursor["made"], self._format, begin)
        ends, done = time.monotonic() + SECONDS_A_PART, False
        with _buffer() as file:
            digest = Digest()
            for block in digest.passing(making.blocks):
                file.write(block)
                if digest.size >= BYTES_A_PART or time.monotonic() >= ends:
                    break
            else:
                done = True
            self._keep(file, digest, stage)
        making.position += digest.size
        cursor["made"] = making.position
        if stage == "gather":
            # Some read their notes more than once, from the first one on.
            cursor["gathered"] = max(cursor["gathered"], making.made_of.read if making.made_of else 0)
            self._export.rows = making.format.rows
        if not done:
            wait(making)
            return
        making.kept_open.close()
        self._export.parts = [part for part in self._export.parts if part["member"] == stage]
        # Until here a process that begins anew needs the state in which the notes were written.
        cursor["state"], cursor["made"] = making.format.state, 0
        cursor["phase"] = "compressed" if stage == "compress" else "end"

    @contextmanager
    def _gathering(self, format: Format) -> Iterator[tuple[Notes | Lines | None, Iterator[bytes]]]:
        settings.EXPORT_SCRATCH.mkdir(parents=True, exist_ok=True)
        remove_left_over(settings.EXPORT_SCRATCH)
        with gathering(format, self._blocks("gather"), settings.EXPORT_SCRATCH) as gathered:
            yield gathered

    @contextmanager
    def _packing(self, format: Format) -> Iterator[tuple[Notes | Lines | None, Iterator[bytes]]]:
        """One ZIP out of the pieces of an archive."""

        def members() -> Iterator[tuple[str, Iterable[bytes]]]:
            for member in (ANNOTATIONS, TRACES):
                if names := [part["name"] for part in self._export.parts if part["member"] == member]:
                    yield member, (block for name in names for block in storage.read(name))
            yield from configuration_members(self._source)

        yield None, zipped_archive(format, members())

    @contextmanager
    def _compressing(self, format: Format) -> Iterator[tuple[Notes | Lines | None, Iterator[bytes]]]:
        """One stream: frames of parts would begin where time has cut them, and some readers stop after the first."""
        yield None, compressed(self._blocks("compress"), format.chosen.compression)

    def _blocks(self, stage: str) -> Iterator[bytes]:
        """What the stage is made of, as the storage gives it back."""
        names = [part["name"] for part in self._export.parts if part["member"] != stage]
        return (block for name in names for block in storage.read(name))

    @property
    def is_compressed(self) -> bool:
        return bool(self._format.chosen.compression != "none")

    def close(self) -> None:
        """What stands around the rows, where the file is not made of them as a whole: its head and tail."""
        export, format = self._export, self._format
        if not (format.gathers or format.is_archive):
            format.finish(self._source)
        demand_rows(format)
        if not (format.gathers or format.is_archive):
            head, tail = self._piece(format.head(), "head"), self._piece(format.tail(), "tail")
            export.parts = [*head, *export.parts, *tail]
        export.rows = format.rows
        self._cursor["state"] = format.state

    def finish(self) -> Part:
        """The whole file: what is left to write of it, its hash as the storage gives it back, and its manifest."""
        export, format, cursor = self._export, self._format, self._cursor
        if cursor["phase"] == "end":
            self.close()
        export.sha256, export.bytes = _read_back(export)
        export.rows = format.rows
        export.ready_at = timezone.now()
        export.expires_at = export.ready_at + retention()
        sources = [source.as_json() for source in self._source.source_answers.sources()]
        export.manifest = {
            "schema_version": SCHEMA_VERSION,
            "project": export.project.slug,
            "format": format.name,
            "options": chosen_options(format),
            "snapshot": self._snapshot.as_json(),
            "configurations": [
                {"version": number, "sha256": sha256(text.encode()).hexdigest()}
                for number, text, _ in self._source.configuration_sources()
            ],
            "batches": released_batches(export.project),
            "software": software_versions(),
            **({"pseudonyms": pseudonyms().as_json()} if format.chosen.pseudonyms == "yes" else {}),
            **({"since": export.since} if export.since else {}),
            **({"sources": sources, "answers": cursor.get("answers", 0)} if sources else {}),
            "records": cursor["records"],
            "rows": format.rows,
            "bytes": export.bytes,
            "sha256": export.sha256,
            "left_out": format.left_out,
            "counts": format.counts,
            "remarks": format.remarks(),
            **({"consensus": format.consensus} if format.consensus else {}),
            "parts": [{"bytes": part["bytes"], "sha256": part["sha256"]} for part in export.parts],
        }
        export.save(update_fields=["parts", "sha256", "bytes", "rows", "ready_at", "expires_at", "manifest"])
        audit.record(EXPORT_FINISHED, export, rows=export.rows, bytes=export.bytes, sha256=export.sha256)
        outbox.publish(
            EXPORT_FINISHED,
            export=str(export.pk),
            project=str(export.project_id),
            schedule=str(export.schedule_id) if export.schedule_id else None,
        )
        # What a killed worker left, and what went into the ZIP. Only now, because a part may be rolled back.
        folder, kept = export.folder, {part["name"] for part in export.parts}
        on_commit(lambda: storage.remove_folder(folder, but=kept))
        done = cursor["records"] + cursor["traces"]
        return Part(
            cursor=cursor,
            progress=done,
            total=done,
            finished=True,
            result={"export": str(export.pk), "rows": export.rows, "bytes": export.bytes, "sha256": export.sha256},
        )

    def _piece(self, content: bytes, member: str) -> list[dict[str, Any]]:
        """The content as a part of its own, if there is any."""
        if not content:
            return []
        others, self._export.parts = self._export.parts, []
        with _buffer() as file:
            digest = Digest()
            file.writelines(digest.passing([content]))
            self._keep(file, digest, member)
        piece, self._export.parts = self._export.parts, others
        return list(piece)

    def _keep(self, file: IO[bytes], digest: Digest, member: str) -> None:
        """Store what was written, if anything, and note it on the export. The name says worker, place and content."""
        if not digest.size:
            return
        number = len(self._export.parts)
        name = f"{self._export.folder}/{number:05}-{self._fencing_token}-{digest.sha256[:16]}"
        stored_as = storage.keep(name, file)
        part = {"member": member, "name": stored_as, "bytes": digest.size, "sha256": digest.sha256}
        self._export.parts = [*self._export.parts, part]
        self._export.bytes += digest.size


@contextmanager
def _without_collecting() -> Iterator[None]:
    """Rows are many tuples at a time and no circles: looking for some among them took 1.2 us a row."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _buffer() -> IO[bytes]:
    return storage.unnamed_file(settings.EXPORT_SCRATCH, BUFFER_BYTES)


def _read_back(export: Export) -> tuple[str, int]:
    """The SHA-256 and the length of what the storage gives back. Raises RecordsError where that is not what it got."""
    whole = Digest()
    for part in export.parts:
        piece = Digest()
        for _ in whole.passing(piece.beside(storage.read(part["name"]))):
            pass
        if (piece.sha256, piece.size) != (part["sha256"], part["bytes"]):
            raise RecordsError(
                f"The storage returned {part['name']} with other content than was written. Export again."
            )
    return whole.sha256, whole.size


def remove_unfinished(event: OutboxEvent) -> None:
    """Subscriber of job.finished: of an export that failed or was cancelled, no piece is needed any more."""
    if event.payload["kind"] == ExportAnnotations.name:
        for export in Export.objects.filter(job=event.payload["job"], ready_at__isnull=True):
            storage.remove_folder(export.folder)
            Export.objects.filter(pk=export.pk).update(parts=[])
