"""Reads the answers of automated sources as records: those that are wanted beside what people said, and never as it."""

from collections.abc import Collection, Iterator
from datetime import timedelta
from functools import cached_property
from typing import Any
from uuid import UUID

from django.db.models import Count, Sum
from django.db.models.functions import Length
from isal import isal_zlib

from accounts.models import ConfigurationVersion, Project
from agreement.models import Source, SourceAnswer, SourceKind
from assignments.filtering import chosen_batches, midnight, traces_filtered, versions_filtered
from exports.pseudonyms import Pseudonyms
from exports.record_chunks import RecordChunk, first_within
from exports.stored_facts import GZIP, reading, reading_tables
from potato.records.filters import Filters
from potato.records.sources import AutomatedSource, Record, RecordsError
from potato.wording import UNKNOWN, timestamp
from tenancy.actor import Actor
from tenancy.snapshots import Snapshot

ROWS_AT_ONCE = 1_000
BYTES_AT_ONCE = 4 * 2**20


class SourceAnswers:
    """The answers of the sources that the filters name, in the order in which they were stored, at the snapshot; none
    where they name no source. With `since`, those alone that were not there at that earlier moment."""

    def __init__(
        self,
        project: Project,
        actor: Actor,
        snapshot: Snapshot,
        since: Snapshot | None,
        filters: Filters,
        pseudonyms: Pseudonyms | None = None,
    ) -> None:
        self._project = project
        self._actor = actor
        self._snapshot = snapshot
        self._since = since
        self._filters = filters
        self._pseudonyms = pseudonyms

    def count(self) -> int:
        if not self._filters.sources:
            return 0
        with reading_tables(self._actor):
            return int(self._chosen().count())

    def exist(self) -> bool:
        if not self._filters.sources:
            return False
        with reading(self._actor):
            return bool(self._chosen().exists())

    def traces_with_one(self, traces: Collection[bytes]) -> set[bytes]:
        """Those of the traces for which there is one."""
        if not self._filters.sources:
            return set()
        with reading(self._actor):
            rows = self._chosen().filter(trace__any_of=traces)
            return {trace.bytes for trace in rows.values_list("trace_id", flat=True)}

    def chunks(self, *, after: UUID | None, at_most: int) -> Iterator[RecordChunk]:
        """At most so many at a time behind that answer, as many as fit into memory."""
        if not self._filters.sources:
            return
        while sizes := self._sizes(after, min(at_most, ROWS_AT_ONCE)):
            chosen = first_within(sizes, BYTES_AT_ONCE)
            after = chosen[-1]
            records = filter(None, map(self._filters.reduced, self._records(chosen)))
            yield RecordChunk(after, len(chosen), list(records))

    def sources(self) -> list[AutomatedSource]:
        """Those whose answers are wanted."""
        return list(self._sources.values())

    def _sizes(self, after: UUID | None, at_most: int) -> list[tuple[UUID, int]]:
        with reading(self._actor):
            rows = self._chosen() if after is None else self._chosen().filter(pk__gt=after)
            return list(rows.order_by("pk").values_list("pk", Length("packed"))[:at_most])

    def _records(self, chosen: list[UUID]) -> Iterator[Record]:
        columns = ("source_id", "trace_id", "version_id", "answered_at", "packed", "origin")
        with reading(self._actor):
            rows = SourceAnswer.objects.filter(pk__any_of=[pk.bytes for pk in chosen]).order_by("pk")
            answers = list(rows.values_list(*columns, "trace__external_id", "trace__version"))
        for source, trace, version, at, packed, origin, external_id, trace_version in answers:
            yield Record(
                id=external_id,
                annotator="",
                timestamp=timestamp(at) if at else UNKNOWN,
                annotations_text=isal_zlib.decompress(packed, GZIP).decode("ascii"),
                trace_version=trace_version,
                configuration_version=self._versions[version],
                trace=trace.bytes,
                source=self._sources[source],
                origin=self._shown_origin(origin) or None,
            )

    def _chosen(self) -> Any:
        rows = SourceAnswer.objects.filter(
            self._snapshot.saw(),
            organisation=self._project.organisation_id,
            project=self._project,
            source__in=list(self._sources),
        )
        rows = answers_filtered(rows, self._project, self._filters)
        return rows if self._since is None else rows.exclude(self._since.saw())

    @cached_property
    def _sources(self) -> dict[UUID, AutomatedSource]:
        with reading(self._actor):
            rows: list[Source] = chosen_sources(self._project, self._filters)
        return {row.pk: AutomatedSource(self._name(row), row.version, row.model, row.kind) for row in rows}

    def _name(self, source: Source) -> str:
        """A person in another tool is one: under pseudonyms they have another name, too."""
        if self._pseudonyms is None or source.kind != SourceKind.PERSON_ELSEWHERE:
            return source.name
        return self._pseudonyms.of(source.pk, source.name)

    def _shown_origin(self, origin: dict[str, str]) -> dict[str, str]:
        """Under pseudonyms the tool alone: with the file or the id there the person could be found."""
        if self._pseudonyms is None:
            return origin
        return {key: text for key, text in origin.items() if key == "tool"}

    @cached_property
    def _versions(self) -> dict[UUID, int]:
        with reading(self._actor):
            return dict(ConfigurationVersion.objects.filter(project=self._project).values_list("pk", "number"))


def answers_filtered(rows: Any, project: Project, filters: Filters) -> Any:
    """The answers of sources that the filters let pass, whichever sources they name."""
    if filters.made_from:
        rows = rows.filter(answered_at__gte=midnight(filters.made_from))
    if filters.made_until:
        rows = rows.filter(answered_at__lt=midnight(filters.made_until) + timedelta(days=1))
    if filters.batches:
        # Nobody is given a task for such an answer: its batch is the one in which its trace is when it is read.
        rows = rows.filter(trace__quotas__batch__number__in=chosen_batches(project, filters))
    return versions_filtered(traces_filtered(rows, filters, "trace__"), filters, "version__")


def chosen_sources(project: Project, filters: Filters) -> list[Source]:
    """The project's automated sources that the filters name, each by its name or its name with its version. Raises
    RecordsError for one that does not exist."""
    if not filters.sources:
        return []
    sources = list(Source.objects.for_project(project).order_by("pk"))
    for wanted in filters.sources:
        if not any(wanted in (source.name, str(source)) for source in sources):
            known = ", ".join(dict.fromkeys(map(str, sources))) or "none"
            raise RecordsError(
                f"sources: {project.name} has no automated source {wanted!r}. Its sources: {known}. Their answers are "
                "imported on the page Agreement."
            )
    return [source for source in sources if source.name in filters.sources or str(source) in filters.sources]


def count_answers(project: Project, filters: Filters) -> tuple[int, int]:
    """How many answers of sources an export would have now, and how many bytes they are as they are stored."""
    if not filters.sources:
        return 0, 0
    rows = SourceAnswer.objects.filter(
        organisation=project.organisation_id, project=project, source__in=chosen_sources(project, filters)
    )
    chosen = answers_filtered(rows, project, filters).aggregate(many=Count("pk"), stored=Sum(Length("packed")))
    return chosen["many"], chosen["stored"] or 0
