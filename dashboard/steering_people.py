"""What a manager decides of one person's work in a project: a pause, limits, and who goes on with a held task."""

from uuid import UUID

from django.http import Http404, QueryDict

from accounts.models import Membership, Project
from accounts.models.members import members_with
from assignments.actions.leaving import held_by
from assignments.actions.reassigning import reassign
from assignments.actions.steering import limit_person, pause_person, resume_person
from assignments.history import TASK_START, trace_title
from tenancy.errors import Refused
from tenancy.ids import read_number
from tenancy.roles import Right

ACTS = ("pause", "resume", "limit", "reassign")


def steer(project: Project, membership: Membership, do: str, form: QueryDict) -> str:
    """Do it, one of ACTS, and answer what was done in a sentence. Raises Refused."""
    name, user = membership.annotator_name, membership.user
    if do == "pause":
        position = pause_person(project=project, user=user, reason=form.get("reason", ""))
        reads = f" They read: “{position.pause_reason}”" if position.pause_reason else ""
        return f"{name} is given no new tasks here. What they hold may be finished.{reads}"
    if do == "resume":
        resume_person(project=project, user=user)
        return f"{name} is given tasks again."
    if do == "limit":
        limit, share = limits_of(form)
        limit_person(project=project, user=user, limit=limit, share=share)
        parts = [f"at most {limit:,} annotations"] if limit else []
        parts += [f"at most {100 * share:g}% of all annotations"] if share else []
        return f"{name} makes {' and '.join(parts) or 'as many annotations as the project lets everybody make'} here."
    return _reassign(project, membership, form)


def _reassign(project: Project, membership: Membership, form: QueryDict) -> str:
    """The task of the form, or Http404, to whom it names."""
    try:
        task, other = UUID(form.get("task", "")), form.get("to", "")
    except ValueError:
        raise Http404 from None
    assignment = held_by(membership.user, project).filter(pk=task).select_related("project", "user", "trace").first()
    if assignment is None:
        raise Refused(f"{membership.annotator_name} holds this task no more. Reload the page.")
    person = members_with(Right.ANNOTATE, project).filter(annotator_name=other).select_related("user").first()
    if person is None:
        raise Refused("Choose who goes on with the task from the list.")
    keep_draft = "keep_draft" in form
    reassign(assignment=assignment, user=person.user, keep_draft=keep_draft)
    draft = "with the draft" if keep_draft else "without the draft, which is kept for the case that it comes back"
    task_title = trace_title(assignment.trace.task[:TASK_START], assignment.trace.external_id)
    return f"“{task_title}” is with {other} now, {draft}."


def limits_of(form: QueryDict) -> tuple[int | None, float | None]:
    """How many annotations, and which part of all, a form says. Raises Refused."""
    return _number(form, "limit"), _per_cent(form)


def _number(form: QueryDict, name: str) -> int | None:
    text = form.get(name, "").strip()
    number = read_number(text, 8)
    if text and number is None:
        raise Refused("A limit is a whole number from 1 to 1,000,000. Leave it empty for none.")
    return number


def _per_cent(form: QueryDict) -> float | None:
    """The share as a part of 1."""
    text = form.get("share", "").strip().removesuffix("%").strip()
    try:
        return float(text) / 100 if text else None
    except ValueError as error:
        raise Refused("A share is more than 0 and at most 100 per cent. Leave it empty for none.") from error
