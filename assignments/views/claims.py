"""What a person does to their tasks from a page without the task: take the next one, give one back, skip one."""

from datetime import timedelta
from typing import cast
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from accounts.actions.projects import ProjectArchived
from accounts.models import User
from accounts.models.projects import visible_project
from assignments.actions.claiming import NothingToDo, claim_next
from assignments.actions.working import put_off, release, skip
from assignments.errors import MembershipEnded, TooManyOpen
from assignments.models import Assignment
from assignments.own_assignment import own_assignment
from assignments.task_page.schemes import starts_with_steps
from assignments.wording import why_nothing
from potato.configuration import UnreadablePinError
from tenancy.errors import Refused
from tenancy.ids import read_number
from tenancy.middleware import OrganisationRequest
from tenancy.permissions import requires
from tenancy.roles import Right


@requires(Right.ANNOTATE)
@require_http_methods(["GET", "HEAD", "POST"])
def next_task(request: OrganisationRequest, project: str) -> HttpResponse:
    """Claim a task and go to it, or say why there is none. One that is open comes first, unless `another` is asked
    for; where no more may be open at once, that is the answer to both.

    GET changes nothing: it is what a browser asks for after a sign-in on the way.
    """
    chosen = visible_project(request.membership, project)
    if request.method != "POST":
        return redirect("organisation")
    user = cast(User, request.user)
    try:
        given = claim_next(project=chosen, user=user, another="another" in request.POST)
    except TooManyOpen as refused:
        messages.info(request, refused.sentence)
        given = claim_next(project=chosen, user=user)
    except ProjectArchived as refused:
        messages.info(request, refused.sentence)
        return redirect("organisation")
    except MembershipEnded as refused:
        # As for every stranger.
        raise Http404(refused.sentence) from refused
    if isinstance(given, NothingToDo):
        context = {"project": chosen, "nothing": given, "why": why_nothing(given)}
        return render(request, "assignments/nothing.html", context)
    return redirect(_first_tab(given), project=chosen.slug, assignment_id=given.pk)


def _first_tab(assignment: Assignment) -> str:
    """The route at which the work on it begins."""
    try:
        return "task-steps" if starts_with_steps(assignment.configuration()) else "task"
    except UnreadablePinError:
        return "task"  # It says so.


@requires(Right.ANNOTATE)
@require_POST
def release_task(request: OrganisationRequest, project: str, assignment_id: UUID) -> HttpResponse:
    """Put a task back into the queue. What is written in another tab at that moment is kept as its draft."""
    assignment = own_assignment(cast(User, request.user), assignment_id, project=project)
    try:
        release(assignment=assignment, fencing_token=assignment.fencing_token)
    except Refused as refused:
        return _refused(request, refused)
    messages.success(request, "The task went back to the queue. Your draft is kept, if there is one.")
    return redirect("organisation")


@requires(Right.ANNOTATE)
@require_POST
def skip_task(request: OrganisationRequest, project: str, assignment_id: UUID) -> HttpResponse:
    """Give a task up for good, with the `reason` that the form sends, or the `preset` that is ticked."""
    assignment = own_assignment(cast(User, request.user), assignment_id, project=project)
    try:
        reason = request.POST.get("reason", "").strip() or request.POST.get("preset", "")
        skip(assignment=assignment, fencing_token=assignment.fencing_token, reason=reason)
    except Refused as refused:
        return _refused(request, refused)
    messages.success(request, "The task was skipped. It goes to others and does not come back to you.")
    return redirect("organisation")


@requires(Right.ANNOTATE)
@require_POST
def put_off_task(request: OrganisationRequest, project: str, assignment_id: UUID) -> HttpResponse:
    """Put a task back for some hours (`hours`), after which it comes to this person again."""
    assignment = own_assignment(cast(User, request.user), assignment_id, project=project)
    hours = read_number(request.POST.get("hours", ""), 4)
    try:
        if hours is None:
            raise Refused("Choose when the task comes back to you.")
        until = timezone.now() + timedelta(hours=hours)
        put_off(assignment=assignment, fencing_token=assignment.fencing_token, until=until)
    except Refused as refused:
        return _refused(request, refused)
    messages.success(request, "The task was put off. It comes back to you then, with your draft, if a place is free.")
    return redirect("organisation")


def _refused(request: OrganisationRequest, refused: Refused) -> HttpResponseRedirect:
    messages.error(request, refused.sentence)
    return redirect("organisation")
