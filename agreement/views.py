"""The pages of a project's agreement: the newest report, the traces behind a number, history, and downloads."""

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.live_parts import live_context, part_answer
from accounts.models import Project
from accounts.models.projects import visible_project
from agreement import matrices, pages, people, report_plots
from agreement.actions import TooSoon, UnfitSettings, change_rule, recompute_interval, request_report
from agreement.anchoring import anchoring_section
from agreement.files import file_response, plot_response
from agreement.filter_chips import days_in_words, filter_chips
from agreement.filters import NAMES, UnfitFilters, checked_filters, filters_in_words
from agreement.models import AgreementReport, AgreementRule
from agreement.models.rules import project_rule
from agreement.navigation import views_of_agreement
from agreement.reports import newest_report, newest_requested
from agreement.schedules_shown import listed_schedules
from agreement.summaries import markdown_summary
from agreement.tables import csv_text
from agreement.third_person import request_third_annotator, take_back
from agreement.wording import summarise_report
from assignments.models import TraceQuota
from jobs.bounds import TooManyJobs
from potato.wording import counted, title_case
from tenancy.errors import Refused
from tenancy.middleware import OrganisationRequest
from tenancy.permissions import allowed, requires
from tenancy.roles import Right
from traces.models import Trace

REPORTS_ON_A_PAGE = 25


@requires(Right.SEE_ANNOTATIONS)
@require_safe
def agreement_page(request: OrganisationRequest, project: str) -> HttpResponse:
    """How far the project's people agree: the newest report, or an earlier one that the address names."""
    chosen = visible_project(request.membership, project)
    context = _context(request, chosen)
    return render(request, "agreement/agreement.html", {**context, **live_context(_part(request, context))})


@requires(Right.SEE_ANNOTATIONS)
@require_safe
def agreement_part(request: OrganisationRequest, project: str) -> HttpResponse:
    """What of the page changes while a report is computed; 304 where it is what the page has."""
    return part_answer(request, _part(request, _context(request, visible_project(request.membership, project))))


def _part(request: OrganisationRequest, context: dict[str, Any]) -> str:
    return render_to_string("agreement/partials/report.html", context, request)


@requires(Right.MANAGE_PROJECTS)
@require_POST
def compute_agreement(request: OrganisationRequest, project: str) -> HttpResponse:
    """Have a report computed in the background, of what the filters that are sent let pass."""
    chosen = visible_project(request.membership, project)
    filters: dict[str, Any] = {}
    try:
        filters = checked_filters(chosen, _chosen_filters(request.POST))
        request_report(project=chosen, filters=filters)
    except (TooSoon, TooManyJobs, UnfitFilters) as refused:
        messages.warning(request, refused.sentence)
    address = reverse("agreement", args=[chosen.slug])
    return redirect(f"{address}?{urlencode(filters, doseq=True)}" if filters else address)


@requires(Right.SEE_ANNOTATIONS, to_change=Right.MANAGE_PROJECTS)
@require_http_methods(["GET", "HEAD", "POST"])
def agreement_history(request: OrganisationRequest, project: str) -> HttpResponse:
    """All reports, the schedules that ask for them, and the rule beside those. POST changes the rule."""
    chosen = visible_project(request.membership, project)
    refusal = ""
    if request.method == "POST":
        try:
            _change_rule(chosen, request)
        except UnfitSettings as refused:
            refusal = refused.sentence
        else:
            messages.success(request, "Saved when agreement is computed.")
            return redirect("agreement-history", chosen.slug)
    reports = AgreementReport.objects.for_project(chosen).whole().finished().defer("figures")
    finished = reports.select_related("requested_by", "schedule")
    page = Paginator(finished.order_by("-computed_at", "-pk"), REPORTS_ON_A_PAGE).get_page(request.GET.get("page"))
    drawn = list(reversed(finished.order_by("-computed_at", "-pk")[: report_plots.REPORTS_DRAWN]))
    newest = drawn[-1] if drawn else None
    compared = newest.summary if newest else []
    columns = compared[: report_plots.CURVES_DRAWN]
    rule = project_rule(chosen)
    context = {
        "project": chosen,
        "views": views_of_agreement(chosen, "agreement-history"),
        "page": page,
        "page_base": "?",
        "columns": [comparison["title"] for comparison in columns],
        "rows": [(report, [_main_value(report, comparison) for comparison in columns]) for report in page.object_list],
        "plot": report_plots.history_plot(drawn),
        "newest": newest,
        "rule": rule,
        "every": recompute_interval(rule),
        "watchable": [
            (
                f"{comparison['scheme']}/{comparison['name']}",
                comparison["title"],
                f"{comparison['scheme']}/{comparison['name']}" == rule.watched,
            )
            for comparison in compared
        ],
        "refusal": refusal,
        "schedules": listed_schedules(chosen, timezone.now()),
    }
    return render(request, "agreement/history.html", context, status=400 if refusal else 200)


@requires(Right.SEE_ANNOTATIONS)
@require_safe
def agreement_traces(request: OrganisationRequest, project: str) -> HttpResponse:
    """The first traces behind a number of a report: of two choices, or of two first errors so many steps apart."""
    chosen = visible_project(request.membership, project)
    report = _report(chosen, request.GET.get("report", ""))
    compared, of = report.figures["compared"], sorted(request.GET.getlist("of"))
    number = request.GET.get("on", "")
    if not number.isascii() or not number.isdigit() or int(number) >= len(compared):
        raise Http404
    comparison = compared[int(number)]
    examples = [each for each in comparison["examples"] if sorted(map(str, each["of"])) == of]
    if not examples:
        raise Http404
    keys = [tuple(key) for key in examples[0]["traces"]]
    rows = Trace.objects.filter(
        organisation=chosen.organisation_id, project=chosen, external_id__in=[key[0] for key in keys]
    ).defer("report")
    by_key = {(row.external_id, row.version): row for row in rows}
    extra = TraceQuota.objects.for_project(chosen).filter(trace__in=[row.pk for row in by_key.values()], extra__gt=0)
    extra_by_trace = dict(extra.values_list("trace", "extra"))
    traces = [by_key[key] for key in keys if key in by_key]
    context = {
        "project": chosen,
        "report": report,
        "title": comparison["title"],
        "chosen": [title_case(value) for value in of],
        "is_first_error": comparison["main"] == "same",
        "traces": [(trace, extra_by_trace.get(trace.pk, 0)) for trace in traces],
        "may_ask": allowed(request, Right.MANAGE_PROJECTS, chosen),
        "has_asked": bool(extra_by_trace),
        "on": number,
        "of": of,
        "may_see_traces": allowed(request, Right.SEE_TRACES, chosen),
        "most": len(keys),
    }
    return render(request, "agreement/traces.html", context)


@requires(Right.MANAGE_PROJECTS)
@require_POST
def ask_third_person(request: OrganisationRequest, project: str) -> HttpResponse:
    """Want one annotator more of the ticked traces, or take that back (`take_back`)."""
    visible = visible_project(request.membership, project)
    chosen, back = request.POST.getlist("trace"), "take_back" in request.POST
    try:
        changed = (take_back if back else request_third_annotator)(project=visible, traces=chosen)
    except Refused as refusal:
        messages.error(request, refusal.sentence)
    else:
        messages.success(request, _changed_in_words(changed, len(set(chosen)) - changed, back=back))
    named = {name: request.POST.getlist(name) for name in ("report", "on", "of")}
    return redirect(f"{reverse('agreement-traces', args=[visible.slug])}?{urlencode(named, doseq=True)}")


def _changed_in_words(changed: int, unchanged: int, *, back: bool) -> str:
    traces = f"{counted(changed, 'trace')} {'is' if changed == 1 else 'are'}"
    if back:
        more = " The rest was not asked for, or somebody has taken it meanwhile." if unchanged else ""
        return f"{traces} no longer given to one annotator more.{more}"
    more = f" {unchanged:,} cannot be judged by anybody." if unchanged else ""
    return f"{traces} given to one annotator more{' each' if changed != 1 else ''}.{more}"


@requires(Right.SEE_ANNOTATIONS)
@require_safe
def report_file(request: OrganisationRequest, project: str, report_id: UUID, kind: str) -> HttpResponse:
    """All figures of a report, as JSON or as CSV, or what it says as Markdown."""
    chosen = visible_project(request.membership, project)
    report = _report(chosen, str(report_id))
    part = "-part" if report.filters else ""
    name = f"{chosen.slug}-agreement{part}-{report.computed_at:%Y%m%d-%H%M%S}.{kind}"
    if kind == "json":
        return file_response(report.text.encode(), "application/json", name)
    if kind == "md":
        return file_response(markdown_summary(report).encode(), "text/markdown; charset=utf-8", name)
    return file_response(_all_figures(report).encode(), "text/csv; charset=utf-8", name)


@requires(Right.SEE_ANNOTATIONS)
@require_safe
def plot_file(request: OrganisationRequest, project: str, report_id: UUID, plot: str, kind: str) -> HttpResponse:
    """A drawn figure as SVG, PNG, or its numbers as CSV or Markdown."""
    chosen = visible_project(request.membership, project)
    report = _report(chosen, str(report_id))
    if plot == "history":
        reports = AgreementReport.objects.for_project(chosen).whole().finished()
        finished = reports.defer("figures").order_by("-computed_at", "-pk")
        drawn = report_plots.history_plot(list(reversed(finished[: report_plots.REPORTS_DRAWN])))
    else:
        drawn = next((candidate for candidate in report_plots.plots(report.figures) if candidate.name == plot), None)
    if drawn is None:
        raise Http404
    name = f"{chosen.slug}-agreement-{plot}.{kind}"
    return plot_response(drawn, name, kind)


def _context(request: OrganisationRequest, project: Project) -> dict[str, Any]:
    chosen, refusal = request.GET.get("report", ""), ""
    filters: Mapping[str, Any] = {}
    try:
        filters = checked_filters(project, _chosen_filters(request.GET))
    except UnfitFilters as refused:
        refusal = refused.sentence
    report = _report(project, chosen) if chosen else newest_report(project, filters)
    filters = report.filters if report is not None else filters
    requested = newest_requested(project, filters)
    whole = newest_report(project) if filters else report
    job = requested.job if requested else None
    on_its_way = requested if requested and requested.is_on_its_way else None
    failed = requested if requested and not requested.is_finished and job and not job.is_open else None
    context: dict[str, Any] = {
        "project": project,
        "views": views_of_agreement(project, "agreement"),
        "report": report,
        "is_earlier": bool(chosen),
        "on_its_way": on_its_way,
        "problem": failed.job.error or "It was cancelled." if failed and failed.job else "",
        "newer": pages.newer_than(report, project) if report and not chosen else 0,
        "refusal": refusal,
        "filters": filters,
        "filters_in_words": filters_in_words(filters),
        "filter_pairs": [(name, value) for name, values in filters.items() for value in _several(values)],
        "chips": filter_chips(project, filters, whole),
        "days": days_in_words(filters),
        "kept": [(name, value) for name in ("on", "by") if (value := request.GET.get(name))],
        "part_url": f"{reverse('agreement-part', args=[project.slug])}?{request.GET.urlencode()}",
    }
    if report is not None:
        context["anchoring"] = anchoring_section(report.figures)
    if report is None or not report.shared_traces:
        return context
    figures = report.figures
    kept = [("report", chosen)] if chosen else context["filter_pairs"]
    query = pages.Query(request.GET.get("on", ""), request.GET.get("by", ""), tuple(kept))
    comparison = pages.comparison_named(figures, query.on)
    context |= {
        "summary": summarise_report(figures),
        "sections": pages.sections(figures),
        "matrices": matrices.matrices(report),
        "categories": next((pages.by_category(each) for each in figures["compared"] if each["by_category"]), []),
        "plots": list(report_plots.plots(figures)),
        "first_errors": _first_error_links(report),
    }
    if comparison is not None:
        kinds = [kind for kind in pages.GROUP_TITLES if comparison["groups"].get(kind)]
        kind = query.by if query.by in kinds else next(iter(kinds), "")
        context |= {
            "people": people.people(report, comparison, reverse("annotations", args=[project.slug])),
            "on": pages.choices_on(figures, comparison, query),
            "groups": pages.groups(comparison, kind, project) if kind else None,
            "by": pages.choices_by(comparison, kind, query),
        }
    return context


def _chosen_filters(sent: QueryDict) -> dict[str, Any]:
    """What a form or an address says of the filters."""
    chosen: dict[str, Any] = {}
    for name in NAMES:
        if values := [value for value in sent.getlist(name) if value]:
            chosen[name] = values[-1] if name in ("made_from", "made_until") else values
    return chosen


def _several(values: Any) -> list[str]:
    return values if isinstance(values, list) else [values]


def _first_error_links(report: AgreementReport) -> list[tuple[str, str]]:
    """The traces in which one alone found an error, by comparison."""
    links = []
    for number, comparison in enumerate(report.figures["compared"]):
        alone = [each for each in comparison["distances"] if each["steps"] is None]
        if comparison["main"] == "same" and alone:
            words = f"Read the {alone[0]['pairs']:,} in which one found no error"
            links.append((words, matrices.traces_query(report, number, [None])))
    return links


def _change_rule(project: Project, request: OrganisationRequest) -> AgreementRule:
    posted = request.POST
    threshold = posted.get("threshold", "").strip()
    every = posted.get("every", "").strip()
    try:
        below = Decimal(threshold) if threshold and posted.get("tell") else None
    except InvalidOperation:
        raise UnfitSettings(f"The threshold must be a number from 0 to 1, as 0.4, and {threshold!r} is none.") from None
    if every and not (every.isascii() and every.isdigit()):
        raise UnfitSettings(f"The number of annotations must be a whole number, and {every!r} is none.")
    return change_rule(
        project=project,
        every=(int(every[:9]) if every else None) if posted.get("by_annotations") else 0,
        threshold=below,
        watched=posted.get("watched", ""),
    )


def _main_value(report: AgreementReport, column: dict[str, Any]) -> str:
    estimate = report_plots.estimate_in(report, column)
    return "" if estimate is None or estimate.value is None else f"{estimate.value:.2f}"


def _all_figures(report: AgreementReport) -> str:
    """Every estimate of a report on a line of its own."""
    columns = ["value", "low", "high", "traces", "units", "pairs", "undefined"]
    rows = []
    for comparison in report.figures["compared"]:
        main = comparison["main"]
        lines = [
            *(("overall", "", measure, figure) for measure, figure in comparison["figures"].items()),
            *(("pair", " and ".join(figure["annotators"]), main, figure) for figure in comparison["pairs_main"]),
            *(("against the rest", name, main, figure) for name, figure in comparison["rest_main"].items()),
            *(("position", at, main, figure) for at, figure in comparison["by_position_main"].items()),
            *(("category", name, "matched", figure) for name, figure in comparison["by_category"].items()),
            *((kind, group["name"], main, group) for kind, groups in comparison["groups"].items() for group in groups),
        ]
        rows += [
            [comparison["scheme"], comparison["name"], kind, of, measure, *(figure[name] for name in columns)]
            for kind, of, measure, figure in lines
        ]
    return csv_text(["scheme", "compared", "kind", "of", "measure", *columns], rows)


def _report(project: Project, name: str) -> AgreementReport:
    """A finished report of the project. Raises Http404."""
    try:
        key = UUID(name)
    except ValueError:
        raise Http404 from None
    return get_object_or_404(AgreementReport.objects.for_project(project).finished(), pk=key)
