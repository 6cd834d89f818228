"""What the routes of agreement and its schedules answer and take."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, Field

from potato.api.base import Body
from potato.api.schedules import ShownRunFacts, ShownTimes, TimesBody


class AgreementSettings(Body):
    """How figures are computed: lines between comments that match, resamplings of the traces (0: no intervals), and
    the seed of the resampling."""

    tolerance: Annotated[int, Field(ge=0, le=100)] = 3
    samples: Annotated[int, Field(ge=0, le=10_000)] = 1000
    seed: Annotated[int, Field(ge=0, lt=2**31)] = 0


class AgreementFilters(Body):
    """Which annotations alone a report is of: batches by name or number, agent models, tags of runs (any of them),
    annotators by name, and days (UTC, as 2026-11-22, both included). What is empty lets everything pass."""

    batches: list[str] = []
    agent_models: list[str] = []
    tags: list[str] = []
    annotators: list[str] = []
    made_from: str = ""
    made_until: str = ""

    def chosen(self) -> dict[str, Any]:
        return {name: value for name, value in self.model_dump().items() if value}


class AgreementRequest(AgreementSettings):
    """How figures are computed, and of what: of all annotations, or of a part of them as a report of its own."""

    filters: AgreementFilters = AgreementFilters()


class AgreementEstimate(BaseModel):
    """A figure with its 95 % interval and what it rests on; `undefined` says why there is no value."""

    value: float | None
    low: float | None
    high: float | None
    traces: int
    units: int
    pairs: int
    undefined: str | None


class AgreementSummary(BaseModel):
    """The main measure of one thing that is compared."""

    scheme: str
    name: str
    title: str
    measure: str
    estimate: AgreementEstimate


class AgreementReport(BaseModel):
    """A report; `computed_at`, `sha256` and `summary` are empty until it is done, and `error` is why it never will be.

    `state` is queued, running, done, failed or cancelled, and `reason` requested, annotations or schedule. `filters`
    say which annotations alone it is of; where all are empty it is of the whole project.
    `sha256` is that of the figures as a file: the same annotations and settings have the same.
    """

    id: UUID
    project: str
    state: str
    reason: str
    error: str
    progress: int
    total: int | None
    settings: AgreementSettings
    filters: AgreementFilters
    configuration_version: int | None
    annotations: int
    shared_traces: int
    sha256: str
    requested_at: datetime
    computed_at: datetime | None
    summary: list[AgreementSummary]


class AgreementReportWithFigures(AgreementReport):
    """A report with all its figures, as `python -m potato.analysis agreement --json` writes them; null until then."""

    figures: dict[str, Any] | None
    software: dict[str, str]


class AgreementReports(BaseModel):
    next: str | None
    previous: str | None
    results: list[AgreementReport]


class AgreementScheduleRequest(TimesBody):
    """A schedule as a whole: when, either `cron` or `interval_minutes`; with which settings; and which sources are
    compared with people beside it: none, all, or those chosen in `sources`."""

    settings: AgreementSettings = AgreementSettings()
    compares: Literal["none", "all", "chosen"] = "none"
    sources: list[str] = []


class AgreementScheduleShown(ShownTimes):
    """One schedule. `sentence` says it in words; `next_at` is null while it is paused, or where no time is to come."""

    settings: AgreementSettings
    compares: str
    sources: list[UUID]


class AgreementSchedules(BaseModel):
    next: str | None
    previous: str | None
    results: list[AgreementScheduleShown]


class AgreementScheduleRun(ShownRunFacts):
    """One run. `report` has its figures, null where no annotation came in; `compared` is the number of sources."""

    report: str | None
    compared: int | None


class AgreementScheduleRuns(BaseModel):
    next: str | None
    previous: str | None
    results: list[AgreementScheduleRun]
