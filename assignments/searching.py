"""Searching traces with their states, batches, and a person's own annotations."""

from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID

from django.db.models import Exists, F, OuterRef, QuerySet
from django.db.models.functions import Left
from django.http import HttpRequest

from accounts.models import Membership, Project
from accounts.search.registry import Hit, Hits, SearchText, address
from accounts.search.sources import every_word, projects_with
from assignments.history import TASK_START, trace_title
from assignments.models import Batch, Submission, TraceQuota
from tenancy.roles import Right
from traces.models import Trace
from traces.searching import trace_ids

_FIELDS = ("external_id", "task", "repo", "instance_id")
_LATEST = 2000
"""Of so many of a person's annotations it is asked which traces they are of."""


def find_traces(request: HttpRequest, text: SearchText, most: int) -> Hits:
    """Traces of the projects whose traces the reader may see, each in its newest version."""
    projects = projects_with(request, Right.SEE_TRACES)
    if text.by:
        projects = {pk: one for pk, one in projects.items() if pk in projects_with(request, Right.SEE_ANNOTATIONS)}
        rows = _judged_by(text, projects)
    elif trace_id := text.id:
        rows = Trace.objects.filter(pk=trace_id)
    else:
        # Older versions are among them, of which there are few.
        ids = trace_ids(text.words, projects=list(projects), model=text.agent, enough=most + 10)
        rows = Trace.objects.filter(pk__in=ids)
    rows = rows.filter(project__in=list(projects))
    traces = _newest_first(rows)[: most + 1]
    quotas = _quotas(traces)
    return Hits(
        [_trace(request, trace, projects[trace.project_id], quotas.get(trace.pk)) for trace in traces[:most]],
        len(traces) <= most,
    )


def find_batches(request: HttpRequest, text: SearchText, most: int) -> Hits:
    if text.is_narrowed:
        return Hits([])
    projects = projects_with(request, Right.SEE_TRACES)
    rows = Batch.objects.filter(project__in=list(projects)).filter(every_word(text, "name")).order_by("-pk")
    batches = list(rows[: most + 1])
    hits = []
    for batch in batches[:most]:
        project = projects[batch.project_id]
        url = f"{address(request, 'traces', project=project.slug)}?batch={batch.number}"
        hits.append(
            Hit(batch.name, f"batch of {project.name}, {batch.get_state_display().lower()}", url, "layout-dashboard")
        )
    return Hits(hits, len(batches) <= most)


def find_own_annotations(request: HttpRequest, text: SearchText, most: int) -> Hits:
    """What the reader annotated themselves, in projects whose traces they do not see otherwise."""
    if text.is_narrowed:
        return Hits([])
    seen = projects_with(request, Right.SEE_TRACES)
    projects = {pk: one for pk, one in projects_with(request, Right.ANNOTATE).items() if pk not in seen}
    if not projects:
        return Hits([])
    own = Submission.objects.of(request.user).in_projects(list(projects)).order_by("-pk").values("pk")[:_LATEST]  # type: ignore[arg-type]
    fields = [f"assignment__trace__{field}" for field in _FIELDS]
    rows = (
        Submission.objects.filter(pk__in=own)
        .filter(every_word(text, *fields))
        .annotate(start=Left("assignment__trace__task", TASK_START), external_id=F("assignment__trace__external_id"))
        .order_by("-pk")
        .values_list("pk", "project", "start", "external_id")
    )
    submissions = list(rows[: most + 1])
    hits = [
        Hit(
            trace_title(start, external_id),
            f"{external_id}, your annotation in {projects[project].name}",
            address(request, "read-annotation", project=projects[project].slug, submission_id=pk),
            "history",
        )
        for pk, project, start, external_id in submissions[:most]
    ]
    return Hits(hits, len(submissions) <= most)


def _judged_by(text: SearchText, projects: Iterable[UUID]) -> Any:
    user = Membership.objects.filter(annotator_name__iexact=text.by).values("user")[:1]
    latest = (
        Submission.objects.filter(assignment__user__in=user, project__in=list(projects))
        .order_by("-pk")
        .values("assignment__trace")[:_LATEST]
    )
    rows = Trace.objects.filter(pk__in=latest).filter(every_word(text, *_FIELDS))
    return rows.filter(agent_model=text.agent) if text.agent else rows


def _newest_first(rows: "QuerySet[Trace]") -> Any:
    same = Trace.objects.filter(
        organisation=OuterRef("organisation"), project=OuterRef("project"), external_id=OuterRef("external_id")
    )
    current = rows.exclude(Exists(same.filter(version__gt=OuterRef("version"))))
    lean = current.annotate(start=Left("task", TASK_START)).defer("task", "report", "gaps")
    return list(lean.order_by("-pk")[:200])


def _quotas(traces: Iterable[Any]) -> Mapping[UUID, TraceQuota]:
    rows = TraceQuota.objects.filter(trace__in=[trace.pk for trace in traces])
    return {quota.trace_id: quota for quota in rows}


def _trace(request: HttpRequest, trace: Any, project: Project, quota: TraceQuota | None) -> Hit:
    title = trace_title(trace.start, str(trace))
    about = ", ".join(part for part in (str(trace), trace.agent_model, project.name) if part and part != title)
    badge, tone = _state(quota)
    url = address(request, "trace", project=project.slug, trace_id=trace.pk)
    return Hit(title, about, url, "git-pull-request", badge, tone)


def _state(quota: TraceQuota | None) -> tuple[str, str]:
    if quota is None or not quota.target:
        return "", ""
    if quota.withheld:
        return quota.get_withheld_display(), "neutral"
    if quota.batch_id is None:
        return "in the pool", ""
    return f"{quota.done} of {quota.target}", "added" if quota.done >= quota.target else ""
