"""The API's description as a page of the site, and as the file that it is made from. Loads nothing from elsewhere."""

import json
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from typing import Any

import yaml
from django.http import FileResponse, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils.safestring import SafeString
from django.views.decorators.http import require_safe

from potato_site.api_kinds import Kind, kinds_of
from potato_site.api_schema import PLACE
from tenancy.middleware import OrganisationRequest
from tenancy.permissions import requires
from tenancy.roles import Right

_METHODS = ("get", "post", "put", "patch", "delete")
_BOUNDS = {
    "minimum": "At least {}.",
    "maximum": "At most {}.",
    "minLength": "At least {} characters.",
    "maxLength": "At most {} characters.",
    "minItems": "At least {} entries.",
    "maxItems": "At most {} entries.",
}


@dataclass(frozen=True)
class ShownParameter:
    """A parameter, or a key of a model. `kinds` is what it may be, as words and names of models."""

    name: str
    place: str
    kinds: "list[Kind]"
    about: str


@dataclass(frozen=True)
class ShownAnswer:
    """`kinds` is empty where nothing comes with the status."""

    status: str
    kinds: "list[Kind]"


@dataclass(frozen=True)
class ShownModel:
    """What bodies and answers are made of."""

    name: str
    about: str
    keys: list[ShownParameter]


@dataclass(frozen=True)
class ShownExample:
    """`sent` is empty for a request without a body, `got` for an answer without one."""

    title: str
    sent: str
    status: str
    got: str


@dataclass(frozen=True)
class ShownOperation:
    method: str
    path: str
    about: str
    parameters: list[ShownParameter]
    body: "list[Kind]"
    keys: list[ShownParameter]
    answers: list[ShownAnswer]
    examples: list[ShownExample]

    @property
    def anchor(self) -> str:
        return f"{self.method}{self.path}".lower().strip("/").translate(str.maketrans("/", "-", "{}"))


@requires(Right.SEE_ORGANISATION)
@require_safe
def reference(request: OrganisationRequest) -> HttpResponse:
    """Every route with what it asks for, what it answers, and examples of both."""
    address = request.build_absolute_uri("/api/v1")
    return render(request, "api/reference.html", {"described": _described(), "address": address})


@requires(Right.SEE_ORGANISATION)
@require_safe
def description(request: OrganisationRequest) -> FileResponse:
    """The description for machines: OpenAPI 3.1 as YAML."""
    return FileResponse(PLACE.open("rb"), as_attachment=True, content_type="application/yaml")


@cache
def _described() -> SafeString:
    """The same for everybody: no part of it depends on who reads."""
    groups, models = _shown()
    return render_to_string("api/described.html", {"groups": groups, "models": models})


def _shown() -> tuple[list[tuple[str, list[ShownOperation]]], list[ShownModel]]:
    """The operations by the first part of their addresses, and the models that they name. The file is that of the
    routes, as a test holds."""
    schema = yaml.load(PLACE.read_bytes(), Loader=yaml.CSafeLoader)
    shown = [
        (operation["tags"][0], _operation(method, path, operation, schema))
        for path, operations in schema["paths"].items()
        for method, operation in operations.items()
        if method in _METHODS
    ]
    shown.sort(key=lambda pair: pair[0])
    groups = [(tag, [one for _, one in group]) for tag, group in groupby(shown, key=lambda pair: pair[0])]
    models = [
        ShownModel(name, " ".join(model.get("description", "").split()), _keys(model))
        for name, model in sorted(schema["components"]["schemas"].items())
    ]
    return groups, models


def _operation(method: str, path: str, operation: dict[str, Any], schema: dict[str, Any]) -> ShownOperation:
    body = operation.get("requestBody", {}).get("content", {})
    first: dict[str, Any] = next((kind.get("schema", {}) for kind in body.values()), {})
    return ShownOperation(
        method=method.upper(),
        path=path,
        about=" ".join(operation.get("description", "").split()),
        parameters=[
            ShownParameter(one["name"], one["in"], kinds_of(one["schema"]), _about(one["schema"], one))
            for one in operation.get("parameters", ())
        ],
        body=kinds_of(first) if "$ref" in first else [],
        keys=_keys(_resolved(first, schema)),
        answers=[
            ShownAnswer(status, next((_answered(*kind) for kind in answer.get("content", {}).items()), []))
            for status, answer in operation["responses"].items()
            if status != "default"
        ],
        examples=list(_examples(body, operation["responses"])),
    )


def _answered(media_type: str, kind: dict[str, Any]) -> "list[Kind]":
    return kinds_of(kind.get("schema", {})) if media_type == "application/json" else [Kind(media_type)]


def _keys(model: dict[str, Any]) -> list[ShownParameter]:
    needed = set(model.get("required", ()))
    return [
        ShownParameter(name, "needed" if name in needed else "optional", kinds_of(key), _about(key, key))
        for name, key in model.get("properties", {}).items()
    ]


def _resolved(value: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    if "$ref" not in value:
        return value
    found: dict[str, Any] = schema["components"]["schemas"][value["$ref"].rpartition("/")[2]]
    return found


def _about(kind: dict[str, Any], described: dict[str, Any]) -> str:
    """What it is for, which values there are, and what is left out when it is not sent."""
    values = kind.get("enum") or kind.get("items", {}).get("enum")
    told = [" ".join(described.get("description", "").split())]
    told += [f"One of {', '.join(map(str, values))}."] if values else []
    told += [words.format(kind[key]) for key, words in _BOUNDS.items() if key in kind]
    default = kind.get("default")
    told += [f"Without it {json.dumps(default)}."] if default not in (None, "", [], {}) else []
    return " ".join(part for part in told if part)


def _examples(body: dict[str, Any], responses: dict[str, Any]) -> "list[ShownExample]":
    sent = {name: one["value"] for kind in body.values() for name, one in kind.get("examples", {}).items()}
    return [
        ShownExample(one["summary"], _text(sent[name]) if name in sent else "", status, _text(one["value"]))
        for status, answer in responses.items()
        for kind in answer.get("content", {}).values()
        for name, one in kind.get("examples", {}).items()
    ]


def _text(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)
