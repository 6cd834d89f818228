"""How a project's schedules of agreement look on its pages: in sentences, with their last runs and their outcome."""

from datetime import datetime

from django.urls import reverse

from accounts.models import Project
from agreement.models import AgreementReport, AgreementSchedule
from agreement.scheduling import what_in_words
from jobs.models import RunState, ScheduleRun
from jobs.schedules.shown import RUNS_SHOWN, ShownRun, ShownSchedule, last_runs, shown_run, shown_schedule
from potato.wording import counted


def listed_schedules(project: Project, now: datetime) -> list[ShownSchedule]:
    """The project's schedules, the oldest first, with two queries."""
    schedules: list[AgreementSchedule] = list(AgreementSchedule.objects.not_deleted().filter(project=project))
    runs = last_runs(schedules)
    return [shown_schedule(schedule, what_in_words(schedule), runs.get(schedule.pk, []), now) for schedule in schedules]


def run_history(project: Project, schedule: AgreementSchedule) -> list[ShownRun]:
    """Its last runs, the newest first."""
    runs = list(ScheduleRun.objects.of(schedule)[:RUNS_SHOWN])
    named = {run.result["report"] for run in runs if "report" in run.result}
    finished = AgreementReport.objects.for_project(project).finished().filter(pk__in=named).values_list("pk", flat=True)
    reports = set(map(str, finished))
    return [_shown(project, run, schedule.time_zone, reports) for run in runs]


def _shown(project: Project, run: ScheduleRun, zone: str, reports: set[str]) -> ShownRun:
    report = run.result.get("report", "")
    if report in reports:
        url = f"{reverse('agreement', args=[project.slug])}?report={report}"
        return shown_run(run, zone, _figures(run), url=url, label="Report")
    return shown_run(run, zone, _figures(run))


def _figures(run: ScheduleRun) -> str:
    """As in "124 annotations, 40 shared traces, 2 sources compared"."""
    result = run.result
    if run.state != RunState.DONE:
        return ""
    parts = []
    if "annotations" in result:
        parts.append(counted(result["annotations"], "annotation"))
        parts.append(f"{counted(result['shared_traces'], 'trace')} of several people")
    if result["compared"]:
        parts.append(f"{counted(result['compared'], 'source')} compared")
    return ", ".join(parts)
