"""What submissions say in a few words, read with the configurations that they were made under."""

from collections.abc import Iterable
from uuid import UUID

from accounts.models import ConfigurationVersion
from assignments.models import Submission
from potato.configuration import ProjectConfiguration, UnreadablePinError, pinned
from potato.records.annotations import summaries


def submission_summaries(submissions: Iterable[Submission]) -> dict[UUID, list[str]]:
    """The words of each submission by its id, with one query for all; none where its configuration no longer loads.

    The submissions come with their assignments.
    """
    submissions = list(submissions)
    configurations = _configurations({submission.assignment.version_id for submission in submissions})
    return {
        submission.pk: summaries(submission.result, configuration)
        if (configuration := configurations.get(submission.assignment.version_id))
        else []
        for submission in submissions
    }


def _configurations(versions: set[UUID]) -> dict[UUID, ProjectConfiguration]:
    configurations = {}
    for pk, configuration in ConfigurationVersion.objects.filter(pk__in=versions).values_list("pk", "configuration"):
        try:
            configurations[pk] = pinned(configuration)
        except UnreadablePinError:
            continue
    return configurations
