"""Whom a schedule mails: members with the right that its kind asks for."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from uuid import UUID

from django.http import QueryDict

from accounts.models import Membership, Project
from accounts.models.members import members_with
from jobs.models import Schedule
from jobs.schedules.definitions import BadSchedule
from tenancy.roles import Right

MOST_PEOPLE = 50
_FIELD = "tell."


@dataclass(frozen=True)
class PossibleRecipient:
    """A member who can be mailed, with the name of the form's field and what stands in it."""

    member: Membership
    field: str
    when: str


def checked_recipients(project: Project, people: Mapping[UUID, str], right: Right) -> list[dict[str, str]]:
    """As a schedule stores them. Raises BadSchedule for people without the right, and for too many."""
    if len(people) > MOST_PEOPLE:
        raise BadSchedule(f"At most {MOST_PEOPLE} people get mails.")
    if set(people.values()) - {"failed", "always"}:
        raise BadSchedule("People get a mail either when it failed (failed) or of every run (always).")
    known = set(members_with(right, project).filter(user__in=people).values_list("user", flat=True))
    if strangers := [str(person) for person in people if person not in known]:
        raise BadSchedule(
            f"{', '.join(strangers)}: only who may {right} in the project gets mails. Leave these people out."
        )
    return [{"person": str(person), "when": when} for person, when in people.items()]


def possible_recipients(project: Project, sent: QueryDict, right: Right) -> list[PossibleRecipient]:
    """Everybody who can be mailed, with what the form says of them."""
    members = members_with(right, project).select_related("user").order_by("annotator_name")
    fields = [(member, f"{_FIELD}{member.user_id}") for member in members]
    return [PossibleRecipient(member, field, sent.get(field, "")) for member, field in fields]


def is_recipient_field(name: str) -> bool:
    return name.startswith(_FIELD)


def departed_recipients(project: Project, schedule: Schedule, right: Right) -> list[str]:
    """The names of those whom the schedule mails no more, as they left or lost the right."""
    members = Membership.objects.filter(user__in=[recipient["person"] for recipient in schedule.recipients])
    departed = members.exclude(pk__in=members_with(right, project).values("pk"))
    return list(departed.order_by("annotator_name").values_list("annotator_name", flat=True))


def sent_recipients(sent: QueryDict) -> dict[UUID, str]:
    """Whom a form names, by id."""
    named = {name.removeprefix(_FIELD): sent.get(name, "") for name in sent if is_recipient_field(name)}
    people = {}
    for name, when in named.items():
        try:
            if when:
                people[UUID(name)] = when
        except ValueError:
            raise BadSchedule(f"{name[:60]!r} is no id of a person. Load the page again, and choose anew.") from None
    return people


def recipients_by_name(people: Mapping[str, str]) -> dict[UUID, str]:
    """By id, of those named by annotator name. Raises BadSchedule for names that nobody here has."""
    members = Membership.objects.active().filter(annotator_name__in=people)
    ids = {member.annotator_name: member.user_id for member in members}
    if strangers := sorted(set(people) - set(ids)):
        raise BadSchedule(f"Nobody here has the annotator name {', '.join(strangers)}. Leave out who is no member.")
    return {ids[name]: when for name, when in people.items()}


def names_of_recipients(schedules: Iterable[Schedule]) -> dict[str, str]:
    """The annotator names of all whom these schedules mail, by the ids that the schedules have. One query."""
    people = {recipient["person"] for schedule in schedules for recipient in schedule.recipients}
    members = Membership.objects.filter(user__in=people).values_list("user_id", "annotator_name")
    return {str(user): name for user, name in members}


def recipient_names(schedule: Schedule, names: Mapping[str, str]) -> list[tuple[str, str]]:
    """Whom it mails, by annotator name, each with when."""
    told = ((names.get(recipient["person"]), recipient["when"]) for recipient in schedule.recipients)
    return sorted((name, when) for name, when in told if name is not None)
