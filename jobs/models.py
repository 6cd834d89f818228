"""The job, which is the truth about background work; the outbox, which is the truth about events; and schedules, with
a row for each of their runs, which decides that there is one.
"""

import hashlib
import json
from datetime import datetime
from typing import Any, ClassVar, Self, TypeVar
from uuid import UUID

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from jobs.timing import Timing
from jobs.timing_words import local, sentence, with_next
from tenancy.constraints import SameOrganisation, TenantPolicy
from tenancy.models import TenantModel

Queue = str
DEFAULT_QUEUE: Queue = "interactive"


class JobState(models.TextChoices):
    """queued -> running -> done, failed or cancelled.

    A running job goes back to queued between two turns, and when a part of it is to be tried again.
    Done, failed and cancelled are final. jobs.actions and jobs.runner make every transition.
    """

    QUEUED = "queued", "Queued"
    RUNNING = "running", "Running"
    DONE = "done", "Done"
    FAILED = "failed", "Failed"
    CANCELLED = "cancelled", "Cancelled"


OPEN_STATES = (JobState.QUEUED, JobState.RUNNING)


class JobQuerySet(models.QuerySet["Job"]):
    def open(self) -> "JobQuerySet":
        return self.filter(state__in=OPEN_STATES)

    def running_under(self, fencing_token: int) -> "JobQuerySet":
        """The job as long as the worker with this fencing token is still the one that runs it."""
        return self.filter(state=JobState.RUNNING, fencing_token=fencing_token)


class Job(TenantModel):
    """One piece of background work, done in parts.

    `cursor` is where the next part begins: it moves in the transaction in which the part's rows are written, so
    that every part has its effect exactly once. `fencing_token` grows with every worker that takes the job; a worker
    with an older fencing token can write nothing any more. `lease_until` is how long the worker is believed to live
    without another heartbeat. `failures` counts workers and errors that did not get past the part at the cursor.

    `waiting_since` is when it was asked for, or put behind the others of its organisation; `turn_seconds` is how long
    it has run since then. `turn_at` is when its last turn began, in a process of `worker`, which the message of that
    id had called.
    """

    kind = models.CharField(max_length=60)
    queue = models.CharField(max_length=20, default=DEFAULT_QUEUE)
    parameters: "models.JSONField[Any]" = models.JSONField(default=dict)
    state = models.CharField(max_length=12, choices=JobState.choices, default=JobState.QUEUED)
    cursor: "models.JSONField[Any]" = models.JSONField(null=True)
    progress = models.PositiveBigIntegerField(default=0)
    total = models.PositiveBigIntegerField(null=True)
    attempts = models.PositiveIntegerField(default=0)
    failures = models.PositiveIntegerField(default=0)
    fencing_token = models.PositiveBigIntegerField(default=0)
    heartbeat_at = models.DateTimeField(null=True)
    lease_until = models.DateTimeField(null=True)
    run_at = models.DateTimeField(default=timezone.now)
    waiting_since = models.DateTimeField(default=timezone.now)
    turn_at = models.DateTimeField(null=True)
    turn_seconds = models.FloatField(default=0)
    worker = models.CharField(max_length=200, blank=True)
    message = models.CharField(max_length=64, blank=True)
    cancel_requested_at = models.DateTimeField(null=True)
    error = models.TextField(blank=True)
    result: "models.JSONField[Any]" = models.JSONField(default=dict)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    objects = JobQuerySet.as_manager()

    while_frozen = "everything"

    class Meta(TenantModel.Meta):
        constraints = [
            *TenantModel.Meta.constraints,
            models.CheckConstraint(condition=models.Q(state__in=JobState.values), name="jobs_job_state"),
            models.CheckConstraint(
                condition=models.Q(finished_at__isnull=True, state__in=OPEN_STATES)
                | models.Q(finished_at__isnull=False) & ~models.Q(state__in=OPEN_STATES),
                name="jobs_job_finished",
            ),
        ]
        indexes = [
            models.Index(fields=["organisation", "-created_at"], name="jobs_job_newest"),
            models.Index(
                fields=["organisation", "run_at"],
                name="jobs_job_open",
                condition=models.Q(state__in=OPEN_STATES),
            ),
            models.Index(
                fields=["organisation", "queue", "waiting_since"],
                name="jobs_job_waiting",
                condition=models.Q(state=JobState.QUEUED),
            ),
            models.Index(
                fields=["organisation", "worker"],
                name="jobs_job_running",
                condition=models.Q(state=JobState.RUNNING),
            ),
            models.Index(
                fields=["organisation", "queue", "-turn_at"],
                name="jobs_job_turns",
                condition=models.Q(turn_at__isnull=False),
            ),
        ]
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return f"{self.kind} {self.state}"

    @property
    def is_open(self) -> bool:
        return self.state in OPEN_STATES

    @property
    def is_cancelling(self) -> bool:
        return self.is_open and self.cancel_requested_at is not None


class OutboxEventQuerySet(models.QuerySet["OutboxEvent"]):
    def waiting(self, now: datetime) -> "OutboxEventQuerySet":
        """Events to be delivered now: new ones, and those whose last delivery failed long enough ago."""
        return self.filter(delivered_at__isnull=True, retry_at__lte=now, attempts__lt=OutboxEvent.ATTEMPTS_ALLOWED)


class OutboxEvent(TenantModel):
    """Something that happened, written in the transaction in which it happened, delivered to subscribers after it."""

    # With the pauses between them, ten attempts last almost three hours.
    ATTEMPTS_ALLOWED = 10

    topic = models.CharField(max_length=60)
    payload: "models.JSONField[Any]" = models.JSONField(default=dict)
    created_at = models.DateTimeField(default=timezone.now)
    delivered_at = models.DateTimeField(null=True)
    attempts = models.PositiveIntegerField(default=0)
    retry_at = models.DateTimeField(default=timezone.now)
    error = models.TextField(blank=True)

    objects = OutboxEventQuerySet.as_manager()

    while_frozen = "everything"

    class Meta(TenantModel.Meta):
        constraints = [TenantPolicy(name="%(app_label)s_%(class)s_tenant"), *TenantModel.Meta.constraints[1:]]
        indexes = [
            models.Index(
                fields=["organisation", "created_at"],
                name="jobs_outboxevent_waiting",
                condition=models.Q(delivered_at__isnull=True),
            ),
            models.Index(
                fields=["organisation", "delivered_at"],
                name="jobs_outboxevent_delivered",
                condition=models.Q(delivered_at__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return self.topic


AnySchedule = TypeVar("AnySchedule", bound="Schedule")


class ScheduleQuerySet(models.QuerySet[AnySchedule]):
    """Queries that hold for every kind of schedule; its own class may extend them."""

    def not_deleted(self) -> Self:
        """Those that nobody has removed."""
        return self.filter(removed_at__isnull=True)

    def due(self, now: datetime) -> Self:
        """Those to look at now: whose time has come, and those that fired when the clock was ahead of this."""
        return self.not_deleted().filter(Q(next_at__lte=now) | Q(last_fire_time__gt=now), paused_at__isnull=True)


class Schedule(TenantModel):
    """A row that makes something by itself, again and again, in one project. Each app brings its kinds as subclasses.

    `next_at` is when it fires next, None where no time is to come. `last_fire_time` is the time for which it fired
    last, which may be in the future after somebody has set a clock back. A paused one keeps `next_at` and does not
    fire. `recipients` is a list of {"person": id, "when": "failed" or "always"}. A removed one is shown nowhere;
    its runs, and what they made, stay.

    A subclass may write `objects = ScheduleQuerySet["Itself"].as_manager()`, so that its rows have its own type.
    """

    name = models.CharField(max_length=200)
    project = models.ForeignKey("accounts.Project", on_delete=models.PROTECT, related_name="+", db_index=False)
    cron = models.CharField(max_length=100, blank=True)
    interval_minutes = models.PositiveIntegerField(null=True)
    time_zone = models.CharField(max_length=60, default="UTC")
    starts_at = models.DateTimeField(default=timezone.now)
    next_at = models.DateTimeField(null=True)
    last_fire_time = models.DateTimeField(null=True)
    paused_at = models.DateTimeField(null=True)
    paused_because = models.TextField(blank=True)
    recipients: "models.JSONField[Any]" = models.JSONField(default=list)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)
    removed_at = models.DateTimeField(null=True)

    decided: ClassVar[tuple[str, ...]] = ("name", "cron", "interval_minutes", "time_zone", "recipients")
    """The fields that people decide about; a subclass adds its own."""

    objects: ClassVar[Any] = ScheduleQuerySet["Schedule"].as_manager()

    class Meta(TenantModel.Meta):
        abstract = True
        constraints: ClassVar[list[models.BaseConstraint]] = [
            *TenantModel.Meta.constraints,
            SameOrganisation(name="%(app_label)s_%(class)s_project", field="project"),
            models.CheckConstraint(
                condition=Q(cron="", interval_minutes__isnull=False) | ~Q(cron="") & Q(interval_minutes__isnull=True),
                name="%(app_label)s_%(class)s_timing",
            ),
        ]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(
                fields=["organisation", "project"],
                name="%(app_label)s_%(class)s_p",
                condition=Q(removed_at__isnull=True),
            ),
            models.Index(
                fields=["organisation", "next_at"],
                name="%(app_label)s_%(class)s_n",
                condition=Q(removed_at__isnull=True, paused_at__isnull=True),
            ),
        ]
        ordering: ClassVar[list[str]] = ["created_at"]

    def __str__(self) -> str:
        return self.name

    @property
    def timing(self) -> Timing:
        return Timing(self.cron, self.interval_minutes, self.time_zone, self.starts_at)

    @property
    def is_paused(self) -> bool:
        return self.paused_at is not None

    @property
    def decision_tag(self) -> str:
        """The same as long as nobody decides anything else about it."""
        values = json.dumps([getattr(self, name) for name in self.decided], sort_keys=True, default=str)
        return hashlib.sha256(values.encode()).hexdigest()[:32]

    def set_timing(self, timing: Timing, now: datetime) -> None:
        """Fire at these times from now on; the row is not saved."""
        self.cron, self.interval_minutes = timing.cron, timing.interval_minutes
        self.time_zone, self.starts_at = timing.zone, timing.starts_at
        self.next_at = timing.after(now)

    def change_timing(self, timing: Timing, now: datetime) -> None:
        """Fire at these times where they are others; else the next time stays, and an interval's beginning."""
        before = self.timing
        if (timing.cron, timing.interval_minutes, timing.zone) != (before.cron, before.interval_minutes, before.zone):
            self.set_timing(timing, now)

    def in_words(self, now: datetime) -> str:
        """As in "every Monday at 06:00 Europe/Berlin, next run in 3 days"."""
        if self.is_paused:
            return f"{sentence(self.timing)}, paused"
        return with_next(self.timing, self.next_at, now)

    def next_runs(self, now: datetime, number: int = 4) -> list[str]:
        """The next fire times on the clocks of its zone."""
        return [local(moment, self.time_zone) for moment in self.timing.following(now, number)]


class RunState(models.TextChoices):
    """started -> done, nothing or failed. A run that was skipped or could not begin is over at once."""

    STARTED = "started", "Running"
    DONE = "done", "Done"
    NOTHING = "nothing", "Nothing to do"
    SKIPPED = "skipped", "Skipped"
    FAILED = "failed", "Failed"


class ScheduleRunQuerySet(models.QuerySet["ScheduleRun"]):
    def of(self, schedule: Schedule) -> "ScheduleRunQuerySet":
        return self.filter(organisation=schedule.organisation_id, schedule=schedule.pk)

    def open(self) -> "ScheduleRunQuerySet":
        return self.filter(state=RunState.STARTED)

    def newest_of_each(self, schedules: "list[UUID]", number: int) -> "ScheduleRunQuerySet":
        """Of each of these schedules so many of its last runs, the newest first."""
        place = models.Window(
            models.functions.RowNumber(), partition_by="schedule", order_by=models.F("fire_time").desc()
        )
        rows = self.filter(schedule__in=schedules).annotate(place=place)
        return rows.filter(place__lte=number).order_by("schedule", "-fire_time")


class ScheduleRun(TenantModel):
    """One run of a schedule of any kind. That there is one row for a fire time is what makes it one run.

    `kind` and `schedule` name the schedule's row, whatever its table; `name` is what it was called then. `missed` is
    how many fire times before this one nobody saw, and became this one. `requested_by` is who ran it by hand, whose
    fire time is the moment of that. `job` is the one that does its work now, or did last. `result` is for the kind's
    pages.
    """

    kind = models.CharField(max_length=60)
    schedule = models.UUIDField()
    name = models.CharField(max_length=200)
    project = models.ForeignKey("accounts.Project", on_delete=models.PROTECT, related_name="+", db_index=False)
    fire_time = models.DateTimeField()
    missed = models.PositiveIntegerField(default=0)
    is_by_hand = models.BooleanField(default=False)
    requested_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    state = models.CharField(max_length=12, choices=RunState.choices, default=RunState.STARTED)
    job = models.ForeignKey(Job, on_delete=models.PROTECT, null=True, related_name="+", db_index=False)
    error = models.TextField(blank=True)
    result: "models.JSONField[Any]" = models.JSONField(default=dict)
    started_at = models.DateTimeField(default=timezone.now)
    finished_at = models.DateTimeField(null=True)

    objects = ScheduleRunQuerySet.as_manager()

    while_frozen = "everything"

    class Meta(TenantModel.Meta):
        constraints = [
            *TenantModel.Meta.constraints,
            SameOrganisation(name="jobs_schedulerun_project", field="project"),
            SameOrganisation(name="jobs_schedulerun_job", field="job"),
            models.UniqueConstraint(fields=["organisation", "schedule", "fire_time"], name="jobs_schedulerun_once"),
            models.CheckConstraint(condition=Q(state__in=RunState.values), name="jobs_schedulerun_state"),
            models.CheckConstraint(
                condition=Q(finished_at__isnull=True, state=RunState.STARTED)
                | Q(finished_at__isnull=False) & ~Q(state=RunState.STARTED),
                name="jobs_schedulerun_finished",
            ),
        ]
        indexes = [
            models.Index(
                fields=["organisation", "job"], name="jobs_schedulerun_by_job", condition=Q(job__isnull=False)
            ),
        ]
        ordering = ["-fire_time"]

    def __str__(self) -> str:
        return f"{self.name} of {self.fire_time:%Y-%m-%d %H:%M}"

    @property
    def is_open(self) -> bool:
        return self.state == RunState.STARTED
