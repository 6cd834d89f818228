"""Who calls: the first thing that a program asks, to learn what it may."""

from uuid import UUID

from django.urls import path
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.views import ApiView
from accounts.models import ApiToken, Project
from accounts.models.tokens import Pace
from potato.api.people import Caller, CallersOrganisation, CallersProject, CallersToken
from tenancy.actor import ActiveMembership
from tenancy.roles import Right, Role, TokenScope


class WhoamiView(ApiView):
    right = Right.SEE_ORGANISATION
    read_with = frozenset(TokenScope)

    @extend_schema(responses=Caller)
    def get(self, request: Request) -> Response:
        """Who the request acts as, in which organisation, with which rights, and what its token is for."""
        own = self.membership
        projects = Project.objects.visible_to(own).listed().defer("draft")
        return Response(
            Caller(
                name=own.annotator_name,
                role=Role(own.role),
                is_service_account=own.role == Role.SERVICE,
                organisation=CallersOrganisation(slug=own.organisation_slug, name=own.organisation_name),
                rights=[right_name(right) for right in Right if right in own.everywhere],
                projects=[_project(own, project) for project in projects.order_by("slug")],
                token=_token(own.token),
            )
        )


def right_name(right: Right) -> str:
    """As programs read it: manage_projects."""
    return right.name.lower()


def _project(own: ActiveMembership, project: Project) -> CallersProject:
    rights = [right_name(right) for right in Right if own.may_in(right, project)]
    return CallersProject(slug=project.slug, name=project.name, rights=rights)


def _token(key: UUID | None) -> CallersToken | None:
    if key is None:
        return None
    row = ApiToken.objects.get(pk=key)
    return CallersToken(
        id=row.pk,
        name=row.name,
        scopes=[TokenScope(scope) for scope in row.scopes],
        pace=Pace(row.pace),
        expires_at=row.expires_at,
        is_limited=row.is_limited,
    )


urlpatterns = [path("whoami/", WhoamiView.as_view(), name="api-whoami")]
