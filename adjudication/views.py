"""The queue of disagreements, the page on which one is settled, and taking that back."""

from typing import cast
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from accounts.models import User
from accounts.models.projects import visible_project
from adjudication.actions import UNDO_ADJUDICATION, give_back, open_adjudication, take, undo_adjudication
from adjudication.measuring import settled_traces, sided_with
from adjudication.models import Adjudication
from adjudication.page import page_context
from adjudication.queue import MOST_COUNTED, REASONS, in_turn, queue_rows, reasons, take_next
from adjudication.rules import adjudication_rules
from assignments.history import trace_title
from assignments.models import Assignment, Kind
from assignments.readable import trace_in
from tenancy.errors import Refused
from tenancy.ids import read_number
from tenancy.middleware import OrganisationRequest
from tenancy.permissions import requires
from tenancy.roles import Right

QUEUE_SHOWN = 50


@requires(Right.ADJUDICATE)
@require_safe
@never_cache
def queue_page(request: OrganisationRequest, project: str) -> HttpResponse:
    """What waits to be settled, with why; what this person settled in the last minutes; and with whom that sided."""
    chosen = visible_project(request.membership, project)
    user = cast(User, request.user)
    reason = request.GET.get("reason", "")
    reason = reason if reason in REASONS else ""
    text = request.GET.get("q", "").strip()[:200]
    ids = in_turn(chosen, user, MOST_COUNTED, reason, text)
    rows, count = queue_rows(user, ids[:QUEUE_SHOWN]), len(ids)
    heaviest = max((row.weight for row in rows), default=0) or 1
    newest = chosen.newest_version()
    own = Adjudication.objects.for_project(chosen).in_force().filter(decided_by=user)
    lately = own.filter(decided_at__gt=timezone.now() - UNDO_ADJUDICATION).select_related("trace").order_by("-pk")
    context = {
        "project": chosen,
        "rules": adjudication_rules(chosen),
        "count": count,
        "is_more": count == MOST_COUNTED,
        "rows": [
            {
                "row": row,
                "title": trace_title(row.trace.task, row.trace.external_id),
                "reasons": reasons(row),
                "share": round(100 * row.weight / heaviest),
                "agreement": None if row.agreement is None else round(100 * row.agreement),
            }
            for row in rows
        ],
        "reasons": REASONS,
        "reason": reason,
        "text": text,
        "lately": list(lately[:5]),
        "sides": sided_with(chosen),
        "settled": settled_traces(chosen),
        "version": newest.number if newest else None,
    }
    return render(request, "adjudication/queue.html", context)


@requires(Right.ADJUDICATE)
@require_POST
def settle_next(request: OrganisationRequest, project: str) -> HttpResponse:
    """Hold the first trace of the queue and go to it."""
    chosen = visible_project(request.membership, project)
    row = take_next(project=chosen, user=cast(User, request.user))
    if row is None:
        messages.success(request, "Nothing is left to settle.")
        return redirect("adjudicate", project)
    return redirect("settle", project, row.trace_id)


@requires(Right.ADJUDICATE)
@never_cache
def settle_page(request: OrganisationRequest, project: str, trace_id: UUID) -> HttpResponse:
    """The page on which the trace is settled by who holds it. Posted, it is held first."""
    chosen = visible_project(request.membership, project)
    trace, user = trace_in(chosen, trace_id), cast(User, request.user)
    if request.method == "POST":
        try:
            take(project=chosen, trace=trace, user=user)
        except Refused as refused:
            messages.error(request, refused.sentence)
            return redirect("adjudicate", project)
        return redirect("settle", project, trace.pk)
    held = Assignment.objects.open().filter(
        organisation=chosen.organisation_id, trace=trace, user=user, kind=Kind.ADJUDICATION
    )
    row = held.select_related("trace__project", "project", "user", "version").defer("version__source").first()
    if row is None:
        messages.info(request, "You do not hold this trace any more. Take it from the list to settle it.")
        return redirect("adjudicate", project)
    try:
        opened = open_adjudication(row)
    except Refused as refused:
        give_back(assignment=row, fencing_token=row.fencing_token)
        messages.error(request, refused.sentence)
        return redirect("adjudicate", project)
    return render(request, "adjudication/settle.html", page_context(opened))


@requires(Right.ADJUDICATE)
@require_POST
def settle_later(request: OrganisationRequest, project: str, trace_id: UUID) -> HttpResponse:
    """Let others have the trace, and go to the next one."""
    chosen = visible_project(request.membership, project)
    user = cast(User, request.user)
    rows = Assignment.objects.open().for_project(chosen).of(user).filter(kind=Kind.ADJUDICATION, trace=trace_id)
    row = rows.select_related("project", "user").first()
    token = read_number(request.POST.get("lease_token", ""), 18)
    if row is not None and token is not None:
        try:
            give_back(assignment=row, fencing_token=token)
        except Refused as refused:
            messages.error(request, refused.sentence)
            return redirect("adjudicate", project)
        messages.success(request, "Put off: it comes to you after all others.")
    return redirect("adjudicate", project)


@requires(Right.ADJUDICATE)
@require_POST
def undo(request: OrganisationRequest, project: str, adjudication_id: UUID) -> HttpResponse:
    """Take one's own adjudication back."""
    chosen = visible_project(request.membership, project)
    rows = Adjudication.objects.for_project(chosen).select_related(
        "submission__assignment__project", "submission__assignment__user", "trace"
    )
    adjudication = get_object_or_404(rows, pk=adjudication_id)
    try:
        undo_adjudication(adjudication=adjudication, user=cast(User, request.user))
        messages.success(request, f"{adjudication.trace} is to be settled again. What you settled of it is kept.")
    except Refused as refused:
        messages.error(request, refused.sentence)
    return redirect("adjudicate", project)
