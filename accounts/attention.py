"""What of a project needs somebody. Each app registers the rules that it brings, in its AppConfig.ready().

A rule is a small function that looks at what is in the database now: what is solved is gone with the next look.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum

from django.http import HttpRequest
from django.urls import reverse

from accounts.models import Project
from tenancy.permissions import allowed
from tenancy.roles import Right


class Harm(IntEnum):
    """How bad it is to leave it, the worst first; `icon` and `tone` say it on the page."""

    FAILED = 1
    LATE = 2
    QUALITY = 3
    CHOICE = 4


@dataclass(frozen=True)
class Remedy:
    """One thing to do about it, on a button. Either `url`, a page on which it is solved, or `act`, which solves it at
    once and answers a sentence that says what was done. `right` is needed for it."""

    name: str
    label: str
    icon: str
    url: str = ""
    act: Callable[[], str] | None = None
    right: Right = Right.SEE_ANNOTATIONS

    @property
    def acts(self) -> bool:
        """For templates, which would call `act` by naming it."""
        return self.act is not None


@dataclass(frozen=True)
class AttentionItem:
    """Something that needs somebody: one sentence, one reason, one or two remedies.

    `key` names the cause and stays the same as long as it does; what is dismissed is the cause, not the sentence.
    """

    key: str
    harm: Harm
    sentence: str
    reason: str
    icon: str
    remedies: tuple[Remedy, ...] = ()


def failed(*, key: str, sentence: str, reason: str, remedies: tuple[Remedy, ...]) -> AttentionItem:
    """Something was to be made in the background, and was not; `reason` is what its job says."""
    return AttentionItem(key, Harm.FAILED, sentence, reason, "circle-alert", remedies)


def once_more(label: str, act: Callable[[], str], right: Right = Right.SEE_ANNOTATIONS) -> Remedy:
    """Ask for it again; `act` answers a sentence that says so."""
    return Remedy("again", label, "refresh-cw", act=act, right=right)


Rule = Callable[[Project], Iterable[AttentionItem]]


@dataclass(frozen=True)
class _Registered:
    rule: Rule
    right: Right


_registered: dict[str, _Registered] = {}


def register(name: str, rule: Rule, right: Right = Right.SEE_ANNOTATIONS) -> None:
    """Called in AppConfig.ready(); only those with the right are shown what the rule finds."""
    _registered[name] = _Registered(rule, right)


def unregister(name: str) -> None:
    del _registered[name]


def list_matters(
    request: HttpRequest, project: Project, known: Mapping[str, Iterable[AttentionItem]] | None = None
) -> list[AttentionItem]:
    """Everything that needs the person who asks, the most harmful first; remedies without a right are left out.

    `known` has, by the name of a rule, what it finds, from a caller who has read the same rows for something else.
    """
    known = known or {}
    matters = [
        _for_person(request, project, matter)
        for name, one in _registered.items()
        if allowed(request, one.right, project)
        for matter in (known[name] if name in known else one.rule(project))
    ]
    return sorted(matters, key=lambda matter: (matter.harm, matter.key))


def _for_person(request: HttpRequest, project: Project, matter: AttentionItem) -> AttentionItem:
    # Who may not manage the project reads what is the matter, and what acts on it is not offered.
    acts = allowed(request, Right.MANAGE_PROJECTS, project)
    remedies = tuple(
        one
        for one in matter.remedies
        if allowed(request, one.right, project) and (acts or not one.acts) and _opens(request, one.url)
    )
    return AttentionItem(matter.key, matter.harm, matter.sentence, matter.reason, matter.icon, remedies)


def _opens(request: HttpRequest, url: str) -> bool:
    """Whether the page opens for the person: those of the admin do for admins alone."""
    return allowed(request, Right.USE_ADMIN) or not url.startswith(reverse("admin:index"))
