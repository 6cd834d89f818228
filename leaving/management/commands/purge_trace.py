"""Removes a trace for good, from the shell and at once, with all that hangs on it."""

from typing import Any, cast
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts.models import Organisation, Project
from jobs import runner
from jobs.models import Job, JobState
from leaving.models import TraceRemoval
from leaving.removing_traces import preview, request_removal
from potato.wording import counted
from tenancy.actor import Actor, acting_in
from traces.models import Trace


class Command(BaseCommand):
    help = (
        "Remove a trace with every version of it, every trace of the organisation with the very same content, their "
        "annotations, and the files that may have them. Run it again where it was stopped. Cannot be undone."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("project", help="as in acme/parser")
        parser.add_argument("trace", help="its id, or what it is called in its file")
        parser.add_argument("--yes", action="store_true", help="do not ask")

    def handle(self, *args: Any, **options: Any) -> None:
        slug, _, project_slug = options["project"].partition("/")
        organisation = Organisation.objects.filter(slug=slug).first()
        if organisation is None:
            raise CommandError(f"There is no organisation {slug!r}. Name the project as ORGANISATION/PROJECT.")
        with acting_in(organisation):
            removal = self._unfinished(project_slug, options["trace"]) or self._requested_removal(project_slug, options)
        actor = Actor(organisation.pk, (organisation.pk,))
        while True:
            with acting_in(organisation):
                job = Job.objects.get(pk=cast(UUID, removal.job_id))
            if not job.is_open:
                break
            runner.run(job_id=job.pk, actor=actor)
            with acting_in(organisation):
                job.refresh_from_db()
            if job.state == JobState.RUNNING or job.failures:
                raise CommandError(f"A worker has the job {job.pk}, or it failed and is tried again: {job.error}")
        if job.state != JobState.DONE:
            raise CommandError(job.error)
        with acting_in(organisation):
            removal.refresh_from_db()
        self._say(removal)

    def _unfinished(self, project: str, named: str) -> TraceRemoval | None:
        rows = TraceRemoval.objects.filter(project__slug=project, finished_at=None)
        return next((row for row in rows if named in row.traces), None)

    def _requested_removal(self, slug: str, options: dict[str, Any]) -> TraceRemoval:
        project = Project.objects.filter(slug=slug).first()
        trace = self._trace(project, options["trace"]) if project else None
        if trace is None:
            raise CommandError(f"There is no trace {options['trace']!r} in {options['project']}.")
        everywhere = list(Project.objects.all())
        going = preview(trace, everywhere)
        self.stdout.write(
            f"This removes {counted(len(going.traces), 'trace')}: "
            + ", ".join(f"{row.project.slug}/{row} ({row.pk})" for row in going.traces)
        )
        self.stdout.write(
            f"with {counted(going.annotations, 'annotation')}, {counted(going.answers, 'answer')} of machines, "
            f"{counted(going.files, 'exported file')}, {counted(going.reports, 'report')}."
        )
        if not options["yes"] and input("Remove them for good? Write yes: ") != "yes":
            raise CommandError("Nothing was removed.")
        return request_removal(trace=trace, projects=everywhere)

    @staticmethod
    def _trace(project: Project, named: str) -> Trace | None:
        rows = Trace.objects.filter(project=project)
        try:
            return rows.filter(pk=UUID(named)).first()
        except ValueError:
            return rows.filter(external_id=named).order_by("-version").first()

    def _say(self, removal: TraceRemoval) -> None:
        result = removal.result
        rows, files = counted(result["rows"], "row"), counted(result["files"], "file")
        self.stdout.write(f"Removed: {rows} and {files}. Nothing hangs on them any more.")
        if result["downloads"]:
            self.stdout.write(
                f"Files with it were downloaded {result['downloads']} times; the audit trail says by whom."
            )
        for name in result["schedules"]:
            self.stdout.write(f"The schedule “{name}” has sent files elsewhere, which may have it: remove them there.")
