"""What a value of the API's description may be, in words."""

import json
from dataclasses import dataclass
from typing import Any

_FORMATS = {"uuid": "id", "date-time": "time", "date": "date", "uri": "address", "binary": "bytes"}
_TYPES = {"string": "text", "integer": "whole number", "number": "number", "boolean": "true or false", "null": "null"}


@dataclass(frozen=True)
class Kind:
    """Some words, or the name of a model."""

    words: str
    is_model: bool = False


def kinds_of(schema: dict[str, Any]) -> list[Kind]:
    """The words one after another, as in "list of", a model, "or", "null". Empty where nothing is said."""
    told: list[Kind] = []
    for choice in dict.fromkeys(_choices(schema)):
        told += [Kind("or"), *choice] if told else list(choice)
    return told


def _choices(schema: dict[str, Any]) -> list[tuple[Kind, ...]]:
    if "$ref" in schema:
        return [(Kind(schema["$ref"].rpartition("/")[2], is_model=True),)]
    for joined in ("anyOf", "oneOf", "allOf"):
        if joined in schema:
            return [choice for one in schema[joined] for choice in _choices(one)]
    if "const" in schema:
        return [(Kind(json.dumps(schema["const"])),)]
    kind = schema.get("type")
    if isinstance(kind, list):
        return [choice for one in kind for choice in _choices({**schema, "type": one})]
    if kind == "array":
        return [(Kind("list of"), *(kinds_of(schema.get("items", {})) or [Kind("anything")]))]
    if kind == "object":
        inner = schema.get("additionalProperties")
        inside = kinds_of(inner) if isinstance(inner, dict) else []
        return [(Kind("object of"), *inside) if inside else (Kind("object"),)]
    if kind is None:
        return []
    words = _TYPES[kind]
    return [(Kind(_FORMATS.get(schema.get("format", ""), words) if kind == "string" else words),)]
