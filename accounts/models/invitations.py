"""Invitations: who may join, as what, until when. The link's secret is stored as its hash alone, and shown once."""

import re
import secrets
from dataclasses import dataclass
from datetime import timedelta
from hashlib import sha256
from uuid import UUID

from django.conf import settings
from django.db import models
from django.db.models.functions import Lower
from django.utils import timezone

from accounts.models.organisations import ANNOTATOR_NAME
from tenancy.models import TenantModel
from tenancy.roles import Role

LASTS = timedelta(days=7)

_TOKEN = re.compile(r"(?P<organisation>[0-9a-f]{32})\.(?P<secret>[A-Za-z0-9_-]{32})")


@dataclass(frozen=True)
class InvitationToken:
    """What stands in a link: the organisation that the look-up is confined to, and the secret that proves the rest."""

    organisation_id: UUID
    secret: str

    @classmethod
    def new(cls, organisation_id: UUID) -> "InvitationToken":
        """A token with 192 random bits."""
        return cls(organisation_id, secrets.token_urlsafe(24))

    @classmethod
    def read(cls, text: str) -> "InvitationToken | None":
        """The token of a link; None for text that no link of ours ever held."""
        found = _TOKEN.fullmatch(text)
        return cls(UUID(found["organisation"]), found["secret"]) if found else None

    @property
    def digest(self) -> str:
        # The secret is random and long: a slow hash would guard nothing more.
        return sha256(self.secret.encode()).hexdigest()

    def __str__(self) -> str:
        return f"{self.organisation_id.hex}.{self.secret}"

    def __repr__(self) -> str:
        return f"InvitationToken({self.organisation_id.hex}, …)"


class InvitationQuerySet(models.QuerySet["Invitation"]):
    def open(self) -> "InvitationQuerySet":
        """Neither used nor revoked; among them those that expired, which can be renewed."""
        return self.filter(accepted_at=None, revoked_at=None)


class Invitation(TenantModel):
    """An offer of a membership to whoever holds the link: open, until it is accepted, revoked or expired.

    The address says whom the link is meant for. Nobody has verified it, so it is compared with the addresses of this
    organisation's own members, and with nobody else's.
    """

    email = models.EmailField("email address", max_length=254)
    role = models.CharField(max_length=20, choices=Role.choices, default=Role.ANNOTATOR)
    annotator_name = models.CharField(
        max_length=64,
        validators=[ANNOTATOR_NAME],
        help_text="Stands in every export, in place of the person's name. Never an email address.",
    )
    secret_sha256 = models.CharField(max_length=64, editable=False)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+", editable=False, verbose_name="invited by"
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    expires_at = models.DateTimeField(editable=False)
    accepted_at = models.DateTimeField(null=True, editable=False)
    accepted_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+", editable=False
    )
    revoked_at = models.DateTimeField(null=True, editable=False)

    objects = InvitationQuerySet.as_manager()

    class Meta(TenantModel.Meta):
        constraints = [
            *TenantModel.Meta.constraints,
            models.UniqueConstraint(fields=["organisation", "secret_sha256"], name="accounts_invitation_secret"),
            models.UniqueConstraint(
                fields=["organisation", "email"],
                condition=models.Q(accepted_at=None, revoked_at=None),
                name="accounts_invitation_open_email",
            ),
            models.UniqueConstraint(
                "organisation",
                Lower("annotator_name"),
                condition=models.Q(accepted_at=None, revoked_at=None),
                name="accounts_invitation_open_annotator_name",
            ),
            models.CheckConstraint(condition=models.Q(email=Lower("email")), name="accounts_invitation_email_small"),
            models.CheckConstraint(condition=models.Q(role__in=Role.values), name="accounts_invitation_role"),
            models.CheckConstraint(
                condition=models.Q(annotator_name__regex=r"^[A-Za-z0-9_.-]{1,64}$"),
                name="accounts_invitation_annotator_name_form",
            ),
            models.CheckConstraint(
                condition=models.Q(accepted_at=None, accepted_by=None)
                | models.Q(accepted_at__isnull=False, accepted_by__isnull=False, revoked_at=None),
                name="accounts_invitation_ends_once",
            ),
        ]
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return self.email
