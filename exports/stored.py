"""Reads records, traces and configurations from the database, as they were at one moment, with flat memory.

Every batch is a short transaction, so that an export of hours holds nothing back; the snapshot makes them one whole.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain, groupby, starmap
from typing import Any, cast
from uuid import UUID

from django.db.models import QuerySet
from django.db.models.functions import Length
from isal import isal_zlib

from accounts.models import ConfigurationVersion, Membership
from accounts.models import Project as ProjectRow
from assignments.models import Decision, Submission
from exports.counting import Counting
from exports.pseudonyms import Pseudonyms
from exports.record_chunks import RecordChunk, count_within, first_within
from exports.sent_rows import (
    SentRow,
    SentRows,
    id_ranges,
    sent_rows,
    unpacked,
    unpacked_ahead,
    unpacked_size,
)
from exports.source_answers import SourceAnswers
from exports.stored_facts import (
    GZIP,
    PATH_LENGTH,
    CheckRows,
    StoredFacts,
    StoredFile,
    StoredFiles,
    StoredRuns,
    reading,
    report_record,
)
from exports.stored_records import RecordMaker, StoredRecords
from jobs.row_text import storable
from potato.configuration import ProjectConfiguration, UnreadablePinError, pinned
from potato.records.filters import Filters
from potato.records.folders import EVERYTHING
from potato.records.sources import (
    NO_TRACE,
    Answer,
    Need,
    Project,
    Record,
    RecordPaths,
    RecordsError,
    Resolve,
    TraceFacts,
    json_text,
)
from potato.wording import UNKNOWN
from tenancy.actor import Actor
from tenancy.snapshots import Snapshot
from traces.importing.screenshots import has_pictures, with_pictures_inside
from traces.models import Body, CheckReport, Trace, TraceFile

ROWS_AT_ONCE = 20_000
BYTES_AT_ONCE = 64 * 2**20
BUFFERED_AT_ONCE = 1_000
BUFFERED_BYTES_AT_ONCE = 4 * 2**20
UNPACKED_BYTES_AT_ONCE = 16 * 2**20
FACTS_AT_ONCE = 100
TRACES_AT_ONCE = 500


class StoredProject:
    """A source of records: a project's counted submissions in the order of their making, at the snapshot.

    With `since`, those alone that did not count at that earlier moment, and the traces that are new since or theirs.
    With `filters` those alone that they let pass, and their traces; the answers of automated sources that they name
    come behind, as `source_answers`. With `pseudonyms` annotators have other names.
    """

    names_every_version = True
    has_traces = True

    def __init__(
        self,
        project: ProjectRow,
        actor: Actor,
        snapshot: Snapshot,
        since: Snapshot | None = None,
        *,
        filters: Filters = EVERYTHING,
        pseudonyms: Pseudonyms | None = None,
    ) -> None:
        self._filters = filters
        self._row = project
        self._actor = actor
        self._snapshot = snapshot
        self._since = since
        self._files = StoredFiles()
        self._runs = StoredRuns(actor)
        self._counting = Counting(project, actor, snapshot, since, filters)
        self.source_answers = SourceAnswers(project, actor, snapshot, since, filters, pseudonyms)
        with reading(actor):
            # Read here, because records are made while rows are on their way.
            published = ConfigurationVersion.objects.filter(project=project)
            self._versions = {
                pk.bytes: (number, given)
                for pk, number, given in published.values_list("pk", "number", "configuration")
            }
            members = Membership.objects.values_list("user_id", "annotator_name")
            named = pseudonyms.of if pseudonyms is not None else _own_name
            annotators = {user.bytes: named(user, name) for user, name in members}
            # Apart, because few are corrected: each record would pay for a column.
            corrections = Decision.objects.for_project(project).filter(correction__isnull=False)
            correctors = {
                submission.bytes: annotators.get(user.bytes, UNKNOWN) if user else UNKNOWN
                for submission, user in corrections.values_list("correction", "decided_by")
                if submission
            }
        versions = {pk: number for pk, (number, _) in self._versions.items()}
        self._maker = RecordMaker(annotators, versions, correctors)

    @cached_property
    def project(self) -> Project:
        return Project(versions=_Pinned(self._versions))

    def count(self, resolve: Resolve) -> int:
        """About how many records there are."""
        return (self._counting.about(resolve) if self._filters.people else 0) + self.source_answers.count()

    def count_traces(self) -> int:
        """How many traces there are, each version by itself; about how many where only those with records count."""
        if self._filters:
            return self._counting.traces_about()
        with reading(self._actor):
            traces = self._seen_traces()
            if self._since is None:
                return traces.count()
            new = traces.exclude(self._since.saw()).count()
        return max(new, self._counting.traces_about())

    def records(self, resolve: Resolve, *, buffered: bool) -> Iterator[Iterable[Record]]:
        people = self.chunks(resolve, buffered=buffered) if self._filters.people else ()
        for chunk in chain(people, self.source_answers.chunks(after=None, at_most=ROWS_AT_ONCE)):
            yield chunk.records

    def chunks(
        self, resolve: Resolve, *, buffered: bool, after: UUID | None = None, at_most: int = ROWS_AT_ONCE
    ) -> Iterator[RecordChunk]:
        """At most so many records of people at a time, behind that submission."""
        if resolve == "adjudicated" and after is None:
            self._demand_adjudicated()
        rows, size = (BUFFERED_AT_ONCE, BUFFERED_BYTES_AT_ONCE) if buffered else (ROWS_AT_ONCE, BYTES_AT_ONCE)
        first = after.bytes if after else None
        for places, is_whole in self._counting.batches(resolve, first, min(rows, at_most)):
            keys, sizes = [place.pk for place in places], [place.value for place in places]
            while keys:
                many = count_within(sizes, size)
                sent = self._between(keys[:many], sizes[:many], is_whole)
                if buffered:
                    for few in _unpacked_within(_each(sent)):
                        records: Iterable[Record] = list(self._kept(self._made(_one_by_one(few))))
                        yield RecordChunk(UUID(bytes=few[-1][0][0]), len(few), records)
                else:
                    records = self._kept(StoredRecords(unpacked_ahead(sent), self._maker))
                    yield RecordChunk(UUID(bytes=keys[many - 1]), many, records)
                keys, sizes = keys[many:], sizes[many:]

    def _made(self, rows: Iterable[tuple[SentRow, str, str]]) -> Iterator[Record]:
        return starmap(self._maker.record, rows)

    def _kept(self, records: Iterable[Record]) -> Iterable[Record]:
        """Those of the records alone that answer under a scheme that was chosen, with these answers."""
        return filter(None, map(self._filters.reduced, records)) if self._filters.schemes else records

    def by_trace(self, read: Callable[[Record], Answer | None]) -> Iterator[tuple[Record, list[Answer]]]:
        for _, group in groupby(self._by_trace(), key=lambda record: record.trace):
            answers: list[Answer] = []
            for record in group:
                if record.kind != "adjudication" and (answer := read(record)) is not None:
                    answers.append(answer)
            if answers:
                yield replace(record, annotations_text="{}"), answers

    def _by_trace(self) -> Iterator[Record]:
        for traces in self._traces_at_once():
            assignments = self._counting.assignments([trace.bytes for trace in traces])
            places = sorted(self._counting.under(assignments), key=lambda place: (assignments[place.assignment], place))
            sizes = [(place.pk, place.value) for place in places]
            while sizes:
                chosen = first_within(sizes, BUFFERED_BYTES_AT_ONCE)
                sizes = sizes[len(chosen) :]
                rows = {each[0][0]: each for each in _each(self._rows(chosen))}
                yield from self._kept(self._made(_one_by_one(rows[pk] for pk in chosen)))

    def facts(self, wanted: RecordPaths, needs: Collection[Need]) -> Iterator[TraceFacts]:
        for start in range(0, len(wanted), FACTS_AT_ONCE):
            yield from self._facts(wanted[start : start + FACTS_AT_ONCE], needs)

    def trace_lines(self) -> Iterator[bytes]:
        for _, line in self.traces():
            yield line

    def traces(self, after: UUID | None = None) -> Iterator[tuple[UUID, bytes]]:
        """The lines of the traces behind that one, each with its trace's id. A trace's versions stand in order.

        Runs are read as many at a time as some bytes are, and unpacked one by one, outside of any transaction.
        """
        for traces in self._traces_at_once(after):
            named, sizes = self._named(traces)
            while sizes:
                chosen = first_within(sizes, BUFFERED_BYTES_AT_ONCE)
                sizes = sizes[len(chosen) :]
                packed = self._packed({named[pk].content_sha256 for pk in chosen})
                with reading(self._actor):
                    reports = self._reports({named[pk].external_id for pk in chosen})
                for pk in chosen:
                    trace = named[pk]
                    yield pk, _trace_line(trace, self._native(packed[trace.content_sha256]), reports[trace.external_id])

    def _named(self, traces: Sequence[UUID]) -> tuple[dict[UUID, Trace], list[tuple[UUID, int]]]:
        """What the import named the traces, and how large each is in the database, in the order given."""
        with reading(self._actor):
            rows = Trace.objects.filter(pk__in=traces).only("external_id", "version", "content_sha256")
            named = {row.pk: row for row in rows}
            bodies = self._bodies({row.content_sha256 for row in named.values()})
            sizes = dict(bodies.values_list("sha256", Length("packed")))
        return named, [(pk, sizes[named[pk].content_sha256]) for pk in traces]

    def _packed(self, hashes: Collection[str]) -> dict[str, bytes]:
        with reading(self._actor):
            return {sha256: bytes(packed) for sha256, packed in self._bodies(hashes).values_list("sha256", "packed")}

    def _bodies(self, hashes: Collection[str]) -> QuerySet[Body]:
        return Body.objects.filter(organisation=self._row.organisation_id, sha256__in=hashes)

    def _native(self, packed: bytes) -> bytes:
        """A run as it was stored, with its pictures inside; most have none, and nothing is asked for them."""
        native = isal_zlib.decompress(packed, GZIP)
        if not has_pictures(native):
            return native
        with reading(self._actor):
            return with_pictures_inside(native)

    def configuration_text(self) -> str | None:
        sources = self.configuration_sources()
        return sources[-1][1] if sources else None

    def configuration_sources(self) -> Sequence[tuple[int, str, str]]:
        with reading(self._actor):
            rows = ConfigurationVersion.objects.filter(project=self._row).order_by("number")
            return list(rows.values_list("number", "source", "note"))

    def has_records(self, resolve: Resolve) -> bool:
        """Whether there is a record at all."""
        return (self._filters.people and self._counting.exists(resolve)) or self.source_answers.exist()

    def _demand_adjudicated(self) -> None:
        if not self._counting.exists("adjudicated"):
            raise RecordsError(
                f"{self._row.name} has no adjudicated annotation. Choose all annotations, or adjudicate first."
            )

    def _between(self, keys: Sequence[bytes], sizes: Sequence[int], is_whole: bool) -> Iterator[SentRows]:
        """The rows of submissions that stand one behind another, found along their index."""
        rows = Submission.objects.for_project(self._row)
        wanted, ranges = set(keys), list(id_ranges(keys, sizes))
        if is_whole:
            # A late or unseen one may stand between them all the same.
            return (chunk.only(wanted) for chunk in self._copied(rows, ranges))
        return self._copied(rows.filter(pk__any_of=wanted), ranges)

    def _rows(self, keys: Collection[bytes]) -> Iterator[SentRows]:
        return self._copied(Submission.objects.for_project(self._row).filter(pk__any_of=keys), [(min(keys), max(keys))])

    def _copied(self, rows: QuerySet[Submission], ranges: Sequence[tuple[bytes, bytes]]) -> Iterator[SentRows]:
        with reading(self._actor):
            yield from sent_rows(rows, ranges)

    def _seen_traces(self) -> QuerySet[Trace]:
        return Trace.objects.filter(self._snapshot.saw(), organisation=self._row.organisation_id, project=self._row)

    def _traces_at_once(self, after: UUID | None = None) -> Iterator[list[UUID]]:
        """The traces behind that one, in order; with filters those with records, with `since` the new ones, too."""
        while True:
            with reading(self._actor):
                rows = self._seen_traces()
                behind = rows.filter(pk__gt=after) if after else rows
                keys = list(behind.order_by("pk").values_list("pk", flat=True)[:TRACES_AT_ONCE])
            if not keys:
                return
            after = keys[-1]
            if chosen := self._chosen_traces(keys):
                yield chosen

    def _chosen_traces(self, keys: list[UUID]) -> list[UUID]:
        if not self._filters and self._since is None:
            return keys
        places = [key.bytes for key in keys]
        with_records = self.source_answers.traces_with_one(places)
        if self._filters.people:
            with_records |= self._counting.traces_with_one(places)
        if not self._filters and self._since is not None:
            with reading(self._actor):
                new = self._seen_traces().filter(~self._since.saw(), pk__any_of=places)
                with_records |= {key.bytes for key in new.values_list("pk", flat=True)}
        return [key for key in keys if key.bytes in with_records]

    def _facts(self, wanted: RecordPaths, needs: Collection[Need]) -> Iterator[TraceFacts]:
        keys = {UUID(bytes=cast(bytes, record.trace)) for record, _ in wanted}
        columns = ["pk", "content_sha256", *(name for name in ("agent_model",) if name in needs)]
        if "task_description" in needs:
            columns.append("task")
        if "checks" in needs:
            columns += ("external_id", "tests_outcome")
        if "files" in needs:
            columns += ("project_id", "repo", "base_commit")
        with reading(self._actor):
            traces = {row["pk"].bytes: row for row in Trace.objects.filter(pk__in=keys).values(*columns)}
            files = self._wanted_files(keys, wanted) if {"operations", "files"} & {*needs} else {}
            links = self._links(keys) if "links" in needs else {}
            checks = self._checks(traces) if "checks" in needs else {}
        if "run" in needs:
            self._runs.expect(traces[record.trace]["content_sha256"] for record, _ in wanted)
        for record, _ in wanted:
            row, own = traces[record.trace], files.get(record.trace, {})
            said = links.get(record.trace, ())
            said_by = checks.get(record.trace)
            yield StoredFacts(self._actor, row, own, self._files, self._runs, said, said_by) if row else NO_TRACE

    def _checks(self, traces: Mapping[bytes, Mapping[str, Any]]) -> dict[Any, CheckRows]:
        """The reports of the runs of these traces, and the files that those with findings changed."""
        reports = self._reports({row["external_id"] for row in traces.values()})
        checks: dict[Any, CheckRows] = {}
        with_findings = [
            UUID(bytes=trace)
            for trace, row in traces.items()
            if any(one["findings"] for one in reports[row["external_id"]])
        ]
        paths: defaultdict[bytes, list[str]] = defaultdict(list)
        rows = TraceFile.objects.filter(trace__in=with_findings).values_list("trace", "path")
        for pk, path in rows.order_by("trace", "index"):
            paths[pk.bytes].append(path)
        for trace, row in traces.items():
            checks[trace] = reports[row["external_id"]], paths[trace]
        return checks

    def _reports(self, runs: Collection[str]) -> defaultdict[str, list[dict[str, Any]]]:
        """The reports of runs, by the runs' ids and in the order of their kinds and names."""
        found: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
        rows = CheckReport.objects.filter(organisation=self._row.organisation_id, project=self._row)
        for row in rows.filter(external_id__in=runs).order_by("kind", "name", "pk"):
            found[row.external_id].append(report_record(row))
        return found

    def _links(self, traces: Collection[UUID]) -> dict[Any, list[tuple[str, str, Any]]]:
        """What is kept of the links of all files, by trace and in the files' order."""
        links: defaultdict[Any, list[tuple[str, str, Any]]] = defaultdict(list)
        rows = TraceFile.objects.filter(trace__in=traces).order_by("trace", "index")
        for trace, *row in rows.values_list("trace", "path", "sha256", "links__lines"):
            links[trace.bytes].append((row[0], row[1], row[2]))
        return links

    def _wanted_files(self, traces: Collection[UUID], wanted: RecordPaths) -> dict[Any, dict[str, list["StoredFile"]]]:
        """The files that are asked for, by trace and by their path as columns keep it."""
        paths = {storable(path, PATH_LENGTH) for _, paths in wanted for path in paths}
        files: defaultdict[Any, dict[str, list[StoredFile]]] = defaultdict(dict)
        rows = TraceFile.objects.filter(trace__in=traces, path__in=paths).order_by("trace", "index")
        for trace, path, operation, sha256 in rows.values_list("trace", "path", "operation", "sha256"):
            files[trace.bytes].setdefault(path, []).append(StoredFile(operation, sha256))
        return files


def _own_name(user: UUID, name: str) -> str:
    return name


class _Pinned(Mapping[int, ProjectConfiguration]):
    """Configurations by their version, each read when it is first asked for."""

    def __init__(self, versions: dict[bytes, tuple[int, dict[str, Any]]]) -> None:
        self._given = dict(versions.values())
        self._read: dict[int, ProjectConfiguration] = {}

    def __getitem__(self, number: int) -> ProjectConfiguration:
        if number not in self._read:
            try:
                self._read[number] = pinned(self._given[number])
            except UnreadablePinError as reason:
                raise RecordsError(f"Version {number}: {reason.sentence}") from None
        return self._read[number]

    def __iter__(self) -> Iterator[int]:
        return iter(self._given)

    def __len__(self) -> int:
        return len(self._given)


def _each(chunks: Iterable[SentRows]) -> Iterator[tuple[SentRow, str, bytes]]:
    for chunk in chunks:
        yield from chunk.each()


def _one_by_one(rows: Iterable[tuple[SentRow, str, bytes]]) -> Iterator[tuple[SentRow, str, str]]:
    for row, name, packed in rows:
        yield row, name, unpacked(packed)


def _unpacked_within(rows: Iterable[tuple[SentRow, str, bytes]]) -> Iterator[list[tuple[SentRow, str, bytes]]]:
    """Rows whose unpacked results fit into memory; all are read before the first are handed out."""
    few: list[tuple[SentRow, str, bytes]] = []
    budget = UNPACKED_BYTES_AT_ONCE
    for each in list(rows):
        size = unpacked_size(each[2], len(each[2]))
        if few and size > budget:
            yield few
            few, budget = [], UNPACKED_BYTES_AT_ONCE
        few.append(each)
        budget -= size
    if few:
        yield few


def _trace_line(trace: Trace, native: bytes, reports: Sequence[Mapping[str, Any]] = ()) -> bytes:
    """The run as it was imported, with what the import named it beside it, and what reports say of it.

    A run without an id gets the one that the import gave it, so that it keeps it wherever it is imported again.
    """
    more = f',"trace_version":{trace.version}' if trace.version > 1 else ""
    name = json_text(trace.external_id)
    # Spliced, not parsed: it is ASCII without spaces, as the import wrote it, and a run may have megabytes of it.
    if native.startswith(b'{"id":"",'):
        native = b'{"id":' + name.encode("ascii") + native.removeprefix(b'{"id":""')
    elif not native.startswith(b'{"id":' + name.encode("ascii") + b","):
        more += f',"external_id":{name}'
    if reports:
        more += f',"reports":{json_text(reports)}'
    return native.removesuffix(b"}") + more.encode("ascii") + b"}"
