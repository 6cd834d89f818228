"""Agreement that needs somebody: its last computation, or the last run of a schedule, failed."""

from collections.abc import Iterator

from accounts.attention import AttentionItem, failed, once_more
from accounts.models import Project
from accounts.schedules.attention import failed_schedules
from agreement.actions import request_report
from agreement.reports import newest_requested
from agreement.scheduling import ScheduledReports
from jobs.models import JobState


def failed_report(project: Project) -> Iterator[AttentionItem]:
    """Where that was no schedule's, which says it itself. One query."""
    report = newest_requested(project)
    if report is None or report.job is None or report.job.state != JobState.FAILED or report.schedule_id is not None:
        return

    def again() -> str:
        request_report(project=project)
        return "Agreement is being computed again."

    yield failed(
        key=f"agreement-failed:{report.pk}",
        sentence="Agreement could not be computed.",
        reason=report.job.error,
        remedies=(once_more("Compute again", again),),
    )


def failed_schedules_of_reports(project: Project) -> Iterator[AttentionItem]:
    return failed_schedules(ScheduledReports(), project)
