"""What a project is at in a word, as the badge beside its name says on all of its pages: one query."""

from typing import NamedTuple

from django.db.models import Exists, OuterRef, Subquery

from accounts.models import ConfigurationVersion, Project
from assignments.models import Steering, TraceQuota
from traces.models import Trace


class ProjectState(NamedTuple):
    """A word, and the tone of its badge."""

    word: str
    tone: str


def project_state(project: Project) -> ProjectState:
    """A project is complete when it has traces, none of them waits in the pool or is new to the queue, and each that is
    not withheld has all annotations that it wants."""
    if project.archived_at is not None:
        return ProjectState("Archived", "neutral")
    organisation = project.organisation_id
    versions = ConfigurationVersion.objects.filter(organisation=organisation, project=OuterRef("pk"))
    pauses = Steering.objects.filter(organisation=organisation, project=OuterRef("pk"), paused_at__isnull=False)
    traces = Trace.objects.filter(organisation=organisation, project=OuterRef("pk"))
    known = TraceQuota.objects.for_project(project)
    quotas, newest = known.judgeable(), known.order_by("-trace").values("trace")[:1]
    is_published, is_paused, has_traces, is_annotated, is_unfinished = (
        Project.objects.filter(pk=project.pk)
        .annotate(
            is_published=Exists(versions),
            is_paused=Exists(pauses),
            has_traces=Exists(traces),
            is_annotated=Exists(quotas.filter(done__gt=0)),
            is_unfinished=Exists(quotas.in_pool())
            | Exists(quotas.unfinished())
            | Exists(traces.filter(pk__gt=Subquery(newest))),
        )
        .values_list("is_published", "is_paused", "has_traces", "is_annotated", "is_unfinished")
        .get()
    )
    if not is_published:
        return ProjectState("Draft", "neutral")
    if is_paused:
        return ProjectState("Paused", "warn")
    if not has_traces:
        return ProjectState("No traces", "neutral")
    if is_annotated and not is_unfinished:
        return ProjectState("Complete", "added")
    return ProjectState("Collecting", "correct")
