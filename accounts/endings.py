"""What has to happen when a membership ends, at once and in the same transaction, in apps above this one."""

from collections.abc import Callable

from accounts.models import User

GiveBack = Callable[[User], int]

_givers: list[GiveBack] = []


def register(give_back: GiveBack) -> None:
    """Called in AppConfig.ready(). `give_back` takes from the person what they hold in the active organisation, so that
    others can have it, and answers how many tasks that were."""
    _givers.append(give_back)


def give_everything_back(user: User) -> int:
    """Take from the person what they hold in the active organisation; returns how many tasks that were."""
    return sum(give_back(user) for give_back in _givers)
