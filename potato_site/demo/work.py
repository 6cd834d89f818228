"""Three weeks of six people's work, by the actions that the site's pages call: claim, submit, skip.

The same day gives the same work: who works when follows from the seed, what they say from the runs' planted truth.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from heapq import heappop, heappush
from random import Random
from typing import Any

from django.utils import timezone

from accounts.models import Organisation, Project, User
from assignments.actions.claiming import NothingToDo, claim_next
from assignments.actions.submitting import submit
from assignments.actions.working import release, skip
from assignments.models import Assignment
from potato_site.demo import judgements
from potato_site.demo.clock import PastClock
from potato_site.demo.judgements import SEED
from potato_site.demo.people import PEOPLE, Person
from potato_site.demo.runs import invented_runs
from tenancy.actor import acting_in

WEEKS = 3
_DAYS_OFF = 0.1
_SKIPPED = 0.015
_SATURDAY, _SUNDAY = 5, 6
_SKIP_REASONS = (
    "I worked on this code base myself, so I would not be impartial.",
    "I do not know this language well enough to judge it.",
)
# What each project asks for, how many days after the first it began, how often it is chosen, and by whom.
_SHOPPING = {
    "lamp-shop-1": ("correct", "correct", "incorrect", "correct", "correct"),
    "lamp-shop-2": ("correct", "correct", "correct", "correct"),
}
_SHOPPERS = ("annotator3", "annotator6")


@dataclass(frozen=True)
class _Kind:
    slug: str
    begins: int
    weight: int
    minutes_share: float


_KINDS = (
    _Kind("agent-code-review", 0, 4, 1.0),
    _Kind("process-rewards", 2, 3, 0.5),
    _Kind("first-errors", 3, 6, 0.35),
    _Kind("web-agents", 9, 1, 0.3),
)


@dataclass(order=True)
class _Act:
    """Something that a person does at a moment; `assignment` is what is submitted then, nothing for a claim."""

    at: datetime
    number: int
    person: Person = field(compare=False)
    left: int = field(compare=False)
    assignment: Assignment | None = field(compare=False, default=None)


def first_day(now: datetime) -> datetime:
    """The morning on which the demo's projects were set up: three weeks ago, on a working day."""
    day = timezone.localdate(now) - timedelta(weeks=WEEKS)
    while day.weekday() in (_SATURDAY, _SUNDAY):
        day += timedelta(days=1)
    return _at(day, 8.5)


class Work:
    """The work of all people in the projects, up to now."""

    def __init__(self, organisation: Organisation, projects: dict[str, Project], people: dict[str, User]) -> None:
        self._organisation, self._projects, self._people = organisation, projects, people
        self._runs = {run.name: run for run in invented_runs()}
        self._chance = Random(SEED)  # noqa: S311 - a simulation
        self._breaks = Random(SEED)  # noqa: S311 - its own, so that nothing else is drawn otherwise

    def do(self, clock: PastClock, until: datetime) -> int:
        """Do it in one transaction, so that it is there whole or not at all; returns how many were submitted."""
        submitted = number = 0
        begun = first_day(until)
        agenda = list(self._sessions(begun, until))
        with acting_in(self._organisation):
            while agenda:
                act = heappop(agenda)
                if act.at >= until:
                    break
                clock.moment = act.at
                if act.assignment is not None:
                    submitted += self._finish(act.assignment, act.person, act.at)
                    if act.left:
                        pause = timedelta(minutes=self._chance.uniform(1, 25))
                        number += 1
                        heappush(agenda, _Act(act.at + pause, -number, act.person, act.left))
                elif (claimed := self._claim(act, begun, until)) is not None:
                    number += 1
                    heappush(agenda, _Act(claimed[1], -number, act.person, act.left - 1, claimed[0]))
        return submitted

    def _sessions(self, begun: datetime, until: datetime) -> Iterator[_Act]:
        day, number = timezone.localdate(begun), 0
        acts = []
        while day <= timezone.localdate(until):
            for person in PEOPLE:
                number += 1
                is_day_off = self._chance.random() < _DAYS_OFF
                starts = person.starts + self._chance.uniform(-0.5, 1)
                tasks = max(1, person.tasks + self._chance.choice((-1, 0, 0, 1)))
                if day.weekday() == _SUNDAY or (day.weekday() == _SATURDAY and not person.saturdays) or is_day_off:
                    continue
                acts.append(_Act(_at(day, max(starts, 8.6)), number, person, tasks))
            day += timedelta(days=1)
        yield from sorted(acts)

    def _claim(self, act: _Act, begun: datetime, until: datetime) -> tuple[Assignment, datetime] | None:
        """The next trace of a project that the person works in today, and when it will be done; None for neither."""
        user = self._people[act.person.username]
        for kind in self._in_turn(act, begun):
            with acting_in(self._organisation, user):
                claimed = claim_next(project=self._projects[kind.slug], user=user)
            if isinstance(claimed, NothingToDo):
                continue
            name = claimed.trace.external_id
            minutes = min(judgements.minutes_for(act.person, name, share=kind.minutes_share), 40)
            done = act.at + timedelta(minutes=minutes)
            if done < until:
                return claimed, done
            # Nobody is in the middle of something when the demo opens.
            self._give_back(claimed, user)
            return None
        return None

    def _in_turn(self, act: _Act, begun: datetime) -> list[_Kind]:
        """The projects that have begun, in the order in which the person asks them for a task."""
        days = (timezone.localdate(act.at) - timezone.localdate(begun)).days
        open_now = [kind for kind in _KINDS if kind.begins <= days]
        if act.person.username not in _SHOPPERS:
            open_now = [kind for kind in open_now if kind.slug != "web-agents"]
        return sorted(open_now, key=lambda kind: self._chance.random() ** (1 / kind.weight), reverse=True)

    def _finish(self, assignment: Assignment, person: Person, at: datetime) -> int:
        user = self._people[person.username]
        with acting_in(self._organisation, user):
            self._sign_of_work(assignment, at)
            if self._chance.random() < _SKIPPED:
                reason = self._chance.choice(_SKIP_REASONS)
                skip(assignment=assignment, fencing_token=assignment.fencing_token, reason=reason)
                return 0
            key = f"demo-{person.username}-{assignment.trace.external_id}"
            answers = self._judged(assignment, person)
            submit(assignment=assignment, fencing_token=assignment.fencing_token, key=key, annotations=answers)
        return 1

    def _sign_of_work(self, assignment: Assignment, at: datetime) -> None:
        """What the page's signs would have come to: people look away now and then."""
        at_work = (at - (assignment.claimed_at or at)) * self._breaks.uniform(0.75, 1)
        row = Assignment.objects.filter(pk=assignment.pk)
        row.update(active_ms=at_work // timedelta(milliseconds=1), active_at=at)

    def _judged(self, assignment: Assignment, person: Person) -> dict[str, Any]:
        name, slug = assignment.trace.external_id, assignment.project.slug
        if slug == "web-agents":
            return judgements.shopping(person, _SHOPPING[name])
        judge = {
            "agent-code-review": judgements.review,
            "process-rewards": judgements.step_labels,
            "first-errors": judgements.first_error,
        }[slug]
        return judge(person, self._runs[name])

    def _give_back(self, assignment: Assignment, user: User) -> None:
        with acting_in(self._organisation, user):
            release(assignment=assignment, fencing_token=assignment.fencing_token)


def _at(day: date, hour: float) -> datetime:
    whole = int(hour)
    return timezone.make_aware(datetime.combine(day, time(whole, int((hour - whole) * 60))))
