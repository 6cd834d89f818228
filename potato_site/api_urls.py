"""All routes below api/v1/, in both places: under an organisation for sessions, at the root for tokens."""

from accounts import invitations_api, people_api, sessions_api, tokens_api, whoami_api
from accounts.jobs_page import api as jobs_api
from accounts.search import api as search_api
from accounts.trail import api as trail_api
from adjudication import api as adjudication_api
from agreement import api as agreement_api
from assignments.api import urls as annotating
from assignments.scheme_pages import api_routes
from dashboard import api as dashboard_api
from dashboard import feedback_api
from dashboard import people_api as project_people_api
from exports import api as exporting
from gold import api as gold_api
from leaving import api as leaving_api
from project_setup import api as project_setup_api
from project_setup import configuration_api
from webhooks import api as webhooks_api

urlpatterns = [
    # Django tries them one after another: what annotators ask for all day comes first.
    *annotating.urlpatterns,
    *whoami_api.urlpatterns,
    *people_api.urlpatterns,
    *tokens_api.urlpatterns,
    *agreement_api.urlpatterns,
    *adjudication_api.urlpatterns,
    *dashboard_api.urlpatterns,
    *feedback_api.urlpatterns,
    *project_people_api.urlpatterns,
    *invitations_api.urlpatterns,
    *sessions_api.urlpatterns,
    *search_api.urlpatterns,
    *jobs_api.urlpatterns,
    *trail_api.urlpatterns,
    *project_setup_api.urlpatterns,
    *configuration_api.urlpatterns,
    *leaving_api.urlpatterns,
    *gold_api.urlpatterns,
    *exporting.urlpatterns,
    *webhooks_api.urlpatterns,
    *api_routes(),
]
