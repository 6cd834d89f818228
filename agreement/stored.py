"""The answers of a project out of the database, as they counted at one moment, for the library's report."""

import zlib
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

from accounts.models import ConfigurationVersion, Membership, Project
from assignments.models import Submission
from potato.configuration import SchemeConfiguration, pinned
from potato.records.sources import Record
from potato.statistics.agreement.report import About, week_of
from potato.wording import timestamp
from tenancy.snapshots import Snapshot
from traces.models import ImportedFile

ROWS_AT_ONCE, PLACES_AT_ONCE = 200, 5_000
_GZIP = 31


class StoredAnswers:
    """The project's counted submissions in the order of their making, at the snapshot, read within one transaction.

    `version` is the configuration version whose schemes are compared.
    """

    def __init__(self, project: Project, snapshot: Snapshot, version: ConfigurationVersion | None) -> None:
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
            "assignment__trace__file_id",
        ]  # fmt: skip
        for at, user, kind, name, version, model, tags, file, *packed in self._rows(columns, with_answers):
            when = timestamp(at)
            answers = zlib.decompress(packed[0], _GZIP).decode("ascii") if packed else "{}"
            record = Record(name, names[user], when, answers, trace_version=version, kind=kind)
            yield record, About(model, tuple(dict.fromkeys(tags)), files.get(file, ""), week_of(when))

    def _rows(self, columns: Sequence[str], with_answers: bool) -> Iterator[Sequence[Any]]:
        """Read a few at a time, each time behind the last one: a cursor of the server may be no other's after."""
        counted = Submission.objects.for_project(self._project).counted_at(self._snapshot).order_by("pk")
        chosen = counted.values_list("pk", *columns, *(["packed"] if with_answers else []))
        at_once = ROWS_AT_ONCE if with_answers else PLACES_AT_ONCE
        rows = list(chosen[:at_once])
        while rows:
            for row in rows:
                yield row[1:]
            rows = list(chosen.filter(pk__gt=rows[-1][0])[:at_once]) if len(rows) == at_once else []
