"""Questions of annotators: asked on a task's page, answered on a page of the project."""

from typing import cast
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from accounts.models import User
from accounts.models.projects import visible_project
from assignments.actions.asking import Where, answer_question, ask
from assignments.models import Question
from assignments.models.questions import LONGEST_QUESTION
from assignments.own_assignment import own_assignment
from assignments.questions import shown_questions
from tenancy.errors import Refused
from tenancy.ids import read_number
from tenancy.middleware import OrganisationRequest
from tenancy.permissions import allowed, requires
from tenancy.roles import Right
from traces.evidence.judged_files import exact_paths
from traces.models import Trace


@requires(Right.ANNOTATE)
@require_POST
def ask_question(request: OrganisationRequest, project: str, assignment_id: UUID) -> HttpResponse:
    """The annotator asks about the task, a line or a step of it; then the task again, which stays theirs."""
    assignment = own_assignment(cast(User, request.user), assignment_id, project=project)
    form = request.POST
    where = Where(
        path=_path(assignment.trace, form.get("file", "")),
        side=form.get("side") or "new",
        line=read_number(form.get("line", ""), 8) or None,
        step=read_number(form.get("step", ""), 7),
    )
    try:
        ask(assignment=assignment, text=form.get("text", ""), where=where)
        messages.success(request, "Your question is with the managers. The task stays yours; the answer comes here.")
    except Refused as refused:
        messages.error(request, refused.sentence)
    return redirect("task-steps" if form.get("tab") == "steps" else "task", project, assignment_id)


def _path(trace: Trace, number: str) -> str | None:
    """The exact path of a file that the form names by its number: no form holds each path there is."""
    index = read_number(number, 7)
    files = [] if index is None else list(trace.files.filter(index=index))
    return next(iter(exact_paths(files)), None)


@requires(Right.SEE_ANNOTATIONS)
@require_safe
@never_cache
def question_list(request: OrganisationRequest, project: str) -> HttpResponse:
    """What annotators asked: what waits for an answer first."""
    chosen = visible_project(request.membership, project)
    questions = shown_questions(Question.objects.for_project(chosen))
    context = {
        "project": chosen,
        "waiting": [row for row in questions if row.answered_at is None],
        "answered": [row for row in questions if row.answered_at is not None],
        "may_answer": allowed(request, Right.MANAGE_PROJECTS, chosen),
        "may_publish": allowed(request, Right.CONFIGURE_PROJECTS, chosen),
        "longest": LONGEST_QUESTION,
    }
    return render(request, "assignments/questions.html", context)


@requires(Right.MANAGE_PROJECTS)
@require_POST
def answer(request: OrganisationRequest, project: str, question_id: UUID) -> HttpResponse:
    """Answer a question, and with `publishes` put both into the guidelines."""
    chosen = visible_project(request.membership, project)
    question = get_object_or_404(Question.objects.for_project(chosen).select_related("project"), pk=question_id)
    publishes = request.POST.get("publishes") == "1" and allowed(request, Right.CONFIGURE_PROJECTS, chosen)
    try:
        stored = answer_question(
            question=question, user=cast(User, request.user), text=request.POST.get("text", ""), publishes=publishes
        )
        added = f" Version {stored.version} has it in its guidelines." if stored.version else ""
        messages.success(request, f"The annotator reads your answer on the task.{added}")
    except Refused as refused:
        messages.error(request, refused.sentence)
    return redirect("questions", project)
