"""What schedules of every kind have in common."""

from datetime import datetime
from typing import Literal
from uuid import UUID

from pydantic import BaseModel

from potato.api.base import Body


class RecipientBody(Body):
    """A member by annotator name, who gets a mail when a run failed, or of every run."""

    annotator: str
    when: Literal["failed", "always"] = "failed"


class TimesBody(Body):
    """What every kind of schedule has: either `cron` or `interval_minutes`, and whom to mail."""

    name: str
    cron: str = ""
    interval_minutes: int | None = None
    time_zone: str = "UTC"
    people: list[RecipientBody] = []


class ShownRecipient(BaseModel):
    annotator: str
    when: str


class ShownTimes(BaseModel):
    """What is shown of every schedule: `next_at` is null while it is paused, or where no time is to come."""

    id: UUID
    project: str
    name: str
    sentence: str
    cron: str
    interval_minutes: int | None
    time_zone: str
    people: list[ShownRecipient]
    is_paused: bool
    paused_because: str
    next_at: datetime | None
    next_runs: list[datetime]
    created_at: datetime


class ShownRunFacts(BaseModel):
    """What is shown of every run. `missed` is how many fire times before it nobody saw, and became it."""

    id: UUID
    fire_time: datetime
    missed: int
    is_by_hand: bool
    state: str
    error: str
    started_at: datetime
    finished_at: datetime | None
