"""Invitations: who may join, as what, until when. The link's secret is stored as its hash alone, and shown once."""

from datetime import datetime, timedelta
from typing import TypedDict

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models.functions import Lower
from django.utils import timezone
from django_stubs_ext import WithAnnotations

from accounts.models.organisations import ANNOTATOR_NAME, Membership, MembershipQuerySet
from tenancy.models import TenantModel
from tenancy.roles import RIGHTS, Right, Role

LASTS = timedelta(days=7)


class Backing(TypedDict):
    """What `with_backing` adds to an invitation."""

    is_backed: bool


class InvitationQuerySet(models.QuerySet["Invitation"]):
    def open(self) -> "InvitationQuerySet":
        """Neither accepted nor revoked; among them those that expired, which can be renewed."""
        return self.filter(accepted_at=None, revoked_at=None)

    def with_backing(self) -> "models.QuerySet[WithAnnotations[Invitation, Backing]]":
        """Annotate whether the person who invites may still do so: no link outlives the rights of its maker."""
        may = _inviter_has(Right.MANAGE_OWNERS) | _inviter_has(Right.MANAGE_PEOPLE)
        return self.annotate(  # type: ignore[return-value]  # the stubs know the name, not its type
            is_backed=models.ExpressionWrapper(may, models.BooleanField())
        )

    def acceptable(self, now: datetime) -> "InvitationQuerySet":
        """Those that somebody could join by: open, not expired, and backed."""
        return (
            self.open()
            .with_backing()
            .filter(  # type: ignore[return-value]  # as above
                is_backed=True, expires_at__gt=now
            )
        )


def _inviter_has(right: Right) -> models.Q:
    """The inviter is a member with the right; where the invitation makes an owner, only MANAGE_OWNERS counts."""
    roles = [role for role in Role if right in RIGHTS[role]]
    inviter = (
        Membership.objects.active()
        .filter(organisation=models.OuterRef("organisation"), user=models.OuterRef("created_by"), role__in=roles)
        .order_by()
    )
    offers_less = models.Q() if right == Right.MANAGE_OWNERS else ~models.Q(role=Role.OWNER)
    return models.Q(models.Exists(inviter)) & offers_less


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

    def clean(self) -> None:
        """Small letters in the address; nobody who is a member, and no name that is taken, in this organisation.

        Former members may come back, under the annotator name that they had.
        """
        self.email = self.email.strip().lower()
        errors: dict[str, str] = {}
        known, others = self._members_at_this_address(), Invitation.objects.open().exclude(pk=self.pk)
        if known.active().exists():
            errors["email"] = "This person is a member already."
        elif others.filter(organisation=self.organisation_id, email=self.email).exists():
            errors["email"] = "There is an open invitation for this address. Renew it, or revoke it first."
        names = Membership.objects.filter(
            organisation=self.organisation_id, annotator_name__iexact=self.annotator_name
        ).exclude(pk__in=known.filter(is_active=False).values("pk"))
        if names.exists():
            errors["annotator_name"] = "Another member has this annotator name."
        elif others.filter(organisation=self.organisation_id, annotator_name__iexact=self.annotator_name).exists():
            errors["annotator_name"] = "Another open invitation has this annotator name."
        if errors:
            raise ValidationError(errors)

    def _members_at_this_address(self) -> MembershipQuerySet:
        """Present and former members: by the address of their account, or because they joined by it."""
        joined = Invitation.objects.filter(organisation=self.organisation_id, email=self.email)
        return Membership.objects.filter(organisation=self.organisation_id).filter(
            models.Q(user__email__iexact=self.email) | models.Q(user__in=joined.values("accepted_by"))
        )
