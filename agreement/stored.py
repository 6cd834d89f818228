"""The answers of a project out of the database, as they counted at one moment, for the library's report."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.db.models.functions import Length
from isal import isal_zlib

from accounts.models import ConfigurationVersion, Membership, Project
from assignments.filtering import filtered
from assignments.models import Kind, Submission
from potato.configuration import SchemeConfiguration, pinned
from potato.records.filters import Filters
from potato.records.folders import EVERYTHING
from potato.records.sources import Record
from potato.statistics.agreement.report import About, batch_text, iso_week
from potato.wording import timestamp
from tenancy.snapshots import Snapshot
from traces.models import ImportedFile

ROWS_AT_ONCE, BYTES_AT_ONCE = 1_000, 4 * 2**20
PLACES_AT_ONCE = 5_000
_GZIP = 31


class StoredAnswers:
    """The project's counted submissions in the order of their making, at the snapshot, read within one transaction.

    `version` is the configuration version whose schemes are compared. With `filters` there are those submissions alone
    that they let pass.
    """

    def __init__(
        self,
        project: Project,
        snapshot: Snapshot,
        version: ConfigurationVersion | None,
        filters: Filters = EVERYTHING,
    ) -> None:
        self._filters = filters
        self._project = project
        self._snapshot = snapshot
        self._version = version

    @cached_property
    def schemes(self) -> Sequence[SchemeConfiguration]:
        """Raises UnreadablePinError for a version that this installation cannot read."""
        return pinned(self._version.configuration).annotation_schemes if self._version else ()

    def records(self, *, with_answers: bool = True) -> Iterator[tuple[Record, About]]:
        names = dict(Membership.objects.values_list("user_id", "annotator_name"))
        files = dict(
            ImportedFile.objects.filter(organisation=self._project.organisation_id, project=self._project).values_list(
                "pk", "name"
            )
        )
        columns = [
            "submitted_at", "assignment__user_id", "assignment__kind", "assignment__trace__external_id",
            "assignment__trace__version", "assignment__trace__agent_model", "assignment__trace__tags",
            "assignment__trace__file_id", "batch_number",
        ]  # fmt: skip
        rows = self._rows([*columns, "packed"] if with_answers else columns)
        for at, user, kind, name, version, model, tags, file, batch, *packed in rows:
            when = timestamp(at)
            answers = isal_zlib.decompress(packed[0], _GZIP).decode("ascii") if packed else "{}"
            record = Record(name, names[user], when, answers, trace_version=version, kind=kind)
            yield (
                record,
                About(model, tuple(dict.fromkeys(tags)), files.get(file, ""), iso_week(when), batch_text(batch)),
            )

    def seconds(self) -> Iterator[tuple[str, float]]:
        """The annotator and how long each people's own judgement took, where it is known: the time at work, else from
        claim to submission."""
        names = dict(Membership.objects.values_list("user_id", "annotator_name"))
        columns = [
            "assignment__user_id",
            "assignment__kind",
            "assignment__claimed_at",
            "submitted_at",
            "active_seconds",
        ]
        for user, kind, claimed_at, submitted_at, active_seconds in self._rows(columns):
            if claimed_at is not None and kind == Kind.NORMAL:
                yield names[user], active_seconds or (submitted_at - claimed_at).total_seconds()

    def _rows(self, columns: Sequence[str]) -> Iterator[Sequence[Any]]:
        rows = filtered(Submission.objects.for_project(self._project), self._project, self._filters)
        return counted_rows(self._project, self._snapshot, rows, columns)


def counted_rows(
    project: Project, snapshot: Snapshot, rows: QuerySet[Submission], columns: Sequence[str]
) -> Iterator[Sequence[Any]]:
    """The columns of those of the project's rows that counted at the snapshot, in the order of their making.

    They are read a few at a time, each time behind the last one: a cursor of the server may be no other's after. Which
    ones count is asked first, for their ids alone: PostgreSQL takes that question for one that a single submission
    answers, and joined with it would go through all assignments for each of them.
    """
    counted = Submission.objects.for_project(project).order_by("pk").counted_at(snapshot)
    sizes = counted.values_list("pk", Length("packed"))
    chosen = rows.order_by("pk").values_list("pk", *columns)
    places = list(sizes[:PLACES_AT_ONCE])
    while places:
        for keys in _parts(places):
            wanted = set(keys)
            for row in chosen.filter(pk__gte=keys[0], pk__lte=keys[-1]):
                if row[0] in wanted:
                    yield row[1:]
        is_full = len(places) == PLACES_AT_ONCE
        places = list(sizes.filter(pk__gt=places[-1][0])[:PLACES_AT_ONCE]) if is_full else []


def _parts(places: Sequence[tuple[UUID, int]]) -> Iterator[list[UUID]]:
    """Their keys, as many together as are few and small enough; at least one."""
    keys: list[UUID] = []
    left = BYTES_AT_ONCE
    for key, size in places:
        if keys and (size > left or len(keys) == ROWS_AT_ONCE):
            yield keys
            keys, left = [], BYTES_AT_ONCE
        keys.append(key)
        left -= size
    yield keys
