"""Annotations of a trace side by side: for who may see all, and for annotators where their project lets them."""

from typing import cast
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from accounts.models import User
from accounts.models.projects import visible_project
from assignments.models import Submission
from assignments.readable import trace_in
from assignments.reading.compare_page import ComparePage
from tenancy.ids import read_id
from tenancy.middleware import OrganisationRequest
from tenancy.permissions import requires
from tenancy.roles import Right


@requires(Right.SEE_ORGANISATION)
@require_safe
@never_cache
def compare_trace(request: OrganisationRequest, project: str, trace_id: UUID) -> HttpResponse:
    """Two or three annotations of the trace: those that `of` names, else those that differ most. With `part=step` only
    the chosen step and what is said of it. An annotator who may read no others' is told that it does not exist."""
    trace = trace_in(visible_project(request.membership, project), trace_id)
    page = ComparePage(request, request.membership, cast(User, request.user), trace)
    context = page.context()
    is_step = request.GET.get("part") == "step" and not context["is_empty"] and context["beside"] is not None
    return render(
        request,
        "assignments/reading/partials/step_beside.html" if is_step else "assignments/reading/compare.html",
        context,
    )


@requires(Right.SEE_ANNOTATIONS)
@require_safe
def compare_chosen(request: OrganisationRequest, project: str) -> HttpResponse:
    """Where a list sends the annotations that were ticked in it: to the comparison of their trace."""
    chosen = visible_project(request.membership, project)
    ids = [row for text in request.GET.getlist("of")[:10] if (row := read_id(text))]
    rows = Submission.objects.for_project(chosen).filter(pk__in=ids).order_by("pk")
    named = list(rows.values_list("pk", "assignment__trace"))
    traces = {trace for _, trace in named}
    if len(traces) != 1:
        messages.warning(request, "Choose two or three annotations of one trace to compare them.")
        return redirect("annotations", chosen.slug)
    of = ",".join(str(pk) for pk, _ in named)
    return redirect(f"{reverse('compare', args=[chosen.slug, traces.pop()])}?of={of}")
