"""The icons that a configuration may use: those of Lucide by their names, its former names included.

`lucide_shapes.txt` holds what is inside each SVG file of the npm package `lucide-static` 1.62.0 (ISC, see
static/icons/LICENSE-lucide.txt), a shape a line: its names, a tab, the elements of a 24 by 24 box.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Annotated

from pydantic import AfterValidator, WithJsonSchema
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import PydanticCustomError
from typing_extensions import TypeAliasType

from potato.wording import did_you_mean, quoted


@cache
def icon_shapes() -> Mapping[str, str]:
    """The SVG elements of every icon by its name, sorted."""
    lines = files(__package__).joinpath("lucide_shapes.txt").read_text(encoding="ascii").splitlines()
    shapes = (line.split("\t") for line in lines)
    return dict(sorted((name, shape) for names, shape in shapes for name in names.split()))


@cache
def icon_names() -> tuple[str, ...]:
    """Every name, sorted."""
    return tuple(icon_shapes())


def _known_icon(name: str) -> str:
    if name in icon_shapes():
        return name
    hint = did_you_mean(name, icon_names()) or " All names are at https://lucide.dev/icons."
    raise PydanticCustomError(
        "unknown_icon",
        "{name} is not the name of a Lucide icon.{hint}",
        {"name": quoted(name), "hint": hint},
    )


def _icon_schema() -> JsonSchemaValue:
    return {
        "type": "string",
        "enum": list(icon_names()),
        "x-expected": "the name of a Lucide icon",
    }


# A named type, so that the JSON Schema holds the long list of names once.
Icon = TypeAliasType("Icon", Annotated[str, AfterValidator(_known_icon), WithJsonSchema(_icon_schema())])
