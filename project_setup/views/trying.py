"""Looking at a task page before it is published, and working on it as a test. Nothing is stored."""

import json
from typing import Any
from uuid import UUID

from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from accounts.models import Project, User
from accounts.models.projects import visible_project
from potato.configuration import ProjectConfiguration, check_configuration
from potato.records.annotations import record, results
from potato.schemes.answers import Incomplete
from project_setup.trying import SAMPLE, passing_trace, trial_page
from project_setup.views.sent_text import text_in
from tenancy.middleware import OrganisationRequest
from tenancy.permissions import requires
from tenancy.roles import Right
from traces.evidence.judged_files import judged_file, read_evidence
from traces.evidence.responses import answer_file, answer_picture, answer_step
from traces.models import Trace, TraceStep, step_with_picture

_NOT_LOADED = "The configuration does not load yet. Fix it first; the editor says where."
LARGEST_TRIAL = 2_000_000


@requires(Right.CONFIGURE_PROJECTS)
@require_POST
def preview(request: OrganisationRequest, project: str) -> HttpResponse:
    """The task page under the text as it stands, for a frame without rights: `tab` and `trace` choose what it shows.
    For a text that does not load the line of its first error."""
    chosen = visible_project(request.membership, project)
    source = text_in(request)
    checked = check_configuration(source)
    if checked.configuration is None:
        return JsonResponse({"line": checked.errors[0].line})
    where = request.POST.get("trace", SAMPLE)
    wanted = request.POST.get("tab", "")
    try:
        with passing_trace(chosen, checked.configuration, where) as trace:
            page = trial_page(chosen, source, checked.configuration, trace, _person(request), where)
            tab = page.tab(wanted)
            html = page.html(request, tab, request.membership, _person(request), is_preview=True)
            tabs = [name for name in ("files", "steps", "guidelines") if page.urls[name]]
    except Trace.DoesNotExist:
        raise Http404("There is no such trace in this project.") from None
    return JsonResponse({"html": html, "tab": tab, "tabs": tabs})


@requires(Right.CONFIGURE_PROJECTS)
@require_safe
@never_cache
def task(request: OrganisationRequest, project: str, tab: str) -> HttpResponse:
    """The task page of the saved draft, to work on as an annotator would. `begin` leads to its first tab."""
    chosen = visible_project(request.membership, project)
    where = request.GET.get("trace", SAMPLE)
    configuration = _saved(chosen)
    if configuration is None:
        return redirect("set-up", chosen.slug)
    try:
        with passing_trace(chosen, configuration, where) as trace:
            page = trial_page(chosen, chosen.draft, configuration, trace, _person(request), where)
            if page.tab(tab) != tab:
                return redirect(str(page.urls[page.tab("")]))
            html = page.html(
                request,
                tab,
                request.membership,
                _person(request),
                is_preview=False,
                trace=where,
                submit=reverse("set-up-try-submit", args=[chosen.slug]),
                lines=reverse("set-up-try-lines", args=[chosen.slug]),
            )
    except Trace.DoesNotExist:
        raise Http404("There is no such trace in this project.") from None
    return HttpResponse(html)


@requires(Right.CONFIGURE_PROJECTS)
@require_POST
def submit(request: OrganisationRequest, project: str) -> HttpResponse:
    """What a submission of the test would be: its record, or all that is missing. Nothing is stored."""
    chosen = visible_project(request.membership, project)
    configuration = _saved(chosen)
    if configuration is None:
        return JsonResponse({"code": "not_loaded", "detail": _NOT_LOADED}, status=409)
    if len(request.body) > LARGEST_TRIAL:
        return JsonResponse({"code": "too_large", "detail": "The annotation is too large."}, status=413)
    try:
        body = json.loads(request.body)
        answers, where = body["annotations"], str(body.get("trace", SAMPLE))
    except (ValueError, KeyError, TypeError, AttributeError):
        return JsonResponse({"code": "invalid_request", "detail": "Send annotations and trace."}, status=400)
    try:
        with passing_trace(chosen, configuration, where) as trace:
            now = timezone.now()
            result = results(answers, configuration, read_evidence(trace), now)
            whole = record(trace.external_id, request.membership.annotator_name, now, result, trace_version=1)
    except Incomplete as incomplete:
        gaps = [{"path": list(gap.path), "code": gap.code, "sentence": gap.sentence} for gap in incomplete.gaps]
        return JsonResponse({"code": incomplete.code, "detail": "Something is missing.", "gaps": gaps}, status=422)
    except Trace.DoesNotExist:
        raise Http404("There is no such trace in this project.") from None
    return JsonResponse({"record": whole})


@requires(Right.CONFIGURE_PROJECTS)
@require_safe
def lines(request: OrganisationRequest, project: str) -> HttpResponse:
    """The exact text of lines of a file of the tried trace, as the API answers for an assignment."""
    chosen = visible_project(request.membership, project)
    configuration = _saved(chosen)
    side, start, end = (request.GET.get(name, "") for name in ("side", "start", "end"))
    if configuration is None or side not in ("new", "old") or not (start.isdecimal() and end.isdecimal()):
        raise Http404(_NOT_LOADED)
    try:
        with passing_trace(chosen, configuration, request.GET.get("trace", SAMPLE)) as trace:
            file = judged_file(trace, request.GET.get("file", ""))
            text = file.text(side, int(start), int(end)) if file else None  # type: ignore[arg-type]  # looked at above
            if file is None or text is None:
                raise Http404("This file does not show all of these lines.")
            numbered = file.lines(side)  # type: ignore[arg-type]  # looked at above
            shown = [numbered[number] for number in range(int(start), int(end) + 1)]
            return JsonResponse({"text": text, "lines": shown, "numbering": file.numbering})
    except Trace.DoesNotExist:
        raise Http404("There is no such trace in this project.") from None


@requires(Right.CONFIGURE_PROJECTS)
@require_safe
def file_part(request: OrganisationRequest, project: str, trace_id: UUID, **piece: Any) -> HttpResponse:
    """A part of a file's difference under the saved draft."""
    chosen = visible_project(request.membership, project)
    return answer_file(request, _own(chosen, trace_id), _saved(chosen), **piece)


@requires(Right.CONFIGURE_PROJECTS)
@require_safe
def step_part(request: OrganisationRequest, project: str, trace_id: UUID, **piece: Any) -> HttpResponse:
    """A part of a step under the saved draft."""
    chosen = visible_project(request.membership, project)
    return answer_step(request, _own(chosen, trace_id), _saved(chosen), **piece)


@requires(Right.CONFIGURE_PROJECTS)
@require_safe
def picture(request: OrganisationRequest, project: str, sha256: str, size: str) -> HttpResponse:
    """A picture of one of the project's traces."""
    steps = TraceStep.objects.filter(trace__project=visible_project(request.membership, project))
    step = step_with_picture(steps.select_related("trace"), sha256)
    if step is None:
        raise Http404("No trace of this project has this screenshot.")
    return answer_picture(step.trace, sha256=sha256, size=size)


def _saved(project: Project) -> ProjectConfiguration | None:
    return check_configuration(project.draft).configuration


def _own(project: Project, trace: UUID) -> Trace:
    return get_object_or_404(Trace, project=project, pk=trace)


def _person(request: OrganisationRequest) -> User:
    person = request.user
    assert isinstance(person, User)  # noqa: S101 - requires() lets nobody else in
    return person
