"""What happens in the rooms below and concerns the queue: a new configuration, and new traces."""

from accounts.models import Project
from assignments.actions.places import open_places, want_as_configured
from jobs import outbox
from jobs.models import OutboxEvent
from traces.imports import ImportTraces
from traces.models import ImportedFile

PLACES_OPENED = "places.opened"


def configuration_published(event: OutboxEvent) -> None:
    want_as_configured(project=Project.objects.get(pk=event.payload["project"]))


def job_finished(event: OutboxEvent) -> None:
    if event.payload["kind"] != ImportTraces.name:
        return
    for file in ImportedFile.objects.filter(job=event.payload["job"]).select_related("project"):
        _open_some(file.project)


def places_opened(event: OutboxEvent) -> None:
    _open_some(Project.objects.get(pk=event.payload["project"]))


def _open_some(project: Project) -> None:
    """Each part has a transaction of its own, because whoever claims meanwhile waits for it."""
    if open_places(project=project):
        outbox.publish(PLACES_OPENED, project=str(project.pk))
