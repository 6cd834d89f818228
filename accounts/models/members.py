"""Who works on a project, and as what."""

from django.conf import settings
from django.db import models
from django.utils import timezone

from accounts.models.organisations import Membership
from accounts.models.projects import Project
from tenancy.actor import ActiveMembership
from tenancy.constraints import SameOrganisation
from tenancy.models import TenantModel
from tenancy.roles import ProjectRole, Right, Role, project_roles_with, roles_with


class ProjectMemberQuerySet(models.QuerySet["ProjectMember"]):
    def present(self) -> "ProjectMemberQuerySet":
        """Those that were not taken off, of active members of the organisation."""
        return self.filter(left_at=None, membership__is_active=True)

    def for_project(self, project: Project) -> "ProjectMemberQuerySet":
        return self.filter(organisation=project.organisation_id, project=project)


class ProjectMember(TenantModel):
    """What a member of the organisation is in one project.

    Who was taken off keeps the row, with when that was: they do not see the project, also where it is open to all
    annotators of the organisation.
    """

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="members", db_index=False)
    membership = models.ForeignKey(Membership, on_delete=models.PROTECT, related_name="places", db_index=False)
    role = models.CharField(max_length=20, choices=ProjectRole.choices, default=ProjectRole.ANNOTATOR)
    may_export = models.BooleanField("may export", default=False, help_text="Of a viewer. Managers always may.")
    added_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+", editable=False
    )
    added_at = models.DateTimeField(default=timezone.now, editable=False)
    left_at = models.DateTimeField(null=True, editable=False)

    objects = ProjectMemberQuerySet.as_manager()

    class Meta(TenantModel.Meta):
        constraints = [
            *TenantModel.Meta.constraints,
            SameOrganisation(name="accounts_projectmember_project", field="project"),
            SameOrganisation(name="accounts_projectmember_membership", field="membership"),
            # Entering an organisation reads a person's rows by it, and claiming the row of the project.
            models.UniqueConstraint(
                fields=["organisation", "membership", "project"],
                name="accounts_projectmember_once",
                violation_error_message="This person is a member of the project already.",
            ),
            models.CheckConstraint(condition=models.Q(role__in=ProjectRole.values), name="accounts_projectmember_role"),
        ]
        indexes = [models.Index(fields=["organisation", "project"], name="accounts_projectmember_people")]
        ordering = ["added_at"]

    def __str__(self) -> str:
        return f"{self.membership} in {self.project}"


def known_people(membership: ActiveMembership) -> "models.QuerySet[Membership]":
    """The active members of the organisation whose names this member meets anyhow: everybody, where their role manages
    members everywhere; else who is, or was, put on a project whose members they manage."""
    everybody = Membership.objects.active()
    if membership.limited_to is None and Right.MANAGE_MEMBERS in membership.everywhere:
        return everybody
    managed = Project.objects.with_right(membership, Right.MANAGE_MEMBERS)
    return everybody.filter(pk__in=ProjectMember.objects.filter(project__in=managed).values("membership"))


def members_with(right: Right, project: Project) -> "models.QuerySet[Membership]":
    """The active members of the organisation who carry the right in the project."""
    rows = ProjectMember.objects.for_project(project).filter(membership=models.OuterRef("pk"))
    given = rows.filter(left_at=None, role__in=project_roles_with(right))
    if right == Right.EXPORT:
        given |= rows.filter(left_at=None, may_export=True)
    may: models.Q = models.Q(role__in=roles_with(right)) | models.Q(models.Exists(given))
    if right == Right.ANNOTATE and project.open_to_annotators:
        may |= models.Q(role=Role.ANNOTATOR) & ~models.Q(models.Exists(rows))
    return Membership.objects.active().filter(may, organisation=project.organisation_id)
