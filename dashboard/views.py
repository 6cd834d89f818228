"""The overview of a project for those who manage it, and what can be done there."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from accounts.attention import list_matters
from accounts.live_parts import live_context as live_part
from accounts.live_parts import part_answer
from accounts.models import Project
from accounts.models.projects import visible_project
from assignments.models import TraceQuota
from assignments.scheme_pages import ProjectPage, shown_sections
from dashboard.charts import share
from dashboard.checklist import checklist
from dashboard.dismissing import dismiss
from dashboard.figures import chosen_distributions
from dashboard.overview import live_context, read_overview, title_facts
from exports.shown import ON_THE_PROJECTS_PAGE, last_exports, next_schedules
from potato.schemes.distributions import Distribution
from potato.wording import counted, title_case
from tenancy.errors import Refused
from tenancy.middleware import OrganisationRequest
from tenancy.permissions import allowed, requires
from tenancy.roles import Right
from traces.import_views import dropping


@dataclass(frozen=True)
class SchemeCard:
    """What was chosen under one scheme. Each distribution comes with its rows, made of a value, its share and `c`, the
    palette's key or nothing."""

    scheme: str
    title: str
    total: str
    distributions: list[dict[str, Any]]


@requires(Right.SEE_ANNOTATIONS)
@require_safe
def project_page(request: OrganisationRequest, project: str) -> HttpResponse:
    """Progress, what needs attention, choices and people of one project."""
    chosen = visible_project(request.membership, project)
    overview = read_overview(request, chosen)
    version, configuration = overview.version, overview.configuration
    may_export = allowed(request, Right.EXPORT, chosen)
    links = _links(request, chosen)
    live = _live(links, live_context(overview))
    steps = checklist(request, overview)
    return render(
        request,
        "dashboard/project.html",
        {
            "project": chosen,
            "version": version,
            "is_readable": configuration is not None,
            "links": links,
            "pause": overview.pause,
            "facts": title_facts(overview),
            "steps": steps,
            "steps_done": sum(step.state == "done" for step in steps),
            **live_part(live),
            # Where nothing came in yet, files are dropped on this page.
            **(dropping() if any(step.drops for step in steps) else {}),
            "cards": list(_cards(chosen_distributions(chosen, configuration))) if configuration else [],
            "approval": overview.approval,
            "sections": shown_sections(ProjectPage(chosen, configuration, request.GET)),
            "may_export": may_export,
            "exports": last_exports(chosen, ON_THE_PROJECTS_PAGE) if may_export else [],
            "schedules": next_schedules(chosen, ON_THE_PROJECTS_PAGE) if may_export else [],
        },
    )


@requires(Right.SEE_ANNOTATIONS)
@require_safe
def project_live(request: OrganisationRequest, project: str) -> HttpResponse:
    """The parts of the page that change while it is open; 304 where they are what the page has."""
    chosen = visible_project(request.membership, project)
    return part_answer(request, _live(_links(request, chosen), live_context(read_overview(request, chosen))))


@requires(Right.SEE_ANNOTATIONS, to_change=Right.MANAGE_PROJECTS)
@require_POST
def project_attention(request: OrganisationRequest, project: str) -> HttpResponse:
    """Solve a matter (`do`: its key, a blank and the name of the remedy), or leave it for a week (`dismiss`: its key,
    with the `reason` of that key)."""
    chosen = visible_project(request.membership, project)
    key, _, name = request.POST.get("do", "").rpartition(" ")
    key = request.POST.get("dismiss", "") or key
    matter = next((one for one in list_matters(request, chosen) if one.key == key), None)
    try:
        if matter is None:
            messages.info(request, "That is not there any more: somebody has seen to it, or it has solved itself.")
        elif "dismiss" in request.POST:
            dismiss(project=chosen, matter=matter, reason=request.POST.get(f"reason {key}", ""))
            messages.success(request, "Left for seven days. It comes back then, or when something new is the matter.")
        else:
            act = next((one.act for one in matter.remedies if one.name == name), None)
            messages.success(request, act() if act else "There is nothing to be done at once: open the page behind it.")
    except Refused as refused:
        messages.error(request, refused.sentence)
    return redirect("project", chosen.slug)


def _live(links: dict[str, str], context: dict[str, Any]) -> str:
    return render_to_string("dashboard/partials/live.html", {**context, "links": links})


def _links(request: OrganisationRequest, project: Project) -> dict[str, str]:
    """The pages that the reader may follow."""
    links = {
        "annotations": reverse("annotations", args=[project.slug]),
        "agreement": reverse("agreement", args=[project.slug]),
        "people": reverse("people", args=[project.slug]),
    }
    if allowed(request, Right.MANAGE_PROJECTS, project):
        links["manage"] = reverse("project-attention", args=[project.slug])
        if TraceQuota.objects.for_project(project).judgeable().in_pool().exists():
            links["release"] = reverse("release-batch", args=[project.slug])
    if allowed(request, Right.SEE_TRACES, project):
        links["traces"] = reverse("traces", args=[project.slug])
    if allowed(request, Right.CONFIGURE_PROJECTS, project):
        links["configuration"] = reverse("set-up", args=[project.slug])
    if allowed(request, Right.IMPORT_TRACES, project):
        links["import"] = reverse("imports", args=[project.slug])
    if allowed(request, Right.MANAGE_MEMBERS, project):
        links["invite"] = reverse("invite-people", args=[project.slug])
    if allowed(request, Right.MANAGE_PROJECTS, project):
        links["audit"] = f"{reverse('audit-trail')}?project={project.slug}"
    return links


def _cards(choices: list[tuple[str, Distribution]]) -> Iterator[SchemeCard]:
    for scheme, group in groupby(choices, key=lambda pair: pair[0]):
        distributions = [distribution for _, distribution in group]
        yield SchemeCard(
            scheme=scheme,
            title=distributions[0].title if len(distributions) == 1 else title_case(scheme),
            total=counted(distributions[0].total, distributions[0].unit),
            distributions=[_drawn(scheme, distribution, len(distributions) > 1) for distribution in distributions],
        )


def _drawn(scheme: str, distribution: Distribution, is_one_of_several: bool) -> dict[str, Any]:
    """A bar is a share of all that was chosen; among several questions the bars are small."""
    mean = distribution.mean
    whole = distribution.total
    return {
        "title": distribution.title if is_one_of_several else "",
        "mean": "" if mean is None else f"{mean:.2f}",
        "rows": [
            {
                "chosen": chosen,
                "share": share(chosen.count, distribution.total) or "0%",
                "width": f"{100 * chosen.count / whole:.3f}%" if whole else "0%",
                "c": f"{scheme}.{chosen.value}" if chosen.is_coloured else "",
            }
            for chosen in distribution.values
        ],
    }
