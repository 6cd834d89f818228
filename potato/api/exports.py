"""What the routes of exports and their schedules answer and take."""

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel

from potato.api.base import Body
from potato.api.schedules import ShownRunFacts, ShownTimes, TimesBody


class ExportRequest(Body):
    """What is asked for: a format by its name, and its options."""

    format: str
    options: dict[str, Any] = {}


class Export(BaseModel):
    """One export: how far it is, and where its file is once there is one."""

    id: UUID
    project: str
    format: str
    options: dict[str, Any]
    state: str
    progress: int
    total: int | None
    rows: int
    bytes: int
    sha256: str
    error: str
    requested_at: datetime
    expires_at: datetime | None
    file: str | None
    manifest: dict[str, Any]


class Exports(BaseModel):
    next: str | None
    previous: str | None
    results: list[Export]


class ExportEstimate(BaseModel):
    """What an export would come to. `records` are annotations, `answers` those of automated sources. `rows` and `bytes`
    are null where nothing lets them be told; `left_out` counts the annotations that do not count, by the reason.
    `is_quota_amber` is true from 80 % of the organisation's quota on."""

    records: int
    answers: int
    rows: int | None
    bytes: int | None
    left_out: dict[str, int]
    is_by_earlier_export: bool
    sentence: str
    used_bytes: int
    quota_bytes: int | None
    is_quota_amber: bool
    quota_sentence: str


class ScheduleRequest(TimesBody):
    """A schedule as a whole: when, either `cron` or `interval_minutes`, what, and where to."""

    format: str
    options: dict[str, Any] = {}
    only_new: bool = False
    destination: Literal["kept", "bucket", "webhook"] = "kept"
    bucket: str = ""
    folder: str = ""


class ExportScheduleShown(ShownTimes):
    """One schedule. `sentence` says it in words; `next_at` is null while it is paused, or where no time is to come."""

    format: str
    options: dict[str, Any]
    only_new: bool
    destination: str
    bucket: str
    folder: str


class ExportSchedules(BaseModel):
    next: str | None
    previous: str | None
    results: list[ExportScheduleShown]


class ExportScheduleRun(ShownRunFacts):
    """One run. `missed` is how many fire times before it nobody saw, and became it; `export` has its file."""

    rows: int | None
    address: str | None
    export: str | None


class ExportScheduleRuns(BaseModel):
    next: str | None
    previous: str | None
    results: list[ExportScheduleRun]
