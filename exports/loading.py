"""Reads an archive back: its configuration versions, its traces, and its records with the people who made them.

All can be done again: what is there already is left as it is. What contradicts it is refused, by name.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

from accounts.actions.organisations import add_member, change_member
from accounts.actions.projects import publish_configuration
from accounts.models import ConfigurationVersion, Membership, Organisation, Project, User
from assignments.actions.restoring import restore
from assignments.models import Kind
from potato.records.archives import BY_PROGRAM, TRACES
from potato.records.folders import BOUNDS, Folder
from potato.records.sources import Record, json_text
from potato.runs.converters.native import Native, run_as_native
from potato.runs.exact_json import json_sha256
from potato.runs.model import Converted, ReadingOptions
from potato.runs.run_files import InMemoryRunFile
from tenancy import audit
from tenancy.actor import acting_in
from tenancy.errors import Refused
from tenancy.models import new_id
from tenancy.roles import Role
from traces.importing.screenshots import with_pictures
from traces.importing.storing import UnusableRun, store_run
from traces.models import ImportedFile, Trace

_NATIVE = Native()
_ABOUT_IMPORT = ("external_id", "trace_version")
"""What an archive says of a trace beside the run."""


class NotLoadable(Refused):
    code = "not_loadable"


@dataclass(frozen=True)
class Loaded:
    """What came in, and what was there already."""

    versions: int
    traces: int
    known_traces: int
    records: int
    known_records: int
    strangers: list[str]
    """Annotators who are no members: an inactive membership keeps each name."""


def load_archive(*, organisation: Organisation, project: Project, folder: Folder) -> Loaded:
    """Everything of the archive into the project; call it outside every transaction.

    Raises NotLoadable for a project that has other configurations or whose traces are missing, AnnotatedOtherwise for
    one that has other annotations, and RecordsError for an archive that cannot be read. What came in until then stays.
    """
    with acting_in(organisation):
        published = publish_versions(project, folder)
        audit.record("project.loaded", project)
    traces = dict(_load_traces(organisation, project, folder))
    records = _Records(organisation, project, {key: pk for key, (pk, _) in traces.items()})
    for batch in folder.records("all", buffered=True):
        records.load(batch)
    known = sum(not came_in for _, came_in in traces.values())
    return Loaded(published, len(traces) - known, known, records.restored, records.known, sorted(records.strangers))


def publish_versions(project: Project, folder: Folder) -> int:
    """Publish those that the project does not have yet, in order; returns how many."""
    wanted = [(text, note) for _, text, note in folder.configuration_sources()]
    if not wanted and (newest := folder.configuration_text()):
        wanted = [(newest, "")]
    if not wanted:
        raise NotLoadable("The archive has no configuration: there is neither configurations.jsonl nor config.yaml.")
    there = list(project.versions.order_by("number").values_list("source", flat=True))
    if there != [text for text, _ in wanted[: len(there)]]:
        raise NotLoadable(
            f"{project.slug} has other configurations than the archive. Load it into a new project, with --project."
        )
    for text, note in wanted[len(there) :]:
        publish_configuration(project=project, source=text, note=note, confirmed=True, where="command")
    return len(wanted) - len(there)


def _load_traces(
    organisation: Organisation, project: Project, folder: Folder
) -> Iterator[tuple[tuple[str, int], tuple[UUID, bool]]]:
    """Each trace's id and version in the archive, with its row's id and whether it came in now."""
    with acting_in(organisation):
        file = ImportedFile.objects.create(
            project=project, name=TRACES, size=0, sha256="0" * 64, format=_NATIVE.name, chosen=_NATIVE.name
        )
    for place, line in enumerate(folder.trace_lines(), 1):
        entry = json.loads(line)
        name, version = entry.get("external_id", entry.get("id")), entry.get("trace_version", 1)
        run = {key: value for key, value in entry.items() if key not in _ABOUT_IMPORT}
        source = InMemoryRunFile(TRACES, json_text(run).encode("ascii"), BOUNDS)
        read = next(iter(_NATIVE.read(source, ReadingOptions(bounds=BOUNDS))))
        if not isinstance(read, Converted):
            raise NotLoadable(f"{TRACES} line {place}: {read.sentence}")
        with acting_in(organisation):
            read, _ = with_pictures(read, source, keeps_packed=True)
            try:
                came_in = store_run(read, file)
            except UnusableRun as refusal:
                raise NotLoadable(f"{TRACES} line {place}: {refusal.sentence}") from None
            rows = Trace.objects.filter(
                project=project, external_id=name, content_sha256=json_sha256(run_as_native(read.run))
            )
            yield (name, version), (rows.values_list("pk", flat=True).get(), came_in)


class _Records:
    """Puts records back, batch by batch."""

    def __init__(self, organisation: Organisation, project: Project, traces: dict[tuple[str, int], UUID]) -> None:
        self._organisation = organisation
        self._project = project
        self._traces = traces
        self._people: dict[str, User] = {}
        with acting_in(organisation):
            versions = ConfigurationVersion.objects.filter(project=project).order_by("number")
            self._versions = {version.number: version for version in versions}
            members = Membership.objects.select_related("user")
            self._people = {member.annotator_name: member.user for member in members}
        self.restored = self.known = 0
        self.strangers: list[str] = []

    def load(self, records: Sequence[Record]) -> None:
        with acting_in(self._organisation):
            keys = [self._trace(record) for record in records]
            rows = {row.pk: row for row in Trace.objects.filter(pk__in=set(keys))}
            for record, key in zip(records, keys, strict=True):
                self._restore(record, rows[key])

    def _trace(self, record: Record) -> UUID:
        key = self._traces.get((record.id, record.trace_version))
        if key is None:
            raise NotLoadable(f"The archive has an annotation of {record.id!r}, but not that trace.")
        return key

    def _restore(self, record: Record, trace: Trace) -> None:
        number = record.configuration_version or max(self._versions)
        if number not in self._versions:
            raise NotLoadable(f"{record.id!r} was annotated under version {number}, which the archive does not have.")
        came_in = restore(
            project=self._project,
            trace=trace,
            user=self._person(record.annotator),
            version=self._versions[number],
            kind=Kind(record.kind),
            at=_moment(record),
            result=record.annotations,
            active_seconds=record.active_seconds,
            via_token=record.via == BY_PROGRAM,
        )
        self.restored += came_in
        self.known += not came_in

    def _person(self, annotator: str) -> User:
        """The member of that name; else somebody who cannot log in, whose ended membership keeps the name."""
        if annotator not in self._people:
            name = f"archived-{new_id().hex}"
            user = User.objects.create_user(name, email=f"{name}@archive.invalid", name=annotator)
            user.is_active = False
            user.save(update_fields=["is_active"])
            membership = add_member(user=user, role=Role.ANNOTATOR, annotator_name=annotator)
            change_member(
                membership=membership,
                role=Role.ANNOTATOR,
                annotator_name=annotator,
                is_active=False,
                by_owner=True,
            )
            self._people[annotator] = user
            self.strangers.append(annotator)
        return self._people[annotator]


def _moment(record: Record) -> datetime:
    try:
        return datetime.strptime(record.timestamp, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
    except ValueError:
        raise NotLoadable(
            f"The timestamp {record.timestamp!r} of {record.id!r} is none in UTC such as 2025-01-15T14:30:00Z."
        ) from None
