"""The page of a project's automated sources beside its people, and what can be done there."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.db.models import OuterRef, Subquery
from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from accounts.live_parts import live_context, part_answer
from accounts.models import Project
from accounts.models.projects import visible_project
from agreement.files import plot_response
from agreement.models import Source, SourceAnswer, SourceKind, SourceReport
from agreement.navigation import views_of_agreement
from agreement.sources import page, plots
from agreement.sources.actions import (
    NoSuchTraces,
    named,
    request_answers,
    send_to_people,
)
from agreement.sources.api import ids, source_record
from agreement.sources.comparing import request_comparison
from agreement.sources.importing import ImportAnswers, in_words
from agreement.sources.of_tool import of_tool
from jobs.models import OPEN_STATES, Job, JobState
from potato.records.other_tools.reading import READERS
from potato.records.sources import json_text
from tenancy.actor import Actor, acting, current
from tenancy.errors import Refused
from tenancy.middleware import OrganisationRequest
from tenancy.permissions import allowed, requires
from tenancy.roles import Right

REPORTS_SHOWN = 12
ANSWERS_AT_ONCE = 500
EXAMPLE = (
    '{"id": "trace_042", "annotations": {"verdict": {"decision": "approve"}}, '
    '"source": {"name": "judge-a", "model": "large-1", "version": "3.1", "kind": "llm_judge"}}'
)
_BY = (("agent", "Agent"), ("category", "Category"), ("time", "Over time"))


@requires(Right.SEE_ANNOTATIONS)
@require_safe
def machines(request: OrganisationRequest, project: str) -> HttpResponse:
    """The sources, and how the one that the address names, or the newest, stands beside people."""
    return _page(request, visible_project(request.membership, project))


def _page(request: OrganisationRequest, project: Project, refusal: Refused | None = None) -> HttpResponse:
    sources = _sources(project)
    chosen = _chosen(sources, request.GET.get("source", ""))
    report = SourceReport.objects.of(chosen).computed().select_related("source").first() if chosen else None
    latest = SourceReport.objects.of(chosen).select_related("job").first() if chosen else None
    by = request.GET.get("by", "agent")
    which = request.GET.get("show", "all")
    import_job = _last_import(project)
    is_open = any(job is not None and job.state in OPEN_STATES for job in (import_job, latest.job if latest else None))
    earlier = list(SourceReport.objects.of(chosen).computed()[:REPORTS_SHOWN]) if chosen and by == "time" else []
    beside = _beside(sources, chosen, request.GET.get("beside", ""))
    two = SourceReport.objects.of(chosen).computed().filter(options__beside=str(beside.pk)).first() if beside else None
    shown = page.shown(report, by, earlier) if report else None
    context = {
        "project": project,
        "views": views_of_agreement(project, "agreement-machines"),
        "version": project.newest_version(),
        "rows": list(page.source_rows(sources, chosen)),
        "chosen": chosen,
        "report": report,
        "shown": shown,
        "differences": page.difference_rows(report, which) if report else [],
        "kinds": [(name, label, _many(shown, name), name == which) for name, label in page.SHOWN],
        "groups": [(name, label, name == by) for name, label in _BY],
        "may_manage": allowed(request, Right.MANAGE_SOURCES, project),
        "may_see_traces": allowed(request, Right.SEE_TRACES, project),
        "others": [source for source in sources if chosen is not None and source.pk != chosen.pk],
        "beside": beside,
        "two": two,
        "rows_of_two": page.rows_of_two(two) if two else [],
        "plots": {plot.name for plot in plots.plots(report, earlier)} if report else set(),
        "choices": SourceKind.choices,
        "tools": [(name, reader.label) for name, reader in READERS.items()],
        "example": EXAMPLE,
        "is_computing": is_open,
        "failed": latest.job.error if latest and latest.job and latest.job.state == JobState.FAILED else "",
        "import_job": import_job,
        "import_problems": [
            in_words(*problem) for problem in (import_job.result.get("problems", []) if import_job else [])
        ],
        "refusal": refusal.sentence if refusal else "",
    }
    part = render_to_string("agreement/sources/live.html", context, request)
    if "live" in request.GET:
        return part_answer(request, part)
    query = request.GET.copy()
    query["live"] = "1"
    where = f"{reverse('agreement-machines', args=[project.slug])}?{query.urlencode()}"
    status = refusal.status if refusal else 200
    page_context = {**context, **live_context(part), "live_url": where}
    return render(request, "agreement/sources/page.html", page_context, status=status)


@requires(Right.MANAGE_SOURCES)
@require_POST
def import_answers(request: OrganisationRequest, project: str) -> HttpResponse:
    """Take a file of answers; its import goes on in the background."""
    chosen = visible_project(request.membership, project)
    fields = {name: request.POST.get(name, "").strip() for name in ("name", "version", "model")}
    try:
        tool = of_tool(
            request.POST.get("tool", ""),
            trace=request.POST.get("trace", "").strip(),
            names=_lines(request, "names"),
            values=_lines(request, "values"),
            version=fields["version"],
        )
        if tool is not None:
            fields = dict.fromkeys(fields, "")
        default = named(**fields, kind=request.POST.get("kind", "") if any(fields.values()) else "")
        content = request.FILES.get("file")
        if content is None:
            raise _NoFile("Choose a file with a record a line (JSONL), or a file of another tool.")
        request_answers(project=chosen, content=content, default=default, tool=tool)
    except Refused as refusal:
        return _page(request, chosen, refusal)
    messages.success(request, f"{content.name} is being imported. Its sources are compared with people then.")
    return redirect("agreement-machines", chosen.slug)


def _lines(request: OrganisationRequest, name: str) -> list[str]:
    return [line for line in request.POST.get(name, "").splitlines() if line.strip()]


class _NoFile(Refused):
    code = "no_file"
    status = 400


@requires(Right.MANAGE_SOURCES)
@require_POST
def compare(request: OrganisationRequest, project: str) -> HttpResponse:
    """Compare the chosen source with people again."""
    chosen = visible_project(request.membership, project)
    source = _named_source(chosen, request.POST.get("source", ""))
    beside = _named_source(chosen, request.POST["beside"]) if request.POST.get("beside") else None
    try:
        request_comparison(source=source, by_person=True, beside=beside.pk if beside else None)
    except Refused as refusal:
        return _page(request, chosen, refusal)
    messages.success(request, f"{source} is being compared with {f'{beside} and ' if beside else ''}people.")
    more = f"&beside={beside.pk}#two" if beside else ""
    return redirect(f"{reverse('agreement-machines', args=[chosen.slug])}?source={source.pk}{more}")


@requires(Right.SEE_ANNOTATIONS)
@require_safe
def plot_file(request: OrganisationRequest, project: str, source_report_id: UUID, plot: str, kind: str) -> HttpResponse:
    """A figure of a source beside people as SVG, PNG, or its numbers as CSV or Markdown."""
    chosen = visible_project(request.membership, project)
    reports = SourceReport.objects.filter(organisation=chosen.organisation_id, project=chosen).computed()
    report = get_object_or_404(reports.select_related("source"), pk=source_report_id)
    earlier = SourceReport.objects.of(report.source).computed().filter(requested_at__lte=report.requested_at)
    drawn = next(
        (candidate for candidate in plots.plots(report, list(earlier[:REPORTS_SHOWN])) if candidate.name == plot), None
    )
    if drawn is None:
        raise Http404
    return plot_response(drawn, f"{chosen.slug}-source-{plot}.{kind}", kind)


@requires(Right.MANAGE_PROJECTS)
@require_POST
def send(request: OrganisationRequest, project: str) -> HttpResponse:
    """Ask for one annotator more of the ticked traces: with the consequence first, then in earnest."""
    chosen = visible_project(request.membership, project)
    source = _named_source(chosen, request.POST.get("source", ""))
    traces = request.POST.getlist("trace")
    try:
        if not traces:
            raise NoSuchTraces("Tick at least one trace, then send it to people.")
        if not request.POST.get("confirmed"):
            keys = ids(traces)
            return render(
                request,
                "agreement/sources/send.html",
                {
                    "project": chosen,
                    "source": source,
                    "source_name": str(source),
                    "traces": keys,
                    "number": len(keys),
                },
            )
        changed = send_to_people(source=source, traces=ids(traces))
    except Refused as refusal:
        return _page(request, chosen, refusal)
    messages.success(request, f"{changed} trace{' is' if changed == 1 else 's are'} given to one annotator more each.")
    return redirect(f"{reverse('agreement-machines', args=[chosen.slug])}?source={source.pk}#differences")


@requires(Right.SEE_ANNOTATIONS)
@require_safe
def answers_file(request: OrganisationRequest, project: str, source_id: UUID) -> StreamingHttpResponse:
    """Everything that the source answered, as records that are marked with it, a line each."""
    chosen = visible_project(request.membership, project)
    source = get_object_or_404(Source.objects.for_project(chosen), pk=source_id)
    response = StreamingHttpResponse(_answer_lines(source, current()), content_type="application/jsonl")
    response["Content-Disposition"] = f'attachment; filename="{chosen.slug}-source-{source.pk}.jsonl"'
    response["Cache-Control"] = "private, no-store"
    return response


def _answer_lines(source: Source, actor: Actor) -> Iterator[str]:
    """Read in short transactions of their own, as whoever asked: the request's has ended by then."""
    after = UUID(int=0)
    while True:
        with acting(actor):
            rows = SourceAnswer.objects.of(source).filter(pk__gt=after).select_related("trace").order_by("pk")
            answers = list(rows[:ANSWERS_AT_ONCE])
        if not answers:
            return
        yield "".join(f"{json_text(source_record(source, answer))}\n" for answer in answers)
        after = answers[-1].pk


def _sources(project: Project) -> list[Any]:
    newest = SourceReport.objects.filter(
        organisation=OuterRef("organisation"), source=OuterRef("pk"), computed_at__isnull=False
    ).order_by("-requested_at")
    rows = Source.objects.for_project(project).with_answers()
    return list(
        rows.annotate(newest_summary=Subquery(newest.values("figures__summary")[:1])).order_by("name", "-added_at")
    )


def _chosen(sources: list[Any], name: str) -> Any:
    """The source that the address names; else the one that was added last."""
    named_source = next((source for source in sources if str(source.pk) == name), None)
    return named_source or max(sources, key=lambda source: source.added_at, default=None)


def _beside(sources: list[Any], chosen: Any, name: str) -> Any:
    """The other source that the address names."""
    return next(
        (source for source in sources if str(source.pk) == name and chosen is not None and source != chosen), None
    )


def _named_source(project: Project, name: str) -> Source:
    try:
        key = UUID(name)
    except ValueError:
        key = UUID(int=0)
    return get_object_or_404(Source.objects.for_project(project).select_related("project"), pk=key)


def _last_import(project: Project) -> Job | None:
    jobs = Job.objects.filter(organisation=project.organisation_id, kind=ImportAnswers.name)
    return jobs.filter(parameters__project=str(project.pk)).order_by("-created_at").first()


def _many(shown: page.Shown | None, which: str) -> int:
    if shown is None:
        return 0
    return {"all": shown.different, "kind": shown.kinds, "strict": shown.stricts}[which]
