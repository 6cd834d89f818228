"""What makes a row of each tenant table of exports."""

from datetime import timedelta

from django.utils import timezone

from exports.models import Export, ExportPolicy, ExportSchedule
from jobs.models import ScheduleRun
from tests.isolation.rows.fixtures import Factories, Fixtures


def _schedule_run(fixtures: Fixtures) -> ScheduleRun:
    return ScheduleRun.objects.create(
        kind="exports",
        schedule=fixtures.rows["exports.ExportSchedule"].pk,
        name=fixtures.mark,
        project=fixtures.rows["accounts.Project"],
        job=fixtures.rows["jobs.Job"],
        fire_time=timezone.now(),
        state="failed",
        error=fixtures.mark,
        finished_at=timezone.now(),
    )


def _export_schedule(fixtures: Fixtures) -> ExportSchedule:
    return ExportSchedule.objects.create(
        name=fixtures.mark,
        project=fixtures.rows["accounts.Project"],
        cron="0 6 * * 1",
        next_at=timezone.now(),
        format="code_review",
        options={"resolve": fixtures.mark},
        created_by=fixtures.person,
    )


def _export(fixtures: Fixtures) -> Export:
    return Export.objects.create(
        project=fixtures.rows["accounts.Project"],
        schedule=fixtures.rows["exports.ExportSchedule"],
        job=fixtures.rows["jobs.Job"],
        format="code_review",
        options={"resolve": fixtures.mark},
        requested_by=fixtures.person,
        sha256="0" * 64,
        manifest={"project": fixtures.mark},
        ready_at=timezone.now(),
        expires_at=timezone.now() + timedelta(days=1),
    )


def _export_policy(fixtures: Fixtures) -> ExportPolicy:
    return ExportPolicy.objects.create(quota_mib=1_000, retention_days=30)


FACTORIES: Factories = {
    "exports.ExportSchedule": _export_schedule,
    "exports.Export": _export,
    "exports.ExportPolicy": _export_policy,
    "jobs.ScheduleRun": _schedule_run,
}
