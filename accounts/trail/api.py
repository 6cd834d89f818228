"""The API of the audit trail."""

from uuid import UUID

from django.urls import path
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.bodies import InvalidRequest
from accounts.api.parameters import one_of
from accounts.api.views import ApiView
from accounts.trail.listing import PERIODS, DecisionFilters, readable_decisions
from accounts.trail.views import plain_facts
from potato.api.audit import (
    TrailDecision,
    TrailPage,
)
from tenancy.ids import read_id
from tenancy.roles import Right, TokenScope
from tenancy.sentences import as_text, links_for

ON_A_PAGE = 100


class AuditView(ApiView):
    right = Right.MANAGE_PROJECTS
    read_with = frozenset({TokenScope.ADMIN})

    @extend_schema(
        parameters=[
            OpenApiParameter("project", str, description="The slug of a project."),
            OpenApiParameter("days", str, enum=list(PERIODS), description="How far back; without it all."),
            OpenApiParameter("target", UUID, description="The id of what was decided upon."),
            OpenApiParameter("before", UUID, description="The id of a decision: older ones alone."),
        ],
        responses=TrailPage,
    )
    def get(self, request: Request) -> Response:
        """What was decided, the newest first, in pages of 100: of the whole organisation for its admins, whose
        token needs the scope `admin` for that, else of the projects that the caller manages."""
        _demand_readable(request)
        filters = DecisionFilters.of({"days": "all", **request.query_params.dict()})
        rows = list(filters.chosen(readable_decisions(self.membership))[: ON_A_PAGE + 1])
        shown = rows[:ON_A_PAGE]
        links = links_for(request._request, shown)
        results = [TrailDecision(**plain_facts(row), sentence=as_text(row, links)) for row in shown]
        return Response(TrailPage(results=results, next=shown[-1].pk if len(rows) > ON_A_PAGE else None))


def _demand_readable(request: Request) -> None:
    """A page leaves out what nobody can be asked for; a program is told, or it would take all for what it asked."""
    for name in ("target", "before"):
        if name in request.query_params and read_id(request.query_params[name]) is None:
            raise InvalidRequest.at(name, f"{name} must be an id, as this list gave it.")
    one_of(request, "days", PERIODS)


urlpatterns = [path("audit/", AuditView.as_view(), name="api-audit")]
