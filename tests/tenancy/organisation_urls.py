"""An organisation's routes, and some whose views do what views should not, or do it late."""

from collections.abc import Iterator

from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, StreamingHttpResponse
from django.template import engines
from django.template.response import TemplateResponse
from django.urls import get_script_prefix, path, reverse

from accounts.models import ConfigurationVersion, Project
from potato_site import organisation_urls as site
from tenancy.actor import acting, current, on_commit
from tenancy.permissions import public, requires
from tenancy.roles import Right
from tenancy.urls import global_reverse, organisation_reverse
from tests.tenancy.test_acting import active_settings, projects

handler400, handler403, handler404, handler500 = site.handler400, site.handler403, site.handler404, site.handler500

member = requires(Right.SEE_ORGANISATION)

AFTER_COMMIT: list[list[str]] = []

LIST = "{% for project in projects %}{{ project.name }} {{ request.path }}{% endfor %}"


@member
def whoami(request: HttpRequest) -> HttpResponse:
    return JsonResponse({"settings": active_settings(), "projects": projects(), "prefix": get_script_prefix()})


@member
def store(request: HttpRequest) -> HttpResponse:
    """Store a project, then end as the query string says."""
    Project.objects.create(slug="stored", name="stored")
    ending = request.GET.get("then", "")
    if ending == "raise":
        raise ZeroDivisionError
    if ending == "missing":
        raise Http404
    if ending == "denied":
        raise PermissionDenied
    if ending == "roll-back":
        transaction.set_rollback(True)
        return HttpResponse("rolled back by the view")
    return HttpResponse(status=int(ending or 200))


@member
def lazy(request: HttpRequest) -> TemplateResponse:
    return TemplateResponse(request, engines["django"].from_string(LIST), {"projects": Project.objects.all()})


@member
def lazily_broken(request: HttpRequest) -> TemplateResponse:
    Project.objects.create(slug="stored", name="stored")

    def boom() -> str:
        raise ZeroDivisionError

    return TemplateResponse(request, engines["django"].from_string("{{ boom }}"), {"boom": boom})


@member
def point_elsewhere(request: HttpRequest) -> HttpResponse:
    """A version of a project of nobody, which the database notices at commit."""
    ConfigurationVersion.objects.create(project_id=request.GET["project"], number=1, source="", configuration={})
    return HttpResponse("all is well, says the view")


@member
def stream(request: HttpRequest) -> StreamingHttpResponse:
    actor = current()

    def parts() -> Iterator[str]:
        with acting(actor):
            yield from projects()

    return StreamingHttpResponse(parts())


@member
def forgetful_stream(request: HttpRequest) -> StreamingHttpResponse:
    def parts() -> Iterator[str]:
        yield from projects()

    return StreamingHttpResponse(parts())


@member
def after_commit(request: HttpRequest) -> HttpResponse:
    on_commit(lambda: AFTER_COMMIT.append(projects()))
    return HttpResponse("later")


@member
def links(request: HttpRequest) -> HttpResponse:
    return JsonResponse(
        {
            "own": reverse("organisation"),
            "admin": reverse("admin:jobs_job_changelist"),
            "login": global_reverse("account_login"),
            "home": global_reverse("home"),
            "other": organisation_reverse("birch", "organisation"),
        }
    )


@public
def left_open(request: HttpRequest) -> HttpResponse:
    return HttpResponse("a route of an organisation that asks nobody who they are")


urlpatterns = [
    *site.urlpatterns,
    path("whoami/", whoami),
    path("store/", store),
    path("lazy/", lazy),
    path("lazily-broken/", lazily_broken),
    path("point-elsewhere/", point_elsewhere),
    path("stream/", stream),
    path("forgetful-stream/", forgetful_stream),
    path("after-commit/", after_commit),
    path("links/", links),
    path("left-open/", left_open),
]
