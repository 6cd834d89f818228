"""The page of one batch: what it decides, changed in one form, and how far it is."""

from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods

from accounts.models import Project
from accounts.models.projects import visible_project
from assignments.actions.editing_batches import BatchDecisions, decisions, edit_batch
from assignments.actions.quotas import newest_rules
from assignments.models import Batch, BatchState, Order, Priority, StandingRule
from assignments.pool.people import people_to_choose
from assignments.pool.progress import batch_rows, daily_annotations
from assignments.pool.selecting import Selection
from assignments.submission_records import annotator_names
from assignments.views.batches import read_date
from assignments.views.pool import chosen_people, say
from tenancy.errors import Refused
from tenancy.middleware import OrganisationRequest
from tenancy.permissions import allowed, requires
from tenancy.roles import Right


@requires(Right.SEE_TRACES, to_change=Right.MANAGE_PROJECTS)
@require_http_methods(["GET", "HEAD", "POST"])
def batch_page(request: OrganisationRequest, project: str, number: int) -> HttpResponse:
    """What the batch decides. POST saves all of the form, or nothing of it and says why."""
    chosen = visible_project(request.membership, project)
    batch = get_object_or_404(Batch.objects.for_project(chosen), number=number)
    before = decisions(batch)
    shown, problem = _stored(before), ""
    if request.method == "POST":
        shown = _typed(request.POST, shown)
        try:
            act = edit_batch(batch=batch, wanted=_submitted_decisions(request.POST, before))
        except Refused as refused:
            problem = refused.sentence
        else:
            if act is None:
                messages.info(request, f"Nothing of “{batch.name}” was changed.")
            else:
                say(request, act.sentence, act)
            return redirect("batch", project=chosen.slug, number=batch.number)
    context = _context(chosen, batch, before, shown)
    context |= {"problem": problem, "may_steer": allowed(request, Right.MANAGE_PROJECTS, chosen)}
    return render(request, "assignments/batch.html", context, status=422 if problem else 200)


@dataclass(frozen=True)
class _Shown:
    """What stands in the form, as text: what is stored, or what somebody typed, whether it can be read or not."""

    name: str
    redundancy: str
    deadline: str
    priority: str
    order: str
    who: str
    people: frozenset[str]


def _stored(decided: BatchDecisions) -> _Shown:
    return _Shown(
        name=decided.name,
        redundancy="" if decided.redundancy is None else str(decided.redundancy),
        deadline=decided.deadline.isoformat() if decided.deadline else "",
        priority=str(decided.priority),
        order=decided.order,
        who="named" if decided.people else "all",
        people=frozenset(map(str, decided.people)),
    )


def _typed(form: QueryDict, stored: _Shown) -> _Shown:
    names = ("name", "redundancy", "deadline", "priority", "order", "who")
    texts = {name: form.get(name, getattr(stored, name)) for name in names}
    return _Shown(**texts, people=frozenset(form.getlist("person")))


def _context(project: Project, batch: Batch, before: BatchDecisions, shown: _Shown) -> dict[str, Any]:
    rules = newest_rules(project)
    row = next(row for row in batch_rows(project, daily_annotations(project)) if row.batch.pk == batch.pk)
    annotating = {UUID(user): name for user, name in people_to_choose(project)}
    names: dict[UUID, str] = {**annotator_names(before.people), **annotating}
    return {
        "project": project,
        "batch": batch,
        "row": row,
        "shown": shown,
        "people": [
            (str(user), name, str(user) in shown.people, user in annotating)
            for user, name in sorted(names.items(), key=lambda pair: pair[1])
        ],
        "priorities": [(str(value), label) for value, label in reversed(Priority.choices)],
        "orders": Order.choices,
        "usual": rules[0].annotations_per_trace if rules else 1,
        "is_over": batch.state == BatchState.WITHDRAWN,
        "selection": Selection.from_data(batch.selection).description,
        "rules": StandingRule.objects.filter(organisation=project.organisation_id, batch=batch, ended_at__isnull=True),
        "released_by": annotator_names([batch.released_by_id]).get(batch.released_by_id, "")
        if batch.released_by_id
        else "",
    }


def _submitted_decisions(form: QueryDict, before: BatchDecisions) -> BatchDecisions:
    """What the form asks for; what it does not name stays as it is. Raises Refused for what cannot be read."""
    redundancy, priority = form.get("redundancy", "").strip(), form.get("priority", str(before.priority))
    if redundancy and not (redundancy.isascii() and redundancy.isdigit() and 1 <= int(redundancy[:4]) <= 100):
        raise Refused("Annotations a trace are a whole number from 1 to 100. Leave it empty for the project's number.")
    if priority not in map(str, Priority.values):
        raise Refused("A priority is low, normal, high or urgent.")
    people = tuple(chosen_people(form.getlist("person"))) if form.get("who") == "named" else ()
    if form.get("who") == "named" and not people:
        raise Refused("Name who may take the tasks, or let everybody of the project.")
    return replace(
        before,
        name=form.get("name", before.name)[:200],
        redundancy=int(redundancy) if redundancy else None,
        priority=int(priority),
        order=form.get("order", before.order),
        deadline=read_date(form.get("deadline", "")),
        people=people,
    )
