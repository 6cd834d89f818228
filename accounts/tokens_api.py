"""The API of API tokens: made, listed, ended."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated
from uuid import UUID

from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from django.urls import path
from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.actions.tokens import make_token, revoke_token
from accounts.api.bodies import Body, InvalidRequest, read
from accounts.api.pages import cursor_page
from accounts.api.parameters import CURSOR
from accounts.api.views import ApiView
from accounts.models import ApiToken, Membership, Project
from accounts.models.tokens import Pace
from potato.api.people import Token, Tokens
from tenancy.roles import Right, TokenScope


class NewToken(Body):
    """A token that acts as a member or a service account of the organisation."""

    name: Annotated[str, Field(min_length=1, max_length=100)]
    """What it is for."""
    acts_as: str
    """The annotator name of an active member."""
    scopes: Annotated[list[Annotated[TokenScope, Field(strict=False)]], Field(min_length=1)]
    projects: Annotated[list[str], Field(min_length=1)] | None = None
    """Slugs; it sees nothing else then."""
    expires_at: Annotated[datetime, Field(strict=False)] | None = None
    """With its zone, as in 2027-01-31T00:00:00Z; null for a token that does not expire."""
    pace: Annotated[Pace, Field(strict=False)] = Pace.NORMAL


class TokensView(ApiView):
    right = Right.MANAGE_TOKENS
    answers_secret = True

    @extend_schema(parameters=[CURSOR], responses=Tokens)
    def get(self, request: Request) -> Response:
        """The organisation's tokens, the oldest first, those that have ended among them."""
        following, previous, rows = cursor_page(_rows(), request)
        return Response(Tokens(next=following, previous=previous, results=_shown(rows)))

    @extend_schema(request=NewToken, responses={201: Token})
    def post(self, request: Request) -> Response:
        """Make a token. Its text is in this answer alone. A token makes none with a scope that it has not itself."""
        body = read(NewToken, request)
        if body.expires_at is not None and body.expires_at.tzinfo is None:
            raise InvalidRequest.at("expires_at", "expires_at has no zone. Write it as 2027-01-31T00:00:00Z.")
        member = Membership.objects.filter(annotator_name=body.acts_as).first()
        if member is None:
            raise InvalidRequest.at("acts_as", f"Nobody in this organisation is called {body.acts_as!r}.", "unknown")
        try:
            token, text = make_token(
                membership=member,
                name=body.name.strip(),
                by_owner=self.membership.may(Right.MANAGE_OWNERS),
                projects=None if body.projects is None else _projects(body.projects),
                scopes=body.scopes,
                expires_at=body.expires_at,
                pace=body.pace,
                by_token=self.membership.token,
            )
        except ValidationError as refused:
            raise InvalidRequest.from_model(refused) from None
        (shown,) = _shown([_rows().get(pk=token.pk)], text=str(text))
        return Response(shown, status=201, headers={"Location": self.location("api-token", token.pk)})


class TokenView(ApiView):
    right = Right.MANAGE_TOKENS

    @extend_schema(responses=Token)
    def get(self, request: Request, token_id: UUID) -> Response:
        """One token."""
        return Response(_shown([get_object_or_404(_rows(), pk=token_id)])[0])

    @extend_schema(responses={204: None})
    def delete(self, request: Request, token_id: UUID) -> Response:
        """Revoke it, at once and for good. Revoking twice is revoking once."""
        revoke_token(token=get_object_or_404(ApiToken, pk=token_id))
        return Response(status=204)


def _rows() -> "QuerySet[ApiToken]":
    return ApiToken.objects.select_related("membership", "created_by").prefetch_related("projects__project")


def _projects(slugs: list[str]) -> list[Project]:
    rows = {row.slug: row for row in Project.objects.filter(slug__in=slugs).defer("draft")}
    if unknown := [(at, slug) for at, slug in enumerate(slugs) if slug not in rows]:
        raise InvalidRequest(
            [(["projects", at], "unknown", f"There is no project {slug!r} that you may see.") for at, slug in unknown]
        )
    return list(rows.values())


def _shown(rows: Sequence[ApiToken], text: str | None = None) -> list[Token]:
    # Asked of these alone: beside the rows it would be worked out for all tokens of the organisation.
    active = set(ApiToken.objects.active().filter(pk__in=[row.pk for row in rows]).values_list("pk", flat=True))
    return [_token(row, row.pk in active, text) for row in rows]


def _token(row: ApiToken, is_active: bool, text: str | None) -> Token:
    return Token(
        id=row.pk,
        name=row.name,
        acts_as=row.membership.annotator_name,
        scopes=[TokenScope(scope) for scope in row.scopes],
        projects=[place.project.slug for place in row.projects.all()] if row.is_limited else None,
        pace=Pace(row.pace),
        is_active=is_active,
        made_by=str(row.created_by),
        made_at=row.created_at,
        expires_at=row.expires_at,
        last_used_at=row.last_used_at,
        revoked_at=row.revoked_at,
        text=text,
    )


urlpatterns = [
    path("tokens/", TokensView.as_view(), name="api-tokens"),
    path("tokens/<uuid:token_id>/", TokenView.as_view(), name="api-token"),
]
