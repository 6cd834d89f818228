"""Batches that an invitation may name, in which whoever joins is named. The app above this one that has batches
registers them in AppConfig.ready()."""

from collections.abc import Callable

from accounts.models import Project, User

Choices = Callable[[Project], list[tuple[int, str]]]
NamePerson = Callable[[Project, int, User], None]
IsNamed = Callable[[Project, int, User], bool]

_registered: list[tuple[Choices, NamePerson, IsNamed]] = []


def register(choices: Choices, name_person: NamePerson, is_named: IsNamed) -> None:
    """`choices` answers the numbers and names of a project's batches in which people can be named now; `name_person`
    names somebody in the batch of that number, and does nothing where that is over; `is_named` says whether there is
    nothing left for it to do."""
    _registered[:] = [(choices, name_person, is_named)]


def batches_to_name(project: Project) -> list[tuple[int, str]]:
    """The batches of the project in which people can be named, by number, with their names."""
    return [choice for choices, _, _ in _registered for choice in choices(project)]


def name_in_batch(project: Project, number: int, user: User) -> None:
    """Name the person in the project's batch of that number; nothing where it is over."""
    for _, name_person, _ in _registered:
        name_person(project, number, user)


def is_named(project: Project, number: int, user: User) -> bool:
    """Whether the person is named in the project's batch of that number, or it is over, so that nobody can be."""
    return all(is_one(project, number, user) for _, _, is_one in _registered)
