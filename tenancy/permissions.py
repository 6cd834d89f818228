"""How a view says who may see it. Every route declares one of these; a system check finds the one that does not."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
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

from tenancy.actor import ActiveMembership, Scope
from tenancy.roles import Right, TokenScope, scopes_for

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


def requires(right: Right, *, to_change: Right | None = None) -> Callable[[View], View]:
    """Members with this right may see it: strangers get 404 from the middleware, other members 403. `to_change` is
    asked for instead where the method changes something.

    Where the address names a project, the right is asked in it, and who does not see the project gets 404. Elsewhere
    it is enough to have the right in one project: such a view shows what lies in those.
    """

    def decorate(view: View) -> View:
        @wraps(view)
        def checked(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            demand_at(request, to_change or right if request.method not in _SAFE else right, kwargs)
            return view(request, *args, **kwargs)

        checked.permission = right  # type: ignore[attr-defined]
        return checked  # type: ignore[return-value]

    return decorate


_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_project_lookup: list[Callable[[ActiveMembership, str], Scope]] = []


def register_project_lookup(lookup: Callable[[ActiveMembership, str], Scope]) -> None:
    """Called once at start by the app that has the projects. `lookup` raises Http404 for one that the member does not
    see."""
    _project_lookup[:] = [lookup]


def demand_at(request: HttpRequest, right: Right, named: Mapping[str, Any]) -> None:
    """Raise PermissionDenied unless the right holds in the project that an address names, or in any where it names
    none; Http404 where the member does not see the project."""
    slug = named.get("project")
    membership = getattr(request, "membership", None)
    scope = _project_lookup[0](membership, slug) if membership is not None and isinstance(slug, str) else None
    demand(request, right, scope)


class ScopeMissing(PermissionDenied):
    """The member may, and the token was not made for it."""


def demand_scope(
    membership: ActiveMembership, right: Right, *, is_change: bool, also: Collection[TokenScope] = ()
) -> None:
    """Raise ScopeMissing (403) where a token comes with none of the scopes that are enough for the right. `also` are
    more scopes that are. A session has no scopes, and needs none."""
    enough = scopes_for(right, is_change=is_change).union(also)
    if membership.scopes is not None and not membership.scopes & enough:
        named = " or ".join(sorted(enough)) or "that no token has"
        raise ScopeMissing(f"This needs a token with the scope {named}; this one has {_named(membership.scopes)}.")


def _named(scopes: Collection[TokenScope]) -> str:
    return ", ".join(sorted(scopes))


def allowed(request: HttpRequest, right: Right, project: Scope | None = None) -> bool:
    """Whether the membership that the request entered carries the right in the project; without one, in any."""
    membership: ActiveMembership | None = getattr(request, "membership", None)
    if membership is None:
        return False
    return membership.may(right) if project is None else membership.may_in(right, project)


def demand(request: HttpRequest, right: Right, project: Scope | None = None) -> None:
    """Raise PermissionDenied (403) unless the request's membership carries the right, as `allowed` says."""
    if not allowed(request, right, project):
        raise PermissionDenied(f"This needs the right to {right}.")


def declared_permission(view: Callable[..., Any]) -> str | None:
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
        if declared_permission(pattern.callback) is None
    ]
