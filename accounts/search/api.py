"""The API of the search."""

from django.urls import path
from drf_spectacular.utils import OpenApiParameter, extend_schema
from pydantic import BaseModel
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.views import ApiView
from accounts.search.registry import SearchText, search
from tenancy.roles import Right

SHOWN = 50


class SearchHit(BaseModel):
    """`url` is the page of it on this site."""

    title: str
    about: str
    state: str
    url: str


class SearchGroup(BaseModel):
    """Hits of one kind, the best first; `is_all` is false where there are more."""

    title: str
    is_all: bool
    hits: list[SearchHit]


class SearchResults(BaseModel):
    groups: list[SearchGroup]


class SearchView(ApiView):
    right = Right.SEE_ORGANISATION

    @extend_schema(
        parameters=[OpenApiParameter("q", str, description="Words; `by:name` and `agent:model` narrow it to traces.")],
        responses=SearchResults,
    )
    def get(self, request: Request) -> Response:
        """Projects, traces, batches and people, imports and exports that have all the words in their names or ids, as
        far as the caller may see them."""
        groups = search(request._request, SearchText.read(request.query_params.get("q", "")), SHOWN)
        return Response(
            SearchResults(
                groups=[
                    SearchGroup(
                        title=group.title,
                        is_all=group.is_all,
                        hits=[
                            SearchHit(title=hit.title, about=hit.about, state=hit.badge, url=hit.url)
                            for hit in group.hits
                        ],
                    )
                    for group in groups
                ]
            )
        )


urlpatterns = [path("search/", SearchView.as_view(), name="api-search")]
