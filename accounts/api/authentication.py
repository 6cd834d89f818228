"""Who calls the API: at /o/<organisation>/api/ the person of the session. Refuses a session everywhere else."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from rest_framework.authentication import BaseAuthentication, CSRFCheck
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request

from accounts.models import User


def is_for_sessions(request: HttpRequest) -> bool:
    """Whether the address names the organisation; else the token does."""
    return getattr(request, "organisation_slug", None) is not None


class SessionAuthentication(BaseAuthentication):
    """The signed-in member of the address's organisation, with a CSRF token on everything that changes something."""

    def authenticate(self, request: Request) -> tuple[User, None] | None:
        given = request._request
        user = given.user
        if not is_for_sessions(given) or not isinstance(user, User):
            return None
        if not hasattr(given, "membership"):
            raise Http404
        _demand_csrf_token(given)
        return user, None

    def authenticate_header(self, request: Request) -> str:
        return "Cookie"


def _demand_csrf_token(request: HttpRequest) -> None:
    check = CSRFCheck(_nothing)
    check.process_request(request)
    if check.process_view(request, _nothing, (), {}):
        raise PermissionDenied(
            "The X-CSRFToken header is missing or old. Load the page again and repeat this.", code="csrf_failed"
        )


def _nothing(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
    return HttpResponse()
