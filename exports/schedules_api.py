"""Schedules of exports for programs: make, change, run, pause, resume and remove them, and read their runs."""

from collections.abc import Mapping

from accounts.api.bodies import read
from accounts.models import Project
from accounts.schedules.api import recipients, run_facts, shown_times
from assignments.api.schedules import ScheduleBodies, SchedulesView, schedule_urls
from exports.models import ExportSchedule
from exports.scheduling import Definition, change_schedule, make_schedule, schedule_sentence
from jobs.models import ScheduleRun
from potato.api.exports import (
    ExportScheduleRun,
    ExportScheduleRuns,
    ExportSchedules,
    ExportScheduleShown,
    ScheduleRequest,
)
from tenancy.roles import Right


class ExportSchedulesView(SchedulesView[ExportSchedule, Definition]):
    right = Right.EXPORT
    rows = ExportSchedule
    bodies = ScheduleBodies(
        ScheduleRequest, ExportScheduleShown, ExportSchedules, ExportScheduleRun, ExportScheduleRuns
    )

    def shown(self, schedule: ExportSchedule, names: Mapping[str, str]) -> ExportScheduleShown:
        return ExportScheduleShown(
            **shown_times(schedule, schedule_sentence(schedule, self.membership.organisation_slug), names),
            format=schedule.format,
            options=schedule.options,
            only_new=schedule.only_new,
            destination=schedule.destination,
            bucket=schedule.bucket,
            folder=schedule.folder,
        )

    def run_shown(self, run: ScheduleRun) -> ExportScheduleRun:
        return ExportScheduleRun(
            **run_facts(run),
            rows=run.result.get("rows"),
            address=run.result.get("address"),
            export=self.absolute_address("api-export", run.result.get("export")),
        )

    def read_definition(self) -> Definition:
        body = read(ScheduleRequest, self.request)
        return Definition(**body.model_dump(exclude={"people"}), people=recipients(body))

    def make(self, project: Project, definition: Definition) -> ExportSchedule:
        return make_schedule(project=project, definition=definition)

    def change(self, schedule: ExportSchedule, definition: Definition) -> ExportSchedule:
        return change_schedule(schedule=schedule, definition=definition)


urlpatterns = schedule_urls(
    ExportSchedulesView,
    "export-schedule",
    listed="The project's schedules of exports, the oldest first.",
    made="Make a schedule. A bucket is tried first, with a file that is written and removed.",
    changed=(
        "Change a schedule as a whole. Where other things leave, or to another place, its next file is a whole one."
    ),
    removed="Remove a schedule. Its runs and files stay.",
)
