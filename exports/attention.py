"""Exports and their schedules that need somebody: those whose last attempt failed."""

from collections.abc import Callable, Iterator
from datetime import timedelta

from django.utils import timezone

from accounts.attention import AttentionItem, failed, once_more
from accounts.models import Project
from accounts.schedules.attention import failed_schedules
from exports.actions import request_export
from exports.models import Export
from exports.scheduling import ScheduledExports
from jobs.models import JobState
from potato.wording import moment
from tenancy.roles import Right

_LOOKED_BACK = timedelta(days=14)


def failed_exports(project: Project) -> Iterator[AttentionItem]:
    """Of each format the newest export of the last two weeks that a person asked for, where it failed. One query."""
    since = timezone.now() - _LOOKED_BACK
    by_people = Export.objects.for_project(project).filter(requested_at__gte=since, schedule__isnull=True)
    recent = by_people.select_related("job")
    newest = recent.defer("parts", "manifest").order_by("format", "-requested_at").distinct("format")
    for export in newest:
        if export.job is not None and export.job.state == JobState.FAILED:
            at = export.job.finished_at or export.requested_at
            yield failed(
                key=f"export-failed:{export.pk}",
                sentence=f"The export “{export.format}” failed {moment(timezone.localtime(at), timezone.localtime())}.",
                reason=export.job.error,
                remedies=(once_more("Try again", _again(project, export), Right.EXPORT),),
            )


def failed_schedules_of_exports(project: Project) -> Iterator[AttentionItem]:
    return failed_schedules(ScheduledExports(), project)


def _again(project: Project, export: Export) -> Callable[[], str]:
    def again() -> str:
        made = request_export(project=project, format=export.format, options=export.options)
        return f"{made.format} is being exported again, with the same options."

    return again
