"""Schedules that need somebody: those whose last run failed, and those that were paused because they cannot fire."""

from collections.abc import Callable, Iterator

from django.db.models import OuterRef, Q, Subquery
from django.urls import reverse
from django.utils import timezone

from accounts.attention import AttentionItem, Remedy, failed, once_more
from accounts.models import Project
from jobs.models import RunState, Schedule, ScheduleRun
from jobs.schedules.actions import run_now
from jobs.schedules.kinds import ScheduleKind
from potato.wording import moment


def failed_schedules(kind: ScheduleKind, project: Project) -> Iterator[AttentionItem]:
    """The project's schedules of that kind whose last run failed. Whoever has paused one has seen to it. Two queries.

    A run that was skipped says nothing about the one before it; while one goes on nothing is the matter yet.
    """
    runs = ScheduleRun.objects.filter(organisation=OuterRef("organisation"), schedule=OuterRef("pk"))
    newest = runs.exclude(state=RunState.SKIPPED).order_by("-fire_time").values("pk")[:1]
    rows = kind.model.objects.not_deleted().filter(Q(paused_at__isnull=True) | ~Q(paused_because=""), project=project)
    schedules = {row.newest: row for row in rows.annotate(newest=Subquery(newest)) if row.newest}
    if not schedules:
        return
    for run in ScheduleRun.objects.filter(pk__in=schedules, state=RunState.FAILED).order_by("-fire_time"):
        schedule = schedules[run.pk]
        at = moment(timezone.localtime(run.fire_time), timezone.localtime())
        page = Remedy("page", "See its runs", "calendar-clock", right=kind.right, url=_page(kind, project, schedule))
        yield failed(
            key=f"schedule-failed:{run.pk}",
            sentence=f"The schedule “{schedule.name}” failed {at}.",
            reason=run.error,
            remedies=(page,) if schedule.is_paused else (once_more("Run again", _again(schedule), kind.right), page),
        )


def _page(kind: ScheduleKind, project: Project, schedule: Schedule) -> str:
    return reverse(kind.route, args=[project.slug, schedule.pk])


def _again(schedule: Schedule) -> Callable[[], str]:
    def again() -> str:
        run = run_now(schedule=schedule)
        return f"{schedule.name} runs now." if run.is_open else f"{schedule.name}: {run.error}"

    return again
