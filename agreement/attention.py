"""Agreement that needs somebody: its last computation failed."""

from collections.abc import Iterator

from accounts.attention import Harm, Matter, Remedy
from accounts.models import Project
from agreement.actions import request_report
from agreement.reports import newest_requested
from jobs.models import JobState


def failed_report(project: Project) -> Iterator[Matter]:
    """One query."""
    report = newest_requested(project)
    if report is None or report.job is None or report.job.state != JobState.FAILED:
        return

    def again() -> str:
        request_report(project=project)
        return "Agreement is being computed again."

    yield Matter(
        key=f"agreement-failed:{report.pk}",
        harm=Harm.FAILED,
        sentence="Agreement could not be computed.",
        reason=report.job.error,
        icon="circle-alert",
        remedies=(Remedy("again", "Compute again", "refresh-cw", act=again),),
    )
