"""What a program asks of a project's schedules: exports and reports of agreement that are made by themselves."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from potato.api.agreement import AgreementScheduleRun, AgreementScheduleShown
from potato.api.exports import ExportScheduleRun, ExportScheduleShown
from potato.client.operations import operation, stream
from potato.client.steps import Request, Steps, Stream, ask, pages, path, send, tell


class ScheduleOperations:
    """Settings are the keys of docs/schedules.md: `cron` with `time_zone` or `interval_minutes`, `people`, and those of
    the kind."""

    slug: str

    @stream
    def export_schedules(self) -> Stream[ExportScheduleShown]:
        """The schedules of exports, the oldest first."""
        return pages(path("projects", self.slug, "export-schedules"), ExportScheduleShown)

    @operation
    def make_export_schedule(self, /, name: str, format: str, **settings: Any) -> Steps[ExportScheduleShown]:
        """Make one; `settings` are the other keys of docs/schedules.md: `cron` with `time_zone` or `interval_minutes`,
        `options`, `only_new`, `destination`, `people`."""
        body = {"name": name, "format": format, **settings}
        return ask(send("POST", path("projects", self.slug, "export-schedules"), body), ExportScheduleShown)

    @operation
    def run_export_schedule(self, schedule: ExportScheduleShown | UUID) -> Steps[ExportScheduleRun]:
        """Run it now, and do not wait for it."""
        return ask(send("POST", _schedule(schedule, "runs")), ExportScheduleRun)

    @stream
    def export_schedule_runs(self, schedule: ExportScheduleShown | UUID) -> Stream[ExportScheduleRun]:
        """The runs of a schedule, the oldest first."""
        return pages(_schedule(schedule, "runs"), ExportScheduleRun)

    @operation
    def remove_export_schedule(self, schedule: ExportScheduleShown | UUID) -> Steps[None]:
        """Remove a schedule. Its runs and files stay."""
        return tell(Request("DELETE", _schedule(schedule), is_repeatable=True))

    @operation
    def change_export_schedule(
        self, schedule: ExportScheduleShown | UUID, /, name: str, format: str, **settings: Any
    ) -> Steps[ExportScheduleShown]:
        """Change one as a whole: what is not named is as in a new one."""
        body = {"name": name, "format": format, **settings}
        return ask(send("PUT", _schedule(schedule), body), ExportScheduleShown)

    @operation
    def pause_export_schedule(self, schedule: ExportScheduleShown | UUID) -> Steps[ExportScheduleShown]:
        """No run until it is resumed."""
        return ask(send("PUT", _schedule(schedule, "paused")), ExportScheduleShown)

    @operation
    def resume_export_schedule(self, schedule: ExportScheduleShown | UUID) -> Steps[None]:
        """Run as scheduled again, from now on."""
        return tell(Request("DELETE", _schedule(schedule, "paused"), is_repeatable=True))

    @stream
    def agreement_schedules(self) -> Stream[AgreementScheduleShown]:
        """The schedules of agreement, the oldest first."""
        return pages(path("projects", self.slug, "agreement-schedules"), AgreementScheduleShown)

    @operation
    def make_agreement_schedule(self, /, name: str, **settings: Any) -> Steps[AgreementScheduleShown]:
        """Make one; beside the times `settings` has what a report takes, and `compares` which sources are compared."""
        body = {"name": name, **settings}
        return ask(send("POST", path("projects", self.slug, "agreement-schedules"), body), AgreementScheduleShown)

    @operation
    def change_agreement_schedule(
        self, schedule: AgreementScheduleShown | UUID, /, name: str, **settings: Any
    ) -> Steps[AgreementScheduleShown]:
        """Change one as a whole: what is not named is as in a new one."""
        return ask(send("PUT", _agreement(schedule), {"name": name, **settings}), AgreementScheduleShown)

    @operation
    def run_agreement_schedule(self, schedule: AgreementScheduleShown | UUID) -> Steps[AgreementScheduleRun]:
        """Run it now, and do not wait for it."""
        return ask(send("POST", _agreement(schedule, "runs")), AgreementScheduleRun)

    @stream
    def agreement_schedule_runs(self, schedule: AgreementScheduleShown | UUID) -> Stream[AgreementScheduleRun]:
        """The runs of a schedule, the oldest first."""
        return pages(_agreement(schedule, "runs"), AgreementScheduleRun)

    @operation
    def pause_agreement_schedule(self, schedule: AgreementScheduleShown | UUID) -> Steps[AgreementScheduleShown]:
        """No run until it is resumed."""
        return ask(send("PUT", _agreement(schedule, "paused")), AgreementScheduleShown)

    @operation
    def resume_agreement_schedule(self, schedule: AgreementScheduleShown | UUID) -> Steps[None]:
        """Run as scheduled again, from now on."""
        return tell(Request("DELETE", _agreement(schedule, "paused"), is_repeatable=True))

    @operation
    def remove_agreement_schedule(self, schedule: AgreementScheduleShown | UUID) -> Steps[None]:
        """Remove a schedule. Its runs and reports stay."""
        return tell(Request("DELETE", _agreement(schedule), is_repeatable=True))


def _schedule(schedule: ExportScheduleShown | UUID, *more: str) -> str:
    return path("export-schedules", schedule if isinstance(schedule, UUID) else schedule.id, *more)


def _agreement(schedule: AgreementScheduleShown | UUID, *more: str) -> str:
    return path("agreement-schedules", schedule if isinstance(schedule, UUID) else schedule.id, *more)
