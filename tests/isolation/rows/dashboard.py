"""What makes a row of each tenant table of dashboard."""

from datetime import timedelta

from django.utils import timezone

from dashboard.models import CountedAnnotation, Dismissal, ProjectTally
from tests.isolation.rows.fixtures import Factories, Fixtures


def _project_tally(fixtures: Fixtures) -> ProjectTally:
    counts = {"code_review_verdict/verdict": {"decision": {fixtures.mark: 1}}}
    return ProjectTally.objects.create(project=fixtures.rows["accounts.Project"], counts=counts, annotations=1)


def _counted_annotation(fixtures: Fixtures) -> CountedAnnotation:
    return CountedAnnotation.objects.create(
        project=fixtures.rows["accounts.Project"],
        assignment=fixtures.rows["assignments.Assignment"],
        submission=fixtures.rows["assignments.Submission"],
        user=fixtures.person,
        submitted_at=timezone.now(),
        is_surplus=False,
    )


def _dismissal(fixtures: Fixtures) -> Dismissal:
    return Dismissal.objects.create(
        project=fixtures.rows["accounts.Project"],
        key=fixtures.mark,
        reason=fixtures.mark,
        dismissed_by=fixtures.person,
        until=timezone.now() + timedelta(days=7),
    )


FACTORIES: Factories = {
    "dashboard.ProjectTally": _project_tally,
    "dashboard.Dismissal": _dismissal,
    "dashboard.CountedAnnotation": _counted_annotation,
}
