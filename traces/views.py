"""Pages for people who manage a project: one trace as evidence, and the fragments that the page loads.

Everything here is read only, and what is asked for is found through the project that the person may see.
"""

from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from accounts.models import Project
from accounts.models.projects import visible_project
from potato.configuration import ProjectConfiguration, UnreadablePinError
from tenancy.middleware import OrganisationRequest
from tenancy.permissions import requires
from tenancy.roles import Right
from traces.evidence.base_pages import base_page, patch_answer
from traces.evidence.checks import checks_of
from traces.evidence.fragments import published_configuration
from traces.evidence.pages import FilesPage, StepsPage, addresses, listed_files
from traces.evidence.responses import answer_file, answer_picture, answer_step, display_settings, files_tab, steps_tab
from traces.evidence.task_description import asked_for
from traces.models import Trace
from traces.trace_parts import shown_parts


@requires(Right.SEE_TRACES)
@require_safe
def trace_files(request: OrganisationRequest, project: str, trace_id: UUID) -> HttpResponse:
    """The tab "Files changed"."""
    trace = _trace(request, project, trace_id)
    configuration = _configuration(trace.project)
    tab = files_tab(request, trace, configuration, addresses("trace-file-fragment", project, trace_id))
    tab["base_url"] = reverse("trace-base", args=[project, trace_id])
    return render(request, "traces/files.html", {**_frame(request, trace, configuration, tab["evidence"]), **tab})


@requires(Right.SEE_TRACES)
@require_safe
def trace_base(request: OrganisationRequest, project: str, trace_id: UUID) -> HttpResponse:
    """The files that the run began from."""
    where = [project, trace_id]
    trace = _trace(request, project, trace_id)
    return base_page(request, trace, back=reverse("trace", args=where), patch=reverse("trace-patch", args=where))


@requires(Right.SEE_TRACES)
@require_safe
def trace_patch(request: OrganisationRequest, project: str, trace_id: UUID) -> HttpResponse:
    """The run's change as a patch."""
    return patch_answer(_trace(request, project, trace_id))


@requires(Right.SEE_TRACES)
@require_safe
def trace_steps(request: OrganisationRequest, project: str, trace_id: UUID) -> HttpResponse:
    """The tab "Agent trace"."""
    trace = _trace(request, project, trace_id)
    configuration = _configuration(trace.project)
    tab = steps_tab(request, trace, configuration, addresses("trace-step-fragment", project, trace_id), with_names=True)
    return render(request, "traces/steps.html", {**_frame(request, trace, configuration, tab["evidence"]), **tab})


@requires(Right.SEE_TRACES)
@require_safe
def file_part(request: OrganisationRequest, project: str, trace_id: UUID, **piece: Any) -> HttpResponse:
    """A part of a file's difference."""
    trace = _trace(request, project, trace_id)
    return answer_file(request, trace, _configuration(trace.project), **piece)


@requires(Right.SEE_TRACES)
@require_safe
def step_part(request: OrganisationRequest, project: str, trace_id: UUID, **piece: Any) -> HttpResponse:
    """A part of a step."""
    trace = _trace(request, project, trace_id)
    return answer_step(request, trace, _configuration(trace.project), **piece)


@requires(Right.SEE_TRACES)
@require_safe
def trace_picture(request: OrganisationRequest, project: str, trace_id: UUID, **piece: Any) -> HttpResponse:
    """A screenshot of one of the trace's steps."""
    return answer_picture(_trace(request, project, trace_id), **piece)


def _configuration(project: Project) -> ProjectConfiguration | None:
    """What the project says about showing traces; nothing where its newest version needs what is not installed."""
    try:
        return published_configuration(project)
    except UnreadablePinError:
        return None


def _trace(request: OrganisationRequest, project: str, trace_id: UUID) -> Trace:
    return get_object_or_404(
        Trace.objects.select_related("project").filter(project=visible_project(request.membership, project)),
        pk=trace_id,
    )


def _frame(
    request: OrganisationRequest,
    trace: Trace,
    configuration: ProjectConfiguration | None,
    page: FilesPage | StepsPage,
) -> dict[str, Any]:
    """What stands around both tabs: the task, what is known of the run, its other versions, and what apps above add."""
    versions = trace.project.traces.filter(external_id=trace.external_id).order_by("version")
    counted = trace.report
    return {
        "project": trace.project,
        "trace": trace,
        "files_url": reverse("trace", args=[trace.project.slug, trace.pk]),
        "steps_url": reverse("trace-steps", args=[trace.project.slug, trace.pk]),
        "checks": checks_of(trace, listed_files(trace, page)),
        "asked": asked_for(trace),
        "versions": list(versions.values_list("version", "pk")),
        "remarks": [
            (label, sorted(counted.get(name, {}).items()))
            for name, label in (("repairs", "Repaired"), ("unknown", "Unknown events"), ("dropped", "Left out"))
            if counted.get(name)
        ],
        "parts": shown_parts(request, trace),
        "display": display_settings(configuration),
    }
