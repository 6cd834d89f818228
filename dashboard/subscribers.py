"""What happens to annotations and changes the tallies."""

from assignments.models import Submission
from dashboard.actions import take_in
from jobs.models import OutboxEvent


def submission_changed(event: OutboxEvent) -> None:
    submission = Submission.objects.select_related("project").defer("packed").get(pk=event.payload["submission"])
    take_in(project=submission.project, assignments=[submission.assignment_id])
