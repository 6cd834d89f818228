"""The pages of one schedule, the same for every kind: make it, change it, see what it did, run, pause and remove it."""

from collections.abc import Callable
from datetime import datetime
from typing import Any, ClassVar, Generic, Protocol, TypeVar
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.live_parts import part_answer
from accounts.models import Project
from accounts.models.projects import visible_project
from accounts.schedules import pages
from jobs.models import Schedule
from jobs.schedules.forms import usual_fields
from jobs.schedules.kinds import ScheduleKind
from jobs.schedules.shown import ShownRun
from jobs.timing import Timing
from tenancy.errors import Refused
from tenancy.middleware import OrganisationRequest
from tenancy.permissions import requires
from tenancy.roles import Right

Row = TypeVar("Row", bound=Schedule)
Definition = TypeVar("Definition")


class Checked(Protocol):
    """What of the definition of a schedule can be stored."""

    @property
    def timing(self) -> Timing: ...

    @property
    def fields(self) -> dict[str, Any]: ...


class SchedulePages(Generic[Row, Definition]):
    """Who may see schedules of the kind sees them, and who has `right_to_change` makes and steers them. `list_route` is
    the page of the project where they are listed; `what_stays` is said of one that is removed.

    What Definition is, only the kind knows: it reads it from a form, checks, makes and changes.
    """

    kind: ClassVar[ScheduleKind]
    right_to_change: ClassVar[Right]
    template: ClassVar[str]
    list_route: ClassVar[str]
    what_stays: ClassVar[str]

    def read_definition(self, sent: QueryDict, usual_name: str = "") -> Definition:
        """What the form sends. Raises Refused for what cannot be read."""
        raise NotImplementedError

    def checked(self, project: Project, definition: Definition, starts_at: datetime) -> Checked:
        """Raises Refused, and stores nothing."""
        raise NotImplementedError

    def make(self, project: Project, definition: Definition) -> Row:
        raise NotImplementedError

    def change(self, schedule: Row, definition: Definition, seen: str) -> Row:
        raise NotImplementedError

    def sentence(self, schedule: Row, organisation: str) -> str:
        raise NotImplementedError

    def history(self, project: Project, schedule: Row) -> list[ShownRun]:
        raise NotImplementedError

    def fill_usual(self, form: QueryDict) -> None:
        """Put into the form of a new schedule what is usual, where nothing came along."""

    def fill_stored(self, form: QueryDict, schedule: Row) -> None:
        """Put what is stored into the form, but for the fields that every kind has."""

    def choices(self, request: OrganisationRequest, project: Project, form: QueryDict) -> dict[str, Any]:
        """What the template shows to choose from."""
        return {}

    def urls(self) -> list[URLPattern]:
        """The routes of a project's pages, below the address of the kind's list."""
        route, one = self.kind.route, "schedules/<uuid:schedule_id>/"
        change = requires(self.right_to_change)
        return [
            path("schedules/new/", change(_methods(self.new)), name=f"{route}-new"),
            path("schedules/preview/", change(require_safe(self.preview)), name=f"{route}-preview"),
            path(one, requires(self.kind.right, to_change=self.right_to_change)(_methods(self.schedule)), name=route),
            path(f"{one}live/", requires(self.kind.right)(require_safe(self.live)), name=f"{route}-live"),
            path(f"{one}run/", change(require_POST(self.run)), name=f"{route}-run"),
            path(f"{one}pause/", change(require_POST(self.pause)), name=f"{route}-pause"),
            path(f"{one}resume/", change(require_POST(self.resume)), name=f"{route}-resume"),
            path(f"{one}remove/", change(require_POST(self.remove)), name=f"{route}-remove"),
        ]

    def new(self, request: OrganisationRequest, project: str) -> HttpResponse:
        """GET: the form, with what another form sent along. POST: make it."""
        chosen = visible_project(request.membership, project)
        if request.method != "POST":
            form = usual_fields(request.GET)
            self.fill_usual(form)
            return self._page(request, chosen, None, form)
        try:
            made = self.make(chosen, self.read_definition(request.POST))
        except Refused as refusal:
            return self._page(request, chosen, None, request.POST, refusal)
        messages.success(request, f"{made.name} is on. Its first run is {pages.next_in_words(made)}.")
        return self._to(chosen, made)

    def schedule(self, request: OrganisationRequest, project: str, schedule_id: UUID) -> HttpResponse:
        """GET: what it does, its next runs and its last ones, and the form. POST: change it."""
        visible, row = self.found(request, project, schedule_id)
        if request.method != "POST":
            form = pages.stored_form(row.project, row, self.kind.right)
            self.fill_stored(form, row)
            return self._page(request, visible, row, form)
        try:
            row = self.change(row, self.read_definition(request.POST), request.POST.get("seen", ""))
        except Refused as refusal:
            return self._page(request, visible, row, request.POST, refusal)
        messages.success(request, f"{row.name} is saved.")
        return self._to(visible, row)

    def preview(self, request: OrganisationRequest, project: str) -> HttpResponse:
        """The sentence and the next runs of what stands in the form; nothing is stored or tried."""
        chosen = visible_project(request.membership, project)
        part = render(request, "schedules/partials/sentence.html", self._preview(request, chosen, request.GET))
        part["Cache-Control"] = "no-store"
        return part

    def live(self, request: OrganisationRequest, project: str, schedule_id: UUID) -> HttpResponse:
        """Its history and whether it is on, which the page loads again; 304 where they are what the page has."""
        visible, row = self.found(request, project, schedule_id)
        return part_answer(request, pages.history_context(visible, row, self.history(visible, row))["live"])

    def run(self, request: OrganisationRequest, project: str, schedule_id: UUID) -> HttpResponse:
        return self._done(request, project, schedule_id, pages.run)

    def pause(self, request: OrganisationRequest, project: str, schedule_id: UUID) -> HttpResponse:
        return self._done(request, project, schedule_id, pages.pause)

    def resume(self, request: OrganisationRequest, project: str, schedule_id: UUID) -> HttpResponse:
        return self._done(request, project, schedule_id, pages.resume)

    def remove(self, request: OrganisationRequest, project: str, schedule_id: UUID) -> HttpResponse:
        visible, row = self.found(request, project, schedule_id)
        pages.remove(request, row, self.what_stays)
        return self._to_list(visible)

    def found(self, request: OrganisationRequest, project: str, schedule_id: UUID) -> tuple[Project, Row]:
        """The project that the reader sees, and its schedule. Raises Http404."""
        chosen = visible_project(request.membership, project)
        rows: Any = self.kind.model._default_manager
        kept = rows.not_deleted().filter(project=chosen).select_related("project", "created_by")
        row: Row = get_object_or_404(kept, pk=schedule_id)
        return chosen, row

    def _done(
        self, request: OrganisationRequest, project: str, schedule_id: UUID, act: Callable[[Any, Schedule], None]
    ) -> HttpResponse:
        """To the page where the button was."""
        visible, row = self.found(request, project, schedule_id)
        act(request, row)
        return self._to_list(visible) if request.POST.get("from") == "list" else self._to(visible, row)

    def _to(self, project: Project, row: Schedule) -> HttpResponse:
        return redirect(reverse(self.kind.route, args=[project.slug, row.pk]))

    def _to_list(self, project: Project) -> HttpResponse:
        return redirect(f"{reverse(self.list_route, args=[project.slug])}#schedules")

    def _page(
        self,
        request: OrganisationRequest,
        project: Project,
        row: Row | None,
        form: QueryDict,
        refusal: Refused | None = None,
    ) -> HttpResponse:
        context: dict[str, Any] = {
            "project": project,
            "routes": self.kind.route,
            "schedule": row,
            **self.choices(request, project, form),
            **pages.form_context(project, form, row, self.kind.right, refusal),
            **self._preview(request, project, form),
        }
        if row is not None:
            context |= pages.history_context(project, row, self.history(project, row))
        return render(request, self.template, context, status=refusal.status if refusal else 200)

    def _preview(self, request: OrganisationRequest, project: Project, form: QueryDict) -> dict[str, Any]:
        """The sentence of what stands in the form and its next runs, or what is wrong with it."""
        now = timezone.now()
        try:
            checked = self.checked(project, self.read_definition(form, usual_name="Schedule"), now)
        except Refused as refusal:
            return pages.problem_context(refusal)
        row: Any = self.kind.model(project=project, **checked.fields)
        row.set_timing(checked.timing, now)
        return pages.preview_context(row, self.sentence(row, request.membership.organisation_slug))


def _methods(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    return require_http_methods(["GET", "HEAD", "POST"])(view)
