"""API tokens: which membership a program acts as. The secret is stored as its hash alone, and shown once."""

import re
import secrets
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import models
from django.utils import timezone

from accounts.models.organisations import Membership
from accounts.models.projects import Project
from tenancy.constraints import SameOrganisation
from tenancy.models import TenantModel
from tenancy.roles import Right, Role, TokenScope, roles_with

_TEXT = re.compile(r"pt_(?P<organisation>[0-9a-f]{32})_(?P<prefix>[0-9a-f]{12})_(?P<secret>[0-9a-f]{48})", re.ASCII)


@dataclass(frozen=True)
class TokenText:
    """What a program sends: the organisation that the look-up is confined to, the row's prefix, and the secret."""

    organisation_id: UUID
    prefix: str
    secret: str

    @classmethod
    def new(cls, organisation_id: UUID) -> "TokenText":
        """A text with 192 secret bits."""
        return cls(organisation_id, secrets.token_hex(6), secrets.token_hex(24))

    @classmethod
    def read(cls, text: str) -> "TokenText | None":
        """None for text that was never a token of ours."""
        match = _TEXT.fullmatch(text)
        return cls(UUID(match["organisation"]), match["prefix"], match["secret"]) if match else None

    @property
    def digest(self) -> str:
        # The secret is random and long: a slow hash would guard nothing more.
        return sha256(self.secret.encode()).hexdigest()

    def __str__(self) -> str:
        return f"pt_{self.organisation_id.hex}_{self.prefix}_{self.secret}"

    def __repr__(self) -> str:
        return f"TokenText({self.organisation_id.hex}, {self.prefix}, …)"


class Pace(models.TextChoices):
    """How much a token may ask, beside what one person may."""

    SLOW = "slow", "Slow: a quarter of what a person may ask"
    NORMAL = "normal", "Normal: what a person may ask"
    FAST = "fast", "Fast: four times what a person may ask"


def every_scope() -> list[str]:
    return list(TokenScope.values)


class ApiTokenQuerySet(models.QuerySet["ApiToken"]):
    def active(self, now: datetime | None = None) -> "ApiTokenQuerySet":
        """Those that authenticate `now`: neither revoked nor expired, of an active member, and made by one who may
        still make such tokens."""
        return self.filter(
            models.Q(expires_at=None) | models.Q(expires_at__gt=timezone.now() if now is None else now),
            _maker_has(Right.MANAGE_OWNERS) | _maker_has(Right.MANAGE_TOKENS) & ~models.Q(membership__role=Role.OWNER),
            revoked_at=None,
            membership__is_active=True,
            membership__user__is_active=True,
        )


def _maker_has(right: Right) -> models.Exists:
    maker = Membership.objects.active().filter(
        organisation=models.OuterRef("organisation"), user=models.OuterRef("created_by"), role__in=roles_with(right)
    )
    return models.Exists(maker)


class ApiToken(TenantModel):
    """A program's key to the API: it may what its membership may and its scopes name, until it expires, it is revoked
    or the membership ends.

    A token that was made for somebody else ends with the rights of its maker as well, who may have kept the secret.
    One that is limited to projects sees nothing else of the organisation.
    """

    name = models.CharField(max_length=100, help_text="What the token is for, as in: nightly import.")
    membership = models.ForeignKey(
        Membership, on_delete=models.PROTECT, related_name="+", db_index=False, verbose_name="acts as"
    )
    prefix = models.CharField(max_length=12, editable=False)
    secret_sha256 = models.CharField(max_length=64, editable=False)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+", editable=False, verbose_name="made by"
    )
    created_at = models.DateTimeField("made", default=timezone.now, editable=False)
    last_used_at = models.DateTimeField("last used", null=True, editable=False)
    revoked_at = models.DateTimeField("revoked", null=True, editable=False)
    scopes: "models.JSONField[Any]" = models.JSONField(default=every_scope, db_default=TokenScope.values)
    expires_at = models.DateTimeField("expires", null=True, editable=False)
    pace = models.CharField(max_length=8, choices=Pace.choices, default=Pace.NORMAL, db_default="normal")
    is_limited = models.BooleanField("limited to projects", default=False, editable=False)

    objects = ApiTokenQuerySet.as_manager()

    while_frozen = "changes"

    class Meta(TenantModel.Meta):
        verbose_name = "API token"
        constraints = [
            *TenantModel.Meta.constraints,
            SameOrganisation(name="accounts_apitoken_membership", field="membership"),
            models.UniqueConstraint(fields=["organisation", "prefix"], name="accounts_apitoken_prefix"),
            models.CheckConstraint(
                condition=models.Q(("secret_sha256__regex", r"^[0-9a-f]{64}$")), name="accounts_apitoken_hash_alone"
            ),
            models.CheckConstraint(
                condition=models.Q(scopes__contained_by=TokenScope.values) & ~models.Q(scopes=[]),
                name="accounts_apitoken_scopes",
            ),
            models.CheckConstraint(condition=models.Q(pace__in=Pace.values), name="accounts_apitoken_pace"),
        ]
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return self.name


class TokenProject(TenantModel):
    """A project that a limited token is limited to."""

    token = models.ForeignKey(ApiToken, on_delete=models.CASCADE, related_name="projects", db_index=False)
    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="+", db_index=False)

    class Meta(TenantModel.Meta):
        constraints = [
            *TenantModel.Meta.constraints,
            SameOrganisation(name="accounts_tokenproject_token", field="token"),
            SameOrganisation(name="accounts_tokenproject_project", field="project"),
            models.UniqueConstraint(fields=["organisation", "token", "project"], name="accounts_tokenproject_once"),
        ]
        indexes = [models.Index(fields=["organisation", "project"], name="accounts_tokenproject_of")]

    def __str__(self) -> str:
        return str(self.project)
