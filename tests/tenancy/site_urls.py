"""The site's routes outside organisations, and some that a test needs."""

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import path

from accounts.models import Project
from potato_site import urls as site
from tenancy.permissions import public, signed_in
from tests.tenancy.test_acting import active_settings

handler400, handler403, handler404, handler500 = site.handler400, site.handler403, site.handler404, site.handler500


@signed_in
def whoami(request: HttpRequest) -> HttpResponse:
    return JsonResponse({"settings": active_settings()})


@signed_in
def forgetful(request: HttpRequest) -> HttpResponse:
    return JsonResponse({"projects": Project.objects.count()})


@public
def anybody(request: HttpRequest) -> HttpResponse:
    return JsonResponse({"settings": active_settings()})


urlpatterns = [
    *site.urlpatterns,
    path("whoami/", whoami),
    path("forgetful/", forgetful),
    path("anybody/", anybody),
]
