"""What happens in the rooms below and concerns the queue: a new configuration, and new traces."""

from accounts.models import Project
from assignments.actions.places import open_places, want_as_configured
from jobs.models import OutboxEvent
from traces.imports import ImportTraces
from traces.models import ImportedFile


def configuration_published(event: OutboxEvent) -> None:
    want_as_configured(project=Project.objects.get(pk=event.payload["project"]))


def job_finished(event: OutboxEvent) -> None:
    if event.payload["kind"] != ImportTraces.name:
        return
    for file in ImportedFile.objects.filter(job=event.payload["job"]).select_related("project"):
        while open_places(project=file.project):
            pass
