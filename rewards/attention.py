"""Statistics of process rewards that need somebody: their last computation failed."""

from collections.abc import Iterator

from accounts.attention import AttentionItem, failed, once_more
from accounts.models import Project
from jobs.models import JobState
from rewards.project_page import kept_statistics
from rewards.statistics import request_statistics


def failed_statistics(project: Project) -> Iterator[AttentionItem]:
    """One query."""
    row = kept_statistics(project)
    if row is None or row.job is None or row.job.state != JobState.FAILED:
        return

    def again() -> str:
        request_statistics(project=project)
        return "The statistics are being computed again."

    yield failed(
        key=f"statistics-failed:{row.job_id}",
        sentence="The statistics of process rewards could not be computed.",
        reason=row.job.error,
        remedies=(once_more("Compute again", again),),
    )
