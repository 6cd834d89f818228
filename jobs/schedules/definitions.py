"""What a person wants of a schedule, as far as it is the same for every kind: a name, its times and whom to mail."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import cast
from uuid import UUID

from jobs.models import AnySchedule, Schedule
from jobs.timing import Timing, read_timing
from tenancy.errors import Refused

LONGEST_NAME = 200
MOST_SCHEDULES = 50
"""Of one kind in a project: what they ask for waits in line with everybody's jobs."""


class BadSchedule(Refused):
    code = "bad_schedule"
    status = 400


class ChangedMeanwhile(Refused):
    code = "changed_meanwhile"


class TooManySchedules(Refused):
    code = "too_many_schedules"


class ScheduleIsGone(Refused):
    code = "schedule_is_gone"


@dataclass(frozen=True, kw_only=True)
class ScheduleTimes:
    """Either `cron` or `interval_minutes`; `people` are ids, each with "failed" or "always"."""

    cron: str = ""
    interval_minutes: int | None = None
    time_zone: str = "UTC"
    people: Mapping[UUID, str] = field(default_factory=dict)

    def timing(self, starts_at: datetime) -> Timing:
        """Raises BadTiming for what cannot be."""
        return read_timing(
            cron=self.cron,
            interval_minutes=self.interval_minutes,
            zone=self.time_zone,
            starts_at=starts_at.replace(second=0, microsecond=0),
        )


def read_name(name: str) -> str:
    """The name in one line. Raises BadSchedule for none, one that is too long, or one with characters that no page
    can show."""
    plain = " ".join(name.split())
    if not plain or len(plain) > LONGEST_NAME or not plain.isprintable():
        raise BadSchedule(f"Give the schedule a name of at most {LONGEST_NAME} characters.")
    return plain


def demand_room(model: type[Schedule], project: UUID) -> None:
    """Raises TooManySchedules where the project has as many of that kind as it may."""
    if model.objects.not_deleted().filter(project=project).count() >= MOST_SCHEDULES:
        raise TooManySchedules(
            f"A project has at most {MOST_SCHEDULES} schedules of a kind. Delete one that nobody needs, then make this."
        )


def locked(schedule: AnySchedule, seen: str = "") -> AnySchedule:
    """The row as it is now, locked. Raises ScheduleIsGone where somebody has removed it, and ChangedMeanwhile where it
    is not the one with the decision tag `seen`, which is empty for whoever does not care."""
    rows = type(schedule).objects.not_deleted().select_for_update(of=("self",))
    row = cast("AnySchedule | None", rows.filter(pk=schedule.pk).first())
    if row is None:
        raise ScheduleIsGone(f"{schedule.name} was deleted meanwhile. Make a new schedule, if one is still definition.")
    if seen and row.decision_tag != seen:
        raise ChangedMeanwhile(
            "Somebody else changed this schedule while you did. Open it again to see what it is now, and change that."
        )
    return row
