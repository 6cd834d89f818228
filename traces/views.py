"""Pages for people who manage a project: its traces, one trace as evidence, and the fragments that the page loads.

Everything here is read only, and what is asked for is found through the project that the person may see.
"""

import re
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_safe

from accounts.configuration import ProjectConfiguration, UnreadablePinError
from accounts.configuration.agentic import CodingTraceDisplay
from accounts.models import Project
from tenancy.middleware import OrganisationRequest
from tenancy.permissions import requires
from tenancy.roles import Right
from traces.evidence import files_page, steps_page
from traces.fragments import DisplayOptions, View, configuration_of, file_fragment, step_fragment
from traces.listing import ORDERS, TRACES_ON_A_PAGE, TraceFilters, first_line, runs_of_tasks
from traces.models import Fragment, Trace
from traces.rendering.diff import RENDER_VERSION
from traces.rendering.prose import markdown
from traces.rendering.safe import trusted
from traces.rendering.visible import escaped

_VIEWS: tuple[View, ...] = ("unified", "split")
_LONG_TASK = 640
"""A task with more characters is folded."""

_OLD_ADDRESS = "The page that asks for this is older than the site or the project's configuration. Load it again."
_LONGEST_WORDS = 200
_LARGEST_INDEX = 2**31 - 1


@requires(Right.SEE_TRACES)
@require_safe
def trace_list(request: OrganisationRequest, project: str) -> HttpResponse:
    """The project's traces, each in its newest version unless all are asked for, narrowed by filters."""
    found = _project(request, project)
    filters = TraceFilters.of(request.GET)
    page = Paginator(filters.rows(found.traces.all()), TRACES_ON_A_PAGE).get_page(request.GET.get("page"))
    traces: list[Any] = list(page.object_list)  # Any: the paginator forgets what the query adds to a trace
    runs = runs_of_tasks(found.traces.all(), {trace.task_id for trace in traces})
    context = {
        "project": found,
        "filters": filters,
        "active": filters.active(),
        "page": page,
        "page_base": f"?{query}&" if (query := filters.query_string()) else "?",
        "rows": [
            {
                "trace": trace,
                "task": first_line(trace.task_start),
                "same_task": runs.get(trace.task_id, 0) if trace.task_start else 0,
                "same_task_query": TraceFilters(task=trace.task_id).query_string(),
            }
            for trace in traces
        ],
        "models": filters.models(found.traces.all()),
        "converters": filters.converters(found.traces.all()),
        "tags": filters.tags(found.traces.all()),
        "marks": filters.marked(found.traces.all()),
        "orders": ORDERS.values(),
    }
    return render(request, "traces/list.html", context)


@requires(Right.SEE_TRACES)
@require_safe
def trace_files(request: OrganisationRequest, project: str, trace_id: UUID) -> HttpResponse:
    """The tab "Files changed". `view` chooses unified or split, `file` the file that is shown first."""
    trace = _trace(request, project, trace_id)
    configuration = _configuration(trace.project)
    options = DisplayOptions.of(configuration)
    asked = request.GET.get("view")
    view: View = next((name for name in _VIEWS if name == asked), options.view)
    page = files_page(trace, options, view, wanted=_number(request, "file"), page=max(_number(request, "page") or 1, 1))
    context = {
        **_frame(trace, configuration, "files"),
        "evidence": page,
        "view": view,
        "view_is_asked_for": asked in _VIEWS,
        "view_query": f"view={view}&" if asked in _VIEWS else "",
    }
    return render(request, "traces/files.html", context)


@requires(Right.SEE_TRACES)
@require_safe
def trace_steps(request: OrganisationRequest, project: str, trace_id: UUID) -> HttpResponse:
    """The tab "Agent trace". `step` is the step from which on bodies are in the response, `q` what steps must say."""
    trace = _trace(request, project, trace_id)
    configuration = _configuration(trace.project)
    options = DisplayOptions.of(configuration)
    words = request.GET.get("q", "").strip()[:_LONGEST_WORDS]
    page = steps_page(
        trace, options, wanted=_number(request, "step"), page=max(_number(request, "page") or 1, 1), words=words
    )
    context = {
        **_frame(trace, configuration, "steps"),
        "evidence": page,
        "words": words,
        "words_query": f"{urlencode({'q': words})}&" if words else "",
    }
    return render(request, "traces/steps.html", context)


@requires(Right.SEE_TRACES)
@require_safe
def file_part(
    request: OrganisationRequest,
    project: str,
    trace_id: UUID,
    index: int,
    sha256: str,
    version: int,
    key: str,
    part: str,
) -> HttpResponse:
    """A part of a file's difference, in one of the two views with the project's own options."""
    trace = _trace(request, project, trace_id)
    options = DisplayOptions.of(_configuration(trace.project))
    view = next((name for name in _VIEWS if options.diff(name).key == key), None)
    if view is None or version != RENDER_VERSION or index > _LARGEST_INDEX:
        raise Http404(_OLD_ADDRESS)
    file = get_object_or_404(trace.files, index=index, sha256=sha256)
    try:
        return _immutable(request, file_fragment(file, options, view, part))
    except LookupError as error:
        raise Http404(str(error)) from None


@requires(Right.SEE_TRACES)
@require_safe
def step_part(
    request: OrganisationRequest,
    project: str,
    trace_id: UUID,
    index: int,
    sha256: str,
    version: int,
    key: str,
    part: str,
) -> HttpResponse:
    """A part of a step, with the project's own options."""
    trace = _trace(request, project, trace_id)
    options = DisplayOptions.of(_configuration(trace.project))
    if key != options.step().key or version != RENDER_VERSION or index > _LARGEST_INDEX:
        raise Http404(_OLD_ADDRESS)
    step = get_object_or_404(trace.steps, index=index, sha256=sha256)
    try:
        return _immutable(request, step_fragment(step, options, part))
    except LookupError as error:
        raise Http404(str(error)) from None


def _configuration(project: Project) -> ProjectConfiguration | None:
    """What the project says about showing traces; nothing where its newest version needs what is not installed."""
    try:
        return configuration_of(project)
    except UnreadablePinError:
        return None


def _project(request: OrganisationRequest, slug: str) -> Project:
    return get_object_or_404(Project.objects.visible_to(request.membership), slug=slug)


def _trace(request: OrganisationRequest, project: str, trace_id: UUID) -> Trace:
    return get_object_or_404(
        Trace.objects.select_related("project").filter(project=_project(request, project)), pk=trace_id
    )


def _number(request: HttpRequest, name: str) -> int | None:
    """A whole number of the address, None where it says none."""
    text = request.GET.get(name, "")
    return min(int(text), _LARGEST_INDEX) if text.isascii() and text.isdecimal() and len(text) < 12 else None


def _frame(trace: Trace, configuration: ProjectConfiguration | None, tab: str) -> dict[str, Any]:
    """What stands around both tabs: the task, what is known of the run, and its other versions."""
    versions = trace.project.traces.filter(external_id=trace.external_id).order_by("version")
    title = first_line(trace.task)
    rest = trace.task.partition(title)[2].strip() if title else ""
    counted = trace.report
    return {
        "project": trace.project,
        "trace": trace,
        "tab": tab,
        "title": title,
        "rest": trusted(markdown(rest) or f'<pre class="code">{escaped(rest)}</pre>') if rest else "",
        "rest_is_long": len(rest) > _LONG_TASK or rest.count("\n") > _LONG_TASK // 80,
        "versions": list(versions.values_list("version", "pk")),
        "remarks": [
            (label, sorted(counted.get(name, {}).items()))
            for name, label in (("repairs", "Repaired"), ("unknown", "Unknown events"), ("dropped", "Left out"))
            if counted.get(name)
        ],
        "display": configuration.agentic.coding_trace_display if configuration else CodingTraceDisplay(),
    }


def _immutable(request: HttpRequest, fragment: Fragment) -> HttpResponse:
    """A fragment as it lies in the store, for ever: its address names its content."""
    response = HttpResponse(content_type="text/html; charset=utf-8")
    response["Cache-Control"] = "private, max-age=31536000, immutable"
    patch_vary_headers(response, ["Accept-Encoding"])
    if re.search(r"\bgzip\b", request.headers.get("Accept-Encoding", "")):
        response["Content-Encoding"] = "gzip"
        response.content = bytes(fragment.gzipped)
    else:
        response.content = fragment.html.encode()
    return response
