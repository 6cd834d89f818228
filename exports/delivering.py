"""The job that brings the file of a scheduled export to its bucket."""

import io
from collections.abc import Iterator
from typing import Any

from exports import destinations, storage
from exports.models import Export, ExportSchedule
from jobs.kinds import JobFailed, Part
from jobs.models import Job
from tenancy import audit


class DeliverExport:
    """Job parameters: `export`, the id of one that is ready, and `schedule`, the id of whose bucket it goes to.

    Done twice it writes the same file twice to one name. One file is sent in one go: storages take no second half.
    """

    name = "deliver_export"
    label = "Delivery of an export"
    queue = "exports"

    def run_part(self, job: Job) -> Part:
        export = Export.objects.select_related("project", "organisation").get(pk=job.parameters["export"])
        schedule = ExportSchedule.objects.get(pk=job.parameters["schedule"])
        if not export.is_ready:
            raise JobFailed("The file was removed before it could be delivered. Run the schedule again.")
        blocks = (block for part in export.parts for block in storage.read(part["name"]))
        try:
            content = io.BufferedReader(Blocks(blocks), buffer_size=storage.BLOCK)
            where = destinations.write(
                schedule.bucket, export.organisation.slug, schedule.folder, export.file_name, content
            )
        except destinations.BadDestination as refusal:
            raise JobFailed(refusal.sentence) from refusal
        audit.record("export.delivered", export, address=where, sha256=export.sha256, bytes=export.bytes)
        return Part(cursor=None, progress=export.bytes, total=export.bytes, finished=True, result={"address": where})


class Blocks(io.RawIOBase):
    """Blocks of bytes as a file that is read once, from its beginning to its end."""

    def __init__(self, blocks: Iterator[bytes]) -> None:
        self._blocks = blocks
        self._rest = b""

    def readable(self) -> bool:
        return True

    def readinto(self, target: Any) -> int:
        while not self._rest:
            block = next(self._blocks, None)
            if block is None:
                return 0
            self._rest = block
        taken = self._rest[: len(target)]
        target[: len(taken)] = taken
        self._rest = self._rest[len(taken) :]
        return len(taken)
