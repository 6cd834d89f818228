"""Invitations: who may join, as what, until when. The link's secret is stored as its hash alone, and shown once."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TypedDict

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models.functions import Lower
from django.utils import timezone
from django_stubs_ext import WithAnnotations

from accounts.models.members import ProjectMember
from accounts.models.organisations import ANNOTATOR_NAME, Membership, MembershipQuerySet
from accounts.models.projects import Project
from tenancy.constraints import SameOrganisation
from tenancy.models import TenantModel
from tenancy.roles import ProjectRole, Right, Role, project_roles_with, roles_with

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
        may = _inviter_has(Right.MANAGE_OWNERS) | _inviter_has(Right.MANAGE_PEOPLE) | _inviter_manages_the_projects()
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

    def to_any_of(self, projects: "Sequence[Project]") -> "InvitationQuerySet":
        """Those that are of one of these projects, or of more; where there is none, those of the organisation alone."""
        named = InvitationProject.objects.filter(
            organisation=models.OuterRef("organisation"), invitation=models.OuterRef("pk")
        )
        if projects:
            return self.filter(models.Exists(named.filter(project__in=projects)))
        return self.exclude(models.Exists(named))


def _inviter_has(right: Right) -> models.Q:
    """The inviter is a member with the right; where the invitation makes an owner, only MANAGE_OWNERS counts."""
    roles = roles_with(right)
    inviter = (
        Membership.objects.active()
        .filter(organisation=models.OuterRef("organisation"), user=models.OuterRef("created_by"), role__in=roles)
        .order_by()
    )
    offers_less = models.Q() if right == Right.MANAGE_OWNERS else ~models.Q(role=Role.OWNER)
    return models.Q(models.Exists(inviter)) & offers_less


def _inviter_manages_the_projects() -> models.Q:
    """The invitation is of projects alone, and the inviter manages the members of each of them."""
    named = InvitationProject.objects.filter(
        organisation=models.OuterRef("organisation"), invitation=models.OuterRef("pk")
    )
    managed = ProjectMember.objects.present().filter(
        organisation=models.OuterRef("organisation"),
        project=models.OuterRef("project"),
        membership__user=models.OuterRef("invitation__created_by"),
        role__in=project_roles_with(Right.MANAGE_MEMBERS),
    )
    everywhere = _inviter_has(Right.MANAGE_MEMBERS)
    in_each = models.Q(models.Exists(named)) & ~models.Q(models.Exists(named.exclude(models.Exists(managed))))
    return models.Q(role=Role.MEMBER) & (everywhere & models.Q(models.Exists(named)) | in_each)


class Invitation(TenantModel):
    """An offer of a membership to whoever holds the link: open, until it is accepted, revoked or expired. It may name
    projects, in which whoever joins works as what it says.

    An address may hold one open invitation to the organisation, and one to each of its projects. What the database
    cannot compare, the projects of two invitations and the names of two addresses, `invite` compares under a lock.

    One without an address is for many: as many as it has `places`. Its `annotator_name` is then the beginning of the
    names that they are given in turn, and it counts as accepted when the last place is taken.

    The address says whom the link is meant for. Nobody has verified it, so it is compared with the addresses of this
    organisation's own members, and with nobody else's.
    """

    email = models.EmailField("email address", max_length=254, blank=True, help_text="Empty where many may join by it.")
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
    places = models.PositiveIntegerField(default=1, help_text="How many people may join by the link.")
    taken = models.PositiveIntegerField(default=0, editable=False)

    # The projects that a new one is about to be of; not stored here.
    brings: "Sequence[Project]" = ()
    # The batch in which whoever joins is named, for a page that lists invitations of one project.
    batch_name = ""

    objects = InvitationQuerySet.as_manager()

    class Meta(TenantModel.Meta):
        constraints = [
            *TenantModel.Meta.constraints,
            models.UniqueConstraint(fields=["organisation", "secret_sha256"], name="accounts_invitation_secret"),
            models.UniqueConstraint(
                fields=["organisation", "email"],
                condition=models.Q(accepted_at=None, revoked_at=None) & ~models.Q(role=Role.MEMBER),
                name="accounts_invitation_open_email",
            ),
            models.UniqueConstraint(
                "organisation",
                Lower("annotator_name"),
                condition=models.Q(accepted_at=None, revoked_at=None) & ~models.Q(role=Role.MEMBER),
                name="accounts_invitation_open_annotator_name",
            ),
            models.CheckConstraint(condition=models.Q(email=Lower("email")), name="accounts_invitation_email_small"),
            models.CheckConstraint(condition=models.Q(role__in=Role.values), name="accounts_invitation_role"),
            models.CheckConstraint(
                condition=models.Q(places__gte=1, taken__lte=models.F("places")), name="accounts_invitation_places"
            ),
            models.CheckConstraint(
                condition=~models.Q(email="") | models.Q(role=Role.MEMBER), name="accounts_invitation_of_many"
            ),
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
        return self.email or f"{self.annotator_name}…"

    def clean(self) -> None:
        """Small letters in the address; nobody who is a member, and no name that is taken, in this organisation.

        Former members may come back, under the annotator name that they had.
        """
        self.email = self.email.strip().lower()
        if not self.email:
            self._clean_for_many()
            return
        errors: dict[str, str] = {}
        if self.role == Role.SERVICE:
            errors["role"] = "A service account has no login, so nobody is invited to be one."
        known, others = self._members_at_this_address(), Invitation.objects.open().exclude(pk=self.pk)
        present = ProjectMember.objects.present().filter(membership__in=known, project__in=self.brings)
        here = set(present.values_list("project", flat=True))
        # A member joins more projects by a link of their own: who has the address is a claim.
        if known.active().exists() and all(project.pk in here for project in self.brings):
            errors["email"] = "This person is a member already."
        elif self._is_invited_at_this_address():
            to = " to this project" if self.brings else ""
            errors["email"] = f"There is an open invitation for this address{to}. Renew it, or revoke it first."
        names = Membership.objects.filter(
            organisation=self.organisation_id, annotator_name__iexact=self.annotator_name
        ).exclude(pk__in=known.filter(is_active=False).values("pk"))
        if names.exists():
            errors["annotator_name"] = "Another member has this annotator name."
        elif (
            others.filter(organisation=self.organisation_id, annotator_name__iexact=self.annotator_name)
            .exclude(email=self.email)
            .exists()
        ):
            errors["annotator_name"] = "Another open invitation has this annotator name."
        if errors:
            raise ValidationError(errors)

    def _clean_for_many(self) -> None:
        if len(self.annotator_name) > 58:
            raise ValidationError({"annotator_name": "Use at most 58 characters: a number is put after it."})
        others = Invitation.objects.open().exclude(pk=self.pk).filter(organisation=self.organisation_id)
        if others.filter(annotator_name__iexact=self.annotator_name).exists():
            raise ValidationError({"annotator_name": "Another open invitation gives names that begin like this."})

    def _is_invited_at_this_address(self) -> bool:
        """To the organisation, or to one of the same projects, by a link that somebody could join by."""
        others = Invitation.objects.acceptable(timezone.now()).exclude(pk=self.pk)
        return others.filter(organisation=self.organisation_id, email=self.email).to_any_of(self.brings).exists()

    def _members_at_this_address(self) -> MembershipQuerySet:
        """Present and former members: by the address of their account, or because they joined by it."""
        joined = Invitation.objects.filter(organisation=self.organisation_id, email=self.email)
        return Membership.objects.filter(organisation=self.organisation_id).filter(
            models.Q(user__email__iexact=self.email) | models.Q(user__in=joined.values("accepted_by"))
        )


class InvitationProject(TenantModel):
    """A project that an invitation is of, and as what whoever joins works on it. With a `batch_number` they are named
    in that batch of the project."""

    invitation = models.ForeignKey(Invitation, on_delete=models.CASCADE, related_name="projects", db_index=False)
    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="+", db_index=False)
    role = models.CharField(max_length=20, choices=ProjectRole.choices, default=ProjectRole.ANNOTATOR)
    may_export = models.BooleanField(default=False)
    batch_number = models.PositiveIntegerField(null=True)

    class Meta(TenantModel.Meta):
        constraints = [
            *TenantModel.Meta.constraints,
            SameOrganisation(name="accounts_invitationproject_invitation", field="invitation"),
            SameOrganisation(name="accounts_invitationproject_project", field="project"),
            models.UniqueConstraint(
                fields=["organisation", "invitation", "project"], name="accounts_invitationproject_once"
            ),
            models.CheckConstraint(
                condition=models.Q(role__in=ProjectRole.values), name="accounts_invitationproject_role"
            ),
        ]
        indexes = [models.Index(fields=["organisation", "project"], name="accounts_invitationproject_of")]

    def __str__(self) -> str:
        return f"{self.project}, {self.get_role_display()}"
