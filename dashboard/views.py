"""The page of a project for those who manage it."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from accounts.models import ConfigurationVersion, Project
from assignments.scheme_pages import ProjectPage, sections_of
from assignments.wording import duration
from dashboard.charts import day_chart, pieces, share
from dashboard.exported import choices_for, given_options, last_exports
from dashboard.figures import (
    PACE_DAYS,
    Day,
    Status,
    choices_of,
    days_left,
    days_of,
    people_of,
    status_of,
    unjudged_because,
)
from exports.actions import NotExportable, request_export
from jobs.bounds import TooManyJobs
from potato.configuration import ProjectConfiguration, UnreadablePinError, pinned
from potato.schemes.distributions import Distribution
from potato.wording import counted, title_case
from tenancy.errors import Refused
from tenancy.middleware import OrganisationRequest
from tenancy.permissions import allowed, requires
from tenancy.roles import Right

_YEAR = 365
_STATUS = {
    "complete": ("Complete", "f3", "sw3"),
    "started": ("Started", "f1", "sw1"),
    "held": ("With an annotator now", "f1s", "sw1s"),
    "stuck": ("Skipped, nobody is left", "f2", "sw2"),
    "unjudged": ("Nothing to judge", "f4", "sw4"),
    "open": ("Open", "hb0", "sw0"),
}


@dataclass(frozen=True)
class SchemeCard:
    """What was chosen under one scheme. Each distribution comes with its rows, made of a value, its share and `c`, the
    palette's key or nothing."""

    title: str
    total: str
    distributions: list[dict[str, Any]]


@requires(Right.SEE_ANNOTATIONS)
@require_safe
def project_page(request: OrganisationRequest, project: str) -> HttpResponse:
    """Progress, annotations, choices and people of one project."""
    return _page(request, _project(request, project))


def _page(request: OrganisationRequest, found: Project, refusal: Refused | None = None) -> HttpResponse:
    """The project's page; with a refused export, its sentence at the form, which keeps what was sent."""
    version = found.newest_version()
    configuration = _configuration(version)
    status = status_of(found, configuration.assignment.annotations_per_trace if configuration else 1)
    days, people = days_of(found), people_of(found)
    exports = last_exports(found) if allowed(request, Right.EXPORT) else []
    page = render(
        request,
        "dashboard/project.html",
        {
            "project": found,
            "version": version,
            "is_readable": configuration is not None,
            "links": _links(request, found),
            "state": _state(version, status),
            "lead": _lead(status),
            "status": status,
            "status_rows": _status_rows(status),
            "unjudged_because": unjudged_because(found) if status.unjudged else [],
            "people": people,
            "annotators": [(one, duration(one.median) if one.median else "") for one in people.shown],
            "median": duration(people.median) if people.median else "",
            "days": days,
            "forecast": _forecast(status, days),
            "chart": day_chart(days),
            "cards": list(_cards(choices_of(found, configuration))) if configuration else [],
            "sections": sections_of(ProjectPage(found, configuration, request.GET)),
            "exports": exports,
            "formats": choices_for(found, exports, request.POST) if version and allowed(request, Right.EXPORT) else [],
            "refusal": refusal.sentence if refusal else "",
            "refused_format": request.POST.get("format", "") if refusal else "",
        },
        status=refusal.status if refusal else 200,
    )
    if refusal and refusal.retry_after:
        page["Retry-After"] = str(refusal.retry_after)
    return page


@requires(Right.EXPORT)
@require_http_methods(["GET", "HEAD", "POST"])
def project_exports(request: OrganisationRequest, project: str) -> HttpResponse:
    """GET: the last exports, as the part of the page that is loaded again while one is made. POST: ask for one, in the
    `format` that the form sends, with that format's options."""
    found = _project(request, project)
    if request.method != "POST":
        part = render(request, "dashboard/partials/exports.html", {"exports": last_exports(found)})
        part["Cache-Control"] = "no-store"
        return part
    try:
        format = request.POST.get("format", "")
        export = request_export(project=found, format=format, options=given_options(format, request.POST))
    except (NotExportable, TooManyJobs) as refused:
        return _page(request, found, refused)
    messages.success(request, f"{export.format} is being exported. Its row below says how far it is.")
    return redirect(f"{reverse('project', args=[found.slug])}#exports")


def _project(request: OrganisationRequest, slug: str) -> Project:
    return get_object_or_404(Project.objects.visible_to(request.membership).defer("draft"), slug=slug)


def _configuration(version: ConfigurationVersion | None) -> ProjectConfiguration | None:
    try:
        return pinned(version.configuration) if version else None
    except UnreadablePinError:
        return None


def _links(request: OrganisationRequest, project: Project) -> dict[str, str]:
    links = {"annotations": reverse("annotations", args=[project.slug])}
    if allowed(request, Right.SEE_TRACES):
        links["traces"] = reverse("traces", args=[project.slug])
    if allowed(request, Right.CONFIGURE_PROJECTS):
        links["configuration"] = reverse("admin:accounts_project_configuration", args=[project.pk])
    return links


def _state(version: ConfigurationVersion | None, status: Status) -> tuple[str, str]:
    """In a word, with the tone of its badge."""
    if version is None:
        return "Not published", "neutral"
    if not status.traces:
        return "No traces", "neutral"
    if status.complete and status.complete == status.traces - status.unjudged:
        return "Complete", "added"
    return "Collecting", "correct"


def _lead(status: Status) -> str:
    if not status.traces:
        return "No traces are imported yet"
    return f"{counted(status.traces, 'trace')}, {counted(status.target, 'annotation')} wanted in all"


def _forecast(status: Status, days: list[Day]) -> tuple[str, str]:
    """When all is done at this pace: a number with its unit, or words alone."""
    if status.traces and status.done >= status.target:
        return "", "All done"
    left = days_left(status, days)
    if left is None:
        is_any = any(day.annotations for day in days[-PACE_DAYS:])
        return "", "Too early to say" if is_any else "Nothing came in this week"
    return ("", "In over a year") if left > _YEAR else (f"{left:,}", "day" if left == 1 else "days")


def _status_rows(status: Status) -> list[dict[str, Any]]:
    names = [name for name in _STATUS if name != "unjudged" or status.unjudged]
    parts = [(name, getattr(status, name)) for name in names]
    return [
        {
            "piece": piece,
            "label": _STATUS[piece.label][0],
            "fill": _STATUS[piece.label][1],
            "swatch": _STATUS[piece.label][2],
        }
        for piece in pieces(parts)
    ]


def _cards(choices: list[tuple[str, Distribution]]) -> Iterator[SchemeCard]:
    for scheme, group in groupby(choices, key=lambda pair: pair[0]):
        found = [distribution for _, distribution in group]
        yield SchemeCard(
            title=found[0].title if len(found) == 1 else title_case(scheme),
            total=counted(found[0].total, found[0].unit),
            distributions=[_drawn(scheme, distribution, len(found) > 1) for distribution in found],
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
