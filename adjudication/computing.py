"""Bringing all disagreements of a project up to date as a job: when its configuration changed, or a source answered."""

from uuid import UUID

from accounts.models import Project
from adjudication.disagreements import next_annotated, update_traces
from agreement.models import SourceReport
from agreement.sources.comparing import CompareSource
from agreement.sources.importing import ImportAnswers
from assignments.models import Submission
from jobs.actions import request_job
from jobs.kinds import JobFailed, Part
from jobs.models import Job, JobState, OutboxEvent


class ComputeDisagreements:
    """Job parameters: `project`, its id. The cursor is the last trace that was compared."""

    name = "compute_disagreements"
    label = "What annotators disagree about"
    queue = "statistics"

    def run_part(self, job: Job) -> Part:
        project = Project.objects.filter(pk=job.parameters["project"]).first()
        if project is None:
            raise JobFailed("The project was deleted meanwhile.")
        after = UUID(job.cursor) if job.cursor else UUID(int=0)
        traces = next_annotated(project, after)
        if not traces:
            return Part(cursor=None, progress=job.progress, finished=True, result={"traces": job.progress})
        update_traces(project=project, traces=traces)
        return Part(cursor=str(traces[-1]), progress=job.progress + len(traces))


def project_changed(event: OutboxEvent) -> None:
    """What can differ, and what waits, follows the configuration; and tests may contradict what people said."""
    request_disagreements(event.payload["project"])


def answers_imported(event: OutboxEvent) -> None:
    """A source's answers may contradict what people said; where the API took them, its comparison follows."""
    if event.payload["state"] != JobState.DONE:
        return
    kind, parameters = event.payload["kind"], Job.objects.filter(pk=event.payload["job"]).values_list("parameters")
    if kind == ImportAnswers.name:
        for (values,) in parameters:
            request_disagreements(values["project"])
    elif kind == CompareSource.name:
        for (values,) in parameters:
            rows = SourceReport.objects.filter(pk=values["report"]).values_list("project", flat=True)
            for project in rows:
                request_disagreements(str(project))


def request_disagreements(project: str) -> None:
    """Have the project's disagreements computed; where that waits already, or nobody has annotated, nothing changes."""
    if not Submission.objects.filter(project=UUID(str(project))).exists():
        return
    waits = Job.objects.filter(
        kind=ComputeDisagreements.name, state=JobState.QUEUED, attempts=0, parameters__project=str(project)
    )
    if not waits.exists():
        request_job(kind=ComputeDisagreements.name, parameters={"project": str(project)})
