"""What came in since a report, and what reviewers decided since."""

from datetime import datetime
from uuid import UUID

from accounts.models import Project
from assignments.models import Decision, Outcome, Submission
from assignments.models.submissions import SubmissionQuerySet


def came_in_after(project: Project, moment: datetime) -> SubmissionQuerySet:
    """The project's submissions that count and were stored after that millisecond, whatever time an archive gave them.

    Ids hold the time, and submissions are indexed by project and id, not by the time at which they were submitted.
    """
    return Submission.objects.for_project(project).counted().filter(pk__gte=_first_id_after(moment))


def decided_after(project: Project, moment: datetime) -> SubmissionQuerySet:
    """The project's submissions that were there then, and count no more, or again, by a decision since."""
    first = _first_id_after(moment)
    # Of what was never decided of, an acceptance changes nothing.
    decisions = Decision.objects.for_project(project).filter(pk__gte=first).exclude(outcome=Outcome.ACCEPTED, number=1)
    return Submission.objects.for_project(project).filter(pk__in=decisions.values("submission"), pk__lt=first)


def has_changed_after(project: Project, moment: datetime) -> bool:
    """Whether other annotations count than did then."""
    return came_in_after(project, moment).exists() or decided_after(project, moment).exists()


def _first_id_after(moment: datetime) -> UUID:
    # The layout of RFC 9562: 48 bits of milliseconds, then the version 7 and the variant, and nothing random.
    return UUID(int=(int(moment.timestamp() * 1000) + 1) << 80 | 7 << 76 | 2 << 62)
