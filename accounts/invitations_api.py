"""The API of a project's invitations: by address, and links for many."""

from datetime import timedelta
from typing import Annotated, Literal
from uuid import UUID

from django.core.exceptions import ValidationError
from django.db import transaction
from django.shortcuts import get_object_or_404
from django.urls import path
from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.actions.invitations import ProjectGrant, invite, revoke_invitation
from accounts.api.bodies import Body, read
from accounts.api.views import ApiView
from accounts.invite_views import MOST_PLACES
from accounts.inviting import Unreadable, already_in, pasted, with_names
from accounts.models import Invitation, Project
from accounts.models.projects import visible_project
from potato.api.people import ProjectInvitation, ProjectInvitations
from tenancy.roles import ProjectRole, Right, Role
from tenancy.urls import global_reverse


class InvitationBody(Body):
    """Either `addresses`, a link each, or `places`, one link for so many. Names are `beginning` with a number."""

    addresses: list[str] = []
    places: Annotated[int, Field(ge=1, le=MOST_PLACES)] | None = None
    role: Literal["manager", "annotator", "viewer", "adjudicator"] = "annotator"
    may_export: bool = False
    beginning: str = "annotator_"
    days: Annotated[int, Field(ge=1, le=30)] = 7
    batch: int | None = None
    """The number of a batch in which whoever joins is named; from the first on it is for those who are named alone."""


class InvitationsView(ApiView):
    right = Right.MANAGE_MEMBERS
    answers_secret = True
    largest_body = 256 * 1024

    @extend_schema(responses=ProjectInvitations)
    def get(self, request: Request, project: str) -> Response:
        """The invitations to the project that are neither used up nor revoked, those that expired among them."""
        chosen = self.project()
        rows = (
            Invitation.objects.open()
            .filter(projects__project=chosen)
            .prefetch_related("projects")
            .order_by("created_at")
        )
        return Response(ProjectInvitations(results=[_shown(row, project=chosen) for row in rows]))

    @extend_schema(request=InvitationBody, responses={201: ProjectInvitations})
    def post(self, request: Request, project: str) -> Response:
        """Invite people, who become members of single projects. Nothing is mailed, and the links are in this answer
        alone. 400 for an address that cannot be invited, and then nobody is."""
        chosen, body = self.project(), read(InvitationBody, request)
        if bool(body.addresses) == bool(body.places):
            raise Unreadable("Give either addresses, for a link each, or places, for one link for many.")
        role = ProjectRole(body.role)
        if body.places and role == ProjectRole.MANAGER:
            raise Unreadable("A link for many makes no managers. Invite each by address.")
        guests = already_in(chosen, pasted("\n".join(body.addresses), role))
        if wrong := [guest for guest in guests if guest.problem]:
            raise Unreadable(f"{wrong[0].text}: it {wrong[0].problem}. Leave it out.")
        wanted = [(guest.email, guest.name) for guest in with_names(guests, body.beginning)] or [("", body.beginning)]
        made = []
        # All or nobody: of a link that was made before a refusal nobody would ever read the secret.
        with transaction.atomic():
            for email, name in wanted:
                try:
                    invitation = invite(
                        email=email,
                        role=Role.MEMBER,
                        annotator_name=name,
                        by_owner=False,
                        projects=[ProjectGrant(chosen, role, body.may_export, body.batch)],
                        places=body.places or 1,
                        lasts=timedelta(days=body.days),
                    )
                except ValidationError as error:
                    whom = f"Nobody is invited: {email}, {name}. " if email else ""
                    raise Unreadable(whom + " ".join(error.messages)) from None
                made.append(invitation)
        links = [(row, request.build_absolute_uri(global_reverse("join", token=str(token)))) for row, token in made]
        return Response(
            ProjectInvitations(results=[_shown(row, link, project=chosen) for row, link in links]), status=201
        )


class InvitationView(ApiView):
    right = Right.MANAGE_MEMBERS

    @extend_schema(responses={204: None})
    def delete(self, request: Request, project: str, invitation_id: UUID) -> Response:
        """Revoke an invitation: its link works no more."""
        chosen = visible_project(self.membership, project)
        rows = Invitation.objects.open().filter(projects__project=chosen, role=Role.MEMBER)
        row = get_object_or_404(rows.exclude(projects__project__in=_not_managed(self)), pk=invitation_id)
        revoke_invitation(invitation=row, by_owner=False)
        return Response(status=204)


def _not_managed(view: ApiView) -> "list[UUID]":
    """Projects whose members the caller does not manage: an invitation that is of one of them, too, is not theirs."""
    managed = Project.objects.with_right(view.membership, Right.MANAGE_MEMBERS)
    return list(Project.objects.exclude(pk__in=managed.values("pk")).values_list("pk", flat=True))


def _shown(row: Invitation, link: str | None = None, *, project: Project) -> ProjectInvitation:
    return ProjectInvitation(
        id=row.pk,
        email=row.email,
        name=row.annotator_name,
        places=row.places,
        taken=row.taken,
        batch=next((place.batch_number for place in row.projects.all() if place.project_id == project.pk), None),
        expires_at=row.expires_at,
        link=link,
    )


urlpatterns = [
    path("projects/<slug:project>/invitations/", InvitationsView.as_view(), name="api-invitations"),
    path("projects/<slug:project>/invitations/<uuid:invitation_id>/", InvitationView.as_view(), name="api-invitation"),
]
