"""Routes behind /o/<organisation>/; the organisation itself stands in the script prefix."""

from django.urls import include, path

from assignments.reading import views as reading
from assignments.scheme_pages import project_routes
from assignments.views import annotations, home
from dashboard import feedback_views
from potato_site import api_pages
from potato_site.admin_site import site

handler400 = "potato_site.views.bad_request"
handler403 = "potato_site.views.permission_denied"
handler404 = "potato_site.views.not_found"
handler500 = "potato_site.views.server_error"

urlpatterns = [
    path("", home.home, name="organisation"),
    # Django tries them one after another: what annotators ask for all day comes first.
    path("api/v1/", include("potato_site.api_urls")),
    path("p/<slug:project>/", include("assignments.urls")),
    path("annotations/", annotations.my_annotations, name="my-annotations"),
    path("annotations/feedback/", feedback_views.my_feedback, name="my-feedback"),
    path("annotations/<uuid:submission_id>/", reading.annotation_by_id, name="annotation"),
    path("annotations/<uuid:submission_id>/record.json", reading.annotation_record, name="annotation-record"),
    path("p/<slug:project>/people/", include("accounts.project_urls")),
    path("p/<slug:project>/", include("dashboard.urls")),
    path("p/<slug:project>/", include(list(project_routes()))),
    path("projects/", include("project_setup.organisation_urls")),
    path("p/<slug:project>/set-up/", include("project_setup.urls")),
    path("p/<slug:project>/agreement/", include("agreement.urls")),
    path("p/<slug:project>/", include("adjudication.urls")),
    path("p/<slug:project>/", include("gold.urls")),
    path("p/<slug:project>/exports/", include("exports.project_urls")),
    path("p/<slug:project>/traces/", include("traces.urls")),
    path("api-reference/", api_pages.reference, name="api-reference"),
    path("api-reference/openapi.yaml", api_pages.description, name="api-description"),
    path("audit/", include("accounts.trail.urls")),
    path("jobs/", include("accounts.jobs_page.urls")),
    path("search/", include("accounts.search.urls")),
    path("people/", include("accounts.organisation_urls")),
    path("exports/", include("exports.urls")),
    path("webhooks/", include("webhooks.urls")),
    path("", include("leaving.organisation_urls")),
    path("admin/", site.urls),
]
