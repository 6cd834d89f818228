"""Pages about organisations and their projects: the person's home, and an organisation's front page."""

from dataclasses import dataclass
from datetime import datetime
from typing import cast

from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse

from accounts.models import Membership, Project, User
from tenancy.actor import acting_as
from tenancy.middleware import OrganisationRequest
from tenancy.permissions import allowed, requires, signed_in
from tenancy.roles import Right, Role
from tenancy.urls import organisation_reverse


@dataclass(frozen=True)
class OrganisationEntry:
    """An organisation on the home page of one of its members."""

    name: str
    url: str
    role: str
    annotator_name: str
    projects: int


@dataclass(frozen=True)
class ProjectEntry:
    """A project on the front page of its organisation."""

    slug: str
    name: str
    task_name: str
    version: int | None
    published_at: datetime | None
    traces_url: str | None
    configuration_url: str | None

    @property
    def state(self) -> str:
        return "Published" if self.version else "Not published"

    @property
    def tone(self) -> str:
        return "added" if self.version else "neutral"

    icon = "git-pull-request"


@signed_in
def home(request: HttpRequest) -> HttpResponse:
    """The organisations that the person belongs to, each with the number of its published projects."""
    user = cast(User, request.user)
    with acting_as(user):
        memberships = list(
            Membership.objects.filter(user=user).active().select_related("organisation").order_by("organisation__name")
        )
        published = _published_projects() if memberships else {}
    entries = [
        OrganisationEntry(
            name=membership.organisation.name,
            url=organisation_reverse(membership.organisation.slug, "organisation"),
            role=membership.get_role_display(),
            annotator_name=membership.annotator_name,
            projects=published.get(membership.organisation_id, 0),
        )
        for membership in memberships
    ]
    return render(request, "home.html", {"organisations": entries})


def _published_projects() -> dict[object, int]:
    counts = Project.objects.published().values("organisation_id").annotate(projects=Count("pk"))
    return {row["organisation_id"]: row["projects"] for row in counts.order_by()}


@requires(Right.SEE_ORGANISATION)
def organisation(request: OrganisationRequest) -> HttpResponse:
    """The organisation's projects, those that the member may see."""
    may_configure = allowed(request, Right.CONFIGURE_PROJECTS)
    may_see_traces = allowed(request, Right.SEE_TRACES)
    projects = Project.objects.visible_to(request.membership).with_newest_version()
    context = {
        "role": Role(request.membership.role).label,
        "projects": [
            ProjectEntry(
                slug=project.slug,
                name=project.name,
                task_name=project.newest_task_name or "",
                version=project.newest_number,
                published_at=project.newest_published_at,
                traces_url=reverse("traces", args=[project.slug]) if may_see_traces else None,
                configuration_url=(
                    reverse("admin:accounts_project_configuration", args=[project.pk]) if may_configure else None
                ),
            )
            for project in projects
        ],
        "add_project_url": reverse("admin:accounts_project_add") if may_configure else None,
    }
    return render(request, "organisation.html", context)
