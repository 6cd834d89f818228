"""The page on which annotations of a trace stand side by side: whose they are, or letters, and what it shows."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from statistics import mean
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.http import HttpRequest
from django.urls import reverse

from accounts.models import User
from assignments.comparing import MOST_COMPARED, CommentedLines, Comparison, Row, compare
from assignments.hidden_outcomes import outcomes_are_hidden
from assignments.history import trace_title
from assignments.models import TraceQuota
from assignments.readable import annotations_to_compare, shuffled
from assignments.submission_records import annotator_names, elapsed, initials
from assignments.summaries import Brief, submission_briefs
from assignments.wording import duration
from potato.configuration import ProjectConfiguration, UnreadablePinError
from potato.statistics.agreement.one_trace import differ_most, sameness
from potato.wording import listed
from tenancy.actor import ActiveMembership
from tenancy.permissions import allowed
from tenancy.roles import Right
from traces.evidence.excerpts import excerpts_by_file
from traces.evidence.fragments import DisplayOptions
from traces.evidence.judged_files import exact_paths
from traces.evidence.pages import ShownStep, addresses, files_in_trace, in_order, steps_page
from traces.evidence.responses import display_settings
from traces.evidence.task_description import asked_for
from traces.models import Trace, TraceFile
from traces.rendering.safe import SafeHtml

HIDDEN = "hidden"
IN_ORDER = "order"
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@dataclass(frozen=True)
class Person:
    """One of those who annotated the trace, as the page calls them. `colour` is by their place among those shown."""

    submission: Any
    name: str
    letters: str
    colour: str
    brief: Brief
    time: str
    is_chosen: bool
    url: str
    toggle: str

    @property
    def words(self) -> str:
        return ", ".join(filter(None, (*self.brief.words[:1], self.time)))


@dataclass(frozen=True)
class ShownComments:
    place: CommentedLines
    lines: SafeHtml | None


@dataclass(frozen=True)
class ShownFile:
    """A file with the places on which somebody commented. `file` is None where the trace has no such file."""

    path: str
    file: TraceFile | None
    places: tuple[ShownComments, ...]

    @property
    def comments(self) -> int:
        return sum(shown.place.commented for shown in self.places)


@dataclass(frozen=True)
class Difference:
    """An entry of the list of differences."""

    anchor: str
    icon: str
    words: str
    detail: str


class ComparePage:
    """The comparison that the address asks for: `of` are submissions, `names=hidden` hides who they are of."""

    def __init__(self, request: HttpRequest, membership: ActiveMembership, user: User, trace: Trace) -> None:
        self.request, self.user, self.trace = request, user, trace
        self.sees_all = membership.may_in(Right.SEE_ANNOTATIONS, trace.project)
        self.has_names = self.sees_all and request.GET.get("names") != HIDDEN
        self.is_in_order = request.GET.get("sort") == IN_ORDER
        rows = annotations_to_compare(membership, user, trace)
        self.unreadable = 0
        readable = []
        for row in rows:
            try:
                row.pinned = row.assignment.configuration()
                readable.append(row)
            except UnreadablePinError:
                self.unreadable += 1
        in_order = self.has_names or not self.sees_all
        self.all = readable if in_order else sorted(readable, key=lambda row: shuffled(user, trace, row.pk))
        self.chosen = self._chosen()

    def _chosen(self) -> list[Any]:
        asked = self.request.GET.get("of", "")
        wanted = {part for part in asked.split(",") if part}
        chosen = [row for row in self.all if str(row.pk) in wanted][:MOST_COMPARED]
        if len(chosen) > 1 or not self.all:
            return chosen
        results = [row.result for row in self.all]
        configuration = max(self.all, key=lambda row: row.assignment.version.number).pinned
        return [self.all[at] for at in differ_most(results, configuration, MOST_COMPARED)]

    @cached_property
    def configuration(self) -> ProjectConfiguration:
        """The newest that one of those compared was made under."""
        newest: ProjectConfiguration = self._newest.pinned
        return newest

    @cached_property
    def _newest(self) -> Any:
        return max(self.chosen, key=lambda row: row.assignment.version.number)

    @property
    def _readable_one(self) -> Any:
        """One whose address the reader may open: of those compared, else one's own."""
        return self.chosen[0] if self.sees_all else self.all[0]

    @cached_property
    def files(self) -> list[TraceFile]:
        return in_order(files_in_trace.rows(self.trace.pk))

    @cached_property
    def paths(self) -> list[str]:
        """The files' paths as answers name them, in the order of `files`."""
        return exact_paths(self.files)

    @cached_property
    def comparison(self) -> Comparison:
        return compare([(row.result, row.pinned) for row in self.chosen], self.paths)

    def address(self, **changes: str) -> str:
        """This page with something else asked for; "" takes it out."""
        now = {name: self.request.GET.get(name, "") for name in ("of", "names", "sort", "step")}
        now["of"] = ",".join(str(row.pk) for row in self.chosen) if self.request.GET.get("of") else ""
        query = urlencode({name: value for name, value in {**now, **changes}.items() if value}, safe=",")
        return f"?{query}" if query else "?"

    def people(self) -> list[Person]:
        names = annotator_names(row.assignment.user_id for row in self.all)
        briefs = submission_briefs(self.all)
        colours = {row.pk: f"p{at + 1}" for at, row in enumerate(self.chosen)}
        people = []
        for at, row in enumerate(self.all):
            name, letters = self._called(at, row, names)
            took = elapsed(row)
            people.append(
                Person(
                    row,
                    name,
                    letters,
                    colours.get(row.pk, "p0"),
                    briefs[row.pk],
                    "" if took is None else duration(took),
                    row.pk in colours,
                    reverse("read-annotation", args=[self.trace.project.slug, row.pk]) if self.has_names else "",
                    self.address(of=self._toggled(row.pk)),
                )
            )
        return people

    def _called(self, at: int, row: Any, names: Mapping[UUID, str]) -> tuple[str, str]:
        """What the page calls the annotator at that place, in full and in a marker."""
        if self.has_names:
            name = names.get(row.assignment.user_id, "")
            return name, initials(name)
        if not self.sees_all:
            # One's own is the first.
            return ("You", "You") if at == 0 else (f"Annotator {_letter(at - 1)}", _letter(at - 1))
        return f"Annotator {_letter(at)}", _letter(at)

    def _toggled(self, submission: UUID) -> str:
        """The choice with this one more, or less; where there would be too many, the last one goes."""
        now = [row.pk for row in self.chosen]
        if submission in now:
            return ",".join(str(pk) for pk in now if pk != submission) if len(now) > 2 else ",".join(map(str, now))
        return ",".join(map(str, [*now[: MOST_COMPARED - 1], submission]))

    def context(self) -> dict[str, Any]:
        """What the templates are given, also where there is nothing to compare yet."""
        trace, project = self.trace, self.trace.project
        people = self.people()
        quota = TraceQuota.objects.filter(organisation=project.organisation_id, trace=trace).first()
        frame = {
            "project": project,
            "trace": trace,
            "title": trace_title(trace.task, trace.external_id),
            "asked": asked_for(trace),
            "tab": "compare",
            "people": people,
            "shown_people": sorted((person for person in people if person.is_chosen), key=lambda person: person.colour),
            "has_names": self.has_names,
            "names_url": self.address(names=HIDDEN if self.has_names else ""),
            "sees_all": self.sees_all,
            "list_url": reverse("annotations", args=[project.slug]) if self.sees_all else reverse("my-annotations"),
            "trace_url": (
                reverse("trace", args=[project.slug, trace.pk])
                if allowed(self.request, Right.SEE_TRACES, project)
                else None
            ),
            "open_slots": max(quota.target - quota.done, 0) if quota else 0,
            "unreadable": self.unreadable,
            "may_choose": len(self.all) > MOST_COMPARED or len(self.chosen) < len(self.all),
        }
        if len(self.chosen) < 2:
            return {**frame, "display": display_settings(None), "is_empty": True}
        return {**frame, **self._compared()}

    def _compared(self) -> dict[str, Any]:
        comparison = self.comparison
        versions = sorted({row.assignment.version.number for row in self.chosen})
        differing = [row for row in comparison.ratings if row.differs]
        same = [row for row in comparison.ratings if not row.differs]
        if not self.is_in_order:
            differing.sort(key=lambda row: -(row.spread or 0))
        steps = self._steps()
        return {
            "is_empty": False,
            "display": display_settings(self.configuration),
            "configuration": self.configuration,
            "version": self._newest.assignment.version.number,
            "versions": listed([str(number) for number in versions], "and") if len(versions) > 1 else "",
            "comparison": comparison,
            "is_in_order": self.is_in_order,
            "order_url": self.address(sort=IN_ORDER),
            "differences_url": self.address(sort=""),
            "ratings": differing,
            "same_ratings": same,
            "files": self._files(),
            "differences": self._differences(small=False),
            "small": self._differences(small=True),
            "agreement": self._agreement() if self.sees_all or not outcomes_are_hidden(self.trace.project) else "",
            "steps": steps,
            "beside": self.step_beside(steps),
        }

    def _agreement(self) -> str:
        results = [row.result for row in self.chosen]
        shares = [
            sameness(results[first], results[second], self.configuration)
            for first in range(len(results))
            for second in range(first)
        ]
        known = [share for share in shares if share is not None]
        return f"{mean(known):.2f}" if known else ""

    # Files and lines

    def _files(self) -> list[ShownFile]:
        """The files with places, those with more of them first unless the order of the trace is asked for."""
        by_file: dict[str, list[CommentedLines]] = {}
        for place in self.comparison.places:
            by_file.setdefault(place.file, []).append(place)
        rows = dict(zip(self.paths, self.files, strict=True))
        excerpts = excerpts_by_file(
            self.trace,
            [
                (file, [(place.side, place.first, place.last) for place in by_file[path]])
                for path, file in rows.items()
                if path in by_file
            ],
            DisplayOptions.of(self.configuration).diff("unified"),
        )
        shown = [
            ShownFile(
                path,
                rows.get(path),
                tuple(
                    ShownComments(place, lines)
                    for place, lines in zip(
                        places, excerpts.get(rows[path].pk, []) if path in rows else [None] * len(places), strict=True
                    )
                ),
            )
            for path, places in by_file.items()
        ]
        if not self.is_in_order:
            shown.sort(key=lambda file: -sum(shown.place.differs for shown in file.places))
        return shown

    def _differences(self, *, small: bool) -> list[Difference]:
        comparison = self.comparison
        differences = [
            Difference("whole", "message-square" if row.is_comment else "scale", row.words, row.range_words)
            for row in (*comparison.whole, *comparison.totals)
            if (row.differs and not row.is_small) != small
        ]
        ratings = [row for row in comparison.ratings if (row.differs and not row.is_small) != small]
        differences += [
            Difference("whole", "gauge", f"{row.title} of {_name(row.file or '')}", row.range_words)
            for row in sorted(ratings, key=lambda row: -(row.spread or 0))
        ]
        number = len(self.chosen)
        differences += [
            Difference(
                place.anchor,
                "message-square",
                f"{_name(place.file)} {place.words}",
                f"{place.commented} of {number}",
            )
            for place in comparison.places
            if place.differs != small
        ]
        return differences

    # Steps

    def _steps(self) -> Mapping[str, Any] | None:
        rows = self.comparison.steps
        if not rows:
            return None
        titles = dict(self.trace.steps.values_list("index", "title"))
        differing = [row for row in rows if row.differs]
        same = [row for row in rows if not row.differs]
        if self.is_in_order:
            groups = [("", list(rows))]
        else:
            differing.sort(key=lambda row: (-(row.spread or 0), row.step or 0))
            number = len(differing)
            groups = [
                (f"{number} step{'' if number == 1 else 's'} differ{'s' if number == 1 else ''}", differing),
                (f"{len(same)} step{'' if len(same) == 1 else 's'}, all agree", same),
            ]
        asked = self.request.GET.get("step", "")
        known = {row.step for row in rows}
        first = differing[0] if differing else rows[0]
        here = int(asked) if asked.isascii() and asked.isdecimal() and int(asked) in known else first.step
        return {
            "groups": [(heading, [self._step(row, titles, here) for row in some]) for heading, some in groups if some],
            "here": here,
        }

    def _step(self, row: Row, titles: Mapping[int, str], here: int | None) -> dict[str, Any]:
        return {
            "row": row,
            "title": titles.get(row.step or 0, ""),
            "url": self.address(step=str(row.step)),
            "is_here": row.step == here,
        }

    def step_beside(self, steps: Mapping[str, Any] | None) -> dict[str, Any] | None:
        """The chosen step with what each says of it, and its evidence."""
        if steps is None:
            return None
        here: int = steps["here"]
        row = next(row for row in self.comparison.steps if row.step == here)
        options = DisplayOptions.of(self.configuration)
        address = addresses("read-annotation-step-fragment", self.trace.project.slug, self._readable_one.pk)
        page = steps_page(self.trace, options, address, wanted=here, page=1)
        shown: ShownStep | None = next((step for step in page.steps if step.step.index == here), None)
        return {
            "row": row,
            "shown": shown,
            "previous": self.address(step=str(here - 1)) if here > 0 else None,
            "next": self.address(step=str(here + 1)) if here + 1 < self.trace.steps_count else None,
            "has_picture": shown is not None and shown.step.has_pictures,
        }


def _letter(at: int) -> str:
    return _LETTERS[at] if at < len(_LETTERS) else f"{_LETTERS[at % 26]}{at // 26}"


def _name(path: str) -> str:
    return path.rpartition("/")[2] or path
