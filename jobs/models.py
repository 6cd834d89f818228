"""The job, which is the truth about background work, and the outbox, which is the truth about events."""

from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import models
from django.utils import timezone

from tenancy.constraints import TenantPolicy
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
