"""Where events are sent to, and each one that is sent, with all its attempts."""

import base64
import secrets
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from accounts.models import Project
from tenancy.actor import ActiveMembership
from tenancy.constraints import SameOrganisation
from tenancy.models import TenantModel
from tenancy.roles import Right

_PREFIX = "whsec_"
_SECRET_BYTES = 32

OLD_SECRET_LASTS = timedelta(hours=24)


def new_secret() -> str:
    """A signing secret, as Standard Webhooks writes it."""
    return _PREFIX + base64.b64encode(secrets.token_bytes(_SECRET_BYTES)).decode("ascii")


class EndpointState(models.TextChoices):
    """Paused by a person, off after failures. Only what is on gets events."""

    ON = "on", "On"
    PAUSED = "paused", "Paused"
    OFF = "off", "Off"


class EndpointQuerySet(models.QuerySet["Endpoint"]):
    def manageable_by(self, membership: ActiveMembership, *, is_change: bool = False) -> "EndpointQuerySet":
        """All for admins; for others those of the projects whose webhooks they manage. A token reaches of both what its
        scopes open."""
        if membership.wields(Right.MANAGE_ALL_WEBHOOKS, is_change=is_change):
            return self
        if not membership.in_scope(Right.MANAGE_WEBHOOKS, is_change=is_change):
            return self.none()
        return self.filter(project__in=Project.objects.with_right(membership, Right.MANAGE_WEBHOOKS))

    def listening(self, topic: str, project: object | None) -> "EndpointQuerySet":
        """Those that are on, and ask for this kind of event of this project."""
        of_project = Q(project=None) if project is None else Q(project=None) | Q(project=project)
        return self.filter(of_project, state=EndpointState.ON, events__contains=[topic])


class Endpoint(TenantModel):
    """An address of another program, and what it wants to hear. Without a project: of all projects.

    `secret` signs; what it replaced signs as well until `old_secret_until`. Both are kept as they are, because a
    signature needs them, and are shown once. `failures` counts attempts in a row that were not taken. Until
    `rests_until` nothing is sent there, and until `sending_until` a worker is sending.
    """

    project = models.ForeignKey(
        "accounts.Project", on_delete=models.PROTECT, related_name="+", null=True, blank=True, db_index=False
    )
    url = models.CharField(max_length=500)
    description = models.CharField(max_length=200, blank=True)
    events: "models.JSONField[Any]" = models.JSONField(default=list)
    secret = models.CharField(max_length=100, default=new_secret, editable=False)
    old_secret = models.CharField(max_length=100, blank=True, editable=False)
    old_secret_until = models.DateTimeField(null=True, editable=False)
    state = models.CharField(max_length=8, choices=EndpointState.choices, default=EndpointState.ON)
    state_because = models.CharField(max_length=700, blank=True)
    failures = models.PositiveIntegerField(default=0)
    rests_until = models.DateTimeField(null=True)
    sending_until = models.DateTimeField(null=True)
    sent_at = models.DateTimeField(null=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)

    objects = EndpointQuerySet.as_manager()

    while_frozen = "changes"

    class Meta(TenantModel.Meta):
        constraints = [
            *TenantModel.Meta.constraints,
            SameOrganisation(name="webhooks_endpoint_project", field="project"),
            models.CheckConstraint(condition=Q(state__in=EndpointState.values), name="webhooks_endpoint_state"),
            models.CheckConstraint(
                condition=Q(old_secret="", old_secret_until__isnull=True)
                | ~Q(old_secret="") & Q(old_secret_until__isnull=False),
                name="webhooks_endpoint_old_secret",
            ),
        ]
        ordering = ["created_at"]

    def __str__(self) -> str:
        return self.url

    @property
    def shown_secret(self) -> str:
        """Enough to tell two apart."""
        return f"{_PREFIX}{'•' * 12}{self.secret[-4:]}"

    def secrets_at(self, now: datetime) -> list[str]:
        """Those that sign now, the newest first."""
        is_old_valid = self.old_secret_until is not None and now < self.old_secret_until
        return [self.secret, *([self.old_secret] if is_old_valid else [])]


class DeliveryState(models.TextChoices):
    WAITING = "waiting", "Waiting"
    DELIVERED = "delivered", "Delivered"
    FAILED = "failed", "Failed"


class DeliveryQuerySet(models.QuerySet["Delivery"]):
    def due(self, now: datetime) -> "DeliveryQuerySet":
        """What is to be sent now."""
        return self.filter(state=DeliveryState.WAITING, next_attempt_at__lte=now)

    def expired(self, now: datetime) -> "DeliveryQuerySet":
        """What is past its time, whatever came of it."""
        return self.filter(expires_at__lte=now)


def _expiry() -> datetime:
    return timezone.now() + timedelta(days=settings.WEBHOOK_DELIVERIES_KEPT_DAYS)


class Delivery(TenantModel):
    """One event for one endpoint. `event` is the same at each attempt, and `body` as well.

    `attempts` are what happened, each with `at`, `seconds`, `status`, `problem` and `answer`. `tries` counts those
    since somebody last asked for it to be sent again.
    """

    endpoint = models.ForeignKey(Endpoint, on_delete=models.CASCADE, related_name="deliveries", db_index=False)
    event = models.UUIDField()
    type = models.CharField(max_length=60)
    body = models.TextField()
    state = models.CharField(max_length=10, choices=DeliveryState.choices, default=DeliveryState.WAITING)
    attempts: "models.JSONField[Any]" = models.JSONField(default=list)
    tries = models.PositiveIntegerField(default=0)
    next_attempt_at = models.DateTimeField(null=True, default=timezone.now)
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField(default=_expiry)

    objects = DeliveryQuerySet.as_manager()

    while_frozen = "everything"

    class Meta(TenantModel.Meta):
        constraints = [
            *TenantModel.Meta.constraints,
            SameOrganisation(name="webhooks_delivery_endpoint", field="endpoint"),
            models.UniqueConstraint(fields=["organisation", "endpoint", "event"], name="webhooks_delivery_once"),
            models.CheckConstraint(condition=Q(state__in=DeliveryState.values), name="webhooks_delivery_state"),
            models.CheckConstraint(
                condition=Q(state=DeliveryState.WAITING, next_attempt_at__isnull=False)
                | ~Q(state=DeliveryState.WAITING) & Q(next_attempt_at__isnull=True),
                name="webhooks_delivery_next_attempt",
            ),
        ]
        indexes = [
            models.Index(fields=["organisation", "endpoint", "-created_at"], name="webhooks_delivery_newest"),
            models.Index(
                fields=["organisation", "endpoint", "next_attempt_at"],
                name="webhooks_delivery_waiting",
                condition=Q(state=DeliveryState.WAITING),
            ),
            models.Index(fields=["organisation", "expires_at"], name="webhooks_delivery_expiry"),
        ]
        ordering = ["-created_at", "-pk"]

    def __str__(self) -> str:
        return f"{self.type} {self.state}"

    @property
    def message(self) -> str:
        """The id that the receiver gets with each attempt."""
        return f"msg_{self.event.hex}"
