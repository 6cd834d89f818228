"""What was found in traces that nobody should read, for programs; and clearing it."""

from django.urls import path
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import ParseError
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.bodies import read
from accounts.api.parameters import one_of
from accounts.api.views import ApiView
from assignments.actions.clearing_secrets import clear_secrets
from assignments.api.pages import cursor_page
from assignments.secrets_found import secrets_in, shown
from potato.api.secrets import ClearSecrets, FoundSecrets, SecretPlace, SecretsCleared, SecretsReport
from tenancy.ids import read_id
from tenancy.roles import Right
from traces.models import SecretsState, TraceSecrets

STATE = OpenApiParameter("state", str, enum=SecretsState.values, description="Those of one state alone.")
CURSOR = OpenApiParameter("cursor", str, description="The cursor in `next` or `previous` of another page.")


class SecretsView(ApiView):
    right = Right.IMPORT_TRACES

    @extend_schema(parameters=[STATE, CURSOR], responses=SecretsReport)
    def get(self, request: Request, project: str) -> Response:
        """Traces in which keys or personal data were found: which kinds, where and how many, never the secret."""
        state = one_of(request, "state", SecretsState.values)
        following, previous, page = cursor_page(secrets_in(self.project(), state), request)
        rows = shown(TraceSecrets.objects.filter(pk__in=[row.pk for row in page]).order_by("pk"))
        results = [
            FoundSecrets.model_validate(
                {name: getattr(row, name) for name in ("trace", "external_id", "state", "occurrences", "found_at")}
                | {"kinds": row.numbers, "places": [SecretPlace(**place) for place in row.raw_places]}
            )
            for row in rows
        ]
        return Response(SecretsReport(next=following, previous=previous, results=results))

    @extend_schema(request=ClearSecrets, responses=SecretsCleared)
    def post(self, request: Request, project: str) -> Response:
        """Clear traces: replace what was found in them, or keep it. Annotators are given them then."""
        chosen, body = self.project(), read(ClearSecrets, request)
        if body.all == bool(body.traces):
            raise ParseError("Name `traces`, or say `all`.", code="invalid_request")
        held = secrets_in(chosen, SecretsState.HELD).order_by("trace").values_list("trace", flat=True)
        traces = list(held) if body.all else [id for value in body.traces if (id := read_id(value))]
        cleared = clear_secrets(project=chosen, traces=traces, act=body.act)
        return Response(
            SecretsCleared(
                done=cleared.done, problems=list(cleared.problems), left=cleared.left, sentence=cleared.sentence
            )
        )


urlpatterns = [path("projects/<slug:project>/secrets/", SecretsView.as_view(), name="api-secrets")]
