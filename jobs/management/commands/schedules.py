"""Schedules of all organisations, for the operator: what fires when, and one run of one of them."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from jobs.models import RunState, Schedule, ScheduleRun
from jobs.schedules import kinds
from jobs.schedules.actions import run_now
from tenancy.actor import acting_in, unscoped
from tenancy.errors import Refused

_COLUMNS = "{:<36}  {:<18}  {:<12}  {:<32}  {:<9}  {}"


class Command(BaseCommand):
    help = (
        "Lists the schedules of all organisations, as the platform role, whose trail keeps the reason; or runs one of "
        "them now, which stands in the trail of its organisation."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True, metavar="list|run")
        listing = actions.add_parser("list", help="show when each fires next, and how its last run ended")
        _add_filters(listing)
        listing.add_argument("--reason", default="list of schedules for the operator", help="why you look")
        running = actions.add_parser("run", help="run one now, in the background; its own times stay")
        running.add_argument("name", metavar="NAME|ID", help="as `list` shows it")
        _add_filters(running)
        running.add_argument("--reason", default="run of a schedule by the operator", help="why")

    def handle(self, *args: Any, **options: Any) -> None:
        if not options["reason"].strip():
            raise CommandError("--reason is empty. Say why, so that a later reader understands it.")
        with unscoped(options["reason"]):
            schedules = _chosen(options)
            if options["action"] == "list":
                self._list(schedules)
                return
        self._run(schedules, options["name"])

    def _list(self, schedules: list[Schedule]) -> None:
        now = timezone.now()
        newest = {
            run.schedule: run for run in ScheduleRun.objects.newest_of_each([schedule.pk for schedule in schedules], 1)
        }
        self.stdout.write(_COLUMNS.format("schedule", "project", "kind", "name", "last run", "fires"))
        for schedule in schedules:
            run = newest.get(schedule.pk)
            self.stdout.write(
                _COLUMNS.format(
                    str(schedule.pk),
                    f"{schedule.organisation.slug}/{schedule.project.slug}",
                    kinds.schedule_kind(schedule).name,
                    schedule.name,
                    run.state if run else "-",
                    schedule.in_words(now),
                )
            )
        self.stdout.write(f"{len(schedules)} in all.")

    def _run(self, schedules: list[Schedule], name: str) -> None:
        named = [schedule for schedule in schedules if name in (schedule.name, str(schedule.pk))]
        if not named:
            raise CommandError(f"There is no schedule {name!r} here. `manage.py schedules list` shows them all.")
        if len(named) > 1:
            ids = ", ".join(str(schedule.pk) for schedule in named)
            raise CommandError(f"{len(named)} schedules are called {name!r}. Give the id of one: {ids}.")
        (schedule,) = named
        with acting_in(schedule.organisation):
            try:
                run = run_now(schedule=schedule)
            except Refused as refusal:
                raise CommandError(refusal.sentence) from None
        if run.state == RunState.FAILED:
            raise CommandError(f"{schedule.name} could not begin: {run.error}")
        self.stdout.write(
            f"{schedule.name} runs now, as job {run.job_id}." if run.is_open else f"{schedule.name}: {run.error}"
        )


def _add_filters(parser: ArgumentParser) -> None:
    parser.add_argument("--organisation", metavar="SLUG")
    parser.add_argument("--project", metavar="SLUG")
    parser.add_argument("--kind", choices=[kind.name for kind in kinds.registered()])


def _chosen(options: dict[str, Any]) -> list[Schedule]:
    schedules: list[Schedule] = []
    for kind in kinds.registered():
        if options["kind"] in (None, kind.name):
            rows = kind.model.objects.not_deleted().select_related("organisation", "project")
            if slug := options["organisation"]:
                rows = rows.filter(organisation__slug=slug)
            if slug := options["project"]:
                rows = rows.filter(project__slug=slug)
            schedules += rows.order_by("organisation__slug", "project__slug", "created_at")
    return schedules
