"""Schedules for programs, the same for every kind: make, change, run, pause, resume and remove them, read their runs.

What a schedule of its kind does, and how it is shown, the kind alone knows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar
from uuid import UUID

from django.shortcuts import get_object_or_404
from django.urls import URLPattern, path, reverse
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from pydantic import BaseModel
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.views import ApiView
from accounts.models import Project
from accounts.schedules.recipients import names_of_recipients
from assignments.api.pages import cursor_page
from jobs.models import Schedule, ScheduleRun
from jobs.schedules.actions import pause_schedule, remove_schedule, resume_schedule, run_now

Row = TypeVar("Row", bound=Schedule)
Definition = TypeVar("Definition")

_CURSOR = OpenApiParameter("cursor", str, description="The cursor in `next` or `previous` of another page.")


@dataclass(frozen=True)
class ScheduleBodies:
    """What the API reads and answers of one kind: a schedule as it is asked for and as it is shown, a page of them, a
    run, and a page of its runs. The pages have `next`, `previous` and `results`."""

    request: type[BaseModel]
    shown: type[BaseModel]
    page: type[BaseModel]
    run: type[BaseModel]
    runs_page: type[BaseModel]


class SchedulesView(ApiView, Generic[Row, Definition]):
    """What is of one kind."""

    rows: ClassVar[type[Schedule]]
    bodies: ClassVar[ScheduleBodies]

    def shown(self, schedule: Row, names: Mapping[str, str]) -> BaseModel:
        """As it is answered; `names` are those of the people whom it mails."""
        raise NotImplementedError

    def all_shown(self, schedules: Sequence[Row]) -> list[BaseModel]:
        names = names_of_recipients(schedules)
        return [self.shown(schedule, names) for schedule in schedules]

    def answer(self, schedule: Row, status: int = 200) -> Response:
        """One schedule."""
        return Response(self.all_shown([schedule])[0], status=status)

    def run_shown(self, run: ScheduleRun) -> BaseModel:
        raise NotImplementedError

    def read_definition(self) -> Definition:
        """What the request's body asks for. Raises Refused for what cannot be read."""
        raise NotImplementedError

    def make(self, project: Project, definition: Definition) -> Row:
        raise NotImplementedError

    def change(self, schedule: Row, definition: Definition) -> Row:
        raise NotImplementedError

    def schedule(self) -> Any:
        """The schedule that the address names, where the caller may reach it."""
        rows = self.rows.objects.not_deleted().select_related("project")
        return get_object_or_404(self.reachable(rows), pk=self.kwargs["schedule_id"])

    def absolute_address(self, route: str, row: str | None) -> str | None:
        """The address of what a run has made; None where it made nothing."""
        if row is None:
            return None
        urlconf = getattr(self.request._request, "urlconf", None)
        return self.request.build_absolute_uri(reverse(route, args=[row], urlconf=urlconf))


class _ProjectSchedules(SchedulesView[Any, Any]):
    def get(self, request: Request, project: str) -> Response:
        rows = self.rows.objects.not_deleted().filter(project=self.project())
        following, previous, schedules = cursor_page(rows.select_related("project"), request)
        return Response(self.bodies.page(next=following, previous=previous, results=self.all_shown(schedules)))

    def post(self, request: Request, project: str) -> Response:
        made = self.make(self.project(), self.read_definition())
        return self.answer(made, status=201)


class _OneSchedule(SchedulesView[Any, Any]):
    def get(self, request: Request, schedule_id: UUID) -> Response:
        """One schedule, with its next four fire times."""
        return self.answer(self.schedule())

    def put(self, request: Request, schedule_id: UUID) -> Response:
        return self.answer(self.change(self.schedule(), self.read_definition()))

    def delete(self, request: Request, schedule_id: UUID) -> Response:
        remove_schedule(schedule=self.schedule())
        return Response(status=204)


class _ScheduleRuns(SchedulesView[Any, Any]):
    def get(self, request: Request, schedule_id: UUID) -> Response:
        """Its runs, the oldest first."""
        following, previous, runs = cursor_page(ScheduleRun.objects.of(self.schedule()), request)
        results = [self.run_shown(run) for run in runs]
        return Response(self.bodies.runs_page(next=following, previous=previous, results=results))

    def post(self, request: Request, schedule_id: UUID) -> Response:
        """Run it now; Location is the list of its runs. 409 while another run of it goes on."""
        where = request.build_absolute_uri(request._request.get_full_path())
        return Response(self.run_shown(run_now(schedule=self.schedule())), status=202, headers={"Location": where})


class _Paused(SchedulesView[Any, Any]):
    def put(self, request: Request, schedule_id: UUID) -> Response:
        """Pause it: it fires no more until it is resumed."""
        schedule = self.schedule()
        pause_schedule(schedule=schedule)
        return self.answer(schedule)

    def delete(self, request: Request, schedule_id: UUID) -> Response:
        """Resume it, from its next time on."""
        schedule = self.schedule()
        resume_schedule(schedule=schedule)
        return self.answer(schedule)


def schedule_urls(
    kind: type[SchedulesView[Any, Any]], noun: str, *, listed: str, made: str, changed: str, removed: str
) -> list[URLPattern]:
    """The routes of a kind, called after the noun, such as export-schedule; the sentences describe to programs what the
    methods do that differ from kind to kind."""
    bodies, one, route = kind.bodies, f"{noun}s/<uuid:schedule_id>/", f"api-{noun}"
    word = noun.title().replace("-", "")

    def view(name: str, methods: type[SchedulesView[Any, Any]], **schemas: Any) -> Any:
        # The API's description calls what a program may do after the class.
        own: type[ApiView] = type(f"{name}View", (methods, kind), {})
        return extend_schema_view(**schemas)(own).as_view()

    return [
        path(
            f"projects/<slug:project>/{noun}s/",
            view(
                f"Project{word}s",
                _ProjectSchedules,
                get=extend_schema(parameters=[_CURSOR], responses=bodies.page, description=listed),
                post=extend_schema(request=bodies.request, responses={201: bodies.shown}, description=made),
            ),
            name=f"{route}s",
        ),
        path(
            one,
            view(
                word,
                _OneSchedule,
                get=extend_schema(responses=bodies.shown),
                put=extend_schema(request=bodies.request, responses=bodies.shown, description=changed),
                delete=extend_schema(responses={204: None}, description=removed),
            ),
            name=route,
        ),
        path(
            f"{one}runs/",
            view(
                f"{word}Runs",
                _ScheduleRuns,
                get=extend_schema(parameters=[_CURSOR], responses=bodies.runs_page),
                post=extend_schema(request=None, responses={202: bodies.run}),
            ),
            name=f"{route}-runs",
        ),
        path(
            f"{one}paused/",
            view(
                f"{word}Paused",
                _Paused,
                put=extend_schema(request=None, responses=bodies.shown),
                delete=extend_schema(responses=bodies.shown),
            ),
            name=f"{route}-paused",
        ),
    ]
