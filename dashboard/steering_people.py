"""What a manager asks for on the pages of people, as forms send it: limits, batches, who goes on with a held task."""

from uuid import UUID

from django.http import Http404, QueryDict

from accounts.models import Membership, Project
from accounts.models.members import members_with
from assignments.actions.changing_batches import add_people
from assignments.actions.held_tasks import reassign_tasks
from assignments.actions.leaving import held_by
from assignments.actions.outcomes import Outcome
from assignments.models import Batch
from tenancy.errors import Refused
from tenancy.ids import read_number
from tenancy.roles import Right

STEERING = ("pause", "resume", "limit", "batches")
"""What is done to people by the right to manage the project."""


def reassign_one(project: Project, membership: Membership, task: UUID | None, form: QueryDict) -> Outcome:
    """Give the task that the person holds to whom the form names. Raises Refused, and Http404 where no task is
    named."""
    if task is None:
        raise Http404
    held = list(held_by(membership.user, project).filter(pk=task).select_related("project", "user", "trace"))
    if not held:
        raise Refused(f"{membership.annotator_name} holds this task no more. Reload the page.")
    named = members_with(Right.ANNOTATE, project).filter(annotator_name=form.get("to", ""))
    person = named.select_related("user").first()
    if person is None:
        raise Refused("Choose who goes on with the task from the list.")
    return reassign_tasks(project=project, tasks=held, user=person.user, keep_draft="keep_draft" in form)


def name_in_batches(project: Project, people: list[Membership], form: QueryDict) -> Outcome:
    """Name the people in the batches whose numbers the form ticks. Raises Refused where none is ticked, or where one of
    them may take nothing here."""
    numbers = [number for text in form.getlist("batch") if (number := read_number(text, 8)) is not None]
    batches = list(Batch.objects.for_project(project).filter(number__in=numbers).order_by("number"))
    if not batches:
        raise Refused("Tick the batches in which they are named.")
    users = [one.user_id for one in people]
    known = set(members_with(Right.ANNOTATE, project).filter(user__in=users).values_list("user", flat=True))
    others = [one.annotator_name for one in people if one.user_id not in known]
    if others:
        raise Refused(f"{others[0]} annotates nothing in this project, so no batch can name them.")
    return add_people(batches=batches, people=users)


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
