"""What the API reads and shows of schedules of every kind."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.utils import timezone

from accounts.schedules.recipients import recipient_names, recipients_by_name
from jobs.models import Schedule, ScheduleRun
from potato.api.schedules import ShownRecipient, TimesBody


def recipients(body: TimesBody) -> dict[UUID, str]:
    """Whom the schedule mails. Raises BadSchedule for names that nobody has."""
    return recipients_by_name({person.annotator: person.when for person in body.people})


def shown_times(schedule: Schedule, sentence: str, names: Mapping[str, str]) -> dict[str, Any]:
    """The fields of ShownTimes. `names` are those of `names_of_recipients`."""
    paused = schedule.is_paused
    return {
        "id": schedule.pk,
        "project": schedule.project.slug,
        "name": schedule.name,
        "sentence": sentence,
        "cron": schedule.cron,
        "interval_minutes": schedule.interval_minutes,
        "time_zone": schedule.time_zone,
        "people": [ShownRecipient(annotator=name, when=when) for name, when in recipient_names(schedule, names)],
        "is_paused": paused,
        "paused_because": schedule.paused_because,
        "next_at": None if paused else schedule.next_at,
        "next_runs": [] if paused else schedule.timing.following(timezone.now(), 4),
        "created_at": schedule.created_at,
    }


def run_facts(run: ScheduleRun) -> dict[str, Any]:
    """The fields of ShownRunFacts."""
    return {name: getattr(run, name) for name in ("fire_time", "missed", "is_by_hand", "state", "error")} | {
        "id": run.pk,
        "started_at": run.started_at,
        "finished_at": run.finished_at,
    }
