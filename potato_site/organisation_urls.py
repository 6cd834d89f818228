"""Routes behind /o/<organisation>/; the organisation itself stands in the script prefix."""

from django.urls import include, path

from accounts import views as accounts_views
from potato_site.admin_site import site

handler400 = "potato_site.views.bad_request"
handler403 = "potato_site.views.permission_denied"
handler404 = "potato_site.views.not_found"
handler500 = "potato_site.views.server_error"

urlpatterns = [
    path("", accounts_views.organisation, name="organisation"),
    path("p/<slug:project>/traces/", include("traces.urls")),
    path("p/<slug:project>/", include("assignments.urls")),
    path("api/v1/", include("assignments.api.urls")),
    path("admin/", site.urls),
]
