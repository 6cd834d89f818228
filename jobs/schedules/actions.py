"""What people do to a schedule of any kind: run it now, pause it, let it go on, remove it."""

from django.db import transaction
from django.utils import timezone

from jobs.models import Schedule, ScheduleQuerySet, ScheduleRun
from jobs.schedules.definitions import locked
from jobs.schedules.firing import begin
from jobs.schedules.kinds import schedule_kind
from tenancy import audit
from tenancy.actor import current
from tenancy.errors import Refused


class RunIsOpen(Refused):
    code = "run_is_open"


def run_now(*, schedule: Schedule) -> ScheduleRun:
    """Run it once more, now, whether it is paused or not; its own times stay as they are.

    The answer may be over already, with the reason. Raises RunIsOpen while another run of it goes on, and
    ScheduleIsGone where somebody has removed it.
    """
    kind, now = schedule_kind(schedule), timezone.now()
    with transaction.atomic():
        schedule = locked(schedule)
        if ScheduleRun.objects.of(schedule).open().exists():
            raise RunIsOpen(f"{schedule.name} is running already. Wait until that run is over, or cancel its job.")
        run = ScheduleRun.objects.create(
            kind=kind.name,
            schedule=schedule.pk,
            name=schedule.name,
            project_id=schedule.project_id,
            fire_time=now,
            is_by_hand=True,
            requested_by_id=current().user,
        )
        audit.record("schedule.run", schedule, kind=kind.name)
        begin(kind, schedule, run)
    return run


def pause_schedule(*, schedule: Schedule, reason: str = "") -> None:
    """Fire no more until somebody resumes it. One that is paused stays as it is."""
    with transaction.atomic():
        changed = _kept(schedule).filter(paused_at__isnull=True)
        if changed.update(paused_at=timezone.now(), paused_because=reason):
            audit.record("schedule.paused", schedule, **({"reason": reason} if reason else {}))
    schedule.refresh_from_db()


def resume_schedule(*, schedule: Schedule) -> None:
    """Fire again from its next time on; what would have been in the pause is not made up."""
    with transaction.atomic():
        next_at = schedule.timing.after(timezone.now())
        changed = _kept(schedule).filter(paused_at__isnull=False)
        if changed.update(paused_at=None, paused_because="", next_at=next_at):
            audit.record("schedule.resumed", schedule)
    schedule.refresh_from_db()


def remove_schedule(*, schedule: Schedule) -> None:
    """Fire never again, and show it nowhere. Its runs and what they made stay."""
    with transaction.atomic():
        if _kept(schedule).update(removed_at=timezone.now()):
            audit.record("schedule.removed", schedule, name=schedule.name)
    schedule.refresh_from_db()


def _kept(schedule: Schedule) -> ScheduleQuerySet[Schedule]:
    rows: ScheduleQuerySet[Schedule] = type(schedule).objects.not_deleted()
    return rows.filter(pk=schedule.pk)
