"""What happens in the layers below and concerns the queue: a new configuration, new traces, and work that goes on."""

from accounts.models import Project
from assignments.actions.quotas import OPENED_AT_ONCE, follow_configuration, open_quotas
from assignments.actions.steering import follow_order
from assignments.events import TRACE_COMPLETE
from assignments.models import Submission, TraceQuota
from assignments.upcoming import prepare
from jobs import outbox
from jobs.models import OutboxEvent
from traces.importing.import_job import ImportTraces
from traces.models import ImportedFile

SLOTS_OPENED = "slots.opened"


def configuration_published(event: OutboxEvent) -> None:
    project = Project.objects.get(pk=event.payload["project"])
    follow_configuration(project=project)
    follow_order(project=project)
    prepare(project, at_once=True)


def traces_imported(event: OutboxEvent) -> None:
    """A part of an import: its traces can be claimed while the import goes on. What nobody can want before the import
    is over stays outside the queue until then: looking for it each time takes longer and longer."""
    project = Project.objects.get(pk=event.payload["project"])
    if TraceQuota.objects.for_project(project).free()[:OPENED_AT_ONCE].count() < OPENED_AT_ONCE:
        open_quotas(project=project)
    prepare(project)


def job_finished(event: OutboxEvent) -> None:
    if event.payload["kind"] != ImportTraces.name:
        return
    for file in ImportedFile.objects.filter(job=event.payload["job"]).select_related("project"):
        _open_some(file.project)
        prepare(file.project, at_once=True)


def slots_opened(event: OutboxEvent) -> None:
    _open_some(Project.objects.get(pk=event.payload["project"]))


def _open_some(project: Project) -> None:
    """Each part has a transaction of its own, because whoever claims meanwhile waits for it."""
    if open_quotas(project=project):
        outbox.publish(SLOTS_OPENED, project=str(project.pk))


def submission_made(event: OutboxEvent) -> None:
    """The last that its trace needed makes the trace complete."""
    if event.payload.get("completes"):
        submission = Submission.objects.filter(pk=event.payload["submission"])
        trace = submission.values_list("assignment__trace", flat=True).get()
        outbox.publish_after(event, TRACE_COMPLETE, trace=str(trace), project=event.payload["project"])


def queue_moved_on(event: OutboxEvent) -> None:
    """Somebody submitted or skipped a trace, and claims the next one."""
    prepare(Project.objects.get(pk=event.payload["project"]))
