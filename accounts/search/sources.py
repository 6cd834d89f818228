"""Searching projects and people."""

from functools import reduce
from operator import and_
from uuid import UUID

from django.db.models import Q
from django.http import HttpRequest

from accounts.models import Membership, Project, ProjectMember
from accounts.search.registry import Hit, Hits, SearchText, address
from tenancy.actor import ActiveMembership
from tenancy.permissions import allowed
from tenancy.roles import Right, Role


def every_word(text: SearchText, *fields: str) -> Q:
    """Of rows that have each word in one of these fields, in capitals or small."""
    each = [Q(*((f"{field}__icontains", word) for field in fields), _connector=Q.OR) for word in text.words]
    return reduce(and_, each, Q())


def projects_with(request: HttpRequest, right: Right) -> dict[UUID, Project]:
    """By their ids those that exist for the reader and in which they have the right. One query a request."""
    membership: ActiveMembership = request.membership  # type: ignore[attr-defined]
    return {one.pk: one for one in _existing(request) if membership.may_in(right, one)}


def _existing(request: HttpRequest) -> list[Project]:
    known: list[Project] | None = getattr(request, "searched_projects", None)
    if known is None:
        membership: ActiveMembership = request.membership  # type: ignore[attr-defined]
        known = list(Project.objects.visible_to(membership).defer("draft").order_by("name"))
        request.searched_projects = known  # type: ignore[attr-defined]
    return known


def find_projects(request: HttpRequest, text: SearchText, most: int) -> Hits:
    """Those that exist for the reader, archived ones last."""
    if text.is_narrowed:
        return Hits([])
    fitting = [one for one in _existing(request) if text.fits(one.name, one.slug)]
    projects = sorted(fitting, key=lambda one: one.archived_at is not None)
    return Hits([_project(request, project) for project in projects[:most]], len(projects) <= most)


def _project(request: HttpRequest, project: Project) -> Hit:
    if allowed(request, Right.SEE_ANNOTATIONS, project):
        url = address(request, "project", project=project.slug)
    else:
        url = f"{address(request, 'organisation')}#project-{project.slug}"
    about = "project, archived" if project.archived_at else "project"
    return Hit(project.name, about, url, "history" if project.archived_at else "layout-dashboard")


def find_people(request: HttpRequest, text: SearchText, most: int) -> Hits:
    """Everybody of the organisation for those who manage its people; else the people of the projects whose annotations
    the reader may see, by their annotator names alone."""
    if text.is_narrowed:
        return Hits([])
    membership: ActiveMembership = request.membership  # type: ignore[attr-defined]
    if membership.wields(Right.MANAGE_PEOPLE):
        return _members(request, text, most)
    return _people_of_projects(request, text, most)


def _members(request: HttpRequest, text: SearchText, most: int) -> Hits:
    rows = Membership.objects.select_related("user")
    rows = rows.filter(every_word(text, "annotator_name", "user__name", "user__email"))
    people = list(rows.order_by("-is_active", "annotator_name")[: most + 1])
    return Hits([_member(request, row) for row in people[:most]], len(people) <= most)


def _member(request: HttpRequest, row: Membership) -> Hit:
    name = row.user.name
    title = f"{name} ({row.annotator_name})" if name and name != row.annotator_name else row.annotator_name
    about = row.get_role_display() if row.is_active else f"{row.get_role_display()}, switched off"
    icon = "bot" if row.role == Role.SERVICE else "user"
    return Hit(title, about, address(request, "member", name=row.annotator_name), icon)


def _people_of_projects(request: HttpRequest, text: SearchText, most: int) -> Hits:
    membership: ActiveMembership = request.membership  # type: ignore[attr-defined]
    seen = Project.objects.visible_to(membership).with_right(membership, Right.SEE_ANNOTATIONS)
    rows = (
        ProjectMember.objects.filter(project__in=seen)
        .filter(every_word(text, "membership__annotator_name"))
        .select_related("membership", "project")
        .defer("project__draft")
    )
    places = list(rows.order_by("left_at", "membership__annotator_name", "project__name")[: most + 1])
    return Hits([_place(request, row) for row in places[:most]], len(places) <= most)


def _place(request: HttpRequest, row: ProjectMember) -> Hit:
    name = row.membership.annotator_name
    role = row.get_role_display().lower()
    about = f"was {role} of {row.project.name}" if row.left_at else f"{role} of {row.project.name}"
    return Hit(name, about, address(request, "person", project=row.project.slug, name=name), "user")
