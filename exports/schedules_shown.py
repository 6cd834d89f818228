"""How a project's schedules of exports look on its pages: in sentences, with their last runs and what came of them."""

from datetime import datetime

from django.urls import reverse

from accounts.models import Project
from exports.models import Export, ExportSchedule
from exports.scheduling import place_in_words, what_in_words
from jobs.models import RunState, ScheduleRun
from jobs.schedules.shown import RUNS_SHOWN, ShownRun, ShownSchedule, last_runs, shown_run, shown_schedule
from potato.runs.run_files import in_words
from potato.wording import counted


def listed_schedules(project: Project, organisation: str, now: datetime) -> list[ShownSchedule]:
    """The project's schedules, the oldest first, with two queries."""
    schedules: list[ExportSchedule] = list(ExportSchedule.objects.not_deleted().filter(project=project))
    runs = last_runs(schedules)
    words = [f"{what_in_words(schedule)}, {place_in_words(schedule, organisation)}" for schedule in schedules]
    return [
        shown_schedule(schedule, what, runs.get(schedule.pk, []), now)
        for schedule, what in zip(schedules, words, strict=True)
    ]


def run_history(schedule: ExportSchedule) -> list[ShownRun]:
    """Its last runs, the newest first."""
    runs = list(ScheduleRun.objects.of(schedule)[:RUNS_SHOWN])
    ids = [run.result["export"] for run in runs if "export" in run.result]
    ready = {str(row.pk): row for row in Export.objects.ready().filter(pk__in=ids).select_related("project")}
    return [_shown(run, schedule.time_zone, ready.get(run.result.get("export", ""))) for run in runs]


def _shown(run: ScheduleRun, zone: str, ready: Export | None) -> ShownRun:
    done = ""
    if run.state == RunState.DONE:
        done = f"{counted(run.result['rows'], 'row')}, {in_words(run.result['bytes'])}"
        if "address" in run.result:
            done += f", to {run.result['address']}"
    if ready is None:
        return shown_run(run, zone, done)
    return shown_run(
        run,
        zone,
        done,
        url=reverse("export-file", args=[ready.pk]),
        label=ready.file_name.rpartition(".")[2].upper(),
        file_name=ready.file_name,
    )
