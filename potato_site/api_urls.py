"""All routes below api/v1/, in both places: under an organisation for sessions, at the root for tokens."""

from assignments.api import urls as annotating
from dashboard import api as looking
from exports import api as exporting

urlpatterns = [*annotating.urlpatterns, *exporting.urlpatterns, *looking.urlpatterns]
