"""The tabs of a project's pages. Each app registers the pages that it brings, in its AppConfig.ready()."""

from collections.abc import Callable
from dataclasses import dataclass

from django.http import HttpRequest
from django.urls import reverse

from accounts.models import Project
from tenancy.permissions import allowed
from tenancy.roles import Right


@dataclass(frozen=True)
class ProjectTab:
    """A page of every project, at `address`, for those with the `right`.

    `position` orders the tabs: Overview 10, Traces 20, Imports 25, Batches 30, Annotations 40, People 50, Agreement 60,
    Exports 70, Set-up 80. `count` answers the number beside the title, None for none; it is asked on every page, so
    that it reads what is counted already. `also` is a right of the organisation that the page needs beside, as one in
    the admin does.
    """

    name: str
    title: str
    position: int
    right: Right
    address: Callable[[Project], str]
    count: Callable[[Project], int | None] | None = None
    also: Right | None = None


@dataclass(frozen=True)
class ShownTab:
    name: str
    title: str
    url: str
    count: int | None
    is_current: bool


_registered: dict[str, ProjectTab] = {}


def register(tab: ProjectTab) -> None:
    """Called in AppConfig.ready()."""
    _registered[tab.name] = tab


def unregister(name: str) -> None:
    del _registered[name]


def under(url_name: str) -> Callable[[Project], str]:
    """The address of a route that takes the project's slug alone."""
    return lambda project: reverse(url_name, args=[project.slug])


def visible_tabs(request: HttpRequest, project: Project, current: str) -> list[ShownTab]:
    """The tabs that this person may open, in their order; `current` is the name of the one that is open."""
    ordered = sorted(_registered.values(), key=lambda tab: tab.position)
    return [
        ShownTab(
            tab.name, tab.title, tab.address(project), tab.count(project) if tab.count else None, tab.name == current
        )
        for tab in ordered
        if allowed(request, tab.right, project) and (tab.also is None or allowed(request, tab.also))
    ]
