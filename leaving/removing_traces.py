"""Removes traces for good, with all that hangs on them, their content, and every figure and file that may have it.

For a secret that leaked. First nobody is given them any more; then a job removes in parts that are safe to repeat.
"""

import json
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.core.files.storage import default_storage
from django.db import connection, transaction
from django.db.models import Min, Q
from django.utils import timezone

from accounts.models import AuditEvent, Project
from agreement.models import AgreementReport, SourceReport
from assignments.actions.leaving import release_one
from assignments.actions.withholding import withhold
from assignments.models import Assignment, SteeringAct, Submission, Withdrawal, Withheld
from dashboard.actions import take_in
from exports import storage
from exports.models import Destination, Export, ExportSchedule
from jobs.actions import request_job
from jobs.kinds import Part
from jobs.models import Job, OutboxEvent, ScheduleRun
from leaving.models import PersonalCopy, TraceRemoval
from leaving.scrubbing import ERASED, replace_in
from rewards.models import RewardStatistics
from tenancy import audit
from tenancy.actor import active_organisation, current, removing
from tenancy.ids import read_id
from tenancy.removal import hanging_on, remove_all, remove_rows
from traces.contents import may_remove_contents
from traces.models import (
    Body,
    CheckReport,
    Fragment,
    ImportedFile,
    ImportProblem,
    Picture,
    TaskText,
    Trace,
    TraceFile,
    TraceStep,
    pictures_of,
)
from webhooks.models import Delivery

ROWS_A_PART = 5_000
_TRACES = Trace._meta.db_table
_Texts = tuple[tuple[type[Any], tuple[str, ...]], ...]
_REPORTS: _Texts = (
    (AgreementReport, ("figures", "summary", "settings")),
    (SourceReport, ("figures", "options")),
    (RewardStatistics, ("figures",)),
)
_EVENTS: _Texts = ((OutboxEvent, ("payload", "error")), (Delivery, ("body", "attempts")))
"""Rows that go where they name a trace: reports can be computed again, events and deliveries are over."""


@dataclass(frozen=True)
class Going:
    """What removing a trace would take along."""

    traces: list[Trace]
    """The trace, its other versions, and traces of the organisation with the very same content."""
    annotations: int
    held: int
    answers: int
    files: int
    reports: int
    downloads: int
    schedules: list[str]
    """Names of schedules that have sent files elsewhere, which the site does not reach."""
    told: int
    """Deliveries of webhooks that were about one of them."""


def preview(trace: Trace, projects: Collection[Project]) -> Going:
    """What `request_removal` would remove. `projects` are those in which the person may do so."""
    traces = traces_with(trace, projects)
    ids = [row.pk for row in traces]
    exports = list(_exports(ids))
    return Going(
        traces=traces,
        annotations=Submission.objects.not_withdrawn().filter(assignment__trace__in=ids).count(),
        held=Assignment.objects.filter(trace__in=ids).open().count(),
        answers=_count("agreement_sourceanswer", ids),
        files=len(exports),
        reports=sum(
            _naming(model, fields, _names(traces)).filter(project__in={row.project_id for row in traces}).count()
            for model, fields in _REPORTS
        ),
        downloads=AuditEvent.objects.filter(
            verb="export.downloaded", target_id__in=[row.pk for row in exports]
        ).count(),
        schedules=_schedules_elsewhere(exports),
        told=_naming(Delivery, ("body",), _names(traces)).count(),
    )


def traces_with(trace: Trace, projects: Collection[Project]) -> list[Trace]:
    """The trace, every version of it, and every trace of these projects with the very same content."""
    same = Q(project=trace.project_id, external_id=trace.external_id) | Q(
        project__in=projects, content_sha256=trace.content_sha256
    )
    return list(Trace.objects.filter(same).select_related("project").order_by("pk"))


def request_removal(*, trace: Trace, projects: Collection[Project]) -> TraceRemoval:
    """Remove the trace for good, as `preview` says, in the background; from now on it is given to nobody, and what is
    held of it is taken back. Cannot be undone."""
    traces = traces_with(trace, projects)
    ids = [row.pk for row in traces]
    with transaction.atomic():
        for project in {row.project for row in traces}:
            of_project = [row.pk for row in traces if row.project_id == project.pk]
            withhold(project=project, traces=of_project, why=Withheld.RETIRED)
            held = Assignment.objects.for_project(project).filter(trace__in=of_project).open()
            for assignment in held.select_related("project", "user").order_by("trace", "kind"):
                release_one(assignment, ends_token=True)
        removal = TraceRemoval.objects.create(
            project=trace.project, traces=[str(pk) for pk in ids], requested_by_id=current().user
        )
        removal.job = request_job(kind=RemoveTraces.name, parameters={"removal": str(removal.pk)})
        removal.save(update_fields=["job"])
        audit.record("traces.removal_asked_for", removal, traces=removal.traces, number=len(removal.traces))
    return removal


class RemoveTraces:
    """Job parameters: `removal`, the id of a TraceRemoval. Each part removes some rows, until nothing is left."""

    name = "remove_traces"
    label = "Removal of traces"
    queue = "interactive"

    def run_part(self, job: Job) -> Part:
        removal = TraceRemoval.objects.select_related("project").get(pk=job.parameters["removal"])
        cursor: dict[str, Any] = job.cursor or {}
        ids = {UUID(pk) for pk in removal.traces}
        if not cursor:
            cursor = {"left": removal_facts(ids), "result": first_part(ids), "rows": 0}
            return Part(cursor=cursor, progress=0)
        removed = remove_part(ids, cursor["left"])
        cursor["rows"] += removed
        if removed:
            return Part(cursor=cursor, progress=cursor["rows"])
        demand_gone(ids, cursor["left"])
        removal.result = {**cursor["result"], "rows": cursor["rows"]}
        removal.finished_at = timezone.now()
        removal.save(update_fields=["result", "finished_at"])
        audit.record("traces.removed", removal, traces=removal.traces, number=len(removal.traces), rows=cursor["rows"])
        # The cursor has names and hashes of what is gone.
        return Part(cursor=None, progress=cursor["rows"], finished=True, result={"rows": cursor["rows"]})


def removal_facts(ids: Collection[UUID]) -> dict[str, Any]:
    """What has to be known of the traces after their rows are gone, as JSON: names, hashes, files they came from."""
    traces = list(Trace.objects.filter(pk__in=ids))
    steps = TraceStep.objects.filter(trace__in=ids)
    hashes = {row.content_sha256 for row in traces}
    hashes.update(steps.values_list("sha256", flat=True))
    hashes.update(TraceFile.objects.filter(trace__in=ids).values_list("sha256", flat=True))
    return {
        "names": sorted(_names(traces)),
        "hashes": sorted(hashes),
        "pictures": sorted(pictures_of(steps)),
        "projects": sorted({str(row.project_id) for row in traces}),
        "files": sorted({str(row.file_id) for row in traces}),
        "runs": sorted({(str(row.project_id), row.external_id) for row in traces}),
        "instances": sorted({(str(row.project_id), row.instance_id) for row in traces if row.instance_id}),
    }


def first_part(ids: Collection[UUID]) -> dict[str, Any]:
    """Remove the files that may have the traces, and take their annotations out of what is counted; says where copies
    may lie beyond the site."""
    exports = list(_exports(ids))
    since = _imported(ids)
    copies = list(PersonalCopy.objects.ready().filter(ready_at__gte=since)) if since else []
    uploads = list(
        ImportedFile.objects.filter(pk__in=Trace.objects.filter(pk__in=ids).values("file")).exclude(stored_as="")
    )
    names = [row.folder for row in exports] + [copy.folder for copy in copies]
    downloads = AuditEvent.objects.filter(verb="export.downloaded", target_id__in=[row.pk for row in exports]).count()
    for folder in names:
        storage.remove_folder(folder)
    for upload in uploads:
        default_storage.delete(upload.stored_as)
    now = timezone.now()
    Export.objects.filter(pk__in=[row.pk for row in exports]).update(removed_at=now, parts=[])
    PersonalCopy.objects.filter(pk__in=[row.pk for row in copies]).update(removed_at=now, stored_as="")
    _uncount(ids)
    return {
        "traces": len(set(ids)),
        "files": len(names) + len(uploads),
        "exports": [str(row.pk) for row in exports],
        "downloads": downloads,
        "schedules": _schedules_elsewhere(exports),
    }


def remove_part(ids: Collection[UUID], left: dict[str, Any]) -> int:
    """Remove some of what hangs on the traces, then of what only names them; 0 where nothing is left."""
    organisation = _organisation()
    with removing(f"traces {', '.join(sorted(map(str, ids)))[:3000]} of organisation {organisation}"):
        rows = hanging_on(_TRACES, ids, organisation)
        if rows and (removed := remove_rows(rows, organisation, at_most=ROWS_A_PART)):
            return removed
        # In parts of their own: mentions are looked for in whole tables, and nobody brings contents while these are
        # locked; and an import that waits for that lock may have the row of its job, from which mentions are taken out.
        return _remove_mentions(left, organisation) or _remove_content(left, organisation)


def demand_gone(ids: Collection[UUID], left: dict[str, Any]) -> None:
    """Raise RuntimeError where something is left: then the part is tried again, and the job says what it is."""
    organisation = _organisation()
    with removing(f"whether anything is left of {len(ids)} traces of organisation {organisation}"):
        rows = {
            table: len(found) for table, found in hanging_on(_TRACES, ids, organisation).items() if table != _TRACES
        }
        if Trace.objects.filter(organisation=organisation, pk__in=ids).exists():
            rows[_TRACES] = 1
        if _free_hashes(left, organisation):
            rows[Body._meta.db_table] = 1
    if rows:
        raise RuntimeError(f"something hangs on removed traces in {', '.join(sorted(rows))}")


def _remove_content(left: dict[str, Any], organisation: UUID) -> int:
    """Contents that no other trace has, and what was made of them."""
    may_remove_contents(organisation)
    free = _free_hashes(left, organisation)
    still = pictures_of(TraceStep.objects.filter(organisation=organisation), left["pictures"])
    pictures = set(left["pictures"]) - still
    removed = 0
    for model, hashes in ((Fragment, free), (Body, free), (Picture, pictures)):
        if hashes:
            removed += remove_all(model.objects.filter(organisation=organisation, sha256__in=hashes))
    files = ImportedFile.objects.filter(organisation=organisation, pk__in=left["files"])
    # What could not be read of a file may quote it.
    removed += remove_all(ImportProblem.objects.filter(organisation=organisation, file__in=left["files"]))
    used = Trace.objects.filter(organisation=organisation, file__in=left["files"]).values("file")
    for project, run in left["runs"]:
        # Reports are of all versions of a run.
        if not Trace.objects.filter(organisation=organisation, project=project, external_id=run).exists():
            reports = CheckReport.objects.filter(organisation=organisation, project=project, external_id=run)
            removed += remove_all(reports)
    brought = CheckReport.objects.filter(organisation=organisation, file__in=left["files"]).values("file")
    removed += remove_all(files.exclude(pk__in=used).exclude(pk__in=brought))
    for project, instance in left["instances"]:
        others = Trace.objects.filter(organisation=organisation, project=project, instance_id=instance)
        if not others.exists():
            texts = TaskText.objects.filter(organisation=organisation, project=project, instance_id=instance)
            removed += remove_all(texts)
    return removed


def _free_hashes(left: dict[str, Any], organisation: UUID) -> set[str]:
    """Hashes of contents that are still there, and that no trace has any more."""
    hashes = set(left["hashes"])
    hashes &= set(
        Body.objects.filter(organisation=organisation, sha256__in=hashes).values_list("sha256", flat=True)
    ) | set(Fragment.objects.filter(organisation=organisation, sha256__in=hashes).values_list("sha256", flat=True))
    for model, column in ((Trace, "content_sha256"), (TraceStep, "sha256"), (TraceFile, "sha256")):
        if not hashes:
            break
        rows = model.objects.filter(organisation=organisation, **{f"{column}__in": hashes})
        hashes -= set(rows.values_list(column, flat=True))
    return hashes


def _remove_mentions(left: dict[str, Any], organisation: UUID) -> int:
    """Rows that only name the traces; in the audit trail and in what jobs said the name is taken out alone."""
    names, removed = left["names"], 0
    for model, fields in (*_REPORTS, *_EVENTS):
        rows = _naming(model, fields, names).filter(organisation=organisation)
        if (model, fields) in _REPORTS:
            rows = rows.filter(project__in=left["projects"])
        removed += remove_all(rows)
    acts = _naming(SteeringAct, ("sentence",), names, quoted=False).filter(organisation=organisation)
    removed += remove_all(acts.filter(project__in=left["projects"]))
    removed += _blank(AuditEvent, "target_label", names, organisation)
    for model, field in ((AuditEvent, "detail"), (Job, "result"), (Job, "error"), (ScheduleRun, "result"),
                         (ScheduleRun, "error"), (Export, "manifest"), (Export, "options")):  # fmt: skip
        removed += _take_out(model, field, names, organisation)
    return removed


def _uncount(ids: Collection[UUID]) -> None:
    """Take the annotations back, so that every count that lives beside them goes down by them."""
    submissions = Submission.objects.not_withdrawn().filter(assignment__trace__in=ids)
    rows = list(submissions.values_list("pk", "assignment", "project"))
    Withdrawal.objects.bulk_create(Withdrawal(submission_id=pk) for pk, _, _ in rows)
    for project in Project.everything.filter(pk__in={project for _, _, project in rows}):
        take_in(project=project, assignments={one for _, one, of in rows if of == project.pk})


def _exports(ids: Collection[UUID]) -> Iterable[Export]:
    """Files of the traces' projects that were made since the first of them came in, and are still kept."""
    if (since := _imported(ids)) is None:
        return []
    projects = Trace.objects.filter(pk__in=ids).values("project")
    return Export.objects.filter(project__in=projects, requested_at__gte=since, removed_at=None).exclude(parts=[])


def _imported(ids: Collection[UUID]) -> datetime | None:
    since: datetime | None = Trace.objects.filter(pk__in=ids).aggregate(at=Min("imported_at"))["at"]
    return since


def _schedules_elsewhere(exports: Iterable[Export]) -> list[str]:
    rows = ExportSchedule.objects.filter(pk__in={row.schedule_id for row in exports if row.schedule_id})
    return sorted(rows.exclude(destination=Destination.KEPT).values_list("name", flat=True))


def _names(traces: Iterable[Trace]) -> set[str]:
    """By what a row may mean one of them: its id, and what its importer called it, unless that says nothing."""
    names = {str(trace.pk) for trace in traces}
    return names | {trace.external_id for trace in traces if len(trace.external_id) >= _SHORTEST_NAME}


_SHORTEST_NAME = 3
_NO_COMMON_WORD = 8


def _naming(model: type[Any], fields: Iterable[str], names: Iterable[str], *, quoted: bool = True) -> Any:
    """Rows in which one of the names stands as a whole text of JSON, or anywhere."""
    wanted = Q(pk__in=[])
    for field in fields:
        for name in names:
            wanted |= Q(**{f"{field}__icontains": json.dumps(name, ensure_ascii=False) if quoted else name})
    return model.objects.filter(wanted)


def _blank(model: type[Any], field: str, names: Iterable[str], organisation: UUID) -> int:
    """Empty the field where it is one of the names, or one with a version behind it."""
    wanted = Q(pk__in=[])
    for name in names:
        wanted |= Q(**{field: name}) | Q(**{f"{field}__startswith": f"{name} (version "})
    changed: int = model.objects.filter(wanted, organisation=organisation).update(**{field: ""})
    return changed


def _take_out(model: type[Any], field: str, names: Iterable[str], organisation: UUID) -> int:
    """Of JSON where a name is a whole text, of sentences where it is long enough to be no common word."""
    table = model._meta.db_table
    is_text = model._meta.get_field(field).get_internal_type() != "JSONField"
    chosen = [name for name in names if not read_id(name) and (not is_text or len(name) >= _NO_COMMON_WORD)]
    return sum(replace_in(organisation, table, field, name, ERASED, is_whole_text=True) for name in chosen)


def _count(table: str, ids: Collection[UUID]) -> int:
    with connection.cursor() as cursor:
        name = connection.ops.quote_name(table)
        cursor.execute(f"SELECT count(*) FROM {name} WHERE trace_id = ANY (%s)", [list(ids)])  # noqa: S608
        return int(cursor.fetchone()[0])


def _organisation() -> UUID:
    organisation = active_organisation()
    if organisation is None:
        raise RuntimeError("Traces are removed in an organisation: open acting_in(organisation).")
    return organisation
