"""Requests of the API with the answers that they got: recorded by a test that plays them, shown in the description."""

import json
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.conf import settings

PLACE = settings.BASE_DIR / "docs" / "api-examples.json"


@dataclass(frozen=True)
class Example:
    """One request of a story, in its order. `operation` is the route as in the description, with its method; `path` and
    `body` may name values of earlier answers, as in `{token.id}` or `{traces.results.0.id}`; `sent` is such a body with
    these values. `by` is the example that made the token which asks, where it is not the owner's."""

    name: str
    title: str
    operation: str
    path: str
    body: Any
    status: int
    answer: Any
    by: str = ""
    sent: Any = None

    @property
    def method(self) -> str:
        return self.operation.partition(" ")[0].lower()

    @property
    def route(self) -> str:
        return self.operation.partition(" ")[2]


@cache
def examples() -> tuple[Example, ...]:
    return tuple(Example(**one) for one in json.loads(PLACE.read_text(encoding="utf-8")))


def with_examples(schema: dict[str, Any]) -> dict[str, Any]:
    """The description with each example at its operation. Raises KeyError for one of a route that is not there."""
    for one in examples():
        operation = schema["paths"][one.route][one.method]
        if one.body is not None:
            _add(operation["requestBody"], one.name, one.title, one.body if one.sent is None else one.sent)
        if one.answer is not None:
            responses = operation["responses"]
            _add(responses.get(str(one.status)) or responses["default"], one.name, one.title, one.answer)
    return schema


def _add(place: dict[str, Any], name: str, title: str, value: Any) -> None:
    place["content"]["application/json"].setdefault("examples", {})[name] = {"summary": title, "value": value}
