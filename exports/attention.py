"""Exports that need somebody: those whose last attempt failed."""

from collections.abc import Callable, Iterator
from datetime import timedelta

from django.utils import timezone

from accounts.attention import Harm, Matter, Remedy
from accounts.models import Project
from exports.actions import request_export
from exports.models import Export
from jobs.models import JobState
from potato.wording import moment
from tenancy.roles import Right

_LOOKED_BACK = timedelta(days=14)


def failed_exports(project: Project) -> Iterator[Matter]:
    """Of each format the newest export of the last two weeks, where it failed. One query."""
    since = timezone.now() - _LOOKED_BACK
    recent = Export.objects.for_project(project).filter(requested_at__gte=since).select_related("job")
    newest = recent.defer("parts", "manifest").order_by("format", "-requested_at").distinct("format")
    for export in newest:
        if export.job is not None and export.job.state == JobState.FAILED:
            at = export.job.finished_at or export.requested_at
            again = Remedy("again", "Try again", "refresh-cw", act=_again(project, export), right=Right.EXPORT)
            yield Matter(
                key=f"export-failed:{export.pk}",
                harm=Harm.FAILED,
                sentence=f"The export “{export.format}” failed {moment(timezone.localtime(at), timezone.localtime())}.",
                reason=export.job.error,
                icon="circle-alert",
                remedies=(again,),
            )


def _again(project: Project, export: Export) -> Callable[[], str]:
    def again() -> str:
        made = request_export(project=project, format=export.format, options=export.options)
        return f"{made.format} is being exported again, with the same options."

    return again
