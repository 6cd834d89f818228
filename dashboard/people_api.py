"""The API of a project's people: who works on it and how, put on and taken off."""

from typing import Literal

from django.urls import path
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.actions.members import put_on_project, take_off_project
from accounts.api.bodies import Body, read
from accounts.api.views import ApiView
from accounts.models import Membership, ProjectMember
from accounts.models.projects import visible_project
from assignments.actions.leaving import release_held
from dashboard.people import Person, people_of_project
from potato.api.people import ProjectPeople, ProjectPerson, ProjectRoleOfPerson, Released
from tenancy import audit
from tenancy.roles import ProjectRole, Right


class ProjectRoleBody(Body):
    """`may_export` is of viewers; managers always may."""

    role: Literal["manager", "annotator", "viewer", "adjudicator"]
    may_export: bool = False


class ProjectPeopleView(ApiView):
    right = Right.SEE_ANNOTATIONS

    @extend_schema(responses=ProjectPeople)
    def get(self, request: Request, project: str) -> Response:
        """Who works on the project, and how."""
        everybody = people_of_project(visible_project(self.membership, project))
        people, left = ([_shown(one) for one in rows] for rows in (everybody.present, everybody.left))
        return Response(ProjectPeople(people=people, left=left))


class PersonView(ApiView):
    right = Right.MANAGE_MEMBERS

    def member(self) -> Membership:
        """The member of the organisation that the address names."""
        rows = Membership.objects.active().select_related("user")
        row: Membership | None = rows.filter(annotator_name=self.kwargs["name"]).first()
        if row is None:
            raise NotFound("Nobody in this organisation has the annotator name.", code="unknown_person")
        return row


class ProjectPersonView(PersonView):
    @extend_schema(request=ProjectRoleBody, responses=ProjectRoleOfPerson)
    def put(self, request: Request, project: str, name: str) -> Response:
        """Put a member of the organisation on the project, or change their role there. Tasks that the new role may not
        hold go back to the queue."""
        body = read(ProjectRoleBody, request)
        row = put_on_project(
            project=self.project(), membership=self.member(), role=ProjectRole(body.role), may_export=body.may_export
        )
        return Response(ProjectRoleOfPerson(name=name, role=ProjectRole(row.role), may_export=row.may_export))

    @extend_schema(responses=Released)
    def delete(self, request: Request, project: str, name: str) -> Response:
        """Take the person off the project. What they hold goes back at once; annotations stay, and count. 409 for whom
        a role in the organisation brings into every project."""
        return Response(Released(released=take_off_project(project=self.project(), membership=self.member())))


class GiveBackView(PersonView):
    @extend_schema(request=None, responses=Released)
    def post(self, request: Request, project: str, name: str) -> Response:
        """Give the tasks back to the queue that the person holds in the project."""
        chosen, member = self.project(), self.member()
        released = release_held(user=member.user, project=chosen)
        if released:
            audit.record("assignments.given_back", member, project=chosen.slug, released=released)
        return Response(Released(released=released))


def _shown(one: Person) -> ProjectPerson:
    place: ProjectMember | None = one.member if one.member is not None and one.member.left_at is None else None
    median = one.work.median if one.work else None
    return ProjectPerson(
        name=one.name,
        role=one.role,
        place=ProjectRole(place.role) if place else None,
        may_export=place.may_export if place else False,
        left_at=one.member.left_at if one.member else None,
        last_seen_at=one.seen_at,
        done=one.done,
        done_this_week=one.this_week,
        held=one.held,
        median_seconds=round(median.total_seconds()) if median else None,
        elapsed_seconds=round(one.elapsed.total_seconds()) if one.elapsed else None,
        agreement=one.agreement.value if one.agreement else None,
        agreement_pairs=one.agreement.pairs if one.agreement else None,
        paused_at=one.position.paused_at if one.position else None,
        pause_reason=one.position.pause_reason if one.position else "",
        annotation_limit=one.position.annotation_limit if one.position else None,
        annotation_share=one.position.annotation_share if one.position else None,
    )


urlpatterns = [
    path("projects/<slug:project>/people/", ProjectPeopleView.as_view(), name="api-people"),
    path("projects/<slug:project>/people/<str:name>/", ProjectPersonView.as_view(), name="api-person"),
    path("projects/<slug:project>/people/<str:name>/give-back/", GiveBackView.as_view(), name="api-give-back"),
]
