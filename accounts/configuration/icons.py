"""The names of icons that a configuration may use: those of Lucide, its former names included.

`lucide_names.txt` lists the SVG files of the npm package `lucide-static` 1.62.0 (ISC), which holds a file for each
former name too. Renew it together with the icons that the pages show: `npm pack lucide-static`, then
`tar tzf lucide-static-*.tgz | sed -n 's|^package/icons/\\(.*\\)[.]svg$|\\1|p' | LC_ALL=C sort`.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Annotated

from pydantic import AfterValidator, WithJsonSchema
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import PydanticCustomError
from typing_extensions import TypeAliasType

from accounts.configuration.wording import did_you_mean, quoted


@cache
def icon_names() -> tuple[str, ...]:
    """Every name, sorted."""
    return tuple(files(__package__).joinpath("lucide_names.txt").read_text(encoding="ascii").split())


@cache
def _name_set() -> frozenset[str]:
    return frozenset(icon_names())


def _known_icon(name: str) -> str:
    if name in _name_set():
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
