"""What submissions say in a few words, read with the configurations that they were made under."""

from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from accounts.models import ConfigurationVersion
from assignments.models import Submission
from potato.configuration import ProjectConfiguration, UnreadablePinError, pinned
from potato.records.annotations import opinions, summaries, unjudged_reason
from potato.schemes.opinions import Choice
from potato.schemes.unjudged import TITLE
from potato.wording import shortened


@dataclass(frozen=True)
class ShownChoice:
    """A value as a badge; `colour` names it in the sheet of the version's colours, "" for none."""

    words: str
    icon: str | None
    colour: str

    @classmethod
    def of(cls, choice: Choice, scheme: str) -> "ShownChoice":
        return cls(choice.words, choice.icon, f"{scheme}.{choice.value}" if choice.is_coloured else "")


@dataclass(frozen=True)
class Brief:
    """What a submission says, as a list shows it: the coloured value that it gives to the whole run, if it gives one,
    and the rest in words."""

    choice: ShownChoice | None
    words: tuple[str, ...]


def submission_summaries(submissions: Iterable[Submission]) -> dict[UUID, list[str]]:
    """The words of each submission by its id, with one query for all; none where its configuration no longer loads.

    The submissions come with their assignments.
    """
    submissions = list(submissions)
    configurations = readable_configurations({submission.assignment.version_id for submission in submissions})
    return {
        submission.pk: summaries(submission.result, configuration)
        if (configuration := configurations.get(submission.assignment.version_id))
        else []
        for submission in submissions
    }


def submission_briefs(submissions: Iterable[Submission]) -> dict[UUID, Brief]:
    """The same with the value of the whole run apart, as a badge."""
    submissions = list(submissions)
    configurations = readable_configurations({submission.assignment.version_id for submission in submissions})
    return {
        submission.pk: _brief(submission, configuration)
        if (configuration := configurations.get(submission.assignment.version_id))
        else Brief(None, ())
        for submission in submissions
    }


def _brief(submission: Submission, configuration: ProjectConfiguration) -> Brief:
    result = submission.result
    of_the_whole = (
        ShownChoice.of(choice, scheme.name)
        for scheme, _, opinion in opinions(result, configuration)
        if opinion.is_of_the_whole
        for choice in opinion.choices
        if choice.is_coloured
    )
    if (why := unjudged_reason(result, configuration)) is not None:
        return Brief(ShownChoice(TITLE, "eye-off", ""), (shortened(why),))
    choice = next(of_the_whole, None)
    words = summaries(result, configuration)
    return Brief(choice, tuple(word for word in words if choice is None or word != choice.words))


def readable_configurations(versions: set[UUID]) -> dict[UUID, ProjectConfiguration]:
    """Those of these versions that this installation can read, by the versions' ids. One query."""
    configurations = {}
    for pk, configuration in ConfigurationVersion.objects.filter(pk__in=versions).values_list("pk", "configuration"):
        try:
            configurations[pk] = pinned(configuration)
        except UnreadablePinError:
            continue
    return configurations
