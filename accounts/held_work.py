"""What has to happen when a membership, or a place in a project, ends, at once and in the same transaction, in apps
above this one."""

from collections.abc import Callable

from accounts.models import Project, User

GiveBack = Callable[[User, Project | None], int]
CountHeld = Callable[[User, Project | None], int]

_givers: list[tuple[GiveBack, CountHeld]] = []


def register(give_back: GiveBack, count: CountHeld) -> None:
    """Called in AppConfig.ready(). `give_back` takes from the person what they hold in the project, or without one in
    the whole active organisation, so that others can have it, and answers how many tasks that were. `count` answers how
    many it would be."""
    _givers.append((give_back, count))


def give_back_held(user: User, project: Project | None = None) -> int:
    """Take from the person what they hold in the project, without one in the whole active organisation; returns how
    many tasks that were."""
    return sum(give_back(user, project) for give_back, _ in _givers)


def count_held(user: User, project: Project | None = None) -> int:
    """How many tasks `give_back_held` would take."""
    return sum(count(user, project) for _, count in _givers)
