"""The committed OpenAPI description is that of the routes of today."""

import re
from collections import defaultdict

import pytest
from django.apps import apps
from django.urls import path
from drf_spectacular.utils import extend_schema
from drf_spectacular.validation import validate_schema
from pydantic import BaseModel
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.views import ApiView
from potato_site import api_urls
from potato_site.api_schema import PLACE, SchemaWarningsError, api_schema, api_schema_yaml
from tenancy.permissions import routes
from tenancy.roles import Right


class UndescribedView(ApiView):
    right = Right.ANNOTATE

    def get(self, request: Request) -> Response:
        return Response({})


class DescribedView(UndescribedView):
    @extend_schema(responses=str)
    def get(self, request: Request) -> Response:
        return Response("")


def test_the_committed_description_is_that_of_today() -> None:
    assert PLACE.read_text(encoding="utf-8") == api_schema_yaml(), "Run: make api-schema"


def test_the_description_is_openapi() -> None:
    validate_schema(api_schema())


def test_every_route_is_described() -> None:
    described = {path.replace("{", "<").replace("}", ">") for path in api_schema()["paths"]}
    assert described == {"/" + re.sub(r"<\w+:", "<", path) for path, _ in routes("potato_site.api_urls")}


def test_a_view_that_says_too_little_of_itself_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    for view, is_found in ((DescribedView, False), (UndescribedView, True)):
        monkeypatch.setattr(api_urls, "urlpatterns", [path("new/", view.as_view())])
        if is_found:
            with pytest.raises(SchemaWarningsError, match="UndescribedView"):
                api_schema()
        else:
            assert list(api_schema()["paths"]) == ["/new/"]


def test_no_two_shapes_of_the_description_share_a_name() -> None:
    """Shapes are told apart by their names alone: of two the description would have one, and say nothing."""
    modules: dict[str, set[str]] = defaultdict(set)
    # What the library under the site validates is no shape of an answer, nor are those of packages that tests import.
    of_the_site = {app.name for app in apps.get_app_configs()} - {"potato"} | {"potato_site"}

    def walk(shape: type[BaseModel]) -> None:
        for child in shape.__subclasses__():
            if child.__module__.partition(".")[0] in of_the_site:
                modules[child.__name__].add(child.__module__)
            walk(child)

    described = set(api_schema()["components"]["schemas"])
    walk(BaseModel)
    assert {name: found for name, found in modules.items() if name in described and len(found) > 1} == {}
