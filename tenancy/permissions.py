"""How a view says who may see it. Every route declares one of these; a system check finds the one that does not."""

from collections.abc import Callable, Iterator, Sequence
from functools import wraps
from typing import Any, TypeVar

from django.apps import AppConfig
from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.core.checks import CheckMessage, Error, Tags, register
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import URLPattern, URLResolver, get_resolver

from tenancy.roles import Right, role_has

View = TypeVar("View", bound=Callable[..., HttpResponseBase])

PUBLIC = "public"
SIGNED_IN = "signed in"


def public(view: View) -> View:
    """Anybody may see it, also without an account."""
    marked = login_not_required(view)
    marked.permission = PUBLIC  # type: ignore[attr-defined]
    return marked


def signed_in(view: View) -> View:
    """Everybody with an account may see it. For pages outside every organisation."""
    view.permission = SIGNED_IN  # type: ignore[attr-defined]
    return view


def requires(right: Right) -> Callable[[View], View]:
    """Members with this right may see it: strangers get 404 from the middleware, other members 403."""

    def decorate(view: View) -> View:
        @wraps(view)
        def checked(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            demand(request, right)
            return view(request, *args, **kwargs)

        checked.permission = right  # type: ignore[attr-defined]
        return checked  # type: ignore[return-value]

    return decorate


def allowed(request: HttpRequest, right: Right) -> bool:
    """Whether the membership that the request entered carries the right."""
    membership = getattr(request, "membership", None)
    return membership is not None and role_has(membership.role, right)


def demand(request: HttpRequest, right: Right) -> None:
    """Raise PermissionDenied (403) unless the request's membership carries the right."""
    if not allowed(request, right):
        raise PermissionDenied(f"This needs the right to {right}.")


def permission_of(view: Callable[..., Any]) -> str | None:
    """What the view declares; Django's own admin views are wrapped by our AdminSite, which demands the right."""
    if hasattr(view, "admin_site") or hasattr(view, "model_admin"):
        return Right.USE_ADMIN
    return getattr(view, "permission", None)


def routes(urlconf: str) -> Iterator[tuple[str, URLPattern]]:
    """Every route of a URL configuration with its whole pattern, as in `admin/jobs/job/<path:object_id>/`."""

    def walk(prefix: str, patterns: Sequence[URLPattern | URLResolver]) -> Iterator[tuple[str, URLPattern]]:
        for pattern in patterns:
            path = prefix + str(pattern.pattern)
            if isinstance(pattern, URLResolver):
                yield from walk(path, pattern.url_patterns)
            else:
                yield path, pattern

    return walk("", get_resolver(urlconf).url_patterns)


@register(Tags.urls)
def every_route_declares_a_permission(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    return [
        Error(
            f"The route {path!r} of {urlconf} declares no permission.",
            hint="Decorate its view with @requires(Right.…), @signed_in or @public of tenancy.permissions.",
            id="tenancy.E005",
        )
        for urlconf in (settings.ROOT_URLCONF, settings.ORGANISATION_URLCONF)
        for path, pattern in routes(urlconf)
        if permission_of(pattern.callback) is None
    ]
