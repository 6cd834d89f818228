"""The page on which a standing rule is changed, beside what it would take; and its end."""

from dataclasses import replace
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from accounts.models import Project
from accounts.models.projects import visible_project
from assignments.actions.changing_rules import change_rule, preview_rule
from assignments.actions.releasing import end_rule
from assignments.models import StandingRule
from assignments.pool.filters import PoolFilters
from assignments.pool.listing import PoolList, Row
from assignments.pool.selecting import Selection
from assignments.views.batches import CHIPS, requested_selection
from assignments.views.pool import say
from tenancy.errors import Refused
from tenancy.middleware import OrganisationRequest
from tenancy.permissions import requires
from tenancy.roles import Right

_LISTED = 50


@requires(Right.MANAGE_PROJECTS)
@require_http_methods(["GET", "HEAD", "POST"])
def rule_page(request: OrganisationRequest, project: str, rule_id: UUID) -> HttpResponse:
    """What the rule takes, as it is or as the address asks for it (`asked`), and what that would have taken of the
    traces that are here. GET changes nothing; POST is the rule from now on."""
    chosen = visible_project(request.membership, project)
    rule = get_object_or_404(StandingRule.objects.select_related("batch"), pk=rule_id, project=chosen, ended_at=None)
    query = request.POST if request.method == "POST" else request.GET
    selection, problem = Selection.from_data(rule.selection), ""
    if "asked" in query:
        selection, problem = requested_selection(query)
        # A rule draws each trace by itself: it has no number, no strata and no single traces.
        take = "share" if selection.take == "share" else "all"
        selection = Selection(filters=selection.filters, take=take, share=selection.share, seed=selection.seed)
        if take == "all":
            selection = replace(selection, share=100.0)
    if request.method == "POST" and not problem:
        try:
            outcome = change_rule(rule=rule, selection=selection)
        except Refused as refused:
            problem = refused.sentence
        else:
            say(request, outcome.sentence, outcome.act)
            return redirect("batches", project=chosen.slug)
    preview, listed = preview_rule(chosen, selection), PoolList(chosen, selection.filters)
    context = {
        "project": chosen,
        "rule": rule,
        "selection": selection,
        "typed": {
            name: query.get(name) or usual
            for name, usual in (("share", f"{selection.share:g}"), ("seed", str(selection.seed)))
        },
        "chips": listed.chips(CHIPS, listed.chosen().count()),
        "preview": preview,
        "taken": len(preview.taken),
        "listed": _rows(chosen, list(preview.taken[:_LISTED])),
        "more": max(0, len(preview.taken) - _LISTED),
        "problem": problem,
    }
    return render(
        request, "assignments/rule.html", context, status=422 if problem and request.method == "POST" else 200
    )


@requires(Right.MANAGE_PROJECTS)
@require_POST
def end_standing_rule(request: OrganisationRequest, project: str, rule_id: UUID) -> HttpResponse:
    chosen = visible_project(request.membership, project)
    end_rule(rule=get_object_or_404(StandingRule, pk=rule_id, project=chosen))
    messages.success(request, "The rule has ended. What it released stays released.")
    return redirect("batches", project=chosen.slug)


def _rows(project: Project, keys: list[UUID]) -> list[Row]:
    traces = PoolList(project, PoolFilters(versions="all"))
    return traces.rows(traces.ordered("newest").filter(pk__in=keys))
