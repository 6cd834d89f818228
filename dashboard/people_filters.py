"""What the list of a project's people can be narrowed to, and its chips.

Whoever fits is chosen in memory: the page reads all of them anyway, for its figures.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import ClassVar
from uuid import UUID

from django.utils import timezone

from accounts.filters import FilterChip, FilterOption, Filters, single_chip
from accounts.models import Project
from assignments.models import Batch, BatchPerson, BatchState
from dashboard.people import SHOWS, SORTS, Person

_WEEK, _DAY = timedelta(days=7), timedelta(days=1)


def _seen_within(time: timedelta) -> Callable[[Person], bool]:
    return lambda one: one.seen_at is not None and timezone.now() - one.seen_at < time


_Choices = Mapping[str, tuple[str, Callable[[Person], bool]]]
SEEN: _Choices = {
    "now": ("Active now", lambda one: one.is_active_now),
    "day": ("Within a day", _seen_within(_DAY)),
    "week": ("Within seven days", _seen_within(_WEEK)),
    "longer": ("Longer ago", lambda one: one.seen_at is not None and not _seen_within(_WEEK)(one)),
    "never": ("Not yet", lambda one: one.seen_at is None),
}
AGREEMENT: _Choices = {
    "low": ("Below 0.40", lambda one: one.is_red),
    "fine": ("0.40 and more", lambda one: one.agreement is not None and not one.agreement.is_few and not one.is_red),
    "few": ("Few pairs", lambda one: one.agreement is not None and one.agreement.is_few),
    "flagged": ("Fast, low agreement", lambda one: one.is_flagged),
}
WORK: _Choices = {
    "held": ("Holds a task", lambda one: one.held > 0),
    "paused": ("Paused", lambda one: one.is_paused),
    "limited": ("Limited", lambda one: bool(one.limits)),
}
_CHIPS: Mapping[str, tuple[str, _Choices]] = {
    "seen": ("Seen", SEEN),
    "agreement": ("Agreement", AGREEMENT),
    "work": ("Work", WORK),
}


@dataclass(frozen=True)
class PeopleFilters(Filters):
    show: str = "members"
    name: str = ""
    role: str = ""
    seen: str = ""
    agreement: str = ""
    work: str = ""
    batch: str = ""
    """The number of one that is for named people alone."""
    sort: str = "done"

    allowed: ClassVar = {"show": SHOWS, "seen": SEEN, "agreement": AGREEMENT, "work": WORK, "sort": SORTS}

    @property
    def narrows(self) -> bool:
        return any((self.name, self.role, self.seen, self.agreement, self.work, self.batch))


class PeopleList:
    """The people of one tab, as the address asks for them."""

    def __init__(self, project: Project, people: list[Person], filters: PeopleFilters) -> None:
        self._people, self._filters = people, filters
        self.batches = list(
            Batch.objects.for_project(project)
            .filter(is_restricted=True)
            .exclude(state=BatchState.WITHDRAWN)
            .order_by("number")
        )
        named = BatchPerson.objects.filter(organisation=project.organisation_id, batch__in=self.batches)
        self._named: dict[str, set[UUID]] = {str(batch.number): set() for batch in self.batches}
        numbers = {batch.pk: str(batch.number) for batch in self.batches}
        for batch, user in named.values_list("batch", "user"):
            self._named[numbers[batch]].add(user)

    def chosen(self, *, but: str = "") -> list[Person]:
        """Those whom every filter lets through, without asking the filter `but`."""
        return [one for one in self._people if all(self._fits(one, name) for name in _ASKED if name != but)]

    def chips(self) -> list[FilterChip]:
        """Those with something to choose, and those that are set."""
        roles = {one.role: one.role for one in sorted(self._people, key=lambda one: one.role)}
        chips = [self._chip("role", "Role", roles)]
        chips += [
            self._chip(name, label, {value: words for value, (words, _) in choices.items()})
            for name, (label, choices) in _CHIPS.items()
        ]
        chips.append(self._chip("batch", "Batch", {str(batch.number): batch.name for batch in self.batches}))
        return [chip for chip in chips if chip.words or len(chip.options) > 1 or self._narrows(chip)]

    def _narrows(self, chip: FilterChip) -> bool:
        return any((option.count or 0) < len(self.chosen(but=chip.name)) for option in chip.options)

    def _chip(self, name: str, label: str, choices: Mapping[str, str]) -> FilterChip:
        others = self.chosen(but=name)
        now = getattr(self._filters, name)
        counted = ((value, sum(self._is(one, name, value) for one in others)) for value in choices)
        options = [FilterOption(value, choices[value], number) for value, number in counted if number or value == now]
        return single_chip(self._filters, name, label, options)

    def _fits(self, one: Person, name: str) -> bool:
        asked = getattr(self._filters, name)
        return not asked or self._is(one, name, asked)

    def _is(self, one: Person, name: str, value: str) -> bool:
        match name:
            case "name":
                return value.lower() in one.name.lower()
            case "role":
                return one.role == value
            case "batch":
                return one.membership.user_id in self._named.get(value, ())
        return _CHIPS[name][1][value][1](one)


_ASKED = ("name", "role", "seen", "agreement", "work", "batch")
