"""The task page: one annotator, one trace, in tabs. An assignment is looked for among the person's own; others' do not
exist. What the page shows, it shows under the configuration that the assignment pins. No browser keeps a page: the Back
button would bring an old draft and an old fencing token.
"""

from collections.abc import Callable, Sequence
from typing import Any, cast
from uuid import UUID

from django.contrib import messages
from django.db.models import QuerySet
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from accounts.models import ConfigurationVersion, Project, User
from assignments.actions.claiming import resume
from assignments.guidelines import acknowledge, reading_of
from assignments.models import Assignment, AssignmentState
from assignments.palette import palette
from assignments.progress import place_of
from assignments.task import hides_later_steps, judges_steps, shown_schemes, starts_with_steps, task_data
from potato.configuration import ProjectConfiguration, UnreadablePinError, pinned
from tenancy.errors import Refused
from tenancy.middleware import OrganisationRequest
from tenancy.permissions import requires
from tenancy.prepared import prepared
from tenancy.roles import Right
from tenancy.urls import global_reverse
from traces.evidence.pages import addresses, files_of, in_order
from traces.evidence.responses import answer_file, answer_picture, answer_step, display_of, files_tab, steps_tab
from traces.evidence.task_description import asked_for
from traces.models import TraceFile
from traces.rendering.prose import prose

_NO_TRACE_TAB = "This project does not show what the agent did step by step."
_NO_GUIDELINES = "This project has no guidelines."
_COMMENT, _LINK = "Comment on {side} line {line}", "Link to {side} line {line}"

Tab = Callable[[Assignment, ProjectConfiguration], dict[str, Any]]
"""Gives the context of one tab."""


@requires(Right.ANNOTATE)
@require_safe
@never_cache
def task_start(request: OrganisationRequest, project: str, assignment_id: UUID) -> HttpResponse:
    """The tab on which the work begins: "Agent trace" where nothing but steps is judged, else "Files changed"."""
    return _files(request, project, assignment_id, is_start=True)


@requires(Right.ANNOTATE)
@require_safe
@never_cache
def task_files(request: OrganisationRequest, project: str, assignment_id: UUID) -> HttpResponse:
    """The tab "Files changed", on which files are judged."""
    return _files(request, project, assignment_id, is_start=False)


def _files(request: OrganisationRequest, project: str, assignment_id: UUID, *, is_start: bool) -> HttpResponse:
    def tab(assignment: Assignment, configuration: ProjectConfiguration) -> dict[str, Any]:
        address = addresses("task-file-fragment", project, assignment_id)
        return files_tab(request, assignment.trace, configuration, address)

    return _page(request, project, assignment_id, "assignments/task_files.html", tab, is_start=is_start)


@requires(Right.ANNOTATE)
@require_safe
@never_cache
def task_steps(request: OrganisationRequest, project: str, assignment_id: UUID) -> HttpResponse:
    """The tab "Agent trace", where the configuration shows it."""

    def tab(assignment: Assignment, configuration: ProjectConfiguration) -> dict[str, Any]:
        if not _shows_steps(configuration):
            raise Http404(_NO_TRACE_TAB)
        address = addresses("task-step-fragment", project, assignment_id)
        is_searched = not hides_later_steps(configuration)
        return steps_tab(request, assignment.trace, configuration, address, is_searched=is_searched)

    return _page(request, project, assignment_id, "assignments/task_steps.html", tab)


@requires(Right.ANNOTATE)
@require_safe
@never_cache
def task_guidelines(request: OrganisationRequest, project: str, assignment_id: UUID) -> HttpResponse:
    """The tab "Guidelines", where the configuration has some."""

    def tab(assignment: Assignment, configuration: ProjectConfiguration) -> dict[str, Any]:
        if configuration.guidelines is None:
            raise Http404(_NO_GUIDELINES)
        return {"tab": "guidelines", "guidelines": prose(configuration.guidelines, is_flowing=True)}

    return _page(request, project, assignment_id, "assignments/task_guidelines.html", tab)


@requires(Right.ANNOTATE)
@require_POST
def acknowledge_guidelines(request: OrganisationRequest, project: str, assignment_id: UUID) -> HttpResponse:
    """The person has read the guidelines; leads back to the task."""
    assignment = _own(request, project, assignment_id)
    guidelines = _configuration(assignment).guidelines
    if guidelines is None:
        raise Http404(_NO_GUIDELINES)
    acknowledge(assignment=assignment, guidelines=guidelines)
    return redirect("task", project, assignment_id)


@requires(Right.ANNOTATE)
@require_POST
def resume_task(request: OrganisationRequest, project: str, assignment_id: UUID) -> HttpResponse:
    """Claim a task again whose time ended, or that was given back. Where that is refused its page says why."""
    try:
        resume(assignment=_own(request, project, assignment_id))
    except Refused as refused:
        messages.warning(request, refused.sentence)
    return redirect("task", project, assignment_id)


@requires(Right.ANNOTATE)
@require_safe
def task_file_part(request: OrganisationRequest, project: str, assignment_id: UUID, **piece: Any) -> HttpResponse:
    """A part of a file's difference."""
    assignment = _own(request, project, assignment_id)
    return answer_file(request, assignment.trace, _configuration(assignment), **piece)


@requires(Right.ANNOTATE)
@require_safe
def task_step_part(request: OrganisationRequest, project: str, assignment_id: UUID, **piece: Any) -> HttpResponse:
    """A part of a step, where the configuration shows steps."""
    assignment = _own(request, project, assignment_id)
    configuration = _configuration(assignment)
    if not _shows_steps(configuration):
        raise Http404(_NO_TRACE_TAB)
    return answer_step(request, assignment.trace, configuration, **piece)


@requires(Right.ANNOTATE)
@require_safe
def task_picture(request: OrganisationRequest, project: str, assignment_id: UUID, **piece: Any) -> HttpResponse:
    """A screenshot of one of the steps, where the configuration shows steps."""
    assignment = _own(request, project, assignment_id)
    if not _shows_steps(_configuration(assignment)):
        raise Http404(_NO_TRACE_TAB)
    return answer_picture(assignment.trace, **piece)


@requires(Right.ANNOTATE)
@require_safe
def palette_sheet(request: OrganisationRequest, project: str, version: int) -> HttpResponse:
    """The colours of a version's configuration, for ever: a version never changes."""
    projects = Project.objects.visible_to(request.membership).filter(slug=project)
    found = get_object_or_404(ConfigurationVersion, project__in=projects, number=version)
    try:
        sheet = palette(pinned(found.configuration))
    except UnreadablePinError as error:
        raise Http404(error.sentence) from None
    response = HttpResponse(sheet, content_type="text/css; charset=utf-8")
    response["Cache-Control"] = "private, max-age=31536000, immutable"
    return response


def _own(request: OrganisationRequest, project: str, assignment_id: UUID) -> Assignment:
    """An assignment of the signed-in person, in this project."""
    found = _own_in.first(cast(User, request.user).pk, project, assignment_id)
    if found is None:
        raise Http404
    return found


@prepared
def _own_in(person: UUID, project: str, assignment: UUID) -> "QuerySet[Assignment]":
    own = Assignment.objects.filter(user=person, project__slug=project, pk=assignment)
    light = own.select_related("project", "trace", "version")
    return light.defer("project__draft", "version__source", "version__configuration", "trace__report", "trace__tags")


def _configuration(assignment: Assignment) -> ProjectConfiguration:
    """The pinned one, for addresses that only a page hands out which could read it."""
    try:
        return assignment.configuration()
    except UnreadablePinError as error:
        raise Http404(error.sentence) from None


def _shows_steps(configuration: ProjectConfiguration) -> bool:
    return configuration.agentic.enabled or judges_steps(configuration)


def _page(
    request: OrganisationRequest,
    project: str,
    assignment_id: UUID,
    template: str,
    tab: Tab,
    *,
    is_start: bool = False,
) -> HttpResponse:
    """The task with this tab, else the page that says why there is nothing to work on. From the start of a task that
    begins at another tab the way leads there.

    With `late` in the address an assignment whose time ended is shown all the same: a late annotation is still taken.
    """
    assignment = _own(request, project, assignment_id)
    about = {"project": assignment.project, "trace": assignment.trace, "assignment": assignment}
    try:
        configuration = assignment.configuration()
    except UnreadablePinError as error:
        return render(request, "assignments/task_unreadable.html", {**about, "sentence": error.sentence}, status=409)
    is_late = assignment.state == AssignmentState.EXPIRED and "late" in request.GET
    if not assignment.is_open and not is_late:
        return render(request, "assignments/task_over.html", about)
    if is_start and starts_with_steps(configuration):
        return redirect(reverse("task-steps", args=[project, assignment_id]) + ("?late=1" if is_late else ""))
    return render(request, template, {**about, **_frame(request, assignment, configuration, tab, is_late=is_late)})


def _frame(
    request: OrganisationRequest,
    assignment: Assignment,
    configuration: ProjectConfiguration,
    tab: Tab,
    *,
    is_late: bool,
) -> dict[str, Any]:
    """What stands around every tab, and the tab."""
    inside = tab(assignment, configuration)
    here = [assignment.project.slug, assignment.pk]
    late = "?late=1" if is_late else ""
    has_steps = _shows_steps(configuration) and (assignment.trace.steps_count > 0 or judges_steps(configuration))
    has_guidelines = configuration.guidelines is not None
    files_route = "task-files" if starts_with_steps(configuration) else "task"
    urls = {
        "files": reverse(files_route, args=here) + late,
        "steps": reverse("task-steps", args=here) + late if has_steps else None,
        "guidelines": reverse("task-guidelines", args=here) + late if has_guidelines else None,
        "home": reverse("organisation"),
        "next": reverse("next-task", args=here[:1]),
    }
    files: Sequence[TraceFile] = (
        inside["evidence"].files if inside["tab"] == "files" else in_order(files_of.rows(assignment.trace_id))
    )
    schemes = shown_schemes(assignment, request.membership.annotator_name, files)
    judged = next((scheme for scheme in schemes if scheme.target == "agentic_steps"), None)
    return {
        **inside,
        "is_task": True,
        "is_late": is_late,
        "kept_query": "late=1&" if is_late else "",
        "asked": asked_for(assignment.trace),
        "display": display_of(configuration),
        "configuration": configuration,
        "schemes": schemes,
        "work_word": "annotation" if starts_with_steps(configuration) else "review",
        "judged": judged,
        "keys_are_off": inside["tab"] == "steps" and judged is not None and judged.keys_are_off,
        "line_label": _COMMENT if any(scheme.target == "line" for scheme in schemes) else _LINK,
        "place": place_of(assignment.project, cast(User, request.user)),
        "reading": reading_of(assignment, configuration.guidelines),
        "urls": urls,
        "task_data": task_data(
            assignment,
            configuration,
            request.membership,
            schemes=schemes,
            tab=inside["tab"],
            files=files,
            api=f"{reverse('organisation')}api/v1/",
            login=global_reverse("account_login"),
            urls=urls,
        ),
    }
