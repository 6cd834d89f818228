"""The API of the organisation's people: members and service accounts, what they are, and what ends that."""

from typing import Annotated, Literal

from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from django.urls import path
from drf_spectacular.utils import OpenApiParameter, extend_schema
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.actions.organisations import add_service_account, change_member
from accounts.api.bodies import Body, InvalidRequest, read
from accounts.api.pages import cursor_page
from accounts.api.parameters import CURSOR, one_of
from accounts.api.views import ApiView
from accounts.models import Membership
from accounts.people_views import SHOWS, chosen_members
from potato.api.people import ChangedMember, Member, Members
from tenancy.roles import Right, Role


class MemberChange(Body):
    """What is named is changed."""

    role: Literal["owner", "admin", "manager", "viewer", "annotator", "member"] | None = None
    is_active: bool | None = None
    """False ends the membership: sessions and tokens end, held tasks go back. True begins it again, without them."""
    because: Annotated[str, Field(max_length=200)] = ""
    """Of an end: the person reads it, and it stands in the audit trail."""


class NewServiceAccount(Body):
    name: Annotated[str, Field(min_length=1, max_length=64)]
    """Its annotator name."""


class _PeopleView(ApiView):
    right = Right.MANAGE_PEOPLE


class MembersView(_PeopleView):
    @extend_schema(
        parameters=[
            CURSOR,
            OpenApiParameter("show", str, enum=list(SHOWS), description="people, unless it says another."),
            OpenApiParameter("q", str, description="A part of a name or an address."),
        ],
        responses=Members,
    )
    def get(self, request: Request) -> Response:
        """Who belongs to the organisation, those that were made first before the others."""
        return Response(_page(request, one_of(request, "show", SHOWS, default="people")))


class MemberView(_PeopleView):
    def member(self) -> Membership:
        """The one that the address names, whatever became of them."""
        return get_object_or_404(Membership.objects.select_related("user"), annotator_name=self.kwargs["name"])

    @extend_schema(responses=Member)
    def get(self, request: Request, name: str) -> Response:
        """One member."""
        return Response(Member(**_facts(self.member())))

    @extend_schema(request=MemberChange, responses=ChangedMember)
    def patch(self, request: Request, name: str) -> Response:
        """Change what the member is, end the membership, or begin it again. Only owners change owners."""
        member, body = self.member(), read(MemberChange, request)
        changed = change_member(
            membership=member,
            role=Role(body.role or member.role),
            annotator_name=member.annotator_name,
            is_active=member.is_active if body.is_active is None else body.is_active,
            by_owner=self.membership.may(Right.MANAGE_OWNERS),
            because=body.because.strip(),
        )
        return Response(ChangedMember(**_facts(changed), released=changed.released))


class ServiceAccountsView(_PeopleView):
    @extend_schema(parameters=[CURSOR], responses=Members)
    def get(self, request: Request) -> Response:
        """The organisation's active service accounts."""
        return Response(_page(request, "service"))

    @extend_schema(request=NewServiceAccount, responses={201: Member})
    def post(self, request: Request) -> Response:
        """Make a member without a login, as whom API tokens act. Put it on projects, and make a token for it."""
        body = read(NewServiceAccount, request)
        try:
            made = add_service_account(name=body.name.strip())
        except ValidationError as refused:
            raise InvalidRequest.from_model(refused, whole="name") from None
        where = {"Location": self.location("api-member", made.annotator_name)}
        return Response(Member(**_facts(made)), status=201, headers=where)


def _page(request: Request, show: str) -> Members:
    rows: QuerySet[Membership] = chosen_members(show, request.query_params.get("q", "").strip()[:100])
    following, previous, page = cursor_page(rows, request)
    return Members(next=following, previous=previous, results=[Member(**_facts(row)) for row in page])


def _facts(row: Membership) -> dict[str, object]:
    return {
        "name": row.annotator_name,
        "person": row.user.name,
        "email": row.user.email,
        "role": Role(row.role),
        "is_active": row.is_active,
        "member_since": row.created_at,
        "ended_at": row.ended_at,
        "ended_by": row.ended_by,
        "ended_because": row.ended_because,
    }


urlpatterns = [
    path("people/", MembersView.as_view(), name="api-members"),
    path("people/<str:name>/", MemberView.as_view(), name="api-member"),
    path("service-accounts/", ServiceAccountsView.as_view(), name="api-service-accounts"),
]
