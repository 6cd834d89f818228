"""Schedules of agreement for programs: make, change, run, pause, resume and remove them, and read their runs."""

from collections.abc import Mapping
from uuid import UUID

from accounts.api.bodies import read
from accounts.models import Project
from accounts.schedules.api import recipients, run_facts, shown_times
from agreement.models import AgreementSchedule
from agreement.scheduling import Definition, change_schedule, make_schedule, schedule_sentence
from assignments.api.schedules import ScheduleBodies, SchedulesView, schedule_urls
from jobs.models import ScheduleRun
from jobs.schedules.definitions import BadSchedule
from potato.api.agreement import (
    AgreementScheduleRequest,
    AgreementScheduleRun,
    AgreementScheduleRuns,
    AgreementSchedules,
    AgreementScheduleShown,
    AgreementSettings,
)
from tenancy.roles import Right


class AgreementSchedulesView(SchedulesView[AgreementSchedule, Definition]):
    right = Right.SEE_ANNOTATIONS
    right_to_change = Right.MANAGE_PROJECTS
    rows = AgreementSchedule
    bodies = ScheduleBodies(
        AgreementScheduleRequest,
        AgreementScheduleShown,
        AgreementSchedules,
        AgreementScheduleRun,
        AgreementScheduleRuns,
    )

    def shown(self, schedule: AgreementSchedule, names: Mapping[str, str]) -> AgreementScheduleShown:
        return AgreementScheduleShown(
            **shown_times(schedule, schedule_sentence(schedule), names),
            settings=AgreementSettings(**schedule.settings),
            compares=schedule.compares,
            sources=[UUID(source) for source in schedule.sources],
        )

    def run_shown(self, run: ScheduleRun) -> AgreementScheduleRun:
        return AgreementScheduleRun(
            **run_facts(run),
            report=self.absolute_address("api-agreement-report", run.result.get("report")),
            compared=run.result.get("compared"),
        )

    def read_definition(self) -> Definition:
        body = read(AgreementScheduleRequest, self.request)
        try:
            sources = [UUID(source) for source in body.sources]
        except ValueError:
            raise BadSchedule("A source is named by its id, as the sources of the project have it.") from None
        fields = body.model_dump(exclude={"people", "sources"})
        return Definition(**fields, sources=sources, people=recipients(body))

    def make(self, project: Project, definition: Definition) -> AgreementSchedule:
        return make_schedule(project=project, definition=definition)

    def change(self, schedule: AgreementSchedule, definition: Definition) -> AgreementSchedule:
        return change_schedule(schedule=schedule, definition=definition)


urlpatterns = schedule_urls(
    AgreementSchedulesView,
    "agreement-schedule",
    listed="The project's schedules of agreement, the oldest first.",
    made="Make a schedule.",
    changed="Change a schedule as a whole.",
    removed="Remove a schedule. Its runs and reports stay.",
)
