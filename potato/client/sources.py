"""What a program asks of automated sources: their answers, and how they stand beside people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any
from uuid import UUID

from potato.api.sources import AnnotationImport, AnswersTaken, Report, Sent, Source, SourceName, SourceRecord
from potato.client.errors import NothingToSend
from potato.client.operations import operation, stream
from potato.client.steps import Steps, Stream, ask, get, pages, path, send, until_over
from potato.records.archives import RecordsError
from potato.records.other_tools.reading import documents_at

_ANSWERS_AT_ONCE = 500


class SourceOperations:
    """Sources fill no place of an annotator: what they say stands beside what people say."""

    slug: str

    @stream
    def sources(self) -> Stream[Source]:
        """The project's sources, the oldest first."""
        return pages(self._sources(), Source)

    @operation
    def add_answers(
        self, records: Iterable[Mapping[str, Any]], *, source: SourceName | None = None
    ) -> Steps[AnswersTaken]:
        """Send what a source says of traces, as records of an export, each with its `source` or by the one that is
        named here. They go in parts; the places of `refused` count all records from 1. The same again is known."""
        named = None if source is None else source.model_dump()
        rows, sent = iter(records), 0
        whole = AnswersTaken(taken=0, known=0, refused=[], sources=[])
        while part := [dict(row) for row in islice(rows, _ANSWERS_AT_ONCE)]:
            request = send("POST", self._sources("answers"), {"answers": part, "source": named})
            taken = yield from ask(request, AnswersTaken)
            whole = AnswersTaken(
                taken=whole.taken + taken.taken,
                known=whole.known + taken.known,
                refused=[
                    *whole.refused,
                    *(one.model_copy(update={"place": sent + one.place}) for one in taken.refused),
                ],
                sources=list(dict.fromkeys([*whole.sources, *taken.sources])),
            )
            sent += len(part)
        return whole

    @stream
    def source_answers(self, source: Source | UUID) -> Stream[SourceRecord]:
        """What a source said, the oldest first."""
        return pages(_source(source, "answers"), SourceRecord)

    @operation
    def compare_source(
        self,
        source: Source | UUID,
        *,
        method: str = "dawid_skene",
        sure: float = 0.8,
        beside: Source | UUID | None = None,
        patience: float | None = None,
    ) -> Steps[Report]:
        """Compare a source with people, and wait for the figures; with `beside`, two of them on what both answered."""
        other = None if beside is None else str(beside if isinstance(beside, UUID) else beside.id)
        body = {"method": method, "sure": sure, "beside": other}
        asked = yield from ask(send("POST", _source(source, "reports"), body), Report)
        one = get(_source(source, "reports", asked.id))
        return (yield from until_over(one, Report, what="The comparison", patience=patience))

    @stream
    def source_reports(self, source: Source | UUID) -> Stream[Report]:
        """How the source stood beside people each time that it was compared, the oldest first."""
        return pages(_source(source, "reports"), Report)

    @operation
    def send_to_people(self, source: Source | UUID, traces: Sequence[UUID | str]) -> Steps[int]:
        """Want one annotator more of each of these traces, which the source has answered; of how many that was
        possible."""
        request = send("POST", _source(source, "send"), {"traces": [str(trace) for trace in traces]})
        sent = yield from ask(request, Sent)
        return sent.traces

    @operation
    def import_annotations(
        self,
        path: str | Path,
        *,
        tool: str = "auto",
        trace: str = "",
        id_key: str = "",
        names: Mapping[str, str] | None = None,
        values: Mapping[str, str] | None = None,
        version: str = "1",
        wait: bool = True,
        patience: float | None = None,
    ) -> Steps[AnnotationImport]:
        """Send annotations that were made in another tool, a file, a folder or a ZIP, and wait until they are read.
        Each of their authors becomes a source; what has no place is in `problems`. `names` and `values` say what those
        there are here. Raises NothingToSend for files that cannot be read."""
        try:
            documents = documents_at(Path(path))
        except RecordsError as refusal:
            raise NothingToSend(refusal.sentence) from None
        files = [{"name": name, "content": content} for name, content in documents.items()]
        body = {
            "name": Path(path).name,
            "tool": tool,
            "files": files,
            "trace": trace,
            "id_key": id_key,
            "names": dict(names or {}),
            "values": dict(values or {}),
            "version": version,
        }
        where = self._sources("imports")
        started = yield from ask(send("POST", where, body), AnnotationImport)
        if not wait:
            return started
        one = get(self._sources("imports", started.id))
        return (yield from until_over(one, AnnotationImport, what="The import", patience=patience))

    def _sources(self, *parts: object) -> str:
        return path("projects", self.slug, "sources", *parts)


def _source(source: Source | UUID, *more: object) -> str:
    return path("sources", source if isinstance(source, UUID) else source.id, *more)
