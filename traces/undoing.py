"""Undo of an import: its traces go while nobody has judged or holds one, and what they had replaced is back."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.core.files.storage import default_storage
from django.db import connection, transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone

from accounts.actions.projects import demand_unarchived
from potato.wording import counted, listed
from tenancy import audit
from tenancy.actor import current
from tenancy.errors import Refused
from traces import uses
from traces.contents import may_remove_contents
from traces.importing.storing import one_at_a_time
from traces.models import CheckReport, ImportedFile, ImportProblem, TaskText, Trace, TraceSecrets
from traces.models.traces import TraceQuerySet
from traces.run_names import run_name

UNDONE_AT_ONCE = 5_000
"""So many traces go in one transaction, for which whoever imports into the project waits."""
_SHOWN = 20


class CannotUndo(Refused):
    code = "cannot_undo"


@dataclass(frozen=True)
class Undoing:
    """What the undo of an import would take away, and what stands in its way.

    `obstacles` are sentences with the names of traces, `further` counts those that are not shown. `reopened` counts
    older versions that would be given out again.
    """

    traces: int
    texts: int
    reports: int
    reopened: int
    obstacles: tuple[str, ...]
    further: int

    @property
    def is_possible(self) -> bool:
        return not self.obstacles

    @property
    def words(self) -> str:
        """What goes, as in "12 traces and 3 texts of tasks"."""
        parts = [counted(self.traces, "trace")] if self.traces or not (self.texts or self.reports) else []
        parts += [counted(self.texts, "text of a task", "texts of tasks")] if self.texts else []
        return listed([*parts, *([counted(self.reports, "report")] if self.reports else [])], "and")


def undoing(file: ImportedFile) -> Undoing:
    """What would go, as things are now."""
    traces = list(_traces(file).order_by("pk").values_list("pk", flat=True)[: UNDONE_AT_ONCE + 1])
    return _preview(file, traces)


def undo_import(*, file: ImportedFile) -> Undoing:
    """Remove the import's traces and texts; the import's row stays, and says that it was undone.

    Raises CannotUndo with what stands in the way, and ProjectArchived; then nothing goes.
    """
    demand_unarchived(file.project)
    with transaction.atomic():
        may_remove_contents()
        one_at_a_time(file)
        locked = ImportedFile.objects.select_for_update(of=("self",)).select_related("job", "project").get(pk=file.pk)
        traces = list(_traces(locked).order_by("pk").values_list("pk", flat=True)[: UNDONE_AT_ONCE + 1])
        uses.lock(traces)
        preview = _preview(locked, traces)
        if not preview.is_possible:
            raise CannotUndo(f"{locked.name} cannot be undone. {' '.join(preview.obstacles)}")
        uses.forget(traces)
        TraceSecrets.objects.filter(trace__in=traces).delete()
        with connection.cursor() as cursor:
            cursor.execute("SELECT traces_remove(%s)", [traces])
            # Who refers to one of them is told by the database here, and not when the answer is on its way.
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        TaskText.objects.filter(organisation=locked.organisation_id, file=locked).delete()
        CheckReport.objects.filter(organisation=locked.organisation_id, file=locked).delete()
        _forget_quotations(locked)
        locked.undone_at, locked.undone_by_id = timezone.now(), current().user
        locked.save(update_fields=["undone_at", "undone_by"])
        audit.record(
            "traces.import-undone",
            locked.project,
            file=locked.name,
            traces=preview.traces,
            texts=preview.texts,
            reports=preview.reports,
            reopened=preview.reopened,
        )
    if locked.stored_as:
        default_storage.delete(locked.stored_as)
    return preview


def _forget_quotations(file: ImportedFile) -> None:
    """What could not be read may be quoted where it is said, and where the reading stopped."""
    ImportProblem.objects.filter(organisation=file.organisation_id, file=file).delete()
    if file.job is not None:
        file.job.cursor = None
        file.job.error = file.job.error and "Undone: what was said of its content went with it."
        file.job.save(update_fields=["cursor", "error"])


def _preview(file: ImportedFile, traces: Sequence[UUID]) -> Undoing:
    sentences = list(_in_the_way(file, traces))
    older = Trace.objects.filter(
        organisation=file.organisation_id,
        project=file.project_id,
        external_id=OuterRef("external_id"),
        version=OuterRef("version") - 1,
    )
    return Undoing(
        traces=len(traces) if len(traces) <= UNDONE_AT_ONCE else _traces(file).count(),
        texts=TaskText.objects.filter(organisation=file.organisation_id, file=file).count(),
        reports=CheckReport.objects.filter(organisation=file.organisation_id, file=file).count(),
        reopened=_traces(file).filter(Exists(older.exclude(file=file))).count(),
        obstacles=tuple(sentences[:_SHOWN]),
        further=max(0, len(sentences) - _SHOWN),
    )


def _in_the_way(file: ImportedFile, traces: Sequence[UUID]) -> list[str]:
    if file.undone_at is not None:
        return ["It was undone already."]
    if file.job is not None and file.job.is_open:
        return ["It is still being read: cancel it first, then undo what came in."]
    if file.job is None and not traces:
        return ["Nothing of it is left."]
    if len(traces) > UNDONE_AT_ONCE:
        return [
            f"It brought more than {counted(UNDONE_AT_ONCE, 'trace')}, the most that are undone at once. "
            "Exclude or retire them on the page Traces instead."
        ]
    reasons: dict[UUID, Counter[str]] = {}
    for use in uses.uses(traces):
        reasons.setdefault(use.trace, Counter())[use.words] += 1
    newer = Trace.objects.filter(
        organisation=file.organisation_id,
        project=file.project_id,
        external_id=OuterRef("external_id"),
        version=OuterRef("version") + 1,
    ).exclude(file=file)
    for trace in _traces(file).filter(Exists(newer)).values_list("pk", flat=True):
        reasons.setdefault(trace, Counter())["a later import has a newer version"] += 1
    names = _names([*reasons])
    return [f"{names[trace]}: {listed(words, 'and')}." for trace, words in reasons.items()]


def _names(traces: Sequence[UUID]) -> dict[UUID, str]:
    rows = Trace.objects.filter(pk__in=traces).values_list("pk", "task", "external_id")
    return {key: run_name(task, external_id) for key, task, external_id in rows}


def _traces(file: ImportedFile) -> TraceQuerySet:
    return Trace.objects.filter(organisation=file.organisation_id, file=file)
