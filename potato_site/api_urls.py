"""All routes below api/v1/, in both places: under an organisation for sessions, at the root for tokens."""

from assignments.api import urls as annotating
from assignments.scheme_pages import api_routes
from exports import api as exporting

urlpatterns = [*annotating.urlpatterns, *exporting.urlpatterns, *api_routes()]
