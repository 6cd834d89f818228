"""The task page: one annotator, one trace, in tabs. An assignment is looked for among the person's own; others' do not
exist. What the page shows, it shows under the configuration that the assignment pins. No browser keeps a page: the Back
button would bring an old draft and an old fencing token.
"""

from typing import Any, cast
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from accounts.models import ConfigurationVersion, User
from accounts.models.projects import visible_project
from assignments.actions.claiming import resume
from assignments.models import Assignment, AssignmentState
from assignments.own_assignment import own_assignment, own_task
from assignments.task_page.guidelines import acknowledge
from assignments.task_page.page import TaskPage, shows_steps
from assignments.task_page.scheme_colours import scheme_colours_sheet
from potato.configuration import ProjectConfiguration, UnreadablePinError, pinned
from tenancy.errors import Refused
from tenancy.middleware import OrganisationRequest
from tenancy.permissions import requires
from tenancy.roles import Right
from traces.evidence.base_pages import base_page, patch_answer
from traces.evidence.pages import addresses
from traces.evidence.responses import answer_file, answer_picture, answer_step, files_tab, steps_tab
from traces.rendering.prose import prose

_NO_TRACE_TAB = "This project does not show what the agent did step by step."
_NO_GUIDELINES = "This project has no guidelines."


@requires(Right.ANNOTATE)
@require_safe
@never_cache
def task_start(request: OrganisationRequest, project: str, assignment_id: UUID) -> HttpResponse:
    """The tab on which the work begins: "Agent trace" where nothing but steps is judged, else "Files changed"."""
    page = _page(request, project, assignment_id)
    if isinstance(page, HttpResponse):
        return page
    if page.starts_with_steps:
        return redirect(str(page.urls["steps"]))
    return _files(request, page)


@requires(Right.ANNOTATE)
@require_safe
@never_cache
def task_files(request: OrganisationRequest, project: str, assignment_id: UUID) -> HttpResponse:
    """The tab "Files changed", on which files are judged."""
    page = _page(request, project, assignment_id)
    if isinstance(page, HttpResponse):
        return page
    return _files(request, page)


@requires(Right.ANNOTATE)
@require_safe
def task_base(request: OrganisationRequest, project: str, assignment_id: UUID) -> HttpResponse:
    """The files that the run began from, where its repository is attached."""
    assignment = own_assignment(cast(User, request.user), assignment_id, project=project)
    back, patch = (reverse(name, args=[project, assignment_id]) for name in ("task-files", "task-patch"))
    return base_page(request, assignment.trace, back=back, patch=patch)


@requires(Right.ANNOTATE)
@require_safe
def task_patch(request: OrganisationRequest, project: str, assignment_id: UUID) -> HttpResponse:
    """The run's change as a patch."""
    return patch_answer(own_assignment(cast(User, request.user), assignment_id, project=project).trace)


@requires(Right.ANNOTATE)
@require_safe
@never_cache
def task_steps(request: OrganisationRequest, project: str, assignment_id: UUID) -> HttpResponse:
    """The tab "Agent trace", where the configuration shows it."""
    page = _page(request, project, assignment_id)
    if isinstance(page, HttpResponse):
        return page
    if not page.shows_steps:
        raise Http404(_NO_TRACE_TAB)
    address = addresses("task-step-fragment", project, assignment_id)
    tab = steps_tab(request, page.trace, page.configuration, address, hides_later_steps=page.hides_later_steps)
    return _answer(request, "assignments/task_steps.html", page, tab)


@requires(Right.ANNOTATE)
@require_safe
@never_cache
def task_guidelines(request: OrganisationRequest, project: str, assignment_id: UUID) -> HttpResponse:
    """The tab "Guidelines", where the configuration has some."""
    page = _page(request, project, assignment_id)
    if isinstance(page, HttpResponse):
        return page
    guidelines = page.configuration.guidelines
    if guidelines is None:
        raise Http404(_NO_GUIDELINES)
    tab = {"tab": "guidelines", "guidelines": prose(guidelines, is_flowing=True)}
    return _answer(request, "assignments/task_guidelines.html", page, tab)


@requires(Right.ANNOTATE)
@require_POST
def acknowledge_guidelines(request: OrganisationRequest, project: str, assignment_id: UUID) -> HttpResponse:
    """The person has read the guidelines; leads back to the task."""
    assignment = own_assignment(cast(User, request.user), assignment_id, project=project)
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
        resume(assignment=own_assignment(cast(User, request.user), assignment_id, project=project))
    except Refused as refused:
        messages.warning(request, refused.sentence)
    return redirect("task", project, assignment_id)


@requires(Right.ANNOTATE)
@require_safe
def task_file_part(request: OrganisationRequest, project: str, assignment_id: UUID, **piece: Any) -> HttpResponse:
    """A part of a file's difference."""
    assignment = own_assignment(cast(User, request.user), assignment_id, project=project)
    return answer_file(request, assignment.trace, _configuration(assignment), **piece)


@requires(Right.ANNOTATE)
@require_safe
def task_step_part(request: OrganisationRequest, project: str, assignment_id: UUID, **piece: Any) -> HttpResponse:
    """A part of a step, where the configuration shows steps."""
    assignment = own_assignment(cast(User, request.user), assignment_id, project=project)
    configuration = _configuration(assignment)
    if not shows_steps(configuration):
        raise Http404(_NO_TRACE_TAB)
    return answer_step(request, assignment.trace, configuration, **piece)


@requires(Right.ANNOTATE)
@require_safe
def task_picture(request: OrganisationRequest, project: str, assignment_id: UUID, **piece: Any) -> HttpResponse:
    """A screenshot of one of the steps, where the configuration shows steps."""
    assignment = own_assignment(cast(User, request.user), assignment_id, project=project)
    if not shows_steps(_configuration(assignment)):
        raise Http404(_NO_TRACE_TAB)
    return answer_picture(assignment.trace, **piece)


@requires(Right.SEE_ORGANISATION)
@require_safe
def scheme_colours(request: OrganisationRequest, project: str, version: int) -> HttpResponse:
    """The colours of a version's configuration, for ever: a version never changes. For everybody who sees the project:
    lists that viewers read have them, too."""
    chosen = visible_project(request.membership, project)
    version_row = get_object_or_404(ConfigurationVersion, project=chosen, number=version)
    try:
        sheet = scheme_colours_sheet(pinned(version_row.configuration))
    except UnreadablePinError as error:
        raise Http404(error.sentence) from None
    response = HttpResponse(sheet, content_type="text/css; charset=utf-8")
    response["Cache-Control"] = "private, max-age=31536000, immutable"
    return response


def _configuration(assignment: Assignment) -> ProjectConfiguration:
    """The pinned one, for addresses that only a page hands out which could read it."""
    try:
        return assignment.configuration()
    except UnreadablePinError as error:
        raise Http404(error.sentence) from None


def _page(request: OrganisationRequest, project: str, assignment_id: UUID) -> TaskPage | HttpResponse:
    """The task page of the person's own assignment, else the page that says why there is nothing to work on.

    With `late` in the address an assignment whose time ended is shown all the same: a late annotation is still taken.
    """
    assignment = own_task(cast(User, request.user), assignment_id, project=project)
    about = {"project": assignment.project, "trace": assignment.trace, "assignment": assignment}
    try:
        configuration = assignment.configuration()
    except UnreadablePinError as error:
        return render(request, "assignments/task_unreadable.html", {**about, "sentence": error.sentence}, status=409)
    is_late = assignment.state == AssignmentState.EXPIRED and "late" in request.GET
    if assignment.is_practice and assignment.state == AssignmentState.SUBMITTED:
        return redirect("practice-feedback", project, assignment_id)
    if not assignment.is_open and not is_late:
        last = assignment.submissions.order_by("-number").values_list("pk", flat=True).first()
        return render(request, "assignments/task_over.html", {**about, "submission": last})
    return TaskPage(assignment, configuration, is_late)


def _files(request: OrganisationRequest, page: TaskPage) -> HttpResponse:
    address = addresses("task-file-fragment", page.assignment.project.slug, page.assignment.pk)
    tab = files_tab(request, page.trace, page.configuration, address, with_links=page.shows_links)
    tab["base_url"] = reverse("task-base", args=[page.assignment.project.slug, page.assignment.pk])
    return _answer(request, "assignments/task_files.html", page, tab)


def _answer(request: OrganisationRequest, template: str, page: TaskPage, tab: dict[str, Any]) -> HttpResponse:
    return render(request, template, page.context(tab, request.membership, cast(User, request.user)))
