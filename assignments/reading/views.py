"""One submitted annotation, read only: the task page as its author saw it, and its record.

Who may not see it is told that it does not exist. The evidence is that of the trace, under the pinned configuration.
"""

import json
import re
from typing import Any, cast
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from accounts.models import User
from assignments.actions.noting import write_note
from assignments.errors import BadNote
from assignments.readable import loaded_configuration, readable, readable_submission
from assignments.reading.lists import list_in_address
from assignments.reading.page import ReadPage
from assignments.submission_records import annotator_names, submission_record
from assignments.task_page.page import shows_steps
from assignments.task_page.schemes import starts_with_steps
from potato.configuration import ProjectConfiguration
from tenancy.middleware import OrganisationRequest
from tenancy.permissions import requires
from tenancy.roles import Right
from traces.evidence.pages import addresses
from traces.evidence.responses import answer_file, answer_picture, answer_step, files_tab, steps_tab
from traces.rendering.prose import prose

SHOWN = 200_000
"""Of a record's JSON so many characters are shown; the download has all of it."""
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9._-]+")
_NO_TRACE_TAB = "This project does not show what the agent did step by step."


@requires(Right.SEE_ORGANISATION)
@require_safe
@never_cache
def annotation(request: OrganisationRequest, project: str, submission_id: UUID) -> HttpResponse:
    """The tab on which the work began; the record where its configuration does not load any more."""
    page = _page(request, project, submission_id)
    if page.configuration is None:
        return _record(request, page)
    if starts_with_steps(page.configuration):
        return redirect(str(page.urls["steps"]))
    return _files(request, page, page.configuration)


@requires(Right.SEE_ORGANISATION)
@require_safe
@never_cache
def annotation_files(request: OrganisationRequest, project: str, submission_id: UUID) -> HttpResponse:
    """The tab "Files changed", with what was said of lines, files and the whole."""
    page = _page(request, project, submission_id)
    return _files(request, page, _loaded(page))


@requires(Right.SEE_ORGANISATION)
@require_safe
@never_cache
def annotation_steps(request: OrganisationRequest, project: str, submission_id: UUID) -> HttpResponse:
    """The tab "Agent trace", with what was said of steps."""
    page = _page(request, project, submission_id)
    configuration = _loaded(page)
    if not shows_steps(configuration):
        raise Http404(_NO_TRACE_TAB)
    address = addresses("read-annotation-step-fragment", project, submission_id)
    tab = steps_tab(request, page.trace, configuration, address, with_names=page.sees_all)
    return render(request, "assignments/reading/steps.html", page.context(tab))


@requires(Right.SEE_ORGANISATION)
@require_safe
@never_cache
def annotation_guidelines(request: OrganisationRequest, project: str, submission_id: UUID) -> HttpResponse:
    """The tab "Guidelines": those of the pinned version, which its author was given."""
    page = _page(request, project, submission_id)
    guidelines = _loaded(page).guidelines
    if guidelines is None:
        raise Http404("This version of the configuration has no guidelines.")
    tab = {"tab": "guidelines", "guidelines": prose(guidelines, is_flowing=True)}
    return render(request, "assignments/reading/guidelines.html", page.context(tab))


@requires(Right.SEE_ORGANISATION)
@require_safe
@never_cache
def annotation_record_tab(request: OrganisationRequest, project: str, submission_id: UUID) -> HttpResponse:
    """The tab "Record": what exports and the API write."""
    return _record(request, _page(request, project, submission_id))


@requires(Right.SEE_ORGANISATION)
@require_safe
def annotation_by_id(request: OrganisationRequest, submission_id: UUID) -> HttpResponse:
    """Where a submission is found by its id alone: its record."""
    submission = get_object_or_404(readable(request.membership, cast(User, request.user)), pk=submission_id)
    return redirect(reverse("read-annotation-record", args=[submission.project.slug, submission.pk]))


@requires(Right.SEE_ORGANISATION)
@require_safe
def annotation_record(request: OrganisationRequest, submission_id: UUID) -> HttpResponse:
    """The record as a file. Everything beyond ASCII is escaped, so that any text survives."""
    submission = get_object_or_404(readable(request.membership, cast(User, request.user)), pk=submission_id)
    user = submission.assignment.user_id
    made = submission_record(submission, annotator_names([user]).get(user, ""))
    name = _NOT_IN_NAMES.sub("-", f"{made['id']}-{made['annotator']}-{submission.number}").strip("-.")[:120]
    return HttpResponse(
        json.dumps(made, indent=2) + "\n",
        content_type="application/json",
        headers={"Content-Disposition": f'attachment; filename="{name}.json"'},
    )


@requires(Right.SEE_ORGANISATION)
@require_safe
def annotation_file_part(request: OrganisationRequest, project: str, submission_id: UUID, **piece: Any) -> HttpResponse:
    """A part of a file's difference."""
    submission = _submission(request, project, submission_id)
    return answer_file(request, submission.assignment.trace, loaded_configuration(submission), **piece)


@requires(Right.SEE_ORGANISATION)
@require_safe
def annotation_step_part(request: OrganisationRequest, project: str, submission_id: UUID, **piece: Any) -> HttpResponse:
    """A part of a step, where the configuration shows steps."""
    submission = _submission(request, project, submission_id)
    configuration = loaded_configuration(submission)
    if not shows_steps(configuration):
        raise Http404(_NO_TRACE_TAB)
    return answer_step(request, submission.assignment.trace, configuration, **piece)


@requires(Right.SEE_ORGANISATION)
@require_safe
def annotation_picture(request: OrganisationRequest, project: str, submission_id: UUID, **piece: Any) -> HttpResponse:
    """A screenshot of one of the steps, where the configuration shows steps."""
    submission = _submission(request, project, submission_id)
    if not shows_steps(loaded_configuration(submission)):
        raise Http404(_NO_TRACE_TAB)
    return answer_picture(submission.assignment.trace, **piece)


@requires(Right.MANAGE_PROJECTS)
@require_POST
def note_annotation(request: OrganisationRequest, project: str, submission_id: UUID) -> HttpResponse:
    """Write a note about it, which those read who see everybody's annotations; then the page again, at its notes."""
    submission = _submission(request, project, submission_id)
    here = list_in_address(request, request.membership, cast(User, request.user), submission.project)
    text = request.POST.get("text", "")
    try:
        write_note(submission=submission, text=text, user=cast(User, request.user))
    except BadNote as refusal:
        page = ReadPage(request, request.membership, cast(User, request.user), submission)
        answer = _record(request, page, unsaved_note=text, note_refused=refusal.sentence)
        answer.status_code = refusal.status
        return answer
    messages.success(request, "The note is kept. The annotator does not see it.")
    return redirect(reverse("read-annotation", args=[project, submission_id]) + here.query + "#notes")


def _submission(request: OrganisationRequest, project: str, submission_id: UUID) -> Any:
    return readable_submission(request.membership, cast(User, request.user), submission_id, project=project)


def _page(request: OrganisationRequest, project: str, submission_id: UUID) -> ReadPage:
    submission = _submission(request, project, submission_id)
    return ReadPage(request, request.membership, cast(User, request.user), submission)


def _loaded(page: ReadPage) -> ProjectConfiguration:
    """The pinned configuration. Raises Http404 where it does not load any more."""
    if page.configuration is None:
        raise Http404(page.why_unreadable)
    return page.configuration


def _files(request: OrganisationRequest, page: ReadPage, configuration: ProjectConfiguration) -> HttpResponse:
    address = addresses("read-annotation-file-fragment", page.submission.project.slug, page.submission.pk)
    tab = files_tab(request, page.trace, configuration, address, with_links=shows_steps(configuration))
    return render(request, "assignments/reading/files.html", page.context(tab))


def _record(request: OrganisationRequest, page: ReadPage, **refused: str) -> HttpResponse:
    made = submission_record(page.submission, page.annotator)
    text = json.dumps(made, indent=2, ensure_ascii=False)
    tab = {
        "tab": "record",
        "record": text[:SHOWN],
        "is_cut": len(text) > SHOWN,
        "size": len(text),
        "why_unreadable": page.why_unreadable,
        **refused,
    }
    return render(request, "assignments/reading/record.html", page.context(tab))
