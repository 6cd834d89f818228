"""A project and the versions of its configuration."""

from datetime import datetime
from typing import Any, TypedDict, TypeVar

from django.conf import settings
from django.db import models
from django.db.models.fields.json import KT
from django.http import Http404
from django.utils import timezone
from django_stubs_ext import WithAnnotations

from accounts.models.organisations import SLUG
from tenancy.actor import ActiveMembership
from tenancy.constraints import SameOrganisation, TenantPolicy
from tenancy.models import TenantModel
from tenancy.prepared import prepared
from tenancy.roles import Right

AnyRow = TypeVar("AnyRow", bound=models.Model)


class NewestVersion(TypedDict):
    """What `with_newest_version` adds to a project."""

    newest_number: int | None
    newest_published_at: datetime | None
    newest_task_name: str | None


class ProjectQuerySet(models.QuerySet["Project"]):
    def visible_to(self, membership: ActiveMembership) -> "ProjectQuerySet":
        """Those that exist for the membership: who sets a project up sees it before it is published, too."""
        published = models.Q(models.Exists(ConfigurationVersion.objects.filter(project=models.OuterRef("pk"))))
        sets_up = _where(membership, Right.CONFIGURE_PROJECTS)
        return self.filter(sets_up | published & _where(membership, Right.SEE_TRACES, Right.ANNOTATE))

    def with_right(self, membership: ActiveMembership, *rights: Right) -> "ProjectQuerySet":
        """Those in which the membership carries one of the rights: `ActiveMembership.may_in` as a queryset."""
        return self.filter(_where(membership, *rights))

    def listed(self) -> "ProjectQuerySet":
        """Without those that are archived: they are reached by their address, and in the administration."""
        return self.filter(archived_at__isnull=True)

    def published(self) -> "ProjectQuerySet":
        return self.listed().filter(models.Exists(ConfigurationVersion.objects.filter(project=models.OuterRef("pk"))))

    def with_newest_version(self) -> "models.QuerySet[WithAnnotations[Project, NewestVersion]]":
        """Annotate what the newest version says, as `newest_...`; null while nothing is published."""
        newest = ConfigurationVersion.objects.filter(project=models.OuterRef("pk")).order_by("-number")
        return self.annotate(  # type: ignore[return-value]  # the stubs know the names, not their types
            newest_number=models.Subquery(newest.values("number")[:1]),
            newest_published_at=models.Subquery(newest.values("published_at")[:1]),
            newest_task_name=models.Subquery(newest.values(task_name=KT("configuration__task_name"))[:1]),
        )


# A name of its own, without which the type checker does not know the class.
_ProjectManager = models.Manager.from_queryset(ProjectQuerySet)


class _NotRemovedManager(_ProjectManager["Project"]):
    def get_queryset(self) -> ProjectQuerySet:
        return ProjectQuerySet(self.model, using=self._db).filter(removed_at__isnull=True)


class Project(TenantModel):
    """One annotation task of an organisation: a configuration, and everything that is done under it.

    `draft` is the YAML that somebody is editing. `draft_revision` counts its saves, so that of two people who
    edit it at once the second is told, instead of overwriting the first. An archived project can be read and not
    changed. One with `removed_at` is deleted: `objects` does not know it, and its rows wait for the purge.
    """

    slug = models.CharField(max_length=63, validators=[SLUG], help_text="Stands in the project's address.")
    name = models.CharField(max_length=200)
    open_to_annotators = models.BooleanField(
        "open to all annotators",
        default=True,
        help_text="Every annotator of the organisation works on it. Otherwise only its members do.",
    )
    draft = models.TextField(blank=True, editable=False)
    draft_revision = models.PositiveIntegerField(default=0, editable=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    archived_at = models.DateTimeField(null=True, editable=False)
    removed_at = models.DateTimeField(null=True, editable=False)

    objects = _NotRemovedManager()
    everything = ProjectQuerySet.as_manager()

    class Meta(TenantModel.Meta):
        base_manager_name = "everything"
        constraints = [
            *TenantModel.Meta.constraints,
            models.UniqueConstraint(
                fields=["organisation", "slug"],
                name="accounts_project_slug",
                violation_error_message="Another project has this address.",
            ),
            models.CheckConstraint(
                condition=models.Q(slug__regex=r"^[a-z0-9][a-z0-9-]{0,62}$"),
                name="accounts_project_slug_form",
            ),
        ]
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name

    def newest_version(self) -> "ConfigurationVersion | None":
        """The configuration that new work is done under; None while nothing is published."""
        return self.versions.order_by("-number").first()


class ConfigurationVersion(TenantModel):
    """A published configuration: the YAML as it was written, and what it means. Never changed."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="versions", db_index=False)
    number = models.PositiveIntegerField()
    source = models.TextField()
    configuration: "models.JSONField[Any]" = models.JSONField()
    note = models.CharField(max_length=200, blank=True)
    published_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    published_at = models.DateTimeField(default=timezone.now)

    class Meta(TenantModel.Meta):
        constraints = [
            TenantPolicy(name="%(app_label)s_%(class)s_tenant", append_only=True),
            models.UniqueConstraint(fields=["organisation", "id"], name="accounts_configurationversion_org_id"),
            SameOrganisation(name="accounts_configurationversion_project", field="project"),
            models.UniqueConstraint(
                fields=["organisation", "project", "number"], name="accounts_configurationversion_number"
            ),
            models.CheckConstraint(condition=models.Q(number__gte=1), name="accounts_configurationversion_from_one"),
        ]
        ordering = ["-number"]

    def __str__(self) -> str:
        return f"version {self.number}"


def _where(membership: ActiveMembership, *rights: Right) -> models.Q:
    within_limit = models.Q() if membership.limited_to is None else models.Q(pk__in=membership.limited_to)
    if membership.everywhere.intersection(rights):
        # Not an empty Q, which would vanish where it is joined by OR.
        return within_limit & ~models.Q(pk__in=[])
    by_project = {project: bool(own.intersection(rights)) for project, own in membership.rights_by_project.items()}
    granted = models.Q(pk__in=[project for project, has in by_project.items() if has])
    if membership.where_open.intersection(rights):
        granted |= models.Q(open_to_annotators=True) & ~models.Q(pk__in=list(by_project))
    return within_limit & granted


def in_projects_with(
    rows: "models.QuerySet[AnyRow]", membership: ActiveMembership, right: Right, field: str = "project"
) -> "models.QuerySet[AnyRow]":
    """Those of the rows that are of a project in which the membership carries the right."""
    if right in membership.everywhere and membership.limited_to is None:
        return rows
    return rows.filter(**{f"{field}__in": Project.objects.with_right(membership, right)})


def visible_project(membership: ActiveMembership, slug: str) -> Project:
    """The project of an address, without its draft, if the member may see it. Raises Http404 for one that is not there
    and for one that `visible_to` leaves out alike. It is looked up once a request.
    """
    project: Project | None = membership.projects.get(slug) or _fetched_project(membership, slug)
    if project is None:
        raise Http404("There is no such project that you may see.")
    membership.projects[slug] = project
    return project


def _fetched_project(membership: ActiveMembership, slug: str) -> Project | None:
    if not membership.may(Right.CONFIGURE_PROJECTS):
        project = _published_project.first(slug)
        return project if project is not None and membership.sees(project) else None
    project = _project.first(slug)
    if project is None or membership.may_in(Right.CONFIGURE_PROJECTS, project):
        return project
    return project if membership.sees(project) and project.versions.exists() else None


@prepared
def _project(slug: str) -> "models.QuerySet[Project]":
    return Project.objects.filter(slug=slug).defer("draft")


@prepared
def _published_project(slug: str) -> "models.QuerySet[Project]":
    published = models.Exists(ConfigurationVersion.objects.filter(project=models.OuterRef("pk")))
    return Project.objects.filter(published, slug=slug).defer("draft")
